/* SPDX-License-Identifier: MIT */
/*
 * Facts beyond a port's state: what rarely changes (where an adapter is plugged in, GIDs, P_Keys),
 * what is a series (counters) and what belongs to its netdev (addresses, flow control). As in
 * facts.h: fixed size, no padding, and unknown is spelt out, never 0.
 */
#pragma once

#include "facts.h"

/* How RoCE addresses are sent; IB is what InfiniBand has. */
enum gid_type {
	GID_TYPE_UNKNOWN,
	GID_TYPE_IB,
	GID_TYPE_ROCE_V1,
	GID_TYPE_ROCE_V2,
	_GID_TYPE_MAX,
};
DECLARE_STRING_TABLE(gid_type, enum gid_type); /* NULL "IB" "RoCE v1" "RoCE v2" */

/* ---- of a device ---- */

/* One PCI function on the way from an adapter's own (the first) up to its root port (the last). */
struct pcie_hop {
	char address[16];
	uint32_t speed_mtps; /* as its own registers have it, 16000 for 16 GT/s; 0 unknown */
	uint32_t width;      /* lanes; 0 unknown */
	uint32_t max_speed_mtps;
	uint32_t max_width;
};

#define PCIE_HOPS_MAX 10
#define NODE_DESC_MAX 64 /* bytes, without a NUL (IBA 14.2.5.2) */

struct device_details {
	uint32_t device_index;
	uint32_t n_pcie;   /* 0: not on PCI, or unknown */
	int32_t is_vf;     /* 1 a virtual function, 0 not, -1 unknown */
	int32_t gpu_hops;  /* PCI functions between this and the nearest GPU; -1 unknown or none */
	char board_id[64]; /* "" unknown, as all texts here */
	char hca_type[32]; /* "MT4129" */
	char hw_rev[16];   /* "0", "a0" */
	char node_desc[NODE_DESC_MAX + 4];
	char physfn[16];     /* of a VF: the PCI address of its physical function */
	char gpu[16];        /* PCI address of the nearest GPU (PCI class 03xx or 12xx) */
	char local_cpus[64]; /* "0-15,64-79" */
	struct pcie_hop pcie[PCIE_HOPS_MAX];
};

/* ---- of a device and its ports: what setup can set, and nothing else tells ---- */

#define SETTING_LIST_MAX 254 /* so that a message to rdmad is no longer for it */

struct setting_facts {
	uint32_t device_index;
	uint32_t port;                     /* 0: of the device */
	int32_t adaptive_moderation;       /* of the device: 1 on, 0 off, -1 unknown */
	enum gid_type roce_mode;           /* of a port, for connections over librdmacm; Unknown */
	int32_t roce_tos;                  /* likewise, 0 to 255; -1 unknown */
	int32_t optional_error;            /* 0, or the negative errno why the next are unknown */
	char node_desc[NODE_DESC_MAX + 4]; /* of the device; "" unknown */
	/* Names of optional counters with a space between them, in the driver's order. */
	char optional_on[SETTING_LIST_MAX];
	char optional_all[SETTING_LIST_MAX];
};

/* ---- of a port: tables ---- */

/* One entry of the GID table that is in use (not zero). */
struct gid_facts {
	uint32_t device_index;
	uint32_t port;
	uint32_t index;
	enum gid_type type;
	uint8_t gid[16];       /* network order */
	char netdev[IFNAMSIZ]; /* RoCE: whose address it is; "" none or unknown */
};

/* A piece of the P_Key table: the entries first to first + n - 1. */
#define PKEYS_PER_PIECE 64
struct pkey_facts {
	uint32_t device_index;
	uint32_t port;
	uint32_t first;
	uint32_t n;
	uint16_t pkeys[PKEYS_PER_PIECE]; /* 0: not in use */
};

/* What ends a reading of a port's tables. */
struct table_facts {
	uint32_t device_index;
	uint32_t port;
	int32_t gid_error;  /* 0, or the negative errno that made the GID table unreadable */
	int32_t pkey_error; /* likewise */
	uint32_t gid_slots; /* length of the table */
	uint32_t pkey_slots;
	char umad[16]; /* "umad0"; "" none */
};

