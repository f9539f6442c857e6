/* SPDX-License-Identifier: MIT */
/*
 * What "rdmactl check" looks at: all, or only some objects, groups and classes of reasons; now, and in
 * the past.
 */
#pragma once

#include "view.h"

/* Whether the options make check look at less than everything, so that the host's word is no answer. */
bool check_is_scoped(const struct options *o);

/*
 * Leaves in the view what counts: objects of the group only, and of each object the health that the
 * reasons of the wanted classes come to. What no reason explains (a grace period, a port never read)
 * is a port's link and a missing device's device.
 */
void check_scope(const struct options *o, struct view *v);

#define CHECK_PAST_NAMED 5

/* What the journal says that there was. */
struct check_past {
	unsigned seen; /* as in check_scope_seen() */
	size_t n;      /* conditions, each counted once */
	struct check_past_condition {
		char object[OBJECT_TEXT_MAX];
		char reason[64];
		enum health health;
	} * conditions;
};

/*
 * Reads the records of conditions that stood since then and do not stand now; v says which do, and
 * which objects are in the group. Returns 0, -EINVAL when o->since is no time, or -EACCES: what it is was said then.
 */
int check_past_read(const struct options *o, const struct view *v, struct check_past *ret);
void check_past_done(struct check_past *p);

/* "mlx5_0/1 port-down, mlx5_1/1 link-flapping and 3 more", the worst first. New string or NULL. */
char *check_past_text(struct check_past *p);
