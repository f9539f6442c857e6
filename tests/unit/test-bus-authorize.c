/* SPDX-License-Identifier: MIT */
/*
 * Who may change something, on a real dbus-daemon (bus-rig.h) with a polkit that answers as it is
 * told. Takes root: the caller is another user.
 */
#include "bus-rig.h"

#include <errno.h>

#include "bus-internal.h"
#include "log.h"

#define NOBODY 65534
/* What the daemon gives polkit when nobody has to type anything, and a little. */
#define POLKIT_TIME (12 * USEC_PER_SEC)

static sd_bus *root, *guest; /* two clients; the rig's call() uses "client", one of them */
static sd_bus *polkit_bus;
static bool polkit_owns;

/* What polkit does and was asked. */
static struct {
	enum { SAYS_NO, SAYS_YES, NEEDS_PASSWORD, SAYS_NOTHING, FAILS } mood;
	unsigned asked, cancelled;
	char subject[64], name[64], action[64];
	uint32_t flags;
	char ticket[64], cancelled_ticket[64];
	sd_bus_message *unanswered;
} polkit;

static void forget(void)
{
	sd_bus_message_unref(polkit.unanswered);
	memset(&polkit, 0, sizeof(polkit));
	n_reloads = 0;
	acknowledged[0] = '\0';
}

static int reply(sd_bus_message *m)
{
	return sd_bus_reply_method_return(m, "(bba{ss})", (int)(polkit.mood == SAYS_YES),
		(int)(polkit.mood == NEEDS_PASSWORD), 1,
		"polkit.retains_authorization_after_challenge", "1");
}

static int on_check(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *kind, *key, *name, *action, *ticket;

	assert_true(sd_bus_message_read(m, "(sa{sv})", &kind, 1, &key, "s", &name) >= 0);
	assert_true(sd_bus_message_read(m, "s", &action) >= 0);
	assert_true(sd_bus_message_skip(m, "a{ss}") >= 0);
	assert_true(sd_bus_message_read(m, "us", &polkit.flags, &ticket) >= 0);
	polkit.asked++;
	STRSCPY(polkit.subject, kind);
	STRSCPY(polkit.name, name);
	STRSCPY(polkit.action, action);
	STRSCPY(polkit.ticket, ticket);
	if (polkit.mood == FAILS)
		return sd_bus_error_set(error, "org.freedesktop.PolicyKit1.Error.Failed",
			"Action is not registered");
	if (polkit.mood != SAYS_NOTHING)
		return reply(m);
	sd_bus_message_unref(polkit.unanswered);
	polkit.unanswered = sd_bus_message_ref(m);
	return 1;
}

static int on_cancel(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *ticket;

	assert_true(sd_bus_message_read(m, "s", &ticket) >= 0);
	STRSCPY(polkit.cancelled_ticket, ticket);
	polkit.cancelled++;
	return sd_bus_reply_method_return(m, NULL);
}

static const sd_bus_vtable polkit_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", on_check,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("CancelCheckAuthorization", "s", "", on_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static int on_polkit_name(sd_bus_message *m, void *user, sd_bus_error *error)
{
	assert_false(sd_bus_message_is_method_error(m, NULL));
	polkit_owns = true;
	return 1;
}

static void start_polkit(void)
{
	polkit_bus = connect_bus();
	polkit_owns = false;
	assert_true(
		sd_bus_add_object_vtable(polkit_bus, NULL, "/org/freedesktop/PolicyKit1/Authority",
			"org.freedesktop.PolicyKit1.Authority", polkit_vtable, NULL) >= 0);
	assert_true(sd_bus_request_name_async(polkit_bus, NULL, "org.freedesktop.PolicyKit1", 0,
			    on_polkit_name, NULL) >= 0);
	assert_true(turn_until(&polkit_owns, DEADLINE));
}

static sd_bus *connect_guest(void)
{
	sd_bus *b;

	/* The bus takes the peer's user at the time of connect(). */
	assert_int_equal(seteuid(NOBODY), 0);
	b = connect_bus();
	assert_int_equal(seteuid(0), 0);
	return b;
}

static sd_bus_message *reload(bool interactive)
{
	sd_bus_message *m;

	assert_true(sd_bus_message_new_method_call(client, &m, BUS_NAME, BUS_ROOT_PATH,
			    BUS_MANAGER_INTERFACE, "Reload") >= 0);
	assert_true(sd_bus_message_append(m, "t", UINT64_C(0)) >= 0);
	assert_true(sd_bus_message_set_allow_interactive_authorization(m, interactive) >= 0);
	return finish_call(m);
}

static void assert_denied(sd_bus_message *m, const char *error, const char *why)
{
	assert_error(m, error);
	assert_non_null(strstr(sd_bus_message_get_error(m)->message, why));
	assert_int_equal(sd_bus_error_get_errno(sd_bus_message_get_error(m)), EACCES);
	assert_int_equal(n_reloads, 0);
}

