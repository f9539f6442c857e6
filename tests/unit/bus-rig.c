/* SPDX-License-Identifier: MIT */
#include "bus-rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "log.h"
#include "parse.h"

#define POLICY SOURCE_ROOT "/units/org.rdmad1.conf"

static char dir[] = "/tmp/test-bus.XXXXXX";
char address[64];
sd_event *loop;
static pid_t bus_pid = -1;
sd_bus *client;
usec_t call_timeout = DEADLINE;
struct bus *bus;
struct model model;
struct publish_context context = { .model = &model, .config_generation = 1 };
struct device *device;
int reload_result;
unsigned n_reloads;
usec_t released;
char acknowledged[256];
char applied[256];
const struct timepoint now = { .mono = 5 * USEC_PER_SEC, .real = 1700000000 * USEC_PER_SEC };

struct heard heard;

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
		"<auth>EXTERNAL</auth><policy context=\"default\"><allow user=\"*\"/><deny "
		"own=\"*\"/>"
		"<deny send_type=\"method_call\"/><allow send_type=\"signal\"/>"
		"<allow send_requested_reply=\"true\" send_type=\"method_return\"/>"
		"<allow send_requested_reply=\"true\" send_type=\"error\"/>"
		"<allow receive_type=\"method_call\"/><allow receive_type=\"method_return\"/>"
		"<allow receive_type=\"error\"/><allow receive_type=\"signal\"/>"
		"<allow send_destination=\"org.freedesktop.DBus\"/>"
		"<allow send_destination=\"org.freedesktop.PolicyKit1\"/></policy>"
		"<policy user=\"%u\"><allow own=\"org.rdmad1\"/>"
		"<allow own=\"org.freedesktop.PolicyKit1\"/></policy>"
		"<include>%s</include>"
		"<limit name=\"max_incoming_bytes\">1000000</limit>"
		"<limit name=\"max_outgoing_bytes\">1500000</limit></busconfig>",
		dir, (unsigned)getuid(), POLICY);
	fclose(f);
}

void start_bus(void)
{
	char arg[96];

	snprintf(arg, sizeof(arg), "--config-file=%s/bus.conf", dir);
	bus_pid = fork();
	if (bus_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!getenv("TEST_DEBUG"))
			(void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execlp("dbus-daemon", "dbus-daemon", arg, "--nofork", "--nopidfile", NULL);
		_exit(127);
	}
	assert_true(bus_pid > 0);
}

void stop_bus(void)
{
	kill(bus_pid, SIGKILL);
	waitpid(bus_pid, NULL, 0);
	bus_pid = -1;
}

/* Machines that emulate, and sanitizers, say by how much they are slower. */
usec_t slowness(void)
{
	const char *e = getenv("RDMAD_TEST_SLOW");
	uint64_t n;

	return e && parse_u64(e, &n) == 0 && n > 0 ? n : 1;
}

/* ---- turning the loop ---- */

void turn(usec_t most)
{
	assert_true(sd_event_run(loop, most) >= 0);
}

bool turn_until(const bool *done, usec_t span)
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

sd_bus_message *finish_call(sd_bus_message *call)
{
	last_reply = sd_bus_message_unref(last_reply);
	have_reply = false;
	assert_true(sd_bus_call_async(client, NULL, call, on_reply, NULL, call_timeout) >= 0);
	sd_bus_message_unref(call);
	assert_true(turn_until(&have_reply, call_timeout + DEADLINE));
	return last_reply;
}

