/* SPDX-License-Identifier: MIT */
/*
 * One line about many objects. The same words in "status" and "check".
 */
#pragma once

#include "view.h"

/*
 * Names what is in trouble, worst first, at most max of them: "rxe0/1 port-down, mlx5_1
 * device-unresponsive and 3 more". "" when nothing is. v must be sorted. Returns a new string or NULL.
 */
char *summary_troubles(const struct view *v, size_t max);

/* "1 of 8 ports failed, 7 ok"; "8 ports ok, 1 device missing". Returns a new string or NULL. */
char *summary_counts(const struct view *v);

/* "2 of 256 ports failed", without those that are well: for where there is no room. */
char *summary_bad_counts(const struct view *v);
