/* SPDX-License-Identifier: MIT */
/*
 * The state file and the process that wrote it, seen from outside. Bounded and never blocking:
 * "rdmactl check" must answer whatever lies at that path.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "macros.h"
#include "source.h"

/* 256 ports with 100 events are below 1 MiB. */
#define STATE_FILE_MAX (64u << 20)

const char *state_file_path(void)
{
	const char *e = getenv("RDMAD_STATE_FILE");

	return e && *e ? e : STATE_FILE;
}

static int read_all(int fd, size_t size, char *buf, size_t *ret)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = read(fd, buf + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	*ret = have;
	return 0;
}

static int read_file(const char *path, char **ret, size_t *ret_size)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_cleanup_(freep) char *buf = NULL;
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > (off_t)STATE_FILE_MAX)
		return -EFBIG;
	buf = malloc((size_t)st.st_size + 1);
	if (!buf)
		return -ENOMEM;
	r = read_all(fd, (size_t)st.st_size, buf, ret_size);
	if (r < 0)
		return r;
	buf[*ret_size] = '\0';
	*ret = TAKE_PTR(buf);
	return 0;
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

int state_file_read(json_t **ret, char **ret_why)
{
	const char *path = state_file_path();
	_cleanup_(freep) char *text = NULL;
	json_error_t error;
	json_t *root;
	size_t size = 0;
	int r;

	r = read_file(path, &text, &size);
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
