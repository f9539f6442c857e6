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

#include "check-exit.h"
#include "check-scope.h"
#include "macros.h"
#include "output.h"
#include "source.h"
#include "summary.h"
#include "text.h"
#include "view.h"

#define BUS_TIMEOUT (3 * USEC_PER_SEC)
#define NAMES_MAX   5

/* What on_alarm() writes and exits with; made before, as it may call next to nothing. */
static char alarm_text[256];
static int alarm_exit;

static void on_alarm(int sig)
{
	ssize_t n = write(STDOUT_FILENO, alarm_text, strlen(alarm_text));

	(void)n; /* nobody left to tell */
	_exit(alarm_exit);
}

/* The last resort behind the deadlines: a file system, a journal or an ssh that hangs. */
static void set_alarm(const struct options *o)
{
	const struct itimerval limit = { .it_value = { .tv_sec = 4, .tv_usec = 800000 } };
	_cleanup_(freep) char *line = check_line(
		o->exit_style, CHECK_UNKNOWN, HEALTH_UNKNOWN, "no answer within 5 s", NULL);

	alarm_exit = check_exit(o->exit_style, CHECK_UNKNOWN, HEALTH_UNKNOWN);
	if (o->format == OUTPUT_TEXT)
		snprintf(alarm_text, sizeof(alarm_text), "%s\n", or_text(line, ""));
	else
		snprintf(alarm_text, sizeof(alarm_text),
			"{\"Daemon\":{\"Running\":null},\"HealthState\":\"unknown\",\"ExitStatus\":"
			"%d,"
			"\"Summary\":\"%s\",\"Objects\":[]}\n",
			alarm_exit, or_text(line, ""));
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &limit, NULL);
}

/* One answer in the making. */
struct answer {
	const struct options *o;
	struct source source;
	struct view view;
	struct check_past past;
	enum check_status status;
	enum health worst;
};

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

static json_t *past_json(const struct check_past *p)
{
	json_t *past = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(
			past, json_pack("{s:s, s:s, s:s}", "Object", p->conditions[i].object,
				      "Reason", p->conditions[i].reason, "HealthState",
				      health_to_string(p->conditions[i].health)));
	return past;
}

/*
 * How many ports are in which health, as monitoring-plugins(8) write it: 'label'=value;warn;crit. Above
 * a warn or crit of 0 is an alarm. No names: the line is the same on hosts that are alike.
 */
static char *perfdata(const struct view *v)
{
	static const struct {
		enum health health;
		const char *limits;
	} order[] = {
		{ HEALTH_OK, "" },
		{ HEALTH_IGNORED, "" },
		{ HEALTH_STARTING, ";0" },
		{ HEALTH_UNKNOWN, "" },
		{ HEALTH_DEGRADED, ";0" },
		{ HEALTH_FAILED, ";;0" },
	};
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "ports=%zu", v->n_ports);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		fprintf(f, " %s=%zu%s", health_to_string(order[i].health),
			v->n_in_health[order[i].health], order[i].limits);
	fprintf(f, " missing=%zu", v->n_missing);
	return fclose(f) == 0 ? text : NULL;
}

/* Says it. Returns the exit status. */
static int say(const struct answer *a, const char *detail)
{
	const struct options *o = a->o;
	_cleanup_(freep) char *data = o->perfdata ? perfdata(&a->view) : NULL;
	_cleanup_(freep) char *line = check_line(o->exit_style, a->status, a->worst, detail,
		o->exit_style == EXIT_STYLE_NPD ? NULL : data);
	enum check_status status = line ? a->status : CHECK_UNKNOWN;
	int exit_status = check_exit(o->exit_style, status, line ? a->worst : HEALTH_UNKNOWN);

	if (o->format == OUTPUT_TEXT) {
		puts(or_text(line, "rdma UNKNOWN: out of memory"));
	} else {
		json_t *all = json_pack("{s:o, s:s, s:i, s:s, s:o, s:o}", "Daemon",
			source_daemon_json(&a->source), "HealthState", health_to_string(a->worst),
			"ExitStatus", exit_status, "Summary", or_text(line, ""), "Objects",
			troubles_json(&a->view), "Past", past_json(&a->past));

		output_json(o, all);
		json_decref(all);
	}
	return exit_status;
}

static int cannot_tell(struct answer *a, const char *why)
{
	a->status = CHECK_UNKNOWN;
	a->worst = HEALTH_UNKNOWN;
	return say(a, why);
}

/*
 * The healths that were seen. The whole host's is the daemon's word; what is less is judged here, and
 * so is what a worse one may hide from --fail-on=.
 */
