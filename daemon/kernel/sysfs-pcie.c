/* SPDX-License-Identifier: MIT */
#include "sysfs-pcie.h"

#include <ctype.h>
#include <errno.h>

#include "macros.h"
#include "parse.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"

bool pci_is_address(const char *s)
{
	static const char shape[] = ":xx:xx.x";
	size_t domain = 0, i;

	while (isxdigit((unsigned char)s[domain]))
		domain++;
	if (domain < 4 || domain > 6)
		return false;
	s += domain;
	for (i = 0; shape[i]; i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)s[i]) : s[i] != shape[i])
			return false;
	return s[i] == '\0';
}

bool pci_nearest(const char *path, char address[PCI_ADDRESS_MAX], size_t *ret_length)
{
	char copy[PATH_MAX], *slash;

	STRSCPY(copy, path);
	while ((slash = strrchr(copy, '/'))) {
		if (pci_is_address(slash + 1)) {
			snprintf(address, PCI_ADDRESS_MAX, "%s", slash + 1);
			*ret_length = strlen(copy);
			return true;
		}
		*slash = '\0';
	}
	return false;
}

/* What says whose the device is where its links were not kept. */
static int address_of_parent(const char *device, char address[PCI_ADDRESS_MAX])
{
	_cleanup_(closep) int dir = sysfs_open_directory("/sys/class/infiniband/%s", device);
	_cleanup_(closep) int parent = -1;

	if (attr_link(dir, "device", address, PCI_ADDRESS_MAX) >= 0 && pci_is_address(address))
		return 0;
	parent = sysfs_open_directory("/sys/class/infiniband/%s/device", device);
	if (attr_uevent(parent, "PCI_SLOT_NAME", address, PCI_ADDRESS_MAX) >= 0 &&
		pci_is_address(address))
		return 0;
	return -ENODEV;
}

int pci_of_device(const char *device, char address[PCI_ADDRESS_MAX], char *path)
{
	char parsed[PCI_ADDRESS_MAX];
	size_t length;

	/* The device's own directory is below its parent's: that holds without the link, too. */
	if ((sysfs_resolve(path, "/sys/class/infiniband/%s/device", device) >= 0 &&
		    pci_nearest(path, address, &length)) ||
		(sysfs_resolve(path, "/sys/class/infiniband/%s", device) >= 0 &&
			pci_nearest(path, address, &length))) {
		path[length] = '\0';
		return 0;
	}
	if (address_of_parent(device, parsed) < 0)
		return -ENODEV;
	snprintf(address, PCI_ADDRESS_MAX, "%s", parsed);
	if (sysfs_resolve(path, PCI_DEVICES "/%s", address) < 0 &&
		sysfs_resolve(path, "/sys/class/infiniband/%s/device", device) < 0)
		path[0] = '\0';
	return 0;
}

int pci_physfn(int dirfd, char address[PCI_ADDRESS_MAX])
{
	_cleanup_(closep) int copy = -1;
	char text[PCI_ADDRESS_MAX];
	int r;

	r = attr_link(dirfd, "physfn", text, sizeof(text));
	if (r == -EINVAL) {
		/* Not a link: who captured the tree copied what it leads to. */
		copy = sysfs_open_subdirectory(dirfd, "physfn");
		r = attr_uevent(copy, "PCI_SLOT_NAME", text, sizeof(text));
		if (r == -ENOENT)
			r = -ENODATA;
	}
	if (r < 0)
		return r;
	if (!pci_is_address(text))
		return -EBADMSG;
	snprintf(address, PCI_ADDRESS_MAX, "%s", text);
	return 0;
}

int pci_driver(int dirfd, char *buf, size_t size)
{
	int r;

	if (attr_link(dirfd, "driver", buf, size) >= 0)
		return 0;
	/* "uevent" is always there and names the driver when there is one. */
	r = attr_uevent(dirfd, "DRIVER", buf, size);
	if (r == -ENODATA)
		return -ENOENT;
	return r == -ENOENT ? -ENODATA : r;
}

/* ---- links ---- */

/* "16.0 GT/s PCIe", "8 GT/s"; "Unknown" and "Unknown speed" are what they say. */
static uint32_t read_speed(int dirfd, const char *name)
{
	char text[32], number[16];
	uint64_t mtps;
	int end = 0;

	if (attr_read(dirfd, name, text, sizeof(text)) < 0 ||
		sscanf(text, "%8[0-9.] GT/s%n", number, &end) != 1 || end == 0 ||
		(text[end] && !streq(text + end, " PCIe")))
		return 0;
	/* The same shape as a data rate: so many thousands of millions a second. */
	strcat(number, "Gb/s");
	return parse_rate(number, &mtps) < 0 || mtps > UINT32_MAX ? 0 : (uint32_t)mtps;
}

/* 0 and 255 are what the kernel says of a link that is not known; a link has at most 32 lanes. */
static uint32_t read_width(int dirfd, const char *name)
{
	uint32_t lanes;

	return attr_read_u32(dirfd, name, &lanes) < 0 || lanes > 32 ? 0 : lanes;
}

static void read_link(int dirfd, struct pcie_hop *hop)
{
	hop->speed_mtps = read_speed(dirfd, "current_link_speed");
	hop->width = read_width(dirfd, "current_link_width");
	hop->max_speed_mtps = read_speed(dirfd, "max_link_speed");
	hop->max_width = read_width(dirfd, "max_link_width");
}

/* A virtual function uses the link of its physical one and has no registers for it. */
static void read_link_of_vf(const char *physfn, struct pcie_hop *hop)
{
	_cleanup_(closep) int dir = sysfs_open_directory(PCI_DEVICES "/%s", physfn);

	if (hop->speed_mtps == 0 && hop->width == 0)
		read_link(dir, hop);
}

