/* SPDX-License-Identifier: MIT */
/*
 * libsmartcols as rdmactl wants it: the width, colours and headings of output.h, texts that are
 * harmless already.
 */
#pragma once

#include <libsmartcols.h>

#include "macros.h"
#include "output.h"

DEFINE_CLEANUP(struct libscols_table *, scols_unref_table)

struct table_column {
	const char *title;
	double hint;
	int flags; /* SCOLS_FL_*; SCOLS_FL_TRUNC is left out with --full */
};

/* NULL when memory is out. */
struct libscols_table *table_new(
	const struct options *o, const struct table_column *columns, size_t n);

/* Leaves room for an indentation. */
void table_narrow(struct libscols_table *t, size_t indent);

/*
 * Prints the lines from first to last, indented, with the headings above the very first. What stands
 * between two ranges does not disturb the columns. Returns 0, or -1 when memory is out.
 */
int table_print_range(struct libscols_table *t, size_t first, size_t last, size_t indent);

/* A text and its colour. Returns 0, or -1 when memory is out. */
int table_set(struct libscols_line *l, size_t column, const char *text, enum colour c);
