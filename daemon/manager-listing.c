/* SPDX-License-Identifier: MIT */
/*
 * Which devices and netdevs there are: listings by the scout, and what rtnetlink tells between them.
 */
#include <errno.h>

#include "absence.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"

void manager_request_listing(struct manager *m)
{
	if (m->listing) {
		m->list_again = true;
		return;
	}
	if (pool_list(m->pool) < 0) {
		m->list_again = true;
		manager_retry_soon(m);
		return;
	}
	m->listing = true;
	m->list_again = false;
	model_listing_begin(&m->model);
}

/* A device that is new may be one that was missed, or sit in its place. */
static void device_returned(struct manager *m, struct device *d)
{
	struct missing *x = model_find_missing(&m->model, &d->facts);

	if (x) {
		device_inherit_release(m, d, x);
		missing_edges_returned(&m->edges, x, d, manager_now(m));
	} else {
		x = model_find_replaced(&m->model, d);
		if (!x)
			return;
		missing_edges_replaced(&m->edges, x, d, manager_now(m));
	}
	model_remove_missing(&m->model, x);
}

/*
 * RDMA netlink was refused, or answers again: a device that is known has a number of the other kind
 * now. All that was asked by the old one is void; what is known of its ports is not.
 */
static void adopt_renumbered(struct manager *m, const struct device_facts *f)
{
	struct device *d = model_find_renumbered(&m->model, f);

	if (!d)
		return;
	pool_forget(m->pool, &d->facts);
	device_drop_context(d);
	device_lost_requests(d);
	if (m->bus)
		bus_forget_device(m->bus, d);
	model_renumber_device(&m->model, d, f->index);
	device_ask_facts(m, d);
	m->state_dirty = true;
}

static void tell_gone(struct manager *m, struct device *d)
{
	struct timepoint now = manager_now(m);

	for (size_t i = 0; i < d->n_ports; i++)
		port_edges_gone(&m->edges, &d->ports[i], &port_watch(&d->ports[i])->edges, now);
	device_edges_gone(&m->edges, d, now);
}

static void device_vanished(struct manager *m, struct device *d)
{
	usec_t seen;

	log_info("%s: device is gone", d->facts.name);
	tell_gone(m, d);
	pool_forget(m->pool, &d->facts);
	if (m->bus)
		bus_forget_device(m->bus, d);
	absence_note(&m->model, d, m->config, manager_now(m));
	seen = d->first_seen.mono;
	device_detach(d);
	model_remove_device(&m->model, d);
	/* It went and came within one listing, which named its successor before it was missed. */
	for (struct device *other = m->model.devices; other; other = other->next)
		if (other->first_seen.mono > seen)
			device_returned(m, other);
	m->plan_dirty = m->state_dirty = m->host_dirty = true;
}

/* A device of the run before this one is still here. */
static void device_recalled(struct manager *m, struct device *d)
{
	device_watch(d)->recalled = false;
	device_ask_facts(m, d);
	device_ask_counters(m, d, COUNTER_HW);
	device_ask_counters(m, d, COUNTER_PMA);
}

/* Indexes are not given twice in a boot, but for those that are made up. */
static void drop_replaced(struct manager *m, const struct device_facts *f)
{
	struct device *d = model_device_by_index(&m->model, f->index);

	if (d && device_watch(d)->recalled && d->facts.node_guid && f->node_guid &&
		d->facts.node_guid != f->node_guid)
		device_vanished(m, d);
}

