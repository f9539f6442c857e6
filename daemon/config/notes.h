/* SPDX-License-Identifier: MIT */
/*
 * What reading the configuration understood, file by file and line by line, for those who want to
 * show it ("rdmactl verify"). The daemon does not keep it.
 */
#pragma once

#include "config.h"

enum config_note_kind {
	NOTE_FILE,    /* a file was read */
	NOTE_MASKED,  /* a file is a link to /dev/null */
	NOTE_SECTION, /* a section begins */
	NOTE_KEY,     /* an assignment that the later one overrides */
	NOTE_LIST,    /* an assignment that appends to a list, or empties it */
};

struct config_note {
	enum config_note_kind kind;
	struct config_origin origin; /* line 0: the file */
	char *section;               /* as it stands between the brackets; NULL for files */
	char *key, *value;           /* of assignments */
};

/* In the order in which they were read. */
struct config_notes {
	struct config_note *items;
	size_t n;
};

void config_notes_done(struct config_notes *notes);

/* Whether it is of a section of that kind, "Device" for [Device mlx5_0]. */
bool config_note_is_of(const struct config_note *note, const char *kind);

/* config_load() and, with a path, config_load_file(), with notes. */
int config_load_noted(
	const char *root, const char *path, struct config **ret, struct config_notes *ret_notes);

/* Inside of the room: adds one; list NULL: nobody wants to know. 0 or -ENOMEM. */
int config_notes_add(struct config_notes *notes, enum config_note_kind kind, const char *file,
	unsigned line, const char *section, const char *key, const char *value);
