/* SPDX-License-Identifier: MIT */
/*
 * The parts of rdmactl counters: getting them from the daemon, keeping them in a file, comparing
 * two pictures of them, and showing either. Counters are JSON as DescribeCounters() gives it
 * (org.rdmad1(5)); access is tolerant, what is absent is unknown.
 */
#pragma once

#include <jansson.h>

#include "rdmactl.h"

/* ---- counters-fetch.c ---- */

/*
 * Asks the daemon for the ports that the patterns select; nothing else has counters, not even the
 * state file. Returns 0, or the exit status after having said why there are none.
 */
int counters_fetch(const struct options *o, json_t **ret);

/* Text that is harmless for a terminal; v is consumed. NULL when memory is out. */
json_t *counters_clean(const struct options *o, json_t *v);

/* ---- counters-file.c ---- */

/* A picture of counters in a file, with when and in which boot it was taken. */
struct counters_file {
	json_t *root;
	usec_t saved;
	const char *boot_id; /* borrowed; NULL unknown */
	const json_t *ports;
};

/* Writes a picture, whole or not at all. Returns 0, or the exit status after having said why. */
int counters_save(const struct options *o, const char *path, const json_t *counters);

/* Reads one. Returns 0, or the exit status after having said why. */
int counters_load(const char *path, struct counters_file *ret);
void counters_file_done(struct counters_file *f);

/* This boot's id to buf; "" when it is not known, as it is of another host. */
#define BOOT_ID_MAX 40
const char *counters_boot_id(const struct options *o, char buf[BOOT_ID_MAX]);

/* ---- counters-diff.c ---- */

/*
 * What changed since a picture was saved. Ports are matched by node GUID and number, so that a
 * renamed device is found; by name where the GUID tells nothing. A counter that went backwards was
 * reset. A new reference, {"Daemon", "Since", "Until", "Rebooted", "Ports"}, or NULL.
 */
json_t *counters_diff(
	const struct counters_file *old, const json_t *now, usec_t until, const char *boot_id);

/* ---- counters-text.c ---- */

void counters_print(const struct options *o, const json_t *counters, usec_t now);
void counters_print_diff(const struct options *o, const json_t *diff);
