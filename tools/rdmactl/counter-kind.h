/* SPDX-License-Identifier: MIT */
/*
 * What a counter counts, as far as its name tells, and how its value is written. The names are
 * those of the kernel's drivers and of the IBA.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether it counts something that went wrong or had to be done again. */
bool counter_is_error(const char *name);

/*
 * Bytes that a step of it stands for, 0 when it does not count bytes: port_xmit_data and
 * port_rcv_data count units of four bytes (IBA 16.1.4.2).
 */
unsigned counter_bytes(const char *name);

#define COUNTER_TEXT_MAX 48

/* A value with its unit: "1234", "12.3 GB". exact: "12345678904 B". Returns buf. */
const char *counter_format(
	char buf[COUNTER_TEXT_MAX], const char *name, uint64_t value, bool exact);

/* A rate per second: "12.5/s", "1.25 GB/s". Returns buf. */
const char *counter_rate_format(char buf[COUNTER_TEXT_MAX], const char *name, double rate);
