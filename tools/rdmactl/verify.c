/* SPDX-License-Identifier: MIT */
/*
 * rdmactl verify: the configuration files as the daemon would read them, without one: every line that
 * would be left out, what was understood, what matches nothing, what this kernel cannot do, what is hardly meant so.
 */
#include "verify.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>

#include "build-config.h"
#include "macros.h"
#include "output.h"
#include "text.h"
#include "view.h"

json_t *verify_place(const struct config_origin *at)
{
	return json_pack("{s:s, s:o}", "File", at->file, "Line",
		at->line ? json_integer(at->line) : json_null());
}

const struct config_note *verify_overridden(
	const struct config_notes *notes, const struct config_note *note)
{
	const struct config_note *last = notes->items + notes->n;

	for (const struct config_note *n = note + 1; n < last; n++)
		if (n->key && streq(n->section, note->section) && streq(n->key, note->key) &&
			(n->kind == NOTE_KEY || !n->value[0]))
			return n;
	return NULL;
}

/* ---- what was understood ---- */

static bool same_place(const struct config_origin *a, const struct config_origin *b)
{
	return a->line == b->line && streq(a->file, b->file);
}

/* A section that lacks something is named by its header, and nothing of it holds. */
static bool is_left_out(const struct config *c, const struct config_note *section)
{
	for (size_t i = 0; i < c->n_problems; i++)
		if (same_place(&c->problems[i].origin, &section->origin))
			return true;
	return false;
}

/* The section of that name that was there before, NULL: it is the first. */
static const struct config_note *earlier(
	const struct config_notes *notes, const struct config_note *section)
{
	for (const struct config_note *n = notes->items; n < section; n++)
		if (n->kind == NOTE_SECTION && streq(n->section, section->section))
			return n;
	return NULL;
}

static json_t *section_json(const struct verification *v, const struct config_note *section)
{
	const struct config_note *before = earlier(&v->notes, section);
	json_t *o = verify_place(&section->origin);

	json_object_set_new(o, "Section", json_string(section->section));
	json_object_set_new(o, "LeftOut", json_boolean(is_left_out(v->config, section)));
	json_object_set_new(o, "SameAs", before ? verify_place(&before->origin) : json_null());
	json_object_set_new(o, "Keys", json_array());
	return o;
}

static json_t *key_json(const struct verification *v, const struct config_note *note)
{
	const struct config_note *later = verify_overridden(&v->notes, note);
	json_t *o = verify_place(&note->origin);

	json_object_set_new(o, "Key", json_string(note->key));
	json_object_set_new(o, "Value", json_string(note->value));
	json_object_set_new(o, "Overridden", later ? verify_place(&later->origin) : json_null());
	return o;
}

static void put_understood(const struct verification *v, json_t *root)
{
	json_t *files = json_array(), *sections = json_array(), *section = NULL;

	for (size_t i = 0; i < v->notes.n; i++) {
		const struct config_note *note = &v->notes.items[i];

		switch (note->kind) {
		case NOTE_FILE:
		case NOTE_MASKED:
			json_array_append_new(
				files, json_pack("{s:s, s:b}", "File", note->origin.file, "Masked",
					       note->kind == NOTE_MASKED));
			break;
		case NOTE_SECTION:
			section = section_json(v, note);
			json_array_append_new(sections, section);
			break;
		case NOTE_KEY:
		case NOTE_LIST:
			json_array_append_new(json_object_get(section, "Keys"), key_json(v, note));
			break;
		}
	}
	json_object_set_new(root, "Files", files);
	json_object_set_new(root, "Sections", sections);
}

static json_t *problems_json(const struct config *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_problems; i++) {
		json_t *o = verify_place(&c->problems[i].origin);

		json_object_set_new(o, "Text", json_string(c->problems[i].text));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *describe(const struct verification *v)
{
	json_t *root = json_object();

	json_object_set_new(root, "Daemon", json_pack("{s:b}", "Running", v->devices.running));
	json_object_set_new(root, "Problems", problems_json(v->config));
	json_object_set_new(root, "Unsupported", verify_unsupported(v));
	json_object_set_new(root, "Doubtful", verify_doubtful(v));
	json_object_set_new(root, "Unmatched", json_or_null(verify_unmatched(v)));
	json_object_set_new(
		root, "Source", v->devices.source ? json_string(v->devices.source) : json_null());
	put_understood(v, root);
	return root;
}

/* ---- as text ---- */

static void print_place(const json_t *o)
{
	const json_t *line = json_object_get(o, "Line");

	fputs(or_text(json_text(o, "File"), "?"), stdout);
	if (json_is_integer(line))
		printf(":%" JSON_INTEGER_FORMAT, json_integer_value(line));
}

static void print_findings(const json_t *root, const char *key, enum colour c)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(root, key), i, o)
	{
		print_place(o);
		printf(": %s%s%s\n", output_colour(c), or_text(json_text(o, "Text"), "?"),
			c == COLOUR_NONE ? "" : output_reset());
	}
}

/* Behind what was understood: where it stands, and what became of it. */
static void print_remark(const json_t *o, const char *what, const json_t *other)
{
	printf("%s    # ", output_colour(COLOUR_DIM));
	print_place(o);
	if (what)
		printf(", %s", what);
	if (json_is_object(other)) {
		putchar(' ');
		print_place(other);
	}
	printf("%s\n", output_reset());
}

