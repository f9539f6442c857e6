/* SPDX-License-Identifier: MIT */
#include "counter-reader-internal.h"

#include <errno.h>

/* FNV-1a, with what ends a name. */
uint32_t counter_set_number(const struct attributes *attrs)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < attrs->n; i++) {
		const struct attribute *a = &attrs->list[i];

		if (a->not_counter)
			continue;
		for (const char *p = a->name; *p; p++)
			h = (h ^ (unsigned char)*p) * 16777619u;
		h = (h ^ (0x100 + a->width)) * 16777619u;
	}
	return h ?: 1;
}

static size_t count_counters(const struct attributes *attrs)
{
	size_t n = 0;

	for (size_t i = 0; i < attrs->n; i++)
		n += !attrs->list[i].not_counter;
	return n;
}

static int tell_named(const struct counter_reader *r, const struct attribute *const *attrs,
	size_t n, char (*shown)[COUNTER_NAME_MAX], const struct counter_sink *sink)
{
	struct counter_name f = {
		.device_index = r->device_index,
		.port = r->port,
		.source = r->source,
		.set = r->set,
		.n = (uint32_t)n,
	};
	int e;

	for (; f.at < n; f.at++) {
		f.width = attrs[f.at]->width;
		f.flags = counter_is_gauge(attrs[f.at]->name) ? COUNTER_GAUGE : 0;
		memset(f.name, 0, sizeof(f.name));
		STRSCPY(f.name, shown[f.at]);
		e = sink->name(&f, sink->user);
		if (e < 0)
			return e;
	}
	return 0;
}

int counter_tell_names(const struct counter_reader *r, const struct counter_sink *sink)
{
	size_t n = 0, max = r->attrs.n;
	_cleanup_(freep) char(*shown)[COUNTER_NAME_MAX] = calloc(max + 1, sizeof(*shown));
	_cleanup_(freep) const struct attribute **attrs = calloc(max + 1, sizeof(*attrs));
	_cleanup_(freep) const char **names = calloc(max + 1, sizeof(*names));

	if (!shown || !attrs || !names)
		return -ENOMEM;
	for (size_t i = 0; i < max; i++) {
		if (r->attrs.list[i].not_counter)
			continue;
		attrs[n] = &r->attrs.list[i];
		names[n++] = r->attrs.list[i].name;
	}
	counter_display_names(shown, names, n);
	return tell_named(r, attrs, n, shown, sink);
}

int counter_tell_values(const struct counter_reader *r, const struct counter_sink *sink)
{
	struct counter_values f = {
		.device_index = r->device_index,
		.port = r->port,
		.source = r->source,
		.set = r->set,
	};
	int e;

	for (size_t i = 0; i < r->attrs.n; i++) {
		const struct attribute *a = &r->attrs.list[i];

		if (a->not_counter)
			continue;
		f.values[f.n] = a->known ? a->value : 0;
		f.known |= (uint64_t)a->known << f.n;
		if (++f.n < COUNTERS_PER_PIECE)
			continue;
		e = sink->values(&f, sink->user);
		if (e < 0)
			return e;
		f.first += f.n;
		f.n = 0;
		f.known = 0;
	}
	if (f.n == 0)
		return 0;
	memset(f.values + f.n, 0, (COUNTERS_PER_PIECE - f.n) * sizeof(f.values[0]));
	return sink->values(&f, sink->user);
}

int counter_tell_done(const struct counter_reader *r, const struct counter_sink *sink)
{
	struct counters_done f = {
		.device_index = r->device_index,
		.port = r->port,
		.source = r->source,
		.n = (uint32_t)(count_counters(&r->attrs) + r->attrs.n_all - r->attrs.n),
		.error = r->error,
	};

	for (size_t i = 0; i < r->attrs.n; i++)
		f.unreadable += !r->attrs.list[i].not_counter && !r->attrs.list[i].known;
	if (f.n == 0 && f.error == 0)
		f.error = -ENOENT;
	return sink->done(&f, sink->user);
}