void on_pool_device(const struct device_facts *f, void *user)
{
	struct manager *m = user;
	char old_name[RDMA_NAME_MAX] = "";
	const struct device *known;
	struct device *d;
	int changes;

	adopt_renumbered(m, f);
	drop_replaced(m, f);
	known = model_device_by_index(&m->model, f->index);
	if (known)
		STRSCPY(old_name, known->facts.name);
	changes = model_see_device(&m->model, f, manager_now(m), &d);
	if (changes < 0) {
		log_error("%s: cannot be watched: %s", f->name, strerror(-changes));
		return;
	}
	if (!(changes & DEVICE_NEW)) {
		if (device_watch(d)->recalled)
			device_recalled(m, d);
		device_close_without_node(m, d);
	}
	if (changes == 0)
		return;
	m->plan_dirty = m->state_dirty = true;
	if (device_attach(d) < 0) {
		log_error("%s: cannot be watched: out of memory", f->name);
		model_remove_device(&m->model, d);
		return;
	}
	if (changes & DEVICE_NEW) {
		log_info("%s: new device%s%s%s%s", f->name, f->driver[0] ? ", driver " : "",
			f->driver, f->pci_address[0] ? ", PCI " : "", f->pci_address);
		manager_recall_device(m, d);
		device_returned(m, d);
		device_ask_facts(m, d);
		device_ask_counters(m, d, COUNTER_HW);
		device_ask_counters(m, d, COUNTER_PMA);
	}
	if (changes & DEVICE_RENAMED) {
		log_info("%s: is now called %s", old_name, f->name);
		/* What was read by name while names changed may be another device's. */
		device_ask_facts(m, d);
	}
	device_judge_whole(m, d);
}

/* The port's netdev changed: read the port again, and count what the carrier says. */
static void netdev_affects_ports(struct manager *m, uint32_t ifindex, uint32_t downs)
{
	usec_t now = manager_now(m).mono;

	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];

			if (p->facts.netdev_index != ifindex || !device_is_watched(m, d))
				continue;
			if (p->facts.link_layer == LINK_LAYER_ETHERNET)
				port_note_downs(p, downs, now);
			port_ask(m, p);
			port_ask_why(m, p); /* both answers together */
		}
}

/* What becomes of a leg, or of the bond, says something of every port on that bond. */
static void bond_affects_ports(struct manager *m, uint32_t ifindex)
{
	const struct netdev *bond =
		netdev_bond(&m->model, model_netdev_by_index(&m->model, ifindex));

	if (!bond)
		return;
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];

			if (netdev_bond(&m->model, port_netdev(&m->model, p)) == bond)
				port_judge(m, p);
		}
}

/* What the fall of a port follows within, when its netdev was set down. */
#define ADMIN_DOWN_FOLLOWS (5 * USEC_PER_SEC)

/* The administrator has set the netdev up or down: the port follows, and that is no fault of it. */
static void netdev_was_set(struct manager *m, uint32_t ifindex, bool up)
{
	usec_t now = manager_now(m).mono;

	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];

			if (p->facts.netdev_index != ifindex ||
				p->facts.link_layer != LINK_LAYER_ETHERNET)
				continue;
			if (!up)
				port_excuse_down(p, now, usec_add(now, ADMIN_DOWN_FOLLOWS));
			else if (!port_is_active(p))
				p->settle_until = usec_add(now, m->config->grace_usec);
		}
}

int manager_see_netdev(const struct netdev_facts *f, void *user)
{
	const struct netdev *known;
	struct manager *m = user;
	bool was_up, was_known;
	uint32_t downs;
	int r;

	known = model_netdev_by_index(&m->model, f->ifindex);
	was_known = known && !f->gone;
	was_up = known && (known->facts.flags & IFF_UP);

	r = model_see_netdev(&m->model, f, &downs);
	if (r <= 0)
		return 0;
	m->plan_dirty = true;
	if (was_known && was_up != !!(f->flags & IFF_UP))
		netdev_was_set(m, f->ifindex, !was_up);
	netdev_affects_ports(m, f->ifindex, downs);
	bond_affects_ports(m, f->ifindex);
	return 0;
}

/* Whether addresses of this netdev are GIDs of a port on that one: the same, a VLAN, a bond. */
static bool netdev_carries(const struct manager *m, uint32_t ifindex, uint32_t port_ifindex)
{
	const struct netdev *n = model_netdev_by_index(&m->model, ifindex);
	const struct netdev *port = model_netdev_by_index(&m->model, port_ifindex);

	if (ifindex == port_ifindex)
		return true;
	if (n && n->facts.link == port_ifindex)
		return true;
	return port && port->facts.master &&
	       (port->facts.master == ifindex || (n && n->facts.link == port->facts.master));
}

