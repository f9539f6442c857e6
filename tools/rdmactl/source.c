/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <stdarg.h>

#include "bus-call.h"
#include "macros.h"
#include "output.h"
#include "parse.h"
#include "text.h"

/* A person waits that long for a daemon on this host; over ssh there may be a password to type. */
#define LOCAL_TIMEOUT  (10 * USEC_PER_SEC)
#define REMOTE_TIMEOUT (2 * USEC_PER_MINUTE)
/* rdmad touches its file at least with each reading of counters, every 10 s unless configured otherwise. */
#define VOUCHED_MAX (30 * USEC_PER_SEC)

usec_t source_timeout(const struct options *o)
{
	return o->host ? REMOTE_TIMEOUT : LOCAL_TIMEOUT;
}

void source_done(struct source *s)
{
	json_decref(s->root);
	free(s->captured);
	free(s->why);
	*s = (struct source){ 0 };
}

static int say(struct source *s, int error, const char *fmt, ...) _printf_(3, 4);
static int say(struct source *s, int error, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	free(s->why);
	s->why = text;
	return error;
}

static pid_t pid_of(const json_t *root)
{
	json_int_t pid =
		json_integer_value(json_object_get(json_object_get(root, "Daemon"), "Pid"));

	return pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static int take_answer(const struct options *o, const char *text, struct source *s)
{
	json_error_t error;

	s->running = true;
	s->uptime = USEC_INFINITY;
	s->root = json_loads(or_text(text, ""), 0, &error);
	if (!json_is_object(s->root)) {
		json_decref(s->root);
		s->root = NULL;
		return say(s, -EBADMSG,
			"rdmad's answer on the bus is not a description (line %d: %s)", error.line,
			error.text);
	}
	if (!o->host)
		daemon_is_running(pid_of(s->root), &s->uptime);
	return 0;
}

static int fetch_file(struct source *s)
{
	json_int_t written;
	usec_t now = timepoint_now().real, held;
	_cleanup_(freep) char *why = NULL;
	int r;

	r = state_file_read(&s->root, &held, &why);
	if (r == -ENOENT && s->silent)
		return say(s, -ETIMEDOUT, "rdmad does not answer on the bus, and there is no %s",
			state_file_path());
	if (r == -ENOENT)
		return say(s, -ESRCH, "rdmad is not running (%s, and there is no %s)",
			or_text(s->why, "no bus"), state_file_path());
	if (r < 0)
		return say(s, r, "%s", or_text(why, strerror(-r)));

	s->from_file = true;
	written = json_integer_value(
		json_object_get(json_object_get(s->root, "Daemon"), "Timestamp"));
	s->age = written > 0 ? usec_sub(now, (usec_t)written) : USEC_INFINITY;
	s->running = daemon_is_running(pid_of(s->root), &s->uptime);
	s->vouched = s->running && held <= VOUCHED_MAX;
	s->running = s->running || s->silent;
	if (!s->running) {
		/* The file says what was; that the daemon runs is no longer so. */
		json_t *daemon = json_object_get(s->root, "Daemon");

		if (json_is_object(daemon))
			json_object_set_new(daemon, "Running", json_false());
		else
			json_object_set_new(s->root, "Daemon", json_pack("{s:b}", "Running", 0));
	}
	return 0;
}

bool bus_wanted(void)
{
	const char *e = getenv("RDMAD_BUS");
	bool b;

	return !e || parse_bool(e, &b) < 0 || b;
}

int source_fetch(const struct options *o, bool brief, usec_t timeout, struct source *ret)
{
	struct bus_answer a;
	int r = 0;

	*ret = (struct source){ .age = USEC_INFINITY, .uptime = USEC_INFINITY };
	if (!o->host && !bus_wanted()) {
		say(ret, 0, "RDMAD_BUS=no");
		return fetch_file(ret);
	}

	a = bus_call_describe(o->host, brief, timeout);
	switch (a.outcome) {
	case BUS_ANSWERED:
		r = take_answer(o, a.text, ret);
		bus_answer_done(&a);
		return r;
	case BUS_NO_BUS:
		ret->away = o->host;
		r = say(ret, -EHOSTDOWN, "%s%s: %s",
			o->host ? "cannot reach the bus of " : "no system bus",
			or_text(o->host, ""), or_text(a.message, "?"));
		break;
	case BUS_NO_DAEMON:
		r = say(ret, -ESRCH, "rdmad is not on the bus");
		break;
	case BUS_NO_ANSWER:
		ret->silent = true;
		r = say(ret, -ETIMEDOUT, "rdmad does not answer on the bus: %s",
			or_text(a.message, "?"));
		break;
	case BUS_REFUSED:
		r = say(ret, -EPROTO, "rdmad refuses on the bus: %s", or_text(a.message, "?"));
		break;
	}
	bus_answer_done(&a);
	return o->host ? r : fetch_file(ret);
}

json_t *source_daemon_json(const struct source *s)
{
	return json_pack("{s:o}", "Running", s->away ? json_null() : json_boolean(s->running));
}

int source_sanitise(struct source *s)
{
	json_t *clean = text_sanitise_json(s->root);

	if (!clean)
		return -ENOMEM;
	json_decref(s->root);
	s->root = clean;
	return 0;
}

int source_load(const struct options *o, bool brief, struct source *ret)
{
	int r;

	r = source_fetch(o, brief, source_timeout(o), ret);
	if (r < 0) {
		output_error("%s.%s", or_text(ret->why, strerror(-r)),
			r == -ESRCH && !o->host ? "\nStart it with: systemctl start rdmad" : "");
		if (o->format != OUTPUT_TEXT) {
			json_t *v = json_pack("{s:o}", "Daemon", source_daemon_json(ret));

			if (r != -ESRCH)
				json_object_set_new(
					v, "Error", json_string(or_text(ret->why, strerror(-r))));
			output_json(o, v);
			json_decref(v);
		}
		return output_close(r == -ESRCH ? EXIT_NOT_RUNNING : EXIT_FAILED);
	}
	if (o->format != OUTPUT_TEXT)
		return 0;

	if (source_sanitise(ret) < 0) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	return 0;
}

int source_exit_status(const struct source *s)
{
	if (!s->running)
		return EXIT_NOT_RUNNING;
	return s->silent ? EXIT_FAILED : 0;
}

void source_note_file(const struct source *s)
{
	char span[TIMESPAN_MAX];

	if (!s->from_file)
		return;
	output_error("%s%s: this is %s, %s%s", s->running ? "" : "rdmad is not running; ",
		or_text(s->why, "no bus"), state_file_path(),
		s->age == USEC_INFINITY ? "of unknown age"
					: timespan_format(span, sizeof(span), s->age),
		s->age == USEC_INFINITY ? "" : " old");
}
