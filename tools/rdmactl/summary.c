/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include "macros.h"

char *summary_troubles(const struct view *v, size_t max)
{
	size_t shown = 0, more = 0, size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < v->n; i++) {
		const struct object *o = &v->objects[i];

		if (!object_in_trouble(v, o))
			continue;
		if (shown == max) {
			more++;
			continue;
		}
		fprintf(f, "%s%s", shown++ ? ", " : "", o->name);
		if (o->trouble)
			fprintf(f, " %s", o->trouble);
	}
	if (more > 0)
		fprintf(f, " and %zu more", more);
	return fclose(f) == 0 ? text : NULL;
}

/* Of the first n healths, worst first. */
static char *counts(const struct view *v, size_t n_order)
{
	static const enum health order[] = {
		HEALTH_FAILED,
		HEALTH_DEGRADED,
		HEALTH_UNKNOWN,
		HEALTH_STARTING,
		HEALTH_OK,
		HEALTH_IGNORED,
	};
	size_t states = 0, size;
	bool first = true;
	char *text;
	FILE *f;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		states += v->n_in_health[order[i]] > 0;
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;

	if (v->n_ports == 0)
		fprintf(f, "no ports");
	for (size_t i = 0; i < MIN(n_order, ARRAY_SIZE(order)); i++) {
		size_t n = v->n_in_health[order[i]];

		if (n == 0)
			continue;
		if (!first)
			fprintf(f, ", %zu", n);
		else if (states > 1)
			fprintf(f, "%zu of %zu ports", n, v->n_ports);
		else
			fprintf(f, "%zu port%s", n, n == 1 ? "" : "s");
		fprintf(f, " %s", health_to_string(order[i]));
		first = false;
	}
	if (v->n_missing > 0)
		fprintf(f, "%s%zu device%s missing", first && v->n_ports > 0 ? "" : ", ",
			v->n_missing, v->n_missing == 1 ? "" : "s");
	return fclose(f) == 0 ? text : NULL;
}

char *summary_counts(const struct view *v)
{
	return counts(v, SIZE_MAX);
}

char *summary_bad_counts(const struct view *v)
{
	return counts(v, 4);
}
