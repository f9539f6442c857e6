/* SPDX-License-Identifier: MIT */
/*
 * rdmad's side of the bus against a real dbus-daemon with the policy file that is installed. The
 * daemon's side, a client and the clock run in one event loop, so that each step is certain; only
 * who must be another user, or must not read, is another process.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "bus-names.h"
#include "fields.h"
#include "log.h"
#include "macros.h"
#include "publish.h"

#define POLICY     TEST_DATA_DIR "/../../units/org.rdmad1.conf"
#define DEADLINE   (10 * USEC_PER_SEC)
#define NOBODY     65534
#define DEVICE3    BUS_DEVICE_PREFIX "/d3"
#define PORT3      BUS_PORT_PREFIX "/d3p1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OM         "org.freedesktop.DBus.ObjectManager"

static char dir[] = "/tmp/test-bus.XXXXXX";
static char address[64];
static sd_event *loop;
static pid_t bus_pid = -1;
static sd_bus *client;
static struct bus *bus;
static struct model model;
static struct publish_context context = { .model = &model, .config_generation = 1 };
static struct device *device;
static int reload_result;
static unsigned n_reloads;
static const struct timepoint now = { .mono = 5 * USEC_PER_SEC, .real = 1700000000 * USEC_PER_SEC };

/* What the client heard since the last clear_heard(). */
static struct {
	unsigned changed, added, removed, health;
	char path[64];   /* of the last PropertiesChanged */
	char object[64]; /* of the last InterfacesAdded or -Removed */
	char interface[64];
	char names[512]; /* of all PropertiesChanged, each followed by a blank */
	char text[256];
} heard;

/* ---- the private bus ---- */

static void write_config(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bus.conf", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f,
		"<busconfig><type>system</type><listen>unix:path=%s/bus</listen>"
		"<auth>EXTERNAL</auth><policy context=\"default\"><allow user=\"*\"/><deny own=\"*\"/>"
		"<deny send_type=\"method_call\"/><allow send_type=\"signal\"/>"
		"<allow send_requested_reply=\"true\" send_type=\"method_return\"/>"
		"<allow send_requested_reply=\"true\" send_type=\"error\"/>"
		"<allow receive_type=\"method_call\"/><allow receive_type=\"method_return\"/>"
		"<allow receive_type=\"error\"/><allow receive_type=\"signal\"/>"
		"<allow send_destination=\"org.freedesktop.DBus\"/></policy>"
		"<policy user=\"%u\"><allow own=\"org.rdmad1\"/></policy>"
		"<include>%s</include>"
		"<limit name=\"max_incoming_bytes\">1000000</limit>"
		"<limit name=\"max_outgoing_bytes\">1500000</limit></busconfig>",
		dir, (unsigned)getuid(), POLICY);
	fclose(f);
}

static void start_bus(void)
{
	char arg[96];

	snprintf(arg, sizeof(arg), "--config-file=%s/bus.conf", dir);
	bus_pid = fork();
	if (bus_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("dbus-daemon", "dbus-daemon", arg, "--nofork", "--nopidfile", NULL);
		_exit(127);
	}
	assert_true(bus_pid > 0);
}

static void stop_bus(void)
{
	kill(bus_pid, SIGKILL);
	waitpid(bus_pid, NULL, 0);
	bus_pid = -1;
}

/* ---- turning the loop ---- */

static void turn(usec_t most)
{
	assert_true(sd_event_run(loop, most) >= 0);
}

/* Turns the loop until *done, or for span at most; returns whether it is done. */
static bool turn_until(const bool *done, usec_t span)
{
	usec_t end = timepoint_now().mono + span;

	while (!*done && timepoint_now().mono < end)
		turn(20 * USEC_PER_MSEC);
	return *done;
}

static sd_bus_message *last_reply;
static bool have_reply;

static int on_reply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	last_reply = sd_bus_message_ref(m);
	have_reply = true;
	return 1;
}

