/* SPDX-License-Identifier: MIT */
/* A port: its state, and how often it was down. */
#include "macros.h"
#include "model-internal.h"

/*
 * Readings and evidence of one and the same down edge may arrive in either order. For this long a
 * reading that was first keeps the evidence from being taken for a second edge.
 */
#define DEBT_LIFETIME (2 * USEC_PER_SEC)

/* How long an event may be overtaken by later ones of its port: a work of the kernel that queries it. */
#define EVENTS_REORDER (500 * USEC_PER_MSEC)

void port_done(struct port *p)
{
	port_tables_done(&p->tables);
	for (size_t i = 0; i < _COUNTER_SOURCE_MAX; i++)
		counter_table_free(p->counters[i]);
}

bool port_link_is_down(const struct model *m, const struct port *p)
{
	const struct netdev *n = port_netdev(m, p);

	/* The netdev may be ahead of the port. */
	return n && p->have_facts && p->facts.link_layer == LINK_LAYER_ETHERNET &&
	       (n->facts.flags & IFF_UP) && !n->facts.carrier;
}

const char *port_object(char buf[OBJECT_NAME_MAX], const struct port *p)
{
	snprintf(buf, OBJECT_NAME_MAX, "%s/%u", p->device->facts.name, p->number);
	return buf;
}

static bool state_is_active(int state)
{
	return state == PORT_STATE_ACTIVE || state == PORT_STATE_ACTIVE_DEFER;
}

bool port_is_active(const struct port *p)
{
	return p->have_facts && state_is_active(p->facts.state);
}

/* An old debt is of edges that never had evidence: it must not swallow a new one. */
static void port_forget_debt(struct port *p, usec_t now)
{
	if (usec_sub(now, p->downs_ahead_since) > DEBT_LIFETIME)
		p->downs_ahead = 0;
	if (p->unseen_downs < 0 && usec_sub(now, p->unseen_since) > DEBT_LIFETIME)
		p->unseen_downs = 0;
}

void port_note_downs(struct port *p, uint32_t n, usec_t now)
{
	uint32_t told;

	port_forget_debt(p, now);
	told = MIN(n, p->downs_ahead);
	p->downs_ahead -= told;
	n -= told;
	if (n == 0)
		return;
	p->unseen_downs += n;
	p->unseen_since = now;
}

/*
 * How many falls these events tell of. Each one ends an ACTIVE, so that there are as many as became
 * ACTIVE, up to how it began and ended; and each one has a PORT_ERR. More PORT_ERR than that are of a
 * driver that sends one for INIT; more PORT_ACTIVE, of one that a reading was ahead of. What is left
 * over may be of events to come that this time were slower than others.
 */
static uint32_t port_match_events(
	struct port *p, const struct port_events *e, bool was_up, usec_t now)
{
	struct spare_events *spare = &p->spare_events;
	uint64_t errs, actives, ups, falls;

	if (usec_sub(now, spare->since) > EVENTS_REORDER)
		*spare = (struct spare_events){ 0 };
	errs = (uint64_t)e->errs + spare->errs;
	actives = (uint64_t)e->actives + spare->actives;
	ups = actives + was_up;
	falls = MIN(errs, ups > e->active_latest ? ups - e->active_latest : 0);
	errs -= falls;
	actives = ups - MIN(ups, falls + e->active_latest);
	*spare = (struct spare_events){
		.errs = (uint32_t)MIN(errs, (uint64_t)UINT32_MAX),
		.actives = (uint32_t)MIN(actives, (uint64_t)UINT32_MAX),
		.since = now,
	};
	return (uint32_t)MIN(falls, (uint64_t)UINT32_MAX);
}

void port_note_events(struct port *p, const struct port_events *e, usec_t now)
{
	bool known, was_up;

	if (e->errs + e->actives == 0)
		return;
	port_forget_debt(p, now);
	/* A reading or a counter told of the fall, and this is its event. */
	known = p->unseen_downs < 0 || p->downs_ahead > 0;
	/* While events come by the dozen, what was read lately is ahead of them. */
	was_up = usec_sub(now, p->spare_events.since) > EVENTS_REORDER ? p->up_latest : p->up_told;
	port_note_downs(p, port_match_events(p, e, was_up || (e->err_first && known), now), now);
	p->up_told = p->up_latest = e->active_latest;
}

/* Returns whether it counts. */
static bool port_count_edge(struct port *p, usec_t now)
{
	bool excused = now < p->excused_until;

	p->excused_until = 0; /* good for one fall */
	if (excused) {
		p->excused_downs++;
		return false;
	}
	p->flap_ring[p->flap_count % FLAP_RING] = now;
	p->flap_count++;
	p->last_edge = now;
	return true;
}

/* The netdev may say that it was set down after the port has said that it fell. */
#define EXCUSE_BACK (2 * USEC_PER_SEC)

