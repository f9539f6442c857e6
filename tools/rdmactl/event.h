/* SPDX-License-Identifier: MIT */
/*
 * One record of rdmad's in the journal: its fields, whether it is asked for, its JSON. Where it is
 * read from is event-journal.h's business.
 */
#pragma once

#include <jansson.h>

#include "event-kind.h"
#include "rdmactl.h"

enum event_field {
	EVENT_MESSAGE,
	EVENT_MESSAGE_ID,
	EVENT_PRIORITY,
	EVENT_OBJECT,
	EVENT_REASON,
	EVENT_EDGE,
	EVENT_SEVERITY,
	EVENT_CLASS,
	EVENT_SUBJECT,
	EVENT_OLD_STATE,
	EVENT_NEW_STATE,
	EVENT_ACTION,
	EVENT_BY,
	EVENT_COMMENT,
	EVENT_FACT,
	EVENT_BEFORE,
	EVENT_FOUND,
	EVENT_WANTED,
	EVENT_REMEDY,
	EVENT_DEVICE,
	EVENT_PORT,
	EVENT_GUID,
	EVENT_NETDEV,
	EVENT_BOOT_ID,
	_EVENT_FIELD_MAX,
};

struct event {
	usec_t when;
	enum event_kind kind;
	char *fields[_EVENT_FIELD_MAX]; /* NULL: the record has none */
};

/* Gets one field of a record: a copy, NULL when it has none. */
typedef char *(*event_getter)(void *user, const char *field);

/* Fills *ret from a record; to be released with event_done(). */
void event_read(struct event *ret, usec_t when, event_getter get, void *user);
void event_done(struct event *e);

/* Whether the record is rdmad's, and about what the patterns select. */
bool event_selected(const struct options *o, const struct event *e);

/* The kinds that --kind= asks for, all without it. 0, or the exit status after having said why. */
int event_kinds_option(const struct options *o, unsigned *ret);

/* syslog's priority, 0 to 7; 6 where the record has none. */
int event_priority(const struct event *e);

/* A new reference; the keys are those of Events in the description, and more. */
json_t *event_json(const struct event *e);
