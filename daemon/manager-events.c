/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells by itself: uevents, rtnetlink, RDMA netlink. Hints, each of which makes
 * somebody read (DESIGN rule 3); what was lost is healed by a listing.
 */
#include <errno.h>

#include "log.h"
#include "macros.h"
#include "manager-internal.h"

/* ---- rtnetlink and uevents ---- */

static int on_netdev_io(sd_event_source *source, int fd, uint32_t revents, void *user)
{
	static const struct netdev_callbacks callbacks = { manager_see_netdev,
		manager_see_address };
	struct manager *m = user;
	int r;

	(void)source;
	(void)fd;
	(void)revents;
	r = netdev_monitor_receive(m->netdevs, &callbacks, m);
	/* Also a listing that is on its way may have been overtaken by what came now. */
	if (r < 0 || m->listing)
		manager_request_listing(m);
	if (r == -ENOBUFS)
		storms_overrun(&m->edges.storms, manager_now(m).mono);
	else if (r < 0)
		log_warning("rtnetlink: %s", strerror(-r));
	return 0;
}

/*
 * The removal waits for who holds a context. Whose node it was may not be known yet: a device can be
 * opened before a listing has seen its node. The next listing takes up again what stays.
 */
static void uverbs_removed(struct manager *m, const char *uverbs)
{
	for (struct device *d = m->model.devices; d; d = d->next)
		if (streq(d->facts.uverbs, uverbs) ||
			(!d->facts.uverbs[0] && device_watch(d)->asked))
			device_close_context(m, d);
}

static bool a_node_remains(const struct manager *m)
{
	for (const struct device *d = m->model.devices; d; d = d->next)
		if (!device_watch(d)->node_gone)
			return true;
	return false;
}

/*
 * Loading ib_umad gives nodes to devices that were there before: those that lack one, as far as is
 * known, or had this. A first reading that is on its way may be from before.
 */
static void umad_changed(struct manager *m, const char *umad)
{
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];
			const char *had = p->tables.facts.umad;

			if (!had[0] || streq(had, umad))
				port_ask_tables(m, p);
		}
}

static int on_uevent_io(sd_event_source *source, int fd, uint32_t revents, void *user)
{
	struct manager *m = user;
	struct uevent e;
	int r;

	(void)source;
	(void)fd;
	(void)revents;
	while ((r = uevent_monitor_next(m->uevents, &e)) > 0)
		switch (e.kind) {
		case UEVENT_UVERBS_REMOVE:
			uverbs_removed(m, e.sysname);
			/* The last driver may be going, and with it ib_core, which this keeps:
			 * the listing takes it up again where a device remains. */
			if (!a_node_remains(m))
				manager_leave_rdma_monitor(m);
			manager_request_listing(m);
			break;
		case UEVENT_DEVICE:
			manager_request_listing(m);
			break;
		case UEVENT_MODULE:
			if (e.removed)
				manager_setup_module_removed(m, e.sysname);
			m->plan_dirty = true;
			break;
		case UEVENT_UMAD:
			umad_changed(m, e.sysname);
			break;
		}
	if (r < 0) { /* what was lost could be any of them */
		storms_overrun(&m->edges.storms, manager_now(m).mono);
		manager_request_listing(m);
		m->plan_dirty = true;
	}
	return 0;
}

/* ---- the RDMA netlink group ---- */

static void on_rdma_notice(const struct rdma_notice *n, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, n->device_index);
	struct port *p = d ? device_port(d, n->port) : NULL;

	log_debug("RDMA netlink: device %u port %u: %s", n->device_index, n->port,
		n->kind == RDMA_NOTICE_DEVICE ? "registered, renamed or gone"
					      : "its netdev changed");
	if (n->kind == RDMA_NOTICE_DEVICE || !d) {
		manager_request_listing(m);
		return;
	}
	if (p)
		port_ask(m, p);
	else
		device_ask_ports(m, d);
}

static int on_rdma_io(sd_event_source *source, int fd, uint32_t revents, void *user)
{
	struct manager *m = user;
	int r;

	(void)source;
	(void)fd;
	(void)revents;
	r = rdma_monitor_receive(m->rdma, on_rdma_notice, m);
	if (r == 0)
		return 0;
	if (r == -ENOBUFS)
		storms_overrun(&m->edges.storms, manager_now(m).mono);
	else
		log_warning("RDMA netlink: %s", strerror(-r));
	manager_request_listing(m);
	for (struct device *d = m->model.devices; d; d = d->next)
		device_ask_ports(m, d);
	return 0;
}

void manager_leave_rdma_monitor(struct manager *m)
{
	m->rdma_io = sd_event_source_disable_unref(m->rdma_io);
	m->rdma = rdma_monitor_close(m->rdma);
}

void manager_join_rdma_monitor(struct manager *m)
{
	int r;

	if (m->rdma)
		return;
	r = rdma_monitor_open(&m->rdma);
	if (r >= 0)
		r = sd_event_add_io(
			m->event, &m->rdma_io, rdma_monitor_fd(m->rdma), EPOLLIN, on_rdma_io, m);
	if (r < 0) {
		log_debug("RDMA netlink: no notifications: %s", strerror(-r));
		m->rdma = rdma_monitor_close(m->rdma);
		return;
	}
	log_debug("RDMA netlink: notifications are on");
	manager_request_listing(m); /* what came before them */
}

/* ---- life ---- */

int manager_open_events(struct manager *m)
{
	int r;

	r = uevent_monitor_open(&m->uevents);
	if (r < 0) {
		log_error("cannot listen to uevents: %s", strerror(-r));
		return r;
	}
	r = netdev_monitor_open(&m->netdevs);
	if (r < 0) {
		log_error("cannot listen to rtnetlink: %s", strerror(-r));
		return r;
	}
	r = sd_event_add_io(
		m->event, &m->uevent_io, uevent_monitor_fd(m->uevents), EPOLLIN, on_uevent_io, m);
	if (r < 0)
		return r;
	/* A context must be let go before anything else is done (DESIGN rule 2). */
	sd_event_source_set_priority(m->uevent_io, SD_EVENT_PRIORITY_IMPORTANT);
	return sd_event_add_io(
		m->event, &m->netdev_io, netdev_monitor_fd(m->netdevs), EPOLLIN, on_netdev_io, m);
}
