/* SPDX-License-Identifier: MIT */
/*
 * A captured tree in the making: files are copied to the same paths below it, links stay links and
 * are never followed, and what could not be copied is noted.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "slow-read.h"

struct collection {
	const char *top; /* directory of the tree */
	struct slow_reader reader;
	FILE *left_out; /* "PATH: why", a line each */
	usec_t ends_at; /* mono: what is not copied by then is left out */
	size_t n_files;
	size_t n_bytes;
	size_t n_silent;  /* files that did not answer */
	unsigned silence; /* ... of the present object, see collect_object() */
	int error;        /* no room for what was read; nothing is copied any more */
};

/*
 * Copies what is below top, which is a new directory. 0 or negative errno: a tree that could not be
 * written as a whole, since its disk is full, is none.
 */
int collection_begin(struct collection *c, const char *top);
int collection_end(struct collection *c);

/* The objects of a driver hang together: after two files without an answer the rest is left out. */
void collect_object(struct collection *c);

/* Copies a file, or a link as a link; nothing when there is none. */
void collect_entry(struct collection *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Copies these entries of a directory. */
void collect_entries(
	struct collection *c, const char *directory, const char *const names[], size_t n);

/* Copies a directory with all in it that can be read. */
void collect_directory(struct collection *c, const char *path);

/* Makes a file with that text, or an empty directory. */
int collection_add_text(struct collection *c, const char *path, const char *text);
int collection_add_directory(struct collection *c, const char *path);
