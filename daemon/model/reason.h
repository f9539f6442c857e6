/* SPDX-License-Identifier: MIT */
/*
 * The words of judgement (DESIGN section 5): health, reasons, verdicts. Data only: health/ decides,
 * the model carries, publish/ shows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "strtab.h"
#include "timespan.h"

enum health {
	HEALTH_OK,
	HEALTH_STARTING,
	HEALTH_UNKNOWN,
	HEALTH_DEGRADED,
	HEALTH_FAILED,
	HEALTH_IGNORED, /* never counts for "worst of" */
	_HEALTH_MAX,
};
DECLARE_STRING_TABLE(health, enum health);

/* The worse of two: failed > degraded > unknown > starting > ok; ignored gives way to any other. */
enum health health_worst(enum health a, enum health b);

enum severity {
	SEVERITY_NOTICE, /* shown and logged, never changes health */
	SEVERITY_UNKNOWN,
	SEVERITY_DEGRADED,
	SEVERITY_FAILED,
	_SEVERITY_MAX,
};
DECLARE_STRING_TABLE(severity, enum severity);

enum reason_class {
	CLASS_LINK,
	CLASS_FABRIC,
	CLASS_DEVICE,
	CLASS_SETUP,
	CLASS_MONITOR,
	CLASS_CONFIG,
	_CLASS_MAX,
};
DECLARE_STRING_TABLE(reason_class, enum reason_class);

/* Stable ids; the words are in the rule table, health/rules.c. Add at the end only. */
enum reason_id {
	REASON_PORT_DOWN,
	REASON_NO_SUBNET_MANAGER,
	REASON_LINK_BLIP, /* an event, never a standing condition */
	REASON_LINK_FLAPPING,
	REASON_DEVICE_MISSING,
	REASON_DEVICE_FATAL,
	REASON_DEVICE_UNRESPONSIVE,
	REASON_NETDEV_MISSING,
	REASON_SETUP_FAILED,
	REASON_SETUP_BLOCKED,
	REASON_SETUP_DRIFTED,
	REASON_ASYNC_EVENTS_UNAVAILABLE,
	REASON_CONFIG_INVALID,
	REASON_PORT_UNREADABLE,
	REASON_COUNTERS_UNAVAILABLE,
	REASON_COUNT_MISSING,
	REASON_PORT_INCONSISTENT,
	REASON_WIDTH_DEGRADED,
	REASON_SPEED_DEGRADED,
	REASON_RATE_DIFFERS,
	REASON_UNEXPECTED_LINK_LAYER,
	REASON_LAG_DEGRADED,
	REASON_LINK_ERRORS,       /* subject: the counter */
	REASON_COUNTER_SATURATED, /* likewise */
	REASON_PCIE_DEGRADED,
	REASON_DEVICE_NODES_MISSING,
	REASON_GID_MISSING,
	REASON_DEVICE_NOT_PROBED,
	REASON_DEVLINK_REPORTER_ERROR, /* subject: the reporter */
	_REASON_MAX,
};

#define REASON_TEXT_MAX 160

/* That somebody knows of a condition ("rdmactl ack"). It belongs to the condition and goes with it. */
struct acknowledgement {
	struct timepoint when; /* mono 0: nobody acknowledged it */
	char by[32];           /* "root" */
	char comment[REASON_TEXT_MAX];
};

/* One standing condition on one object. */
struct reason {
	enum reason_id id;
	enum severity severity;
	struct timepoint since;
	char subject
		[64]; /* tells apart reasons of one id on one object (a link, a file); often "" */
	char found[REASON_TEXT_MAX];
	char wanted[REASON_TEXT_MAX];
	char remedy[REASON_TEXT_MAX];
	bool explained; /* port-down: somebody who knows said why, and found has it */
	struct acknowledgement ack;
	unsigned
		reminders; /* that it still stands; those that an acknowledgement kept back count */
};

/* What is judged of one object. Bounded: no object has more conditions than that. */
#define REASONS_MAX 16
struct verdict {
	enum health health;
	struct timepoint since; /* when health became this */
	size_t n_reasons;
	struct reason reasons[REASONS_MAX]; /* worst severity first */
	char ignored_because[REASON_TEXT_MAX];
};

/* Makes *to the same; copies no more than the reasons that there are. */
void verdict_copy(struct verdict *to, const struct verdict *from);

/*
 * Acknowledges the standing reasons of that id, and of that subject unless it is NULL; a NULL takes
 * their acknowledgement back. Returns how many there are.
 */
size_t verdict_acknowledge(
	struct verdict *v, enum reason_id id, const char *subject, const struct acknowledgement *a);

/* Finds a standing reason by id and subject; NULL when it is not there. */
const struct reason *verdict_find(const struct verdict *v, enum reason_id id, const char *subject);
