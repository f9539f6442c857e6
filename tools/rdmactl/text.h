/* SPDX-License-Identifier: MIT */
/*
 * Text on its way to a terminal: making it harmless, measuring it, shortening it. Names, firmware
 * versions and messages come from the kernel and from devices; nothing says that they are nice.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A copy in which everything that a terminal could take as a command (C0, C1, DEL, bidirectional
 * and other invisible format characters) is written as \xNN or \uNNNN. Outside of a UTF-8 locale
 * that goes for all that is not ASCII. s must be valid UTF-8, as JSON and D-Bus strings are.
 * Returns NULL when memory is out.
 */
char *text_sanitise(const char *s, bool keep_newlines);

/* The same for every key and string of a JSON value. Returns a new reference, or NULL. */
json_t *text_sanitise_json(const json_t *v);

/* Columns that a string takes on a terminal. */
size_t text_width(const char *s);

/* A copy that takes at most width columns, its end replaced by an ellipsis if need be. */
char *text_ellipsize(const char *s, size_t width);

/* The first of two texts that there is. */
static inline const char *or_text(const char *s, const char *otherwise)
{
	return s ? s : otherwise;
}

/* Whether the locale can show more than ASCII. */
bool text_is_utf8(void);
