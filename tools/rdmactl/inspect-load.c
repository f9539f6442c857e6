/* SPDX-License-Identifier: MIT */
#include "inspect-load.h"

#include <errno.h>

#include "absence.h"
#include "counter-reader.h"
#include "judge.h"
#include "macros.h"
#include "message.h"
#include "sysfs-root.h"
#include "sysfs.h"

void inspection_done(struct inspection *in)
{
	model_done(&in->model);
	inventory_done(&in->inventory);
	(void)sysfs_set_root(NULL);
}

/* Of the made-up clock: what the first tree shows is seen then, long before it is judged. */
#define BEGIN USEC_PER_HOUR

/* One tree that is being read. */
struct reading {
	struct inspection *in;
	struct timepoint from; /* what is new in it counts from then */
	struct timepoint now;
};

/* ---- what happened ---- */

static void add_event(struct reading *rd, const char *object, const char *reason,
	const char *before, const char *after, const char *message)
{
	struct event ev = { .when = rd->now };

	STRSCPY(ev.object, object);
	STRSCPY(ev.reason, reason);
	STRSCPY(ev.old_state, before);
	STRSCPY(ev.new_state, after);
	STRSCPY(ev.message, message);
	model_add_event(&rd->in->model, &ev);
}

static void on_inventory_change(const struct inventory_change *c, void *user)
{
	char object[OBJECT_NAME_MAX], message[INVENTORY_MESSAGE_MAX];

	add_event(user, inventory_object(object, c), "inventory", "", "",
		inventory_message(message, c));
}

static int look_at_inventory(struct reading *rd)
{
	struct inventory_look look = {
		.model = &rd->in->model,
		.now = rd->now,
		.settled_at = BEGIN + 1, /* the first tree is how it was before */
		.baseline = true,
		.report = on_inventory_change,
		.user = rd,
	};
	usec_t again;
	int r;

	r = inventory_look(&rd->in->inventory, &look, &again);
	/* What is on trial on a live host, which may still be renaming, is settled in a tree. */
	if (r >= 0 && again != USEC_INFINITY) {
		look.now.mono = again;
		r = inventory_look(&rd->in->inventory, &look, &again);
	}
	return r;
}

/* ---- listing ---- */

