/* SPDX-License-Identifier: MIT */
/*
 * RDMA netlink (rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c): devices, ports, software
 * links. Blocking calls with a receive timeout; only workers and the setup helper use them.
 */
#pragma once

#include "facts.h"

struct nldev;

/*
 * Opens the socket. Opening it makes the kernel load ib_core, so ask whether RDMA is there first
 * where that matters (sysfs_have_rdma()). -EPROTONOSUPPORT: this kernel has no RDMA.
 */
int nldev_open(struct nldev **ret);
struct nldev *nldev_close(struct nldev *n);
void nldev_closep(struct nldev **n);

/*
 * Lists all devices of this network namespace, one callback per device; facts hold what RDMA
 * netlink knows (index, name, ports, GUIDs, protocol, firmware), the rest is empty. A negative
 * return of the callback ends the listing and is returned.
 */
typedef int (*nldev_device_cb)(const struct device_facts *f, void *user);
int nldev_list_devices(struct nldev *n, nldev_device_cb cb, void *user);

/*
 * Reads one port: states, LIDs, netdev. Costs one query_port in the driver. Fields that the message
 * lacks stay unknown. -ENODEV: no such device or port any more (the kernel says EINVAL for that).
 * ret_name: what the device is called now.
 */
int nldev_read_port(struct nldev *n, uint32_t device_index, uint32_t port, struct port_facts *ret,
	char ret_name[RDMA_NAME_MAX]);

/*
 * Reads all hw_counters of a port (from 1 on) by one message, one callback per counter in the
 * kernel's order; a name has name_length bytes, is not terminated and may hold anything. Optional
 * counters that are enabled are among them. The kernel asks the driver once for all: where that
 * fails for some, their old values come. A negative return of the callback is returned, but the
 * socket stays usable. -EINVAL: no such device or port, a driver without counters of ports, or one
 * that could not read them. -EMSGSIZE: too many for the one page that the kernel answers with
 * (stat_get_doit_default_counter()). -ENODATA: the answer had no counters.
 */
typedef int (*nldev_counter_cb)(const char *name, size_t name_length, uint64_t value, void *user);
int nldev_read_hw_counters(
	struct nldev *n, uint32_t device_index, uint32_t port, nldev_counter_cb cb, void *user);

/* The index of the device with this name, -ENODEV when there is none. */
int nldev_device_index_by_name(struct nldev *n, const char *name, uint32_t *ret);

/* Whether the kernel sends notifications to RDMA_NL_GROUP_NOTIFY (kernel/rdma-monitor.h). */
bool nldev_has_monitor(struct nldev *n);

/*
 * "rdma link add NAME type TYPE netdev NETDEV". The kernel loads the driver module by itself.
 * Errors as the kernel gives them: ENODEV no such netdev, EINVAL type not known, EEXIST the netdev
 * has one already or the name is taken, EPERM not permitted (also: netdev is a VLAN).
 */
int nldev_add_link(struct nldev *n, const char *name, enum link_type type, const char *netdev);
