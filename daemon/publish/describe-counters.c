/* SPDX-License-Identifier: MIT */
/* The counters as JSON: a text of its own, since it is long and few want it. */
#include <errno.h>
#include <fnmatch.h>

#include "counters.h"
#include "describe-internal.h"
#include "macros.h"

/* Beyond what jansson's integers hold, the nearest real number. */
static json_t *json_counter_value(uint64_t value)
{
	return value <= INT64_MAX ? json_number(value) : json_real((double)value);
}

static json_t *json_delta(const struct counter *c)
{
	uint64_t delta;

	return counter_delta(c, &delta) ? json_counter_value(delta) : json_null();
}

static json_t *json_rate(const struct counter *c)
{
	double rate;

	return counter_rate(c, &rate) ? json_real(rate) : json_null();
}

static json_t *json_bytes(const struct counter *c, enum counter_source source)
{
	if (!c->known || !counter_is_words(source, c->name))
		return json_null();
	return c->value <= UINT64_MAX / 4 ? json_counter_value(4 * c->value)
					  : json_real(4.0 * (double)c->value);
}

static json_t *json_counter(struct builder *b, const struct counter *c, enum counter_source source)
{
	bool has_delta = c->known && !(c->flags & COUNTER_GAUGE);
	json_t *o = json_object();

	put(b, o, "Name", json_text(c->name));
	put(b, o, "SafeName", json_text(counter_safe(c)));
	put(b, o, "Source", json_text(counter_source_to_string(source)));
	put(b, o, "Value", c->known ? json_counter_value(c->value) : json_null());
	put(b, o, "Bytes", json_bytes(c, source));
	put(b, o, "LastRead", json_time(c->read_at));
	put(b, o, "Stale", json_boolean(c->stale));
	put(b, o, "Delta", json_delta(c));
	put(b, o, "DeltaSince", has_delta ? json_time(c->base_at) : json_null());
	put(b, o, "Rate", json_rate(c));
	put(b, o, "Width", c->width ? json_number(c->width) : json_null());
	put(b, o, "Gauge", json_boolean(c->flags & COUNTER_GAUGE));
	put(b, o, "Saturated", json_boolean(counter_is_saturated(c)));
	put(b, o, "Resets", json_number(c->resets));
	return o;
}

/* Why there are no counters of a source, or not all of them. */
static json_t *json_source_error(const struct counter_table *t)
{
	char text[64];

	if (!t || (!t->error && !t->done_at.mono))
		return json_string("none, or not read yet");
	if (t->error == -ENOENT)
		return json_string("the driver has none");
	if (t->error)
		return json_text(strerror(-t->error));
	if (t->n_all > t->n) {
		snprintf(text, sizeof(text), "%u more are not kept", t->n_all - (uint32_t)t->n);
		return json_string(text);
	}
	return json_null();
}

static void append_table(
	struct builder *b, json_t *array, const struct counter_table *t, enum counter_source source)
{
	for (size_t i = 0; t && i < t->n; i++)
		append(b, array, json_counter(b, &t->counters[i], source));
}

static json_t *json_entry(struct builder *b, const struct device *d, const char *object,
	uint32_t number, json_t *hw_error, json_t *pma_error, json_t *counters)
{
	char guid[GUID_STRING_MAX];
	json_t *o = json_object();

	put(b, o, "Object", json_text(object));
	put(b, o, "Device", json_text(d->facts.name));
	put(b, o, "Number", json_number(number));
	put(b, o, "NodeGuid", json_text(guid_format(guid, d->facts.node_guid)));
	put(b, o, "HwError", hw_error);
	put(b, o, "PmaError", pma_error);
	put(b, o, "Counters", counters);
	return o;
}

static bool is_wanted(const char *pattern, const char *object, const struct device *d)
{
	return !pattern || fnmatch(pattern, object, 0) == 0 ||
	       fnmatch(pattern, d->facts.name, 0) == 0;
}

/* Most devices have counters of their ports only: then there is no entry for the device. */
static json_t *json_device_entry(struct builder *b, const struct device *d, const char *pattern)
{
	const struct counter_table *t = d->counters;
	json_t *counters;

	if (!t || t->error == -ENOENT || !is_wanted(pattern, d->facts.name, d))
		return NULL;
	counters = json_array();
	append_table(b, counters, t, COUNTER_HW);
	return json_entry(b, d, d->facts.name, 0, json_source_error(t), json_null(), counters);
}

static json_t *json_port_entry(struct builder *b, const struct port *p, const char *pattern)
{
	const struct counter_table *hw = p->counters[COUNTER_HW], *pma = p->counters[COUNTER_PMA];
	char object[RDMA_NAME_MAX + 16];
	json_t *counters;

	snprintf(object, sizeof(object), "%s/%u", p->device->facts.name, p->number);
	if (!is_wanted(pattern, object, p->device))
		return NULL;
	counters = json_array();
	append_table(b, counters, hw, COUNTER_HW);
	append_table(b, counters, pma, COUNTER_PMA);
	return json_entry(b, p->device, object, p->number, json_source_error(hw),
		json_source_error(pma), counters);
}

/* Writes one value and frees it: all ports as one tree would be ten times as much memory as text. */
static void write_value(struct builder *b, FILE *f, const char *before, json_t *value)
{
	_cleanup_(freep) char *text = json_dumps(value, JSON_COMPACT);

	json_decref(value);
	b->failed = b->failed || !text;
	if (text)
		fprintf(f, "%s%s", before, text);
}

static void write_entry(struct builder *b, FILE *f, bool *any, json_t *entry)
{
	if (!entry)
		return;
	write_value(b, f, *any ? "," : "", entry);
	*any = true;
}

static void write_ports(struct builder *b, FILE *f, const struct model *m, const char *pattern)
{
	bool any = false;

	for (const struct device *d = m->devices; d; d = d->next) {
		write_entry(b, f, &any, json_device_entry(b, d, pattern));
		for (size_t i = 0; i < d->n_ports; i++)
			write_entry(b, f, &any, json_port_entry(b, &d->ports[i], pattern));
	}
}

int describe_counters_text(
	const struct publish_context *ctx, struct timepoint now, const char *pattern, char **ret)
{
	struct builder b = { .failed = false };
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	write_value(&b, f, "{\"Daemon\":", describe_daemon(&b, ctx, now));
	fputs(",\"Ports\":[", f);
	write_ports(&b, f, ctx->model, pattern);
	fputs("]}", f);
	b.failed = b.failed || ferror(f);
	if (fclose(f) != 0 || b.failed)
		return -ENOMEM;
	*ret = TAKE_PTR(text);
	return 0;
}
