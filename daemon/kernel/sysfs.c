/* SPDX-License-Identifier: MIT */
#include "sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "macros.h"
#include "parse.h"

#define IB_CLASS "/sys/class/infiniband"
#define UVERBS   "/sys/class/infiniband_verbs"

DEFINE_CLEANUP(DIR *, closedir)

/*
 * Reads a small attribute into buf, without white space at its ends. Bytes after a NUL and what
 * does not fit are dropped. Only regular files: anything else is not an attribute.
 */
static int read_attr(char *buf, size_t size, const char *fmt, ...) _printf_(3, 4);
static int read_attr(char *buf, size_t size, const char *fmt, ...)
{
	_cleanup_(closep) int fd = -1;
	char path[PATH_MAX], *start;
	struct stat st;
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	start = strstrip(buf);
	memmove(buf, start, strlen(start) + 1);
	return 0;
}

/* The last component of where a link points to. */
static int link_basename(char *buf, size_t size, const char *path)
{
	char target[PATH_MAX];
	const char *slash;
	ssize_t n;

	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	slash = strrchr(target, '/');
	snprintf(buf, size, "%s", slash ? slash + 1 : target);
	return 0;
}

bool sysfs_have_rdma(void)
{
	return access(IB_CLASS, F_OK) == 0;
}

bool sysfs_module_present(const char *module)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	for (char *p = path + strlen("/sys/module/"); *p; p++)
		if (*p == '-')
			*p = '_'; /* the kernel's own spelling */
	return access(path, F_OK) == 0;
}

/* "0000:3b:00.1": four, two, two and one hexadecimal digits. */
static bool is_pci_address(const char *s)
{
	static const char shape[] = "xxxx:xx:xx.x";
	size_t i;

	for (i = 0; shape[i]; i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)s[i]) : s[i] != shape[i])
			return false;
	return s[i] == '\0';
}

/* The name of the nearest PCI function in a sysfs path; false when there is none. */
static bool nearest_pci(const char *path, char *buf, size_t size)
{
	char copy[PATH_MAX];
	char *slash;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((slash = strrchr(copy, '/'))) {
		if (is_pci_address(slash + 1)) {
			snprintf(buf, size, "%s", slash + 1);
			return true;
		}
		*slash = '\0';
	}
	return false;
}

/*
 * The adapter is what hangs as one: the PCI slot without its function, for a VF that of its PF, for
 * another bus the parent device itself. Software devices share one: their driver is this kernel.
 */
static void find_adapter(struct device_facts *f, const char *device_path)
{
	char link[PATH_MAX], physfn[32];

	if (f->pci_address[0]) {
		snprintf(physfn, sizeof(physfn), "%s", f->pci_address);
		snprintf(link, sizeof(link), "/sys/bus/pci/devices/%s/physfn", f->pci_address);
		link_basename(physfn, sizeof(physfn), link);
		physfn[strcspn(physfn, ".")] = '\0';
		STRSCPY(f->adapter, physfn);
	} else {
		const char *slash = strrchr(device_path, '/');

		STRSCPY(f->adapter, slash ? slash + 1 : device_path);
	}
}

static void find_parent(struct device_facts *f)
{
	char path[PATH_MAX], device[PATH_MAX], number[16];

	snprintf(path, sizeof(path), IB_CLASS "/%s/device", f->name);
	if (!realpath(path, device)) {
		STRSCPY(f->adapter, "software");
		return;
	}
	nearest_pci(device, f->pci_address, sizeof(f->pci_address));
	find_adapter(f, device);
	snprintf(path, sizeof(path), IB_CLASS "/%s/device/driver", f->name);
	link_basename(f->driver, sizeof(f->driver), path);
	if (read_attr(number, sizeof(number), "%s/numa_node", device) == 0 &&
		isdigit((unsigned char)number[0]))
		f->numa_node = (int32_t)strtol(number, NULL, 10);
}

