/* SPDX-License-Identifier: MIT */
/*
 * The inventory: which adapters this host has had, with the facts of them that do not change by
 * themselves. Comparing it with the model says what changed: under our eyes, or since the picture
 * (publish/picture.h) that an earlier run left. PURE.
 *
 * What is compared: GUID, system image GUID, slot (PCI address), firmware, board, and per port link
 * layer, netdev and the best rate. Identity is the node GUID, else the slot (DESIGN rule 6); the
 * name is kept to speak of an adapter that is gone, and is never compared: udev and administrators
 * rename devices, at each boot and at will. A fact that is not known neither makes a change nor
 * replaces one that is known.
 *
 * Left out: software links, which setup explains, and virtual functions on the host that has their
 * physical function: they come and go by configuration, and share its firmware.
 */
#pragma once

#include "model.h"

/* Adapters that are remembered; for one more the one that was away longest is forgotten. */
#define INVENTORY_MAX 512
/* Ports of one adapter; one with more (representors of virtual functions) is known by its first. */
#define INVENTORY_PORTS_MAX 16
/* A netdev's new name must hold so long: udev renames early in the boot, and may take its time. */
#define INVENTORY_NETDEV_HOLD (10 * USEC_PER_SEC)

/* A device that nobody knows is an adapter when its details say no other, or do not come. */
#define INVENTORY_DETAILS_WAIT (10 * USEC_PER_SEC)

struct inventory_port {
	uint32_t number;
	enum link_layer link_layer;
	char netdev[IFNAMSIZ];
	uint64_t best_rate_mbps; /* the highest that it was ACTIVE with; 0 unknown */
	char best_width[8];
	char best_speed[16];
	bool learned;         /* ACTIVE for StableSec at least once: expected from then on */
	usec_t learned_since; /* real; 0 unknown */

	/* Not in the picture: another netdev that is on trial. */
	char netdev_next[IFNAMSIZ];
	usec_t netdev_next_at;    /* mono */
	usec_t netdev_next_since; /* as inventory_change.since */
};

/* One adapter, as far as it is one RDMA device: a function of a card. "" and 0 are unknown. */
struct inventory_entry {
	uint64_t node_guid;
	uint64_t sys_image_guid;
	char pci_address[16];
	char name[RDMA_NAME_MAX]; /* its last one */
	char driver[32];
	char firmware_version[64];
	char board_id[64];
	usec_t first_seen, last_seen; /* real */
	bool gone_told;               /* somebody said that it is gone */
	size_t n_ports;
	struct inventory_port *ports;

	/* Not in the picture. */
	bool present;  /* the last look found it */
	bool compared; /* this run has compared it: later changes happened under our eyes */
	bool gone_by_condition; /* it was device-missing that told, and so it tells of its return */
};

struct inventory {
	struct inventory_entry *entries;
	size_t n;
	usec_t as_of; /* real: when the picture that it began with was made; 0: with nothing */
	bool changed; /* something that belongs in the picture differs; cleared by who saves it */
};

enum inventory_fact {
	INVENTORY_NEW,
	INVENTORY_REPLACED, /* another adapter in a slot that is known */
	INVENTORY_GONE,
	INVENTORY_BACK,
	INVENTORY_GUID,
	INVENTORY_SYS_IMAGE_GUID,
	INVENTORY_SLOT,
	INVENTORY_FIRMWARE,
	INVENTORY_BOARD,
	INVENTORY_LINK_LAYER,
	INVENTORY_NETDEV,
	INVENTORY_BEST_RATE,
	_INVENTORY_FACT_MAX,
};
DECLARE_STRING_TABLE(inventory_fact, enum inventory_fact);

#define INVENTORY_TEXT_MAX 64

/* One thing that differs. Pointers are borrowed for the call. */
struct inventory_change {
	enum inventory_fact fact;
	const struct inventory_entry *entry; /* as it is after the change */
	const struct device *device;         /* NULL: it is not here */
	uint32_t port;                       /* 0: of the adapter itself */
	char before[INVENTORY_TEXT_MAX];     /* "" there was nothing */
	char after[INVENTORY_TEXT_MAX];      /* "" there is nothing */
	usec_t since; /* real: it happened after this, unwatched; 0: it was watched */
};

struct inventory_look {
	const struct model *model;
	struct timepoint now;
	/* mono: what had not appeared by then is gone, and what appeared by then was there before. */
	usec_t settled_at;
	bool baseline; /* nothing was known before: what was there before is not told as new */
	void (*report)(const struct inventory_change *c, void *user);
	void *user;
};

void inventory_done(struct inventory *inv);

/*
 * Compares the inventory with the model, reports each change once and makes it the inventory's. To
 * be called when a listing is complete, some time after something changed: all of the model's
 * devices are looked at together, because who has which slot is told by all of them. A device counts
 * for its identity at once, for the rest when each port was read or has refused to be.
 *
 * An adapter that the model knows as missing is told by that condition and not by this.
 *
 * *ret_again is the mono time at which to look again, USEC_INFINITY when nothing is on trial.
 * Returns 0 or -ENOMEM.
 */
int inventory_look(struct inventory *inv, const struct inventory_look *look, usec_t *ret_again);

/* Adds an empty entry, forgetting the one that is away longest if need be; NULL: no room or memory. */
struct inventory_entry *inventory_add(struct inventory *inv);
/* Adds a port, or finds it; NULL: no room or memory. */
struct inventory_port *inventory_entry_port(struct inventory_entry *e, uint32_t number);

/* What is known of a port of a device that the last look found; NULL: nothing. */
const struct inventory_port *inventory_find_port(
	const struct inventory *inv, const struct device_facts *f, uint32_t number);
/* The entry of a device: by GUID and slot, by GUID, by slot where one has no GUID. NULL: none. */
struct inventory_entry *inventory_find(const struct inventory *inv, const struct device_facts *f);

/* Notes for the picture that what is present was seen just now. */
void inventory_touch(struct inventory *inv, usec_t now_real);

/* The adapter or port as messages name it: "mlx5_0", "mlx5_0/1". Returns buf. */
const char *inventory_object(char buf[OBJECT_NAME_MAX], const struct inventory_change *c);

/* The whole sentence: "mlx5_0: firmware 28.42.1000, was 28.41.1000". Returns buf. */
#define INVENTORY_MESSAGE_MAX 320
const char *inventory_message(char buf[INVENTORY_MESSAGE_MAX], const struct inventory_change *c);
