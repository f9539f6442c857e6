/* SPDX-License-Identifier: MIT */
/*
 * rdmactl show: everything about an object as Key=Value, for scripts. The keys are those of the
 * JSON, with a path for what is nested ("Reasons.0.Found="), so that a new property appears here by
 * itself. Lines are added and never renamed.
 */
#include <inttypes.h>

#include "macros.h"
#include "output.h"
#include "source.h"
#include "text.h"
#include "view.h"

static bool is_scalar(const json_t *v)
{
	return !json_is_array(v) && !json_is_object(v);
}

static void print_scalar(const json_t *v)
{
	if (json_is_string(v))
		fputs(json_string_value(v), stdout);
	else if (json_is_integer(v))
		printf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		printf("%.17g", json_real_value(v));
	else if (json_is_boolean(v))
		fputs(json_is_true(v) ? "yes" : "no", stdout);
}

/* The member that stands for a nested object in a one-line summary, NULL when it has none. */
static const json_t *summary_of(const json_t *v)
{
	static const char *const keys[] = { "Id", "Name", "Number", "PKey", "Index", "Address" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (json_object_get(v, keys[i]))
			return json_object_get(v, keys[i]);
	return NULL;
}

/* "Reasons=port-down link-flapping", "Ports=1 2", "PKeys=0xffff 0x8001". */
static void print_summary(const char *path, const json_t *array)
{
	bool first = true;

	printf("%s=", path);
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *v = json_array_get(array, i);

		v = is_scalar(v) ? v : summary_of(v);
		if (!v)
			continue;
		if (!first)
			putchar(' ');
		/* Its place in the list must be seen. */
		if (json_is_null(v))
			putchar('-');
		print_scalar(v);
		first = false;
	}
	putchar('\n');
}

static void print_value(const char *path, const json_t *v)
{
	const char *key;
	json_t *member;

	if (is_scalar(v)) {
		printf("%s=", path);
		print_scalar(v);
		putchar('\n');
		return;
	}
	if (json_is_object(v)) {
		json_object_foreach((json_t *)v, key, member)
		{
			_cleanup_(freep) char *sub = NULL;

			if (asprintf(&sub, "%s.%s", path, key) >= 0)
				print_value(sub, member);
		}
		return;
	}
	print_summary(path, v);
	for (size_t i = 0; i < json_array_size(v); i++) {
		_cleanup_(freep) char *sub = NULL;

		if (!is_scalar(json_array_get(v, i)) && asprintf(&sub, "%s.%zu", path, i) >= 0)
			print_value(sub, json_array_get(v, i));
	}
}

static const char *kind_word(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_HOST:
		return "host";
	case OBJECT_DEVICE:
		return "device";
	case OBJECT_PORT:
		return "port";
	case OBJECT_MISSING:
		return "missing";
	}
	return NULL;
}

/* Keys whose members are objects that are shown for themselves. */
static bool is_container(enum object_kind kind, const char *key)
{
	return (kind == OBJECT_HOST && (streq(key, "Devices") || streq(key, "Missing"))) ||
	       (kind == OBJECT_DEVICE && streq(key, "Ports"));
}

static void show_text(const struct object *o)
{
	const char *key;
	json_t *member;

	printf("Object=%s\nKind=%s\n", o->name, kind_word(o->kind));
	if (o->kind == OBJECT_PORT)
		printf("Device=%s\n", or_text(json_text(o->device, "Name"), ""));
	json_object_foreach((json_t *)o->json, key, member)
	{
		if (is_container(o->kind, key))
			print_summary(key, member);
		else if (o->kind != OBJECT_HOST || !streq(key, "Events"))
			print_value(key, member);
	}
}

/* A copy without what is shown for itself. */
static json_t *without_containers(const struct object *o)
{
	json_t *copy = json_copy((json_t *)o->json);

	json_object_set_new(copy, "Object", json_string(o->name));
	json_object_set_new(copy, "Kind", json_string(kind_word(o->kind)));
	if (o->kind == OBJECT_DEVICE)
		json_object_del(copy, "Ports");
	if (o->kind == OBJECT_HOST) {
		json_object_del(copy, "Devices");
		json_object_del(copy, "Missing");
		json_object_del(copy, "Events");
	}
	if (o->kind == OBJECT_PORT)
		json_object_set(copy, "Device", json_or_null(json_object_get(o->device, "Name")));
	return copy;
}

static void show_json(const struct options *o, const struct source *s, const struct view *v)
{
	json_t *objects = json_array(), *all;

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(objects, without_containers(&v->objects[i]));
	all = json_pack("{s:o, s:o}", "Daemon", source_daemon_json(s), "Objects", objects);
	output_json(o, all);
	json_decref(all);
}

int verb_show(const struct options *o)
{
	_cleanup_(source_done) struct source s;
	_cleanup_(view_done) struct view v = { 0 };
	int r;

	r = view_load(o, VIEW_EXACT, &s, &v);
	if (r != 0)
		return r;
	if (o->n_patterns == 0)
		v.n = 1; /* the host comes first */

	output_open(o);
	r = view_exit_status(&s, &v, o);
	if (o->format == OUTPUT_TEXT) {
		source_note_file(&s);
		for (size_t i = 0; i < v.n; i++) {
			if (i > 0)
				putchar('\n');
			show_text(&v.objects[i]);
		}
	} else
		show_json(o, &s, &v);
	return output_close(r);
}
