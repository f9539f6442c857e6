/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "down-why.h"
#include "expectation.h"
#include "judge-counters.h"
#include "judge-link.h"
#include "judge-tables.h"
#include "macros.h"
#include "making.h"
#include "notes.h"

/* Health of a port that is not ACTIVE and whose being down is nobody's concern. */
static void judge_unexpected(struct making *mk, const struct port *p, const struct config *c,
	const struct port_settings *ps, const struct netdev *n)
{
	const struct config_expect *counted = config_expect_of(c, &p->device->facts, &p->facts);
	struct verdict *v = &mk->v;
	char span[TIMESPAN_MAX];

	v->health = HEALTH_IGNORED;
	if (ps->expect == EXPECT_DOWN)
		STRSCPY(v->ignored_because, "configured as Expect=down");
	else if (ps->expect == EXPECT_ANY)
		STRSCPY(v->ignored_because, "configured as Expect=any");
	else if (p->learned && netdev_disabled(n))
		snprintf(v->ignored_because, sizeof(v->ignored_because),
			"disabled by the administrator: %s is not up", n->facts.name);
	else if (counted)
		snprintf(v->ignored_because, sizeof(v->ignored_because), "counted by [Expect %s]",
			counted->name);
	else if (p->was_active)
		snprintf(v->ignored_because, sizeof(v->ignored_because),
			"not expected: was ACTIVE for less than StableSec=%s",
			timespan_format(span, sizeof(span), c->stable_usec));
	else
		STRSCPY(v->ignored_because, "not expected: never seen ACTIVE");
}

static void judge_no_sm(struct making *mk, const struct port *p)
{
	struct reason *r = raise_reason(mk, REASON_NO_SUBNET_MANAGER, SEVERITY_FAILED, "");
	char state[STATE_WORD_MAX];

	if (!r)
		return;
	snprintf(r->found, sizeof(r->found), "link up, port state %s",
		port_state_word(p->facts.state, state));
	STRSCPY(r->wanted, "active");
	STRSCPY(r->remedy, "start a subnet manager in this fabric (sminfo shows the present one)");
}

static void judge_down(struct making *mk, const struct port *p, const struct netdev *n)
{
	struct reason *r = raise_reason(mk, REASON_PORT_DOWN, SEVERITY_FAILED, "");

	if (!r)
		return;
	STRSCPY(r->wanted, "active");
	down_explain(r, p, n);
}

/* A port that is expected and was read as not ACTIVE. */
static void judge_expected_down(
	struct making *mk, const struct port *p, const struct config *c, const struct netdev *n)
{
	usec_t until = port_awaited_until(p, c);

	if (mk->now.mono < until) {
		recheck_at(mk, until);
		/* Its link is back, and it is not up yet: until then it is the same condition. */
		if (port_lacks_sm(p) && verdict_find(mk->old, REASON_PORT_DOWN, ""))
			judge_down(mk, p, n);
		else
			mk->v.health = HEALTH_STARTING;
	} else if (port_lacks_sm(p)) {
		judge_no_sm(mk, p);
	} else {
		judge_down(mk, p, n);
	}
}

/*
 * link-flapping latches: raised by the count within the window, cleared by a stable time or by who
 * acknowledges it.
 */
