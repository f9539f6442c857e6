/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include "macros.h"

#define WORD_MAX 64

/* In how many letters two words differ (Levenshtein's distance). */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], n = strlen(b);

	if (strlen(a) > WORD_MAX || n > WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t change = diagonal + (a[i] != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(MIN(row[j], row[j - 1]) + 1, change);
		}
	}
	return row[n];
}

struct nearest nearest_to(const char *wanted)
{
	/* A third of the letters may be wrong, and one at least. */
	return (struct nearest){ .wanted = wanted, .distance = strlen(wanted) / 3 + 2 };
}

void nearest_try(struct nearest *n, const char *word)
{
	size_t d = distance(n->wanted, word);

	if (d < n->distance) {
		n->distance = d;
		n->word = word;
	}
}
