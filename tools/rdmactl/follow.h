/* SPDX-License-Identifier: MIT */
/*
 * What shows something until it is interrupted: waiting that ends cleanly by ^C, by SIGTERM, and
 * when nobody reads any more.
 */
#pragma once

#include <stdbool.h>

#include "timespan.h"

enum follow_event {
	FOLLOW_READY, /* the descriptor */
	FOLLOW_TIME,
	FOLLOW_END,
};

/* Takes the signals over. Call before the first wait. */
void follow_begin(void);

/* Waits for fd (-1 none) to be readable, for the time (USEC_INFINITY none), or for the end. */
enum follow_event follow_wait(int fd, short events, usec_t timeout);

/* Writes out what has been printed. Returns whether there still is somebody who reads. */
bool follow_flush(void);
