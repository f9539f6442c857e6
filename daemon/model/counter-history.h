/* SPDX-License-Identifier: MIT */
/*
 * How much a counter rose within a window: a few samples of the past, for the counters that a rule
 * judges and no others. PURE. Samples are of this process: the first one after a start is a
 * baseline, however recent the last one before it was.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timespan.h"

/* Windows of one counter. */
#define COUNTER_SPANS_MAX 2

/* Of three samples the first and the last are at least so much apart: the window by that. */
#define COUNTER_WINDOW_STEPS 16

struct counter_sample {
	usec_t at;
	uint64_t value;
};

struct counter_span {
	usec_t window;
	size_t n; /* oldest first; the first one may be older than the window, the last is the newest */
	struct counter_sample samples[2 * COUNTER_WINDOW_STEPS + 3];
};

struct counter_history {
	size_t n_spans;
	struct counter_span spans[COUNTER_SPANS_MAX];
	/* The rule's memory. */
	bool standing;  /* its condition was raised and is not cleared */
	usec_t over_at; /* of the last reading that was over a threshold */
};

/* For these windows, without samples. NULL when memory is out. n is 1 to COUNTER_SPANS_MAX. */
struct counter_history *counter_history_new(const usec_t *windows, size_t n);

/* Whether it is for just these windows. */
bool counter_history_is_for(const struct counter_history *h, const usec_t *windows, size_t n);

/* Takes a reading. */
void counter_history_add(struct counter_history *h, usec_t at, uint64_t value);

/* Forgets the samples before that moment: what happened until then does not count. */
void counter_history_drop(struct counter_history *h, usec_t before);

struct counter_rise {
	uint64_t by;
	usec_t during; /* more than the window where readings are rare, less when it has just begun */
};

/*
 * How much a counter rose to value at that moment since its window began. False when the reading
 * is the baseline itself: there is nothing to compare it with.
 */
bool counter_history_rise(const struct counter_history *h, size_t span, usec_t at, uint64_t value,
	struct counter_rise *ret);