/* Sends a call from the client and waits for its reply or error. */
static sd_bus_message *finish_call(sd_bus_message *call)
{
	last_reply = sd_bus_message_unref(last_reply);
	have_reply = false;
	assert_true(sd_bus_call_async(client, NULL, call, on_reply, NULL, DEADLINE) >= 0);
	sd_bus_message_unref(call);
	assert_true(turn_until(&have_reply, DEADLINE + USEC_PER_SEC));
	return last_reply;
}

static sd_bus_message *call(
	const char *path, const char *interface, const char *member, const char *types, ...)
{
	sd_bus_message *m;
	va_list ap;

	assert_true(
		sd_bus_message_new_method_call(client, &m, BUS_NAME, path, interface, member) >= 0);
	va_start(ap, types);
	assert_true(sd_bus_message_appendv(m, types, ap) >= 0);
	va_end(ap);
	return finish_call(m);
}

/* The bus has handed out what was sent before once it answers a call that was sent after it. */
static void settle(void)
{
	const sd_bus_error *e;

	e = sd_bus_message_get_error(call(BUS_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", ""));
	assert_null(e);
}

static void assert_error(sd_bus_message *m, const char *name)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);

	assert_non_null(e);
	assert_string_equal(e->name, name);
}

/* ---- the daemon's side ---- */

static int do_reload(void *user, char *why, size_t size)
{
	n_reloads++;
	if (reload_result < 0)
		snprintf(why, size, "rdmad.conf:3: Unknown key \"\xff\"");
	return reload_result;
}

static const struct publish_context *get_context(void *user)
{
	return &context;
}

static const struct bus_callbacks callbacks = { .reload = do_reload, .context = get_context };

static struct device *see_device(uint32_t index, const char *name, uint32_t ports)
{
	struct device_facts f = {
		.index = index,
		.port_count = ports,
		.node_guid = 0x0a7fbc1245efd23b,
		.numa_node = -1,
	};
	struct device *d;

	STRSCPY(f.name, name);
	STRSCPY(f.node_type, "CA");
	assert_true(model_see_device(&model, &f, now, &d) >= 0);
	return d;
}

static void see_port(struct port *p, enum port_state state)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, p->number);

	f.state = state;
	f.phys_state = state == PORT_STATE_ACTIVE ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	f.link_layer = LINK_LAYER_ETHERNET;
	f.rate_mbps = 100000;
	port_see(p, &f, true, now);
}

/* ---- the client's side ---- */

static void clear_heard(void)
{
	memset(&heard, 0, sizeof(heard));
}

static int on_changed(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *interface, *name;

	heard.changed++;
	assert_true(sd_bus_message_read(m, "s", &interface) >= 0);
	STRSCPY(heard.interface, interface);
	STRSCPY(heard.path, sd_bus_message_get_path(m));
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &name) >= 0);
		strncat(heard.names, name, sizeof(heard.names) - strlen(heard.names) - 1);
		strncat(heard.names, " ", sizeof(heard.names) - strlen(heard.names) - 1);
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	return 0;
}

static int on_object(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *path;

	if (sd_bus_message_is_signal(m, OM, "InterfacesAdded"))
		heard.added++;
	else
		heard.removed++;
	assert_true(sd_bus_message_read(m, "o", &path) >= 0);
	STRSCPY(heard.object, path);
	return 0;
}

static int on_health(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *path, *old, *new, *reason = "";

	heard.health++;
	assert_true(sd_bus_message_read(m, "oss", &path, &old, &new) >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "s") >= 0);
	(void)sd_bus_message_read(m, "s", &reason);
	snprintf(heard.text, sizeof(heard.text), "%s %s %s %s", path, old, new, reason);
	return 0;
}

static bool owned;

static int on_get_owner(sd_bus_message *m, void *user, sd_bus_error *error)
{
	int has = 0;

	have_reply = true;
	if (!sd_bus_message_is_method_error(m, NULL))
		(void)sd_bus_message_read(m, "b", &has);
	owned = has;
	return 0;
}

