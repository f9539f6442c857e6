/* SPDX-License-Identifier: MIT */
/* What systemd and the journal are told, and the catalog that explains it. */
#include "test.h"

#include <endian.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>

#include "log.h"
#include "message-ids.h"
#include "publish.h"

static char dir[] = "/tmp/test-journal.XXXXXX";
static const struct timepoint now = { .mono = 5 * USEC_PER_SEC, .real = 1700000000 * USEC_PER_SEC };

static int set_up(void **state)
{
	log_set_max_level(LOG_EMERG);
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* ---- sockets that others would have ---- */

static int listen_datagrams(const char *name, char *path, size_t size)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	snprintf(path, size, "%s/%s", dir, name);
	STRSCPY(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* The next datagram as text, "" when there is none. Returns its length. */
static size_t receive(int fd, char *text, size_t size)
{
	ssize_t n = recv(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void test_notify(void **state)
{
	char path[64], text[1024];
	int fd = listen_datagrams("notify", path, sizeof(path));

	setenv("NOTIFY_SOCKET", path, 1);
	notify_ready();
	receive(fd, text, sizeof(text));
	assert_string_equal(text, "READY=1");

	notify_status("1 device\nMAINPID=1");
	receive(fd, text, sizeof(text));
	assert_string_equal(text, "STATUS=1 device MAINPID=1");
	notify_status("1 device\nMAINPID=1");
	assert_int_equal(receive(fd, text, sizeof(text)), 0);

	/* A reload always ends, also when the daemon stops in the middle of it. */
	notify_reloading();
	receive(fd, text, sizeof(text));
	assert_int_equal(strncmp(text, "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
	notify_stopping();
	receive(fd, text, sizeof(text));
	assert_string_equal(text, "READY=1");
	receive(fd, text, sizeof(text));
	assert_string_equal(text, "STOPPING=1");
	notify_stopping();
	receive(fd, text, sizeof(text));
	assert_string_equal(text, "STOPPING=1");

	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

/* ---- the journal ---- */

/* A device whose strings are not UTF-8, and whose port has a condition. */
static void fill_model(struct model *m, struct device **ret)
{
	struct device_facts f = {
		.index = 3,
		.port_count = 1,
		.node_guid = 0x0a7fbc1245efd23b,
		.name = "mlx5_\xff",
	};
	struct port *port;

	model_listing_begin(m);
	assert_true(model_see_device(m, &f, now, ret) >= 0);
	port = device_port(*ret, 1);
	port->verdict.n_reasons = 1;
	port->verdict.reasons[0] = (struct reason){
		.id = REASON_NO_SUBNET_MANAGER,
		.severity = SEVERITY_FAILED,
		.since = now,
		.found = "state \xfe",
		.wanted = "ACTIVE",
	};
}

static void assert_field(const char *record, const char *line)
{
	char search[256];

	snprintf(search, sizeof(search), "\n%s\n", line);
	if (!strstr(record, search))
		print_error("%s is not in\n%s", line, record);
	assert_non_null(strstr(record, search));
}

static struct edge make_edge(const struct device *d)
{
	return (struct edge){
		.kind = EDGE_RAISED,
		.device = d,
		.port = &d->ports[0],
		.object = "mlx5_0/1",
		.netdev = "ib0",
		.reason = &d->ports[0].verdict.reasons[0],
		.old_health = HEALTH_OK,
		.new_health = HEALTH_FAILED,
		.message = "mlx5_0/1: no subnet manager",
		.error = EIO,
	};
}

static void test_journal_fields(void **state)
{
	static struct model m;
	char path[64], record[8192];
	int fd = listen_datagrams("journal", path, sizeof(path));
	struct device *d;
	struct edge e;
	uint64_t le;
	size_t n;
	char *p;

	fill_model(&m, &d);
	journal_set_socket(path);
	e = make_edge(d);
	assert_int_equal(journal_edge(&e), 0);
	receive(fd, record, sizeof(record));
	assert_int_equal(strncmp(record, "MESSAGE=mlx5_0/1: no subnet manager\n", 36), 0);
	assert_field(record, "MESSAGE_ID=" RDMAD_MESSAGE_NO_SUBNET_MANAGER);
	assert_field(record, "PRIORITY=3");
	assert_field(record, "SYSLOG_IDENTIFIER=rdmad");
	assert_field(record, "RDMA_DEVICE=mlx5_\xff");
	assert_field(record, "RDMA_PORT=1");
	assert_field(record, "RDMA_GUID=0a7f:bc12:45ef:d23b");
	assert_field(record, "RDMAD_OBJECT=mlx5_0/1");
	assert_field(record, "RDMAD_REASON=no-subnet-manager");
	assert_field(record, "RDMAD_OLD_STATE=ok");
	assert_field(record, "RDMAD_NEW_STATE=failed");
	assert_field(record, "RDMAD_FOUND=state \xfe");
	assert_field(record, "RDMAD_WANTED=ACTIVE");
	assert_field(record, "INTERFACE=ib0");
	assert_field(record, "ERRNO=5");
	assert_int_equal(receive(fd, record, sizeof(record)), 0);

	/* What is not there has its name and GUID in the record, too. */
	e.device = NULL;
	e.port = NULL;
	e.missing = &(struct missing){ .name = "mlx5_9", .node_guid = 0xabc };
	assert_int_equal(journal_edge(&e), 0);
	receive(fd, record, sizeof(record));
	assert_field(record, "RDMA_DEVICE=mlx5_9");
	assert_field(record, "RDMA_GUID=0000:0000:0000:0abc");
	assert_null(strstr(record, "\nRDMA_PORT="));
	e = make_edge(d);

	/* Over: a notice with the common id. A value with a line end goes with its length. */
	e.kind = EDGE_CLEARED;
	e.message = "two\nlines";
	e.netdev = NULL;
	e.error = 0;
	assert_int_equal(journal_edge(&e), 0);
	n = receive(fd, record, sizeof(record));
	assert_int_equal(strncmp(record, "MESSAGE\n", 8), 0);
	memcpy(&le, record + 8, sizeof(le));
	assert_int_equal(le64toh(le), 9);
	assert_int_equal(memcmp(record + 16, "two\nlines\n", 10), 0);
	p = record + 25;
	assert_true(n > 26);
	assert_field(p, "MESSAGE_ID=" RDMAD_MESSAGE_RECOVERED);
	assert_field(p, "PRIORITY=5");
	assert_null(strstr(p, "INTERFACE="));
	assert_null(strstr(p, "ERRNO="));
	close(fd);
	model_done(&m);
}

static void test_journal_inventory(void **state)
{
	struct inventory_record i = {
		.object = "mlx5_0/1",
		.device = "mlx5_0",
		.node_guid = 0x0a7fbc1245efd23b,
		.port = 1,
		.netdev = "ens1",
		.fact = "best-rate",
		.before = "100 Gb/s (4X EDR)",
		.after = "200 Gb/s (4X HDR)",
		.message = "mlx5_0/1: best rate 200 Gb/s (4X HDR), was 100 Gb/s (4X EDR)",
	};
	char path[64], record[8192];
	int fd = listen_datagrams("inventory", path, sizeof(path));

	journal_set_socket(path);
	assert_int_equal(journal_inventory(&i), 0);
	receive(fd, record, sizeof(record));
	assert_int_equal(strncmp(record, "MESSAGE=mlx5_0/1: best rate 200 Gb/s", 36), 0);
	assert_field(record, "MESSAGE_ID=" RDMAD_MESSAGE_INVENTORY);
	assert_field(record, "PRIORITY=5");
	assert_field(record, "RDMAD_OBJECT=mlx5_0/1");
	assert_field(record, "RDMAD_REASON=inventory");
	assert_field(record, "RDMAD_FACT=best-rate");
	assert_field(record, "RDMAD_BEFORE=100 Gb/s (4X EDR)");
	assert_field(record, "RDMAD_FOUND=200 Gb/s (4X HDR)");
	assert_field(record, "RDMA_DEVICE=mlx5_0");
	assert_field(record, "RDMA_GUID=0a7f:bc12:45ef:d23b");
	assert_field(record, "RDMA_PORT=1");
	assert_field(record, "INTERFACE=ens1");

	/* Gone: the catalog still has something to show. */
	i = (struct inventory_record){
		.object = "x", .device = "x", .fact = "adapter-gone", .message = "x: gone"
	};
	assert_int_equal(journal_inventory(&i), 0);
	receive(fd, record, sizeof(record));
	assert_field(record, "RDMAD_BEFORE=-");
	assert_field(record, "RDMAD_FOUND=-");
	assert_null(strstr(record, "RDMA_GUID="));
	assert_null(strstr(record, "RDMA_PORT="));
	assert_null(strstr(record, "INTERFACE="));
	close(fd);
}

static void test_journal_storm(void **state)
{
	const struct storm_record s = {
		.ports = 94,
		.falls = 10012,
		.overruns = 2,
		.message = "host: link storm is over",
	};
	char path[64], record[8192];
	int fd = listen_datagrams("storm", path, sizeof(path));

	journal_set_socket(path);
	assert_int_equal(journal_storm(&s), 0);
	receive(fd, record, sizeof(record));
	assert_int_equal(strncmp(record, "MESSAGE=host: link storm is over\n", 33), 0);
	assert_field(record, "MESSAGE_ID=" RDMAD_MESSAGE_LINK_STORM);
	assert_field(record, "PRIORITY=5");
	assert_field(record, "RDMAD_OBJECT=host");
	assert_field(record, "RDMAD_REASON=link-storm");
	assert_field(record, "RDMAD_PORTS=94");
	assert_field(record, "RDMAD_FALLS=10012");
	assert_field(record, "RDMAD_OVERRUNS=2");
	close(fd);
}

static void test_journal_config(void **state)
{
	struct config_record c = {
		.loaded = true,
		.generation = 3,
		.message = "configuration loaded",
	};
	char path[64], record[8192];
	int fd = listen_datagrams("config", path, sizeof(path));

	journal_set_socket(path);
	assert_int_equal(journal_config(&c), 0);
	receive(fd, record, sizeof(record));
	assert_int_equal(strncmp(record, "MESSAGE=configuration loaded\n", 29), 0);
	assert_field(record, "MESSAGE_ID=" RDMAD_MESSAGE_CONFIG);
	assert_field(record, "PRIORITY=5");
	assert_field(record, "RDMAD_OBJECT=host");
	assert_field(record, "RDMAD_REASON=config");
	assert_field(record, "RDMAD_FOUND=loaded");
	assert_field(record, "RDMAD_CONFIG_GENERATION=3");

	c.loaded = false;
	c.why = "/etc/rdmad/rdmad.conf:3: Mode=aply";
	assert_int_equal(journal_config(&c), 0);
	receive(fd, record, sizeof(record));
	assert_field(record, "PRIORITY=3");
	assert_field(record, "RDMAD_FOUND=/etc/rdmad/rdmad.conf:3: Mode=aply");
	close(fd);
}

static void test_journal_admin(void **state)
{
	struct admin_record a = {
		.action = "ack",
		.object = "mlx5_0/1",
		.by = "root",
		.reason = "port-down",
		.comment = "cable is ordered",
		.message = "mlx5_0/1: port-down acknowledged by root: cable is ordered",
	};
	char path[64], record[8192];
	int fd = listen_datagrams("admin", path, sizeof(path));

	journal_set_socket(path);
	assert_int_equal(journal_admin(&a), 0);
	receive(fd, record, sizeof(record));
	assert_field(record, "MESSAGE_ID=" RDMAD_MESSAGE_ADMIN);
	assert_field(record, "PRIORITY=5");
	assert_field(record, "RDMAD_OBJECT=mlx5_0/1");
	assert_field(record, "RDMAD_ACTION=ack");
	assert_field(record, "RDMAD_BY=root");
	assert_field(record, "RDMAD_REASON=port-down");
	assert_field(record, "RDMAD_COMMENT=cable is ordered");
	assert_null(strstr(record, "RDMAD_EDGE=")); /* it is no edge */

	a = (struct admin_record){
		.action = "reload", .object = "host", .by = "uid 7", .message = "reload"
	};
	assert_int_equal(journal_admin(&a), 0);
	receive(fd, record, sizeof(record));
	assert_field(record, "RDMAD_COMMENT=-");
	assert_null(strstr(record, "RDMAD_REASON="));
	close(fd);
}

/* journald hangs: nobody waits for it, order is kept, and the newest are kept when it is too much. */
/* What a listener is told: keys, each with its value and a blank. */
static char told[1024];

static void listen_to(void *user, const struct journal_field *fields, size_t n)
{
	size_t used = strlen(told);

	assert_ptr_equal(user, told);
	for (size_t i = 0; i < n; i++)
		if (streq(fields[i].key, "MESSAGE") || streq(fields[i].key, "RDMAD_EDGE") ||
			streq(fields[i].key, "RDMA_PORT"))
			used += (size_t)snprintf(told + used, sizeof(told) - used, "%s=%.*s|",
				fields[i].key, (int)fields[i].size, fields[i].value);
}

static void test_journal_listener(void **state)
{
	static struct model m;
	char path[64], record[8192];
	int fd = listen_datagrams("listened", path, sizeof(path));
	const struct config_record c = { .loaded = true, .message = "two\nlines" };
	const struct admin_record a = { .message = "released", .object = "host" };
	const struct inventory_record i = { .message = "firmware", .object = "host" };
	struct device *d;
	struct edge e;

	fill_model(&m, &d);
	journal_set_socket(path);
	journal_listen(listen_to, told);
	e = make_edge(d);
	journal_edge(&e);
	e.kind = EDGE_REMINDER;
	journal_edge(&e);
	journal_config(&c);
	journal_inventory(&i);
	assert_string_equal(told,
		"MESSAGE=mlx5_0/1: no subnet manager|RDMAD_EDGE=raised|RDMA_PORT=1|"
		"MESSAGE=two\nlines|MESSAGE=firmware|");

	/* Also when there is no journal. */
	told[0] = '\0';
	unlink(path);
	journal_admin(&a);
	assert_string_equal(told, "MESSAGE=released|");
	journal_listen(NULL, NULL);
	journal_admin(&a);
	assert_string_equal(told, "MESSAGE=released|");
	while (receive(fd, record, sizeof(record)) > 0)
		;
	close(fd);
	model_done(&m);
}

static void test_journal_behind(void **state)
{
	static struct model m;
	char path[64], record[8192], message[64];
	int fd = listen_datagrams("behind", path, sizeof(path));
	unsigned n = 0, first = 0, last = 0, number;
	sd_event *loop;
	struct device *d;
	struct edge e;
	usec_t start, end;

	fill_model(&m, &d);
	journal_set_socket(path);
	assert_true(sd_event_new(&loop) >= 0);
	journal_attach(loop);
	e = make_edge(d);
	e.message = message;
	start = timepoint_now().mono;
	for (unsigned i = 1; i <= 2000; i++) {
		snprintf(message, sizeof(message), "number %u", i);
		assert_int_equal(journal_edge(&e), 0);
	}
	assert_true(usec_sub(timepoint_now().mono, start) < 5 * USEC_PER_SEC);

	end = timepoint_now().mono + 10 * USEC_PER_SEC;
	while (last < 2000 && timepoint_now().mono < end) {
		while (receive(fd, record, sizeof(record)) > 0) {
			assert_int_equal(sscanf(record, "MESSAGE=number %u\n", &number), 1);
			assert_true(number > last);
			last = number;
			n++;
			if (!first)
				first = number;
		}
		/* The loop does it by itself; the rest goes faster by hand. */
		if (n < 100)
			assert_true(sd_event_run(loop, 50 * USEC_PER_MSEC) >= 0);
		else
			journal_flush();
	}
	assert_int_equal(last, 2000);
	assert_true(n >= 256 && n < 2000);
	assert_int_equal(first, 1);

	journal_done();
	sd_event_unref(loop);
	close(fd);
	model_done(&m);
}

/* No journal at all: no error of the daemon's. */
static void test_journal_away(void **state)
{
	static struct model m;
	struct device *d;
	struct edge e;

	fill_model(&m, &d);
	journal_set_socket("/nowhere/socket");
	e = make_edge(d);
	assert_int_equal(journal_edge(&e), 0);
	journal_done();
	model_done(&m);
}

/* journald was stopped: its socket is there, and nobody listens. What happens is told when it is back. */
static void test_journal_stopped(void **state)
{
	static struct model m;
	char path[64], record[8192];
	struct device *d;
	struct edge e;
	int fd;

	fill_model(&m, &d);
	fd = listen_datagrams("stopped", path, sizeof(path));
	close(fd);
	journal_set_socket(path);
	e = make_edge(d);
	assert_int_equal(journal_edge(&e), 0);
	assert_int_equal(unlink(path), 0);
	fd = listen_datagrams("stopped", path, sizeof(path));
	journal_flush();
	receive(fd, record, sizeof(record));
	assert_field(record, "RDMAD_OBJECT=mlx5_0/1");
	close(fd);
	journal_done();
	model_done(&m);
}

/* ---- message ids and the catalog ---- */

#define IDS_MAX 64

static bool is_id(const char *s)
{
	return strspn(s, "0123456789abcdef") == 32;
}

/* Reads the ids of the lines that begin with prefix; they stand behind "before". */
static size_t read_ids(
	const char *file, const char *prefix, const char *before, char ids[IDS_MAX][33])
{
	FILE *f = fopen(file, "re");
	char line[512];
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *p;

		if (strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		p = strstr(line, before);
		assert_non_null(p);
		p += strlen(before);
		assert_true(is_id(p));
		assert_true(n < IDS_MAX);
		memcpy(ids[n], p, 32);
		ids[n++][32] = '\0';
	}
	fclose(f);
	return n;
}

static void test_catalog(void **state)
{
	static char header[IDS_MAX][33], catalog[IDS_MAX][33];
	size_t n, m;

	n = read_ids(SOURCE_ROOT "/daemon/publish/message-ids.h", "#define RDMAD_MESSAGE_", "\"",
		header);
	m = read_ids(SOURCE_ROOT "/units/rdmad.catalog", "-- ", "-- ", catalog);
	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(header[i], catalog[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(header[i], header[k]);
	}

	/* Every reason has an id, and all ids are used: one per reason, and six more. */
	for (int id = 0; id < _REASON_MAX; id++) {
		const char *raised = journal_message_id(EDGE_RAISED, (enum reason_id)id);
		bool found = false;

		assert_non_null(raised);
		for (size_t i = 0; i < n; i++)
			found = found || streq(header[i], raised);
		assert_true(found);
	}
	assert_int_equal(n, _REASON_MAX + 6);
}

/* 76 columns, and only fields that a record always has: a missing one would show by its name. */
static void test_catalog_text(void **state)
{
	static const char edges[] = "RDMAD_OBJECT RDMAD_REASON RDMAD_SUBJECT RDMAD_OLD_STATE "
				    "RDMAD_NEW_STATE RDMAD_FOUND RDMAD_WANTED RDMAD_REMEDY ";
	static const char inventory[] = "RDMAD_OBJECT RDMAD_REASON RDMAD_FACT RDMAD_BEFORE "
					"RDMAD_FOUND ";
	static const char config[] = "RDMAD_OBJECT RDMAD_REASON RDMAD_FOUND "
				     "RDMAD_CONFIG_GENERATION ";
	static const char restart[] = "RDMAD_OBJECT RDMAD_WHY RDMAD_OLD_VERSION RDMAD_NEW_VERSION "
				      "RDMAD_GAP_USEC RDMAD_UNCOUNTED ";
	static const char admin[] = "RDMAD_OBJECT RDMAD_ACTION RDMAD_BY RDMAD_COMMENT ";
	static const char storm[] = "RDMAD_OBJECT RDMAD_REASON RDMAD_PORTS RDMAD_FALLS "
				    "RDMAD_OVERRUNS ";
	static const struct {
		const char *id, *fields;
	} others[] = {
		{ RDMAD_MESSAGE_INVENTORY, inventory },
		{ RDMAD_MESSAGE_CONFIG, config },
		{ RDMAD_MESSAGE_ADMIN, admin },
		{ RDMAD_MESSAGE_RESTART, restart },
		{ RDMAD_MESSAGE_LINK_STORM, storm },
	};
	const char *always = edges;
	FILE *f = fopen(SOURCE_ROOT "/units/rdmad.catalog", "re");
	unsigned subjects = 0;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char name[64], *p = line;

		assert_true(strcspn(line, "\n") <= 76);
		if (strncmp(line, "-- ", 3) == 0)
			always = edges;
		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			if (strncmp(line, "-- ", 3) == 0 &&
				strncmp(line + 3, others[i].id, 32) == 0)
				always = others[i].fields;
		subjects += strncmp(line, "Subject: ", 9) == 0;
		while ((p = strchr(p, '@'))) {
			size_t len = strcspn(p + 1, "@");

			assert_true(len > 0 && p[1 + len] == '@' && len < sizeof(name) - 2);
			snprintf(name, sizeof(name), "%.*s ", (int)len, p + 1);
			assert_non_null(strstr(always, name));
			p += len + 2;
		}
	}
	fclose(f);
	assert_int_equal(subjects, _REASON_MAX + 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notify),
		cmocka_unit_test(test_journal_fields),
		cmocka_unit_test(test_journal_inventory),
		cmocka_unit_test(test_journal_storm),
		cmocka_unit_test(test_journal_config),
		cmocka_unit_test(test_journal_admin),
		cmocka_unit_test(test_journal_listener),
		cmocka_unit_test(test_journal_behind),
		cmocka_unit_test(test_journal_away),
		cmocka_unit_test(test_journal_stopped),
		cmocka_unit_test(test_catalog),
		cmocka_unit_test(test_catalog_text),
	};

	return cmocka_run_group_tests_name("journal", tests, set_up, tear_down);
}
