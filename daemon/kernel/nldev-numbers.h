/* SPDX-License-Identifier: MIT */
/*
 * Numbers of include/uapi/rdma/rdma_netlink.h that are newer than Debian 12's copy of it. They are
 * ABI; whether the running kernel knows them is asked, never taken from its version.
 */
#pragma once

#include <rdma/rdma_netlink.h>

#define RDMAD_NL_GROUP_NOTIFY      4   /* 6.12 */
#define RDMAD_CMD_MONITOR          28  /* 6.12 */
#define RDMAD_ATTR_PRIVILEGED_QKEY 96  /* u8, 6.7 */
#define RDMAD_ATTR_EVENT_TYPE      102 /* u8, 6.12 */
#define RDMAD_ATTR_MONITOR_MODE    103 /* u8, 6.12 */

/* A table for nlmsg_parse() that holds all of the above. */
#define RDMAD_ATTR_MAX 103

/* enum rdma_nl_event_type */
enum {
	RDMAD_EVENT_REGISTER = 0,
	RDMAD_EVENT_UNREGISTER = 1,
	RDMAD_EVENT_NETDEV_ATTACH = 2,
	RDMAD_EVENT_NETDEV_DETACH = 3,
	RDMAD_EVENT_RENAME = 4,        /* 6.13 */
	RDMAD_EVENT_NETDEV_RENAME = 5, /* 6.13 */
};
