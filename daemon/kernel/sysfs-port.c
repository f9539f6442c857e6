/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>

#include "macros.h"
#include "parse.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"
#include "sysfs.h"

#define PORT "/sys/class/infiniband/%s/ports/%u"

/* "(4X EDR)", "(4X)" or nothing: kernels before the speed's name give the width only. */
static bool parse_lanes(const char *text, char width[8], char speed[16])
{
	int end = 0;

	if (!*text)
		return true;
	if (sscanf(text, "(%7[0-9X])%n", width, &end) == 1 && end > 0)
		return !text[end];
	end = 0;
	return sscanf(text, "(%7[0-9X] %15[A-Z0-9])%n", width, speed, &end) == 2 && end > 0 &&
	       !text[end];
}

int sysfs_parse_rate(const char *text, struct port_facts *f)
{
	char gbps[32], width[sizeof(f->width)] = "", speed[sizeof(f->speed)] = "";
	uint64_t mbps;
	int end = 0, r;

	if (sscanf(text, "%24[0-9.] Gb/sec %n", gbps, &end) != 1 || end == 0 ||
		!parse_lanes(text + end, width, speed))
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

static int read_layer(int port, struct port_facts *f)
{
	char text[32];
	int r = attr_read(port, "link_layer", text, sizeof(text));
	int layer = r < 0 ? r : link_layer_from_string(text);

	if (layer >= 0)
		f->link_layer = (enum link_layer)layer;
	return MIN(layer, 0);
}

/* EINVAL when the width is not set: then the rate is not known. */
static int read_rate(int port, struct port_facts *f)
{
	char text[64];
	int r = attr_read(port, "rate", text, sizeof(text));

	return r < 0 ? r : sysfs_parse_rate(text, f);
}

int sysfs_complete_port(const char *device, struct port_facts *f)
{
	_cleanup_(closep) int port = sysfs_open_directory(PORT, device, f->number);

	if (port < 0)
		return port;
	(void)read_layer(port, f);
	(void)read_rate(port, f);
	return 0;
}

/* ---- the netdev ---- */

/*
 * A representor of another function or port, "pf0vf3" or "c1pf0sf2": it hangs on the same PCI
 * function as the uplink "p0" and may have its number.
 */
static bool is_representor(int netdev)
{
	char name[IFNAMSIZ];

	return attr_read(netdev, "phys_port_name", name, sizeof(name)) >= 0 &&
	       (strstr(name, "vf") || strstr(name, "sf") || strncmp(name, "pf", 2) == 0 ||
		       (name[0] == 'c' && isdigit((unsigned char)name[1])));
}

/* The netdev of the parent that has the port's number, if it is only one. */
static int netdev_of_parent(const char *device, uint32_t number, char name[IFNAMSIZ])
{
	_cleanup_(closedirp) DIR *dir =
		sysfs_read_directory("/sys/class/infiniband/%s/device/net", device);
	char found[IFNAMSIZ] = "";
	struct dirent *de;

	while (dir && (de = readdir(dir))) {
		_cleanup_(closep) int netdev = -1;
		uint32_t port;

		if (de->d_name[0] == '.' || strlen(de->d_name) >= sizeof(found))
			continue;
		netdev = sysfs_open_directory(
			"/sys/class/infiniband/%s/device/net/%s", device, de->d_name);
		if (attr_read_u32(netdev, "dev_port", &port) < 0 || port != number - 1 ||
			is_representor(netdev))
			continue;
		if (found[0])
			return -ENOTUNIQ;
		STRSCPY(found, de->d_name);
	}
	if (!found[0])
		return -ENOENT;
	snprintf(name, IFNAMSIZ, "%s", found);
	return 0;
}

/*
 * The netdev whose address entry 0 of the GID table is: with a bond over two legs that is the bond,
 * which has the carrier of both. An empty table (the netdev is down) says EINVAL; then the parent's
 * netdev of that number.
 */
static void find_netdev(const char *device, struct port_facts *f)
{
	_cleanup_(closep) int table =
		sysfs_open_directory(PORT "/gid_attrs/ndevs", device, f->number);
	_cleanup_(closep) int netdev = -1;
	char name[IFNAMSIZ];

	if ((attr_read(table, "0", name, sizeof(name)) < 0 || !sysfs_is_name(name)) &&
		netdev_of_parent(device, f->number, name) < 0)
		return;
	STRSCPY(f->netdev, name);
	netdev = sysfs_open_directory("/sys/class/net/%s", name);
	(void)attr_read_u32(netdev, "ifindex", &f->netdev_index);
}

int sysfs_read_port(
	uint32_t device_index, const char *device, uint32_t number, struct port_facts *ret)
{
	_cleanup_(closep) int port = sysfs_open_directory(PORT, device, number);
	struct port_facts f = port_facts_unknown(device_index, number);
	int state, phys, rate, layer;

	if (port < 0)
		return port == -ENOENT || port == -ENOTDIR ? -ENODEV : port;
	state = attr_read_numbered(port, "state", &f.state);
	phys = attr_read_numbered(port, "phys_state", &f.phys_state);
	rate = read_rate(port, &f);
	/* All three ask the driver: when none has an answer, it is the device that has none. */
	if (state < 0 && phys < 0 && rate < 0)
		return state;
	layer = read_layer(port, &f);
	/* Of another layer these mean nothing, and RDMA netlink does not send them. */
	if (f.link_layer == LINK_LAYER_INFINIBAND || layer < 0) {
		(void)attr_read_hex(port, "lid", UINT32_MAX - 1, &f.lid);
		(void)attr_read_hex(port, "sm_lid", UINT32_MAX - 1, &f.sm_lid);
		(void)attr_read_u32(port, "lid_mask_count", &f.lmc);
	}
	if (f.link_layer != LINK_LAYER_INFINIBAND)
		find_netdev(device, &f);
	*ret = f;
	return 0;
}
