/* SPDX-License-Identifier: MIT */
#include "bus-call.h"

#include <errno.h>
#include <systemd/sd-bus.h>

#include "ask-password.h"
#include "bus-names.h"
#include "macros.h"
#include "text.h"

/* A password takes the time that a person takes; the daemon gives up after two minutes. */
#define PASSWORD_TIMEOUT (130 * USEC_PER_SEC)

struct waiting {
	struct bus_answer answer;
	bool done;
	bool ready; /* the bus has let us in */
};

void bus_answer_done(struct bus_answer *a)
{
	free(a->text);
	free(a->message);
	*a = (struct bus_answer){ 0 };
}

static enum bus_outcome outcome_of(const sd_bus_error *e, bool ready)
{
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
		sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return BUS_NO_DAEMON;
	if (!ready || sd_bus_error_has_name(e, SD_BUS_ERROR_DISCONNECTED))
		return BUS_NO_BUS;
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) ||
		sd_bus_error_has_name(e, SD_BUS_ERROR_TIMEOUT))
		return BUS_NO_ANSWER;
	return BUS_REFUSED;
}

static int on_reply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct waiting *w = user;
	const sd_bus_error *e = sd_bus_message_get_error(m);
	const char *s;

	w->done = true;
	if (e) {
		w->answer.outcome = outcome_of(e, w->ready);
		w->answer.message = strdup(or_text(e->message, e->name));
		w->answer.goes_on = sd_bus_error_has_name(e, BUS_ERROR_TIMED_OUT);
		w->answer.no_such_object = sd_bus_error_has_name(e, BUS_ERROR_NO_SUCH_OBJECT);
		w->answer.no_such_method = sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_METHOD);
	} else {
		w->answer.outcome = BUS_ANSWERED;
		if (sd_bus_message_has_signature(m, "u"))
			sd_bus_message_read(m, "u", &w->answer.number);
		else if (sd_bus_message_read(m, "s", &s) > 0)
			w->answer.text = strdup(s);
	}
	return 0;
}

/* Turns the connection until the reply is there, the connection is gone, or time is up. */
static int turn(sd_bus *bus, struct waiting *w, usec_t timeout)
{
	usec_t deadline = usec_add(timepoint_now().mono, timeout);

	while (!w->done) {
		usec_t left;
		int r = sd_bus_process(bus, NULL);

		if (sd_bus_is_ready(bus) > 0)
			w->ready = true;
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		left = usec_sub(deadline, timepoint_now().mono);
		if (left == 0)
			return -ETIMEDOUT;
		r = sd_bus_wait(bus, left);
		if (r < 0 && r != -EINTR)
			return r;
	}
	return 0;
}

/* A method and what writes its arguments into the message (NULL: it has none). */
struct request {
	const char *method;
	int (*append)(sd_bus_message *m, const struct request *q);
	const char *const *objects;
	size_t n_objects;
	usec_t duration;
	uint64_t flags; /* as org.rdmad1(5) has them for the method */
	bool changes;   /* not everybody may */
};

static int append_flags(sd_bus_message *m, const struct request *q)
{
	return sd_bus_message_append(m, "t", q->flags);
}

/* The first object. */
static int append_object(sd_bus_message *m, const struct request *q)
{
	return sd_bus_message_append(m, "s", q->objects[0]);
}

