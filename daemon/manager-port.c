/* SPDX-License-Identifier: MIT */
/*
 * Readings, async events and verdicts of ports and devices.
 */
#include <errno.h>

#include "log.h"
#include "macros.h"
#include "manager-internal.h"

int device_attach(struct device *d)
{
	if (!d->user) {
		d->user = calloc(1, sizeof(struct device_watch));
		if (!d->user)
			return -ENOMEM;
	}
	for (size_t i = 0; i < d->n_ports; i++) {
		if (d->ports[i].user)
			continue;
		d->ports[i].user = calloc(1, sizeof(struct port_watch));
		if (!d->ports[i].user)
			return -ENOMEM;
	}
	return 0;
}

void device_detach(struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		free(d->ports[i].user);
		d->ports[i].user = NULL;
	}
	free(d->user);
	d->user = NULL;
}

bool device_is_watched(const struct manager *m, const struct device *d)
{
	return !d->release.until.mono &&
	       config_device_settings(m->config, &d->facts).monitor != MONITOR_NO;
}

void port_ask(struct manager *m, struct port *p)
{
	int r;

	if (!device_is_watched(m, p->device))
		return;
	if (p->asked_at.mono) {
		p->ask_again = true;
		return;
	}
	r = pool_read_port(m->pool, &p->device->facts, p->number);
	if (r < 0) {
		p->ask_again = true;
		manager_retry_soon(m);
		return;
	}
	p->asked_at = manager_now(m);
	p->ask_again = false;
}

void device_ask_ports(struct manager *m, struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		port_ask(m, &d->ports[i]);
}

/* ---- verdicts ---- */

void device_judge(struct manager *m, struct device *d)
{
	struct timepoint now = manager_now(m);
	usec_t recheck = USEC_INFINITY;
	struct verdict old;

	if (manager_recalling(m))
		return;
	if (judge_device(d, m->config, now, &old, &recheck)) {
		device_edges_changed(&m->edges, d, &old, now);
		m->state_dirty = true;
	}
	recheck = MIN(recheck, device_edges_remind(d, now));
	manager_recheck_at(m, recheck);
	m->host_dirty = true;
}

/* The port alone: its device is to be judged after it. */
static void judge_port_only(struct manager *m, struct port *p)
{
	struct port_edges *pe = &port_watch(p)->edges;
	struct timepoint now = manager_now(m);
	usec_t recheck = USEC_INFINITY;
	bool learned = p->learned;
	struct verdict old;

	manager_notice_resume(m);
	if (manager_recalling(m) || port_is_unconfirmed(m, p))
		return;
	if (judge_port(&m->model, p, m->config, now, &old, &recheck)) {
		port_ask_why(m, p); /* before it is told: the record may wait for the answer */
		pe->why_until = port_why_until(p);
		port_edges_changed(&m->edges, p, pe, &old, m->config, now);
		m->state_dirty = true;
	}
	pe->why_until = port_why_until(p);
	port_edges_why(&m->edges, p, pe, now);
	if (pe->held_until)
		manager_recheck_at(m, pe->held_until);
	port_edges_count(&m->edges, p, pe, m->config, now);
	manager_recheck_at(m, storms_deadline(&m->edges.storms));
	if (p->learned && !learned)
		manager_inventory_look(m); /* keeps it */
	if (pe->storm.pending)
		manager_recheck_at(m, pe->storm.deadline);
	recheck = MIN(recheck, port_edges_remind(p, pe, now));
	manager_recheck_at(m, recheck);
	port_ask_why(m, p);
	if (p->tables_wanted) {
		p->tables_wanted = false;
		port_ask_tables(m, p);
	}
}

void port_judge(struct manager *m, struct port *p)
{
	judge_port_only(m, p);
	device_judge(m, p->device);
}

void device_judge_whole(struct manager *m, struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		judge_port_only(m, &d->ports[i]);
	device_judge(m, d);
}

void manager_judge_missing(struct manager *m)
{
	struct timepoint now = manager_now(m);
	usec_t recheck = USEC_INFINITY;

	if (manager_recalling(m))
		return;
	for (struct missing *x = m->model.missing; x; x = x->next) {
		struct verdict old;

		if (judge_missing(&m->model, x, m->config, now, &old, &recheck)) {
			missing_edges_changed(&m->edges, x, &old, now);
			m->state_dirty = true;
		}
		recheck = MIN(recheck, missing_edges_remind(x, now));
	}
	manager_recheck_at(m, recheck);
	m->host_dirty = true;
}

