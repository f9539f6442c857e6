/* SPDX-License-Identifier: MIT */
/*
 * Reading counters (Documentation/ABI/stable/sysfs-class-infiniband, drivers/infiniband/core/
 * {sysfs,nldev}.c): the driver's own hw_counters by one netlink message per port, or from sysfs where
 * netlink cannot; the PMA's counters/ from sysfs, where each file is a firmware command. Only workers
 * read here. Translation only: what a value means is judged elsewhere.
 */
#pragma once

#include "details.h"
#include "timespan.h"

struct nldev;
struct counter_reader;

/*
 * Reads one source of one port (0: of the device) again and again. It learns what need not be asked
 * for every time: an attribute that failed is asked for again after 5 min, then after twice that, at
 * most 1 h; when all failed, one of them is asked after 1 min, likewise doubling. What was no number
 * when it was read first is not a counter and is left alone.
 *
 * device is its name now. The reader stays with that device, also when it is renamed; once it is
 * gone, all readings fail and the caller frees the reader.
 *
 * Not to be used by two threads at a time. 0 or -ENOMEM.
 */
int counter_reader_new(const char *device, uint32_t device_index, uint32_t port,
	enum counter_source source, struct counter_reader **ret);
struct counter_reader *counter_reader_free(struct counter_reader *r);
void counter_reader_freep(struct counter_reader **r);

/* Where a reading goes to. A negative return ends the reading and is returned. */
struct counter_sink {
	int (*name)(const struct counter_name *f, void *user);
	int (*values)(const struct counter_values *f, void *user);
	int (*done)(const struct counters_done *f, void *user);
	void *user;
};

/*
 * Reads once: the names if they changed or if names is true, the values in pieces, and always, last,
 * what it came to. n: the netlink socket, NULL to use sysfs only (a captured tree). now is of the
 * monotonic clock. The number of the set is the same for the same names, also from another process.
 * In counters_done n counts all counters, of which COUNTERS_MAX at most are named. Returns 0, also
 * when nothing could be read (counters_done says why), or what the sink returned.
 */
int counter_reader_read(struct counter_reader *r, struct nldev *n, usec_t now, bool names,
	const struct counter_sink *sink);

/* Whether it is known to go up and down. */
bool counter_is_gauge(const char *name);

/*
 * The names of a set as they are shown: printable ASCII stays, anything else becomes "?". One that was
 * changed or cut, or that is there twice, gets "~" and a number made of all its bytes; no two of ret
 * are alike.
 */
void counter_display_names(char (*ret)[COUNTER_NAME_MAX], const char *const *names, size_t n);
