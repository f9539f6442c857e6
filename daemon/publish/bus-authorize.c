/* SPDX-License-Identifier: MIT */
/*
 * Who may change something: root and our own user (as which ExecReload= runs), always; others when
 * polkit says so, where it is there. First the bus is asked who the caller is, then polkit whether
 * that one may. sd-bus's own ways of asking wait for the answer, so this is done by hand. A unique
 * name never comes back with another owner, hence no answer can be about somebody else.
 *
 * Whatever becomes of it, a call is answered within a time: nothing here waits, and what waits here
 * is bounded. Root's calls never wait for polkit, nor for those who do.
 */
#include <errno.h>
#include <inttypes.h>

#include "bus-internal.h"
#include "log.h"

#define POLKIT_NAME      "org.freedesktop.PolicyKit1"
#define POLKIT_PATH      "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"

/* polkit's own number for "the user may be asked for a password". */
#define ALLOW_INTERACTION UINT32_C(1)

/* Calls whose caller's user is being asked for: the bus answers at once. */
#define PENDING_MAX        64
#define PENDING_SENDER_MAX 8
#define USER_USEC          (10 * USEC_PER_SEC)
/* Calls that polkit has not decided on, when nobody needs to type anything, and when somebody does. */
#define POLKIT_MAX       32
#define POLKIT_USER_MAX  4
#define POLKIT_USEC      (10 * USEC_PER_SEC)
#define INTERACTIVE_USEC (2 * USEC_PER_MINUTE)

struct authorization {
	struct authorization *next;
	struct bus *bus;
	sd_bus_message *call; /* kept until it is answered */
	sd_bus_slot *question;
	sd_bus_slot *leaving; /* tells that the caller has left the bus */
	const struct bus_action *action;
	bool asks_polkit;
	uint32_t uid;    /* once asks_polkit */
	uint64_t ticket; /* likewise: by that polkit is told to forget it */
};

static struct authorization *authorization_free(struct authorization *a)
{
	sd_bus_slot_unref(a->leaving);
	sd_bus_slot_unref(a->question);
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

static int deny(const struct authorization *a, const char *error, const char *why)
{
	return sd_bus_reply_method_errorf(
		a->call, error, "Only root may do that%s%s", why[0] ? ": " : "", why);
}

/* The call was not answered, because of what is no fault of the caller's. */
static void fail(const struct authorization *a, int error)
{
	int r = sd_bus_reply_method_errorf(a->call, BUS_ERROR_FAILED, "%s", strerror(-error));

	if (r < 0)
		log_debug("Cannot answer a call: %s", strerror(-r));
}

/* ---- polkit ---- */

/* Takes the question back, so that no dialog stays on a screen and polkit does not work for nothing. */
static void cancel_polkit(const struct authorization *a)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	char ticket[32];
	int r;

	snprintf(ticket, sizeof(ticket), "rdmad-%" PRIu64, a->ticket);
	r = sd_bus_message_new_method_call(a->bus->conn, &m, POLKIT_NAME, POLKIT_PATH,
		POLKIT_INTERFACE, "CancelCheckAuthorization");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", ticket);
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = sd_bus_message_set_expect_reply(m, false);
	if (r >= 0)
		r = sd_bus_send(a->bus->conn, m, NULL);
	if (r < 0)
		log_debug("Cannot take a question to polkit back: %s", strerror(-r));
}

/* polkit did not decide: it is not there, hangs, or does not know our actions. */
static int deny_undecided(const struct authorization *a, const sd_bus_error *e)
{
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
		sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return deny(a, BUS_ERROR_ACCESS_DENIED, "there is no polkit to allow it to others");
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY)) {
		cancel_polkit(a);
		return deny(a, BUS_ERROR_ACCESS_DENIED, "polkit has not answered");
	}
	log_debug("polkit does not decide about %s: %s", a->action->polkit_id, e->message);
	return deny(a, BUS_ERROR_ACCESS_DENIED, "polkit could not decide");
}

/* The answer to CheckAuthorization. */
static int decide(struct authorization *a, sd_bus_message *reply)
{
	int authorized, challenge;
	bool ask;

	if (sd_bus_message_is_method_error(reply, NULL))
		return deny_undecided(a, sd_bus_message_get_error(reply));
	if (sd_bus_message_enter_container(reply, 'r', "bba{ss}") < 0 ||
		sd_bus_message_read(reply, "bb", &authorized, &challenge) < 0)
		return deny(a, BUS_ERROR_ACCESS_DENIED, "polkit could not decide");
	if (authorized)
		return a->action->run(a->bus, a->call, a->uid);
	ask = sd_bus_message_get_allow_interactive_authorization(a->call) > 0;
	if (!challenge) /* of a wrong password polkit says no more than that */
		return deny(a, BUS_ERROR_ACCESS_DENIED,
			ask ? "polkit does not allow it, or the password was wrong"
			    : "polkit does not allow it");
	if (ask)
		return deny(
			a, BUS_ERROR_ACCESS_DENIED, "there is nobody to be asked for a password");
	/* The name by which callers know that they may try again with the flag. */
	return deny(a, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
		"polkit would have to ask for a password");
}

static int on_decision(sd_bus_message *reply, void *user, sd_bus_error *error)
{
	_cleanup_(authorization_freep) struct authorization *a = user;
	int r;

	unlink_authorization(a);
	r = decide(a, reply);
	if (r < 0)
		fail(a, r);
	return 1;
}

