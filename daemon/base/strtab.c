/* SPDX-License-Identifier: MIT */
#include "strtab.h"

#include <errno.h>
#include <string.h>

const char *strtab_to_string(const char *const *table, size_t n, int value)
{
	if (value < 0 || (size_t)value >= n)
		return NULL;
	return table[value];
}

int strtab_from_string(const char *const *table, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (table[i] && strcmp(table[i], word) == 0)
			return (int)i;
	return -EINVAL;
}
