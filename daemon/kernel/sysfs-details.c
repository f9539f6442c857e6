/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "macros.h"
#include "sysfs-attr.h"
#include "sysfs-pcie.h"
#include "sysfs-root.h"
#include "sysfs.h"

/* A list that is cut would name too few CPUs: what does not fit is unknown. */
static void read_cpus(int parent, int pci, struct device_details *d)
{
	if (attr_read(parent, "local_cpulist", d->local_cpus, sizeof(d->local_cpus)) < 0)
		(void)attr_read(pci, "local_cpulist", d->local_cpus, sizeof(d->local_cpus));
}

int sysfs_read_details(uint32_t device_index, const char *device, struct device_details *ret)
{
	_cleanup_(closep) int dir = sysfs_open_directory("/sys/class/infiniband/%s", device);
	_cleanup_(closep) int parent = -1, pci = -1;
	struct device_details d = device_details_unknown(device_index);
	char path[PATH_MAX], address[PCI_ADDRESS_MAX];

	*ret = d;
	if (dir < 0)
		return dir == -ENOENT || dir == -ENOTDIR ? -ENODEV : dir;
	(void)attr_read_text(dir, "board_id", d.board_id, sizeof(d.board_id));
	(void)attr_read_text(dir, "hca_type", d.hca_type, sizeof(d.hca_type));
	(void)attr_read_text(dir, "hw_rev", d.hw_rev, sizeof(d.hw_rev));
	(void)attr_read_text(dir, "node_desc", d.node_desc, sizeof(d.node_desc));
	parent = sysfs_open_directory("/sys/class/infiniband/%s/device", device);
	if (pci_of_device(device, address, path) >= 0 && path[0]) {
		pci = sysfs_open_directory("%s", path);
		pci_read_details(address, path, &d);
	}
	read_cpus(parent, pci, &d);
	*ret = d;
	return 0;
}

static int open_device(const char *device)
{
	int dir;

	if (!sysfs_is_name(device))
		return -EINVAL;
	dir = sysfs_open_directory("/sys/class/infiniband/%s", device);
	return dir == -ENOENT || dir == -ENOTDIR ? -ENODEV : dir;
}

int sysfs_read_node_desc(const char *device, char *ret, size_t size)
{
	_cleanup_(closep) int dir = open_device(device);

	return dir < 0 ? dir : attr_read_text(dir, "node_desc", ret, size);
}

int sysfs_write_node_desc(const char *device, const char *text)
{
	_cleanup_(closep) int dir = -1;

	/* The kernel would store the newline, and cut the rest in silence (node_desc_store()). */
	if (strlen(text) > NODE_DESC_MAX || strchr(text, '\n'))
		return -EINVAL;
	dir = open_device(device);
	return dir < 0 ? dir : attr_write(dir, "node_desc", text);
}
