/* SPDX-License-Identifier: MIT */
/*
 * rdmactl baseline: what the daemon has learned of the ports of this host: shown, as a table or as
 * the configuration that says the same; learned at once; forgotten.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <time.h>

#include "bus-call.h"
#include "bus-report.h"
#include "facts.h"
#include "macros.h"
#include "output.h"
#include "source.h"
#include "table.h"
#include "text.h"
#include "view.h"

#define BASELINE_TIMEOUT (10 * USEC_PER_SEC)

static const struct bus_words words = {
	.refused = "rdmad refuses",
	.no_daemon =
		"rdmad is not running; what it has learned is in /var/lib/rdmad/inventory.json.",
};

/* ---- which ones ---- */

static bool fits(const char *pattern, const json_t *port)
{
	static const char *const keys[] = { "Object", "Device", "NodeGuid", "PciAddress" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = json_text(port, keys[i]);

		if (value && fnmatch(pattern, value, 0) == 0)
			return true;
	}
	return false;
}

/* Takes out what no pattern fits. */
static void select_ports(const struct options *o, json_t *baseline)
{
	for (size_t i = json_array_size(baseline); o->n_patterns > 0 && i-- > 0;) {
		bool wanted = false;

		for (size_t k = 0; k < o->n_patterns && !wanted; k++)
			wanted = fits(o->patterns[k], json_array_get(baseline, i));
		if (!wanted)
			json_array_remove(baseline, i);
	}
}

/* ---- as a table ---- */

enum column {
	COL_PORT,
	COL_GUID,
	COL_PCI,
	COL_RATE,
	COL_LEARNED,
	COL_SEEN,
	_COL_MAX,
};

static const struct table_column columns[_COL_MAX] = {
	[COL_PORT] = { "PORT", 0.1, 0 },
	[COL_GUID] = { "GUID", 0.1, 0 },
	[COL_PCI] = { "PCI", 0.1, 0 },
	[COL_RATE] = { "BEST RATE", 0.1, 0 },
	[COL_LEARNED] = { "LEARNED", 0.1, 0 },
	[COL_SEEN] = { "LAST SEEN", 0.1, SCOLS_FL_TRUNC },
};

#define CELL_MAX 64

static const char *date_cell(char buf[CELL_MAX], const json_t *port, const char *key)
{
	uint64_t real;
	struct tm tm;
	time_t t;

	if (!json_number(port, key, &real))
		return "-";
	t = (time_t)(real / USEC_PER_SEC);
	if (!localtime_r(&t, &tm) || strftime(buf, CELL_MAX, "%Y-%m-%d", &tm) == 0)
		return "-";
	return buf;
}

static const char *rate_cell(char buf[RATE_STRING_MAX], const json_t *port)
{
	struct port_facts best = { .rate_mbps = 0 };

	if (!json_number(port, "BestRate", &best.rate_mbps))
		return "-";
	return rate_format(buf, &best);
}

static int add_line(struct libscols_table *t, const json_t *port)
{
	struct libscols_line *l = scols_table_new_line(t, NULL);
	bool present = json_is_true(json_object_get(port, "Present"));
	char text[CELL_MAX], rate[RATE_STRING_MAX];
	enum colour c = present ? COLOUR_NONE : COLOUR_WARN;

	if (!l)
		return -1;
	table_set(l, COL_PORT, or_text(json_text(port, "Object"), "-"), c);
	table_set(l, COL_GUID, or_text(json_text(port, "NodeGuid"), "-"), COLOUR_NONE);
	table_set(l, COL_PCI, or_text(json_text(port, "PciAddress"), "-"), COLOUR_NONE);
	table_set(l, COL_RATE, rate_cell(rate, port), COLOUR_NONE);
	table_set(l, COL_LEARNED, date_cell(text, port, "LearnedSince"), COLOUR_NONE);
	return table_set(l, COL_SEEN, present ? "here" : date_cell(text, port, "LastSeen"), c);
}

static int show_table(const struct options *o, const json_t *root)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *t = table_new(o, columns, _COL_MAX);
	const json_t *baseline = json_object_get(root, "Baseline");
	const json_t *daemon = json_object_get(root, "Daemon");
	size_t n = json_array_size(baseline);

	for (size_t i = 0; t && i < n; i++)
		if (add_line(t, json_array_get(baseline, i)) < 0)
			break;
	if (!t || scols_table_get_nlines(t) != n) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	if (n > 0)
		scols_print_table(t);
	if (!o->legend)
		return EXIT_SUCCESS;
	printf("%s%zu port%s learned.\n", n > 0 ? "\n" : "", n, n == 1 ? "" : "s");
	if (json_is_false(json_object_get(daemon, "LearningPersists")))
		printf("None of it outlives this boot: /var/lib/rdmad is not there or cannot be "
		       "written to.\n");
	return EXIT_SUCCESS;
}

