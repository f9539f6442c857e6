/* SPDX-License-Identifier: MIT */
/*
 * Facts: what the kernel says of a device, a port, a netdev, in fixed-size structs that also travel
 * between the processes (worker/protocol.h). A fact that could not be read is "unknown", never 0:
 * each field says below how it spells that. No judgement here.
 */
#pragma once

#include <linux/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strtab.h"

#define RDMA_NAME_MAX  64 /* IB_DEVICE_NAME_MAX, include/rdma/ib_verbs.h */
#define RDMA_PORTS_MAX 255
#define GROUP_NAME_MAX 64 /* of ports that belong together, with its NUL */

/* InfiniBand PortState (IBA 1.5, PortInfo, table 155); the kernel adds ACTIVE_DEFER. */
enum port_state {
	PORT_STATE_UNKNOWN = -1,
	PORT_STATE_NOP = 0,
	PORT_STATE_DOWN = 1,
	PORT_STATE_INIT = 2,
	PORT_STATE_ARMED = 3,
	PORT_STATE_ACTIVE = 4,
	PORT_STATE_ACTIVE_DEFER = 5,
};

/* InfiniBand PortPhysicalState (IBA 1.5, PortInfo). */
enum phys_state {
	PHYS_STATE_UNKNOWN = -1,
	PHYS_STATE_SLEEP = 1,
	PHYS_STATE_POLLING = 2,
	PHYS_STATE_DISABLED = 3,
	PHYS_STATE_TRAINING = 4,
	PHYS_STATE_LINKUP = 5,
	PHYS_STATE_RECOVERY = 6,
	PHYS_STATE_TEST = 7,
};

enum link_layer {
	LINK_LAYER_UNKNOWN,
	LINK_LAYER_INFINIBAND,
	LINK_LAYER_ETHERNET,
	_LINK_LAYER_MAX,
};
DECLARE_STRING_TABLE(link_layer, enum link_layer); /* "Unknown" "InfiniBand" "Ethernet" */

/* The software drivers that are made by "rdma link add"; NONE is hardware (or not known). */
enum link_type {
	LINK_TYPE_NONE,
	LINK_TYPE_RXE,
	LINK_TYPE_SIW,
	_LINK_TYPE_MAX,
};
DECLARE_STRING_TABLE(link_type, enum link_type); /* NULL "rxe" "siw" */

/* The kernel module behind a software link type, or NULL for LINK_TYPE_NONE. */
const char *link_type_module(enum link_type type);

/*
 * The words of DESIGN section 8 for a state number: "active", "linkup", "unknown(9)"; NULL when the
 * state is not known at all. buf is used for numbers without a word.
 */
#define STATE_WORD_MAX 24
const char *port_state_word(int state, char buf[STATE_WORD_MAX]);
const char *phys_state_word(int state, char buf[STATE_WORD_MAX]);

/* One RDMA device, identified by its index (never reused within a boot), not by its name. */
/*
 * sysfs has no device index. What stands in for it has this bit, which the kernel's never has (it
 * numbers from 0 within an int): it tells devices apart, and says nothing to RDMA netlink.
 */
#define DEVICE_INDEX_MADE_UP (1u << 31)

static inline bool device_index_is_made_up(uint32_t index)
{
	return (index & DEVICE_INDEX_MADE_UP) != 0;
}

struct device_facts {
	uint32_t index;
	uint32_t port_count;
	uint64_t node_guid;      /* host order; 0 identifies nothing (DESIGN rule 6) */
	uint64_t sys_image_guid; /* the same */
	int32_t numa_node;       /* -1: unknown or none */
	enum link_type link_type;
	uint32_t no_uverbs; /* 1: it is known that there is no node */
	uint32_t reserved;  /* 0 */
	char name[RDMA_NAME_MAX];
	char node_type[32];   /* as sysfs says it: "CA", "RNIC"; "" unknown */
	char protocol[16];    /* RDMA_NLDEV_ATTR_DEV_PROTOCOL: ib roce iw opa usnic; "" unknown */
	char driver[32];      /* bus driver of the parent, or the link type; "" unknown */
	char pci_address[16]; /* "0000:3b:00.0", "" when there is none or it is unknown */
	char adapter[64];     /* what may hang as one: PCI slot without function, "software", ... */
	char firmware_version[64];    /* "" unknown */
	char board_id[64];            /* "" unknown; not by a listing, read with the details */
	char uverbs[16];              /* "uverbs0", "" when there is no node, or it is unknown */
	char parent_netdev[IFNAMSIZ]; /* software links: the netdev that they run on; "" unknown */
};

/*
 * The verbs events PORT_ERR and PORT_ACTIVE of a port over some time. What happened within less than
 * some milliseconds comes in any order: the kernel hands on each event by a work of its own
 * (ib_dispatch_event(), drivers/infiniband/core/cache.c). So they are counted, and their order says
 * only how it began and ended.
 */
struct port_events {
	uint32_t errs;      /* PORT_ERR */
	uint32_t actives;   /* PORT_ACTIVE */
	bool err_first;     /* the first one was PORT_ERR */
	bool active_latest; /* the last one was PORT_ACTIVE */
};
void port_events_add(struct port_events *e, bool active);

