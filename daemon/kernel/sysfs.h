/* SPDX-License-Identifier: MIT */
/*
 * What only sysfs says of RDMA devices (drivers/infiniband/core/sysfs.c,
 * Documentation/ABI/stable/sysfs-class-infiniband). Some attributes are a firmware command each and
 * may block: only workers read here. An attribute that cannot be read leaves its own fact unknown
 * and nothing else.
 */
#pragma once

#include "facts.h"

/* Whether this kernel has ib_core loaded or built in: asking RDMA netlink would load it. */
bool sysfs_have_rdma(void);

/* Adds to facts, which have index and name, what sysfs knows: driver, PCI address, adapter, ... */
void sysfs_complete_device(struct device_facts *f);

/* Adds link layer and rate. rate costs one query_port. */
void sysfs_complete_port(const char *device, struct port_facts *f);

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