/* rxe shows the netdev that it runs on; siw is the only iWARP driver without a parent device. */
static void find_link_type(struct device_facts *f)
{
	char netdev[64];

	if (read_attr(netdev, sizeof(netdev), IB_CLASS "/%s/parent", f->name) == 0) {
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

/* uverbsN has no relation to the device's number or name: ask each for its "ibdev". */
static void find_uverbs(struct device_facts *f)
{
	_cleanup_(closedirp) DIR *dir = opendir(UVERBS);
	struct dirent *de;
	char ibdev[RDMA_NAME_MAX];

	if (!dir)
		return;
	while ((de = readdir(dir))) {
		if (strncmp(de->d_name, "uverbs", strlen("uverbs")) != 0)
			continue;
		if (read_attr(ibdev, sizeof(ibdev), UVERBS "/%s/ibdev", de->d_name) == 0 &&
			streq(ibdev, f->name)) {
			STRSCPY(f->uverbs, de->d_name);
			return;
		}
	}
}

void sysfs_complete_device(struct device_facts *f)
{
	char text[64], *name;

	/* "1: CA": the word behind the number. */
	if (read_attr(text, sizeof(text), IB_CLASS "/%s/node_type", f->name) == 0) {
		name = strchr(text, ':');
		STRSCPY(f->node_type, name ? strstrip(name + 1) : text);
	}
	read_attr(f->board_id, sizeof(f->board_id), IB_CLASS "/%s/board_id", f->name);
	find_parent(f);
	find_link_type(f);
	find_uverbs(f);
}

int sysfs_parse_rate(const char *text, struct port_facts *f)
{
	char gbps[32], width[sizeof(f->width)] = "", speed[sizeof(f->speed)] = "";
	uint64_t mbps;
	int r;

	/* Newer kernels add the speed's name, older ones give the width only. */
	if (sscanf(text, "%24[0-9.] Gb/sec (%7[0-9X] %15[A-Z0-9])", gbps, width, speed) < 1)
		return -EINVAL;
	if (!strchr(text, 'G') || strlen(gbps) > sizeof(gbps) - 8)
		return -EINVAL;
	strcat(gbps, "Gb/s");
	r = parse_rate(gbps, &mbps);
	if (r < 0)
		return r;
	f->rate_mbps = mbps;
	STRSCPY(f->width, width);
	STRSCPY(f->speed, speed);
	return 0;
}

void sysfs_complete_port(const char *device, struct port_facts *f)
{
	char text[64];
	int layer;

	if (read_attr(text, sizeof(text), IB_CLASS "/%s/ports/%u/link_layer", device, f->number) ==
		0) {
		layer = link_layer_from_string(text);
		f->link_layer = layer < 0 ? LINK_LAYER_UNKNOWN : (enum link_layer)layer;
	}
	/* EINVAL when the width is not set: then the rate is not known. */
	if (read_attr(text, sizeof(text), IB_CLASS "/%s/ports/%u/rate", device, f->number) == 0)
		sysfs_parse_rate(text, f);
}

static bool is_core_module(const char *name)
{
	static const char *const core[] = { "ib_uverbs", "ib_umad", "ib_cm", "iw_cm", "rdma_cm",
		"rdma_ucm", "ib_ipoib", "ib_iser", "ib_isert", "ib_srp", "ib_srpt", "rpcrdma",
		"rds_rdma", "nvme_rdma", "nvmet_rdma", "smc", "ksmbd", "cifs", "rtrs_core",
		"rtrs_client", "rtrs_server" };

	for (size_t i = 0; i < ARRAY_SIZE(core); i++)
		if (streq(core[i], name))
			return true;
	return false;
}

int sysfs_driver_refcounts(uint64_t *ret)
{
	_cleanup_(closedirp) DIR *dir = opendir("/sys/module/ib_core/holders");
	struct dirent *de;
	uint64_t sum = 0, n;
	bool any = false;
	char text[32];

	if (!dir)
		return -ENODATA;
	while ((de = readdir(dir))) {
		if (de->d_name[0] == '.' || is_core_module(de->d_name))
			continue;
		if (read_attr(text, sizeof(text), "/sys/module/%s/refcnt", de->d_name) < 0 ||
			parse_u64(text, &n) < 0)
			continue;
		sum += n;
		any = true;
	}
	if (!any)
		return -ENODATA;
	*ret = sum;
	return 0;
}
