/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "macros.h"
#include "pager.h"
#include "parse.h"
#include "text.h"

/* No terminal is wider, and a table takes room and time for all of what it is told. */
#define WIDTH_MAX 65535

static bool use_colours;
static size_t width;

static const char *const sequences[_COLOUR_MAX] = {
	[COLOUR_NONE] = "0",
	[COLOUR_GOOD] = "32;1",
	[COLOUR_BAD] = "31;1",
	[COLOUR_WARN] = "33;1",
	[COLOUR_DIM] = "2",
	[COLOUR_BOLD] = "1",
};

static bool want_colours(void)
{
	const char *e = getenv("SYSTEMD_COLORS");
	bool b;

	/* As systemd has it: SYSTEMD_COLORS is the last word; "16", "256" are ways to say yes. */
	if (e && *e)
		return parse_bool(e, &b) < 0 || b;
	e = getenv("NO_COLOR");
	if (e && *e)
		return false;
	e = getenv("TERM");
	if (e && streq(e, "dumb"))
		return false;
	return isatty(STDOUT_FILENO);
}

static size_t want_width(int fd)
{
	const char *e = getenv("COLUMNS");
	struct winsize ws;
	uint32_t n;

	if (e && parse_u32(e, &n) == 0 && n > 0)
		return MIN(n, (uint32_t)WIDTH_MAX);
	if (isatty(fd))
		return ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 ? ws.ws_col : 80;
	return 0;
}

void output_open(const struct options *o)
{
	/* Asked before the pager replaces stdout by a pipe. */
	use_colours = want_colours();
	width = want_width(STDOUT_FILENO);
	if (o->pager && o->format == OUTPUT_TEXT)
		pager_open();
}

int output_close(int status)
{
	bool lost = fflush(stdout) == EOF || ferror(stdout);
	int error = errno;

	/* Leaving the pager before the end is nobody's fault. */
	if (pager_close() || !lost)
		return status;
	output_error("Cannot write to stdout: %s", strerror(error));
	return EXIT_FAILED;
}

const char *output_colour(enum colour c)
{
	static char buf[_COLOUR_MAX][16];

	if (!use_colours || c == COLOUR_NONE)
		return "";
	snprintf(buf[c], sizeof(buf[c]), "\033[%sm", sequences[c]);
	return buf[c];
}

const char *output_reset(void)
{
	return use_colours ? "\033[0m" : "";
}

size_t output_width(void)
{
	return width;
}

void output_cell(const char *s, enum colour c, size_t columns, bool last)
{
	_cleanup_(freep) char *cut = text_ellipsize(s, columns);
	size_t used = cut ? text_width(cut) : 0;

	printf("%s%s%s", output_colour(c), or_text(cut, ""),
		c == COLOUR_NONE ? "" : output_reset());
	if (!last)
		printf("%*s", (int)(columns - MIN(used, columns) + 2), "");
}

/* Writes words, none of them beyond the column limit, on lines that begin at indent, as this one does. */
static void write_words(FILE *f, const char *text, size_t indent, size_t limit)
{
	size_t column = indent;
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " ");
		_cleanup_(freep) char *word = strndup(text, n);
		size_t w = word ? text_width(word) : n;

		if (!first && column + 1 + w > limit) {
			fprintf(f, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		fprintf(f, "%s%.*s", first ? "" : " ", (int)n, text);
		column += w + !first;
		first = false;
		text += n + strspn(text + n, " ");
	}
}

void output_wrapped(size_t indent, enum colour c, const char *text)
{
	printf("%*s%s", (int)indent, "", output_colour(c));
	write_words(stdout, text, indent, width > indent + 20 ? width : SIZE_MAX);
	printf("%s\n", c == COLOUR_NONE ? "" : output_reset());
}

void output_labelled(size_t indent, const char *label, const char *text)
{
	_cleanup_(freep) char *line = NULL;

	if (!text)
		return;
	if (asprintf(&line, "%s%s", label, text) < 0)
		line = NULL;
	output_wrapped(indent, COLOUR_NONE, or_text(line, text));
}

void output_json(const struct options *o, const json_t *v)
{
	size_t flags = JSON_ENSURE_ASCII |
		       (o->format == OUTPUT_JSON_PRETTY ? JSON_INDENT(2) : JSON_COMPACT);
	_cleanup_(freep) char *text = json_dumps(v, flags);

	if (!text) {
		puts("{}");
		return;
	}
	/* DEL is the one control character that is ASCII and that JSON does not escape. */
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\x7f");

		fwrite(p, 1, n, stdout);
		p += n;
		if (!*p)
			break;
		fputs("\\u007f", stdout);
		p++;
	}
	putchar('\n');
}

/* A terminal would break a long line within a word; for programs a line stays a line. */
static void write_error(const char *text)
{
	static const char name[] = "rdmactl: ";
	size_t limit = isatty(STDERR_FILENO) ? want_width(STDERR_FILENO) : 0;

	fputs(name, stderr);
	for (size_t used = strlen(name);; used = 0) {
		size_t n = strcspn(text, "\n");
		_cleanup_(freep) char *line = strndup(text, n);

		if (line && limit > 20 && used + text_width(line) > limit)
			write_words(stderr, line, used, limit);
		else
			fprintf(stderr, "%.*s", (int)n, text);
		fputc('\n', stderr);
		if (!text[n] || !text[n + 1])
			break;
		text += n + 1;
	}
}

void output_error(const char *fmt, ...)
{
	_cleanup_(freep) char *raw = NULL;
	_cleanup_(freep) char *clean = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&raw, fmt, ap);
	va_end(ap);
	if (n < 0) {
		raw = NULL;
		return;
	}
	clean = text_sanitise(raw, true);
	fflush(stdout);
	write_error(or_text(clean, "out of memory"));
}
