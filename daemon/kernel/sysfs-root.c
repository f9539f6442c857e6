/* SPDX-License-Identifier: MIT */
#include "sysfs-root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "sysfs-nodes.h"
#include "sysfs.h"

/* As many as the kernel follows (MAXSYMLINKS). */
#define LINKS_MAX 40

#define OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static int root_fd = -1; /* -1: this host */

int sysfs_set_root(const char *path)
{
	int fd = -1;

	if (path && path[0]) {
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	safe_close(root_fd);
	root_fd = fd;
	sysfs_nodes_forget();
	return 0;
}

bool sysfs_is_live(void)
{
	return root_fd < 0;
}

bool sysfs_is_name(const char *name)
{
	return name[0] && !strchr(name, '/') && !streq(name, ".") && !streq(name, "..");
}

/*
 * A walk through a tree that is not trusted. Each step opens one entry and looks at what it got, so
 * that nothing that is swapped meanwhile leads out. ".." and absolute links are worked out on the
 * path that the walk took.
 */
struct walk {
	int fd;               /* O_PATH: where it is */
	char canon[PATH_MAX]; /* the same as a path without links; "" is the root */
	char rest[PATH_MAX];  /* what is left to walk */
	unsigned links;
};

static int walk_enter(struct walk *w, const char *name, int flags)
{
	int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);

	if (fd < 0)
		return -errno;
	safe_close(w->fd);
	w->fd = fd;
	return 0;
}

/* Goes to canon anew, from the root. */
static int walk_return(struct walk *w)
{
	char name[NAME_MAX + 1];
	const char *p = w->canon;
	int r;

	safe_close(w->fd);
	w->fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	if (w->fd < 0)
		return -errno;
	while (*p) {
		size_t len = strcspn(++p, "/");

		snprintf(name, sizeof(name), "%.*s", (int)len, p);
		p += len;
		r = walk_enter(w, name, O_DIRECTORY);
		if (r < 0)
			return r;
	}
	return 0;
}

static int walk_up(struct walk *w)
{
	char *slash = strrchr(w->canon, '/');

	if (slash)
		*slash = '\0'; /* and the root is its own parent */
	return walk_return(w);
}

static int walk_follow(struct walk *w, int link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n;

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	n = readlinkat(link, "", target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", target, w->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, rest);
	if (target[0] != '/')
		return 0;
	w->canon[0] = '\0';
	return walk_return(w);
}

static int walk_step(struct walk *w, const char *name)
{
	_cleanup_(closep) int fd = -1;
	struct stat st;
	size_t len = strlen(w->canon);

	if (streq(name, ".."))
		return walk_up(w);
	fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return walk_follow(w, fd);
	if (snprintf(w->canon + len, sizeof(w->canon) - len, "/%s", name) >=
		(int)(sizeof(w->canon) - len))
		return -ENAMETOOLONG;
	safe_close(w->fd);
	w->fd = TAKE_FD(fd);
	return 0;
}

/* Takes the next component off rest. Returns 1, 0 at the end, negative errno. */
static int walk_next(struct walk *w, char name[NAME_MAX + 1])
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(p, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, p, len);
	name[len] = '\0';
	memmove(w->rest, p + len, strlen(p + len) + 1);
	return len > 0;
}

static void walk_done(struct walk *w)
{
	safe_close(w->fd);
}

static int walk_path(struct walk *w, const char *path)
{
	char name[NAME_MAX + 1];
	int r;

	*w = (struct walk){ .fd = -1 };
	STRSCPY(w->rest, path);
	r = walk_return(w);
	while (r >= 0) {
		r = walk_next(w, name);
		if (r == 0)
			return 0;
		if (r > 0 && !streq(name, "."))
			r = walk_step(w, name);
	}
	return r;
}

static int open_directory(const char *path)
{
	_cleanup_(walk_done) struct walk w = { .fd = -1 };
	int fd, r;

	if (root_fd < 0) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else {
		r = walk_path(&w, path);
		if (r < 0)
			return r;
		fd = openat(w.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int format_path(char path[PATH_MAX], const char *fmt, va_list ap) _printf_(2, 0);
static int format_path(char path[PATH_MAX], const char *fmt, va_list ap)
{
	return vsnprintf(path, PATH_MAX, fmt, ap) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int sysfs_open_directory(const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = format_path(path, fmt, ap);
	va_end(ap);
	return r < 0 ? r : open_directory(path);
}

int sysfs_open_subdirectory(int dirfd, const char *name)
{
	int fd;

	if (!sysfs_is_name(name))
		return -EINVAL;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

DIR *sysfs_read_directory(const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	DIR *dir;
	int r;

	va_start(ap, fmt);
	r = format_path(path, fmt, ap);
	va_end(ap);
	if (r >= 0)
		r = open_directory(path);
	if (r < 0) {
		errno = -r;
		return NULL;
	}
	dir = fdopendir(r);
	if (!dir)
		close(r);
	return dir;
}

int sysfs_resolve(char *buf, const char *fmt, ...)
{
	_cleanup_(walk_done) struct walk w = { .fd = -1 };
	char path[PATH_MAX];
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = format_path(path, fmt, ap);
	va_end(ap);
	if (r < 0)
		return r;
	if (root_fd < 0)
		return realpath(path, buf) ? 0 : -errno;
	r = walk_path(&w, path);
	if (r >= 0)
		strcpy(buf, w.canon);
	return MIN(r, 0);
}

static int open_attribute(int dirfd, const char *name, int flags)
{
	struct stat st;
	int fd;

	if (!sysfs_is_name(name))
		return -EINVAL;
	/* Opening a device node may do things. In the kernel's own sysfs there is none, nor a FIFO. */
	if (root_fd >= 0) {
		if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (!S_ISREG(st.st_mode))
			return -EINVAL;
	}
	fd = openat(dirfd, name, flags | OPEN_FLAGS);
	return fd < 0 ? -errno : fd;
}

int sysfs_open_attribute(int dirfd, const char *name)
{
	return open_attribute(dirfd, name, O_RDONLY);
}

int sysfs_open_attribute_for_writing(int dirfd, const char *name)
{
	return open_attribute(dirfd, name, O_WRONLY | O_TRUNC);
}
