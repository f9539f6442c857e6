/* SPDX-License-Identifier: MIT */
/* Why a port is down: what a condition says was found, and what it says to do. */
#include <linux/ethtool.h>
#include <sys/socket.h>

#include "health-world.h"
#include "link-why.h"

#define UP   IFF_UP, false /* switched on, no carrier */
#define OFF  0, false
#define NONE 0, false

#define EXT(state, substate)                                      \
	{                                                         \
		ETHTOOL_LINK_EXT_STATE_##state, (substate), false \
	}
#define SAYS_NOTHING          \
	{                     \
		-1, -1, false \
	}
#define NOT_READ           \
	{                  \
		0, 0, true \
	}

#define PORT_DOWN REASON_PORT_DOWN

struct situation {
	const char *name;
	enum reason_id id;
	enum link_layer layer;
	int state, phys;
	const char *netdev; /* NULL none */
	unsigned flags;
	bool carrier;
	struct {
		int state, substate;
		bool not_read;
	} ext;
	int is_vf; /* -1 unknown */
	const char *found;
	const char *remedy; /* a part of it */
};

#define POLICY(n, policy, netdev)               \
	{                                       \
		(n), VF_LINK_##policy, (netdev) \
	}
#define NO_POLICY           \
	{                   \
		-1, 0, NULL \
	}

/* What its physical function lets a virtual one do. */
static const struct {
	const char *name;
	enum link_layer layer;
	int state, phys;
	const char *physfn;
	bool off; /* its own netdev is set down */
	struct {
		int32_t vf;
		enum vf_link link;
		const char *netdev;
	} policy;
	const char *found, *remedy;
	bool explained;
} policies[] = {
	{ "VF set down", ETHERNET, POLLING, "0000:3b:00.0", false, POLICY(3, DISABLE, "eth0"),
		"down, physical state polling; VF 3 of 0000:3b:00.0 is set down",
		"let it follow: ip link set eth0 vf 3 state auto", true },
	{ "VF set down, InfiniBand, by IPoIB", IB, POLLING, "0000:3b:00.0", false,
		POLICY(0, DISABLE, "ib0"),
		"down, physical state polling; VF 0 of 0000:3b:00.0 is set down",
		"ip link set ib0 vf 0 state auto", true },
	{ "VF set down, InfiniBand, by the vendor's driver", IB, POLLING, "0000:3b:00.0", false,
		POLICY(1, DISABLE, ""),
		"down, physical state polling; VF 1 of 0000:3b:00.0 is set down",
		"echo Follow >/sys/bus/pci/devices/0000:3b:00.0/sriov/1/policy", true },
	{ "VF that follows", ETHERNET, POLLING, "0000:3b:00.0", false, POLICY(3, AUTO, "eth0"),
		"down, physical state polling; VF 3 of 0000:3b:00.0 follows its port",
		"look at the port of 0000:3b:00.0, which it follows", true },
	{ "VF that follows, InfiniBand, link up without a GUID", IB, 1, PHYS_STATE_LINKUP,
		"0000:3b:00.0", false, POLICY(3, AUTO, "ib0"),
		"down, physical state linkup; VF 3 of 0000:3b:00.0 follows its port",
		"which it follows, and at its GUIDs", true },
	{ "VF set up and down all the same", IB, POLLING, "0000:3b:00.0", false,
		POLICY(3, ENABLE, "ib0"),
		"down, physical state polling; VF 3 of 0000:3b:00.0 is set up",
		"look at its GUIDs and at the subnet manager", true },
	{ "VF set down, and its own netdev, too", ETHERNET, 1, PHYS_STATE_DISABLED, "0000:3b:00.0",
		true, POLICY(3, DISABLE, "eth0"),
		"down, network interface eth2 is administratively down", "ip link set eth2 up",
		true },
	{ "VF in a guest: nobody says", ETHERNET, POLLING, "", false, NO_POLICY,
		"down, physical state polling", "look at the physical one, and at the policy",
		false },
};

