/* SPDX-License-Identifier: MIT */
/*
 * What the driver of an adapter found wrong with it (devlink health reporters). Most recover by
 * themselves and are healthy again at the next reading: that is no condition, but their count rises.
 */
#include <errno.h>
#include <inttypes.h>

#include "judge-hardware.h"

#define ID REASON_DEVLINK_REPORTER_ERROR

#define SUBJECT_MAX 64

static void subject_of(char buf[SUBJECT_MAX], const struct reporter *r)
{
	if (r->port == REPORTER_OF_DEVICE)
		snprintf(buf, SUBJECT_MAX, "%s", r->name);
	else
		snprintf(buf, SUBJECT_MAX, "%s of devlink port %" PRIu32, r->name, r->port);
}

static void count_text(char *buf, size_t size, uint64_t n, const char *what)
{
	if (n == UINT64_MAX)
		snprintf(buf, size, "%s unknown", what);
	else
		snprintf(buf, size, "%s %" PRIu64, what, n);
}

static void found_text(
	char *buf, size_t size, const struct devlink_facts *f, const struct reporter *r)
{
	char errors[40], recoveries[40];

	count_text(errors, sizeof(errors), r->errors, "errors so far");
	count_text(recoveries, sizeof(recoveries), r->recoveries, "recoveries");
	snprintf(buf, size, "%s: state %s, %s, %s", f->handle,
		r->in_error == 1   ? "error"
		: r->in_error == 0 ? "healthy"
				   : "unknown",
		errors, recoveries);
}

static void judge_reporter(
	struct making *mk, const struct devlink_facts *f, const struct reporter *x)
{
	char subject[SUBJECT_MAX], found[REASON_TEXT_MAX], port[16] = "";
	struct reason *r;

	subject_of(subject, x);
	found_text(found, sizeof(found), f, x);
	if (x->in_error < 0) {
		keep_reason(mk, ID, subject);
		note_rule(ID, subject, OUTCOME_ABSENT, NULL, "%s", found);
		return;
	}
	note_rule(ID, subject, x->in_error ? OUTCOME_RAISED : OUTCOME_CLEAR, NULL, "%s", found);
	r = x->in_error ? raise_reason(mk, ID, SEVERITY_DEGRADED, subject) : NULL;
	if (!r)
		return;
	STRSCPY(r->found, found);
	STRSCPY(r->wanted, "state healthy");
	if (x->port != REPORTER_OF_DEVICE)
		snprintf(port, sizeof(port), "/%" PRIu32, x->port);
	snprintf(r->remedy, sizeof(r->remedy),
		"devlink health diagnose %s%s reporter %s says more; \"recover\" instead of "
		"\"diagnose\" mends it",
		f->handle, port, x->name);
}

/* Nothing is known this time. */
static void keep_all(struct making *mk)
{
	for (size_t i = 0; i < mk->old->n_reasons; i++)
		if (mk->old->reasons[i].id == ID)
			keep_reason(mk, ID, mk->old->reasons[i].subject);
}

static const char *not_judged(const struct making *mk, const struct device *d)
{
	if (mk->v.health == HEALTH_IGNORED)
		return "the device is ignored";
	if (d->have_devlink && d->devlink.error == -ENODEV)
		return "its driver has no devlink, or it is no hardware";
	return NULL;
}

void judge_devlink(struct making *mk, const struct device *d)
{
	const struct devlink_facts *f = &d->devlink;
	const char *why_not = not_judged(mk, d);

	if (why_not) {
		note_rule(ID, "", OUTCOME_ABSENT, NULL, "%s", why_not);
		return;
	}
	if (!d->have_devlink) {
		keep_all(mk); /* of the run before this one */
		note_rule(ID, "", OUTCOME_ABSENT, NULL, "not read yet");
		return;
	}
	if (f->error) {
		keep_all(mk);
		note_rule(ID, "", OUTCOME_ABSENT, NULL, "%s: not readable: %s", f->handle,
			strerror(-f->error));
		return;
	}
	if (f->n == 0)
		note_rule(ID, "", OUTCOME_CLEAR, NULL, "%s has no health reporters", f->handle);
	for (size_t i = 0; i < f->n; i++)
		judge_reporter(mk, f, &f->reporters[i]);
}
