/* SPDX-License-Identifier: MIT */
/* What a verb that calls the daemon says when that did not work, and its exit status. */
#pragma once

#include <jansson.h>

#include "bus-call.h"
#include "rdmactl.h"

/* What differs from verb to verb. */
struct bus_words {
	const char *refused;   /* "rdmad refuses" */
	const char *no_daemon; /* a sentence */
	const char *no_bus;    /* what to do without a bus, on this host; NULL nothing */
};

/* Whether the daemon runs, as JSON has it: null where it could not be found out. A new reference. */
json_t *bus_running(const struct options *o, const struct bus_answer *a);

/* EXIT_SUCCESS when it was answered; else says why not on stderr. */
int bus_report(const struct options *o, const struct bus_answer *a, const struct bus_words *words);
