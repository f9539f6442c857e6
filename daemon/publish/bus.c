/* SPDX-License-Identifier: MIT */
/*
 * The life of the connection. rdmad is up before D-Bus is, and must outlive it: sd-bus waits for
 * the socket (inotify on its directories), says Hello and asks for the name, all asynchronously;
 * when the connection ends, a new one is made. Having no bus is normal and not worth a log line.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <time.h>

#include "bus-internal.h"
#include "log.h"

#define SYSTEM_BUS_ADDRESS "unix:path=/run/dbus/system_bus_socket"

/*
 * Delays double from the first to the last. The last is short, so that the bus finds us within two
 * seconds whenever it comes back; failing attempts are rare, as waiting for the socket is not one.
 */
#define RECONNECT_FIRST (50 * USEC_PER_MSEC)
#define RECONNECT_LAST  (1 * USEC_PER_SEC)
#define NAME_FIRST      (1 * USEC_PER_SEC)
#define NAME_LAST       (1 * USEC_PER_MINUTE)
/* A connection that held for so long was a good one. */
#define HOLD_USEC (5 * USEC_PER_SEC)

/*
 * Messages that wait to be written, when there are many calls at once. At first calls are refused
 * with a short error and changes are kept for later, then calls are not answered at all.
 */
#define QUEUE_PRESSURE     64
#define QUEUE_MAX          1024
#define PRESSURE_POLL_USEC (100 * USEC_PER_MSEC)
/* Answers about everything are long: of those fewer may wait, by what they take for each object. */
#define LARGE_MAX        (8 * 1024 * 1024)
#define LARGE_PER_OBJECT (2 * 1024)
/*
 * A client that never reads makes the bus stop reading *us*, once its unread messages come to the
 * limit of what the bus holds of one sender: dbus-daemon does not tell, and everybody else waits.
 * But then it does not answer either. With a new connection that account is empty, and the bus
 * refuses what goes to such a client. Only what is sent can get stuck, so only then it is looked at.
 */
#define PROBE_EVERY_USEC   (5 * USEC_PER_SEC)
#define PROBE_TIMEOUT_USEC (5 * USEC_PER_SEC)
#define PROBES_MAX         2

/* What a refusal takes, about: to measure it would take as long. */
#define REFUSAL_USEC 100

static int bus_open(struct bus *b);

int bus_set_timer(
	struct bus *b, sd_event_source **source, usec_t delay, sd_event_time_handler_t handler)
{
	int r;

	if (!*source)
		return sd_event_add_time_relative(
			b->event, source, CLOCK_MONOTONIC, delay, 0, handler, b);
	r = sd_event_source_set_time_relative(*source, delay);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(*source, SD_EVENT_ONESHOT);
}

/* Frees the connection and all that belongs to it. Not to be called from one of its callbacks. */
static void close_connection(struct bus *b)
{
	b->connected = false;
	b->dropping = false;
	b->probing = false;
	b->probed_at = 0;
	b->unanswered = 0;
	b->sync_pending = false;
	b->name_failures = 0;
	b->large = 0;
	b->name_timer = sd_event_source_disable_unref(b->name_timer);
	b->pressure_timer = sd_event_source_disable_unref(b->pressure_timer);
	bus_authorize_clear(b);
	bus_apply_clear(b);
	bus_told_clear(b);
	b->conn = sd_bus_close_unref(b->conn);
}

static int on_reconnect(sd_event_source *s, uint64_t usec, void *user)
{
	struct bus *b = user;
	int r;

	close_connection(b);
	r = bus_open(b);
	if (r < 0) {
		log_debug("Cannot connect to the bus: %s", strerror(-r));
		bus_drop(b, usec_backoff(RECONNECT_FIRST, RECONNECT_LAST, b->failures++));
	}
	return 0;
}

void bus_drop(struct bus *b, usec_t delay)
{
	int r;

	b->connected = false;
	b->dropping = true;
	r = bus_set_timer(b, &b->reconnect_timer, delay, on_reconnect);
	if (r < 0)
		log_error("Cannot set a timer, not on the bus any more: %s", strerror(-r));
}