/* Addresses come and go with GIDs. */
int manager_see_address(const struct address_facts *f, void *user)
{
	struct manager *m = user;
	int r;

	r = model_see_address(&m->model, f);
	if (r <= 0)
		return r;
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (d->ports[i].facts.netdev_index &&
				netdev_carries(m, f->ifindex, d->ports[i].facts.netdev_index))
				port_ask_tables(m, &d->ports[i]);
	return 0;
}

void on_pool_address(const struct address_facts *f, void *user)
{
	manager_see_address(f, user);
}

void on_pool_elsewhere(const struct elsewhere_facts *f, void *user)
{
	struct manager *m = user;

	if (model_see_elsewhere(&m->model, f) < 0)
		log_debug("%s %s: elsewhere, not kept", f->name, f->pci_address);
}

void on_pool_system(const struct system_facts *f, void *user)
{
	struct manager *m = user;

	if (memcmp(&m->model.system, f, sizeof(*f)) == 0)
		return;
	m->model.system = *f;
	m->plan_dirty = m->state_dirty = true;
}

void on_pool_netdev(const struct netdev_facts *f, void *user)
{
	manager_see_netdev(f, user);
}

/* Workers of adapters without devices end; kept until a listing so that quick returns find them. */
static void drop_idle_workers(struct manager *m, const char *adapter)
{
	for (const struct device *d = m->model.devices; d; d = d->next)
		if (streq(d->facts.adapter, adapter))
			return;
	pool_drop_adapter(m->pool, adapter);
}

/* RDMA netlink may not be used (EACCES: a security policy) or is not there: said once. */
static void note_refused(struct manager *m, int refused)
{
	if (refused == m->list_refused)
		return;
	m->list_refused = refused;
	if (refused == 0)
		log_notice("RDMA netlink answers again");
	else
		log_warning("RDMA netlink is refused: %s; devices and ports are read from sysfs",
			strerror(-refused));
}

/* Back before anybody looked, as after a visit to another network namespace: it is not held. */
static void rewatch_returned(struct manager *m)
{
	for (struct device *d = m->model.devices; d; d = d->next)
		if (device_watch(d)->node_gone) {
			device_watch(d)->node_gone = false;
			device_rewatch(m, d);
		}
}

void on_pool_listed(const struct pool_listing *l, void *user)
{
	struct manager *m = user;
	struct device *d;

	m->listing = false;
	manager_setup_read(m);
	if (l->error == -EINTR) {
		m->list_again = true; /* what is listed changed all the time */
		manager_retry_soon(m);
		return;
	}
	if (l->error < 0) {
		if (!m->list_failing)
			log_warning("the kernel does not list the RDMA devices: %s; the last "
				    "known state is kept",
				strerror(-l->error));
		m->list_failing = true;
	} else {
		m->list_failing = false;
		note_refused(m, l->refused);
		while ((d = model_next_vanished(&m->model))) {
			char adapter[sizeof(d->facts.adapter)];

			STRSCPY(adapter, d->facts.adapter);
			device_vanished(m, d);
			drop_idle_workers(m, adapter);
		}
		model_drop_stale_netdevs(&m->model);
		if (!m->model.listed && !m->model.devices)
			log_info("no RDMA device on this host; waiting for one");
		if (!m->model.listed)
			m->plan_dirty = m->state_dirty = true;
		m->model.listed = true;
		m->host_dirty = true;
		model_place_missing(&m->model, manager_now(m));
		absence_expect_configured(&m->model, m->config, manager_now(m));
		manager_judge_missing(m);
		manager_ask_switches(m);
		if (l->notifies && m->model.devices)
			manager_join_rdma_monitor(m);
		else
			manager_leave_rdma_monitor(m);
		manager_inventory_look(m);
		if (!m->list_again && !l->doubtful) /* else this one may be from before */
			rewatch_returned(m);
	}
	if (m->list_again) {
		manager_request_listing(m);
	} else if (l->doubtful) {
		m->list_again = true;
		manager_retry_soon(m);
	}
}
