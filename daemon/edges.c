/* SPDX-License-Identifier: MIT */
#include "edges.h"

#include "macros.h"
#include "message.h"
#include "reminder.h"
#include "rules.h"

/* One edge to all who hear of it: the journal and the ring of last events. */
static void tell(struct edges *e, const struct edge *edge, struct timepoint now)
{
	struct event ev = { .when = now };

	journal_edge(edge);
	STRSCPY(ev.object, edge->object);
	STRSCPY(ev.reason, rule_get(edge->reason->id)->name);
	STRSCPY(ev.old_state, health_to_string(edge->old_health));
	STRSCPY(ev.new_state, health_to_string(edge->new_health));
	STRSCPY(ev.message, edge->message);
	model_add_event(e->model, &ev);
}

/* What the two verdicts are of. */
struct object {
	const char *name;
	const struct device *device;
	const struct port *port;
	const struct missing *missing;
	const struct verdict *old, *new;
};

static const char *object_netdev(const struct object *o)
{
	return o->port && o->port->facts.netdev[0] ? o->port->facts.netdev : NULL;
}

static struct edge edge_of(
	const struct object *o, enum edge_kind kind, const struct reason *r, const char *message)
{
	return (struct edge){
		.kind = kind,
		.device = o->device,
		.port = o->port,
		.missing = o->missing,
		.object = o->name,
		.netdev = object_netdev(o),
		.reason = r,
		.old_health = o->old->health,
		.new_health = o->new->health,
		.message = message,
	};
}

static void tell_raised(struct edges *e, const struct object *o, const struct reason *r,
	usec_t before, struct timepoint now)
{
	char message[MESSAGE_MAX];
	struct edge edge;

	message_raised(message, o->name, r, before);
	edge = edge_of(o, EDGE_RAISED, r, message);
	tell(e, &edge, now);
}

/* why: "" when the condition is over as a matter of fact. */
static void tell_cleared(struct edges *e, const struct object *o, const struct reason *r,
	const char *why, struct timepoint now)
{
	usec_t stood = usec_sub(now.mono, r->since.mono);
	char message[MESSAGE_MAX];
	struct edge edge;

	if (why[0])
		message_closed(message, o->name, r, why, stood);
	else
		message_cleared(message, o->name, r, stood, o->port);
	edge = edge_of(o, EDGE_CLEARED, r, message);
	tell(e, &edge, now);
}

/* A condition is the same one while its id and subject are, unless it got another severity. */
static const struct reason *same_reason(const struct verdict *v, const struct reason *r)
{
	const struct reason *x = verdict_find(v, r->id, r->subject);

	return x && x->severity == r->severity ? x : NULL;
}

/* Why a condition that went was closed, "" when what it is about is over, or ignored from now on. */
static const char *why_closed(const struct edges *e)
{
	return e->closing ? e->closing : "";
}

typedef bool (*reason_filter)(const struct reason *r);

/* Tells every condition that appeared or went and that filter (NULL: all) lets through. */
static void tell_difference(
	struct edges *e, const struct object *o, reason_filter filter, struct timepoint now)
{
	for (size_t i = 0; i < o->new->n_reasons; i++) {
		const struct reason *r = &o->new->reasons[i];

		if ((!filter || filter(r)) && !same_reason(o->old, r))
			tell_raised(e, o, r, 0, now);
	}
	for (size_t i = 0; i < o->old->n_reasons; i++) {
		const struct reason *r = &o->old->reasons[i];

		if ((!filter || filter(r)) && !verdict_find(o->new, r->id, r->subject))
			tell_cleared(
				e, o, r, r->id == REASON_CONFIG_INVALID ? "" : why_closed(e), now);
	}
}

#define DEVICE_GONE "the device is gone"

/* The object is not there any more, and its conditions go with it. */
static void close_all(
	struct edges *e, const struct object *o, reason_filter filter, struct timepoint now)
{
	for (size_t i = 0; i < o->old->n_reasons; i++)
		if (!filter || filter(&o->old->reasons[i]))
			tell_cleared(e, o, &o->old->reasons[i], DEVICE_GONE, now);
}

/* The conditions that a storm of edges raises and clears: they go through the storm's gate. */
static bool is_fall(const struct reason *r)
{
	return r->id == REASON_PORT_DOWN || r->id == REASON_NO_SUBNET_MANAGER;
}

static bool is_not_fall(const struct reason *r)
{
	return !is_fall(r);
}

