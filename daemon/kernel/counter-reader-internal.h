/* SPDX-License-Identifier: MIT */
/*
 * What the files of the counter reader share: the attributes of one source (a port's or device's hw_counters or PMA
 * counters) and what is learned about each. counter-reader.c is the reader; counter-files.c reads sysfs; counter-tell.c
 * tells what was read.
 */
#pragma once

#include "counter-reader.h"
#include "macros.h"
#include "nldev.h"

#define ATTRIBUTE_RETRY_MIN (5 * USEC_PER_MINUTE)

/* One directory that a source has its files in. */
enum directory {
	DIRECTORY_MAIN,     /* hw_counters, counters */
	DIRECTORY_EXTENDED, /* counters_ext of old mlx4: 64 bits for what has 32 in counters */
	_DIRECTORY_MAX,
};

/* When something that failed is tried again. */
struct retry {
	usec_t at; /* 0: it did not fail */
	usec_t after;
};

struct attribute {
	char *name; /* the kernel's, of any bytes */
	char *file; /* in its directory; NULL: of netlink */
	enum directory directory;
	bool is_number;   /* it was, at least once */
	bool not_counter; /* its first reading was something else */
	bool known;       /* value was read this time */
	int fd;
	int error; /* of the last reading */
	struct retry retry;
	uint64_t value;
	uint32_t width;
};

struct attributes {
	struct attribute *list;
	size_t n;
	size_t n_all; /* with those beyond COUNTERS_MAX */
};

struct counter_reader {
	char *device;
	uint32_t device_index;
	uint32_t port;
	enum counter_source source;

	int base;                 /* the port's or device's directory; -1: not found yet */
	int dirs[_DIRECTORY_MAX]; /* in it, -1: not there */
	struct attributes attrs;
	bool from_netlink;    /* attrs are */
	struct retry netlink; /* netlink could not */
	struct retry all;     /* no attribute could be read */
	size_t probe;         /* which one is asked for all */
	usec_t list_again;
	int all_error; /* with which */
	int error;     /* of this reading as a whole */

	uint32_t set; /* 0: nothing was read yet */
	bool changed; /* attrs: make a new one */
};

/* An attribute of that name (not terminated) at the end of the list, not known yet. 0, or -ENOMEM. */
int counter_attributes_add(struct attributes *attrs, const char *name, size_t length);
void counter_attributes_clear(struct attributes *attrs);

/* To be tried again after \p first, after twice that the next time, and so on up to an hour. */
void counter_retry_failed(struct retry *r, usec_t now, usec_t first);

/* Reads those files that are due; r->error says why the source as a whole could not be read. */
void counter_files_read(struct counter_reader *r, struct nldev *n, usec_t now);

/* A number for the names and widths: the same for the same ones, and never 0. */
uint32_t counter_set_number(const struct attributes *attrs);

/* Hand over the names, the values, and that this was all. 0, or what the sink says (names: or -ENOMEM). */
int counter_tell_names(const struct counter_reader *r, const struct counter_sink *sink);
int counter_tell_values(const struct counter_reader *r, const struct counter_sink *sink);
int counter_tell_done(const struct counter_reader *r, const struct counter_sink *sink);
