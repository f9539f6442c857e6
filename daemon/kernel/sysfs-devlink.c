/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "macros.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"
#include "sysfs.h"

/* The hardware behind an RDMA device; of a software one that of its netdev. */
static int find_hardware(const char *device, char *path)
{
	_cleanup_(closep) int dir = sysfs_open_directory("/sys/class/infiniband/%s", device);
	char netdev[IFNAMSIZ];
	int r;

	r = sysfs_resolve(path, "/sys/class/infiniband/%s/device", device);
	if (r >= 0)
		return 0;
	if (attr_read(dir, "parent", netdev, sizeof(netdev)) < 0 || !sysfs_is_name(netdev))
		return r;
	return sysfs_resolve(path, "/sys/class/net/%s/device", netdev);
}

int sysfs_devlink_handle(const char *device, unsigned n, char handle[DEVLINK_HANDLE_MAX])
{
	char path[PATH_MAX], bus[16];
	int r = find_hardware(device, path);

	if (r < 0)
		return r;
	for (;; n--) {
		_cleanup_(closep) int dir = sysfs_open_directory("%s", path);
		char *name = strrchr(path, '/');

		if (dir < 0 || !name || attr_link(dir, "subsystem", bus, sizeof(bus)) < 0)
			return -ENOENT;
		if (n == 0) {
			r = snprintf(handle, DEVLINK_HANDLE_MAX, "%s/%s", bus, name + 1);
			return r < DEVLINK_HANDLE_MAX ? 0 : -ENAMETOOLONG;
		}
		/* What is above a PCI function is bridges. */
		if (streq(bus, "pci"))
			return -ENOENT;
		*name = '\0';
	}
}
