/* SPDX-License-Identifier: MIT */
/*
 * rdmactl status: the host in one screen. The verdict first, then what is in trouble with the
 * reason, the remedy and the next command to type, then the rest. For people: it may change.
 */
#include "status.h"

#include "macros.h"
#include "output.h"
#include "source.h"
#include "status-table.h"
#include "summary.h"
#include "text.h"

#define EVENTS_SHOWN 3
#define SETUP_SHOWN  8

static void print_ago(const char *prefix, const json_t *object, const char *key, usec_t now)
{
	char span[TIMESPAN_MAX];
	uint64_t since;

	if (json_number(object, key, &since))
		printf("%s%s", prefix, timespan_format(span, sizeof(span), usec_sub(now, since)));
}

/* "rdmad 0.1.0, up 3d 4h, configuration 2" and, when it matters, where this comes from. */
static void print_daemon(const struct source *s, usec_t now)
{
	const json_t *daemon = json_object_get(s->root, "Daemon");
	const char *version = json_text(daemon, "Version");
	char span[TIMESPAN_MAX];
	uint64_t generation;

	if (s->captured) {
		output_wrapped(2, COLOUR_DIM, s->captured);
		return;
	}
	printf("  %srdmad %s", output_colour(COLOUR_DIM), or_text(version, "of unknown version"));
	if (!s->running)
		printf(", not running");
	else if (s->uptime != USEC_INFINITY)
		printf(", up %s", timespan_format(span, sizeof(span), s->uptime));
	if (json_number(daemon, "ConfigGeneration", &generation))
		printf(", configuration %llu", (unsigned long long)generation);
	if (json_text(s->root, "HealthState")) {
		printf(", %s", json_text(s->root, "HealthState"));
		print_ago(" for ", s->root, "HealthSince", now);
	}
	printf("%s\n", output_reset());
	if (s->from_file) {
		_cleanup_(freep) char *note = NULL;

		if (asprintf(&note, "from %s, written %s%s: %s", state_file_path(),
			    s->age == USEC_INFINITY ? "at an unknown time"
						    : timespan_format(span, sizeof(span), s->age),
			    s->age == USEC_INFINITY ? "" : " ago", or_text(s->why, "no bus")) >= 0)
			output_wrapped(
				2, s->running && !s->silent ? COLOUR_DIM : COLOUR_WARN, note);
	}
}

static const char *verdict_word(enum health h)
{
	switch (h) {
	case HEALTH_OK:
	case HEALTH_IGNORED:
		return "ok";
	case HEALTH_STARTING:
		return "STARTING";
	case HEALTH_UNKNOWN:
	case _HEALTH_MAX:
		break;
	case HEALTH_DEGRADED:
		return "DEGRADED";
	case HEALTH_FAILED:
		return "FAILED";
	}
	return "UNKNOWN";
}

/* The sentence behind the verdict, with so many of the troubles named. */
static char *verdict_text(const struct view *v, enum health h, size_t named, const char *counts)
{
	_cleanup_(freep) char *troubles = named > 0 ? summary_troubles(v, named) : strdup("");
	char *text;
	int r;

	if (!troubles || !counts)
		return NULL;
	if (health_rank(h) == 0 && v->n_ports + v->n_devices + v->n_missing == 0)
		r = asprintf(&text, "no RDMA devices here, and none expected: that is fine");
	else if (*troubles && *counts)
		r = asprintf(&text, "%s (%s)", troubles, counts);
	else
		r = asprintf(&text, "%s%s", troubles, counts);
	return r < 0 ? NULL : text;
}

/* As much as one line takes: fewer troubles by their names, then fewer counts. */
static char *verdict_fitting(
	const struct options *o, const struct view *v, enum health h, size_t before)
{
	size_t room = o->full || output_width() <= before ? SIZE_MAX : output_width() - before;
	_cleanup_(freep) char *all = summary_counts(v);
	_cleanup_(freep) char *bad = summary_bad_counts(v);
	const struct {
		size_t named;
		const char *counts;
	} ways[] = { { 3, all }, { 2, all }, { 1, all }, { 1, bad }, { 0, all }, { 1, "" } };
	char *text = NULL, *cut;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		free(text);
		text = verdict_text(v, h, ways[i].named, ways[i].counts);
		if (!text || text_width(text) <= room)
			return text;
	}
	cut = text_ellipsize(text, room);
	free(text);
	return cut;
}

