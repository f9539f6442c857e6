/* SPDX-License-Identifier: MIT */
#include "keep-world.h"

#include <errno.h>

#include "judge.h"
#include "macros.h"

static const struct keep_origin here = { KEEP_WORLD_ORIGIN };

static struct port_edges edges_of_port;

static const struct port_edges *edges_of(const struct port *p)
{
	return p->number == 1 ? &edges_of_port : NULL;
}

static void add_reason(struct verdict *v, enum reason_id id, enum severity severity, usec_t since)
{
	struct reason *r = &v->reasons[v->n_reasons++];

	*r = (struct reason){ .id = id, .severity = severity, .since = AT(since), .reminders = 3 };
	STRSCPY(r->subject, "sym\\bol \"x\"");
	STRSCPY(r->found, "down\t\xc3\xa4\xff");
	STRSCPY(r->wanted, "active");
	STRSCPY(r->remedy, "look");
	r->ack = (struct acknowledgement){ .when = AT(since + 1), .by = "root" };
	STRSCPY(r->ack.comment, "cable is ordered");
}

static void add_counters(struct port *p)
{
	const usec_t windows[] = { USEC_PER_MINUTE, USEC_PER_HOUR };
	struct counter_name name = {
		.port = 1,
		.source = COUNTER_PMA,
		.set = 7,
		.n = 2,
		.width = 32,
	};
	struct counter_values v = {
		.port = 1, .source = COUNTER_PMA, .set = 7, .n = 2, .known = 3
	};
	struct counter_table **t = &p->counters[COUNTER_PMA];

	STRSCPY(name.name, "symbol_error");
	assert_int_equal(counter_table_name(t, &name), 0);
	name.at = 1;
	name.width = 0;
	STRSCPY(name.name, "link_downed");
	assert_int_equal(counter_table_name(t, &name), 0);
	v.values[0] = 10;
	v.values[1] = UINT64_MAX - 1;
	assert_int_equal(counter_table_values(*t, &v, AT(100)), 0);
	assert_int_equal(counter_watch(&(*t)->counters[0], windows, 2), 0);
	v.values[0] = 25;
	assert_int_equal(counter_table_values(*t, &v, AT(130)), 0);
	(*t)->counters[0].history->standing = true;
	(*t)->counters[0].history->over_at = 130 * USEC_PER_SEC;
}

static void fill_port(struct port *p)
{
	p->facts.state = PORT_STATE_DOWN;
	p->facts.phys_state = PHYS_STATE_POLLING;
	p->facts.link_layer = LINK_LAYER_INFINIBAND;
	p->facts.rate_mbps = 200000;
	p->facts.netdev_index = 9;
	STRSCPY(p->facts.netdev, "ib0");
	p->have_facts = p->was_active = p->learned = p->required = true;
	p->read_at = AT(100);
	p->down_since = AT(90);
	p->flap_count = FLAP_RING + 5;
	for (uint64_t i = 0; i < FLAP_RING; i++)
		p->flap_ring[(p->flap_count - 1 - i) % FLAP_RING] = 1000 - i;
	p->excused_downs = 2;
	p->unseen_downs = -1;
	p->link_downed =
		(struct downs_ledger){ .known = true, .resets = 1, .value = 77, .edges = 4 };
	p->best = (struct best_rate){ .rate_mbps = 400000, .link_layer = LINK_LAYER_INFINIBAND };
	p->width_low.since = 55;
	p->no_gid = (struct doubt){ .hold.since = 44, .reading = 9, .asked = 45 };
	p->verdict.health = HEALTH_FAILED;
	p->verdict.since = AT(91);
	add_reason(&p->verdict, REASON_PORT_DOWN, SEVERITY_FAILED, 91);
	add_reason(&p->verdict, REASON_LINK_FLAPPING, SEVERITY_DEGRADED, 80);
	edges_of_port = (struct port_edges){
		.storm = { .told_down = true, .is_down = true, .hold = 5000000, .absorbed = 6 },
		.told = p->verdict.reasons[0],
		.was_active_for = 33,
	};
	add_counters(p);
}

static void fill(struct model *m)
{
	struct device_facts f = { .index = 3, .port_count = 2, .numa_node = -1 };
	struct netdev_facts n = {
		.ifindex = 9, .carrier_down_count = 4, .have_carrier_counts = true
	};
	struct missing *x;
	struct device *d;
	struct event e = { .when = AT(92) };
	uint32_t downs;

	f.node_guid = UINT64_C(0x8002c90300aa0010);
	STRSCPY(f.name, "mlx5_0");
	STRSCPY(f.driver, "mlx5_core");
	assert_true(model_see_device(m, &f, AT(1), &d) >= 0);
	d->have_details = true;
	d->details.is_vf = 0;
	d->details.n_pcie = 2;
	d->details.pcie[1].max_speed_mtps = 32000;
	d->release = (struct release){ .until = AT(500), .by = "root" };
	d->fatal_at = 12;
	d->events_error = -EACCES;
	d->verdict.health = HEALTH_FAILED;
	fill_port(&d->ports[0]);
	memset(n.address, 0xa5, sizeof(n.address));
	STRSCPY(n.name, "ib0");
	assert_int_equal(model_see_netdev(m, &n, &downs), 1);
	n.ifindex = 10; /* nothing runs on it */
	assert_int_equal(model_see_netdev(m, &n, &downs), 1);
	for (int i = 0; i < 2; i++) {
		x = model_add_missing(
			m, i ? "mlx5_8" : "mlx5_9", (uint64_t)i, "0000:5e:00.0", AT(50));
		assert_non_null(x);
		x->n_ports = 1;
		x->ports[0] = (struct missing_port){ .number = 1, .learned = true };
		add_reason(&x->verdict, REASON_DEVICE_MISSING, SEVERITY_FAILED, 51);
	}
	m->unprobed = calloc(1, sizeof(*m->unprobed));
	assert_non_null(m->unprobed);
	m->n_unprobed = 1;
	m->unprobed[0] = (struct unprobed){ .facts.kind = ELSEWHERE_NOT_PROBED, .hold.since = 66 };
	m->watched_since = AT(1);
	m->verdict.health = HEALTH_FAILED;
	add_reason(&m->verdict, REASON_SETUP_FAILED, SEVERITY_FAILED, 20);
	STRSCPY(e.message, "mlx5_0/1: port down");
	model_add_event(m, &e);
}

void keep_world_forget(struct model *m)
{
	for (struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			free(d->ports[i].user);
	model_done(m);
}

char *keep_world_state(void)
{
	struct model m = { 0 };
	struct keep k = { .saved = AT(110), .slept = 5, .model = &m };
	char *text = NULL;

	STRSCPY(k.version, "1.2.3");
	STRSCPY(k.why, KEEP_WHY_RESTART);
	fill(&m);
	assert_int_equal(keep_format(&k, &here, edges_of, &text), 0);
	model_done(&m);
	return text;
}

char *keep_world_counters(void)
{
	struct model m = { 0 };
	char *text = NULL;

	fill(&m);
	assert_int_equal(keep_counters_format(&m, &here, AT(110), &text), 0);
	model_done(&m);
	return text;
}
