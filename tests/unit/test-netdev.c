/* SPDX-License-Identifier: MIT */
/* What rtnetlink messages say, from messages as the kernel writes them. */
#include "test.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "ipoib.h"
#include "netdev.h"
#include "nl-request.h"

static struct nl_msg *message(int type, const void *header, size_t size)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, (void *)(uintptr_t)header, size, NLMSG_ALIGNTO), 0);
	return m;
}

static struct nl_msg *link_message(int type, int ifindex, const char *name)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC,
		.ifi_type = 1,
		.ifi_index = ifindex,
		.ifi_flags = IFF_UP | IFF_RUNNING | IFF_LOWER_UP };
	struct nl_msg *m = message(type, &ifi, sizeof(ifi));

	if (name)
		nla_put_string(m, IFLA_IFNAME, name);
	return m;
}

/* Parses and frees. */
static bool parse_link(struct nl_msg *m, struct netdev_facts *ret)
{
	bool ok = netdev_parse_link(nlmsg_hdr(m), ret);

	nlmsg_free(m);
	return ok;
}

static bool parse_address(struct nl_msg *m, struct address_facts *ret)
{
	bool ok = netdev_parse_address(nlmsg_hdr(m), ret);

	nlmsg_free(m);
	return ok;
}

static void put_kind(struct nl_msg *m, const char *kind)
{
	struct nlattr *info = nla_nest_start(m, IFLA_LINKINFO);

	nla_put_string(m, IFLA_INFO_KIND, kind);
	nla_nest_end(m, info);
}

static void put_bond(struct nl_msg *m, const char *kind, uint8_t mode)
{
	struct nlattr *info = nla_nest_start(m, IFLA_LINKINFO), *data;

	nla_put_string(m, IFLA_INFO_KIND, kind);
	data = nla_nest_start(m, IFLA_INFO_DATA);
	nla_put_u8(m, IFLA_BOND_MODE, mode);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
}

static void put_leg(struct nl_msg *m, const char *kind, uint8_t leg, uint8_t mii)
{
	static const uint8_t permanent[6] = { 2, 0, 0, 0, 0, 0x55 };
	struct nlattr *info = nla_nest_start(m, IFLA_LINKINFO), *data;

	nla_put_string(m, IFLA_INFO_SLAVE_KIND, kind);
	data = nla_nest_start(m, IFLA_INFO_SLAVE_DATA);
	nla_put_u8(m, IFLA_BOND_SLAVE_STATE, leg);
	nla_put_u8(m, IFLA_BOND_SLAVE_MII_STATUS, mii);
	nla_put_u32(m, IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, 3);
	nla_put(m, IFLA_BOND_SLAVE_PERM_HWADDR, sizeof(permanent), permanent);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
}

static void test_link(void **state)
{
	static const uint8_t current[6] = { 2, 0, 0, 0, 0, 1 };
	static const uint8_t permanent[6] = { 2, 0, 0, 0, 0, 2 };
	struct nl_msg *m = link_message(RTM_NEWLINK, 4, "enp1s0f0np0");
	struct netdev_facts f;

	(void)state;
	nla_put_u32(m, IFLA_MTU, 9000);
	nla_put_u8(m, IFLA_OPERSTATE, 6);
	nla_put_u8(m, IFLA_CARRIER, 1);
	nla_put_u32(m, IFLA_CARRIER_UP_COUNT, 5);
	nla_put_u32(m, IFLA_CARRIER_DOWN_COUNT, 4);
	nla_put(m, IFLA_ADDRESS, sizeof(current), current);
	nla_put(m, IFLA_PERM_ADDRESS, sizeof(permanent), permanent);
	nla_put_string(m, IFLA_PHYS_PORT_NAME, "p0");
	assert_true(parse_link(m, &f));
	assert_int_equal(f.ifindex, 4);
	assert_string_equal(f.name, "enp1s0f0np0");
	assert_int_equal(f.type, 1);
	assert_int_equal(f.mtu, 9000);
	assert_int_equal(f.operstate, 6);
	assert_true(f.carrier && f.have_carrier_counts && !f.gone);
	assert_int_equal(f.carrier_up_count, 5);
	assert_int_equal(f.carrier_down_count, 4);
	assert_string_equal(f.phys_port_name, "p0");
	assert_string_equal(f.kind, "");
	assert_int_equal(f.leg, BOND_LEG_NONE);
	assert_int_equal(f.mii, BOND_MII_UNKNOWN);
	assert_int_equal(f.master, 0);
	assert_int_equal(f.link, 0);
	assert_true(f.permanent_address);
	assert_int_equal(f.address_length, 6);
	assert_memory_equal(f.address, permanent, 6);

	assert_true(parse_link(link_message(RTM_DELLINK, 4, "x"), &f));
	assert_true(f.gone);
}

