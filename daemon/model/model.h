/* SPDX-License-Identifier: MIT */
/*
 * The model: what exists on this host and what happened to it. PURE: no clock, no I/O. Only
 * manager.c calls the functions that change it; the others read.
 */
#pragma once

#include "counters.h"
#include "details.h"
#include "facts.h"
#include "reason.h"
#include "tables.h"

/* Down edges that are remembered per port, for the flap window. More only count. */
#define FLAP_RING 128

struct device;

/* The counter link_downed beside the down edges that were counted otherwise; see link-downed.c. */
struct downs_ledger {
	bool known;  /* there was a reading to compare the next one with */
	bool active; /* the port was ACTIVE then */
	uint32_t resets;
	uint64_t value;
	uint64_t edges; /* counted so far, told of or seen */
	uint64_t spare; /* of the interval before: edges that the counter may come to yet */
};

/* Verbs events that made no fall yet: those that belong to them may have been overtaken. */
struct spare_events {
	uint32_t errs, actives;
	usec_t since;
};

enum probe_state {
	PROBE_FRESH,
	PROBE_LATE,   /* one deadline passed without an answer */
	PROBE_SILENT, /* its worker was given up */
	_PROBE_STATE_MAX,
};
DECLARE_STRING_TABLE(probe_state, enum probe_state);

/* The best that a port was seen ACTIVE with. */
struct best_rate {
	uint64_t rate_mbps; /* 0: never ACTIVE, or the rate was not known */
	enum link_layer link_layer;
	char width[8];
	char speed[16];
};

/* A condition that has to stand for some time before it counts. */
struct hold {
	usec_t since; /* mono; 0: it does not stand */
};

/* A condition that comes and goes: what it takes for it to be over, longer each time. */
struct calm {
	usec_t since;   /* mono; 0: what it is about goes on, or was never told */
	usec_t over_at; /* mono, when it was over last; 0 never */
	usec_t hold;
};

/* What is to be missing from a port's tables: they are read once more before that is said. */
struct doubt {
	struct hold hold;
	uint64_t reading; /* the reading of the tables that decides; 0 not asked for */
	usec_t asked;     /* mono */
};

struct port {
	struct device *device;
	uint32_t number;

	struct port_facts facts; /* the last reading that succeeded */
	bool have_facts;
	bool recalled;  /* what is known is of the run before this one, nothing was read since */
	int last_error; /* of the last reading, 0 or negative errno */
	struct timepoint read_at; /* of the last reading that succeeded */

	struct timepoint first_seen;
	struct timepoint active_since; /* mono 0: not ACTIVE now */
	struct timepoint down_since; /* mono 0: not down now; set once it was ACTIVE or expected */
	struct timepoint init_since; /* mono 0: it is not in INIT or ARMED with a link */
	bool was_active;             /* ACTIVE at least once */
	usec_t last_active_for;      /* how long the last ACTIVE period was */
	bool learned;                /* ACTIVE for StableSec at least once: now expected */
	usec_t learn_from; /* mono: what was before this does not count for that (it was dropped) */
	uint64_t excused_downs; /* down edges that were meant to be and are not in flap_count */
	usec_t excused_until;   /* mono: a fall before this was meant to be; 0 none */
	usec_t settle_until; /* mono: it may take until then to be up (the host has slept, ...) */

	uint64_t flap_count;         /* all up->down edges since rdmad watches, blips included */
	usec_t flap_ring[FLAP_RING]; /* mono times of the last edges, flap_count % FLAP_RING next */
	usec_t last_edge;            /* mono time of the last edge in either direction, 0 none */
	usec_t flap_floor;           /* edges before this were settled when link-flapping cleared */
	/* Down edges that evidence (events, carrier counts) announced and no reading has shown yet.
	 * Below 0: readings were first; evidence that follows soon is of the same edges. */
	int64_t unseen_downs;
	usec_t unseen_since;
	bool up_told;   /* by the last event it was ACTIVE: a PORT_ERR is a fall */
	bool up_latest; /* the same by the last event or reading, whichever was later */
	struct spare_events spare_events;
	/* Of the edges above those that link_downed told of first: their events come yet, or never. */
	uint32_t downs_ahead;
	usec_t downs_ahead_since;
	struct downs_ledger link_downed;

