/* SPDX-License-Identifier: MIT */
#include "explain-object.h"

#include "judge.h"
#include "macros.h"
#include "output.h"
#include "text.h"
#include "view.h"

/* In the order in which they are shown: what is wrong first. */
static const struct {
	enum rule_outcome outcome;
	const char *mark, *ascii;
} outcomes[] = {
	{ OUTCOME_RAISED, "✗", "x" }, { OUTCOME_PENDING, "…", "~" }, { OUTCOME_CLEAR, "✓", "+" },
	{ OUTCOME_ABSENT, "–", "-" }, { _OUTCOME_MAX, "?", "?" }, /* a word of a later version */
};

static enum rule_outcome outcome_of(const json_t *rule)
{
	const char *word = json_text(rule, "Outcome");
	int outcome = word ? rule_outcome_from_string(word) : -1;

	return outcome < 0 ? _OUTCOME_MAX : (enum rule_outcome)outcome;
}

static enum colour colour_of(const json_t *rule)
{
	const char *severity = json_text(rule, "Severity");

	switch (outcome_of(rule)) {
	case OUTCOME_RAISED:
		return severity && streq(severity, "failed") ? COLOUR_BAD : COLOUR_WARN;
	case OUTCOME_PENDING:
		return COLOUR_WARN;
	case OUTCOME_CLEAR:
		return COLOUR_GOOD;
	case OUTCOME_ABSENT:
	case _OUTCOME_MAX:
		break;
	}
	return COLOUR_DIM;
}

/* The standing condition that a raised rule is. NULL when the daemon does not list it. */
static const json_t *reason_of(const json_t *object, const json_t *rule)
{
	const json_t *reasons = json_object_get(object, "Reasons");
	const char *id = json_text(rule, "Rule"), *subject = json_text(rule, "Subject");

	for (size_t i = 0; id && i < json_array_size(reasons); i++) {
		const json_t *r = json_array_get(reasons, i);

		if (streq(or_text(json_text(r, "Id"), ""), id) &&
			streq_ptr(json_text(r, "Subject"), subject))
			return r;
	}
	return NULL;
}

static void print_labelled(const char *label, const json_t *object, const char *key)
{
	_cleanup_(freep) char *line = NULL;

	if (json_text(object, key) && asprintf(&line, "%s%s", label, json_text(object, key)) >= 0)
		output_wrapped(4, COLOUR_NONE, line);
}

static void print_since(const json_t *reason, usec_t now)
{
	_cleanup_(freep) char *line = NULL;
	const char *by = json_text(reason, "AcknowledgedBy");
	const char *comment = json_text(reason, "AcknowledgedComment");
	char span[TIMESPAN_MAX];
	uint64_t since;

	if (json_number(reason, "Since", &since))
		printf("    since %s ago\n",
			timespan_format(span, sizeof(span), usec_sub(now, since)));
	if (!json_is_true(json_object_get(reason, "Acknowledged")))
		return;
	if (asprintf(&line, "acknowledged%s%s%s%s", by ? " by " : "", or_text(by, ""),
		    comment ? ": " : "", or_text(comment, "")) >= 0)
		output_wrapped(4, COLOUR_NONE, line);
}

static void print_rule(const json_t *object, const json_t *rule, size_t nr, usec_t now)
{
	const char *subject = json_text(rule, "Subject");
	const char *mark = text_is_utf8() ? outcomes[nr].mark : outcomes[nr].ascii;
	const json_t *reason = NULL;

	printf("%s%s %s%s %s%s%s\n", output_colour(colour_of(rule)), mark,
		or_text(json_text(rule, "Outcome"), "?"), output_reset(),
		or_text(json_text(rule, "Rule"), "?"), subject ? " of " : "", or_text(subject, ""));
	print_labelled("", rule, "Text");
	if (outcome_of(rule) == OUTCOME_RAISED)
		reason = reason_of(object, rule);
	if (reason) {
		print_since(reason, now);
		print_labelled("found ", reason, "Found");
		print_labelled("wanted ", reason, "Wanted");
		print_labelled("to do: ", reason, "Remedy");
	}
	printf("    %sfrom %s%s\n", output_colour(COLOUR_DIM),
		or_text(json_text(rule, "Origin"), "default"), output_reset());
}

/* The reason that is the worst, of those that are raised, and the next thing to look at. */
static void print_next(const json_t *object, const char *name)
{
	const char *id = json_text(json_array_get(json_object_get(object, "Reasons"), 0), "Id");

	if (id)
		printf("\nnext: rdmactl explain %s\n", id);
	else if (streq(name, "host"))
		printf("\nnext: rdmactl status\n");
	else
		printf("\nnext: rdmactl show %s\n", name);
}

void explain_object_text(const json_t *v)
{
	const json_t *rules = json_object_get(v, "Rules");
	const char *name = or_text(json_text(v, "Object"), "?");
	const char *because = json_text(v, "IgnoredBecause");
	usec_t now = timepoint_now().real;
	const char *word;

	json_health(v, &word);
	printf("%s%s%s: %s%s%s\n", output_colour(COLOUR_BOLD), name, output_reset(), word,
		because ? ": " : "", or_text(because, ""));
	if (json_array_size(rules) == 0)
		printf("\nNo rule was applied.\n");
	for (size_t nr = 0; nr < ARRAY_SIZE(outcomes); nr++)
		for (size_t i = 0; i < json_array_size(rules); i++) {
			const json_t *rule = json_array_get(rules, i);

			if (!json_is_object(rule) || outcome_of(rule) != outcomes[nr].outcome)
				continue;
			putchar('\n');
			print_rule(v, rule, nr, now);
		}
	print_next(v, name);
}
