/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <errno.h>
#include <libkmod.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include "log.h"
#include "macros.h"

struct modules {
	struct kmod_ctx *ctx;
};

/* libkmod would write to stderr by itself. */
static void kmod_log(void *data, int priority, const char *file, int line, const char *fn,
	const char *format, va_list args) __attribute__((format(printf, 6, 0)));

static void kmod_log(void *data, int priority, const char *file, int line, const char *fn,
	const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	log_debug("libkmod: %s", strtok(text, "\n") ?: "");
}

int modules_open(struct modules **ret)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->ctx = kmod_new(NULL, NULL);
	if (!m->ctx) {
		free(m);
		return -ENOMEM;
	}
	kmod_set_log_fn(m->ctx, kmod_log, NULL);
	/* Faster look-ups; without them, or without a module directory, they only find nothing. */
	(void)kmod_load_resources(m->ctx);
	*ret = m;
	return 0;
}

struct modules *modules_close(struct modules *m)
{
	if (!m)
		return NULL;
	kmod_unref(m->ctx);
	free(m);
	return NULL;
}

void modules_closep(struct modules **m)
{
	modules_close(*m);
}

static bool is_loaded(struct kmod_module *mod, bool *ret_built_in)
{
	int state = kmod_module_get_initstate(mod);

	*ret_built_in = state == KMOD_MODULE_BUILTIN;
	return state == KMOD_MODULE_BUILTIN || state == KMOD_MODULE_LIVE;
}

/* An "install" line replaces loading; "install X /bin/false" is how hardening guides forbid X. */
static bool has_install_command(const struct kmod_module *mod)
{
	const char *command = kmod_module_get_install_commands(mod);

	return command && *command;
}

static bool has_file(const struct kmod_module *mod)
{
	const char *path = kmod_module_get_path(mod);

	return path && access(path, R_OK) == 0;
}

static void unref_list(struct kmod_list **l)
{
	kmod_module_unref_list(*l);
}

/* One module. Stops at the first thing that is not as wanted. */
static void load_one(struct kmod_module *mod, bool dry, struct module_result *res)
{
	bool built_in;
	int r;

	if (is_loaded(mod, &built_in))
		return;
	res->built_in = false;
	res->outcome = MODULE_CHANGED;
	if (dry) {
		if (has_install_command(mod))
			res->outcome = MODULE_BLOCKED;
		return;
	}

	r = kmod_module_probe_insert_module(
		mod, KMOD_PROBE_APPLY_BLACKLIST, NULL, NULL, NULL, NULL);
	if (is_loaded(mod, &built_in))
		return;
	if (r == KMOD_PROBE_APPLY_BLACKLIST || has_install_command(mod)) {
		res->outcome = MODULE_BLOCKED;
	} else if (r == -ENOENT && !has_file(mod)) {
		/* Named by an index; else a symbol is what is not there. */
		res->outcome = MODULE_NOT_FOUND;
	} else {
		res->outcome = MODULE_ERROR;
		res->error = r < 0 ? r : -EIO;
	}
}

/* A name that no index knows: a module that was loaded from elsewhere, or nothing. */
static struct module_result unknown_name(struct modules *m, const char *name)
{
	struct module_result res = { .outcome = MODULE_NOT_FOUND };
	struct kmod_module *mod;

	if (kmod_module_new_from_name(m->ctx, name, &mod) < 0)
		return res;
	if (is_loaded(mod, &res.built_in)) {
		res.outcome = MODULE_OK;
		STRSCPY(res.name, kmod_module_get_name(mod));
	}
	kmod_module_unref(mod);
	return res;
}

static struct module_result look_up(struct modules *m, const char *name, bool dry)
{
	_cleanup_(unref_list) struct kmod_list *all = NULL, *kept = NULL;
	struct module_result res = { .outcome = MODULE_OK, .built_in = true };
	struct kmod_list *e;
	bool built_in, loaded = true;
	int r;

	r = kmod_module_new_from_lookup(m->ctx, name, &all);
	if (r < 0 && r != -ENOENT && r != -ENOSYS)
		return (struct module_result){ .outcome = MODULE_ERROR, .error = r };
	if (!all)
		return unknown_name(m, name);

	kmod_list_foreach(e, all)
	{
		struct kmod_module *mod = kmod_module_get_module(e);

		if (!res.name[0])
			STRSCPY(res.name, kmod_module_get_name(mod));
		if (!is_loaded(mod, &built_in))
			loaded = false;
		if (!built_in)
			res.built_in = false;
		kmod_module_unref(mod);
	}
	if (loaded)
		return res;

	/* What is loaded against its blacklist entry stays; the rest is not touched. */
	r = kmod_module_apply_filter(m->ctx, KMOD_FILTER_BLACKLIST, all, &kept);
	if (r < 0)
		return (struct module_result){ .outcome = MODULE_ERROR, .error = r };
	if (!kept) {
		res.outcome = MODULE_BLOCKED;
		return res;
	}
	kmod_list_foreach(e, kept)
	{
		struct kmod_module *mod = kmod_module_get_module(e);

		load_one(mod, dry, &res);
		if (res.outcome == MODULE_CHANGED || res.outcome == MODULE_OK)
			STRSCPY(res.name, kmod_module_get_name(mod));
		kmod_module_unref(mod);
		if (res.outcome != MODULE_CHANGED && res.outcome != MODULE_OK)
			break;
	}
	return res;
}

struct module_result modules_load(struct modules *m, const char *name)
{
	return look_up(m, name, false);
}

struct module_result modules_query(struct modules *m, const char *name)
{
	return look_up(m, name, true);
}

bool modules_directory_exists(void)
{
	char path[sizeof("/lib/modules/") + sizeof(((struct utsname *)NULL)->release)];
	struct utsname u;

	if (uname(&u) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/lib/modules/%s", u.release);
	return access(path, F_OK) == 0;
}
