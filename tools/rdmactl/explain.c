/* SPDX-License-Identifier: MIT */
/*
 * rdmactl explain: of an object every rule that it is judged by, with value, threshold and where that
 * is configured; of a reason what it means and what to do. Only the first asks the daemon.
 */
#include <errno.h>

#include "bus-call.h"
#include "explain-object.h"
#include "explain-reason.h"
#include "macros.h"
#include "nearest.h"
#include "output.h"
#include "rules.h"
#include "source.h"
#include "text.h"
#include "view.h"

#define LOCAL_TIMEOUT  (5 * USEC_PER_SEC)
#define REMOTE_TIMEOUT (60 * USEC_PER_SEC)

struct explanation {
	const struct options *o;
	json_t *objects, *reasons; /* for JSON */
	json_t *running;           /* what is known of the daemon; NULL nothing yet */
	size_t n;                  /* of them printed */
	int status;
};

static void fail(struct explanation *e, int status)
{
	e->status = MAX(e->status, status);
}

static void explain_reason(struct explanation *e, enum reason_id id)
{
	if (e->o->format != OUTPUT_TEXT) {
		json_array_append_new(e->reasons, explain_reason_json(id));
		return;
	}
	if (e->n++ > 0)
		putchar('\n');
	explain_reason_text(id);
}

/*
 * Says that it is neither an object nor a reason, and which is the nearest of both. sure: somebody
 * knows that there is no such object; else it is only said of what the last description does not
 * have, or, without one, of what is nearly a reason. Returns whether it was said.
 */
static bool unknown_word(struct explanation *e, const char *word, bool sure)
{
	struct nearest nearest = nearest_to(word);
	_cleanup_(source_done) struct source s;
	_cleanup_(view_done) struct view v = { 0 };
	struct options all = *e->o;
	bool described;

	all.n_patterns = 0;
	for (unsigned i = 0; i < _REASON_MAX; i++)
		nearest_try(&nearest, rule_get((enum reason_id)i)->name);
	described =
		source_fetch(&all, false, e->o->host ? REMOTE_TIMEOUT : LOCAL_TIMEOUT, &s) >= 0 &&
		view_build(s.root, &all, false, &v) >= 0;
	for (size_t i = 0; i < v.n; i++)
		nearest_try(&nearest, v.objects[i].name);
	if (!sure && (nearest.word ? nearest.distance == 0 : !described))
		return false;
	if (nearest.word)
		output_error("'%s' is neither an object nor a reason. Did you mean '%s'?", word,
			nearest.word);
	else
		output_error("'%s' is neither an object nor a reason. See: rdmactl list", word);
	fail(e, EXIT_FAILED);
	return true;
}

static void take_answer(struct explanation *e, const char *word, const char *text)
{
	json_error_t error;
	json_t *v = json_loads(or_text(text, ""), JSON_REJECT_DUPLICATES, &error);
	json_t *clean;

	if (!json_is_object(v)) {
		output_error("%s: what rdmad answered is no explanation", word);
		fail(e, EXIT_FAILED);
	} else if (e->o->format != OUTPUT_TEXT) {
		json_array_append(e->objects, v);
	} else if ((clean = text_sanitise_json(v))) {
		if (e->n++ > 0)
			putchar('\n');
		explain_object_text(clean);
		json_decref(clean);
	} else {
		output_error("Out of memory");
		fail(e, EXIT_FAILED);
	}
	json_decref(v);
}

static void set_running(struct explanation *e, bool running)
{
	json_decref(e->running);
	e->running = json_boolean(running);
}

static void explain_object(struct explanation *e, const char *word)
{
	struct bus_answer a = { .outcome = BUS_NO_BUS };
	const char *why;

	if (e->o->host || bus_wanted())
		a = bus_call_explain(e->o->host, word, e->o->host ? REMOTE_TIMEOUT : LOCAL_TIMEOUT);
	why = or_text(a.message, "RDMAD_BUS=no");
	switch (a.outcome) {
	case BUS_ANSWERED:
		set_running(e, true);
		take_answer(e, word, a.text);
		break;
	case BUS_REFUSED:
		set_running(e, true);
		if (a.no_such_object) {
			unknown_word(e, word, true);
		} else {
			output_error("%s: rdmad refuses: %s", word, why);
			fail(e, EXIT_FAILED);
		}
		break;
	case BUS_NO_ANSWER:
		output_error("%s: rdmad does not answer on the bus: %s", word, why);
		fail(e, EXIT_FAILED);
		break;
	case BUS_NO_DAEMON:
		set_running(e, false);
		if (unknown_word(e, word, false))
			break;
		output_error("%s: rdmad is not running, and only it can say how it judges", word);
		fail(e, EXIT_NOT_RUNNING);
		break;
	case BUS_NO_BUS:
		if (!e->o->host && unknown_word(e, word, false))
			break;
		output_error("%s: cannot reach the bus%s%s: %s", word, e->o->host ? " of " : "",
			or_text(e->o->host, ""), why);
		fail(e, e->o->host ? EXIT_FAILED : EXIT_NOT_RUNNING);
		break;
	}
	bus_answer_done(&a);
}

int verb_explain(const struct options *o)
{
	struct explanation e = { .o = o, .objects = json_array(), .reasons = json_array() };
	json_t *all;

	output_open(o);
	for (size_t i = 0; i < o->n_patterns; i++) {
		int id = rule_by_name(o->patterns[i]);

		if (id >= 0)
			explain_reason(&e, (enum reason_id)id);
		else
			explain_object(&e, o->patterns[i]);
	}
	all = json_pack("{s:{s:o}, s:o, s:o}", "Daemon", "Running", json_or_null(e.running),
		"Objects", e.objects, "Reasons", e.reasons);
	if (o->format != OUTPUT_TEXT)
		output_json(o, all);
	json_decref(all);
	return output_close(e.status);
}
