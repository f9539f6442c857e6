/* SPDX-License-Identifier: MIT */
/*
 * Whether the ports that have to be up are, and what lags behind: by the daemon's own word of which
 * ports it requires and how each is. PURE but for memory.
 */
#pragma once

#include "view.h"

struct laggard {
	char object[OBJECT_TEXT_MAX];
	char *why; /* a sentence without its end; NULL when memory was out */
};

struct online {
	size_t n_online; /* ports looked at that are */
	size_t n_laggards;
	struct laggard *laggards; /* in the description's order */
};

/*
 * Looks at every required port, at what is counted, configured or missed and not there, and at nothing
 * else; with patterns at the ports that these select, required or not, each of which must select one.
 * o->fail_on: what is not online. Returns 0 or -ENOMEM.
 */
int online_judge(const json_t *root, const struct options *o, struct online *ret);
void online_done(struct online *v);

/* Whether that is enough: of what is looked at all, or any with o->any. Nothing to look at is enough. */
bool online_enough(const struct online *v, const struct options *o);
