/* SPDX-License-Identifier: MIT */
/* What rdmad shows, apart from the bus: the JSON and the state file. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>

#include "fields.h"
#include "log.h"
#include "parse.h"
#include "publish.h"

static char dir[] = "/tmp/test-publish.XXXXXX";
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

/* ---- text ---- */

static void test_text(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" }, { "mlx5_0", "mlx5_0" },
		{ "h\xc3\xb6lle \xf0\x9f\x94\xa5", "h\xc3\xb6lle \xf0\x9f\x94\xa5" },
		{ "a\xff"
		  "b",
			"a\xef\xbf\xbd"
			"b" },
		{ "\xc3", "\xef\xbf\xbd" },                                 /* cut short */
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },                 /* overlong */
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* surrogate */
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* noncharacter */
	};
	char buf[TEXT_MAX], bad[2 * TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(text_clean(cases[i].in, buf), cases[i].out);
		assert_true(text_is_valid(cases[i].out));
	}
	assert_string_equal(text_clean(NULL, buf), "");
	memset(bad, 0xff, sizeof(bad));
	bad[sizeof(bad) - 1] = '\0';
	assert_true(text_is_valid(text_clean(bad, buf)));
	assert_true(strlen(buf) < TEXT_MAX);
	assert_string_equal(text_one_line("a\nb\tc\x7f", buf, sizeof(buf)), "a b c ");
	assert_string_equal(text_one_line("abcdef", buf, 4), "abc");
}

/* ---- describe ---- */

static json_t *describe(const struct publish_context *ctx, unsigned events, bool pretty)
{
	char *text = NULL;
	json_error_t e;
	json_t *root;

	assert_int_equal(
		describe_text(ctx, now, events, pretty ? DESCRIBE_PRETTY : DESCRIBE_COMPACT, &text),
		0);
	assert_int_equal(strchr(text, '\n') != NULL, pretty);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	if (!root)
		print_error("%s\n%s\n", e.text, text);
	assert_non_null(root);
	free(text);
	return root;
}

