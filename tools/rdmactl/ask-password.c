/* SPDX-License-Identifier: MIT */
#include "ask-password.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <systemd/sd-login.h>

#include "macros.h"

/* It is ready at once, or never. */
#define READY_MSEC 5000

static bool never;

void ask_password_never(void)
{
	never = true;
}

/* Whether polkit finds a session for this process, by the same two ways: its own, or its user's screen. */
static bool in_session(void)
{
	_cleanup_(freep) char *session = NULL;
	uid_t uid;

	if (sd_pid_get_session(0, &session) >= 0)
		return true;
	return sd_pid_get_owner_uid(0, &uid) >= 0 && sd_uid_get_display(uid, &session) >= 0;
}

static _Noreturn void exec_agent(pid_t parent, int notify)
{
	char process[32], fd[16];
	int null;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* It talks to the terminal itself (/dev/tty). */
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILURE);
	/* Of the one that dup2() makes, no exec closes. */
	if (dup2(notify, 3) < 0 || (notify == 3 && fcntl(3, F_SETFD, 0) < 0))
		_exit(EXIT_FAILURE);
	snprintf(process, sizeof(process), "%d", (int)parent);
	snprintf(fd, sizeof(fd), "%d", 3);
	/*
	 * fallback: where the session has an agent, with windows for instance, that one is asked.
	 * Where there is no session, polkit never asks an agent of that kind.
	 */
	execlp("pkttyagent", "pkttyagent", "--process", process, "--notify-fd", fd,
		in_session() ? "--fallback" : NULL, (char *)NULL);
	_exit(127);
}

/* Returns when the agent closes its end: it is registered, or it is gone. */
static void await(int fd)
{
	struct pollfd p = { .fd = fd };

	while (poll(&p, 1, READY_MSEC) < 0 && errno == EINTR)
		;
}

bool ask_password_begin(pid_t *ret_agent)
{
	pid_t parent = getpid();
	int fds[2];

	*ret_agent = 0;
	/* What counts is where a password would come from. */
	if (never || geteuid() == 0 || !isatty(STDIN_FILENO))
		return false;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	*ret_agent = fork();
	if (*ret_agent == 0)
		exec_agent(parent, fds[1]);
	close(fds[1]);
	if (*ret_agent > 0)
		await(fds[0]);
	close(fds[0]);
	return *ret_agent > 0;
}

void ask_password_end(pid_t *agent)
{
	if (*agent <= 0)
		return;
	/* It has changed the terminal if it was asking: it must have the time to set it right. */
	kill(*agent, SIGTERM);
	while (waitpid(*agent, NULL, 0) < 0 && errno == EINTR)
		;
	*agent = 0;
}
