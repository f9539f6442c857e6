/* SPDX-License-Identifier: MIT */
/*
 * Who may change something: root, and our own user (as which ExecReload= runs). The bus is asked
 * who the caller is; sd-bus's own way of asking waits for the answer, so this is done by hand. A
 * unique name never comes back with another owner, hence the answer cannot be about somebody else.
 */
#include <errno.h>

#include "bus-internal.h"
#include "log.h"

#define PENDING_MAX        64
#define PENDING_SENDER_MAX 8
#define ANSWER_USEC        (10 * USEC_PER_SEC)

struct authorization {
	struct authorization *next;
	struct bus *bus;
	sd_bus_message *call; /* kept until it is answered */
	sd_bus_slot *slot;
	bus_action_t action;
};

static struct authorization *authorization_free(struct authorization *a)
{
	sd_bus_slot_unref(a->slot);
	sd_bus_message_unref(a->call);
	free(a);
	return NULL;
}
DEFINE_CLEANUP(struct authorization *, authorization_free)

static void unlink_authorization(struct authorization *a)
{
	for (struct authorization **at = &a->bus->pending; *at; at = &(*at)->next)
		if (*at == a) {
			*at = a->next;
			return;
		}
}

static int deny(sd_bus_message *call)
{
	return sd_bus_reply_method_errorf(call, BUS_ERROR_ACCESS_DENIED,
		"Only root and the user that rdmad runs as may do that");
}

/* The answer to GetConnectionUnixUser. */
static int on_user(sd_bus_message *reply, void *user, sd_bus_error *error)
{
	_cleanup_(authorization_freep) struct authorization *a = user;
	uint32_t uid;
	int r;

	unlink_authorization(a);
	/* An error here is most often a caller that has left: nobody then reads the refusal. */
	if (sd_bus_message_is_method_error(reply, NULL) ||
		sd_bus_message_read(reply, "u", &uid) < 0 || (uid != 0 && uid != getuid()))
		r = deny(a->call);
	else
		r = a->action(a->bus, a->call, uid);
	if (r < 0)
		log_debug("Cannot answer a call: %s", strerror(-r));
	return 1;
}

/* True when one more call may wait for its authorization. */
static bool have_room(const struct bus *b, const char *sender)
{
	unsigned n = 0, same = 0;

	for (const struct authorization *a = b->pending; a; a = a->next) {
		n++;
		if (streq_ptr(sd_bus_message_get_sender(a->call), sender))
			same++;
	}
	return n < PENDING_MAX && same < PENDING_SENDER_MAX;
}

int bus_authorize(struct bus *b, sd_bus_message *call, bus_action_t action)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;
	_cleanup_(authorization_freep) struct authorization *a = NULL;
	const char *sender = sd_bus_message_get_sender(call);
	int r;

	if (!sender)
		return deny(call);
	if (!have_room(b, sender))
		return sd_bus_reply_method_errorf(call, BUS_ERROR_LIMITS_EXCEEDED,
			"Too many calls are waiting to be authorized");

	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->bus = b;
	a->call = sd_bus_message_ref(call);
	a->action = action;
	r = sd_bus_message_new_method_call(b->conn, &question, "org.freedesktop.DBus",
		"/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixUser");
	if (r < 0)
		return r;
	r = sd_bus_message_append(question, "s", sender);
	if (r < 0)
		return r;
	r = sd_bus_call_async(b->conn, &a->slot, question, on_user, a, ANSWER_USEC);
	if (r < 0)
		return r;
	a->next = b->pending;
	b->pending = a;
	a = NULL; /* the list's now */
	return 1;
}

void bus_authorize_clear(struct bus *b)
{
	while (b->pending) {
		struct authorization *a = b->pending;

		b->pending = a->next;
		authorization_free(a);
	}
}