static const char *text_of(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void assert_null_key(json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	if (!v)
		print_error("%s is not there\n", key);
	assert_non_null(v);
	if (!json_is_null(v))
		print_error("%s is not null\n", key);
	assert_true(json_is_null(v));
}

static void assert_keys(json_t *object, const char *keys)
{
	const char *key, *rest = keys;
	char word[64];
	size_t n = 0;
	json_t *v;

	while (next_word(&rest, word, sizeof(word)) > 0) {
		if (!json_object_get(object, word))
			print_error("%s is not there\n", word);
		assert_non_null(json_object_get(object, word));
		n++;
	}
	json_object_foreach(object, key, v) n--;
	assert_int_equal(n, 0);
}

static void test_describe_empty(void **state)
{
	static struct model m;
	struct publish_context ctx = { .model = &m, .config_generation = 7 };
	json_t *root = describe(&ctx, 10, false), *daemon = json_object_get(root, "Daemon");

	assert_keys(root, "Daemon HealthState HealthSince Reasons Devices Missing Setup Events");
	assert_keys(daemon, "Running Version ConfigGeneration LearningPersists "
			    "ExpectationConfigured Ready PreviousVersion GapUSec Pid Timestamp");
	assert_true(json_is_false(json_object_get(daemon, "LearningPersists")));
	assert_true(json_is_false(json_object_get(daemon, "ExpectationConfigured")));
	assert_true(json_is_true(json_object_get(daemon, "Running")));
	assert_int_equal(json_integer_value(json_object_get(daemon, "ConfigGeneration")), 7);
	assert_int_equal(json_integer_value(json_object_get(daemon, "Pid")), getpid());
	assert_true(
		json_integer_value(json_object_get(daemon, "Timestamp")) == (json_int_t)now.real);
	assert_string_equal(text_of(root, "HealthState"), "ok");
	assert_null_key(root, "HealthSince");
	assert_int_equal(json_array_size(json_object_get(root, "Devices")), 0);
	assert_int_equal(json_array_size(json_object_get(root, "Events")), 0);
	json_decref(root);
}

static void test_describe_unknown(void **state)
{
	static const char device_keys[] =
		"Index Name NodeGuid SysImageGuid NodeType Driver PciAddress Adapter NumaNode "
		"FirmwareVersion BoardId HcaType HardwareRevision NodeDescription UverbsNode "
		"VirtualFunction PhysicalFunction LocalCpus Gpu GpuHops PcieLinks HealthState "
		"HealthSince Reasons IgnoredBecause ReleasedUntil ReleasedBy SetupState Ports";
	static const char port_keys[] =
		"Number LinkLayer PortState PhysState Rate Width Speed ActiveMtu Lid SmLid Gids "
		"NetDevice NetDeviceIndex Group Required HealthState HealthSince Reasons "
		"IgnoredBecause "
		"FlapCount DownSince ProbeState LastProbe Peer Module PKeys UmadNode Bond "
		"BondLegs Qos";
	static const char *const null_device[] = { "NodeGuid", "SysImageGuid", "NodeType", "Driver",
		"PciAddress", "Adapter", "NumaNode", "FirmwareVersion", "BoardId", "HcaType",
		"HardwareRevision", "NodeDescription", "UverbsNode", "VirtualFunction",
		"PhysicalFunction", "LocalCpus", "Gpu", "GpuHops", "HealthSince", "IgnoredBecause",
		"ReleasedUntil", "ReleasedBy", "SetupState" };
	static const char *const null_port[] = { "LinkLayer", "PortState", "PhysState", "Rate",
		"Width", "Speed", "ActiveMtu", "Lid", "SmLid", "Gids", "NetDevice",
		"NetDeviceIndex", "Group", "HealthSince", "IgnoredBecause", "DownSince",
		"LastProbe", "Peer", "Module", "PKeys", "UmadNode", "Bond", "Qos" };
	static struct model m;
	struct publish_context ctx = { .model = &m };
	struct device_facts f = { .index = 3, .port_count = 1, .numa_node = -1, .name = "rxe0" };
	struct device *d;
	json_t *root, *device, *port;

	model_listing_begin(&m);
	assert_true(model_see_device(&m, &f, now, &d) >= 0);
	root = describe(&ctx, 0, true);
	device = json_array_get(json_object_get(root, "Devices"), 0);
	port = json_array_get(json_object_get(device, "Ports"), 0);
	assert_keys(device, device_keys);
	assert_keys(port, port_keys);
	for (size_t i = 0; i < ARRAY_SIZE(null_device); i++)
		assert_null_key(device, null_device[i]);
	for (size_t i = 0; i < ARRAY_SIZE(null_port); i++)
		assert_null_key(port, null_port[i]);
	assert_int_equal(json_integer_value(json_object_get(port, "FlapCount")), 0);
	assert_true(json_is_false(json_object_get(port, "Required")));
	json_decref(root);
	model_done(&m);
}

/* A model with something of everything. */
static void fill_model(struct model *m, struct device **ret)
{
	struct device_facts f = {
		.index = 3,
		.port_count = 1,
		.node_guid = 0x0a7fbc1245efd23b,
		.numa_node = 1,
		.name = "mlx5_\xff",
		.firmware_version = "\x80\x81 \"quoted\"\n",
		.pci_address = "0000:3b:00.0",
	};
	struct port_facts p = port_facts_unknown(3, 1);
	struct port *port;

	model_listing_begin(m);
	assert_true(model_see_device(m, &f, now, ret) >= 0);
	port = device_port(*ret, 1);
	p.state = 9;
	p.phys_state = PHYS_STATE_LINKUP;
	p.link_layer = LINK_LAYER_INFINIBAND;
	p.rate_mbps = 200000;
	p.lid = 0;
	p.sm_lid = 1;
	STRSCPY(p.width, "4X");
	STRSCPY(p.speed, "HDR");
	port_see(port, &p, true, now);
	port->required = true;
	port->verdict.health = HEALTH_FAILED;
	port->verdict.n_reasons = 1;
	port->verdict.reasons[0] = (struct reason){
		.id = REASON_NO_SUBNET_MANAGER,
		.severity = SEVERITY_FAILED,
		.since = now,
		.found = "state \xfe",
		.wanted = "ACTIVE",
	};
}

/* ---- the lists ---- */

static void see_netdev(struct model *m, uint32_t ifindex, const char *name, uint32_t master)
{
	struct netdev_facts f = { .ifindex = ifindex, .master = master, .carrier = ifindex != 8 };
	uint32_t downs;

	f.leg = master ? BOND_LEG_ACTIVE : BOND_LEG_NONE;
	STRSCPY(f.name, name);
	assert_int_equal(model_see_netdev(m, &f, &downs), 1);
}

static void fill_tables(struct port *p)
{
	static const uint8_t address[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	struct gid_facts gid = { .index = 3, .type = GID_TYPE_ROCE_V2, .netdev = "eth0" };
	struct pkey_facts pkeys = { .n = 3, .pkeys = { 0xffff, 0, 0x8001 } };
	struct table_facts end = { .umad = "umad5" };
	struct tables_update u;

	memcpy(gid.gid, address, sizeof(address));
	assert_int_equal(port_tables_add_gid(&p->tables, &gid), 0);
	gid.index = 4;
	gid.type = GID_TYPE_IB;
	assert_int_equal(port_tables_add_gid(&p->tables, &gid), 0);
	assert_int_equal(port_tables_add_pkeys(&p->tables, &pkeys), 0);
	port_tables_finish(&p->tables, &end, &u);
}

static void test_describe_tables(void **state)
{
	static struct model m;
	struct publish_context ctx = { .model = &m };
	json_t *root, *port, *list, *o;
	struct device *d;

	fill_model(&m, &d);
	fill_tables(&d->ports[0]);
	root = describe(&ctx, 0, false);
	port = json_array_get(
		json_object_get(json_array_get(json_object_get(root, "Devices"), 0), "Ports"), 0);
	assert_string_equal(text_of(port, "UmadNode"), "umad5");
	list = json_object_get(port, "Gids");
	assert_int_equal(json_array_size(list), 2);
	o = json_array_get(list, 0);
	assert_keys(o, "Index Type Gid Address NetDevice");
	assert_int_equal(json_integer_value(json_object_get(o, "Index")), 3);
	assert_string_equal(text_of(o, "Type"), "RoCE v2");
	assert_string_equal(text_of(o, "Address"), "192.0.2.1");
	assert_string_equal(text_of(o, "Gid"), "0000:0000:0000:0000:0000:ffff:c000:0201");
	assert_null_key(json_array_get(list, 1), "Address");
	list = json_object_get(port, "PKeys");
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "Index")), 2);
	assert_string_equal(text_of(json_array_get(list, 1), "PKey"), "0x8001");
	json_decref(root);
	model_done(&m);
}

