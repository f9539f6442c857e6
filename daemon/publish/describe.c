/* SPDX-License-Identifier: MIT */
/*
 * The JSON of DESIGN section 8, from the tables of fields.c and the lists that only JSON has.
 * Nothing here decides anything, and no byte that a device reports can make the text invalid.
 */
#include <errno.h>
#include <jansson.h>

#include "build-config.h"
#include "describe-internal.h"
#include "fields.h"
#include "macros.h"
#include "rules.h"

static json_t *json_rows(
	struct builder *b, const struct list *l, const struct subject *s, const struct value *v);

static json_t *json_field(struct builder *b, const struct field *f, const struct subject *s)
{
	struct value v;

	field_get(f, s, &v);
	if (!v.known)
		return json_null();
	switch (f->type) {
	case FIELD_STRING:
	case FIELD_PATH:
		return json_string(v.string);
	case FIELD_U32:
	case FIELD_U64:
		return json_number(v.number);
	case FIELD_BOOL:
		return json_boolean(v.flag);
	case FIELD_LIST:
		return json_rows(b, f->list, s, &v);
	}
	return NULL;
}

static void put_fields(
	struct builder *b, json_t *object, const struct field *f, const struct subject *s)
{
	for (; f->name; f++)
		if (f->use != FIELD_BUS_ONLY)
			put(b, object, f->name, json_field(b, f, s));
}

/* Of a device or a port. */
static void put_object_fields(
	struct builder *b, json_t *object, const struct field *f, const struct subject *s)
{
	json_t *value;

	if (!b->brief) {
		put_fields(b, object, f, s);
		return;
	}
	for (; f->name; f++) {
		if (!f->brief)
			continue;
		value = json_field(b, f, s);
		if (json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0))
			json_decref(value);
		else
			put(b, object, f->name, value);
	}
}

static json_t *json_rows(
	struct builder *b, const struct list *l, const struct subject *s, const struct value *v)
{
	json_t *array = json_array();
	struct subject row = *s;

	for (size_t i = 0; l->row(s, v, i, &row); i++) {
		json_t *o = json_object();

		put_fields(b, o, l->fields, &row);
		append(b, array, o);
	}
	return array;
}

json_t *describe_reasons(struct builder *b, const struct verdict *v)
{
	const struct subject nothing = { NULL };
	struct value reasons;

	value_set_reasons(&reasons, v);
	return json_rows(b, &reason_list, &nothing, &reasons);
}

static json_t *json_port(struct builder *b, const struct subject *s)
{
	json_t *o = json_object();

	put_object_fields(b, o, port_fields, s);
	if (b->brief)
		return o;
	describe_put_port_lists(b, o, s->ctx->model, s->port);
	/* Not known to this version, but the keys are there, so that nobody has to ask for them. */
	put(b, o, "Peer", json_null());
	put(b, o, "Module", json_null());
	return o;
}

static json_t *json_device(
	struct builder *b, const struct publish_context *ctx, const struct device *d)
{
	struct subject s = { .ctx = ctx, .device = d };
	json_t *o = json_object();
	json_t *ports = json_array();

	put_object_fields(b, o, device_fields, &s);
	if (!b->brief)
		describe_put_device_lists(b, o, d);
	for (size_t i = 0; i < d->n_ports; i++) {
		s.port = &d->ports[i];
		append(b, ports, json_port(b, &s));
	}
	put(b, o, "Ports", ports);
	return o;
}

static json_t *json_event(struct builder *b, const struct event *e)
{
	json_t *o = json_object();

	put(b, o, "When", json_time(e->when));
	put(b, o, "Object", json_text(e->object));
	put(b, o, "Reason", json_text(e->reason));
	put(b, o, "OldState", json_text(e->old_state));
	put(b, o, "NewState", json_text(e->new_state));
	put(b, o, "Message", json_text(e->message));
	return o;
}

/* The last max events, oldest first. */
static json_t *json_events(struct builder *b, const struct model *m, unsigned max)
{
	uint64_t n = MIN(m->n_events, (uint64_t)MIN(max, (unsigned)EVENTS_MAX));
	json_t *array = json_array();

	for (uint64_t i = m->n_events - n; i < m->n_events; i++)
		append(b, array, json_event(b, &m->events[i % EVENTS_MAX]));
	return array;
}

json_t *describe_daemon(struct builder *b, const struct publish_context *ctx, struct timepoint now)
{
	json_t *o = json_object();

	put(b, o, "Running", json_true());
	put(b, o, "Version", json_string(RDMAD_VERSION));
	put(b, o, "ConfigGeneration", json_number(ctx->config_generation));
	put(b, o, "LearningPersists",
		ctx->learning_persists < 0 ? json_null() : json_boolean(ctx->learning_persists));
	put(b, o, "ExpectationConfigured", json_boolean(ctx->expects_anything));
	put(b, o, "Ready", json_boolean(ctx->ready));
	put(b, o, "PreviousVersion", json_text(ctx->previous_version));
	put(b, o, "GapUSec", ctx->previous_version[0] ? json_number(ctx->gap) : json_null());
	put(b, o, "Pid", json_integer(getpid()));
	put(b, o, "Timestamp", json_time(now));
	return o;
}

int describe_text(const struct publish_context *ctx, struct timepoint now, unsigned max_events,
	enum describe_form form, char **ret)
{
	struct builder b = { .brief = form == DESCRIBE_BRIEF };
	struct subject s = { .ctx = ctx };
	json_t *root = json_object();
	json_t *devices = json_array();
	char *text;

	put(&b, root, "Daemon", describe_daemon(&b, ctx, now));
	put_fields(&b, root, manager_fields, &s);
	for (const struct device *d = ctx->model->devices; d; d = d->next)
		append(&b, devices, json_device(&b, ctx, d));
	put(&b, root, "Devices", devices);
	put(&b, root, "Missing", json_field(&b, field_find(manager_fields, "Missing"), &s));
	put(&b, root, "Setup", json_field(&b, field_find(manager_fields, "Setup"), &s));
	put(&b, root, "Events", json_events(&b, ctx->model, max_events));

	text = b.failed ? NULL
			: json_dumps(root, form == DESCRIBE_PRETTY ? JSON_INDENT(2) : JSON_COMPACT);
	json_decref(root);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}
