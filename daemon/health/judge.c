/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "macros.h"
#include "rules.h"

/* A verdict being made: the old one gives conditions that stand their "since". */
struct making {
	struct verdict v;
	const struct verdict *old;
	struct timepoint now;
	usec_t recheck;
};

static struct making making_begin(const struct verdict *old, struct timepoint now)
{
	return (struct making){ .old = old, .now = now, .recheck = USEC_INFINITY };
}

static void recheck_at(struct making *mk, usec_t mono)
{
	mk->recheck = MIN(mk->recheck, mono);
}

static enum health severity_health(enum severity s)
{
	switch (s) {
	case SEVERITY_NOTICE:
		return HEALTH_OK;
	case SEVERITY_UNKNOWN:
		return HEALTH_UNKNOWN;
	case SEVERITY_DEGRADED:
		return HEALTH_DEGRADED;
	case SEVERITY_FAILED:
	case _SEVERITY_MAX:
		break;
	}
	return HEALTH_FAILED;
}

/*
 * Adds a condition in its place, worst first. Returns it for the caller to fill in the texts, or
 * NULL when the object has REASONS_MAX already: then health still counts it.
 */
static struct reason *raise_reason(
	struct making *mk, enum reason_id id, enum severity severity, const char *subject)
{
	struct verdict *v = &mk->v;
	const struct reason *before = verdict_find(mk->old, id, subject);
	struct timepoint since = before ? before->since : mk->now;
	size_t at = v->n_reasons;

	if (severity != SEVERITY_NOTICE)
		v->health = health_worst(v->health, severity_health(severity));
	if (v->n_reasons == REASONS_MAX)
		return NULL;
	while (at > 0 && v->reasons[at - 1].severity < severity)
		at--;
	memmove(&v->reasons[at + 1], &v->reasons[at], (v->n_reasons - at) * sizeof(v->reasons[0]));
	v->n_reasons++;
	v->reasons[at] = (struct reason){ .id = id, .severity = severity, .since = since };
	STRSCPY(v->reasons[at].subject, subject);
	return &v->reasons[at];
}

static bool verdict_differs(const struct verdict *a, const struct verdict *b)
{
	if (a->health != b->health || a->n_reasons != b->n_reasons ||
		!streq(a->ignored_because, b->ignored_because))
		return true;
	for (size_t i = 0; i < a->n_reasons; i++) {
		const struct reason *x = &a->reasons[i], *y = &b->reasons[i];

		if (x->id != y->id || x->severity != y->severity ||
			!streq(x->subject, y->subject) || !streq(x->found, y->found) ||
			!streq(x->wanted, y->wanted) || !streq(x->remedy, y->remedy))
			return true;
	}
	return false;
}

static bool making_end(
	struct making *mk, struct verdict *verdict, struct verdict *ret_old, usec_t *ret_recheck)
{
	bool differs = verdict_differs(verdict, &mk->v);

	mk->v.since =
		mk->v.health == verdict->health && verdict->since.mono ? verdict->since : mk->now;
	if (ret_old)
		*ret_old = *verdict;
	*verdict = mk->v;
	if (ret_recheck)
		*ret_recheck = MIN(*ret_recheck, mk->recheck);
	return differs;
}

/* Why a port is expected to be ACTIVE, or that it is not. */
enum expectation {
	NOT_EXPECTED,
	EXPECTED_BY_CONFIG,
	EXPECTED_BY_HISTORY,
};

static enum expectation port_expectation(
	const struct port *p, const struct config *c, const struct port_settings *ps)
{
	enum expect expect = ps->expect;

	if (expect == EXPECT_AUTO)
		expect = config_device_settings(c, &p->device->facts).expect;
	switch (expect) {
	case EXPECT_UP:
		return EXPECTED_BY_CONFIG;
	case EXPECT_DOWN:
	case EXPECT_ANY:
		return NOT_EXPECTED;
	case EXPECT_AUTO:
	case _EXPECT_MAX:
		break;
	}
	if (ps->link)
		return EXPECTED_BY_CONFIG;
	return p->learned ? EXPECTED_BY_HISTORY : NOT_EXPECTED;
}

