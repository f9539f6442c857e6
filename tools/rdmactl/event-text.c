/* SPDX-License-Identifier: MIT */
#include "event-text.h"

#include <syslog.h>

#include "macros.h"
#include "output.h"
#include "text.h"
#include "when.h"

#define TIME_WIDTH       19
#define OBJECT_WIDTH_MIN 8
#define OBJECT_WIDTH_MAX 24

static char *object_of(const struct event *e)
{
	const char *s = or_text(e->fields[EVENT_OBJECT], e->fields[EVENT_DEVICE]);

	return text_sanitise(or_text(s, "-"), false);
}

size_t event_text_width(size_t so_far, const struct event *e)
{
	_cleanup_(freep) char *object = object_of(e);
	size_t n = object ? MIN(text_width(object), (size_t)OBJECT_WIDTH_MAX) : 0;

	return MAX(MAX(so_far, n), (size_t)OBJECT_WIDTH_MIN);
}

/* What is over is good news, all else as its priority says. */
static enum colour colour_of(const struct event *e)
{
	int priority = event_priority(e);

	if (priority <= LOG_ERR)
		return COLOUR_BAD;
	if (priority == LOG_WARNING)
		return COLOUR_WARN;
	if (e->fields[EVENT_EDGE] && streq(e->fields[EVENT_EDGE], "cleared"))
		return COLOUR_GOOD;
	return COLOUR_NONE;
}

void event_text_head(size_t object_width)
{
	output_cell("TIME", COLOUR_DIM, TIME_WIDTH, false);
	output_cell("OBJECT", COLOUR_DIM, object_width, false);
	output_cell("MESSAGE", COLOUR_DIM, SIZE_MAX, true);
	putchar('\n');
}

/* What is in the column beside it need not be read twice, where a line is short. */
static const char *without_object(const char *message, const char *object)
{
	size_t n = strlen(object);

	return strncmp(message, object, n) == 0 && strncmp(message + n, ": ", 2) == 0
		       ? message + n + 2
		       : message;
}

void event_text_print(const struct options *o, const struct event *e, size_t object_width)
{
	size_t used = TIME_WIDTH + 2 + object_width + 2;
	_cleanup_(freep) char *object = object_of(e);
	_cleanup_(freep) char *message =
		text_sanitise(or_text(e->fields[EVENT_MESSAGE], "-"), false);
	bool fits = o->full || output_width() < used + 20;
	char when[WHEN_MAX];

	output_cell(when_format(when, e->when), COLOUR_NONE, TIME_WIDTH, false);
	output_cell(or_text(object, ""), COLOUR_NONE, object_width, false);
	output_cell(without_object(or_text(message, ""), or_text(object, "")), colour_of(e),
		fits ? SIZE_MAX : output_width() - used, true);
	putchar('\n');
}