static const struct reason *find_fall(const struct verdict *v)
{
	for (size_t i = 0; i < v->n_reasons; i++)
		if (is_fall(&v->reasons[i]))
			return &v->reasons[i];
	return NULL;
}

static void tell_fall(
	struct edges *e, const struct object *o, struct port_edges *pe, struct timepoint now)
{
	pe->held_until = 0;
	pe->why_told = pe->told.explained;
	tell_raised(e, o, &pe->told, pe->was_active_for, now);
}

/* The condition that was told last, or is to be, as it is now; NULL when it is over. */
static const struct reason *present_fall(const struct object *o, const struct port_edges *pe)
{
	const struct reason *fall = find_fall(o->new);

	return fall && fall->id == pe->told.id ? fall : NULL;
}

/* A fall that is held back is told when it is known why it is, or over, or when that takes too long. */
static void tell_held(
	struct edges *e, const struct object *o, struct port_edges *pe, struct timepoint now)
{
	const struct reason *fall = present_fall(o, pe);
	const struct verdict from = { .health = pe->held_from };
	const struct verdict to = { .health = fall ? o->new->health : HEALTH_FAILED };
	struct object held = *o;

	if (!pe->held_until)
		return;
	if (fall && !fall->explained && pe->why_until && now.mono < pe->held_until)
		return;
	if (fall)
		pe->told = *fall;
	held.old = &from;
	held.new = &to;
	tell_fall(e, &held, pe, now);
}

static void say(struct edges *e, const struct object *o, struct port_edges *pe, enum storm_say what,
	struct timepoint now)
{
	const struct reason *fall;

	switch (what) {
	case STORM_NOTHING:
		return;
	case STORM_SAY_DOWN:
		fall = find_fall(o->new);
		if (!fall)
			return;
		pe->told = *fall;
		if (fall->explained || now.mono >= pe->why_until) {
			tell_fall(e, o, pe, now);
			return;
		}
		pe->held_until = pe->why_until;
		pe->held_from = o->old->health;
		return;
	case STORM_SAY_UP:
		tell_cleared(e, o, &pe->told, pe->closed, now);
		return;
	}
}

/* What keeps the port down is another thing now: its cable is back, the subnet manager is not. */
static void tell_other_fall(
	struct edges *e, const struct object *o, struct port_edges *pe, struct timepoint now)
{
	const struct reason *fall = find_fall(o->new);

	if (!fall || !pe->storm.told_down || pe->storm.flapping || fall->id == pe->told.id)
		return;
	tell_cleared(e, o, &pe->told, "", now);
	pe->told = *fall;
	pe->was_active_for = 0;
	tell_fall(e, o, pe, now);
}

static struct object port_as_object(
	char name[OBJECT_NAME_MAX], const struct port *p, const struct verdict *old)
{
	return (struct object){
		.name = port_object(name, p),
		.device = p->device,
		.port = p,
		.old = old,
		.new = &p->verdict,
	};
}

void port_edges_changed(struct edges *e, struct port *p, struct port_edges *pe,
	const struct verdict *old, const struct config *c, struct timepoint now)
{
	char name[OBJECT_NAME_MAX];
	struct object o = port_as_object(name, p, old);
	bool flapping = verdict_find(&p->verdict, REASON_LINK_FLAPPING, "") != NULL;
	bool down = find_fall(&p->verdict) != NULL;

	tell_held(e, &o, pe, now);
	if (down && !find_fall(old))
		pe->was_active_for = p->last_active_for;
	if (!down && find_fall(old))
		STRSCPY(pe->closed, port_is_active(p) ? "" : why_closed(e));
	/* Flapping first: the fall that makes it a storm is told as such and not once more. */
	storm_flapping(&pe->storm, flapping, now.mono);
	say(e, &o, pe, storm_edge(&pe->storm, down, c->flap_count > 0, now.mono, c->stable_usec),
		now);
	tell_other_fall(e, &o, pe, now);
	tell_difference(e, &o, is_not_fall, now);
	if (old->health != p->verdict.health && e->bus)
		bus_health_changed(e->bus, p->device, p, old->health, &p->verdict);
}

void port_edges_why(struct edges *e, struct port *p, struct port_edges *pe, struct timepoint now)
{
	char name[OBJECT_NAME_MAX], message[MESSAGE_MAX];
	struct object o = port_as_object(name, p, &p->verdict);
	const struct reason *fall = present_fall(&o, pe);
	struct edge edge;

	tell_held(e, &o, pe, now);
	/* The record went before the answer came: one more has it. */
	if (!pe->storm.told_down || pe->held_until || pe->why_told || pe->storm.flapping || !fall ||
		!fall->explained)
		return;
	pe->why_told = true;
	message_why(message, o.name, fall);
	edge = edge_of(&o, EDGE_EXPLAINED, fall, message);
	tell(e, &edge, now);
}

