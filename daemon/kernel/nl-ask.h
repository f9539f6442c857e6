/* SPDX-License-Identifier: MIT */
/*
 * Asking by netlink: one request, and its answer or answers. What DCB, ethtool and devlink have in
 * common. A hung driver blocks in the sending itself, with a lock that others may want: only workers
 * ask.
 */
#pragma once

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>

#include "macros.h"

DEFINE_CLEANUP(struct nl_sock *, nl_socket_free)
DEFINE_CLEANUP(struct nl_msg *, nlmsg_free)

/* Takes an answer; false: it is no such answer. */
typedef bool (*nl_answer_cb)(struct nlmsghdr *h, void *user);

/* Opens a socket for the functions below. Negative errno. */
int nl_ask_open(int protocol, struct nl_sock **ret);

/* One answer. The kernel's errno; -EBADMSG for what is no answer; -ETIMEDOUT. */
int nl_ask(struct nl_sock *sock, struct nl_msg *msg, nl_answer_cb answer, void *user);

/* A dump: any number of answers; those that the callback does not take are passed over. */
int nl_ask_all(struct nl_sock *sock, struct nl_msg *msg, nl_answer_cb answer, void *user);

/*
 * A request to the generic netlink family of that name. -ENOENT: the kernel has no such family, or it
 * is in a module that is not loaded.
 */
int genl_request(struct nl_sock *sock, const char *family, uint8_t version, uint8_t command,
	int flags, struct nl_msg **ret);

/* What CTRL_CMD_NEWFAMILY says. */
bool genl_parse_family(struct nlmsghdr *h, uint16_t *ret);
