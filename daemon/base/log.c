/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

static int max_level = LOG_INFO;
static bool to_journal;

void log_set_max_level(int level)
{
	max_level = level;
}

int log_get_max_level(void)
{
	return max_level;
}

void log_open(void)
{
	const char *e = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	/* The variable is inherited, the descriptor may be redirected: compare (systemd.exec(5)). */
	to_journal = e && sscanf(e, "%llu:%llu", &dev, &ino) == 2 &&
		     fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

void log_write(int level, const char *fmt, ...)
{
	char line[2048];
	int saved_errno = errno;
	size_t n = 0;
	va_list ap;
	int k;

	if (level > max_level)
		return;

	if (to_journal)
		n = (size_t)snprintf(line, sizeof(line), "<%d>", level);
	va_start(ap, fmt);
	k = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (k < 0)
		goto out;
	n = MIN(n + (size_t)k, sizeof(line) - 2);
	/* One call, one line: several processes share this descriptor. */
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		goto out; /* nowhere left to complain to */
out:
	errno = saved_errno;
}