static bool name_has_owner(void)
{
	have_reply = false;
	if (sd_bus_call_method_async(client, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
		    "org.freedesktop.DBus", "NameHasOwner", on_get_owner, NULL, "s", BUS_NAME) < 0)
		return false;
	return turn_until(&have_reply, DEADLINE) && owned;
}

static bool wait_for_name(usec_t span)
{
	usec_t end = timepoint_now().mono + span;

	while (timepoint_now().mono < end) {
		if (name_has_owner())
			return true;
		turn(10 * USEC_PER_MSEC);
	}
	return false;
}

static void connect_client(void)
{
	assert_true(sd_bus_new(&client) >= 0);
	assert_true(sd_bus_set_address(client, address) >= 0);
	assert_true(sd_bus_set_bus_client(client, true) >= 0);
	assert_true(sd_bus_set_watch_bind(client, true) >= 0);
	assert_true(sd_bus_start(client) >= 0);
	assert_true(sd_bus_match_signal_async(client, NULL, BUS_NAME, NULL, PROPERTIES,
			    "PropertiesChanged", on_changed, NULL, NULL) >= 0);
	assert_true(sd_bus_match_signal_async(
			    client, NULL, BUS_NAME, NULL, OM, NULL, on_object, NULL, NULL) >= 0);
	assert_true(sd_bus_match_signal_async(client, NULL, BUS_NAME, NULL, BUS_MANAGER_INTERFACE,
			    "HealthChanged", on_health, NULL, NULL) >= 0);
	assert_true(sd_bus_attach_event(client, loop, 0) >= 0);
}

static int set_up(void **state)
{
	log_set_max_level(getenv("TEST_DEBUG") ? LOG_DEBUG : LOG_ERR);
	if (!mkdtemp(dir) || chmod(dir, 0755) < 0)
		return -1;
	snprintf(address, sizeof(address), "unix:path=%s/bus", dir);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
	write_config();
	assert_true(sd_event_new(&loop) >= 0);
	model_listing_begin(&model);
	device = see_device(3, "rxe0", 1);
	see_port(device_port(device, 1), PORT_STATE_ACTIVE);

	/* rdmad is there first, the bus comes later. */
	assert_int_equal(bus_new(loop, &callbacks, NULL, &bus), 0);
	for (int i = 0; i < 3; i++)
		turn(20 * USEC_PER_MSEC);
	start_bus();
	connect_client();
	if (!wait_for_name(DEADLINE)) {
		print_message("rdmad did not get its name\n");
		return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	sd_bus_message_unref(last_reply);
	bus = bus_free(bus);
	client = sd_bus_close_unref(client);
	sd_event_unref(loop);
	model_done(&model);
	stop_bus();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* ---- the tests ---- */

/* Reads an a{oa{sa{sv}}} reply; the objects' paths, each followed by a blank. */
static void read_objects(sd_bus_message *m, char *paths, size_t size)
{
	const char *path;

	paths[0] = '\0';
	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}") > 0) {
		assert_true(sd_bus_message_read(m, "o", &path) >= 0);
		strncat(paths, path, size - strlen(paths) - 1);
		strncat(paths, " ", size - strlen(paths) - 1);
		assert_true(sd_bus_message_skip(m, "a{sa{sv}}") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
}

static void test_tree(void **state)
{
	static const char *const none[] = {
		BUS_DEVICE_PREFIX,
		BUS_DEVICE_PREFIX "/d03",
		BUS_DEVICE_PREFIX "/d",
		BUS_DEVICE_PREFIX "/d4",
		BUS_DEVICE_PREFIX "/d3p1",
		BUS_DEVICE_PREFIX "/d3/d3",
		BUS_PORT_PREFIX,
		BUS_PORT_PREFIX "/d3",
		BUS_PORT_PREFIX "/d3p",
		BUS_PORT_PREFIX "/d3p01",
		BUS_PORT_PREFIX "/d3p0",
		BUS_PORT_PREFIX "/d3p2",
		BUS_PORT_PREFIX "/d4294967299p1",
	};
	char paths[512];

	read_objects(call(BUS_ROOT_PATH, OM, "GetManagedObjects", ""), paths, sizeof(paths));
	assert_non_null(strstr(paths, DEVICE3 " "));
	assert_non_null(strstr(paths, PORT3 " "));
	assert_int_equal(strlen(paths), strlen(DEVICE3 " " PORT3 " "));

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		sd_bus_message *m = call(none[i], PROPERTIES, "Get", "ss", BUS_DEVICE_INTERFACE, "Name");

		assert_non_null(sd_bus_message_get_error(m));
		m = call(none[i], PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE, "Number");
		assert_non_null(sd_bus_message_get_error(m));
	}
}

/* Every field is a property and every property a field, of the type that the table says. */
static void check_properties(
	const char *path, const char *interface, const struct field *fields)
{
	static const char *const signatures[] = {
		[FIELD_STRING] = "s",
		[FIELD_U32] = "u",
		[FIELD_U64] = "t",
		[FIELD_BOOL] = "b",
		[FIELD_PATH] = "o",
		[FIELD_REASONS] = "aa{sv}",
	};
	sd_bus_message *m = call(path, PROPERTIES, "GetAll", "s", interface);
	const char *name, *contents;
	const struct field *f;
	size_t n = 0, want = 0;
	char type;

	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &name) >= 0);
		f = field_find(fields, name);
		assert_non_null(f);
		assert_true(sd_bus_message_peek_type(m, &type, &contents) > 0);
		assert_string_equal(contents, signatures[f->type]);
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
		n++;
	}
	while (fields[want].name)
		want++;
	assert_int_equal(n, want);
}

