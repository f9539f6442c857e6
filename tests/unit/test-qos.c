/* SPDX-License-Identifier: MIT */
/* What DCB and ethtool netlink answers say, from messages as the kernel writes them. */
#include "test.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "genl.h"
#include "qos.h"

static struct qos_facts nothing(void)
{
	return qos_facts_unknown(7, "d0");
}

/* Any difference from "all unknown" but the fields that a test looked at and reset. */
static void assert_unknown(const struct qos_facts *f)
{
	struct qos_facts unknown = nothing();

	assert_memory_equal(f, &unknown, sizeof(unknown));
}

static struct nl_msg *dcb_message(int type, uint8_t command)
{
	struct dcbmsg dcb = { .cmd = command };
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &dcb, sizeof(dcb), NLMSG_ALIGNTO), 0);
	nla_put_string(m, DCB_ATTR_IFNAME, "d0");
	return m;
}

static struct nl_msg *genl_message(int type, uint8_t command)
{
	struct genlmsghdr genl = { .cmd = command, .version = 1 };
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &genl, sizeof(genl), NLMSG_ALIGNTO), 0);
	return m;
}

/* These parse and free. */
static bool parse_dcb(struct nl_msg *m, struct qos_facts *f)
{
	bool ok = qos_parse_dcb(nlmsg_hdr(m), f);

	nlmsg_free(m);
	return ok;
}

static bool parse_pause(struct nl_msg *m, struct qos_facts *f)
{
	bool ok = qos_parse_pause(nlmsg_hdr(m), f);

	nlmsg_free(m);
	return ok;
}

static void put_app(struct nl_msg *m, uint8_t selector, uint8_t priority, uint16_t protocol)
{
	struct dcb_app app = { .selector = selector, .priority = priority, .protocol = protocol };

	/* Selectors that IEEE does not have are in DCB_ATTR_DCB_APP (2). */
	nla_put(m, selector > 5 ? 2 : DCB_ATTR_IEEE_APP, sizeof(app), &app);
}

static void put_trust(struct nl_msg *m, const uint8_t *selectors, size_t n)
{
	struct nlattr *table = nla_nest_start(m, 11); /* DCB_ATTR_DCB_APP_TRUST_TABLE */

	for (size_t i = 0; i < n; i++)
		nla_put_u8(m, selectors[i] > 5 ? 2 : 1, selectors[i]);
	nla_nest_end_keep_empty(m, table); /* as the kernel does */
}

static void test_ieee(void **state)
{
	struct ieee_ets ets = { .ets_cap = 8,
		.tc_tx_bw = { 10, 20, 70, 0, 0, 0, 101, 255 },
		.tc_tsa = { 2, 2, 2, 0, 0, 0, 1, 255 },
		.prio_tc = { 0, 1, 2, 3, 4, 5, 7, 8 } };
	static const int8_t bandwidth[] = { 10, 20, 70, 0, 0, 0, -1, -1 };
	static const int8_t algorithm[] = { 2, 2, 2, 0, 0, 0, 1, -1 };
	static const int8_t class[] = { 0, 1, 2, 3, 4, 5, 7, -1 };
	struct ieee_pfc pfc = { .pfc_cap = 8, .pfc_en = 0x88 };
	struct nl_msg *m = dcb_message(RTM_GETDCB, DCB_CMD_IEEE_GET);
	struct qos_facts f = nothing();
	struct nlattr *ieee, *apps;

	(void)state;
	ieee = nla_nest_start(m, DCB_ATTR_IEEE);
	nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets), &ets);
	nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	apps = nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
	put_app(m, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 3, 0x8915);
	put_app(m, IEEE_8021QAZ_APP_SEL_DSCP, 3, 26);
	nla_nest_end(m, apps);
	nla_nest_end(m, ieee);
	nla_put_u8(m, DCB_ATTR_DCBX, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
	assert_true(parse_dcb(m, &f));
	assert_memory_equal(f.class_bandwidth, bandwidth, 8);
	assert_memory_equal(f.class_algorithm, algorithm, 8);
	assert_memory_equal(f.prio_class, class, 8);
	assert_int_equal(f.pfc, 0x88);
	assert_int_equal(f.trust, QOS_TRUST_DSCP);
	assert_int_equal(f.dcbx, DCBX_HOST);
	/* and nothing else */
	assert_int_equal(f.pause_rx, -1);
	assert_true(f.pause_rx_frames == UINT64_MAX);
	assert_int_equal(f.error, 0);
}

