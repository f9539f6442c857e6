/* SPDX-License-Identifier: MIT */
/* For nobody outside of this room. */
#pragma once

#include "making.h"

/*
 * Judges the counters of a port that is not ignored: link-errors and counter-saturated, one each for
 * a counter. To be called after the port's other rules: what is beyond REASONS_MAX is left out.
 */
void judge_counters(struct making *mk, struct port *p, const struct config *c);

/* Which end a counter blames, as a remedy; never NULL. */
const char *counter_blame(const char *name);
