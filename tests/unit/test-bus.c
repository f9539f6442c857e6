/* SPDX-License-Identifier: MIT */
/* rdmad's side of the bus against a real dbus-daemon (bus-rig.h). */
#include "bus-rig.h"

#include <ctype.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fields.h"
#include "log.h"

#define NOBODY 65534

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
		sd_bus_message *m =
			call(none[i], PROPERTIES, "Get", "ss", BUS_DEVICE_INTERFACE, "Name");

		assert_non_null(sd_bus_message_get_error(m));
		m = call(none[i], PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE, "Number");
		assert_non_null(sd_bus_message_get_error(m));
	}
}

/* Every field is a property and every property a field, of the type that the table says. */
static void check_properties(const char *path, const char *interface, const struct field *fields)
{
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
		assert_string_equal(contents, field_signature(f));
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
		n++;
	}
	for (f = fields; f->name; f++)
		want += f->use != FIELD_BY_NAME;
	assert_int_equal(n, want);
}

/* What a message holds, from its first array on, without white space; to be freed. */
static char *contents_of(sd_bus_message *m, uint64_t flags)
{
	char *text = NULL, *p;
	size_t size, n = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_true(sd_bus_message_dump(m, f, flags) >= 0);
	fclose(f);
	p = strstr(text, "ARRAY");
	assert_non_null(p);
	for (; *p; p++)
		if (!isspace((unsigned char)*p))
			text[n++] = *p;
	text[n] = '\0';
	return text;
}

/* All objects at once are made by other code than one of them. */
static void test_managed_objects(void **state)
{
	static const char *const objects[][2] = {
		{ DEVICE3, BUS_DEVICE_INTERFACE },
		{ PORT3, BUS_PORT_INTERFACE },
	};
	char *all = contents_of(
		call(BUS_ROOT_PATH, OM, "GetManagedObjects", ""), SD_BUS_MESSAGE_DUMP_WITH_HEADER);

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		char *one =
			contents_of(call(objects[i][0], PROPERTIES, "GetAll", "s", objects[i][1]),
				SD_BUS_MESSAGE_DUMP_SUBTREE_ONLY);
		char want[8192];

		snprintf(want, sizeof(want), "STRING\"%s\";%s", objects[i][1], one);
		if (!strstr(all, want))
			print_error("%s\nis not in\n%s\n", want, all);
		assert_non_null(strstr(all, want));
		free(one);
	}
	free(all);
	assert_non_null(sd_bus_message_get_error(call(DEVICE3, OM, "GetManagedObjects", "")));
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
	assert_true(sd_bus_message_read(
			    call(PORT3, PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE, "DownSince"),
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
	bus_sync(bus, USEC_INFINITY);
	settle();
	assert_int_equal(heard.changed, 0);

	see_port(p, PORT_STATE_DOWN);
	bus_sync(bus, USEC_INFINITY);
	bus_sync(bus, USEC_INFINITY);
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
	bus_sync(bus, USEC_INFINITY);
	context.config_generation++;
	bus_sync(bus, USEC_INFINITY);
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
	bus_sync(bus, USEC_INFINITY);
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
	bus_sync(bus, USEC_INFINITY);
	bus_health_changed(bus, NULL, NULL, HEALTH_FAILED, &p->verdict);
	settle();
	assert_string_equal(heard.text, BUS_ROOT_PATH " failed ok ");
}

/* What is in the first row of a list, each key followed by a blank. */
static void read_row(sd_bus_message *m, char *keys, size_t size)
{
	const char *key;

	keys[0] = '\0';
	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_enter_container(m, 'v', "aa{sv}") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "a{sv}") >= 0);
	if (sd_bus_message_enter_container(m, 'a', "{sv}") <= 0)
		return;
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read(m, "s", &key) >= 0);
		strncat(keys, key, size - strlen(keys) - 1);
		strncat(keys, " ", size - strlen(keys) - 1);
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
}

