/* SPDX-License-Identifier: MIT */
/*
 * What setup remembers of this boot, so that a restart neither loads again what somebody unloaded
 * nor makes again what somebody deleted. PURE: the manager keeps the text in
 * /run/rdmad/setup-memory.
 */
#pragma once

#include "names.h"
#include "protocol.h"

/* A module that was seen loaded in this boot. */
struct memory_module {
	char name[MODULE_NAME_MAX]; /* as configured: may be an alias */
	char real[MODULE_NAME_MAX]; /* as the kernel calls it */
	bool built_in;              /* cannot go away, and may have no entry in sysfs */
};

/* A software link that was made or adopted in this boot. */
struct memory_link {
	char name[RDMA_NAME_MAX];
	enum link_type type;
	char netdev[IFNAMSIZ];
	uint32_t ifindex;      /* of the netdev; a netdev that came back has another one */
	uint32_t device_index; /* UINT32_MAX unknown; stays when the device is renamed */
	bool lost;             /* its netdev was seen gone: the link is owed when it is back */
	uint32_t repairs;      /* how often it was made again after somebody deleted it */
};

/*
 * A setting that was seen as configured in this boot: if it is not any more, somebody changed it. It
 * is of a device or netdev by index, so that one that comes anew is set anew.
 */
struct memory_setting {
	enum step_kind kind;
	uint32_t index; /* STEP_INDEX_NONE: of the host */
	uint32_t port;
	uint32_t repairs; /* how often it was set again after somebody changed it */
	char name
		[STEP_NAME_MAX]; /* of an IPoIB child, which its parent's index is not enough for */
	char value[STEP_VALUE_MAX];
};

struct setup_memory {
	struct memory_module *modules;
	size_t n_modules;
	struct memory_link *links;
	size_t n_links;
	struct memory_setting *settings;
	size_t n_settings;
	bool dirty; /* differs from what was last parsed or formatted */
	/* When the module of such links went, monotonic; 0 never. Not kept. */
	usec_t unloaded[_LINK_TYPE_MAX];
};

/* Entries of each kind; what does not fit is not remembered (and said so by -E2BIG). */
#define MEMORY_MAX 4096

void setup_memory_done(struct setup_memory *m);

struct memory_module *setup_memory_module(const struct setup_memory *m, const char *name);
struct memory_link *setup_memory_link(const struct setup_memory *m, const char *name);

/* Remember, or update. 0, -ENOMEM or -E2BIG. */
int setup_memory_note_module(
	struct setup_memory *m, const char *name, const char *real, bool built_in);
int setup_memory_note_link(struct setup_memory *m, const struct memory_link *link);

/* The one with this kind, index, port and name; NULL none. */
struct memory_setting *setup_memory_setting(
	const struct setup_memory *m, const struct memory_setting *like);
int setup_memory_note_setting(struct setup_memory *m, const struct memory_setting *setting);

/* Forgets the settings of which keep() says so: what they are of is gone for good. */
typedef bool (*memory_keep)(const struct memory_setting *s, void *user);
void setup_memory_prune_settings(struct setup_memory *m, memory_keep keep, void *user);

/*
 * Reads what setup_memory_format() wrote; m must be empty. Text of another boot is ignored as a
 * whole, a line that makes no sense by itself. Returns how many entries there are now, or -ENOMEM.
 */
int setup_memory_parse(struct setup_memory *m, const char *text, const char *boot_id);

/* Writes it as text, *ret is malloc'ed, and clears dirty. 0 or -ENOMEM. */
int setup_memory_format(struct setup_memory *m, const char *boot_id, char **ret);
