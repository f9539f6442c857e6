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
bool judge_missing(struct missing *x, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck);
bool judge_host(struct model *m, const struct setup_condition *setup, size_t n_setup,
	const struct config_problem *problems, size_t n_problems, struct timepoint now,
	struct verdict *ret_old);
