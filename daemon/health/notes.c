/* SPDX-License-Identifier: MIT */
/*
 * What the rules of judge-port.c, judge-device.c and judge-host.c came to, for explain: told once
 * the object is judged, from the verdict and what it was made of.
 */
#include "notes.h"

#include "macros.h"

static enum rule_outcome outcome_of(const struct making *mk, enum reason_id id)
{
	return verdict_find(&mk->v, id, "") ? OUTCOME_RAISED : OUTCOME_CLEAR;
}

static const char *state_of(const struct port *p, char buf[STATE_WORD_MAX])
{
	const char *word = port_state_word(p->facts.state, buf);

	return word ? word : "unknown";
}

static void note_port_down(const struct making *mk, const struct port *p,
	const struct port_settings *ps, enum expectation expectation)
{
	enum rule_outcome outcome = outcome_of(mk, REASON_PORT_DOWN);
	char state[STATE_WORD_MAX];

	if (outcome == OUTCOME_CLEAR && mk->v.health == HEALTH_STARTING)
		outcome = OUTCOME_PENDING;
	if (!p->have_facts)
		outcome = OUTCOME_ABSENT;
	switch (expectation) {
	case EXPECTED_BY_CONFIG:
		note_rule(REASON_PORT_DOWN, "", outcome,
			ps->link ? &ps->link->origin : ps->expect_origin,
			"state %s; expected by configuration", state_of(p, state));
		return;
	case EXPECTED_BY_HISTORY:
		note_rule(REASON_PORT_DOWN, "", outcome, NULL,
			"state %s; expected: it was ACTIVE for StableSec=", state_of(p, state));
		return;
	case NOT_EXPECTED:
		break;
	}
	note_rule(REASON_PORT_DOWN, "", OUTCOME_ABSENT, ps->expect_origin, "state %s; %s",
		state_of(p, state),
		mk->v.ignored_because[0] ? mk->v.ignored_because : "not expected yet");
}

static void note_no_sm(const struct making *mk, const struct port *p, const struct config *c)
{
	enum rule_outcome outcome = outcome_of(mk, REASON_NO_SUBNET_MANAGER);
	char state[STATE_WORD_MAX], span[TIMESPAN_MAX];
	const struct config_origin *origin = CONFIG_ORIGIN(c, grace_usec);

	if (p->facts.link_layer != LINK_LAYER_INFINIBAND) {
		note_rule(REASON_NO_SUBNET_MANAGER, "", OUTCOME_ABSENT, origin,
			"only InfiniBand has a subnet manager");
		return;
	}
	if (outcome == OUTCOME_CLEAR && mk->v.health == HEALTH_STARTING &&
		p->facts.phys_state == PHYS_STATE_LINKUP)
		outcome = OUTCOME_PENDING;
	note_rule(REASON_NO_SUBNET_MANAGER, "", outcome, origin, "state %s, SM LID %u; GraceSec=%s",
		state_of(p, state), p->facts.sm_lid == UINT32_MAX ? 0 : p->facts.sm_lid,
		timespan_format(span, sizeof(span), c->grace_usec));
}

static void note_flapping(const struct making *mk, const struct port *p, const struct config *c)
{
	unsigned n = port_flaps_within(p, mk->now.mono, c->flap_window_usec, NULL);
	char window[TIMESPAN_MAX];

	if (c->flap_count == 0) {
		note_rule(REASON_LINK_FLAPPING, "", OUTCOME_ABSENT, CONFIG_ORIGIN(c, flap_count),
			"FlapCount=0: not judged");
		return;
	}
	note_rule(REASON_LINK_FLAPPING, "", outcome_of(mk, REASON_LINK_FLAPPING),
		CONFIG_ORIGIN(c, flap_count), "%u time%s down in %s; FlapCount=%u", n,
		n == 1 ? "" : "s", timespan_format(window, sizeof(window), c->flap_window_usec),
		c->flap_count);
}

void note_port_rules(const struct making *mk, const struct port *p, const struct config *c,
	const struct port_settings *ps, enum expectation expectation)
{
	note_port_down(mk, p, ps, expectation);
	note_no_sm(mk, p, c);
	note_flapping(mk, p, c);
	note_rule(REASON_PORT_UNREADABLE, "", outcome_of(mk, REASON_PORT_UNREADABLE), NULL,
		"the last reading %s", p->last_error ? "failed" : "succeeded");
}

void note_device_rules(const struct making *mk, const struct device *d, const struct config *c)
{
	char timeout[TIMESPAN_MAX];

	timespan_format(timeout, sizeof(timeout), c->probe_timeout_usec);
	note_rule(REASON_DEVICE_UNRESPONSIVE, "", outcome_of(mk, REASON_DEVICE_UNRESPONSIVE),
		CONFIG_ORIGIN(c, probe_timeout_usec), "readings are %s; ProbeTimeoutSec=%s",
		probe_state_to_string(d->probe_state), timeout);
	note_rule(REASON_COUNTERS_UNAVAILABLE, "", outcome_of(mk, REASON_COUNTERS_UNAVAILABLE),
		CONFIG_ORIGIN(c, probe_timeout_usec),
		"counters, tables and details %s; ProbeTimeoutSec=%s",
		d->slow_since.mono ? "are late" : "are answered", timeout);
	note_rule(REASON_DEVICE_FATAL, "", outcome_of(mk, REASON_DEVICE_FATAL), NULL, "%s",
		d->fatal ? "DEVICE_FATAL, and the device is still here" : "no DEVICE_FATAL");
	note_rule(REASON_ASYNC_EVENTS_UNAVAILABLE, "",
		outcome_of(mk, REASON_ASYNC_EVENTS_UNAVAILABLE),
		config_device_settings(c, &d->facts).monitor_origin, "%s",
		d->events_error ? "no verbs context"
				: "a verbs context is held, or none is wanted");
}

void note_missing_rules(const struct making *mk, const struct missing *x, const struct config *c)
{
	enum rule_outcome outcome = outcome_of(mk, REASON_DEVICE_MISSING);
	char gone[TIMESPAN_MAX], delay[TIMESPAN_MAX];

	if (outcome == OUTCOME_CLEAR)
		outcome = mk->v.health == HEALTH_IGNORED ? OUTCOME_ABSENT : OUTCOME_PENDING;
	note_rule(REASON_DEVICE_MISSING, "", outcome,
		x->seen ? CONFIG_ORIGIN(c, missing_delay_usec) : CONFIG_ORIGIN(c, grace_usec),
		"not there for %s; %s=%s",
		timespan_format(gone, sizeof(gone), usec_sub(mk->now.mono, x->since.mono)),
		x->seen ? "MissingDelaySec" : "GraceSec",
		timespan_format(
			delay, sizeof(delay), x->seen ? c->missing_delay_usec : c->grace_usec));
}
