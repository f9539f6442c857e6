/* SPDX-License-Identifier: MIT */
/*
 * rdmactl ack: says of a condition that somebody knows of it. It still stands and is shown with who
 * and why; the daemon reminds nobody of it any more. Gone with the condition.
 */
#include "bus-call.h"
#include "macros.h"
#include "nearest.h"
#include "output.h"
#include "rules.h"
#include "text.h"

#define ACK_TIMEOUT (10 * USEC_PER_SEC)

/* Whether it is a reason, or one with a subject ("setup-failed:siw"); says if not. */
static bool is_reason(const char *word)
{
	struct nearest nearest = nearest_to(word);
	_cleanup_(freep) char *id = strndup(word, strcspn(word, ":"));

	if (id && rule_by_name(id) >= 0)
		return true;
	for (unsigned i = 0; i < _REASON_MAX; i++)
		nearest_try(&nearest, rule_get((enum reason_id)i)->name);
	if (nearest.word)
		output_error("'%s' is no reason. Did you mean '%s'?", word, nearest.word);
	else
		output_error("'%s' is no reason. See: rdmactl status", word);
	return false;
}

static int report(const struct options *o, const struct bus_answer *a)
{
	const char *why = or_text(a->message, "out of memory");

	switch (a->outcome) {
	case BUS_ANSWERED:
		return EXIT_SUCCESS;
	case BUS_REFUSED:
		output_error("rdmad refuses: %s", why);
		return EXIT_FAILED;
	case BUS_NO_ANSWER:
		output_error("rdmad does not answer: %s", why);
		return EXIT_FAILED;
	case BUS_NO_DAEMON:
		output_error("rdmad is not running, so that no condition stands.");
		return EXIT_NOT_RUNNING;
	case BUS_NO_BUS:
		break;
	}
	output_error(
		"Cannot reach the bus%s%s: %s", o->host ? " of " : "", or_text(o->host, ""), why);
	return o->host ? EXIT_FAILED : EXIT_NOT_RUNNING;
}

int verb_ack(const struct options *o)
{
	int status = EXIT_SUCCESS;

	if (o->n_patterns < 2) {
		output_error("'ack' needs OBJECT REASON...");
		return EXIT_USAGE;
	}
	for (size_t i = 1; i < o->n_patterns; i++)
		if (!is_reason(o->patterns[i]))
			return EXIT_USAGE;
	for (size_t i = 1; i < o->n_patterns && status == EXIT_SUCCESS; i++) {
		_cleanup_(freep) char *object = text_sanitise(o->patterns[0], false);
		_cleanup_(freep) char *reason = text_sanitise(o->patterns[i], false);
		struct bus_answer a = bus_call_ack(o->host, o->patterns[0], o->patterns[i],
			or_text(o->comment, ""), o->undo, ACK_TIMEOUT);

		status = report(o, &a);
		bus_answer_done(&a);
		if (status == EXIT_SUCCESS)
			printf("%s: %s %s\n", or_text(object, ""), or_text(reason, ""),
				o->undo ? "acknowledged no more" : "acknowledged");
	}
	return output_close(status);
}