static void print_section(const json_t *s)
{
	const json_t *same = json_object_get(s, "SameAs"), *key;
	bool left_out = json_is_true(json_object_get(s, "LeftOut"));
	size_t i;

	printf("\n[%s]", or_text(json_text(s, "Section"), "?"));
	print_remark(s,
		left_out               ? "left out"
		: json_is_object(same) ? "as well as"
				       : NULL,
		left_out ? NULL : same);
	json_array_foreach(json_object_get(s, "Keys"), i, key)
	{
		const json_t *later = json_object_get(key, "Overridden");

		printf("%s=%s", or_text(json_text(key, "Key"), "?"),
			or_text(json_text(key, "Value"), ""));
		print_remark(key, json_is_object(later) ? "overridden by" : NULL, later);
	}
}

static void print_understood(const json_t *root)
{
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(root, "Files"), i, o)
		printf("# %s: %s\n", json_is_true(json_object_get(o, "Masked")) ? "masked" : "read",
			or_text(json_text(o, "File"), "?"));
	json_array_foreach(json_object_get(root, "Sections"), i, o) print_section(o);
}

static size_t count(const json_t *root, const char *key)
{
	return json_array_size(json_object_get(root, key));
}

static void print_summary(const json_t *root)
{
	size_t problems = count(root, "Problems"), unsupported = count(root, "Unsupported"),
	       doubtful = count(root, "Doubtful");

	if (count(root, "Files") == 0 && problems == 0) {
		puts("There is no configuration: the defaults hold.");
		return;
	}
	if (problems > 0)
		printf("%zu %s: a start leaves %s out, a reload is refused.\n", problems,
			problems == 1 ? "problem" : "problems", problems == 1 ? "it" : "them");
	if (unsupported > 0)
		printf("%zu not possible on this kernel.\n", unsupported);
	if (doubtful > 0)
		printf("%zu hardly meant so.\n", doubtful);
	if (problems == 0 && unsupported == 0 && doubtful == 0)
		puts("No problems.");
	if (json_is_null(json_object_get(root, "Unmatched")))
		puts("What matches is not checked: the RDMA devices are not known.");
}

static void show(const struct options *o, const json_t *root)
{
	_cleanup_(json_decrefp) json_t *clean = text_sanitise_json(root);

	print_findings(clean, "Problems", COLOUR_BAD);
	print_findings(clean, "Unsupported", COLOUR_WARN);
	print_findings(clean, "Doubtful", COLOUR_WARN);
	print_findings(clean, "Unmatched", COLOUR_NONE);
	if (o->legend)
		print_summary(clean);
	if (count(clean, "Files") > 0) {
		putchar('\n');
		print_understood(clean);
	}
}

/* ---- the verb ---- */

/*
 * Root reads what the daemon, which runs as a user of its own, cannot. Returns whether this process
 * is that user now, until leave_daemon_user().
 */
static bool enter_daemon_user(void)
{
	const struct passwd *pw = geteuid() == 0 ? getpwnam(RDMAD_USER) : NULL;

	if (!pw || setgroups(0, NULL) < 0 || setegid(pw->pw_gid) < 0)
		return false;
	return seteuid(pw->pw_uid) == 0;
}

static bool leave_daemon_user(void)
{
	return seteuid(0) == 0 && setegid(0) == 0;
}

/* An installed configuration is read as the daemon would; a tree or a file may be somebody's own. */
static int load_config(struct verification *v)
{
	const struct options *o = v->o;
	bool entered = v->host.live && !o->config && enter_daemon_user();
	int r = config_load_noted(v->host.prefix, o->config, &v->config, &v->notes);

	return entered && !leave_daemon_user() ? -EPERM : r;
}

static int load(struct verification *v)
{
	const struct options *o = v->o;
	int r;

	if (o->config && access(o->config, R_OK) < 0) {
		output_error("%s: %s", o->config, strerror(errno));
		return EXIT_FAILED;
	}
	r = host_root_open(&v->host, o->root);
	if (r >= 0)
		r = load_config(v);
	if (r < 0) {
		output_error("%s: %s", or_text(o->root, "configuration"), strerror(-r));
		return EXIT_FAILED;
	}
	host_devices_find(&v->devices, o, &v->host);
	v->where = v->host.live ? "on this host now" : "in this tree";
	return 0;
}

static void verification_done(struct verification *v)
{
	host_root_done(&v->host);
	host_devices_done(&v->devices);
	config_free(v->config);
	config_notes_done(&v->notes);
}

int verb_verify(const struct options *o)
{
	_cleanup_(verification_done) struct verification v = { .o = o, .host.fd = -1 };
	_cleanup_(json_decrefp) json_t *root = NULL;
	int status;

	if (o->host) {
		output_error("'verify' is of this host: run it there");
		return EXIT_USAGE;
	}
	status = load(&v);
	if (status != 0)
		return status;
	root = describe(&v);
	status = count(root, "Problems") + count(root, "Unsupported") > 0 ? EXIT_FAILED : 0;
	output_open(o);
	if (o->format == OUTPUT_TEXT)
		show(o, root);
	else
		output_json(o, root);
	return output_close(status);
}
