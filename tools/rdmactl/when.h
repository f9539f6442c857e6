/* SPDX-License-Identifier: MIT */
/*
 * Moments as people write them, in local time, a part of what systemd.time(7) has:
 *
 *   now today yesterday        2026-11-30   2026-11-30 10:00   2026-11-30 10:00:30   10:00
 *   -1h   1h ago   -1h 30min   @1796025600 (seconds since the epoch)
 */
#pragma once

#include "timespan.h"

/*
 * now and the result are microseconds since the epoch. Returns 0, -EINVAL when it is not a moment,
 * or -ERANGE when there is no such day or time. The local time zone is that of tzset().
 */
int when_parse(const char *s, usec_t now, usec_t *ret);

#define WHEN_MAX 32

/* "2026-11-30 10:00:30" in local time; returns buf. */
const char *when_format(char buf[WHEN_MAX], usec_t t);
