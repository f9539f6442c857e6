/* SPDX-License-Identifier: MIT */
/* Inside of the room: every section and key there is, and what an assignment does. */
#pragma once

#include "parse.h"
#include "parser.h"

struct section_name {
	const char *name;
	enum section_kind kind; /* SECTION_NONE: promised for later */
	bool takes_argument;
};

/* The section of that name, NULL when there is none. */
const struct section_name *section_lookup(const char *name);

/* A section or key that is spelt nearly so, NULL when none is. */
const char *section_suggest(const char *name);

/* Carries one assignment out, or notes why not. 0 or -ENOMEM. */
int key_assign(struct parser *p, const char *key, const char *value, unsigned line);
