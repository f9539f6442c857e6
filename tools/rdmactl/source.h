/* SPDX-License-Identifier: MIT */
/*
 * Where the facts come from: the daemon on the bus, else the file that it leaves in /run, with the
 * truth about how far each can be trusted.
 */
#pragma once

#include <jansson.h>

#include "rdmactl.h"
#include "timespan.h"

#define STATE_FILE "/run/rdmad/state.json"

struct source {
	json_t *root;   /* the description, always an object; NULL when there is none */
	bool from_file; /* not from the daemon's mouth */
	bool running;   /* the daemon runs, as far as can be told */
	bool silent;    /* ... and does not answer: what the file says may be old */
	bool away;     /* another host that cannot be reached: whether it runs there is not known */
	bool vouched;  /* ... but a moment ago it said, by the file's time, that this holds */
	usec_t age;    /* of the file; USEC_INFINITY unknown */
	usec_t uptime; /* of the daemon; USEC_INFINITY unknown */
	char *captured; /* of a captured tree, and no daemon: which; NULL it is not */
	char *why;      /* a sentence: why the bus gave nothing, or why there is nothing at all */
};

/*
 * Gets the description; with brief only what DescribeBrief() of org.rdmad1(5) has is needed. Returns 0, or with a sentence in ->why: -ESRCH the daemon does not run and
 * left nothing, or another negative errno when what there is cannot be read.
 */
int source_fetch(const struct options *o, bool brief, usec_t timeout, struct source *ret);

/* How long a verb that shows things waits for the daemon. */
usec_t source_timeout(const struct options *o);

/*
 * The whole beginning of a read verb: fetches, and on failure says so on stderr (and, for JSON, on
 * stdout). Returns 0 or the exit status. Facts for text are made harmless here.
 */
int source_load(const struct options *o, bool brief, struct source *ret);

/* Makes the texts of the description harmless, for a terminal. Returns 0 or -ENOMEM. */
int source_sanitise(struct source *s);

/* The exit status of a read verb that could show what it was asked for. */
int source_exit_status(const struct source *s);

/* Tells on stderr that this is not from the daemon's mouth, for verbs whose stdout is for scripts. */
void source_note_file(const struct source *s);

/* {"Running":…} for descriptions that a verb composes; a new reference. */
json_t *source_daemon_json(const struct source *s);

void source_done(struct source *s);

/* Whether the process of that number is rdmad. Its running time to *ret_uptime, if it can be told. */
bool daemon_is_running(pid_t pid, usec_t *ret_uptime);

/* Whether this host's bus is to be asked at all ($RDMAD_BUS). */
bool bus_wanted(void);

/* The path of the state file. */
const char *state_file_path(void);

/*
 * Reads it. 0 with *ret an object, -ENOENT, or another errno with a sentence in *ret_why. *ret_held: how
 * long ago it was what rdmad knew, by the time that rdmad gives it now and then; USEC_INFINITY unknown.
 */
int state_file_read(json_t **ret, usec_t *ret_held, char **ret_why);
