/* SPDX-License-Identifier: MIT */
/*
 * rdmactl monitor: what happens, as it happens. The daemon signals each record that it writes into the
 * journal, so that this needs no right to read that, and works over ssh.
 */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>

#include "bus-names.h"
#include "bus-watch.h"
#include "event-kind.h"
#include "event-text.h"
#include "follow.h"
#include "macros.h"
#include "output.h"
#include "source.h"

#define RECORD_FIELDS_MAX 64

struct field {
	const char *key, *value; /* the message's */
};

struct record {
	struct field fields[RECORD_FIELDS_MAX];
	size_t n;
};

struct monitor {
	const struct options *o;
	unsigned kinds;
	sd_event *event;
	struct bus_watch *watch;
	size_t width; /* of the column of objects */
	bool away;
};

static char *get_field(void *user, const char *key)
{
	const struct record *r = user;

	for (size_t i = 0; i < r->n; i++)
		if (streq(r->fields[i].key, key))
			return strdup(r->fields[i].value);
	return NULL;
}

static int read_record(sd_bus_message *m, usec_t *ret_when, struct record *ret)
{
	int r;

	ret->n = 0;
	r = sd_bus_message_read(m, "t", ret_when);
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'a', "{ss}");
	while (r >= 0 && ret->n < RECORD_FIELDS_MAX) {
		struct field *f = &ret->fields[ret->n];

		r = sd_bus_message_read(m, "{ss}", &f->key, &f->value);
		if (r <= 0)
			break;
		ret->n++;
	}
	return r < 0 ? r : 0;
}

static void print_event(struct monitor *mon, const struct event *e)
{
	struct options line = *mon->o;
	json_t *v;

	if (line.format == OUTPUT_TEXT) {
		mon->width = event_text_width(mon->width, e);
		event_text_print(&line, e, mon->width);
		return;
	}
	line.format = OUTPUT_JSON_SHORT;
	v = event_json(e);
	output_json(&line, v);
	json_decref(v);
}

static void on_signalled(void *user, sd_bus_message *m)
{
	struct monitor *mon = user;
	struct record record;
	struct event e;
	usec_t when;

	if (!sd_bus_message_is_signal(m, BUS_MANAGER_INTERFACE, "Event") ||
		read_record(m, &when, &record) < 0)
		return;
	event_read(&e, when, get_field, &record);
	if (event_selected(mon->o, &e) && (mon->kinds & (1u << e.kind)))
		print_event(mon, &e);
	event_done(&e);
	if (!follow_flush())
		sd_event_exit(mon->event, EXIT_SUCCESS);
}

static void on_there(void *user)
{
	struct monitor *mon = user;

	if (mon->away)
		output_error("rdmad is on the bus. What happened before: rdmactl events");
	mon->away = false;
}

static void on_away(void *user, const char *why)
{
	struct monitor *mon = user;

	output_error("%s; waiting for it", why);
	mon->away = true;
}

static void on_lost(void *user, const char *why)
{
	struct monitor *mon = user;

	output_error("Cannot reach the bus of %s: %s", mon->o->host, why);
	sd_event_exit(mon->event, EXIT_FAILED);
}

static const struct bus_watch_ops ops = {
	.there = on_there,
	.away = on_away,
	.signalled = on_signalled,
	.lost = on_lost,
};

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *user)
{
	return sd_event_exit(sd_event_source_get_event(s), EXIT_SUCCESS);
}

/* Nobody reads any more. */
static int on_stdout(sd_event_source *s, int fd, uint32_t revents, void *user)
{
	return sd_event_exit(sd_event_source_get_event(s), EXIT_SUCCESS);
}

static int begin(struct monitor *mon)
{
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	r = sd_event_default(&mon->event);
	if (r >= 0)
		r = sd_event_add_signal(mon->event, NULL, SIGINT, on_signal, NULL);
	if (r >= 0)
		r = sd_event_add_signal(mon->event, NULL, SIGTERM, on_signal, NULL);
	if (r >= 0)
		r = sd_event_add_io(mon->event, NULL, STDOUT_FILENO, 0, on_stdout, NULL);
	/* Files always read. */
	if (r < 0 && r != -EPERM)
		return r;
	return bus_watch_new(mon->event, mon->o->host, &ops, mon, &mon->watch);
}

static void monitor_done(struct monitor *mon)
{
	mon->watch = bus_watch_free(mon->watch);
	mon->event = sd_event_unref(mon->event);
}

int verb_monitor(const struct options *o)
{
	struct options mine = *o;
	_cleanup_(monitor_done) struct monitor mon = { .o = &mine };
	int r;

	r = event_kinds_option(o, &mon.kinds);
	if (r != 0)
		return r;
	if (!o->host && !bus_wanted()) {
		output_error("This needs the bus, and RDMAD_BUS=no.");
		return EXIT_FAILED;
	}
	mine.pager = false;
	output_open(&mine);
	mon.width = sizeof("mlx5_0/1") - 1;
	if (o->format == OUTPUT_TEXT && o->legend) {
		event_text_head(mon.width);
		fflush(stdout);
	}
	r = begin(&mon);
	if (r >= 0)
		r = sd_event_loop(mon.event);
	if (r < 0) {
		output_error("Cannot follow rdmad on the bus: %s", strerror(-r));
		return EXIT_FAILED;
	}
	return r;
}
