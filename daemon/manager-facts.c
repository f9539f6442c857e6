/* SPDX-License-Identifier: MIT */
/*
 * What is read besides the state of ports: details of devices, tables and counters of ports, flow
 * control of netdevs. All of it by the workers' slow lane: one request of a kind at a time for each
 * object, so that a device that takes long makes no queue.
 */
#include <errno.h>

#include "expectation.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"

/* GIDs come and go one event each: a burst of addresses must not read the table each time. On
 * InfiniBand each P_Key is a command to the firmware. */
#define TABLES_INTERVAL_ETHERNET USEC_PER_SEC
#define TABLES_INTERVAL          (10 * USEC_PER_SEC)
/* As long as setup waits for one to come: somebody waits for what depends on it. */
#define TABLES_INTERVAL_AWAITED USEC_PER_SEC
/* Tables are read on events; this heals what was missed. */
#define TABLES_REFRESH (10 * USEC_PER_MINUTE)

/* Whether it may be sent now; else it is remembered. */
static bool ask_begin(struct manager *m, struct ask *a, usec_t interval)
{
	usec_t due = a->asked ? usec_add(a->asked, interval) : 0;

	if (!a->in_flight && manager_now(m).mono >= due)
		return true;
	a->again = true;
	if (!a->in_flight)
		manager_retry_at(m, due);
	return false;
}

/* Notes what came of sending it. */
static void ask_sent(struct manager *m, struct ask *a, int r)
{
	a->again = r < 0;
	if (r < 0) {
		manager_retry_soon(m);
		return;
	}
	a->in_flight = true;
	a->asked = manager_now(m).mono;
}

/* ---- asking ---- */

void device_ask_details(struct manager *m, struct device *d)
{
	struct ask *a = &device_watch(d)->details;

	if (device_is_watched(m, d) && ask_begin(m, a, 0))
		ask_sent(m, a, pool_read_details(m->pool, &d->facts));
}

/* Whether the configuration sets anything that only a reading of settings tells. */
static bool device_has_settings(const struct manager *m, const struct device *d)
{
	struct device_settings set = config_device_settings(m->config, &d->facts);

	if (set.adaptive_moderation >= 0 || set.node_description)
		return true;
	for (size_t i = 0; i < d->n_ports; i++) {
		struct port_facts f = d->ports[i].facts;
		struct port_settings s;

		if (!d->ports[i].have_facts)
			f.link_layer = device_link_layer(&d->facts);
		s = config_port_settings(m->config, &d->facts, &f);
		if (s.roce_mode != GID_TYPE_UNKNOWN || s.roce_tos >= 0 || s.optional_counters)
			return true;
	}
	return false;
}

void device_ask_settings(struct manager *m, struct device *d)
{
	struct ask *a = &device_watch(d)->settings;

	/* With Monitor=no, too: the kernel tells them without asking anything of the device. */
	if (!d->release.until.mono && device_has_settings(m, d) && ask_begin(m, a, 0))
		ask_sent(m, a, pool_read_settings(m->pool, &d->facts, device_is_watched(m, d)));
}

static usec_t tables_interval(const struct manager *m, const struct port *p)
{
	if (p->facts.link_layer == LINK_LAYER_ETHERNET)
		return TABLES_INTERVAL_ETHERNET;
	return manager_setup_awaits_pkey(m) ? TABLES_INTERVAL_AWAITED : TABLES_INTERVAL;
}

void port_ask_tables(struct manager *m, struct port *p)
{
	struct ask *a = &port_watch(p)->tables;
	usec_t interval = tables_interval(m, p);

	if (!device_is_watched(m, p->device) || !ask_begin(m, a, interval))
		return;
	ask_sent(m, a, pool_read_tables(m->pool, &p->device->facts, p->number));
}

static void device_ask_tables(struct manager *m, struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		port_ask_tables(m, &d->ports[i]);
}

