/* SPDX-License-Identifier: MIT */
/*
 * Whether a link is as fast as it should be. Only of ports that are ACTIVE: any other shows some
 * rate of no meaning. What MinRate= asks for goes before what was learned: who configures 100 Gb/s
 * for a port that can do 200 means it.
 */
#include <stdlib.h>

#include "judge-link.h"
#include "macros.h"

/* What most ports have: four lanes. A wider one is seldom, and then learned. */
#define USUAL_LANES 4

static unsigned lanes_of(const char *width)
{
	return width[0] ? (unsigned)strtoul(width, NULL, 10) : 0;
}

/* Of one lane; 0 unknown. */
static uint64_t lane_rate(uint64_t rate_mbps, const char *width)
{
	unsigned lanes = lanes_of(width);

	return lanes ? rate_mbps / lanes : 0;
}

static bool rate_is_known(const struct port *p)
{
	/* What qedr says of a speed that it does not know. */
	if (p->facts.rate_mbps == 2500 && streq(p->device->facts.driver, "qedr"))
		return false;
	return p->facts.rate_mbps > 0;
}

/* On Ethernet the driver translates a speed into some width and speed: lanes mean nothing. */
static bool has_lanes(const struct port *p)
{
	return p->facts.link_layer != LINK_LAYER_ETHERNET && lanes_of(p->facts.width) > 0;
}

/* What is wanted of the link, and what it falls short in. */
struct shortfall {
	struct port_facts wanted; /* for rate_format() */
	const struct config_origin *at;
	const char *source;
	bool width, speed;
};

static void compare_to_configured(
	struct shortfall *s, const struct port *p, const struct port_settings *ps)
{
	uint64_t full = lane_rate(p->facts.rate_mbps, p->facts.width) * USUAL_LANES;

	s->source = "MinRate=";
	s->at = ps->min_rate_at;
	s->wanted.rate_mbps = ps->min_rate_mbps;
	if (p->facts.rate_mbps >= ps->min_rate_mbps)
		return;
	s->width =
		has_lanes(p) && lanes_of(p->facts.width) < USUAL_LANES && full >= ps->min_rate_mbps;
	s->speed = !s->width;
	if (s->width && full == ps->min_rate_mbps) {
		snprintf(s->wanted.width, sizeof(s->wanted.width), "%uX", USUAL_LANES);
		STRSCPY(s->wanted.speed, p->facts.speed);
	}
}

static void compare_to_learned(struct shortfall *s, const struct port *p)
{
	const struct best_rate *best = &p->best;

	s->source = "the best seen";
	s->wanted.rate_mbps = best->rate_mbps;
	STRSCPY(s->wanted.width, best->width);
	STRSCPY(s->wanted.speed, best->speed);
	if (p->facts.rate_mbps >= best->rate_mbps)
		return;
	s->width = has_lanes(p) && lanes_of(p->facts.width) < lanes_of(best->width);
	s->speed = !s->width || lane_rate(p->facts.rate_mbps, p->facts.width) <
					lane_rate(best->rate_mbps, best->width);
}

/* ---- width-degraded, speed-degraded ---- */

static void judge_one(struct making *mk, enum reason_id id, struct hold *hold, bool stands,
	const struct port *p, const struct shortfall *s, const char *remedy)
{
	char found[RATE_STRING_MAX], wanted[RATE_STRING_MAX], span[TIMESPAN_MAX];
	struct reason *r;

	rate_format(found, &p->facts);
	rate_format(wanted, &s->wanted);
	/* A link that trains may come up slow and then get better. */
	if (!hold_reached(mk, hold, stands, mk->degraded_delay)) {
		timespan_format(span, sizeof(span), mk->degraded_delay);
		note_rule(id, "", stands ? OUTCOME_PENDING : OUTCOME_CLEAR, s->at,
			"found %s, wanted %s (%s)%s%s", found, wanted, s->source,
			stands ? "; it counts after " : "", stands ? span : "");
		return;
	}
	note_rule(id, "", OUTCOME_RAISED, s->at, "found %s, wanted %s (%s)", found, wanted,
		s->source);
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	STRSCPY(r->found, found);
	snprintf(r->wanted, sizeof(r->wanted), "%s (%s)", wanted, s->source);
	STRSCPY(r->remedy, remedy);
}

static void judge_shortfall(struct making *mk, struct port *p, const struct shortfall *s)
{
	judge_one(mk, REASON_WIDTH_DEGRADED, &p->width_low, s->width, p, s,
		"lanes are lost: reseat the cable at both ends, else exchange it");
	judge_one(mk, REASON_SPEED_DEGRADED, &p->speed_low, s->speed, p, s,
		"what is the peer able and configured to do? Reseat or exchange the cable; "
		"MinRate= "
		"says what is wanted");
}

/* ---- rate-differs ---- */

static bool is_vf(const struct device *d)
{
	return d->have_details && d->details.is_vf == 1;
}

/* Whether the two belong together: by configuration, else by what they are. */
static bool alike(const struct port *a, const struct port *b)
{
	const struct device_facts *f = &a->device->facts, *g = &b->device->facts;

	if (a->group[0] || b->group[0])
		return streq(a->group, b->group);
	return f->link_type == LINK_TYPE_NONE && g->link_type == LINK_TYPE_NONE && f->board_id[0] &&
	       streq(f->board_id, g->board_id) && streq(f->driver, g->driver) &&
	       a->facts.link_layer == b->facts.link_layer && !is_vf(a->device) && !is_vf(b->device);
}

