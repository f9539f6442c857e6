/* SPDX-License-Identifier: MIT */
#include "setup-steps.h"

#include "macros.h"
#include "output.h"
#include "text.h"
#include "view.h"

#define GAP 2

enum column {
	COL_OBJECT,
	COL_STEP,
	COL_RESULT,
	COL_FOUND,
	COL_WANTED,
	_COL_MAX,
};

static const struct {
	const char *title, *key;
	size_t most; /* columns, without --full */
} columns[_COL_MAX] = {
	[COL_OBJECT] = { "OBJECT", "Object", 20 },
	[COL_STEP] = { "STEP", "Step", 20 },
	[COL_RESULT] = { "RESULT", "Result", 12 },
	[COL_FOUND] = { "FOUND", "Found", 28 },
	[COL_WANTED] = { "WANTED", "Wanted", 40 },
};

bool step_in_force(const json_t *step)
{
	const char *result = or_text(json_text(step, "Result"), "");

	return streq(result, "ok") || streq(result, "changed");
}

json_t *steps_selected(const struct options *o, const json_t *root)
{
	const json_t *all = json_object_get(root, "Setup");
	json_t *steps = json_array();

	for (size_t i = 0; steps && i < json_array_size(all); i++) {
		json_t *step = json_array_get(all, i);

		if (json_is_object(step) &&
			name_selected(o, or_text(json_text(step, "Object"), "-")))
			json_array_append(steps, step);
	}
	return steps;
}

json_t *steps_filtered(const json_t *steps, bool in_force)
{
	json_t *some = json_array();

	for (size_t i = 0; some && i < json_array_size(steps); i++)
		if (step_in_force(json_array_get(steps, i)) == in_force)
			json_array_append(some, json_array_get(steps, i));
	return some;
}

static enum colour result_colour(const json_t *step)
{
	const char *result = or_text(json_text(step, "Result"), "");

	if (step_in_force(step))
		return COLOUR_GOOD;
	return streq(result, "failed") || streq(result, "blocked") ? COLOUR_BAD : COLOUR_WARN;
}

/* What stands in its way would be in the way of the call by hand, and of --disruptive, too. */
static bool step_can_be_done(const json_t *step)
{
	const char *result = or_text(json_text(step, "Result"), "");

	return !step_in_force(step) && !streq(result, "blocked") && !streq(result, "unsupported");
}

/* What the daemon has to say of a step; older ones have no "Call" and no "Needs". */
static void print_details(const json_t *step)
{
	if (json_is_true(json_object_get(step, "Disruptive")) && step_can_be_done(step))
		output_labelled(4, "",
			"disturbs traffic: done when the device is unused, or by apply "
			"--disruptive");
	output_labelled(4, "", json_text(step, "Detail"));
	if (step_in_force(step))
		return;
	output_labelled(4, "needs: ", json_text(step, "Needs"));
	if (step_can_be_done(step))
		output_labelled(4, "call: ", json_text(step, "Call"));
	output_labelled(4, "remedy: ", json_text(step, "Remedy"));
}

static const char *cell(const json_t *step, int column)
{
	return or_text(json_text(step, columns[column].key), "-");
}

static void measure(const struct options *o, const json_t *steps, size_t width[_COL_MAX])
{
	for (int c = 0; c < _COL_MAX; c++) {
		width[c] = o->legend ? text_width(columns[c].title) : 0;
		for (size_t i = 0; i < json_array_size(steps); i++)
			width[c] = MAX(width[c], text_width(cell(json_array_get(steps, i), c)));
		if (!o->full)
			width[c] = MIN(width[c], columns[c].most);
	}
}

void steps_print(const struct options *o, const json_t *steps)
{
	size_t width[_COL_MAX], i;
	const json_t *step;

	measure(o, steps, width);
	for (int c = 0; o->legend && c < _COL_MAX; c++)
		output_cell(columns[c].title, COLOUR_BOLD, width[c], c == _COL_MAX - 1);
	if (o->legend)
		putchar('\n');
	json_array_foreach((json_t *)steps, i, step)
	{
		for (int c = 0; c < _COL_MAX; c++)
			output_cell(cell(step, c),
				c == COL_RESULT ? result_colour(step) : COLOUR_NONE, width[c],
				c == _COL_MAX - 1);
		putchar('\n');
		print_details(step);
	}
}

int steps_exit_status(const struct options *o, const json_t *steps)
{
	if (o->n_patterns == 0 || json_array_size(steps) > 0)
		return 0;
	output_error("Nothing is configured to be set up for an object of that name.");
	return EXIT_FAILED;
}
