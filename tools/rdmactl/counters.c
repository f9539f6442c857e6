/* SPDX-License-Identifier: MIT */
/*
 * rdmactl counters: what the daemon knows of the counters, once or again and again, and what
 * changed since a picture that was kept in a file.
 */
#include "counters.h"

#include "follow.h"
#include "macros.h"
#include "output.h"
#include "view.h"
#include "when.h"

/* The counters themselves, or what changed since the file. A new reference. */
static json_t *compose(
	const struct options *o, json_t *counters, const struct counters_file *old, usec_t now)
{
	char boot_id[BOOT_ID_MAX];

	if (!old->root)
		return json_incref(counters);
	return counters_diff(old, counters, now, counters_boot_id(o, boot_id));
}

static int print(
	const struct options *o, json_t *counters, const struct counters_file *old, usec_t now)
{
	json_t *v = counters_clean(o, compose(o, counters, old, now));

	if (!v) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	if (o->format != OUTPUT_TEXT)
		output_json(o, v);
	else if (old->root)
		counters_print_diff(o, v);
	else
		counters_print(o, v, now);
	json_decref(v);
	return 0;
}

static int show(const struct options *o, const struct counters_file *old)
{
	bool json = o->format != OUTPUT_TEXT;
	json_t *counters;
	int r = counters_fetch(o, &counters), q;

	if (r != 0)
		return r;
	if (o->n_patterns > 0 && json_array_size(json_object_get(counters, "Ports")) == 0) {
		output_error("Nothing here that has counters is called like that.");
		r = EXIT_FAILED;
	}
	if (r == 0 && o->save)
		r = counters_save(o, o->save, counters);
	/* Who only keeps them for later wants no output: it is a line in a job script. */
	if ((r == 0 || json) && (!o->save || o->since)) {
		q = print(o, counters, old, timepoint_now().real);
		r = r == 0 ? q : r;
	}
	json_decref(counters);
	return r;
}

/* What stands above each picture of several: on a terminal in the place of the one before. */
static void begin_picture(const struct options *o, bool first)
{
	char when[WHEN_MAX];

	if (o->format != OUTPUT_TEXT)
		return;
	if (isatty(STDOUT_FILENO))
		printf("\033[H\033[2J");
	else if (!first)
		putchar('\n');
	if (o->legend)
		printf("%s\n", when_format(when, timepoint_now().real));
}

static int watch(const struct options *o, const struct counters_file *old)
{
	bool first = true;
	int r;

	follow_begin();
	do {
		begin_picture(o, first);
		r = show(o, old);
		/* Later on a daemon that is away may come back: it was said, and it goes on. */
		if (first && r != 0)
			return r;
		first = false;
	} while (follow_flush() && follow_wait(-1, 0, o->watch) == FOLLOW_TIME);
	return 0;
}

int verb_counters(const struct options *o)
{
	_cleanup_(counters_file_done) struct counters_file old = { 0 };
	struct options mine = *o;
	int r;

	if (o->watch && o->save) {
		output_error("--watch and --save do not go together");
		return EXIT_USAGE;
	}
	r = o->since ? counters_load(o->since, &old) : 0;
	if (r != 0)
		return r;
	mine.pager = o->pager && !o->watch && !o->save;
	output_open(&mine);
	if (!o->watch)
		return output_close(show(&mine, &old));
	r = watch(&mine, &old);
	/* Nobody who reads any more is one of the ways to end it. */
	return r == 0 ? r : output_close(r);
}