static unsigned seen_now(const struct options *o, const struct view *v)
{
	unsigned seen = 0;

	if (!check_is_scoped(o) && o->fail_on == HEALTH_DEGRADED)
		return 1u << json_health(v->root, NULL);
	for (size_t i = 0; i < v->n; i++)
		seen |= 1u << v->objects[i].health;
	if (!check_is_scoped(o))
		seen |= 1u << json_health(v->root, NULL);
	else if (v->n_ports + v->n_devices + v->n_missing == 0)
		/* Before the first listing there is nothing to judge. */
		seen |= json_health(v->root, NULL) == HEALTH_STARTING ? 1u << HEALTH_STARTING : 0;
	return seen;
}

static char *describe_now(const struct view *v, unsigned seen)
{
	char *detail;

	if (health_rank(check_worst(seen)) > 0) {
		detail = summary_troubles(v, NAMES_MAX);
		if (detail && !*detail) {
			free(detail);
			detail = strdup("rdmad does not say why");
		}
		return detail;
	}
	if (v->n_ports + v->n_devices + v->n_missing == 0)
		return strdup("nothing expected, nothing found");
	return summary_counts(v);
}

/* Adds what the journal says that there was. */
static char *add_past(char *detail, struct check_past *p, const char *since)
{
	_cleanup_(freep) char *now = detail;
	_cleanup_(freep) char *past = check_past_text(p);
	char *both;

	if (!now || !past || asprintf(&both, "%s; since %s: %s", now, since, past) < 0)
		return NULL;
	return both;
}

/* The bus was too busy for an answer, or rdmad was: this is what it wrote a moment ago. */
static char *add_source(char *detail)
{
	_cleanup_(freep) char *now = detail;
	char *both;

	if (!now || asprintf(&both, "%s; by %s, no answer on the bus", now, state_file_path()) < 0)
		return NULL;
	return both;
}

/* All that is named is to be ok, and what is not there is not. Returns whether that was said. */
static bool cannot_find(struct answer *a, int *ret)
{
	_cleanup_(freep) char *why = NULL;
	size_t i = 0;
	const char *pattern = view_unmatched(&a->view, a->o, &i);

	if (!pattern)
		return false;
	if (asprintf(&why, "there is no '%s' here", pattern) < 0)
		why = NULL;
	*ret = cannot_tell(a, or_text(why, "out of memory"));
	return true;
}

static int check(struct answer *a)
{
	const struct options *o = a->o;
	_cleanup_(freep) char *detail = NULL;
	unsigned seen;
	int r;

	if (view_build(a->source.root, o, false, &a->view) < 0)
		return cannot_tell(a, "out of memory");
	if (cannot_find(a, &r))
		return r;
	check_scope(o, &a->view);
	if (o->group && a->view.n == 0)
		return cannot_tell(a, "no port here is of that group");
	r = o->since ? check_past_read(o, &a->view, &a->past) : 0;
	if (r < 0)
		return cannot_tell(a, r == -EINVAL   ? "--since= is not a time"
				      : r == -EACCES ? "the journal cannot be read"
						     : strerror(-r));
	view_sort_worst_first(&a->view);
	seen = seen_now(o, &a->view);
	detail = describe_now(&a->view, seen);
	if (a->past.n > 0)
		detail = add_past(TAKE_PTR(detail), &a->past, o->since);
	if (a->source.silent)
		detail = add_source(TAKE_PTR(detail));
	seen |= a->past.seen;
	a->status = check_status_of_all(seen, o->fail_on);
	a->worst = check_worst(seen);
	return detail ? say(a, detail) : cannot_tell(a, "out of memory");
}

int verb_check(const struct options *o)
{
	struct answer a = { .o = o };
	int r, status;

	set_alarm(o);
	r = source_fetch(o, true, BUS_TIMEOUT, &a.source);
	output_open(o);
	if (r < 0)
		status = cannot_tell(&a, or_text(a.source.why, strerror(-r)));
	else if (!a.source.running)
		status = cannot_tell(&a, "rdmad is not running");
	else if (a.source.silent && !a.source.vouched)
		status = cannot_tell(&a, "rdmad does not answer");
	else if (o->since && o->host)
		status = cannot_tell(&a, "--since= reads the journal of this host only");
	else
		status = check(&a);
	check_past_done(&a.past);
	view_done(&a.view);
	source_done(&a.source);
	/* Nobody read the answer: then it is not known that all is well. */
	r = output_close(status);
	return r == status ? status : check_exit(o->exit_style, CHECK_UNKNOWN, HEALTH_UNKNOWN);
}
