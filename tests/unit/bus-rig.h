/* SPDX-License-Identifier: MIT */
/*
 * A private dbus-daemon with the policy file that is installed, rdmad's side of the bus on it with a
 * model to serve, and a client, the last two in one event loop, so that each step is certain.
 */
#pragma once

#include "test.h"

#include "bus-names.h"
#include "publish.h"

#define DEADLINE   (10 * USEC_PER_SEC)
#define DEVICE3    BUS_DEVICE_PREFIX "/d3"
#define PORT3      BUS_PORT_PREFIX "/d3p1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OM         "org.freedesktop.DBus.ObjectManager"

extern char address[64]; /* of the private bus */
extern sd_event *loop;
extern sd_bus *client;
extern usec_t call_timeout;
extern struct bus *bus;
extern struct model model; /* with device 3, "rxe0", which has one port, ACTIVE */
extern struct publish_context context;
extern struct device *device;  /* that one */
extern int reload_result;      /* what the reload callback returns */
extern unsigned n_reloads;     /* how often it was called */
extern usec_t released;        /* for how long the release callback was asked to */
extern char acknowledged[256]; /* what the acknowledge callback was told last */
extern char applied[256];      /* what the apply callback was told last */
extern const struct timepoint now;

/* What the client heard since the last clear_heard(). */
struct heard {
	unsigned changed, added, removed, health, events;
	char path[64];   /* of the last PropertiesChanged */
	char object[64]; /* of the last InterfacesAdded or -Removed */
	char interface[64];
	char names[512];      /* of all PropertiesChanged, each followed by a blank */
	char invalidated[64]; /* likewise, without their values */
	char text[256];       /* of the last HealthChanged: path, old, new, first reason */
	char fields[1024];    /* of the last Event, each as KEY=VALUE and a blank */
};
extern struct heard heard;
void clear_heard(void);

/* rdmad is started before the bus; returns when it has its name. For cmocka. */
int rig_set_up(void **state);
int rig_tear_down(void **state);

void start_bus(void);
void stop_bus(void); /* kills it */
void connect_client(void);
sd_bus *connect_bus(void); /* one more connection in the loop, as the present effective user */

/* Waits until somebody owns the name. */
bool wait_for_name(usec_t span);

/* Machines that emulate, and sanitizers, say by how much they are slower. */
usec_t slowness(void);

/* Turns the loop once, waiting for most at most. */
void turn(usec_t most);

/* Turns the loop until *done, or for span at most; returns whether it is done. */
bool turn_until(const bool *done, usec_t span);

/* Has the client call rdmad; the reply or error is valid until the next call. */
sd_bus_message *call(
	const char *path, const char *interface, const char *member, const char *types, ...);

/* Sends a call from the client, waits likewise, and drops the call. */
sd_bus_message *finish_call(sd_bus_message *call);

/* Everything that rdmad sent before has been heard after this. */
void settle(void);

void assert_error(sd_bus_message *m, const char *name);

struct device *see_device(uint32_t index, const char *name, uint32_t ports);
void see_port(struct port *p, enum port_state state);
