/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <langinfo.h>
#include <stdint.h>
#include <wchar.h>

#include "macros.h"

bool text_is_utf8(void)
{
	return streq(nl_langinfo(CODESET), "UTF-8");
}

/* Takes one character off valid UTF-8. A stray byte is handed out as itself, below 0x100. */
static uint32_t next_char(const char **s)
{
	const unsigned char *p = (const unsigned char *)*s;
	unsigned more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
	uint32_t c = more == 3   ? p[0] & 0x07u
		     : more == 2 ? p[0] & 0x0fu
		     : more      ? p[0] & 0x1fu
				 : p[0];

	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*s += 1;
			return p[0];
		}
		c = c << 6 | (p[i] & 0x3fu);
	}
	*s += more + 1;
	return c;
}

static bool is_harmful(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1f },       /* C0: ESC and friends */
		{ 0x7f, 0x9f },       /* DEL, C1: CSI in one character */
		{ 0xad, 0xad },       /* soft hyphen */
		{ 0x061c, 0x061c },   /* Arabic letter mark */
		{ 0x200b, 0x200f },   /* zero width, left-to-right marks */
		{ 0x2028, 0x202e },   /* line separators, bidirectional overrides */
		{ 0x2060, 0x206f },   /* invisible operators, isolates */
		{ 0xd800, 0xdfff },   /* not characters at all */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff9, 0xfffb },   /* interlinear annotation */
		{ 0xe0000, 0xe007f }, /* tags */
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

char *text_sanitise(const char *s, bool keep_newlines)
{
	bool utf8 = text_is_utf8();
	/* The worst that one byte becomes is "\xNN", and a longer character "\UNNNNNNNN". */
	char *out = malloc(strlen(s) * 4 + 1);
	char *o = out;

	if (!out)
		return NULL;

	while (*s) {
		const char *begin = s;
		uint32_t c = next_char(&s);
		size_t n = (size_t)(s - begin);
		bool stray = n == 1 && c >= 0x80;

		if (!stray && (!is_harmful(c) || (keep_newlines && c == '\n')) &&
			(utf8 || c < 0x80)) {
			memcpy(o, begin, n);
			o += n;
		} else if (c < 0x100)
			o += sprintf(o, "\\x%02x", c);
		else if (c < 0x10000)
			o += sprintf(o, "\\u%04x", c);
		else
			o += sprintf(o, "\\U%08x", c);
	}
	*o = '\0';
	return out;
}

/* Plain ASCII, which nearly everything is, needs no second look. */
static bool is_plain(const char *s)
{
	while (*s >= 0x20 && *s < 0x7f)
		s++;
	return !*s;
}

static bool is_plain_json(const json_t *v)
{
	const char *key;
	json_t *member;

	if (json_is_string(v))
		return is_plain(json_string_value(v));
	for (size_t i = 0; i < json_array_size(v); i++)
		if (!is_plain_json(json_array_get(v, i)))
			return false;
	if (!json_is_object(v))
		return true;
	json_object_foreach((json_t *)v, key,
		member) if (!is_plain(key) || !is_plain_json(member)) return false;
	return true;
}

static json_t *sanitise_value(const json_t *v);

static json_t *sanitise_object(const json_t *v)
{
	json_t *out = json_object();
	const char *key;
	json_t *member;

	/* jansson iterates over what it does not change through pointers that are not const. */
	json_object_foreach((json_t *)v, key, member)
	{
		_cleanup_(freep) char *clean = text_sanitise(key, false);

		if (!clean || json_object_set_new(out, clean, sanitise_value(member)) < 0) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}

static json_t *sanitise_value(const json_t *v)
{
	json_t *out;

	if (json_is_object(v))
		return sanitise_object(v);
	if (json_is_array(v)) {
		out = json_array();
		for (size_t i = 0; i < json_array_size(v); i++)
			if (json_array_append_new(out, sanitise_value(json_array_get(v, i))) < 0) {
				json_decref(out);
				return NULL;
			}
		return out;
	}
	if (json_is_string(v)) {
		_cleanup_(freep) char *clean = text_sanitise(json_string_value(v), false);

		return clean ? json_string(clean) : NULL;
	}
	return json_incref((json_t *)v);
}

json_t *text_sanitise_json(const json_t *v)
{
	return is_plain_json(v) ? json_incref((json_t *)v) : sanitise_value(v);
}

/* Width of the character at *s and moves on; what the locale cannot tell counts as one. */
static size_t step_width(const char **s, mbstate_t *state)
{
	wchar_t wc;
	size_t n = mbrtowc(&wc, *s, MB_CUR_MAX, state);
	int w;

	if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
		memset(state, 0, sizeof(*state));
		*s += 1;
		return 1;
	}
	*s += n;
	w = wcwidth(wc);
	return w < 0 ? 1 : (size_t)w;
}

size_t text_width(const char *s)
{
	mbstate_t state = { 0 };
	size_t width = 0;

	while (*s)
		width += step_width(&s, &state);
	return width;
}

char *text_ellipsize(const char *s, size_t width)
{
	const char *ellipsis = text_is_utf8() ? "…" : "...";
	size_t room = width > text_width(ellipsis) ? width - text_width(ellipsis) : 0;
	mbstate_t state = { 0 };
	const char *p = s;
	size_t used = 0;
	char *out;

	if (text_width(s) <= width)
		return strdup(s);

	for (;;) {
		const char *before = p;
		size_t w = step_width(&p, &state);

		if (used + w > room) {
			p = before;
			break;
		}
		used += w;
	}
	if (asprintf(&out, "%.*s%s", (int)(p - s), s, ellipsis) < 0)
		return NULL;
	return out;
}
