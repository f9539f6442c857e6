/* SPDX-License-Identifier: MIT */
#include "ethtool.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

#include "genl.h"

int ethtool_request(struct nl_sock *sock, uint8_t command, int header, uint32_t ifindex,
	uint32_t flags, struct nl_msg **ret)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	struct nlattr *nest;
	int r;

	r = genl_request_new(sock, ETHTOOL_GENL_NAME, ETHTOOL_GENL_VERSION, command, 0, &msg);
	if (r < 0)
		return r;
	nest = nla_nest_start(msg, header | NLA_F_NESTED);
	if (!nest || nla_put_u32(msg, ETHTOOL_A_HEADER_DEV_INDEX, ifindex) < 0 ||
		(flags && nla_put_u32(msg, ETHTOOL_A_HEADER_FLAGS, flags) < 0))
		return -ENOMEM;
	nla_nest_end(msg, nest);
	*ret = TAKE_PTR(msg);
	return 0;
}

static int32_t small_number(struct nlattr *a)
{
	return a && nla_len(a) >= 1 ? nla_get_u8(a) : -1;
}

bool ethtool_parse_link(struct nlmsghdr *h, struct link_facts *f)
{
	struct nlattr *tb[ETHTOOL_A_LINKSTATE_MAX + 1] = { 0 };
	struct genlmsghdr *genl;

	if (nlmsg_parse(h, sizeof(*genl), tb, ETHTOOL_A_LINKSTATE_MAX, NULL) < 0)
		return false;
	genl = nlmsg_data(h);
	if (genl->cmd != ETHTOOL_MSG_LINKSTATE_GET_REPLY)
		return false;
	/* It came up meanwhile: what some driver says of the time before is over. */
	if (small_number(tb[ETHTOOL_A_LINKSTATE_LINK]) == 1)
		return true;
	f->state = small_number(tb[ETHTOOL_A_LINKSTATE_EXT_STATE]);
	f->substate = f->state < 0 ? -1 : small_number(tb[ETHTOOL_A_LINKSTATE_EXT_SUBSTATE]);
	return true;
}

static int on_link(struct nl_msg *msg, void *user)
{
	return ethtool_parse_link(nlmsg_hdr(msg), user) ? 0 : -EBADMSG;
}

int ethtool_read_link(uint32_t ifindex, struct link_facts *ret)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	struct link_facts f = link_facts_unknown(ifindex);
	int r;

	r = nl_request_open(NETLINK_GENERIC, &sock);
	if (r >= 0)
		r = ethtool_request(sock, ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_A_LINKSTATE_HEADER,
			ifindex, 0, &msg);
	if (r >= 0)
		r = nl_request(sock, msg, on_link, &f);
	f.error = MIN(r, 0);
	*ret = f;
	return f.error;
}
