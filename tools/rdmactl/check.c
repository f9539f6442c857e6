/* SPDX-License-Identifier: MIT */
/*
 * rdmactl check: one line and an exit status for schedulers and monitoring. The line of a healthy
 * host names nothing that differs from one such host to the next. It answers within 5 s whatever
 * hangs, because a prolog script that waits is worse than one that fails.
 */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

#include "macros.h"
#include "output.h"
#include "source.h"
#include "summary.h"
#include "text.h"
#include "view.h"

#define BUS_TIMEOUT (3 * USEC_PER_SEC)
#define NAMES_MAX   5

static bool alarm_json;

static void on_alarm(int sig)
{
	static const char text[] = "rdma UNKNOWN: no answer within 5 s\n";
	static const char json[] =
		"{\"Daemon\":{\"Running\":null},\"HealthState\":\"unknown\",\"ExitStatus\":3,"
		"\"Summary\":\"rdma UNKNOWN: no answer within 5 s\",\"Objects\":[]}\n";
	ssize_t n;

	n = alarm_json ? write(STDOUT_FILENO, json, sizeof(json) - 1)
		       : write(STDOUT_FILENO, text, sizeof(text) - 1);
	(void)n; /* nobody left to tell */
	_exit(CHECK_UNKNOWN);
}

/* The last resort behind the deadlines: a file system or an ssh that hangs. */
static void set_alarm(const struct options *o)
{
	const struct itimerval limit = { .it_value = { .tv_sec = 4, .tv_usec = 800000 } };

	alarm_json = o->format != OUTPUT_TEXT;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &limit, NULL);
}

enum check_status check_status_of(enum health h)
{
	switch (h) {
	case HEALTH_OK:
	case HEALTH_IGNORED:
		return CHECK_OK;
	case HEALTH_STARTING:
	case HEALTH_DEGRADED:
		return CHECK_DEGRADED;
	case HEALTH_FAILED:
		return CHECK_FAILED;
	case HEALTH_UNKNOWN:
	case _HEALTH_MAX:
		break;
	}
	return CHECK_UNKNOWN;
}

static const char *headline(enum health h)
{
	switch (h) {
	case HEALTH_OK:
	case HEALTH_IGNORED:
		return "OK";
	case HEALTH_STARTING:
		return "STARTING";
	case HEALTH_DEGRADED:
		return "DEGRADED";
	case HEALTH_FAILED:
		return "FAILED";
	case HEALTH_UNKNOWN:
	case _HEALTH_MAX:
		break;
	}
	return "UNKNOWN";
}

/* The whole host's health is the daemon's word; that of a selection is the worst in it. */
static enum health overall(const struct options *o, const struct view *v)
{
	enum health worst = HEALTH_IGNORED;

	if (o->n_patterns == 0)
		return json_health(v->root, NULL);
	for (size_t i = 0; i < v->n; i++)
		worst = health_worst(worst, v->objects[i].health);
	return worst;
}

static json_t *troubles_json(const struct view *v)
{
	json_t *objects = json_array();

	for (size_t i = 0; i < v->n; i++) {
		const struct object *o = &v->objects[i];

		if (object_in_trouble(v, o))
			json_array_append_new(objects,
				json_pack("{s:s, s:s, s:O}", "Object", o->name, "HealthState",
					o->health_word, "Reasons",
					json_or_null(json_object_get(o->json, "Reasons"))));
	}
	return objects;
}

static int answer(const struct options *o, const struct source *s, const struct view *v,
	enum health h, const char *detail)
{
	_cleanup_(freep) char *line = NULL;
	_cleanup_(freep) char *clean = NULL;

	if (asprintf(&line, "rdma %s: %s", headline(h), detail) < 0)
		line = NULL;
	if (o->format == OUTPUT_TEXT) {
		clean = line ? text_sanitise(line, false) : NULL;
		puts(or_text(clean, "rdma UNKNOWN: out of memory"));
		if (!clean)
			h = HEALTH_UNKNOWN;
	} else {
		json_t *all = json_pack("{s:o, s:s, s:i, s:s, s:o}", "Daemon",
			source_daemon_json(s), "HealthState", health_to_string(h), "ExitStatus",
			(int)check_status_of(h), "Summary", or_text(line, ""), "Objects",
			troubles_json(v));

		output_json(o, all);
		json_decref(all);
	}
	return check_status_of(h);
}

static int check(const struct options *o, const struct source *s, struct view *v)
{
	_cleanup_(freep) char *detail = NULL;
	enum health h;

	if (view_build(s->root, o, false, v) < 0)
		return answer(o, s, v, HEALTH_UNKNOWN, "out of memory");
	if (v->n == 0)
		return answer(o, s, v, HEALTH_UNKNOWN, "nothing here has a name like that");
	view_sort_worst_first(v);

	h = overall(o, v);
	if (check_status_of(h) != CHECK_OK) {
		detail = summary_troubles(v, NAMES_MAX);
		if (detail && !*detail)
			return answer(o, s, v, h, "rdmad does not say why");
	} else if (v->n_ports + v->n_devices + v->n_missing == 0)
		return answer(o, s, v, h, "nothing expected, nothing found");
	else
		detail = summary_counts(v);
	return answer(o, s, v, h, or_text(detail, "out of memory"));
}

int verb_check(const struct options *o)
{
	_cleanup_(source_done) struct source s;
	_cleanup_(view_done) struct view v = { 0 };
	int r, status;

	set_alarm(o);
	r = source_fetch(o, BUS_TIMEOUT, &s);
	output_open(o);
	if (r < 0)
		status = answer(o, &s, &v, HEALTH_UNKNOWN, or_text(s.why, strerror(-r)));
	else if (!s.running)
		status = answer(o, &s, &v, HEALTH_UNKNOWN, "rdmad is not running");
	else if (s.silent)
		status = answer(o, &s, &v, HEALTH_UNKNOWN, "rdmad does not answer");
	else
		status = check(o, &s, &v);
	/* Nobody read the answer: then it is not known that all is well. */
	r = output_close(status);
	return r == status ? status : CHECK_UNKNOWN;
}