/* What no reading has had is unknown: an empty list would say that there is none. */
static void test_describe_unreadable_tables(void **state)
{
	static struct model m;
	struct publish_context ctx = { .model = &m };
	struct table_facts end = { .gid_error = -EIO, .pkey_error = -EIO };
	struct tables_update u;
	struct device *d;
	struct port *p;

	fill_model(&m, &d);
	p = &d->ports[0];
	for (int i = 0; i < 4; i++) {
		static const struct {
			int error;
			const char *protocol;
			bool gids, pkeys;
		} cases[] = { { -EIO, "ib", false, false }, { -ENOENT, "ib", false, false },
			/* The kernel makes no directory for the P_Keys that iWARP has not. */
			{ -ENOENT, "iw", false, true }, { 0, "ib", true, true } };
		json_t *root, *port;

		STRSCPY(d->facts.protocol, cases[i].protocol);
		end.gid_error = end.pkey_error = cases[i].error;
		port_tables_finish(&p->tables, &end, &u);
		root = describe(&ctx, 0, false);
		port = json_array_get(
			json_object_get(
				json_array_get(json_object_get(root, "Devices"), 0), "Ports"),
			0);
		assert_int_equal(json_is_array(json_object_get(port, "Gids")), cases[i].gids);
		assert_int_equal(json_is_null(json_object_get(port, "Gids")), !cases[i].gids);
		assert_int_equal(json_is_array(json_object_get(port, "PKeys")), cases[i].pkeys);
		assert_int_equal(json_is_null(json_object_get(port, "PKeys")), !cases[i].pkeys);
		json_decref(root);
	}
	model_done(&m);
}