static void read_path(const char *address, const char *path, struct device_details *d)
{
	char up[PATH_MAX], at[PCI_ADDRESS_MAX];
	char *slash;

	STRSCPY(up, path);
	STRSCPY(at, address);
	do {
		_cleanup_(closep) int dir = sysfs_open_directory("%s", up);
		struct pcie_hop *hop = &d->pcie[d->n_pcie++];

		STRSCPY(hop->address, at);
		read_link(dir, hop);
		slash = strrchr(up, '/');
		if (!slash)
			return;
		*slash = '\0';
		slash = strrchr(up, '/');
		if (!slash || !pci_is_address(slash + 1))
			return;
		STRSCPY(at, slash + 1);
	} while (d->n_pcie < PCIE_HOPS_MAX);
}

/* ---- the nearest GPU ---- */

/* How far another function is, from near to far: kinds of path first, then hops. */
enum nearness {
	BELOW_ONE_PORT,  /* the way does not leave a switch */
	ONE_HOST_BRIDGE, /* through the root complex */
	ONE_NUMA_NODE,   /* through more of it, in the same node */
	ELSEWHERE_ON_HOST,
};

struct gpu {
	enum nearness nearness;
	uint32_t hops;
	char address[PCI_ADDRESS_MAX];
};

/* Counts the PCI functions in a path, and whether the last component is one. */
static uint32_t count_functions(const char *path)
{
	char name[NAME_MAX + 1];
	uint32_t n = 0;

	while (*path) {
		size_t len = strcspn(path += strspn(path, "/"), "/");

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		n += pci_is_address(name);
		path += len;
	}
	return n;
}

/* Compares two paths; what they share, and what is between their ends, tells the distance. */
static void measure(const char *a, const char *b, bool same_node, struct gpu *ret)
{
	char shared[PATH_MAX], address[PCI_ADDRESS_MAX];
	size_t same = 0, i, length;
	const char *last;

	for (i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			same = i;
	snprintf(shared, sizeof(shared), "%.*s", (int)same, a);
	last = strrchr(shared, '/');
	/* Both ends are functions, and neither is between them. */
	ret->hops = count_functions(a + same) + count_functions(b + same) - 2;
	if (pci_nearest(shared, address, &length)) {
		ret->nearness = BELOW_ONE_PORT;
		ret->hops++; /* the port that they share is */
	} else if (last && strncmp(last, "/pci", strlen("/pci")) == 0) {
		ret->nearness = ONE_HOST_BRIDGE;
	} else {
		ret->nearness = same_node ? ONE_NUMA_NODE : ELSEWHERE_ON_HOST;
	}
}

static bool nearer(const struct gpu *a, const struct gpu *b)
{
	if (a->nearness != b->nearness)
		return a->nearness < b->nearness;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	return strcmp(a->address, b->address) < 0; /* the same answer each time */
}

/*
 * Display controllers (03xx) and processing accelerators (12xx). A server's management controller
 * and a virtual machine's display are of the first class, too, and compute nothing.
 */
static bool is_gpu(int dirfd)
{
	static const uint32_t displays[] = { 0x1a03 /* ASPEED */, 0x102b /* Matrox */,
		0x1013 /* Cirrus */, 0x1234 /* Bochs */, 0x1b36 /* QXL */, 0x1af4 /* virtio */ };
	uint32_t class, vendor;

	if (attr_read_hex(dirfd, "class", 0xffffff, &class) < 0)
		return false;
	if (class >> 16 != 0x03)
		return class >> 16 == 0x12;
	if (attr_read_hex(dirfd, "vendor", 0xffff, &vendor) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(displays); i++)
		if (vendor == displays[i])
			return false;
	return true;
}

static bool same_node(int a, int b)
{
	uint32_t x, y;

	/* "-1" does not parse: not known is not the same. */
	return attr_read_u32(a, "numa_node", &x) >= 0 && attr_read_u32(b, "numa_node", &y) >= 0 &&
	       x == y;
}

static void find_gpu(int self, const char *path, struct device_details *d)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(PCI_DEVICES);
	struct gpu best = { .address = "" }, gpu = { .address = "" };
	struct dirent *de;

	while (dir && (de = readdir(dir))) {
		_cleanup_(closep) int other = -1;
		char other_path[PATH_MAX];

		if (!pci_is_address(de->d_name))
			continue;
		other = sysfs_open_directory(PCI_DEVICES "/%s", de->d_name);
		if (other < 0 || !is_gpu(other) ||
			sysfs_resolve(other_path, PCI_DEVICES "/%s", de->d_name) < 0)
			continue;
		/* A copy in place of the link: where it is plugged in is not known. */
		if (strncmp(other_path, PCI_DEVICES, strlen(PCI_DEVICES)) == 0)
			continue;
		STRSCPY(gpu.address, de->d_name);
		measure(path, other_path, same_node(self, other), &gpu);
		if (!best.address[0] || nearer(&gpu, &best))
			best = gpu;
	}
	if (best.address[0]) {
		STRSCPY(d->gpu, best.address);
		d->gpu_hops = (int32_t)best.hops;
	}
}

void pci_read_details(const char *address, const char *path, struct device_details *d)
{
	_cleanup_(closep) int dir = path[0] ? sysfs_open_directory("%s", path) : -1;
	char parent[PCI_ADDRESS_MAX];
	size_t length;
	int r;

	if (dir < 0)
		return;
	r = pci_physfn(dir, d->physfn);
	if (r >= 0 || r == -ENOENT)
		d->is_vf = r >= 0;
	read_path(address, path, d);
	if (d->is_vf == 1)
		read_link_of_vf(d->physfn, &d->pcie[0]);
	if (pci_nearest(path, parent, &length))
		find_gpu(dir, path, d);
}
