/* SPDX-License-Identifier: MIT */
#include "bus-watch.h"

#include <errno.h>

#include "bus-names.h"
#include "macros.h"
#include "text.h"
#include "timespan.h"

#define SYSTEM_BUS_ADDRESS "unix:path=/run/dbus/system_bus_socket"

/* Only after a connection broke or could not be begun: for a socket that is not there inotify waits. */
#define RECONNECT_FIRST (50 * USEC_PER_MSEC)
#define RECONNECT_LAST  (1 * USEC_PER_SEC)

/* Between two descriptions, and before the next one when the daemon could not give one. */
#define DESCRIBE_PAUSE (100 * USEC_PER_MSEC)
#define DESCRIBE_RETRY (1 * USEC_PER_SEC)

#define DESCRIBE_TIMEOUT (25 * USEC_PER_SEC)

struct bus_watch {
	sd_event *event;
	const char *host;
	const struct bus_watch_ops *ops;
	void *user;

	sd_bus *bus;
	unsigned failures; /* attempts since a connection was good */
	sd_event_source *reconnect;

	bool told_away;
	bool asking; /* for a description */
	bool again;  /* once more when it is there */
	sd_event_source *pause;
};

static int open_bus(struct bus_watch *w);

static void tell_away(struct bus_watch *w, const char *why)
{
	if (w->told_away)
		return;
	w->told_away = true;
	if (w->ops->away)
		w->ops->away(w->user, why);
}

static void tell_there(struct bus_watch *w)
{
	w->told_away = false;
	w->failures = 0;
	if (w->ops->there)
		w->ops->there(w->user);
}

static int arm(struct bus_watch *w, sd_event_source **source, usec_t delay,
	sd_event_time_handler_t handler)
{
	int r;

	if (!*source)
		return sd_event_add_time_relative(
			w->event, source, CLOCK_MONOTONIC, delay, 0, handler, w);
	r = sd_event_source_set_time_relative(*source, delay);
	return r < 0 ? r : sd_event_source_set_enabled(*source, SD_EVENT_ONESHOT);
}

/* ---- the description ---- */

static int on_pause(sd_event_source *s, uint64_t usec, void *user)
{
	struct bus_watch *w = user;

	w->asking = false;
	if (w->again)
		bus_watch_describe(w);
	return 0;
}

/* No other is asked for within that time. */
static void pause_describing(struct bus_watch *w, usec_t delay)
{
	if (arm(w, &w->pause, delay, on_pause) < 0)
		w->asking = false;
}