static void test_not_a_link(void **state)
{
	struct ifinfomsg bridge = { .ifi_family = AF_BRIDGE, .ifi_index = 4 };
	struct ifinfomsg wireless = { .ifi_family = AF_UNSPEC, .ifi_index = 4 };
	struct netdev_facts f;
	struct nl_msg *m;

	(void)state;
	m = message(RTM_NEWLINK, &bridge, sizeof(bridge));
	nla_put_string(m, IFLA_IFNAME, "x");
	assert_false(parse_link(m, &f));
	m = message(RTM_NEWLINK, &wireless, sizeof(wireless));
	nla_put(m, IFLA_WIRELESS, 4, "abcd");
	assert_false(parse_link(m, &f));
	/* too short for its header */
	assert_false(parse_link(message(RTM_NEWLINK, &wireless, 8), &f));
	assert_false(parse_link(link_message(RTM_NEWNEIGH, 4, "x"), &f));
}

/* Without what newer kernels say, and with attributes of the wrong size. */
static void test_sparse_link(void **state)
{
	static const uint8_t ipoib[20] = { 0x80, [19] = 0x11 };
	static const uint8_t long_address[HW_ADDRESS_MAX + 1] = { 1 };
	struct nl_msg *m = link_message(RTM_NEWLINK, 4, "a-name-that-is-far-too-long");
	struct netdev_facts f;

	(void)state;
	nla_put_u8(m, IFLA_MTU, 9);
	nla_put_u8(m, IFLA_MASTER, 9);
	nla_put(m, IFLA_CARRIER, 0, NULL);
	nla_put_u32(m, IFLA_CARRIER_UP_COUNT, 5);
	nla_put(m, IFLA_PERM_ADDRESS, sizeof(long_address), long_address);
	nla_put(m, IFLA_ADDRESS, sizeof(ipoib), ipoib);
	assert_true(parse_link(m, &f));
	assert_string_equal(f.name, "a-name-that-is-");
	assert_int_equal(f.mtu, 0);
	assert_int_equal(f.master, 0);
	assert_true(f.carrier); /* IFF_LOWER_UP */
	assert_false(f.have_carrier_counts);
	assert_false(f.permanent_address);
	assert_int_equal(f.address_length, 20);
	assert_memory_equal(f.address, ipoib, 20);
}

static void test_bond(void **state)
{
	static const struct {
		const char *kind;
		uint8_t mode, lacp;
	} cases[] = { { "bond", BOND_MODE_8023AD, 1 }, { "bond", BOND_MODE_ACTIVEBACKUP, 0 },
		{ "team", BOND_MODE_8023AD, 0 } };
	struct netdev_facts f;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = link_message(RTM_NEWLINK, 4, "bond0");

		put_bond(m, cases[i].kind, cases[i].mode);
		assert_true(parse_link(m, &f));
		assert_int_equal(f.lacp, cases[i].lacp);
	}
}