static int append_objects(sd_bus_message *m, const struct request *q)
{
	int r = sd_bus_message_open_container(m, 'a', "s");

	for (size_t i = 0; r >= 0 && i < q->n_objects; i++)
		r = sd_bus_message_append(m, "s", q->objects[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r;
}

static int append_release(sd_bus_message *m, const struct request *q)
{
	int r = append_objects(m, q);

	return r < 0 ? r : sd_bus_message_append(m, "tt", q->duration, q->flags);
}

static int append_objects_flags(sd_bus_message *m, const struct request *q)
{
	int r = append_objects(m, q);

	return r < 0 ? r : append_flags(m, q);
}

static int call(const char *host, const struct request *q, usec_t timeout, struct waiting *w)
{
	/* Not flush_close: what cannot be written by then is not worth waiting for. */
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(ask_password_end) pid_t agent = 0;
	bool ask = q->changes && !host && ask_password_begin(&agent);
	int r;

	r = host ? sd_bus_open_system_remote(&bus, host) : sd_bus_open_system(&bus);
	if (r < 0)
		return r;
	r = sd_bus_message_new_method_call(
		bus, &m, BUS_NAME, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, q->method);
	if (r < 0)
		return r;
	r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = sd_bus_message_set_allow_interactive_authorization(m, ask);
	if (r < 0)
		return r;
	if (q->append) {
		r = q->append(m, q);
		if (r < 0)
			return r;
	}
	/* The deadline is ours; sd-bus's would only begin when the bus lets us in. */
	r = sd_bus_call_async(bus, NULL, m, on_reply, w, UINT64_MAX);
	if (r < 0)
		return r;
	return turn(bus, w, ask ? MAX(timeout, PASSWORD_TIMEOUT) : timeout);
}

static struct bus_answer call_manager(const char *host, const struct request *q, usec_t timeout)
{
	struct waiting w = { 0 };
	char span[TIMESPAN_MAX];
	int r = call(host, q, timeout, &w);

	if (w.done)
		return w.answer;

	w.answer.outcome = w.ready ? BUS_NO_ANSWER : BUS_NO_BUS;
	if (r == -ETIMEDOUT) {
		if (asprintf(&w.answer.message, "no answer within %s",
			    timespan_format(span, sizeof(span), timeout)) < 0)
			w.answer.message = NULL;
	} else
		w.answer.message = strdup(strerror(-r));
	return w.answer;
}

struct bus_answer bus_call_describe(const char *host, bool brief, usec_t timeout)
{
	const struct request q = { .method = brief ? "DescribeBrief" : "Describe" };
	usec_t begin = timepoint_now().mono;
	struct bus_answer a = call_manager(host, &q, timeout);

	if (!brief || a.outcome != BUS_REFUSED || !a.no_such_method)
		return a;
	bus_answer_done(&a);
	return bus_call_describe(
		host, false, usec_sub(timeout, usec_sub(timepoint_now().mono, begin)));
}

struct bus_answer bus_call_describe_counters(const char *host, usec_t timeout)
{
	const struct request q = { .method = "DescribeCounters" };

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_explain(const char *host, const char *object, usec_t timeout)
{
	const struct request q = {
		.method = "Explain",
		.append = append_object,
		.objects = &object,
		.n_objects = 1,
	};

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_release(
	const char *host, const char *const *objects, size_t n, usec_t duration, usec_t timeout)
{
	const struct request q = {
		.method = "Release",
		.changes = true,
		.append = append_release,
		.objects = objects,
		.n_objects = n,
		.duration = duration,
	};

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_describe_baseline(const char *host, usec_t timeout)
{
	const struct request q = { .method = "DescribeBaseline" };

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_baseline(
	const char *host, const char *method, const char *const *objects, size_t n, usec_t timeout)
{
	const struct request q = {
		.method = method,
		.changes = true,
		.append = append_objects_flags,
		.objects = objects,
		.n_objects = n,
	};

	return call_manager(host, &q, timeout);
}

/* The objects are the object, the reason and the comment. */
static int append_ack(sd_bus_message *m, const struct request *q)
{
	return sd_bus_message_append(
		m, "ssst", q->objects[0], q->objects[1], q->objects[2], q->flags);
}

struct bus_answer bus_call_ack(const char *host, const char *object, const char *reason,
	const char *comment, bool undo, usec_t timeout)
{
	const char *const words[] = { object, reason, comment };
	const struct request q = {
		.method = "Ack",
		.changes = true,
		.append = append_ack,
		.objects = words,
		.n_objects = ARRAY_SIZE(words),
		.flags = undo,
	};

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_apply(
	const char *host, const char *const *objects, size_t n, bool disruptive, usec_t timeout)
{
	const struct request q = {
		.method = n > 0 ? "ApplyObjects" : "Apply",
		.changes = true,
		.append = n > 0 ? append_objects_flags : append_flags,
		.objects = objects,
		.n_objects = n,
		.flags = disruptive,
	};

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_reload(const char *host, usec_t timeout)
{
	const struct request q = { .method = "Reload", .changes = true, .append = append_flags };

	return call_manager(host, &q, timeout);
}

struct bus_answer bus_call_restart(const char *host, bool in_place, usec_t timeout)
{
	const struct request q = {
		.method = "Restart",
		.changes = true,
		.append = append_flags,
		.flags = in_place,
	};

	return call_manager(host, &q, timeout);
}