/* ---- counters ---- */

/* Where a counter comes from; a name may be in both, and then they are two counters. */
enum counter_source {
	COUNTER_HW,  /* hw_counters: the driver's own, by one netlink message or from sysfs */
	COUNTER_PMA, /* counters/: the IBA's, each file a firmware command (a MAD) */
	_COUNTER_SOURCE_MAX,
};
DECLARE_STRING_TABLE(counter_source, enum counter_source); /* "hw" "pma" */

#define COUNTER_NAME_MAX 64
/* Counters of one port and source; what is beyond is not shown, and that is said once. */
#define COUNTERS_MAX 1024

/* Names a counter; sent once, its values then come by position. */
struct counter_name {
	uint32_t device_index;
	uint32_t port; /* 0: of the device */
	enum counter_source source;
	uint32_t set; /* number of this set of names: one that differs replaces all names */
	uint32_t at;  /* position, from 0 */
	uint32_t n;   /* how many there are in the set */
	uint32_t
		width; /* bits, where it sticks at its maximum (IBA 16.1.3.5); 0: wraps, or unknown */
	uint32_t flags; /* COUNTER_* below */
	char name[COUNTER_NAME_MAX];
};

#define COUNTER_GAUGE (1u << 0) /* goes up and down: a difference means nothing */

/* Values of up to that many counters, from position first on. */
#define COUNTERS_PER_PIECE 64
struct counter_values {
	uint32_t device_index;
	uint32_t port;
	enum counter_source source;
	uint32_t set;
	uint32_t first;
	uint32_t n;
	uint64_t known; /* bit i: values[i] was read */
	uint64_t values[COUNTERS_PER_PIECE];
};

/* What ends a reading of one source of one port. */
struct counters_done {
	uint32_t device_index;
	uint32_t port;
	enum counter_source source;
	uint32_t n;          /* counters in the set */
	uint32_t unreadable; /* how many of them cannot be read at present */
	int32_t error; /* -ENOENT: the driver has none of this source; another: nothing could be read */
};

/* ---- of a netdev ---- */

struct address_facts {
	uint32_t ifindex;
	uint8_t family; /* AF_INET, AF_INET6 */
	uint8_t prefix_length;
	uint8_t scope; /* RT_SCOPE_* */
	uint8_t gone;
	uint32_t flags;      /* IFA_F_* */
	uint8_t address[16]; /* network order; IPv4 in the first four bytes, the rest 0 */
};

enum qos_trust {
	QOS_TRUST_UNKNOWN,
	QOS_TRUST_PCP,  /* by the VLAN tag's priority */
	QOS_TRUST_DSCP, /* by the IP header */
	_QOS_TRUST_MAX,
};
DECLARE_STRING_TABLE(qos_trust, enum qos_trust); /* NULL "pcp" "dscp" */

/* Who negotiates DCBX for a netdev. */
enum dcbx_owner {
	DCBX_UNKNOWN,
	DCBX_NONE,     /* the netdev has no DCB */
	DCBX_HOST,     /* lldpad or another agent on this host */
	DCBX_FIRMWARE, /* the adapter itself */
	_DCBX_OWNER_MAX,
};
DECLARE_STRING_TABLE(dcbx_owner, enum dcbx_owner); /* NULL "none" "host" "firmware" */

#define QOS_CLASSES 8 /* IEEE 802.1Q: priorities, and traffic classes */

/* What the kernel says of flow control and traffic classes of a netdev, in force now. */
struct qos_facts {
	uint64_t pause_tx_frames; /* UINT64_MAX unknown, as the next */
	uint64_t pause_rx_frames;
	uint32_t ifindex;
	enum qos_trust trust;
	enum dcbx_owner dcbx;
	int32_t pfc;           /* bit N: priority N has PFC; -1 unknown */
	int32_t pause_autoneg; /* 1 on, 0 off, -1 unknown; as the next two */
	int32_t pause_rx;      /* global pause (802.3x) */
	int32_t pause_tx;
	int32_t error;                       /* 0, or what made all of it unknown */
	int8_t prio_class[QOS_CLASSES];      /* traffic class of a priority; -1 unknown */
	int8_t class_bandwidth[QOS_CLASSES]; /* percent; -1 unknown */
	int8_t class_algorithm[QOS_CLASSES]; /* IEEE_8021QAZ_TSA_* (linux/dcbnl.h); -1 unknown */
	char name[IFNAMSIZ];
	uint8_t reserved[8]; /* 0 */
};