	enum probe_state probe_state;
	struct timepoint asked_at; /* mono 0: no read in flight */
	bool ask_again;            /* something happened after the read in flight was sent */

	struct best_rate best;      /* in this run or (the inventory) before */
	unsigned odd_phys_reads;    /* how many readings in a row had states that contradict */
	char group[GROUP_NAME_MAX]; /* [Port] Group= as of the last verdict; "" none */

	/* What rules wait for, health/judge-rate.c */
	struct hold width_low, speed_low, rate_odd;
	struct hold not_aggregated; /* health/judge-link.c, as the next */
	struct calm lag;
	struct calm unreadable;       /* health/judge-port.c */
	struct doubt no_gid, no_umad; /* health/judge-tables.c */
	bool tables_wanted; /* a rule wants the tables read again; the manager clears it */

	struct setting_facts settings;
	bool have_settings; /* read at least once, which is done only where any is configured */

	struct port_tables tables;
	struct counter_table *counters[_COUNTER_SOURCE_MAX]; /* NULL: none, or not read yet */

	bool required; /* judged: its being down matters */
	struct verdict verdict;
	void *user; /* the manager's bookkeeping */
};

/* What a setup step ended as (DESIGN rule 10). */
enum step_result {
	STEP_PENDING, /* not tried yet, or running */
	STEP_OK,      /* was as wanted already */
	STEP_CHANGED,
	STEP_WAITING,
	STEP_UNSUPPORTED,
	STEP_BLOCKED,
	STEP_FAILED,
	STEP_DRIFTED, /* somebody undid it */
	_STEP_RESULT_MAX,
};
DECLARE_STRING_TABLE(step_result, enum step_result);

/* Let go of on request ("rdmactl release"): not touched and not judged until then. */
struct release {
	struct timepoint until; /* mono 0: it is not released */
	char by[32];            /* "root" */
};

#define EVENTS_WOULD_PIN 1

struct device {
	struct device_facts facts;
	struct device_details details;
	struct setting_facts settings;
	bool have_settings; /* as of a port */
	bool have_details;  /* read at least once; unknown facts are unknown in there, too */
	struct devlink_facts devlink;
	bool have_devlink;          /* read at least once */
	struct vf_policy vf_policy; /* of a virtual function one of whose ports is down */
	bool have_vf_policy;        /* read since one of them fell last */
	unsigned pcie_slow_reads;   /* how many readings in a row had a link below what it can do */
	struct timepoint first_seen;
	uint64_t generation; /* of the last listing that named it */
	size_t n_ports;
	struct port *ports;
	struct verdict verdict; /* own reasons; health includes its ports */
	bool fatal;             /* DEVICE_FATAL was received and no removal followed */
	usec_t fatal_at;        /* mono, 0: no DEVICE_FATAL that waits to be believed */
	/* 0: a verbs context is held or not wanted; EVENTS_WOULD_PIN; or a negative errno. */
	int events_error;
	enum probe_state probe_state;
	struct timepoint silent_since;
	struct release release;
	struct timepoint slow_since;    /* mono 0: counters, tables and details are not late */
	struct counter_table *counters; /* the device's own (hw_counters); NULL none */
	bool have_setup_result;         /* something of it is set up; then: */
	enum step_result setup_result;  /* the worst of that */
	void *user;
	struct device *next;
};

/* Addresses that are kept per netdev: a GID table is no longer. */
#define NETDEV_ADDRESSES_MAX 256

struct netdev_address {
	struct address_facts facts;
	uint64_t generation; /* of the last listing during which it was seen */
};

