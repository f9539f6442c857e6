/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include <fcntl.h>
#include <fnmatch.h>

#include "parse.h"
#include "text.h"

/* Modules of the RDMA stack and of adapters, by their names. */
static const char *const rdma_modules[] = { "ib_*", "iw_*", "rdma_*", "mlx[45]_*", "mlx_compat",
	"mlxfw", "rpcrdma", "rds_rdma", "siw", "irdma", "i40iw", "bnxt_re", "qedr", "hns_roce*",
	"hfi1", "rdmavt", "efa", "erdma", "mana_ib", "ocrdma", "usnic_verbs", "vmw_pvrdma",
	"nvme_rdma", "nvmet_rdma", "svcrdma", "xprtrdma", "mthca" };

/* depmod(8) takes these before "kernel". */
static const char *const foreign_directories[] = { "updates/*", "extra/*", "weak-updates/*" };

#define LISTED_MAX 6

/* Some names, and how many there are more. */
struct some {
	char text[256];
	size_t n;
};

static void some_add(struct some *s, const char *name)
{
	size_t used = strlen(s->text);

	if (s->n++ < LISTED_MAX)
		snprintf(s->text + used, sizeof(s->text) - used, "%s%s", used ? ", " : "", name);
}

static const char *some_text(struct some *s)
{
	size_t used = strlen(s->text);

	if (s->n > LISTED_MAX)
		snprintf(
			s->text + used, sizeof(s->text) - used, " and %zu more", s->n - LISTED_MAX);
	s->n = 0;
	return s->text;
}