static bool ok(sd_bus_message *m)
{
	return !sd_bus_message_is_method_error(m, NULL);
}

static void test_no_polkit(void **state)
{
	forget();
	client = guest;
	assert_denied(reload(false), BUS_ERROR_ACCESS_DENIED, "there is no polkit");
	client = root;
	assert_true(ok(reload(false)));
	assert_int_equal(n_reloads, 1);
	start_polkit();
}

static void test_answers(void **state)
{
	const char *name;

	forget();
	client = guest;
	polkit.mood = SAYS_YES;
	assert_true(ok(reload(false)));
	assert_int_equal(n_reloads, 1);
	assert_int_equal(polkit.asked, 1);
	assert_int_equal(polkit.flags, 0);
	assert_string_equal(polkit.subject, "system-bus-name");
	assert_true(sd_bus_get_unique_name(guest, &name) >= 0);
	assert_string_equal(polkit.name, name);
	assert_string_equal(polkit.action, "org.rdmad1.reload");

	n_reloads = 0;
	polkit.mood = SAYS_NO;
	assert_denied(reload(true), BUS_ERROR_ACCESS_DENIED, "polkit does not allow it");
	assert_int_equal(polkit.flags, 1);
	polkit.mood = NEEDS_PASSWORD;
	assert_denied(reload(false), SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, "a password");
	assert_denied(reload(true), BUS_ERROR_ACCESS_DENIED, "nobody to be asked");
	polkit.mood = FAILS;
	assert_denied(reload(false), BUS_ERROR_ACCESS_DENIED, "could not decide");
	assert_int_equal(polkit.cancelled, 0);

	/* Nonsense is refused before anybody is asked. */
	polkit.asked = 0;
	assert_error(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Reload", "t", UINT64_C(2)),
		BUS_ERROR_INVALID_ARGS);
	assert_int_equal(polkit.asked, 0);
	/* Root never needs it. */
	client = root;
	assert_true(ok(reload(false)));
	assert_int_equal(polkit.asked, 0);
}

static void assert_asked(sd_bus_message *m, const char *action)
{
	assert_true(ok(m));
	assert_string_equal(polkit.action, action);
}

/* Each method asks for its own action. */
static void test_actions(void **state)
{
	static const char path[] = "/org/freedesktop/LogControl1";
	int level = log_get_max_level();

	forget();
	client = guest;
	polkit.mood = SAYS_YES;
	assert_asked(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Release", "astt", 1, "rxe0",
			     UINT64_C(1), UINT64_C(0)),
		"org.rdmad1.release");
	assert_asked(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Ack", "ssst", "rxe0/1",
			     "port-down", "", UINT64_C(0)),
		"org.rdmad1.ack");
	assert_string_equal(acknowledged, "rxe0/1 port-down  by 65534");
	assert_asked(
		call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "SaveBaseline", "ast", 0, UINT64_C(0)),
		"org.rdmad1.baseline");
	polkit.action[0] = '\0';
	assert_asked(
		call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "DropBaseline", "ast", 0, UINT64_C(0)),
		"org.rdmad1.baseline");
	polkit.asked = 0;
	assert_error(call(path, PROPERTIES, "Set", "ssv", "org.freedesktop.LogControl1", "LogLevel",
			     "s", "debug"),
		BUS_ERROR_ACCESS_DENIED);
	assert_int_equal(log_get_max_level(), level);
	/* Reading is for all. */
	assert_true(ok(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Describe", "")));
	assert_int_equal(polkit.asked, 0);
}

/* What the code asks for is in the file that polkit reads. */
static void test_policy_file(void **state)
{
	static const char path[] = SOURCE_ROOT "/units/org.rdmad1.policy.in";
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char text[8192], want[96];
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	assert_true(feof(f));
	text[n] = '\0';
	for (int i = ACTION_RELOAD; i <= ACTION_SET_LOG_LEVEL; i++) {
		assert_non_null(bus_actions[i].run);
		if (!bus_actions[i].polkit_id)
			continue;
		snprintf(want, sizeof(want), "<action id=\"%s\">", bus_actions[i].polkit_id);
		assert_non_null(strstr(text, want));
	}
}

static unsigned n_ok, n_limited, n_denied;

static int on_reply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	if (ok(m))
		n_ok++;
	else if (sd_bus_message_is_method_error(m, BUS_ERROR_LIMITS_EXCEEDED))
		n_limited++;
	else if (sd_bus_message_is_method_error(m, BUS_ERROR_ACCESS_DENIED))
		n_denied++;
	return 0;
}

static void send_reload(sd_bus *from)
{
	assert_true(
		sd_bus_call_method_async(from, NULL, BUS_NAME, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE,
			"Reload", on_reply, NULL, "t", UINT64_C(0)) >= 0);
}