/* One port. Ports count from 1. */
struct port_facts {
	uint64_t rate_mbps; /* 0 unknown */
	uint32_t device_index;
	uint32_t number;
	int32_t error;      /* 0, or the negative errno that made the whole reading fail */
	int32_t state;      /* enum port_state or a number that we do not know */
	int32_t phys_state; /* enum phys_state, likewise */
	enum link_layer link_layer;
	uint32_t lid;          /* UINT32_MAX unknown */
	uint32_t sm_lid;       /* UINT32_MAX unknown */
	uint32_t netdev_index; /* 0: no netdev */
	uint32_t active_mtu;   /* bytes, 0 unknown */
	uint32_t lmc;          /* UINT32_MAX unknown */
	char width[8];         /* "4X", "" unknown */
	char speed[16];        /* "HDR", "" unknown */
	char netdev[IFNAMSIZ]; /* "" none */
};

/* What a netdev is to the bond that it belongs to (IFLA_BOND_SLAVE_STATE). */
enum bond_leg {
	BOND_LEG_NONE, /* it belongs to no bond */
	BOND_LEG_UNKNOWN,
	BOND_LEG_ACTIVE, /* it carries traffic */
	BOND_LEG_BACKUP,
	_BOND_LEG_MAX,
};
DECLARE_STRING_TABLE(bond_leg, enum bond_leg); /* NULL NULL "active" "backup" */

/* What the bond's link monitor says of a leg (IFLA_BOND_SLAVE_MII_STATUS). */
enum bond_mii {
	BOND_MII_UNKNOWN,
	BOND_MII_UP,
	BOND_MII_GOING_DOWN, /* down, and the bond's downdelay runs */
	BOND_MII_DOWN,
	BOND_MII_GOING_UP, /* up, and the bond's updelay runs */
	_BOND_MII_MAX,
};
DECLARE_STRING_TABLE(bond_mii, enum bond_mii); /* NULL "up" "going down" "down" "going up" */

#define HW_ADDRESS_MAX 32 /* MAX_ADDR_LEN of the kernel; Ethernet has 6, IPoIB 20 */

/*
 * One network interface, as RTM_NEWLINK describes it (or RTM_DELLINK, then gone is set). No
 * statistics: each difference makes the manager read the port again.
 */
struct netdev_facts {
	uint32_t ifindex;
	uint32_t flags; /* IFF_* */
	uint32_t carrier_up_count;
	uint32_t carrier_down_count;
	uint32_t type;   /* ARPHRD_* */
	uint32_t master; /* ifindex of the bond, bridge or VRF that it belongs to; 0 none */
	uint32_t link; /* ifindex of what a VLAN, macvlan, ipvlan or IPoIB child runs on; 0 none */
	uint32_t mtu;  /* 0 unknown */
	bool carrier;
	bool have_carrier_counts; /* IFLA_CARRIER_*_COUNT, kernel 4.16 */
	bool gone;
	bool permanent_address;  /* address is the permanent one, not the one in use */
	uint8_t operstate;       /* IF_OPER_*, RFC 2863 */
	uint8_t leg;             /* enum bond_leg */
	uint8_t mii;             /* enum bond_mii */
	uint8_t address_length;  /* 0: none or unknown */
	uint8_t is_ipoib;        /* 1: it is; only then the next ones mean something */
	uint8_t lacp;            /* 1: a bond whose legs are aggregated by LACP (802.3ad) */
	uint16_t pkey;           /* with the membership bit; 0 unknown */
	int32_t ipoib_connected; /* 1 connected, 0 datagram, -1 unknown */
	int32_t ipoib_umcast;    /* 1 on, 0 off, -1 unknown */
	uint8_t address[HW_ADDRESS_MAX];
	char name[IFNAMSIZ];
	char kind[16]; /* IFLA_INFO_KIND: "bond" "vlan" "ipoib"; "" most hardware has none */
	char phys_port_name[IFNAMSIZ]; /* IFLA_PHYS_PORT_NAME: "p0"; "" unknown */
};

/* What the kernel has for all RDMA devices together. */
struct system_facts {
	int32_t netns_exclusive; /* 1 exclusive, 0 shared, -1 unknown or not offered by this kernel */
	int32_t privileged_qkey; /* 1 on, 0 off, -1 likewise */
};

/* Facts are compared as bytes and sent as bytes: there must be no padding in them. */
_Static_assert(sizeof(struct device_facts) == 2 * 4 + 2 * 8 + 4 * 4 + 64 + 32 + 16 + 32 + 16 + 64 +
						      64 + 64 + 16 + IFNAMSIZ,
	"padding");
_Static_assert(sizeof(struct system_facts) == 2 * 4, "padding");
_Static_assert(sizeof(struct port_facts) == 8 + 12 * 4 + 8 + 16 + IFNAMSIZ, "padding");
_Static_assert(
	sizeof(struct netdev_facts) == 10 * 4 + 12 + HW_ADDRESS_MAX + 2 * IFNAMSIZ + 16, "padding");

/* What its ports have, as far as its protocol tells: of a device whose ports are not read. */
enum link_layer device_link_layer(const struct device_facts *f);

/* Facts in which everything is unknown. */
struct system_facts system_facts_unknown(void);
struct port_facts port_facts_unknown(uint32_t device_index, uint32_t number);

/* Writes n bytes as sysfs does, "fe80:0000": to buf, which has room for 5 for each 2. Returns buf. */
char *hex_groups_format(char *buf, const uint8_t *bytes, size_t n);

/* Writes a GUID as sysfs does, "0a7f:bc12:45ef:d23b"; "" for 0. Returns buf. */
#define GUID_STRING_MAX 20
const char *guid_format(char buf[GUID_STRING_MAX], uint64_t guid);

/* Writes a rate as messages show it, "200 Gb/s (4X HDR)"; "unknown" for 0. Returns buf. */
#define RATE_STRING_MAX 48
const char *rate_format(char buf[RATE_STRING_MAX], const struct port_facts *facts);