/* Why the link of a netdev is down, as far as its driver knows (extended link state, kernel 5.9). */
struct link_facts {
	uint32_t ifindex;
	int32_t state;    /* ETHTOOL_LINK_EXT_STATE_* (linux/ethtool.h); -1 unknown */
	int32_t substate; /* ETHTOOL_LINK_EXT_SUBSTATE_* of that state; -1 unknown */
	int32_t error;    /* 0, or what made all of it unknown */
};

/* ---- of a virtual function ---- */

/* What the physical function lets the port of a virtual one do (IFLA_VF_LINK_STATE). */
enum vf_link {
	VF_LINK_UNKNOWN,
	VF_LINK_AUTO,    /* as its own port is */
	VF_LINK_ENABLE,  /* up, whatever its own port is */
	VF_LINK_DISABLE, /* down */
};

struct vf_policy {
	uint32_t device_index;
	int32_t vf; /* its number among those of the physical function; -1 unknown */
	enum vf_link link;
	char netdev
		[IFNAMSIZ]; /* the physical function's, that said so; "": the vendor's driver did */
};

/* ---- devlink, of the hardware behind a device ---- */

/* A devlink health reporter: what a driver watches itself for, and found. */
struct reporter {
	uint64_t errors;     /* ever reported; UINT64_MAX unknown */
	uint64_t recoveries; /* ever done; UINT64_MAX unknown */
	uint32_t port;       /* as devlink numbers them; REPORTER_OF_DEVICE: of none */
	int32_t in_error;    /* 1 it is in error, 0 healthy, -1 unknown */
	char name[32];       /* "fw_fatal" */
};

#define REPORTER_OF_DEVICE UINT32_MAX
#define REPORTERS_MAX      8
#define DEVLINK_HANDLE_MAX 64

struct devlink_facts {
	uint32_t device_index;
	uint32_t n;
	uint32_t n_all; /* above n: what is beyond REPORTERS_MAX (and healthy) is not here */
	int32_t error;  /* 0; -ENODEV: no devlink; another: its reporters are not known */
	char handle[DEVLINK_HANDLE_MAX]; /* "pci/0000:3b:00.0"; "" none */
	struct reporter reporters[REPORTERS_MAX];
};

/* Adds a reporter: one that is in error in place of one that is not, where there is no room. */
void devlink_facts_add(struct devlink_facts *f, const struct reporter *r);

/* Whether devlink has the RDMA part of a PCI function switched on (its parameter enable_rdma). */
struct rdma_switch {
	int32_t on; /* 1, 0, -1 unknown, or the driver has no such parameter */
	char pci_address[16];
};

/* ---- what is here, but not for this host ---- */

enum elsewhere_kind {
	ELSEWHERE_NETNS,   /* an RDMA device in another network namespace: it has an uverbs node */
	ELSEWHERE_VFIO,    /* a PCI function of RDMA hardware that is bound to vfio */
	ELSEWHERE_UNBOUND, /* a PCI function of RDMA hardware without a driver */
	/* An InfiniBand function (PCI class 0207) that has a driver, and no RDMA device came of it. */
	ELSEWHERE_NOT_PROBED,
	_ELSEWHERE_KIND_MAX,
};

struct elsewhere_facts {
	enum elsewhere_kind kind;
	char name[RDMA_NAME_MAX]; /* of the RDMA device; "" unknown */
	char pci_address[16];     /* "" none or unknown */
	int32_t is_vf;            /* of a PCI function: 1 a virtual one, 0 not, -1 unknown */
	char driver[32];          /* that it has (NOT_PROBED) or would have (UNBOUND); "" unknown */
};

_Static_assert(sizeof(struct pcie_hop) == 16 + 4 * 4, "padding");
_Static_assert(sizeof(struct device_details) == 4 * 4 + 64 + 32 + 16 + NODE_DESC_MAX + 4 + 16 + 16 +
							64 +
							PCIE_HOPS_MAX * sizeof(struct pcie_hop),
	"padding");
