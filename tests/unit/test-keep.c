/* SPDX-License-Identifier: MIT */
/* What one run hands on to the next: it comes back as it was, and what is no such text does no harm. */
#include "test.h"

#include <errno.h>

#include "judge.h"
#include "keep.h"
#include "macros.h"

static const struct keep_origin here = { .machine = "aaaa", .board = "b-1", .boot = "cccc" };

#define AT(s)                                          \
	((struct timepoint){ .mono = (s)*USEC_PER_SEC, \
		.real = (s)*USEC_PER_SEC + UINT64_C(1700000000) * USEC_PER_SEC })

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

static void forget(struct model *m)
{
	for (struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			free(d->ports[i].user);
	model_done(m);
}

static char *state_text(void)
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

static char *counters_text(void)
{
	struct model m = { 0 };
	char *text = NULL;

	fill(&m);
	assert_int_equal(keep_counters_format(&m, &here, AT(110), &text), 0);
	model_done(&m);
	return text;
}

static const struct port_edges *edges_read(const struct port *p)
{
	return p->number == 1 ? p->user : NULL;
}

/* Nothing is lost on the way: written again it is the same text. */
static void test_round_trip(void **state)
{
	_cleanup_(freep) char *text = state_text(), *again = NULL;
	struct model m = { 0 };
	struct keep k = { .model = &m };
	const struct reason *r;
	struct port *p;

	assert_int_equal(keep_parse(text, &here, &k), 0);
	assert_string_equal(k.version, "1.2.3");
	assert_string_equal(k.why, KEEP_WHY_RESTART);
	assert_int_equal(k.saved.mono, AT(110).mono);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_non_null(p);
	assert_true(p->recalled);
	assert_int_equal(p->flap_count, FLAP_RING + 5);
	assert_int_equal(port_flaps_within(p, 1000, 10, NULL), 11);
	assert_int_equal(p->unseen_downs, -1);
	assert_int_equal(p->no_gid.reading, 1); /* of this run's tables, the first one decides */
	assert_int_equal(p->facts.lid, UINT32_MAX);
	r = verdict_find(&p->verdict, REASON_PORT_DOWN, "sym\\bol \"x\"");
	assert_non_null(r);
	assert_int_equal(r->since.mono, AT(91).mono);
	assert_string_equal(r->ack.comment, "cable is ordered");
	assert_string_equal(r->found, "down\t\xc3\xa4\xff");
	assert_null(model_netdev_by_index(&m, 10));
	assert_true(model_netdev_by_index(&m, 9)->facts.address[31] == 0xa5);
	p->no_gid.reading = 9; /* or the texts would differ by that */
	STRSCPY(k.why, KEEP_WHY_RESTART);
	/* Only what a reader is to know, and no netdev that nobody runs on. */
	assert_int_equal(keep_format(&k, &here, edges_read, &again), 0);
	assert_string_equal(again, text);
	forget(&m);
}

static void test_counters(void **state)
{
	_cleanup_(freep) char *text = state_text(), *counters = counters_text(), *again = NULL;
	struct counter_name name = {
		.port = 1, .source = COUNTER_PMA, .set = 1, .n = 1, .width = 32
	};
	struct model m = { 0 };
	struct keep k = { .model = &m };
	const struct counter *c;
	struct counter_rise rise;
	struct port *p;
	uint64_t delta;

	assert_int_equal(keep_parse(text, &here, &k), 0);
	assert_int_equal(keep_counters_parse(counters, &here, &m), 0);
	assert_int_equal(keep_counters_format(&m, &here, AT(110), &again), 0);
	assert_string_equal(again, counters);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_false(counter_table_has_names(p->counters[COUNTER_PMA])); /* to be asked for */
	STRSCPY(name.name, "symbol_error");
	assert_int_equal(counter_table_name(&p->counters[COUNTER_PMA], &name), 0);
	c = counter_table_find(p->counters[COUNTER_PMA], "symbol_error");
	assert_non_null(c);
	assert_true(c->stale);
	assert_true(counter_delta(c, &delta));
	assert_int_equal(delta, 15);
	assert_true(c->history->standing);
	assert_true(counter_history_rise(c->history, 0, AT(160).mono, 30, &rise));
	assert_int_equal(rise.by, 20); /* since the sample of the run before */
	forget(&m);
}

static void parse_all(const char *text, bool counters, int expected)
{
	_cleanup_(freep) char *good = state_text();
	struct model m = { 0 };
	struct keep k = { .model = &m };
	int r;

	if (counters) {
		assert_int_equal(keep_parse(good, &here, &k), 0);
		r = keep_counters_parse(text, &here, &m);
		if (r < 0)
			assert_null(
				model_device_by_name(&m, "mlx5_0")->ports[0].counters[COUNTER_PMA]);
	} else {
		r = keep_parse(text, &here, &k);
		if (r < 0)
			assert_null(m.devices);
	}
	if (expected <= 0)
		assert_int_equal(r, expected);
	forget(&m);
}

/* Whatever a crash or a full disk leaves of it. */
static void test_truncated(void **state)
{
	for (int counters = 0; counters < 2; counters++) {
		_cleanup_(freep) char *text = counters ? counters_text() : state_text();
		size_t size = strlen(text) - 1; /* without the line's end it is complete */

		for (size_t n = 0; n < size; n += n < 200 || n + 200 > size ? 1 : 37) {
			_cleanup_(freep) char *cut = strndup(text, n);

			parse_all(cut, counters, -EBADMSG);
		}
	}
}

/* Bytes that turned into others: any answer but a crash (this is for the sanitizers). */
static void test_garbage(void **state)
{
	static const char bytes[] = "0]}\"-9,:[{x\xff";
	unsigned seed = 4711;

	for (int counters = 0; counters < 2; counters++) {
		_cleanup_(freep) char *text = counters ? counters_text() : state_text();
		size_t size = strlen(text);

		for (int i = 0; i < 1500; i++) {
			_cleanup_(freep) char *bad = strdup(text);

			for (int k = 0; k < 3; k++)
				bad[(size_t)rand_r(&seed) % size] =
					bytes[(size_t)rand_r(&seed) % (sizeof(bytes) - 1)];
			parse_all(bad, counters, 1);
		}
	}
	parse_all("", false, -EBADMSG);
	parse_all("[]", false, -EBADMSG);
	parse_all("{\"Version\":1,\"ReadableFrom\":1}", false, -EBADMSG);
}

static void test_whose(void **state)
{
	_cleanup_(freep) char *text = state_text();
	const struct keep_origin boot = { .machine = "aaaa", .board = "b-1", .boot = "dddd" };
	const struct keep_origin machine = { .machine = "ffff", .board = "b-1", .boot = "cccc" };
	const struct keep_origin board = { .machine = "aaaa", .board = "b-2", .boot = "cccc" };
	const struct keep_origin unknown = { .machine = "aaaa", .board = "", .boot = "cccc" };
	struct model m = { 0 };
	struct keep k = { .model = &m };

	assert_int_equal(keep_parse(text, &boot, &k), -ESTALE);
	assert_int_equal(keep_parse(text, &machine, &k), -EXDEV);
	assert_int_equal(keep_parse(text, &board, &k), -EXDEV);
	assert_int_equal(keep_parse(text, &unknown, &k), 0);
	forget(&m);
}

/* Replaces the first of two texts of the same length. */
static void put(char *text, const char *old, const char *new)
{
	char *at = strstr(text, old);

	assert_non_null(at);
	assert_int_equal(strlen(old), strlen(new));
	memcpy(at, new, strlen(new));
}

static void test_versions(void **state)
{
	_cleanup_(freep) char *newer = state_text(), *other = state_text(), *older = state_text();
	struct model m = { 0 };
	struct keep k = { .model = &m };
	const struct port *p;

	/* A newer one that this one understands: what it does not know is left out. */
	put(newer, "\"Version\":1", "\"Version\":9");
	put(newer, "\"Id\":\"link-flapping\"", "\"Id\":\"link-of-futur\"");
	put(newer, "\"FlapFloor\"", "\"WhatsThis\"");
	assert_int_equal(keep_parse(newer, &here, &k), 0);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_int_equal(p->verdict.n_reasons, 1);
	assert_int_equal(p->verdict.reasons[0].id, REASON_PORT_DOWN);
	forget(&m);

	/* One that it does not understand. */
	m = (struct model){ 0 };
	put(other, "\"Version\":1", "\"Version\":9");
	put(other, "\"ReadableFrom\":1", "\"ReadableFrom\":2");
	assert_int_equal(keep_parse(other, &here, &k), -ENOTSUP);
	assert_null(m.devices);

	/* An older one, which did not say all of it: unknown, not 0. */
	put(older, "\"SmLid\"", "\"smlid\"");
	put(older, "\"IsVf\"", "\"isvf\"");
	assert_int_equal(keep_parse(older, &here, &k), 0);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_int_equal(p->facts.sm_lid, UINT32_MAX);
	assert_int_equal(p->device->details.is_vf, -1);
	forget(&m);
}

/* The text is no key to memory that is not there. */
static void test_bounds(void **state)
{
	_cleanup_(freep) char *text = state_text(), *long_text = NULL;
	struct model m = { 0 };
	struct keep k = { .model = &m };
	size_t size;
	FILE *f;

	put(text, "\"PortCount\":2", "\"PortCount\":0");
	assert_int_equal(keep_parse(text, &here, &k), 0);
	assert_int_equal(model_device_by_name(&m, "mlx5_0")->n_ports, 0);
	forget(&m);

	f = open_memstream(&long_text, &size);
	assert_non_null(f);
	fprintf(f, "{\"Version\":1,\"ReadableFrom\":1,\"Host\":{\"Reasons\":[");
	for (int i = 0; i < 100; i++)
		fprintf(f, "%s{\"Id\":\"port-down\",\"Severity\":\"failed\",\"Subject\":\"%d\"}",
			i ? "," : "", i);
	fprintf(f, "]},\"Devices\":[{\"Facts\":{\"Name\":\"a\",\"PortCount\":4000000000}}]}");
	fclose(f);
	m = (struct model){ 0 };
	assert_int_equal(keep_parse(long_text, &here, &k), -EBADMSG);
	put(long_text, "4000000000", "         1");
	assert_int_equal(keep_parse(long_text, &here, &k), 0);
	assert_int_equal(m.verdict.n_reasons, REASONS_MAX);
	forget(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
