/* SPDX-License-Identifier: MIT */
/*
 * What the files of the manager share: manager.c (life, timers, readiness, reload),
 * manager-listing.c (what there is), manager-events.c (what the kernel tells), manager-port.c
 * (readings and verdicts of ports), manager-facts.c (what else is read), manager-release.c,
 * manager-admin.c (acknowledging, and who did what), manager-setup.c (plan and steps),
 * manager-inventory.c (what changes rarely), manager-picture.c (where that is kept),
 * manager-keep.c (what the next run is handed), manager-restart.c (when that one is to begin), manager-baseline.c (what was learned of it) and manager-output.c (what is shown). For nobody else.
 */
#pragma once

#include "config.h"
#include "edges.h"
#include "inventory.h"
#include "judge.h"
#include "manager.h"
#include "model.h"
#include "netdev.h"
#include "pool.h"
#include "publish.h"
#include "rdma-monitor.h"
#include "uevent.h"

/* DEVICE_FATAL comes also with an ordinary removal: it counts when the device outlives this. */
#define FATAL_SETTLE (5 * USEC_PER_SEC)

struct manager_inventory;
struct manager_keep;
struct manager_restart;
struct manager_setup;

/* One kind of reading of one object by the slow lane: at most one at a time. */
struct ask {
	usec_t asked; /* mono, of the last one; 0 never */
	bool in_flight;
	bool again;  /* is to be asked (once more) when that can be done */
	bool absent; /* counters: the driver has none of this source */
};

/* Hangs on a device in the model. */
struct device_watch {
	struct ask details;
	struct ask settings; /* of its ports, too */
	struct ask counters; /* the device's own */
	struct ask devlink;
	struct ask vf_policy;
	bool recalled;      /* of the run before this one: not listed yet */
	bool slow_recalled; /* likewise, that its slow lane is late */
	bool asked;         /* for a verbs context, or decided that there is none to ask for */
	bool held;
	bool node_gone; /* its uverbs node went; the next listing says whether it went, too */
	bool pins;      /* not held since it would pin the module */
	bool vanished; /* when it was to be opened, or was; the listing after that did not say so */
};

/* Hangs on a port in the model. */
struct port_watch {
	struct port_edges edges;
	struct ask tables;
	struct ask counters[_COUNTER_SOURCE_MAX];
	struct ask qos;       /* of its netdev */
	struct ask link;      /* likewise, why it is down */
	uint32_t qos_ifindex; /* which one that was when it was asked */
	uint32_t link_ifindex;
};

static inline struct device_watch *device_watch(const struct device *d)
{
	return d->user;
}

static inline struct port_watch *port_watch(const struct port *p)
{
	return p->user;
}

struct manager {
	sd_event *event;
	struct manager_options options;
	struct config *config;
	uint64_t config_generation;
	struct model model;
	struct edges edges;

	struct pool *pool;
	struct uevent_monitor *uevents;
	struct netdev_monitor *netdevs;
	struct rdma_monitor *rdma; /* NULL: the kernel has no such group, or no RDMA yet */
	struct bus *bus;
	struct manager_setup *setup;
	struct manager_inventory *inventory;
	struct manager_keep *keep;
	struct manager_restart *restart; /* one is under way */
	struct publish_context context;

	sd_event_source *uevent_io, *netdev_io, *rdma_io, *sighup, *post;
	sd_event_source *probe_timer;   /* list and read everything again */
	sd_event_source *counter_timer; /* CounterSec= */
	sd_event_source *slow_timer;    /* SlowCounterSec= */
	sd_event_source *recheck_timer; /* a verdict changes by time alone, an edge is to be told */
	sd_event_source *retry_timer;   /* a request found its worker busy, or is not due yet */
	sd_event_source *show_idle;     /* shows what changed, when there is nothing else to do */
	sd_event_source *show_timer;    /* the same, though there is */
	sd_event_source *plan_timer;    /* plans again what changed meanwhile */
	sd_event_source *state_timer;   /* the state file, at most once a second */
	sd_event_source *budget_timer;  /* READY whatever is still missing */