struct netdev {
	struct netdev_facts facts;
	struct qos_facts qos;
	bool have_qos;
	struct link_facts link; /* why there is no carrier */
	bool have_link;         /* read since it last changed */
	uint64_t generation;
	size_t n_addresses;
	struct netdev_address *addresses; /* in the order in which they came */
	uint32_t addresses_beyond;        /* at most that many more it has, which are not kept */
	uint64_t beyond_generation;
	struct netdev *next; /* in order of ifindex */
};

/* A port of a missing device, for what the configuration says of it. */
struct missing_port {
	uint32_t number;
	enum link_layer link_layer;
	char netdev[IFNAMSIZ];
	bool learned;
};
#define MISSING_PORTS_MAX 16

/* A device that is configured, or was here, and is not there now. */
struct missing {
	char name[RDMA_NAME_MAX];
	uint64_t node_guid;
	char pci_address[16];
	bool required;   /* configured, or one of its ports was */
	bool seen;       /* it was here in the life of this model */
	bool remembered; /* it was learned in an earlier life; since.real is when it was last seen */
	char driver[32];
	char board_id[64];
	size_t n_ports; /* of which something is known */
	struct missing_port ports[MISSING_PORTS_MAX];
	bool placed; /* it is known where it is instead: */
	enum elsewhere_kind elsewhere;
	struct release release; /* it was released when it went */
	struct timepoint since;
	struct verdict verdict;
	struct missing *next;
};

/* The last events, for status and the state file; the journal keeps the rest. */
#define EVENTS_MAX 100
struct event {
	struct timepoint when;
	char object[RDMA_NAME_MAX + 8];
	char reason[32];
	char old_state[16];
	char new_state[16];
	char message[640];
};

/* Devices and functions that are here and not for this host, as the last listing had them. */
#define ELSEWHERE_MAX 512

/* A function of RDMA hardware that no RDMA device came of. */
struct unprobed {
	struct elsewhere_facts facts;
	struct hold hold; /* health/judge-hardware.c */
	int32_t switched; /* struct rdma_switch; -1 unknown, or not asked */
	bool asked;       /* by the manager, and no answer yet */
};

struct model {
	struct device *devices; /* in order of index */
	struct elsewhere_facts *elsewhere;
	size_t n_elsewhere;
	struct unprobed *unprobed; /* of the last listing that is complete */
	size_t n_unprobed;
	struct netdev *netdevs;
	struct system_facts system; /* of the last listing; its owner begins with unknown */
	struct missing *missing;
	struct verdict verdict; /* host: own reasons; health includes everything */
	struct event events[EVENTS_MAX];
	uint64_t n_events; /* ever; the newest is at (n_events - 1) % EVENTS_MAX */
	uint64_t generation;
	bool listed; /* at least one listing is complete */
	struct timepoint
		watched_since; /* when rdmad began to; what is to be there has time to come */
};

void model_done(struct model *m);

/*
 * A listing (all devices, all netdevs) starts, reports what it sees through model_see_*(), and ends;
 * what it did not name is gone then. Devices are recognised by index, netdevs by ifindex.
 */
void model_listing_begin(struct model *m);

enum device_change {
	DEVICE_NEW = 1 << 0,
	DEVICE_RENAMED = 1 << 1,
	DEVICE_CHANGED = 1 << 2, /* any other fact */
};

/*
 * Stores what was seen of a device. Returns a mask of enum device_change, 0 when nothing differs,
 * -ENOMEM, or -E2BIG for more ports than RDMA_PORTS_MAX.
 */
int model_see_device(
	struct model *m, const struct device_facts *f, struct timepoint now, struct device **ret);

/*
 * Stores what was read of a device's details. A fact that was known and could not be read this time
 * is kept. Returns whether anything differs.
 */
bool device_see_details(struct device *d, const struct device_details *f);

/* Stores what was read of settings, of the device (port 0) or a port. Returns whether anything differs. */
bool device_see_settings(struct device *d, const struct setting_facts *f);
bool port_see_settings(struct port *p, const struct setting_facts *f);

