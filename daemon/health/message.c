/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <inttypes.h>

#include "macros.h"
#include "rules.h"

#define BEGIN_MAX 256

/* A subject that is no object of its own: a counter of a port, a reporter of a device. */
static bool is_part(const struct reason *r)
{
	return r->id == REASON_LINK_ERRORS || r->id == REASON_COUNTER_SATURATED ||
	       r->id == REASON_DEVLINK_REPORTER_ERROR;
}

/* The object that the condition is shown for. */
static const char *whose(const char *object, const struct reason *r)
{
	return r->subject[0] && !is_part(r) ? r->subject : object;
}

/* "mlx5_0/1: link-errors of symbol_error", "rxe0: setup-failed"; returns buf. */
static const char *begin(char buf[BEGIN_MAX], const char *object, const struct reason *r)
{
	const char *name = rule_get(r->id)->name;

	if (is_part(r))
		snprintf(buf, BEGIN_MAX, "%s: %s of %s", object, name, r->subject);
	else
		snprintf(buf, BEGIN_MAX, "%s: %s", whose(object, r), name);
	return buf;
}

void message_raised(
	char buf[MESSAGE_MAX], const char *object, const struct reason *r, usec_t before)
{
	char span[TIMESPAN_MAX], was[TIMESPAN_MAX + 16] = "", what[BEGIN_MAX];

	if (r->id == REASON_PORT_DOWN) {
		if (before)
			snprintf(was, sizeof(was), " (was active %s)",
				timespan_format(span, sizeof(span), before));
		snprintf(buf, MESSAGE_MAX, "%s: port down%s: found %s, wanted %s; %s", object, was,
			r->found, r->wanted, r->remedy);
		return;
	}
	snprintf(buf, MESSAGE_MAX, "%s: found %s%s%s%s%s", begin(what, object, r), r->found,
		r->wanted[0] ? ", wanted " : "", r->wanted, r->remedy[0] ? "; " : "", r->remedy);
}

void message_reminder(
	char buf[MESSAGE_MAX], const char *object, const struct reason *r, usec_t stood)
{
	char span[TIMESPAN_MAX];

	snprintf(buf, MESSAGE_MAX, "%s: still %s%s%s after %s: found %s%s%s%s%s", whose(object, r),
		rule_get(r->id)->name, is_part(r) ? " of " : "", is_part(r) ? r->subject : "",
		timespan_format(span, sizeof(span), stood), r->found,
		r->wanted[0] ? ", wanted " : "", r->wanted, r->remedy[0] ? "; " : "", r->remedy);
}

void message_why(char buf[MESSAGE_MAX], const char *object, const struct reason *r)
{
	snprintf(buf, MESSAGE_MAX, "%s: why the port is down: %s; %s", object, r->found, r->remedy);
}

void message_cleared(char buf[MESSAGE_MAX], const char *object, const struct reason *r,
	usec_t stood, const struct port *p)
{
	char span[TIMESPAN_MAX], rate[RATE_STRING_MAX], what[BEGIN_MAX];

	timespan_format(span, sizeof(span), stood);
	if (p && p->verdict.ignored_because[0]) /* it may well stand */
		snprintf(buf, MESSAGE_MAX, "%s: %s is not watched for any more: %s (stood %s)",
			object, rule_get(r->id)->name, p->verdict.ignored_because, span);
	else if (r->id == REASON_PORT_DOWN && p && port_is_active(p))
		snprintf(buf, MESSAGE_MAX, "%s: port active again at %s (was down %s)", object,
			rate_format(rate, &p->facts), span);
	else if (r->id == REASON_LINK_FLAPPING && r->ack.when.mono)
		snprintf(buf, MESSAGE_MAX,
			"%s: link-flapping was acknowledged by %s (%s); counted anew", object,
			r->ack.by, r->found);
	else if (r->id == REASON_LINK_FLAPPING && p)
		snprintf(buf, MESSAGE_MAX,
			"%s: link is stable again (%s; %" PRIu64 " times down since rdmad watches)",
			object, r->found, p->flap_count);
	else
		snprintf(buf, MESSAGE_MAX, "%s is over (stood %s)", begin(what, object, r), span);
}

void message_closed(char buf[MESSAGE_MAX], const char *object, const struct reason *r,
	const char *why, usec_t stood)
{
	char span[TIMESPAN_MAX], what[BEGIN_MAX];

	snprintf(buf, MESSAGE_MAX, "%s is closed: %s (stood %s)", begin(what, object, r), why,
		timespan_format(span, sizeof(span), stood));
}

void message_blip(char buf[MESSAGE_MAX], const char *object, unsigned n, const struct port *p)
{
	const char *now = port_is_active(p) ? "down and up again" : "up and down again";

	if (n == 1)
		snprintf(buf, MESSAGE_MAX, "%s: link blip: %s between two readings", object, now);
	else
		snprintf(buf, MESSAGE_MAX, "%s: link blip: %s %u times between two readings",
			object, now, n);
}

void message_storm(char buf[MESSAGE_MAX], const struct storms *s)
{
	char span[TIMESPAN_MAX], lost[128] = "";

	/* What happened while this process did not run was noticed all at once. */
	timespan_format(span, sizeof(span), MAX(usec_sub(s->last, s->since), USEC_PER_SEC));
	if (s->overruns)
		snprintf(lost, sizeof(lost),
			"; the kernel had more to tell than rdmad could take, %u time%s: all was "
			"read anew",
			s->overruns, s->overruns == 1 ? "" : "s");
	snprintf(buf, MESSAGE_MAX,
		"host: link storm is over: %u port%s fell %" PRIu64 " times, noticed within %s%s",
		s->ports, s->ports == 1 ? "" : "s", s->falls, span, lost);
}
