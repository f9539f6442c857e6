/* SPDX-License-Identifier: MIT */
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "macros.h"
#include "parse.h"
#include "text.h"

#define PAGER_ARGS_MAX 16

static pid_t pager_pid;

/*
 * A pager can start a shell and open files, so that it is no tool to hand to somebody who may run
 * rdmactl by sudo and nothing else. For root: none, unless SYSTEMD_PAGERSECURE= says how: yes is
 * less in its secure mode, no is anything.
 */
static bool pager_allowed(bool *ret_secure)
{
	const char *e = getenv("SYSTEMD_PAGERSECURE");
	bool b = true;

	if (e && *e) {
		*ret_secure = parse_bool(e, &b) < 0 || b;
		return true;
	}
	*ret_secure = false;
	return geteuid() != 0 && geteuid() == getuid();
}

static void exec_pager(int fd, const char *command, bool secure) __attribute__((noreturn));
static void exec_pager(int fd, const char *command, bool secure)
{
	_cleanup_(freep) char *copy = NULL;
	char *args[PAGER_ARGS_MAX + 1] = { NULL };
	char *save = NULL;
	size_t n = 0;

	dup2(fd, STDIN_FILENO);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);

	setenv("LESS", or_text(getenv("SYSTEMD_LESS"), "FRSXMK"), 1);
	setenv("LESSCHARSET", or_text(getenv("SYSTEMD_LESSCHARSET"), "utf-8"), 1);
	if (secure)
		setenv("LESSSECURE", "1", 1);
	else if (command) {
		/* No shell: words only, as systemd does it. */
		copy = strdup(command);
		for (char *w = copy ? strtok_r(copy, " \t", &save) : NULL; w && n < PAGER_ARGS_MAX;
			w = strtok_r(NULL, " \t", &save))
			args[n++] = w;
		if (n > 0)
			execvp(args[0], args);
	}
	execlp("less", "less", (char *)NULL);
	if (!secure)
		execlp("more", "more", (char *)NULL);
	execlp("cat", "cat", (char *)NULL);
	_exit(127);
}

void pager_open(void)
{
	const char *command = or_text(getenv("SYSTEMD_PAGER"), getenv("PAGER"));
	const char *term = getenv("TERM");
	bool secure;
	int fd[2];

	if (!isatty(STDOUT_FILENO) || (term && streq(term, "dumb")) || !pager_allowed(&secure))
		return;
	if (command && (!*command || streq(command, "cat")))
		return;
	if (pipe2(fd, O_CLOEXEC) < 0)
		return;

	fflush(stdout);
	pager_pid = fork();
	if (pager_pid == 0)
		exec_pager(fd[0], command, secure);
	close(fd[0]);
	if (pager_pid > 0) {
		/* ^C is for the pager; q before the end must not kill us before it is waited for. */
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		dup2(fd[1], STDOUT_FILENO);
	}
	close(fd[1]);
}

bool pager_close(void)
{
	if (pager_pid <= 0)
		return false;
	fclose(stdout);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
	return true;
}
