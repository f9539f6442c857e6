/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "counter-kind.h"
#include "counters.h"
#include "macros.h"
#include "output.h"
#include "table.h"
#include "text.h"
#include "view.h"
#include "when.h"

enum column {
	COL_PORT,
	COL_COUNTER,
	COL_VALUE,
	COL_CHANGE,
	COL_RATE,
	COL_NOTE,
	_COL_MAX,
};

static const struct table_column columns[_COL_MAX] = {
	[COL_PORT] = { "PORT", 0.1, 0 },
	[COL_COUNTER] = { "COUNTER", 0.1, 0 },
	[COL_VALUE] = { "VALUE", 0.1, SCOLS_FL_RIGHT },
	[COL_CHANGE] = { "CHANGE", 0.1, SCOLS_FL_RIGHT },
	[COL_RATE] = { "RATE", 0.1, SCOLS_FL_RIGHT },
	[COL_NOTE] = { "NOTE", 0.1, SCOLS_FL_TRUNC },
};

/* So many ports are named that have none of a source. */
#define ERRORS_NAMED 8

/* One counter, of a picture or of a difference, as its line shows it. */
struct row {
	const char *name;
	bool known; /* its value is */
	uint64_t value;
	bool has_change;
	uint64_t change;
	double rate; /* below 0: unknown */
	bool bad;    /* worth a look */
	char note[128];
};

static void add_note(struct row *row, const char *fmt, ...) _printf_(2, 3);
static void add_note(struct row *row, const char *fmt, ...)
{
	size_t n = strlen(row->note);
	va_list ap;

	if (n > 0)
		n += (size_t)snprintf(row->note + n, sizeof(row->note) - n, "; ");
	if (n >= sizeof(row->note))
		return;
	va_start(ap, fmt);
	vsnprintf(row->note + n, sizeof(row->note) - n, fmt, ap);
	va_end(ap);
}

/* Beyond 63 bits JSON has a number with a fraction: good enough for people. */
static bool read_number(const json_t *counter, const char *key, uint64_t *ret)
{
	const json_t *v = json_object_get(counter, key);
	double d = json_real_value(v);

	if (!json_is_real(v))
		return json_number(counter, key, ret);
	if (d < 0 || d >= 0x1p64)
		return false;
	*ret = (uint64_t)d;
	return true;
}

static void read_common(
	struct row *row, const json_t *counter, const char *value, const char *change)
{
	const json_t *rate = json_object_get(counter, "Rate");

	*row = (struct row){ .name = or_text(json_text(counter, "Name"), "?"), .rate = -1 };
	row->known = read_number(counter, value, &row->value);
	row->has_change = read_number(counter, change, &row->change);
	if (json_is_number(rate))
		row->rate = json_number_value(rate);
	if (json_is_true(json_object_get(counter, "Saturated")))
		add_note(row, "saturated");
}

static void read_picture(struct row *row, const json_t *counter, usec_t now)
{
	char span[TIMESPAN_MAX];
	uint64_t last, since, resets;

	read_common(row, counter, "Value", "Delta");
	if (json_number(counter, "Resets", &resets) && resets > 0)
		add_note(row, "reset %llu time%s", (unsigned long long)resets,
			resets == 1 ? "" : "s");
	if (json_is_true(json_object_get(counter, "Stale"))) {
		if (json_number(counter, "LastRead", &last))
			add_note(row, "stale, read %s ago",
				timespan_format(span, sizeof(span), usec_sub(now, last)));
		else
			add_note(row, "stale");
	}
	if (json_is_true(json_object_get(counter, "Gauge")))
		add_note(row, "goes up and down");
	else if (row->has_change && row->change > 0 && json_number(counter, "DeltaSince", &since))
		add_note(row, "in %s", timespan_format(span, sizeof(span), usec_sub(now, since)));
	row->bad = counter_is_error(row->name) && row->has_change && row->change > 0;
}

static void read_diff(struct row *row, const json_t *counter)
{
	read_common(row, counter, "New", "Difference");
	if (json_is_true(json_object_get(counter, "Stale")))
		add_note(row, "stale");
	if (json_is_true(json_object_get(counter, "Reset")))
		add_note(row, "reset in between");
	if (json_is_true(json_object_get(counter, "Gauge")))
		add_note(row, "goes up and down");
	row->bad = counter_is_error(row->name) && row->has_change && row->change > 0;
}

/*
 * What is shown without --all: what changed, what is at its end, and of those that count errors
 * also what is above 0 and what cannot be told to be 0.
 */
static bool picture_row_shown(const struct row *row, const json_t *counter)
{
	if (row->has_change && row->change > 0)
		return true;
	if (json_is_true(json_object_get(counter, "Saturated")))
		return true;
	return counter_is_error(row->name) && (!row->known || row->value > 0);
}

static bool diff_row_shown(const struct row *row, const json_t *counter)
{
	if (row->has_change)
		return row->change > 0;
	return json_is_true(json_object_get(counter, "Reset")) || counter_is_error(row->name);
}

static int add_line(const struct options *o, struct libscols_table *t, const char *object,
	const struct row *row, bool reset)
{
	struct libscols_line *l = scols_table_new_line(t, NULL);
	char value[COUNTER_TEXT_MAX] = "-", change[COUNTER_TEXT_MAX + 1] = "-",
	     rate[COUNTER_TEXT_MAX] = "-";

	if (!l)
		return -1;
	if (row->known)
		counter_format(value, row->name, row->value, o->full);
	if (row->has_change) {
		change[0] = row->change > 0 ? '+' : '\0';
		counter_format(change + (row->change > 0), row->name, row->change, o->full);
	} else if (reset)
		STRSCPY(change, "reset");
	if (row->rate >= 0)
		counter_rate_format(rate, row->name, row->rate);
	if (table_set(l, COL_PORT, object, COLOUR_NONE) < 0 ||
		table_set(l, COL_COUNTER, row->name, COLOUR_NONE) < 0 ||
		table_set(l, COL_VALUE, value, COLOUR_NONE) < 0 ||
		table_set(l, COL_CHANGE, change, row->bad ? COLOUR_WARN : COLOUR_NONE) < 0 ||
		table_set(l, COL_RATE, rate, COLOUR_NONE) < 0)
		return -1;
	return table_set(l, COL_NOTE, row->note, COLOUR_DIM);
}

