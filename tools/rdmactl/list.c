/* SPDX-License-Identifier: MIT */
/*
 * rdmactl list: one line per port, and one for each device that has none.
 */
#include "output.h"
#include "source.h"
#include "status-table.h"
#include "summary.h"
#include "table.h"
#include "text.h"
#include "view.h"

#define CELL_WIDTH_MAX 24

enum column {
	COL_PORT,
	COL_HEALTH,
	COL_STATE,
	COL_RATE,
	COL_NETDEV,
	COL_WHY,
	_COL_MAX,
};

static const struct table_column columns[_COL_MAX] = {
	[COL_PORT] = { "PORT", 0.1, 0 },
	[COL_HEALTH] = { "HEALTH", 0.1, 0 },
	[COL_STATE] = { "STATE", 0.1, 0 },
	[COL_RATE] = { "RATE", 0.1, 0 },
	[COL_NETDEV] = { "NETDEV", 0.1, 0 },
	[COL_WHY] = { "WHY", 0.1, SCOLS_FL_TRUNC },
};

/* A device gets a line of its own when no port's line stands for it. */
static bool is_listed(const struct object *o)
{
	switch (o->kind) {
	case OBJECT_PORT:
	case OBJECT_MISSING:
		return true;
	case OBJECT_DEVICE:
		return json_array_size(json_object_get(o->json, "Ports")) == 0;
	case OBJECT_HOST:
		break;
	}
	return false;
}

static const char *why(const struct object *o)
{
	/* What is wrong with the device is why its ports are not known. */
	const json_t *own = json_array_get(json_object_get(o->json, "Reasons"), 0);
	const json_t *device = json_array_get(json_object_get(o->device, "Reasons"), 0);

	const char *const candidates[] = {
		o->trouble,
		json_text(o->json, "IgnoredBecause"),
		json_text(own, "Id"),
		json_text(o->device, "IgnoredBecause"),
		json_text(device, "Id"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
		if (candidates[i])
			return candidates[i];
	return "-";
}

/* Only WHY gives way by itself; what is longer than anything real must not push it out. */
static int set_cell(const struct options *opt, struct libscols_line *l, enum column column,
	const char *s, enum colour c)
{
	_cleanup_(freep) char *cut = text_ellipsize(s, opt->full ? SIZE_MAX : CELL_WIDTH_MAX);

	return cut ? table_set(l, column, cut, c) : -1;
}

static int add_line(const struct options *opt, struct libscols_table *t, const struct object *o)
{
	struct libscols_line *l = scols_table_new_line(t, NULL);
	char state[OBJECT_TEXT_MAX], rate[OBJECT_TEXT_MAX];

	if (!l)
		return -1;
	set_cell(opt, l, COL_PORT, o->name, COLOUR_NONE);
	set_cell(opt, l, COL_HEALTH, o->health_word, health_colour(o->health));
	set_cell(opt, l, COL_STATE, object_state(o, state), COLOUR_NONE);
	set_cell(opt, l, COL_RATE, object_rate(o, rate), COLOUR_NONE);
	set_cell(opt, l, COL_NETDEV, or_text(json_text(o->json, "NetDevice"), "-"), COLOUR_NONE);
	return scols_line_set_data(l, COL_WHY, why(o));
}

static int list_text(const struct options *o, const struct source *s, const struct view *v)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *t = table_new(o, columns, _COL_MAX);
	_cleanup_(freep) char *counts = summary_counts(v);

	source_note_file(s);
	for (size_t i = 0; t && i < v->n; i++)
		if (is_listed(&v->objects[i]) && add_line(o, t, &v->objects[i]) < 0)
			t = NULL;
	if (!t) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	if (scols_table_get_nlines(t) > 0)
		scols_print_table(t);
	if (o->legend)
		printf("%s%s.\n", scols_table_get_nlines(t) > 0 ? "\n" : "", or_text(counts, ""));
	return source_exit_status(s);
}

/* What a line is about, and no tables: those have "show" and "status". All keys are always there. */
static json_t *port_json(const struct object *p)
{
	static const char *const keys[] = { "Number", "LinkLayer", "PortState", "PhysState", "Rate",
		"Width", "Speed", "NetDevice", "Group", "Required", "HealthState", "HealthSince",
		"Reasons", "IgnoredBecause", "ProbeState" };
	json_t *line = json_pack(
		"{s:s, s:O?}", "Object", p->name, "Device", json_object_get(p->device, "Name"));

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(p->json, keys[i]);

		if (!value && streq(keys[i], "Reasons"))
			json_object_set_new(line, keys[i], json_array());
		else if (!value)
			json_object_set_new(line, keys[i], json_null());
		else
			json_object_set(line, keys[i], value);
	}
	return line;
}

static int list_json(const struct options *o, const struct source *s, const struct view *v)
{
	json_t *ports = json_array(), *all;

	for (size_t i = 0; i < v->n; i++)
		if (v->objects[i].kind == OBJECT_PORT)
			json_array_append_new(ports, port_json(&v->objects[i]));
	all = json_pack("{s:o, s:o}", "Daemon", source_daemon_json(s), "Ports", ports);
	output_json(o, all);
	json_decref(all);
	return source_exit_status(s);
}

int verb_list(const struct options *o)
{
	_cleanup_(source_done) struct source s;
	_cleanup_(view_done) struct view v = { 0 };
	int r, status;

	r = view_load(o, VIEW_BRIEF, &s, &v);
	if (r != 0)
		return r;
	output_open(o);
	status = view_exit_status(&s, &v, o);
	r = o->format == OUTPUT_TEXT ? list_text(o, &s, &v) : list_json(o, &s, &v);
	return output_close(r ? r : status);
}
