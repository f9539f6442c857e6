/* SPDX-License-Identifier: MIT */
/* What devlink and ethtool's link state say, from messages as the kernel writes them. */
#include "test.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

#include "devlink.h"
#include "ethtool.h"

static struct nl_msg *message(uint8_t command)
{
	struct genlmsghdr genl = { .cmd = command, .version = 1 };
	struct nl_msg *m = nlmsg_alloc_simple(0x15, 0);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &genl, sizeof(genl), NLMSG_ALIGNTO), 0);
	return m;
}

static struct nl_msg *devlink_message(uint8_t command, const char *bus, const char *device)
{
	struct nl_msg *m = message(command);

	nla_put_string(m, DEVLINK_ATTR_BUS_NAME, bus);
	nla_put_string(m, DEVLINK_ATTR_DEV_NAME, device);
	return m;
}

/* ---- health reporters ---- */

#define SLOT   "0000:3b:00.0"
#define HANDLE "pci/" SLOT

/* As devlink_nl_health_reporter_fill() writes it: the nest has no flag. */
static void put_reporter(
	struct nl_msg *m, const char *name, uint8_t state, uint64_t errors, uint64_t recoveries)
{
	struct nlattr *nest = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);

	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, name);
	nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, state);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, errors);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, recoveries);
	nla_put_u64(m, DEVLINK_ATTR_HEALTH_REPORTER_GRACEFUL_PERIOD, 60000);
	nla_put_u8(m, DEVLINK_ATTR_HEALTH_REPORTER_AUTO_RECOVER, 1);
	nla_nest_end(m, nest);
}

static bool parse(struct nl_msg *m, const char *handle, struct reporter *r)
{
	bool ok = devlink_parse_reporter(nlmsg_hdr(m), handle, r);

	nlmsg_free(m);
	return ok;
}

static void test_reporter(void **state)
{
	struct reporter r;
	struct nl_msg *m;

	(void)state;
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	put_reporter(m, "fw_fatal", 1, 3, 2);
	assert_true(parse(m, HANDLE, &r));
	assert_string_equal(r.name, "fw_fatal");
	assert_int_equal(r.in_error, 1);
	assert_int_equal(r.errors, 3);
	assert_int_equal(r.recoveries, 2);
	assert_true(r.port == REPORTER_OF_DEVICE);

	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	nla_put_u32(m, DEVLINK_ATTR_PORT_INDEX, 0);
	put_reporter(m, "tx", 0, 0, 0);
	assert_true(parse(m, HANDLE, &r));
	assert_int_equal(r.in_error, 0);
	assert_int_equal(r.port, 0);

	/* A state that nobody knows yet. */
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	put_reporter(m, "fw", 2, 0, 0);
	assert_true(parse(m, HANDLE, &r));
	assert_int_equal(r.in_error, -1);
}

/* What is missing or too short is unknown; what has no name is no reporter. */
static void test_reporter_parts(void **state)
{
	static const struct {
		const char *bus, *device;
	} others[] = { { "pci", "0000:3b:00.1" }, { "pc", "i/" SLOT }, { "pci/", SLOT },
		{ "auxiliary", SLOT }, { "", "" } };
	struct nlattr *nest;
	struct reporter r;
	struct nl_msg *m;

	(void)state;
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	nest = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);
	nla_put_string(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw");
	nla_put(m, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 0, NULL);
	nla_put_u32(m, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 7);
	nla_nest_end(m, nest);
	assert_true(parse(m, HANDLE, &r));
	assert_int_equal(r.in_error, -1);
	assert_true(r.errors == UINT64_MAX);
	assert_true(r.recoveries == UINT64_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		m = devlink_message(
			DEVLINK_CMD_HEALTH_REPORTER_GET, others[i].bus, others[i].device);
		put_reporter(m, "fw", 1, 1, 0);
		if (parse(m, HANDLE, &r))
			fail_msg("%s/%s was taken", others[i].bus, others[i].device);
	}
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_SET, "pci", SLOT);
	put_reporter(m, "fw", 1, 1, 0);
	assert_false(parse(m, HANDLE, &r));
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	assert_false(parse(m, HANDLE, &r));
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	put_reporter(m, "a name that is longer than any reporter has", 1, 1, 0);
	assert_false(parse(m, HANDLE, &r));
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	put_reporter(m, "", 1, 1, 0);
	assert_false(parse(m, HANDLE, &r));
	m = devlink_message(DEVLINK_CMD_HEALTH_REPORTER_GET, "pci", SLOT);
	nest = nla_nest_start(m, DEVLINK_ATTR_HEALTH_REPORTER);
	nla_put(m, DEVLINK_ATTR_HEALTH_REPORTER_NAME, 2, "fw"); /* no NUL */
	nla_nest_end(m, nest);
	assert_false(parse(m, HANDLE, &r));
}