static void test_properties(void **state)
{
	check_properties(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, manager_fields);
	check_properties(DEVICE3, BUS_DEVICE_INTERFACE, device_fields);
	check_properties(PORT3, BUS_PORT_INTERFACE, port_fields);
}

static void test_unknown_values(void **state)
{
	const char *text;
	uint32_t number;
	uint64_t since;

	assert_true(sd_bus_message_read(call(DEVICE3, PROPERTIES, "Get", "ss", BUS_DEVICE_INTERFACE,
						"FirmwareVersion"),
			    "v", "s", &text) > 0);
	assert_string_equal(text, "");
	assert_true(sd_bus_message_read(call(DEVICE3, PROPERTIES, "Get", "ss", BUS_DEVICE_INTERFACE,
						"NumaNode"),
			    "v", "u", &number) > 0);
	assert_int_equal(number, UINT32_MAX);
	assert_true(sd_bus_message_read(call(PORT3, PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE,
						"DownSince"),
			    "v", "t", &since) > 0);
	assert_true(since == UINT64_MAX);
}

static void test_describe(void **state)
{
	sd_bus_message *m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Describe", "");
	const char *text;

	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_read(m, "s", &text) > 0);
	assert_non_null(strstr(text, "\"Name\":\"rxe0\""));
}

static void test_changes(void **state)
{
	struct port *p = device_port(device, 1);

	/* Nothing changed, nothing said; and nobody cares when a port was read last. */
	clear_heard();
	p->read_at.real++;
	bus_sync(bus);
	settle();
	assert_int_equal(heard.changed, 0);

	see_port(p, PORT_STATE_DOWN);
	bus_sync(bus);
	bus_sync(bus);
	settle();
	assert_int_equal(heard.changed, 1);
	assert_string_equal(heard.path, PORT3);
	assert_string_equal(heard.interface, BUS_PORT_INTERFACE);
	assert_non_null(strstr(heard.names, "PortState "));
	assert_non_null(strstr(heard.names, "PhysState "));
	assert_null(strstr(heard.names, "Rate "));
	assert_null(strstr(heard.names, "LinkLayer "));
	assert_null(strstr(heard.names, "LastProbe "));

	/* There and back within one turn: nothing to tell. */
	clear_heard();
	p->required = !p->required;
	p->required = !p->required;
	bus_sync(bus);
	context.config_generation++;
	bus_sync(bus);
	settle();
	assert_int_equal(heard.changed, 1);
	assert_string_equal(heard.names, "ConfigGeneration ");
}

