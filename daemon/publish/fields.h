/* SPDX-License-Identifier: MIT */
/*
 * What is shown of the daemon, a device and a port: one table each, from which both the JSON and
 * the D-Bus properties are made, so that their names and their meaning cannot drift apart (DESIGN
 * section 8). Fields are only ever added. A field may be a list, whose rows have a table of their
 * own.
 *
 * A value that is not known is null in JSON; on D-Bus, which has no null, it is the empty string,
 * the greatest number of the type or the empty list. Within a row, which is a dictionary there, it
 * is left out.
 */
#pragma once

#include "publish.h"
#include "text.h"

enum field_type {
	FIELD_STRING,
	FIELD_U32,
	FIELD_U64,
	FIELD_BOOL,
	FIELD_PATH, /* a D-Bus object */
	FIELD_LIST, /* on D-Bus aa{sv} */
};

/* What is described. ctx for the daemon's fields, device for a device's, both for a port's; for a
 * row's, that row. */
struct subject {
	const struct publish_context *ctx;
	const struct device *device;
	const struct port *port;
	const struct reason *reason;
	const struct gid_facts *gid;
	const struct missing *missing;
	const struct setup_row *setup;
};

/* string may point into the subject or into text. */
struct value {
	bool known;
	bool flag;
	uint64_t number;
	const char *string;
	const struct verdict *verdict; /* whose reasons the list has */
	char text[TEXT_MAX];
};

enum field_use {
	FIELD_EVERYWHERE,
	FIELD_BUS_ONLY,
	FIELD_QUIET,   /* everywhere, but its changes are not signalled */
	FIELD_BY_NAME, /* everywhere, but on D-Bus only for who asks for it by its name */
};

struct list;

struct field {
	const char *name;
	enum field_type type;
	enum field_use use;
	void (*get)(const struct subject *s, struct value *v);
	const struct list *list; /* of a FIELD_LIST */
	bool brief;              /* of a device or a port: also in a brief description */
};

struct list {
	const struct field *fields; /* of a row; ends with a field without a name */
	/* Makes *ret the row i of the list v of s; false: there are no more. */
	bool (*row)(const struct subject *s, const struct value *v, size_t i, struct subject *ret);

	/* A number that differs when the list does; NULL: the rows are compared. */
	uint64_t (*version)(const struct subject *s);
};

#define FIELDS_MAX 40

/* Each ends with a field without a name. */
extern const struct field manager_fields[];
extern const struct field device_fields[];
extern const struct field port_fields[];

/* ---- fields-lists.c ---- */

extern const struct list reason_list;
extern const struct list gid_list;
extern const struct list missing_list;
extern const struct list setup_list;

/* ---- fields.c ---- */

/* For getters: "" and NULL are "not known", and so is a time that is not set. */
void value_set_string(struct value *v, const char *s);
void value_set_number(struct value *v, uint64_t number, bool known);
void value_set_flag(struct value *v, bool flag);
void value_set_time(struct value *v, struct timepoint t);
void value_set_reasons(struct value *v, const struct verdict *verdict);

/* Fills *v; text is valid UTF-8 then. */
void field_get(const struct field *f, const struct subject *s, struct value *v);

/* Its type on D-Bus. */
const char *field_signature(const struct field *f);

/* A number that differs when the value of s does. */
uint64_t field_hash(const struct field *f, const struct subject *s);

/* The field of that name, NULL when there is none. */
const struct field *field_find(const struct field *fields, const char *name);

/* Object paths by index, which never changes and is never used again (DESIGN rule 6). */
#define OBJECT_PATH_MAX 64
const char *device_path(uint32_t index, char buf[OBJECT_PATH_MAX]);
const char *port_path(uint32_t index, uint32_t number, char buf[OBJECT_PATH_MAX]);