static int on_netdev(const struct netdev_facts *f, void *user)
{
	struct reading *rd = user;
	struct model *m = &rd->in->model;
	uint32_t downs = 0;
	int r;

	r = model_see_netdev(m, f, &downs);
	for (struct device *d = m->devices; r > 0 && downs > 0 && d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (d->ports[i].facts.netdev_index == f->ifindex &&
				d->ports[i].facts.link_layer == LINK_LAYER_ETHERNET)
				port_note_downs(&d->ports[i], downs, rd->from.mono);
	return MIN(r, 0);
}

/* How surely the two are one and the same device: 0 not at all (DESIGN rule 6). */
static unsigned likeness(const struct device_facts *a, const struct device_facts *b)
{
	bool same_name = streq(a->name, b->name);

	if (a->node_guid && b->node_guid)
		return a->node_guid == b->node_guid ? 5 + same_name : 0;
	if (a->pci_address[0] && b->pci_address[0])
		return streq(a->pci_address, b->pci_address) ? 3 + same_name : 0;
	return same_name;
}

/* The index of the device that it was in the trees before, or a new one. */
static uint32_t find_index(struct inspection *in, const struct device_facts *f)
{
	const struct device *found = NULL;
	unsigned best = 0;

	for (const struct device *d = in->model.devices; d; d = d->next) {
		unsigned n = likeness(&d->facts, f);

		/* What this listing has named already is another one. */
		if (d->generation != in->model.generation && n > best) {
			found = d;
			best = n;
		}
	}
	return found ? found->facts.index : ++in->last_index;
}

static int on_device(const struct device_facts *f, void *user)
{
	struct reading *rd = user;
	struct device_facts facts = *f;
	struct device *d;
	int r;

	sysfs_complete_device(&facts);
	facts.index = find_index(rd->in, &facts);
	r = model_see_device(&rd->in->model, &facts, rd->from, &d);
	return r == -E2BIG ? 0 : MIN(r, 0); /* so many ports nothing has: it is no device */
}

static int on_elsewhere(const struct elsewhere_facts *f, void *user)
{
	struct reading *rd = user;
	int r = model_see_elsewhere(&rd->in->model, f);

	return r == -ENOMEM ? r : 0;
}

/* ---- a device ---- */

static int on_gid(const struct gid_facts *f, void *user)
{
	int r = port_tables_add_gid(user, f);

	return r == -ENOMEM ? r : 0;
}

static int on_pkeys(const struct pkey_facts *f, void *user)
{
	int r = port_tables_add_pkeys(user, f);

	return r == -ENOMEM ? r : 0;
}

struct counters_target {
	struct counter_table **table;
	struct timepoint now;
};

static int on_counter_name(const struct counter_name *f, void *user)
{
	struct counters_target *t = user;
	int r = counter_table_name(t->table, f);

	return r == -ENOMEM ? r : 0;
}

static int on_counter_values(const struct counter_values *f, void *user)
{
	struct counters_target *t = user;
	int r = *t->table ? counter_table_values(*t->table, f, t->now) : 0;

	return r == -ENOMEM ? r : 0;
}

static int on_counters_done(const struct counters_done *f, void *user)
{
	struct counters_target *t = user;

	return counter_table_finish(t->table, f, t->now);
}

static int read_counters(struct reading *rd, const struct device *d, uint32_t port,
	enum counter_source source, struct counter_table **table)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters_target target = { .table = table, .now = rd->now };
	const struct counter_sink sink = {
		.name = on_counter_name,
		.values = on_counter_values,
		.done = on_counters_done,
		.user = &target,
	};
	int r;

	/* A new one for each tree: the other's files are not what this one has open. */
	r = counter_reader_new(d->facts.name, d->facts.index, port, source, &reader);
	return r < 0 ? r : counter_reader_read(reader, NULL, rd->now.mono, true, &sink);
}

static void see_port(struct reading *rd, struct port *p, const struct port_facts *f)
{
	struct port_update u = port_see(p, f, true, rd->from);
	char object[OBJECT_NAME_MAX], message[MESSAGE_MAX];

	/* It was read when the tree was taken. */
	if (!f->error)
		p->read_at = rd->now;
	if (u.blips) {
		message_blip(message, port_object(object, p), u.blips, p);
		add_event(rd, object, "link-flapping", "", "", message);
	}
}

static int read_port(struct reading *rd, struct port *p)
{
	const struct device *d = p->device;
	uint32_t downs = 0;
	struct table_facts tables;
	struct tables_update tu;
	struct port_facts f;
	int r;

	r = sysfs_read_port(d->facts.index, d->facts.name, p->number, &f);
	if (r < 0) {
		f = port_facts_unknown(d->facts.index, p->number);
		f.error = r;
	}
	see_port(rd, p, &f);

	port_tables_begin(&p->tables);
	sysfs_read_tables(
		d->facts.index, d->facts.name, p->number, on_gid, on_pkeys, &p->tables, &tables);
	port_tables_finish(&p->tables, &tables, &tu);
	r = 0;
	for (int s = 0; s < _COUNTER_SOURCE_MAX && r >= 0; s++) {
		const struct counter *c;

		r = read_counters(rd, d, p->number, (enum counter_source)s, &p->counters[s]);
		c = port_link_downed(&rd->in->model, p, (enum counter_source)s);
		if (c)
			downs += port_see_link_downed(p, c, rd->from.mono);
	}
	/* Nothing else tells of these falls: the reading settles them, as it would in the daemon. */
	if (downs > 0)
		see_port(rd, p, &f);
	return r;
}

