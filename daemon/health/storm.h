/* SPDX-License-Identifier: MIT */
/*
 * Which edges of a port become journal records (DESIGN section 9: "a storm leaves at most, per
 * port, the first record, one link-flapping with a count, and the final state"). PURE.
 *
 * A fall is told at once. A recovery is told when it has lasted RECOVERY_HOLD, so that a port that
 * falls again at once is one incident and not two; while link-flapping stands, either edge is told
 * only when it has lasted a hold that doubles with every record. With FlapCount=0 there is no storm
 * rule and every edge is told at once.
 *
 * What was not told port by port is summed up once for the host, when no port has fallen for a while:
 * struct storms.
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
	unsigned counted;  /* the last storm of the host (struct storms) that it has a part in */
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

/* The host's storm is over when no flapping port has fallen for so long; doubles as holds do. */
#define STORMS_QUIET STORM_FLAP_HOLD
/* Fewer falls than this are no storm: link-flapping has said all there is to say. */
#define STORMS_MIN 10

/* All ports together; starts zeroed. */
struct storms {
	bool on;
	unsigned id;        /* of the present or last one, from 1 */
	usec_t since, last; /* mono; when its first and last falls were noticed */
	usec_t quiet;
	uint64_t falls;
	unsigned ports;    /* that fell while link-flapping stood */
	unsigned overruns; /* times that the kernel had more to tell than a socket holds */
	usec_t overrun_at;
};

/* A port has fallen that many times since it was looked at last. Counts if it is flapping. */
void storms_falls(
	struct storms *s, struct storm *port, uint64_t falls, usec_t now, usec_t max_quiet);

/* Messages of the kernel were lost; often that is noticed before any fall is. */
void storms_overrun(struct storms *s, usec_t now);

/* When it is over, if nothing happens; USEC_INFINITY: there is none. */
usec_t storms_deadline(const struct storms *s);

/*
 * To be called at that time: true once, when a storm is over that is worth a record; what is in *s is
 * that storm until the next one begins.
 */
bool storms_over(struct storms *s, usec_t now);