_Static_assert(sizeof(struct setting_facts) == 6 * 4 + NODE_DESC_MAX + 4 + 2 * SETTING_LIST_MAX,
	"padding");
_Static_assert(sizeof(struct gid_facts) == 4 * 4 + 16 + IFNAMSIZ, "padding");
_Static_assert(sizeof(struct pkey_facts) == 4 * 4 + 2 * PKEYS_PER_PIECE, "padding");
_Static_assert(sizeof(struct table_facts) == 6 * 4 + 16, "padding");
_Static_assert(sizeof(struct counter_name) == 8 * 4 + COUNTER_NAME_MAX, "padding");
_Static_assert(sizeof(struct counter_values) == 6 * 4 + 8 + 8 * COUNTERS_PER_PIECE, "padding");
_Static_assert(sizeof(struct address_facts) == 4 + 4 + 4 + 16, "padding");
_Static_assert(
	sizeof(struct qos_facts) == 2 * 8 + 8 * 4 + 3 * QOS_CLASSES + IFNAMSIZ + 8, "padding");
_Static_assert(sizeof(struct link_facts) == 4 * 4, "padding");
_Static_assert(sizeof(struct vf_policy) == 3 * 4 + IFNAMSIZ, "padding");
_Static_assert(sizeof(struct reporter) == 2 * 8 + 2 * 4 + 32, "padding");
_Static_assert(sizeof(struct devlink_facts) ==
		       4 * 4 + DEVLINK_HANDLE_MAX + REPORTERS_MAX * sizeof(struct reporter),
	"padding");
_Static_assert(sizeof(struct rdma_switch) == 4 + 16, "padding");
_Static_assert(sizeof(struct elsewhere_facts) == 2 * 4 + RDMA_NAME_MAX + 16 + 32, "padding");

/* Facts in which everything is unknown. */
struct device_details device_details_unknown(uint32_t device_index);
struct setting_facts setting_facts_unknown(uint32_t device_index, uint32_t port);
struct qos_facts qos_facts_unknown(uint32_t ifindex, const char *name);
struct link_facts link_facts_unknown(uint32_t ifindex);
struct vf_policy vf_policy_unknown(uint32_t device_index);

/*
 * One PCIe link on an adapter's way to the root: its two ends, what it runs at, and the best that
 * both can do. 0 is unknown.
 */
struct pcie_link {
	const struct pcie_hop *lower, *upper;
	uint32_t speed_mtps, width;
	uint32_t max_speed_mtps, max_width;
};

/* The link between these two; it points to them. */
struct pcie_link pcie_link_between(const struct pcie_hop *lower, const struct pcie_hop *upper);

/* 1 it runs below what both ends can do, 0 it does not, -1 it cannot be told. */
int pcie_link_is_slow(const struct pcie_link *l);

/*
 * The links of an adapter from its own (n 0) on. Each function has the registers of one link, the one
 * on its other side being inside of a switch (kernel/sysfs.h): functions are the ends by twos. False:
 * there are no more, or the upper end is not known.
 */
bool pcie_link_at(const struct device_details *d, uint32_t n, struct pcie_link *ret);

/* How many of an adapter's links run below what both of their ends can do; the first to *ret_first
 * (may be NULL). */
unsigned pcie_slow_links(const struct device_details *d, struct pcie_link *ret_first);

/* "16.0 GT/s x16"; "unknown" when it is. Returns buf. */
#define PCIE_LINK_MAX 32
const char *pcie_link_format(char buf[PCIE_LINK_MAX], uint32_t speed_mtps, uint32_t width);

/* "fe80:0000:0000:0000:0002:c903:00aa:0011", as sysfs writes a GID. Returns buf. */
#define GID_STRING_MAX 40
const char *gid_format(char buf[GID_STRING_MAX], const uint8_t gid[16]);

/* The address inside a RoCE GID: "192.0.2.1" of an IPv4-mapped one, else IPv6. Returns buf. */
#define ADDRESS_STRING_MAX 46
const char *gid_address_format(char buf[ADDRESS_STRING_MAX], const uint8_t gid[16]);
