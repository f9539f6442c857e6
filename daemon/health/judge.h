/* SPDX-License-Identifier: MIT */
/*
 * From facts to verdicts. PURE: the same model, configuration and time always give the same
 * verdict. Conditions keep their "since" as long as they stand.
 */
#pragma once

#include "config.h"
#include "model.h"

/* Facts that are not a device's or a port's, handed in by the manager. */
struct setup_condition {
	enum reason_id id; /* one of REASON_SETUP_*, REASON_NETDEV_MISSING */
	const char *subject;
	const char *found, *wanted, *remedy;
};

/* What a rule came to for an object. */
enum rule_outcome {
	OUTCOME_CLEAR,   /* it applies, and all is well */
	OUTCOME_RAISED,  /* its condition stands */
	OUTCOME_PENDING, /* it would be raised, but for a grace period or a delay that still runs */
	OUTCOME_ABSENT,  /* it does not apply to this object, or a fact that it needs is unknown */
	_OUTCOME_MAX,
};
DECLARE_STRING_TABLE(rule_outcome, enum rule_outcome); /* "clear" "raised" "pending" "absent" */

/* One line of "rdmactl explain". Pointers are borrowed for the call. */
struct rule_note {
	enum reason_id id;
	const char *subject; /* a counter, a netdev; "" the object itself */
	enum rule_outcome outcome;
	const char *text;                   /* found, threshold, window; or why it does not apply */
	const struct config_origin *origin; /* where the threshold is from; NULL: the default */
};

/* Gets each rule that was looked at, in the order in which that was done. */
struct rule_listener {
	void (*note)(const struct rule_note *n, void *user);
	void *user;
};

/*
 * The judge_*() that follow tell the listener (NULL: nobody) what they look at. They judge as ever:
 * to explain is to judge once more, at the same time, and nothing differs.
 */
void judge_set_listener(const struct rule_listener *l);

/*
 * Judges a port, a device (after its ports), a missing device or the host (after all of them) and stores the verdict
 * in it. Returns true when anything that is shown differs from the previous verdict; that one is
 * copied to *ret_old for the caller to find the edges. *ret_recheck (may be NULL) is lowered to the
 * monotonic time at which the verdict could change by time alone; the caller starts it at
 * USEC_INFINITY.
 */
bool judge_port(const struct model *m, struct port *p, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck);
bool judge_device(struct device *d, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck);
bool judge_missing(const struct model *m, struct missing *x, const struct config *c,
	struct timepoint now, struct verdict *ret_old, usec_t *ret_recheck);
bool judge_host(struct model *m, const struct config *c, const struct setup_condition *setup,
	size_t n_setup, struct timepoint now, struct verdict *ret_old, usec_t *ret_recheck);
