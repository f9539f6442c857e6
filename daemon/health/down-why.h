/* SPDX-License-Identifier: MIT */
/* Why a port is not ACTIVE, and what to do about it, in words. PURE. */
#pragma once

#include "model.h"
#include "reason.h"

/*
 * Fills found and remedy of a reason: the port state, the physical state where it says more, and the
 * first known of: its netdev is administratively down (n, may be NULL); an iWARP port without IPv4
 * address; the policy of the physical function for a virtual one; the driver's extended link state.
 * explained is set if one of these was the case; otherwise the remedy is where to look first.
 */
void down_explain(struct reason *r, const struct port *p, const struct netdev *n);
