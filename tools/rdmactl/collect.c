/* SPDX-License-Identifier: MIT */
/*
 * rdmactl collect: writes a captured tree of this host for support, which "inspect" reads. What
 * hangs is left out, and that is said. What goes into it is in rdmactl(1): say there what you add.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "archive.h"
#include "build-config.h"
#include "collection.h"
#include "macros.h"
#include "output.h"
#include "parse.h"
#include "put-file.h"
#include "source.h"
#include "text.h"

DEFINE_CLEANUP(DIR *, closedir)

#define JOURNAL_TIMEOUT (20 * USEC_PER_SEC)
#define JOURNAL_LINES   "5000"

#define IB_CLASS    "/sys/class/infiniband"
#define NET_CLASS   "/sys/class/net"
#define PCI_DEVICES "/sys/bus/pci/devices"

/* Calls back for each entry of a directory that is no dot file. */
typedef void (*entry_cb)(struct collection *c, const char *directory, const char *name);

static void for_each_entry(struct collection *c, const char *directory, entry_cb cb)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *de;

	while (dir && (de = readdir(dir)))
		if (de->d_name[0] != '.')
			cb(c, directory, de->d_name);
}

/* ---- PCI functions ---- */

static const char *const pci_entries[] = { "class", "vendor", "device", "subsystem_vendor",
	"subsystem_device", "revision", "uevent", "modalias", "numa_node", "local_cpulist",
	"current_link_speed", "current_link_width", "max_link_speed", "max_link_width",
	"power_state", "sriov_numvfs", "sriov_totalvfs", "driver", "driver_override", "physfn",
	"subsystem" };

/* A device and what it hangs on, up to the root of the bus. */
static void collect_path(struct collection *c, const char *device)
{
	static const char devices[] = "/sys/devices/";
	char path[PATH_MAX], *slash;

	if (!realpath(device, path) || strncmp(path, devices, strlen(devices)) != 0)
		return;
	while (strlen(path) > strlen(devices)) {
		collect_entries(c, path, pci_entries, ARRAY_SIZE(pci_entries));
		slash = strrchr(path, '/');
		/* Not the bus itself: "pci0000:00" has none of these. */
		if (slash < path + strlen(devices))
			break;
		*slash = '\0';
	}
}

/* Whether a function is of a class that matters: network, InfiniBand, fabric, GPU. */
static bool class_matters(const char *function)
{
	char path[PATH_MAX], text[16] = "";
	_cleanup_(closep) int fd = -1;
	unsigned long class;

	snprintf(path, sizeof(path), "%s/class", function);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	class = strtoul(text, NULL, 16) >> 16;
	return class == 0x02 || class == 0x03 || class == 0x12;
}

static void collect_function(struct collection *c, const char *directory, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (!class_matters(path))
		return;
	collect_object(c);
	collect_entry(c, "%s", path);
	collect_path(c, path);
}

/* ---- RDMA devices ---- */

static void collect_class_entry(struct collection *c, const char *directory, const char *name)
{
	char path[PATH_MAX], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	collect_object(c);
	collect_entry(c, "%s", path);
	if (realpath(path, real))
		collect_directory(c, real);
}

static void collect_device(struct collection *c, const char *directory, const char *name)
{
	static const char *const links[] = { "driver", "subsystem", "physfn" };
	char path[PATH_MAX], parent[PATH_MAX];

	collect_class_entry(c, directory, name);
	snprintf(path, sizeof(path), "%s/%s/device", directory, name);
	if (!realpath(path, parent))
		return;
	collect_entries(c, parent, links, ARRAY_SIZE(links));
	collect_path(c, path);
	snprintf(path, sizeof(path), "%s/physfn", parent);
	collect_path(c, path);
}

/* ---- network interfaces ---- */

static const char *const net_entries[] = { "ifindex", "iflink", "flags", "operstate", "carrier",
	"carrier_changes", "carrier_up_count", "carrier_down_count", "type", "address",
	"addr_assign_type", "addr_len", "mtu", "dev_port", "dev_id", "phys_port_name",
	"phys_port_id", "phys_switch_id", "speed", "duplex", "uevent", "device", "subsystem",
	"master" };

static bool is_collected(const struct collection *c, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s" NET_CLASS "/%s", c->top, name);
	return lstat(path, &st) == 0;
}

static void collect_netdev(struct collection *c, const char *directory, const char *name);