static void port_ask_qos(struct manager *m, struct port *p)
{
	struct port_watch *pw = port_watch(p);

	if (!device_is_watched(m, p->device) || p->facts.link_layer != LINK_LAYER_ETHERNET ||
		!p->facts.netdev_index)
		return;
	if (!ask_begin(m, &pw->qos, 0))
		return;
	pw->qos_ifindex = p->facts.netdev_index;
	ask_sent(m, &pw->qos,
		pool_read_qos(m->pool, &p->device->facts, p->facts.netdev_index, p->facts.netdev));
}

static void device_ask_devlink(struct manager *m, struct device *d)
{
	struct ask *a = &device_watch(d)->devlink;

	if (device_is_watched(m, d) && ask_begin(m, a, 0))
		ask_sent(m, a, pool_read_devlink(m->pool, &d->facts));
}

/* A link that flaps must not ask the firmware each time. */
#define LINK_INTERVAL USEC_PER_SEC

static void port_ask_link(struct manager *m, struct port *p)
{
	struct port_watch *pw = port_watch(p);

	if (!device_is_watched(m, p->device) || !port_link_is_down(&m->model, p) ||
		!ask_begin(m, &pw->link, LINK_INTERVAL))
		return;
	pw->link_ifindex = p->facts.netdev_index;
	ask_sent(m, &pw->link,
		pool_read_link(m->pool, &p->device->facts, p->facts.netdev_index, p->facts.netdev));
}

/* The firmware may be asked for each virtual function of the adapter. */
#define VF_POLICY_INTERVAL (10 * USEC_PER_SEC)
#define VF_POLICY_REFRESH  (10 * USEC_PER_MINUTE)

static void device_ask_vf_policy(struct manager *m, struct device *d)
{
	struct ask *a = &device_watch(d)->vf_policy;

	if (device_is_watched(m, d) && ask_begin(m, a, VF_POLICY_INTERVAL))
		ask_sent(m, a, pool_read_vf(m->pool, &d->facts));
}

/* Of those that nobody expects to be up, nobody asks why they are not. */
static bool port_wants_vf_policy(const struct port *p)
{
	return device_is_vf(p->device) && p->required && p->have_facts && !port_is_active(p);
}

void port_ask_why(struct manager *m, struct port *p)
{
	const struct netdev *n = port_netdev(&m->model, p);

	if (n && !n->have_link && !port_watch(p)->link.in_flight)
		port_ask_link(m, p);
	if (port_wants_vf_policy(p) && !p->device->have_vf_policy &&
		!device_watch(p->device)->vf_policy.in_flight)
		device_ask_vf_policy(m, p->device);
}

/*
 * How long the record of a fall may wait for the answer. On an idle adapter it takes a millisecond;
 * the rest is for one command to the firmware that is under way.
 */
#define WHY_PATIENCE (100 * USEC_PER_MSEC)

usec_t port_why_until(const struct port *p)
{
	const struct ask *link = &port_watch(p)->link;
	const struct ask *policy = &device_watch(p->device)->vf_policy;
	usec_t asked = 0;

	/* From a lane that is late nothing is to be had in time. */
	if (p->device->slow_since.mono)
		return 0;
	if (link->in_flight)
		asked = link->asked;
	if (policy->in_flight)
		asked = MAX(asked, policy->asked);
	return asked ? usec_add(asked, WHY_PATIENCE) : 0;
}

void manager_ask_switches(struct manager *m)
{
	for (size_t i = 0; i < m->model.n_unprobed; i++) {
		struct unprobed *u = &m->model.unprobed[i];

		if (u->facts.kind == ELSEWHERE_NOT_PROBED && !u->asked)
			u->asked = pool_read_switch(m->pool, u->facts.pci_address) >= 0;
	}
}

void manager_lost_switches(struct manager *m)
{
	for (size_t i = 0; i < m->model.n_unprobed; i++)
		m->model.unprobed[i].asked = false;
}

/* Counters are a series: one that is late is left out, not asked for twice. */
static void ask_counters(struct manager *m, struct device *d, uint32_t port,
	enum counter_source source, struct ask *a, struct counter_table *t)
{
	if (a->in_flight || a->absent || !device_is_watched(m, d))
		return;
	ask_sent(m, a,
		pool_read_counters(m->pool, &d->facts, port, source, !counter_table_has_names(t)));
	a->again = false;
}