static bool matches_any(const char *name, const char *const patterns[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

static bool is_rdma_module(const char *name)
{
	return matches_any(name, rdma_modules, ARRAY_SIZE(rdma_modules));
}

static bool is_foreign(const char *path)
{
	return matches_any(path, foreign_directories, ARRAY_SIZE(foreign_directories));
}

/* ---- files that are not the kernel's ---- */

#define MODULE_SIZE_MAX (64U * 1024 * 1024)

/* The kernel that a file was built for, as its section .modinfo has it; a packed one cannot tell. */
static bool find_vermagic(const struct doctor *d, const char *path, char *buf, size_t size)
{
	static const char key[] = "vermagic=";
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *content = NULL;
	const char *found;
	char full[400];
	struct stat st;
	size_t n = 0;

	snprintf(full, sizeof(full), "%s/%s", d->modules.directory, path);
	if (strcmp(path + strlen(path) - 3, ".ko") != 0)
		return false;
	fd = host_open(&d->host, full, O_RDONLY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MODULE_SIZE_MAX)
		return false;
	content = malloc((size_t)st.st_size + 1);
	while (content && n < (size_t)st.st_size) {
		ssize_t k = read(fd, content + n, (size_t)st.st_size - n);

		if (k <= 0)
			break;
		n += (size_t)k;
	}
	found = content ? memmem(content, n, key, strlen(key)) : NULL;
	if (!found)
		return false;
	content[n] = '\0';
	snprintf(buf, size, "%.*s", (int)strcspn(found + strlen(key), " "), found + strlen(key));
	return true;
}

struct foreign {
	struct doctor *d;
	struct some all, stale, odd;
	char built_for[96];
	bool core; /* ib_core is one of them */
};

static void look_at_file(const char *path, const char *name, void *user)
{
	struct foreign *f = user;
	char release[96];

	if (!is_rdma_module(name) || !is_foreign(path))
		return;
	some_add(&f->all, name);
	f->core = f->core || streq(name, "ib_core");
	/* Those in weak-updates were made for another kernel that is compatible. */
	if (fnmatch("weak-updates/*", path, 0) != 0 &&
		find_vermagic(f->d, path, release, sizeof(release)) &&
		!streq(release, f->d->host.release)) {
		some_add(&f->stale, name);
		STRSCPY(f->built_for, release);
	}
}

/* A module of the kernel that stands on an ib_core that is not the kernel's. */
static void look_for_mixture(const char *path, const char *name, void *user)
{
	struct foreign *f = user;

	if (is_rdma_module(name) && !is_foreign(path) && !streq(name, "ib_core"))
		some_add(&f->odd, name);
}

static void find_foreign(struct doctor *d)
{
	struct foreign f = { .d = d };

	module_files_each(&d->modules, look_at_file, &f);
	if (f.core)
		module_files_each(&d->modules, look_for_mixture, &f);
	if (f.stale.n > 0)
		doctor_find(d, FINDING_WARNING, "stale-modules",
			"modules in %s were built for kernel %s, and %s runs: %s",
			d->modules.directory, f.built_for, d->host.release, some_text(&f.stale));
	if (f.odd.n > 0)
		doctor_find(d, FINDING_WARNING, "mixed-modules",
			"ib_core is out-of-tree, and these modules are the kernel's: %s",
			some_text(&f.odd));
	if (f.all.n > 0)
		doctor_find(d, FINDING_NOTE, "out-of-tree-modules",
			"RDMA modules that are not the kernel's own: %s", some_text(&f.all));
	else
		doctor_find(d, FINDING_OK, "out-of-tree-modules",
			"no RDMA module in updates, extra or weak-updates");
}

/* ---- what is loaded ---- */

/* "O" in its taint: it was not built with the kernel. */
static bool loaded_is_foreign(const struct doctor *d, const char *name)
{
	char path[128], taint[32];

	snprintf(path, sizeof(path), "/sys/module/%s/taint", name);
	return host_read_line(&d->host, path, taint, sizeof(taint)) == 0 && strchr(taint, 'O');
}

static void find_exchanged(struct doctor *d)
{
	_cleanup_(strv_freep) char **names = host_list(&d->host, "/sys/module");
	struct some s = { 0 };

	for (char **name = names; name && *name; name++) {
		struct module_found f;

		if (!is_rdma_module(*name))
			continue;
		f = module_find(&d->modules, *name);
		if (f.place == MODULE_FILE && loaded_is_foreign(d, *name) != is_foreign(f.path))
			some_add(&s, *name);
	}
	if (s.n > 0)
		doctor_find(d, FINDING_WARNING, "loaded-not-installed",
			"modules that are loaded are not those that are installed: %s",
			some_text(&s));
}

/* A module that somebody has to load: nothing asks the kernel for it. */
static void want_module(struct doctor *d, const char *module, const char *id, const char *what)
{
	struct module_found f = module_find(&d->modules, module);
	bool absent = f.place == MODULE_ABSENT && !f.loaded;

	if (f.loaded || f.place == MODULE_BUILT_IN)
		doctor_find(
			d, FINDING_OK, id, "%s is %s", module, f.loaded ? "loaded" : "built in");
	else if (absent)
		doctor_find(d, FINDING_WARNING, "module-absent", "this kernel has no module %s: %s",
			module, what);
	else if (d->config && config_module_denied(d->config, module))
		doctor_find(d, FINDING_NOTE, "module-denied",
			"%s is not loaded, as [Modules] Deny= says: %s", module, what);
	else
		doctor_find(d, streq(id, "module-on-demand") ? FINDING_NOTE : FINDING_WARNING, id,
			"%s is not loaded: %s", module, what);
}

static void find_absent(struct doctor *d)
{
	if (!d->devices || !d->devices[0]) {
		doctor_find(d, FINDING_NOTE, "no-device", "there is no RDMA device%s",
			module_loaded(&d->host, "ib_core") ? "" : ", and ib_core is not loaded");
		return;
	}
	want_module(d, "ib_uverbs", "module-on-demand", "no program can use verbs");
	want_module(d, "rdma_ucm", "module-on-demand", "no program can use librdmacm");
	if (doctor_has_layer(d, "InfiniBand")) {
		want_module(d, "ib_umad", "module-not-loaded",
			"ibstat, perfquery and subnet managers cannot work");
		want_module(d, "ib_ipoib", "module-not-loaded", "there is no IP over InfiniBand");
	}
}

/* ---- modprobe.d ---- */

/* "/bin/false", "/usr/bin/true": that is not how a module is loaded. */
static bool ends_in_nothing(const char *program)
{
	const char *base = strrchr(program, '/');

	base = base ? base + 1 : program;
	return streq(base, "false") || streq(base, "true");
}

/* "blacklist mlx5_ib", "install mlx5_ib /bin/false". */
static void look_at_rule(struct doctor *d, const char *path, const char *line, void *user)
{
	char word[16], module[64], rest[64] = "";
	int n = sscanf(line, "%15s %63s %63s", word, module, rest);

	if (n < 2 || !is_rdma_module(module))
		return;
	if (streq(word, "blacklist"))
		doctor_find(
			d, FINDING_WARNING, "module-blacklisted", "%s: blacklist %s", path, module);
	else if (streq(word, "install") && ends_in_nothing(rest))
		doctor_find(d, FINDING_WARNING, "module-blacklisted", "%s: install %s %s", path,
			module, rest);
}

static void find_blacklists(struct doctor *d)
{
	static const char *const directories[] = { "/etc/modprobe.d", "/run/modprobe.d",
		"/usr/lib/modprobe.d" };

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		doctor_lines_in(d, directories[i], ".conf", look_at_rule, NULL);
}

void doctor_modules(struct doctor *d)
{
	if (!d->host.release[0])
		doctor_find(d, FINDING_UNKNOWN, "no-module-directory",
			"which kernel runs is not known");
	else if (!d->host.live && !host_exists(&d->host, "/lib/modules") &&
		 !host_exists(&d->host, "/usr/lib/modules"))
		doctor_find(d, FINDING_UNKNOWN, "no-module-directory",
			"the files of modules are not in this tree");
	else if (!d->modules.dep)
		doctor_find(d, FINDING_WARNING, "no-module-directory",
			"there is no /lib/modules/%s/modules.dep of the running kernel",
			d->host.release);
	find_absent(d);
	if (d->modules.dep) {
		find_foreign(d);
		find_exchanged(d);
	}
	find_blacklists(d);
}
