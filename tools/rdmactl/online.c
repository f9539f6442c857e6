/* SPDX-License-Identifier: MIT */
#include "online.h"

#include <errno.h>
#include <stdarg.h>

#include "macros.h"
#include "text.h"

static bool is_good_enough(const struct options *o, enum health h)
{
	return h == HEALTH_OK || (h == HEALTH_DEGRADED && o->fail_on == HEALTH_FAILED);
}

static int add(struct online *v, const char *object, const char *fmt, ...) _printf_(3, 4);
static int add(struct online *v, const char *object, const char *fmt, ...)
{
	struct laggard *l = reallocarray(v->laggards, v->n_laggards + 1, sizeof(*v->laggards));
	va_list ap;

	if (!l)
		return -ENOMEM;
	v->laggards = l;
	l += v->n_laggards++;
	STRSCPY(l->object, object);
	va_start(ap, fmt);
	if (vasprintf(&l->why, fmt, ap) < 0)
		l->why = NULL;
	va_end(ap);
	return 0;
}

/* The reason of an object that says most, NULL when there is none that counts. */
static const json_t *worst_reason(const json_t *object)
{
	const json_t *reasons = json_object_get(object, "Reasons");
	const char *id;

	reasons_worst(object, NULL, NULL, &id);
	for (size_t i = 0; id && i < json_array_size(reasons); i++)
		if (streq_ptr(json_text(json_array_get(reasons, i), "Id"), id))
			return json_array_get(reasons, i);
	return NULL;
}

static int add_reason(struct online *v, const char *object, const char *health, const json_t *r)
{
	const char *found = json_text(r, "Found"), *wanted = json_text(r, "Wanted");

	return add(v, object, "%s, %s%s%s%s%s", health, or_text(json_text(r, "Id"), "unknown"),
		found ? ": found " : "", or_text(found, ""), wanted ? "; wanted " : "",
		or_text(wanted, ""));
}

/* A port without a reason of its own is as its device is, or on its way. */
static int add_port(struct online *v, const struct object *p)
{
	const char *because = json_text(p->json, "IgnoredBecause");
	const json_t *reason = worst_reason(p->json);
	char state[OBJECT_TEXT_MAX];

	if (!reason)
		reason = worst_reason(p->device);
	if (reason)
		return add_reason(v, p->name, p->health_word, reason);
	return add(v, p->name, "%s, %s%s%s", p->health_word, object_state(p, state),
		because ? ": " : "", or_text(because, ""));
}

static int judge_port(struct online *v, const struct object *p, const struct options *o)
{
	bool named = o->n_patterns > 0;
	bool active = streq_ptr(json_text(p->json, "PortState"), "active");

	if (!named && !json_is_true(json_object_get(p->json, "Required")))
		return 0;
	/* Whoever names a port that nobody cares for cares for it. */
	if (is_good_enough(o, p->health) || (p->health == HEALTH_IGNORED && named && active)) {
		v->n_online++;
		return 0;
	}
	/* A required one that is released or disabled by hand is let go of on purpose. */
	if (p->health == HEALTH_IGNORED && !named)
		return 0;
	return add_port(v, p);
}

static int judge_missing(struct online *v, const struct object *x, const struct options *o)
{
	const json_t *reason = worst_reason(x->json);

	if (o->n_patterns == 0 && health_rank(x->health) == 0)
		return 0;
	return reason ? add_reason(v, x->name, x->health_word, reason)
		      : add(v, x->name, "%s, missing", x->health_word);
}

/* One that was named and has no ports, or not yet; else its ports speak for it. */
static int judge_device(struct online *v, const struct object *d, const struct options *o)
{
	if (o->n_patterns == 0 || json_array_size(json_object_get(d->json, "Ports")) > 0)
		return 0;
	return add(v, d->name, "%s, no ports", d->health_word);
}

static const struct object *find(const struct view *view, const char *name)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->objects[i].kind != OBJECT_HOST && streq(view->objects[i].name, name))
			return &view->objects[i];
	return NULL;
}

/*
 * A configured link that is not made, or made and not seen yet. What was deleted by hand is not waited
 * for, as nobody will make it.
 */
static int judge_links(
	struct online *v, const json_t *root, const struct view *view, const struct options *o)
{
	const json_t *rows = json_object_get(root, "Setup");
	int r = 0;