static int read_device(struct reading *rd, struct device *d)
{
	struct device_details details;
	int r;

	if (config_device_settings(rd->in->config, &d->facts).monitor == MONITOR_NO)
		return 0;
	if (sysfs_read_details(d->facts.index, d->facts.name, &details) >= 0)
		device_see_details(d, &details);
	r = read_counters(rd, d, 0, COUNTER_HW, &d->counters);
	for (size_t i = 0; i < d->n_ports && r >= 0; i++)
		r = read_port(rd, &d->ports[i]);
	return r == -ENOMEM ? r : 0;
}

/* ---- the whole ---- */

static void find_absent(struct reading *rd)
{
	struct model *m = &rd->in->model;
	const struct config *c = rd->in->config;
	struct device *d;

	while ((d = model_next_vanished(m))) {
		absence_note(m, d, c, rd->from);
		model_remove_device(m, d);
	}
	for (d = m->devices; d; d = d->next) {
		struct missing *x = model_find_missing(m, &d->facts);

		if (!x)
			x = model_find_replaced(m, d);
		if (x)
			model_remove_missing(m, x);
	}
	model_place_missing(m, rd->from);
	absence_expect_configured(m, c, rd->from);
}

static void judge_all(struct reading *rd)
{
	const struct config *c = rd->in->config;
	struct model *m = &rd->in->model;

	for (struct device *d = m->devices; d; d = d->next) {
		for (size_t i = 0; i < d->n_ports; i++)
			judge_port(m, &d->ports[i], c, rd->now, NULL, NULL);
		judge_device(d, c, rd->now, NULL, NULL);
	}
	for (struct missing *x = m->missing; x; x = x->next)
		judge_missing(m, x, c, rd->now, NULL, NULL);
	judge_host(m, c, NULL, 0, rd->now, NULL, NULL);
}

static int read_tree(struct reading *rd)
{
	struct model *m = &rd->in->model;
	int r;

	model_listing_begin(m);
	/* What cannot be listed is unknown; the devices are what it is about. */
	r = sysfs_list_netdevs(on_netdev, rd);
	if (r == -ENOMEM)
		return r;
	r = sysfs_list_devices(on_device, rd);
	if (r < 0)
		return r;
	r = sysfs_list_elsewhere(on_elsewhere, rd);
	if (r == -ENOMEM)
		return r;
	model_drop_stale_netdevs(m);
	m->listed = true;
	r = 0;
	for (struct device *d = m->devices; d && r >= 0; d = d->next)
		if (d->generation == m->generation)
			r = read_device(rd, d);
	if (r < 0)
		return r;
	find_absent(rd);
	judge_all(rd);
	return look_at_inventory(rd);
}

/* Longer than anything that a verdict waits for. */
static usec_t long_enough(const struct config *c)
{
	usec_t waits[] = { c->grace_usec, c->stable_usec, c->down_delay_usec,
		c->degraded_delay_usec, c->missing_delay_usec, c->unresponsive_usec };
	usec_t longest = USEC_PER_HOUR;

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (waits[i] != USEC_INFINITY)
			longest = MAX(longest, waits[i]);
	return longest;
}

int inspection_read(struct inspection *in, const char *tree, usec_t after, usec_t real)
{
	struct reading rd = { .in = in };
	int r, class;

	r = sysfs_set_root(tree);
	if (r < 0)
		return r;
	class = sysfs_open_directory("/sys/class/infiniband");
	if (class < 0)
		return class;
	close(class);

	if (in->now.mono) {
		rd.from.mono = in->now.mono;
		rd.now.mono = usec_add(in->now.mono, after);
	} else {
		rd.from.mono = BEGIN;
		rd.now.mono = usec_add(rd.from.mono, long_enough(in->config));
	}
	rd.from.real = rd.now.real = real;
	r = read_tree(&rd);
	in->now = rd.now;
	return r;
}
