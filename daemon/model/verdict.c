/* SPDX-License-Identifier: MIT */
/* Words for what is judged, and what is found in a verdict. */
#include "model.h"

#include "macros.h"

static const char *const health_table[_HEALTH_MAX] = {
	[HEALTH_OK] = "ok",
	[HEALTH_STARTING] = "starting",
	[HEALTH_UNKNOWN] = "unknown",
	[HEALTH_DEGRADED] = "degraded",
	[HEALTH_FAILED] = "failed",
	[HEALTH_IGNORED] = "ignored",
};
DEFINE_STRING_TABLE(health, enum health)

static const char *const severity_table[_SEVERITY_MAX] = {
	[SEVERITY_NOTICE] = "notice",
	[SEVERITY_UNKNOWN] = "unknown",
	[SEVERITY_DEGRADED] = "degraded",
	[SEVERITY_FAILED] = "failed",
};
DEFINE_STRING_TABLE(severity, enum severity)

static const char *const reason_class_table[_CLASS_MAX] = {
	[CLASS_LINK] = "link",
	[CLASS_FABRIC] = "fabric",
	[CLASS_DEVICE] = "device",
	[CLASS_SETUP] = "setup",
	[CLASS_MONITOR] = "monitor",
	[CLASS_CONFIG] = "config",
};
DEFINE_STRING_TABLE(reason_class, enum reason_class)

static const char *const probe_state_table[_PROBE_STATE_MAX] = {
	[PROBE_FRESH] = "fresh",
	[PROBE_LATE] = "late",
	[PROBE_SILENT] = "silent",
};
DEFINE_STRING_TABLE(probe_state, enum probe_state)

static const char *const step_result_table[_STEP_RESULT_MAX] = {
	[STEP_PENDING] = "pending",
	[STEP_OK] = "ok",
	[STEP_CHANGED] = "changed",
	[STEP_WAITING] = "waiting",
	[STEP_UNSUPPORTED] = "unsupported",
	[STEP_BLOCKED] = "blocked",
	[STEP_FAILED] = "failed",
	[STEP_DRIFTED] = "drifted",
};
DEFINE_STRING_TABLE(step_result, enum step_result)

enum health health_worst(enum health a, enum health b)
{
	if (a == HEALTH_IGNORED)
		return b;
	if (b == HEALTH_IGNORED)
		return a;
	return MAX(a, b); /* the enum is in this order */
}

void verdict_copy(struct verdict *to, const struct verdict *from)
{
	to->health = from->health;
	to->since = from->since;
	to->n_reasons = from->n_reasons;
	memcpy(to->reasons, from->reasons, from->n_reasons * sizeof(from->reasons[0]));
	STRSCPY(to->ignored_because, from->ignored_because);
}

const struct reason *verdict_find(const struct verdict *v, enum reason_id id, const char *subject)
{
	for (size_t i = 0; i < v->n_reasons; i++)
		if (v->reasons[i].id == id && streq(v->reasons[i].subject, subject))
			return &v->reasons[i];
	return NULL;
}

size_t verdict_acknowledge(
	struct verdict *v, enum reason_id id, const char *subject, const struct acknowledgement *a)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_reasons; i++) {
		struct reason *r = &v->reasons[i];

		if (r->id != id || (subject && !streq(r->subject, subject)))
			continue;
		r->ack = a ? *a : (struct acknowledgement){ 0 };
		n++;
	}
	return n;
}