/* "lower_eth0" and "upper_bond0" are links to what it is made of, and what is made of it. */
static void collect_relative(struct collection *c, const char *directory, const char *name)
{
	if (strncmp(name, "lower_", 6) != 0 && strncmp(name, "upper_", 6) != 0)
		return;
	collect_entry(c, "%s/%s", directory, name);
	/* What stands on a bridge or a router is not RDMA's. */
	if (name[0] == 'l')
		collect_netdev(c, NET_CLASS, name + 6);
}

static void collect_netdev(struct collection *c, const char *directory, const char *name)
{
	static const char *const parts[] = { "bonding", "bonding_slave", "statistics" };
	char path[PATH_MAX], real[PATH_MAX], master[PATH_MAX];

	(void)directory;
	snprintf(path, sizeof(path), NET_CLASS "/%s", name);
	if (is_collected(c, name) || !realpath(path, real))
		return;
	collect_object(c);
	collect_entry(c, "%s", path);
	collect_entries(c, real, net_entries, ARRAY_SIZE(net_entries));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 32, real, parts[i]);
		collect_directory(c, path);
	}
	snprintf(path, sizeof(path), "%.*s/master", PATH_MAX - 32, real);
	if (realpath(path, master))
		collect_netdev(c, NET_CLASS, strrchr(master, '/') + 1);
	for_each_entry(c, real, collect_relative);
}

/* A line of a file that has been copied is the name of a netdev. */
static void collect_named_netdev(struct collection *c, const char *file)
{
	char path[PATH_MAX], line[64] = "";
	_cleanup_(closep) int fd = -1;
	char *name;

	if (snprintf(path, sizeof(path), "%s%s", c->top, file) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, line, sizeof(line) - 1) <= 0)
		return;
	name = strstrip(line);
	if (name[0] && name[0] != '.' && !strchr(name, '/'))
		collect_netdev(c, NET_CLASS, name);
}

static void collect_gid_netdev(struct collection *c, const char *directory, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	collect_named_netdev(c, path);
}

static void collect_port_netdevs(struct collection *c, const char *directory, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/gid_attrs/ndevs", directory, name);
	for_each_entry(c, path, collect_gid_netdev);
}

/* Those that a device's GIDs are of, those of its PCI function, and that of a software link. */
static void collect_device_netdevs(struct collection *c, const char *directory, const char *name)
{
	char path[PATH_MAX], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/device/net", directory, name);
	for_each_entry(c, path, collect_netdev);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (!realpath(path, real))
		return;
	snprintf(path, sizeof(path), "%.*s/parent", PATH_MAX - 32, real);
	collect_named_netdev(c, path);
	snprintf(path, sizeof(path), "%.*s/ports", PATH_MAX - 32, real);
	for_each_entry(c, path, collect_port_netdevs);
}

/* ---- modules, configuration, versions ---- */

static void collect_module(struct collection *c, const char *directory, const char *name)
{
	static const char *const entries[] = { "version", "srcversion", "refcnt", "initstate",
		"taint", "coresize" };
	char path[PATH_MAX];
	struct stat st;

	(void)directory;
	snprintf(path, sizeof(path), "%s/sys/module/%s", c->top, name);
	if (lstat(path, &st) == 0)
		return;
	snprintf(path, sizeof(path), "/sys/module/%s", name);
	if (stat(path, &st) < 0)
		return;
	collect_object(c);
	(void)collection_add_directory(c, path);
	collect_entries(c, path, entries, ARRAY_SIZE(entries));
	snprintf(path, sizeof(path), "/sys/module/%s/holders", name);
	collect_directory(c, path);
	/* All that stands on the RDMA core, and on that. */
	for_each_entry(c, path, collect_module);
}

static void collect_driver_module(struct collection *c, const char *directory, const char *name)
{
	char path[PATH_MAX], module[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/device/driver/module", directory, name);
	if (realpath(path, module))
		collect_module(c, NULL, strrchr(module, '/') + 1);
}

static void collect_files(struct collection *c)
{
	static const char *const directories[] = { "/etc/rdmad", "/run/rdmad", "/usr/lib/rdmad",
		"/var/lib/rdmad" };
	static const char *const files[] = { "version", "sys/kernel/osrelease",
		"sys/kernel/tainted", "uptime" };

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		collect_object(c);
		collect_directory(c, directories[i]);
	}
	collect_object(c);
	collect_entries(c, "/proc", files, ARRAY_SIZE(files));
	collect_entry(c, "/etc/os-release");
	collect_entry(c, "/usr/lib/os-release");
}