void port_excuse_down(struct port *p, usec_t now, usec_t until)
{
	usec_t last = p->flap_count ? p->flap_ring[(p->flap_count - 1) % FLAP_RING] : 0;

	if (last && !port_is_active(p) && usec_sub(now, last) <= EXCUSE_BACK) {
		p->flap_count--;
		p->excused_downs++;
	} else {
		p->excused_until = until;
	}
}

/* Turns evidence that no reading showed into blips, once a reading is newer than the evidence. */
static uint32_t port_settle(struct port *p, usec_t now)
{
	uint32_t blips = 0;

	for (; p->unseen_downs > 0; p->unseen_downs--)
		blips += port_count_edge(p, now);
	return blips;
}

static bool layers_differ(enum link_layer a, enum link_layer b)
{
	return a != LINK_LAYER_UNKNOWN && b != LINK_LAYER_UNKNOWN && a != b;
}

bool port_remember_best(struct port *p, const struct best_rate *best)
{
	if (best->rate_mbps <= p->best.rate_mbps ||
		layers_differ(best->link_layer, p->facts.link_layer))
		return false;
	p->best = *best;
	return true;
}

/* What a reading says of the best rate, and of states that contradict. */
static void port_see_quality(struct port *p)
{
	const struct port_facts *f = &p->facts;
	struct best_rate now = { .rate_mbps = f->rate_mbps, .link_layer = f->link_layer };
	bool odd;

	/* A rate of one protocol says nothing of the other. */
	if (layers_differ(p->best.link_layer, f->link_layer))
		p->best = (struct best_rate){ 0 };
	STRSCPY(now.width, f->width);
	STRSCPY(now.speed, f->speed);
	/* A port that is not ACTIVE shows any rate. */
	if (state_is_active(f->state))
		port_remember_best(p, &now);
	/* 0 is no state (IBA 14.2.5.6): of a driver that fills in none. */
	odd = f->phys_state == PHYS_STATE_RECOVERY ||
	      (state_is_active(f->state) && f->phys_state > 0 &&
		      f->phys_state != PHYS_STATE_LINKUP);
	p->odd_phys_reads = odd ? p->odd_phys_reads + 1 : 0;
}

/* The peer is there, and nobody has made the port ACTIVE. */
static void port_see_init(struct port *p, struct timepoint now)
{
	int state = p->facts.state;

	if (p->facts.phys_state != PHYS_STATE_LINKUP ||
		(state != PORT_STATE_INIT && state != PORT_STATE_ARMED))
		p->init_since = (struct timepoint){ 0 };
	else if (p->init_since.mono == 0)
		p->init_since = now;
}

struct port_update port_see(
	struct port *p, const struct port_facts *f, bool settle, struct timepoint now)
{
	struct port_update u = { 0 };
	bool was_active = port_is_active(p), is_active, known = f->state != PORT_STATE_UNKNOWN;

	p->recalled = false;
	p->last_error = f->error;
	if (f->error)
		return u;

	u.changed = !p->have_facts || memcmp(&p->facts, f, sizeof(*f)) != 0;
	u.reselect = !p->have_facts || p->facts.link_layer != f->link_layer ||
		     p->facts.netdev_index != f->netdev_index || !streq(p->facts.netdev, f->netdev);
	/* Evidence from before the first reading is older than what rdmad watches. */
	if (!p->have_facts)
		p->unseen_downs = 0;
	p->facts = *f;
	p->have_facts = true;
	p->read_at = now;
	port_see_quality(p);
	port_see_init(p, now);

	is_active = state_is_active(f->state);
	u.went_down = was_active && known && !is_active;
	u.went_up = !was_active && is_active;
	if (u.went_down) {
		u.active_for = usec_sub(now.mono, p->active_since.mono);
		p->last_active_for = u.active_for;
		p->active_since = (struct timepoint){ 0 };
		p->device->have_vf_policy = false;
		port_count_edge(p, now.mono);
		port_forget_debt(p, now.mono);
		p->unseen_downs--;
		p->unseen_since = now.mono;
	}
	if (u.went_up) {
		p->was_active = true;
		p->active_since = now;
		p->down_since = (struct timepoint){ 0 };
		p->last_edge = now.mono;
	} else if (!known) {
		/* Neither up nor down, and no edge. */
		p->active_since = p->down_since = (struct timepoint){ 0 };
	} else if (!is_active && p->down_since.mono == 0) {
		p->down_since = now;
	}
	if (settle) {
		u.blips = port_settle(p, now.mono);
		p->up_latest = is_active;
	}
	return u;
}

unsigned port_flaps_within(const struct port *p, usec_t now, usec_t window, usec_t *ret_first)
{
	uint64_t held = MIN(p->flap_count, (uint64_t)FLAP_RING);
	unsigned n = 0;

	for (uint64_t i = 0; i < held; i++) {
		usec_t t = p->flap_ring[(p->flap_count - 1 - i) % FLAP_RING];

		if (usec_sub(now, t) > window || t < p->flap_floor)
			break;
		n++;
		if (ret_first)
			*ret_first = t;
	}
	return n;
}
