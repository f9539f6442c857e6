/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdint.h>
#include <string.h>

/* Length of the well-formed UTF-8 character at s, or 0 when there is none (also at the end). */
static size_t char_length(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t code, least;
	size_t len;

	if (p[0] == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if ((p[0] & 0xe0) == 0xc0) {
		len = 2;
		code = p[0] & 0x1f;
		least = 0x80;
	} else if ((p[0] & 0xf0) == 0xe0) {
		len = 3;
		code = p[0] & 0x0f;
		least = 0x800;
	} else if ((p[0] & 0xf8) == 0xf0) {
		len = 4;
		code = p[0] & 0x07;
		least = 0x10000;
	} else {
		return 0;
	}
	/* The terminating zero is no continuation byte: this does not run past the end. */
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least || code > 0x10ffff || (code & 0xfffff800) == 0xd800)
		return 0;
	/* sd-bus refuses noncharacters. */
	if ((code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) == 0xfffe)
		return 0;
	return len;
}

bool text_is_valid(const char *s)
{
	while (*s) {
		size_t len = char_length(s);

		if (len == 0)
			return false;
		s += len;
	}
	return true;
}

const char *text_clean(const char *s, char buf[TEXT_MAX])
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t n = 0;

	if (!s)
		return "";
	if (text_is_valid(s))
		return s;
	while (*s) {
		size_t len = char_length(s);
		const char *from = len ? s : replacement;
		size_t put = len ? len : strlen(replacement);

		if (n + put >= TEXT_MAX)
			break;
		memcpy(buf + n, from, put);
		n += put;
		s += len ? len : 1;
	}
	buf[n] = '\0';
	return buf;
}

const char *text_one_line(const char *s, char *buf, size_t size)
{
	size_t n = 0;

	for (; s[n] && n + 1 < size; n++) {
		unsigned char c = (unsigned char)s[n];

		buf[n] = c < 0x20 || c == 0x7f ? ' ' : s[n];
	}
	buf[n] = '\0';
	return buf;
}