/* A DEVICE_FATAL whose device is still here after a while was no removal. */
static void device_believe_fatal(struct manager *m, struct device *d)
{
	usec_t due = usec_add(d->fatal_at, FATAL_SETTLE);

	if (!d->fatal_at || d->fatal)
		return;
	if (manager_now(m).mono >= due)
		d->fatal = true;
	else
		manager_recheck_at(m, due);
}

void manager_judge_all(struct manager *m)
{
	for (struct device *d = m->model.devices; d; d = d->next) {
		device_believe_fatal(m, d);
		device_judge_whole(m, d);
	}
	manager_judge_missing(m);
}

void manager_tell_pending(struct manager *m)
{
	struct timepoint now = manager_now(m);

	if (manager_recalling(m))
		return;
	if (edges_storm_over(&m->edges, now))
		m->state_dirty = true;
	manager_recheck_at(m, storms_deadline(&m->edges.storms));
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port_edges *pe = &port_watch(&d->ports[i])->edges;

			if (!pe->storm.pending)
				continue;
			port_edges_timeout(&m->edges, &d->ports[i], pe, m->config, now);
			m->state_dirty = true;
			if (pe->storm.pending)
				manager_recheck_at(m, pe->storm.deadline);
		}
}

/* ---- async events ---- */

/* Whether a verbs context is wanted, and if so whether its cost is to be measured first. */
static bool context_wanted(const struct manager *m, const struct device *d, bool *ret_measure)
{
	bool only_source = false;

	*ret_measure = false;
	switch (config_device_settings(m->config, &d->facts).monitor) {
	case MONITOR_EVENTS:
		return true;
	case MONITOR_READS:
	case MONITOR_NO:
		return false;
	case MONITOR_AUTO:
	case _MONITOR_MODE_MAX:
		break;
	}
	/*
	 * Where the netdev's events say the same, or (efa) no port ever changes, a context must not
	 * cost anything (rule 2).
	 */
	for (size_t i = 0; i < d->n_ports; i++)
		only_source |= d->ports[i].facts.link_layer == LINK_LAYER_INFINIBAND;
	*ret_measure = !only_source;
	return d->n_ports > 0;
}

/* Asks for the context once the link layers are known. */
static void device_watch_when_read(struct manager *m, struct device *d)
{
	struct device_watch *dw = device_watch(d);
	bool measure;
	int r;

	if (dw->asked || !device_is_watched(m, d))
		return;
	for (size_t i = 0; i < d->n_ports; i++)
		if (!d->ports[i].have_facts)
			return;
	dw->asked = true;
	if (!context_wanted(m, d, &measure))
		return;
	r = pool_watch(m->pool, &d->facts, measure);
	if (r < 0) {
		dw->asked = false;
		manager_retry_soon(m);
	}
}

void device_drop_context(struct device *d)
{
	struct device_watch *dw = device_watch(d);

	dw->asked = dw->held = dw->pins = false;
	d->events_error = 0;
}

void device_rewatch(struct manager *m, struct device *d)
{
	pool_unwatch(m->pool, &d->facts);
	device_drop_context(d);
	device_watch_when_read(m, d);
}

void device_close_context(struct manager *m, struct device *d)
{
	pool_unwatch(m->pool, &d->facts);
	device_watch(d)->held = false;
	device_watch(d)->node_gone = true;
}

bool device_close_without_node(struct manager *m, struct device *d)
{
	struct device_watch *dw = device_watch(d);

	if (!dw->held || !d->facts.no_uverbs || dw->vanished)
		return false;
	device_close_context(m, d);
	dw->vanished = true;
	manager_request_listing(m);
	return true;
}

void on_pool_watched(uint32_t device_index, int result, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, device_index);
	struct device_watch *dw;

	if (!d || result == -ECANCELED)
		return;
	dw = device_watch(d);
	if (result == -ENODEV && !dw->vanished) {
		/* It is going, most likely: then nobody needs to hear that it has no events. */
		dw->vanished = dw->node_gone = true;
		manager_request_listing(m);
		return;
	}
	dw->held = result == 0;
	/* Its node went while it was opened; or came since the last listing: the next tells. */
	if (device_close_without_node(m, d))
		return;
	if (dw->held && !d->facts.no_uverbs)
		dw->vanished = false;
	dw->pins = result > 0;
	d->events_error = result > 0 ? EVENTS_WOULD_PIN : result;
	if (dw->held)
		device_ask_ports(m, d); /* what happened before it was held */
	device_judge(m, d);
}

