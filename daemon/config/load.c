/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "config.h"
#include "file.h"
#include "parser.h"

#define FILE_MAX (1024U * 1024U)

/* The order is the precedence: what the administrator wrote goes before what the vendor ships. */
static const char *const config_dirs[] = { "/etc", "/run", "/usr/lib" };

/* One loading. */
struct loader {
	struct config *config;
	struct config_notes *notes; /* NULL: not wanted */
	const char *root;           /* "": this host; else a tree that stands for one */
	int tree;                   /* that directory, or why it cannot be opened */
};

struct dropin {
	char *name; /* without its directory */
	char *path;
};

struct dropins {
	struct dropin *items;
	size_t n;
};

static void dropins_done(struct dropins *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].name);
		free(d->items[i].path);
	}
	free(d->items);
}

static int file_problem(struct config *c, const char *path, const char *what, int error)
{
	struct parser p = { .config = c, .file = path };

	return parser_problem(
		&p, 0, "%s%s%s", what, error ? ": " : "", error ? strerror(error) : "");
}

/* Reads at most FILE_MAX bytes; -EFBIG when there is more. */
static int read_all(int fd, char **ret, size_t *ret_size)
{
	_cleanup_(freep) char *buf = malloc(FILE_MAX + 1);
	size_t n = 0;

	if (!buf)
		return -ENOMEM;
	while (n <= FILE_MAX) {
		ssize_t k = read(fd, buf + n, FILE_MAX + 1 - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0) {
			*ret = TAKE_PTR(buf);
			*ret_size = n;
			return 0;
		}
		n += (size_t)k;
	}
	return -EFBIG;
}

static int open_path(const struct loader *l, const char *path, int flags)
{
	if (!*l->root)
		return file_open_within(-1, path, flags);
	return l->tree < 0 ? l->tree : file_open_within(l->tree, path + strlen(l->root), flags);
}

/* What is there, without following a last link. */
static int look_at(const struct loader *l, const char *path)
{
	return open_path(l, path, O_PATH | O_NOFOLLOW);
}

static bool is_link_to_null(const struct loader *l, const char *path)
{
	_cleanup_(closep) int link = look_at(l, path);
	char target[16];
	ssize_t n = link >= 0 ? readlinkat(link, "", target, sizeof(target)) : -1;

	return n == (ssize_t)strlen("/dev/null") && memcmp(target, "/dev/null", (size_t)n) == 0;
}

static int open_file(const struct loader *l, const char *path)
{
	/* O_NONBLOCK: a FIFO in this place must not hang the boot. */
	const int flags = O_RDONLY | O_NOCTTY | O_NONBLOCK;

	/* A tree has no /dev/null. */
	if (is_link_to_null(l, path))
		return file_open_within(-1, "/dev/null", flags);
	return open_path(l, path, flags);
}

/*
 * Reads one file into the configuration. Whatever is wrong with it is a problem that names it. path
 * exists in its directory, be it as a dangling link.
 */
static int load_file(const struct loader *l, const char *path)
{
	struct config *c = l->config;
	struct parser p = { .config = c, .file = path, .notes = l->notes };
	_cleanup_(freep) char *text = NULL;
	_cleanup_(closep) int fd = -1;
	struct stat st;
	size_t size = 0;
	int r;

	fd = open_file(l, path);
	if (fd < 0)
		return file_problem(c, path, "cannot be read", -fd);
	if (fstat(fd, &st) < 0)
		return file_problem(c, path, "cannot be read", errno);
	if (S_ISCHR(st.st_mode)) /* masked by a link to /dev/null */
		return config_notes_add(l->notes, NOTE_MASKED, path, 0, NULL, NULL, NULL);
	if (!S_ISREG(st.st_mode))
		return file_problem(c, path,
			S_ISDIR(st.st_mode) ? "is a directory, not a file"
					    : "is not a regular file",
			0);
	r = read_all(fd, &text, &size);
	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		return file_problem(c, path, "is larger than 1 MB: left out", 0);
	if (r < 0)
		return file_problem(c, path, "cannot be read", -r);
	r = config_notes_add(l->notes, NOTE_FILE, path, 0, NULL, NULL, NULL);
	return r < 0 ? r : reader_parse(text, size, &parser_callbacks, &p);
}

