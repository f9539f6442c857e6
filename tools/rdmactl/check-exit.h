/* SPDX-License-Identifier: MIT */
/*
 * How "rdmactl check" says it: what its callers make of exit statuses and of the line's first words.
 */
#pragma once

#include "check.h"
#include "rdmactl.h"

/* What a set of healths (bits, 1 << health) comes to when that and worse fails. */
enum check_status check_status_of_all(unsigned seen, enum health fail_on);

/* The worst health of a set; ok for an empty one. */
enum health check_worst(unsigned seen);

/* The exit status that the caller understands. worst is what the status comes from. */
int check_exit(enum exit_style style, enum check_status status, enum health worst);

/* The line, in the words of the caller; a new string, NULL when memory is out. */
char *check_line(enum exit_style style, enum check_status status, enum health worst,
	const char *detail, const char *perfdata);
