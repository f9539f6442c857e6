/* SPDX-License-Identifier: MIT */
/* Files that are there whole or not at all, and that replace others only when that was asked for. */
#pragma once

#include <stdbool.h>

/*
 * Writes a file of that mode and gives it its name when it is complete, over nothing or (force) over
 * what is there. fill returns 0, or a negative errno: then nothing is left. 0, -EEXIST, or
 * another negative errno.
 */
int put_file(const char *file, int mode, bool force, int (*fill)(int fd, const void *user),
	const void *user);

/* A text as a file of mode 0644. */
int put_text(const char *file, const char *text, bool force);