/* A table that can be long is said to have changed, without what is in it now. */
static void test_gids(void **state)
{
	struct port *p = device_port(device, 1);
	struct table_facts t = { .device_index = 3, .port = 1 };
	struct gid_facts g = { .device_index = 3, .port = 1, .index = 5, .gid = { 0xfe, 0x80 } };
	struct tables_update u;
	char keys[128];

	read_row(call(PORT3, PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE, "Gids"), keys,
		sizeof(keys));
	assert_string_equal(keys, "");
	clear_heard();
	g.type = GID_TYPE_ROCE_V2;
	for (int i = 0; i < 2; i++) { /* the second time, nothing differs */
		port_tables_begin(&p->tables);
		assert_int_equal(port_tables_add_gid(&p->tables, &g), 0);
		port_tables_finish(&p->tables, &t, &u);
		bus_sync(bus, USEC_INFINITY);
	}
	settle();
	assert_int_equal(heard.changed, 1);
	assert_string_equal(heard.names, "");
	assert_string_equal(heard.invalidated, "Gids ");
	read_row(call(PORT3, PROPERTIES, "Get", "ss", BUS_PORT_INTERFACE, "Gids"), keys,
		sizeof(keys));
	assert_string_equal(keys, "Index Type Gid Address ");
}

static void test_host_lists(void **state)
{
	struct setup_row row = { .step = "add-link", .object = "rxe0", .result = STEP_WAITING };
	struct missing *x;
	char keys[128];

	clear_heard();
	context.setup = &row;
	context.n_setup = 1;
	bus_sync(bus, USEC_INFINITY);
	row.result = STEP_OK;
	bus_sync(bus, USEC_INFINITY);
	x = model_add_missing(&model, "mlx5_9", 0x0a7fbc1245efd23b, "", now);
	assert_non_null(x);
	x->verdict.n_reasons = 1;
	x->verdict.reasons[0] = (struct reason){ .id = REASON_DEVICE_MISSING, .since = now };
	bus_sync(bus, USEC_INFINITY);
	bus_sync(bus, USEC_INFINITY);
	x->verdict.reasons[0].ack.when = now;
	bus_sync(bus, USEC_INFINITY);
	settle();
	assert_int_equal(heard.changed, 4);
	assert_string_equal(heard.names, "Setup Setup Missing Missing ");
	read_row(call(BUS_ROOT_PATH, PROPERTIES, "Get", "ss", BUS_MANAGER_INTERFACE, "Setup"), keys,
		sizeof(keys));
	assert_string_equal(keys, "Step Object Result Disruptive ");
	read_row(call(BUS_ROOT_PATH, PROPERTIES, "Get", "ss", BUS_MANAGER_INTERFACE, "Missing"),
		keys, sizeof(keys));
	assert_string_equal(keys, "Name NodeGuid HealthState Reasons ");

	model_remove_missing(&model, x);
	context.n_setup = 0;
	bus_sync(bus, USEC_INFINITY);
	settle();
}

static void test_event(void **state)
{
	const struct journal_field fields[] = {
		{ "MESSAGE", "odd \xff, and more", strlen("odd \xff") },
		{ "SYSLOG_IDENTIFIER", "rdmad", strlen("rdmad") },
		{ "PRIORITY", "3\nx", 1 },
	};

	clear_heard();
	bus_event(bus, fields, ARRAY_SIZE(fields));
	settle();
	assert_int_equal(heard.events, 1);
	assert_string_equal(heard.fields, "MESSAGE=odd \xef\xbf\xbd PRIORITY=3 ");
}

