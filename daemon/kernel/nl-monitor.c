/* SPDX-License-Identifier: MIT */
#include "nl-monitor.h"

#include <errno.h>
#include <sys/socket.h>

#include "log.h"
#include "macros.h"

/* More than the default of 212992 needs CAP_NET_ADMIN; what does not fit is healed by a listing. */
#define BUFFER (1024 * 1024)

/* libnl has one code for ENOMEM and ENOBUFS: a host without memory must not keep us here. */
#define LOSSES_MAX 100

DEFINE_CLEANUP(struct nl_sock *, nl_socket_free)

int nl_monitor_open(int protocol, const int *groups, size_t n_groups,
	nl_recvmsg_msg_cb_t on_message, void *user, struct nl_sock **ret)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = nl_socket_alloc();
	int r, size = BUFFER;

	if (!sock)
		return -ENOMEM;
	nl_socket_disable_seq_check(sock);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_message, user);
	r = nl_connect(sock, protocol);
	if (r < 0)
		return -r == NLE_PROTO_MISMATCH ? -EPROTONOSUPPORT : -EIO;
	if (nl_socket_set_nonblocking(sock) < 0)
		return -EIO;
	/* Best effort: the kernel clamps this to net.core.rmem_max. */
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) < 0)
		log_debug("netlink: receive buffer stays small: %m");
	for (size_t i = 0; i < n_groups; i++)
		if (nl_socket_add_membership(sock, groups[i]) < 0)
			return -EOPNOTSUPP;
	*ret = TAKE_PTR(sock);
	return 0;
}

int nl_monitor_receive(struct nl_sock *sock)
{
	unsigned losses = 0;
	int r;

	for (;;) {
		r = nl_recvmsgs_default(sock);
		if (r >= 0)
			continue;
		if (-r == NLE_AGAIN)
			return losses ? -ENOBUFS : 0;
		if (-r != NLE_NOMEM)
			return -EIO;
		/* What is still queued is good. */
		if (++losses == LOSSES_MAX)
			return -ENOBUFS;
	}
}
