/* SPDX-License-Identifier: MIT */
/*
 * Tables between enum values and the words that people see. One table per enum, both ways.
 */
#pragma once

#include <stddef.h>

/* Returns the word for a value, or NULL when the value has none. */
const char *strtab_to_string(const char *const *table, size_t n, int value);

/* Returns the value for a word, or -EINVAL. */
int strtab_from_string(const char *const *table, size_t n, const char *word);

#define DECLARE_STRING_TABLE(name, type)          \
	const char *name##_to_string(type value); \
	int name##_from_string(const char *word)

/* Expects an array NAME_table[] in scope. */
#define DEFINE_STRING_TABLE(name, type)                                                            \
	const char *name##_to_string(type value)                                                   \
	{                                                                                          \
		return strtab_to_string(                                                           \
			name##_table, sizeof(name##_table) / sizeof(name##_table[0]), (int)value); \
	}                                                                                          \
	int name##_from_string(const char *word)                                                   \
	{                                                                                          \
		return strtab_from_string(                                                         \
			name##_table, sizeof(name##_table) / sizeof(name##_table[0]), word);       \
	}
