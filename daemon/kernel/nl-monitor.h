/* SPDX-License-Identifier: MIT */
/* A netlink socket that only listens: what rtnetlink's monitor and RDMA netlink's have in common. */
#pragma once

#include <netlink/netlink.h>
#include <stddef.h>

/*
 * Opens a socket that is in these multicast groups; on_message gets each message. Never waits.
 * Negative errno: -EPROTONOSUPPORT where the kernel has no such protocol, -EOPNOTSUPP where it does
 * not let one into a group.
 */
int nl_monitor_open(int protocol, const int *groups, size_t n_groups,
	nl_recvmsg_msg_cb_t on_message, void *user, struct nl_sock **ret);

/*
 * Takes what has arrived. Returns 0, -ENOBUFS when messages were lost and only a listing can tell
 * what they said, or another negative errno.
 */
int nl_monitor_receive(struct nl_sock *sock);
