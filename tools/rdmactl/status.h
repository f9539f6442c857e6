/* SPDX-License-Identifier: MIT */
/* What "status" shows, for other verbs that show the same. */
#pragma once

#include "view.h"

/* Writes the description as o says: text, or JSON. Sorts the view. */
void status_show(const struct options *o, const struct source *s, struct view *v);
