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
 * Loads the configuration again. A bad one is refused: negative errno, the first wrong line in why,
 * and the old one stays in force (DESIGN rule 9).
 */
int manager_reload(struct manager *m, char *why, size_t why_size);