static void test_leg(void **state)
{
	static const struct {
		const char *kind;
		uint8_t state, mii, leg_is, mii_is;
	} cases[] = {
		{ "bond", BOND_STATE_ACTIVE, BOND_LINK_UP, BOND_LEG_ACTIVE, BOND_MII_UP },
		{ "bond", BOND_STATE_BACKUP, BOND_LINK_DOWN, BOND_LEG_BACKUP, BOND_MII_DOWN },
		{ "bond", BOND_STATE_BACKUP, BOND_LINK_FAIL, BOND_LEG_BACKUP, BOND_MII_GOING_DOWN },
		{ "bond", BOND_STATE_BACKUP, BOND_LINK_BACK, BOND_LEG_BACKUP, BOND_MII_GOING_UP },
		{ "bond", 77, 77, BOND_LEG_UNKNOWN, BOND_MII_UNKNOWN },
		{ "bridge", BOND_STATE_ACTIVE, BOND_LINK_UP, BOND_LEG_NONE, BOND_MII_UNKNOWN },
	};
	static const uint8_t bonds[6] = { 2, 0, 0, 0, 0, 9 };
	struct netdev_facts f;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = link_message(RTM_NEWLINK, 4, "leg0");

		nla_put_u32(m, IFLA_MASTER, 9);
		nla_put(m, IFLA_ADDRESS, sizeof(bonds), bonds);
		put_leg(m, cases[i].kind, cases[i].state, cases[i].mii);
		assert_true(parse_link(m, &f));
		assert_int_equal(f.leg, cases[i].leg_is);
		assert_int_equal(f.mii, cases[i].mii_is);
		assert_int_equal(f.master, 9);
		/* Only a bond says what the leg's own address is. */
		assert_int_equal(f.permanent_address, streq(cases[i].kind, "bond"));
		assert_int_equal(f.address[5], streq(cases[i].kind, "bond") ? 0x55 : 9);
	}
}

/* The failure count of a leg is a statistic: it must not make facts differ. */
static void test_same_bytes(void **state)
{
	struct netdev_facts f, g;

	(void)state;
	memset(&f, 0x11, sizeof(f));
	memset(&g, 0x22, sizeof(g));
	for (int i = 0; i < 2; i++) {
		struct nl_msg *m = link_message(RTM_NEWLINK, 4, i ? "leg0" : "leg0\0junk");

		put_leg(m, "bond", BOND_STATE_ACTIVE, BOND_LINK_UP);
		nla_put_u32(m, IFLA_PROMISCUITY, (uint32_t)i);
		nla_put_u32(m, IFLA_TXQLEN, 1000 + (uint32_t)i);
		assert_true(parse_link(m, i ? &g : &f));
	}
	assert_memory_equal(&f, &g, sizeof(f));
}

static struct netdev_facts stacked(const char *kind, uint32_t link, bool elsewhere)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 4, "x");
	struct netdev_facts f;

	nla_put_u32(m, IFLA_LINK, link);
	if (elsewhere)
		nla_put_u32(m, IFLA_LINK_NETNSID, 0);
	if (kind)
		put_kind(m, kind);
	assert_true(parse_link(m, &f));
	return f;
}

static void test_link_below(void **state)
{
	(void)state;
	assert_string_equal(stacked("vlan", 9, false).kind, "vlan");
	assert_int_equal(stacked("vlan", 9, false).link, 9);
	assert_int_equal(stacked("macvlan", 9, false).link, 9);
	assert_int_equal(stacked("ipoib", 9, false).link, 9);
	assert_int_equal(stacked("vlan", 9, true).link, 0);
	assert_int_equal(stacked("veth", 9, false).link, 0);
	assert_int_equal(stacked("ipoib", 4, false).link, 0); /* itself */
	assert_int_equal(stacked(NULL, 9, false).link, 0);
}

static struct netdev_facts ipoib(bool whole)
{
	struct nl_msg *m = link_message(RTM_NEWLINK, 4, "ib0");
	struct nlattr *info = nla_nest_start(m, IFLA_LINKINFO), *data;
	struct netdev_facts f;

	nla_put_string(m, IFLA_INFO_KIND, "ipoib");
	data = nla_nest_start(m, IFLA_INFO_DATA);
	if (whole) {
		nla_put_u16(m, IFLA_IPOIB_PKEY, 0x8001);
		nla_put_u16(m, IFLA_IPOIB_MODE, IPOIB_MODE_CONNECTED);
		nla_put_u16(m, IFLA_IPOIB_UMCAST, 0);
	} else {
		nla_put_u32(m, IFLA_IPOIB_PKEY, 0x8001);
		nla_put_u8(m, IFLA_IPOIB_MODE, IPOIB_MODE_CONNECTED);
	}
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	assert_true(parse_link(m, &f));
	return f;
}

static void test_ipoib(void **state)
{
	struct netdev_facts f = ipoib(true);

	(void)state;
	assert_int_equal(f.is_ipoib, 1);
	assert_int_equal(f.pkey, 0x8001);
	assert_int_equal(f.ipoib_connected, 1);
	assert_int_equal(f.ipoib_umcast, 0);
	/* What is not as expected is unknown. */
	f = ipoib(false);
	assert_int_equal(f.is_ipoib, 1);
	assert_int_equal(f.pkey, 0);
	assert_int_equal(f.ipoib_connected, -1);
	assert_int_equal(f.ipoib_umcast, -1);
	f = stacked("vlan", 9, false);
	assert_int_equal(f.is_ipoib, 0);
	assert_int_equal(f.ipoib_connected, -1);
	assert_int_equal(f.ipoib_umcast, -1);
}