/* More than there is room for: those in error are kept. */
static void test_facts(void **state)
{
	struct devlink_facts f = { .device_index = 1 };

	(void)state;
	for (uint32_t i = 0; i < 3 * REPORTERS_MAX; i++) {
		struct reporter r = { .port = i, .in_error = i % 3 == 2 };

		devlink_facts_add(&f, &r);
	}
	assert_int_equal(f.n, REPORTERS_MAX);
	assert_int_equal(f.n_all, 3 * REPORTERS_MAX);
	for (size_t i = 0; i < f.n; i++)
		assert_int_equal(f.reporters[i].in_error, 1);
}

/* ---- parameters ---- */

#define CMODE_RUNTIME    DEVLINK_PARAM_CMODE_RUNTIME
#define CMODE_DRIVERINIT DEVLINK_PARAM_CMODE_DRIVERINIT
#define CMODE_PERMANENT  DEVLINK_PARAM_CMODE_PERMANENT

struct value {
	int on; /* of a mode that it has */
	uint8_t mode;
};

/* As devlink_nl_param_fill() writes it; on 2: there is no such value. */
static struct nl_msg *param_message(uint8_t type, const struct value *v, size_t n)
{
	struct nl_msg *m = devlink_message(DEVLINK_CMD_PARAM_GET, "pci", SLOT);
	struct nlattr *param = nla_nest_start(m, DEVLINK_ATTR_PARAM), *list, *value;

	nla_put_string(m, DEVLINK_ATTR_PARAM_NAME, "enable_rdma");
	nla_put_flag(m, DEVLINK_ATTR_PARAM_GENERIC);
	nla_put_u8(m, DEVLINK_ATTR_PARAM_TYPE, type);
	list = nla_nest_start(m, DEVLINK_ATTR_PARAM_VALUES_LIST);
	for (size_t i = 0; i < n; i++) {
		value = nla_nest_start(m, DEVLINK_ATTR_PARAM_VALUE);
		nla_put_u8(m, DEVLINK_ATTR_PARAM_VALUE_CMODE, v[i].mode);
		if (v[i].on)
			nla_put_flag(m, DEVLINK_ATTR_PARAM_VALUE_DATA);
		nla_nest_end(m, value);
	}
	nla_nest_end(m, list);
	nla_nest_end(m, param);
	return m;
}

static void test_switch(void **state)
{
	static const struct {
		const char *name;
		uint8_t type;
		size_t n;
		struct value v[2];
		int want;
	} t[] = {
		{ "on", NLA_FLAG, 1, { { 1, CMODE_DRIVERINIT } }, 1 },
		{ "off", NLA_FLAG, 1, { { 0, CMODE_DRIVERINIT } }, 0 },
		{ "off at run time", NLA_FLAG, 1, { { 0, CMODE_RUNTIME } }, 0 },
		{ "what runs goes before", NLA_FLAG, 2,
			{ { 0, CMODE_DRIVERINIT }, { 1, CMODE_RUNTIME } }, 1 },
		{ "what will be says nothing", NLA_FLAG, 1, { { 0, CMODE_PERMANENT } }, -1 },
		{ "no value", NLA_FLAG, 0, { { 0, 0 } }, -1 },
		{ "no switch", NLA_U8, 1, { { 0, CMODE_RUNTIME } }, -1 },
	};
	struct nl_msg *m;
	int32_t on;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		m = param_message(t[i].type, t[i].v, t[i].n);
		on = 7;
		assert_true(devlink_parse_switch(nlmsg_hdr(m), &on));
		if (on != t[i].want)
			fail_msg("%s: %d", t[i].name, on);
		nlmsg_free(m);
	}
	m = devlink_message(DEVLINK_CMD_PARAM_GET, "pci", SLOT);
	assert_false(devlink_parse_switch(nlmsg_hdr(m), &on));
	nlmsg_free(m);
	m = devlink_message(DEVLINK_CMD_PARAM_NEW, "pci", SLOT);
	assert_false(devlink_parse_switch(nlmsg_hdr(m), &on));
	nlmsg_free(m);
}

