/* SPDX-License-Identifier: MIT */
/* Inside of the room: every section and key there is, and what an assignment does. */
#pragma once

#include "parse.h"
#include "parser.h"

struct section_name {
	const char *name;
	enum section_kind kind; /* SECTION_NONE: promised for later */
	const char *example;    /* a header with its name; NULL: it takes none */
};

/* The section of that name, NULL when there is none. */
const struct section_name *section_lookup(const char *name);

/* A section or key that is spelt nearly so, NULL when none is. */
const char *section_suggest(const char *name);

/* Carries one assignment out, or notes why not. 0 or -ENOMEM. */
int key_assign(struct parser *p, const char *key, const char *value, unsigned line);

/* Whether the key appends to a list. */
bool key_is_list(enum section_kind section, const char *key);

struct key;
typedef int (*key_parse)(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line);

/* Each parser uses the columns that it needs. */
struct key {
	enum section_kind section;
	const char *name;
	key_parse parse;
	size_t offset; /* into struct config */
	usec_t min, max, dflt;
};

#define DECLARE_KEY(name)                                                                   \
	int name(struct parser *p, const struct key *k, const char *key, const char *value, \
		unsigned line)

/* keys-setup.c: the keys that say how the host is to be set up. */
DECLARE_KEY(key_load);
DECLARE_KEY(key_deny);
DECLARE_KEY(key_load_for);
DECLARE_KEY(key_netns_mode);
DECLARE_KEY(key_privileged_qkey);
DECLARE_KEY(key_device_name);
DECLARE_KEY(key_node_description);
DECLARE_KEY(key_adaptive_moderation);
DECLARE_KEY(key_roce_mode);
DECLARE_KEY(key_roce_tos);
DECLARE_KEY(key_optional_counters);
DECLARE_KEY(key_ipoib_parent);
DECLARE_KEY(key_ipoib_pkey);
DECLARE_KEY(key_ipoib_mode);
DECLARE_KEY(key_ipoib_mtu);
DECLARE_KEY(key_ipoib_umcast);
