/* SPDX-License-Identifier: MIT */
/*
 * The rule table: one entry per reason id with its word, severity, class and what it means. Adding
 * a rule is adding an entry here, its judging in a judge-*.c and its catalog text in units/.
 */
#pragma once

#include "reason.h"

struct rule {
	const char *name; /* stable id, "port-down" */
	enum severity severity;
	enum reason_class class;
	const char *meaning; /* one sentence for people */
};

const struct rule *rule_get(enum reason_id id);
/* The id for a word, or -EINVAL. */
int rule_by_name(const char *name);
