/* SPDX-License-Identifier: MIT */
/*
 * The probe workers as rdmad sees them: one process per adapter, and one (the scout) that lists.
 * A worker has two lanes, each a thread: the query lane reads ports and holds contexts, the slow
 * lane reads what may take its time (counters, tables, details), and neither waits for the other.
 * The query lane has a deadline for each request; a worker that misses it twice over is given up and
 * killed, and as long as it cannot die no second one is started for its adapter (DESIGN section 4).
 * In the slow lane being late is only told: killing the worker would end the watch on its ports.
 *
 * Nothing here blocks. Answers come as callbacks out of the event loop, never out of a request.
 */
#pragma once

#include <systemd/sd-event.h>

#include "details.h"
#include "facts.h"
#include "timespan.h"

struct pool;

/* What an adapter's worker is worth at present. */
enum pool_silence {
	POOL_ANSWERS,
	POOL_LATE,   /* one deadline missed */
	POOL_SILENT, /* given up */
};

struct pool_event {
	uint32_t device_index;
	uint32_t port; /* 0: the device */
	struct port_events events;
	unsigned changes, fatals;
};

/* How a listing ended. */
struct pool_listing {
	int error;     /* 0 or a negative errno: then it says nothing of what it lacks */
	int refused;   /* the errno of RDMA netlink, where devices are from sysfs instead; 0 not */
	bool notifies; /* the kernel has the RDMA netlink group of notifications */
	bool doubtful; /* has a device that the kernel's list left out: the next ones will tell */
};

struct pool_callbacks {
	void (*device)(const struct device_facts *f, void *user);
	void (*netdev)(const struct netdev_facts *f, void *user);
	void (*address)(const struct address_facts *f, void *user);
	void (*elsewhere)(const struct elsewhere_facts *f, void *user);
	void (*system)(const struct system_facts *f, void *user); /* once in each listing */
	void (*listed)(const struct pool_listing *l, void *user);
	void (*port)(const struct port_facts *f, void *user);
	void (*details)(const struct device_details *f, void *user);
	/* The pieces of a table or of a set of counters, then its end. */
	void (*gid)(const struct gid_facts *f, void *user);
	void (*pkeys)(const struct pkey_facts *f, void *user);
	void (*tables)(const struct table_facts *f, void *user);
	void (*counter_name)(const struct counter_name *f, void *user);
	void (*counter_values)(const struct counter_values *f, void *user);
	void (*counters)(const struct counters_done *f, void *user);
	void (*qos)(const struct qos_facts *f, void *user);
	/* Of each port, then of the device (port 0), which ends the answer. */
	void (*settings)(const struct setting_facts *f, void *user);
	void (*devlink)(const struct devlink_facts *f, void *user);
	void (*link)(const struct link_facts *f, void *user);
	void (*vf_policy)(const struct vf_policy *f, void *user);
	void (*rdma_switch)(const struct rdma_switch *f, void *user);
	/* A context is held (0), refused (negative errno), or would pin the module (1). */
	void (*watched)(uint32_t device_index, int result, void *user);
	void (*event)(const struct pool_event *e, void *user);
	/* The adapter's worker became late, silent, or answers again. */
	void (*silence)(const char *adapter, enum pool_silence silence, void *user);
	/* Its slow lane became late (since then it gave no answer), or answers again; another worker
	 * in its place answers for it. */
	void (*slow)(const char *adapter, bool late, void *user);
	/* The worker is gone, with all contexts and unanswered requests; the next request starts
	 * another one. Called after silence() where that is why. */
	void (*lost)(const char *adapter, void *user);
};

int pool_new(sd_event *event, const char *worker_path, const struct pool_callbacks *cb, void *user,
	struct pool **ret);
struct pool *pool_free(struct pool *p);

/* How long a request may take. */
void pool_set_timeout(struct pool *p, usec_t timeout);

/* The name of the scout in callbacks that name an adapter. */
#define POOL_SCOUT ""

/*
 * Requests. 0 when sent; -EBUSY when the adapter's worker was given up and is not dead yet, or died
 * a moment ago; another errno when no worker can be started.
 */
int pool_list(struct pool *p);
int pool_read_port(struct pool *p, const struct device_facts *d, uint32_t port);
/* measure: hold the context only where that pins no module. */
int pool_watch(struct pool *p, const struct device_facts *d, bool measure);
/*
 * Those of the slow lane. Settings of a device that is not watched (and has no worker for that) are
 * read by the scout: none of them asks anything of the device. Counters of port 0 are the device's
 * own; names: their names are wanted in any case, else only when they are others than before.
 */
int pool_read_details(struct pool *p, const struct device_facts *d);
int pool_read_settings(struct pool *p, const struct device_facts *d, bool watched);
int pool_read_tables(struct pool *p, const struct device_facts *d, uint32_t port);
int pool_read_counters(struct pool *p, const struct device_facts *d, uint32_t port,
	enum counter_source source, bool names);
int pool_read_qos(
	struct pool *p, const struct device_facts *d, uint32_t ifindex, const char *netdev);
int pool_read_devlink(struct pool *p, const struct device_facts *d);
/*
 * These two answer why a port is down, and are done before what else the slow lane has to do. What the
 * physical function of this virtual one lets it do:
 */
int pool_read_vf(struct pool *p, const struct device_facts *d);
/* Why the link of its netdev is down: */
int pool_read_link(
	struct pool *p, const struct device_facts *d, uint32_t ifindex, const char *netdev);
/* Whether the RDMA part of a PCI function without an RDMA device is switched on. */
int pool_read_switch(struct pool *p, const char *pci_address);

/* Closes the device's context, if there is one. Not an error when there is no worker. */
void pool_unwatch(struct pool *p, const struct device_facts *d);

/*
 * The device is gone, or nothing of it is to be touched: its context is closed, what its worker
 * learned of it is dropped, and so are its requests that the worker has not begun with. The answer
 * to the one that it is at may still come.
 */
void pool_forget(struct pool *p, const struct device_facts *d);

/* The adapter has no devices any more: its worker ends. */
void pool_drop_adapter(struct pool *p, const char *adapter);
