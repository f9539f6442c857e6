/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "macros.h"

static volatile sig_atomic_t interrupted;
static sigset_t while_waiting;

static void on_signal(int sig)
{
	interrupted = 1;
}

void follow_begin(void)
{
	const struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked;

	/* Blocked but for the wait itself: none is lost between looking at the flag and waiting. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &while_waiting);
	sigdelset(&while_waiting, SIGINT);
	sigdelset(&while_waiting, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

enum follow_event follow_wait(int fd, short events, usec_t timeout)
{
	/* stdout is asked for nothing: what is told all the same is that its reader is gone. */
	struct pollfd p[2] = {
		{ .fd = STDOUT_FILENO },
		{ .fd = fd, .events = events },
	};
	const struct timespec ts = {
		.tv_sec = (time_t)(timeout / USEC_PER_SEC),
		.tv_nsec = (long)(timeout % USEC_PER_SEC * 1000),
	};
	int n = ppoll(p, 2, timeout == USEC_INFINITY ? NULL : &ts, &while_waiting);

	if (interrupted || p[0].revents || (n < 0 && errno != EINTR))
		return FOLLOW_END;
	return n > 0 ? FOLLOW_READY : FOLLOW_TIME;
}

bool follow_flush(void)
{
	return fflush(stdout) != EOF && !ferror(stdout);
}