void port_edges_timeout(struct edges *e, struct port *p, struct port_edges *pe,
	const struct config *c, struct timepoint now)
{
	char name[OBJECT_NAME_MAX];
	struct verdict before = p->verdict;
	struct object o = port_as_object(name, p, &before);

	/* The verdict changed a while ago; the record speaks of what it was told before. */
	before.health = pe->storm.told_down ? HEALTH_FAILED : HEALTH_OK;
	say(e, &o, pe, storm_timeout(&pe->storm, now.mono, c->stable_usec), now);
}

void port_edges_count(struct edges *e, const struct port *p, struct port_edges *pe,
	const struct config *c, struct timepoint now)
{
	uint64_t falls = p->flap_count > pe->falls ? p->flap_count - pe->falls : 0;

	pe->falls = p->flap_count;
	storms_falls(&e->storms, &pe->storm, falls, now.mono, c->stable_usec);
}

bool edges_storm_over(struct edges *e, struct timepoint now)
{
	struct event ev = { .when = now, .object = "host", .reason = "link-storm" };
	char message[MESSAGE_MAX];
	const struct storm_record r = {
		.ports = e->storms.ports,
		.falls = e->storms.falls,
		.overruns = e->storms.overruns,
		.message = message,
	};

	if (!storms_over(&e->storms, now.mono))
		return false;
	message_storm(message, &e->storms);
	journal_storm(&r);
	STRSCPY(ev.message, message);
	model_add_event(e->model, &ev);
	return true;
}

void port_edges_blip(
	struct edges *e, struct port *p, struct port_edges *pe, unsigned n, struct timepoint now)
{
	const struct reason blip = {
		.id = REASON_LINK_BLIP,
		.severity = SEVERITY_NOTICE,
		.since = now,
	};
	char name[OBJECT_NAME_MAX], message[MESSAGE_MAX];
	struct object o = port_as_object(name, p, &p->verdict);
	struct edge edge;

	if (pe->storm.flapping || pe->storm.told_down)
		return;
	message_blip(message, o.name, n, p);
	edge = edge_of(&o, EDGE_EVENT, &blip, message);
	tell(e, &edge, now);
}

void device_edges_changed(
	struct edges *e, const struct device *d, const struct verdict *old, struct timepoint now)
{
	struct object o = {
		.name = d->facts.name,
		.device = d,
		.old = old,
		.new = &d->verdict,
	};

	tell_difference(e, &o, NULL, now);
	if (old->health != d->verdict.health && e->bus)
		bus_health_changed(e->bus, d, NULL, old->health, &d->verdict);
}

void port_edges_gone(struct edges *e, struct port *p, struct port_edges *pe, struct timepoint now)
{
	const struct verdict none = { .health = HEALTH_UNKNOWN };
	char name[OBJECT_NAME_MAX];
	struct object o = port_as_object(name, p, &p->verdict);

	o.new = &none;
	tell_held(e, &o, pe, now);
	/* What the storm's gate has told counts: what it keeps back was never told. */
	if (pe->storm.told_down)
		tell_cleared(e, &o, &pe->told, DEVICE_GONE, now);
	close_all(e, &o, is_not_fall, now);
}

void device_edges_gone(struct edges *e, const struct device *d, struct timepoint now)
{
	const struct verdict none = { .health = HEALTH_UNKNOWN };
	struct object o = {
		.name = d->facts.name,
		.device = d,
		.old = &d->verdict,
		.new = &none,
	};

	close_all(e, &o, NULL, now);
}

void missing_edges_changed(
	struct edges *e, const struct missing *x, const struct verdict *old, struct timepoint now)
{
	struct object o = { .name = x->name, .missing = x, .old = old, .new = &x->verdict };

	tell_difference(e, &o, NULL, now);
}

/* The end of a device-missing: d is there, and message says what it is to the missing one. */
static void missing_edges_over(struct edges *e, const struct missing *x, const struct device *d,
	const char *message, struct timepoint now)
{
	struct edge edge = {
		.kind = EDGE_CLEARED,
		.device = d,
		.object = d->facts.name,
		.reason = verdict_find(&x->verdict, REASON_DEVICE_MISSING, ""),
		.old_health = x->verdict.health,
		.new_health = HEALTH_OK,
		.message = message,
	};

	if (edge.reason) /* else it was never told to be missing */
		tell(e, &edge, now);
}