	for (size_t i = 0; r >= 0 && i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *name = json_text(row, "Object"), *result = json_text(row, "Result");
		const char *detail = or_text(json_text(row, "Detail"), json_text(row, "Found"));

		if (!streq_ptr(json_text(row, "Step"), "add-link") || !name || !result)
			continue;
		if (streq(result, "ok") || streq(result, "drifted") || !name_selected(o, name) ||
			find(view, name))
			continue;
		r = add(v, name, "%s%s%s", result, detail ? ": " : "", or_text(detail, ""));
	}
	return r;
}

static bool is_about_ports(const json_t *reason)
{
	const char *class = json_text(reason, "Class");

	return class && (streq(class, "link") || streq(class, "fabric") || streq(class, "device"));
}

/*
 * What the host itself is short of: ports that are counted, adapters that are not probed. A lost netdev
 * has a link that is not there.
 */
static int judge_host_reasons(struct online *v, const json_t *root, const struct options *o)
{
	const json_t *reasons = json_object_get(root, "Reasons");
	int r = 0;

	for (size_t i = 0; r >= 0 && i < json_array_size(reasons); i++) {
		const json_t *reason = json_array_get(reasons, i);
		const char *word = json_text(reason, "Severity");
		int s = word ? severity_from_string(word) : -EINVAL;
		enum health h = s < 0 ? HEALTH_UNKNOWN : severity_health((enum severity)s);

		if (is_about_ports(reason) && !is_good_enough(o, h))
			r = add_reason(v, or_text(json_text(reason, "Subject"), "host"),
				health_to_string(h), reason);
	}
	return r;
}

/*
 * That ports are counted and cannot be told yet is in the host's health, without a reason; so is that
 * no device was listed yet.
 */
static int judge_host_health(struct online *v, const json_t *root, const struct view *view)
{
	const json_t *daemon = json_object_get(root, "Daemon");
	bool counts = json_is_true(json_object_get(daemon, "ExpectationConfigured"));
	enum health host = json_health(root, NULL), parts = HEALTH_OK;
	bool empty = view->n_devices + view->n_missing == 0;

	for (size_t i = 0; i < view->n; i++)
		parts = health_worst(parts, view->objects[i].health);
	if (host == HEALTH_STARTING && (counts || empty))
		return add(v, "host", "starting, %s",
			empty ? "devices are still being listed"
			      : "what is expected may still come");
	if (host == HEALTH_UNKNOWN && health_rank(parts) < health_rank(host))
		return add(v, "host", "unknown, not all that is expected can be read");
	return 0;
}

/* A pattern that selects nothing is about something that may still come. */
static int judge_patterns(struct online *v, const struct view *view, const struct options *o)
{
	const char *pattern;
	int r = 0;

	for (size_t i = 0; r >= 0 && (pattern = view_unmatched(view, o, &i)) != NULL;) {
		struct options one = *o;
		bool any = false;

		one.patterns = &o->patterns[i - 1];
		one.n_patterns = 1;
		for (size_t j = 0; !any && j < v->n_laggards; j++)
			any = name_selected(&one, v->laggards[j].object);
		if (!any)
			r = add(v, pattern, "not there");
	}
	return r;
}

static int judge_objects(struct online *v, const struct view *view, const struct options *o)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < view->n; i++) {
		const struct object *x = &view->objects[i];

		switch (x->kind) {
		case OBJECT_HOST:
			break;
		case OBJECT_DEVICE:
			r = judge_device(v, x, o);
			break;
		case OBJECT_PORT:
			r = judge_port(v, x, o);
			break;
		case OBJECT_MISSING:
			r = judge_missing(v, x, o);
			break;
		}
	}
	return r;
}

int online_judge(const json_t *root, const struct options *o, struct online *ret)
{
	_cleanup_(view_done) struct view view = { 0 };
	struct online v = { 0 };
	int r;

	r = view_build(root, o, false, &view);
	if (r >= 0)
		r = judge_objects(&v, &view, o);
	if (r >= 0)
		r = judge_links(&v, root, &view, o);
	if (r >= 0 && o->n_patterns == 0)
		r = judge_host_reasons(&v, root, o);
	if (r >= 0 && o->n_patterns == 0 && v.n_laggards == 0)
		r = judge_host_health(&v, root, &view);
	if (r >= 0)
		r = judge_patterns(&v, &view, o);
	if (r < 0) {
		online_done(&v);
		return r;
	}
	*ret = v;
	return 0;
}

void online_done(struct online *v)
{
	for (size_t i = 0; i < v->n_laggards; i++)
		free(v->laggards[i].why);
	free(v->laggards);
	*v = (struct online){ 0 };
}

bool online_enough(const struct online *v, const struct options *o)
{
	return v->n_laggards == 0 || (o->any && v->n_online > 0);
}
