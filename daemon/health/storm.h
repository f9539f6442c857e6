/* SPDX-License-Identifier: MIT */
/*
 * Which edges of a port become journal records (DESIGN section 9: "a storm leaves at most, per
 * port, the first record, one link-flapping with a count, and the final state"). PURE.
 *
 * A fall is told at once. A recovery is told when it has lasted RECOVERY_HOLD, so that a port that
 * falls again at once is one incident and not two; while link-flapping stands, either edge is told
 * only when it has lasted a hold that doubles with every record. With FlapCount=0 there is no storm
 * rule and every edge is told at once.
 */
#pragma once

#include <stdbool.h>

#include "timespan.h"

#define STORM_RECOVERY_HOLD (1 * USEC_PER_SEC)
#define STORM_FLAP_HOLD     (5 * USEC_PER_SEC)

struct storm {
	bool told_down; /* what the journal's reader believes */
	bool is_down;   /* what is */
	bool flapping;
	bool pending;      /* is_down differs from told_down and waits to be told */
	usec_t deadline;   /* mono; when pending is told if nothing happens */
	usec_t hold;       /* the present hold while flapping */
	unsigned absorbed; /* edges since the last record that were not told */
};

enum storm_say {
	STORM_NOTHING,
	STORM_SAY_DOWN,
	STORM_SAY_UP,
};

/*
 * The port fell (down) or recovered. storm_rule: FlapCount is not 0. max_hold bounds the doubling,
 * StableSec is meant: link-flapping clears after that anyway.
 */
enum storm_say storm_edge(struct storm *s, bool down, bool storm_rule, usec_t now, usec_t max_hold);

/* link-flapping began or ended; its own record is told by the caller. */
void storm_flapping(struct storm *s, bool flapping, usec_t now);

/* To be called at s->deadline while s->pending. */
enum storm_say storm_timeout(struct storm *s, usec_t now, usec_t max_hold);
