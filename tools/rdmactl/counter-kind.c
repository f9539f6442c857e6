/* SPDX-License-Identifier: MIT */
#include "counter-kind.h"

#include <ctype.h>
#include <inttypes.h>

#include "macros.h"

bool counter_is_error(const char *name)
{
	/* Pieces of names, in lower case. */
	static const char *const pieces[] = {
		"err",
		"drop",
		"discard",
		"timeout",
		"retr", /* retry, retrans(mit), retries */
		"rexmit",
		"nak",
		"rnr",
		"out_of_",
		"outof",
		"overrun",
		"down",
		"recover",
		"flush",
		"fail",
		"bad",
		"invalid",
		"duplicate",
		"exceeded",
		"violation",
		"lost",
		"missing_resp",
		"xmit_wait",
		"no_completion",
		"toggle_bits",
	};
	char lower[128];
	size_t i;

	for (i = 0; name[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	lower[i] = '\0';
	for (i = 0; i < ARRAY_SIZE(pieces); i++)
		if (strstr(lower, pieces[i]))
			return true;
	return false;
}

unsigned counter_bytes(const char *name)
{
	size_t n = strlen(name);

	if (streq(name, "port_xmit_data") || streq(name, "port_rcv_data"))
		return 4;
	if (n > 6 && streq(name + n - 6, "_bytes"))
		return 1;
	return 0;
}

static const char *format_bytes(char buf[COUNTER_TEXT_MAX], double bytes, const char *per)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	size_t i = 0;

	while (bytes >= 999.5 && i + 1 < ARRAY_SIZE(units)) {
		bytes /= 1000;
		i++;
	}
	snprintf(buf, COUNTER_TEXT_MAX, "%.*f %s%s", i == 0 || bytes >= 99.95 ? 0 : 1, bytes,
		units[i], per);
	return buf;
}

const char *counter_format(char buf[COUNTER_TEXT_MAX], const char *name, uint64_t value, bool exact)
{
	unsigned bytes = counter_bytes(name);

	if (bytes == 0)
		snprintf(buf, COUNTER_TEXT_MAX, "%" PRIu64, value);
	else if (exact && value <= UINT64_MAX / bytes)
		snprintf(buf, COUNTER_TEXT_MAX, "%" PRIu64 " B", value * bytes);
	else
		format_bytes(buf, (double)value * bytes, "");
	return buf;
}

const char *counter_rate_format(char buf[COUNTER_TEXT_MAX], const char *name, double rate)
{
	unsigned bytes = counter_bytes(name);

	if (bytes > 0)
		return format_bytes(buf, rate * bytes, "/s");
	if (rate <= 0)
		snprintf(buf, COUNTER_TEXT_MAX, "0/s");
	else if (rate < 0.01)
		snprintf(buf, COUNTER_TEXT_MAX, "<0.01/s");
	else
		snprintf(buf, COUNTER_TEXT_MAX, "%.*f/s",
			rate >= 100  ? 0
			: rate >= 10 ? 1
				     : 2,
			rate);
	return buf;
}
