/* SPDX-License-Identifier: MIT */
/*
 * The parts of rdmactl topo: where ports are in the host, composed from the description for text
 * and JSON alike.
 */
#pragma once

#include <jansson.h>

#include "view.h"

/* ---- topo-pcie.c ---- */

/* One PCIe link, between a function and the port above it. Numbers of 0 are unknown. */
struct pcie_segment {
	const char *lower, *upper; /* addresses; upper NULL: nothing is known of the other end */
	uint32_t speed_mtps, width;
	uint32_t can_speed_mtps, can_width; /* what both ends can */
	uint32_t ends_speed_mtps[2], ends_width[2];
};

/*
 * The links in a device's PcieLinks, from the adapter up. Writes at most max; returns how many there
 * are. Between the ports of one switch there is no link: each second step of the path is one.
 */
size_t pcie_segments(const json_t *device, struct pcie_segment *ret, size_t max);

/* 1 it is below what both ends can, 0 it is not, -1 it cannot be told. */
int pcie_segment_below(const struct pcie_segment *s);

json_t *pcie_segments_json(const json_t *device);

/* ---- topo-qos.c: of a port's Qos; each to be freed, "" when nothing is known, NULL when memory is out ---- */

char *topo_qos_flow(const json_t *qos);                /* "PFC on priority 3, no global pause" */
char *topo_qos_trust(const json_t *qos);               /* "by dscp, DCBX by host" */
char *topo_qos_class(const json_t *qos, size_t class); /* of ETS: "40 %, priority 0 1" */

/* ---- topo.c ---- */

/*
 * GIDs in the order of their use: RoCE v2 with an address that is routed first, then with a
 * link-local one, then the rest, each by index. A new reference to an array of copies, each with
 * "LinkLocal" added.
 */
json_t *topo_gids(const json_t *port);

/* ---- topo-text.c ---- */

/* Prints the tree. Returns 0, or -1 when memory is out. */
int topo_print(const struct options *o, const struct view *v);