static void test_come_and_go(void **state)
{
	char paths[512];
	struct device *d;

	/* A name that is not UTF-8 must not take everything else with it. */
	clear_heard();
	d = see_device(11, "odd\xfe\xff", 2);
	bus_sync(bus, USEC_INFINITY);
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
	bus_sync(bus, USEC_INFINITY);
	model_remove_device(&model, model_device_by_index(&model, 7));
	bus_sync(bus, USEC_INFINITY);
	settle();
	assert_int_equal(heard.added, 2);
	assert_int_equal(heard.removed, 2);
	assert_string_equal(heard.object, BUS_PORT_PREFIX "/d7p1");

	clear_heard();
	bus_forget_device(bus, d);
	model_remove_device(&model, d);
	bus_sync(bus, USEC_INFINITY);
	settle();
	assert_int_equal(heard.removed, 3);
	assert_int_equal(heard.added, 0);
	read_objects(call(BUS_ROOT_PATH, OM, "GetManagedObjects", ""), paths, sizeof(paths));
	assert_int_equal(strlen(paths), strlen(DEVICE3 " " PORT3 " "));
}

/* A pass that is out of time goes on where it stopped, and what came behind it waits for the next. */
static void test_slices(void **state)
{
	struct device *d = see_device(20, "rxe20", 2);
	unsigned calls = 1;

	/* Without any time one object for each call: two are known, three are new. */
	clear_heard();
	while (bus_sync(bus, 0))
		calls++;
	settle();
	assert_int_equal(calls, 5);
	assert_int_equal(heard.added, 3);

	/* What changes of an object that this pass is behind is told by the next one. */
	clear_heard();
	for (int i = 0; i < 2; i++)
		assert_true(bus_sync(bus, 0));
	device_port(device, 1)->flap_count++;
	device_port(d, 2)->flap_count++;
	assert_false(bus_sync(bus, USEC_INFINITY));
	settle();
	assert_int_equal(heard.changed, 1);
	assert_string_equal(heard.path, BUS_PORT_PREFIX "/d20p2");
	assert_false(bus_sync(bus, USEC_INFINITY));
	settle();
	assert_int_equal(heard.changed, 2);
	assert_string_equal(heard.path, PORT3);

	/* One that goes between two slices. */
	clear_heard();
	for (int i = 0; i < 3; i++)
		assert_true(bus_sync(bus, 0));
	bus_forget_device(bus, d);
	model_remove_device(&model, d);
	assert_false(bus_sync(bus, USEC_INFINITY));
	settle();
	assert_int_equal(heard.removed, 3);
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
	assert_string_equal(
		sd_bus_message_get_error(m)->message, "rdmad.conf:3: Unknown key \"\xef\xbf\xbd\"");
	reload_result = 0;
}

static uint32_t answer(sd_bus_message *m)
{
	uint32_t n = UINT32_MAX;

	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_read(m, "u", &n) > 0);
	return n;
}

static void test_baseline(void **state)
{
	sd_bus_message *m;
	const char *text;

	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "DescribeBaseline", "");
	assert_null(sd_bus_message_get_error(m));
	assert_true(sd_bus_message_read(m, "s", &text) > 0);
	assert_non_null(strstr(text, "\"Baseline\":[]"));
	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "SaveBaseline", "ast", 0, (uint64_t)0);
	assert_int_equal(answer(m), 0);
	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "SaveBaseline", "ast", 2, "a", "b",
		(uint64_t)0);
	assert_int_equal(answer(m), 2);
	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "DropBaseline", "ast", 1, "a", (uint64_t)0);
	assert_int_equal(answer(m), 101);
	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "DropBaseline", "ast", 1, "none",
		(uint64_t)0);
	assert_error(m, BUS_ERROR_NO_SUCH_OBJECT);
	m = call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "SaveBaseline", "ast", 0, (uint64_t)1);
	assert_error(m, BUS_ERROR_INVALID_ARGS);
}

static void test_apply(void **state)
{
	const char *path = BUS_ROOT_PATH, *interface = BUS_MANAGER_INTERFACE;

	assert_null(sd_bus_message_get_error(call(path, interface, "Apply", "t", UINT64_C(1))));
	assert_string_equal(applied, "all disruptive");
	assert_null(sd_bus_message_get_error(
		call(path, interface, "ApplyObjects", "ast", 2, "rxe0", "rxe0/1", UINT64_C(0))));
	assert_string_equal(applied, "rxe0 rxe0/1");
	applied[0] = '\0';
	assert_error(call(path, interface, "ApplyObjects", "ast", 1, "nosuch", UINT64_C(0)),
		BUS_ERROR_NO_SUCH_OBJECT);
	assert_error(call(path, interface, "ApplyObjects", "ast", 0, UINT64_C(0)),
		BUS_ERROR_INVALID_ARGS);
	assert_error(call(path, interface, "ApplyObjects", "ast", 1, "rxe0", UINT64_C(2)),
		BUS_ERROR_INVALID_ARGS);
	assert_error(call(path, interface, "Apply", "t", UINT64_C(2)), BUS_ERROR_INVALID_ARGS);
	assert_string_equal(applied, "");
}

