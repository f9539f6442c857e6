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
 * The same of one device; -ENODEV: it is not there. When a device goes while a list is made, one that
 * stays may be left out of it: the kernel goes on with a long list by counting (ib_enum_all_devs()).
 * One that is being removed is in no list any more, and still found so until the last who has it open
 * lets go of it (ib_device_get_by_index(), disable_device()).
 */
int nldev_read_device(struct nldev *n, uint32_t index, nldev_device_cb cb, void *user);

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
 * What holds for all devices together. Fields that this kernel does not say are -1, and then it
 * cannot set them either.
 */
int nldev_read_system(struct nldev *n, struct system_facts *ret);

/* ---- settings (nldev-settings.c); errors are the kernel's own unless said ---- */

/*
 * "rdma system set netns exclusive|shared" (5.2). -EBUSY: there is a network namespace besides the
 * first one, whatever it is for, and the mode is another (rdma_compatdev_set(),
 * drivers/infiniband/core/device.c).
 */
int nldev_set_netns_mode(struct nldev *n, bool exclusive);

/* "rdma system set privileged-qkey on|off" (6.7). -EINVAL: the kernel does not know it. */
int nldev_set_privileged_qkey(struct nldev *n, bool on);

/*
 * "rdma dev set DEVICE name NAME" (4.20). Its own name: nothing happens, and that is no error. -EEXIST:
 * another device has the name. -EINVAL: there is no such device, or the name is empty.
 */
int nldev_rename_device(struct nldev *n, uint32_t index, const char *name);

/*
 * "rdma dev set DEVICE adaptive-moderation on|off" (5.3): of completion queues that are made from then
 * on. -EINVAL: there is no such device, or the kernel does not know it.
 */
int nldev_set_adaptive_moderation(struct nldev *n, uint32_t index, bool on);

/* 1 on, 0 off. -EOPNOTSUPP: the kernel says nothing of it. -ENODEV: no such device. */
int nldev_read_adaptive_moderation(struct nldev *n, uint32_t index);

/*
 * Lists the counters of a port that can be switched on and off (5.16), in the driver's order. hw_index
 * is what nldev_set_optional_counters() takes. name is the kernel's and may hold anything but NUL. A
 * negative return of the callback ends the listing and is returned. -EINVAL: no such device or port, a
 * driver without counters of ports, or a kernel that cannot do it. -EMSGSIZE: more counters than the
 * kernel's answer holds.
 */
typedef int (*nldev_optional_counter_cb)(
	const char *name, uint32_t hw_index, bool enabled, void *user);
int nldev_list_optional_counters(
	struct nldev *n, uint32_t index, uint32_t port, nldev_optional_counter_cb cb, void *user);

/*
 * "rdma statistic set link DEVICE/PORT optional-counters ..." (5.16): these are on afterwards and all
 * others off. -EOPNOTSUPP: the driver cannot switch them. -EINVAL: one of them is none that can be
 * switched, or as above.
 */
int nldev_set_optional_counters(struct nldev *n, uint32_t index, uint32_t port,
	const uint32_t *hw_indexes, size_t n_indexes);

/* Who has a device open: processes, neither the kernel's own users nor rdmad's workers. */
struct device_users {
	uint32_t
		contexts; /* open verbs contexts; 0 also where the kernel does not list them (5.13) */
	uint32_t qps;
	uint32_t pid;  /* of the first of them, in this PID namespace; 0 none */
	char comm[16]; /* its name; "" when /proc does not say */
};

/*
 * Reads them (RES_CTX_GET and RES_QP_GET). -EINVAL: no such device. What comes and goes meanwhile may be
 * in it or not.
 */
int nldev_read_users(struct nldev *n, uint32_t index, struct device_users *ret);

/*
 * "rdma link add NAME type TYPE netdev NETDEV". The kernel loads the driver module by itself.
 * Errors as the kernel gives them: ENODEV no such netdev, EINVAL type not known, EEXIST the netdev
 * has one already or the name is taken, EPERM not permitted (also: netdev is a VLAN).
 */
int nldev_add_link(struct nldev *n, const char *name, enum link_type type, const char *netdev);