static bool netdev_disabled(const struct netdev *n)
{
	return n && !(n->facts.flags & IFF_UP);
}

/* Health of a port that is not ACTIVE and whose being down is nobody's concern. */
static void judge_unexpected(struct making *mk, const struct port *p, const struct config *c,
	const struct port_settings *ps, const struct netdev *n)
{
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
	else if (p->was_active)
		snprintf(v->ignored_because, sizeof(v->ignored_because),
			"not expected: was ACTIVE for less than StableSec=%s",
			timespan_format(span, sizeof(span), c->stable_usec));
	else
		STRSCPY(v->ignored_because, "not expected: never seen ACTIVE");
}

static void down_found(char *buf, size_t size, const struct port *p, const struct netdev *n)
{
	char state[STATE_WORD_MAX], phys[STATE_WORD_MAX];
	const char *ph = phys_state_word(p->facts.phys_state, phys);

	if (netdev_disabled(n))
		snprintf(buf, size, "%s, network interface %s is administratively down",
			port_state_word(p->facts.state, state), n->facts.name);
	else
		snprintf(buf, size, "%s, physical state %s", port_state_word(p->facts.state, state),
			ph ? ph : "unknown");
}

static void down_remedy(char *buf, size_t size, const struct port *p, const struct netdev *n)
{
	if (netdev_disabled(n))
		snprintf(buf, size, "disabled here: ip link set %s up", n->facts.name);
	else if (p->facts.phys_state == PHYS_STATE_DISABLED)
		snprintf(buf, size,
			"the port is disabled here: enable it (IPoIB or Ethernet "
			"interface up, or ibportstate enable)");
	else if (n)
		snprintf(buf, size,
			"no signal from the peer: look at the cable and at the other end of %s",
			n->facts.name);
	else
		snprintf(buf, size,
			"no signal from the peer: look at the cable and at the switch "
			"port");
}

static void judge_no_sm(struct making *mk, const struct port *p, const struct config *c)
{
	char state[STATE_WORD_MAX];
	usec_t grace_ends = usec_add(p->down_since.mono, c->grace_usec);
	struct reason *r;

	if (mk->now.mono < grace_ends) {
		mk->v.health = HEALTH_STARTING;
		recheck_at(mk, grace_ends);
		return;
	}
	r = raise_reason(mk, REASON_NO_SUBNET_MANAGER, SEVERITY_FAILED, "");
	if (!r)
		return;
	snprintf(r->found, sizeof(r->found), "link up, port state %s",
		port_state_word(p->facts.state, state));
	STRSCPY(r->wanted, "active");
	STRSCPY(r->remedy, "start a subnet manager in this fabric (sminfo shows the present one)");
}

/* A port that is expected and was read as not ACTIVE. */
static void judge_expected_down(
	struct making *mk, const struct port *p, const struct config *c, const struct netdev *n)
{
	usec_t grace_ends = usec_add(p->first_seen.mono, c->grace_usec);
	usec_t delay_ends = usec_add(p->down_since.mono, c->down_delay_usec);
	struct reason *r;

	if (p->facts.link_layer == LINK_LAYER_INFINIBAND &&
		p->facts.phys_state == PHYS_STATE_LINKUP &&
		(p->facts.state == PORT_STATE_INIT || p->facts.state == PORT_STATE_ARMED)) {
		judge_no_sm(mk, p, c);
		return;
	}
	/* A port that was never up may still be on its way; one that fell is a fact. */
	if (!p->was_active && mk->now.mono < grace_ends) {
		mk->v.health = HEALTH_STARTING;
		recheck_at(mk, grace_ends);
		return;
	}
	if (mk->now.mono < delay_ends) {
		mk->v.health = HEALTH_STARTING;
		recheck_at(mk, delay_ends);
		return;
	}
	r = raise_reason(mk, REASON_PORT_DOWN, SEVERITY_FAILED, "");
	if (!r)
		return;
	down_found(r->found, sizeof(r->found), p, n);
	STRSCPY(r->wanted, "active");
	down_remedy(r->remedy, sizeof(r->remedy), p, n);
}