static void turn_until_replies(unsigned n, usec_t span)
{
	usec_t end = timepoint_now().mono + span;

	while (n_ok + n_limited + n_denied < n && timepoint_now().mono < end)
		turn(20 * USEC_PER_MSEC);
	assert_int_equal(n_ok + n_limited + n_denied, n);
}

/*
 * polkit hangs: each call is answered in time, no user has more than its share of what may wait, and
 * root and readers notice nothing.
 */
static void test_hung(void **state)
{
	sd_bus *second = connect_guest();
	usec_t start = timepoint_now().mono, slowest = 0;
	char last[64];

	forget();
	polkit.mood = SAYS_NOTHING;
	n_ok = n_limited = n_denied = 0;
	for (int i = 0; i < 4; i++) {
		send_reload(guest);
		send_reload(second);
	}
	turn_until_replies(4, DEADLINE);
	assert_int_equal(n_limited, 4);
	assert_int_equal(polkit.asked, 4);
	STRSCPY(last, polkit.ticket);

	client = root;
	while (n_denied < 4 && timepoint_now().mono < start + POLKIT_TIME * slowness()) {
		usec_t before = timepoint_now().mono;

		assert_true(ok(reload(false)));
		assert_true(ok(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Describe", "")));
		slowest = MAX(slowest, timepoint_now().mono - before);
		turn(20 * USEC_PER_MSEC);
	}
	print_error("polkit hangs: four calls refused after %llu ms, two of root take %llu ms at "
		    "most\n",
		(unsigned long long)((timepoint_now().mono - start) / USEC_PER_MSEC),
		(unsigned long long)(slowest / USEC_PER_MSEC));
	assert_int_equal(n_denied, 4);
	assert_int_equal(n_ok, 0);
	assert_true(slowest < USEC_PER_SEC * slowness());
	settle();
	assert_int_equal(polkit.cancelled, 4);
	assert_string_equal(polkit.cancelled_ticket, last);

	/* An answer that comes too late changes nothing. */
	n_reloads = 0;
	polkit.mood = SAYS_YES;
	assert_true(reply(polkit.unanswered) >= 0);
	settle();
	assert_int_equal(n_reloads, 0);
	sd_bus_close_unref(second);
}

/* The caller leaves while polkit thinks: polkit is told, and what it says then is not heard. */
static void test_caller_leaves(void **state)
{
	usec_t end = timepoint_now().mono + DEADLINE;

	forget();
	polkit.mood = SAYS_NOTHING;
	send_reload(guest);
	while (polkit.asked < 1 && timepoint_now().mono < end)
		turn(20 * USEC_PER_MSEC);
	assert_int_equal(polkit.asked, 1);
	guest = sd_bus_flush_close_unref(guest);
	while (polkit.cancelled < 1 && timepoint_now().mono < end)
		turn(20 * USEC_PER_MSEC);
	assert_int_equal(polkit.cancelled, 1);
	assert_string_equal(polkit.cancelled_ticket, polkit.ticket);
	polkit.mood = SAYS_YES;
	assert_true(reply(polkit.unanswered) >= 0);
	client = root;
	settle();
	assert_int_equal(n_reloads, 0);
	guest = connect_guest();
}

/* polkit dies while it thinks, and rdmad's connection is closed while somebody waits: no trace is left. */
static void test_polkit_dies(void **state)
{
	forget();
	polkit.mood = SAYS_NOTHING;
	n_ok = n_limited = n_denied = 0;
	send_reload(guest);
	while (polkit.asked < 1)
		turn(20 * USEC_PER_MSEC);
	forget();
	polkit_bus = sd_bus_flush_close_unref(polkit_bus);
	turn_until_replies(1, DEADLINE);
	assert_int_equal(n_denied, 1);

	start_polkit();
	polkit.mood = SAYS_NOTHING;
	send_reload(guest);
	while (polkit.asked < 1)
		turn(20 * USEC_PER_MSEC);
	assert_int_equal(n_reloads, 0);
}

static int set_up(void **state)
{
	if (rig_set_up(state) < 0)
		return -1;
	root = client;
	guest = connect_guest();
	return 0;
}

static int tear_down(void **state)
{
	client = root;
	forget();
	sd_bus_flush_close_unref(polkit_bus);
	sd_bus_flush_close_unref(guest);
	return rig_tear_down(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_polkit),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_policy_file),
		cmocka_unit_test(test_hung),
		cmocka_unit_test(test_caller_leaves),
		cmocka_unit_test(test_polkit_dies),
	};

	if (getuid() != 0) {
		printf("1..0 # SKIP takes root, to be another user\n");
		return 0;
	}
	return cmocka_run_group_tests_name("bus-authorize", tests, set_up, tear_down);
}
