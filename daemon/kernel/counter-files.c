/* SPDX-License-Identifier: MIT */
#include "counter-reader-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "counter-width.h"
#include "parse.h"
#include "sysfs-root.h"

#define CLASS "/sys/class/infiniband"

#define SOURCE_RETRY_MIN USEC_PER_MINUTE
#define RETRY_MAX        USEC_PER_HOUR

/* Attributes come and go with optional counters and modules, not by the second. */
#define LIST_AGAIN (10 * USEC_PER_MINUTE)

/*
 * A file that stays open costs one system call per reading instead of three. As many as an adapter
 * with a few ports has; a process may have 1024 descriptors by default, and RDMA needs some, too.
 */
#define OPEN_FILES_MAX 512

/* Names taken of one directory, more than COUNTERS_MAX so that the same ones are kept each time. */
#define LISTED_MAX ((size_t)4 * COUNTERS_MAX)

static atomic_uint open_files;

static void attribute_close(struct attribute *a)
{
	if (a->fd >= 0)
		atomic_fetch_sub(&open_files, 1);
	a->fd = safe_close(a->fd);
}

void counter_attributes_clear(struct attributes *attrs)
{
	for (size_t i = 0; i < attrs->n; i++) {
		attribute_close(&attrs->list[i]);
		free(attrs->list[i].name);
		free(attrs->list[i].file);
	}
	free(attrs->list);
	*attrs = (struct attributes){ 0 };
}

