/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <ctype.h>
#include <net/if.h>
#include <string.h>

#include "facts.h"
#include "macros.h"

/* No control characters, no white space and none of the characters in refused. */
static bool name_valid(const char *name, size_t max, const char *refused)
{
	size_t len = strlen(name);

	if (len == 0 || len >= max || streq(name, ".") || streq(name, ".."))
		return false;
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr(refused, *p))
			return false;
	return true;
}

bool rdma_name_valid(const char *name)
{
	return name_valid(name, RDMA_NAME_MAX, "/%");
}

bool netdev_name_valid(const char *name)
{
	return name_valid(name, IFNAMSIZ, "/:");
}

bool group_name_valid(const char *name)
{
	return name_valid(name, GROUP_NAME_MAX, "");
}

bool module_name_valid(const char *name)
{
	if (!name_valid(name, MODULE_NAME_MAX, ""))
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-:.,+", *p))
			return false;
	/* A leading dash would look like an option to whatever logs or runs it. */
	return name[0] != '-';
}

bool module_name_equal(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	return *a == *b;
}

/* The length of the sequence that begins with this byte, 0 when none does. */
static size_t utf8_length(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	if (c >= 0xf0 && c <= 0xf4)
		return 4;
	return 0;
}

bool utf8_valid(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + len;

	while (p < end) {
		size_t n = utf8_length(*p);

		if (n == 0 || n > (size_t)(end - p))
			return false;
		for (size_t i = 1; i < n; i++)
			if ((p[i] & 0xc0) != 0x80)
				return false;
		if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
			(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
			return false;
		p += n;
	}
	return true;
}

void utf8_trim(char *s)
{
	size_t len = strlen(s), back = 0;

	while (back < 3 && back < len && ((unsigned char)s[len - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back < len && (unsigned char)s[len - 1 - back] >= 0xc0 &&
		utf8_length((unsigned char)s[len - 1 - back]) != back + 1)
		s[len - 1 - back] = '\0';
}
