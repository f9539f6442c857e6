/* SPDX-License-Identifier: MIT */
/*
 * Inside of "doctor": what it has in hand, the parts that look for something each, and the catalog of
 * what can be found, which says why it matters and what to do.
 */
#pragma once

#include <jansson.h>

#include "host-root.h"
#include "macros.h"
#include "module-files.h"
#include "notes.h"
#include "rdmactl.h"

enum finding_kind {
	FINDING_OK,      /* it was looked at and is fine */
	FINDING_NOTE,    /* good to know */
	FINDING_UNKNOWN, /* it could not be looked at */
	FINDING_WARNING, /* it will hurt */
};

struct advice_of {
	const char *id;
	const char *why; /* does it matter */
	const char *remedy;
};

/* The entry of that id; NULL: there is none, as for what is fine. */
const struct advice_of *doctor_advice(const char *id);

struct doctor {
	const struct options *o;
	struct host_root host;
	struct module_files modules;
	struct config *config;
	struct config_notes notes;
	char **devices; /* names of the RDMA devices; NULL ends them */
	json_t *findings;
};

/* Adds a finding: what was found, in a sentence without a full stop. */
void doctor_find(struct doctor *d, enum finding_kind kind, const char *id, const char *fmt, ...)
	_printf_(4, 5);

/* Calls back for each line of a file that is neither empty nor a comment, without blanks at its ends. */
typedef void (*doctor_line_cb)(struct doctor *d, const char *path, const char *line, void *user);
void doctor_lines(struct doctor *d, const char *path, doctor_line_cb cb, void *user);

/* The same for all files in a directory whose names end so, in order. */
void doctor_lines_in(
	struct doctor *d, const char *directory, const char *suffix, doctor_line_cb cb, void *user);

/* The first value that the configuration gives to a key of such a section; NULL: not configured. */
const char *doctor_configured(const struct doctor *d, const char *section, const char *key);

/* Whether a device has a port of that link layer ("InfiniBand"). */
bool doctor_has_layer(const struct doctor *d, const char *layer);

/* An attribute of a device, "node_guid", as one line. */
bool doctor_attribute(
	const struct doctor *d, const char *device, const char *name, char *buf, size_t size);

void doctor_modules(struct doctor *d);
void doctor_nodes(struct doctor *d);
void doctor_identity(struct doctor *d);
void doctor_kernel(struct doctor *d);
void doctor_memlock(struct doctor *d);
void doctor_rivals(struct doctor *d);
void doctor_rdmad(struct doctor *d);