static struct nl_msg *address_message(int type, uint8_t family)
{
	struct ifaddrmsg ifa = { .ifa_family = family,
		.ifa_prefixlen = 24,
		.ifa_flags = IFA_F_PERMANENT,
		.ifa_scope = RT_SCOPE_LINK,
		.ifa_index = 7 };

	return message(type, &ifa, sizeof(ifa));
}

static void test_address(void **state)
{
	static const uint8_t local[4] = { 192, 0, 2, 1 }, peer[4] = { 192, 0, 2, 2 };
	static const uint8_t six[16] = { 0xfe, 0x80, [15] = 1 };
	static const uint8_t zero[16];
	struct address_facts f;
	struct nl_msg *m;

	(void)state;
	m = address_message(RTM_NEWADDR, AF_INET);
	nla_put(m, IFA_ADDRESS, 4, peer);
	nla_put(m, IFA_LOCAL, 4, local);
	nla_put_u32(m, IFA_FLAGS, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE);
	assert_true(parse_address(m, &f));
	assert_int_equal(f.ifindex, 7);
	assert_int_equal(f.family, AF_INET);
	assert_int_equal(f.prefix_length, 24);
	assert_int_equal(f.scope, RT_SCOPE_LINK);
	assert_int_equal(f.flags, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE);
	assert_int_equal(f.gone, 0);
	assert_memory_equal(f.address, local, 4);
	assert_memory_equal(f.address + 4, zero, 12);

	m = address_message(RTM_DELADDR, AF_INET6);
	nla_put(m, IFA_ADDRESS, 16, six);
	assert_true(parse_address(m, &f));
	assert_int_equal(f.gone, 1);
	assert_int_equal(f.flags, IFA_F_PERMANENT);
	assert_memory_equal(f.address, six, 16);

	/* of another family, without an address, with one of the wrong length, another message */
	m = address_message(RTM_NEWADDR, AF_PHONET);
	nla_put(m, IFA_LOCAL, 4, local);
	assert_false(parse_address(m, &f));
	assert_false(parse_address(address_message(RTM_NEWADDR, AF_INET), &f));
	m = address_message(RTM_NEWADDR, AF_INET6);
	nla_put(m, IFA_ADDRESS, 4, local);
	assert_false(parse_address(m, &f));
	m = address_message(RTM_NEWROUTE, AF_INET);
	nla_put(m, IFA_LOCAL, 4, local);
	assert_false(parse_address(m, &f));
}

static int find_loopback(const struct netdev_facts *f, void *user)
{
	if (streq(f->name, "lo"))
		*(struct netdev_facts *)user = *f;
	return 0;
}

static int count_address(const struct address_facts *f, void *user)
{
	assert_true(f->ifindex > 0);
	(*(unsigned *)user)++;
	return 0;
}

static int refuse(const struct netdev_facts *f, void *user)
{
	(void)f;
	(*(unsigned *)user)++;
	return -ECANCELED;
}

static int refuse_address(const struct address_facts *f, void *user)
{
	(void)f;
	(void)user;
	return -ECANCELED;
}

/* Every network namespace has a loopback netdev. */
static void test_list(void **state)
{
	struct netdev_facts lo = { 0 };
	unsigned n = 0;

	(void)state;
	assert_int_equal(netdev_list(find_loopback, &lo), 0);
	assert_int_equal(lo.ifindex, 1);
	assert_true(lo.flags & IFF_LOOPBACK);
	assert_true(lo.mtu > 0);
	assert_int_equal(netdev_list(refuse, &n), -ECANCELED);
	assert_int_equal(n, 1);

	n = 0;
	assert_int_equal(netdev_list_addresses(count_address, &n), 0);
	if (lo.flags & IFF_UP)
		assert_true(n > 0); /* 127.0.0.1 at least */
	assert_int_equal(netdev_list_addresses(refuse_address, &n), n > 0 ? -ECANCELED : 0);
}

