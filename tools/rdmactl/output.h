/* SPDX-License-Identifier: MIT */
/*
 * The way to stdout: colours, width, pager, JSON. One place that knows what stdout is.
 */
#pragma once

#include <jansson.h>

#include "rdmactl.h"

enum colour {
	COLOUR_NONE,
	COLOUR_GOOD,
	COLOUR_BAD,
	COLOUR_WARN,
	COLOUR_DIM,
	COLOUR_BOLD,
	_COLOUR_MAX,
};

/* Looks at the terminal and starts a pager where that is right. Call before the first line. */
void output_open(const struct options *o);

/* Ends the pager. Returns status, or EXIT_FAILED with a message when not all could be written. */
int output_close(int status);

/* The escape sequence that switches a colour on, "" when there are no colours. */
const char *output_colour(enum colour c);
const char *output_reset(void);

/* Columns to stay within; 0: no limit (not a terminal). */
size_t output_width(void);

/* Writes s, padded or cut to width columns, and two blanks unless it is the last cell. */
void output_cell(const char *s, enum colour c, size_t width, bool last);

/* Writes text broken between words to the width, every line indented. */
void output_wrapped(size_t indent, enum colour c, const char *text);

/* The same with a label before the text; nothing when text is NULL. */
void output_labelled(size_t indent, const char *label, const char *text);

/*
 * Writes a value as the format says. Control characters do not survive, not even those that JSON
 * allows in a string.
 */
void output_json(const struct options *o, const json_t *v);

/* Writes an error to stderr, with the program's name before it, made harmless. */
void output_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
