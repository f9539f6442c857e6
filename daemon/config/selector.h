/* SPDX-License-Identifier: MIT */
/* Inside of the room: patterns. */
#pragma once

#include <stdbool.h>

/* "*" any run, "?" any one byte, everything else itself. Linear but for the last "*". */
bool glob_match(const char *glob, const char *s);
