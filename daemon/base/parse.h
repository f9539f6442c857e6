/* SPDX-License-Identifier: MIT */
/*
 * Checked parsers for values that people or the kernel write. All return 0, or -EINVAL when the
 * text is not such a value, or -ERANGE when it does not fit; outputs are untouched on failure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timespan.h"

/* A whole decimal number, nothing before or after it. */
int parse_u64(const char *s, uint64_t *ret);
int parse_u32(const char *s, uint32_t *ret);

/* As systemd takes booleans: 1 yes y true t on / 0 no n false f off, any case. */
int parse_bool(const char *s, bool *ret);

/*
 * A time span: numbers with units us ms s min h d (also sec, m, hr, day and their plurals),
 * "1min 30s" adds up, a bare number is seconds, fractions are allowed ("0.5s"), "infinity" is
 * USEC_INFINITY. See systemd.time(7), of which this is the part that rdmad.conf needs.
 */
int parse_timespan(const char *s, usec_t *ret);

/* A data rate with its unit, "200Gb/s", "2.5 Gb/s", "800Mb/s", in Mbit/s. */
int parse_rate(const char *s, uint64_t *ret_mbps);

/* Removes white space at both ends, in place; returns the new beginning. */
char *strstrip(char *s);

/*
 * Takes the next word off *s, separated by white space, into word. Returns 1, 0 at the end, or
 * -ENAMETOOLONG when the word does not fit.
 */
int next_word(const char **s, char *word, size_t size);
