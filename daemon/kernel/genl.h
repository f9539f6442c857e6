/* SPDX-License-Identifier: MIT */
/*
 * Generic netlink, for ethtool and devlink. A hung driver blocks in the sending of a request, with a
 * lock that others may want: only workers ask.
 */
#pragma once

#include "nl-request.h"

/*
 * A request to the family of that name. -ENOENT: the kernel has no such family, or it is in a module
 * that is not loaded.
 */
int genl_request_new(struct nl_sock *sock, const char *family, uint8_t version, uint8_t command,
	int flags, struct nl_msg **ret);

/* What CTRL_CMD_NEWFAMILY says. False: another message. */
bool genl_parse_family(struct nlmsghdr *h, uint16_t *ret);
