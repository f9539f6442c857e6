/* SPDX-License-Identifier: MIT */
/*
 * The ways out: journal, D-Bus, sd_notify, state file. They read the model and its edges and
 * compute nothing (DESIGN section 3); the manager calls them.
 */
#pragma once

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "config.h"
#include "inventory.h"
#include "judge.h"
#include "model.h"

/* What a description needs besides the model. */
struct publish_context {
	const struct model *model;
	const struct setup_row *setup; /* what DESIGN section 8 shows as Setup[] */
	size_t n_setup;
	uint64_t config_generation;        /* counts successful loads, from 1 */
	const struct inventory *inventory; /* what is known of adapters over time; NULL: nothing */
	int learning_persists;     /* what is learned outlives this boot: 1, 0, or -1 not known */
	bool expects_anything;     /* the configuration says what is to be there */
	bool ready;                /* everything was looked at once */
	char previous_version[32]; /* that this run goes on from; "" : it began anew */
	usec_t gap;                /* how long nobody watched in between */
};

/* One row of Setup[]. */
struct setup_row {
	const char *step;   /* "load-module", "roce-mode" */
	const char *object; /* module, link, device, port or netdev */
	const char *found, *wanted, *detail, *remedy;
	const char *call; /* the command that would do it, NULL none is needed; the row owns it */
	enum step_result result;
	bool disruptive;
};

/* ---- describe.c: the JSON of DESIGN section 8 ---- */

enum describe_form {
	DESCRIBE_COMPACT,
	DESCRIBE_PRETTY, /* indented by two */
	/*
	 * Compact, and of devices and ports only how they are and what is needed to say so; what is
	 * null or empty there is left out. A fourth of the whole, for who asks often.
	 */
	DESCRIBE_BRIEF,
};

/*
 * The whole text; *ret is malloc'ed. At most max_events of the last events are in it (key Events[],
 * oldest first). 0 or -ENOMEM.
 */
int describe_text(const struct publish_context *ctx, struct timepoint now, unsigned max_events,
	enum describe_form form, char **ret);

/* ---- describe-counters.c ---- */

/*
 * The counters of all devices and ports whose name (mlx5_0, mlx5_0/1) the pattern (glob(7)) fits, NULL
 * for all, as JSON; *ret is malloc'ed. 0 or -ENOMEM.
 */
int describe_counters_text(
	const struct publish_context *ctx, struct timepoint now, const char *pattern, char **ret);

/* ---- describe-rules.c ---- */

/* The rules that an object was judged by, for describe_rules_text(). */
struct rule_list;
struct rule_list *rule_list_new(void);
struct rule_list *rule_list_free(struct rule_list *l);
/* For a struct rule_listener, whose user is the list. */
void rule_list_note(const struct rule_note *n, void *user);

/* {"Object":…,"HealthState":…,"Rules":[…],"Reasons":[…]}; *ret is malloc'ed. 0 or -ENOMEM. */
int describe_rules_text(
	const char *object, const struct verdict *v, struct rule_list *l, char **ret);

/* ---- describe-baseline.c ---- */

/* What was learned, also of adapters that are not here, as JSON; *ret is malloc'ed. 0 or -ENOMEM. */
int describe_baseline_text(const struct publish_context *ctx, struct timepoint now, char **ret);

/* ---- journal.c ---- */

enum edge_kind {
	EDGE_RAISED,  /* a condition appeared, or got worse */
	EDGE_CLEARED, /* it went away */
	EDGE_EVENT,   /* it happened and is over: a blip */
	EDGE_REMINDER,
	EDGE_EXPLAINED, /* it stands, and now it is known why */
};

/* One thing to tell. Pointers are borrowed for the call. */
struct edge {
	enum edge_kind kind;
	const struct device *device;   /* NULL: the host, or something that is not there */
	const struct port *port;       /* NULL: the device itself */
	const struct missing *missing; /* instead of device: what is not there; else NULL */
	const char *object;            /* "rxe0/1", "rxe0", or the subject of a host reason */
	const char *netdev;            /* INTERFACE=; NULL none */
	const struct reason *reason;
	enum health old_health, new_health;
	const char *message; /* the whole sentence, beginning with the object */
	int error;           /* ERRNO=, positive; 0 none */
};