sd_bus_message *call(
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
void settle(void)
{
	const sd_bus_error *e;

	e = sd_bus_message_get_error(call(BUS_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", ""));
	assert_null(e);
}

void assert_error(sd_bus_message *m, const char *name)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);

	assert_non_null(e);
	assert_string_equal(e->name, name);
}

/* ---- the daemon's side ---- */

static int do_reload(void *user, uint32_t uid, char *why, size_t size)
{
	n_reloads++;
	if (reload_result < 0)
		snprintf(why, size, "rdmad.conf:3: Unknown key \"\xff\"");
	return reload_result;
}

static int do_release(
	void *user, char *const *objects, usec_t duration, uint32_t uid, char *why, size_t why_size)
{
	if (streq(objects[0], "none")) {
		snprintf(why, why_size, "none: there is no such device");
		return -ENODEV;
	}
	released = duration;
	return 0;
}

static int do_save_baseline(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size)
{
	*ret_n = 0;
	for (char *const *o = objects; o && *o; o++) {
		if (streq(*o, "none")) {
			snprintf(why, why_size, "none: there is no such device");
			return -ENODEV;
		}
		(*ret_n)++;
	}
	return 0;
}

static int do_drop_baseline(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size)
{
	int r = do_save_baseline(user, objects, ret_n, why, why_size);

	*ret_n += 100;
	return r;
}

static int do_acknowledge(
	void *user, const struct acknowledge_call *c, uint32_t uid, char *why, size_t why_size)
{
	if (streq(c->object, "none")) {
		snprintf(why, why_size, "none: there is no such object");
		return -ENODEV;
	}
	if (streq(c->reason, "device-fatal"))
		return -ESRCH;
	if (streq(c->reason, "nosuch"))
		return -EINVAL;
	snprintf(acknowledged, sizeof(acknowledged), "%s %s %s%s by %u", c->object, c->reason,
		c->comment, c->undo ? " undone" : "", uid);
	return 0;
}

static int do_apply(
	void *user, char *const *objects, bool disruptive, uint32_t uid, char *why, size_t why_size)
{
	snprintf(applied, sizeof(applied), "%s", objects ? "" : "all");
	for (char *const *o = objects; o && *o; o++) {
		if (streq(*o, "nosuch")) {
			applied[0] = '\0';
			return -ENODEV;
		}
		snprintf(applied + strlen(applied), sizeof(applied) - strlen(applied), "%s%s",
			o == objects ? "" : " ", *o);
	}
	if (disruptive)
		strncat(applied, " disruptive", sizeof(applied) - strlen(applied) - 1);
	bus_applied(bus); /* it has settled at once */
	return 0;
}

static int do_explain(void *user, const char *object, char **ret)
{
	if (!streq(object, "rxe0"))
		return -ENODEV;
	*ret = strdup("{}");
	return *ret ? 0 : -ENOMEM;
}

static const struct publish_context *get_context(void *user)
{
	return &context;
}

static const struct bus_callbacks callbacks = {
	.reload = do_reload,
	.release = do_release,
	.acknowledge = do_acknowledge,
	.apply = do_apply,
	.explain = do_explain,
	.save_baseline = do_save_baseline,
	.drop_baseline = do_drop_baseline,
	.context = get_context,
};

struct device *see_device(uint32_t index, const char *name, uint32_t ports)
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

void see_port(struct port *p, enum port_state state)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, p->number);

	f.state = state;
	f.phys_state = state == PORT_STATE_ACTIVE ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	f.link_layer = LINK_LAYER_ETHERNET;
	f.rate_mbps = 100000;
	port_see(p, &f, true, now);
}

/* ---- the client's side ---- */

void clear_heard(void)
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
	assert_true(sd_bus_message_exit_container(m) >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "s") >= 0);
	while (sd_bus_message_read(m, "s", &name) > 0) {
		strncat(heard.invalidated, name,
			sizeof(heard.invalidated) - strlen(heard.invalidated) - 1);
		strncat(heard.invalidated, " ",
			sizeof(heard.invalidated) - strlen(heard.invalidated) - 1);
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

static int on_event(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *key, *value;
	uint64_t when;
	size_t n = 0;

	heard.events++;
	assert_true(sd_bus_message_read(m, "t", &when) >= 0 && when > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{ss}") >= 0);
	heard.fields[0] = '\0';
	while (sd_bus_message_read(m, "{ss}", &key, &value) > 0)
		n += (size_t)snprintf(
			heard.fields + n, sizeof(heard.fields) - n, "%s=%s ", key, value);
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

bool wait_for_name(usec_t span)
{
	usec_t end = timepoint_now().mono + span;

	while (timepoint_now().mono < end) {
		if (name_has_owner())
			return true;
		turn(10 * USEC_PER_MSEC);
	}
	return false;
}

sd_bus *connect_bus(void)
{
	sd_bus *b;

	assert_true(sd_bus_new(&b) >= 0);
	assert_true(sd_bus_set_address(b, address) >= 0);
	assert_true(sd_bus_set_bus_client(b, true) >= 0);
	assert_true(sd_bus_set_watch_bind(b, true) >= 0);
	assert_true(sd_bus_start(b) >= 0);
	assert_true(sd_bus_attach_event(b, loop, 0) >= 0);
	return b;
}

void connect_client(void)
{
	client = connect_bus();
	assert_true(sd_bus_match_signal_async(client, NULL, BUS_NAME, NULL, PROPERTIES,
			    "PropertiesChanged", on_changed, NULL, NULL) >= 0);
	assert_true(sd_bus_match_signal_async(
			    client, NULL, BUS_NAME, NULL, OM, NULL, on_object, NULL, NULL) >= 0);
	assert_true(sd_bus_match_signal_async(client, NULL, BUS_NAME, NULL, BUS_MANAGER_INTERFACE,
			    "HealthChanged", on_health, NULL, NULL) >= 0);
	assert_true(sd_bus_match_signal_async(client, NULL, BUS_NAME, NULL, BUS_MANAGER_INTERFACE,
			    "Event", on_event, NULL, NULL) >= 0);
}

int rig_set_up(void **state)
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
		print_error("rdmad did not get its name\n");
		return -1;
	}
	return 0;
}

int rig_tear_down(void **state)
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