/* The caller has left: nobody waits for what polkit says. */
static int on_left(sd_bus_message *signal, void *user, sd_bus_error *error)
{
	_cleanup_(authorization_freep) struct authorization *a = user;

	unlink_authorization(a);
	cancel_polkit(a);
	return 0;
}

/* Whether the match could be made. If not, the call ends by polkit's answer, or by its time. */
static int on_match(sd_bus_message *reply, void *user, sd_bus_error *error)
{
	return 0;
}

static int watch_caller(struct authorization *a)
{
	char match[256];

	snprintf(match, sizeof(match),
		"type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
		"interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s',arg2=''",
		sd_bus_message_get_sender(a->call));
	return sd_bus_add_match_async(a->bus->conn, &a->leaving, match, on_left, on_match, a);
}

static int write_question(struct authorization *a, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	bool ask = sd_bus_message_get_allow_interactive_authorization(a->call) > 0;
	char ticket[32];
	int r;

	snprintf(ticket, sizeof(ticket), "rdmad-%" PRIu64, a->ticket);
	r = sd_bus_message_new_method_call(
		a->bus->conn, &m, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE, "CheckAuthorization");
	if (r < 0)
		return r;
	r = sd_bus_message_append(m, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
		sd_bus_message_get_sender(a->call), a->action->polkit_id, 0,
		ask ? ALLOW_INTERACTION : 0, ticket);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

/* How many calls wait for polkit: all, and those of one user, however many connections it has. */
static bool polkit_has_room(const struct bus *b, uint32_t uid)
{
	unsigned n = 0, same = 0;

	for (const struct authorization *a = b->pending; a; a = a->next) {
		n += a->asks_polkit;
		same += a->asks_polkit && a->uid == uid;
	}
	return n < POLKIT_MAX && same < POLKIT_USER_MAX;
}

/* Takes *a over if 1 is returned; else the call is answered, or there is a negative errno. */
static int ask_polkit(struct authorization *a, uint32_t uid)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	struct bus *b = a->bus;
	bool ask = sd_bus_message_get_allow_interactive_authorization(a->call) > 0;
	int r;

	if (!polkit_has_room(b, uid) || !budget_question(&b->budget, uid, timepoint_now().mono)) {
		r = sd_bus_reply_method_errorf(a->call, BUS_ERROR_LIMITS_EXCEEDED,
			"Too many calls are waiting for polkit");
		return MIN(r, 0);
	}
	a->asks_polkit = true;
	a->uid = uid;
	a->ticket = ++b->tickets;
	r = watch_caller(a);
	if (r < 0)
		return r;
	r = write_question(a, &m);
	if (r < 0)
		return r;
	a->question = sd_bus_slot_unref(a->question);
	r = sd_bus_call_async(
		b->conn, &a->question, m, on_decision, a, ask ? INTERACTIVE_USEC : POLKIT_USEC);
	if (r < 0)
		return r;
	a->next = b->pending;
	b->pending = a;
	return 1;
}

/* ---- the caller's user ---- */

/* 1: *a waits for polkit now. 0: the call is answered. */
static int continue_with_user(struct authorization *a, sd_bus_message *reply)
{
	uint32_t uid;
	int r;

	/* An error here is most often a caller that has left: nobody then reads the refusal. */
	if (sd_bus_message_is_method_error(reply, NULL) ||
		sd_bus_message_read(reply, "u", &uid) < 0)
		r = deny(a, BUS_ERROR_ACCESS_DENIED, "the bus does not say who you are");
	else if (uid == 0 || uid == getuid())
		r = a->action->run(a->bus, a->call, uid);
	else if (a->action->polkit_id)
		return ask_polkit(a, uid);
	else
		r = deny(a, BUS_ERROR_ACCESS_DENIED, "");
	return MIN(r, 0);
}

/* The answer to GetConnectionUnixUser. */
static int on_user(sd_bus_message *reply, void *user, sd_bus_error *error)
{
	_cleanup_(authorization_freep) struct authorization *a = user;
	int r;

	unlink_authorization(a);
	r = continue_with_user(a, reply);
	if (r > 0)
		a = NULL; /* the list's again */
	else if (r < 0)
		fail(a, r);
	return 1;
}

/* True when one more call may wait for its caller's user. */
static bool have_room(const struct bus *b, const char *sender)
{
	unsigned n = 0, same = 0;

	for (const struct authorization *a = b->pending; a; a = a->next) {
		if (a->asks_polkit)
			continue;
		n++;
		if (streq_ptr(sd_bus_message_get_sender(a->call), sender))
			same++;
	}
	return n < PENDING_MAX && same < PENDING_SENDER_MAX;
}

int bus_authorize(struct bus *b, sd_bus_message *call, enum bus_action_id id)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;
	_cleanup_(authorization_freep) struct authorization *a = NULL;
	const char *sender = sd_bus_message_get_sender(call);
	int r;

	if (!sender)
		return sd_bus_reply_method_errorf(
			call, BUS_ERROR_ACCESS_DENIED, "The bus does not say who you are");
	if (!have_room(b, sender))
		return sd_bus_reply_method_errorf(call, BUS_ERROR_LIMITS_EXCEEDED,
			"Too many calls are waiting to be authorized");

	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->bus = b;
	a->call = sd_bus_message_ref(call);
	a->action = &bus_actions[id];
	r = sd_bus_message_new_method_call(b->conn, &question, "org.freedesktop.DBus",
		"/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixUser");
	if (r < 0)
		return r;
	r = sd_bus_message_append(question, "s", sender);
	if (r < 0)
		return r;
	r = sd_bus_call_async(b->conn, &a->question, question, on_user, a, USER_USEC);
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
