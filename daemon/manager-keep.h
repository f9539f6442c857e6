/* SPDX-License-Identifier: MIT */
/* What manager-keep.c and main.c share: reading what the run before this one has kept. */
#pragma once

#include "keep.h"
#include "picture.h"

#define STATE_NAME    "kept-state.json"
#define COUNTERS_NAME "kept-counters.json"

/*
 * Reads what is kept in dir into k->model, which is empty, with its counters where they can be
 * read. Negative errno, see keep_parse(); -ENOENT: nothing is kept.
 */
int kept_read(const char *dir, const struct picture_origin *origin, struct keep *k);

/* Frees the model and what its ports have. */
void kept_done(struct model *m);
