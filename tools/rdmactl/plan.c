/* SPDX-License-Identifier: MIT */
/*
 * rdmactl plan: what on this host is not as the configuration says, and what would mend it. The
 * daemon plans; this shows.
 */
#include "macros.h"
#include "output.h"
#include "setup-steps.h"
#include "source.h"

static void plan_text(const struct options *o, const json_t *steps, const json_t *due)
{
	const json_t *shown = o->all ? steps : due;
	size_t n = json_array_size(steps), n_due = json_array_size(due);

	if (json_array_size(shown) > 0)
		steps_print(o, shown);
	if (!o->legend)
		return;
	if (json_array_size(shown) > 0)
		putchar('\n');
	if (n == 0)
		puts("Nothing is configured to be set up, or [Setup] Mode=off.");
	else if (n_due == 0)
		printf("Nothing to do: %zu of %zu as configured.\n", n, n);
	else
		printf("%zu of %zu not as configured.\n", n_due, n);
}

static void plan_json(const struct options *o, const struct source *s, json_t *steps, json_t *due)
{
	json_t *v = json_pack("{s:o, s:I, s:I, s:O}", "Daemon", source_daemon_json(s), "Total",
		(json_int_t)json_array_size(steps), "Differing", (json_int_t)json_array_size(due),
		"Setup", o->all ? steps : due);

	output_json(o, v);
	json_decref(v);
}

int verb_plan(const struct options *o)
{
	_cleanup_(json_decrefp) json_t *steps = NULL, *due = NULL;
	_cleanup_(source_done) struct source s;
	int r, status;

	r = source_load(o, false, &s);
	if (r != 0)
		return r;
	steps = steps_selected(o, s.root);
	due = steps_filtered(steps, false);
	if (!steps || !due) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	output_open(o);
	source_note_file(&s);
	r = steps_exit_status(o, steps);
	if (o->format != OUTPUT_TEXT)
		plan_json(o, &s, steps, due);
	else if (r == 0)
		plan_text(o, steps, due);
	status = source_exit_status(&s);
	if (status == 0)
		status = r;
	if (status == 0 && o->exit_code && json_array_size(due) > 0)
		status = EXIT_FAILED;
	return output_close(status);
}
