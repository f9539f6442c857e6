/* SPDX-License-Identifier: MIT */
/* What the name of a counter tells: whether it is a gauge, how it is shown. */
#include "counter-reader.h"

#include <inttypes.h>

#include "macros.h"

/* bnxt_re: active_qps and its like, their highest values so far, link_state; mana: current_rate. */
bool counter_is_gauge(const char *name)
{
	static const char *const prefixes[] = { "active_", "watermark_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return streq(name, "link_state") || streq(name, "current_rate");
}

/* FNV-1a. */
static uint32_t hash_text(const char *text, uint32_t salt)
{
	uint32_t h = 2166136261u + salt;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

/* Whether the name could stay as it is. With a salt it is marked in any case. */
static bool display_name(char ret[COUNTER_NAME_MAX], const char *name, uint32_t salt)
{
	enum { SUFFIX = 9 }; /* "~0123abcd" */
	size_t length = strlen(name), n = MIN(length, (size_t)COUNTER_NAME_MAX - 1);
	bool same = length == n && n > 0 && salt == 0;

	for (size_t i = 0; i < n; i++) {
		bool printable = name[i] >= ' ' && name[i] <= '~';

		ret[i] = printable ? name[i] : '?';
		same = same && printable;
	}
	ret[n] = '\0';
	if (!same) {
		n = MIN(n, (size_t)COUNTER_NAME_MAX - 1 - SUFFIX);
		snprintf(ret + n, COUNTER_NAME_MAX - n, "~%08" PRIx32, hash_text(name, salt));
	}
	return same;
}

static bool is_taken(char (*names)[COUNTER_NAME_MAX], size_t n, size_t except)
{
	for (size_t i = 0; i < n; i++)
		if (i != except && streq(names[i], names[except]))
			return true;
	return false;
}

void counter_display_names(char (*ret)[COUNTER_NAME_MAX], const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!display_name(ret[i], names[i], 0) || is_taken(ret, i + 1, i))
			ret[i][0] = '\0';
	/* Those that stay are known now: the others give way to them. */
	for (size_t i = 0; i < n; i++) {
		if (ret[i][0])
			continue;
		for (uint32_t salt = 0; salt == 0 || is_taken(ret, n, i); salt++)
			display_name(ret[i], names[i], salt);
	}
}
