/* SPDX-License-Identifier: MIT */
/*
 * Notifications of RDMA netlink (group RDMA_NL_GROUP_NOTIFY, kernel 6.12: devices come and go,
 * netdevs are attached and detached; from 6.13 renames, too). They carry no port state, and nothing
 * of a device that moves between network namespaces: one more hint, never the truth. Receiving never
 * waits and touches no device: rdmad itself does that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rdma_notice_kind {
	RDMA_NOTICE_DEVICE, /* a device came, went or was renamed: list again */
	RDMA_NOTICE_PORT,   /* a port's netdev came, went or was renamed: read the port again */
};

struct rdma_notice {
	enum rdma_notice_kind kind;
	uint32_t device_index;
	uint32_t port; /* 0: of the device, or not told */
};

struct rdma_monitor;

/*
 * Joins the group. Opening the socket makes the kernel load ib_core, so only where it is there
 * already. Ask nldev_has_monitor() first: older kernels let one join and send nothing.
 */
int rdma_monitor_open(struct rdma_monitor **ret);
struct rdma_monitor *rdma_monitor_close(struct rdma_monitor *m);
int rdma_monitor_fd(const struct rdma_monitor *m);

/*
 * Hands on everything that has arrived. Returns 0, or -ENOBUFS when messages were lost and only a
 * listing can tell what they said.
 */
typedef void (*rdma_notice_cb)(const struct rdma_notice *n, void *user);
int rdma_monitor_receive(struct rdma_monitor *m, rdma_notice_cb cb, void *user);
