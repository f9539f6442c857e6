/* SPDX-License-Identifier: MIT */
/*
 * What the counter link_downed (IBA 16.1.3.5: LinkDownedCounter) says of falls that nobody told of:
 * events get lost, and a link that is up again at the next reading looks as if nothing had been.
 * Where the netdev counts its carrier's losses, that is the better witness, and this is not asked.
 */
#include "model.h"

#include "macros.h"

/* More in one interval are no falls but a counter that lost its mind. */
#define MISSED_MAX UINT64_C(1000000)

/* A link that fell so often between two readings was not only brought up. */
#define FALLS_OF_STORM 3

static uint64_t edges_counted(const struct port *p)
{
	return p->flap_count + p->excused_downs + (uint64_t)MAX(p->unseen_downs, INT64_C(0));
}

/*
 * The counter is read in its own time: an edge that was counted just before a reading may be in the
 * next one only. So what one interval has too many is left for the next, but no longer: a port that
 * went from ACTIVE to INIT has an edge which the counter never comes to.
 */
static uint64_t settle_interval(struct downs_ledger *l, uint64_t rise, uint64_t edges)
{
	uint64_t covered = l->spare + edges;
	uint64_t left = covered > rise ? covered - rise : 0;

	l->spare = MIN(left, edges);
	return rise > covered ? rise - covered : 0;
}

/* A debt is of other edges, whose events may come yet: they will find it in downs_ahead. */
static void note_missed(struct port *p, uint32_t n, usec_t now)
{
	uint32_t debt = p->unseen_downs < 0 ? (uint32_t)-p->unseen_downs : 0;

	p->unseen_downs = MAX(p->unseen_downs, INT64_C(0)) + n;
	p->unseen_since = now;
	p->downs_ahead = n + debt;
	p->downs_ahead_since = now;
}

uint32_t port_see_link_downed(struct port *p, const struct counter *c, usec_t now)
{
	struct downs_ledger *l = &p->link_downed;
	bool active = port_is_active(p), comparable;
	uint64_t falls, missed;

	if (!c->known || c->stale || !p->have_facts)
		return 0;
	comparable = l->known && l->resets == c->resets && c->value >= l->value;
	falls = edges_counted(p) - l->edges;
	missed = comparable ? settle_interval(l, c->value - l->value, falls) : 0;
	/* A link that is only being brought up may count what nobody would call a fall. */
	if ((!l->active || !active) && falls < FALLS_OF_STORM)
		missed = 0;
	missed = MIN(missed, MISSED_MAX);
	if (missed > 0)
		note_missed(p, (uint32_t)missed, now);
	*l = (struct downs_ledger){
		.known = true,
		.active = active,
		.resets = c->resets,
		.value = c->value,
		.edges = edges_counted(p),
		/* What came until this was told may be in the next reading only. */
		.spare = comparable ? l->spare : falls,
	};
	return (uint32_t)missed;
}

bool port_has_carrier_counts(const struct model *m, const struct port *p)
{
	const struct netdev *n = port_netdev(m, p);

	return n && n->facts.have_carrier_counts && p->facts.link_layer == LINK_LAYER_ETHERNET;
}

const struct counter *port_link_downed(
	const struct model *m, const struct port *p, enum counter_source source)
{
	bool infiniband = p->facts.link_layer == LINK_LAYER_INFINIBAND;

	if (infiniband != (source == COUNTER_PMA) || port_has_carrier_counts(m, p))
		return NULL;
	return counter_table_find(p->counters[source], "link_downed");
}

void port_restart_counters(struct port *p, usec_t now)
{
	p->link_downed = (struct downs_ledger){ .edges = edges_counted(p) };
	p->downs_ahead = 0;
	for (size_t i = 0; i < _COUNTER_SOURCE_MAX; i++)
		counter_table_restart(p->counters[i], now);
}
