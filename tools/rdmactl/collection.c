/* SPDX-License-Identifier: MIT */
#include "collection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "macros.h"

#define FILE_TIMEOUT (3 * USEC_PER_SEC)
#define ALL_TIMEOUT  (2 * USEC_PER_MINUTE)
#define SILENCE_MAX  2

#define FILES_MAX  (200U * 1024)
#define BYTES_MAX  (256U * 1024 * 1024)
#define DEPTH_MAX  12
#define SYSFS_MAX  (64U * 1024) /* an attribute has a page at most, some binary ones have more */
#define OTHERS_MAX SLOW_READ_MAX

DEFINE_CLEANUP(DIR *, closedir)

int collection_begin(struct collection *c, const char *top)
{
	char path[PATH_MAX];

	*c = (struct collection){ .top = top };
	c->ends_at = usec_add(timepoint_now().mono, ALL_TIMEOUT);
	snprintf(path, sizeof(path), "%s/left-out", top);
	c->left_out = fopen(path, "wxe");
	return c->left_out ? 0 : -errno;
}

int collection_end(struct collection *c)
{
	int r = c->error;

	slow_reader_done(&c->reader);
	if (r >= 0 && (fflush(c->left_out) != 0 || ferror(c->left_out)))
		r = errno ? -errno : -EIO;
	fclose(c->left_out);
	return r;
}

void collect_object(struct collection *c)
{
	c->silence = 0;
}

static void leave_out(struct collection *c, const char *path, const char *why)
{
	fprintf(c->left_out, "%s: %s\n", path, why);
}

/* A path that the tree has not. Where there is no room for it there is none for the rest. */
static void note_unwritten(struct collection *c, const char *path, int error)
{
	leave_out(c, path, strerror(-error));
	if (error == -ENOSPC || error == -EDQUOT || error == -EFBIG || error == -EIO)
		c->error = error;
}

/* Where a path of the host is in the tree. */
static int inside(const struct collection *c, const char *path, char buf[PATH_MAX])
{
	return snprintf(buf, PATH_MAX, "%s%s", c->top, path) >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Makes the directories that lead to a path. The tree is new and ours: there is no link among them. */
static int make_parents(const struct collection *c, char *path)
{
	for (char *p = strchr(path + strlen(c->top) + 1, '/'); p; p = strchr(p + 1, '/')) {
		int r;

		*p = '\0';
		r = mkdir(path, 0700);
		*p = '/';
		if (r < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int write_file(struct collection *c, const char *path, const char *data, size_t size)
{
	_cleanup_(closep) int fd = -1;
	char to[PATH_MAX];
	int r;

	r = inside(c, path, to);
	if (r >= 0)
		r = make_parents(c, to);
	if (r < 0)
		return r;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno; /* it was copied before */
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, data + done, size - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n < 0 ? 0 : (size_t)n;
	}
	c->n_files++;
	c->n_bytes += size;
	return 0;
}

int collection_add_text(struct collection *c, const char *path, const char *text)
{
	int r = write_file(c, path, text, strlen(text));

	if (r < 0)
		note_unwritten(c, path, r);
	return r;
}

int collection_add_directory(struct collection *c, const char *path)
{
	char to[PATH_MAX];
	int r;

	r = inside(c, path, to);
	if (r >= 0)
		r = make_parents(c, to);
	if (r >= 0 && mkdir(to, 0700) < 0 && errno != EEXIST)
		r = -errno;
	if (r < 0)
		note_unwritten(c, path, r);
	return r;
}

/* Whether there is room and time for more; if not, notes that once per file. */
static bool may_go_on(struct collection *c, const char *path)
{
	const char *why = NULL;

	if (c->error < 0)
		return false;
	if (c->silence >= SILENCE_MAX)
		why = "not tried: others of this object did not answer";
	else if (c->n_files >= FILES_MAX || c->n_bytes >= BYTES_MAX)
		why = "not tried: too much already";
	else if (timepoint_now().mono >= c->ends_at)
		why = "not tried: no time left";
	if (why)
		leave_out(c, path, why);
	return !why;
}

static void copy_file(struct collection *c, const char *path)
{
	size_t max = strncmp(path, "/sys/", 5) == 0 ? SYSFS_MAX : OTHERS_MAX;
	const char *data;
	char text[64];
	size_t size;
	int r;

	if (!may_go_on(c, path))
		return;
	r = slow_read(&c->reader, path, max, FILE_TIMEOUT, &data, &size);
	if (r == -ETIMEDOUT) {
		c->silence++;
		c->n_silent++;
		snprintf(text, sizeof(text), "no answer within %d s",
			(int)(FILE_TIMEOUT / USEC_PER_SEC));
		leave_out(c, path, text);
		return;
	}
	if (r < 0) {
		if (r != -ENOENT)
			leave_out(c, path, strerror(-r));
		return;
	}
	r = write_file(c, path, data, size);
	if (r < 0)
		note_unwritten(c, path, r);
}

static void copy_link(struct collection *c, const char *path)
{
	char target[PATH_MAX], to[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	int r;

	if (n < 0) {
		leave_out(c, path, strerror(errno));
		return;
	}
	target[n] = '\0';
	r = inside(c, path, to);
	if (r >= 0)
		r = make_parents(c, to);
	if (r >= 0 && symlink(target, to) < 0 && errno != EEXIST)
		r = -errno;
	if (r < 0)
		note_unwritten(c, path, r);
}

static void copy(struct collection *c, const char *path, unsigned depth);

static void copy_directory(struct collection *c, const char *path, unsigned depth)
{
	_cleanup_(closedirp) DIR *dir = opendir(path);
	struct dirent *de;

	if (!dir) {
		if (errno != ENOENT)
			leave_out(c, path, strerror(errno));
		return;
	}
	if (depth == 0) {
		leave_out(c, path, "not tried: too deep");
		return;
	}
	(void)collection_add_directory(c, path);
	while ((de = readdir(dir))) {
		char entry[PATH_MAX];

		/* "power" is runtime power management, of each device the same ten files. */
		if (streq(de->d_name, ".") || streq(de->d_name, "..") || streq(de->d_name, "power"))
			continue;
		if (snprintf(entry, sizeof(entry), "%s/%s", path, de->d_name) < (int)sizeof(entry))
			copy(c, entry, depth - 1);
	}
}

static void copy(struct collection *c, const char *path, unsigned depth)
{
	struct stat st;

	if (lstat(path, &st) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			leave_out(c, path, strerror(errno));
		return;
	}
	if (S_ISLNK(st.st_mode))
		copy_link(c, path);
	else if (S_ISDIR(st.st_mode))
		copy_directory(c, path, depth);
	else if (!S_ISREG(st.st_mode))
		leave_out(c, path, "neither file, directory nor link");
	else if (st.st_mode & 0444) /* what only takes writes is a command */
		copy_file(c, path);
}

void collect_entry(struct collection *c, const char *fmt, ...)
{
	char path[PATH_MAX];
	struct stat st;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < (int)sizeof(path) && lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		copy(c, path, 0);
}

void collect_entries(
	struct collection *c, const char *directory, const char *const names[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		collect_entry(c, "%s/%s", directory, names[i]);
}

void collect_directory(struct collection *c, const char *path)
{
	copy_directory(c, path, DEPTH_MAX);
}
