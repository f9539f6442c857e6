/* SPDX-License-Identifier: MIT */
#include "qos.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "ethtool.h"
#include "macros.h"

/* linux/dcbnl.h of kernel 6.3; the headers that we build with may be older. */
#define IEEE_APP_TRUST_TABLE 11
#define IEEE_ATTR_MAX        IEEE_APP_TRUST_TABLE
#define APP_SELECTOR_PCP     255

/* ---- what the answers say ---- */

/* An attribute that is shorter than expected is one that is not understood. */
static bool has(const struct nlattr *a, size_t size)
{
	return a && (size_t)nla_len(a) >= size;
}

static void parse_ets(const struct nlattr *a, struct qos_facts *f)
{
	struct ieee_ets ets;

	_Static_assert(IEEE_8021QAZ_MAX_TCS == QOS_CLASSES, "802.1Q has eight");
	if (!has(a, sizeof(ets)))
		return;
	memcpy(&ets, nla_data(a), sizeof(ets));
	for (size_t i = 0; i < QOS_CLASSES; i++) {
		if (ets.prio_tc[i] < QOS_CLASSES)
			f->prio_class[i] = (int8_t)ets.prio_tc[i];
		if (ets.tc_tx_bw[i] <= 100)
			f->class_bandwidth[i] = (int8_t)ets.tc_tx_bw[i];
		if (ets.tc_tsa[i] <= INT8_MAX)
			f->class_algorithm[i] = (int8_t)ets.tc_tsa[i];
	}
}

static void parse_pfc(const struct nlattr *a, struct qos_facts *f)
{
	struct ieee_pfc pfc;

	if (!has(a, sizeof(pfc)))
		return;
	memcpy(&pfc, nla_data(a), sizeof(pfc));
	f->pfc = pfc.pfc_en;
}

/* Selectors in order of precedence: of DSCP and PCP the one that comes first. */
static enum qos_trust trust_of_table(const struct nlattr *table)
{
	struct nlattr *a;
	int rest;

	nla_for_each_nested(a, table, rest)
	{
		if (!has(a, 1))
			continue;
		if (nla_get_u8(a) == IEEE_8021QAZ_APP_SEL_DSCP)
			return QOS_TRUST_DSCP;
		if (nla_get_u8(a) == APP_SELECTOR_PCP)
			return QOS_TRUST_PCP;
	}
	return QOS_TRUST_UNKNOWN;
}

static enum qos_trust trust_of_apps(const struct nlattr *table)
{
	struct nlattr *a;
	int rest;

	nla_for_each_nested(a, table, rest)
	{
		struct dcb_app app;

		if (nla_type(a) != DCB_ATTR_IEEE_APP || !has(a, sizeof(app)))
			continue;
		memcpy(&app, nla_data(a), sizeof(app));
		if (app.selector == IEEE_8021QAZ_APP_SEL_DSCP)
			return QOS_TRUST_DSCP;
	}
	return QOS_TRUST_UNKNOWN;
}

/*
 * LLD_MANAGED is what most drivers say of a firmware that negotiates; others (mlx5) only name the
 * versions that it speaks and leave HOST out. Neither of them: nobody said.
 */
static enum dcbx_owner owner_of_mode(uint8_t mode)
{
	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return DCBX_FIRMWARE;
	if (mode & DCB_CAP_DCBX_HOST)
		return DCBX_HOST;
	if (mode & (DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE))
		return DCBX_FIRMWARE;
	return DCBX_UNKNOWN;
}

static void parse_ieee(struct nlattr *nest, struct qos_facts *f)
{
	struct nlattr *tb[IEEE_ATTR_MAX + 1] = { 0 };

	if (nla_parse_nested(tb, IEEE_ATTR_MAX, nest, NULL) < 0)
		return;
	parse_ets(tb[DCB_ATTR_IEEE_ETS], f);
	parse_pfc(tb[DCB_ATTR_IEEE_PFC], f);
	if (tb[IEEE_APP_TRUST_TABLE])
		f->trust = trust_of_table(tb[IEEE_APP_TRUST_TABLE]);
	else if (tb[DCB_ATTR_IEEE_APP_TABLE])
		f->trust = trust_of_apps(tb[DCB_ATTR_IEEE_APP_TABLE]);
}

bool qos_parse_dcb(struct nlmsghdr *h, struct qos_facts *f)
{
	struct nlattr *tb[DCB_ATTR_MAX + 1] = { 0 };
	struct dcbmsg *dcb;

	if (h->nlmsg_type != RTM_GETDCB)
		return false;
	if (nlmsg_parse(h, sizeof(*dcb), tb, DCB_ATTR_MAX, NULL) < 0)
		return false;
	dcb = nlmsg_data(h);
	if (dcb->cmd != DCB_CMD_IEEE_GET && dcb->cmd != DCB_CMD_GDCBX)
		return false;
	if (dcb->cmd == DCB_CMD_IEEE_GET && tb[DCB_ATTR_IEEE])
		parse_ieee(tb[DCB_ATTR_IEEE], f);
	if (has(tb[DCB_ATTR_DCBX], 1))
		f->dcbx = owner_of_mode(nla_get_u8(tb[DCB_ATTR_DCBX]));
	return true;
}