static void judge_flapping(struct making *mk, struct port *p, const struct config *c)
{
	const struct reason *standing = verdict_find(mk->old, REASON_LINK_FLAPPING, "");
	usec_t stable_at = usec_add(p->last_edge, c->stable_usec);
	char from[32], window[TIMESPAN_MAX];
	usec_t first = mk->now.mono;
	struct reason *r;
	struct tm tm;
	time_t t;
	unsigned n;

	if (c->flap_count == 0)
		return;
	if (standing && (mk->now.mono >= stable_at || standing->ack.when.mono)) {
		p->flap_floor = mk->now.mono;
		return;
	}
	/* The ring holds fewer edges than a long storm has; a standing condition keeps counting. */
	n = port_flaps_within(
		p, mk->now.mono, standing ? USEC_INFINITY : c->flap_window_usec, &first);
	if (!standing && n < c->flap_count)
		return;
	recheck_at(mk, stable_at);
	r = raise_reason(mk, REASON_LINK_FLAPPING, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	t = (time_t)(usec_sub(mk->now.real, usec_sub(mk->now.mono, first)) / USEC_PER_SEC);
	strftime(from, sizeof(from), "%H:%M:%S", localtime_r(&t, &tm));
	snprintf(r->found, sizeof(r->found), "%s%u times down since %s",
		n == FLAP_RING ? "at least " : "", n, from);
	snprintf(r->wanted, sizeof(r->wanted), "fewer than %u in %s", c->flap_count,
		timespan_format(window, sizeof(window), c->flap_window_usec));
	STRSCPY(r->remedy,
		"a loose cable, a bad transceiver or a restless peer: reseat or replace");
}

/* No reading of the port at all yet. */
static void judge_unread(struct making *mk, const struct port *p, const struct config *c)
{
	usec_t grace_ends = usec_add(p->first_seen.mono, c->grace_usec);

	if (mk->now.mono < grace_ends) {
		mk->v.health = HEALTH_STARTING;
		recheck_at(mk, grace_ends);
	} else {
		mk->v.health = HEALTH_UNKNOWN;
	}
}

static void judge_read_error(struct making *mk, const struct port *p)
{
	struct reason *r = raise_reason(mk, REASON_PORT_UNREADABLE, SEVERITY_UNKNOWN, "");
	char span[TIMESPAN_MAX];

	if (!r)
		return;
	if (p->have_facts)
		snprintf(r->found, sizeof(r->found), "%s; the last good reading is kept",
			strerror(-p->last_error));
	else
		snprintf(r->found, sizeof(r->found), "%s; never read since %s ago",
			strerror(-p->last_error),
			timespan_format(
				span, sizeof(span), usec_sub(mk->now.mono, p->first_seen.mono)));
	STRSCPY(r->wanted, "a readable port");
	STRSCPY(r->remedy, "see the kernel log (journalctl -k) for this device's driver");
}

/* It was read, but for its state: neither up nor down (DESIGN rule 4). */
static void judge_state_unknown(struct making *mk)
{
	struct reason *r = raise_reason(mk, REASON_PORT_UNREADABLE, SEVERITY_UNKNOWN, "");

	if (!r)
		return;
	STRSCPY(r->found, "its state could not be read, or is no state");
	STRSCPY(r->wanted, "a readable port");
	STRSCPY(r->remedy, "see the kernel log (journalctl -k) for this device's driver");
}

/* Readings that fail now and then are one condition, and not one for each. */
static void keep_unreadable(struct making *mk, struct port *p)
{
	const enum reason_id id = REASON_PORT_UNREADABLE;

	if (verdict_find(&mk->v, id, ""))
		calm_broken(mk, &p->unreadable, id, 0);
	else if (verdict_find(mk->old, id, "") && !calm_is_over(mk, &p->unreadable))
		keep_reason(mk, id, "");
}

bool judge_port(const struct model *m, struct port *p, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk;
	struct port_settings ps = config_port_settings(c, &p->device->facts, &p->facts);
	const struct netdev *n = port_netdev(m, p);
	enum expectation expectation;
	usec_t learned_at;
	char because[REASON_TEXT_MAX];
	bool counts;

	making_begin(&mk, &p->verdict, now);
	mk.degraded_delay = c->degraded_delay_usec;
	STRSCPY(p->group, ps.group ? ps.group : "");
	mk.v.health = HEALTH_OK;
	if (p->device->release.until.mono) {
		released_text(because, sizeof(because), &p->device->release);
		return making_ignore(&mk, &p->verdict, ret_old, ret_recheck, because);
	}
	if (config_device_settings(c, &p->device->facts).monitor == MONITOR_NO) {
		p->required = false;
		return making_ignore(
			&mk, &p->verdict, ret_old, ret_recheck, "not watched: Monitor=no");
	}

	port_learn(p, c, now.mono, &learned_at);
	recheck_at(&mk, learned_at);
	expectation = port_expectation(p, c, &ps);
	p->required = expectation != NOT_EXPECTED;
	/* What was only learned gives way to what the administrator does by hand. */
	counts = expectation == EXPECTED_BY_CONFIG ||
		 (expectation == EXPECTED_BY_HISTORY && !netdev_disabled(n));

	if (p->last_error && p->last_error != -ENODEV)
		judge_read_error(&mk, p);
	if (!p->have_facts) {
		judge_unread(&mk, p, c);
	} else if (p->facts.state == PORT_STATE_UNKNOWN && ps.expect != EXPECT_ANY &&
		   ps.expect != EXPECT_DOWN) {
		judge_state_unknown(&mk);
	} else if (!port_is_active(p)) {
		if (counts)
			judge_expected_down(&mk, p, c, n);
		else
			judge_unexpected(&mk, p, c, &ps, n);
	}
	if (mk.v.health != HEALTH_IGNORED) {
		keep_unreadable(&mk, p);
		judge_flapping(&mk, p, c);
	}
	judge_link(&mk, m, p, &ps);
	if (mk.v.health != HEALTH_IGNORED)
		judge_counters(&mk, p, c);
	judge_tables(&mk, m, p);
	if (p->probe_state == PROBE_SILENT && mk.v.health != HEALTH_IGNORED)
		mk.v.health = health_worst(mk.v.health, HEALTH_UNKNOWN);
	note_port_rules(&mk, p, c, &ps, expectation);
	return making_end(&mk, &p->verdict, ret_old, ret_recheck);
}
