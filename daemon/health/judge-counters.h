/* SPDX-License-Identifier: MIT */
/* For nobody outside of this room. */
#pragma once

#include "making.h"

/*
 * Judges the counters of a port that is not ignored: link-errors and counter-saturated, one each for
 * a counter. To be called after the port's other rules: what is beyond REASONS_MAX is left out.
 */
void judge_counters(struct making *mk, struct port *p, const struct config *c);

/*
 * The same for the device's own counters (those that are no port's; from the driver only). They know
 * no link: neither its state nor its rate matters. Of a device that is not ignored.
 */
void judge_device_counters(struct making *mk, struct device *d, const struct config *c);

/* Which end a counter blames, as a remedy; never NULL. */
const char *counter_blame(const char *name);
