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

/*
 * Until when (mono) it is no failure that the port is not ACTIVE: it was seen for the first time, it
 * has just fallen and DownDelaySec= runs, or the host has slept. In the past: it is one.
 */
usec_t port_awaited_until(const struct port *p, const struct config *c);

/* Link up, and a subnet manager has not made it ACTIVE. */
bool port_lacks_sm(const struct port *p);

/* A virtual function on the host that has its physical function. Not known: not one. */
bool device_is_vf(const struct device *d);

/*
 * Whether being ACTIVE makes it expected later on: not so software links, which only configuration
 * expects, and virtual functions on the host, which come and go (DESIGN rule 7).
 */
bool port_is_learnable(const struct port *p);

/* Learns the port when it is due; else *ret_at is when it will be, USEC_INFINITY as things are never. */
void port_learn(struct port *p, const struct config *c, usec_t now, usec_t *ret_at);

/* Whether the administrator has disabled the netdev; n may be NULL. */
bool netdev_disabled(const struct netdev *n);
