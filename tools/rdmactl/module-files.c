/* SPDX-License-Identifier: MIT */
#include "module-files.h"

#include <fnmatch.h>

#include "macros.h"

#define LIST_SIZE_MAX (64U * 1024 * 1024)

static char *read_list(const struct module_files *m, const char *name)
{
	char path[160], *text = NULL;

	snprintf(path, sizeof(path), "%s/%s", m->directory, name);
	return host_read(m->host, path, LIST_SIZE_MAX, &text) < 0 ? NULL : text;
}

void module_files_open(struct module_files *m, const struct host_root *h)
{
	static const char *const places[] = { "/lib/modules", "/usr/lib/modules" };

	*m = (struct module_files){ .host = h };
	for (size_t i = 0; h->release[0] && !m->dep && i < ARRAY_SIZE(places); i++) {
		snprintf(m->directory, sizeof(m->directory), "%s/%s", places[i], h->release);
		m->dep = read_list(m, "modules.dep");
	}
	if (!m->dep) {
		m->directory[0] = '\0';
		return;
	}
	m->builtin = read_list(m, "modules.builtin");
	m->alias = read_list(m, "modules.alias");
}

void module_files_done(struct module_files *m)
{
	free(m->dep);
	free(m->builtin);
	free(m->alias);
	*m = (struct module_files){ 0 };
}

/* The kernel's own spelling. */
static void module_name(char *name, size_t size, const char *s, size_t n)
{
	snprintf(name, size, "%.*s", (int)n, s);
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
}

bool module_loaded(const struct host_root *h, const char *name)
{
	char own[64], path[96];

	module_name(own, sizeof(own), name, strlen(name));
	if (strchr(own, '/') || own[0] == '.')
		return false;
	snprintf(path, sizeof(path), "/sys/module/%s", own);
	return host_exists(h, path);
}

/* Of a line "kernel/drivers/x/ib-core.ko.xz: ...": its path's length, and the module's name. */
static size_t parse_file(const char *line, char *name, size_t size)
{
	size_t path = strcspn(line, ":\n");
	const char *base = line + path, *ko;

	while (base > line && base[-1] != '/')
		base--;
	ko = memmem(base, (size_t)(line + path - base), ".ko", 3);
	if (!ko)
		return 0;
	module_name(name, size, base, (size_t)(ko - base));
	return path;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* The line of the module in a list of files, NULL when it is not there. */
static const char *find_file(const char *list, const char *name, size_t *ret_path)
{
	char found[64];

	for (const char *line = list; line && *line; line = next_line(line)) {
		*ret_path = parse_file(line, found, sizeof(found));
		if (*ret_path > 0 && streq(found, name))
			return line;
	}
	return NULL;
}

/* "alias PATTERN MODULE"; the first that matches. */
static bool find_alias(const char *list, const char *name, char *module, size_t size)
{
	char pattern[256], own[64];

	for (const char *line = list; line && *line; line = next_line(line))
		if (sscanf(line, "alias %255s %63s", pattern, own) == 2 &&
			fnmatch(pattern, name, 0) == 0) {
			module_name(module, size, own, strlen(own));
			return true;
		}
	return false;
}

static bool find_by_name(const struct module_files *m, struct module_found *f)
{
	const char *line;
	size_t path;

	f->loaded = module_loaded(m->host, f->name);
	line = find_file(m->dep, f->name, &path);
	if (line) {
		f->place = MODULE_FILE;
		snprintf(f->path, sizeof(f->path), "%.*s", (int)path, line);
		return true;
	}
	if (find_file(m->builtin, f->name, &path))
		f->place = MODULE_BUILT_IN;
	return f->place == MODULE_BUILT_IN || f->loaded;
}

struct module_found module_find(const struct module_files *m, const char *name)
{
	struct module_found f = { .place = m->dep ? MODULE_ABSENT : MODULE_UNKNOWN };

	module_name(f.name, sizeof(f.name), name, strlen(name));
	if (find_by_name(m, &f))
		return f;
	if (!find_alias(m->alias, name, f.name, sizeof(f.name))) {
		f.name[0] = '\0';
		return f;
	}
	if (!find_by_name(m, &f))
		f.name[0] = '\0';
	return f;
}

void module_files_each(const struct module_files *m, module_file_cb cb, void *user)
{
	char name[64], path[256];

	for (const char *line = m->dep; line && *line; line = next_line(line)) {
		size_t n = parse_file(line, name, sizeof(name));

		if (n == 0)
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)n, line);
		cb(path, name, user);
	}
}
