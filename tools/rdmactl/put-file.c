/* SPDX-License-Identifier: MIT */
#include "put-file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "macros.h"

/* Over nothing, or (force) over what is there. */
static int put_in_place(const char *temporary, const char *file, bool force)
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

int put_file(const char *file, int mode, bool force, int (*fill)(int fd, const void *user),
	const void *user)
{
	_cleanup_(freep) char *temporary = NULL;
	_cleanup_(closep) int fd = -1;
	int r;

	if (asprintf(&temporary, "%s.XXXXXX", file) < 0) {
		temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return -errno;
	r = fill(fd, user);
	if (r >= 0 && (fchmod(fd, (mode_t)mode) < 0 || fsync(fd) < 0))
		r = -errno;
	if (r >= 0)
		r = put_in_place(temporary, file, force);
	if (r < 0)
		(void)unlink(temporary);
	return r;
}

static int write_text(int fd, const void *user)
{
	const char *text = user;
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
	return 0;
}

int put_text(const char *file, const char *text, bool force)
{
	return put_file(file, 0644, force, write_text, text);
}
