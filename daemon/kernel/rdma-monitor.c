/* SPDX-License-Identifier: MIT */
#include "rdma-monitor.h"

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "log.h"
#include "macros.h"
#include "nldev-numbers.h"

/* More than the default of 212992 needs CAP_NET_ADMIN; what does not fit is healed by a listing. */
#define MONITOR_BUFFER (1024 * 1024)

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
	_cleanup_(rdma_monitor_closep) struct rdma_monitor *m = NULL;
	int r, size = MONITOR_BUFFER;

	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->sock = nl_socket_alloc();
	if (!m->sock)
		return -ENOMEM;
	nl_socket_disable_seq_check(m->sock);
	nl_socket_modify_cb(m->sock, NL_CB_VALID, NL_CB_CUSTOM, on_notice, m);
	r = nl_connect(m->sock, NETLINK_RDMA);
	if (r < 0)
		return -r == NLE_PROTO_MISMATCH ? -EPROTONOSUPPORT : -EIO;
	if (nl_socket_set_nonblocking(m->sock) < 0)
		return -EIO;
	/* Best effort: the kernel clamps this to net.core.rmem_max. */
	if (setsockopt(nl_socket_get_fd(m->sock), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0)
		log_debug("RDMA netlink: receive buffer stays small: %m");
	if (nl_socket_add_membership(m->sock, RDMAD_NL_GROUP_NOTIFY) < 0)
		return -EOPNOTSUPP;
	*ret = TAKE_PTR(m);
	return 0;
}

int rdma_monitor_fd(const struct rdma_monitor *m)
{
	return nl_socket_get_fd(m->sock);
}

int rdma_monitor_receive(struct rdma_monitor *m, rdma_notice_cb cb, void *user)
{
	bool lost = false;
	int r;

	m->cb = cb;
	m->user = user;
	for (;;) {
		r = nl_recvmsgs_default(m->sock);
		if (r >= 0)
			continue;
		if (-r == NLE_AGAIN)
			return lost ? -ENOBUFS : 0;
		/* libnl has one code for ENOMEM and ENOBUFS; on a receive it is lost messages. */
		if (-r != NLE_NOMEM)
			return -EIO;
		lost = true; /* what is still queued is good */
	}
}
