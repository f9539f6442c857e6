/* SPDX-License-Identifier: MIT */
/*
 * Reading files that may not answer: an attribute of sysfs can be a firmware command that never comes
 * back. A child reads; one that is late is killed and left behind (in the kernel it cannot die yet),
 * and the next file gets a new one.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "timespan.h"

struct slow_answer;

struct slow_reader {
	pid_t pid; /* 0: none now */
	int fd;
	struct slow_answer *answer;
};

/* The longest file that can be read. */
#define SLOW_READ_MAX (16U * 1024 * 1024)

/*
 * Reads a regular file whole, without following a link to it. *ret is valid until the next call.
 * -ETIMEDOUT: no answer in time. -EFBIG: it is longer than max. -EINVAL also: no regular file.
 */
int slow_read(struct slow_reader *r, const char *path, size_t max, usec_t timeout, const char **ret,
	size_t *ret_size);

/* Ends the child. */
void slow_reader_done(struct slow_reader *r);