struct seen {
	struct netdev_facts lo; /* as the last notification said */
	struct address_facts address;
	unsigned n_links, n_addresses; /* of IPv4 */
};

static int note_link(const struct netdev_facts *f, void *user)
{
	struct seen *s = user;

	s->lo = *f;
	s->n_links++;
	return 0;
}

static int note_address(const struct address_facts *f, void *user)
{
	struct seen *s = user;

	if (f->family == AF_INET) {
		s->address = *f;
		s->n_addresses++;
	}
	return 0;
}

/* In a namespace of its own, where loopback is down at first and gets its address with IFF_UP. */
static void test_monitor(void **state)
{
	static const struct netdev_callbacks callbacks = { note_link, note_address };
	static const uint8_t localhost[16] = { 127, 0, 0, 1 };
	struct netdev_monitor *monitor = NULL;
	struct ifreq request = { .ifr_name = "lo" };
	struct seen seen = { 0 };
	int fd;

	(void)state;
	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		skip();
	assert_int_equal(netdev_monitor_open(&monitor), 0);
	assert_int_equal(netdev_monitor_receive(monitor, &callbacks, &seen), 0);
	assert_int_equal(seen.n_links + seen.n_addresses, 0);

	fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(fd >= 0);
	request.ifr_flags = IFF_UP;
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
	assert_int_equal(netdev_monitor_receive(monitor, &callbacks, &seen), 0);
	assert_true(seen.n_links > 0);
	assert_string_equal(seen.lo.name, "lo");
	assert_true(seen.lo.flags & IFF_UP);
	assert_int_equal(seen.n_addresses, 1);
	assert_int_equal(seen.address.ifindex, seen.lo.ifindex);
	assert_int_equal(seen.address.prefix_length, 8);
	assert_int_equal(seen.address.gone, 0);
	assert_memory_equal(seen.address.address, localhost, sizeof(localhost));

	close(fd);
	netdev_monitor_close(monitor);
}

static int count_message(struct nl_msg *msg, void *user)
{
	(void)msg;
	(*(unsigned *)user)++;
	return 0;
}

/* A dump that fails says so in its last message only. */
static void test_failed_dump(void **state)
{
	struct ifaddrmsg ifa = { .ifa_family = AF_INET, .ifa_index = 123456 };
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	unsigned n = 0;
	int on = 1;

	(void)state;
	assert_int_equal(nl_request_open(NETLINK_ROUTE, &sock), 0);
	assert_int_equal(setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_GET_STRICT_CHK,
				 &on, sizeof(on)),
		0);
	for (int i = 0; i < 2; i++) { /* the second finds the first one through */
		_cleanup_(nlmsg_freep) struct nl_msg *m =
			nlmsg_alloc_simple(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);

		ifa.ifa_index = i ? 0 : 123456;
		assert_int_equal(nlmsg_append(m, &ifa, sizeof(ifa), NLMSG_ALIGNTO), 0);
		assert_int_equal(nl_request(sock, m, count_message, &n), i ? 0 : -ENODEV);
	}
}

/* What is set, as far as a kernel without InfiniBand goes: each refusal is the kernel's own errno. */
static void test_set(void **state)
{
	struct netdev_facts lo = { 0 };
	uint32_t ifindex = 0;

	(void)state;
	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		skip();
	assert_int_equal(netdev_list(find_loopback, &lo), 0);
	assert_int_equal(netdev_set_mtu(lo.ifindex, 1234), 0);
	assert_int_equal(netdev_list(find_loopback, &lo), 0);
	assert_int_equal(lo.mtu, 1234);
	assert_int_equal(netdev_set_mtu(lo.ifindex + 1000, 1500), -ENODEV);
	assert_int_equal(ipoib_set_connected(lo.ifindex, true), -EOPNOTSUPP);
	assert_int_equal(ipoib_set_umcast(lo.ifindex, true), -EOPNOTSUPP);
	assert_true(ipoib_add_child("ib0", lo.ifindex, 0x8001, &ifindex) < 0);
	assert_int_equal(ifindex, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_not_a_link),
		cmocka_unit_test(test_sparse_link),
		cmocka_unit_test(test_bond),
		cmocka_unit_test(test_leg),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_link_below),
		cmocka_unit_test(test_ipoib),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_failed_dump),
		cmocka_unit_test(test_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
