/* SPDX-License-Identifier: MIT */
/* A model with something of everything that is kept, as the texts that rdmad keeps of it. */
#pragma once

#include "test.h"

#include "keep.h"

#define KEEP_WORLD_ORIGIN .machine = "aaaa", .board = "b-1", .boot = "cccc"

#define AT(s)                                          \
	((struct timepoint){ .mono = (s)*USEC_PER_SEC, \
		.real = (s)*USEC_PER_SEC + UINT64_C(1700000000) * USEC_PER_SEC })

/* malloc'ed. */
char *keep_world_state(void);
char *keep_world_counters(void);

/* Frees a model that was read. */
void keep_world_forget(struct model *m);
