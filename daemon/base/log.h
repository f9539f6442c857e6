/* SPDX-License-Identifier: MIT */
/*
 * Plain log lines to stderr: with a "<N>" priority prefix when stderr is the journal's stream
 * (sd-daemon(3), systemd.exec(5) SyslogLevelPrefix=), readable on a terminal otherwise.
 * Structured records of edges are publish/journal's, not this file's.
 *
 * Levels (DESIGN, conventions C23): error for an operation that failed, warning for what an
 * administrator should look at, notice for what an administrator did, info for start, stop and
 * inventory, debug for every raw event. Rooms below the manager log at debug only.
 */
#pragma once

#include <syslog.h>

#include "macros.h"

/* Sets the most detailed level that is still written, LOG_ERR to LOG_DEBUG. Starts at LOG_INFO. */
void log_set_max_level(int level);
int log_get_max_level(void);

/* Detects where stderr goes. Call once from main(). */
void log_open(void);

void log_write(int level, const char *fmt, ...) _printf_(2, 3);

#define log_error(...)   log_write(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_WARNING, __VA_ARGS__)
#define log_notice(...)  log_write(LOG_NOTICE, __VA_ARGS__)
#define log_info(...)    log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...)                                     \
	do {                                               \
		if (log_get_max_level() >= LOG_DEBUG)      \
			log_write(LOG_DEBUG, __VA_ARGS__); \
	} while (0)