void device_ask_counters(struct manager *m, struct device *d, enum counter_source source)
{
	struct device_watch *dw = device_watch(d);

	if (source == COUNTER_HW)
		ask_counters(m, d, 0, source, &dw->counters, d->counters);
	for (size_t i = 0; i < d->n_ports; i++) {
		struct port *p = &d->ports[i];

		ask_counters(m, d, p->number, source, &port_watch(p)->counters[source],
			p->counters[source]);
	}
}

/* All that is to be known of a device that is new, or that has another name now. */
void device_ask_facts(struct manager *m, struct device *d)
{
	device_ask_ports(m, d);
	device_ask_details(m, d);
	device_ask_settings(m, d);
	device_ask_devlink(m, d);
	device_ask_tables(m, d);
}

/* Once in SlowCounterSec=: what no event tells. */
void device_ask_slow(struct manager *m, struct device *d)
{
	usec_t now = manager_now(m).mono;

	/* A VF is in the slot of its physical function: nothing else of it changes by itself. */
	if (d->details.is_vf != 1)
		device_ask_details(m, d);
	device_ask_settings(m, d);
	device_ask_devlink(m, d);
	device_ask_counters(m, d, COUNTER_PMA);
	for (size_t i = 0; i < d->n_ports; i++) {
		struct port *p = &d->ports[i];

		if (port_wants_vf_policy(p) &&
			usec_sub(now, device_watch(d)->vf_policy.asked) >= VF_POLICY_REFRESH)
			device_ask_vf_policy(m, d);

		port_ask_qos(m, p);
		port_ask_link(m, p);
		if (usec_sub(now, port_watch(p)->tables.asked) >= TABLES_REFRESH ||
			(manager_setup_awaits_pkey(m) &&
				p->facts.link_layer == LINK_LAYER_INFINIBAND))
			port_ask_tables(m, p);
	}
}

/* What could not be asked for when it was due. */
void device_retry_facts(struct manager *m, struct device *d)
{
	struct device_watch *dw = device_watch(d);

	if (dw->details.again)
		device_ask_details(m, d);
	if (dw->settings.again)
		device_ask_settings(m, d);
	if (dw->devlink.again)
		device_ask_devlink(m, d);
	if (dw->vf_policy.again && !dw->vf_policy.in_flight)
		device_ask_vf_policy(m, d);
	for (size_t i = 0; i < d->n_ports; i++) {
		struct port_watch *pw = port_watch(&d->ports[i]);

		if (pw->link.again && !pw->link.in_flight)
			port_ask_link(m, &d->ports[i]);
		if (pw->tables.again && !pw->tables.in_flight)
			port_ask_tables(m, &d->ports[i]);
		if (pw->qos.again && !pw->qos.in_flight)
			port_ask_qos(m, &d->ports[i]);
	}
}

static void ask_lost(struct ask *a)
{
	a->again |= a->in_flight;
	a->in_flight = false;
}

/* The scout is gone, which reads the settings of those that have no worker. */
void manager_lost_settings(struct manager *m)
{
	for (struct device *d = m->model.devices; d; d = d->next)
		if (!device_is_watched(m, d))
			ask_lost(&device_watch(d)->settings);
}

/* Its worker is gone, and with it what was asked. */
void device_lost_facts(struct device *d)
{
	struct device_watch *dw = device_watch(d);

	ask_lost(&dw->details);
	ask_lost(&dw->settings);
	ask_lost(&dw->devlink);
	ask_lost(&dw->vf_policy);
	dw->counters.in_flight = false;
	for (size_t i = 0; i < d->n_ports; i++) {
		struct port_watch *pw = port_watch(&d->ports[i]);

		ask_lost(&pw->tables);
		ask_lost(&pw->qos);
		ask_lost(&pw->link);
		for (size_t k = 0; k < _COUNTER_SOURCE_MAX; k++)
			pw->counters[k].in_flight = false;
		port_tables_begin(&d->ports[i].tables);
	}
}