	usec_t recheck_at, retry_at;
	unsigned n_retries; /* in a row that found something busy still */
	bool found_busy;    /* since the last retry */
	usec_t slept;       /* how long the host has slept since it booted, as far as was noticed */
	const char *ending; /* KEEP_WHY_*: why this run ends, when it does */
	bool listing, list_again;
	bool list_failing; /* said once */
	bool list_silent;  /* the scout was given up */
	int list_refused;  /* errno of RDMA netlink, told once; 0 not refused */
	bool ready;
	bool host_dirty;      /* the host's verdict is to be made again */
	bool plan_dirty;      /* facts that the plan depends on have changed */
	bool state_dirty;     /* something that is shown has changed */
	bool show_unfinished; /* what is shown was told to a part of the bus */
	usec_t show_after; /* mono: not shown again sooner unless idle; see manager_pause_after() */
	usec_t plan_after; /* mono: not planned again sooner */
	usec_t state_written, state_wanted;
	usec_t state_held; /* mono: its time says that up to then it was what is known */
	int state_error;   /* of the last write, said once per kind */
};

/* ---- manager.c ---- */
/* Makes the event loop call back at that time or sooner. */
void manager_recheck_at(struct manager *m, usec_t mono);
/* To be called before ports are read or judged: after a sleep links take their time. */
void manager_notice_resume(struct manager *m);
/* Something could not be asked for now: try again shortly, less often the longer that lasts. */
void manager_retry_soon(struct manager *m);
/* Something is not to be asked for before that time. */
void manager_retry_at(struct manager *m, usec_t mono);
/*
 * What looks at all there is takes long in a storm, which gives reason for it all the time: it gets
 * at most a fifth of the time. When it may be done again, if it was begun then and is done now; mono.
 */
usec_t manager_pause_after(usec_t begin);
struct timepoint manager_now(struct manager *m);
/* A timer that does not run yet. */
int manager_add_timer(struct manager *m, sd_event_source **ret, usec_t accuracy,
	sd_event_time_handler_t handler, void *user, const char *name);
/* Makes a timer run once, so long from now. */
void timer_in(sd_event_source *timer, usec_t delay);
bool timer_is_armed(sd_event_source *timer);

/* ---- manager-listing.c ---- */
void manager_request_listing(struct manager *m);
int manager_see_netdev(const struct netdev_facts *f, void *user);
int manager_see_address(const struct address_facts *f, void *user);
void on_pool_device(const struct device_facts *f, void *user);
void on_pool_netdev(const struct netdev_facts *f, void *user);
void on_pool_address(const struct address_facts *f, void *user);
void on_pool_elsewhere(const struct elsewhere_facts *f, void *user);
void on_pool_system(const struct system_facts *f, void *user);
void on_pool_listed(const struct pool_listing *l, void *user);

/* ---- manager-events.c ---- */
int manager_open_events(struct manager *m);
/* The kernel has the RDMA netlink group: listens to it from now on. */
void manager_join_rdma_monitor(struct manager *m);
/* Not without a device: it is a reference to ib_core. */
void manager_leave_rdma_monitor(struct manager *m);

/* ---- manager-port.c ---- */
/* Gives the device and its ports their bookkeeping; again after its port count changed. */
int device_attach(struct device *d);
void device_detach(struct device *d);
/* Asks for a reading of the port, or for one more if one is on its way. */
void port_ask(struct manager *m, struct port *p);
void device_ask_ports(struct manager *m, struct device *d);
/* Judges the port, then its device; the host follows at the end of this turn of the loop. */
void port_judge(struct manager *m, struct port *p);
void device_judge(struct manager *m, struct device *d);
/* Judges the device and all its ports, each once. */
void device_judge_whole(struct manager *m, struct device *d);
void manager_judge_all(struct manager *m);
void manager_tell_pending(struct manager *m);
void manager_judge_missing(struct manager *m);
/* The context is gone, or never was: forget what is known of it. */
void device_drop_context(struct device *d);
/* What it was asked is not answered any more: to be asked again when that may be. */
void device_lost_requests(struct device *d);
/* Lets go of a context whose device is being removed; if it stays after all, a listing takes it up again. */
void device_close_context(struct manager *m, struct device *d);
/*
 * The same for a held device that seems to have lost its uverbs node, while nobody told, or before the
 * node was known as its own: the removal waits for us. Not if it could be opened again in spite of that.
 * Whether it was so.
 */
