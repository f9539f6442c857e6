/* SPDX-License-Identifier: MIT */
#include "status-table.h"

#include "advice.h"
#include "macros.h"
#include "table.h"
#include "text.h"

/* So many are explained, and so many that are well are listed, before lines stand for groups. */
#define TROUBLES_EXPLAINED 6
#define HEALTHY_LISTED     32
#define IGNORED_NAMED      8

#define INDENT 2

enum cell {
	CELL_OBJECT,
	CELL_HEALTH,
	CELL_STATE,
	CELL_RATE,
	CELL_NETDEV,
	_CELL_MAX,
};

static const struct table_column columns[_CELL_MAX] = {
	[CELL_OBJECT] = { "OBJECT", 0.1, SCOLS_FL_TRUNC },
	[CELL_HEALTH] = { "HEALTH", 0.1, 0 },
	[CELL_STATE] = { "STATE", 0.1, SCOLS_FL_TRUNC },
	[CELL_RATE] = { "RATE", 0.1, SCOLS_FL_TRUNC },
	[CELL_NETDEV] = { "NETDEV", 0.1, SCOLS_FL_TRUNC },
};

struct row {
	const struct object *object; /* the first of them */
	size_t count;                /* how many objects the line stands for */
	bool explained;
	char cells[_CELL_MAX][OBJECT_TEXT_MAX];
};

struct table {
	struct row *rows;
	size_t n;
};

enum colour health_colour(enum health h)
{
	switch (h) {
	case HEALTH_OK:
		return COLOUR_GOOD;
	case HEALTH_FAILED:
		return COLOUR_BAD;
	case HEALTH_DEGRADED:
	case HEALTH_UNKNOWN:
	case HEALTH_STARTING:
		return COLOUR_WARN;
	case HEALTH_IGNORED:
	case _HEALTH_MAX:
		break;
	}
	return COLOUR_DIM;
}

static bool has_reasons(const struct object *o)
{
	return json_array_size(json_object_get(o->json, "Reasons")) > 0;
}

/*
 * A device whose ports say everything has no line: the line of its port stands for both. Ignored
 * ones are told of below the table.
 */
static bool is_shown(const struct view *v, const struct object *o)
{
	if (has_reasons(o))
		return true;
	if (o->health == HEALTH_IGNORED)
		return false;
	switch (o->kind) {
	case OBJECT_PORT:
	case OBJECT_MISSING:
		return true;
	case OBJECT_DEVICE:
		return json_array_size(json_object_get(o->json, "Ports")) == 0 ||
		       object_in_trouble(v, o);
	case OBJECT_HOST:
		break;
	}
	return false;
}

static void fill(struct row *row, const struct object *o)
{
	char buf[OBJECT_TEXT_MAX];

	*row = (struct row){ .object = o, .count = 1 };
	STRSCPY(row->cells[CELL_OBJECT], o->name);
	STRSCPY(row->cells[CELL_HEALTH], o->health_word);
	STRSCPY(row->cells[CELL_STATE], object_state(o, buf));
	STRSCPY(row->cells[CELL_RATE], object_rate(o, buf));
	STRSCPY(row->cells[CELL_NETDEV], or_text(json_text(o->json, "NetDevice"), "-"));
}

/* Adds to a line that stands for objects that look the same, or begins one. */
static void add_grouped(struct table *t, size_t first, const struct object *o)
{
	struct row row;

	fill(&row, o);
	/* What failed alike is told apart by its reason, which stands where one's netdev would. */
	STRSCPY(row.cells[CELL_NETDEV], or_text(o->trouble, ""));
	for (size_t i = first; i < t->n; i++) {
		struct row *have = &t->rows[i];

		if (have->object->kind == o->kind &&
			streq(have->cells[CELL_HEALTH], row.cells[CELL_HEALTH]) &&
			streq(have->cells[CELL_STATE], row.cells[CELL_STATE]) &&
			streq(have->cells[CELL_RATE], row.cells[CELL_RATE]) &&
			streq(have->cells[CELL_NETDEV], row.cells[CELL_NETDEV])) {
			have->count++;
			return;
		}
	}
	t->rows[t->n++] = row;
}

