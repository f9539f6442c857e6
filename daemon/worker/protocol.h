/* SPDX-License-Identifier: MIT */
/*
 * What rdmad and its probe workers say to each other: fixed-size messages over a SOCK_SEQPACKET
 * pair, one message a packet. Both ends are of one build; the version tells when they are not (a
 * package was upgraded and rdmad not restarted yet).
 */
#pragma once

#include "details.h"
#include "facts.h"

#define WIRE_MAGIC   0x52444d41u /* "RDMA" */
#define WIRE_VERSION 4u

/* The descriptor that a worker finds its socket at. */
#define WORKER_FD 3

enum wire_type {
	/* to the worker, answered by its query thread */
	/* WIRE_NETDEV, WIRE_ADDRESS, WIRE_DEVICE, WIRE_ELSEWHERE..., WIRE_SYSTEM, WIRE_LIST_DONE */
	WIRE_LIST,
	WIRE_READ_PORT, /* -> WIRE_PORT */
	WIRE_WATCH,     /* -> WIRE_WATCHED, then WIRE_EVENT whenever something happens */
	WIRE_UNWATCH,   /* closes the context; no answer */
	/* to the worker, answered by its slow thread: what may take long and hurry is not for */
	WIRE_READ_DETAILS,  /* -> WIRE_DETAILS */
	WIRE_READ_TABLES,   /* -> WIRE_GID..., WIRE_PKEYS..., WIRE_TABLES_DONE */
	WIRE_READ_COUNTERS, /* -> WIRE_COUNTER_NAME..., WIRE_COUNTER_VALUES..., WIRE_COUNTERS_DONE */
	WIRE_READ_QOS,      /* -> WIRE_QOS */
	WIRE_READ_SETTINGS, /* -> WIRE_SETTINGS of the ports 1 to ref.port, at last of the device */
	WIRE_READ_DEVLINK,  /* -> WIRE_DEVLINK */
	WIRE_READ_LINK,     /* -> WIRE_LINK */
	WIRE_READ_VF,       /* -> WIRE_VF */
	WIRE_READ_SWITCH,   /* -> WIRE_SWITCH; of no device: the scout does it */
	/* Both threads: what was learned of the device, too, and requests not begun; no answer. */
	WIRE_FORGET,
	/* from the worker */
	WIRE_DEVICE,
	WIRE_NETDEV,
	WIRE_ADDRESS,
	WIRE_ELSEWHERE,
	WIRE_SYSTEM,
	WIRE_LIST_DONE,
	WIRE_PORT,
	WIRE_WATCHED,
	WIRE_EVENT,
	WIRE_DETAILS,
	WIRE_GID,
	WIRE_PKEYS,
	WIRE_TABLES_DONE,
	WIRE_COUNTER_NAME,
	WIRE_COUNTER_VALUES,
	WIRE_COUNTERS_DONE,
	WIRE_QOS,
	WIRE_SETTINGS,
	WIRE_DEVLINK,
	WIRE_LINK,
	WIRE_VF,
	WIRE_SWITCH,
	_WIRE_TYPE_MAX,
};

/* Whether ref.device_index of such a request is an RDMA device's. */
bool wire_is_of_device(uint32_t type);

struct wire_device_ref {
	uint32_t device_index;
	uint32_t port;
	uint32_t measure; /* WIRE_WATCH: hold the context only where that pins no module */
	enum counter_source source; /* WIRE_READ_COUNTERS; the next, too */
	uint32_t names;             /* the names are wanted, also if they are as before */
	/* WIRE_READ_QOS, WIRE_READ_LINK: the netdev, device_index its ifindex. WIRE_READ_SWITCH: the
	 * PCI address. */
	char device[RDMA_NAME_MAX];
};

struct wire_result {
	uint32_t device_index;
	int32_t error; /* 0 or negative errno */
	uint32_t pins; /* WIRE_WATCHED: not held, because it would pin the module */
	uint32_t how;  /* WIRE_LIST_DONE: LISTED_* */
};

#define LISTED_MONITOR (1u << 0) /* the kernel has the RDMA netlink group of notifications */
#define LISTED_SYSFS   (1u << 1) /* RDMA netlink refused (error says how): devices are from sysfs */
#define LISTED_DOUBT   (1u << 2) /* has a device that the kernel's list left out */

/* Events of one port (0: the device) since the last such message. */
struct wire_event {
	uint32_t device_index;
	uint32_t port;
	struct port_events events;
	uint32_t changes;
	uint32_t fatals;
};

struct wire_message {
	uint32_t magic;
	uint32_t version;
	uint32_t type; /* enum wire_type */
	uint32_t id;   /* of the request; answers carry it */
	union {
		struct wire_device_ref ref;
		struct wire_result result;
		struct wire_event event;
		struct device_facts device;
		struct netdev_facts netdev;
		struct address_facts address;
		struct elsewhere_facts elsewhere;
		struct port_facts port;
		struct device_details details;
		struct gid_facts gid;
		struct pkey_facts pkeys;
		struct table_facts tables;
		struct counter_name counter_name;
		struct counter_values counter_values;
		struct counters_done counters_done;
		struct qos_facts qos;
		struct setting_facts settings;
		struct system_facts system;
		struct devlink_facts devlink;
		struct link_facts link;
		struct vf_policy vf_policy;
		struct rdma_switch rdma_switch;
	};
};

/*
 * Sends one message. flags as for send(2). 0 or negative errno; EINTR is retried. Fills in magic
 * and version.
 */
int wire_send(int fd, struct wire_message *m, int flags);

/*
 * Receives one message. Returns 1, 0 at the end of the stream, -EAGAIN, -EBADMSG for what is not a
 * message of this version (all strings in what is accepted are terminated), or another errno.
 */
int wire_receive(int fd, struct wire_message *m, int flags);
