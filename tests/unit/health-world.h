/* SPDX-License-Identifier: MIT */
/*
 * A host for tests of the rules: a model, a configuration as files have it, and a clock that the
 * test moves.
 */
#pragma once

#include "judge.h"
#include "test.h"

struct world {
	struct model model;
	struct config *config;
	usec_t now;     /* mono */
	usec_t recheck; /* what the last world_judge() asked for */
};

#define ACTIVE   PORT_STATE_ACTIVE, PHYS_STATE_LINKUP
#define POLLING  PORT_STATE_DOWN, PHYS_STATE_POLLING
#define ETHERNET LINK_LAYER_ETHERNET
#define IB       LINK_LAYER_INFINIBAND

/* config is the text of rdmad.conf; it must have no faults. */
void world_begin(struct world *w, const char *config);
void world_end(struct world *w);
struct timepoint world_now(const struct world *w);

/* Another configuration from now on. */
void world_configure(struct world *w, const char *config);

/* A hardware device of that many ports, as facts has it; index and port_count are set here. */
struct device *world_device(struct world *w, const char *name, const struct device_facts *facts,
	uint32_t index, uint32_t ports);

/* A reading of the port. rate as sysfs has it, "100 Gb/sec (2X HDR)" cut in its parts. */
void world_read(struct world *w, struct port *p, int state, int phys, enum link_layer layer);
void world_read_rate(struct world *w, struct port *p, enum link_layer layer, uint64_t gbps,
	const char *width, const char *speed);

/* A netdev; as RTM_NEWLINK would tell. */
void world_netdev(struct world *w, const struct netdev_facts *f);

/* Judges everything, at the time that it is. */
void world_judge(struct world *w);

/* Moves the clock on and judges. */
void world_pass(struct world *w, usec_t span);

/* The standing reason, NULL none. */
const struct reason *port_reason(const struct port *p, enum reason_id id);
const struct reason *device_reason(const struct device *d, enum reason_id id);

/* What the rule came to at the last world_judge(), for that port; fails when it was not noted. */
enum rule_outcome world_outcome(
	struct world *w, struct port *p, enum reason_id id, char text[2 * REASON_TEXT_MAX]);
