/* SPDX-License-Identifier: MIT */
/*
 * [Expect]: so many ports like this. For images that go to many hosts and keep nothing between
 * boots: what never came up is missed there, too. Only what is known to be short alarms; ports that
 * are still on their way, let go of on purpose, or not readable might be what lacks.
 */
#include <inttypes.h>

#include "absence.h"
#include "expectation.h"
#include "judge-count.h"
#include "macros.h"

struct tally {
	const struct config_expect *expect;
	bool standing;    /* the condition was there before */
	unsigned found;   /* as asked */
	unsigned excused; /* released: down on purpose, and for a while */
	unsigned pending; /* may still come */
	unsigned unknown; /* not to be read now */
	bool any_pending; /* an adapter is away that may return: how many ports it has is open */
	bool any_excused; /* likewise, and it was released */
	unsigned named;   /* of those that are not as asked */
	unsigned unnamed; /* for which there was no room */
	usec_t due;       /* mono: when the first that is pending no more is */
	char names[REASON_TEXT_MAX - 40];
};

/* Adds "mlx5_3/1 down" to the list, or counts it as one more. */
static void name_it(struct tally *t, const char *object, const char *what)
{
	size_t n = strlen(t->names);
	int k;

	/* Once one had no place none has: they are in order. */
	if (!t->unnamed) {
		k = snprintf(
			t->names + n, sizeof(t->names) - n, "%s%s %s", n ? ", " : "", object, what);
		if (k > 0 && (size_t)k < sizeof(t->names) - n) {
			t->named++;
			return;
		}
		t->names[n] = '\0';
	}
	t->unnamed++;
}

static void pending_until(struct tally *t, usec_t mono)
{
	t->pending++;
	t->due = MIN(t->due, mono);
}

static void tally_active(struct tally *t, const struct port *p, const char *object)
{
	char rate[RATE_STRING_MAX], text[RATE_STRING_MAX + 8];
	uint64_t min = t->expect->min_rate_mbps;

	if (min && !p->facts.rate_mbps) {
		t->unknown++;
	} else if (min && p->facts.rate_mbps < min) {
		snprintf(text, sizeof(text), "at %s", rate_format(rate, &p->facts));
		name_it(t, object, text);
	} else if (t->standing && verdict_find(&p->verdict, REASON_LINK_FLAPPING, "")) {
		/* Else each flap of it would end and begin the condition. */
		name_it(t, object, "flapping");
	} else {
		t->found++;
	}
}

static void tally_down(
	struct tally *t, const struct port *p, const char *object, enum expect expect)
{
	char state[STATE_WORD_MAX], phys[STATE_WORD_MAX], text[2 * STATE_WORD_MAX + 8];
	const char *ph = phys_state_word(p->facts.phys_state, phys);

	if (expect == EXPECT_DOWN || expect == EXPECT_ANY)
		return; /* nobody is to be troubled with it */
	snprintf(text, sizeof(text), "%s%s%s%s", port_state_word(p->facts.state, state),
		ph ? " (" : "", ph ? ph : "", ph ? ")" : "");
	name_it(t, object, text);
}

static bool is_readable(const struct port *p)
{
	return p->have_facts && !p->last_error && p->probe_state != PROBE_SILENT &&
	       p->facts.state != PORT_STATE_UNKNOWN;
}

static void tally_port(
	struct tally *t, const struct port *p, const struct config *c, struct timepoint now)
{
	const struct device *d = p->device;
	usec_t until = port_awaited_until(p, c);
	char object[OBJECT_NAME_MAX];

	if (d->release.until.mono)
		t->excused++;
	else if (t->expect->any_state && !t->expect->min_rate_mbps)
		t->found++;
	else if (!is_readable(p) && !p->have_facts && now.mono < until)
		pending_until(t, until);
	else if (!is_readable(p))
		t->unknown++;
	else if (port_is_active(p))
		tally_active(t, p, port_object(object, p));
	else if (t->expect->any_state)
		t->found++;
	else if (now.mono < until)
		pending_until(t, until);
	else
		tally_down(t, p, port_object(object, p),
			config_port_settings(c, &d->facts, &p->facts).expect);
}

/* An adapter that is away: one that may return, one that was let go, one that is missed. */
static void tally_missing(struct tally *t, const struct missing *x, struct timepoint now)
{
	struct device_facts f = absence_facts(x);

	if (x->release.until.mono > now.mono)
		t->any_excused = true;
	else if (x->verdict.health == HEALTH_UNKNOWN || x->verdict.health == HEALTH_STARTING)
		t->any_pending = true;
	else if (x->verdict.n_reasons && selector_match(&t->expect->match, &f, NULL))
		name_it(t, x->name, "missing");
}