static void test_policies(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		struct netdev_facts n = { .ifindex = 7, .flags = IFF_UP, .name = "eth2" };
		struct device_details details = device_details_unknown(1);
		struct vf_policy policy = vf_policy_unknown(1);
		const struct reason *r;
		struct device *d;
		struct port *p;
		struct world w;

		world_begin(&w, "[Port *]\nExpect=up\n[Daemon]\nGraceSec=1s\n");
		d = world_device(&w, "mlx5_0", NULL, 1, 1);
		p = device_port(d, 1);
		details.is_vf = 1;
		STRSCPY(details.physfn, policies[i].physfn);
		device_see_details(d, &details);
		if (policies[i].layer == ETHERNET) {
			n.flags = policies[i].off ? 0 : IFF_UP;
			world_netdev(&w, &n);
			p->facts.netdev_index = 7;
		}
		policy.vf = policies[i].policy.vf;
		policy.link = policies[i].policy.link;
		if (policies[i].policy.netdev)
			STRSCPY(policy.netdev, policies[i].policy.netdev);
		assert_true(device_see_vf_policy(d, &policy));
		assert_false(device_see_vf_policy(d, &policy));
		world_read(&w, p, policies[i].state, policies[i].phys, policies[i].layer);
		world_judge(&w);
		world_pass(&w, USEC_PER_MINUTE);
		r = port_reason(p, REASON_PORT_DOWN);
		if (!r || !streq(r->found, policies[i].found) ||
			!strstr(r->remedy, policies[i].remedy) ||
			r->explained != policies[i].explained)
			fail_msg("%s: found %s; remedy %s", policies[i].name, r ? r->found : "",
				r ? r->remedy : "");
		world_end(&w);
	}
}

/* What the policy was at one fall says nothing of the next one. */
static void test_policy_of_each_fall(void **state)
{
	struct vf_policy policy = { .device_index = 1, .vf = 1, .link = VF_LINK_DISABLE };
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "[Port *]\nExpect=up\n");
	p = device_port(world_device(&w, "mlx5_0", NULL, 1, 1), 1);
	world_read(&w, p, ACTIVE, IB);
	assert_true(device_see_vf_policy(p->device, &policy));
	world_read(&w, p, ACTIVE, IB);
	assert_true(p->device->have_vf_policy);
	world_read(&w, p, POLLING, IB);
	assert_false(p->device->have_vf_policy);
	world_end(&w);
}

static const struct situation situations[] = {
	/* physical state */
	{ "InfiniBand, no signal", PORT_DOWN, IB, POLLING, NULL, NONE, NOT_READ, 0,
		"down, physical state polling", "look at the cable and at the switch port" },
	{ "InfiniBand, disabled", PORT_DOWN, IB, 1, PHYS_STATE_DISABLED, NULL, NONE, NOT_READ, 0,
		"down, physical state disabled", "ibportstate enable" },
	{ "InfiniBand, trains", PORT_DOWN, IB, 1, PHYS_STATE_TRAINING, NULL, NONE, NOT_READ, 0,
		"down, physical state training", "no signal" },
	{ "physical state unknown", PORT_DOWN, IB, 1, PHYS_STATE_UNKNOWN, NULL, NONE, NOT_READ, 0,
		"down, physical state unknown", "look at the cable" },
	{ "a number that is none", PORT_DOWN, IB, 1, 11, NULL, NONE, NOT_READ, 0,
		"down, physical state unknown(11)", "look at the cable" },
	/* missing subnet manager */
	{ "no subnet manager", REASON_NO_SUBNET_MANAGER, IB, 2, PHYS_STATE_LINKUP, NULL, NONE,
		NOT_READ, 0, "link up, port state init", "start a subnet manager" },
	{ "no subnet manager, armed", REASON_NO_SUBNET_MANAGER, IB, 3, PHYS_STATE_LINKUP, NULL,
		NONE, NOT_READ, 0, "link up, port state armed", "start a subnet manager" },
	/* administrative state */
	{ "switched off", PORT_DOWN, ETHERNET, 1, PHYS_STATE_DISABLED, "eth2", OFF, NOT_READ, 0,
		"down, network interface eth2 is administratively down", "ip link set eth2 up" },
	{ "switched off, and the driver says more", PORT_DOWN, ETHERNET, 1, PHYS_STATE_DISABLED,
		"eth2", OFF, EXT(NO_CABLE, -1), 0,
		"down, network interface eth2 is administratively down", "ip link set eth2 up" },
	{ "switched off, a virtual function", PORT_DOWN, ETHERNET, 1, PHYS_STATE_DISABLED, "eth2",
		OFF, NOT_READ, 1, "down, network interface eth2 is administratively down",
		"ip link set eth2 up" },
	/* the driver's word */
	{ "Ethernet, nobody knows why", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, SAYS_NOTHING, 0,
		"down, physical state polling", "the other end of eth2" },
	{ "Ethernet, not asked yet", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, NOT_READ, 0,
		"down, physical state polling", "the other end of eth2" },
	{ "no cable", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, EXT(NO_CABLE, -1), 0,
		"down, physical state polling, eth2: no cable", "plug a cable in" },
	{ "no cable, with a substate that it does not have", PORT_DOWN, ETHERNET, POLLING, "eth2",
		UP, EXT(NO_CABLE, 1), 0, "down, physical state polling, eth2: no cable", "plug" },
	{ "unsupported cable", PORT_DOWN, ETHERNET, POLLING, "eth2", UP,
		EXT(CABLE_ISSUE, ETHTOOL_LINK_EXT_SUBSTATE_CI_UNSUPPORTED_CABLE), 0,
		"down, physical state polling, eth2: cable issue: unsupported cable",
		"exchange the cable" },
	{ "a substate of tomorrow", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, EXT(CABLE_ISSUE, 77),
		0, "down, physical state polling, eth2: cable issue", "exchange the cable" },
	{ "bad signal", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, EXT(BAD_SIGNAL_INTEGRITY, -1), 0,
		"down, physical state polling, eth2: bad signal integrity", "clean, reseat" },
	{ "FEC", PORT_DOWN, ETHERNET, POLLING, "eth2", UP,
		EXT(LINK_LOGICAL_MISMATCH, ETHTOOL_LINK_EXT_SUBSTATE_LLM_RS_FEC_IS_NOT_LOCKED), 0,
		"down, physical state polling, eth2: logical mismatch: RS FEC is not locked",
		"show-fec" },
	{ "autonegotiation, which is number 0", PORT_DOWN, ETHERNET, POLLING, "eth2", UP,
		EXT(AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED), 0,
		"down, physical state polling, eth2: autonegotiation: no partner detected",
		"both ends" },
	{ "overheated", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, EXT(OVERHEAT, -1), 0,
		"down, physical state polling, eth2: module overheated", "fans" },
	{ "module", PORT_DOWN, ETHERNET, POLLING, "eth2", UP,
		EXT(MODULE, ETHTOOL_LINK_EXT_SUBSTATE_MODULE_CMIS_NOT_READY), 0,
		"down, physical state polling, eth2: module: not ready", "module" },
	{ "a state of tomorrow", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, { 200, 1, false }, 0,
		"down, physical state polling", "the other end of eth2" },
	{ "of before: it has a carrier now", PORT_DOWN, ETHERNET, POLLING, "eth2", IFF_UP, true,
		EXT(NO_CABLE, -1), 0, "down, physical state polling", "the other end of eth2" },
	{ "disabled, and the driver knows why", PORT_DOWN, ETHERNET, 1, PHYS_STATE_DISABLED, "eth2",
		UP, EXT(POWER_BUDGET_EXCEEDED, -1), 0,
		"down, physical state disabled, eth2: power budget exceeded", "power" },
	/* the policy for a virtual function */
	{ "a virtual function, Ethernet", PORT_DOWN, ETHERNET, POLLING, "eth2", UP, SAYS_NOTHING, 1,
		"down, physical state polling",
		"a virtual function: look at the physical one 0000:3b:00.0, and at the policy that "
		"it sets (ip link set PF vf N state auto)" },
	{ "a virtual function, link up without a GUID", PORT_DOWN, IB, 1, PHYS_STATE_LINKUP, NULL,
		NONE, NOT_READ, 1, "down, physical state linkup",
		"a virtual function: look at the physical one 0000:3b:00.0, and at the policy and "
		"GUID that it sets (ip link set PF vf N state auto)" },
	{ "perhaps a virtual function", PORT_DOWN, IB, POLLING, NULL, NONE, NOT_READ, -1,
		"down, physical state polling", "look at the cable and at the switch port" },
};

