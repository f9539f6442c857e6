/* SPDX-License-Identifier: MIT */
/*
 * The steps of setup in a description (DESIGN section 8, Setup[]): which are in force, and showing
 * them. What is to be done and why not is the daemon's word.
 */
#pragma once

#include <jansson.h>

#include "rdmactl.h"

/* Whether that step's setting is as the configuration says. A word that is not known is not. */
bool step_in_force(const json_t *step);

/* The steps that the patterns of o select; a new array of borrowed steps. NULL when memory is out. */
json_t *steps_selected(const struct options *o, const json_t *root);

/* Those of them that are in force, or that are not; a new array. */
json_t *steps_filtered(const json_t *steps, bool in_force);

/* Writes them as a table, each with what there is to say of it below its line. */
void steps_print(const struct options *o, const json_t *steps);

/*
 * When patterns select nothing: says so and returns EXIT_FAILED. Else 0.
 */
int steps_exit_status(const struct options *o, const json_t *steps);