static sd_bus_message *release(const char *object, uint64_t duration, uint64_t flags)
{
	return call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Release", "astt", 1, object, duration,
		flags);
}

static void test_release(void **state)
{
	sd_bus_message *m;

	released = 0;
	assert_null(sd_bus_message_get_error(release("rxe0", 5 * USEC_PER_SEC, 0)));
	assert_int_equal(released, 5 * USEC_PER_SEC);
	assert_error(release("rxe0", 1, 1), BUS_ERROR_INVALID_ARGS);
	assert_error(release("rxe0", 8 * USEC_PER_DAY, 0), BUS_ERROR_INVALID_ARGS);
	assert_error(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Release", "astt", 0, (uint64_t)1,
			     (uint64_t)0),
		BUS_ERROR_INVALID_ARGS);
	m = release("none", 1, 0);
	assert_error(m, BUS_ERROR_NO_SUCH_OBJECT);
	assert_int_equal(sd_bus_error_get_errno(sd_bus_message_get_error(m)), ENODEV);
	assert_int_equal(released, 5 * USEC_PER_SEC);
}

static sd_bus_message *ack(
	const char *object, const char *reason, const char *comment, uint64_t flags)
{
	return call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Ack", "ssst", object, reason, comment,
		flags);
}

static void test_ack(void **state)
{
	char want[256], long_comment[REASON_TEXT_MAX + 1];

	assert_null(sd_bus_message_get_error(ack("rxe0/1", "port-down", "cable is ordered", 0)));
	snprintf(want, sizeof(want), "rxe0/1 port-down cable is ordered by %u", getuid());
	assert_string_equal(acknowledged, want);
	assert_null(sd_bus_message_get_error(ack("host", "setup-failed:siw", "", 1)));
	snprintf(want, sizeof(want), "host setup-failed:siw  undone by %u", getuid());
	assert_string_equal(acknowledged, want);

	assert_error(ack("none", "port-down", "", 0), BUS_ERROR_NO_SUCH_OBJECT);
	assert_error(ack("rxe0", "device-fatal", "", 0), BUS_ERROR_NO_SUCH_OBJECT);
	assert_error(ack("rxe0", "nosuch", "", 0), BUS_ERROR_INVALID_ARGS);
	assert_error(ack("rxe0", "port-down", "", 2), BUS_ERROR_INVALID_ARGS);
	memset(long_comment, 'x', sizeof(long_comment) - 1);
	long_comment[sizeof(long_comment) - 1] = '\0';
	assert_error(ack("rxe0", "port-down", long_comment, 0), BUS_ERROR_INVALID_ARGS);
	assert_string_equal(acknowledged, want);
}

