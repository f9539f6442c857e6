/* SPDX-License-Identifier: MIT */
#include "host-root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>

#include "file.h"
#include "macros.h"
#include "parse.h"

#define LINE_SIZE_MAX 65536

static void find_release(struct host_root *h)
{
	struct utsname u;

	if (h->live && uname(&u) == 0)
		STRSCPY(h->release, u.release);
	else if (!h->live && host_read_line(h, "/proc/sys/kernel/osrelease", h->release,
				     sizeof(h->release)) < 0)
		h->release[0] = '\0';
	/* It becomes part of a path. */
	if (strchr(h->release, '/'))
		h->release[0] = '\0';
}

int host_root_open(struct host_root *h, const char *tree)
{
	*h = (struct host_root){
		.live = !tree || streq(tree, "/"),
		.prefix = tree && !streq(tree, "/") ? tree : "",
	};
	h->fd = open(h->live ? "/" : tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (h->fd < 0)
		return -errno;
	find_release(h);
	return 0;
}

void host_root_done(struct host_root *h)
{
	h->fd = safe_close(h->fd);
}

int host_open(const struct host_root *h, const char *path, int flags)
{
	return file_open_within(h->live ? -1 : h->fd, path, flags);
}

int host_stat(const struct host_root *h, const char *path, struct stat *ret)
{
	_cleanup_(closep) int fd = host_open(h, path, O_PATH);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

bool host_exists(const struct host_root *h, const char *path)
{
	struct stat st;

	return host_stat(h, path, &st) == 0;
}

bool host_is_mask(const struct host_root *h, const char *path)
{
	_cleanup_(closep) int fd = host_open(h, path, O_PATH | O_NOFOLLOW);
	char target[32];
	ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", target, sizeof(target));

	return n == (ssize_t)strlen("/dev/null") && memcmp(target, "/dev/null", (size_t)n) == 0;
}

/* At most max bytes; what is more is cut (cut) or an error. */
static int read_some(const struct host_root *h, const char *path, size_t max, bool cut, char **ret,
	size_t *ret_size)
{
	_cleanup_(closep) int fd = host_open(h, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	_cleanup_(freep) char *buf = NULL;
	size_t n = 0, room = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	for (;;) {
		ssize_t k;

		if (n + 1 >= room) {
			char *more;

			room = MAX(2 * room, (size_t)4096);
			more = realloc(buf, room);
			if (!more)
				return -ENOMEM;
			buf = more;
		}
		k = read(fd, buf + n, room - n - 1);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		n += (size_t)k;
		if (k == 0 || (cut && n > max))
			break;
		if (n > max)
			return -EFBIG;
	}
	n = MIN(n, max);
	buf[n] = '\0';
	*ret = TAKE_PTR(buf);
	*ret_size = n;
	return 0;
}

int host_read(const struct host_root *h, const char *path, size_t max, char **ret)
{
	size_t n;

	return read_some(h, path, max, false, ret, &n);
}

int host_read_line(const struct host_root *h, const char *path, char *buf, size_t size)
{
	_cleanup_(freep) char *text = NULL;
	size_t n;
	int r;

	r = read_some(h, path, LINE_SIZE_MAX, true, &text, &n);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	snprintf(buf, size, "%s", strstrip(text));
	return 0;
}

DIR *host_opendir(const struct host_root *h, const char *path)
{
	int fd = host_open(h, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **host_list(const struct host_root *h, const char *path)
{
	DIR *dir = host_opendir(h, path);
	_cleanup_(strv_freep) char **list = calloc(1, sizeof(*list));
	struct dirent *de;
	size_t n = 0;
	bool ok = dir && list;

	while (ok && (de = readdir(dir))) {
		char **more;

		if (de->d_name[0] == '.')
			continue;
		more = reallocarray(list, n + 2, sizeof(*list));
		ok = more != NULL;
		if (!more)
			break;
		list = more;
		list[n] = strdup(de->d_name);
		ok = list[n] != NULL;
		list[n + ok] = NULL;
		n += ok;
	}
	if (dir)
		closedir(dir);
	if (!ok)
		return NULL;
	qsort(list, n, sizeof(*list), compare_names);
	return TAKE_PTR(list);
}