/* The first rdmad.conf there is, and only that one. */
static int load_main(const struct loader *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(config_dirs); i++) {
		_cleanup_(freep) char *path = NULL;
		_cleanup_(closep) int fd = -1;

		if (asprintf(&path, "%s%s/rdmad/rdmad.conf", l->root, config_dirs[i]) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		/* What cannot even be looked at may be there: load_file() says why. */
		fd = look_at(l, path);
		if (fd == -ENOENT || fd == -ENOTDIR)
			continue;
		return load_file(l, path);
	}
	return 0;
}

static bool is_dropin_name(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 5 && streq(name + len - 5, ".conf");
}

static int add_dropin(struct dropins *d, const char *dir, const char *name)
{
	struct dropin *items, new = { 0 };

	for (size_t i = 0; i < d->n; i++)
		if (streq(d->items[i].name, name))
			return 0; /* a directory of higher precedence has it */
	items = reallocarray(d->items, d->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	d->items = items;
	new.name = strdup(name);
	if (asprintf(&new.path, "%s/%s", dir, name) < 0)
		new.path = NULL;
	if (!new.name || !new.path) {
		free(new.name);
		free(new.path);
		return -ENOMEM;
	}
	items[d->n++] = new;
	return 0;
}

static int list_dropins(const struct loader *l, struct dropins *d, const char *path)
{
	int r = 0, fd = open_path(l, path, O_RDONLY | O_DIRECTORY);
	struct config *c = l->config;
	const struct dirent *e;
	DIR *dir;

	/* ENOTDIR is about a parent that is no directory, or about this one. */
	if (fd < 0)
		return fd == -ENOENT ? 0 : file_problem(c, path, "cannot be listed", -fd);
	dir = fdopendir(fd);
	if (!dir) {
		safe_close(fd);
		return -ENOMEM;
	}
	for (;;) {
		errno = 0;
		e = readdir(dir);
		if (!e)
			break;
		if (!is_dropin_name(e->d_name))
			continue;
		if (d->n >= CONFIG_ITEMS_MAX) {
			r = file_problem(c, path, "holds too many files", 0);
			goto out;
		}
		/* The name ends up in messages, on the bus and in JSON. */
		if (!utf8_valid(e->d_name, strlen(e->d_name)) || strpbrk(e->d_name, "\n\r\t\033"))
			r = file_problem(c, path, "a file with an unprintable name is left out", 0);
		else
			r = add_dropin(d, path, e->d_name);
		if (r < 0)
			goto out;
	}
	if (errno)
		r = file_problem(c, path, "cannot be listed", errno);
out:
	closedir(dir);
	return r;
}

static int compare_dropins(const void *a, const void *b)
{
	const struct dropin *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int load_dropins(const struct loader *l)
{
	_cleanup_(dropins_done) struct dropins d = { 0 };
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(config_dirs); i++) {
		_cleanup_(freep) char *path = NULL;

		if (asprintf(&path, "%s%s/rdmad/rdmad.conf.d", l->root, config_dirs[i]) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		r = list_dropins(l, &d, path);
		if (r < 0)
			return r;
	}
	if (d.n > 0)
		qsort(d.items, d.n, sizeof(*d.items), compare_dropins);
	for (size_t i = 0; i < d.n; i++) {
		r = load_file(l, d.items[i].path);
		if (r < 0)
			return r;
	}
	return 0;
}

static int load_all(const struct loader *l)
{
	int r = load_main(l);

	return r < 0 ? r : load_dropins(l);
}

static int load(const char *root, const char *path, struct config **ret, struct config_notes *notes)
{
	_cleanup_(config_freep) struct config *c = config_new();
	struct loader l = {
		.config = c,
		.notes = notes,
		.root = path || streq(root, "/") ? "" : root,
	};
	_cleanup_(closep) int tree = -1;
	int r;

	if (!c)
		return -ENOMEM;
	if (*l.root) {
		tree = open(l.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		l.tree = tree < 0 ? -errno : tree;
	}
	r = path ? load_file(&l, path) : load_all(&l);
	if (r >= 0)
		r = parser_finish(c);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

int config_load(const char *root, struct config **ret)
{
	return load(root, NULL, ret, NULL);
}

int config_load_file(const char *path, struct config **ret)
{
	return load("", path, ret, NULL);
}

int config_load_noted(
	const char *root, const char *path, struct config **ret, struct config_notes *ret_notes)
{
	*ret_notes = (struct config_notes){ 0 };
	return load(root, path, ret, ret_notes);
}