/* A part that is missing or too short is unknown, and no other part. */
static void test_ieee_parts(void **state)
{
	struct ieee_ets ets = { .ets_cap = 8 };
	struct ieee_pfc pfc = { .pfc_en = 0 };
	struct qos_facts f = nothing();
	struct nlattr *ieee;
	struct nl_msg *m;

	(void)state;
	m = dcb_message(RTM_GETDCB, DCB_CMD_IEEE_GET);
	ieee = nla_nest_start(m, DCB_ATTR_IEEE);
	nla_put(m, DCB_ATTR_IEEE_ETS, sizeof(ets) - 1, &ets);
	nla_put(m, DCB_ATTR_IEEE_PFC, sizeof(pfc), &pfc);
	nla_nest_end(m, ieee);
	assert_true(parse_dcb(m, &f));
	assert_int_equal(f.pfc, 0); /* known: off */
	f.pfc = -1;
	assert_unknown(&f);

	m = dcb_message(RTM_GETDCB, DCB_CMD_IEEE_GET);
	ieee = nla_nest_start(m, DCB_ATTR_IEEE);
	nla_put(m, DCB_ATTR_IEEE_PFC, 2, &pfc);
	nla_nest_end(m, ieee);
	nla_put(m, DCB_ATTR_DCBX, 0, NULL);
	assert_true(parse_dcb(m, &f));
	assert_unknown(&f);

	/* other messages */
	assert_false(parse_dcb(dcb_message(RTM_SETDCB, DCB_CMD_IEEE_GET), &f));
	assert_false(parse_dcb(dcb_message(RTM_GETDCB, DCB_CMD_CEE_GET), &f));
	m = nlmsg_alloc_simple(RTM_GETDCB, 0);
	assert_false(parse_dcb(m, &f));
	assert_unknown(&f);
}

static enum qos_trust trust_with(const uint8_t *app, const uint8_t *trust, size_t n_trust)
{
	struct nl_msg *m = dcb_message(RTM_GETDCB, DCB_CMD_IEEE_GET);
	struct nlattr *ieee = nla_nest_start(m, DCB_ATTR_IEEE), *apps;
	struct qos_facts f = nothing();
	enum qos_trust result;

	apps = nla_nest_start(m, DCB_ATTR_IEEE_APP_TABLE);
	if (app)
		put_app(m, *app, 3, 26);
	nla_nest_end(m, apps);
	if (trust)
		put_trust(m, trust, n_trust);
	nla_nest_end(m, ieee);
	assert_true(parse_dcb(m, &f));
	result = f.trust;
	f.trust = QOS_TRUST_UNKNOWN;
	assert_unknown(&f);
	return result;
}

static void test_trust(void **state)
{
	static const uint8_t dscp[] = { 5 }, pcp[] = { 255 }, both[] = { 255, 5 }, other[] = { 1 };

	(void)state;
	assert_int_equal(trust_with(NULL, NULL, 0), QOS_TRUST_UNKNOWN);
	assert_int_equal(trust_with(other, NULL, 0), QOS_TRUST_UNKNOWN);
	assert_int_equal(trust_with(pcp, NULL, 0), QOS_TRUST_UNKNOWN);
	assert_int_equal(trust_with(dscp, NULL, 0), QOS_TRUST_DSCP);
	/* What the driver says itself counts more, also when that is nothing. */
	assert_int_equal(trust_with(NULL, dscp, 1), QOS_TRUST_DSCP);
	assert_int_equal(trust_with(dscp, pcp, 1), QOS_TRUST_PCP);
	assert_int_equal(trust_with(dscp, both, 2), QOS_TRUST_PCP);
	assert_int_equal(trust_with(dscp, other, 1), QOS_TRUST_UNKNOWN);
	assert_int_equal(trust_with(dscp, dscp, 0), QOS_TRUST_UNKNOWN);
}

