/* SPDX-License-Identifier: MIT */
/* The sysfs room on the trees of tests/data: what each driver shows, and what a hostile tree tries. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "roce.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"
#include "sysfs.h"

static char top[PATH_MAX]; /* where the trees are built */

/* ---- trees ---- */

static void run_make_tree(const char *manifest, const char *directory)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		execlp("python3", "python3", SOURCE_ROOT "/tests/data/make-tree", manifest,
			directory, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void use_copy(const char *name, const char *copy)
{
	char manifest[PATH_MAX], directory[PATH_MAX];

	snprintf(manifest, sizeof(manifest), SOURCE_ROOT "/tests/data/trees/%s.tree", name);
	snprintf(directory, sizeof(directory), "%s/%s", top, copy);
	if (access(directory, F_OK) < 0)
		run_make_tree(manifest, directory);
	assert_int_equal(sysfs_set_root(directory), 0);
}

/* Shared by all tests that change nothing in it. */
static void use_tree(const char *name)
{
	use_copy(name, name);
}

static int make_top(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char name[PATH_MAX];

	(void)state;
	snprintf(name, sizeof(name), "%s/rdmad-sysfs-XXXXXX", tmp ? tmp : "/tmp");
	/* Without links: the paths of the test are compared with what links lead to. */
	return mkdtemp(name) && realpath(name, top) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int remove_top(void **state)
{
	(void)state;
	sysfs_set_root(NULL);
	return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is read ---- */

#define DEVICES_MAX 16
#define ENTRIES_MAX 32

struct found {
	struct device_facts devices[DEVICES_MAX];
	size_t n_devices;
	struct gid_facts gids[ENTRIES_MAX];
	size_t n_gids;
	uint16_t pkeys[512];
	size_t n_pkeys;
	struct elsewhere_facts elsewhere[ENTRIES_MAX];
	size_t n_elsewhere;
	struct table_facts tables;
};

static int add_device(const struct device_facts *f, void *user)
{
	struct found *found = user;

	assert_true(found->n_devices < DEVICES_MAX);
	found->devices[found->n_devices] = *f;
	sysfs_complete_device(&found->devices[found->n_devices++]);
	return 0;
}

static int add_gid(const struct gid_facts *f, void *user)
{
	struct found *found = user;

	assert_true(found->n_gids < ENTRIES_MAX);
	found->gids[found->n_gids++] = *f;
	return 0;
}

static int add_pkeys(const struct pkey_facts *f, void *user)
{
	struct found *found = user;

	assert_int_equal(f->first, found->n_pkeys);
	assert_true(found->n_pkeys + f->n <= ARRAY_SIZE(found->pkeys));
	memcpy(found->pkeys + found->n_pkeys, f->pkeys, f->n * sizeof(f->pkeys[0]));
	found->n_pkeys += f->n;
	return 0;
}

static int add_elsewhere(const struct elsewhere_facts *f, void *user)
{
	struct found *found = user;

	assert_true(found->n_elsewhere < ENTRIES_MAX);
	found->elsewhere[found->n_elsewhere++] = *f;
	return 0;
}

static struct found found;

static void read_tree(const char *name)
{
	use_tree(name);
	memset(&found, 0, sizeof(found));
	assert_int_equal(sysfs_list_devices(add_device, &found), 0);
	assert_int_equal(sysfs_list_elsewhere(add_elsewhere, &found), 0);
}

static const struct device_facts *device(const char *name)
{
	for (size_t i = 0; i < found.n_devices; i++)
		if (streq(found.devices[i].name, name))
			return &found.devices[i];
	fail_msg("no device %s", name);
	return NULL;
}

static struct port_facts port(const char *name, uint32_t number)
{
	struct port_facts f;

	assert_int_equal(sysfs_read_port(77, name, number, &f), 0);
	assert_int_equal(f.device_index, 77);
	assert_int_equal(f.number, number);
	assert_int_equal(f.error, 0);
	return f;
}

static struct device_details details(const char *name)
{
	struct device_details d;

	assert_int_equal(sysfs_read_details(77, name, &d), 0);
	assert_int_equal(d.device_index, 77);
	return d;
}

static void tables(const char *name, uint32_t number)
{
	found.n_gids = found.n_pkeys = 0;
	sysfs_read_tables(77, name, number, add_gid, add_pkeys, &found, &found.tables);
	assert_int_equal(found.tables.device_index, 77);
	assert_int_equal(found.tables.port, number);
}

static void check_device(const char *name, const char *node_type, const char *protocol,
	const char *driver, const char *pci_address, const char *adapter, const char *uverbs)
{
	const struct device_facts *d = device(name);

	assert_string_equal(d->node_type, node_type);
	assert_string_equal(d->protocol, protocol);
	assert_string_equal(d->driver, driver);
	assert_string_equal(d->pci_address, pci_address);
	assert_string_equal(d->adapter, adapter);
	assert_string_equal(d->uverbs, uverbs);
}

static void check_state(
	const struct port_facts *f, int state, int phys, uint64_t mbps, const char *lanes)
{
	char text[64];

	assert_int_equal(f->state, state);
	assert_int_equal(f->phys_state, phys);
	assert_int_equal(f->rate_mbps, mbps);
	snprintf(text, sizeof(text), "%s %s", f->width, f->speed);
	assert_string_equal(text, lanes);
}

static void check_ib(const struct port_facts *f, uint32_t lid, uint32_t sm_lid)
{
	assert_int_equal(f->link_layer, LINK_LAYER_INFINIBAND);
	assert_int_equal(f->lid, lid);
	assert_int_equal(f->sm_lid, sm_lid);
	assert_int_equal(f->lmc, 0);
	assert_string_equal(f->netdev, "");
	assert_int_equal(f->netdev_index, 0);
}

static void check_ethernet(const struct port_facts *f, const char *netdev, uint32_t ifindex)
{
	assert_int_equal(f->link_layer, LINK_LAYER_ETHERNET);
	assert_true(f->lid == UINT32_MAX && f->sm_lid == UINT32_MAX && f->lmc == UINT32_MAX);
	assert_string_equal(f->netdev, netdev);
	assert_int_equal(f->netdev_index, ifindex);
}

static void check_hop(const struct device_details *d, size_t i, const char *address,
	const char *now, const char *max)
{
	char buf[PCIE_LINK_MAX];

	assert_true(i < d->n_pcie);
	assert_string_equal(d->pcie[i].address, address);
	assert_string_equal(pcie_link_format(buf, d->pcie[i].speed_mtps, d->pcie[i].width), now);
	assert_string_equal(
		pcie_link_format(buf, d->pcie[i].max_speed_mtps, d->pcie[i].max_width), max);
}

static void check_gid(
	size_t i, uint32_t index, enum gid_type type, const char *gid, const char *netdev)
{
	char buf[GID_STRING_MAX];

	assert_true(i < found.n_gids);
	assert_int_equal(found.gids[i].device_index, 77);
	assert_int_equal(found.gids[i].index, index);
	assert_int_equal(found.gids[i].type, type);
	assert_string_equal(gid_format(buf, found.gids[i].gid), gid);
	assert_string_equal(found.gids[i].netdev, netdev);
}

static bool is_elsewhere(enum elsewhere_kind kind, const char *name, const char *pci_address)
{
	for (size_t i = 0; i < found.n_elsewhere; i++)
		if (found.elsewhere[i].kind == kind && streq(found.elsewhere[i].name, name) &&
			streq(found.elsewhere[i].pci_address, pci_address))
			return true;
	return false;
}

/* ---- drivers ---- */

static void test_mlx4(void **state)
{
	const struct device_facts *d;
	struct device_details details0;
	struct port_facts f;

	(void)state;
	read_tree("mlx4");
	assert_true(sysfs_have_rdma());
	assert_int_equal(found.n_devices, 1);
	d = device("mlx4_0");
	check_device("mlx4_0", "CA", "ib", "mlx4_core", "0000:04:00.0", "0000:04:00", "uverbs0");
	assert_int_equal(d->index, 1);
	assert_int_equal(d->port_count, 2);
	assert_true(d->node_guid == 0xf452140300a1b2c0);
	assert_true(d->sys_image_guid == 0xf452140300a1b2c3);
	assert_string_equal(d->firmware_version, "2.31.5050");
	/* It may be a firmware command: not in a listing. */
	assert_string_equal(d->board_id, "");
	assert_int_equal(d->numa_node, 0);
	assert_int_equal(d->link_type, LINK_TYPE_NONE);

	f = port("mlx4_0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 40000, "4X QDR");
	check_ib(&f, 2, 1);
	f = port("mlx4_0", 2);
	check_state(&f, PORT_STATE_DOWN, PHYS_STATE_POLLING, 10000, "4X ");
	check_ib(&f, 0, 0);

	details0 = details("mlx4_0");
	assert_string_equal(details0.board_id, "SM_1141000001000");
	assert_string_equal(details0.hca_type, "MT4099");
	assert_string_equal(details0.hw_rev, "1");
	assert_string_equal(details0.node_desc, "mlx4 node-a HCA-1");
	assert_string_equal(details0.local_cpus, "0-7,16-23");
	assert_int_equal(details0.is_vf, 0);
	assert_int_equal(details0.gpu_hops, -1);
	assert_string_equal(details0.gpu, "");
	assert_int_equal(details0.n_pcie, 2);
	check_hop(&details0, 0, "0000:04:00.0", "8.0 GT/s x8", "8.0 GT/s x8");
	check_hop(&details0, 1, "0000:00:03.0", "8.0 GT/s x8", "8.0 GT/s x16");

	tables("mlx4_0", 1);
	assert_int_equal(found.tables.gid_error, 0);
	assert_int_equal(found.tables.gid_slots, 128);
	assert_int_equal(found.n_gids, 1);
	check_gid(0, 0, GID_TYPE_IB, "fe80:0000:0000:0000:f452:1403:00a1:b2c1", "");
	assert_int_equal(found.tables.pkey_error, 0);
	assert_int_equal(found.tables.pkey_slots, 128);
	assert_int_equal(found.n_pkeys, 128);
	assert_int_equal(found.pkeys[0], 0x7fff);
	assert_int_equal(found.pkeys[2], 0x8001);
	assert_int_equal(found.pkeys[127], 0);
	assert_string_equal(found.tables.umad, "umad0");
	tables("mlx4_0", 2);
	assert_string_equal(found.tables.umad, "umad1");
	assert_int_equal(found.n_elsewhere, 0);
}

static void test_ndr(void **state)
{
	static const char *const addresses[] = { "0000:18:00.0", "0000:3b:00.0", "0000:5d:00.0",
		"0000:5e:00.0" };

	(void)state;
	read_tree("mlx5-ndr");
	assert_int_equal(found.n_devices, 4);
	for (uint32_t i = 0; i < 4; i++) {
		char name[16], uverbs[16], umad[16], adapter[16];
		struct port_facts f;

		snprintf(name, sizeof(name), "mlx5_%u", i);
		snprintf(uverbs, sizeof(uverbs), "uverbs%u", i);
		snprintf(umad, sizeof(umad), "umad%u", 3 - i);
		snprintf(adapter, sizeof(adapter), "%.10s", addresses[i]);
		assert_string_equal(found.devices[i].name, name);
		assert_int_equal(found.devices[i].index, i + 1);
		check_device(name, "CA", "ib", "mlx5_core", addresses[i], adapter, uverbs);
		f = port(name, 1);
		check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 400000, "4X NDR");
		check_ib(&f, 0x21 + i, 1);
		tables(name, 1);
		assert_string_equal(found.tables.umad, umad);
	}
}

static void test_elsewhere(void **state)
{
	(void)state;
	read_tree("mlx5-ndr");
	/* Not the Ethernet card without a driver that does no RDMA. */
	assert_int_equal(found.n_elsewhere, 2);
	assert_true(is_elsewhere(ELSEWHERE_VFIO, "", "0000:62:00.0"));
	assert_true(is_elsewhere(ELSEWHERE_UNBOUND, "", "0000:62:00.1"));

	read_tree("mlx5-vf");
	assert_int_equal(found.n_elsewhere, 3);
	assert_true(is_elsewhere(ELSEWHERE_NETNS, "mlx5_7", "0000:83:00.0"));
	assert_true(is_elsewhere(ELSEWHERE_VFIO, "", "0000:81:00.3"));
	assert_true(is_elsewhere(ELSEWHERE_UNBOUND, "", "0000:81:00.4"));
}

static void test_pcie(void **state)
{
	struct device_details d;

	(void)state;
	use_tree("mlx5-ndr");
	d = details("mlx5_0");
	assert_int_equal(d.n_pcie, 4);
	check_hop(&d, 0, "0000:18:00.0", "32.0 GT/s x16", "32.0 GT/s x16");
	check_hop(&d, 1, "0000:17:00.0", "32.0 GT/s x16", "32.0 GT/s x16");
	check_hop(&d, 2, "0000:16:00.0", "32.0 GT/s x16", "32.0 GT/s x16");
	check_hop(&d, 3, "0000:15:01.0", "32.0 GT/s x16", "32.0 GT/s x16");

	/* Gen5 card, Gen4 slot: the slot's own maximum says that no more can be had. */
	d = details("mlx5_1");
	assert_int_equal(d.n_pcie, 2);
	check_hop(&d, 0, "0000:3b:00.0", "16.0 GT/s x16", "32.0 GT/s x16");
	check_hop(&d, 1, "0000:3a:01.0", "16.0 GT/s x16", "16.0 GT/s x16");

	/* The card has what it can, the way above it is Gen4. */
	d = details("mlx5_2");
	assert_int_equal(d.n_pcie, 4);
	check_hop(&d, 0, "0000:5d:00.0", "32.0 GT/s x16", "32.0 GT/s x16");
	check_hop(&d, 1, "0000:5c:00.0", "32.0 GT/s x16", "32.0 GT/s x16");
	check_hop(&d, 2, "0000:5b:00.0", "16.0 GT/s x16", "16.0 GT/s x16");
	check_hop(&d, 3, "0000:5a:01.0", "16.0 GT/s x16", "32.0 GT/s x16");

	/* Trained to half its width. */
	d = details("mlx5_3");
	assert_int_equal(d.n_pcie, 2);
	check_hop(&d, 0, "0000:5e:00.0", "32.0 GT/s x8", "32.0 GT/s x16");
	check_hop(&d, 1, "0000:5a:05.0", "32.0 GT/s x8", "32.0 GT/s x16");
}

static void check_gpu(const char *name, const char *gpu, int hops, const char *cpus)
{
	struct device_details d = details(name);

	assert_string_equal(d.gpu, gpu);
	assert_int_equal(d.gpu_hops, hops);
	assert_string_equal(d.local_cpus, cpus);
}

static void take_away(const char *address)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/gpu/sys/bus/pci/devices/%s", top, address);
	assert_int_equal(unlink(path), 0);
}

static void test_gpu(void **state)
{
	(void)state;
	use_copy("mlx5-ndr", "gpu");
	/* Through two switches, and not through the root complex, which has fewer hops. */
	check_gpu("mlx5_0", "0000:1b:00.0", 5, "0-31,64-95");
	/* One host bridge: two root ports, and the switch of the adapter. */
	check_gpu("mlx5_2", "0000:60:00.0", 4, "32-63,96-127");
	check_gpu("mlx5_3", "0000:60:00.0", 2, "32-63,96-127");
	/* Other host bridges, the same NUMA node. */
	check_gpu("mlx5_1", "0000:1d:00.0", 2, "0-31,64-95");
	take_away("0000:1d:00.0");
	/* Still the same node, and not the one with 2 hops. */
	check_gpu("mlx5_1", "0000:1b:00.0", 6, "0-31,64-95");

	take_away("0000:60:00.0");
	check_gpu("mlx5_3", "0000:1b:00.0", 6, "32-63,96-127");
	take_away("0000:1b:00.0");
	/* What is left is the display of the management controller. */
	check_gpu("mlx5_3", "", -1, "32-63,96-127");
}

static void test_bond(void **state)
{
	struct port_facts f;

	(void)state;
	read_tree("mlx5-bond");
	assert_int_equal(found.n_devices, 1);
	check_device(
		"mlx5_bond_0", "CA", "roce", "mlx5_core", "0000:03:00.0", "0000:03:00", "uverbs0");
	assert_int_equal(device("mlx5_bond_0")->numa_node, -1);
	f = port("mlx5_bond_0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 200000, "2X NDR");
	check_ethernet(&f, "bond0", 9);

	tables("mlx5_bond_0", 1);
	assert_int_equal(found.tables.gid_slots, 255);
	assert_int_equal(found.n_gids, 6);
	check_gid(0, 0, GID_TYPE_ROCE_V1, "fe80:0000:0000:0000:5e25:73ff:fed2:3e10", "bond0");
	check_gid(1, 1, GID_TYPE_ROCE_V2, "fe80:0000:0000:0000:5e25:73ff:fed2:3e10", "bond0");
	check_gid(3, 3, GID_TYPE_ROCE_V2, "0000:0000:0000:0000:0000:ffff:c000:0201", "bond0");
	check_gid(5, 7, GID_TYPE_ROCE_V2, "2001:0db8:0000:0001:5e25:73ff:fed2:3e10", "bond0.100");
}

static void test_netdev_of_parent(void **state)
{
	struct port_facts f;
	char path[PATH_MAX];

	(void)state;
	/* Without an entry in the table, the netdev of the port's number: not the representor. */
	use_copy("mlx5-bond", "legs");
	snprintf(path, sizeof(path),
		"%s/legs/sys/class/infiniband/mlx5_bond_0/ports/1/gid_attrs/ndevs/0", top);
	assert_int_equal(unlink(path), 0);
	f = port("mlx5_bond_0", 1);
	check_ethernet(&f, "enp3s0f0np0", 5);
	/* Two that it may be: unknown. */
	snprintf(path, sizeof(path), "%s/legs/sys/class/net/pf0hpf/phys_port_name", top);
	assert_int_equal(unlink(path), 0);
	f = port("mlx5_bond_0", 1);
	check_ethernet(&f, "", 0);
}

static void test_vf(void **state)
{
	struct device_details d;
	struct port_facts f;

	(void)state;
	read_tree("mlx5-vf");
	assert_int_equal(found.n_devices, 3);
	check_device("mlx5_0", "CA", "ib", "mlx5_core", "0000:81:00.0", "0000:81:00", "uverbs0");
	/* They hang as their PF does. */
	check_device("mlx5_2", "CA", "ib", "mlx5_core", "0000:81:00.2", "0000:81:00", "uverbs2");
	assert_true(device("mlx5_2")->node_guid == 0);
	assert_true(device("mlx5_2")->sys_image_guid == 0x0c42a10300719a40);
	f = port("mlx5_2", 1);
	check_state(&f, PORT_STATE_DOWN, PHYS_STATE_LINKUP, 200000, "4X HDR");
	check_ib(&f, 65535, 0);

	d = details("mlx5_0");
	assert_int_equal(d.is_vf, 0);
	assert_string_equal(d.physfn, "");
	d = details("mlx5_1");
	assert_int_equal(d.is_vf, 1);
	assert_string_equal(d.physfn, "0000:81:00.0");
	assert_string_equal(d.hca_type, "MT4124");
	check_hop(&d, 0, "0000:81:00.1", "16.0 GT/s x16", "16.0 GT/s x16");
	check_hop(&d, 1, "0000:80:02.0", "16.0 GT/s x16", "16.0 GT/s x16");
}

static void test_down(void **state)
{
	struct port_facts f;

	(void)state;
	read_tree("mlx5-down");
	check_device("ibp59s0", "CA", "ib", "mlx5_core", "0000:3b:00.0", "0000:3b:00", "uverbs0");
	f = port("ibp59s0", 1);
	check_state(&f, PORT_STATE_DOWN, PHYS_STATE_POLLING, 10000, "4X SDR");
	check_ib(&f, 868, 1);
}

static void test_hfi1(void **state)
{
	struct device_details d;
	struct port_facts f;

	(void)state;
	read_tree("hfi1");
	check_device("hfi1_0", "CA", "opa", "hfi1", "0000:5e:00.0", "0000:5e:00", "uverbs0");
	check_device("hfi1_1", "CA", "opa", "hfi1", "0000:af:00.0", "0000:af:00", "uverbs1");
	assert_int_equal(device("hfi1_1")->numa_node, 1);
	f = port("hfi1_0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 100000, "4X EDR");
	check_ib(&f, 0x17, 1);
	f = port("hfi1_1", 1);
	check_state(&f, PORT_STATE_DOWN, 9, 25000, "1X EDR");

	d = details("hfi1_0");
	/* The beginning of what does not fit. */
	assert_string_equal(
		d.board_id, "HPE 100Gb 1-port OP101 QSFP28 x16 PCIe Gen3 with Intel Omni-Pat");
	assert_string_equal(d.hca_type, "");
	d = details("hfi1_1");
	assert_string_equal(d.board_id, "");
	assert_string_equal(d.hw_rev, "10");
	assert_string_equal(d.node_desc, "node-e hfi1_1");
}

static void test_irdma(void **state)
{
	struct port_facts f;

	(void)state;
	read_tree("irdma");
	check_device("rocep24s0f0", "CA", "roce", "ice", "0000:18:00.0", "0000:18:00", "uverbs0");
	check_device("rocep24s0f1", "CA", "roce", "ice", "0000:18:00.1", "0000:18:00", "uverbs1");
	assert_string_equal(device("rocep24s0f0")->firmware_version, "1.60");
	assert_string_equal(device("rocep24s0f0")->board_id, "");
	f = port("rocep24s0f0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 100000, "4X EDR");
	check_ethernet(&f, "ens1f0", 2);
	/* An empty table: by the parent. */
	f = port("rocep24s0f1", 1);
	check_state(&f, PORT_STATE_DOWN, PHYS_STATE_DISABLED, 25000, "1X EDR");
	check_ethernet(&f, "ens1f1", 3);
	tables("rocep24s0f1", 1);
	assert_int_equal(found.tables.gid_error, 0);
	assert_int_equal(found.tables.gid_slots, 32);
	assert_int_equal(found.n_gids, 0);
}

static void test_bnxt(void **state)
{
	struct port_facts f;

	(void)state;
	read_tree("bnxt_re");
	check_device("bnxt_re0", "CA", "roce", "bnxt_en", "0000:41:00.0", "0000:41:00", "uverbs0");
	assert_int_equal(device("bnxt_re0")->numa_node, 2);
	f = port("bnxt_re0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 200000, "4X HDR");
	check_ethernet(&f, "ens5np0", 2);
	tables("bnxt_re0", 1);
	assert_int_equal(found.n_gids, 2);
	assert_string_equal(found.tables.umad, "");
}

static void test_efa(void **state)
{
	struct device_details d;
	struct port_facts f;

	(void)state;
	read_tree("efa");
	check_device(
		"rdmap16s27", "unspecified", "", "efa", "0000:10:1b.0", "0000:10:1b", "uverbs0");
	f = port("rdmap16s27", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 400000, "8X HDR");
	assert_int_equal(f.link_layer, LINK_LAYER_UNKNOWN);
	assert_true(f.lid == UINT32_MAX && f.lmc == UINT32_MAX);
	assert_string_equal(f.netdev, "");
	d = details("rdmap16s27");
	assert_int_equal(d.n_pcie, 1);
	check_hop(&d, 0, "0000:10:1b.0", "unknown", "unknown");
	assert_int_equal(d.is_vf, 0);
	tables("rdmap16s27", 1);
	assert_int_equal(found.n_gids, 1);
	assert_int_equal(found.gids[0].type, GID_TYPE_UNKNOWN);
}

static void test_i40iw(void **state)
{
	struct port_facts f;

	(void)state;
	read_tree("i40iw");
	check_device("i40iw0", "RNIC", "iw", "i40e", "0000:5e:00.0", "0000:5e:00", "uverbs0");
	assert_int_equal(device("i40iw0")->link_type, LINK_TYPE_NONE);
	f = port("i40iw0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 10000, "4X ");
	tables("i40iw0", 1);
	assert_int_equal(found.n_gids, 1);
	/* "IB/RoCE v1" it says, and is neither. */
	assert_int_equal(found.gids[0].type, GID_TYPE_UNKNOWN);
}

static void test_soft(void **state)
{
	struct device_details d;
	struct port_facts f;

	(void)state;
	read_tree("soft");
	assert_int_equal(found.n_devices, 2);
	check_device("rxe0", "CA", "roce", "rxe", "", "software", "uverbs0");
	assert_string_equal(device("rxe0")->parent_netdev, "eth0");
	assert_string_equal(device("rxe0")->firmware_version, "");
	check_device("siw0", "RNIC", "iw", "siw", "", "software", "uverbs1");
	f = port("rxe0", 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 2500, "1X SDR");
	check_ethernet(&f, "eth0", 2);
	d = details("rxe0");
	assert_int_equal(d.n_pcie, 0);
	assert_int_equal(d.is_vf, -1);
	assert_string_equal(d.node_desc, "node-h rxe0");
}

/* ---- what can go wrong ---- */

static void make_directory(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* A link in the class infiniband to a real place beside the tree. */
static void check_handle(const char *name, unsigned n, const char *want)
{
	char handle[DEVLINK_HANDLE_MAX] = "";
	int r = sysfs_devlink_handle(name, n, handle);

	if (want && (r != 0 || !streq(handle, want)))
		fail_msg("%s %u: %d %s, wanted %s", name, n, r, handle, want);
	if (!want && r != -ENOENT)
		fail_msg("%s %u: %d %s", name, n, r, handle);
}

/* The link "subsystem" that the kernel has in each device's directory; the trees leave it out. */
static void put_bus(const char *device, const char *bus)
{
	char path[PATH_MAX], to[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/subsystem", top, device);
	snprintf(to, sizeof(to), "/sys/bus/%s", bus);
	assert_int_equal(symlink(to, path), 0);
}

#define VF_DIR "sys/devices/pci0000:80/0000:80:02.0/0000:81:00.1"

/* Who says by devlink how an adapter is. */
static void test_devlink(void **state)
{
	char path[PATH_MAX];

	(void)state;
	use_copy("mlx5-vf", "devlink");
	check_handle("mlx5_1", 0, NULL); /* which bus it is on is not known */
	put_bus("devlink/" VF_DIR, "pci");
	check_handle("mlx5_1", 0, "pci/0000:81:00.1");
	check_handle("mlx5_1", 1, NULL); /* above it is a bridge */
	check_handle("mlx5_77", 0, NULL);
	/* A subfunction: an auxiliary device of the PCI function. */
	make_directory("devlink/" VF_DIR "/mlx5_core.sf.4");
	put_bus("devlink/" VF_DIR "/mlx5_core.sf.4", "auxiliary");
	snprintf(path, sizeof(path), "%s/devlink/" VF_DIR "/infiniband/mlx5_1/device", top);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("../../mlx5_core.sf.4", path), 0);
	check_handle("mlx5_1", 0, "auxiliary/mlx5_core.sf.4");
	check_handle("mlx5_1", 1, "pci/0000:81:00.1");
	check_handle("mlx5_1", 2, NULL);
	/* Software: the hardware below its netdev. siw does not say on which netdev it is. */
	use_copy("soft", "devlink-soft");
	put_bus("devlink-soft/sys/devices/pci0000:00/0000:00:03.0", "pci");
	check_handle("rxe0", 0, "pci/0000:00:03.0");
	check_handle("siw0", 0, NULL);
	snprintf(path, sizeof(path),
		"%s/devlink-soft/sys/devices/pci0000:00/0000:00:03.0/net/eth0/device", top);
	assert_int_equal(unlink(path), 0); /* as veth */
	check_handle("rxe0", 0, NULL);
}

static void test_no_rdma(void **state)
{
	char path[PATH_MAX];
	struct device_details d;
	struct port_facts f;

	(void)state;
	snprintf(path, sizeof(path), "%s/nothing", top);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(sysfs_set_root(path), 0);
	memset(&found, 0, sizeof(found));
	assert_false(sysfs_have_rdma());
	assert_int_equal(sysfs_list_devices(add_device, &found), 0);
	assert_int_equal(sysfs_list_elsewhere(add_elsewhere, &found), 0);
	assert_int_equal(found.n_devices + found.n_elsewhere, 0);
	assert_int_equal(sysfs_read_port(1, "mlx5_0", 1, &f), -ENODEV);
	assert_int_equal(sysfs_read_details(1, "mlx5_0", &d), -ENODEV);
	assert_int_equal(d.is_vf, -1);
	assert_int_equal(d.gpu_hops, -1);
	tables("mlx5_0", 1);
	assert_int_equal(found.tables.gid_error, -ENOENT);
	assert_int_equal(found.tables.pkey_error, -ENOENT);

	snprintf(path, sizeof(path), "%s/not-there", top);
	assert_int_equal(sysfs_set_root(path), -ENOENT);
}

static void check_good(void)
{
	const struct device_facts *d = device("good");
	struct device_details more = details("good");
	struct port_facts f = port("good", 1);

	check_device("good", "CA", "ib", "mlx5_core", "0000:01:00.0", "0000:01:00", "uverbs7");
	assert_true(d->node_guid == 0x0002c90300000001);
	assert_true(d->sys_image_guid == 0x0002c90300000002);
	assert_string_equal(d->firmware_version, "1.2.3");
	assert_int_equal(d->port_count, 1);
	assert_int_equal(d->numa_node, 1);
	check_state(&f, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, 100000, "4X EDR");
	check_ib(&f, 1, 2);
	assert_string_equal(more.board_id, "BOARD");
	assert_string_equal(more.local_cpus, "0-3");
	assert_int_equal(more.n_pcie, 2);
	tables("good", 1);
	assert_string_equal(found.tables.umad, "umad1");
}

static void test_hostile_attributes(void **state)
{
	const struct device_facts *d;
	struct device_details more;
	struct port_facts f;

	(void)state;
	read_tree("hostile");
	check_good();

	check_device("attrs", "CA", "ib", "mlx5_core", "0000:02:00.0", "0000:02:00", "");
	d = device("attrs");
	assert_true(d->node_guid == 0 && d->sys_image_guid == 0);
	assert_string_equal(d->firmware_version, "");
	assert_int_equal(d->port_count, 1);
	assert_int_equal(d->numa_node, -1);
	more = details("attrs");
	assert_string_equal(more.board_id, "");
	assert_string_equal(more.hca_type, "");
	assert_string_equal(more.hw_rev, "");
	assert_string_equal(more.node_desc, "");
	assert_string_equal(more.local_cpus, "");
	assert_int_equal(more.is_vf, -1);
	assert_int_equal(more.n_pcie, 1);
	check_hop(&more, 0, "0000:02:00.0", "unknown", "32.0 GT/s x16");
	assert_int_equal(more.gpu_hops, -1);

	f = port("attrs", 1);
	check_state(&f, PORT_STATE_UNKNOWN, PHYS_STATE_LINKUP, 0, " ");
	assert_int_equal(f.link_layer, LINK_LAYER_INFINIBAND);
	assert_true(f.lid == UINT32_MAX && f.sm_lid == UINT32_MAX && f.lmc == UINT32_MAX);
	assert_int_equal(sysfs_read_port(77, "attrs", 2, &f), -ENODEV);

	check_device("words", "CA", "", "", "", "words", "");
	f = port("words", 1);
	check_state(&f, PORT_STATE_UNKNOWN, 9, 0, " ");
	assert_int_equal(f.link_layer, LINK_LAYER_UNKNOWN);
	assert_true(f.lid == UINT32_MAX && f.sm_lid == 1 && f.lmc == UINT32_MAX);
	assert_string_equal(f.netdev, "");

	check_device("dangling", "RNIC", "iw", "", "0000:03:00.0", "0000:03:00", "");
	assert_int_equal(sysfs_read_port(77, "mute", 1, &f), -EINVAL);
}

static void test_hostile_tables(void **state)
{
	(void)state;
	read_tree("hostile");
	tables("attrs", 1);
	assert_int_equal(found.tables.gid_error, 0);
	assert_int_equal(found.tables.gid_slots, 4);
	assert_int_equal(found.n_gids, 1);
	check_gid(0, 1, GID_TYPE_UNKNOWN, "fe80:0000:0000:0000:0002:c903:0000:0011", "");
	assert_int_equal(found.tables.pkey_error, -ERANGE);
	assert_int_equal(found.n_pkeys, 3);
	assert_int_equal(found.pkeys[0], 0xffff);
	assert_int_equal(found.pkeys[1], 0);
	assert_int_equal(found.pkeys[2], 0x8001);
}

static void test_hostile_elsewhere(void **state)
{
	(void)state;
	read_tree("hostile");
	/* Whether 0000:05:00.0 has a driver is not known: it has no uevent. */
	assert_int_equal(found.n_elsewhere, 0);
}

/* ---- out of the tree ---- */

static void put(const char *directory, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", top, directory, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void link_out(const char *name, const char *to)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/hostile/sys/class/infiniband/%s", top, name);
	snprintf(target, sizeof(target), "%s/outside/%s", top, to);
	assert_int_equal(symlink(target, path), 0);
}

static void watch(int fd, const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", top, directory);
	assert_true(inotify_add_watch(fd, path, IN_OPEN | IN_ACCESS) >= 0);
}

static bool touched(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void make_outside(void)
{
	make_directory("outside");
	make_directory("outside/device");
	make_directory("outside/ports");
	make_directory("outside/ports/1");
	put("outside", "fw_ver", "6.6.6\n");
	put("outside/device", "node_type", "1: CA\n");
	put("outside/device", "fw_ver", "6.6.6\n");
	put("outside/ports/1", "state", "4: ACTIVE\n");
	link_out("absolute", "device");
	link_out("linked/node_desc", "fw_ver");
	link_out("linked/board_id", "fw_ver");
}

static void test_outside(void **state)
{
	struct device_details d;
	struct port_facts f;
	int fd, dir;

	(void)state;
	use_tree("hostile");
	make_outside();
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	assert_true(fd >= 0);
	watch(fd, "outside");
	watch(fd, "outside/device");
	watch(fd, "outside/ports");
	watch(fd, "outside/ports/1");

	read_tree("hostile");
	check_good();
	for (size_t i = 0; i < found.n_devices; i++) {
		assert_string_not_equal(found.devices[i].firmware_version, "6.6.6");
		sysfs_read_details(1, found.devices[i].name, &d);
		sysfs_read_port(1, found.devices[i].name, 1, &f);
		tables(found.devices[i].name, 1);
	}
	/* "good" "attrs" "words" "mute" "dangling" "linked" "empty": what is a directory. */
	assert_int_equal(found.n_devices, 7);
	check_device("linked", "CA", "", "", "", "software", "");
	assert_int_equal(device("linked")->port_count, 0);
	d = details("linked");
	assert_string_equal(d.node_desc, "");
	assert_string_equal(d.board_id, "");
	assert_int_equal(sysfs_read_port(1, "linked", 1, &f), -ENODEV);
	assert_int_equal(sysfs_read_port(1, "absolute", 1, &f), -ENODEV);
	assert_int_equal(sysfs_open_directory("/sys/class/infiniband/circle"), -ELOOP);
	assert_int_equal(sysfs_open_directory("/sys/class/infiniband/magic"), -ENOENT);
	assert_int_equal(sysfs_open_directory("/../../../../outside"), -ENOENT);
	assert_false(touched(fd));

	/* The watch does see what is opened. */
	sysfs_set_root(top);
	dir = sysfs_open_directory("/outside/device");
	assert_true(dir >= 0);
	assert_true(touched(fd));
	close(dir);
	close(fd);
}

static void test_resolve(void **state)
{
	char path[PATH_MAX];
	uint32_t v = 0;
	int dir;

	(void)state;
	use_tree("hostile");
	assert_int_equal(sysfs_resolve(path, "/sys/class/infiniband/good/device"), 0);
	assert_string_equal(path, "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0");
	/* Absolute links are of the tree. */
	assert_int_equal(sysfs_resolve(path, "/sys/class/net/absolute"), 0);
	assert_string_equal(path, "/sys/devices/virtual/net/lo");
	dir = sysfs_open_directory("/sys/class/net/absolute");
	assert_int_equal(attr_read_u32(dir, "ifindex", &v), 0);
	assert_int_equal(v, 1);
	close(dir);
	assert_int_equal(sysfs_resolve(path, "/sys/../../sys/./class//net/lo/.."), 0);
	assert_string_equal(path, "/sys/class/net");
	assert_int_equal(sysfs_resolve(path, "/sys/class/infiniband/file/x"), -ENOTDIR);
}

/* ---- what is written ---- */

static void check_file(const char *path, const char *text)
{
	char name[PATH_MAX], buf[128];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", top, path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, buf, sizeof(buf) - 1);
	assert_true(n >= 0);
	buf[n] = '\0';
	close(fd);
	assert_string_equal(buf, text);
}

static void test_node_desc(void **state)
{
	char text[NODE_DESC_MAX + 2] = "";

	(void)state;
	make_directory("desc");
	make_directory("desc/sys");
	make_directory("desc/sys/class");
	make_directory("desc/sys/class/infiniband");
	make_directory("desc/sys/class/infiniband/x0");
	put("desc/sys/class/infiniband/x0", "node_desc",
		"something that is longer than what comes\n");
	snprintf(text, sizeof(text), "%s/desc", top);
	assert_int_equal(sysfs_set_root(text), 0);

	assert_int_equal(sysfs_write_node_desc("x0", "node1 x0"), 0);
	check_file("desc/sys/class/infiniband/x0/node_desc", "node1 x0");
	/* The longest there is, and it is read back whole. */
	memset(text, 'x', NODE_DESC_MAX);
	text[NODE_DESC_MAX] = '\0';
	assert_int_equal(sysfs_write_node_desc("x0", text), 0);
	assert_string_equal(details("x0").node_desc, text);
	text[NODE_DESC_MAX] = 'x';
	assert_int_equal(sysfs_write_node_desc("x0", text), -EINVAL);
	assert_int_equal(sysfs_write_node_desc("x0", "a\n"), -EINVAL);
	assert_int_equal(sysfs_write_node_desc("x1", "a"), -ENODEV);
	assert_int_equal(sysfs_write_node_desc("../x0", "a"), -EINVAL);
	text[NODE_DESC_MAX] = '\0';
	assert_string_equal(details("x0").node_desc, text);
}

#define CM_PORT "cm/sys/kernel/config/rdma_cm/x0/ports/1"

static void test_roce(void **state)
{
	enum gid_type mode = GID_TYPE_IB;
	char path[PATH_MAX];
	int tos = 7;

	(void)state;
	make_directory("cm");
	make_directory("cm/sys");
	make_directory("cm/sys/kernel");
	make_directory("cm/sys/kernel/config");
	snprintf(path, sizeof(path), "%s/cm", top);
	assert_int_equal(sysfs_set_root(path), 0);
	/* configfs is there, rdma_cm is not. */
	assert_int_equal(roce_prepare("x0"), -ENOENT);
	assert_int_equal(roce_read("x0", 1, &mode, &tos), -ENOENT);

	make_directory("cm/sys/kernel/config/rdma_cm");
	assert_int_equal(roce_prepare("x0"), 1);
	assert_int_equal(roce_prepare("x0"), 0); /* it is there */
	roce_drop("..");
	roce_drop("x0");
	assert_int_equal(roce_prepare("x0"), 1);
	assert_int_equal(roce_prepare(".."), -EINVAL);
	assert_int_equal(roce_read("x0", 1, &mode, &tos), -ENOENT);
	assert_int_equal(roce_set_tos("x0", 1, 5), -ENOENT);
	/* The kernel would have made these. */
	make_directory("cm/sys/kernel/config/rdma_cm/x0/ports");
	make_directory(CM_PORT);
	assert_int_equal(roce_read("x0", 1, &mode, &tos), 0);
	assert_int_equal(mode, GID_TYPE_UNKNOWN);
	assert_int_equal(tos, -1);

	put(CM_PORT, "default_roce_mode", "IB/RoCE v1\n");
	put(CM_PORT, "default_roce_tos", "0\n");
	assert_int_equal(roce_read("x0", 1, &mode, &tos), 0);
	assert_int_equal(mode, GID_TYPE_ROCE_V1);
	assert_int_equal(tos, 0);
	assert_int_equal(roce_set_mode("x0", 1, GID_TYPE_ROCE_V2), 0);
	check_file(CM_PORT "/default_roce_mode", "RoCE v2");
	assert_int_equal(roce_set_tos("x0", 1, 106), 0);
	check_file(CM_PORT "/default_roce_tos", "106");
	assert_int_equal(roce_read("x0", 1, &mode, &tos), 0);
	assert_int_equal(mode, GID_TYPE_ROCE_V2);
	assert_int_equal(tos, 106);
	assert_int_equal(roce_set_mode("x0", 1, GID_TYPE_ROCE_V1), 0);
	check_file(CM_PORT "/default_roce_mode", "IB/RoCE v1");
	assert_int_equal(roce_set_mode("x0", 1, GID_TYPE_UNKNOWN), -EINVAL);
	assert_int_equal(roce_set_mode("x0", 2, GID_TYPE_ROCE_V2), -ENOENT);

	put(CM_PORT, "default_roce_mode", "RoCE v3\n");
	put(CM_PORT, "default_roce_tos", "256\n");
	assert_int_equal(roce_read("x0", 1, &mode, &tos), 0);
	assert_int_equal(mode, GID_TYPE_UNKNOWN);
	assert_int_equal(tos, -1);
}

/* ---- attributes one by one ---- */

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		int error;
		const char *result;
	} cases[] = {
		{ "plain\n", 6, 0, "plain" },
		{ "no newline", 10, 0, "no newline" },
		{ " \t blanks \n", 11, 0, "blanks" },
		{ "padded\0\0\0", 9, 0, "padded" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n", 10, 0,
			"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "", 0, -ENODATA, "" },
		{ " \n\t\n", 4, -ENODATA, "" },
		{ "\0\0", 2, -ENODATA, "" },
		{ "a\0b\n", 4, -EBADMSG, "" },
		{ "a\nb\n", 4, -EBADMSG, "" },
		{ "a\033[0m", 5, -EBADMSG, "" },
		{ "\xff\n", 2, -EBADMSG, "" },
		{ "a\xc3", 2, -EBADMSG, "" },            /* cut */
		{ "\xc0\xaf", 2, -EBADMSG, "" },         /* overlong */
		{ "\xed\xa0\x80", 3, -EBADMSG, "" },     /* a surrogate */
		{ "\xf4\x90\x80\x80", 4, -EBADMSG, "" }, /* above the last */
		{ "\xc2\x9b", 2, -EBADMSG, "" },         /* a control character, too */
		{ "sixteen letters!", 16, -E2BIG, "" },
	};
	int dir;

	(void)state;
	make_directory("texts");
	assert_int_equal(sysfs_set_root(top), 0);
	dir = sysfs_open_directory("/texts");
	assert_true(dir >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[16] = "";
		int fd = openat(dir, "x", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		assert_int_equal(write(fd, cases[i].text, cases[i].n), cases[i].n);
		close(fd);
		if (attr_read(dir, "x", buf, sizeof(buf)) != cases[i].error)
			fail_msg("case %zu: %s", i, cases[i].text);
		assert_string_equal(buf, cases[i].result);
	}
	close(dir);
}

static void test_cut(void **state)
{
	char buf[6] = "", longer[ATTR_SIZE_MAX + 2] = "";
	int dir;

	(void)state;
	make_directory("cut");
	put("cut", "x", "abcd\xc3\xa9z\n");
	memset(longer, 'x', sizeof(longer) - 1);
	put("cut", "long", longer);
	longer[ATTR_SIZE_MAX] = '\0';
	put("cut", "page", longer);
	assert_int_equal(sysfs_set_root(top), 0);
	dir = sysfs_open_directory("/cut");
	/* The character that does not fit whole is left out. */
	assert_int_equal(attr_read_text(dir, "x", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "abcd");
	/* A page is what sysfs can give; more is something else. */
	assert_int_equal(attr_read_text(dir, "page", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "xxxxx");
	assert_int_equal(attr_read_text(dir, "long", buf, sizeof(buf)), -EFBIG);
	assert_int_equal(attr_read(dir, "../cut/x", buf, sizeof(buf)), -EINVAL);
	assert_true(attr_read(-ENOENT, "x", buf, sizeof(buf)) < 0);
	close(dir);
}

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		uint64_t mbps;
		const char *lanes;
	} good[] = {
		{ "2.5 Gb/sec (1X SDR)", 2500, "1X SDR" },
		{ "10 Gb/sec (4X)", 10000, "4X " },
		{ "56 Gb/sec (4X FDR)", 56000, "4X FDR" },
		{ "41.2 Gb/sec (4X FDR10)", 41200, "4X FDR10" },
		{ "800 Gb/sec (8X NDR)", 800000, "8X NDR" },
		{ "100 Gb/sec", 100000, " " },
	};
	static const char *const bad[] = { "", "Gb/sec", "fast", "10", "10 Gb/sec (4X", "-1 Gb/sec",
		"10 Gb/sec (4X SDR) x", "1.2.3 Gb/sec (4X)", "10 Mb/sec (4X SDR)" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct port_facts f = port_facts_unknown(1, 1);
		char text[64];

		assert_int_equal(sysfs_parse_rate(good[i].text, &f), 0);
		assert_int_equal(f.rate_mbps, good[i].mbps);
		snprintf(text, sizeof(text), "%s %s", f.width, f.speed);
		assert_string_equal(text, good[i].lanes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct port_facts f = port_facts_unknown(1, 1);

		if (sysfs_parse_rate(bad[i], &f) != -EINVAL)
			fail_msg("\"%s\" is taken", bad[i]);
		assert_int_equal(f.rate_mbps, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mlx4),
		cmocka_unit_test(test_ndr),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_pcie),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_bond),
		cmocka_unit_test(test_netdev_of_parent),
		cmocka_unit_test(test_vf),
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_hfi1),
		cmocka_unit_test(test_irdma),
		cmocka_unit_test(test_bnxt),
		cmocka_unit_test(test_efa),
		cmocka_unit_test(test_i40iw),
		cmocka_unit_test(test_soft),
		cmocka_unit_test(test_devlink),
		cmocka_unit_test(test_no_rdma),
		cmocka_unit_test(test_hostile_attributes),
		cmocka_unit_test(test_hostile_tables),
		cmocka_unit_test(test_hostile_elsewhere),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_node_desc),
		cmocka_unit_test(test_roce),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, make_top, remove_top);
}