/* The counters of one port, into the table. Returns how many are hidden, or -1. */
static int add_port(const struct options *o, struct libscols_table *t, const json_t *port,
	bool diff, usec_t now)
{
	const json_t *counters = json_object_get(port, "Counters");
	const char *object = or_text(json_text(port, "Object"), "?");
	int hidden = 0;

	for (size_t i = 0; i < json_array_size(counters); i++) {
		const json_t *counter = json_array_get(counters, i);
		bool shown = o->all;
		struct row row;

		if (diff) {
			read_diff(&row, counter);
			shown = shown || diff_row_shown(&row, counter);
		} else {
			read_picture(&row, counter, now);
			shown = shown || picture_row_shown(&row, counter);
		}
		if (!shown)
			hidden++;
		else if (add_line(o, t, object, &row,
				 json_is_true(json_object_get(counter, "Reset"))) < 0)
			return -1;
	}
	return hidden;
}

/* Why there are none of a source, once for all ports of which that is so. */
static void print_error(const struct options *o, const json_t *ports, size_t first, const char *key,
	const char *what)
{
	const char *error = json_text(json_array_get(ports, first), key);
	size_t named = 0, more = 0, size;
	char *line = NULL;
	FILE *f;

	for (size_t i = 0; error && i < first; i++)
		if (streq_ptr(json_text(json_array_get(ports, i), key), error))
			return;
	f = error ? open_memstream(&line, &size) : NULL;
	if (!f)
		return;
	fprintf(f, "%s: %s:", what, error);
	for (size_t i = first; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		if (!streq_ptr(json_text(port, key), error))
			continue;
		if (named == ERRORS_NAMED && !o->full)
			more++;
		else
			fprintf(f, "%s %s", named++ ? "," : "",
				or_text(json_text(port, "Object"), "?"));
	}
	if (more > 0)
		fprintf(f, " and %zu more", more);
	if (fclose(f) == 0)
		output_wrapped(0, COLOUR_NONE, line);
	free(line);
}

static bool has_errors(const json_t *ports)
{
	for (size_t i = 0; i < json_array_size(ports); i++)
		if (json_text(json_array_get(ports, i), "HwError") ||
			json_text(json_array_get(ports, i), "PmaError"))
			return true;
	return false;
}

static void print_errors(const struct options *o, const json_t *ports)
{
	for (size_t i = 0; i < json_array_size(ports); i++) {
		print_error(o, ports, i, "HwError", "Without hardware counters");
		print_error(o, ports, i, "PmaError", "Without PMA counters");
	}
}

static void print_table(const struct options *o, const json_t *ports, bool diff, usec_t now)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *t = table_new(o, columns, _COL_MAX);
	size_t hidden = 0;

	for (size_t i = 0; t && i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		int n = diff && !json_text(port, "OldObject") ? 0 : add_port(o, t, port, diff, now);

		if (n < 0) {
			output_error("Out of memory");
			return;
		}
		hidden += (size_t)n;
	}
	if (!t)
		return;
	if (scols_table_get_nlines(t) > 0)
		scols_print_table(t);
	if (o->legend && scols_table_get_nlines(t) > 0 && (hidden > 0 || has_errors(ports)))
		putchar('\n');
	print_errors(o, ports);
	if (o->legend && hidden > 0)
		printf("%zu counter%s: %s (--all shows them).\n", hidden,
			hidden == 1 ? " is not shown" : "s are not shown",
			diff ? "they did not change" : "they are 0, or no errors and unchanged");
	else if (o->legend && scols_table_get_nlines(t) == 0)
		printf("There are no counters.\n");
}

void counters_print(const struct options *o, const json_t *counters, usec_t now)
{
	print_table(o, json_object_get(counters, "Ports"), false, now);
}

/* What the comparison is between, and what it cannot tell. */
static void print_diff_head(const json_t *diff)
{
	uint64_t since = 0, until = 0;
	char when[WHEN_MAX], span[TIMESPAN_MAX];

	json_number(diff, "Since", &since);
	json_number(diff, "Until", &until);
	printf("Since %s (%s ago):\n", when_format(when, since),
		timespan_format(span, sizeof(span), usec_sub(until, since)));
}

static void print_diff_notes(const json_t *diff)
{
	const json_t *ports = json_object_get(diff, "Ports");

	if (json_is_true(json_object_get(diff, "Rebooted")))
		output_wrapped(0, COLOUR_WARN,
			"The host was booted anew in between: counters may have begun anew, "
			"and what they counted before is then missing in the changes.");
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const char *now = or_text(json_text(json_array_get(ports, i), "Object"), "?");
		const char *old = json_text(json_array_get(ports, i), "OldObject");

		if (!old)
			printf("%s: not in the file\n", now);
		else if (!streq(old, now))
			printf("%s: was %s then\n", now, old);
	}
}

void counters_print_diff(const struct options *o, const json_t *diff)
{
	if (o->legend)
		print_diff_head(diff);
	print_diff_notes(diff);
	print_table(o, json_object_get(diff, "Ports"), true, 0);
}
