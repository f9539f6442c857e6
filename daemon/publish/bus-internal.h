/* SPDX-License-Identifier: MIT */
/*
 * What the files of the bus share. bus.c: the connection's life. bus-sync.c: what clients were told
 * and what differs. bus-object.c: properties. bus-list.c: all of them at once. bus-manager.c, bus-device.c, bus-port.c: the
 * interfaces. bus-apply.c: setup on request. bus-actions.c: what changes something. bus-baseline.c: what was learned.
 * bus-authorize.c: who may change something. bus-logcontrol.c: LogControl1.
 *
 * Nothing here waits: no call to the bus is synchronous, and no vtable entry makes sd-bus ask for a
 * sender's credentials by itself, which it would do synchronously.
 */
#pragma once

#include "bus-budget.h"
#include "bus-names.h"
#include "fields.h"
#include "macros.h"

/* What clients were told of one object; number 0 is the device itself. */
struct told {
	struct told *next;
	uint32_t index;
	uint32_t number;
	uint64_t hash[FIELDS_MAX];
};

struct authorization;

#define APPLYING_MAX 16

struct bus {
	sd_event *event;
	const struct bus_callbacks *callbacks;
	void *user;

	sd_bus *conn;   /* NULL between two attempts */
	bool connected; /* the bus has answered our Hello */
	bool dropping;  /* conn is given up; on_reconnect() closes it */
	bool take_over; /* the name's owner is a connection that we gave up */
	usec_t connected_at;
	unsigned failures;      /* attempts since a connection last held */
	unsigned name_failures; /* attempts to get the name on this connection */
	sd_event_source *reconnect_timer;
	sd_event_source *name_timer;

	bool probing;        /* the bus was asked for a sign of life */
	usec_t probed_at;    /* when it was last */
	unsigned unanswered; /* signs of life in a row that did not come */

	sd_event_source *pressure_timer;
	bool sync_pending;                /* bus_sync() stopped half way */
	uint32_t sync_index, sync_number; /* where the next call goes on; 0: from the first */
	unsigned n_synced;                /* objects that this call has looked at */
	size_t large; /* about how long the long answers are that may still be waiting */

	struct budget budget;
	sd_event_source *answered; /* fires when the present call was dealt with */
	char answering[32];        /* whose call that is */
	bool answering_large;
	usec_t answering_since; /* of the time that this process has worked */

	struct told *told; /* in order of index, then number */
	uint64_t told_manager[FIELDS_MAX];

	struct authorization *pending;
	uint64_t tickets; /* that polkit was given */

	sd_bus_message *applying[APPLYING_MAX]; /* calls to be answered when setup has settled */
	unsigned n_applying;
	sd_event_source *apply_timer;
};

/* ---- bus.c ---- */

/*
 * True while so much is waiting to be written that nothing should be added. What is skipped must be
 * made up for later: bus_sync() is called again then, if sync_pending is set.
 */
bool bus_under_pressure(struct bus *b);

/*
 * To be called when something was sent: makes sure now and then that the bus still takes what we
 * write, and gives the connection up if not.
 */
void bus_probe(struct bus *b);

/* Gives the connection up; a new one is made after delay. */
void bus_drop(struct bus *b, usec_t delay);

/* (Re)arms a timer of ours, creating it at first. */
int bus_set_timer(
	struct bus *b, sd_event_source **source, usec_t delay, sd_event_time_handler_t handler);

/* ---- bus-sync.c ---- */

/* Takes what is now for what clients were told: for a new connection, nothing is sent. */
void bus_told_reset(struct bus *b);
void bus_told_clear(struct bus *b);

/* ---- bus-object.c ---- */

/* Appends the value to a message, unknown as the empty string or the type's maximum. */
int bus_append_field(sd_bus_message *m, const struct field *f, const struct subject *s);

/* Appends all that GetAll gives: a{sv}. */
int bus_append_fields(sd_bus_message *m, const struct field *fields, const struct subject *s);

/*
 * Reads "PREFIX/dINDEX" (ret_number NULL) or "PREFIX/dINDEXpNUMBER". Only the one spelling that
 * device_path() and port_path() write is taken: the prefix itself or "d01" is no object.
 */
bool bus_parse_path(const char *path, uint32_t *ret_index, uint32_t *ret_number);

/* The paths of all devices, or of all ports: a list ended by NULL, all of it malloc'ed. */
int bus_list_paths(const struct model *m, bool ports, char ***ret);

/* ---- bus-list.c ---- */

