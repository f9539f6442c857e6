/* SPDX-License-Identifier: MIT */
/*
 * Captured trees as readings: from the files of a tree into the daemon's model, judged by its rules.
 * The clock is made up: trees are as far apart as the caller says, and what the first one shows has
 * been so for long.
 */
#pragma once

#include "config.h"
#include "inventory.h"
#include "model.h"

struct inspection {
	const struct config *config;
	struct model model;
	struct inventory inventory;
	uint32_t
		last_index; /* devices of a tree have no index that outlives it: they get one here */
	struct timepoint now; /* of the tree that was read last; mono 0: none yet */
};

void inspection_done(struct inspection *in);

/*
 * Reads a tree as the next reading and judges everything. after: how long after the one before it was
 * taken. What differs from that one counts from then on: it may have come at once. real is the time
 * that is shown. Returns 0, -ENOENT when there is no sys/class/infiniband in it, -ENOMEM, or why the
 * directory cannot be used.
 */
int inspection_read(struct inspection *in, const char *tree, usec_t after, usec_t real);
