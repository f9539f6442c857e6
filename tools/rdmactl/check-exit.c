/* SPDX-License-Identifier: MIT */
#include "check-exit.h"

#include "macros.h"
#include "text.h"
#include "view.h"

/* The node problem detector cuts at that by itself, wherever it is. */
#define NPD_MAX 80

enum check_status check_status_of_all(unsigned seen, enum health fail_on)
{
	bool failed = seen & (1u << HEALTH_FAILED), unknown = seen & (1u << HEALTH_UNKNOWN);
	bool degraded = seen & (1u << HEALTH_DEGRADED | 1u << HEALTH_STARTING);

	/* Degraded is worse than unknown; where it does not fail it must not hide what is unknown. */
	if (fail_on == HEALTH_FAILED)
		return failed ? CHECK_FAILED : unknown ? CHECK_UNKNOWN : CHECK_OK;
	if (failed || (unknown && fail_on == HEALTH_UNKNOWN))
		return CHECK_FAILED;
	if (seen & (1u << HEALTH_DEGRADED))
		return CHECK_DEGRADED;
	return unknown ? CHECK_UNKNOWN : degraded ? CHECK_DEGRADED : CHECK_OK;
}

enum health check_worst(unsigned seen)
{
	enum health worst = HEALTH_OK;

	for (unsigned h = 0; h < _HEALTH_MAX; h++)
		if (seen & (1u << h) && health_rank((enum health)h) > health_rank(worst))
			worst = (enum health)h;
	return worst;
}

enum check_status check_status_of(enum health h)
{
	return check_status_of_all(
		1u << MIN((unsigned)h, (unsigned)HEALTH_IGNORED), HEALTH_DEGRADED);
}

int check_exit(enum exit_style style, enum check_status status, enum health worst)
{
	switch (style) {
	case EXIT_STYLE_DEFAULT:
	case EXIT_STYLE_NAGIOS:
		break;
	case EXIT_STYLE_BOOL:
		return status == CHECK_OK ? 0 : 1;
	case EXIT_STYLE_NPD:
		/* 0 fine, 1 a problem, 2 neither: what is starting has no problem yet. */
		if (status == CHECK_OK)
			return 0;
		return status == CHECK_UNKNOWN || worst == HEALTH_STARTING ? 2 : 1;
	}
	return (int)status;
}

static const char *headline(enum health h)
{
	switch (h) {
	case HEALTH_OK:
	case HEALTH_IGNORED:
		return "OK";
	case HEALTH_STARTING:
		return "STARTING";
	case HEALTH_DEGRADED:
		return "DEGRADED";
	case HEALTH_FAILED:
		return "FAILED";
	case HEALTH_UNKNOWN:
	case _HEALTH_MAX:
		break;
	}
	return "UNKNOWN";
}

static const char *nagios_word(enum check_status status)
{
	switch (status) {
	case CHECK_OK:
		return "OK";
	case CHECK_DEGRADED:
		return "WARNING";
	case CHECK_FAILED:
		return "CRITICAL";
	case CHECK_UNKNOWN:
		break;
	}
	return "UNKNOWN";
}

/* Cuts to so many bytes, not within a character. */
static void cut(char *s, size_t max)
{
	static const char mark[] = "...";
	size_t n = max - strlen(mark);

	if (strlen(s) <= max)
		return;
	while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	memcpy(s + n, mark, sizeof(mark));
}

char *check_line(enum exit_style style, enum check_status status, enum health worst,
	const char *detail, const char *perfdata)
{
	_cleanup_(freep) char *line = NULL;
	/* A bar begins the performance data, wherever it stands. */
	const char *bar = perfdata ? " | " : "";
	char *clean;
	int r;

	if (style == EXIT_STYLE_NAGIOS)
		r = asprintf(&line, "RDMA %s - %s%s%s", nagios_word(status), detail, bar,
			or_text(perfdata, ""));
	else
		r = asprintf(&line, "rdma %s: %s%s%s", headline(worst), detail, bar,
			or_text(perfdata, ""));
	if (r < 0) {
		line = NULL;
		return NULL;
	}
	clean = text_sanitise(line, false);
	if (clean && style == EXIT_STYLE_NPD)
		cut(clean, NPD_MAX);
	return clean;
}