int counter_attributes_add(struct attributes *attrs, const char *name, size_t length)
{
	struct attribute *a;

	if ((attrs->n & (attrs->n - 1)) == 0) {
		a = reallocarray(attrs->list, attrs->n ? 2 * attrs->n : 1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		attrs->list = a;
	}
	a = &attrs->list[attrs->n];
	*a = (struct attribute){ .fd = -1, .name = strndup(name, length) };
	if (!a->name)
		return -ENOMEM;
	attrs->n++;
	return 0;
}

void counter_retry_failed(struct retry *r, usec_t now, usec_t first)
{
	r->after = r->at ? MIN(2 * r->after, RETRY_MAX) : first;
	r->at = usec_add(now, r->after);
}

/* ---- the list of files ---- */

/* "lifespan" is a setting, and what cannot be read is a command (hfi1: chip_reset). */
static bool is_counter_file(int dir, const char *name)
{
	struct stat st;

	return !streq(name, "lifespan") && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && (st.st_mode & 0444);
}

/*
 * "counters_ext/port_rcv_data_64" is port_rcv_data of 64 bits. Which is taken when counters/ has the
 * name, too, is decided by attributes_unite().
 */
static int list_file(struct attributes *attrs, enum directory directory, const char *file)
{
	size_t length = strlen(file);
	struct attribute *a;
	int r;

	if (directory == DIRECTORY_EXTENDED && length > 3 && streq(file + length - 3, "_64"))
		length -= 3;
	r = counter_attributes_add(attrs, file, length);
	if (r < 0)
		return r;
	a = &attrs->list[attrs->n - 1];
	a->directory = directory;
	a->file = strdup(file);
	return a->file ? 0 : -ENOMEM;
}

static int list_directory(
	struct counter_reader *r, struct attributes *attrs, const char *name, enum directory d)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *de;
	int fd, e;

	safe_close(r->dirs[d]);
	r->dirs[d] = sysfs_open_subdirectory(r->base, name);
	if (r->dirs[d] < 0)
		return r->dirs[d];
	/* The one that is kept has a place of its own to read at. */
	fd = sysfs_open_subdirectory(r->base, name);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		safe_close(fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	while (errno = 0, (de = readdir(dir))) {
		if (de->d_name[0] == '.' || !is_counter_file(dirfd(dir), de->d_name))
			continue;
		attrs->n_all++;
		if (attrs->n == LISTED_MAX)
			continue;
		e = list_file(attrs, d, de->d_name);
		if (e < 0)
			return e;
	}
	return -errno;
}

/* Of two with one name the one with more bits is the first. */
static int compare_attributes(const void *a, const void *b)
{
	const struct attribute *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : (int)y->directory - (int)x->directory;
}

/* One of each name, in their order, COUNTERS_MAX of them. */
static void attributes_unite(struct attributes *attrs)
{
	struct attributes out = { .list = attrs->list, .n_all = attrs->n_all };

	if (attrs->n > 0)
		qsort(attrs->list, attrs->n, sizeof(*attrs->list), compare_attributes);
	for (size_t i = 0; i < attrs->n; i++) {
		struct attribute *a = &attrs->list[i];
		bool twice = out.n > 0 && streq(out.list[out.n - 1].name, a->name);

		if (!twice && out.n < COUNTERS_MAX) {
			out.list[out.n++] = *a;
			continue;
		}
		out.n_all -= twice;
		free(a->name);
		free(a->file);
	}
	*attrs = out;
}

/* Takes over what was learned about the same file. Both lists are in the order of their names. */
static bool attributes_inherit(struct attributes *to, struct attributes *from)
{
	size_t k = 0, n_same = 0;

	for (size_t i = 0; i < to->n; i++) {
		struct attribute *a = &to->list[i], *old;

		while (k < from->n && strcmp(from->list[k].name, a->name) < 0)
			k++;
		old = k < from->n ? &from->list[k] : NULL;
		if (!old || !streq(old->name, a->name) || old->directory != a->directory)
			continue;
		n_same++;
		free(a->name);
		free(a->file);
		*a = *old;
		*old = (struct attribute){ .fd = -1 };
		k++;
	}
	return n_same == to->n && n_same == from->n;
}

/*
 * Files of unicast and multicast packets are in counters/ only where the kernel reads all of it from
 * PortCountersExtended (sysfs.c: get_counter_table()). Without them it may still do so: a value tells.
 */
static void set_widths(struct counter_reader *r)
{
	bool extended = false;

	if (r->source != COUNTER_PMA)
		return;
	for (size_t i = 0; i < r->attrs.n; i++)
		if (r->attrs.list[i].directory == DIRECTORY_MAIN)
			extended = extended || strstr(r->attrs.list[i].name, "icast_");
	for (size_t i = 0; i < r->attrs.n; i++) {
		struct attribute *a = &r->attrs.list[i];

		a->width = MAX(a->width,
			counter_pma_width(a->name, extended || a->directory == DIRECTORY_EXTENDED));
	}
}

static int list_source(struct counter_reader *r, struct attributes *attrs)
{
	int plain, extended;

	if (r->source == COUNTER_HW)
		return list_directory(r, attrs, "hw_counters", DIRECTORY_MAIN);
	plain = list_directory(r, attrs, "counters", DIRECTORY_MAIN);
	if (plain < 0 && plain != -ENOENT)
		return plain;
	extended = list_directory(r, attrs, "counters_ext", DIRECTORY_EXTENDED);
	return extended == -ENOENT ? plain : extended;
}

static int list_files(struct counter_reader *r)
{
	struct attributes attrs = { 0 };
	bool same;
	int e;

	e = list_source(r, &attrs);
	if (e < 0) {
		counter_attributes_clear(&attrs);
		return e;
	}
	attributes_unite(&attrs);
	/* Those of netlink are in the kernel's order, and there was nothing to learn. */
	same = !r->from_netlink && attributes_inherit(&attrs, &r->attrs);
	counter_attributes_clear(&r->attrs);
	r->attrs = attrs;
	r->from_netlink = false;
	r->changed = r->changed || !same;
	set_widths(r);
	return 0;
}

struct search {
	uint32_t index;
	char name[RDMA_NAME_MAX];
};

static int match_index(const struct device_facts *f, void *user)
{
	struct search *search = user;

	if (f->index == search->index)
		STRSCPY(search->name, f->name);
	return 0;
}

/* The name that the caller gave may be another device's by now. */
static int find_name(struct counter_reader *r, struct nldev *n)
{
	struct search search = { .index = r->device_index };
	char *name;
	int e;

	e = nldev_list_devices(n, match_index, &search);
	if (e < 0)
		return e;
	if (!search.name[0])
		return -ENODEV;
	name = strdup(search.name);
	if (!name)
		return -ENOMEM;
	free(r->device);
	r->device = name;
	return 0;
}

static int find_base(struct counter_reader *r, struct nldev *n)
{
	int fd;

	if (r->base >= 0)
		return 0;
	if (n && r->set != 0) {
		int e = find_name(r, n);

		if (e < 0)
			return e;
	}
	fd = r->port > 0 ? sysfs_open_directory(CLASS "/%s/ports/%" PRIu32, r->device, r->port)
			 : sysfs_open_directory(CLASS "/%s", r->device);
	if (fd < 0)
		return fd == -ENOENT ? -ENODEV : fd;
	r->base = fd;
	return 0;
}

/* A list that cannot be made again is used on. */
static int have_files(struct counter_reader *r, struct nldev *n, usec_t now)
{
	int e;

	e = find_base(r, n);
	if (e < 0)
		return e;
	if (!r->from_netlink && r->attrs.n > 0 && now < r->list_again)
		return 0;
	e = list_files(r);
	if (e == -ENOENT) {
		r->changed = r->changed || r->attrs.n > 0;
		counter_attributes_clear(&r->attrs);
		r->from_netlink = false;
	}
	r->list_again = usec_add(now, LIST_AGAIN);
	return e < 0 && (r->from_netlink || r->attrs.n == 0) ? e : 0;
}

/* ---- values ---- */

/* 0, or why it is not a number: -EBADMSG when it is something else. */
static int parse_counter(char *text, uint64_t *ret)
{
	char *s = strstrip(text);

	if (s[0] == '\0')
		return -ENODATA;
	if (strncmp(s, "N/A", strlen("N/A")) == 0)
		return -EOPNOTSUPP; /* "N/A (no PMA)", before Linux 4.5 */
	if (s[strspn(s, "0123456789")])
		return -EBADMSG;
	return parse_u64(s, ret);
}

static int read_text(int fd, char *buf, size_t size)
{
	ssize_t n;

	/* Reading from the beginning makes sysfs ask the driver anew. */
	n = pread(fd, buf, size - 1, 0);
	if (n < 0)
		return -errno;
	/* A NUL, or more than a number can have, is not a number. */
	if ((size_t)n == size - 1 || strnlen(buf, (size_t)n) < (size_t)n)
		return -EBADMSG;
	buf[n] = '\0';
	return 0;
}

static int read_attribute(struct counter_reader *r, struct attribute *a)
{
	char text[64];
	int fd = a->fd, e;

	if (fd < 0) {
		fd = sysfs_open_attribute(r->dirs[a->directory], a->file);
		if (fd < 0)
			return fd;
	}
	e = read_text(fd, text, sizeof(text));
	if (e >= 0)
		e = parse_counter(text, &a->value);
	if (a->fd < 0) {
		/* What cannot be read now is not kept open either. */
		if (e >= 0 && atomic_fetch_add(&open_files, 1) < OPEN_FILES_MAX) {
			a->fd = fd;
		} else {
			if (e >= 0)
				atomic_fetch_sub(&open_files, 1);
			safe_close(fd);
		}
	} else if (e < 0) {
		attribute_close(a);
	}
	return e;
}

static void try_attribute(struct counter_reader *r, struct attribute *a)
{
	a->error = read_attribute(r, a);
	a->known = a->error == 0;
	if (a->known) {
		a->retry = (struct retry){ 0 };
		a->is_number = true;
		/* Then it is not of PortCounters, where it has 32 bits. */
		if (r->source == COUNTER_PMA && a->width == 0 && a->value > UINT32_MAX) {
			a->width = counter_pma_width(a->name, true);
			r->changed = r->changed || a->width > 0;
		}
	} else if (a->error == -EBADMSG && !a->is_number) {
		a->not_counter = true;
		r->changed = true;
	}
}

static void source_failed(struct counter_reader *r, usec_t now, int error)
{
	r->error = r->all_error = error;
	counter_retry_failed(&r->all, now, SOURCE_RETRY_MIN);
}

/* Whether one attribute of a source that failed can be read again; each time it is another one. */
static bool source_is_back(struct counter_reader *r, usec_t now)
{
	int error = r->all_error;

	for (size_t i = 0; i < r->attrs.n; i++) {
		struct attribute *a = &r->attrs.list[r->probe++ % r->attrs.n];

		if (!a->not_counter)
			try_attribute(r, a);
		if (a->known)
			return true;
		if (!a->not_counter) {
			error = a->error;
			break;
		}
	}
	source_failed(r, now, error);
	return false;
}

/* Reads those that are due. That none could be read is no attribute's own fault. */
static void read_due(struct counter_reader *r, usec_t now)
{
	size_t n_known = 0, n_failed = 0;
	int error = 0;

	for (size_t i = 0; i < r->attrs.n; i++) {
		struct attribute *a = &r->attrs.list[i];

		if (!a->known && !a->not_counter && a->retry.at <= now) {
			try_attribute(r, a);
			if (!a->known && !a->not_counter) {
				n_failed++;
				error = a->error;
			}
		}
		n_known += a->known;
	}
	if (n_known == 0 && n_failed > 0) {
		source_failed(r, now, error);
		return;
	}
	for (size_t i = 0; i < r->attrs.n; i++) {
		struct attribute *a = &r->attrs.list[i];

		if (!a->known && !a->not_counter && a->retry.at <= now)
			counter_retry_failed(&a->retry, now, ATTRIBUTE_RETRY_MIN);
	}
}

void counter_files_read(struct counter_reader *r, struct nldev *n, usec_t now)
{
	r->error = have_files(r, n, now);
	if (r->error < 0)
		return;
	if (r->all.at) {
		r->error = r->all_error;
		if (r->all.at > now || !source_is_back(r, now))
			return;
		r->all = (struct retry){ 0 };
		r->error = 0;
	}
	read_due(r, now);
}
