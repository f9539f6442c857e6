/* SPDX-License-Identifier: MIT */
/*
 * The counters of one port (or device) and source, with what happened to them. PURE. A first reading
 * is a baseline, not news (DESIGN rule 11); each of saturated, backwards, wrapped and unreadable has
 * its own meaning, and none of them is 0.
 */
#pragma once

#include "counter-history.h"
#include "details.h"
#include "timespan.h"

struct counter {
	char *name;
	char *safe_name;    /* NULL: name is safe; see counter_safe() */
	uint32_t width;     /* bits, where it sticks; 0: wraps, or unknown */
	uint32_t flags;     /* COUNTER_* of details.h */
	bool known;         /* value was read at least once */
	bool stale;         /* the last reading could not read it: value is of read_at */
	bool width_refuted; /* it was beyond the maximum of its width: width is 0 for good */
	uint32_t resets; /* how often it went backwards: reset by others, or the driver's reload */
	uint64_t value;  /* the last that was read */
	uint64_t previous;  /* the one before */
	uint64_t base;      /* what differences are counted from */
	usec_t previous_at; /* mono; 0: there is none since the baseline */
	struct timepoint read_at;
	struct timepoint base_at;
	struct counter_history *history; /* NULL: no rule judges it */
};

struct counter_table {
	uint32_t set; /* 0: no names yet */
	size_t n;
	struct counter *counters; /* by position */

	/* Of the last reading. */
	struct timepoint done_at; /* mono 0: none was completed */
	int error;                /* 0, or why nothing was read; -ENOENT: there are none */
	uint32_t n_all;           /* above n: what is beyond COUNTERS_MAX is not here */
	uint32_t unreadable;

	/* The set and the configuration by which histories were handed out; 0 not yet. */
	uint32_t watched_set;
	uint64_t watched_by;

	/* Names of the next set that came so far; it counts when it is complete. */
	uint32_t next_set;
	size_t next_n;
	size_t next_have;
	struct counter *next;
};

struct counter_table *counter_table_free(struct counter_table *t);

/* Whether the names are known; if not, ask the reader for them. t may be NULL. */
bool counter_table_has_names(const struct counter_table *t);

/*
 * What a worker reads, in the order in which it comes. The first name makes the table. A complete set of other names replaces the
 * old one; counters of the same name keep their history. -EINVAL: it cannot be right and was not
 * taken (positions out of order or range); -ENOMEM.
 */
int counter_table_name(struct counter_table **t, const struct counter_name *f);
/* Values of another set than the present one are ignored. */
int counter_table_values(
	struct counter_table *t, const struct counter_values *f, struct timepoint now);
/* Makes the table, too, where there are no counters: then it says why. 0 or -ENOMEM. */
int counter_table_finish(
	struct counter_table **t, const struct counters_done *f, struct timepoint now);

/*
 * Begins to keep samples for these windows, the present value as the first of them, or goes on with
 * those that there are when the windows are the same. n 0: ends it. 0 or -ENOMEM.
 */
int counter_watch(struct counter *c, const usec_t *windows, size_t n);

/* What the samples say up to now does not count any more. t may be NULL. */
void counter_table_restart(struct counter_table *t, usec_t now);

/* By the kernel's name; NULL when there is none, also for t NULL. */
const struct counter *counter_table_find(const struct counter_table *t, const char *name);

/* At the maximum of its width: what happens now cannot be seen. False also where that is unknown. */
bool counter_is_saturated(const struct counter *c);

/*
 * How much it rose since the baseline (at least so much when it is saturated), and per second
 * between its last two readings. False, and no value: never read, a gauge; for the rate also: stale,
 * only one reading since the baseline, or stuck at its maximum.
 */
bool counter_delta(const struct counter *c, uint64_t *ret);
bool counter_rate(const struct counter *c, double *ret);

/* Whether the counter of this source and name counts units of four bytes (IBA 16.1.3.5: data). */
bool counter_is_words(enum counter_source source, const char *name);

/* The name as one word of letters, digits and "_", not beginning with a digit. */
void counter_safe_name(char ret[COUNTER_NAME_MAX], const char *name);

/*
 * Such a word that no other counter of its table has: where two names would become the same word,
 * both get "_" and a number made of the name.
 */
const char *counter_safe(const struct counter *c);