/* link-flapping latches: raised by the count within the window, cleared by a stable time. */
static void judge_flapping(struct making *mk, struct port *p, const struct config *c)
{
	bool standing = verdict_find(mk->old, REASON_LINK_FLAPPING, "") != NULL;
	usec_t stable_at = usec_add(p->last_edge, c->stable_usec);
	char from[32], window[TIMESPAN_MAX];
	usec_t first = mk->now.mono;
	struct reason *r;
	struct tm tm;
	time_t t;
	unsigned n;

	if (c->flap_count == 0)
		return;
	if (standing && mk->now.mono >= stable_at) {
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

static void learn(struct making *mk, struct port *p, const struct config *c)
{
	usec_t stable_at = usec_add(p->active_since.mono, c->stable_usec);

	if (p->learned || !port_is_active(p))
		return;
	if (mk->now.mono >= stable_at)
		p->learned = true;
	else
		recheck_at(mk, stable_at);
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

/* "released by root until 14:05:10" */
static void released_text(char *buf, size_t size, const struct release *r)
{
	time_t t = (time_t)(r->until.real / USEC_PER_SEC);
	char until[32];
	struct tm tm;

	strftime(until, sizeof(until), "%H:%M:%S", localtime_r(&t, &tm));
	snprintf(buf, size, "released by %s until %s", r->by, until);
}

bool judge_port(const struct model *m, struct port *p, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk = making_begin(&p->verdict, now);
	struct port_settings ps = config_port_settings(c, &p->device->facts, &p->facts);
	const struct netdev *n = port_netdev(m, p);
	enum expectation expectation;
	bool counts;

	mk.v.health = HEALTH_OK;
	if (p->device->release.until.mono) {
		mk.v.health = HEALTH_IGNORED;
		released_text(
			mk.v.ignored_because, sizeof(mk.v.ignored_because), &p->device->release);
		return making_end(&mk, &p->verdict, ret_old, ret_recheck);
	}
	if (config_device_settings(c, &p->device->facts).monitor == MONITOR_NO) {
		p->required = false;
		mk.v.health = HEALTH_IGNORED;
		STRSCPY(mk.v.ignored_because, "not watched: Monitor=no");
		return making_end(&mk, &p->verdict, ret_old, ret_recheck);
	}

	learn(&mk, p, c);
	expectation = port_expectation(p, c, &ps);
	p->required = expectation != NOT_EXPECTED;
	/* What was only learned gives way to what the administrator does by hand. */
	counts = expectation == EXPECTED_BY_CONFIG ||
		 (expectation == EXPECTED_BY_HISTORY && !netdev_disabled(n));

	if (p->last_error && p->last_error != -ENODEV)
		judge_read_error(&mk, p);
	if (!p->have_facts) {
		judge_unread(&mk, p, c);
	} else if (!port_is_active(p)) {
		if (counts)
			judge_expected_down(&mk, p, c, n);
		else
			judge_unexpected(&mk, p, c, &ps, n);
	}
	if (mk.v.health != HEALTH_IGNORED)
		judge_flapping(&mk, p, c);
	if (p->probe_state == PROBE_SILENT && mk.v.health != HEALTH_IGNORED)
		mk.v.health = health_worst(mk.v.health, HEALTH_UNKNOWN);
	return making_end(&mk, &p->verdict, ret_old, ret_recheck);
}

static bool device_required(const struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].required)
			return true;
	return false;
}

static void judge_unresponsive(struct making *mk, const struct device *d, const struct config *c)
{
	usec_t fails_at = usec_add(d->silent_since.mono, c->unresponsive_usec);
	bool fails = device_required(d) && mk->now.mono >= fails_at;
	struct reason *r = raise_reason(
		mk, REASON_DEVICE_UNRESPONSIVE, fails ? SEVERITY_FAILED : SEVERITY_UNKNOWN, "");
	char span[TIMESPAN_MAX];

	if (!fails && device_required(d))
		recheck_at(mk, fails_at);
	if (!r)
		return;
	snprintf(r->found, sizeof(r->found), "no answer for %s",
		timespan_format(span, sizeof(span), usec_sub(mk->now.mono, d->silent_since.mono)));
	snprintf(r->wanted, sizeof(r->wanted), "an answer within %s",
		timespan_format(span, sizeof(span), c->probe_timeout_usec));
	STRSCPY(r->remedy,
		"driver or firmware hangs: see journalctl -k; a reset or a power cycle may "
		"be needed");
}

static void judge_no_events(struct making *mk, const struct device *d)
{
	struct reason *r = raise_reason(mk, REASON_ASYNC_EVENTS_UNAVAILABLE, SEVERITY_NOTICE, "");

	if (!r)
		return;
	if (d->events_error == EVENTS_WOULD_PIN)
		STRSCPY(r->found, "no verbs context: it would pin the driver's module");
	else
		snprintf(r->found, sizeof(r->found), "no verbs context: %s",
			strerror(-d->events_error));
	STRSCPY(r->wanted, "verbs async events");
	STRSCPY(r->remedy,
		"none needed: watched by netlink and reads (Monitor=reads silences this)");
}

/* Ports are read all the same; what is shown of the rest is as old as this says. */
static void judge_slow(struct making *mk, const struct device *d)
{
	struct reason *r = raise_reason(mk, REASON_COUNTERS_UNAVAILABLE, SEVERITY_NOTICE, "");

	if (!r)
		return;
	r->since = d->slow_since;
	STRSCPY(r->found, "no answer to a reading of counters, tables or details");
	STRSCPY(r->wanted, "an answer within ProbeTimeoutSec=");
	STRSCPY(r->remedy, "the firmware is slow or hangs: see journalctl -k; ports are watched "
			   "all the same");
}

static void judge_fatal(struct making *mk)
{
	struct reason *r = raise_reason(mk, REASON_DEVICE_FATAL, SEVERITY_FAILED, "");

	if (!r)
		return;
	STRSCPY(r->found, "DEVICE_FATAL event, and the device is still here");
	STRSCPY(r->wanted, "no fatal error");
	STRSCPY(r->remedy, "reload the driver or reset the adapter; see journalctl -k");
}

bool judge_device(struct device *d, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk = making_begin(&d->verdict, now);
	enum monitor_mode monitor = config_device_settings(c, &d->facts).monitor;

	mk.v.health = HEALTH_IGNORED;
	for (size_t i = 0; i < d->n_ports; i++)
		mk.v.health = health_worst(mk.v.health, d->ports[i].verdict.health);

	if (d->release.until.mono) {
		released_text(mk.v.ignored_because, sizeof(mk.v.ignored_because), &d->release);
		return making_end(&mk, &d->verdict, ret_old, ret_recheck);
	}
	if (monitor == MONITOR_NO) {
		STRSCPY(mk.v.ignored_because, "not watched: Monitor=no");
		return making_end(&mk, &d->verdict, ret_old, ret_recheck);
	}
	if (mk.v.health == HEALTH_IGNORED)
		STRSCPY(mk.v.ignored_because,
			d->n_ports ? "none of its ports is expected" : "it has no ports");
	if (d->probe_state == PROBE_SILENT)
		judge_unresponsive(&mk, d, c);
	if (d->fatal)
		judge_fatal(&mk);
	if (d->slow_since.mono && d->probe_state != PROBE_SILENT)
		judge_slow(&mk, d);
	/* What a software link could say by events, its netdev says by rtnetlink: nothing lacks. */
	if (d->events_error < 0 || (d->events_error && d->facts.link_type == LINK_TYPE_NONE))
		judge_no_events(&mk, d);
	if (mk.v.health != HEALTH_IGNORED)
		mk.v.ignored_because[0] = '\0';
	return making_end(&mk, &d->verdict, ret_old, ret_recheck);
}

/* Where a missing device is when it is not lost; NULL when it is. */
static const char *lent_to(const struct missing *x)
{
	if (!x->placed)
		return NULL;
	switch (x->elsewhere) {
	case ELSEWHERE_NETNS:
		return "it is in another network namespace";
	case ELSEWHERE_VFIO:
		return "its PCI function is lent to a virtual machine (vfio)";
	case ELSEWHERE_UNBOUND:
	case _ELSEWHERE_KIND_MAX:
		break;
	}
	return NULL;
}

bool judge_missing(struct missing *x, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk = making_begin(&x->verdict, now);
	usec_t due = usec_add(x->since.mono, x->seen ? c->missing_delay_usec : c->grace_usec);
	char guid[GUID_STRING_MAX];
	const char *lent = lent_to(x);
	struct reason *r;

	if (x->release.until.mono > now.mono) {
		mk.v.health = HEALTH_IGNORED;
		released_text(mk.v.ignored_because, sizeof(mk.v.ignored_because), &x->release);
		recheck_at(&mk, x->release.until.mono);
		return making_end(&mk, &x->verdict, ret_old, ret_recheck);
	}
	if (lent) {
		mk.v.health = HEALTH_IGNORED;
		STRSCPY(mk.v.ignored_because, lent);
		return making_end(&mk, &x->verdict, ret_old, ret_recheck);
	}
	if (now.mono < due) {
		mk.v.health = x->seen ? HEALTH_UNKNOWN : HEALTH_STARTING;
		recheck_at(&mk, due);
		return making_end(&mk, &x->verdict, ret_old, ret_recheck);
	}
	mk.v.health = HEALTH_OK;
	r = raise_reason(
		&mk, REASON_DEVICE_MISSING, x->required ? SEVERITY_FAILED : SEVERITY_NOTICE, "");
	if (r) {
		guid_format(guid, x->node_guid);
		snprintf(r->found, sizeof(r->found), "%s%s%s%s%s",
			x->placed ? "its PCI function has no driver" : "not there",
			guid[0] ? ", GUID " : "", guid, x->pci_address[0] ? ", PCI " : "",
			x->pci_address);
		STRSCPY(r->wanted, "present");
		STRSCPY(r->remedy, x->seen ? "see journalctl -k for why it went; reload its driver "
					     "or reseat the adapter"
					   : "is the adapter seated and its driver loaded? lspci, "
					     "rdma dev; else remove Expect=yes");
	}
	return making_end(&mk, &x->verdict, ret_old, ret_recheck);
}

bool judge_host(struct model *m, const struct setup_condition *setup, size_t n_setup,
	const struct config_problem *problems, size_t n_problems, struct timepoint now,
	struct verdict *ret_old)
{
	struct making mk = making_begin(&m->verdict, now);
	struct reason *r;

	mk.v.health = m->listed ? HEALTH_OK : HEALTH_STARTING;
	for (const struct device *d = m->devices; d; d = d->next)
		mk.v.health = health_worst(mk.v.health, d->verdict.health);
	for (const struct missing *x = m->missing; x; x = x->next)
		mk.v.health = health_worst(mk.v.health, x->verdict.health);

	for (size_t i = 0; i < n_setup; i++) {
		enum severity severity = rule_get(setup[i].id)->severity;

		r = raise_reason(&mk, setup[i].id, severity, setup[i].subject);
		if (!r)
			continue;
		STRSCPY(r->found, setup[i].found);
		STRSCPY(r->wanted, setup[i].wanted);
		STRSCPY(r->remedy, setup[i].remedy);
	}
	if (n_problems > 0) {
		r = raise_reason(&mk, REASON_CONFIG_INVALID, SEVERITY_DEGRADED, "");
		if (r) {
			config_problem_format(&problems[0], r->found, sizeof(r->found));
			if (n_problems > 1)
				snprintf(r->wanted, sizeof(r->wanted),
					"a valid configuration (%zu more lines are wrong)",
					n_problems - 1);
			else
				STRSCPY(r->wanted, "a valid configuration");
			STRSCPY(r->remedy, "correct it, then: systemctl reload rdmad");
		}
	}
	return making_end(&mk, &m->verdict, ret_old, NULL);
}
