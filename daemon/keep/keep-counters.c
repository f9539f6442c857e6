/* SPDX-License-Identifier: MIT */
/* The counters' text: what differences are counted from, and what the windows hold. */
#include <errno.h>

#include "internal.h"
#include "macros.h"

/* ---- out ---- */

/* [window, at, value, at, value, ...] */
static void put_span(struct record_out *o, const struct counter_span *s)
{
	record_open(o, NULL, '[');
	record_put_number(o, NULL, s->window);
	for (size_t i = 0; i < s->n; i++) {
		record_put_number(o, NULL, s->samples[i].at);
		record_put_number(o, NULL, s->samples[i].value);
	}
	record_close(o, ']');
}

static void put_counter(struct record_out *o, const struct counter *c)
{
	record_open(o, NULL, '{');
	record_put_text(o, "Name", c->name);
	record_put(o, kept_counter, c);
	if (c->history) {
		record_put(o, kept_history, c->history);
		record_open(o, "Spans", '[');
		for (size_t i = 0; i < c->history->n_spans; i++)
			put_span(o, &c->history->spans[i]);
		record_close(o, ']');
	}
	record_close(o, '}');
}

/* What was never read has nothing to be kept. */
static void put_table(struct record_out *o, const struct device *d, uint32_t port,
	enum counter_source source, const struct counter_table *t)
{
	if (!t)
		return;
	record_open(o, NULL, '{');
	record_put_number(o, "Index", d->facts.index);
	record_put_text(o, "Device", d->facts.name);
	record_put_number(o, "Port", port);
	record_put_text(o, "Source", counter_source_to_string(source));
	record_open(o, "Counters", '[');
	for (size_t i = 0; i < t->n; i++)
		if (t->counters[i].known)
			put_counter(o, &t->counters[i]);
	record_close(o, ']');
	record_close(o, '}');
}

int keep_counters_format(
	const struct model *m, const struct keep_origin *origin, struct timepoint now, char **ret)
{
	struct record_out o = { 0 };
	size_t size;

	o.f = keep_begin(ret, &size);
	if (!o.f)
		return -ENOMEM;
	record_open(&o, NULL, '{');
	keep_put_head(&o, origin);
	record_put_number(&o, "Saved", now.mono);
	record_open(&o, "Tables", '[');
	for (const struct device *d = m->devices; d; d = d->next) {
		put_table(&o, d, 0, COUNTER_HW, d->counters);
		for (size_t i = 0; i < d->n_ports; i++)
			for (int s = 0; s < _COUNTER_SOURCE_MAX; s++)
				put_table(&o, d, d->ports[i].number, (enum counter_source)s,
					d->ports[i].counters[s]);
	}
	record_close(&o, ']');
	record_close(&o, '}');
	fputc('\n', o.f);
	return keep_finish(o.f, ret, &size);
}

/* ---- in ---- */

static int get_span(const json_t *o, struct counter_span *s)
{
	size_t n = json_array_size(o);

	if (n % 2 != 1 || n / 2 > ARRAY_SIZE(s->samples) ||
		!record_get_number(json_array_get(o, 0), &s->window))
		return -EBADMSG;
	s->n = n / 2;
	for (size_t i = 0; i < s->n; i++)
		if (!record_get_number(json_array_get(o, 2 * i + 1), &s->samples[i].at) ||
			!record_get_number(json_array_get(o, 2 * i + 2), &s->samples[i].value))
			return -EBADMSG;
	return 0;
}

static int get_history(const json_t *o, const json_t *spans, struct counter *c)
{
	size_t n = json_array_size(spans);
	int r;

	if (n == 0)
		return 0;
	if (n > COUNTER_SPANS_MAX)
		return -EBADMSG;
	c->history = calloc(1, sizeof(*c->history));
	if (!c->history)
		return -ENOMEM;
	c->history->n_spans = n;
	record_get(o, kept_history, c->history);
	for (size_t i = 0; i < n; i++) {
		r = get_span(json_array_get(spans, i), &c->history->spans[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int get_counter(const json_t *o, struct counter *c)
{
	char name[COUNTER_NAME_MAX] = "";

	record_get_text(json_object_get(o, "Name"), name, sizeof(name));
	record_get(o, kept_counter, c);
	if (!name[0] || c->width > 64)
		return -EBADMSG;
	c->name = strdup(name);
	if (!c->name)
		return -ENOMEM;
	c->stale = c->known; /* not read by this run */
	return get_history(o, json_object_get(o, "Spans"), c);
}

/* Without the number of a set, the names are asked for and take over what is here. */
static int get_counters(const json_t *counters, struct counter_table **at)
{
	size_t n = json_array_size(counters), i;
	struct counter_table *t;
	const json_t *o;
	int r;

	if (*at || n > COUNTERS_MAX)
		return -EBADMSG;
	if (n == 0)
		return 0;
	t = *at = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->counters = calloc(n, sizeof(*t->counters));
	if (!t->counters)
		return -ENOMEM;
	json_array_foreach(counters, i, o)
	{
		t->n = i + 1;
		r = get_counter(o, &t->counters[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Where the table belongs; NULL when that is not there. */
static struct counter_table **find_table(const json_t *o, struct model *m)
{
	uint64_t index = UINT64_MAX, number = UINT64_MAX;
	char name[RDMA_NAME_MAX] = "", word[16] = "";
	struct device *d;
	struct port *p;
	int source;

	record_get_number(json_object_get(o, "Index"), &index);
	record_get_number(json_object_get(o, "Port"), &number);
	record_get_text(json_object_get(o, "Device"), name, sizeof(name));
	record_get_text(json_object_get(o, "Source"), word, sizeof(word));
	source = counter_source_from_string(word);
	d = index <= UINT32_MAX ? model_device_by_index(m, (uint32_t)index) : NULL;
	if (!d || !streq(d->facts.name, name) || source < 0)
		return NULL;
	if (number == 0)
		return source == COUNTER_HW ? &d->counters : NULL;
	p = number <= RDMA_PORTS_MAX ? device_port(d, (uint32_t)number) : NULL;
	return p ? &p->counters[source] : NULL;
}

static void forget_tables(struct model *m)
{
	for (struct device *d = m->devices; d; d = d->next) {
		d->counters = counter_table_free(d->counters);
		for (size_t i = 0; i < d->n_ports; i++)
			for (int s = 0; s < _COUNTER_SOURCE_MAX; s++)
				d->ports[i].counters[s] =
					counter_table_free(d->ports[i].counters[s]);
	}
}

int keep_counters_parse(const char *text, const struct keep_origin *origin, struct model *m)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	const json_t *o;
	size_t i;
	int r;

	r = keep_open(text, origin, &root);
	if (r < 0)
		return r;
	json_array_foreach(json_object_get(root, "Tables"), i, o)
	{
		struct counter_table **at = find_table(o, m);

		if (!at)
			continue;
		r = get_counters(json_object_get(o, "Counters"), at);
		if (r < 0) {
			forget_tables(m);
			return r;
		}
	}
	return 0;
}
