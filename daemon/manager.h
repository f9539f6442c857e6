/* SPDX-License-Identifier: MIT */
/*
 * The manager owns everything that is alive in rdmad: event sources, workers, the model, the ways
 * out. It is the only one that changes the model.
 */
#pragma once

#include <systemd/sd-event.h>

struct manager;

/* Where things are; tests use other places. */
struct manager_options {
	const char *config_root; /* "" the real one */
	const char *worker_path;
	const char *runtime_dir; /* /run/rdmad */
	const char *binary;      /* what a restart runs: the path by which this one was started */
};

/*
 * Loads the configuration and opens all event sources; nothing is read of any device yet. Returns 0
 * or the negative errno of what rdmad cannot be without.
 */
int manager_new(sd_event *event, const struct manager_options *o, struct manager **ret);
struct manager *manager_free(struct manager *m);

/* Begins to list, judge and set up; READY=1 follows by itself, within StartBudgetSec. */
int manager_start(struct manager *m);

/*
 * What the loop ends with for "rdmactl restart": systemd is to start the unit anew
 * (RestartForceExitStatus= in rdmad.service), or this process becomes the new binary.
 */
#define MANAGER_EXIT_ANEW     133
#define MANAGER_EXIT_IN_PLACE 1000

/*
 * For the new binary, before the old one ends: whether it can be started, and understands what is
 * kept. Says its version, or why not, in a line on stdout.
 */
int manager_check_state(const struct manager_options *o);

/*
 * Loads the configuration again. A bad one is refused: negative errno, the first wrong line in why,
 * and the old one stays in force (DESIGN rule 9).
 */
int manager_reload(struct manager *m, char *why, size_t why_size);
