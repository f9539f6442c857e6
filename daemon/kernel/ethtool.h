/* SPDX-License-Identifier: MIT */
/*
 * ethtool netlink. Requests wait for the rtnl lock, and the driver may ask its firmware: only workers
 * call this.
 */
#pragma once

#include "details.h"
#include "nl-request.h"

/*
 * A request about a netdev: command is ETHTOOL_MSG_*, header the number of its header attribute, flags
 * ETHTOOL_FLAG_*. Negative errno; -ENOENT: the kernel has no ethtool netlink.
 */
int ethtool_request(struct nl_sock *sock, uint8_t command, int header, uint32_t ifindex,
	uint32_t flags, struct nl_msg **ret);

/*
 * Why the link of a netdev is down (ETHTOOL_MSG_LINKSTATE_GET). Always fills in *ret; few drivers
 * know more than that it is. Returns 0, or the errno that is also in ret->error.
 */
int ethtool_read_link(uint32_t ifindex, struct link_facts *ret);

/* What ETHTOOL_MSG_LINKSTATE_GET_REPLY says: adds it to f. False when it is another message. */
bool ethtool_parse_link(struct nlmsghdr *h, struct link_facts *f);
