/* SPDX-License-Identifier: MIT */
/*
 * What connections over rdma_cm use on a RoCE port, by its configfs (drivers/infiniband/core/
 * cma_configfs.c, Documentation/ABI/testing/configfs-rdma_cm). A device is there once somebody made its
 * directory. The values belong to the device, not to the directory: they are lost when it is
 * registered anew and live on when it is renamed, though the directory of the old name then leads
 * nowhere. Paths are below the root of sysfs_set_root().
 */
#pragma once

#include "details.h"

/*
 * Makes the device's directory: 1, or 0 when it is there. Needs root. -ENOENT: configfs is not mounted
 * or rdma_cm not loaded. -ENODEV: no such device; that of one that was there stays, and is found to lead
 * nowhere by roce_read(). Others as mkdir(2) gives them. As long as it is there rdma_cm cannot be
 * unloaded (configfs_mkdir() takes a reference): roce_drop() it.
 */
int roce_prepare(const char *device);
void roce_drop(const char *device);

/*
 * The default GID type ("RoCE v1", "RoCE v2", as configfs has it also for ports that are not RoCE) and
 * type of service, 0 to 255. What cannot be read is unknown: GID_TYPE_UNKNOWN, -1. -ENOENT: the directory
 * or the port in it is not there. -ENODEV: it is, but there is no such device (any more).
 */
int roce_read(const char *device, uint32_t port, enum gid_type *ret_mode, int *ret_tos);

/*
 * Sets them; needs root. -ENOENT, -ENODEV as above. -EINVAL: the port cannot do this type (rxe: v1), or
 * is none of RoCE. -ERANGE: tos is more than 255.
 */
int roce_set_mode(const char *device, uint32_t port, enum gid_type mode);
int roce_set_tos(const char *device, uint32_t port, unsigned tos);
