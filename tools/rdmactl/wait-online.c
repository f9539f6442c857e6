/* SPDX-License-Identifier: MIT */
/*
 * rdmactl wait-online: until the ports that have to be up are. It is told by the daemon's signals and
 * asks for nothing in between; a daemon that is not there yet, or is started anew, is waited for.
 */
#include <errno.h>

#include "bus-watch.h"
#include "macros.h"
#include "online.h"
#include "output.h"
#include "source.h"
#include "text.h"

#define LAGGARDS_NAMED 32
#define WAITING_NAMED  4

struct waiter {
	const struct options *o;
	sd_event *event;
	struct bus_watch *watch;
	struct online online; /* by the last description */
	bool described;
	bool told;  /* that it waits */
	char *away; /* why the daemon cannot be asked; NULL it can */
	bool failed;
};

/* Somebody who looks on is told what this waits for, once. */
static bool tells(struct waiter *w)
{
	bool tell = !w->told && isatty(STDERR_FILENO);

	w->told = true;
	return tell;
}

static void tell_laggards(struct waiter *w)
{
	const struct online *v = &w->online;
	char names[WAITING_NAMED * (OBJECT_TEXT_MAX + 2)] = "";
	size_t n = 0;

	if (!tells(w))
		return;
	for (size_t i = 0; i < MIN(v->n_laggards, (size_t)WAITING_NAMED); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i > 0 ? ", " : "",
			v->laggards[i].object);
	if (v->n_laggards > WAITING_NAMED)
		output_error("Waiting for %s and %zu more", names, v->n_laggards - WAITING_NAMED);
	else
		output_error("Waiting for %s", names);
}

static void on_there(void *user)
{
	struct waiter *w = user;

	free(TAKE_PTR(w->away));
	bus_watch_describe(w->watch);
}

static void on_away(void *user, const char *why)
{
	struct waiter *w = user;

	free(w->away);
	w->away = strdup(why);
	if (tells(w))
		output_error("%s; waiting for it", why);
}

static void on_signalled(void *user, sd_bus_message *m)
{
	struct waiter *w = user;

	bus_watch_describe(w->watch);
}

static void on_described(void *user, const json_t *root)
{
	struct waiter *w = user;
	struct online now;

	if (online_judge(root, w->o, &now) < 0) {
		output_error("Out of memory");
		w->failed = true;
		sd_event_exit(w->event, EXIT_FAILED);
		return;
	}
	online_done(&w->online);
	w->online = now;
	w->described = true;
	if (online_enough(&now, w->o))
		sd_event_exit(w->event, EXIT_SUCCESS);
	else
		tell_laggards(w);
}

static void on_lost(void *user, const char *why)
{
	struct waiter *w = user;

	output_error("Cannot reach the bus of %s: %s", w->o->host, why);
	w->failed = true;
	sd_event_exit(w->event, EXIT_FAILED);
}

static int on_timeout(sd_event_source *s, uint64_t usec, void *user)
{
	struct waiter *w = user;

	return sd_event_exit(w->event, EXIT_FAILED);
}

static const struct bus_watch_ops ops = {
	.there = on_there,
	.away = on_away,
	.signalled = on_signalled,
	.described = on_described,
	.lost = on_lost,
};

/* "Not online after 2min:" and a line for each that lags behind. */
static void name_laggards(const struct waiter *w)
{
	const struct online *v = &w->online;
	size_t n = w->o->full ? v->n_laggards : MIN(v->n_laggards, (size_t)LAGGARDS_NAMED);
	char span[TIMESPAN_MAX];

	output_error("Not online after %s:%s%s", timespan_format(span, sizeof(span), w->o->timeout),
		w->away ? " " : "", or_text(w->away, w->described ? "" : " rdmad does not answer"));
	for (size_t i = 0; i < n; i++)
		output_error("  %s: %s", v->laggards[i].object, or_text(v->laggards[i].why, "?"));
	if (v->n_laggards > n)
		output_error("  and %zu more (--full)", v->n_laggards - n);
}

static void say_online(const struct waiter *w)
{
	const struct online *v = &w->online;

	if (v->n_online == 0)
		printf("Nothing to wait for: no port is required here.\n");
	else
		printf("Online: %zu port%s.\n", v->n_online, v->n_online == 1 ? "" : "s");
}

static void print_json(const struct waiter *w, bool online)
{
	const struct online *v = &w->online;
	/* Of another host that cannot be reached nothing is known. */
	bool known = !w->failed && (w->away || w->described);
	json_t *laggards = json_array(), *root;

	for (size_t i = 0; i < v->n_laggards; i++)
		json_array_append_new(
			laggards, json_pack("{s:s, s:s?}", "Object", v->laggards[i].object, "Why",
					  v->laggards[i].why));
	root = json_pack("{s:{s:o}, s:b, s:I, s:o}", "Daemon", "Running",
		known ? json_boolean(!w->away) : json_null(), "Online", online, "PortsOnline",
		(json_int_t)v->n_online, "Laggards", laggards);
	output_json(w->o, root);
	json_decref(root);
}

static int begin(struct waiter *w)
{
	int r;

	r = sd_event_default(&w->event);
	if (r < 0)
		return r;
	if (w->o->timeout != USEC_INFINITY) {
		r = sd_event_add_time_relative(
			w->event, NULL, CLOCK_BOOTTIME, w->o->timeout, 0, on_timeout, w);
		if (r < 0)
			return r;
	}
	if (!w->o->host)
		w->away = strdup("there is no system bus");
	return bus_watch_new(w->event, w->o->host, &ops, w, &w->watch);
}

static void waiter_done(struct waiter *w)
{
	w->watch = bus_watch_free(w->watch);
	w->event = sd_event_unref(w->event);
	online_done(&w->online);
	free(w->away);
}

int verb_wait_online(const struct options *o)
{
	_cleanup_(waiter_done) struct waiter w = { .o = o };
	int r;

	if (!o->host && !bus_wanted()) {
		output_error("This needs the bus, and RDMAD_BUS=no.");
		return EXIT_FAILED;
	}
	r = begin(&w);
	if (r >= 0)
		r = sd_event_loop(w.event);
	if (r < 0) {
		output_error("Cannot follow rdmad on the bus: %s", strerror(-r));
		return EXIT_FAILED;
	}
	if (o->format != OUTPUT_TEXT)
		print_json(&w, r == EXIT_SUCCESS);
	else if (r == EXIT_SUCCESS && o->legend)
		say_online(&w);
	if (r != EXIT_SUCCESS && !w.failed)
		name_laggards(&w);
	return output_close(r);
}
