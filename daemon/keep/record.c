/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <inttypes.h>

#include "macros.h"
#include "timespan.h"

/* ---- out ---- */

static void put_key(struct record_out *o, const char *key)
{
	if (o->follows)
		fputc(',', o->f);
	if (key)
		fprintf(o->f, "\"%s\":", key);
	o->follows = true;
}

void record_open(struct record_out *o, const char *key, char bracket)
{
	put_key(o, key);
	fputc(bracket, o->f);
	o->follows = false;
}

void record_close(struct record_out *o, char bracket)
{
	fputc(bracket, o->f);
	o->follows = true;
}

/* Each byte that is not plain is the character of that number: any text is good JSON. */
static void put_string(FILE *f, const char *s, size_t max)
{
	fputc('"', f);
	for (size_t i = 0; i < max && s[i]; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

void record_put_text(struct record_out *o, const char *key, const char *s)
{
	put_key(o, key);
	put_string(o->f, s, SIZE_MAX);
}

/* JSON's numbers end at INT64_MAX for most who read them; above it is a string. */
static void put_number(FILE *f, uint64_t n)
{
	const char *quote = n > INT64_MAX ? "\"" : "";

	fprintf(f, "%s%" PRIu64 "%s", quote, n, quote);
}

void record_put_number(struct record_out *o, const char *key, uint64_t n)
{
	put_key(o, key);
	put_number(o->f, n);
}

static void put_bytes(FILE *f, const uint8_t *bytes, size_t n)
{
	fputc('"', f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", bytes[i]);
	fputc('"', f);
}

static void put_field(struct record_out *o, const struct record_field *x, const void *at)
{
	const struct timepoint *t = at;

	put_key(o, x->key);
	switch (x->kind) {
	case RECORD_BOOL:
		fputs(*(const bool *)at ? "true" : "false", o->f);
		break;
	case RECORD_U8:
		fprintf(o->f, "%u", *(const uint8_t *)at);
		break;
	case RECORD_U32:
		fprintf(o->f, "%" PRIu32, *(const uint32_t *)at);
		break;
	case RECORD_I32:
		fprintf(o->f, "%" PRId32, *(const int32_t *)at);
		break;
	case RECORD_U64:
		put_number(o->f, *(const uint64_t *)at);
		break;
	case RECORD_I64:
		fprintf(o->f, "%" PRId64, *(const int64_t *)at);
		break;
	case RECORD_TEXT:
		put_string(o->f, at, x->size);
		break;
	case RECORD_BYTES:
		put_bytes(o->f, at, x->size);
		break;
	case RECORD_TIME:
		fputc('[', o->f);
		put_number(o->f, t->mono);
		fputc(',', o->f);
		put_number(o->f, t->real);
		fputc(']', o->f);
		break;
	case RECORD_WORD:
		put_string(o->f, x->to_word(*(const int *)at), SIZE_MAX);
		break;
	}
}

void record_put(struct record_out *o, const struct record_field *fields, const void *base)
{
	for (const struct record_field *x = fields; x->key; x++) {
		const void *at = (const char *)base + x->offset;

		if (x->kind == RECORD_WORD && !x->to_word(*(const int *)at))
			continue;
		put_field(o, x, at);
	}
}

/* ---- in ---- */

bool record_get_number(const json_t *j, uint64_t *ret)
{
	char end;

	if (json_is_integer(j) && json_integer_value(j) >= 0) {
		*ret = (uint64_t)json_integer_value(j);
		return true;
	}
	return json_is_string(j) && sscanf(json_string_value(j), "%" SCNu64 "%c", ret, &end) == 1;
}

/* The reverse of put_string(): characters up to 255 are bytes, others are none of ours. */
bool record_get_text(const json_t *j, char *buf, size_t size)
{
	const unsigned char *s = (const unsigned char *)json_string_value(j);
	size_t n = 0;

	if (!s)
		return false;
	for (; *s && n + 1 < size; s++) {
		if (*s < 0x80) {
			buf[n++] = (char)*s;
		} else if ((*s & 0xfc) == 0xc0 && s[1]) {
			buf[n++] = (char)((*s & 0x03) << 6 | (s[1] & 0x3f));
			s++;
		} else if (*s >= 0xc0) {
			buf[n++] = '?';
		}
	}
	buf[n] = '\0';
	return true;
}

static void get_bytes(const json_t *j, uint8_t *bytes, size_t n)
{
	const char *s = json_string_value(j);
	unsigned byte;

	if (!s || strlen(s) != 2 * n)
		return;
	for (size_t i = 0; i < n && sscanf(s + 2 * i, "%2x", &byte) == 1; i++)
		bytes[i] = (uint8_t)byte;
}

static void get_signed(const json_t *j, int32_t *ret)
{
	if (json_is_integer(j) && json_integer_value(j) >= INT32_MIN &&
		json_integer_value(j) <= INT32_MAX)
		*ret = (int32_t)json_integer_value(j);
}

static void get_time(const json_t *j, struct timepoint *ret)
{
	struct timepoint t;

	if (record_get_number(json_array_get(j, 0), &t.mono) &&
		record_get_number(json_array_get(j, 1), &t.real))
		*ret = t;
}

static void get_word(const json_t *j, const struct record_field *x, int *ret)
{
	int value = json_is_string(j) ? x->from_word(json_string_value(j)) : -1;

	if (value >= 0)
		*ret = value;
}

static void get_field(const json_t *j, const struct record_field *x, void *at)
{
	uint64_t n;

	switch (x->kind) {
	case RECORD_BOOL:
		if (json_is_boolean(j))
			*(bool *)at = json_is_true(j);
		break;
	case RECORD_U8:
		if (record_get_number(j, &n) && n <= UINT8_MAX)
			*(uint8_t *)at = (uint8_t)n;
		break;
	case RECORD_U32:
		if (record_get_number(j, &n) && n <= UINT32_MAX)
			*(uint32_t *)at = (uint32_t)n;
		break;
	case RECORD_I32:
		get_signed(j, at);
		break;
	case RECORD_U64:
		if (record_get_number(j, &n))
			*(uint64_t *)at = n;
		break;
	case RECORD_I64:
		if (json_is_integer(j))
			*(int64_t *)at = json_integer_value(j);
		break;
	case RECORD_TEXT:
		record_get_text(j, at, x->size);
		break;
	case RECORD_BYTES:
		get_bytes(j, at, x->size);
		break;
	case RECORD_TIME:
		get_time(j, at);
		break;
	case RECORD_WORD:
		get_word(j, x, at);
		break;
	}
}

void record_get(const json_t *object, const struct record_field *fields, void *base)
{
	for (const struct record_field *x = fields; x->key; x++) {
		const json_t *j = json_object_get(object, x->key);

		if (j)
			get_field(j, x, (char *)base + x->offset);
	}
}
