/* SPDX-License-Identifier: MIT */
/*
 * What every verb of rdmactl shares: the options, the exit statuses and the verbs themselves. A
 * verb asks source.h for the facts, view.h for the objects in them, and writes through output.h.
 * Nothing here judges: health is the daemon's word, rdmactl shows it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reason.h"
#include "timespan.h"

/* Exit statuses (DESIGN section 7). "check" has its own, see check.c. */
#define EXIT_FAILED      1
#define EXIT_USAGE       2
#define EXIT_NOT_RUNNING 3

enum output_format {
	OUTPUT_TEXT,
	OUTPUT_JSON_PRETTY,
	OUTPUT_JSON_SHORT,
};

/* Whom "check" answers: what its exit status and its words mean. */
enum exit_style {
	EXIT_STYLE_DEFAULT,
	EXIT_STYLE_NAGIOS, /* monitoring plugins: 0 ok, 1 warning, 2 critical, 3 unknown */
	EXIT_STYLE_NPD,    /* node problem detector: 0 ok, 1 problem, 2 unknown */
	EXIT_STYLE_BOOL,   /* 0 ok, 1 not */
};

struct options {
	enum output_format format;
	bool legend;
	bool full;
	bool pager;
	const char *host; /* ssh to there; NULL: this host */
	char **patterns;  /* globs over device and port names */
	size_t n_patterns;

	/* Of some verbs only; options.h says which were given. */
	bool all;
	bool follow;
	usec_t watch;        /* how often to look again; 0 once */
	const char *save;    /* file to write */
	const char *since;   /* counters: a file; events, check: a time */
	const char *kinds;   /* comma-separated */
	uint64_t lines;      /* at most so many; UINT64_MAX not given */
	usec_t span;         /* --for; 0 ends it */
	usec_t interval;     /* between captured trees */
	const char *config;  /* file to read instead of what is installed */
	bool force;          /* write over what is there */
	enum health fail_on; /* the least health that fails: failed, degraded, unknown */
	unsigned classes;    /* only reasons of these, bits (1 << class); 0 all */
	const char *group;   /* only ports of that group; NULL all */
	bool perfdata;
	bool ignore_acked; /* as if what is acknowledged were not there */
	enum exit_style exit_style;
	bool as_config;      /* print a configuration that says the same */
	const char *comment; /* NULL none */
	bool undo;
	bool exit_code;     /* whether anything differs is the exit status */
	bool disruptive;    /* also what disturbs traffic */
	const char *root;   /* look at this tree; NULL: this host */
	const char *output; /* where to write; "-" stdout; NULL: the usual place */
	usec_t timeout;     /* of wait-online; USEC_INFINITY none */
	bool any;           /* one is enough */
	bool in_place;      /* restart: whether or not a unit would be stopped */
};

/* Each returns the exit status of the program. */
int verb_status(const struct options *o);
int verb_list(const struct options *o);
int verb_show(const struct options *o);
int verb_topo(const struct options *o);
int verb_check(const struct options *o);
int verb_counters(const struct options *o);
int verb_events(const struct options *o);
int verb_explain(const struct options *o);
int verb_baseline(const struct options *o);
int verb_ack(const struct options *o);
int verb_release(const struct options *o);
int verb_inspect(const struct options *o);
int verb_collect(const struct options *o);
int verb_plan(const struct options *o);
int verb_apply(const struct options *o);
int verb_verify(const struct options *o);
int verb_doctor(const struct options *o);
int verb_import_rdma_conf(const struct options *o);
int verb_reload(const struct options *o);
int verb_monitor(const struct options *o);
int verb_restart(const struct options *o);
int verb_wait_online(const struct options *o);