static bool is_away(const sd_bus_error *e)
{
	return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

static int on_description(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus_watch *w = user;
	const sd_bus_error *e = sd_bus_message_get_error(m);
	json_t *root = NULL;
	const char *text;

	if (!e && sd_bus_message_read(m, "s", &text) > 0)
		root = json_loads(text, 0, NULL);
	if (json_is_object(root)) {
		pause_describing(w, DESCRIBE_PAUSE);
		w->ops->described(w->user, root);
	} else if (is_away(e)) {
		/* That it comes is told. */
		pause_describing(w, DESCRIBE_PAUSE);
		w->again = false;
	} else {
		/* It is there and could not answer: nothing else will make us ask. */
		w->again = true;
		pause_describing(w, DESCRIBE_RETRY);
	}
	json_decref(root);
	return 0;
}

static int ask(struct bus_watch *w)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r;

	r = sd_bus_message_new_method_call(
		w->bus, &m, BUS_NAME, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Describe");
	if (r < 0)
		return r;
	r = sd_bus_message_set_auto_start(m, false);
	if (r < 0)
		return r;
	return sd_bus_call_async(w->bus, NULL, m, on_description, w, DESCRIBE_TIMEOUT);
}

void bus_watch_describe(struct bus_watch *w)
{
	w->again = w->asking;
	if (w->asking || !w->bus)
		return;
	w->asking = ask(w) >= 0;
}

/* ---- the connection ---- */

static int on_reconnect(sd_event_source *s, uint64_t usec, void *user)
{
	struct bus_watch *w = user;
	usec_t delay;

	w->bus = sd_bus_close_unref(w->bus);
	w->asking = w->again = false;
	if (w->pause)
		(void)sd_event_source_set_enabled(w->pause, SD_EVENT_OFF);
	if (open_bus(w) >= 0)
		return 0;
	delay = MIN(RECONNECT_FIRST << MIN(w->failures, 8u), RECONNECT_LAST);
	w->failures++;
	return arm(w, &w->reconnect, delay, on_reconnect);
}

/* Not from here: a connection is not to be freed within one of its callbacks. */
static int on_disconnected(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus_watch *w = user;

	if (w->host) {
		if (w->ops->lost)
			w->ops->lost(w->user, "the connection has ended");
		return 0;
	}
	tell_away(w, "there is no system bus");
	w->failures++;
	return arm(w, &w->reconnect, MIN(RECONNECT_FIRST << MIN(w->failures, 8u), RECONNECT_LAST),
		on_reconnect);
}

static int on_owner_changed(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus_watch *w = user;
	const char *name, *before, *now;

	if (sd_bus_message_read(m, "sss", &name, &before, &now) < 0 || !streq(name, BUS_NAME))
		return 0;
	if (*now)
		tell_there(w);
	else
		tell_away(w, "rdmad is not on the bus");
	return 0;
}

static int on_owner(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus_watch *w = user;

	if (!sd_bus_message_is_method_error(m, NULL))
		tell_there(w);
	else if (is_away(sd_bus_message_get_error(m)))
		tell_away(w, "rdmad is not on the bus");
	return 0;
}

static int on_signal(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus_watch *w = user;

	if (w->ops->signalled)
		w->ops->signalled(w->user, m);
	return 0;
}

static int begin_connection(struct bus_watch *w)
{
	const char *address = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");
	int r;

	r = sd_bus_new(&w->bus);
	if (r < 0)
		return r;
	r = sd_bus_set_address(w->bus, or_text(address, SYSTEM_BUS_ADDRESS));
	if (r < 0)
		return r;
	r = sd_bus_set_bus_client(w->bus, true);
	if (r < 0)
		return r;
	r = sd_bus_set_watch_bind(w->bus, true);
	if (r < 0)
		return r;
	return sd_bus_start(w->bus);
}

/* What is asked for first is answered first: no change can fall between the signals and the question. */
static int begin_following(struct bus_watch *w)
{
	int r;

	r = sd_bus_match_signal_async(w->bus, NULL, "org.freedesktop.DBus.Local", NULL,
		"org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, w);
	if (r < 0)
		return r;
	r = sd_bus_add_match_async(w->bus, NULL,
		"type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
		"arg0='" BUS_NAME "'",
		on_owner_changed, NULL, w);
	if (r < 0)
		return r;
	r = sd_bus_add_match_async(
		w->bus, NULL, "type='signal',sender='" BUS_NAME "'", on_signal, NULL, w);
	if (r < 0)
		return r;
	return sd_bus_call_method_async(w->bus, NULL, "org.freedesktop.DBus",
		"/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", on_owner, w, "s",
		BUS_NAME);
}

static int open_bus(struct bus_watch *w)
{
	int r;

	r = w->host ? sd_bus_open_system_remote(&w->bus, w->host) : begin_connection(w);
	if (r < 0)
		return r;
	r = begin_following(w);
	if (r < 0)
		return r;
	return sd_bus_attach_event(w->bus, w->event, SD_EVENT_PRIORITY_NORMAL);
}

int bus_watch_new(sd_event *event, const char *host, const struct bus_watch_ops *ops, void *user,
	struct bus_watch **ret)
{
	struct bus_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	*w = (struct bus_watch){
		.event = sd_event_ref(event),
		.host = host,
		.ops = ops,
		.user = user,
	};
	r = open_bus(w);
	if (r < 0 && !host) {
		tell_away(w, "there is no system bus");
		r = arm(w, &w->reconnect, RECONNECT_FIRST, on_reconnect);
	}
	if (r < 0) {
		bus_watch_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

struct bus_watch *bus_watch_free(struct bus_watch *w)
{
	if (!w)
		return NULL;
	sd_event_source_disable_unref(w->reconnect);
	sd_event_source_disable_unref(w->pause);
	sd_bus_close_unref(w->bus);
	sd_event_unref(w->event);
	free(w);
	return NULL;
}
