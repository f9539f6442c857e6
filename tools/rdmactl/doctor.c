/* SPDX-License-Identifier: MIT */
/*
 * rdmactl doctor: what on this host is in RDMA's way, why that matters and what to do. Files are read
 * and systemctl is asked; nothing is changed, no device is asked, the daemon need not run.
 */
#include "doctor.h"

#include <stdarg.h>

#include "output.h"
#include "parse.h"
#include "text.h"
#include "view.h"

#define CONFIG_FILE_MAX (1U << 20)

static const struct {
	const char *word;
	enum colour colour;
} kinds[] = {
	[FINDING_OK] = { "ok", COLOUR_GOOD },
	[FINDING_NOTE] = { "note", COLOUR_BOLD },
	[FINDING_UNKNOWN] = { "unknown", COLOUR_WARN },
	[FINDING_WARNING] = { "warning", COLOUR_BAD },
};

/* ---- for the parts ---- */

void doctor_find(struct doctor *d, enum finding_kind kind, const char *id, const char *fmt, ...)
{
	const struct advice_of *advice =
		kind == FINDING_WARNING || kind == FINDING_NOTE ? doctor_advice(id) : NULL;
	_cleanup_(freep) char *found = NULL;
	json_t *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&found, fmt, ap) < 0)
		found = NULL;
	va_end(ap);
	text = json_string(or_text(found, ""));
	json_array_append_new(d->findings,
		json_pack("{s:s, s:s, s:o, s:s?, s:s?}", "Id", id, "Severity", kinds[kind].word,
			"Found", text ? text : json_string("(not UTF-8)"), "Why",
			advice ? advice->why : NULL, "Remedy", advice ? advice->remedy : NULL));
}

const char *doctor_configured(const struct doctor *d, const char *section, const char *key)
{
	for (size_t i = 0; i < d->notes.n; i++) {
		const struct config_note *note = &d->notes.items[i];

		if (!config_note_is_of(note, section))
			continue;
		if (!key)
			return note->section;
		if (note->key && streq(note->key, key) && note->value[0])
			return note->value;
	}
	return NULL;
}

bool doctor_attribute(
	const struct doctor *d, const char *device, const char *name, char *buf, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/%s", device, name);
	return host_read_line(&d->host, path, buf, size) == 0;
}

bool doctor_has_layer(const struct doctor *d, const char *layer)
{
	for (char **device = d->devices; device && *device; device++) {
		_cleanup_(strv_freep) char **ports = NULL;
		char path[256], text[32];

		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports", *device);
		ports = host_list(&d->host, path);
		for (char **port = ports; port && *port; port++) {
			snprintf(path, sizeof(path), "ports/%s/link_layer", *port);
			if (doctor_attribute(d, *device, path, text, sizeof(text)) &&
				streq(text, layer))
				return true;
		}
	}
	return false;
}

void doctor_lines(struct doctor *d, const char *path, doctor_line_cb cb, void *user)
{
	_cleanup_(freep) char *text = NULL;
	char *save = NULL;

	if (host_read(&d->host, path, CONFIG_FILE_MAX, &text) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		line = strstrip(line);
		if (*line && *line != '#' && *line != ';')
			cb(d, path, line, user);
	}
}

void doctor_lines_in(
	struct doctor *d, const char *directory, const char *suffix, doctor_line_cb cb, void *user)
{
	_cleanup_(strv_freep) char **names = host_list(&d->host, directory);
	size_t n = strlen(suffix);

	for (char **name = names; name && *name; name++) {
		size_t len = strlen(*name);
		char path[512];

		if (len < n || !streq(*name + len - n, suffix))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, *name);
		doctor_lines(d, path, cb, user);
	}
}

/* ---- output ---- */

static void print_finding(const json_t *f, enum finding_kind kind)
{
	printf("%s%s%s %s\n", output_colour(kinds[kind].colour), kinds[kind].word, output_reset(),
		or_text(json_text(f, "Id"), "?"));
	output_labelled(4, "", json_text(f, "Found"));
	output_labelled(4, "Why it matters: ", json_text(f, "Why"));
	output_labelled(4, "What to do: ", json_text(f, "Remedy"));
}

/* Those of one kind; returns how many. */
static size_t print_kind(const json_t *findings, enum finding_kind kind)
{
	const json_t *f;
	size_t i, n = 0;

	json_array_foreach((json_t *)findings, i, f)
	{
		if (!streq(or_text(json_text(f, "Severity"), ""), kinds[kind].word))
			continue;
		if (n++ > 0 && kind != FINDING_OK)
			putchar('\n');
		if (kind == FINDING_OK)
			printf("%s%s%s %s\n", output_colour(kinds[kind].colour), kinds[kind].word,
				output_reset(), or_text(json_text(f, "Found"), "?"));
		else
			print_finding(f, kind);
	}
	return n;
}

static size_t count(const json_t *findings, enum finding_kind kind)
{
	const json_t *f;
	size_t i, n = 0;

	json_array_foreach((json_t *)findings, i, f) n +=
		streq(or_text(json_text(f, "Severity"), ""), kinds[kind].word);
	return n;
}

static void show_text(const struct options *o, const json_t *findings)
{
	_cleanup_(json_decrefp) json_t *clean = text_sanitise_json(findings);
	size_t warnings, notes;

	for (int kind = FINDING_WARNING; kind >= FINDING_OK; kind--)
		if (print_kind(clean, (enum finding_kind)kind) > 0)
			putchar('\n');
	warnings = count(clean, FINDING_WARNING);
	notes = count(clean, FINDING_NOTE);
	if (o->legend)
		printf("%zu %s, %zu %s.\n", warnings, warnings == 1 ? "warning" : "warnings", notes,
			notes == 1 ? "note" : "notes");
}

static void show_json(const struct options *o, json_t *findings)
{
	_cleanup_(json_decrefp) json_t *v = json_pack("{s:I, s:O}", "Warnings",
		(json_int_t)count(findings, FINDING_WARNING), "Findings", findings);

	output_json(o, v);
}

/* ---- the verb ---- */

static void doctor_done(struct doctor *d)
{
	module_files_done(&d->modules);
	config_free(d->config);
	config_notes_done(&d->notes);
	for (char **name = d->devices; name && *name; name++)
		free(*name);
	free(d->devices);
	json_decref(d->findings);
	host_root_done(&d->host);
}

static void examine(struct doctor *d)
{
	module_files_open(&d->modules, &d->host);
	/* What cannot be read of it is a problem of its own. */
	(void)config_load_noted(d->host.prefix, NULL, &d->config, &d->notes);
	d->devices = host_list(&d->host, "/sys/class/infiniband");
	doctor_modules(d);
	doctor_nodes(d);
	doctor_identity(d);
	doctor_kernel(d);
	doctor_memlock(d);
	doctor_rivals(d);
	doctor_rdmad(d);
}

int verb_doctor(const struct options *o)
{
	_cleanup_(
		doctor_done) struct doctor d = { .o = o, .host.fd = -1, .findings = json_array() };
	int r, status;

	if (o->host) {
		output_error("'doctor' is of this host: run it there");
		return EXIT_USAGE;
	}
	r = host_root_open(&d.host, o->root);
	if (r < 0) {
		output_error("%s: %s", or_text(o->root, "/"), strerror(-r));
		return EXIT_FAILED;
	}
	examine(&d);
	status = count(d.findings, FINDING_WARNING) > 0 ? EXIT_FAILED : EXIT_SUCCESS;
	output_open(o);
	if (o->format == OUTPUT_TEXT)
		show_text(o, d.findings);
	else
		show_json(o, d.findings);
	return output_close(status);
}