static uint64_t queued(struct bus *b)
{
	uint64_t n = 0;

	(void)sd_bus_get_n_queued_write(b->conn, &n);
	return n;
}

static int on_pressure(sd_event_source *s, uint64_t usec, void *user)
{
	struct bus *b = user;

	if (!b->connected)
		return 0;
	if (bus_under_pressure(b))
		return 0;
	if (b->sync_pending)
		bus_sync(b, USEC_INFINITY); /* until there is pressure again */
	return 0;
}

bool bus_under_pressure(struct bus *b)
{
	int r;

	if (queued(b) <= QUEUE_PRESSURE)
		return false;
	r = bus_set_timer(b, &b->pressure_timer, PRESSURE_POLL_USEC, on_pressure);
	if (r < 0)
		log_debug("Cannot set a timer: %s", strerror(-r));
	return true;
}

/* Whether there is something from the bus that was not looked at yet. */
static bool is_behind(struct bus *b)
{
	uint64_t n = 0;
	int unread = 0, fd = sd_bus_get_fd(b->conn);

	(void)sd_bus_get_n_queued_read(b->conn, &n);
	return n > 0 || (fd >= 0 && ioctl(fd, FIONREAD, &unread) == 0 && unread > 0);
}

/* Whether there is something from us that the bus has not taken yet. */
static bool is_untaken(struct bus *b)
{
	int untaken = 0, fd = sd_bus_get_fd(b->conn);

	return queued(b) > 0 || (fd >= 0 && ioctl(fd, SIOCOUTQ, &untaken) == 0 && untaken > 0);
}

/*
 * The answer to GetId, which does not matter; that there is none does, unless it may wait behind the
 * calls of others. A busy bus is behind with us at times: that is no proof until it is so again.
 */
static int on_probe(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus *b = user;

	b->probing = false;
	if (b->dropping || sd_bus_is_open(b->conn) <= 0)
		return 0;
	if (!sd_bus_message_is_method_error(m, SD_BUS_ERROR_NO_REPLY) || is_behind(b) ||
		!is_untaken(b)) {
		b->unanswered = 0;
		return 0;
	}
	if (++b->unanswered < PROBES_MAX) {
		b->probed_at = 0;
		bus_probe(b);
		return 0;
	}
	log_warning("The bus does not take our messages any more, connecting anew");
	b->take_over = true;
	bus_drop(b, usec_backoff(RECONNECT_FIRST, RECONNECT_LAST, b->failures++));
	return 0;
}

void bus_probe(struct bus *b)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	usec_t now = timepoint_now().mono;
	int r;

	if (!b->connected || b->probing || usec_sub(now, b->probed_at) < PROBE_EVERY_USEC)
		return;
	r = sd_bus_message_new_method_call(b->conn, &m, "org.freedesktop.DBus",
		"/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId");
	if (r >= 0)
		r = sd_bus_call_async(b->conn, NULL, m, on_probe, b, PROBE_TIMEOUT_USEC);
	if (r < 0) {
		log_debug("Cannot ask the bus for a sign of life: %s", strerror(-r));
		return;
	}
	b->probing = true;
	b->probed_at = now;
}

static bool asks_for_everything(sd_bus_message *m)
{
	const char *member = sd_bus_message_get_member(m);

	return member &&
	       (streq(member, "GetManagedObjects") || strncmp(member, "Describe", 8) == 0);
}

/* True when the long answers that wait leave no room for one more; counts it if there is room. */
static bool too_much_to_tell(struct bus *b)
{
	size_t size = LARGE_PER_OBJECT;

	if (queued(b) == 0)
		b->large = 0;
	for (const struct told *t = b->told; t; t = t->next)
		size += LARGE_PER_OBJECT;
	if (b->large > 0 && b->large + size > LARGE_MAX)
		return true;
	b->large += size;
	return false;
}

static int refuse_for_now(struct bus *b, sd_bus_message *m, const char *why)
{
	if (queued(b) <= QUEUE_MAX)
		(void)sd_bus_reply_method_errorf(m, BUS_ERROR_LIMITS_EXCEEDED, "%s", why);
	return 1;
}

