/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "macros.h"

int file_open_within(int tree, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (tree < 0)
		fd = open(path, flags | O_CLOEXEC);
	else
		fd = syscall(SYS_openat2, tree, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

/* Less than size when the file has been cut meanwhile. */
static int read_all(int fd, char *buf, size_t size, size_t *ret)
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

int file_read(const char *path, int flags, size_t max, char **ret, size_t *ret_size)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	_cleanup_(freep) char *buf = NULL;
	struct stat st;
	size_t size = 0;
	int r;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > (off_t)max)
		return -EFBIG;
	buf = malloc((size_t)st.st_size + 1);
	if (!buf)
		return -ENOMEM;
	r = read_all(fd, buf, (size_t)st.st_size, &size);
	if (r < 0)
		return r;
	buf[size] = '\0';
	if (ret_size)
		*ret_size = size;
	*ret = TAKE_PTR(buf);
	return 0;
}