static void print_verdict(const struct options *o, const struct source *s, const struct view *v)
{
	/* A selection is judged by what is in it: the host's verdict is about more than is shown. */
	enum health h = o->n_patterns == 0 ? json_health(s->root, NULL) : HEALTH_IGNORED;
	_cleanup_(freep) char *text = NULL;
	size_t before;
	enum colour c;

	for (size_t i = 0; o->n_patterns > 0 && i < v->n; i++)
		h = health_worst(h, v->objects[i].health);
	before = strlen(s->running || s->captured ? "* RDMA : " : "  What it last knew: RDMA : ") +
		 strlen(verdict_word(h));
	text = verdict_fitting(o, v, h, before);
	c = health_colour(h);
	if (!s->running && !s->captured) {
		printf("%s%s rdmad is not running.%s Start it with: systemctl start rdmad\n",
			output_colour(COLOUR_WARN), text_is_utf8() ? "○" : "o", output_reset());
		printf("  What it last knew: RDMA %s: %s\n", verdict_word(h), or_text(text, ""));
		return;
	}
	printf("%s%s RDMA %s%s: %s\n", output_colour(c), text_is_utf8() ? "●" : "*",
		verdict_word(h), output_reset(), or_text(text, ""));
}

static void print_setup(const struct options *o, const json_t *root)
{
	const json_t *rows = json_object_get(root, "Setup");
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const char *result = or_text(json_text(row, "Result"), "unknown");
		const char *detail = json_text(row, "Detail"), *wanted = json_text(row, "Wanted");
		const char *found = json_text(row, "Found");
		_cleanup_(freep) char *line = NULL;

		if (!json_is_object(row) || streq(result, "ok") || streq(result, "changed"))
			continue;
		if (shown == SETUP_SHOWN && !o->full) {
			more++;
			continue;
		}
		if (shown++ == 0)
			printf("\nSetup:\n");
		if (asprintf(&line, "%s %s: %s%s%s%s%s%s%s",
			    or_text(json_text(row, "Step"), "step"),
			    or_text(json_text(row, "Object"), ""), result, detail ? ": " : "",
			    or_text(detail, ""), found ? "; found " : "", or_text(found, ""),
			    wanted ? "; wanted " : "", or_text(wanted, "")) >= 0)
			output_wrapped(2, COLOUR_NONE, line);
	}
	if (more > 0)
		printf("  and %zu more (--full)\n", more);
}

#define SAME_MOMENT (2 * USEC_PER_SEC)

/* Whether it is the beginning of what stands above, with its reason and since when. */
static bool is_told(const struct view *v, const json_t *event)
{
	const char *object = json_text(event, "Object"), *id = json_text(event, "Reason");
	uint64_t when, since;

	for (size_t i = 0; object && id && json_number(event, "When", &when) && i < v->n; i++) {
		const json_t *reasons = json_object_get(v->objects[i].json, "Reasons");

		if (!streq(v->objects[i].name, object))
			continue;
		for (size_t j = 0; j < json_array_size(reasons); j++) {
			const json_t *r = json_array_get(reasons, j);

			if (streq_ptr(json_text(r, "Id"), id) && json_number(r, "Since", &since) &&
				MAX(usec_sub(when, since), usec_sub(since, when)) <= SAME_MOMENT)
				return true;
		}
	}
	return false;
}

static bool is_shown(const struct options *o, const struct view *v, const json_t *event)
{
	return (json_text(event, "Message") || json_text(event, "Object")) &&
	       (o->full || !is_told(v, event));
}

static void print_event(const struct options *o, const json_t *e, usec_t now)
{
	const char *message = json_text(e, "Message");
	_cleanup_(freep) char *line = NULL;
	char span[TIMESPAN_MAX] = "?";
	uint64_t when;
	int r;

	if (json_number(e, "When", &when))
		timespan_format(span, sizeof(span), usec_sub(now, when));
	r = message ? asprintf(&line, "%9s ago  %s", span, message)
		    : asprintf(&line, "%9s ago  %s: %s (%s)", span,
			      or_text(json_text(e, "Object"), "?"),
			      or_text(json_text(e, "NewState"), "?"),
			      or_text(json_text(e, "Reason"), "?"));
	if (r < 0) {
		line = NULL;
		return;
	}
	printf("  ");
	output_cell(line, COLOUR_NONE,
		o->full || output_width() < 20 ? SIZE_MAX : output_width() - 2, true);
	putchar('\n');
}

