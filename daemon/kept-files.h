/* SPDX-License-Identifier: MIT */
/* The files that a run of rdmad leaves for the next one: finding, reading and setting them aside. */
#pragma once

#include "keep.h"
#include "picture.h"

#define STATE_NAME    "kept-state.json"
#define COUNTERS_NAME "kept-counters.json"

/* The same, as the texts have it; valid as long as o is. */
struct keep_origin kept_origin(const struct picture_origin *o);

/*
 * Reads what is kept in dir into k->model, which is empty, with its counters where they can be
 * read. Negative errno, see keep_parse(); -ENOENT: nothing is kept; -EBADMSG, too: what is there is no
 * file of ours. The model is empty then.
 */
int kept_read(const char *dir, const struct picture_origin *origin, struct keep *k);

/* As kept_read(), and says what cannot be read and why; what makes no sense is renamed to NAME.bad. */
int kept_load(const char *dir, const struct picture_origin *origin, struct keep *k);

/* Frees the model and what its ports have. */
void kept_done(struct model *m);
