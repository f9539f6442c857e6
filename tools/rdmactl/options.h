/* SPDX-License-Identifier: MIT */
/*
 * The options of the command line. Those that only some verbs have are told by a bit each, so that
 * the table of verbs can say which it takes.
 */
#pragma once

#include "rdmactl.h"

#define OPTION_ALL          (1u << 0)
#define OPTION_WATCH        (1u << 1)
#define OPTION_SAVE         (1u << 2)
#define OPTION_SINCE        (1u << 3)
#define OPTION_FOLLOW       (1u << 4)
#define OPTION_KIND         (1u << 5)
#define OPTION_LINES        (1u << 6)
#define OPTION_FOR          (1u << 7)
#define OPTION_INTERVAL     (1u << 8)
#define OPTION_CONFIG       (1u << 9)
#define OPTION_FORCE        (1u << 10)
#define OPTION_FAIL_ON      (1u << 11)
#define OPTION_CLASS        (1u << 12)
#define OPTION_GROUP        (1u << 13)
#define OPTION_PERFDATA     (1u << 14)
#define OPTION_IGNORE_ACKED (1u << 15)
#define OPTION_EXIT         (1u << 16)
#define OPTION_AS_CONFIG    (1u << 17)
#define OPTION_COMMENT      (1u << 18)
#define OPTION_UNDO         (1u << 19)
#define OPTION_EXIT_CODE    (1u << 20)
#define OPTION_DISRUPTIVE   (1u << 21)
#define OPTION_ROOT         (1u << 22)
#define OPTION_OUTPUT       (1u << 23)
#define OPTION_TIMEOUT      (1u << 24)
#define OPTION_ANY          (1u << 25)
#define OPTION_IN_PLACE     (1u << 26)
#define OPTION_JSON         (1u << 27)

enum request {
	REQUEST_VERB,
	REQUEST_HELP,
	REQUEST_VERSION,
	REQUEST_LIST_VERBS,
	REQUEST_LIST_REASONS,
	REQUEST_JSON_FORMATS,
};

/*
 * Fills *o, which has its defaults, and *ret_given with the bits above. Goes through all options
 * even after a wrong one, because which exit status says "usage" depends on the verb. Returns
 * whether all were right, after having said what was not; the verb is argv[optind].
 */
bool options_parse(
	int argc, char **argv, struct options *o, enum request *ret_request, unsigned *ret_given);

/* The name of an option by its bit, "--watch". */
const char *option_name(unsigned bit);