/* Walks over all ports whose rate counts and that are like p, p included. NULL: no more. */
static const struct port *next_like(
	const struct model *m, const struct port *p, const struct device **d, size_t *i)
{
	if (!*d) {
		*d = m->devices;
		*i = 0;
	}
	for (; *d; *d = (*d)->next, *i = 0)
		while (*i < (*d)->n_ports) {
			const struct port *other = &(*d)->ports[(*i)++];

			if (port_is_active(other) && port_is_fresh(other) && rate_is_known(other) &&
				alike(p, other))
				return other;
		}
	return NULL;
}

/* How the rates of like ports are. */
struct peers {
	unsigned n;
	uint64_t best;
	uint64_t majority; /* the rate that more than half of them have; 0 there is none */
	unsigned n_majority;
};

static struct peers look_at_peers(const struct model *m, const struct port *p)
{
	const struct device *d = NULL;
	const struct port *other;
	struct peers s = { 0 };
	unsigned votes = 0;
	size_t i = 0;

	/* What has a majority survives when pairs of different ones are taken away. */
	while ((other = next_like(m, p, &d, &i))) {
		uint64_t rate = other->facts.rate_mbps;

		s.n++;
		s.best = MAX(s.best, rate);
		if (votes == 0)
			s.majority = rate;
		votes += rate == s.majority ? 1 : -1u;
	}
	d = NULL;
	while ((other = next_like(m, p, &d, &i)))
		s.n_majority += other->facts.rate_mbps == s.majority;
	if (2 * s.n_majority <= s.n)
		s.majority = 0;
	return s;
}

/* Kinds of adapters that are there by twos may well be for two purposes. */
#define PEERS_MIN 3

static void judge_differs(struct making *mk, const struct model *m, struct port *p)
{
	const enum reason_id id = REASON_RATE_DIFFERS;
	struct peers s = look_at_peers(m, p);
	unsigned enough = p->group[0] ? 2 : PEERS_MIN;
	struct port_facts usual = { .rate_mbps = s.majority };
	char found[RATE_STRING_MAX], wanted[RATE_STRING_MAX];
	struct reason *r;
	bool stands;

	/* A group is said to be alike: without a majority the best of it is what it can do. */
	if (!usual.rate_mbps && p->group[0])
		usual.rate_mbps = s.best;
	if (s.n < enough || !usual.rate_mbps || p->width_low.since || p->speed_low.since) {
		hold_reached(mk, &p->rate_odd, false, 0);
		note_rule(id, "", OUTCOME_ABSENT, NULL, "%s",
			s.n < enough       ? "there are not enough ports like it"
			: !usual.rate_mbps ? "like ports have no rate in common"
					   : "speed-degraded or width-degraded tells it");
		return;
	}
	rate_format(found, &p->facts);
	rate_format(wanted, &usual);
	stands = p->facts.rate_mbps != usual.rate_mbps;
	if (!hold_reached(mk, &p->rate_odd, stands, mk->degraded_delay)) {
		note_rule(id, "", stands ? OUTCOME_PENDING : OUTCOME_CLEAR, NULL,
			"found %s, wanted %s as %u of %u like ports", found, wanted, s.n_majority,
			s.n);
		return;
	}
	r = raise_reason(mk, id, SEVERITY_NOTICE, "");
	if (!r)
		return;
	STRSCPY(r->found, found);
	if (s.majority)
		snprintf(r->wanted, sizeof(r->wanted), "%s, as %u of %u ports of %s%s have", wanted,
			s.n_majority, s.n, p->group[0] ? "group " : "its kind", p->group);
	else
		snprintf(
			r->wanted, sizeof(r->wanted), "%s, the best of group %s", wanted, p->group);
	STRSCPY(r->remedy,
		"look at its cable and switch port; Group= tells apart what is not alike");
	note_rule(id, "", OUTCOME_RAISED, NULL, "found %s, wanted %s", r->found, r->wanted);
}

/* ---- all of them ---- */

static const enum reason_id rate_rules[] = { REASON_WIDTH_DEGRADED, REASON_SPEED_DEGRADED,
	REASON_RATE_DIFFERS };

static void note_absent(const char *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(rate_rules); i++)
		note_rule(rate_rules[i], "", OUTCOME_ABSENT, NULL, "%s", why);
}

void ignore_rate(struct port *p, const char *why)
{
	p->width_low = p->speed_low = p->rate_odd = (struct hold){ 0 };
	note_absent(why);
}

void judge_rate(
	struct making *mk, const struct model *m, struct port *p, const struct port_settings *ps)
{
	struct shortfall s = { .at = NULL };

	if (port_is_fresh(p) && !port_is_active(p)) {
		ignore_rate(p, "not judged while it is not ACTIVE");
		return;
	}
	if (!port_is_fresh(p) || !rate_is_known(p)) {
		for (size_t i = 0; i < ARRAY_SIZE(rate_rules); i++)
			keep_reason(mk, rate_rules[i], "");
		note_absent("the rate is not known");
		return;
	}
	if (ps->min_rate_mbps) {
		compare_to_configured(&s, p, ps);
		judge_shortfall(mk, p, &s);
	} else if (p->device->facts.link_type == LINK_TYPE_NONE) {
		compare_to_learned(&s, p);
		judge_shortfall(mk, p, &s);
	} else {
		p->width_low = p->speed_low = (struct hold){ 0 };
		for (size_t i = 0; i < 2; i++)
			note_rule(rate_rules[i], "", OUTCOME_ABSENT, NULL,
				"a software link has no speed of its own, and no MinRate=");
	}
	if (p->device->facts.link_type == LINK_TYPE_NONE || p->group[0])
		judge_differs(mk, m, p);
	else
		note_rule(REASON_RATE_DIFFERS, "", OUTCOME_ABSENT, NULL, "a software link");
}
