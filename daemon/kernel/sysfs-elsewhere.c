/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "macros.h"
#include "sysfs-attr.h"
#include "sysfs-pcie.h"
#include "sysfs-root.h"
#include "sysfs.h"

#define UVERBS "/sys/class/infiniband_verbs"

/* Classes of pci_ids.h: network controllers. */
enum {
	CLASS_ETHERNET = 0x0200,
	CLASS_INFINIBAND = 0x0207,
	CLASS_FABRIC = 0x0208,
	CLASS_OTHER = 0x0280, /* ConnectX-3 */
};

/* ---- devices of another network namespace ---- */

/*
 * The class "infiniband" shows the devices of this namespace only, "infiniband_verbs" shows all
 * (drivers/infiniband/core/{device,uverbs_main}.c).
 */
static int report_uverbs(const char *node, sysfs_elsewhere_cb cb, void *user)
{
	_cleanup_(closep) int dir = sysfs_open_directory(UVERBS "/%s", node);
	_cleanup_(closep) int device = -1;
	struct elsewhere_facts f = { .kind = ELSEWHERE_NETNS, .is_vf = -1 };
	char path[PATH_MAX];
	size_t length;

	if (attr_read(dir, "ibdev", f.name, sizeof(f.name)) < 0 || !sysfs_is_name(f.name))
		return 0;
	device = sysfs_open_directory("/sys/class/infiniband/%s", f.name);
	if (device >= 0)
		return 0;
	if (sysfs_resolve(path, UVERBS "/%s", node) >= 0)
		(void)pci_nearest(path, f.pci_address, &length);
	return cb(&f, user);
}

static int list_netns(sysfs_elsewhere_cb cb, void *user)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(UVERBS);
	struct dirent *de;
	int r = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (r >= 0 && (de = readdir(dir)))
		if (strncmp(de->d_name, "uverbs", strlen("uverbs")) == 0)
			r = report_uverbs(de->d_name, cb, user);
	return r;
}

/* ---- PCI functions that no RDMA driver has ---- */

/* Controllers that do RDMA, and who drives them. Not all: for what is not here nobody is told. */
static const char *rdma_driver(uint32_t vendor, uint32_t device)
{
	static const struct {
		uint32_t vendor, first, last;
		const char *driver;
	} known[] = {
		{ 0x15b3, 0x1002, 0x100f, "mlx4_core" }, /* Mellanox: ConnectX-2, ConnectX-3 */
		{ 0x15b3, 0x1010, 0xffff, "mlx5_core" },
		{ 0x1d0f, 0xefa0, 0xefaf, "efa" },     /* Amazon EFA */
		{ 0x14e4, 0x1750, 0x1760, "bnxt_en" }, /* Broadcom BCM575xx, BCM576xx */
		{ 0x8086, 0x1591, 0x1593, "ice" },     /* Intel E810 */
		{ 0x8086, 0x37d0, 0x37d3, "i40e" },    /* Intel X722 */
		{ 0x8086, 0x24f0, 0x24f1, "hfi1" },    /* Intel Omni-Path */
		{ 0x1077, 0x8070, 0x8090, "qede" },    /* Marvell (QLogic) 41000, 45000 */
		{ 0x1414, 0x00ba, 0x00ba, "mana" },    /* Microsoft MANA */
		{ 0x1ded, 0x107f, 0x107f, "erdma" },   /* Alibaba ERDMA */
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (vendor == known[i].vendor && device >= known[i].first &&
			device <= known[i].last)
			return known[i].driver;
	return NULL;
}

/* Whether a function does RDMA; its class, and its driver as far as we know. */
static bool is_rdma(int dir, uint32_t *ret_class, const char **ret_driver)
{
	uint32_t class, vendor, device;

	*ret_driver = NULL;
	if (attr_read_hex(dir, "class", 0xffffff, &class) < 0)
		return false;
	class >>= 8;
	*ret_class = class;
	if (attr_read_hex(dir, "vendor", 0xffff, &vendor) >= 0 &&
		attr_read_hex(dir, "device", 0xffff, &device) >= 0)
		*ret_driver = rdma_driver(vendor, device);
	if (class == CLASS_INFINIBAND)
		return true;
	return (class == CLASS_ETHERNET || class == CLASS_FABRIC || class == CLASS_OTHER) &&
	       *ret_driver;
}

/*
 * Whether an InfiniBand function that has a driver has no RDMA device: none has it as its parent.
 * Functions of other classes may well be meant for Ethernet only.
 */
static bool is_not_probed(int dir, uint32_t class)
{
	_cleanup_(closep) int devices = -1;

	if (class != CLASS_INFINIBAND)
		return false;
	devices = sysfs_open_subdirectory(dir, "infiniband");
	return devices == -ENOENT;
}

static int32_t is_virtual(int dir)
{
	char address[PCI_ADDRESS_MAX];
	int r = pci_physfn(dir, address);

	if (r >= 0)
		return 1;
	return r == -ENOENT ? 0 : -1;
}

static int report_function(const char *address, sysfs_elsewhere_cb cb, void *user)
{
	_cleanup_(closep) int dir = sysfs_open_directory(PCI_DEVICES "/%s", address);
	struct elsewhere_facts f = { .name = "" };
	const char *known;
	uint32_t class;
	int r;

	if (!is_rdma(dir, &class, &known))
		return 0;
	r = pci_driver(dir, f.driver, sizeof(f.driver));
	/* vfio-pci and the variants that vendors have of it, mlx5_vfio_pci. */
	if (r >= 0 && strstr(f.driver, "vfio"))
		f.kind = ELSEWHERE_VFIO;
	else if (r == -ENOENT)
		f.kind = ELSEWHERE_UNBOUND;
	else if (r >= 0 && is_not_probed(dir, class))
		f.kind = ELSEWHERE_NOT_PROBED;
	else
		return 0;
	if (r == -ENOENT)
		STRSCPY(f.driver, known ? known : "");
	f.is_vf = is_virtual(dir);
	STRSCPY(f.pci_address, address);
	return cb(&f, user);
}

static int list_functions(sysfs_elsewhere_cb cb, void *user)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(PCI_DEVICES);
	struct dirent *de;
	int r = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (r >= 0 && (de = readdir(dir)))
		if (pci_is_address(de->d_name))
			r = report_function(de->d_name, cb, user);
	return r;
}

int sysfs_list_elsewhere(sysfs_elsewhere_cb cb, void *user)
{
	int r;

	r = list_netns(cb, user);
	if (r >= 0)
		r = list_functions(cb, user);
	return MIN(r, 0);
}
