/* SPDX-License-Identifier: MIT */
/* Rules on adapters: their PCIe links, device nodes, GIDs, and functions that no device came of. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "health-world.h"

#define SEC USEC_PER_SEC

/* ---- pcie-degraded ---- */

#define GEN3 8000
#define GEN4 16000
#define GEN5 32000

static void test_pcie(void **state)
{
	static const struct {
		const char *name;
		struct {
			uint32_t speed, width, max_speed, max_width;
		} hops[4]; /* from the adapter up */
		uint32_t n;
		int32_t is_vf;
		const char *found, *wanted; /* NULL: not raised */
	} t[] = {
		{ "as fast as can be", { { GEN5, 16, GEN5, 16 }, { GEN5, 16, GEN5, 16 } }, 2, 0,
			NULL, NULL },
		{ "a Gen5 card in a Gen4 slot", { { GEN4, 16, GEN5, 16 }, { GEN4, 16, GEN4, 16 } },
			2, 0, NULL, NULL },
		{ "a Gen4 card in a Gen5 slot", { { GEN4, 16, GEN4, 16 }, { GEN4, 16, GEN5, 16 } },
			2, 0, NULL, NULL },
		{ "Gen5 at Gen4", { { GEN4, 16, GEN5, 16 }, { GEN4, 16, GEN5, 16 } }, 2, 0,
			"16.0 GT/s x16 between 0000:00:01.0 and 0000:00:00.0",
			"32.0 GT/s x16, which both ends can do" },
		{ "half the lanes", { { GEN4, 8, GEN4, 16 }, { GEN4, 8, GEN4, 16 } }, 2, 0,
			"16.0 GT/s x8 between 0000:00:01.0 and 0000:00:00.0",
			"16.0 GT/s x16, which both ends can do" },
		{ "an x16 card in an x8 slot", { { GEN4, 8, GEN4, 16 }, { GEN4, 8, GEN4, 8 } }, 2,
			0, NULL, NULL },
		{ "above a switch",
			{ { GEN5, 16, GEN5, 16 }, { GEN5, 16, GEN5, 16 }, { GEN3, 16, GEN5, 16 },
				{ GEN3, 16, GEN5, 16 } },
			4, 0, "8.0 GT/s x16 between 0000:00:03.0 and 0000:00:02.0",
			"32.0 GT/s x16, which both ends can do" },
		{ "inside a switch is no link",
			{ { GEN4, 16, GEN4, 16 }, { GEN4, 16, GEN4, 16 }, { GEN5, 16, GEN5, 16 },
				{ GEN5, 16, GEN5, 16 } },
			4, 0, NULL, NULL },
		{ "on both sides of a switch",
			{ { GEN3, 16, GEN5, 16 }, { GEN3, 16, GEN5, 16 }, { GEN3, 16, GEN5, 16 },
				{ GEN3, 16, GEN5, 16 } },
			4, 0, "8.0 GT/s x16 between 0000:00:01.0 and 0000:00:00.0, and 1 more",
			"32.0 GT/s x16, which both ends can do" },
		{ "nothing is known of the slot", { { GEN3, 16, GEN5, 16 } }, 1, 0, NULL, NULL },
		{ "what the slot can is not known", { { GEN3, 16, GEN5, 16 }, { GEN3, 16, 0, 0 } },
			2, 0, NULL, NULL },
		{ "what it runs at is not known", { { 0, 0, GEN5, 16 }, { 0, 0, GEN5, 16 } }, 2, 0,
			NULL, NULL },
		{ "one end knows", { { 0, 0, GEN5, 16 }, { GEN3, 16, GEN5, 16 } }, 2, 0,
			"8.0 GT/s x16 between 0000:00:01.0 and 0000:00:00.0",
			"32.0 GT/s x16, which both ends can do" },
		{ "a virtual function", { { GEN3, 16, GEN5, 16 }, { GEN3, 16, GEN5, 16 } }, 2, 1,
			NULL, NULL },
		{ "not on PCI", { { 0, 0, 0, 0 } }, 0, -1, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device_facts f = { .uverbs = "uverbs0" };
		struct device_details details = device_details_unknown(1);
		char text[2 * REASON_TEXT_MAX];
		const struct reason *r;
		struct device *d;
		struct world w;

		world_begin(&w, "");
		d = world_device(&w, "x0", &f, 1, 1);
		world_read(&w, &d->ports[0], ACTIVE, IB);
		details.n_pcie = t[i].n;
		details.is_vf = t[i].is_vf;
		for (uint32_t k = 0; k < t[i].n; k++) {
			struct pcie_hop *hop = &details.pcie[k];

			snprintf(hop->address, sizeof(hop->address), "0000:00:%02x.0", k);
			hop->speed_mtps = t[i].hops[k].speed;
			hop->width = t[i].hops[k].width;
			hop->max_speed_mtps = t[i].hops[k].max_speed;
			hop->max_width = t[i].hops[k].max_width;
		}
		/* Once is nothing: an idle link may save power. */
		device_see_details(d, &details);
		world_judge(&w);
		assert_null(device_reason(d, REASON_PCIE_DEGRADED));
		assert_int_equal(world_outcome(&w, &d->ports[0], REASON_PCIE_DEGRADED, text) ==
					 OUTCOME_PENDING,
			t[i].found != NULL);
		device_see_details(d, &details);
		world_judge(&w);
		r = device_reason(d, REASON_PCIE_DEGRADED);
		if (!r != !t[i].found)
			fail_msg("%s: %sraised", t[i].name, r ? "" : "not ");
		if (r) {
			assert_string_equal(r->found, t[i].found);
			assert_string_equal(r->wanted, t[i].wanted);
			assert_int_equal(r->severity, SEVERITY_DEGRADED);
			assert_int_equal(d->verdict.health, HEALTH_DEGRADED);
		}
		/* What cannot be read changes nothing; */
		details.n_pcie = 0;
		device_see_details(d, &details);
		world_judge(&w);
		assert_int_equal(
			device_reason(d, REASON_PCIE_DEGRADED) != NULL, t[i].found != NULL);
		/* one good reading ends it. */
		details.n_pcie = t[i].n;
		for (uint32_t k = 0; k < t[i].n; k++) {
			details.pcie[k].speed_mtps = details.pcie[k].max_speed_mtps;
			details.pcie[k].width = details.pcie[k].max_width;
		}
		device_see_details(d, &details);
		world_judge(&w);
		if (t[i].n)
			assert_null(device_reason(d, REASON_PCIE_DEGRADED));
		world_end(&w);
	}
}

/* A slow reading, a good one, a slow one: somebody saves power. */
static void test_pcie_power(void **state)
{
	struct device_details slow = device_details_unknown(1), fast;
	struct device *d;
	struct world w;

	(void)state;
	world_begin(&w, "");
	d = world_device(&w, "x0", NULL, 1, 1);
	world_read(&w, &d->ports[0], ACTIVE, IB);
	slow.is_vf = 0;
	slow.n_pcie = 2;
	slow.pcie[0] = (struct pcie_hop){ "0000:01:00.0", 2500, 16, GEN5, 16 };
	slow.pcie[1] = (struct pcie_hop){ "0000:00:01.0", 2500, 16, GEN5, 16 };
	fast = slow;
	fast.pcie[0].speed_mtps = fast.pcie[1].speed_mtps = GEN5;
	for (int i = 0; i < 3; i++) {
		device_see_details(d, &slow);
		world_pass(&w, 60 * SEC);
		assert_null(device_reason(d, REASON_PCIE_DEGRADED));
		device_see_details(d, &fast);
		world_pass(&w, 60 * SEC);
	}
	/* An adapter that nobody uses is not judged. */
	world_configure(&w, "[Port *]\nExpect=down\n");
	world_read(&w, &d->ports[0], POLLING, IB);
	device_see_details(d, &slow);
	device_see_details(d, &slow);
	world_judge(&w);
	assert_null(device_reason(d, REASON_PCIE_DEGRADED));
	assert_int_equal(d->verdict.health, HEALTH_IGNORED);
	world_end(&w);
}

/* ---- device-nodes-missing ---- */

static void test_uverbs(void **state)
{
	struct device_facts f = { .no_uverbs = 1 };
	struct device *d;
	struct world w;

	(void)state;
	world_begin(&w, "");
	d = world_device(&w, "x0", &f, 1, 1);
	world_read(&w, &d->ports[0], ACTIVE, ETHERNET);
	world_judge(&w);
	assert_null(device_reason(d, REASON_DEVICE_NODES_MISSING));
	assert_int_equal(w.recheck, w.now + 30 * SEC);
	world_pass(&w, 30 * SEC - 1);
	assert_null(device_reason(d, REASON_DEVICE_NODES_MISSING));
	world_pass(&w, 1);
	assert_int_equal(
		device_reason(d, REASON_DEVICE_NODES_MISSING)->severity, SEVERITY_DEGRADED);
	assert_non_null(strstr(device_reason(d, REASON_DEVICE_NODES_MISSING)->found, "uverbs"));
	/* Not known is neither. */
	d->facts.no_uverbs = 0;
	world_judge(&w);
	assert_non_null(device_reason(d, REASON_DEVICE_NODES_MISSING));
	STRSCPY(d->facts.uverbs, "uverbs3");
	world_judge(&w);
	assert_null(device_reason(d, REASON_DEVICE_NODES_MISSING));
	/* Nobody misses the nodes of a device that is ignored. */
	d->facts.uverbs[0] = '\0';
	world_pass(&w, 60 * SEC);
	assert_null(device_reason(d, REASON_DEVICE_NODES_MISSING));
	d->facts.no_uverbs = 1;
	world_read(&w, &d->ports[0], POLLING, ETHERNET);
	world_judge(&w);
	assert_int_equal(d->verdict.health, HEALTH_IGNORED);
	world_end(&w);
}

static void read_tables(struct port *p, const char *umad)
{
	struct table_facts f = { .device_index = p->device->facts.index, .port = p->number };
	struct tables_update u;

	STRSCPY(f.umad, umad);
	port_tables_begin(&p->tables);
	port_tables_finish(&p->tables, &f, &u);
}

static void test_umad(void **state)
{
	static const struct {
		const char *name, *protocol;
		enum link_layer layer;
		bool known, other;
		bool raised;
	} t[] = {
		{ "no node, the other has one", "ib", IB, true, true, true },
		{ "Omni-Path", "opa", IB, true, true, true },
		{ "protocol not known", "", IB, true, true, true },
		{ "nobody has one: no ib_umad", "ib", IB, true, false, false },
		{ "not read yet", "ib", IB, false, true, false },
		{ "Ethernet", "roce", ETHERNET, true, true, false },
		{ "iWARP", "iw", IB, true, true, false },
		{ "link layer not known", "ib", LINK_LAYER_UNKNOWN, true, true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device_facts f = { .uverbs = "uverbs0" }, g = { .protocol = "ib" };
		struct port *p, *other;
		struct world w;

		world_begin(&w, "");
		STRSCPY(f.protocol, t[i].protocol);
		STRSCPY(g.uverbs, "uverbs1");
		p = &world_device(&w, "x0", &f, 1, 1)->ports[0];
		other = &world_device(&w, "x1", &g, 2, 1)->ports[0];
		world_read(&w, p, ACTIVE, t[i].layer);
		world_read(&w, other, ACTIVE, IB);
		read_tables(other, t[i].other ? "umad1" : "");
		if (t[i].known)
			read_tables(p, "");
		world_judge(&w);
		world_pass(&w, 30 * SEC);
		/* It is looked for once more. */
		assert_null(port_reason(p, REASON_DEVICE_NODES_MISSING));
		assert_int_equal(p->tables_wanted, t[i].raised);
		if (t[i].known)
			read_tables(p, "");
		world_pass(&w, SEC);
		if (!port_reason(p, REASON_DEVICE_NODES_MISSING) != !t[i].raised)
			fail_msg("%s", t[i].name);
		assert_null(port_reason(other, REASON_DEVICE_NODES_MISSING));
		if (t[i].known)
			read_tables(p, "umad0");
		world_pass(&w, SEC);
		assert_null(port_reason(p, REASON_DEVICE_NODES_MISSING));
		world_end(&w);
	}
}

/* ---- gid-missing ---- */

/* netdevs of the test, by ifindex */
enum { BOND = 10, LEG = 11, VLAN = 12, BOND_VLAN = 13, OTHER = 14 };

static void add_netdevs(struct world *w, enum bond_leg leg)
{
	world_netdev(
		w, &(struct netdev_facts){
			   .ifindex = BOND, .name = "bond0", .flags = IFF_UP, .kind = "bond" });
	world_netdev(w, &(struct netdev_facts){ .ifindex = LEG,
				.name = "d0",
				.flags = IFF_UP,
				.carrier = true,
				.leg = (uint8_t)leg,
				.master = leg == BOND_LEG_NONE ? 0 : BOND });
	world_netdev(w, &(struct netdev_facts){ .ifindex = VLAN,
				.name = "d0.5",
				.flags = IFF_UP,
				.kind = "vlan",
				.link = LEG });
	world_netdev(w, &(struct netdev_facts){ .ifindex = BOND_VLAN,
				.name = "bond0.5",
				.flags = IFF_UP,
				.kind = "vlan",
				.link = BOND });
	world_netdev(w, &(struct netdev_facts){ .ifindex = OTHER, .name = "d1", .flags = IFF_UP });
}

static struct address_facts address(uint32_t ifindex, const char *text, uint32_t flags)
{
	struct address_facts a = { .ifindex = ifindex, .flags = flags, .prefix_length = 24 };

	a.family = strchr(text, ':') ? AF_INET6 : AF_INET;
	a.scope = strncmp(text, "fe80", 4) == 0 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	assert_int_equal(inet_pton(a.family, text, a.address), 1);
	return a;
}

static void read_gids(struct port *p, const char *text, enum gid_type type, int32_t error)
{
	struct table_facts f = { .device_index = 1, .port = 1, .gid_slots = 2, .gid_error = error };
	struct gid_facts local = { .device_index = 1, .port = 1, .type = type };
	struct tables_update u;

	port_tables_begin(&p->tables);
	local.type = type == GID_TYPE_ROCE_V1 ? type : GID_TYPE_ROCE_V2;
	assert_int_equal(inet_pton(AF_INET6, "fe80::1", local.gid), 1);
	assert_int_equal(port_tables_add_gid(&p->tables, &local), 0);
	if (text) {
		struct gid_facts gid = { .device_index = 1, .port = 1, .index = 1, .type = type };

		assert_int_equal(inet_pton(AF_INET6, text, gid.gid), 1);
		assert_int_equal(port_tables_add_gid(&p->tables, &gid), 0);
	}
	port_tables_finish(&p->tables, &f, &u);
}

#define V4     "192.0.2.1"
#define V4_GID "::ffff:192.0.2.1"
#define V6     "2001:db8::1"

static void test_gid(void **state)
{
	static const struct {
		const char *name, *protocol;
		enum link_layer layer;
		enum bond_leg leg;
		uint32_t on; /* whose address it is */
		const char *address;
		uint32_t flags;
		const char *gid; /* NULL none */
		enum gid_type type;
		int32_t error;
		const char *found; /* NULL: not raised */
	} t[] = {
		{ "IPv4, with its GID", "roce", ETHERNET, 0, LEG, V4, 0, V4_GID, GID_TYPE_ROCE_V2,
			0, NULL },
		{ "IPv4, no GID", "roce", ETHERNET, 0, LEG, V4, 0, NULL, 0, 0,
			"no RoCE v2 GID for 192.0.2.1 of d0" },
		{ "IPv4, another GID", "roce", ETHERNET, 0, LEG, V4, 0, "::ffff:192.0.2.2",
			GID_TYPE_ROCE_V2, 0, "no RoCE v2 GID for 192.0.2.1 of d0" },
		{ "IPv6, with its GID", "roce", ETHERNET, 0, LEG, V6, 0, V6, GID_TYPE_ROCE_V2, 0,
			NULL },
		{ "IPv6, no GID", "roce", ETHERNET, 0, LEG, V6, 0, NULL, 0, 0,
			"no RoCE v2 GID for 2001:db8::1 of d0" },
		{ "IPv6, tentative", "roce", ETHERNET, 0, LEG, V6, IFA_F_TENTATIVE, NULL, 0, 0,
			NULL },
		{ "IPv6, duplicate", "roce", ETHERNET, 0, LEG, V6, IFA_F_DADFAILED, NULL, 0, 0,
			NULL },
		{ "IPv6, deprecated", "roce", ETHERNET, 0, LEG, V6, IFA_F_DEPRECATED, NULL, 0, 0,
			NULL },
		{ "link-local", "roce", ETHERNET, 0, LEG, "fe80::2", 0, NULL, 0, 0, NULL },
		{ "loopback", "roce", ETHERNET, 0, LEG, "127.0.0.2", 0, NULL, 0, 0, NULL },
		{ "multicast", "roce", ETHERNET, 0, LEG, "ff0e::1", 0, NULL, 0, 0, NULL },
		{ "RoCE v1 only: ConnectX-3", "roce", ETHERNET, 0, LEG, V4, 0, V4_GID,
			GID_TYPE_ROCE_V1, 0, NULL },
		{ "type not known", "roce", ETHERNET, 0, LEG, V4, 0, V4_GID, GID_TYPE_UNKNOWN, 0,
			NULL },
		{ "table not readable", "roce", ETHERNET, 0, LEG, V4, 0, NULL, 0, -5, NULL },
		{ "iWARP", "iw", ETHERNET, 0, LEG, V4, 0, NULL, 0, 0, NULL },
		{ "InfiniBand", "ib", IB, 0, LEG, V4, 0, NULL, 0, 0, NULL },
		{ "on a VLAN", "roce", ETHERNET, 0, VLAN, V4, 0, NULL, 0, 0,
			"no RoCE v2 GID for 192.0.2.1 of d0.5" },
		{ "on the bond, an active leg", "roce", ETHERNET, BOND_LEG_ACTIVE, BOND, V4, 0,
			NULL, 0, 0, "no RoCE v2 GID for 192.0.2.1 of bond0" },
		{ "on a VLAN of the bond", "roce", ETHERNET, BOND_LEG_ACTIVE, BOND_VLAN, V4, 0,
			NULL, 0, 0, "no RoCE v2 GID for 192.0.2.1 of bond0.5" },
		{ "on the bond, a backup leg", "roce", ETHERNET, BOND_LEG_BACKUP, BOND, V4, 0, NULL,
			0, 0, NULL },
		{ "on a bond that it is not in", "roce", ETHERNET, 0, BOND, V4, 0, NULL, 0, 0,
			NULL },
		{ "on another interface", "roce", ETHERNET, 0, OTHER, V4, 0, NULL, 0, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device_facts f = { .uverbs = "uverbs0" };
		struct address_facts a = address(t[i].on, t[i].address, t[i].flags);
		const struct reason *r;
		struct world w;
		struct port *p;

		world_begin(&w, "");
		STRSCPY(f.protocol, t[i].protocol);
		p = &world_device(&w, "x0", &f, 1, 1)->ports[0];
		add_netdevs(&w, t[i].leg ? t[i].leg : BOND_LEG_NONE);
		p->facts.netdev_index = LEG;
		world_read(&w, p, ACTIVE, t[i].layer);
		read_gids(p, t[i].gid, t[i].type, t[i].error);
		assert_true(model_see_address(&w.model, &a) >= 0);
		world_judge(&w);
		assert_null(port_reason(p, REASON_GID_MISSING));
		assert_false(p->tables_wanted);
		world_pass(&w, 10 * SEC);
		assert_null(port_reason(p, REASON_GID_MISSING));
		assert_int_equal(p->tables_wanted, t[i].found != NULL);
		read_gids(p, t[i].gid, t[i].type, t[i].error);
		world_judge(&w);
		r = port_reason(p, REASON_GID_MISSING);
		if (!r != !t[i].found)
			fail_msg("%s: %sraised", t[i].name, r ? "" : "not ");
		if (r)
			assert_string_equal(r->found, t[i].found);
		if (r && t[i].gid)
			assert_non_null(strstr(r->remedy, "full (2 entries)"));
		world_end(&w);
	}
}

/* The kernel was late, and did not tell: the table is read again before anything is said. */
static void test_gid_late(void **state)
{
	struct device_facts f = { .uverbs = "uverbs0", .protocol = "roce" };
	struct address_facts a = address(LEG, V4, 0);
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "");
	p = &world_device(&w, "x0", &f, 1, 1)->ports[0];
	add_netdevs(&w, BOND_LEG_NONE);
	p->facts.netdev_index = LEG;
	world_read(&w, p, ACTIVE, ETHERNET);
	read_gids(p, NULL, GID_TYPE_ROCE_V2, 0);
	assert_true(model_see_address(&w.model, &a) >= 0);
	world_judge(&w);
	world_pass(&w, 10 * SEC);
	world_pass(&w, 10 * SEC);
	assert_null(port_reason(p, REASON_GID_MISSING));
	assert_true(p->tables_wanted);
	p->tables_wanted = false;
	read_gids(p, V4_GID, GID_TYPE_ROCE_V2, 0);
	world_pass(&w, SEC);
	assert_null(port_reason(p, REASON_GID_MISSING));

	/* Lost later: it stands, is looked for now and then, and is over when it is back. */
	read_gids(p, NULL, GID_TYPE_ROCE_V2, 0);
	world_judge(&w);
	world_pass(&w, 10 * SEC);
	assert_true(p->tables_wanted);
	p->tables_wanted = false;
	read_gids(p, NULL, GID_TYPE_ROCE_V2, 0);
	world_judge(&w);
	assert_non_null(port_reason(p, REASON_GID_MISSING));
	assert_false(p->tables_wanted);
	assert_int_equal(w.recheck, w.now + 30 * SEC);
	world_pass(&w, 30 * SEC);
	assert_true(p->tables_wanted);
	read_gids(p, NULL, GID_TYPE_ROCE_V2, -5);
	world_judge(&w);
	assert_non_null(port_reason(p, REASON_GID_MISSING));
	read_gids(p, V4_GID, GID_TYPE_ROCE_V2, 0);
	world_judge(&w);
	assert_null(port_reason(p, REASON_GID_MISSING));
	world_end(&w);
}

/* ---- device-missing: RoCE on a bond ---- */

/*
 * mlx5_0 and mlx5_1 were learned; a bond of their netdevs makes mlx5_bond_0 of the first function, and
 * the second one has no RDMA device for as long.
 */
static void test_missing_in_lag(void **state)
{
	struct netdev_facts bond = {
		.ifindex = 10, .name = "bond0", .kind = "bond", .flags = IFF_UP, .carrier = true
	};
	struct netdev_facts leg = { .ifindex = 12,
		.name = "eth1",
		.flags = IFF_UP,
		.carrier = true,
		.master = 10,
		.leg = BOND_LEG_ACTIVE };
	struct device_facts f = { .node_guid = 1, .pci_address = "0000:3b:00.0" };
	static const struct {
		const char *name, *pci, *config, *netdev;
		bool ignored;
	} t[] = {
		{ "the second function of a LAG", "0000:3b:00.1", "", "eth1", true },
		{ "another adapter", "0000:3c:00.1", "", "eth1", false },
		{ "its netdev is not on the bond", "0000:3b:00.1", "", "eth9", false },
		{ "it is wanted by name", "0000:3b:00.1", "[Device mlx5_1]\nExpect=yes\n", "eth1",
			false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct missing *x;
		struct world w;
		struct port *p;

		world_begin(&w, t[i].config);
		p = &world_device(&w, "mlx5_bond_0", &f, 1, 1)->ports[0];
		bond.flags = IFF_UP;
		leg.leg = BOND_LEG_ACTIVE;
		leg.master = 10;
		world_netdev(&w, &bond);
		world_netdev(&w, &leg);
		p->facts.netdev_index = 10;
		x = model_add_missing(&w.model, "mlx5_1", 2, t[i].pci, world_now(&w));
		assert_non_null(x);
		x->seen = x->required = true;
		x->n_ports = 1;
		x->ports[0] = (struct missing_port){ 1, ETHERNET, "", true };
		STRSCPY(x->ports[0].netdev, t[i].netdev);
		w.now += USEC_PER_HOUR;
		judge_missing(&w.model, x, w.config, world_now(&w), NULL, NULL);
		if ((x->verdict.health == HEALTH_IGNORED) != t[i].ignored)
			fail_msg("%s: %s", t[i].name, health_to_string(x->verdict.health));
		if (!t[i].ignored) {
			assert_int_equal(x->verdict.health, HEALTH_FAILED);
			world_end(&w);
			continue;
		}
		assert_string_equal(x->verdict.ignored_because,
			"its port is a leg of bond0, which mlx5_bond_0 carries");
		/* The bond is no more: it has time to come back, and is missed then. */
		leg.leg = BOND_LEG_NONE;
		leg.master = 0;
		world_netdev(&w, &leg);
		judge_missing(&w.model, x, w.config, world_now(&w), NULL, NULL);
		assert_int_equal(x->verdict.health, HEALTH_UNKNOWN);
		w.now += w.config->missing_delay_usec;
		judge_missing(&w.model, x, w.config, world_now(&w), NULL, NULL);
		assert_int_equal(x->verdict.health, HEALTH_FAILED);
		world_end(&w);
	}
}

/* ---- device-not-probed ---- */

#define SLOT "0000:3b:00.0"

static void list_elsewhere(struct world *w, const struct elsewhere_facts *f, size_t n)
{
	model_listing_begin(&w->model);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(model_see_elsewhere(&w->model, &f[i]), 0);
	model_place_missing(&w->model, world_now(w));
}

static const struct reason *host_reason(struct world *w)
{
	usec_t recheck = USEC_INFINITY;

	judge_host(&w->model, w->config, NULL, 0, world_now(w), NULL, &recheck);
	return verdict_find(&w->model.verdict, REASON_DEVICE_NOT_PROBED, SLOT);
}

static void test_not_probed(void **state)
{
	static const struct {
		const char *name, *config;
		struct elsewhere_facts facts[2];
		bool present, missed;
		int severity; /* -1: not raised */
	} t[] = {
		{ "no driver", "", { { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false,
			false, SEVERITY_NOTICE },
		{ "no driver, expected", "[Device pci=" SLOT "]\nExpect=yes\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false,
			SEVERITY_FAILED },
		{ "expected by its driver", "[Device driver=mlx5_core]\nExpect=yes\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false,
			SEVERITY_FAILED },
		{ "another is expected", "[Device pci=0000:99:00.0]\nExpect=yes\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false,
			SEVERITY_NOTICE },
		{ "not expected", "[Device pci=" SLOT "]\nExpect=no\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false, -1 },
		{ "not watched", "[Device pci=" SLOT "]\nMonitor=no\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false, -1 },
		{ "a driver, no device", "", { { ELSEWHERE_NOT_PROBED, "", SLOT, 0, "mlx5_core" } },
			false, false, SEVERITY_NOTICE },
		{ "its device is here", "", { { ELSEWHERE_NOT_PROBED, "", SLOT, 0, "mlx5_core" } },
			true, false, -1 },
		{ "its device is in another namespace", "",
			{ { ELSEWHERE_NOT_PROBED, "", SLOT, 0, "mlx5_core" },
				{ ELSEWHERE_NETNS, "mlx5_3", SLOT, -1, "" } },
			false, false, -1 },
		{ "lent to vfio", "", { { ELSEWHERE_VFIO, "", SLOT, 0, "vfio-pci" } }, false, false,
			-1 },
		{ "a virtual function", "", { { ELSEWHERE_UNBOUND, "", SLOT, 1, "mlx5_core" } },
			false, false, -1 },
		{ "denied", "[Modules]\nDeny=mlx5_core\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false, -1 },
		{ "denied, written otherwise", "[Modules]\nDeny=mlx5-core\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } }, false, false, -1 },
		{ "driver not known", "[Modules]\nDeny=mlx5_core\n",
			{ { ELSEWHERE_UNBOUND, "", SLOT, 0, "" } }, false, false, SEVERITY_NOTICE },
		{ "told by device-missing", "", { { ELSEWHERE_UNBOUND, "", SLOT, 0, "mlx5_core" } },
			false, true, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device_facts f = { .pci_address = SLOT };
		const struct reason *r;
		struct world w;
		size_t n = t[i].facts[1].name[0] ? 2 : 1;

		world_begin(&w, t[i].config);
		if (t[i].present)
			world_device(&w, "mlx5_0", &f, 1, 1);
		if (t[i].missed)
			model_add_missing(&w.model, "mlx5_0", 7, SLOT, world_now(&w));
		list_elsewhere(&w, t[i].facts, n);
		assert_null(host_reason(&w));
		w.now += w.config->missing_delay_usec - 1;
		/* The next listing is of the same function; one that is half done says nothing. */
		list_elsewhere(&w, t[i].facts, n);
		assert_null(host_reason(&w));
		model_listing_begin(&w.model);
		w.now += 1;
		r = host_reason(&w);
		if (!r != (t[i].severity < 0))
			fail_msg("%s: %sraised", t[i].name, r ? "" : "not ");
		if (r)
			assert_int_equal(r->severity, t[i].severity);
		if (r && t[i].facts[0].driver[0])
			assert_non_null(strstr(r->found, "mlx5_core"));
		/* Its driver was loaded. */
		list_elsewhere(&w, NULL, 0);
		assert_null(host_reason(&w));
		/* And taken off again: it begins anew. */
		list_elsewhere(&w, t[i].facts, n);
		assert_null(host_reason(&w));
		world_end(&w);
	}
}

/* Somebody switched its RDMA part off: devlink's answer comes after the listing. */
static void test_switched_off(void **state)
{
	const struct elsewhere_facts f = { ELSEWHERE_NOT_PROBED, "", SLOT, 0, "mlx5_core" };
	static const struct {
		int32_t on;
		bool raised;
	} t[] = { { 0, false }, { 1, true }, { -1, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct world w;

		world_begin(&w, "[Device pci=" SLOT "]\nExpect=yes\n");
		list_elsewhere(&w, &f, 1);
		assert_int_equal(w.model.n_unprobed, 1);
		assert_int_equal(w.model.unprobed[0].switched, -1);
		w.model.unprobed[0].switched = t[i].on;
		assert_null(host_reason(&w));
		w.now += w.config->missing_delay_usec;
		/* The next listing forgets neither the answer nor how long it has been so. */
		list_elsewhere(&w, &f, 1);
		if (!host_reason(&w) != !t[i].raised)
			fail_msg("enable_rdma %d: %sraised", t[i].on, t[i].raised ? "not " : "");
		/* Switched on meanwhile, and still no device: from then on. */
		w.model.unprobed[0].switched = 1;
		if (!t[i].raised)
			assert_null(host_reason(&w));
		w.now += w.config->missing_delay_usec;
		assert_non_null(host_reason(&w));
		world_end(&w);
	}
}

/* ---- devlink-reporter-error ---- */

#define HANDLE "pci/0000:3b:00.0"

static struct devlink_facts reporters(const struct reporter *r, size_t n)
{
	struct devlink_facts f = { .device_index = 1, .handle = HANDLE };

	for (size_t i = 0; i < n; i++)
		devlink_facts_add(&f, &r[i]);
	return f;
}

static const struct reason *reporter_reason(const struct device *d, const char *subject)
{
	return verdict_find(&d->verdict, REASON_DEVLINK_REPORTER_ERROR, subject);
}

static void test_reporters(void **state)
{
	const struct reporter well[] = { { 1, 1, REPORTER_OF_DEVICE, 0, "fw_fatal" },
		{ 0, 0, 1, 0, "tx" } };
	const struct reporter bad[] = { { 3, 2, REPORTER_OF_DEVICE, 1, "fw_fatal" },
		{ 7, UINT64_MAX, 1, 1, "tx" } };
	const struct reporter unclear[] = { { 4, 2, REPORTER_OF_DEVICE, -1, "fw_fatal" } };
	struct devlink_facts f;
	char text[2 * REASON_TEXT_MAX];
	const struct reason *r;
	struct device *d;
	struct port *p;
	struct world w;

	(void)state;
	world_begin(&w, "[Port *]\nExpect=up\n");
	d = world_device(&w, "mlx5_0", NULL, 1, 1);
	p = device_port(d, 1);
	world_read(&w, p, ACTIVE, IB);
	world_judge(&w);
	assert_int_equal(world_outcome(&w, p, REASON_DEVLINK_REPORTER_ERROR, text), OUTCOME_ABSENT);
	/* What it recovered from is history. */
	f = reporters(well, 2);
	assert_true(device_see_devlink(d, &f));
	assert_false(device_see_devlink(d, &f));
	world_judge(&w);
	assert_int_equal(d->verdict.health, HEALTH_OK);
	f = reporters(bad, 2);
	assert_true(device_see_devlink(d, &f));
	world_judge(&w);
	assert_int_equal(d->verdict.health, HEALTH_DEGRADED);
	assert_int_equal(d->verdict.n_reasons, 2);
	r = reporter_reason(d, "fw_fatal");
	assert_non_null(r);
	assert_int_equal(r->severity, SEVERITY_DEGRADED);
	assert_string_equal(r->found, HANDLE ": state error, errors so far 3, recoveries 2");
	assert_string_equal(r->wanted, "state healthy");
	assert_string_equal(r->remedy, "devlink health diagnose " HANDLE
				       " reporter fw_fatal says more; \"recover\" instead of "
				       "\"diagnose\" mends it");
	r = reporter_reason(d, "tx of devlink port 1");
	assert_non_null(r);
	assert_string_equal(r->found, HANDLE ": state error, errors so far 7, recoveries unknown");
	assert_non_null(strstr(r->remedy, HANDLE "/1 reporter tx"));
	/* rdmad was restarted: what stood stands until it is read again. */
	d->have_devlink = false;
	world_judge(&w);
	assert_int_equal(d->verdict.n_reasons, 2);
	device_see_devlink(d, &f);
	/* No answer, or an unclear one: it stands as it was; one that is not there any more does not. */
	f = (struct devlink_facts){ .device_index = 1, .error = -EBUSY };
	device_see_devlink(d, &f);
	world_judge(&w);
	assert_int_equal(d->verdict.n_reasons, 2);
	assert_int_equal(world_outcome(&w, p, REASON_DEVLINK_REPORTER_ERROR, text), OUTCOME_ABSENT);
	assert_non_null(strstr(text, "not readable"));
	f = reporters(unclear, 1);
	device_see_devlink(d, &f);
	world_judge(&w);
	assert_int_equal(d->verdict.n_reasons, 1);
	assert_non_null(strstr(reporter_reason(d, "fw_fatal")->found, "errors so far 3"));
	assert_int_equal(world_outcome(&w, p, REASON_DEVLINK_REPORTER_ERROR, text), OUTCOME_ABSENT);
	f = reporters(well, 1);
	device_see_devlink(d, &f);
	world_judge(&w);
	assert_int_equal(d->verdict.n_reasons, 0);
	assert_int_equal(world_outcome(&w, p, REASON_DEVLINK_REPORTER_ERROR, text), OUTCOME_CLEAR);
	/* The driver has none, or none any more. */
	f = reporters(bad, 1);
	device_see_devlink(d, &f);
	f = (struct devlink_facts){ .device_index = 1, .error = -ENODEV };
	device_see_devlink(d, &f);
	world_judge(&w);
	assert_int_equal(d->verdict.n_reasons, 0);
	/* Nobody expects anything of it. */
	world_configure(&w, "[Port *]\nExpect=down\n");
	world_read(&w, p, POLLING, IB);
	f = reporters(bad, 2);
	device_see_devlink(d, &f);
	world_judge(&w);
	assert_int_equal(d->verdict.health, HEALTH_IGNORED);
	assert_int_equal(d->verdict.n_reasons, 0);
	world_end(&w);
}

/* ---- device-fatal ---- */

/* The manager says so when the device outlived its DEVICE_FATAL; only a new device ends it. */
static void test_fatal(void **state)
{
	struct world w;
	struct device *d;

	(void)state;
	world_begin(&w, "[Port *]\nExpect=up\n");
	d = world_device(&w, "x0", NULL, 1, 1);
	world_read(&w, &d->ports[0], ACTIVE, IB);
	world_judge(&w);
	assert_null(device_reason(d, REASON_DEVICE_FATAL));
	assert_int_equal(d->verdict.health, HEALTH_OK);
	d->fatal = true;
	world_judge(&w);
	assert_int_equal(device_reason(d, REASON_DEVICE_FATAL)->severity, SEVERITY_FAILED);
	assert_int_equal(d->verdict.health, HEALTH_FAILED);
	assert_int_equal(d->ports[0].verdict.health, HEALTH_OK);
	world_read(&w, &d->ports[0], ACTIVE, IB);
	world_pass(&w, USEC_PER_HOUR);
	assert_non_null(device_reason(d, REASON_DEVICE_FATAL));
	model_remove_device(&w.model, d);
	d = world_device(&w, "x0", NULL, 2, 1);
	world_read(&w, &d->ports[0], ACTIVE, IB);
	world_judge(&w);
	assert_null(device_reason(d, REASON_DEVICE_FATAL));
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_in_lag),
		cmocka_unit_test(test_pcie),
		cmocka_unit_test(test_pcie_power),
		cmocka_unit_test(test_uverbs),
		cmocka_unit_test(test_umad),
		cmocka_unit_test(test_gid),
		cmocka_unit_test(test_gid_late),
		cmocka_unit_test(test_not_probed),
		cmocka_unit_test(test_switched_off),
		cmocka_unit_test(test_reporters),
		cmocka_unit_test(test_fatal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