static void add_versions(struct collection *c)
{
	struct utsname u = { 0 };
	char text[1024];

	(void)uname(&u);
	snprintf(text, sizeof(text), "rdmactl %s\nkernel %s %s %s\ncollected %llu\nuid %u\n",
		RDMAD_VERSION, u.release, u.version, u.machine,
		(unsigned long long)(timepoint_now().real / USEC_PER_SEC), (unsigned)getuid());
	(void)collection_add_text(c, "/versions", text);
}

/* What rdmad, its helper and its workers have written, as journalctl(1) exports it. */
static void add_journal(struct collection *c)
{
	const char *const argv[] = { "journalctl", "--quiet", "--no-pager", "--output=export",
		"--lines=" JOURNAL_LINES, "--unit=rdmad", "--unit=rdmad-setup", NULL };
	_cleanup_(closep) int fd = -1;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/journal.export", c->top);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : run_program(argv, fd, JOURNAL_TIMEOUT);
	if (r > 0)
		fprintf(c->left_out, "journal: journalctl ended with %d\n", r);
	else if (r < 0)
		fprintf(c->left_out, "journal: %s\n", strerror(-r));
}

static int fill(struct collection *c)
{
	int r;

	/* "inspect" knows a tree by it, also that of a host without RDMA. */
	r = collection_add_directory(c, IB_CLASS);
	if (r < 0)
		return r;
	add_versions(c);
	collect_files(c);
	add_journal(c);
	for_each_entry(c, IB_CLASS, collect_device);
	for_each_entry(c, "/sys/class/infiniband_verbs", collect_class_entry);
	for_each_entry(c, "/sys/class/infiniband_mad", collect_class_entry);
	for_each_entry(c, IB_CLASS, collect_device_netdevs);
	for_each_entry(c, PCI_DEVICES, collect_function);
	collect_module(c, NULL, "ib_core");
	for_each_entry(c, IB_CLASS, collect_driver_module);
	return 0;
}

/* ---- where it goes ---- */

static int fail(const char *what, int error)
{
	output_error("%s: %s", what, error == -EBADMSG ? "tar failed" : strerror(-error));
	return EXIT_FAILED;
}

static int fail_file(const char *file, bool force, int error)
{
	if (error != -EEXIST)
		return fail(file, error);
	output_error("%s exists%s", file, force ? "" : " (--force writes over a file)");
	return EXIT_FAILED;
}

static int collect_into(const char *directory, struct collection *c)
{
	int r, q;

	r = collection_begin(c, directory);
	if (r < 0)
		return r;
	r = fill(c);
	q = collection_end(c);
	return r < 0 ? r : q;
}

/* Half a tree would be taken for a whole one, and stand in the way of the next. */
static int collect_directory_tree(const char *directory, bool force, struct collection *c)
{
	int r;

	if (mkdir(directory, 0700) < 0)
		return fail_file(directory, force, -errno);
	r = collect_into(directory, c);
	if (r >= 0)
		return 0;
	remove_tree(directory);
	return fail(directory, r);
}

static int pack(int fd, const void *directory)
{
	return archive_pack(directory, fd);
}

static int collect_archive(const char *file, bool force, struct collection *c)
{
	_cleanup_(private_directoryp) char *temporary = NULL;
	struct stat st;
	int r;

	/* Said before the work is done; that it holds then, too, is put_file()'s. */
	if (!force && lstat(file, &st) == 0)
		return fail_file(file, force, -EEXIST);
	r = private_directory(&temporary);
	if (r >= 0)
		r = collect_into(temporary, c);
	if (r < 0)
		return fail(or_text(temporary, "A temporary directory"), r);
	r = put_file(file, 0600, force, pack, temporary);
	return r < 0 ? fail_file(file, force, r) : 0;
}

int verb_collect(const struct options *o)
{
	const char *file = o->patterns[0];
	struct collection c;
	int r;

	if (o->host || o->n_patterns > 1) {
		output_error(o->host ? "'collect' is of this host: run it there"
				     : "'collect' takes one FILE");
		return EXIT_USAGE;
	}
	umask(077);
	if (file[0] && file[strlen(file) - 1] == '/')
		r = collect_directory_tree(file, o->force, &c);
	else
		r = collect_archive(file, o->force, &c);
	if (r != 0)
		return r;
	printf("%s: %zu files", file, c.n_files);
	if (c.n_silent > 0)
		printf(", %zu did not answer", c.n_silent);
	printf("; what was left out is listed in left-out\n");
	return output_close(EXIT_SUCCESS);
}
