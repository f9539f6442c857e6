/* SPDX-License-Identifier: MIT */
#include "ipoib.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>

#include "nl-request.h"

static struct nl_msg *link_request(uint32_t ifindex, int flags)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | flags);

	if (msg && nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Appends what belongs to IPoIB; attribute 0: nothing. */
static int put_ipoib(struct nl_msg *msg, int attribute, uint16_t value)
{
	struct nlattr *info = nla_nest_start(msg, IFLA_LINKINFO), *data = NULL;

	if (!info || nla_put_string(msg, IFLA_INFO_KIND, "ipoib") < 0)
		return -ENOMEM;
	if (attribute) {
		data = nla_nest_start(msg, IFLA_INFO_DATA);
		if (!data || nla_put_u16(msg, attribute, value) < 0)
			return -ENOMEM;
		nla_nest_end(msg, data);
	}
	nla_nest_end(msg, info);
	return 0;
}

static int send_request(struct nl_msg *msg)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	int r = nl_request_open(NETLINK_ROUTE, &sock);

	return r < 0 ? r : nl_request(sock, msg, NULL, NULL);
}

int ipoib_add_child(const char *name, uint32_t parent_ifindex, uint16_t pkey, uint32_t *ret_ifindex)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = link_request(0, NLM_F_CREATE | NLM_F_EXCL);
	int r;

	if (!msg || nla_put_string(msg, IFLA_IFNAME, name) < 0 ||
		nla_put_u32(msg, IFLA_LINK, parent_ifindex) < 0 ||
		put_ipoib(msg, pkey ? IFLA_IPOIB_PKEY : 0, pkey) < 0)
		return -ENOMEM;
	r = send_request(msg);
	if (r < 0)
		return r;
	/* Somebody may have renamed or removed it already. */
	*ret_ifindex = if_nametoindex(name);
	return *ret_ifindex ? 0 : -ENODEV;
}

static int set_ipoib(uint32_t ifindex, int attribute, uint16_t value)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = link_request(ifindex, 0);

	if (!msg || put_ipoib(msg, attribute, value) < 0)
		return -ENOMEM;
	return send_request(msg);
}

int ipoib_set_connected(uint32_t ifindex, bool connected)
{
	return set_ipoib(
		ifindex, IFLA_IPOIB_MODE, connected ? IPOIB_MODE_CONNECTED : IPOIB_MODE_DATAGRAM);
}

int ipoib_set_umcast(uint32_t ifindex, bool on)
{
	return set_ipoib(ifindex, IFLA_IPOIB_UMCAST, on);
}

int netdev_set_mtu(uint32_t ifindex, uint32_t mtu)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = link_request(ifindex, 0);

	if (!msg || nla_put_u32(msg, IFLA_MTU, mtu) < 0)
		return -ENOMEM;
	return send_request(msg);
}
