/* SPDX-License-Identifier: MIT */
/*
 * Time as rdmad counts it: microseconds in a uint64_t. Logic uses the monotonic clock, display the
 * realtime one; PURE rooms never read a clock, they are handed a struct timepoint.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint64_t usec_t;

#define USEC_INFINITY   ((usec_t)UINT64_MAX)
#define USEC_PER_MSEC   ((usec_t)1000)
#define USEC_PER_SEC    ((usec_t)1000000)
#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR   (60 * USEC_PER_MINUTE)
#define USEC_PER_DAY    (24 * USEC_PER_HOUR)

/* One moment on both clocks. mono counts suspend too (CLOCK_BOOTTIME), real is since the epoch. */
struct timepoint {
	usec_t mono;
	usec_t real;
};

/* Reads both clocks. Not for PURE rooms. */
struct timepoint timepoint_now(void);

/* a - b, or 0 when b is later: clocks of different events may cross. */
usec_t usec_sub(usec_t a, usec_t b);

/* a + b without wrapping past USEC_INFINITY. */
usec_t usec_add(usec_t a, usec_t b);

/* How long to wait after so many failures in a row: first, doubling with each, at most last. */
usec_t usec_backoff(usec_t first, usec_t last, unsigned failures);

#define TIMESPAN_MAX 32

/*
 * Writes a span for people with its two largest units: "3d 4h", "12s", "1min 5s", "40ms".
 * Returns buf.
 */
const char *timespan_format(char *buf, size_t size, usec_t span);