void missing_edges_closed(
	struct edges *e, const struct missing *x, const char *why, struct timepoint now)
{
	const struct reason *r = verdict_find(&x->verdict, REASON_DEVICE_MISSING, "");
	const struct verdict none = { .health = HEALTH_OK };
	struct object o = { .name = x->name, .missing = x, .old = &x->verdict, .new = &none };

	if (r)
		tell_cleared(e, &o, r, why, now);
}

/* One that went in an earlier life has been away by the calendar, not by this boot's clock. */
static usec_t was_missing(const struct missing *x, struct timepoint now)
{
	return x->remembered ? usec_sub(now.real, x->since.real)
			     : usec_sub(now.mono, x->since.mono);
}

void missing_edges_returned(
	struct edges *e, const struct missing *x, const struct device *d, struct timepoint now)
{
	char message[MESSAGE_MAX], span[TIMESPAN_MAX];

	timespan_format(span, sizeof(span), was_missing(x, now));
	if (streq(x->name, d->facts.name))
		snprintf(message, sizeof(message), "%s: device is back (was missing %s)",
			d->facts.name, span);
	else
		snprintf(message, sizeof(message), "%s: device is back as %s (was missing %s)",
			x->name, d->facts.name, span);
	missing_edges_over(e, x, d, message, now);
}

void missing_edges_replaced(
	struct edges *e, const struct missing *x, const struct device *d, struct timepoint now)
{
	char message[MESSAGE_MAX], span[TIMESPAN_MAX];
	char old_guid[GUID_STRING_MAX], new_guid[GUID_STRING_MAX];

	timespan_format(span, sizeof(span), was_missing(x, now));
	snprintf(message, sizeof(message),
		"%s: replaced by %s, GUID %s, in PCI %s (GUID %s was missing %s)", x->name,
		d->facts.name, guid_format(new_guid, d->facts.node_guid), x->pci_address,
		guid_format(old_guid, x->node_guid), span);
	missing_edges_over(e, x, d, message, now);
}

void host_edges_changed(struct edges *e, const struct verdict *old, struct timepoint now)
{
	struct object o = { .name = "host", .old = old, .new = &e->model->verdict };

	tell_difference(e, &o, NULL, now);
	if (old->health != e->model->verdict.health && e->bus)
		bus_health_changed(e->bus, NULL, NULL, old->health, &e->model->verdict);
}

/* ---- reminders: for the journal alone, they are no news ---- */

static usec_t remind(const struct object *o, struct verdict *v, bool falls, struct timepoint now)
{
	char message[MESSAGE_MAX];
	usec_t next = USEC_INFINITY;

	for (size_t i = 0; i < v->n_reasons; i++) {
		struct reason *r = &v->reasons[i];
		bool tell_it = reminder_take(r, now.mono);
		struct edge edge;

		next = MIN(next, reminder_due(r));
		if (!tell_it || (is_fall(r) && !falls))
			continue;
		message_reminder(message, o->name, r, usec_sub(now.mono, r->since.mono));
		edge = edge_of(o, EDGE_REMINDER, r, message);
		journal_edge(&edge);
	}
	return next;
}

usec_t port_edges_remind(struct port *p, const struct port_edges *pe, struct timepoint now)
{
	char name[OBJECT_NAME_MAX];
	struct object o = port_as_object(name, p, &p->verdict);

	/* A fall that the storm's gate keeps back was not told at all yet. */
	return remind(&o, &p->verdict, pe->storm.told_down, now);
}

usec_t device_edges_remind(struct device *d, struct timepoint now)
{
	struct object o = {
		.name = d->facts.name,
		.device = d,
		.old = &d->verdict,
		.new = &d->verdict,
	};

	return remind(&o, &d->verdict, true, now);
}

usec_t missing_edges_remind(struct missing *x, struct timepoint now)
{
	struct object o = {
		.name = x->name,
		.missing = x,
		.old = &x->verdict,
		.new = &x->verdict,
	};

	return remind(&o, &x->verdict, true, now);
}

usec_t host_edges_remind(struct model *m, struct timepoint now)
{
	struct verdict *v = &m->verdict;
	struct object o = { .name = "host", .old = v, .new = v };

	return remind(&o, v, true, now);
}
