/* SPDX-License-Identifier: MIT */
/* Tells who explains (judge_set_listener()) what the rules of an object came to; see making.h. */
#pragma once

#include "expectation.h"
#include "making.h"

void note_port_rules(const struct making *mk, const struct port *p, const struct config *c,
	const struct port_settings *ps, enum expectation expectation);
void note_device_rules(const struct making *mk, const struct device *d, const struct config *c);
void note_missing_rules(const struct making *mk, const struct missing *x, const struct config *c);
