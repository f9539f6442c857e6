/* SPDX-License-Identifier: MIT */
#include "storm.h"

static enum storm_say say(struct storm *s, usec_t max_hold)
{
	s->told_down = s->is_down;
	s->pending = false;
	s->absorbed = 0;
	if (s->flapping && s->hold < max_hold)
		s->hold = s->hold * 2 < max_hold ? s->hold * 2 : max_hold;
	return s->is_down ? STORM_SAY_DOWN : STORM_SAY_UP;
}

enum storm_say storm_edge(struct storm *s, bool down, bool storm_rule, usec_t now, usec_t max_hold)
{
	if (down == s->is_down)
		return STORM_NOTHING;
	s->is_down = down;

	if (!storm_rule)
		return down == s->told_down ? STORM_NOTHING : say(s, max_hold);

	if (down == s->told_down) {
		/* Back to what was told last, before the opposite was told: one incident. */
		s->absorbed++;
		s->pending = false;
		return STORM_NOTHING;
	}
	if (down && !s->flapping)
		return say(s, max_hold);

	s->pending = true;
	s->deadline = usec_add(now, s->flapping ? s->hold : STORM_RECOVERY_HOLD);
	return STORM_NOTHING;
}

void storm_flapping(struct storm *s, bool flapping, usec_t now)
{
	if (flapping == s->flapping)
		return;
	s->flapping = flapping;
	s->hold = STORM_FLAP_HOLD;
	/* A recovery that was waiting its second now waits as edges in a storm do, and the reverse. */
	if (s->pending)
		s->deadline = usec_add(now, flapping ? s->hold : STORM_RECOVERY_HOLD);
}

enum storm_say storm_timeout(struct storm *s, usec_t now, usec_t max_hold)
{
	if (!s->pending || now < s->deadline)
		return STORM_NOTHING;
	return say(s, max_hold);
}

static void storms_begin(struct storms *s, usec_t now, usec_t max_quiet)
{
	bool soon = s->quiet && usec_sub(now, s->last) < max_quiet;
	usec_t quiet = soon ? usec_backoff(s->quiet, max_quiet, 1) : STORMS_QUIET;

	s->on = true;
	s->id++;
	s->since = s->last = now;
	s->quiet = quiet;
	s->falls = s->ports = 0;
	if (usec_sub(now, s->overrun_at) > STORMS_QUIET)
		s->overruns = 0;
}

void storms_falls(
	struct storms *s, struct storm *port, uint64_t falls, usec_t now, usec_t max_quiet)
{
	if (falls == 0 || !port->flapping)
		return;
	if (!s->on)
		storms_begin(s, now, max_quiet);
	if (port->counted != s->id) {
		port->counted = s->id;
		s->ports++;
	}
	s->falls += falls;
	s->last = now;
}

void storms_overrun(struct storms *s, usec_t now)
{
	if (!s->on && usec_sub(now, s->overrun_at) > STORMS_QUIET)
		s->overruns = 0;
	s->overruns++;
	s->overrun_at = now;
}

usec_t storms_deadline(const struct storms *s)
{
	return s->on ? usec_add(s->last, s->quiet) : USEC_INFINITY;
}

bool storms_over(struct storms *s, usec_t now)
{
	if (now < storms_deadline(s))
		return false;
	s->on = false;
	if (s->falls >= STORMS_MIN)
		return true;
	s->quiet = 0; /* nothing was told: nothing to make rarer */
	return false;
}
