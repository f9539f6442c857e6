/* SPDX-License-Identifier: MIT */
/* What the files of nldev.h share. For nobody else. */
#pragma once

#include <netlink/attr.h>

#include "nl-request.h"
#include "nldev-numbers.h"
#include "nldev.h"

/* A request of this operation; NULL: out of memory. */
struct nl_msg *nldev_request(int op, int flags);

/* See nl_request(). */
int nldev_transact(struct nldev *n, struct nl_msg *msg, nl_recvmsg_msg_cb_t parse, void *user);

/* The attributes of an answer. 0 or -EBADMSG. */
int nldev_parse(struct nl_msg *msg, struct nlattr *tb[RDMAD_ATTR_MAX + 1]);

/* A request about this port; NULL: out of memory. */
struct nl_msg *nldev_port_request(int op, int flags, uint32_t device_index, uint32_t port);

/*
 * Hands on the attributes of each entry of a table in an answer; entry is the type of those that
 * count, 0 any. No table is an empty one. A negative return of the callback ends it and is returned;
 * -EBADMSG for what is no answer.
 */
typedef int (*nldev_entry_cb)(struct nlattr *tb[RDMAD_ATTR_MAX + 1], void *user);
int nldev_each_entry(struct nl_msg *msg, int table, int entry, nldev_entry_cb cb, void *user);

/* An attribute that is absent or too short is one that is not understood. */
static inline bool nldev_get_u32(struct nlattr *a, uint32_t *ret)
{
	if (!a || nla_len(a) < (int)sizeof(uint32_t))
		return false;
	*ret = nla_get_u32(a);
	return true;
}

static inline bool nldev_get_u8(struct nlattr *a, uint8_t *ret)
{
	if (!a || nla_len(a) < (int)sizeof(uint8_t))
		return false;
	*ret = nla_get_u8(a);
	return true;
}
