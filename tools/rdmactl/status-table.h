/* SPDX-License-Identifier: MIT */
/*
 * The middle of "rdmactl status": one line per object, the reasons below it, and what is many of a
 * kind in one line.
 */
#pragma once

#include "output.h"
#include "timespan.h"
#include "view.h"

/* The colour that stands for a health. */
enum colour health_colour(enum health h);

/* Prints the objects of a sorted view. here: it is of this host, where commands can be tried. */
void status_table(const struct options *o, const struct view *v, bool here, usec_t now);

/* Prints what is ignored, grouped by why. */
void status_ignored(const struct options *o, const struct view *v);