void on_pool_event(const struct pool_event *e, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, e->device_index);
	usec_t now = manager_now(m).mono;
	struct port *p;

	if (!d)
		return;
	if (e->fatals) {
		log_debug("%s: DEVICE_FATAL", d->facts.name);
		d->fatal_at = now;
		device_believe_fatal(m, d);
		manager_request_listing(m);
	}
	p = device_port(d, e->port);
	if (!p)
		return;
	if (!port_has_carrier_counts(&m->model, p))
		port_note_events(p, &e->events, now);
	port_ask(m, p);
	if (e->changes)
		port_ask_tables(m, p);
}

/* ---- readings ---- */

void on_pool_port(const struct port_facts *f, void *user)
{
	struct manager *m = user;
	struct device *d = model_device_by_index(&m->model, f->device_index);
	struct port *p = d ? device_port(d, f->number) : NULL;
	struct port_update u;
	bool settle;

	if (!p)
		return;
	manager_notice_resume(m);
	settle = !p->ask_again;
	p->asked_at = (struct timepoint){ 0 };
	/* That it did not answer is of the run before this one, whose workers are gone. */
	if (p->recalled && p->probe_state != PROBE_FRESH)
		on_pool_silence(d->facts.adapter, POOL_ANSWERS, m);
	u = port_see(p, f, settle, manager_now(m));
	if (f->error == -ENODEV)
		manager_request_listing(m);
	if (u.changed) {
		m->state_dirty = true;
		manager_inventory_look(m);
	}
	m->plan_dirty |= u.reselect; /* what is configured for it may be something else now */
	if (!settle)
		port_ask(m, p);
	port_judge(m, p);
	if (u.blips) {
		port_edges_blip(&m->edges, p, &port_watch(p)->edges, u.blips, manager_now(m));
		m->state_dirty = true;
	}
	device_watch_when_read(m, d);
}

static enum probe_state probe_state_of(enum pool_silence s)
{
	switch (s) {
	case POOL_ANSWERS:
		return PROBE_FRESH;
	case POOL_LATE:
		return PROBE_LATE;
	case POOL_SILENT:
		break;
	}
	return PROBE_SILENT;
}

struct timepoint before(struct timepoint t, usec_t span)
{
	return (struct timepoint){
		.mono = usec_sub(t.mono, span),
		.real = usec_sub(t.real, span),
	};
}

void on_pool_silence(const char *adapter, enum pool_silence silence, void *user)
{
	enum probe_state state = probe_state_of(silence);
	struct manager *m = user;

	if (streq(adapter, POOL_SCOUT)) {
		m->list_silent = state == PROBE_SILENT;
		m->host_dirty = true;
		return;
	}
	for (struct device *d = m->model.devices; d; d = d->next) {
		if (!streq(d->facts.adapter, adapter))
			continue;
		/* It was silent before this run began, and goes on being so. */
		if (state == PROBE_LATE && d->probe_state == PROBE_SILENT)
			continue;
		if (state == PROBE_LATE)
			d->silent_since = before(manager_now(m), m->config->probe_timeout_usec);
		d->probe_state = state;
		for (size_t i = 0; i < d->n_ports; i++)
			d->ports[i].probe_state = state;
		device_judge_whole(m, d);
		m->state_dirty = true;
	}
}

void device_lost_requests(struct device *d)
{
	device_lost_facts(d);
	for (size_t i = 0; i < d->n_ports; i++) {
		d->ports[i].asked_at = (struct timepoint){ 0 };
		d->ports[i].ask_again = true;
	}
}

void on_pool_lost(const char *adapter, void *user)
{
	struct manager *m = user;

	if (streq(adapter, POOL_SCOUT)) {
		m->listing = false;
		m->list_again = true;
		manager_lost_switches(m);
		manager_lost_settings(m);
		manager_retry_soon(m);
		return;
	}
	for (struct device *d = m->model.devices; d; d = d->next) {
		if (!streq(d->facts.adapter, adapter))
			continue;
		device_drop_context(d);
		device_lost_requests(d);
	}
	manager_retry_soon(m);
}
