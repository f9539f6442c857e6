/* SPDX-License-Identifier: MIT */
/*
 * Which character device belongs to which RDMA device: uverbsN and umadN have no relation to its
 * number or name, each says in "ibdev" whose it is. All nodes are asked once and remembered; what is
 * remembered is asked again before it is used, and all are when that does not hold any more.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The node's name into buf. -ENOENT: there is none. -ENODATA: it is not known, since a node does not say
 * whose it is, or a captured tree has no nodes at all.
 */
int sysfs_find_uverbs(const char *device, char *buf, size_t size);
int sysfs_find_umad(const char *device, uint32_t port, char *buf, size_t size);

/* Another root: nothing of what is remembered holds. */
void sysfs_nodes_forget(void);
