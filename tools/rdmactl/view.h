/* SPDX-License-Identifier: MIT */
/*
 * The objects in a description: host, devices, ports, missing devices, each with its name and
 * health. Tolerant: a key that is absent, null or of another type is unknown, a word that this
 * version does not know is shown as it is and ranks as unknown.
 */
#pragma once

#include <jansson.h>

#include "facts.h"
#include "rdmactl.h"
#include "reason.h"
#include "source.h"

enum object_kind {
	OBJECT_HOST,
	OBJECT_DEVICE,
	OBJECT_PORT,
	OBJECT_MISSING,
};

#define OBJECT_TEXT_MAX 96

struct object {
	enum object_kind kind;
	size_t order;               /* in the description */
	const json_t *json;         /* borrowed from the description */
	const json_t *device;       /* of a port: the device it belongs to */
	char name[OBJECT_TEXT_MAX]; /* "mlx5_0", "mlx5_0/1" */
	enum health health;
	const char *health_word; /* borrowed, as the daemon said it */
	const char *trouble;     /* id of the worst reason that counts, NULL none */
};

struct view {
	const json_t *root;
	struct object *objects; /* in the description's order */
	size_t n;
	size_t n_ports, n_devices, n_missing; /* among the objects */
	size_t n_in_health[_HEALTH_MAX];      /* ports only */
};

/*
 * Collects the objects that the patterns of o select, all without any. A pattern that selects a
 * device selects its ports too, unless exact. Returns 0 or -ENOMEM.
 */
int view_build(const json_t *root, const struct options *o, bool exact, struct view *ret);
void view_done(struct view *v);

/*
 * What every verb that shows objects begins with: loads the description and collects its objects.
 * Returns 0, or the exit status to end with after having said why. Both are to be released anyway.
 */
enum view_load_flags {
	VIEW_EXACT = 1 << 0, /* as for view_build() */
	VIEW_BRIEF = 1 << 1, /* as for source_fetch() */
};
int view_load(const struct options *o, unsigned flags, struct source *ret_source, struct view *ret);

/*
 * The exit status of a verb that shows the objects; says so of each pattern that no object has a name
 * like.
 */
int view_exit_status(const struct source *s, const struct view *v, const struct options *o);

/*
 * The next pattern of o, from its *i-th on, that selects none of the objects of v, which were collected
 * with it; NULL when there is none. *i is moved behind it.
 */
const char *view_unmatched(const struct view *v, const struct options *o, size_t *i);

/* Says that nothing of the description is called like that, and what is called nearly so. */
void say_unmatched(const json_t *root, const char *pattern);

/* Sorts the objects so that the worst come first and those with a notice before the rest. */
void view_sort_worst_first(struct view *v);

/*
 * Whether an object is itself in trouble, rather than a device that only carries the health of its
 * ports, or a port about which nothing is known because of its device.
 */
bool object_in_trouble(const struct view *v, const struct object *o);

/* How much a health matters: 0 ignored and ok, more is worse. */
unsigned health_rank(enum health h);

/*
 * Whether the patterns of o select an object of that name; a pattern that matches a device selects
 * its ports ("mlx5_0/1"), too. Without patterns everything is selected.
 */
bool name_selected(const struct options *o, const char *name);

/* What a condition of that severity makes of an object. */
enum health severity_health(enum severity s);

/*
 * The worst that an object's own reasons come to, of those that counts (NULL: all) lets through, and
 * the id of that reason (NULL: none counts).
 */
enum health reasons_worst(const json_t *object,
	bool (*counts)(const json_t *reason, const void *user), const void *user,
	const char **ret_id);

/* Tolerant access; NULL when it is not there. An empty string is unknown too. */
const char *json_text(const json_t *object, const char *key);
/* Returns whether it is there. */
bool json_number(const json_t *object, const char *key, uint64_t *ret);

/* JSON's null where there is nothing. */
static inline json_t *json_or_null(json_t *v)
{
	return v ? v : json_null();
}

/* Health of any object with HealthState; its word to *ret_word (may be NULL). */
enum health json_health(const json_t *object, const char **ret_word);

/* "active/linkup", "down/polling (stale)", "missing"; returns buf. */
const char *object_state(const struct object *o, char buf[OBJECT_TEXT_MAX]);

/* "200 Gb/s (4X HDR)", "-" when it is unknown or says nothing; returns buf. */
const char *object_rate(const struct object *o, char buf[OBJECT_TEXT_MAX]);