/* What is in the brief text is the same in the whole one, and what is left out there was nothing, or is long. */
static void test_describe_brief(void **state)
{
	static const char device_keys[] = "Index Name PciAddress HealthState Ports";
	static const char port_keys[] = "Number LinkLayer PortState PhysState Rate Width Speed "
					"Required HealthState Reasons ProbeState";
	static struct model m;
	struct publish_context ctx = { .model = &m };
	json_t *brief, *whole, *device[2], *port[2], *value;
	json_error_t e;
	struct device *d;
	const char *key;
	char *text;

	fill_model(&m, &d);
	fill_tables(&d->ports[0]);
	whole = describe(&ctx, 0, false);
	assert_int_equal(describe_text(&ctx, now, 0, DESCRIBE_BRIEF, &text), 0);
	brief = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	free(text);
	device[0] = json_array_get(json_object_get(brief, "Devices"), 0);
	device[1] = json_array_get(json_object_get(whole, "Devices"), 0);
	port[0] = json_array_get(json_object_get(device[0], "Ports"), 0);
	port[1] = json_array_get(json_object_get(device[1], "Ports"), 0);
	assert_keys(device[0], device_keys);
	assert_keys(port[0], port_keys);
	json_object_foreach(port[0], key, value)
		assert_true(json_equal(value, json_object_get(port[1], key)));
	json_object_del(device[0], "Ports");
	json_object_foreach(device[0], key, value)
		assert_true(json_equal(value, json_object_get(device[1], key)));
	json_object_del(brief, "Devices");
	json_object_del(whole, "Devices");
	assert_true(json_equal(brief, whole));
	json_decref(brief);
	json_decref(whole);
	model_done(&m);
}

static void test_describe_details(void **state)
{
	static struct model m;
	struct publish_context ctx = { .model = &m };
	struct device_details f = device_details_unknown(3);
	json_t *root, *device, *links;
	struct device *d;

	fill_model(&m, &d);
	f.n_pcie = 2;
	f.is_vf = 0;
	STRSCPY(f.board_id, "MT_0000000838");
	STRSCPY(f.pcie[0].address, "0000:3b:00.0");
	f.pcie[0].speed_mtps = 16000;
	f.pcie[0].width = 16;
	assert_true(device_see_details(d, &f));
	root = describe(&ctx, 0, false);
	device = json_array_get(json_object_get(root, "Devices"), 0);
	assert_string_equal(text_of(device, "BoardId"), "MT_0000000838");
	assert_true(json_is_false(json_object_get(device, "VirtualFunction")));
	links = json_object_get(device, "PcieLinks");
	assert_int_equal(json_array_size(links), 2);
	assert_keys(json_array_get(links, 0), "Address Speed Width MaxSpeed MaxWidth");
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(links, 0), "Speed")), 16000);
	assert_null_key(json_array_get(links, 0), "MaxSpeed");
	assert_null_key(json_array_get(links, 1), "Width");
	json_decref(root);
	model_done(&m);
}

