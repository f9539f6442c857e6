/* SPDX-License-Identifier: MIT */
/*
 * One structured journal record per edge (DESIGN section 9), in the journal's native protocol
 * (systemd.io/JOURNAL_NATIVE_PROTOCOL). sd_journal_sendv() speaks it too, but it waits while
 * journald does not read, and nothing may stop the daemon: here a record that cannot be sent at
 * once is kept, up to a bound, and sent later, in order.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "log.h"
#include "message-ids.h"
#include "publish.h"
#include "rules.h"
#include "text.h"

#define RECORD_MAX  8192
#define FIELDS_MAX  32
#define VALUE_MAX   2048
#define WAITING_MAX 256
#define RETRY_USEC  (250 * USEC_PER_MSEC)
/* Nobody listens: journald was stopped, and may stay so. */
#define AWAY_USEC (5 * USEC_PER_SEC)

struct record {
	struct record *next;
	size_t size;
	char data[];
};

static struct {
	journal_listener_t listener;
	void *listener_user;
	int fd;
	struct sockaddr_un address;
	struct record *first, **end;
	unsigned n_waiting;
	uint64_t n_lost;
	bool away; /* its socket is there, and nobody listens */
	sd_event *event;
	sd_event_source *retry;
} journal = {
	.fd = -1,
	.address = { .sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket" },
	.end = &journal.first,
};

/* ---- making a record ---- */

struct writer {
	char data[RECORD_MAX];
	size_t size;
	struct journal_field fields[FIELDS_MAX]; /* into data */
	size_t n_fields;
};

/*
 * Adds one field; a value that is NULL or empty is left out, and so is what does not fit any more.
 * A value with a line end in it goes with its length, as the protocol wants.
 */
static void add(struct writer *w, const char *key, const char *value)
{
	size_t key_len = strlen(key), len;
	uint64_t le;

	if (!value || !value[0])
		return;
	len = MIN(strlen(value), (size_t)VALUE_MAX);
	if (w->size + key_len + len + 2 + sizeof(le) > sizeof(w->data) || w->n_fields == FIELDS_MAX)
		return;
	memcpy(w->data + w->size, key, key_len);
	w->size += key_len;
	if (memchr(value, '\n', len)) {
		le = htole64(len);
		w->data[w->size++] = '\n';
		memcpy(w->data + w->size, &le, sizeof(le));
		w->size += sizeof(le);
	} else {
		w->data[w->size++] = '=';
	}
	memcpy(w->data + w->size, value, len);
	w->fields[w->n_fields++] = (struct journal_field){ key, w->data + w->size, len };
	w->size += len;
	w->data[w->size++] = '\n';
}

static void _printf_(3, 4) addf(struct writer *w, const char *key, const char *fmt, ...)
{
	char value[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	add(w, key, value);
}

static const char *reason_message_id(enum reason_id id)
{
	switch (id) {
	case REASON_PORT_DOWN:
		return RDMAD_MESSAGE_PORT_DOWN;
	case REASON_NO_SUBNET_MANAGER:
		return RDMAD_MESSAGE_NO_SUBNET_MANAGER;
	case REASON_LINK_BLIP:
		return RDMAD_MESSAGE_LINK_BLIP;
	case REASON_LINK_FLAPPING:
		return RDMAD_MESSAGE_LINK_FLAPPING;
	case REASON_DEVICE_MISSING:
		return RDMAD_MESSAGE_DEVICE_MISSING;
	case REASON_DEVICE_FATAL:
		return RDMAD_MESSAGE_DEVICE_FATAL;
	case REASON_DEVICE_UNRESPONSIVE:
		return RDMAD_MESSAGE_DEVICE_UNRESPONSIVE;
	case REASON_NETDEV_MISSING:
		return RDMAD_MESSAGE_NETDEV_MISSING;
	case REASON_SETUP_FAILED:
		return RDMAD_MESSAGE_SETUP_FAILED;
	case REASON_SETUP_BLOCKED:
		return RDMAD_MESSAGE_SETUP_BLOCKED;
	case REASON_SETUP_DRIFTED:
		return RDMAD_MESSAGE_SETUP_DRIFTED;
	case REASON_ASYNC_EVENTS_UNAVAILABLE:
		return RDMAD_MESSAGE_ASYNC_EVENTS_UNAVAILABLE;
	case REASON_CONFIG_INVALID:
		return RDMAD_MESSAGE_CONFIG_INVALID;
	case REASON_PORT_UNREADABLE:
		return RDMAD_MESSAGE_PORT_UNREADABLE;
	case REASON_COUNTERS_UNAVAILABLE:
		return RDMAD_MESSAGE_COUNTERS_UNAVAILABLE;
	case REASON_COUNT_MISSING:
		return RDMAD_MESSAGE_COUNT_MISSING;
	case REASON_PORT_INCONSISTENT:
		return RDMAD_MESSAGE_PORT_INCONSISTENT;
	case REASON_WIDTH_DEGRADED:
		return RDMAD_MESSAGE_WIDTH_DEGRADED;
	case REASON_SPEED_DEGRADED:
		return RDMAD_MESSAGE_SPEED_DEGRADED;
	case REASON_RATE_DIFFERS:
		return RDMAD_MESSAGE_RATE_DIFFERS;
	case REASON_UNEXPECTED_LINK_LAYER:
		return RDMAD_MESSAGE_UNEXPECTED_LINK_LAYER;
	case REASON_LAG_DEGRADED:
		return RDMAD_MESSAGE_LAG_DEGRADED;
	case REASON_LINK_ERRORS:
		return RDMAD_MESSAGE_LINK_ERRORS;
	case REASON_COUNTER_SATURATED:
		return RDMAD_MESSAGE_COUNTER_SATURATED;
	case REASON_PCIE_DEGRADED:
		return RDMAD_MESSAGE_PCIE_DEGRADED;
	case REASON_DEVICE_NODES_MISSING:
		return RDMAD_MESSAGE_DEVICE_NODES_MISSING;
	case REASON_GID_MISSING:
		return RDMAD_MESSAGE_GID_MISSING;
	case REASON_DEVICE_NOT_PROBED:
		return RDMAD_MESSAGE_DEVICE_NOT_PROBED;
	case REASON_DEVLINK_REPORTER_ERROR:
		return RDMAD_MESSAGE_DEVLINK_REPORTER_ERROR;
	case _REASON_MAX:
		break;
	}
	return NULL;
}

const char *journal_message_id(enum edge_kind kind, enum reason_id id)
{
	return kind == EDGE_CLEARED ? RDMAD_MESSAGE_RECOVERED : reason_message_id(id);
}

static int severity_priority(enum severity severity)
{
	switch (severity) {
	case SEVERITY_FAILED:
		return LOG_ERR;
	case SEVERITY_DEGRADED:
	case SEVERITY_UNKNOWN:
		return LOG_WARNING;
	case SEVERITY_NOTICE:
	case _SEVERITY_MAX:
		break;
	}
	return LOG_NOTICE;
}

static int edge_priority(const struct edge *e)
{
	switch (e->kind) {
	case EDGE_RAISED:
	case EDGE_REMINDER:
	case EDGE_EXPLAINED:
		return severity_priority(e->reason->severity);
	case EDGE_CLEARED:
	case EDGE_EVENT:
		break;
	}
	return LOG_NOTICE;
}

static const char *edge_word(enum edge_kind kind)
{
	switch (kind) {
	case EDGE_RAISED:
		return "raised";
	case EDGE_CLEARED:
		return "cleared";
	case EDGE_EVENT:
		return "event";
	case EDGE_REMINDER:
		return "reminder";
	case EDGE_EXPLAINED:
		return "explained";
	}
	return NULL;
}

/* The catalog shows a field that is missing or empty by its name: those that it uses have a text. */
static void add_text(struct writer *w, const char *key, const char *value, const char *otherwise)
{
	add(w, key, value && value[0] ? value : otherwise);
}

/* What every record begins with. */
static void begin_record(
	struct writer *w, const char *message, const char *id, int priority, const char *object)
{
	w->size = w->n_fields = 0;
	add(w, "MESSAGE", message);
	add(w, "MESSAGE_ID", id);
	addf(w, "PRIORITY", "%d", priority);
	addf(w, "SYSLOG_FACILITY", "%d", LOG_DAEMON >> 3);
	add(w, "SYSLOG_IDENTIFIER", "rdmad");
	add(w, "RDMAD_OBJECT", object);
}

static void write_edge(struct writer *w, const struct edge *e)
{
	const struct rule *rule = rule_get(e->reason->id);
	const struct device *d = e->device ? e->device : e->port ? e->port->device : NULL;
	char guid[GUID_STRING_MAX];

	begin_record(w, e->message, journal_message_id(e->kind, e->reason->id), edge_priority(e),
		e->object);
	add(w, "RDMAD_REASON", rule->name);
	add(w, "RDMAD_EDGE", edge_word(e->kind));
	add(w, "RDMAD_SEVERITY", severity_to_string(e->reason->severity));
	add(w, "RDMAD_CLASS", reason_class_to_string(rule->class));
	add_text(w, "RDMAD_SUBJECT", e->reason->subject, e->object);
	add(w, "RDMAD_OLD_STATE", health_to_string(e->old_health));
	add(w, "RDMAD_NEW_STATE", health_to_string(e->new_health));
	add_text(w, "RDMAD_FOUND", e->reason->found, "-");
	add_text(w, "RDMAD_WANTED", e->reason->wanted, "-");
	add_text(w, "RDMAD_REMEDY", e->reason->remedy, "see journalctl -x");
	if (d) {
		add(w, "RDMA_DEVICE", d->facts.name);
		add(w, "RDMA_GUID", guid_format(guid, d->facts.node_guid));
	} else if (e->missing) {
		add(w, "RDMA_DEVICE", e->missing->name);
		add(w, "RDMA_GUID", guid_format(guid, e->missing->node_guid));
	}
	if (e->port)
		addf(w, "RDMA_PORT", "%u", e->port->number);
	add(w, "INTERFACE", e->netdev);
	if (e->error > 0)
		addf(w, "ERRNO", "%d", e->error);
}

static void write_inventory(struct writer *w, const struct inventory_record *i)
{
	char guid[GUID_STRING_MAX];

	begin_record(w, i->message, RDMAD_MESSAGE_INVENTORY, LOG_NOTICE, i->object);
	add(w, "RDMAD_REASON", "inventory");
	add(w, "RDMAD_FACT", i->fact);
	add_text(w, "RDMAD_BEFORE", i->before, "-");
	add_text(w, "RDMAD_FOUND", i->after, "-");
	add(w, "RDMA_DEVICE", i->device);
	add(w, "RDMA_GUID", guid_format(guid, i->node_guid));
	if (i->port)
		addf(w, "RDMA_PORT", "%u", i->port);
	add(w, "INTERFACE", i->netdev);
}

static void write_config(struct writer *w, const struct config_record *c)
{
	begin_record(w, c->message, RDMAD_MESSAGE_CONFIG, c->loaded ? LOG_NOTICE : LOG_ERR, "host");
	add(w, "RDMAD_REASON", "config");
	add_text(w, "RDMAD_FOUND", c->why, "loaded");
	addf(w, "RDMAD_CONFIG_GENERATION", "%llu", (unsigned long long)c->generation);
}

static void write_restart(struct writer *w, const struct restart_record *r)
{
	begin_record(w, r->message, RDMAD_MESSAGE_RESTART, LOG_NOTICE, "host");
	add(w, "RDMAD_REASON", "restart");
	add_text(w, "RDMAD_WHY", r->why, "killed");
	add(w, "RDMAD_OLD_VERSION", r->old_version);
	add(w, "RDMAD_NEW_VERSION", r->new_version);
	addf(w, "RDMAD_GAP_USEC", "%llu", (unsigned long long)r->gap);
	add_text(w, "RDMAD_UNCOUNTED", r->uncounted, "-");
}

static void write_admin(struct writer *w, const struct admin_record *a)
{
	begin_record(w, a->message, RDMAD_MESSAGE_ADMIN, LOG_NOTICE, a->object);
	add(w, "RDMAD_ACTION", a->action);
	add(w, "RDMAD_BY", a->by);
	add(w, "RDMAD_REASON", a->reason);
	add_text(w, "RDMAD_COMMENT", a->comment, "-");
}

static void write_storm(struct writer *w, const struct storm_record *s)
{
	begin_record(w, s->message, RDMAD_MESSAGE_LINK_STORM, LOG_NOTICE, "host");
	add(w, "RDMAD_REASON", "link-storm");
	addf(w, "RDMAD_PORTS", "%u", s->ports);
	addf(w, "RDMAD_FALLS", "%" PRIu64, s->falls);
	addf(w, "RDMAD_OVERRUNS", "%u", s->overruns);
}

/* ---- sending it ---- */

/*
 * Sends one datagram without waiting: 0, -EAGAIN when the journal is behind or away for now, or
 * another errno.
 */
static int send_now(const char *data, size_t size)
{
	struct iovec iov = { .iov_base = (char *)data, .iov_len = size };
	struct msghdr mh = {
		.msg_name = &journal.address,
		.msg_namelen = sizeof(journal.address),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	ssize_t n;

	if (journal.fd < 0) {
		journal.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (journal.fd < 0)
			return -errno;
	}
	do
		n = sendmsg(journal.fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	journal.away = n < 0 && errno == ECONNREFUSED;
	if (n >= 0)
		return 0;
	return errno == ENOBUFS || errno == ECONNREFUSED ? -EAGAIN : -errno;
}

static void drop_first(void)
{
	struct record *r = journal.first;

	journal.first = r->next;
	if (!journal.first)
		journal.end = &journal.first;
	journal.n_waiting--;
	free(r);
}

static int on_retry(sd_event_source *s, uint64_t usec, void *user)
{
	journal_flush();
	return 0;
}

/* Has journal_flush() called soon. Without an event loop it is called with the next record. */
static void arm_retry(void)
{
	usec_t delay = journal.away ? AWAY_USEC : RETRY_USEC;
	int r;

	if (!journal.event)
		return;
	if (!journal.retry) {
		r = sd_event_add_time_relative(
			journal.event, &journal.retry, CLOCK_MONOTONIC, delay, 0, on_retry, NULL);
	} else {
		r = sd_event_source_set_time_relative(journal.retry, delay);
		if (r >= 0)
			r = sd_event_source_set_enabled(journal.retry, SD_EVENT_ONESHOT);
	}
	if (r < 0)
		log_debug("Cannot set a timer for waiting journal records: %s", strerror(-r));
}

/* Keeps a record for later. The oldest goes when there are too many: the last ones say what is. */
static int keep(const char *data, size_t size)
{
	struct record *r = malloc(sizeof(*r) + size);

	if (!r) {
		journal.n_lost++;
		return -ENOMEM;
	}
	r->next = NULL;
	r->size = size;
	memcpy(r->data, data, size);
	*journal.end = r;
	journal.end = &r->next;
	journal.n_waiting++;
	if (journal.n_waiting > WAITING_MAX) {
		drop_first();
		journal.n_lost++;
	}
	arm_retry();
	return 0;
}

void journal_flush(void)
{
	while (journal.first) {
		int r = send_now(journal.first->data, journal.first->size);

		if (r == -EAGAIN) {
			arm_retry();
			return;
		}
		/* Any other error will not get better by waiting. */
		if (r < 0)
			journal.n_lost++;
		drop_first();
	}
	if (journal.n_lost > 0) {
		log_warning("%llu journal records were lost while the journal did not take them",
			(unsigned long long)journal.n_lost);
		journal.n_lost = 0;
	}
}

/* Sends the record, or keeps it; its message goes to stderr where there is no journal. */
static int submit(const struct writer *w, int priority, const char *message)
{
	char line[VALUE_MAX];
	int r = -EAGAIN;

	journal_flush();
	if (!journal.first)
		r = send_now(w->data, w->size);
	/* No journal on this host, or not now: the text at least. */
	if (journal.away || (r < 0 && r != -EAGAIN))
		log_write(priority, "%s", text_one_line(message, line, sizeof(line)));
	if (r == -EAGAIN)
		return keep(w->data, w->size);
	return r == -ENOENT ? 0 : r;
}

static void tell_listener(const struct writer *w)
{
	if (journal.listener)
		journal.listener(journal.listener_user, w->fields, w->n_fields);
}

int journal_edge(const struct edge *e)
{
	struct writer w;

	write_edge(&w, e);
	if (e->kind != EDGE_REMINDER)
		tell_listener(&w);
	return submit(&w, edge_priority(e), e->message);
}

int journal_inventory(const struct inventory_record *i)
{
	struct writer w;

	write_inventory(&w, i);
	tell_listener(&w);
	return submit(&w, LOG_NOTICE, i->message);
}

int journal_config(const struct config_record *c)
{
	struct writer w;

	write_config(&w, c);
	tell_listener(&w);
	return submit(&w, c->loaded ? LOG_NOTICE : LOG_ERR, c->message);
}

int journal_restart(const struct restart_record *r)
{
	struct writer w;

	write_restart(&w, r);
	return submit(&w, LOG_NOTICE, r->message);
}

int journal_admin(const struct admin_record *a)
{
	struct writer w;

	write_admin(&w, a);
	tell_listener(&w);
	return submit(&w, LOG_NOTICE, a->message);
}

int journal_storm(const struct storm_record *r)
{
	struct writer w;

	write_storm(&w, r);
	return submit(&w, LOG_NOTICE, r->message);
}

void journal_attach(sd_event *event)
{
	journal.event = sd_event_ref(event);
}

void journal_listen(journal_listener_t listener, void *user)
{
	journal.listener = listener;
	journal.listener_user = user;
}

void journal_set_socket(const char *path)
{
	STRSCPY(journal.address.sun_path, path);
}

void journal_done(void)
{
	journal_listen(NULL, NULL);
	journal_flush();
	while (journal.first)
		drop_first();
	journal.retry = sd_event_source_disable_unref(journal.retry);
	journal.event = sd_event_unref(journal.event);
	journal.fd = safe_close(journal.fd);
}
