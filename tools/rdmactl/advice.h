/* SPDX-License-Identifier: MIT */
/*
 * The next command to type. The daemon says what is wrong and what mends it (Remedy); which command
 * a person would look with is knowledge of the command line's.
 */
#pragma once

#include "view.h"

/*
 * Writes the command that shows more about a reason of an object, ready to be pasted into a shell.
 * Returns false when there is none. Names that a shell would not take literally are left out.
 */
bool advice_command(const struct object *o, const char *reason, char *buf, size_t size);