/* Stores what was read of a netdev's flow control. Returns whether anything but counts differs. */
bool netdev_see_qos(struct netdev *n, const struct qos_facts *f);

/* Stores what was read of why its link is down. Returns whether anything differs. */
bool netdev_see_link(struct netdev *n, const struct link_facts *f);

/* Stores what devlink says of a device. What could not be read this time is kept, with the error. */
bool device_see_devlink(struct device *d, const struct devlink_facts *f);

/* Stores what the physical function lets this virtual one do. Returns whether anything differs. */
bool device_see_vf_policy(struct device *d, const struct vf_policy *f);

/* Whether a port's netdev is switched on and has no carrier: then its driver may know why. */
bool port_link_is_down(const struct model *m, const struct port *p);

/* The next device that the finished listing did not name, NULL when there is none. */
struct device *model_next_vanished(struct model *m);

/* Takes a device out and frees it. */
void model_remove_device(struct model *m, struct device *d);

/*
 * Stores what was seen of a netdev (or removes it, when f->gone). *ret_downs is how many times its
 * carrier went down since it was last seen. Returns 1 when anything differs, 0 when not, -ENOMEM.
 */
int model_see_netdev(struct model *m, const struct netdev_facts *f, uint32_t *ret_downs);

/* Notes that a device is not there; NULL when memory is out. */
struct missing *model_add_missing(struct model *m, const char *name, uint64_t node_guid,
	const char *pci_address, struct timepoint now);

/*
 * Finds the missing device that this one is: by GUID, else by PCI address, else (never seen, so
 * nothing else is known) by name. NULL when it is none of them.
 */
struct missing *model_find_missing(const struct model *m, const struct device_facts *f);

/* Finds the missing device that was called so. NULL when there is none. */
struct missing *model_missing_by_name(const struct model *m, const char *name);

/*
 * Finds the missing device that this one, with another GUID, sits in the place of: the same PCI
 * function, where it is the only device (subfunctions share one). NULL when there is none.
 */
struct missing *model_find_replaced(const struct model *m, const struct device *d);

/* Notes what a listing says of a device that is not for this host. 0, -ENOMEM, -E2BIG. */
int model_see_elsewhere(struct model *m, const struct elsewhere_facts *f);

/*
 * After a listing: tells for each missing device whether it is elsewhere, and which functions have no
 * RDMA device. A missing one that was lent and is nowhere now is missing from now on: it may be on
 * its way back.
 */
void model_place_missing(struct model *m, struct timepoint now);

void model_remove_missing(struct model *m, struct missing *x);

/*
 * Stores an address that was seen of a netdev (or removes it, when f->gone); addresses are told
 * apart by family, address and prefix length. Returns 1 when anything differs, 0 when not, -ENOMEM.
 * 0 as well when the netdev is not known (it went, or a listing is on its way), and for an address
 * beyond NETDEV_ADDRESSES_MAX, which is only counted.
 */
int model_see_address(struct model *m, const struct address_facts *f);

/* Removes the netdevs and the addresses that the finished listing did not name. */
void model_drop_stale_netdevs(struct model *m);

/*
 * The device that this one is, known by a number of the other kind: RDMA netlink was refused or
 * answers again, and devices are numbered by it or else by sysfs (device_index_is_made_up()). NULL:
 * none.
 */
struct device *model_find_renumbered(const struct model *m, const struct device_facts *f);
/* Gives the device another index; its history stays. */
void model_renumber_device(struct model *m, struct device *d, uint32_t index);

struct device *model_device_by_index(const struct model *m, uint32_t index);
struct device *model_device_by_name(const struct model *m, const char *name);
struct netdev *model_netdev_by_index(const struct model *m, uint32_t ifindex);
struct netdev *model_netdev_by_name(const struct model *m, const char *name);
struct port *device_port(const struct device *d, uint32_t number);

