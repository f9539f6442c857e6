/* SPDX-License-Identifier: MIT */
/*
 * rdmactl ack: says of a condition that somebody knows of it. It still stands and is shown with who
 * and why; the daemon reminds nobody of it any more. Gone with the condition.
 */
#include "bus-call.h"
#include "bus-report.h"
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

static const struct bus_words words = {
	.refused = "rdmad refuses",
	.no_daemon = "rdmad is not running, so that no condition stands.",
};

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

		status = bus_report(o, &a, &words);
		bus_answer_done(&a);
		if (status == EXIT_SUCCESS)
			printf("%s: %s %s\n", or_text(object, ""), or_text(reason, ""),
				o->undo ? "acknowledged no more" : "acknowledged");
	}
	return output_close(status);
}