static void take_tally(
	struct tally *t, const struct model *m, const struct config *c, struct timepoint now)
{
	for (const struct device *d = m->devices; d; d = d->next) {
		/* A virtual function would stand for a port that is dead. */
		if (device_is_vf(d) || config_device_settings(c, &d->facts).monitor == MONITOR_NO)
			continue;
		for (size_t i = 0; i < d->n_ports; i++)
			if (selector_match(&t->expect->match, &d->facts, &d->ports[i].facts))
				tally_port(t, &d->ports[i], c, now);
	}
	for (const struct missing *x = m->missing; x; x = x->next)
		tally_missing(t, x, now);
}

/* "ports up at 200 Gb/s or more" */
#define ASKED_MAX 64
static const char *asked_format(char buf[ASKED_MAX], const struct config_expect *e, unsigned n)
{
	struct port_facts least = { .rate_mbps = e->min_rate_mbps };
	char rate[RATE_STRING_MAX];

	snprintf(buf, ASKED_MAX, "%u port%s%s%s%s", n, n == 1 ? "" : "s", e->any_state ? "" : " up",
		e->min_rate_mbps ? " at " : "", e->min_rate_mbps ? rate_format(rate, &least) : "");
	if (e->min_rate_mbps)
		strncat(buf, " or more", ASKED_MAX - strlen(buf) - 1);
	return buf;
}

static void raise_missing(struct making *mk, const struct tally *t)
{
	const struct config_expect *e = t->expect;
	char asked[ASKED_MAX], more[32] = "";
	struct reason *r = raise_reason(mk, REASON_COUNT_MISSING, SEVERITY_FAILED, e->name);

	note_rule(REASON_COUNT_MISSING, e->name, OUTCOME_RAISED, &e->origin,
		"%u of %" PRIu32 " as asked", t->found, e->count);
	if (!r)
		return;
	if (t->unnamed)
		snprintf(more, sizeof(more), " and %u more", t->unnamed);
	snprintf(r->found, sizeof(r->found), "%s%s%s%s", asked_format(asked, e, t->found),
		t->named ? "; " : ", and no other port matches", t->names, more);
	asked_format(asked, e, e->count);
	snprintf(r->wanted, sizeof(r->wanted), "%s that match \"%.70s\"", asked, e->match.text);
	STRSCPY(r->remedy, t->named
				   ? "look at what is named: cable, peer, driver; see rdmactl list"
				   : "is an adapter dead, or without its driver? lspci, rdma link, "
				     "journalctl -k");
}

static void judge_expect(struct making *mk, const struct model *m, const struct config *c,
	const struct config_expect *e)
{
	usec_t grace_ends = usec_add(m->watched_since.mono, c->grace_usec);
	struct tally t = {
		.expect = e,
		.standing = verdict_find(mk->old, REASON_COUNT_MISSING, e->name) != NULL,
		.due = USEC_INFINITY,
	};
	bool early;

	take_tally(&t, m, c, mk->now);
	early = !m->listed || mk->now.mono < grace_ends;
	if (t.found >= e->count || t.any_excused || t.found + t.excused >= e->count) {
		note_rule(REASON_COUNT_MISSING, e->name, OUTCOME_CLEAR, &e->origin,
			"%u of %" PRIu32 " as asked%s", t.found, e->count,
			t.found < e->count ? ", others are released" : "");
	} else if (t.standing && !early) {
		raise_missing(mk, &t); /* until it is known to be over */
		recheck_at(mk, t.due);
	} else if (early || t.any_pending || t.found + t.excused + t.pending >= e->count) {
		mk->v.health = health_worst(mk->v.health, HEALTH_STARTING);
		recheck_at(mk, mk->now.mono < grace_ends ? grace_ends : t.due);
		note_rule(REASON_COUNT_MISSING, e->name, OUTCOME_PENDING, &e->origin,
			"%u of %" PRIu32 " as asked, others may still come", t.found, e->count);
	} else if (t.found + t.excused + t.pending + t.unknown >= e->count) {
		mk->v.health = health_worst(mk->v.health, HEALTH_UNKNOWN);
		note_rule(REASON_COUNT_MISSING, e->name, OUTCOME_ABSENT, &e->origin,
			"%u of %" PRIu32 " as asked, %u cannot be read", t.found, e->count,
			t.unknown);
	} else {
		raise_missing(mk, &t);
	}
}

void judge_counts(struct making *mk, const struct model *m, const struct config *c)
{
	for (size_t i = 0; i < c->n_expects; i++)
		judge_expect(mk, m, c, &c->expects[i]);
}