/* The port's netdev may be a leg of the bond, or the bond itself. */
static void test_describe_bond(void **state)
{
	static struct model m;
	struct publish_context ctx = { .model = &m };
	json_t *root, *port, *legs, *qos;
	struct qos_facts f;
	struct device *d;

	fill_model(&m, &d);
	see_netdev(&m, 7, "bond0", 0);
	see_netdev(&m, 8, "eth0", 7);
	see_netdev(&m, 9, "eth1", 7);
	f = qos_facts_unknown(7, "bond0");
	f.trust = QOS_TRUST_DSCP;
	f.pfc = 1 << 3;
	f.pause_rx = 0;
	f.class_bandwidth[3] = 50;
	f.pause_tx_frames = 12;
	netdev_see_qos(m.netdevs, &f);
	for (uint32_t ifindex = 7; ifindex <= 8; ifindex++) {
		d->ports[0].facts.netdev_index = ifindex;
		root = describe(&ctx, 0, false);
		port = json_array_get(
			json_object_get(
				json_array_get(json_object_get(root, "Devices"), 0), "Ports"),
			0);
		assert_string_equal(text_of(port, "Bond"), "bond0");
		legs = json_object_get(port, "BondLegs");
		assert_int_equal(json_array_size(legs), 2);
		assert_string_equal(text_of(json_array_get(legs, 0), "Name"), "eth0");
		assert_string_equal(text_of(json_array_get(legs, 0), "State"), "active");
		assert_true(json_is_false(json_object_get(json_array_get(legs, 0), "Carrier")));
		qos = json_object_get(port, "Qos");
		if (ifindex == 8) {
			assert_true(json_is_null(qos));
		} else {
			assert_string_equal(text_of(qos, "Trust"), "dscp");
			assert_null_key(qos, "DcbxOwner");
			assert_null_key(qos, "PauseTx");
			assert_true(json_is_false(json_object_get(qos, "PauseRx")));
			assert_int_equal(
				json_integer_value(json_array_get(json_object_get(qos, "Pfc"), 0)),
				3);
			assert_int_equal(
				json_integer_value(json_object_get(qos, "PauseTxFrames")), 12);
			assert_null_key(qos, "PauseRxFrames");
			assert_true(json_is_null(
				json_array_get(json_object_get(qos, "ClassBandwidth"), 0)));
		}
		json_decref(root);
	}
	model_done(&m);
}

static void test_describe_full(void **state)
{
	static struct model m;
	struct setup_row rows[] = {
		{ .step = "add-link", .object = "rxe\xc3", .result = STEP_WAITING, .detail = "d0" },
	};
	struct publish_context ctx = { .model = &m, .setup = rows, .n_setup = 1 };
	json_t *root, *device, *port, *reason, *row, *missing, *event;
	struct event ev = { .when = now, .object = "x\xff/1", .message = "\xff" };
	struct missing *away;
	struct device *d;

	fill_model(&m, &d);
	away = model_add_missing(&m, "gone\xff", 0, "", now);
	assert_non_null(away);
	STRSCPY(away->verdict.ignored_because, "it is lent");
	for (unsigned i = 0; i < 103; i++) {
		snprintf(ev.reason, sizeof(ev.reason), "r%u", i);
		model_add_event(&m, &ev);
	}

	root = describe(&ctx, 1000, false);
	device = json_array_get(json_object_get(root, "Devices"), 0);
	assert_string_equal(text_of(device, "Name"), "mlx5_\xef\xbf\xbd");
	assert_string_equal(text_of(device, "NodeGuid"), "0a7f:bc12:45ef:d23b");
	assert_non_null(strstr(text_of(device, "FirmwareVersion"), "\"quoted\"\n"));
	port = json_array_get(json_object_get(device, "Ports"), 0);
	assert_string_equal(text_of(port, "PortState"), "unknown(9)");
	assert_string_equal(text_of(port, "PhysState"), "linkup");
	assert_string_equal(text_of(port, "LinkLayer"), "InfiniBand");
	assert_int_equal(json_integer_value(json_object_get(port, "Rate")), 200000);
	assert_int_equal(json_integer_value(json_object_get(port, "Lid")), 0);
	assert_true(json_is_integer(json_object_get(port, "Lid")));
	assert_true(json_is_true(json_object_get(port, "Required")));
	assert_true(json_integer_value(json_object_get(port, "LastProbe")) == (json_int_t)now.real);

	reason = json_array_get(json_object_get(port, "Reasons"), 0);
	assert_keys(reason,
		"Id Severity Class Subject Since Found Wanted Remedy Acknowledged AcknowledgedAt "
		"AcknowledgedBy AcknowledgedComment");
	assert_string_equal(text_of(reason, "Id"), "no-subnet-manager");
	assert_string_equal(text_of(reason, "Class"), "fabric");
	assert_null_key(reason, "Remedy");

	row = json_array_get(json_object_get(root, "Setup"), 0);
	assert_keys(row, "Step Object Found Wanted Result Detail Disruptive Remedy Call");
	assert_string_equal(text_of(row, "Result"), "waiting");
	assert_null_key(row, "Found");
	missing = json_array_get(json_object_get(root, "Missing"), 0);
	assert_keys(missing, "Name NodeGuid PciAddress HealthState IgnoredBecause Reasons");
	assert_string_equal(text_of(missing, "IgnoredBecause"), "it is lent");

	assert_int_equal(json_array_size(json_object_get(root, "Events")), EVENTS_MAX);
	event = json_array_get(json_object_get(root, "Events"), 0);
	assert_keys(event, "When Object Reason OldState NewState Message");
	assert_string_equal(text_of(event, "Reason"), "r3");
	event = json_array_get(json_object_get(root, "Events"), EVENTS_MAX - 1);
	assert_string_equal(text_of(event, "Reason"), "r102");
	json_decref(root);

	root = describe(&ctx, 2, false);
	assert_int_equal(json_array_size(json_object_get(root, "Events")), 2);
	event = json_array_get(json_object_get(root, "Events"), 0);
	assert_string_equal(text_of(event, "Reason"), "r101");
	json_decref(root);
	model_done(&m);
}

