/* SPDX-License-Identifier: MIT */
/*
 * What the files of the bus share. bus.c: the connection's life. bus-sync.c: what clients were told
 * and what differs. bus-object.c: properties. bus-manager.c, bus-device.c, bus-port.c: the
 * interfaces. bus-baseline.c: what was learned. bus-authorize.c: who may
 * change something. bus-logcontrol.c: LogControl1.
 *
 * Nothing here waits: no call to the bus is synchronous, and no vtable entry makes sd-bus ask for a
 * sender's credentials by itself, which it would do synchronously.
 */
#pragma once

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

	bool probing;     /* the bus was asked for a sign of life */
	usec_t probed_at; /* when it was last */

	sd_event_source *pressure_timer;
	bool sync_pending; /* bus_sync() stopped half way */

	struct told *told; /* in order of index, then number */
	uint64_t told_manager[FIELDS_MAX];

	struct authorization *pending;
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

/*
 * Reads "PREFIX/dINDEX" (ret_number NULL) or "PREFIX/dINDEXpNUMBER". Only the one spelling that
 * device_path() and port_path() write is taken: the prefix itself or "d01" is no object.
 */
bool bus_parse_path(const char *path, uint32_t *ret_index, uint32_t *ret_number);

/* The paths of all devices, or of all ports: a list ended by NULL, all of it malloc'ed. */
int bus_list_paths(const struct model *m, bool ports, char ***ret);

/* ---- the interfaces: each adds itself to b->conn ---- */

int bus_manager_add(struct bus *b);
int bus_device_add(struct bus *b);
int bus_port_add(struct bus *b);
int bus_logcontrol_add(struct bus *b);

/* ---- bus-baseline.c: methods of the manager ---- */

int bus_describe_baseline(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_save_baseline(sd_bus_message *m, void *user, sd_bus_error *error);
int bus_drop_baseline(sd_bus_message *m, void *user, sd_bus_error *error);

/*
 * Setting LogLevel must ask who the caller is, which a vtable's setter cannot do without blocking.
 * Called for every message: 1 when it was such a call and is taken care of, 0 when not.
 */
int bus_logcontrol_filter(struct bus *b, sd_bus_message *m);

/* ---- bus-authorize.c ---- */

/* Does what the call of this user asks for, and replies to it. */
typedef int (*bus_action_t)(struct bus *b, sd_bus_message *call, uint32_t uid);

/*
 * Has action run once the bus has said that the caller is root or our own user; refuses the call
 * otherwise, and when too many wait. To be returned by a method handler.
 */
int bus_authorize(struct bus *b, sd_bus_message *call, bus_action_t action);
void bus_authorize_clear(struct bus *b);