/* Something about an adapter that differs from before; no condition, and nothing for health. */
struct inventory_record {
	const char *object; /* "mlx5_0", "mlx5_0/1" */
	const char *device; /* its name, now or when it was last here */
	uint64_t node_guid;
	uint32_t port;      /* 0: of the adapter itself */
	const char *netdev; /* INTERFACE=; NULL none */
	const char *fact;   /* "firmware", "slot", ... */
	const char *before, *after;
	const char *message;
};

/* What became of an order to load the configuration. */
struct config_record {
	bool loaded;
	uint64_t generation; /* that is in force now */
	const char *why;     /* not loaded: a sentence with file and line */
	const char *message;
};

/* Somebody told the daemon to do something. */
struct admin_record {
	const char *action; /* "ack", "unack", "release", "take-back", "reload" */
	const char *object; /* "mlx5_0/1", "host" */
	const char *by;     /* "root", "uid 1000" */
	const char *reason; /* ack: of the condition; NULL none */
	const char *comment;
	const char *message;
};

/* This run goes on where another one ended. */
struct restart_record {
	const char *old_version, *new_version;
	const char *why; /* "restart", "stop"; "": it was killed or crashed */
	usec_t gap;      /* how long nobody watched; at most, where why is "" */
	const char
		*uncounted; /* ports of which nothing tells whether they fell meanwhile; "" none */
	const char *message;
};

/* A storm of falling links is over: what its ports had no records for, summed up. */
struct storm_record {
	unsigned ports;
	uint64_t falls;
	unsigned overruns; /* times that messages of the kernel were lost */
	const char *message;
};

/*
 * Writes one structured record (DESIGN section 9), or keeps it while journald does not read; never
 * waits. Where there is no journal the message goes to stderr, as log_write() does it. Returns 0,
 * also then, or a negative errno (already written to stderr as well).
 */
int journal_edge(const struct edge *e);

/* Likewise for a change of the inventory: a notice, with RDMAD_REASON=inventory. */
int journal_inventory(const struct inventory_record *i);

/* Likewise: a notice, or an error when it was not loaded, with RDMAD_REASON=config. */
int journal_config(const struct config_record *c);

/* Likewise: a notice, with RDMAD_GAP_USEC=. */
int journal_restart(const struct restart_record *r);

/* Likewise: a notice with RDMAD_ACTION=. */
int journal_admin(const struct admin_record *a);

/* Likewise: a notice, with RDMAD_REASON=link-storm. */
int journal_storm(const struct storm_record *s);

/* Lets records that journald did not take at once be sent from the loop. Call once at start. */
void journal_attach(sd_event *event);

/* A field of a record; the value does not end with a zero. */
struct journal_field {
	const char *key;
	const char *value;
	size_t size;
};

typedef void (*journal_listener_t)(void *user, const struct journal_field *fields, size_t n);

/*
 * Has each record be told to somebody else, too, when it is made and whatever becomes of it; but for
 * reminders, which are no news. NULL ends that.
 */
void journal_listen(journal_listener_t listener, void *user);

/* Sends what was kept, as far as journald takes it; called by itself when attached. */
void journal_flush(void);
void journal_done(void); /* at exit: a last flush, then forgets what is left */

/* For tests: where the journal's datagram socket is. */
void journal_set_socket(const char *path);

/* The MESSAGE_ID (publish/message-ids.h) of such an edge; NULL for a reason that does not exist. */
const char *journal_message_id(enum edge_kind kind, enum reason_id id);

/* ---- notify.c ---- */

void notify_ready(void);
void notify_reloading(void); /* RELOADING=1 with MONOTONIC_USEC=; notify_ready() must follow */
void notify_stopping(void);  /* ends a reload first, should one be going on */
/* Sends STATUS= when it differs from the last one. */
void notify_status(const char *text);

/* ---- state-file.c ---- */

/* Replaces dir/name atomically with text, mode 0644. Negative errno: the old file is still there. */
int state_file_write(const char *dir, const char *name, const char *text);
/* Keeps dir/name as dir/name.bad, for whoever wants to know what was in it. */
int state_file_set_aside(const char *dir, const char *name);
/* Says by the time of dir/name that what is in it still holds. */
int state_file_touch(const char *dir, const char *name);

