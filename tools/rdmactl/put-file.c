/* SPDX-License-Identifier: MIT */
#include "put-file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "macros.h"

int put_in_place(const char *temporary, const char *file, bool force)
{
	if (!force && renameat2(AT_FDCWD, temporary, AT_FDCWD, file, RENAME_NOREPLACE) == 0)
		return 0;
	/* A file system that cannot tell has links, mostly. */
	if (!force && errno == EINVAL && link(temporary, file) == 0) {
		(void)unlink(temporary);
		return 0;
	}
	return force && rename(temporary, file) == 0 ? 0 : -errno;
}

static int write_text(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	return fchmod(fd, 0644) < 0 || fsync(fd) < 0 ? -errno : 0;
}

int put_text(const char *file, const char *text, bool force)
{
	_cleanup_(freep) char *temporary = NULL;
	_cleanup_(closep) int fd = -1;
	int r;

	if (asprintf(&temporary, "%s.XXXXXX", file) < 0) {
		temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_text(fd, text);
	if (r >= 0)
		r = put_in_place(temporary, file, force);
	if (r < 0)
		(void)unlink(temporary);
	return r;
}
