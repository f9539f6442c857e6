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

json_t *describe_reasons(struct builder *b, const struct verdict *v)
{
	json_t *array = json_array();

	for (size_t i = 0; i < v->n_reasons; i++) {
		const struct reason *r = &v->reasons[i];
		const struct rule *rule = rule_get(r->id);
		json_t *o = json_object();

		put(b, o, "Id", json_text(rule->name));
		put(b, o, "Severity", json_text(severity_to_string(r->severity)));
		put(b, o, "Class", json_text(reason_class_to_string(rule->class)));
		put(b, o, "Subject", json_text(r->subject));
		put(b, o, "Since", json_time(r->since));
		put(b, o, "Found", json_text(r->found));
		put(b, o, "Wanted", json_text(r->wanted));
		put(b, o, "Remedy", json_text(r->remedy));
		put(b, o, "Acknowledged", json_boolean(r->ack.when.mono > 0));
		put(b, o, "AcknowledgedAt", json_time(r->ack.when));
		put(b, o, "AcknowledgedBy", json_text(r->ack.by));
		put(b, o, "AcknowledgedComment", json_text(r->ack.comment));
		append(b, array, o);
	}
	return array;
}

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
	case FIELD_REASONS:
		return describe_reasons(b, v.verdict);
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

static json_t *json_port(struct builder *b, const struct subject *s)
{
	json_t *o = json_object();

	put_fields(b, o, port_fields, s);
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

	put_fields(b, o, device_fields, &s);
	describe_put_device_lists(b, o, d);
	for (size_t i = 0; i < d->n_ports; i++) {
		s.port = &d->ports[i];
		append(b, ports, json_port(b, &s));
	}
	put(b, o, "Ports", ports);
	return o;
}

static json_t *json_missing(struct builder *b, const struct missing *x)
{
	char guid[GUID_STRING_MAX];
	json_t *o = json_object();

	put(b, o, "Name", json_text(x->name));
	put(b, o, "NodeGuid", json_text(guid_format(guid, x->node_guid)));
	put(b, o, "PciAddress", json_text(x->pci_address));
	put(b, o, "HealthState", json_text(health_to_string(x->verdict.health)));
	put(b, o, "IgnoredBecause", json_text(x->verdict.ignored_because));
	put(b, o, "Reasons", describe_reasons(b, &x->verdict));
	return o;
}

static json_t *json_setup_row(struct builder *b, const struct setup_row *row)
{
	json_t *o = json_object();

	put(b, o, "Step", json_text(row->step));
	put(b, o, "Object", json_text(row->object));
	put(b, o, "Found", json_text(row->found));
	put(b, o, "Wanted", json_text(row->wanted));
	put(b, o, "Result", json_text(step_result_to_string(row->result)));
	put(b, o, "Detail", json_text(row->detail));
	put(b, o, "Disruptive", json_boolean(row->disruptive));
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
	put(b, o, "Pid", json_integer(getpid()));
	put(b, o, "Timestamp", json_time(now));
	return o;
}

int describe_text(const struct publish_context *ctx, struct timepoint now, unsigned max_events,
	bool pretty, char **ret)
{
	struct builder b = { .failed = false };
	struct subject s = { .ctx = ctx };
	json_t *root = json_object();
	json_t *devices = json_array(), *missing = json_array(), *setup = json_array();
	char *text;

	put(&b, root, "Daemon", describe_daemon(&b, ctx, now));
	put_fields(&b, root, manager_fields, &s);
	for (const struct device *d = ctx->model->devices; d; d = d->next)
		append(&b, devices, json_device(&b, ctx, d));
	put(&b, root, "Devices", devices);
	for (const struct missing *x = ctx->model->missing; x; x = x->next)
		append(&b, missing, json_missing(&b, x));
	put(&b, root, "Missing", missing);
	for (size_t i = 0; i < ctx->n_setup; i++)
		append(&b, setup, json_setup_row(&b, &ctx->setup[i]));
	put(&b, root, "Setup", setup);
	put(&b, root, "Events", json_events(&b, ctx->model, max_events));

	text = b.failed ? NULL : json_dumps(root, pretty ? JSON_INDENT(2) : JSON_COMPACT);
	json_decref(root);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}