/* ---- ethtool: why a link is down ---- */

static bool parse_link(struct nl_msg *m, struct link_facts *f)
{
	bool ok = ethtool_parse_link(nlmsg_hdr(m), f);

	nlmsg_free(m);
	return ok;
}

static struct nl_msg *link_message(uint8_t link, int state, int substate)
{
	struct nl_msg *m = message(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
	struct nlattr *header = nla_nest_start(m, ETHTOOL_A_LINKSTATE_HEADER);

	nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, 7);
	nla_put_string(m, ETHTOOL_A_HEADER_DEV_NAME, "eth2");
	nla_nest_end(m, header);
	nla_put_u8(m, ETHTOOL_A_LINKSTATE_LINK, link);
	if (state >= 0)
		nla_put_u8(m, ETHTOOL_A_LINKSTATE_EXT_STATE, (uint8_t)state);
	if (substate >= 0)
		nla_put_u8(m, ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, (uint8_t)substate);
	return m;
}

static void test_link(void **state)
{
	struct link_facts f, unknown = link_facts_unknown(7);
	struct nl_msg *m;

	(void)state;
	f = unknown;
	m = link_message(0, ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE,
		ETHTOOL_LINK_EXT_SUBSTATE_CI_UNSUPPORTED_CABLE);
	assert_true(parse_link(m, &f));
	assert_int_equal(f.state, ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE);
	assert_int_equal(f.substate, ETHTOOL_LINK_EXT_SUBSTATE_CI_UNSUPPORTED_CABLE);
	assert_int_equal(f.ifindex, 7);
	/* The first state is number 0. */
	assert_true(parse_link(link_message(0, ETHTOOL_LINK_EXT_STATE_AUTONEG, -1), &f));
	assert_int_equal(f.state, 0);
	assert_int_equal(f.substate, -1);
	/* veth, and most: down, and no more. */
	f = unknown;
	assert_true(parse_link(link_message(0, -1, -1), &f));
	assert_memory_equal(&f, &unknown, sizeof(f));
	/* A substate alone means nothing; nor what it was before it came up. */
	assert_true(parse_link(link_message(0, -1, 3), &f));
	assert_memory_equal(&f, &unknown, sizeof(f));
	assert_true(parse_link(link_message(1, ETHTOOL_LINK_EXT_STATE_NO_CABLE, -1), &f));
	assert_memory_equal(&f, &unknown, sizeof(f));
	/* Too short. */
	m = message(ETHTOOL_MSG_LINKSTATE_GET_REPLY);
	nla_put(m, ETHTOOL_A_LINKSTATE_EXT_STATE, 0, NULL);
	assert_true(parse_link(m, &f));
	assert_memory_equal(&f, &unknown, sizeof(f));
	assert_false(parse_link(message(ETHTOOL_MSG_PAUSE_GET_REPLY), &f));
}

/* ---- asking this kernel ---- */

/* Nothing is called so; and the loopback netdev has a link, and no more to say. */
static void test_read(void **state)
{
	struct devlink_facts none = { .device_index = 1 };
	struct link_facts f, unknown = link_facts_unknown(1);
	int r;

	(void)state;
	r = devlink_list_reporters("pci/ffff:ff:1f.7", &none);
	assert_int_equal(r, -ENODEV);
	assert_int_equal(none.n, 0);
	assert_int_equal(devlink_list_reporters("no-handle", &none), -EINVAL);
	assert_true(devlink_read_switch("pci/ffff:ff:1f.7", "enable_rdma") < 0);

	r = ethtool_read_link(1, &f);
	assert_int_equal(r, 0);
	assert_memory_equal(&f, &unknown, sizeof(f));
	r = ethtool_read_link(INT32_MAX, &f);
	assert_int_equal(r, -ENODEV);
	assert_int_equal(f.state, -1);
	assert_int_equal(f.error, -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reporter),
		cmocka_unit_test(test_reporter_parts),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
