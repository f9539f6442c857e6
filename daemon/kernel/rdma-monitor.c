/* SPDX-License-Identifier: MIT */
#include "rdma-monitor.h"

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "macros.h"
#include "nl-monitor.h"
#include "nldev-numbers.h"

struct rdma_monitor {
	struct nl_sock *sock;
	rdma_notice_cb cb;
	void *user;
};

struct rdma_monitor *rdma_monitor_close(struct rdma_monitor *m)
{
	if (m) {
		nl_socket_free(m->sock);
		free(m);
	}
	return NULL;
}

DEFINE_CLEANUP(struct rdma_monitor *, rdma_monitor_close)

static uint32_t get_u32(const struct nlattr *a)
{
	return a && nla_len(a) >= (int)sizeof(uint32_t) ? nla_get_u32(a) : 0;
}

static int on_notice(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct rdma_monitor *m = arg;
	struct rdma_notice n = { .kind = RDMA_NOTICE_DEVICE };

	if (h->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMAD_CMD_MONITOR))
		return NL_OK;
	/* What cannot be read still says that something happened. */
	if (nlmsg_parse(h, 0, tb, RDMAD_ATTR_MAX, NULL) == 0) {
		n.device_index = get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
		n.port = get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
		if (tb[RDMAD_ATTR_EVENT_TYPE])
			switch (nla_get_u8(tb[RDMAD_ATTR_EVENT_TYPE])) {
			case RDMAD_EVENT_NETDEV_ATTACH:
			case RDMAD_EVENT_NETDEV_DETACH:
			case RDMAD_EVENT_NETDEV_RENAME:
				n.kind = RDMA_NOTICE_PORT;
				break;
			}
	}
	m->cb(&n, m->user);
	return NL_OK;
}

int rdma_monitor_open(struct rdma_monitor **ret)
{
	static const int groups[] = { RDMAD_NL_GROUP_NOTIFY };
	_cleanup_(rdma_monitor_closep) struct rdma_monitor *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	r = nl_monitor_open(NETLINK_RDMA, groups, ARRAY_SIZE(groups), on_notice, m, &m->sock);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

int rdma_monitor_fd(const struct rdma_monitor *m)
{
	return nl_socket_get_fd(m->sock);
}

int rdma_monitor_receive(struct rdma_monitor *m, rdma_notice_cb cb, void *user)
{
	m->cb = cb;
	m->user = user;
	return nl_monitor_receive(m->sock);
}