/* Called for every message: answers GetManagedObjects. 1 when it was that, 0 when not. */
int bus_list_filter(struct bus *b, sd_bus_message *m);

/* ---- the interfaces: each adds itself to b->conn ---- */

/* Their properties, each read by the file's own get_property(). */
#define CONST(name, type) SD_BUS_PROPERTY(name, type, get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST)
#define CHANGES(name, type) \
	SD_BUS_PROPERTY(name, type, get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
/* Changes with every reading: to be asked for by whoever wants it. */
#define QUIET(name, type) SD_BUS_PROPERTY(name, type, get_property, 0, 0)
/*
 * A field of FIELD_BY_NAME, which can be long: that it changed is signalled, but not to what; and it is
 * for those who ask for it by name. With it, whoever asks for all objects would be given tables of
 * hundreds of GIDs.
 */
#define BY_NAME(name, type)                          \
	SD_BUS_PROPERTY(name, type, get_property, 0, \
		SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION | SD_BUS_VTABLE_PROPERTY_EXPLICIT)

int bus_manager_add(struct bus *b);
int bus_device_add(struct bus *b);
int bus_port_add(struct bus *b);
int bus_logcontrol_add(struct bus *b);

/* ---- bus-actions.c ---- */

/* Everything that changes something. */
enum bus_action_id {
	ACTION_RELOAD,
	ACTION_RELEASE,
	ACTION_RESTART,
	ACTION_ACK,
	ACTION_SAVE_BASELINE,
	ACTION_DROP_BASELINE,
	ACTION_SET_LOG_LEVEL,
	ACTION_APPLY,
};

struct bus_action {
	const char *polkit_id; /* in units/org.rdmad1.policy.in; NULL: never asked */
	/*
	 * Does what the call of this user, who may, asks for, and replies to it. A negative errno
	 * says that there was no reply.
	 */
	int (*run)(struct bus *b, sd_bus_message *call, uint32_t uid);
};

extern const struct bus_action bus_actions[]; /* by enum bus_action_id */

/* An error for flags beyond the known ones: for every method that changes something. */
int bus_refuse_flags(uint64_t flags, uint64_t known, sd_bus_error *error);

/* The flags of a call that has nothing else, from its beginning; it may have been read before. */
int bus_read_flags(sd_bus_message *call, uint64_t *ret);

/* Likewise, of a call with a list of names before the flags: "ast". No list is read as NULL. */
int bus_read_objects(sd_bus_message *call, char ***ret_objects, uint64_t *ret_flags);

/* A method of that kind: reads them, and asks for leave to do the action. some: it needs a name. */
int bus_take_objects(struct bus *b, sd_bus_message *m, bool some, uint64_t known,
	enum bus_action_id action, sd_bus_error *error);

/* A method that has flags and nothing else: reads them, and asks for leave to do the action. */
int bus_take_flags(struct bus *b, sd_bus_message *m, uint64_t known, enum bus_action_id action,
	sd_bus_error *error);

/* Replies with why, or with what errno r means when that is empty. */
int bus_reply_error(sd_bus_message *call, const char *error, int r, const char *why);

/* Methods of the manager. */
int bus_reload(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_release(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_restart(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_ack(sd_bus_message *m, void *user, sd_bus_error *error);

/* ---- bus-baseline.c: methods of the manager, and their actions ---- */

int bus_describe_baseline(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_save_baseline(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_drop_baseline(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_do_save_baseline(struct bus *b, sd_bus_message *call, uint32_t uid);
int bus_do_drop_baseline(struct bus *b, sd_bus_message *call, uint32_t uid);

/* ---- bus-apply.c: a method of the manager that takes its time, and its action ---- */

int bus_apply(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_apply_objects(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_do_apply(struct bus *b, sd_bus_message *call, uint32_t uid);
void bus_apply_clear(struct bus *b);

/* ---- bus-logcontrol.c ---- */

/*
 * Setting LogLevel must ask who the caller is, which a vtable's setter cannot do without blocking.
 * Called for every message: 1 when it was such a call and is taken care of, 0 when not.
 */
int bus_logcontrol_filter(struct bus *b, sd_bus_message *m);
int bus_do_set_log_level(struct bus *b, sd_bus_message *call, uint32_t uid);

/* ---- bus-authorize.c ---- */

/*
 * Has the action run once the caller was found to be allowed to; refuses the call otherwise, and
 * when too many wait. To be returned by a method handler.
 */
int bus_authorize(struct bus *b, sd_bus_message *call, enum bus_action_id id);
void bus_authorize_clear(struct bus *b);