static void test_explain(void **state)
{
	const char *text;

	assert_true(sd_bus_message_read(
			    call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Explain", "s", "rxe0"), "s",
			    &text) > 0);
	assert_string_equal(text, "{}");
	assert_error(call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Explain", "s", "nobody"),
		BUS_ERROR_NO_SUCH_OBJECT);
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

/* What is allocated; with a sanitizer's allocator this is 0, and proves nothing. */
static size_t allocated_kb(void)
{
	struct mallinfo2 info = mallinfo2();

	return (info.uordblks + info.hblkhd) / 1024;
}

/* Never reads; asks in portions, as more than 128 calls at once the bus refuses by itself. */
static void be_deaf(void)
{
	sd_bus *b = child_connect();

	for (;;) {
		for (unsigned i = 0; i < 25; i++) {
			(void)sd_bus_call_method_async(b, NULL, BUS_NAME, BUS_ROOT_PATH,
				BUS_MANAGER_INTERFACE, "Describe", on_flood_reply, NULL, "");
			(void)sd_bus_call_method_async(b, NULL, BUS_NAME, BUS_ROOT_PATH, OM,
				"GetManagedObjects", on_flood_reply, NULL, "");
		}
		(void)sd_bus_flush(b);
		usleep(20000);
	}
}

/* Wants to hear of everything, and never does. */
static void listen_deafly(void)
{
	sd_bus *b = child_connect();

	if (sd_bus_match_signal(b, NULL, NULL, NULL, NULL, NULL, on_flood_reply, NULL) < 0)
		_exit(103);
	for (;;)
		pause();
}

/* Goes on for so long, with something changing all the time or not; returns what is allocated at most. */
static size_t go_on(bool changing, usec_t span)
{
	usec_t end = timepoint_now().mono + span;
	size_t most = 0;

	while (timepoint_now().mono < end) {
		turn(20 * USEC_PER_MSEC);
		for (struct device *d = model.devices; d && changing; d = d->next)
			device_port(d, 1)->flap_count++;
		bus_sync(bus, USEC_INFINITY);
		most = MAX(most, allocated_kb());
	}
	return most;
}

/* Others are served again, though that one is still there and still does not read. */
static void assert_served_again(void)
{
	usec_t end = timepoint_now().mono + 6 * DEADLINE * slowness();

	/* With a sanitizer and beside a flood one description may take more than a second. */
	call_timeout = 3 * USEC_PER_SEC;
	while (sd_bus_message_is_method_error(
		call(BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Describe", ""), NULL))
		assert_true(timepoint_now().mono < end);
	call_timeout = DEADLINE;
}

/*
 * A client that never reads, be it what it asked for or what it wanted to hear of: the bus stops
 * reading us. We do not grow, and serve the others after some seconds.
 */
static void test_deaf_client(void **state)
{
	static void (*const kinds[])(void) = { be_deaf, listen_deafly };
	struct device *many[256];
	char name[32];

	for (uint32_t i = 0; i < ARRAY_SIZE(many); i++) {
		snprintf(name, sizeof(name), "many%u", i);
		many[i] = see_device(1000 + i, name, 1);
	}
	bus_sync(bus, USEC_INFINITY);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t before = allocated_kb(), most;
		pid_t pid = fork();

		if (pid == 0)
			kinds[i]();
		most = go_on(kinds[i] == listen_deafly, 3 * USEC_PER_SEC);
		print_error("allocated: %zu kB before, %zu kB at most\n", before, most);
		assert_true(most < before + 8 * 1024);
		assert_served_again();
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(many); i++)
		model_remove_device(&model, many[i]);
	bus_sync(bus, USEC_INFINITY);
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
		bus_sync(bus, USEC_INFINITY);
		bus_health_changed(bus, device, NULL, HEALTH_OK, &device->verdict);

		start_bus();
		start = timepoint_now().mono;
		connect_client();
		assert_true(wait_for_name(2 * USEC_PER_SEC * slowness()));
		print_error("back after %llu ms\n",
			(unsigned long long)((timepoint_now().mono - start) / USEC_PER_MSEC));
		clear_heard();
		device_port(device, 1)->flap_count++;
		bus_sync(bus, USEC_INFINITY);
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
		cmocka_unit_test(test_managed_objects),
		cmocka_unit_test(test_unknown_values),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_host_lists),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_log_level),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_authorize_flood),
		cmocka_unit_test(test_deaf_client),
		cmocka_unit_test(test_restarted_bus),
	};

	if (system("dbus-daemon --version >/dev/null 2>&1") != 0) {
		printf("1..0 # SKIP there is no dbus-daemon\n");
		return 0;
	}
	return cmocka_run_group_tests_name("bus", tests, rig_set_up, rig_tear_down);
}
