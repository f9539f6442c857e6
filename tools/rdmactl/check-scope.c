/* SPDX-License-Identifier: MIT */
#include "check-scope.h"

#include <errno.h>

#include "event-journal.h"
#include "macros.h"
#include "output.h"
#include "text.h"
#include "when.h"

bool check_is_scoped(const struct options *o)
{
	return o->n_patterns > 0 || o->classes || o->group || o->ignore_acked;
}

static bool class_counts(const struct options *o, const char *word)
{
	int class = word ? reason_class_from_string(word) : -EINVAL;

	return !o->classes || (class >= 0 && o->classes & (1u << class));
}

static bool reason_counts(const json_t *reason, const void *user)
{
	const struct options *o = user;

	if (o->ignore_acked && json_is_true(json_object_get(reason, "Acknowledged")))
		return false;
	return class_counts(o, json_text(reason, "Class"));
}

/* What an object's health is about when it has no reason that says so. */
static enum reason_class class_of(const struct object *x)
{
	return x->kind == OBJECT_PORT ? CLASS_LINK : CLASS_DEVICE;
}

/* A device that has ports carries their health. */
static bool only_carries(const struct object *x)
{
	return x->kind == OBJECT_DEVICE && json_array_size(json_object_get(x->json, "Ports")) > 0;
}

static void scope_health(const struct options *o, struct object *x)
{
	enum health h;

	if (x->health == HEALTH_IGNORED)
		return;
	if (!x->trouble && x->kind != OBJECT_HOST && !only_carries(x)) {
		if (!class_counts(o, reason_class_to_string(class_of(x))))
			x->health = HEALTH_OK;
	} else {
		h = reasons_worst(x->json, reason_counts, o, &x->trouble);
		x->health = h;
	}
	x->health_word = health_to_string(x->health);
}

static bool in_group(const struct options *o, const struct object *x)
{
	const char *group = json_text(x->json, "Group");
	const json_t *ports = json_object_get(x->json, "Ports");

	if (x->kind == OBJECT_PORT)
		return group && streq(group, o->group);
	for (size_t i = 0; x->kind == OBJECT_DEVICE && i < json_array_size(ports); i++) {
		group = json_text(json_array_get(ports, i), "Group");
		if (group && streq(group, o->group))
			return true;
	}
	return false;
}

void check_scope(const struct options *o, struct view *v)
{
	size_t n = 0;

	if (!check_is_scoped(o))
		return;
	v->n_ports = v->n_devices = v->n_missing = 0;
	memset(v->n_in_health, 0, sizeof(v->n_in_health));
	for (size_t i = 0; i < v->n; i++) {
		struct object x = v->objects[i];

		if (o->group && !in_group(o, &x))
			continue;
		scope_health(o, &x);
		v->objects[n++] = x;
		v->n_devices += x.kind == OBJECT_DEVICE;
		v->n_missing += x.kind == OBJECT_MISSING;
		v->n_ports += x.kind == OBJECT_PORT;
		if (x.kind == OBJECT_PORT)
			v->n_in_health[x.health]++;
	}
	v->n = n;
}

/* ---- the past ---- */

static bool is_in_view(const struct view *v, const char *object)
{
	for (size_t i = 0; i < v->n; i++)
		if (streq(v->objects[i].name, object))
			return true;
	return false;
}

static enum health health_of(const struct event *e)
{
	const char *word = e->fields[EVENT_SEVERITY], *edge = e->fields[EVENT_EDGE];
	int severity = word ? severity_from_string(word) : -EINVAL;

	/* What merely happened is a notice. What ended stood until then. */
	if (!edge || streq(edge, "event"))
		return HEALTH_OK;
	return severity < 0 ? HEALTH_OK : severity_health((enum severity)severity);
}

/* What stands now is judged as it is now. */
static bool stands_now(const struct view *v, const struct event *e)
{
	for (size_t i = 0; i < v->n; i++) {
		const json_t *reasons = json_object_get(v->objects[i].json, "Reasons");

		if (!streq(v->objects[i].name, e->fields[EVENT_OBJECT]))
			continue;
		for (size_t k = 0; k < json_array_size(reasons); k++)
			if (streq(or_text(json_text(json_array_get(reasons, k), "Id"), ""),
				    e->fields[EVENT_REASON]))
				return true;
	}
	return false;
}

static bool event_counts(const struct options *o, const struct view *v, const struct event *e)
{
	const char *object = e->fields[EVENT_OBJECT];

	if (health_rank(health_of(e)) == 0 || !object || !e->fields[EVENT_REASON])
		return false;
	if (stands_now(v, e) || (o->group && !is_in_view(v, object)))
		return false;
	return class_counts(o, e->fields[EVENT_CLASS]);
}

static int note(struct check_past *p, const struct event *e)
{
	enum health h = health_of(e);
	struct check_past_condition *c;

	p->seen |= 1u << h;
	for (size_t i = 0; i < p->n; i++) {
		c = &p->conditions[i];
		if (streq(c->object, e->fields[EVENT_OBJECT]) &&
			streq(c->reason, e->fields[EVENT_REASON])) {
			c->health = health_worst(c->health, h);
			return 0;
		}
	}
	c = reallocarray(p->conditions, p->n + 1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	p->conditions = c;
	c += p->n++;
	*c = (struct check_past_condition){ .health = h };
	STRSCPY(c->object, e->fields[EVENT_OBJECT]);
	STRSCPY(c->reason, e->fields[EVENT_REASON]);
	return 0;
}

int check_past_read(const struct options *o, const struct view *v, struct check_past *ret)
{
	_cleanup_(sd_journal_closep) sd_journal *j = NULL;
	struct check_past p = { 0 };
	struct event e;
	usec_t since;
	size_t width;
	int r;

	r = when_parse(o->since, timepoint_now().real, &since);
	if (r < 0)
		return -EINVAL;
	if (event_journal_open(1u << EVENT_STATE, &j) != 0)
		return -EACCES;
	r = event_journal_seek(j, o, since, UINT64_MAX, &width);
	while (r > 0 && (r = event_journal_next(j, o, &e)) > 0) {
		int q = event_counts(o, v, &e) ? note(&p, &e) : 0;

		event_done(&e);
		if (q < 0)
			r = q;
	}
	if (r < 0)
		check_past_done(&p);
	*ret = p;
	return r;
}

void check_past_done(struct check_past *p)
{
	free(p->conditions);
	*p = (struct check_past){ 0 };
}

static int by_badness(const void *x, const void *y)
{
	const struct check_past_condition *a = x, *b = y;
	unsigned ra = health_rank(a->health), rb = health_rank(b->health);

	if (ra != rb)
		return ra > rb ? -1 : 1;
	return strcmp(a->object, b->object);
}

char *check_past_text(struct check_past *p)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (p->n > 0)
		qsort(p->conditions, p->n, sizeof(p->conditions[0]), by_badness);
	for (size_t i = 0; i < MIN(p->n, (size_t)CHECK_PAST_NAMED); i++)
		fprintf(f, "%s%s %s", i ? ", " : "", p->conditions[i].object,
			p->conditions[i].reason);
	if (p->n > CHECK_PAST_NAMED)
		fprintf(f, " and %zu more", p->n - CHECK_PAST_NAMED);
	return fclose(f) == 0 ? text : NULL;
}