/* What this process has worked, whatever else runs on the machine. */
static usec_t worked(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
		return 0;
	return (usec_t)t.tv_sec * USEC_PER_SEC + (usec_t)t.tv_nsec / 1000;
}

/* Next after the message was dealt with: nothing of this priority comes between. */
static int on_answered(sd_event_source *s, uint64_t usec, void *user)
{
	struct bus *b = user;

	budget_spend(&b->budget, b->answering, b->answering_large,
		usec_sub(worked(), b->answering_since), timepoint_now().mono);
	return 0;
}

static void count_work(struct bus *b, const char *sender, bool large)
{
	int r;

	STRSCPY(b->answering, sender);
	b->answering_large = large;
	b->answering_since = worked();
	r = bus_set_timer(b, &b->answered, 0, on_answered);
	if (r >= 0)
		r = sd_event_source_set_priority(b->answered, SD_EVENT_PRIORITY_IMPORTANT - 1);
	if (r < 0)
		log_debug("Cannot count what a call takes: %s", strerror(-r));
}

/* A method call: 1 when it needs nothing more, 0 when it is to be answered. */
static int on_call(struct bus *b, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);
	bool large = asks_for_everything(m);
	usec_t now = timepoint_now().mono;
	int r;

	if (large && !sd_bus_message_get_expect_reply(m))
		return 1; /* nobody would read it */
	if (!sender)
		sender = "";
	if (!budget_allows(&b->budget, sender, large, now)) {
		budget_spend(&b->budget, sender, false, REFUSAL_USEC, now);
		return refuse_for_now(b, m, "Too many calls, try again in a moment");
	}
	if (bus_under_pressure(b) || (large && too_much_to_tell(b)))
		return refuse_for_now(b, m, "Too many answers are waiting to be read");
	count_work(b, sender, large);
	r = bus_list_filter(b, m);
	return r != 0 ? r : bus_logcontrol_filter(b, m);
}

static int on_message(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus *b = user;

	if (b->dropping)
		return 1; /* the connection is as good as gone: swallow */
	if (!sd_bus_message_is_method_call(m, NULL, NULL))
		return 0;
	bus_probe(b);
	return on_call(b, m);
}

static int request_name(struct bus *b);

static int on_name_timer(sd_event_source *s, uint64_t usec, void *user)
{
	struct bus *b = user;

	if (b->connected)
		(void)request_name(b);
	return 0;
}

/* The answer to RequestName. */
static int on_name(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus *b = user;
	const sd_bus_error *e = sd_bus_message_get_error(m);
	uint32_t answer = 0;

	if (b->dropping || !b->connected)
		return 0;
	if (!e) {
		if (sd_bus_message_read(m, "u", &answer) >= 0 && answer == 2)
			log_warning(
				"Another process owns the bus name " BUS_NAME ", waiting for it");
		else
			log_debug("On the bus as " BUS_NAME);
		b->take_over = false;
		return 0;
	}
	/* Most likely the bus has not read our policy yet: it was installed a moment ago. */
	if (b->name_failures == 0)
		log_warning("The bus does not give us the name " BUS_NAME ", trying on: %s",
			e->message);
	(void)bus_set_timer(b, &b->name_timer,
		usec_backoff(NAME_FIRST, NAME_LAST, b->name_failures++), on_name_timer);
	return 0;
}

/*
 * The name may be taken over, but only we ourselves do: a bus that has stopped reading a connection
 * does not notice either that we closed it, and would leave the name with it. A second rdmad waits
 * for the first to go.
 */
static int request_name(struct bus *b)
{
	uint64_t flags = SD_BUS_NAME_QUEUE | SD_BUS_NAME_ALLOW_REPLACEMENT;
	int r;

	if (b->take_over)
		flags |= SD_BUS_NAME_REPLACE_EXISTING;
	r = sd_bus_request_name_async(b->conn, NULL, BUS_NAME, flags, on_name, b);
	if (r < 0)
		log_debug("Cannot ask for the bus name: %s", strerror(-r));
	return r;
}

