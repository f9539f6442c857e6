/* SPDX-License-Identifier: MIT */
/*
 * When the journal is told again of a condition that still stands: after 1 h, 2 h more, 4 h more, ...,
 * and then every 24 h (DESIGN section 9). PURE.
 */
#pragma once

#include "reason.h"

/* When the next reminder is due (mono); USEC_INFINITY for a notice, of which nobody is reminded. */
usec_t reminder_due(const struct reason *r);

/*
 * Counts those that are due by now: however many they are, one is told at most. Returns whether it is
 * to be told, which it is not of what is acknowledged.
 */
bool reminder_take(struct reason *r, usec_t now);
