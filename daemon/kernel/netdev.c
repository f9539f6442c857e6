/* SPDX-License-Identifier: MIT */
#include "netdev.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "log.h"
#include "macros.h"

/* More than the default of 212992 needs CAP_NET_ADMIN; what does not fit is healed by a listing. */
#define MONITOR_BUFFER (1024 * 1024)

#define LIST_TIMEOUT_SEC 10

struct netdev_monitor {
	struct nl_sock *sock;
	netdev_cb cb;
	void *user;
};

DEFINE_CLEANUP(struct nl_sock *, nl_socket_free)

static int socket_errno(int nlerr)
{
	/* libnl has one code for ENOMEM and ENOBUFS; on a receive it is the lost messages. */
	switch (-nlerr) {
	case NLE_NOMEM:
		return -ENOBUFS;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_PERM:
		return -EPERM;
	default:
		return -EIO;
	}
}

static bool parse_link(struct nlmsghdr *h, struct netdev_facts *ret)
{
	struct nlattr *tb[IFLA_MAX + 1] = { 0 };
	struct netdev_facts f = { 0 };
	struct ifinfomsg *ifi;

	if (h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK)
		return false;
	if (nlmsg_parse(h, sizeof(*ifi), tb, IFLA_MAX, NULL) < 0)
		return false;
	ifi = nlmsg_data(h);
	/* Bridges send RTM_*LINK of their ports with their own family: not a link come or gone. */
	if (ifi->ifi_family != AF_UNSPEC)
		return false;
	f.ifindex = (uint32_t)ifi->ifi_index;
	f.flags = ifi->ifi_flags;
	f.type = ifi->ifi_type;
	f.gone = h->nlmsg_type == RTM_DELLINK;
	if (tb[IFLA_IFNAME])
		nla_strlcpy(f.name, tb[IFLA_IFNAME], sizeof(f.name));
	if (tb[IFLA_OPERSTATE])
		f.operstate = nla_get_u8(tb[IFLA_OPERSTATE]);
	/* IFLA_CARRIER is there since 2.6; IFF_LOWER_UP says the same. */
	f.carrier = tb[IFLA_CARRIER] ? nla_get_u8(tb[IFLA_CARRIER]) != 0
				     : (f.flags & IFF_LOWER_UP) != 0;
	if (tb[IFLA_CARRIER_UP_COUNT] && tb[IFLA_CARRIER_DOWN_COUNT]) {
		f.have_carrier_counts = true;
		f.carrier_up_count = nla_get_u32(tb[IFLA_CARRIER_UP_COUNT]);
		f.carrier_down_count = nla_get_u32(tb[IFLA_CARRIER_DOWN_COUNT]);
	}
	*ret = f;
	return true;
}

struct list {
	netdev_cb cb;
	void *user;
	int result;
	bool done;
};

static int on_list_link(struct nl_msg *msg, void *arg)
{
	struct netdev_facts f;
	struct list *l = arg;
	int r;

	if (l->result == 0 && parse_link(nlmsg_hdr(msg), &f)) {
		r = l->cb(&f, l->user);
		if (r < 0)
			l->result = r;
	}
	return NL_OK;
}

static int on_list_done(struct nl_msg *msg, void *arg)
{
	struct list *l = arg;

	(void)msg;
	l->done = true;
	return NL_OK;
}

int netdev_list(netdev_cb cb, void *user)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = nl_socket_alloc();
	struct timeval tv = { .tv_sec = LIST_TIMEOUT_SEC };
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	struct list l = { .cb = cb, .user = user };
	int r;

	if (!sock)
		return -ENOMEM;
	r = nl_connect(sock, NETLINK_ROUTE);
	if (r < 0)
		return socket_errno(r);
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	r = nl_send_simple(sock, RTM_GETLINK, NLM_F_DUMP, &ifi, sizeof(ifi));
	if (r < 0)
		return socket_errno(r);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_list_link, &l);
	nl_socket_modify_cb(sock, NL_CB_FINISH, NL_CB_CUSTOM, on_list_done, &l);
	while (!l.done) {
		r = nl_recvmsgs_default(sock);
		if (r < 0)
			return socket_errno(r);
	}
	return l.result;
}

struct netdev_monitor *netdev_monitor_close(struct netdev_monitor *m)
{
	if (m) {
		nl_socket_free(m->sock);
		free(m);
	}
	return NULL;
}

DEFINE_CLEANUP(struct netdev_monitor *, netdev_monitor_close)

static int on_notification(struct nl_msg *msg, void *arg)
{
	struct netdev_monitor *m = arg;
	struct netdev_facts f;

	if (parse_link(nlmsg_hdr(msg), &f))
		m->cb(&f, m->user);
	return NL_OK;
}

int netdev_monitor_open(struct netdev_monitor **ret)
{
	_cleanup_(netdev_monitor_closep) struct netdev_monitor *m = NULL;
	int r, size = MONITOR_BUFFER;

	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->sock = nl_socket_alloc();
	if (!m->sock)
		return -ENOMEM;
	nl_socket_disable_seq_check(m->sock);
	nl_socket_modify_cb(m->sock, NL_CB_VALID, NL_CB_CUSTOM, on_notification, m);
	r = nl_connect(m->sock, NETLINK_ROUTE);
	if (r < 0)
		return socket_errno(r);
	r = nl_socket_set_nonblocking(m->sock);
	if (r < 0)
		return socket_errno(r);
	/* Best effort: the kernel clamps this to net.core.rmem_max. */
	if (setsockopt(nl_socket_get_fd(m->sock), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0)
		log_debug("rtnetlink: receive buffer stays small: %m");
	r = nl_socket_add_membership(m->sock, RTNLGRP_LINK);
	if (r < 0)
		return socket_errno(r);
	*ret = TAKE_PTR(m);
	return 0;
}

int netdev_monitor_fd(const struct netdev_monitor *m)
{
	return nl_socket_get_fd(m->sock);
}

int netdev_monitor_receive(struct netdev_monitor *m, netdev_cb cb, void *user)
{
	bool lost = false;
	int r;

	m->cb = cb;
	m->user = user;
	for (;;) {
		r = nl_recvmsgs_default(m->sock);
		if (r >= 0)
			continue;
		r = socket_errno(r);
		if (r == -EAGAIN)
			return lost ? -ENOBUFS : 0;
		if (r != -ENOBUFS)
			return r;
		lost = true; /* what is still queued is good */
	}
}
