/* SPDX-License-Identifier: MIT */
/* Whether a port has to be ACTIVE, and why (DESIGN rule 7). */
#pragma once

#include "config.h"
#include "model.h"

/* Why a port is expected to be ACTIVE, or that it is not. */
enum expectation {
	NOT_EXPECTED,
	EXPECTED_BY_CONFIG,
	EXPECTED_BY_HISTORY,
};

enum expectation port_expectation(
	const struct port *p, const struct config *c, const struct port_settings *ps);

/* Whether the administrator has disabled the netdev; n may be NULL. */
bool netdev_disabled(const struct netdev *n);
