/* SPDX-License-Identifier: MIT */
/*
 * The word that somebody may have meant.
 */
#pragma once

#include <stddef.h>

struct nearest {
	const char *wanted; /* what was typed */
	const char *word;   /* the nearest so far, NULL none; borrowed */
	size_t distance;
};

struct nearest nearest_to(const char *wanted);

/* Looks at one more word; one that differs in too many letters is none that was meant. */
void nearest_try(struct nearest *n, const char *word);