/* ---- as configuration ---- */

/* The name may change, and is another one's after that: the GUID, else the slot, is what counts. */
static void print_section(const json_t *port)
{
	const char *guid = json_text(port, "NodeGuid"), *pci = json_text(port, "PciAddress");
	uint64_t number = 0, rate;
	char date[CELL_MAX];

	json_number(port, "Number", &number);
	if (!guid && !pci)
		return;
	printf("\n# %s%s%s, learned %s\n[Port */%" PRIu64 " %s%s]\nExpect=up\n",
		or_text(json_text(port, "Object"), "?"), guid && pci ? ", PCI " : "",
		guid && pci ? pci : "", date_cell(date, port, "LearnedSince"), number,
		guid ? "guid=" : "pci=", guid ? guid : pci);
	if (!json_number(port, "BestRate", &rate))
		return;
	if (rate % 1000)
		printf("MinRate=%" PRIu64 "Mb/s\n", rate);
	else
		printf("MinRate=%" PRIu64 "Gb/s\n", rate / 1000);
}

static int show_config(const json_t *root)
{
	const json_t *baseline = json_object_get(root, "Baseline");

	printf("# What rdmad has learned, as configuration: for a file in "
	       "/etc/rdmad/rdmad.conf.d/.\n");
	for (size_t i = 0; i < json_array_size(baseline); i++)
		print_section(json_array_get(baseline, i));
	return EXIT_SUCCESS;
}

static int show(const struct options *o)
{
	struct bus_answer a = bus_call_describe_baseline(o->host, BASELINE_TIMEOUT);
	json_t *raw, *root;
	int status = bus_report(o, &a, &words);

	if (status == EXIT_SUCCESS) {
		raw = json_loads(or_text(a.text, ""), 0, NULL);
		root = o->format == OUTPUT_TEXT ? text_sanitise_json(raw) : json_incref(raw);
		if (!json_is_object(root)) {
			output_error("What rdmad says cannot be understood.");
			status = EXIT_FAILED;
		} else {
			select_ports(o, json_object_get(root, "Baseline"));
			output_open(o);
			if (o->as_config)
				status = show_config(root);
			else if (o->format == OUTPUT_TEXT)
				status = show_table(o, root);
			else
				output_json(o, root);
		}
		json_decref(root);
		json_decref(raw);
	} else if (o->format != OUTPUT_TEXT) {
		root = json_pack("{s:{s:o}}", "Daemon", "Running", bus_running(o, &a));
		output_json(o, root);
		json_decref(root);
	}
	bus_answer_done(&a);
	return output_close(status);
}

/* ---- save and drop ---- */

static int change(const struct options *o, bool save)
{
	struct bus_answer a = bus_call_baseline(o->host, save ? "SaveBaseline" : "DropBaseline",
		(const char *const *)o->patterns, o->n_patterns, BASELINE_TIMEOUT);
	int status = bus_report(o, &a, &words);

	if (status == EXIT_SUCCESS && save)
		printf("%u port%s learned that %s not before.\n", a.number,
			a.number == 1 ? "" : "s", a.number == 1 ? "was" : "were");
	else if (status == EXIT_SUCCESS)
		printf("What was learned of %u port%s is forgotten.\n", a.number,
			a.number == 1 ? "" : "s");
	bus_answer_done(&a);
	return output_close(status);
}

int verb_baseline(const struct options *o)
{
	const char *action = o->n_patterns > 0 ? o->patterns[0] : "show";
	struct options rest = *o;

	if (o->n_patterns > 0) {
		rest.patterns++;
		rest.n_patterns--;
	}
	if (streq(action, "show") || (streq(action, "save") && o->as_config))
		return show(&rest);
	if (o->as_config)
		output_error("--as-config is for show and save");
	else if (o->format != OUTPUT_TEXT && (streq(action, "save") || streq(action, "drop")))
		output_error("--json is for show");
	else if (streq(action, "save"))
		return change(&rest, true);
	else if (streq(action, "drop"))
		return change(&rest, false);
	else
		output_error("baseline: '%s' is none of show, save, drop", action);
	return EXIT_USAGE;
}
