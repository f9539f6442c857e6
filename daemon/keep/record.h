/* SPDX-License-Identifier: MIT */
/*
 * Structs as JSON objects, by a table of their fields: one table writes and reads. A key that is
 * not there, or is of another type, leaves its field as it was; a key that is not known is skipped.
 * So what a newer version adds costs an older one nothing, and the reverse. PURE.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum record_kind {
	RECORD_BOOL,
	RECORD_U8,
	RECORD_U32,
	RECORD_I32,
	RECORD_U64,
	RECORD_I64,
	RECORD_TEXT,  /* a char array; any bytes, and they come back as they were */
	RECORD_BYTES, /* as hexadecimal digits */
	RECORD_TIME,  /* struct timepoint: [mono, real] */
	RECORD_WORD,  /* an enum; what has no word is left out, what is no word is not taken */
};

struct record_field {
	const char *key; /* NULL ends a table */
	enum record_kind kind;
	size_t offset;
	size_t size;
	const char *(*to_word)(int value);
	int (*from_word)(const char *word);
};

#define RECORD_FIELD(type, member, kind_) \
	.kind = (kind_), .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* Where JSON is written to, without a tree of it: that is made once a second. */
struct record_out {
	FILE *f;
	bool follows; /* something is before it in this object or array */
};

/* key NULL: an element of an array, or the whole. */
void record_open(struct record_out *o, const char *key, char bracket);
void record_close(struct record_out *o, char bracket);
void record_put_text(struct record_out *o, const char *key, const char *s);
void record_put_number(struct record_out *o, const char *key, uint64_t n);
void record_put(struct record_out *o, const struct record_field *fields, const void *base);

void record_get(const json_t *object, const struct record_field *fields, void *base);
/* False, and *ret as it was, where it is no such thing. buf always ends with a NUL. */
bool record_get_number(const json_t *value, uint64_t *ret);
bool record_get_text(const json_t *value, char *buf, size_t size);