/* ---- the state file ---- */

static void read_file(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

static void test_state_file(void **state)
{
	char path[64], temporary[64], text[64];
	struct stat st;
	mode_t mask = umask(0077);
	int fd;

	snprintf(path, sizeof(path), "%s/state.json", dir);
	snprintf(temporary, sizeof(temporary), "%s/.state.json.tmp", dir);
	assert_int_equal(state_file_write(dir, "state.json", "{1}\n"), 0);
	read_file(path, text, sizeof(text));
	assert_string_equal(text, "{1}\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);

	/* Who has the old one open goes on reading the old one. What a crash left is no obstacle,
	 * also when it is a link that somebody set as a trap. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(symlink("/etc/passwd", temporary), 0);
	assert_int_equal(state_file_write(dir, "state.json", "{22}\n"), 0);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	close(fd);
	read_file(path, text, sizeof(text));
	assert_string_equal(text, "{22}\n");
	assert_int_equal(access(temporary, F_OK), -1);

	/* On failure the old file stays, and no temporary one is left. */
	assert_int_equal(mkdir(temporary, 0755), 0);
	assert_true(state_file_write(dir, "state.json", "{333}\n") < 0);
	read_file(path, text, sizeof(text));
	assert_string_equal(text, "{22}\n");
	assert_int_equal(rmdir(temporary), 0);
	assert_int_equal(state_file_write("/nowhere/at/all", "state.json", ""), -ENOENT);

	snprintf(path, sizeof(path), "%s/sub", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(state_file_write(dir, "sub", "text"), -EISDIR);
	snprintf(temporary, sizeof(temporary), "%s/.sub.tmp", dir);
	assert_int_equal(access(temporary, F_OK), -1);
	umask(mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_describe_empty),
		cmocka_unit_test(test_describe_unknown),
		cmocka_unit_test(test_describe_full),
		cmocka_unit_test(test_describe_tables),
		cmocka_unit_test(test_describe_unreadable_tables),
		cmocka_unit_test(test_describe_brief),
		cmocka_unit_test(test_describe_details),
		cmocka_unit_test(test_describe_bond),
		cmocka_unit_test(test_state_file),
	};

	return cmocka_run_group_tests_name("publish", tests, set_up, tear_down);
}
