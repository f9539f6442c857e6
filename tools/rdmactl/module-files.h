/* SPDX-License-Identifier: MIT */
/*
 * The kernel modules that a host has files of, from the lists that depmod(8) made: where a name or
 * alias leads, and what is loaded. Nothing is loaded here.
 */
#pragma once

#include "host-root.h"

struct module_files {
	const struct host_root *host;
	char directory[96];          /* "/lib/modules/RELEASE"; "" there is none */
	char *dep, *builtin, *alias; /* texts of modules.dep, ...; NULL there is none */
};

enum module_place {
	MODULE_UNKNOWN, /* there are no lists, and it is not loaded */
	MODULE_ABSENT,
	MODULE_BUILT_IN,
	MODULE_FILE,
};

struct module_found {
	enum module_place place;
	bool loaded;
	char name[64];  /* the module that the name or alias stands for, with "_"; "" none */
	char path[256]; /* of its file below ->directory */
};

void module_files_open(struct module_files *m, const struct host_root *h);
void module_files_done(struct module_files *m);

struct module_found module_find(const struct module_files *m, const char *name);

/* Whether it is loaded now, or built in with an entry in /sys/module. */
bool module_loaded(const struct host_root *h, const char *name);

/* Calls back for each module that has a file, with its path below ->directory and its name. */
typedef void (*module_file_cb)(const char *path, const char *name, void *user);
void module_files_each(const struct module_files *m, module_file_cb cb, void *user);
