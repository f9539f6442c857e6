/* SPDX-License-Identifier: MIT */
/*
 * What is shown of the daemon, a device and a port: one table each, from which both the JSON and
 * the D-Bus properties are made, so that their names and their meaning cannot drift apart (DESIGN
 * section 8). Fields are only ever added.
 *
 * A value that is not known is null in JSON; on D-Bus, which has no null, it is the empty string or
 * the greatest number of the type.
 */
#pragma once

#include "publish.h"
#include "text.h"

enum field_type {
	FIELD_STRING,
	FIELD_U32,
	FIELD_U64,
	FIELD_BOOL,
	FIELD_PATH,    /* a D-Bus object */
	FIELD_REASONS, /* of a verdict */
};

/* What is described. ctx for the daemon's fields, device for a device's, both for a port's. */
struct subject {
	const struct publish_context *ctx;
	const struct device *device;
	const struct port *port;
};

/* string may point into the subject or into text. */
struct value {
	bool known;
	bool flag;
	uint64_t number;
	const char *string;
	const struct verdict *verdict;
	char text[TEXT_MAX];
};

enum field_use {
	FIELD_EVERYWHERE,
	FIELD_BUS_ONLY,
	FIELD_QUIET, /* everywhere, but its changes are not signalled */
};

struct field {
	const char *name;
	enum field_type type;
	enum field_use use;
	void (*get)(const struct subject *s, struct value *v);
};

#define FIELDS_MAX 40

/* Each ends with a field without a name. */
extern const struct field manager_fields[];
extern const struct field device_fields[];
extern const struct field port_fields[];

/* Fills *v; text is valid UTF-8 then. */
void field_get(const struct field *f, const struct subject *s, struct value *v);

/* A number that differs when the value does. */
uint64_t field_hash(const struct field *f, const struct value *v);

/* The field of that name, NULL when there is none. */
const struct field *field_find(const struct field *fields, const char *name);

/* Object paths by index, which never changes and is never used again (DESIGN rule 6). */
#define OBJECT_PATH_MAX 64
const char *device_path(uint32_t index, char buf[OBJECT_PATH_MAX]);
const char *port_path(uint32_t index, uint32_t number, char buf[OBJECT_PATH_MAX]);