bool device_close_without_node(struct manager *m, struct device *d);
/* Drops and takes verbs contexts anew as the configuration says now. */
void device_rewatch(struct manager *m, struct device *d);
void on_pool_port(const struct port_facts *f, void *user);
void on_pool_watched(uint32_t device_index, int result, void *user);
void on_pool_event(const struct pool_event *e, void *user);
void on_pool_silence(const char *adapter, enum pool_silence silence, void *user);
void on_pool_lost(const char *adapter, void *user);

/* Whether the configuration lets it be touched at all. */
bool device_is_watched(const struct manager *m, const struct device *d);
/* A moment so long before t. */
struct timepoint before(struct timepoint t, usec_t span);

/* ---- manager-facts.c ---- */
void device_ask_facts(struct manager *m, struct device *d);
void device_ask_details(struct manager *m, struct device *d);
/* What setup can set of it and its ports, as far as the configuration sets any of it. */
void device_ask_settings(struct manager *m, struct device *d);
void device_ask_counters(struct manager *m, struct device *d, enum counter_source source);
void device_ask_slow(struct manager *m, struct device *d);
void device_retry_facts(struct manager *m, struct device *d);
void device_lost_facts(struct device *d);
void manager_lost_settings(struct manager *m);
void port_ask_tables(struct manager *m, struct port *p);
/* Why its link is down, if that is so and is not known yet. */
void port_ask_why(struct manager *m, struct port *p);
/* Until when (mono) the answer to that may be waited for; 0: nobody was asked. */
usec_t port_why_until(const struct port *p);
/* Of functions that no RDMA device came of: whether that was meant to be. */
void manager_ask_switches(struct manager *m);
void manager_lost_switches(struct manager *m);
void on_pool_details(const struct device_details *f, void *user);
void on_pool_gid(const struct gid_facts *f, void *user);
void on_pool_pkeys(const struct pkey_facts *f, void *user);
void on_pool_tables(const struct table_facts *f, void *user);
void on_pool_counter_name(const struct counter_name *f, void *user);
void on_pool_counter_values(const struct counter_values *f, void *user);
void on_pool_counters(const struct counters_done *f, void *user);
void on_pool_qos(const struct qos_facts *f, void *user);
void on_pool_settings(const struct setting_facts *f, void *user);
void on_pool_devlink(const struct devlink_facts *f, void *user);
void on_pool_link(const struct link_facts *f, void *user);
void on_pool_vf_policy(const struct vf_policy *f, void *user);
void on_pool_switch(const struct rdma_switch *f, void *user);
void on_pool_slow(const char *adapter, bool late, void *user);

/* ---- manager-release.c ---- */
/* Releases the devices of these objects, all or none; duration 0 takes them back. See bus.h. */
int manager_release(void *user, char *const *objects, usec_t duration, uint32_t uid, char *why,
	size_t why_size);
/* The device is one that went while it was released. */
void device_inherit_release(struct manager *m, struct device *d, const struct missing *x);
/* Takes back those whose time is over. */
void manager_end_releases(struct manager *m);

/* ---- manager-admin.c ---- */
#define CALLER_MAX 32
/* "root", "rdmad" (ourselves), "uid 1000"; returns buf. */
const char *manager_caller(uint32_t uid, char buf[CALLER_MAX]);
/* Leaves a record that somebody told us to do something. */
void manager_tell_admin(struct manager *m, const struct admin_record *a);
/* Acknowledges conditions; see publish.h. */
int manager_acknowledge(
	void *user, const struct acknowledge_call *c, uint32_t uid, char *why, size_t why_size);

/* ---- manager-explain.c ---- */
/* What the rules came to for an object; see publish.h. */
int manager_explain(void *user, const char *object, char **ret);

