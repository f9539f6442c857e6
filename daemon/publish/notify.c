/* SPDX-License-Identifier: MIT */
/*
 * What systemd is told (sd_notify(3)). Without NOTIFY_SOCKET all of this does nothing. The words
 * are those of Type=notify-reload (v253), which older versions understand as far as they need to.
 */
#include <inttypes.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "macros.h"
#include "publish.h"
#include "text.h"

#define STATUS_MAX 512

static char last_status[STATUS_MAX];
static bool reloading;

void notify_ready(void)
{
	reloading = false;
	(void)sd_notify(false, "READY=1");
}

void notify_reloading(void)
{
	struct timespec ts;
	uint64_t usec;

	/* sd_notify(3) wants CLOCK_MONOTONIC here, which is not the clock of struct timepoint. */
	clock_gettime(CLOCK_MONOTONIC, &ts);
	usec = (uint64_t)ts.tv_sec * USEC_PER_SEC + (uint64_t)ts.tv_nsec / 1000;
	reloading = true;
	(void)sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, usec);
}

void notify_stopping(void)
{
	/* Whoever waits for a reload would otherwise wait until a timeout. */
	if (reloading)
		notify_ready();
	(void)sd_notify(false, "STOPPING=1");
}

void notify_status(const char *text)
{
	char line[STATUS_MAX];

	/* A line end would begin another assignment. */
	text_one_line(text, line, sizeof(line));
	if (streq(line, last_status))
		return;
	STRSCPY(last_status, line);
	(void)sd_notifyf(false, "STATUS=%s", line);
}