static void name_groups(struct table *t, size_t first)
{
	for (size_t i = first; i < t->n; i++) {
		struct row *row = &t->rows[i];
		bool port = row->object->kind == OBJECT_PORT;

		if (row->count > 1)
			snprintf(row->cells[CELL_OBJECT], sizeof(row->cells[0]), "%zu %s",
				row->count, port ? "ports" : "devices");
	}
}

static int collect(const struct options *o, const struct view *v, struct table *t)
{
	size_t healthy = 0, explained = 0, groups;

	t->rows = calloc(v->n + 1, sizeof(*t->rows));
	if (!t->rows)
		return -1;
	for (size_t i = 0; i < v->n; i++)
		healthy += is_shown(v, &v->objects[i]) && !has_reasons(&v->objects[i]) &&
			   health_rank(v->objects[i].health) == 0;

	/* The view is sorted: what wants explaining comes first. */
	for (size_t i = 0; i < v->n; i++) {
		const struct object *x = &v->objects[i];
		bool well = !has_reasons(x) && health_rank(x->health) == 0;

		if (!is_shown(v, x))
			continue;
		if (!o->full && (well ? healthy > HEALTHY_LISTED : explained >= TROUBLES_EXPLAINED))
			continue;
		fill(&t->rows[t->n], x);
		t->rows[t->n++].explained = !well;
		explained += !well;
	}
	groups = t->n;
	explained = 0;
	for (size_t i = 0; !o->full && i < v->n; i++) {
		const struct object *x = &v->objects[i];
		bool well = !has_reasons(x) && health_rank(x->health) == 0;

		if (!is_shown(v, x))
			continue;
		if (well ? healthy > HEALTHY_LISTED : explained++ >= TROUBLES_EXPLAINED)
			add_grouped(t, groups, x);
	}
	name_groups(t, groups);
	return 0;
}

/* The rows as libsmartcols has them, NULL when memory is out. */
static struct libscols_table *make_table(const struct options *o, const struct table *t)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *all = table_new(o, columns, _CELL_MAX);

	if (!all || scols_table_set_column_separator(all, "  ") < 0)
		return NULL;
	table_narrow(all, INDENT);
	for (size_t i = 0; i < t->n; i++) {
		const struct row *row = &t->rows[i];
		struct libscols_line *l = scols_table_new_line(all, NULL);

		for (size_t c = 0; c < _CELL_MAX; c++)
			if (!l || table_set(l, c, row->cells[c],
					  c == CELL_HEALTH ? health_colour(row->object->health)
							   : COLOUR_NONE) < 0)
				return NULL;
	}
	return TAKE_PTR(all);
}

/* Whether the advice about a reason has just been given for another object. */
static bool same_advice(const json_t *a, const json_t *b)
{
	return streq_ptr(json_text(a, "Id"), json_text(b, "Id")) &&
	       streq_ptr(json_text(a, "Remedy"), json_text(b, "Remedy"));
}

/* " (acknowledged 2h ago by root: cable is ordered)", NULL when it is not. */
static char *acknowledged_text(const json_t *reason, usec_t now)
{
	const char *by = json_text(reason, "AcknowledgedBy");
	const char *comment = json_text(reason, "AcknowledgedComment");
	char span[TIMESPAN_MAX] = "";
	uint64_t when;
	char *text;

	if (!json_is_true(json_object_get(reason, "Acknowledged")))
		return NULL;
	if (json_number(reason, "AcknowledgedAt", &when))
		timespan_format(span, sizeof(span), usec_sub(now, when));
	if (asprintf(&text, " (acknowledged%s%s%s%s%s%s%s)", *span ? " " : "", span,
		    *span ? " ago" : "", by ? " by " : "", or_text(by, ""), comment ? ": " : "",
		    or_text(comment, "")) < 0)
		return NULL;
	return text;
}