/* ---- manager-output.c ---- */
const struct publish_context *manager_context(void *user);
void manager_judge_host(struct manager *m);
/* Judges the host once more for who explains; nothing changes. 0 or -ENOMEM. */
int manager_explain_host(struct manager *m);
/*
 * Shows what changed since the last call as soon as there is nothing else to do, or before long: on
 * the bus, and in the state file at most once a second.
 */
void manager_show_soon(struct manager *m);
/* All of it, at once. */
void manager_show_now(struct manager *m);
/* Gives the state file the present time, now and then, as long as it holds what is known. */
void manager_sign_state(struct manager *m);
int manager_open_show(struct manager *m);

/* ---- manager-setup.c ---- */
int manager_setup_new(struct manager *m);
struct manager_setup *manager_setup_free(struct manager_setup *s);
/* Plans again and sends what is to be done. */
void manager_setup_replan(struct manager *m);
/* Settings were read, or a listing is complete: somebody's order may wait for that. */
void manager_setup_read(struct manager *m);
/* A kernel module was unloaded. */
void manager_setup_module_removed(struct manager *m, const char *module);
/* After a reload: what failed may be tried again. */
void manager_setup_reloaded(struct manager *m);
/* For the bus: see struct bus_callbacks. */
int manager_apply(void *user, char *const *objects, bool disruptive, uint32_t uid, char *why,
	size_t why_size);
/* Whether a step waits for a P_Key, which nothing but a reading of the table may tell. */
bool manager_setup_awaits_pkey(const struct manager *m);
/* Whether every step is done or waits for something outside. */
bool manager_setup_settled(const struct manager *m);
/* What the host's verdict says of setup; valid until the next replan. */
const struct setup_condition *manager_setup_conditions(const struct manager *m, size_t *ret_n);

/* ---- manager-inventory.c ---- */
int manager_inventory_new(struct manager *m);
/* A last picture, then the end. */
struct manager_inventory *manager_inventory_free(struct manager_inventory *mi);
/* Facts of an adapter may have changed, or a listing is complete: compared shortly. */
void manager_inventory_look(struct manager *m);
/* GIDs that have another index now than they had are told, GID_MOVES_MAX of one reading. */
void manager_inventory_gids(struct manager *m, const struct port *p, const struct tables_update *u);
/* Compares and saves at once, if a listing is complete. */
void manager_inventory_look_now(struct manager *m);
struct inventory *manager_inventory_of(struct manager *m);
/* Whether what is learned outlives this boot: 1, 0, or -1 while nobody knows. */
int manager_inventory_persists(const struct manager *m);

/* ---- manager-keep.c ---- */
/* Takes over what the run before this one has kept, if it was in this boot. */
int manager_keep_new(struct manager *m);
struct manager_keep *manager_keep_free(struct manager_keep *k);
/* Writes what the next run is to know. why: KEEP_WHY_* when this one ends, else "". */
int manager_keep_save(struct manager *m, const char *why);
/* Something was taken over. */
bool manager_recalled(const struct manager *m);
/* Nothing is judged until everything was read that was taken over. */
bool manager_recalling(const struct manager *m);
/* What is known of the port is of the run before this one, and it is still to be read. */
bool port_is_unconfirmed(const struct manager *m, const struct port *p);
/* Once per turn of the loop: is everything read? */
void manager_keep_step(struct manager *m);

/* ---- manager-restart.c ---- */
/* See publish.h. */
int manager_restart(
	void *user, uint32_t uid, bool in_place, sd_bus_message *call, char *why, size_t why_size);
struct manager_restart *manager_restart_free(struct manager_restart *r);

/* ---- manager-baseline.c ---- */
/* Gives ports what was learned of them before. Returns whether any got it; the caller judges. */
bool manager_recall_device(struct manager *m, struct device *d);
void manager_recall_all(struct manager *m);
/* A listing is complete: what was learned and is not there is missed. */
void manager_miss_learned(struct manager *m);
/* The configuration has changed: closes, saying why, what it does not cover any more. */
void manager_reconsider_missing(struct manager *m, const char *why);
int manager_save_baseline(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size);
int manager_drop_baseline(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size);
