/* SPDX-License-Identifier: MIT */
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "macros.h"

int parse_u64(const char *s, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	/* strtoull() would take a sign, white space and a hexadecimal prefix. */
	if (!isdigit((unsigned char)s[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno == ERANGE)
		return -ERANGE;
	if (errno || *end)
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_u32(const char *s, uint32_t *ret)
{
	uint64_t v;
	int r;

	r = parse_u64(s, &v);
	if (r < 0)
		return r;
	if (v > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)v;
	return 0;
}

int parse_bool(const char *s, bool *ret)
{
	static const char *const yes[] = { "1", "yes", "y", "true", "t", "on" };
	static const char *const no[] = { "0", "no", "n", "false", "f", "off" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (strcasecmp(s, yes[i]) == 0) {
			*ret = true;
			return 0;
		}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (strcasecmp(s, no[i]) == 0) {
			*ret = false;
			return 0;
		}
	return -EINVAL;
}

/*
 * Reads "DIGITS[.DIGITS]" at *s and moves behind it. The result is value / 10^6, so that the unit
 * can be multiplied in without floating point.
 */
static int scan_fixed(const char **s, uint64_t *ret_micro)
{
	uint64_t whole = 0, micro = 0, place = 100000;
	const char *p = *s;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		if (whole > UINT64_MAX / 10000000)
			return -ERANGE;
		whole = whole * 10 + (uint64_t)(*p - '0');
	}
	if (*p == '.') {
		p++;
		if (!isdigit((unsigned char)*p))
			return -EINVAL;
		for (; isdigit((unsigned char)*p); p++) {
			micro += (uint64_t)(*p - '0') * place;
			place /= 10;
		}
	}
	if (whole > (UINT64_MAX - micro) / 1000000)
		return -ERANGE;
	*ret_micro = whole * 1000000 + micro;
	*s = p;
	return 0;
}

static int timespan_unit(const char *unit, size_t len, usec_t *ret)
{
	static const struct {
		const char *name;
		usec_t usec;
	} units[] = {
		{ "us", 1 },
		{ "usec", 1 },
		{ "ms", USEC_PER_MSEC },
		{ "msec", USEC_PER_MSEC },
		{ "s", USEC_PER_SEC },
		{ "sec", USEC_PER_SEC },
		{ "second", USEC_PER_SEC },
		{ "seconds", USEC_PER_SEC },
		{ "m", USEC_PER_MINUTE },
		{ "min", USEC_PER_MINUTE },
		{ "minute", USEC_PER_MINUTE },
		{ "minutes", USEC_PER_MINUTE },
		{ "h", USEC_PER_HOUR },
		{ "hr", USEC_PER_HOUR },
		{ "hour", USEC_PER_HOUR },
		{ "hours", USEC_PER_HOUR },
		{ "d", USEC_PER_DAY },
		{ "day", USEC_PER_DAY },
		{ "days", USEC_PER_DAY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == len && strncmp(units[i].name, unit, len) == 0) {
			*ret = units[i].usec;
			return 0;
		}
	return -EINVAL;
}

int parse_timespan(const char *s, usec_t *ret)
{
	usec_t sum = 0;
	bool any = false;

	if (streq(s, "infinity")) {
		*ret = USEC_INFINITY;
		return 0;
	}

	for (;;) {
		uint64_t micro;
		usec_t unit = USEC_PER_SEC;
		const char *word;
		int r;

		while (isspace((unsigned char)*s))
			s++;
		if (!*s)
			break;
		r = scan_fixed(&s, &micro);
		if (r < 0)
			return r;
		while (isspace((unsigned char)*s))
			s++;
		word = s;
		while (isalpha((unsigned char)*s))
			s++;
		if (s > word) {
			r = timespan_unit(word, (size_t)(s - word), &unit);
			if (r < 0)
				return r;
		}
		/* micro is in millionths of the unit; split so that neither product wraps. */
		if (micro / 1000000 > (USEC_INFINITY - 1) / unit)
			return -ERANGE;
		sum = usec_add(sum, micro / 1000000 * unit + micro % 1000000 * unit / 1000000);
		if (sum == USEC_INFINITY)
			return -ERANGE;
		any = true;
	}
	if (!any)
		return -EINVAL;
	*ret = sum;
	return 0;
}

int parse_rate(const char *s, uint64_t *ret_mbps)
{
	static const struct {
		const char *name;
		uint64_t kbps;
	} units[] = { { "kb/s", 1 }, { "Mb/s", 1000 }, { "Gb/s", 1000000 },
		{ "Tb/s", 1000000000 } };
	uint64_t micro;
	int r;

	r = scan_fixed(&s, &micro);
	if (r < 0)
		return r;
	while (isspace((unsigned char)*s))
		s++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(s, units[i].name) != 0)
			continue;
		if (micro > UINT64_MAX / units[i].kbps)
			return -ERANGE;
		*ret_mbps = micro * units[i].kbps / 1000000000;
		return 0;
	}
	return -EINVAL;
}

char *strstrip(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

int next_word(const char **s, char *word, size_t size)
{
	const char *p = *s;
	size_t len;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p) {
		*s = p;
		return 0;
	}
	for (len = 0; p[len] && !isspace((unsigned char)p[len]); len++)
		;
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(word, p, len);
	word[len] = '\0';
	*s = p + len;
	return 1;
}
