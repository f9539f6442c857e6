/* SPDX-License-Identifier: MIT */
/*
 * rdmactl inspect: judges captured trees as rdmad would, without one. Shown as "status" shows a
 * host, with the exit statuses of "check".
 */
#include <errno.h>
#include <sys/stat.h>

#include "archive.h"
#include "build-config.h"
#include "check.h"
#include "inspect-load.h"
#include "macros.h"
#include "output.h"
#include "publish.h"
#include "status.h"
#include "text.h"

static int fail(const char *what, const char *why)
{
	output_error("%s: %s", what, why);
	return CHECK_UNKNOWN;
}

static int load_config(const struct options *o, struct config **ret)
{
	int r;

	if (o->config && access(o->config, R_OK) < 0)
		return fail(o->config, strerror(errno));
	r = o->config ? config_load_file(o->config, ret) : config_load("", ret);
	return r < 0 ? fail("configuration", strerror(-r)) : 0;
}

/* ---- trees ---- */

/* The directory of what was named: itself, or where the archive is unpacked. 0 or negative errno. */
static int find_directory(const char *named, const char **ret, char **ret_temporary)
{
	struct stat st;
	int r;

	*ret = named;
	if (stat(named, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	r = private_directory(ret_temporary);
	if (r < 0)
		return r;
	*ret = *ret_temporary;
	return archive_unpack(named, *ret_temporary);
}

static const char *why_not(int r)
{
	switch (r) {
	case -ENOENT:
		return "there is no sys/class/infiniband in it: not a captured tree";
	case -EBADMSG:
		return "neither a directory nor a .tar.gz that tar can unpack";
	default:
		return strerror(-r);
	}
}

static int read_tree(const struct options *o, struct inspection *in, const char *named, usec_t real)
{
	_cleanup_(private_directoryp) char *temporary = NULL;
	const char *directory;
	int r;

	r = find_directory(named, &directory, &temporary);
	if (r == -ENOENT && !temporary)
		return fail(named, strerror(ENOENT));
	if (r >= 0)
		r = inspection_read(in, directory, o->interval, real);
	return r < 0 ? fail(named, why_not(r)) : 0;
}

static int read_trees(const struct options *o, struct inspection *in, usec_t real)
{
	int r = 0;

	for (size_t i = 0; i < o->n_patterns && r == 0; i++) {
		usec_t ago = (usec_t)(o->n_patterns - 1 - i) * o->interval;

		r = read_tree(o, in, o->patterns[i], usec_sub(real, ago));
	}
	return r;
}

/* ---- the answer ---- */

/* What is said of a daemon where there is none. */
static json_t *daemon_json(const struct options *o, usec_t real)
{
	json_t *trees = json_array();

	for (size_t i = 0; i < o->n_patterns; i++) {
		json_t *name = json_string(o->patterns[i]);

		json_array_append_new(trees, name ? name : json_null()); /* NULL: not UTF-8 */
	}
	return json_pack("{s:b, s:s, s:I, s:o, s:I}", "Running", 0, "Version", RDMAD_VERSION,
		"Timestamp", (json_int_t)real, "Trees", trees, "IntervalUSec",
		(json_int_t)o->interval);
}

static char *captured_text(const struct options *o)
{
	_cleanup_(freep) char *tree = text_sanitise(o->patterns[o->n_patterns - 1], false);
	char *text, span[TIMESPAN_MAX];
	int r;

	if (o->n_patterns > 1)
		r = asprintf(&text,
			"captured tree %s, the last of %zu taken %s apart; judged by rdmactl "
			"%s, no daemon was asked",
			or_text(tree, "?"), o->n_patterns,
			timespan_format(span, sizeof(span), o->interval), RDMAD_VERSION);
	else
		r = asprintf(&text, "captured tree %s; judged by rdmactl %s, no daemon was asked",
			or_text(tree, "?"), RDMAD_VERSION);
	return r < 0 ? NULL : text;
}

static int describe(
	const struct options *o, const struct inspection *in, usec_t real, struct source *ret)
{
	struct publish_context context = { .model = &in->model };
	struct timepoint now = { .mono = in->now.mono, .real = real };
	_cleanup_(freep) char *text = NULL;
	int r;

	*ret = (struct source){ .age = USEC_INFINITY, .uptime = USEC_INFINITY };
	r = describe_text(&context, now, EVENTS_MAX, DESCRIBE_COMPACT, &text);
	if (r < 0)
		return r;
	ret->root = json_loads(text, 0, NULL);
	ret->captured = captured_text(o);
	if (!ret->root || !ret->captured)
		return -ENOMEM;
	json_object_set_new(ret->root, "Daemon", daemon_json(o, real));
	return o->format == OUTPUT_TEXT ? source_sanitise(ret) : 0;
}

static int show(const struct options *o, const struct inspection *in, usec_t real)
{
	_cleanup_(source_done) struct source s = { 0 };
	_cleanup_(view_done) struct view v = { 0 };
	struct options all = *o;
	int r, status;

	/* The arguments were trees: of the objects in them all are shown. */
	all.n_patterns = 0;
	r = describe(o, in, real, &s);
	if (r >= 0)
		r = view_build(s.root, &all, false, &v);
	if (r < 0)
		return fail("description", strerror(-r));
	status = check_status_of(json_health(s.root, NULL));
	output_open(o);
	status_show(&all, &s, &v);
	r = output_close(status);
	return r == status ? status : CHECK_UNKNOWN;
}

int verb_inspect(const struct options *o)
{
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(inspection_done) struct inspection in = { 0 };
	usec_t real = timepoint_now().real;
	int r;

	if (o->host)
		return fail("inspect", "it reads trees of this host: --host makes no sense");
	r = load_config(o, &config);
	if (r != 0)
		return r;
	in.config = config;
	r = read_trees(o, &in, real);
	return r == 0 ? show(o, &in, real) : r;
}
