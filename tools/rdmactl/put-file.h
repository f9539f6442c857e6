/* SPDX-License-Identifier: MIT */
/* Files that are there whole or not at all, and that replace others only when that was asked for. */
#pragma once

#include <stdbool.h>

/*
 * Gives a complete file its name, over nothing or (force) over what is there. 0, -EEXIST, or another
 * negative errno.
 */
int put_in_place(const char *temporary, const char *file, bool force);

/* Writes text as a file of mode 0644. Likewise. */
int put_text(const char *file, const char *text, bool force);