static int on_connected(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus *b = user;

	if (b->dropping)
		return 0;
	b->connected = true;
	b->connected_at = timepoint_now().mono;
	/* Nobody knows us on this bus yet. Whoever asks from now on gets what is, and its changes.
	 */
	bus_told_reset(b);
	if (request_name(b) < 0)
		bus_drop(b, usec_backoff(RECONNECT_FIRST, RECONNECT_LAST, b->failures++));
	return 0;
}

/* The bus went away, or never answered: sd-bus tells once per connection. */
static int on_disconnected(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct bus *b = user;

	if (b->dropping)
		return 0;
	log_debug("Disconnected from the bus");
	if (b->connected && usec_sub(timepoint_now().mono, b->connected_at) > HOLD_USEC)
		b->failures = 0;
	bus_drop(b, usec_backoff(RECONNECT_FIRST, RECONNECT_LAST, b->failures++));
	return 0;
}

static int watch_local(struct bus *b, sd_bus *conn, const char *signal, sd_bus_message_handler_t f)
{
	return sd_bus_match_signal_async(conn, NULL, "org.freedesktop.DBus.Local", NULL,
		"org.freedesktop.DBus.Local", signal, f, NULL, b);
}

static int add_objects(struct bus *b)
{
	int r;

	r = sd_bus_add_object_manager(b->conn, NULL, BUS_ROOT_PATH);
	if (r < 0)
		return r;
	r = bus_manager_add(b);
	if (r < 0)
		return r;
	r = bus_device_add(b);
	if (r < 0)
		return r;
	r = bus_port_add(b);
	if (r < 0)
		return r;
	return bus_logcontrol_add(b);
}

static int configure_connection(struct bus *b)
{
	const char *address = secure_getenv("DBUS_SYSTEM_BUS_ADDRESS");
	int r;

	r = sd_bus_set_address(b->conn, address ? address : SYSTEM_BUS_ADDRESS);
	if (r < 0)
		return r;
	r = sd_bus_set_bus_client(b->conn, true);
	if (r < 0)
		return r;
	(void)sd_bus_set_description(b->conn, "rdmad");
	/* Wait for the socket instead of failing when it is not there. */
	r = sd_bus_set_watch_bind(b->conn, true);
	if (r < 0)
		return r;
	r = sd_bus_set_connected_signal(b->conn, true);
	if (r < 0)
		return r;
	return sd_bus_set_exit_on_disconnect(b->conn, false);
}

/* Begins to connect. On failure the caller tries again. */
static int bus_open(struct bus *b)
{
	int r;

	r = sd_bus_new(&b->conn);
	if (r < 0)
		return r;
	r = configure_connection(b);
	if (r < 0)
		return r;
	r = sd_bus_add_filter(b->conn, NULL, on_message, b);
	if (r < 0)
		return r;
	r = watch_local(b, b->conn, "Connected", on_connected);
	if (r < 0)
		return r;
	r = watch_local(b, b->conn, "Disconnected", on_disconnected);
	if (r < 0)
		return r;
	r = add_objects(b);
	if (r < 0)
		return r;
	r = sd_bus_start(b->conn);
	if (r < 0)
		return r;
	return sd_bus_attach_event(b->conn, b->event, SD_EVENT_PRIORITY_NORMAL);
}

int bus_new(sd_event *event, const struct bus_callbacks *cb, void *user, struct bus **ret)
{
	struct bus *b;
	int r;

	r = bus_errors_register();
	if (r < 0)
		return r;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->event = sd_event_ref(event);
	b->callbacks = cb;
	b->user = user;

	r = bus_open(b);
	if (r < 0) {
		log_debug("Cannot connect to the bus: %s", strerror(-r));
		bus_drop(b, usec_backoff(RECONNECT_FIRST, RECONNECT_LAST, b->failures++));
	}
	*ret = b;
	return 0;
}

struct bus *bus_free(struct bus *b)
{
	if (!b)
		return NULL;
	close_connection(b);
	sd_event_source_disable_unref(b->reconnect_timer);
	sd_event_source_disable_unref(b->answered);
	sd_event_unref(b->event);
	free(b);
	return NULL;
}
