/* SPDX-License-Identifier: MIT */
/*
 * RDMA devices in sysfs (drivers/infiniband/core/sysfs.c, Documentation/ABI/stable/
 * sysfs-class-infiniband): of this host, or of a captured tree. What RDMA netlink does not say, and
 * what it does where it is refused. An attribute that cannot be read leaves its own fact unknown and
 * nothing else. Some attributes are a firmware command each and may block: only workers read here.
 */
#pragma once

#include "details.h"
#include "facts.h"

/*
 * Sets the directory that "sys" is in, for the whole process, before anything is read; NULL or ""
 * is this host. Below a root nothing outside of it is opened, wherever links in it lead.
 */
int sysfs_set_root(const char *path);

/* Whether this kernel has ib_core loaded or built in: asking RDMA netlink would load it. */
bool sysfs_have_rdma(void);

/*
 * Lists all devices with the facts that RDMA netlink has of them (nldev_list_devices()), in order of
 * their names. sysfs has no device index. On this host a number stands in for it that is the
 * device's as long as it lives and that device_index_is_made_up() knows; in a captured tree it is
 * the place in that order, from 1. A negative return of the callback ends the listing and is returned. No RDMA:
 * no devices.
 */
typedef int (*sysfs_device_cb)(const struct device_facts *f, void *user);
int sysfs_list_devices(sysfs_device_cb cb, void *user);

/*
 * Adds to facts, which have index and name, what sysfs knows: driver, PCI address, adapter, ... as
 * far as no driver has to ask its firmware for it: board_id is among the details.
 */
void sysfs_complete_device(struct device_facts *f);

/* Adds the uverbs node only: the one of these facts that can change while a device is there. */
void sysfs_find_node(struct device_facts *f);

/* Adds link layer and rate. rate costs one query_port. -ENOENT: there is no such name (any more). */
int sysfs_complete_port(const char *device, struct port_facts *f);

/*
 * Reads a port without RDMA netlink: states, rate, LIDs, link layer, netdev, each a query_port in
 * the driver. -ENODEV: no such device or port. -EIO and others: the driver answers no query.
 */
int sysfs_read_port(
	uint32_t device_index, const char *device, uint32_t number, struct port_facts *ret);

/*
 * Reads what rarely changes of a device. *ret is filled in always, with unknown where need be.
 * -ENODEV: no such device.
 *
 * The links of struct pcie_hop are as each PCI function's own registers have them: for the adapter
 * and a switch's upstream port that is the link above, for a root port and a switch's downstream
 * port the one below. So the two ends of each link are both there, and the lesser maximum is what it
 * can do. A virtual function has the link of its physical one.
 */
int sysfs_read_details(uint32_t device_index, const char *device, struct device_details *ret);

/* Reads the node description, which asks nothing of the device. ret as of attr_read(). */
int sysfs_read_node_desc(const char *device, char *ret, size_t size);

/*
 * Sets the node description; needs root. -EINVAL: longer than NODE_DESC_MAX, or with a newline in it.
 * -ENODEV: no such device. -EOPNOTSUPP: the driver has none that can be set. InfiniBand adapters tell
 * their subnet manager (trap 144).
 */
int sysfs_write_node_desc(const char *device, const char *text);

/*
 * Reads the GID table of a port: a callback for each entry in use. An entry that cannot be read is
 * left out. Negative errno: of the callback, or of an entry when there is none in use among those that can
 * be read: the table is not known to be empty then.
 */
typedef int (*sysfs_gid_cb)(const struct gid_facts *f, void *user);
int sysfs_read_gids(uint32_t device_index, const char *device, uint32_t port, sysfs_gid_cb cb,
	void *user, uint32_t *ret_slots);

/*
 * Reads the P_Key table of a port in pieces; each entry may be a firmware command. An entry that
 * cannot be read is 0 in its piece, and its errno is returned at the end.
 */
typedef int (*sysfs_pkey_cb)(const struct pkey_facts *f, void *user);
int sysfs_read_pkeys(uint32_t device_index, const char *device, uint32_t port, sysfs_pkey_cb cb,
	void *user, uint32_t *ret_slots);

/* Both tables and the umad node; what went wrong is in *ret. */
void sysfs_read_tables(uint32_t device_index, const char *device, uint32_t port,
	sysfs_gid_cb gid_cb, sysfs_pkey_cb pkey_cb, void *user, struct table_facts *ret);

/*
 * Lists what is on this host and not to be used by it: RDMA devices in another network namespace,
 * PCI functions of RDMA hardware that are lent to vfio or have no driver, InfiniBand functions of which
 * no RDMA device came.
 */
typedef int (*sysfs_elsewhere_cb)(const struct elsewhere_facts *f, void *user);
int sysfs_list_elsewhere(sysfs_elsewhere_cb cb, void *user);

/*
 * The devlink handle that an RDMA device's hardware may have: n 0 that of its parent ("pci/0000:3b:00.0",
 * "auxiliary/mlx5_core.sf.4"), n 1 of what that is a part of, and so on. Of a software link it is the
 * hardware below its netdev. -ENOENT: there are no more; or there is no hardware.
 */
int sysfs_devlink_handle(const char *device, unsigned n, char handle[DEVLINK_HANDLE_MAX]);

/*
 * Lists the network interfaces with what rtnetlink says of them (netdev.h), as far as sysfs knows it.
 * One whose ifindex cannot be read, or of which nothing
 * says whether it is switched on, is left out. In no order; no directory, no netdevs.
 */
typedef int (*sysfs_netdev_cb)(const struct netdev_facts *f, void *user);
int sysfs_list_netdevs(sysfs_netdev_cb cb, void *user);

/* Whether a kernel module is loaded or built in with a sysfs entry. */
bool sysfs_module_present(const char *module);

/*
 * The sum of the reference counts of the modules that stand on ib_uverbs or ib_core and are not of
 * the RDMA core itself, that is, of the drivers. -ENODATA when there is no such module (a driver
 * that is built in has no count).
 */
int sysfs_driver_refcounts(uint64_t *ret);

/* Parses the text of "rate": "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)", "10 Gb/sec (4X)". */
int sysfs_parse_rate(const char *text, struct port_facts *f);
