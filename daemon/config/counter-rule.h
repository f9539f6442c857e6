/* SPDX-License-Identifier: MIT */
/*
 * How a counter is judged: what this program thinks of it (counter-defaults.c), and what the
 * [Counter] sections say instead.
 */
#pragma once

#include "config.h"
#include "counter-history.h"
#include "details.h"

/* More than that within the window is too much. */
struct counter_limit {
	usec_t window;
	uint64_t count;
	usec_t per; /* count is for that time, and the window may be another; 0: for the window */
	double per_bit; /* above 0: so many for each bit that the link carries, instead of count */
};

struct counter_rule {
	enum counter_alarm alarm; /* ALARM_NONE: information, not judged */
	bool watch_end;           /* it is told when it is at its maximum, whatever alarm says */
	size_t n;                 /* 0: ALARM_NONE */
	struct counter_limit limits[COUNTER_SPANS_MAX];
	const char *why_none; /* with ALARM_NONE by default: why it is no alarm; NULL otherwise */
	/* Where the threshold, else the severity or the window, is from. file NULL: the default. */
	struct config_origin origin; /* borrowed */
};

/*
 * The rule for a counter by its name, as the kernel has it or as one word (counter_safe()). False:
 * nobody has said anything about it. The result is borrowed from c.
 */
bool config_counter_rule(const struct config *c, enum counter_source source, const char *name,
	const char *safe_name, struct counter_rule *ret);

/* What it may rise by in the window on a link of that rate (0 unknown, and then it may be NAN). */
double counter_limit_allowed(const struct counter_limit *l, uint64_t rate_mbps);

/* Inside of the room: the default for a counter. False: there is none. */
bool counter_default(enum counter_source source, const char *name, struct counter_rule *ret);
