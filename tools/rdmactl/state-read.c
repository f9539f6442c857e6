/* SPDX-License-Identifier: MIT */
/*
 * The state file and the process that wrote it, seen from outside. Bounded and never blocking:
 * "rdmactl check" must answer whatever lies at that path.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "file.h"
#include "macros.h"
#include "source.h"

/* 256 ports with 100 events are below 1 MiB. */
#define STATE_FILE_MAX (64u << 20)

const char *state_file_path(void)
{
	const char *e = getenv("RDMAD_STATE_FILE");

	return e && *e ? e : STATE_FILE;
}

static int explain(char **ret_why, int error, const char *fmt, ...) _printf_(3, 4);
static int explain(char **ret_why, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(ret_why, fmt, ap) < 0)
		*ret_why = NULL;
	va_end(ap);
	return error;
}

static usec_t time_since_touched(const char *path)
{
	usec_t now = timepoint_now().real, touched;
	struct stat st;

	if (stat(path, &st) < 0)
		return USEC_INFINITY;
	touched = (usec_t)st.st_mtim.tv_sec * USEC_PER_SEC + (usec_t)st.st_mtim.tv_nsec / 1000;
	/* A clock that was set back tells nothing. (A file's time is that of the last tick.) */
	return touched > now + USEC_PER_SEC ? USEC_INFINITY : usec_sub(now, touched);
}

int state_file_read(json_t **ret, usec_t *ret_held, char **ret_why)
{
	const char *path = state_file_path();
	_cleanup_(freep) char *text = NULL;
	json_error_t error;
	json_t *root;
	size_t size = 0;
	int r;

	/* Before: one that replaces it now is younger. */
	*ret_held = time_since_touched(path);
	r = file_read(path, 0, STATE_FILE_MAX, &text, &size);
	if (r == -ENOENT || r == -ENOTDIR)
		return -ENOENT;
	if (r < 0)
		return explain(ret_why, r, "Cannot read %s: %s", path, strerror(-r));

	if (size > 0 && text[strspn(text, " \t\r\n")] != '{')
		return explain(ret_why, -EBADMSG, "%s is not a description by rdmad", path);
	root = json_loadb(text, size, 0, &error);
	if (!root && size == 0)
		return explain(ret_why, -EBADMSG, "%s is empty", path);
	if (!root && json_error_code(&error) == json_error_premature_end_of_input)
		return explain(ret_why, -EBADMSG, "%s is cut off after %zu bytes", path, size);
	if (!root)
		return explain(ret_why, -EBADMSG, "%s is not a description by rdmad (line %d: %s)",
			path, error.line, error.text);
	*ret = root;
	return 0;
}

/* Since when a process runs, from the 22nd field of its stat; the second may hold anything. */
static usec_t process_uptime(pid_t pid)
{
	char path[64], buf[1024];
	unsigned long long ticks;
	const char *p;
	_cleanup_(fclosep) FILE *f = NULL;
	long hz = sysconf(_SC_CLK_TCK);

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(buf, sizeof(buf), f) || hz <= 0)
		return USEC_INFINITY;
	p = strrchr(buf, ')');
	if (!p || sscanf(p + 1,
			  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			  "%*d %*d %llu",
			  &ticks) != 1)
		return USEC_INFINITY;
	return usec_sub(timepoint_now().mono, ticks * (USEC_PER_SEC / (usec_t)hz));
}

bool daemon_is_running(pid_t pid, usec_t *ret_uptime)
{
	char path[64], comm[32];
	_cleanup_(fclosep) FILE *f = NULL;

	*ret_uptime = USEC_INFINITY;
	if (pid <= 1)
		return false;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		/* With hidepid= others' processes are not seen, but they can be told from none. */
		return kill(pid, 0) < 0 && errno == EPERM;
	if (!fgets(comm, sizeof(comm), f) || !streq(comm, "rdmad\n"))
		return false;
	*ret_uptime = process_uptime(pid);
	return true;
}