static void test_reasons(void **state)
{
	struct port *p = device_port(device, 1);
	const char *key, *word;
	sd_bus_message *m;

	clear_heard();
	p->verdict.health = HEALTH_FAILED;
	p->verdict.n_reasons = 1;
	p->verdict.reasons[0] = (struct reason){
		.id = REASON_PORT_DOWN,
		.severity = SEVERITY_FAILED,
		.since = now,
		.found = "Polling \xff",
		.wanted = "ACTIVE",
	};
	bus_sync(bus);
	bus_health_changed(bus, NULL, p, HEALTH_OK, &p->verdict);
	settle();
	assert_int_equal(heard.changed, 1);
	assert_string_equal(heard.names, "HealthState Reasons ");
	assert_int_equal(heard.health, 1);
	assert_string_equal(heard.text, PORT3 " ok failed port-down");

	m = call(PORT3, PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE, "Reasons");
	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_enter_container(m, 'v', "aa{sv}") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "a{sv}") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'e', "sv") >= 0);
	assert_true(sd_bus_message_read(m, "sv", &key, "s", &word) >= 0);
	assert_string_equal(key, "Id");
	assert_string_equal(word, "port-down");

	p->verdict.health = HEALTH_OK;
	p->verdict.n_reasons = 0;
	bus_sync(bus);
	bus_health_changed(bus, NULL, NULL, HEALTH_FAILED, &p->verdict);
	settle();
	assert_string_equal(heard.text, BUS_ROOT_PATH " failed ok ");
}

static void test_come_and_go(void **state)
{
	char paths[512];
	struct device *d;

	/* A name that is not UTF-8 must not take everything else with it. */
	clear_heard();
	d = see_device(11, "odd\xfe\xff", 2);
	bus_sync(bus);
	settle();
	assert_int_equal(heard.added, 3);
	assert_string_equal(heard.object, BUS_PORT_PREFIX "/d11p2");
	assert_int_equal(heard.changed, 1);
	assert_string_equal(heard.names, "DeviceCount PortCount ");
	read_objects(call(BUS_ROOT_PATH, OM, "GetManagedObjects", ""), paths, sizeof(paths));
	assert_non_null(strstr(paths, BUS_PORT_PREFIX "/d11p2 "));

	/* In the middle of the list, and gone without a word before the sync. */
	clear_heard();
	see_device(7, "rxe7", 1);
	bus_sync(bus);
	model_remove_device(&model, model_device_by_index(&model, 7));
	bus_sync(bus);
	settle();
	assert_int_equal(heard.added, 2);
	assert_int_equal(heard.removed, 2);
	assert_string_equal(heard.object, BUS_PORT_PREFIX "/d7p1");

	clear_heard();
	bus_forget_device(bus, d);
	model_remove_device(&model, d);
	bus_sync(bus);
	settle();
	assert_int_equal(heard.removed, 3);
	assert_int_equal(heard.added, 0);
	read_objects(call(BUS_ROOT_PATH, OM, "GetManagedObjects", ""), paths, sizeof(paths));
	assert_int_equal(strlen(paths), strlen(DEVICE3 " " PORT3 " "));
}

