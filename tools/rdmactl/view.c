/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>

#include "macros.h"
#include "nearest.h"
#include "output.h"
#include "text.h"

const char *json_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s ? s : NULL;
}

bool json_number(const json_t *object, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

enum health json_health(const json_t *object, const char **ret_word)
{
	const char *word = json_text(object, "HealthState");
	int h = word ? health_from_string(word) : -EINVAL;

	if (ret_word)
		*ret_word = or_text(word, "unknown");
	return h < 0 ? HEALTH_UNKNOWN : (enum health)h;
}

unsigned health_rank(enum health h)
{
	switch (h) {
	case HEALTH_FAILED:
		return 4;
	case HEALTH_DEGRADED:
		return 3;
	case HEALTH_UNKNOWN:
		return 2;
	case HEALTH_STARTING:
		return 1;
	case HEALTH_OK:
	case HEALTH_IGNORED:
	case _HEALTH_MAX:
		break;
	}
	return 0;
}

enum health severity_health(enum severity s)
{
	switch (s) {
	case SEVERITY_FAILED:
		return HEALTH_FAILED;
	case SEVERITY_DEGRADED:
		return HEALTH_DEGRADED;
	case SEVERITY_UNKNOWN:
		return HEALTH_UNKNOWN;
	case SEVERITY_NOTICE:
	case _SEVERITY_MAX:
		break;
	}
	return HEALTH_OK;
}

enum health reasons_worst(const json_t *object,
	bool (*counts)(const json_t *reason, const void *user), const void *user,
	const char **ret_id)
{
	const json_t *reasons = json_object_get(object, "Reasons");
	enum health worst = HEALTH_OK;

	*ret_id = NULL;
	for (size_t i = 0; i < json_array_size(reasons); i++) {
		const json_t *reason = json_array_get(reasons, i);
		const char *word = json_text(reason, "Severity");
		int s = word ? severity_from_string(word) : -EINVAL;
		enum health h = s < 0 ? HEALTH_UNKNOWN : severity_health((enum severity)s);

		if (health_rank(h) > health_rank(worst) && (!counts || counts(reason, user))) {
			worst = h;
			*ret_id = json_text(reason, "Id");
		}
	}
	return worst;
}

/* For the objects that have no HealthState of their own. */
static enum health worst_reason(const json_t *object, const char **ret_id)
{
	return reasons_worst(object, NULL, NULL, ret_id);
}

static bool name_matches(const struct options *o, const char *name)
{
	if (o->n_patterns == 0)
		return true;
	for (size_t i = 0; i < o->n_patterns; i++)
		if (fnmatch(o->patterns[i], name, FNM_PATHNAME) == 0)
			return true;
	return false;
}

bool name_selected(const struct options *o, const char *name)
{
	const char *slash = strrchr(name, '/');
	_cleanup_(freep) char *device = NULL;

	if (name_matches(o, name))
		return true;
	device = slash ? strndup(name, (size_t)(slash - name)) : NULL;
	return device && name_matches(o, device);
}

static void add(struct view *v, const struct object *o)
{
	struct object *slot = &v->objects[v->n];

	*slot = *o;
	slot->order = v->n++;
	switch (o->kind) {
	case OBJECT_HOST:
		break;
	case OBJECT_DEVICE:
		v->n_devices++;
		break;
	case OBJECT_PORT:
		v->n_ports++;
		v->n_in_health[o->health]++;
		break;
	case OBJECT_MISSING:
		v->n_missing++;
		break;
	}
}

static void add_device(
	struct view *v, const json_t *json, size_t nr, const struct options *opt, bool exact)
{
	const json_t *ports = json_object_get(json, "Ports");
	struct object d = { .kind = OBJECT_DEVICE, .json = json, .device = json };
	bool all_ports;

	if (json_text(json, "Name"))
		STRSCPY(d.name, json_text(json, "Name"));
	else
		snprintf(d.name, sizeof(d.name), "device#%zu", nr);
	d.health = json_health(json, &d.health_word);
	worst_reason(json, &d.trouble);

	all_ports = name_matches(opt, d.name);
	if (all_ports)
		add(v, &d);
	if (opt->n_patterns == 0 || exact)
		all_ports = opt->n_patterns == 0;

	for (size_t i = 0; i < json_array_size(ports); i++) {
		struct object p = { .kind = OBJECT_PORT, .device = json };
		uint64_t number = i + 1;

		p.json = json_array_get(ports, i);
		json_number(p.json, "Number", &number);
		snprintf(p.name, sizeof(p.name), "%.*s/%" PRIu64, OBJECT_TEXT_MAX - 24, d.name,
			number);
		p.health = json_health(p.json, &p.health_word);
		worst_reason(p.json, &p.trouble);
		if (all_ports || name_matches(opt, p.name))
			add(v, &p);
	}
}

static void add_missing(struct view *v, const json_t *json, const struct options *opt)
{
	struct object m = { .kind = OBJECT_MISSING, .json = json, .device = json };
	const char *guid = or_text(json_text(json, "NodeGuid"), "device");
	const char *name =
		or_text(json_text(json, "Name"), or_text(json_text(json, "PciAddress"), guid));

	STRSCPY(m.name, name);
	m.health = worst_reason(json, &m.trouble);
	if (json_array_size(json_object_get(json, "Reasons")) == 0)
		m.health = HEALTH_UNKNOWN;
	m.health_word = health_to_string(m.health);
	if (json_text(json, "HealthState"))
		m.health = json_health(json, &m.health_word);
	if (name_matches(opt, m.name))
		add(v, &m);
}

int view_build(const json_t *root, const struct options *o, bool exact, struct view *ret)
{
	const json_t *devices = json_object_get(root, "Devices");
	const json_t *missing = json_object_get(root, "Missing");
	struct view v = { .root = root };
	size_t room = 1 + json_array_size(devices) + json_array_size(missing);

	for (size_t i = 0; i < json_array_size(devices); i++)
		room += json_array_size(json_object_get(json_array_get(devices, i), "Ports"));
	v.objects = calloc(room, sizeof(*v.objects));
	if (!v.objects)
		return -ENOMEM;

	if (o->n_patterns == 0) {
		struct object host = { .kind = OBJECT_HOST, .json = root, .name = "host" };

		/* Its own reasons only: HealthState of the root includes everything. */
		host.health = worst_reason(root, &host.trouble);
		host.health_word = health_to_string(host.health);
		add(&v, &host);
	}
	for (size_t i = 0; i < json_array_size(devices); i++)
		add_device(&v, json_array_get(devices, i), i, o, exact);
	for (size_t i = 0; i < json_array_size(missing); i++)
		add_missing(&v, json_array_get(missing, i), o);
	*ret = v;
	return 0;
}

void view_done(struct view *v)
{
	free(v->objects);
	*v = (struct view){ 0 };
}

static int by_badness(const void *x, const void *y)
{
	const struct object *a = x, *b = y;
	unsigned ra = health_rank(a->health), rb = health_rank(b->health);
	size_t na, nb;

	if (ra != rb)
		return ra > rb ? -1 : 1;
	na = json_array_size(json_object_get(a->json, "Reasons"));
	nb = json_array_size(json_object_get(b->json, "Reasons"));
	if (!na != !nb)
		return na ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void view_sort_worst_first(struct view *v)
{
	qsort(v->objects, v->n, sizeof(*v->objects), by_badness);
}

bool object_in_trouble(const struct view *v, const struct object *o)
{
	if (health_rank(o->health) == 0)
		return false;
	if (o->trouble || o->kind == OBJECT_HOST || o->kind == OBJECT_MISSING)
		return true;
	for (size_t i = 0; i < v->n; i++) {
		const struct object *x = &v->objects[i];

		if (x == o || x->device != o->device || health_rank(x->health) == 0)
			continue;
		/* Either it is its port that is in trouble, or its device is why. */
		if (o->kind == OBJECT_DEVICE ? x->kind == OBJECT_PORT
					     : x->kind == OBJECT_DEVICE && x->trouble)
			return false;
	}
	return true;
}

const char *object_state(const struct object *o, char buf[OBJECT_TEXT_MAX])
{
	const char *state = json_text(o->json, "PortState"),
		   *phys = json_text(o->json, "PhysState");
	const char *probe = json_text(o->json, "ProbeState");
	bool stale = probe && !streq(probe, "fresh");

	switch (o->kind) {
	case OBJECT_PORT:
		snprintf(buf, OBJECT_TEXT_MAX, "%.32s%s%.32s%s", or_text(state, "unknown"),
			phys ? "/" : "", or_text(phys, ""), stale && state ? " (stale)" : "");
		break;
	case OBJECT_MISSING:
		snprintf(buf, OBJECT_TEXT_MAX, "missing");
		break;
	case OBJECT_HOST:
	case OBJECT_DEVICE:
		snprintf(buf, OBJECT_TEXT_MAX, "-");
		break;
	}
	return buf;
}

const char *object_rate(const struct object *o, char buf[OBJECT_TEXT_MAX])
{
	struct port_facts facts = port_facts_unknown(0, 0);
	const char *state = json_text(o->json, "PortState");

	/* The kernel gives a rate for a port that is down, too; it means nothing. */
	if (o->kind != OBJECT_PORT || (state && streq(state, "down")) ||
		!json_number(o->json, "Rate", &facts.rate_mbps) || facts.rate_mbps == 0)
		return strcpy(buf, "-");
	STRSCPY(facts.width, or_text(json_text(o->json, "Width"), ""));
	STRSCPY(facts.speed, or_text(json_text(o->json, "Speed"), ""));
	return rate_format(buf, &facts);
}

const char *view_unmatched(const struct view *v, const struct options *o, size_t *i)
{
	while (*i < o->n_patterns) {
		struct options one = *o;
		bool any = false;

		one.patterns = &o->patterns[(*i)++];
		one.n_patterns = 1;
		for (size_t j = 0; !any && j < v->n; j++)
			any = name_selected(&one, v->objects[j].name);
		if (!any)
			return one.patterns[0];
	}
	return NULL;
}

void say_unmatched(const json_t *root, const char *pattern)
{
	const struct options all = { .n_patterns = 0 };
	struct nearest nearest = nearest_to(pattern);
	_cleanup_(view_done) struct view v = { 0 };

	/* What a glob was meant to be is not to be told. */
	if (!pattern[strcspn(pattern, "*?[")] && view_build(root, &all, false, &v) >= 0)
		for (size_t i = 0; i < v.n; i++)
			if (v.objects[i].kind != OBJECT_HOST)
				nearest_try(&nearest, v.objects[i].name);
	output_error("There is no '%s' here.%s%s%s", pattern, nearest.word ? " Did you mean '" : "",
		or_text(nearest.word, ""), nearest.word ? "'?" : " See: rdmactl list");
}

int view_exit_status(const struct source *s, const struct view *v, const struct options *o)
{
	int r = source_exit_status(s);
	const char *pattern;

	for (size_t i = 0; (pattern = view_unmatched(v, o, &i)) != NULL;) {
		say_unmatched(s->root, pattern);
		r = r ? r : EXIT_FAILED;
	}
	return r;
}

int view_load(const struct options *o, unsigned flags, struct source *ret_source, struct view *ret)
{
	int r;

	r = source_load(o, flags & VIEW_BRIEF, ret_source);
	if (r != 0)
		return r;
	if (view_build(ret_source->root, o, flags & VIEW_EXACT, ret) < 0) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	return 0;
}