static void test_owner(void **state)
{
	static const struct {
		uint8_t mode;
		enum dcbx_owner owner;
	} cases[] = {
		{ 0, DCBX_UNKNOWN },
		{ DCB_CAP_DCBX_STATIC, DCBX_UNKNOWN },
		{ DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE, DCBX_HOST },
		{ DCB_CAP_DCBX_LLD_MANAGED | DCB_CAP_DCBX_VER_IEEE, DCBX_FIRMWARE },
		{ DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE, DCBX_FIRMWARE },
		{ DCB_CAP_DCBX_VER_IEEE, DCBX_FIRMWARE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nl_msg *m = dcb_message(RTM_GETDCB, DCB_CMD_GDCBX);
		struct qos_facts f = nothing();

		nla_put_u8(m, DCB_ATTR_DCBX, cases[i].mode);
		assert_true(parse_dcb(m, &f));
		assert_int_equal(f.dcbx, cases[i].owner);
	}
}

static void test_pause(void **state)
{
	struct nl_msg *m = genl_message(0x15, ETHTOOL_MSG_PAUSE_GET_REPLY);
	struct qos_facts f = nothing();
	struct nlattr *stats;

	(void)state;
	nla_put_u8(m, ETHTOOL_A_PAUSE_AUTONEG, 0);
	nla_put_u8(m, ETHTOOL_A_PAUSE_RX, 1);
	nla_put_u8(m, ETHTOOL_A_PAUSE_TX, 0);
	stats = nla_nest_start(m, ETHTOOL_A_PAUSE_STATS);
	nla_put_u64(m, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 0);
	nla_put_u64(m, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, UINT64_C(1) << 40);
	nla_nest_end(m, stats);
	assert_true(parse_pause(m, &f));
	assert_int_equal(f.pause_autoneg, 0);
	assert_int_equal(f.pause_rx, 1);
	assert_int_equal(f.pause_tx, 0);
	assert_true(f.pause_tx_frames == 0);
	assert_true(f.pause_rx_frames == UINT64_C(1) << 40);
	assert_int_equal(f.dcbx, DCBX_UNKNOWN);

	/* A driver that counts in one direction only, and another without any of it. */
	f = nothing();
	m = genl_message(0x15, ETHTOOL_MSG_PAUSE_GET_REPLY);
	stats = nla_nest_start(m, ETHTOOL_A_PAUSE_STATS);
	nla_put_u64(m, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 9);
	nla_put_u32(m, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 9);
	nla_nest_end(m, stats);
	assert_true(parse_pause(m, &f));
	assert_true(f.pause_rx_frames == 9);
	f.pause_rx_frames = UINT64_MAX;
	assert_unknown(&f);
	assert_true(parse_pause(genl_message(0x15, ETHTOOL_MSG_PAUSE_GET_REPLY), &f));
	assert_unknown(&f);
	assert_false(parse_pause(genl_message(0x15, ETHTOOL_MSG_EEE_GET_REPLY), &f));
	m = nlmsg_alloc_simple(0x15, 0);
	assert_false(parse_pause(m, &f));
}

static void test_family(void **state)
{
	struct nl_msg *m = genl_message(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	uint16_t family = 0;

	(void)state;
	nla_put_string(m, CTRL_ATTR_FAMILY_NAME, "ethtool");
	assert_false(genl_parse_family(nlmsg_hdr(m), &family));
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, 0x15);
	assert_true(genl_parse_family(nlmsg_hdr(m), &family));
	assert_int_equal(family, 0x15);
	nlmsg_free(m);
	m = genl_message(GENL_ID_CTRL, CTRL_CMD_DELFAMILY);
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, 0x16);
	assert_false(genl_parse_family(nlmsg_hdr(m), &family));
	nlmsg_free(m);
	m = genl_message(0x15, CTRL_CMD_NEWFAMILY);
	nla_put_u16(m, CTRL_ATTR_FAMILY_ID, 0x16);
	assert_false(genl_parse_family(nlmsg_hdr(m), &family));
	nlmsg_free(m);
	assert_int_equal(family, 0x15);
}

/* The loopback netdev, which is everywhere, has neither DCB nor pause. */
static void test_read(void **state)
{
	struct qos_facts f, unknown = qos_facts_unknown(1, "lo");

	(void)state;
	memset(&f, 0x55, sizeof(f));
	assert_int_equal(qos_read(1, "lo", &f), 0);
	assert_int_equal(f.dcbx, DCBX_NONE);
	f.dcbx = DCBX_UNKNOWN;
	assert_memory_equal(&f, &unknown, sizeof(f));

	/* Renamed, or gone. */
	unknown = qos_facts_unknown(INT32_MAX, "lo");
	unknown.error = -ENODEV;
	assert_int_equal(qos_read(INT32_MAX, "lo", &f), -ENODEV);
	assert_memory_equal(&f, &unknown, sizeof(f));
	assert_int_equal(qos_read(1, "no-such-netdev", &f), -ENODEV);
	assert_int_equal(f.dcbx, DCBX_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ieee),
		cmocka_unit_test(test_ieee_parts),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_family),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