static void test_reload(void **state)
{
	sd_bus_message *m;

	n_reloads = 0;
	assert_null(sd_bus_message_get_error(
		call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Reload", "t", (uint64_t)0)));
	assert_int_equal(n_reloads, 1);

	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Reload", "t", (uint64_t)1);
	assert_error(m, BUS_ERROR_INVALID_ARGS);
	assert_int_equal(sd_bus_error_get_errno(sd_bus_message_get_error(m)), EINVAL);
	assert_int_equal(n_reloads, 1);

	reload_result = -EINVAL;
	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Reload", "t", (uint64_t)0);
	assert_error(m, BUS_ERROR_CONFIG_INVALID);
	assert_string_equal(sd_bus_message_get_error(m)->message,
		"rdmad.conf:3: Unknown key \"\xef\xbf\xbd\"");
	reload_result = 0;
}

static void test_log_level(void **state)
{
	static const char path[] = "/org/freedesktop/LogControl1";
	static const char interface[] = "org.freedesktop.LogControl1";
	int before = log_get_max_level();
	const char *level;

	assert_null(sd_bus_message_get_error(
		call(path, PROPERTIES, "Set", "ssv", interface, "LogLevel", "s", "crit")));
	assert_int_equal(log_get_max_level(), LOG_CRIT);
	assert_true(sd_bus_message_read(call(path, PROPERTIES, "Get", "ss", interface, "LogLevel"),
			    "v", "s", &level) > 0);
	assert_string_equal(level, "crit");
	assert_error(call(path, PROPERTIES, "Set", "ssv", interface, "LogLevel", "s", "loud"),
		BUS_ERROR_INVALID_ARGS);
	assert_error(call(path, PROPERTIES, "Set", "ssv", interface, "LogLevel", "u", 7),
		BUS_ERROR_INVALID_ARGS);
	assert_non_null(sd_bus_message_get_error(
		call(path, PROPERTIES, "Set", "ssv", interface, "LogTarget", "s", "console")));
	log_set_max_level(before);
}

/* Turns the loop until the child has exited; returns its exit status. */
static int reap(pid_t pid)
{
	usec_t end = timepoint_now().mono + 6 * DEADLINE;
	int status;

	while (timepoint_now().mono < end) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		turn(20 * USEC_PER_MSEC);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* In a child: a blocking connection of its own. */
static sd_bus *child_connect(void)
{
	sd_bus *b;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sd_bus_new(&b) < 0 || sd_bus_set_address(b, address) < 0 ||
		sd_bus_set_bus_client(b, true) < 0 || sd_bus_start(b) < 0)
		_exit(100);
	return b;
}

static void test_denied(void **state)
{
	sd_bus_error e = SD_BUS_ERROR_NULL;
	int level = log_get_max_level();
	pid_t pid;

	if (getuid() != 0)
		skip(); /* takes two users */
	n_reloads = 0;
	pid = fork();
	if (pid == 0) {
		sd_bus_message *reply = NULL;
		sd_bus *b;

		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(101);
		b = child_connect();
		if (sd_bus_call_method(b, BUS_NAME, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE,
			    "Describe", &e, &reply, "") < 0)
			_exit(1);
		if (sd_bus_call_method(b, BUS_NAME, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Reload",
			    &e, NULL, "t", (uint64_t)0) != -EACCES ||
			!sd_bus_error_has_name(&e, BUS_ERROR_ACCESS_DENIED))
			_exit(2);
		sd_bus_error_free(&e);
		if (sd_bus_set_property(b, BUS_NAME, "/org/freedesktop/LogControl1",
			    "org.freedesktop.LogControl1", "LogLevel", &e, "s", "debug") != -EACCES)
			_exit(3);
		sd_bus_error_free(&e);
		if (sd_bus_request_name(b, BUS_NAME, SD_BUS_NAME_QUEUE) >= 0)
			_exit(4);
		_exit(0);
	}
	assert_int_equal(reap(pid), 0);
	assert_int_equal(n_reloads, 0);
	assert_int_equal(log_get_max_level(), level);
}

static unsigned n_ok, n_limited, n_other;

static int on_flood_reply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	if (!sd_bus_message_is_method_error(m, NULL))
		n_ok++;
	else if (sd_bus_message_is_method_error(m, BUS_ERROR_LIMITS_EXCEEDED))
		n_limited++;
	else
		n_other++;
	return 0;
}

/* More calls at once than may wait to be authorized: each is answered, none is lost. */
static void test_authorize_flood(void **state)
{
	usec_t end = timepoint_now().mono + DEADLINE;

	n_ok = n_limited = n_other = 0;
	for (unsigned i = 0; i < 100; i++)
		assert_true(sd_bus_call_method_async(client, NULL, BUS_NAME, BUS_ROOT_PATH,
				    BUS_MANAGER_INTERFACE, "Reload", on_flood_reply, NULL, "t",
				    (uint64_t)0) >= 0);
	while (n_ok + n_limited + n_other < 100 && timepoint_now().mono < end)
		turn(20 * USEC_PER_MSEC);
	assert_int_equal(n_ok + n_limited, 100);
	assert_true(n_ok >= 8);
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Never reads; asks in portions, as more than 128 calls at once the bus refuses by itself. */
static _Noreturn void be_deaf(void)
{
	sd_bus *b = child_connect();

	for (;;) {
		for (unsigned i = 0; i < 50; i++)
			(void)sd_bus_call_method_async(b, NULL, BUS_NAME, BUS_ROOT_PATH,
				BUS_MANAGER_INTERFACE, "Describe", on_flood_reply, NULL, "");
		(void)sd_bus_flush(b);
		usleep(20000);
	}
}

/*
 * A client that asks and never reads: the bus stops reading us. We do not grow, and serve the others
 * again after some seconds, though that one is still there and still does not read.
 */
static void test_deaf_client(void **state)
{
	usec_t end = timepoint_now().mono + 8 * USEC_PER_SEC;
	long before = resident_kb(), most = 0;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		be_deaf();
	while (timepoint_now().mono < end) {
		turn(20 * USEC_PER_MSEC);
		device_port(device, 1)->flap_count++;
		bus_sync(bus);
		most = MAX(most, resident_kb());
	}
	print_message("resident: %ld kB before, %ld kB at most\n", before, most);
	assert_true(most < before + 32 * 1024);
	end = timepoint_now().mono + 2 * DEADLINE;
	for (;;) {
		sd_bus_message *m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Describe", "");

		if (!sd_bus_message_is_method_error(m, NULL))
			break;
		assert_true(timepoint_now().mono < end);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The bus is killed and started anew: rdmad is back on it within two seconds, more than once. */
static void test_restarted_bus(void **state)
{
	for (int i = 0; i < 3; i++) {
		usec_t start;

		client = sd_bus_close_unref(client);
		stop_bus();
		start = timepoint_now().mono + 300 * USEC_PER_MSEC * (usec_t)i;
		while (timepoint_now().mono < start)
			turn(20 * USEC_PER_MSEC);
		/* Changes in the gap are not owed to anybody: whoever asks sees what is. */
		device_port(device, 1)->flap_count++;
		bus_sync(bus);
		bus_health_changed(bus, device, NULL, HEALTH_OK, &device->verdict);

		start_bus();
		start = timepoint_now().mono;
		connect_client();
		assert_true(wait_for_name(2 * USEC_PER_SEC));
		print_message("back after %llu ms\n",
			(unsigned long long)((timepoint_now().mono - start) / USEC_PER_MSEC));
		clear_heard();
		device_port(device, 1)->flap_count++;
		bus_sync(bus);
		settle();
		assert_int_equal(heard.changed, 1);
		assert_string_equal(heard.names, "FlapCount ");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_unknown_values),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_log_level),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_authorize_flood),
		cmocka_unit_test(test_deaf_client),
		cmocka_unit_test(test_restarted_bus),
	};

	return cmocka_run_group_tests_name("bus", tests, set_up, tear_down);
}
