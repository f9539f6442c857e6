/* SPDX-License-Identifier: MIT */
/* Rules on the link of a port that is there: judge-link.c, judge-rate.c. For judge_port() only. */
#pragma once

#include "making.h"

/*
 * port-inconsistent, lag-degraded, the rules of judge_rate(), unexpected-link-layer. To be called
 * when it is known whether the port is ignored.
 */
void judge_link(
	struct making *mk, const struct model *m, struct port *p, const struct port_settings *ps);

/* Whether what is known of the port is of now: an old reading neither raises nor clears anything. */
bool port_is_fresh(const struct port *p);

/* width-degraded, speed-degraded, rate-differs; not of an ignored port */
void judge_rate(
	struct making *mk, const struct model *m, struct port *p, const struct port_settings *ps);
/* The port is ignored: what waits for its time does not. */
void ignore_rate(struct port *p, const char *why);
