/* SPDX-License-Identifier: MIT */
/*
 * What a run of rdmad hands on to the next one in this boot: the model, with the conditions that
 * stand and what they are judged by. All times stay good, CLOCK_BOOTTIME goes on. PURE.
 *
 * Two texts: the state, which is written whenever something changed, and the counters, which are
 * many and change all the time, seldom. Either may be older than the other.
 *
 * The schema: KEEP_VERSION counts up with each change of meaning, KEEP_READABLE_FROM is the oldest
 * version whose reader makes sense of it. Keys that are only added change neither: who does not
 * know them skips them, who misses them takes what "unknown" is.
 */
#pragma once

#include "model.h"
#include "port-edges.h"

#define KEEP_VERSION       1
#define KEEP_READABLE_FROM 1

/* Bounded, whatever the host is like. */
#define KEEP_MAX         (16u * 1024 * 1024) /* bytes of a text */
#define KEEP_DEVICES_MAX 1024
#define KEEP_NETDEVS_MAX 1024

/* Whose it is: it is good in this boot of this machine only. "" is not known. */
struct keep_origin {
	const char *machine, *board, *boot;
};

/* Why the run that wrote it ended; "" : it did not say, it was killed or crashed. */
#define KEEP_WHY_RESTART "restart"
#define KEEP_WHY_STOP    "stop"

struct keep {
	char version[32];       /* of the rdmad that wrote it */
	char why[16];           /* KEEP_WHY_* */
	struct timepoint saved; /* when */
	usec_t slept;           /* how long the host had slept by then */
	/* Out: read only. In: a new one, to be freed with model_done(); each port's user is its struct
	 * port_edges, malloc'ed. */
	struct model *model;
};

/* The edges of a port, for writing. */
typedef const struct port_edges *(*keep_edges_of_t)(const struct port *p);

/* *ret is malloc'ed. 0, -ENOMEM, or -EFBIG beyond KEEP_MAX. */
int keep_format(
	const struct keep *k, const struct keep_origin *o, keep_edges_of_t edges, char **ret);
int keep_counters_format(
	const struct model *m, const struct keep_origin *o, struct timepoint now, char **ret);

/*
 * Reads a state into an empty model. -EBADMSG: it is none; -ENOTSUP: of a version that this one does
 * not understand; -ESTALE: of another boot; -EXDEV: of another machine; -ENOMEM. The model is empty
 * after an error.
 */
int keep_parse(const char *text, const struct keep_origin *o, struct keep *k);

/* Gives the ports of a model that was read their counters; errors as above, then they have none. */
int keep_counters_parse(const char *text, const struct keep_origin *o, struct model *m);
