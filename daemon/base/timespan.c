/* SPDX-License-Identifier: MIT */
#include "timespan.h"

#include <stdio.h>
#include <time.h>

#include "macros.h"

static usec_t clock_usec(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
}

struct timepoint timepoint_now(void)
{
	return (struct timepoint){
		.mono = clock_usec(CLOCK_BOOTTIME),
		.real = clock_usec(CLOCK_REALTIME),
	};
}

usec_t usec_sub(usec_t a, usec_t b)
{
	return a > b ? a - b : 0;
}

usec_t usec_add(usec_t a, usec_t b)
{
	return a > USEC_INFINITY - b ? USEC_INFINITY : a + b;
}

usec_t usec_backoff(usec_t first, usec_t last, unsigned failures)
{
	usec_t delay = MIN(first, last);

	while (failures-- > 0 && delay > 0 && delay < last)
		delay = delay < last - delay ? 2 * delay : last;
	return delay;
}

const char *timespan_format(char *buf, size_t size, usec_t span)
{
	static const struct {
		const char *unit;
		usec_t usec;
	} units[] = {
		{ "d", USEC_PER_DAY },
		{ "h", USEC_PER_HOUR },
		{ "min", USEC_PER_MINUTE },
		{ "s", USEC_PER_SEC },
		{ "ms", USEC_PER_MSEC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		usec_t whole = span / units[i].usec;
		usec_t rest = span % units[i].usec;

		if (whole == 0)
			continue;
		/* A second unit only between days and seconds: "4s 12ms" says no more than "4s". */
		if (i + 2 < ARRAY_SIZE(units) && rest / units[i + 1].usec > 0)
			snprintf(buf, size, "%llu%s %llu%s", (unsigned long long)whole,
				units[i].unit, (unsigned long long)(rest / units[i + 1].usec),
				units[i + 1].unit);
		else
			snprintf(buf, size, "%llu%s", (unsigned long long)whole, units[i].unit);
		return buf;
	}
	snprintf(buf, size, "0s");
	return buf;
}