static void parse_switch(const struct nlattr *a, int32_t *ret)
{
	if (has(a, 1))
		*ret = nla_get_u8(a) != 0;
}

static void parse_frames(struct nlattr *a, uint64_t *ret)
{
	if (has(a, sizeof(uint64_t)))
		*ret = nla_get_u64(a);
}

bool qos_parse_pause(struct nlmsghdr *h, struct qos_facts *f)
{
	struct nlattr *tb[ETHTOOL_A_PAUSE_MAX + 1] = { 0 };
	struct nlattr *stats[ETHTOOL_A_PAUSE_STAT_MAX + 1] = { 0 };
	struct genlmsghdr *genl;

	if (nlmsg_parse(h, sizeof(*genl), tb, ETHTOOL_A_PAUSE_MAX, NULL) < 0)
		return false;
	genl = nlmsg_data(h);
	if (genl->cmd != ETHTOOL_MSG_PAUSE_GET_REPLY)
		return false;
	parse_switch(tb[ETHTOOL_A_PAUSE_AUTONEG], &f->pause_autoneg);
	parse_switch(tb[ETHTOOL_A_PAUSE_RX], &f->pause_rx);
	parse_switch(tb[ETHTOOL_A_PAUSE_TX], &f->pause_tx);
	if (tb[ETHTOOL_A_PAUSE_STATS] && nla_parse_nested(stats, ETHTOOL_A_PAUSE_STAT_MAX,
						 tb[ETHTOOL_A_PAUSE_STATS], NULL) >= 0) {
		parse_frames(stats[ETHTOOL_A_PAUSE_STAT_TX_FRAMES], &f->pause_tx_frames);
		parse_frames(stats[ETHTOOL_A_PAUSE_STAT_RX_FRAMES], &f->pause_rx_frames);
	}
	return true;
}

/* ---- asking ---- */

static int on_dcb(struct nl_msg *msg, void *user)
{
	return qos_parse_dcb(nlmsg_hdr(msg), user) ? 0 : -EBADMSG;
}

static int on_pause(struct nl_msg *msg, void *user)
{
	return qos_parse_pause(nlmsg_hdr(msg), user) ? 0 : -EBADMSG;
}

static int ask_dcb(struct nl_sock *sock, uint8_t command, struct qos_facts *f)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETDCB, NLM_F_REQUEST);
	struct dcbmsg dcb = { .dcb_family = AF_UNSPEC, .cmd = command };

	if (!msg || nlmsg_append(msg, &dcb, sizeof(dcb), NLMSG_ALIGNTO) < 0 ||
		nla_put_string(msg, DCB_ATTR_IFNAME, f->name) < 0)
		return -ENOMEM;
	return nl_request(sock, msg, on_dcb, f);
}

static int ask_pause(struct nl_sock *sock, struct qos_facts *f)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	int r;

	r = ethtool_request(sock, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, f->ifindex,
		ETHTOOL_FLAG_STATS, &msg);
	return r < 0 ? r : nl_request(sock, msg, on_pause, f);
}

static bool name_stayed(struct nl_sock *sock, const struct qos_facts *f)
{
	struct ifreq now = { .ifr_ifindex = (int)f->ifindex };

	return ioctl(nl_socket_get_fd(sock), SIOCGIFNAME, &now) >= 0 &&
	       streq(now.ifr_name, f->name);
}

/* -ENODEV: the answer is of another netdev, or there is none of that name. */
static int read_dcb(struct qos_facts *f)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	int r;

	r = nl_request_open(NETLINK_ROUTE, &sock);
	if (r < 0)
		return r;
	r = ask_dcb(sock, DCB_CMD_IEEE_GET, f);
	if (r == -EOPNOTSUPP) {
		f->dcbx = DCBX_NONE;
		r = 0;
	}
	/*
	 * The mode was in there as well, if the driver has one. When something in it cannot be read,
	 * or is too long for one message, the mode alone still can.
	 */
	if (r < 0 && ask_dcb(sock, DCB_CMD_GDCBX, f) >= 0)
		r = 0;
	/* DCB knows netdevs by name only. */
	return name_stayed(sock, f) ? r : -ENODEV;
}

static int read_pause(struct qos_facts *f)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	int r;

	r = nl_request_open(NETLINK_GENERIC, &sock);
	return r < 0 ? r : ask_pause(sock, f);
}

int qos_read(uint32_t ifindex, const char *name, struct qos_facts *ret)
{
	struct qos_facts f = qos_facts_unknown(ifindex, name);
	int dcb, pause;

	dcb = read_dcb(&f);
	if (dcb == -ENODEV) {
		f = qos_facts_unknown(ifindex, name);
		f.error = -ENODEV;
	} else {
		pause = read_pause(&f);
		if (dcb < 0 && pause < 0)
			f.error = dcb;
	}
	*ret = f;
	return f.error;
}
