/* SPDX-License-Identifier: MIT */
/*
 * rdmactl apply: makes the host, or these objects, as the configuration says, also where somebody
 * changed it, and tells what was changed and what is not in force all the same. The daemon goes on by itself when this is
 * interrupted.
 */
#include "bus-call.h"
#include "bus-report.h"
#include "macros.h"
#include "output.h"
#include "setup-steps.h"
#include "source.h"
#include "text.h"
#include "view.h"

/* The daemon answers when its plan has settled; a module may load slowly. */
#define APPLY_TIMEOUT (3 * USEC_PER_MINUTE)

static const struct bus_words words = {
	.refused = "rdmad refuses",
	.no_daemon = "rdmad is not running. Start it with: systemctl start rdmad",
};

static bool same(const json_t *a, const json_t *b, const char *key)
{
	return streq(or_text(json_text(a, key), ""), or_text(json_text(b, key), ""));
}

static const json_t *find(const json_t *steps, const json_t *step)
{
	const json_t *s;
	size_t i;

	json_array_foreach((json_t *)steps, i,
		s) if (same(s, step, "Step") && same(s, step, "Object")) return s;
	return NULL;
}

/*
 * The steps that are in force now and were not, or of another value, before. before NULL: nothing is
 * known of before.
 */
static json_t *changed_steps(const json_t *before, const json_t *after)
{
	json_t *changed = json_array(), *s;
	size_t i;

	json_array_foreach((json_t *)after, i, s)
	{
		const json_t *was = find(before, s);

		if (before && step_in_force(s) &&
			(!was || !step_in_force(was) || !same(was, s, "Found")))
			json_array_append(changed, s);
	}
	return changed;
}

static void print_changed(const json_t *before, const json_t *changed)
{
	const json_t *s;
	size_t i;

	json_array_foreach((json_t *)changed, i, s)
	{
		const json_t *was = find(before, s);

		printf("%s: %s: %s", or_text(json_text(s, "Object"), "-"),
			or_text(json_text(s, "Step"), "-"),
			or_text(json_text(s, "Wanted"), "as configured"));
		if (was && json_text(was, "Found"))
			printf(" (was: %s)", json_text(was, "Found"));
		putchar('\n');
	}
}

static int show(const struct options *o, const struct source *s, const json_t *before)
{
	_cleanup_(json_decrefp) json_t *steps = steps_selected(o, s->root);
	_cleanup_(json_decrefp) json_t *left = steps_filtered(steps, false);
	_cleanup_(json_decrefp) json_t *changed = changed_steps(before, steps);
	size_t n_left = json_array_size(left);

	if (!steps || !left || !changed) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	if (o->format != OUTPUT_TEXT) {
		json_t *v = json_pack("{s:o, s:O, s:O}", "Daemon", source_daemon_json(s), "Changed",
			changed, "Left", left);

		output_json(o, v);
		json_decref(v);
	} else {
		print_changed(before, changed);
		if (n_left > 0) {
			printf("%sNot in force:\n", json_array_size(changed) > 0 ? "\n" : "");
			steps_print(o, left);
		} else if (json_array_size(changed) == 0)
			puts("Nothing to do: everything is as configured.");
	}
	return n_left > 0 ? EXIT_FAILED : EXIT_SUCCESS;
}

/* What there is before, to tell what was changed; it may not be there. */
static json_t *steps_before(const struct options *o)
{
	_cleanup_(source_done) struct source s;

	if (source_fetch(o, false, source_timeout(o), &s) < 0 || s.from_file)
		return NULL;
	if (o->format == OUTPUT_TEXT && source_sanitise(&s) < 0)
		return NULL;
	return steps_selected(o, s.root);
}

int verb_apply(const struct options *o)
{
	_cleanup_(json_decrefp) json_t *before = steps_before(o);
	_cleanup_(source_done) struct source s = { 0 };
	struct bus_answer a = bus_call_apply(o->host, (const char *const *)o->patterns,
		o->n_patterns, o->disruptive, APPLY_TIMEOUT);
	bool late = a.outcome == BUS_REFUSED && a.goes_on;
	int status = late ? EXIT_SUCCESS : bus_report(o, &a, &words);

	/* What there is by now is shown all the same, and what is pending is left. */
	if (late)
		output_error("%s", or_text(a.message, "Setup has not settled yet"));
	if (status != EXIT_SUCCESS && o->format != OUTPUT_TEXT) {
		_cleanup_(json_decrefp) json_t *v =
			json_pack("{s:{s:o}}", "Daemon", "Running", bus_running(o, &a));

		output_json(o, v);
	}
	bus_answer_done(&a);
	if (status != EXIT_SUCCESS)
		return output_close(status);
	status = source_load(o, false, &s);
	if (status != 0)
		return status;
	output_open(o);
	status = show(o, &s, before);
	return output_close(late ? EXIT_FAILED : status);
}