/* ---- answers ---- */

static struct port *find_port(struct manager *m, uint32_t device_index, uint32_t number)
{
	struct device *d = model_device_by_index(&m->model, device_index);

	return d ? device_port(d, number) : NULL;
}

void on_pool_details(const struct device_details *f, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, f->device_index);
	struct ask *a;

	if (!d)
		return;
	a = &device_watch(d)->details;
	a->in_flight = false;
	if (device_watch(d)->slow_recalled) {
		device_watch(d)->slow_recalled = false;
		d->slow_since = (struct timepoint){ 0 };
		m->state_dirty = true;
	}
	if (device_see_details(d, f)) {
		m->plan_dirty = m->state_dirty = true; /* selectors may ask for the board */
		device_judge_whole(m, d);
		manager_inventory_look(m);
	}
	if (a->again)
		device_ask_details(m, d);
}

void on_pool_settings(const struct setting_facts *f, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, f->device_index);
	struct port *p = d ? device_port(d, f->port) : NULL;

	if (p && port_see_settings(p, f))
		m->plan_dirty = m->state_dirty = true;
	if (!d || f->port)
		return;
	device_watch(d)->settings.in_flight = false;
	manager_setup_read(m);
	if (device_see_settings(d, f))
		m->plan_dirty = m->state_dirty = true;
	if (device_watch(d)->settings.again)
		device_ask_settings(m, d);
}

void on_pool_gid(const struct gid_facts *f, void *user)
{
	struct port *p = find_port(user, f->device_index, f->port);
	int r = p ? port_tables_add_gid(&p->tables, f) : 0;

	if (r < 0)
		log_debug("%s/%u: GID %u is left out: %s", p->device->facts.name, f->port, f->index,
			strerror(-r));
}

void on_pool_pkeys(const struct pkey_facts *f, void *user)
{
	struct port *p = find_port(user, f->device_index, f->port);
	int r = p ? port_tables_add_pkeys(&p->tables, f) : 0;

	if (r < 0)
		log_debug("%s/%u: P_Keys from %u on are left out: %s", p->device->facts.name,
			f->port, f->first, strerror(-r));
}

void on_pool_tables(const struct table_facts *f, void *user)
{
	struct manager *m = user;
	struct port *p = find_port(m, f->device_index, f->port);
	struct tables_update u;
	struct ask *a;

	if (!p)
		return;
	a = &port_watch(p)->tables;
	a->in_flight = false;
	port_tables_finish(&p->tables, f, &u);
	if (u.first || u.gids_changed || u.pkeys_changed)
		m->state_dirty = true;
	if (u.first || u.pkeys_changed)
		m->plan_dirty = true; /* an IPoIB child may wait for its partition */
	manager_inventory_gids(m, p, &u);
	port_judge(m, p);
	if (a->again)
		port_ask_tables(m, p);
}

void on_pool_qos(const struct qos_facts *f, void *user)
{
	struct manager *m = user;
	struct netdev *n = model_netdev_by_index(&m->model, f->ifindex);

	/* Whoever asked for this one, though it may run on another netdev by now. */
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (port_watch(&d->ports[i])->qos_ifindex == f->ifindex)
				port_watch(&d->ports[i])->qos.in_flight = false;
	if (n && netdev_see_qos(n, f))
		m->state_dirty = true;
}

void on_pool_link(const struct link_facts *f, void *user)
{
	struct manager *m = user;
	struct netdev *n = model_netdev_by_index(&m->model, f->ifindex);
	bool changed = n && netdev_see_link(n, f);

	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];

			if (port_watch(p)->link_ifindex != f->ifindex)
				continue;
			port_watch(p)->link.in_flight = false;
			if ((changed || port_watch(p)->edges.held_until) &&
				p->facts.netdev_index == f->ifindex)
				port_judge(m, p);
		}
}

