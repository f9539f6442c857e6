/* SPDX-License-Identifier: MIT */
/*
 * Settings: steps that give one value to the host, a device, a port or a netdev. This says what each
 * kind is of and how its values are written; both ends of the setup socket check by it. PURE.
 */
#pragma once

#include "protocol.h"

enum setting_of {
	SETTING_OF_HOST,
	SETTING_OF_DEVICE,
	SETTING_OF_PORT,
	SETTING_OF_NETDEV,
	SETTING_OF_PARENT, /* a child to be made on the netdev that is indexed */
};

/* The object of what is set for all of the host, as messages have it. */
#define SETTING_HOST "host"

struct setting {
	const char *label; /* "node description" */
	enum setting_of of;
	bool disruptive;   /* it breaks what uses the object: only when nobody does */
	bool helper_reads; /* it takes root, so that the helper looks now and then */
};

/* NULL when the kind is no setting's. */
const struct setting *setting_get(enum step_kind kind);

/*
 * Whether a value is one, as they are written between the processes and in the plan: "shared" or
 * "exclusive"; "on" or "off"; "v1" or "v2" (RoCE mode); "datagram" or "connected"; a number; a name;
 * names with one space between them (optional counters); "0x8001", or "" for the parent's P_Key.
 */
bool setting_value_valid(enum step_kind kind, const char *value);

/*
 * Whether the value found is good enough for the one that is wanted. Optional counters of others stay
 * on, and a P_Key is the same one with and without the membership bit (IBA 10.9.1.1).
 */
bool setting_satisfied(enum step_kind kind, const char *found, const char *wanted);

/* "on" or "off"; "" for what is below 0, unknown. */
const char *setting_switch(int value);

/* "v1" or "v2"; "" unknown. */
const char *setting_roce_mode(enum gid_type type);

/* The P_Key that a value of STEP_ADD_IPOIB stands for, 0: the parent's. */
uint16_t setting_pkey(const char *value);

/*
 * Writes what a template of NodeDescription= comes to: %H the host's name, %d the device's, %% a
 * percent sign; cut at NODE_DESC_MAX bytes, between two characters, with no blank at either end. What is no
 * text in the host's name is "?". Returns buf.
 */
const char *node_description(char buf[NODE_DESC_MAX + 1], const char *template,
	const char *hostname, const char *device);