static void add_netdev(struct world *w, struct port *p, const struct situation *s)
{
	struct netdev_facts f = { .ifindex = 7, .flags = s->flags, .carrier = s->carrier };
	struct link_facts link = link_facts_unknown(7);
	struct netdev *n;

	STRSCPY(f.name, s->netdev);
	world_netdev(w, &f);
	p->facts.netdev_index = 7;
	n = model_netdev_by_index(&w->model, 7);
	assert_non_null(n);
	link.state = s->ext.state;
	link.substate = s->ext.substate;
	if (!s->ext.not_read)
		assert_true(netdev_see_link(n, &link));
}

static void test_situations(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(situations); i++) {
		const struct situation *s = &situations[i];
		struct device_details details = device_details_unknown(1);
		const struct reason *r;
		struct device *d;
		struct port *p;
		struct world w;

		world_begin(&w, "[Port *]\nExpect=up\n[Health]\nDownDelaySec=0\n[Daemon]\n"
				"GraceSec=1s\n");
		d = world_device(&w, "mlx5_0", NULL, 1, 1);
		p = device_port(d, 1);
		details.is_vf = s->is_vf;
		if (s->is_vf == 1)
			STRSCPY(details.physfn, "0000:3b:00.0");
		device_see_details(d, &details);
		if (s->netdev)
			add_netdev(&w, p, s);
		world_read(&w, p, s->state, s->phys, s->layer);
		world_judge(&w);
		world_pass(&w, USEC_PER_MINUTE);
		r = port_reason(p, s->id);
		if (!r)
			fail_msg("%s: not raised", s->name);
		if (!streq(r->found, s->found))
			fail_msg("%s: found %s", s->name, r->found);
		if (!strstr(r->remedy, s->remedy))
			fail_msg("%s: remedy %s", s->name, r->remedy);
		assert_int_equal(p->verdict.n_reasons, 1);
		world_end(&w);
	}
}

