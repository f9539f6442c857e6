/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>

#include "macros.h"
#include "names.h"

/* What inih keeps of a section header: its buffer of 50 bytes without the NUL. */
#define SECTION_MAX 49

struct reader {
	const char *at, *end;
	unsigned line;
	const struct reader_callbacks *cb;
	void *user;
	int r;                         /* the first negative errno of a callback */
	bool skip;                     /* below a header that was refused */
	bool in_section;               /* below any header */
	char section[SECTION_MAX + 1]; /* as we read it, to hold inih's reading against */
};

static bool is_comment(const char *s, size_t len)
{
	return len > 0 && (*s == '#' || *s == ';');
}

static size_t skip_blank(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && isspace((unsigned char)s[n]))
		n++;
	return n;
}

/* Why inih must not see this line at all, whatever is on it; NULL when it may. */
static const char *bad_text(const char *s, size_t len, size_t room)
{
	if (memchr(s, '\0', len))
		return "there is a NUL byte in this line";
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\t') || s[i] == 0x7f)
			return "there is a control character in this line";
	if (!utf8_valid(s, len))
		return "this line is not valid UTF-8";
	if (len > room)
		return "this line is too long; split lists over several assignments of the key";
	if (isspace((unsigned char)s[0]))
		return "this line is indented: continuation lines are not supported, begin it in "
		       "the first column";
	for (size_t i = 1; i < len; i++)
		if (s[i] == ';' && isspace((unsigned char)s[i - 1]))
			return "a comment needs a line of its own: what follows \" ;\" would be "
			       "lost";
	return NULL;
}

static const char *bad_header(const char *s, size_t len)
{
	const char *close = memchr(s, ']', len);

	if (!close)
		return "the section header has no closing bracket";
	if (close != s + len - 1)
		return "there is more behind the first \"]\" of the section header";
	if (len - 2 > SECTION_MAX)
		return "the section header is longer than 49 bytes";
	return NULL;
}

static const char *bad_assignment(const char *s, size_t len)
{
	const char *equal = memchr(s, '=', len), *colon = memchr(s, ':', len);

	if (!equal)
		return "neither a section header nor an assignment (Key=value)";
	if (colon && colon < equal)
		return "\":\" before the \"=\": write Key=value";
	if (equal == s)
		return "there is no key before the \"=\"";
	return NULL;
}

static void report(struct reader *rd, const char *text)
{
	if (rd->r >= 0)
		rd->r = rd->cb->problem(rd->user, rd->line, text);
}

/*
 * Judges the line, whose end is off already. Returns how much of it inih gets to see: all of it but
 * trailing white space, or nothing.
 */
static size_t take_line(struct reader *rd, const char *s, size_t len, size_t room)
{
	size_t blank = skip_blank(s, len);
	bool header = blank < len && s[blank] == '[';
	const char *why;

	if (blank == len || is_comment(s + blank, len - blank))
		return 0;
	while (isspace((unsigned char)s[len - 1]))
		len--;

	why = bad_text(s, len, room);
	if (!why)
		why = header ? bad_header(s, len) : bad_assignment(s, len);
	if (why) {
		/* Under a header that nobody understood every key is somebody else's. */
		if (header) {
			rd->in_section = rd->skip = true;
			report(rd, why);
		} else if (!rd->skip) {
			report(rd, why);
		}
		return 0;
	}
	if (!header) {
		if (!rd->in_section)
			report(rd, "assignment outside of a section");
		return rd->in_section && !rd->skip ? len : 0;
	}

	rd->in_section = true;
	rd->skip = false;
	memcpy(rd->section, s + 1, len - 2);
	rd->section[len - 2] = '\0';
	if (rd->r >= 0)
		rd->r = rd->cb->section(rd->user, rd->section, rd->line);
	return len;
}

/* An ini_reader: hands out one whole line of at most num - 1 bytes with its newline. */
static char *read_line(char *str, int num, void *stream)
{
	struct reader *rd = stream;
	const char *s = rd->at, *eol;
	size_t len;

	/* inih needs room for the newline and the NUL; it calls with 16 bytes only to skip. */
	if (rd->at >= rd->end || rd->r < 0 || num < 3)
		return NULL;
	eol = memchr(s, '\n', (size_t)(rd->end - s));
	len = (size_t)((eol ? eol : rd->end) - s);
	rd->at = eol ? eol + 1 : rd->end;
	rd->line++;
	if (len > 0 && s[len - 1] == '\r')
		len--;

	len = take_line(rd, s, len, (size_t)num - 2);
	memcpy(str, s, len);
	str[len] = '\n';
	str[len + 1] = '\0';
	return str;
}

/* An ini_handler: nonzero is success. */
static int handle(void *user, const char *section, const char *name, const char *value)
{
	struct reader *rd = user;

	if (rd->r < 0)
		return 0;
	if (!streq(section, rd->section))
		/* A trap of inih's that this file does not know yet: never guess. */
		report(rd, "the parser lost the section that this line belongs to");
	else
		rd->r = rd->cb->value(rd->user, name, value, rd->line);
	return 1;
}

int reader_parse(const char *text, size_t size, const struct reader_callbacks *cb, void *user)
{
	struct reader rd = {
		.at = text,
		.end = text + size,
		.cb = cb,
		.user = user,
	};
	int k;

	if (size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return cb->problem(user, 0, "this file is UTF-16; it must be UTF-8");
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		rd.at += 3;

	k = ini_parse_stream(read_line, &rd, handle, &rd);
	if (rd.r < 0)
		return rd.r;
	if (k == -2)
		return -ENOMEM;
	if (k != 0)
		return cb->problem(user, (unsigned)MAX(k, 0), "the parser refused this line");
	return 0;
}
