/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/stat.h>

#include "macros.h"
#include "parse.h"
#include "sysfs-attr.h"
#include "sysfs-nodes.h"
#include "sysfs-pcie.h"
#include "sysfs-root.h"
#include "sysfs.h"

#define IB_CLASS "/sys/class/infiniband"

/* ---- what RDMA netlink says, from sysfs ---- */

/* Ports are numbered without a gap: the highest number is how many there are. */
static uint32_t count_ports(const char *device)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(IB_CLASS "/%s/ports", device);
	struct dirent *de;
	uint32_t highest = 0, n;

	while (dir && (de = readdir(dir)))
		if (parse_u32(de->d_name, &n) >= 0 && n <= RDMA_PORTS_MAX)
			highest = MAX(highest, n);
	return highest;
}

/* enum rdma_node_type, include/rdma/ib_verbs.h; EFA's and others' "unspecified" has no protocol. */
enum {
	NODE_CA = 1,
	NODE_RNIC = 4,
	NODE_USNIC = 5,
	NODE_USNIC_UDP = 6,
};

/* As fill_dev_proto() in drivers/infiniband/core/nldev.c: the first port stands for the device. */
static void find_protocol(int dir, struct device_facts *f)
{
	_cleanup_(closep) int port = sysfs_open_directory(IB_CLASS "/%s/ports/1", f->name);
	_cleanup_(closep) int parent = sysfs_open_directory(IB_CLASS "/%s/device", f->name);
	char layer[32] = "", driver[32] = "";
	int32_t type;

	if (attr_read_numbered(dir, "node_type", &type) < 0)
		return;
	(void)attr_read(port, "link_layer", layer, sizeof(layer));
	(void)pci_driver(parent, driver, sizeof(driver));
	if (type == NODE_RNIC)
		STRSCPY(f->protocol, "iw");
	else if (type == NODE_USNIC || type == NODE_USNIC_UDP)
		STRSCPY(f->protocol, "usnic");
	else if (type == NODE_CA && streq(layer, "Ethernet"))
		STRSCPY(f->protocol, "roce");
	else if (type == NODE_CA && streq(layer, "InfiniBand"))
		STRSCPY(f->protocol, streq(driver, "hfi1") ? "opa" : "ib");
}

/*
 * What stands in for the device index. It must be the device's own as long as it lives, whatever
 * comes, goes or is renamed. The directory's inode is: kernfs numbers its nodes upwards within an
 * int and starts over at its end (fs/kernfs/dir.c), and a rename keeps the node. A captured tree
 * does not change, and its inodes would differ with each copy: the place in the list.
 */
static uint32_t device_number(int dir, uint32_t place)
{
	struct stat st;

	if (sysfs_is_live() && fstat(dir, &st) >= 0)
		return DEVICE_INDEX_MADE_UP | (uint32_t)st.st_ino;
	return place;
}

static int list_device(const char *name, uint32_t place, sysfs_device_cb cb, void *user)
{
	_cleanup_(closep) int dir = sysfs_open_directory(IB_CLASS "/%s", name);
	struct device_facts f = { .numa_node = -1 };

	/* Gone meanwhile, or not the directory of a device. */
	if (dir < 0)
		return 0;
	f.index = device_number(dir, place);
	STRSCPY(f.name, name);
	f.port_count = count_ports(name);
	(void)attr_read_guid(dir, "node_guid", &f.node_guid);
	(void)attr_read_guid(dir, "sys_image_guid", &f.sys_image_guid);
	(void)attr_read_text(dir, "fw_ver", f.firmware_version, sizeof(f.firmware_version));
	find_protocol(dir, &f);
	return cb(&f, user);
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **list;
	size_t n;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
}

static int read_names(struct names *names)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(IB_CLASS);
	struct dirent *de;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((de = readdir(dir))) {
		char **list;

		if (de->d_name[0] == '.' || strlen(de->d_name) >= RDMA_NAME_MAX)
			continue;
		list = reallocarray(names->list, names->n + 1, sizeof(*list));
		if (!list)
			return -ENOMEM;
		names->list = list;
		list[names->n] = strdup(de->d_name);
		if (!list[names->n])
			return -ENOMEM;
		names->n++;
	}
	if (names->n)
		qsort(names->list, names->n, sizeof(names->list[0]), compare_names);
	return 0;
}