static void print_events(const struct options *o, const struct view *v, usec_t now)
{
	const json_t *events = json_object_get(v->root, "Events");
	size_t n = json_array_size(events), first = n, shown = 0;

	while (first > 0 && (o->full || shown < EVENTS_SHOWN))
		shown += is_shown(o, v, json_array_get(events, --first));
	if (shown > 0)
		printf("\nLast events:\n");
	for (size_t i = first; i < n; i++)
		if (is_shown(o, v, json_array_get(events, i)))
			print_event(o, json_array_get(events, i), now);
}

/* A host that lost an adapter would look like one that never had it. */
static void print_unexpected(const struct source *s)
{
	const json_t *daemon = json_object_get(s->root, "Daemon");

	if (!json_is_false(json_object_get(daemon, "LearningPersists")) ||
		!json_is_false(json_object_get(daemon, "ExpectationConfigured")))
		return;
	printf("\n");
	output_wrapped(0, COLOUR_WARN,
		"Nothing is expected by configuration, and what is learned does not outlive this "
		"boot: "
		"/var/lib/rdmad is not there or cannot be written to. An adapter or a port that is "
		"dead "
		"at the next boot will not be missed; see [Expect] in rdmad.conf(5).");
}

/* All is well, or so it seems to rdmad: whoever looks may know better. */
static void print_nothing(const struct view *v)
{
	if (v->n_ports + v->n_devices + v->n_missing == 0 &&
		health_rank(json_health(v->root, NULL)) == 0)
		output_wrapped(2, COLOUR_DIM, "if there should be an adapter, try: rdmactl doctor");
}

static void status_text(const struct options *o, const struct source *s, struct view *v)
{
	usec_t now = timepoint_now().real;

	view_sort_worst_first(v);
	print_verdict(o, s, v);
	print_daemon(s, now);
	status_table(o, v, !s->captured, now);
	if (o->n_patterns > 0)
		return;
	if (s->running)
		print_nothing(v);
	print_setup(o, s->root);
	status_ignored(o, v);
	print_events(o, v, now);
	print_unexpected(s);
}

/* The description with only the devices, ports and missing devices that the patterns select. */
static void status_json(const struct options *o, const struct source *s, const struct view *v)
{
	json_t *root = json_copy(s->root), *devices = json_array(), *missing = json_array();

	if (o->n_patterns == 0) {
		output_json(o, s->root);
		goto finish;
	}
	for (size_t i = 0; i < v->n; i++) {
		const struct object *x = &v->objects[i];
		json_t *device = json_array_get(devices, json_array_size(devices) - 1);

		if (x->kind == OBJECT_MISSING)
			json_array_append(missing, (json_t *)x->json);
		if (x->kind != OBJECT_DEVICE && x->kind != OBJECT_PORT)
			continue;
		/* Ports follow their device; of one that was not selected itself they bring it along. */
		if (!device ||
			json_object_get(device, "Index") != json_object_get(x->device, "Index") ||
			json_object_get(device, "Name") != json_object_get(x->device, "Name")) {
			device = json_copy((json_t *)x->device);
			json_object_set_new(device, "Ports", json_array());
			json_array_append_new(devices, device);
		}
		if (x->kind == OBJECT_PORT)
			json_array_append(json_object_get(device, "Ports"), (json_t *)x->json);
	}
	json_object_set(root, "Devices", devices);
	json_object_set(root, "Missing", missing);
	output_json(o, root);
finish:
	json_decref(devices);
	json_decref(missing);
	json_decref(root);
}

void status_show(const struct options *o, const struct source *s, struct view *v)
{
	if (o->format != OUTPUT_TEXT)
		status_json(o, s, v);
	else
		status_text(o, s, v);
}

int verb_status(const struct options *o)
{
	_cleanup_(source_done) struct source s;
	_cleanup_(view_done) struct view v = { 0 };
	int r;

	r = view_load(o, o->format == OUTPUT_TEXT ? VIEW_BRIEF : 0, &s, &v);
	if (r != 0)
		return r;
	output_open(o);
	r = view_exit_status(&s, &v, o);
	if (o->format != OUTPUT_TEXT || v.n > 0)
		status_show(o, &s, &v);
	return output_close(r);
}
