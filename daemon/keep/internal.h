/* SPDX-License-Identifier: MIT */
/* What keep.c and keep-counters.c share. For nobody else. */
#pragma once

#include "fields.h"
#include "keep.h"

/* The head of either text. */
void keep_put_head(struct record_out *o, const struct keep_origin *origin);
/* Whether a text is one for us; *ret is new. 0, or an error of keep_parse(). */
int keep_open(const char *text, const struct keep_origin *o, json_t **ret);

/* Opens a stream into *ret; keep_finish() closes it, and sees to its size. */
FILE *keep_begin(char **ret, size_t *ret_size);
int keep_finish(FILE *f, char **text, const size_t *size);