/* "rxe0/1"; returns buf. */
#define OBJECT_NAME_MAX (RDMA_NAME_MAX + 8)
const char *port_object(char buf[OBJECT_NAME_MAX], const struct port *p);
/* The port that is called so; NULL when there is none. */
struct port *model_port_by_object(const struct model *m, const char *object);

/* What a reading did to a port. */
struct port_update {
	bool changed;      /* any fact differs */
	bool reselect;     /* the link layer or netdev does, which selectors may ask for */
	bool went_down;    /* ACTIVE before, not now */
	bool went_up;      /* not ACTIVE before (or never read), ACTIVE now */
	uint32_t blips;    /* down edges since the last reading that no reading showed */
	usec_t active_for; /* with went_down: how long it had been ACTIVE */
};

/*
 * Events told of n down edges (a PORT_ERR, a carrier count that rose). The next reading that was
 * asked for after this settles which of them it shows itself.
 */
void port_note_downs(struct port *p, uint32_t n, usec_t now);

/* Carrier counts of the netdev settle how often a link fell; without them events and counters do. */
bool port_has_carrier_counts(const struct model *m, const struct port *p);

/*
 * The counter of this source by which falls of the port that nobody told of are found: link_downed of
 * the specification where that means something (InfiniBand), else the driver's own. NULL: it is none
 * of this source, or the netdev's carrier counts are the better witness.
 */
const struct counter *port_link_downed(
	const struct model *m, const struct port *p, enum counter_source source);

/*
 * Verbs events of a port. mlx5 sends PORT_ERR on InfiniBand also when a link that was down comes to
 * INIT (drivers/infiniband/hw/mlx5/main.c, handle_port_change()): only one that ends an ACTIVE is a
 * fall, and is noted as by port_note_downs().
 */
void port_note_events(struct port *p, const struct port_events *e, usec_t now);

/*
 * Compares a reading of the counter link_downed with the edges that were counted since the reading
 * before it. Those that nothing else told of are noted as by port_note_downs(). Returns how many: a
 * reading of the port then settles them.
 */
uint32_t port_see_link_downed(struct port *p, const struct counter *c, usec_t now);

/* What the port's counters and its link did until now was meant to, or is of no interest. */
void port_restart_counters(struct port *p, usec_t now);

/*
 * Stores a reading. settle says that it was asked for after everything that was noted so far.
 * Readings with f->error keep the last good facts and set last_error only.
 */
struct port_update port_see(
	struct port *p, const struct port_facts *f, bool settle, struct timepoint now);

/*
 * Somebody took the port down on purpose: the fall that was counted a moment ago, or else the first
 * one until then, is not counted and no blip.
 */
void port_excuse_down(struct port *p, usec_t now, usec_t until);

bool port_is_active(const struct port *p);

/*
 * Takes over what was known of a port before this run, if that is better than what it has shown
 * since, on the same link layer. Returns whether it is.
 */
bool port_remember_best(struct port *p, const struct best_rate *best);

/*
 * Down edges not older than window and not before the floor, out of those that the ring holds; the
 * time of the oldest to *ret_first (may be NULL).
 */
unsigned port_flaps_within(const struct port *p, usec_t now, usec_t window, usec_t *ret_first);

/* Appends to the ring of last events. */
void model_add_event(struct model *m, const struct event *e);

/* Does it belong to a bond? */
bool netdev_is_bond_leg(const struct netdev *n);

/* The bond that a netdev is (one that has legs), or belongs to; NULL when it is none. n may be NULL. */
const struct netdev *netdev_bond(const struct model *m, const struct netdev *n);

/*
 * The legs of a bond, in order of ifindex: the first one for prev NULL, else the one after prev;
 * NULL at the end.
 */
const struct netdev *model_next_leg(
	const struct model *m, uint32_t master_ifindex, const struct netdev *prev);

/* Looks up the netdev that a port runs on; NULL when it has none or it is not known. */
const struct netdev *port_netdev(const struct model *m, const struct port *p);
