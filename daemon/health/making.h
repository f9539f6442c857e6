/* SPDX-License-Identifier: MIT */
/*
 * A verdict in the making: what all judge-*.c do with it. For nobody outside of this room.
 */
#pragma once

#include "judge.h"
#include "macros.h"

/* A verdict being made: the old one gives conditions that stand their "since". */
struct making {
	struct verdict v;
	const struct verdict *old;
	struct timepoint now;
	usec_t recheck;
	usec_t degraded_delay; /* DegradedDelaySec= */
};

void making_begin(struct making *mk, const struct verdict *old, struct timepoint now);

/* The verdict may change by time alone at that moment. */
void recheck_at(struct making *mk, usec_t mono);

/*
 * Adds a condition in its place, worst first. Returns it for the caller to fill in the texts, or
 * NULL when the object has REASONS_MAX already: then health still counts it.
 */
struct reason *raise_reason(
	struct making *mk, enum reason_id id, enum severity severity, const char *subject);

/*
 * Tells who explains what a rule came to. Every rule that judges an object does so once for each
 * subject, also when it is clear; without a listener it costs nothing.
 */
void note_rule(enum reason_id id, const char *subject, enum rule_outcome outcome,
	const struct config_origin *origin, const char *fmt, ...) _printf_(5, 6);

/*
 * What the rule needs is not known now: what stood goes on standing, as it was. Returns whether
 * there was something.
 */
bool keep_reason(struct making *mk, enum reason_id id, const char *subject);

/*
 * Whether a condition has stood for delay; until then the verdict is made again in time. One that
 * does not stand begins anew.
 */
bool hold_reached(struct making *mk, struct hold *h, bool stands, usec_t delay);

/*
 * A condition that comes and goes is one, and not two records each time (DESIGN rule 12): its end waits
 * until it is over for a while, twice as long each time that it did not last, up to 10 min.
 * calm_broken(): it stands; first: what the end waits for the first time. calm_is_over(): it stood, and
 * does not any more; false: it is to be kept, and the verdict is made again in time.
 */
void calm_broken(const struct making *mk, struct calm *c, enum reason_id id, usec_t first);
bool calm_is_over(struct making *mk, struct calm *c);

/* Whether somebody hears it: where many subjects are clear, finding them costs, too. */
bool rules_are_explained(void);

/* Stores it. Returns whether anything that is shown differs; the old one to *ret_old. */
bool making_end(
	struct making *mk, struct verdict *verdict, struct verdict *ret_old, usec_t *ret_recheck);

/* Ends with "ignored", and why. */
bool making_ignore(struct making *mk, struct verdict *verdict, struct verdict *ret_old,
	usec_t *ret_recheck, const char *because);

/* "released by root until 14:05:10" */
void released_text(char *buf, size_t size, const struct release *r);