static void print_reason(
	const struct object *o, const json_t *reason, const json_t *previous, bool here, usec_t now)
{
	const char *id =
		or_text(json_text(reason, "Id"), or_text(json_text(reason, "Severity"), "unknown"));
	const char *found = json_text(reason, "Found"), *wanted = json_text(reason, "Wanted");
	const char *severity = json_text(reason, "Severity"),
		   *subject = json_text(reason, "Subject");
	const char *remedy = json_text(reason, "Remedy");
	bool notice = severity && streq(severity, "notice");
	_cleanup_(freep) char *line = NULL;
	_cleanup_(freep) char *known = acknowledged_text(reason, now);
	char span[TIMESPAN_MAX] = "", command[256];
	uint64_t since;

	if (json_number(reason, "Since", &since))
		timespan_format(span, sizeof(span), usec_sub(now, since));
	if (asprintf(&line, "%s%s%s%s%s%s%s%s%s%s%s%s", notice ? "notice: " : "", id,
		    subject ? " " : "", or_text(subject, ""), *span ? " for " : "", span,
		    or_text(known, ""), found || wanted ? ": " : "", found ? "found " : "",
		    or_text(found, ""), wanted ? (found ? "; wanted " : "wanted ") : "",
		    or_text(wanted, "")) >= 0)
		output_wrapped(6, COLOUR_NONE, line);
	if (previous && same_advice(reason, previous))
		return;
	if (remedy)
		output_wrapped(6, COLOUR_NONE, remedy);
	/* Never broken between words: it is there to be copied. */
	if (here && !notice && advice_command(o, json_text(reason, "Id"), command, sizeof(command)))
		printf("      try: %s%s%s\n", output_colour(COLOUR_BOLD), command, output_reset());
}

static void print_reasons(const struct row *row, const json_t **previous, bool here, usec_t now)
{
	const json_t *reasons = json_object_get(row->object->json, "Reasons");

	for (size_t j = 0; row->explained && j < json_array_size(reasons); j++) {
		const json_t *reason = json_array_get(reasons, j);

		if (!json_is_object(reason) || json_object_size(reason) == 0)
			continue;
		print_reason(row->object, reason, *previous, here, now);
		*previous = reason;
	}
}

void status_table(const struct options *o, const struct view *v, bool here, usec_t now)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *all = NULL;
	const json_t *previous = NULL;
	struct table t = { 0 };
	bool good = collect(o, v, &t) == 0 && (t.n == 0 || (all = make_table(o, &t)) != NULL);

	if (t.n > 0)
		putchar('\n');
	/* The reasons of an object stand between its line and the next. */
	for (size_t i = 0, first = 0; good && i < t.n; i++) {
		if (!t.rows[i].explained && i + 1 < t.n)
			continue;
		good = table_print_range(all, first, i, INDENT) == 0;
		print_reasons(&t.rows[i], &previous, here, now);
		first = i + 1;
	}
	free(t.rows);
	if (!good)
		output_error("Out of memory");
}

static bool is_ignored(const struct object *o)
{
	if (o->health != HEALTH_IGNORED || o->kind == OBJECT_HOST)
		return false;
	if (o->kind == OBJECT_MISSING)
		return true;
	/* Of an ignored device only itself is named, not its ports. */
	return o->kind == OBJECT_DEVICE ? json_text(o->json, "IgnoredBecause") != NULL
					: !json_text(o->device, "IgnoredBecause");
}

static void print_ignored_group(
	const struct options *o, const struct view *v, size_t first, const char *because)
{
	size_t named = 0, more = 0, size;
	char *line = NULL;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return;
	for (size_t i = first; i < v->n; i++) {
		const struct object *x = &v->objects[i];

		if (!is_ignored(x) ||
			!streq(or_text(json_text(x->json, "IgnoredBecause"), ""), because))
			continue;
		if (named == IGNORED_NAMED && !o->full)
			more++;
		else
			fprintf(f, "%s%s", named++ ? ", " : "", x->name);
	}
	if (more > 0)
		fprintf(f, " and %zu more", more);
	fprintf(f, ": %s", *because ? because : "no reason given");
	if (fclose(f) == 0)
		output_wrapped(2, COLOUR_NONE, line);
	free(line);
}

void status_ignored(const struct options *o, const struct view *v)
{
	bool any = false;

	for (size_t i = 0; i < v->n; i++) {
		const char *because = or_text(json_text(v->objects[i].json, "IgnoredBecause"), "");
		bool seen = false;

		if (!is_ignored(&v->objects[i]))
			continue;
		for (size_t j = 0; j < i && !seen; j++)
			seen = is_ignored(&v->objects[j]) &&
			       streq(or_text(json_text(v->objects[j].json, "IgnoredBecause"), ""),
				       because);
		if (seen)
			continue;
		if (!any)
			printf("\nIgnored:\n");
		any = true;
		print_ignored_group(o, v, i, because);
	}
}
