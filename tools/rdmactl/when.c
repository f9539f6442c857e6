/* SPDX-License-Identifier: MIT */
#include "when.h"

#include <errno.h>
#include <time.h>

#include "macros.h"
#include "parse.h"

#define TEXT_MAX 64

static int from_local(struct tm *tm, usec_t *ret)
{
	const struct tm wanted = *tm;
	time_t t;

	tm->tm_isdst = -1;
	t = mktime(tm);
	/* mktime() makes 2 March out of 30 February. */
	if (t < 0 || tm->tm_mday != wanted.tm_mday || tm->tm_mon != wanted.tm_mon)
		return -ERANGE;
	*ret = (usec_t)t * USEC_PER_SEC;
	return 0;
}

/* The beginning of a day, so many days before the one that now is in. */
static int day_before(usec_t now, int days, usec_t *ret)
{
	time_t t = (time_t)(now / USEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return -ERANGE;
	/* Noon is on the same day whatever the clocks did in between. */
	tm.tm_hour = 12;
	tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days;
	tm.tm_isdst = -1;
	if (mktime(&tm) < 0)
		return -ERANGE;
	tm.tm_hour = 0;
	return from_local(&tm, ret);
}

/* Two digits (or four, of a year) and what stands behind them. */
static bool take_number(const char **s, size_t digits, int *ret)
{
	int n = 0;

	for (size_t i = 0; i < digits; i++) {
		char c = (*s)[i];

		if (c < '0' || c > '9')
			return false;
		n = n * 10 + (c - '0');
	}
	*s += digits;
	*ret = n;
	return true;
}

static bool take_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

static bool take_date(const char **s, struct tm *tm)
{
	const char *p = *s;
	int year, month, day;

	if (!take_number(&p, 4, &year) || !take_char(&p, '-') || !take_number(&p, 2, &month) ||
		!take_char(&p, '-') || !take_number(&p, 2, &day))
		return false;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	tm->tm_mday = day;
	*s = p;
	return true;
}

static bool take_time(const char **s, struct tm *tm)
{
	const char *p = *s;

	tm->tm_sec = 0;
	if (!take_number(&p, 2, &tm->tm_hour) || !take_char(&p, ':') ||
		!take_number(&p, 2, &tm->tm_min))
		return false;
	if (take_char(&p, ':') && !take_number(&p, 2, &tm->tm_sec))
		return false;
	*s = p;
	return true;
}

/* A date, a time of today, or both. */
static int parse_calendar(const char *s, usec_t now, usec_t *ret)
{
	time_t t = (time_t)(now / USEC_PER_SEC);
	struct tm tm;
	bool date;

	if (!localtime_r(&t, &tm))
		return -ERANGE;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	date = take_date(&s, &tm);
	if (date && *s) {
		if (!take_char(&s, ' ') && !take_char(&s, 'T'))
			return -EINVAL;
		s += strspn(s, " ");
		date = false;
	}
	if (!date && !take_time(&s, &tm))
		return -EINVAL;
	if (*s)
		return -EINVAL;
	if (tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_hour > 23 ||
		tm.tm_min > 59 || tm.tm_sec > 60)
		return -ERANGE;
	return from_local(&tm, ret);
}

/* A span before now, from a text that may be changed. */
static int parse_ago(char *s, usec_t now, usec_t *ret)
{
	usec_t span;
	int r = parse_timespan(strstrip(s), &span);

	if (r < 0)
		return r;
	*ret = usec_sub(now, span);
	return 0;
}

int when_parse(const char *s, usec_t now, usec_t *ret)
{
	char buf[TEXT_MAX], *text;
	uint64_t seconds;
	size_t n;

	if (strlen(s) >= sizeof(buf))
		return -EINVAL;
	STRSCPY(buf, s);
	text = strstrip(buf);
	n = strlen(text);

	if (streq(text, "now")) {
		*ret = now;
		return 0;
	}
	if (streq(text, "today"))
		return day_before(now, 0, ret);
	if (streq(text, "yesterday"))
		return day_before(now, 1, ret);
	if (text[0] == '@') {
		if (parse_u64(text + 1, &seconds) < 0)
			return -EINVAL;
		if (seconds > INT64_MAX / USEC_PER_SEC)
			return -ERANGE;
		*ret = seconds * USEC_PER_SEC;
		return 0;
	}
	if (text[0] == '-')
		return parse_ago(text + 1, now, ret);
	if (n > 4 && streq(text + n - 4, " ago")) {
		text[n - 4] = '\0';
		return parse_ago(text, now, ret);
	}
	return parse_calendar(text, now, ret);
}

const char *when_format(char buf[WHEN_MAX], usec_t t)
{
	time_t seconds = (time_t)(t / USEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || strftime(buf, WHEN_MAX, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strcpy(buf, "?");
	return buf;
}