/* ---- bus.c ---- */

struct bus;

struct acknowledge_call {
	const char *object, *reason, *comment;
	bool undo;
};

struct bus_callbacks {
	/*
	 * Reload the configuration: 0, or a negative errno with a sentence in why. -EINVAL and
	 * -EBADMSG are the fault of the files (error ConfigInvalid), any other is ours (Failed).
	 */
	int (*reload)(void *user, uint32_t uid, char *why, size_t why_size);
	/*
	 * Release the devices of these objects (NULL ends them) for so long, or take them back for
	 * 0: 0, or -ENODEV with a sentence in why, then nothing was done.
	 */
	int (*release)(void *user, char *const *objects, usec_t duration, uint32_t uid, char *why,
		size_t why_size);
	/*
	 * Acknowledge standing conditions of an object (reason "port-down", or "setup-failed:siw" of a
	 * subject), or take that back: 0; -ENODEV no such object, -ESRCH no such condition stands, -EINVAL
	 * no such reason, with a sentence in why.
	 */
	int (*acknowledge)(void *user, const struct acknowledge_call *c, uint32_t uid, char *why,
		size_t why_size);
	/*
	 * Carry out what the configuration asks for and is not in force, now, of all (objects NULL) or
	 * of these (NULL ends them); disruptive: also where that disturbs traffic. 0, and bus_applied()
	 * is called when it has settled, or a negative errno (-ENODEV: no such object) with a sentence
	 * in why, then nothing was done.
	 */
	int (*apply)(void *user, char *const *objects, bool disruptive, uint32_t uid, char *why,
		size_t why_size);
	/*
	 * Have the new binary go on in place of this one: 0, and bus_restart_*() answers the call; else
	 * a negative errno with a sentence in why.
	 */
	int (*restart)(void *user, uint32_t uid, bool in_place, sd_bus_message *call, char *why,
		size_t why_size);
	/* What the rules came to for an object, as JSON; -ENODEV: there is no such object. */
	int (*explain)(void *user, const char *object, char **ret);
	/*
	 * Learn the ports of these objects (none: of all) that are ACTIVE, or forget what was
	 * learned of them; *ret_n is of how many. 0, or -ENODEV with a sentence in why, then
	 * nothing was done.
	 */
	int (*save_baseline)(
		void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size);
	int (*drop_baseline)(
		void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size);
	/* The context to describe from, valid until the next event is dispatched. Never NULL. */
	const struct publish_context *(*context)(void *user);
};

/*
 * Starts to be on the bus, whenever there is one: connects when the system bus's socket appears,
 * asks for org.rdmad1, and does so again when the bus was restarted. Nothing here blocks. Returns 0
 * also when no bus exists yet.
 */
int bus_new(sd_event *event, const struct bus_callbacks *cb, void *user, struct bus **ret);
struct bus *bus_free(struct bus *b);

/* The answer to a call of Restart(): the version that goes on, or why none does. */
void bus_restart_accepted(sd_bus_message *call, const char *version);
void bus_restart_refused(sd_bus_message *call, const char *why);

/*
 * Tells the bus what changed since the last call: compares what clients can see of every object
 * with what they were told, and sends InterfacesAdded/Removed and one PropertiesChanged per
 * interface with just the names that differ. Does nothing while there is no bus; goes on by itself
 * later when the bus is slow. Stops after about budget, not before one object is up to date: returns
 * true then, and the next call goes on with the objects behind; what changes meanwhile needs another
 * pass after that.
 */
bool bus_sync(struct bus *b, usec_t budget);

/*
 * Takes a device's objects off the bus (InterfacesRemoved) at once. The next bus_sync() does the
 * same for every device that has left the model: nothing here points into the model.
 */
void bus_forget_device(struct bus *b, const struct device *d);

/* Signal Event with the fields of a journal record; lost without a bus. */
void bus_event(struct bus *b, const struct journal_field *fields, size_t n);

/* What apply() began has settled: who waits for that is answered. */
void bus_applied(struct bus *b);

/* Signal HealthChanged for a port, a device, or (both NULL) the host; lost without a bus. */
void bus_health_changed(struct bus *b, const struct device *d, const struct port *p,
	enum health old_health, const struct verdict *v);
