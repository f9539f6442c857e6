/* SPDX-License-Identifier: MIT */
#include "making.h"

#include <stdarg.h>
#include <time.h>

#include "macros.h"

static const char *const rule_outcome_table[_OUTCOME_MAX] = {
	[OUTCOME_CLEAR] = "clear",
	[OUTCOME_RAISED] = "raised",
	[OUTCOME_PENDING] = "pending",
	[OUTCOME_ABSENT] = "absent",
};
DEFINE_STRING_TABLE(rule_outcome, enum rule_outcome)

/* Not in struct making: rules are looked at several calls below, and one at a time. */
static const struct rule_listener *listener;

void judge_set_listener(const struct rule_listener *l)
{
	listener = l;
}

bool rules_are_explained(void)
{
	return listener != NULL;
}

void note_rule(enum reason_id id, const char *subject, enum rule_outcome outcome,
	const struct config_origin *origin, const char *fmt, ...)
{
	char text[2 * REASON_TEXT_MAX];
	struct rule_note n = {
		.id = id,
		.subject = subject,
		.outcome = outcome,
		.text = text,
		.origin = origin,
	};
	va_list ap;

	if (!listener)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	listener->note(&n, listener->user);
}

void making_begin(struct making *mk, const struct verdict *old, struct timepoint now)
{
	/* Not all of it: it holds some kilobytes of reasons that there are not. */
	mk->v.health = HEALTH_OK;
	mk->v.since = (struct timepoint){ 0 };
	mk->v.n_reasons = 0;
	mk->v.ignored_because[0] = '\0';
	mk->old = old;
	mk->now = now;
	mk->recheck = USEC_INFINITY;
}

void recheck_at(struct making *mk, usec_t mono)
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

struct reason *raise_reason(
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
	if (before) {
		v->reasons[at].reminders = before->reminders;
		/* What got worse is not what was acknowledged. */
		if (severity <= before->severity)
			v->reasons[at].ack = before->ack;
	}
	return &v->reasons[at];
}

bool keep_reason(struct making *mk, enum reason_id id, const char *subject)
{
	const struct reason *before = verdict_find(mk->old, id, subject);
	struct reason *r;

	if (!before)
		return false;
	r = raise_reason(mk, id, before->severity, subject);
	if (r)
		*r = *before;
	return true;
}

bool hold_reached(struct making *mk, struct hold *h, bool stands, usec_t delay)
{
	usec_t due;

	if (!stands) {
		h->since = 0;
		return false;
	}
	if (h->since == 0)
		h->since = MAX(mk->now.mono, (usec_t)1);
	due = usec_add(h->since, delay);
	if (mk->now.mono < due)
		recheck_at(mk, due);
	return mk->now.mono >= due;
}

#define CALM_MIN USEC_PER_SEC
#define CALM_MAX (10 * USEC_PER_MINUTE)

void calm_broken(const struct making *mk, struct calm *c, enum reason_id id, usec_t first)
{
	bool again = c->over_at && usec_sub(mk->now.mono, c->over_at) < CALM_MAX;

	if (!verdict_find(mk->old, id, ""))
		c->hold = again ? MIN(MAX(2 * c->hold, CALM_MIN), CALM_MAX) : first;
	c->since = 0;
}

bool calm_is_over(struct making *mk, struct calm *c)
{
	usec_t due;

	if (c->since == 0)
		c->since = MAX(mk->now.mono, (usec_t)1);
	due = usec_add(c->since, c->hold);
	if (mk->now.mono < due) {
		recheck_at(mk, due);
		return false;
	}
	c->over_at = MAX(mk->now.mono, (usec_t)1);
	return true;
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

bool making_end(
	struct making *mk, struct verdict *verdict, struct verdict *ret_old, usec_t *ret_recheck)
{
	bool differs = verdict_differs(verdict, &mk->v);

	mk->v.since =
		mk->v.health == verdict->health && verdict->since.mono ? verdict->since : mk->now;
	if (ret_old)
		verdict_copy(ret_old, verdict);
	verdict_copy(verdict, &mk->v);
	if (ret_recheck)
		*ret_recheck = MIN(*ret_recheck, mk->recheck);
	return differs;
}

bool making_ignore(struct making *mk, struct verdict *verdict, struct verdict *ret_old,
	usec_t *ret_recheck, const char *because)
{
	mk->v.health = HEALTH_IGNORED;
	STRSCPY(mk->v.ignored_because, because);
	return making_end(mk, verdict, ret_old, ret_recheck);
}

void released_text(char *buf, size_t size, const struct release *r)
{
	time_t t = (time_t)(r->until.real / USEC_PER_SEC);
	char until[32];
	struct tm tm;

	strftime(until, sizeof(until), "%H:%M:%S", localtime_r(&t, &tm));
	snprintf(buf, size, "released by %s until %s", r->by, until);
}
