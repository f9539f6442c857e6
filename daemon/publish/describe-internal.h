/* SPDX-License-Identifier: MIT */
/*
 * What the files that make JSON share: describe.c (the whole), describe-lists.c (lists within a
 * device or a port). For nobody else.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "macros.h"
#include "publish.h"
#include "text.h"

/*
 * jansson frees a value that it could not store and takes NULL for one, so that being out of memory
 * needs to be noted only here and asked for once at the end.
 */
struct builder {
	bool failed;
	bool brief; /* only what "status" shows as text */
};

/* Keys are ours and texts are clean: what jansson would look at once more need not be. */
static inline void put(struct builder *b, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, value) < 0)
		b->failed = true;
}

static inline void append(struct builder *b, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		b->failed = true;
}

/* "" and NULL are null: the model says "not known" by them. */
static inline json_t *json_text(const char *s)
{
	char buf[TEXT_MAX];

	return s && s[0] ? json_string_nocheck(text_clean(s, buf)) : json_null();
}

static inline json_t *json_number(uint64_t number)
{
	return json_integer((json_int_t)MIN(number, (uint64_t)INT64_MAX));
}

static inline json_t *json_time(struct timepoint t)
{
	return t.real ? json_number(t.real) : json_null();
}

/* {"Running":true,"Version":…}, the same in every text. */
json_t *describe_daemon(struct builder *b, const struct publish_context *ctx, struct timepoint now);

/* The conditions of a verdict. */
json_t *describe_reasons(struct builder *b, const struct verdict *v);

/* Adds the keys of a device, of a port, that are lists or objects. */
void describe_put_device_lists(struct builder *b, json_t *o, const struct device *d);
void describe_put_port_lists(
	struct builder *b, json_t *o, const struct model *m, const struct port *p);