void on_pool_vf_policy(const struct vf_policy *f, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, f->device_index);

	if (!d)
		return;
	device_watch(d)->vf_policy.in_flight = false;
	device_see_vf_policy(d, f);
	device_judge_whole(m, d); /* also if it says nothing: a record may wait for it */
}

void on_pool_devlink(const struct devlink_facts *f, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, f->device_index);

	if (!d)
		return;
	device_watch(d)->devlink.in_flight = false;
	if (device_see_devlink(d, f))
		device_judge(m, d);
	if (device_watch(d)->devlink.again)
		device_ask_devlink(m, d);
}

void on_pool_switch(const struct rdma_switch *f, void *user)
{
	struct manager *m = user;

	for (size_t i = 0; i < m->model.n_unprobed; i++) {
		struct unprobed *u = &m->model.unprobed[i];

		if (u->facts.kind != ELSEWHERE_NOT_PROBED ||
			!streq(u->facts.pci_address, f->pci_address))
			continue;
		u->asked = false;
		m->host_dirty |= u->switched != f->on;
		u->switched = f->on;
	}
}

/* ---- counters ---- */

/* Where the counters of this port (0: the device) and source are kept; NULL when it is gone. */
static struct counter_table **find_counters(struct manager *m, uint32_t device_index,
	uint32_t number, enum counter_source source, struct ask **ret_ask)
{
	struct device *d = model_device_by_index(&m->model, device_index);
	struct port *p;

	if (!d || (unsigned)source >= _COUNTER_SOURCE_MAX)
		return NULL;
	if (number == 0) {
		*ret_ask = &device_watch(d)->counters;
		return source == COUNTER_HW ? &d->counters : NULL;
	}
	p = device_port(d, number);
	if (!p)
		return NULL;
	*ret_ask = &port_watch(p)->counters[source];
	return &p->counters[source];
}

void on_pool_counter_name(const struct counter_name *f, void *user)
{
	struct counter_table **t;
	struct ask *a;

	t = find_counters(user, f->device_index, f->port, f->source, &a);
	if (t && counter_table_name(t, f) < 0)
		log_debug("device %u port %u: counter %s is left out", f->device_index, f->port,
			f->name);
}

void on_pool_counter_values(const struct counter_values *f, void *user)
{
	struct manager *m = user;
	struct counter_table **t;
	struct ask *a;

	t = find_counters(m, f->device_index, f->port, f->source, &a);
	if (t && *t)
		counter_table_values(*t, f, manager_now(m));
}

/* What the counters say of a port's falls, and of how well its link does. */
static void port_counters_read(struct manager *m, struct port *p, enum counter_source source)
{
	const struct counter *c = port_link_downed(&m->model, p, source);

	if (c && port_see_link_downed(p, c, manager_now(m).mono) > 0)
		port_ask(m, p);
	port_judge(m, p);
}

void on_pool_counters(const struct counters_done *f, void *user)
{
	struct manager *m = user;
	struct counter_table **t;
	struct port *p;
	struct ask *a;

	t = find_counters(m, f->device_index, f->port, f->source, &a);
	if (!t)
		return;
	a->in_flight = false;
	/* The driver has none: that does not change in the life of a device. */
	a->absent = f->error == -ENOENT;
	if (counter_table_finish(t, f, manager_now(m)) < 0)
		return; /* out of memory: as before */
	p = find_port(m, f->device_index, f->port);
	if (p)
		port_counters_read(m, p, f->source);
	else
		device_judge(m, model_device_by_index(&m->model, f->device_index));
}

/* ---- the slow lane itself ---- */

void on_pool_slow(const char *adapter, bool late, void *user)
{
	struct manager *m = user;
	struct timepoint since = before(manager_now(m), m->config->probe_timeout_usec);

	for (struct device *d = m->model.devices; d; d = d->next) {
		if (!streq(d->facts.adapter, adapter))
			continue;
		if (late && device_watch(d)->slow_recalled)
			continue; /* it was before this run began */
		d->slow_since = late ? since : (struct timepoint){ 0 };
		device_judge(m, d);
		m->state_dirty = true;
	}
}
