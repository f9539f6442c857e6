/* SPDX-License-Identifier: MIT */
/*
 * Atomic replacement of a small file: a reader sees the old text or the new one, whole, and so does
 * whoever reads it after a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "macros.h"
#include "publish.h"

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		text += n;
		left -= (size_t)n;
	}
	return 0;
}

/* Everything up to the point where the file is complete under its temporary name. */
static int write_temporary(int dir_fd, const char *name, const char *text)
{
	_cleanup_(closep) int fd = -1;
	int r;

	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text);
	if (r < 0)
		return r;
	/* The unit's umask is 0077; this file is for everybody. */
	if (fchmod(fd, 0644) < 0)
		return -errno;
	if (fsync(fd) < 0)
		return -errno;
	return 0;
}

int state_file_set_aside(const char *dir, const char *name)
{
	_cleanup_(closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char aside[256];
	int k;

	if (dir_fd < 0)
		return -errno;
	k = snprintf(aside, sizeof(aside), "%s.bad", name);
	if (k < 0 || (size_t)k >= sizeof(aside))
		return -ENAMETOOLONG;
	return renameat(dir_fd, name, dir_fd, aside) < 0 ? -errno : 0;
}

int state_file_touch(const char *dir, const char *name)
{
	_cleanup_(closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir_fd < 0)
		return -errno;
	return utimensat(dir_fd, name, NULL, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int state_file_write(const char *dir, const char *name, const char *text)
{
	_cleanup_(closep) int dir_fd = -1;
	char temporary[256];
	int k, r;

	k = snprintf(temporary, sizeof(temporary), ".%s.tmp", name);
	if (k < 0 || (size_t)k >= sizeof(temporary))
		return -ENAMETOOLONG;
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;

	/* The name is fixed, so that crashes leave one file behind and not many. */
	if (unlinkat(dir_fd, temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	r = write_temporary(dir_fd, temporary, text);
	if (r >= 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(dir_fd, temporary, 0);
		return r;
	}
	/* The new text is in place; this only makes the renaming survive a crash. */
	return fsync(dir_fd) < 0 ? -errno : 0;
}