int sysfs_list_devices(sysfs_device_cb cb, void *user)
{
	_cleanup_(names_done) struct names names = { 0 };
	int r;

	r = read_names(&names);
	for (size_t i = 0; r >= 0 && i < names.n; i++)
		r = list_device(names.list[i], (uint32_t)i + 1, cb, user);
	return MIN(r, 0);
}

/* ---- what RDMA netlink does not say ---- */

/*
 * The adapter is what hangs as one: the PCI slot without its function, for a VF that of its PF, for
 * another bus the parent device itself. Software devices share one: their driver is this kernel.
 */
static void find_adapter(struct device_facts *f, int parent)
{
	char path[PATH_MAX], physfn[PCI_ADDRESS_MAX];
	const char *slash;

	if (f->pci_address[0]) {
		_cleanup_(closep) int pci = sysfs_open_directory(PCI_DEVICES "/%s", f->pci_address);

		STRSCPY(physfn, f->pci_address);
		if (pci_physfn(pci, physfn) < 0)
			(void)pci_physfn(parent, physfn);
		physfn[strcspn(physfn, ".")] = '\0';
		STRSCPY(f->adapter, physfn);
	} else if (sysfs_resolve(path, IB_CLASS "/%s/device", f->name) >= 0) {
		slash = strrchr(path, '/');
		/* A copy in place of the link has no name of its own. */
		STRSCPY(f->adapter, streq(slash, "/device") ? f->name : slash + 1);
	} else {
		STRSCPY(f->adapter, "software");
	}
}

static void find_parent(struct device_facts *f)
{
	_cleanup_(closep) int parent = -1;
	char path[PATH_MAX];
	uint32_t node;

	parent = sysfs_open_directory(IB_CLASS "/%s/device", f->name);
	if (pci_of_device(f->name, f->pci_address, path) >= 0 && parent < 0 && path[0])
		parent = sysfs_open_directory("%s", path);
	find_adapter(f, parent);
	(void)pci_driver(parent, f->driver, sizeof(f->driver));
	/* "-1" is none; an auxiliary device has no such attribute, its PCI function has. */
	if (attr_read_u32(parent, "numa_node", &node) < 0) {
		_cleanup_(closep) int pci =
			f->pci_address[0] && path[0] ? sysfs_open_directory("%s", path) : -1;

		if (attr_read_u32(pci, "numa_node", &node) < 0)
			return;
	}
	if (node <= INT32_MAX)
		f->numa_node = (int32_t)node;
}

/* rxe shows the netdev that it runs on; siw is the only iWARP driver without a parent device. */
static void find_link_type(struct device_facts *f, int dir)
{
	char netdev[IFNAMSIZ];

	if (attr_read(dir, "parent", netdev, sizeof(netdev)) >= 0) {
		f->link_type = LINK_TYPE_RXE;
		STRSCPY(f->parent_netdev, netdev);
	} else if (streq(f->adapter, "software") && streq(f->protocol, "iw")) {
		f->link_type = LINK_TYPE_SIW;
	}
	if (f->link_type != LINK_TYPE_NONE) {
		STRSCPY(f->adapter, "software");
		STRSCPY(f->driver, link_type_to_string(f->link_type));
	}
}

void sysfs_complete_device(struct device_facts *f)
{
	_cleanup_(closep) int dir = sysfs_open_directory(IB_CLASS "/%s", f->name);
	char text[64], *name;

	/* "1: CA": the word behind the number. */
	if (attr_read_text(dir, "node_type", text, sizeof(text)) >= 0) {
		name = strchr(text, ':');
		STRSCPY(f->node_type, name ? strstrip(name + 1) : text);
	}
	find_parent(f);
	find_link_type(f, dir);
	sysfs_find_node(f);
}

void sysfs_find_node(struct device_facts *f)
{
	f->no_uverbs = sysfs_find_uverbs(f->name, f->uverbs, sizeof(f->uverbs)) == -ENOENT;
}
