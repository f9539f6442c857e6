/* SPDX-License-Identifier: MIT */
/* One request to the kernel over a netlink socket, and its answers. Blocks, see nl-request.c. */
#pragma once

#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "macros.h"

DEFINE_CLEANUP(struct nl_msg *, nlmsg_free)
DEFINE_CLEANUP(struct nl_sock *, nl_socket_free)

/* Opens a socket on which requests are made one after the other. 0 or a negative errno. */
int nl_request_open(int protocol, struct nl_sock **ret);

/*
 * Sends a request and hands each answer to parse (may be NULL when only the ACK matters). Returns 0,
 * the kernel's negative errno, or what parse returned below 0. The request has to ask for something
 * that ends it: an answer, a dump or an ACK.
 */
int nl_request(struct nl_sock *sock, struct nl_msg *msg, nl_recvmsg_msg_cb_t parse, void *user);
