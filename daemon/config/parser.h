/* SPDX-License-Identifier: MIT */
/* Inside of the room: from sections and assignments to struct config. */
#pragma once

#include "config.h"
#include "macros.h"
#include "notes.h"
#include "reader.h"

/* Sections of one kind and list entries; more is a mistake, and lookups are linear. */
#define CONFIG_ITEMS_MAX 1024

/* Problems that are named per file. */
#define CONFIG_PROBLEMS_MAX 50

enum section_kind {
	SECTION_NONE, /* unknown or refused: its keys are left out */
	SECTION_DAEMON,
	SECTION_SETUP,
	SECTION_MODULES,
	SECTION_SYSTEM,
	SECTION_HEALTH,
	SECTION_LINK,
	SECTION_DEVICE,
	SECTION_PORT,
	SECTION_EXPECT,
	SECTION_IPOIB,
	SECTION_COUNTER,
	_SECTION_MAX,
};

/* Where the parser is in one file. */
struct parser {
	struct config *config;
	const char *file;
	enum section_kind section;
	size_t item; /* of the sections of this kind, the one that it is in */
	unsigned n_problems;
	struct config_notes *notes; /* NULL: not wanted */
	char header[64]; /* of the section, for the notes; the reader knows no longer one */
};

extern const struct reader_callbacks parser_callbacks; /* user is a struct parser */

/* Notes a problem of the file; line 0 is the file as a whole. 0 or -ENOMEM. */
int parser_problem(struct parser *p, unsigned line, const char *fmt, ...) _printf_(3, 4);

/*
 * Takes out the links and the [Expect] sections that are incomplete or in each other's way, and
 * P_Keys of interfaces that are not made here, with a problem each.
 */
int parser_finish(struct config *c);

/* counter-rule.c: takes out thresholds that no counter can reach, with a problem each. 0, -ENOMEM. */
int config_check_counters(struct config *c);

/* config.c: notes a problem. 0 or -ENOMEM. */
int config_add_problem(struct config *c, const char *file, unsigned line, const char *text);
/* config.c: notes where the field at that offset was set, or that it has its default. */
int config_note_set(struct config *c, size_t offset, bool set, const char *file, unsigned line);
void config_link_done(struct config_link *l);
void config_expect_done(struct config_expect *e);