/* The kernel keeps a port of iWARP in INIT until its netdev has an IPv4 address. */
static void test_iwarp_without_address(void **state)
{
	struct device_facts facts = { .node_type = "RNIC" };
	struct netdev_facts n = { .ifindex = 7, .flags = IFF_UP, .carrier = true, .name = "eth2" };
	struct address_facts a = { .ifindex = 7, .family = AF_INET6, .prefix_length = 64 };
	struct world w;
	struct port *p;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		world_begin(&w, "[Port *]\nExpect=up\n[Daemon]\nGraceSec=1s\n");
		STRSCPY(facts.node_type, i == 2 ? "CA" : "RNIC");
		p = device_port(world_device(&w, "iwarp0", &facts, 1, 1), 1);
		world_netdev(&w, &n);
		a.family = i == 1 ? AF_INET : AF_INET6;
		assert_int_equal(model_see_address(&w.model, &a), 1);
		p->facts.netdev_index = 7;
		world_read(&w, p, PORT_STATE_INIT, PHYS_STATE_TRAINING, ETHERNET);
		world_judge(&w);
		world_pass(&w, USEC_PER_MINUTE);
		assert_string_equal(port_reason(p, REASON_PORT_DOWN)->found,
			i == 0 ? "init, network interface eth2 has no IPv4 address"
			       : "init, physical state training");
		if (i == 0)
			assert_non_null(strstr(port_reason(p, REASON_PORT_DOWN)->remedy,
				"ip address add ... dev eth2"));
		world_end(&w);
	}
}

/* Every state has words, and none is cut. */
static void test_words(void **state)
{
	struct link_facts f = link_facts_unknown(1);
	const char *remedy;
	char text[64], longest[REASON_TEXT_MAX];

	(void)state;
	assert_false(link_why(&f, text, sizeof(text), &remedy));
	for (f.state = 0; f.state <= ETHTOOL_LINK_EXT_STATE_MODULE; f.state++)
		for (f.substate = -1; f.substate < 20; f.substate++) {
			assert_true(link_why(&f, longest, sizeof(longest), &remedy));
			assert_true(link_why(&f, text, sizeof(text), &remedy));
			assert_string_equal(text, longest);
			assert_true(strlen(remedy) > 10 && strlen(remedy) < REASON_TEXT_MAX);
		}
	assert_false(link_why(&f, text, sizeof(text), &remedy));
}

/* What was read of the link is of that fall: what changes the link makes it unknown. */
static void test_fresh(void **state)
{
	struct netdev_facts f = { .ifindex = 7, .flags = IFF_UP, .name = "eth2" };
	struct link_facts link = link_facts_unknown(7);
	struct world w;
	struct netdev *n;
	struct port *p;

	(void)state;
	link.state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	world_begin(&w, "[Port *]\nExpect=up\n");
	p = device_port(world_device(&w, "mlx5_0", NULL, 1, 1), 1);
	p->facts.netdev_index = 7;
	f.have_carrier_counts = true;
	world_netdev(&w, &f);
	n = model_netdev_by_index(&w.model, 7);
	assert_false(port_link_is_down(&w.model, p)); /* not read yet */
	world_read(&w, p, ACTIVE, ETHERNET);
	assert_true(port_link_is_down(&w.model, p)); /* the netdev is ahead of it */
	world_read(&w, p, POLLING, ETHERNET);
	assert_true(port_link_is_down(&w.model, p));
	assert_true(netdev_see_link(n, &link));
	assert_false(netdev_see_link(n, &link));
	/* It is renamed: nothing happened to the link. */
	STRSCPY(f.name, "eth3");
	world_netdev(&w, &f);
	assert_true(n->have_link);
	f.carrier = true;
	f.carrier_up_count++;
	world_netdev(&w, &f);
	assert_false(n->have_link);
	assert_false(port_link_is_down(&w.model, p));
	/* Up and down again between two messages. */
	assert_true(netdev_see_link(n, &link));
	f.carrier_up_count++;
	f.carrier_down_count++;
	world_netdev(&w, &f);
	assert_false(n->have_link);
	/* Switched off: that is why. */
	f.carrier = false;
	f.carrier_down_count++;
	f.flags = 0;
	world_netdev(&w, &f);
	assert_false(port_link_is_down(&w.model, p));
	/* InfiniBand: an IPoIB interface says nothing of the link. */
	f.flags = IFF_UP;
	world_netdev(&w, &f);
	assert_true(port_link_is_down(&w.model, p));
	world_read(&w, p, POLLING, IB);
	assert_false(port_link_is_down(&w.model, p));
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_situations),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_policy_of_each_fall),
		cmocka_unit_test(test_iwarp_without_address),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
