/* SPDX-License-Identifier: MIT */
/*
 * Loading kernel modules through libkmod, as modprobe does it and with the same configuration.
 * Needs CAP_SYS_MODULE and blocks for as long as a module's initialisation takes: for the setup
 * helper only.
 */
#pragma once

#include <stdbool.h>

struct modules;

enum module_outcome {
	MODULE_CHANGED,   /* it was loaded by this call */
	MODULE_OK,        /* it was loaded already, or is built in */
	MODULE_NOT_FOUND, /* this kernel has no module of that name or alias */
	MODULE_BLOCKED,   /* a blacklist or install line in modprobe.d stands against it */
	MODULE_ERROR,     /* see error */
};

struct module_result {
	enum module_outcome outcome;
	int error;     /* MODULE_ERROR: negative errno */
	bool built_in; /* with MODULE_OK */
	char name[64]; /* the module that a name or alias stands for, "" when there is none */
};

/*
 * Reads the configuration and the indexes of the running kernel's modules. Works also when there
 * are none, as after a kernel upgrade without a reboot: then only what is loaded is known.
 */
int modules_open(struct modules **ret);
struct modules *modules_close(struct modules *m);
void modules_closep(struct modules **m);

/*
 * Loads the module of that name, or all that have this alias, with what they depend on. Success is
 * read back. Never reloads and never unloads anything.
 */
struct module_result modules_load(struct modules *m, const char *name);

/* The same without loading: MODULE_CHANGED stands for "could be loaded". */
struct module_result modules_query(struct modules *m, const char *name);

/* Whether there is a module directory for the running kernel at all. */
bool modules_directory_exists(void);
