/* SPDX-License-Identifier: MIT */
/*
 * The kinds of records that rdmad writes into the journal, by their MESSAGE_ID
 * (daemon/publish/message-ids.h).
 */
#pragma once

#include <stddef.h>

enum event_kind {
	EVENT_STATE,     /* a condition appeared or went away, or a port blipped */
	EVENT_INVENTORY, /* another firmware, GUID, slot, netdev, ... than before */
	EVENT_CONFIG,    /* configuration was loaded */
	EVENT_ADMIN,     /* somebody told rdmad to do something, or it was restarted */
	_EVENT_KIND_MAX,
};

/* "state"; NULL beyond the last. */
const char *event_kind_name(enum event_kind kind);

/* The MESSAGE_ID of the table's nth kind of record, NULL at the end, and what kind that is. */
const char *event_message_id(size_t n, enum event_kind *ret_kind);

/* Kind of a record by its MESSAGE_ID; _EVENT_KIND_MAX when it is none of rdmad's. */
enum event_kind event_kind_of(const char *message_id);

/* All kinds that there are records of, as a set of bits (1 << kind). */
unsigned event_kinds_all(void);

/*
 * A set from "state,inventory". Returns 0, or -EINVAL with the word that is none in *ret_wrong (to
 * be freed), or -ENOMEM.
 */
int event_kinds_parse(const char *s, unsigned *ret, char **ret_wrong);
