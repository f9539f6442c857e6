/* SPDX-License-Identifier: MIT */
/*
 * A safe way into inih. Debian's inih cuts long lines and section headers silently, takes an
 * indented line for one more value of the key above it, drops what follows " ;", and knows no line
 * numbers. This reader looks at every line first, names what inih would get wrong, and hands inih
 * an empty line in its place.
 */
#pragma once

#include <stddef.h>

struct reader_callbacks {
	/* A section begins. text is what stands between the brackets. */
	int (*section)(void *user, const char *text, unsigned line);
	/* One assignment in that section; both words are stripped, value may be empty. */
	int (*value)(void *user, const char *key, const char *value, unsigned line);
	/* A line (0: the whole file) was left out. */
	int (*problem)(void *user, unsigned line, const char *text);
};

/*
 * Parses one file's contents. The callbacks return 0 or a negative errno, which ends the parsing
 * and is returned. Keys below a section header that was refused are left out without a word: the
 * header was named already.
 */
int reader_parse(const char *text, size_t size, const struct reader_callbacks *cb, void *user);
