/* SPDX-License-Identifier: MIT */
/*
 * Network interfaces from sysfs (Documentation/ABI/testing/sysfs-class-net, net/core/net-sysfs.c,
 * drivers/net/bonding/bond_sysfs_slave.c), for captured trees: on a live host rtnetlink says all of
 * this by one request.
 */
#include <errno.h>

#include "macros.h"
#include "parse.h"
#include "strtab.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"
#include "sysfs.h"

#define NET "/sys/class/net"

/* ARPHRD_INFINIBAND: linux/if_arp.h cannot be had beside net/if.h. */
#define TYPE_INFINIBAND 32

/* IF_OPER_* by number (RFC 2863, linux/if.h). */
static const char *const operstates[] = { "unknown", "notpresent", "down", "lowerlayerdown",
	"testing", "dormant", "up" };

#define OPERSTATE_UP 6

static int find_word(const char *const words[], size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (words[i] && streq(words[i], word))
			return (int)i;
	return -EINVAL;
}

static bool parse_address(const char *text, struct netdev_facts *f)
{
	uint8_t address[HW_ADDRESS_MAX] = { 0 };
	size_t n = 0;

	for (const char *p = text; n < sizeof(address); p += 3) {
		char digits[3] = { p[0], p[0] ? p[1] : '\0', '\0' };

		if (strspn(digits, "0123456789abcdefABCDEF") != 2)
			return false;
		address[n++] = (uint8_t)strtoul(digits, NULL, 16);
		if (p[2] == '\0') {
			memcpy(f->address, address, sizeof(f->address));
			f->address_length = (uint8_t)n;
			return true;
		}
		if (p[2] != ':')
			return false;
	}
	return false;
}

static bool read_address(int dir, const char *name, struct netdev_facts *f)
{
	char text[3 * HW_ADDRESS_MAX + 1];

	return attr_read(dir, name, text, sizeof(text)) >= 0 && parse_address(text, f);
}

/* A leg wears the bond's address; NET_ADDR_PERM is 0. */
static void read_addresses(int dir, int leg, struct netdev_facts *f)
{
	uint32_t assigned;

	f->permanent_address = read_address(leg, "perm_hwaddr", f);
	if (!f->permanent_address && read_address(dir, "address", f))
		f->permanent_address =
			attr_read_u32(dir, "addr_assign_type", &assigned) >= 0 && assigned == 0;
}

static bool is_bond(const char *netdev)
{
	_cleanup_(closep) int bonding = sysfs_open_directory(NET "/%s/bonding", netdev);

	return bonding >= 0;
}

static void read_leg(int leg, struct netdev_facts *f)
{
	/* As the kernel words them: by number of enum bond_mii. */
	static const char *const mii[] = { NULL, "up", "going down", "down", "going back" };
	char text[32];
	int r;

	if (leg < 0)
		return;
	f->leg = BOND_LEG_UNKNOWN;
	if (attr_read(leg, "state", text, sizeof(text)) >= 0) {
		r = bond_leg_from_string(text);
		if (r >= 0)
			f->leg = (uint8_t)r;
	}
	if (attr_read(leg, "mii_status", text, sizeof(text)) >= 0) {
		r = find_word(mii, ARRAY_SIZE(mii), text);
		if (r >= 0)
			f->mii = (uint8_t)r;
	}
}

/* What rtnetlink calls the kind; sysfs tells it of a few only. */
static void find_kind(int dir, struct netdev_facts *f)
{
	static const char *const known[] = { "vlan", "macvlan", "bridge", "bond", "vxlan" };
	char type[sizeof(f->kind)];

	if (attr_uevent(dir, "DEVTYPE", type, sizeof(type)) >= 0 &&
		find_word(known, ARRAY_SIZE(known), type) >= 0)
		STRSCPY(f->kind, type);
	else if (f->type == TYPE_INFINIBAND)
		STRSCPY(f->kind, "ipoib");
}

static void find_relations(int dir, struct netdev_facts *f)
{
	_cleanup_(closep) int bonding = sysfs_open_subdirectory(dir, "bonding");
	_cleanup_(closep) int master = -1;
	char other[IFNAMSIZ], mode[32];
	uint32_t link;

	find_kind(dir, f);
	if (bonding >= 0)
		STRSCPY(f->kind, "bond");
	f->lacp = attr_read(bonding, "mode", mode, sizeof(mode)) >= 0 &&
		  strncmp(mode, "802.3ad", 7) == 0;
	if (attr_link(dir, "master", other, sizeof(other)) >= 0) {
		master = sysfs_open_directory(NET "/%s", other);
		(void)attr_read_u32(master, "ifindex", &f->master);
		if (is_bond(other))
			f->leg = BOND_LEG_UNKNOWN;
	}
	/* As netdev.h has it: of those only that run on another one. */
	if ((streq(f->kind, "vlan") || streq(f->kind, "macvlan") || streq(f->kind, "ipoib")) &&
		attr_read_u32(dir, "iflink", &link) >= 0 && link != f->ifindex)
		f->link = link;
}

/*
 * Whether it is switched on, and has a carrier. The kernel answers EINVAL to "carrier" where it is
 * off, so that a tree without "flags" may say as much. False: not known.
 */
static bool read_state(int dir, struct netdev_facts *f)
{
	uint32_t carrier;
	char state[16];
	bool known;
	int r;

	if (attr_read(dir, "operstate", state, sizeof(state)) >= 0) {
		r = find_word(operstates, ARRAY_SIZE(operstates), state);
		if (r >= 0)
			f->operstate = (uint8_t)r;
	}
	known = attr_read_u32(dir, "carrier", &carrier) >= 0;
	f->carrier = known ? carrier != 0 : f->operstate == OPERSTATE_UP;
	if (attr_read_hex(dir, "flags", UINT32_MAX, &f->flags) >= 0)
		return true;
	f->flags = IFF_UP;
	return known || f->operstate == OPERSTATE_UP;
}

static void read_carrier_counts(int dir, struct netdev_facts *f)
{
	uint32_t up, down;

	if (attr_read_u32(dir, "carrier_up_count", &up) < 0 ||
		attr_read_u32(dir, "carrier_down_count", &down) < 0)
		return;
	f->have_carrier_counts = true;
	f->carrier_up_count = up;
	f->carrier_down_count = down;
}

/* Interfaces that rtnetlink made have none of these, others have; the mode only with connected mode. */
static void read_ipoib(int dir, struct netdev_facts *f)
{
	uint32_t pkey, umcast;
	char mode[16];

	if (!f->is_ipoib)
		return;
	if (attr_read_hex(dir, "pkey", UINT16_MAX, &pkey) >= 0)
		f->pkey = (uint16_t)pkey;
	if (attr_read_u32(dir, "umcast", &umcast) >= 0)
		f->ipoib_umcast = umcast != 0;
	if (attr_read(dir, "mode", mode, sizeof(mode)) >= 0)
		f->ipoib_connected = streq(mode, "connected");
}

static int list_netdev(const char *name, sysfs_netdev_cb cb, void *user)
{
	_cleanup_(closep) int dir = sysfs_open_directory(NET "/%s", name);
	_cleanup_(closep) int leg = sysfs_open_subdirectory(dir, "bonding_slave");
	struct netdev_facts f = { .ipoib_connected = -1, .ipoib_umcast = -1 };

	/* Without the number there is nothing to tell it by; unknown must not look like off. */
	if (attr_read_u32(dir, "ifindex", &f.ifindex) < 0 || f.ifindex == 0 || !read_state(dir, &f))
		return 0;
	STRSCPY(f.name, name);
	(void)attr_read_u32(dir, "type", &f.type);
	(void)attr_read_u32(dir, "mtu", &f.mtu);
	(void)attr_read(dir, "phys_port_name", f.phys_port_name, sizeof(f.phys_port_name));
	read_carrier_counts(dir, &f);
	find_relations(dir, &f);
	f.is_ipoib = streq(f.kind, "ipoib");
	read_ipoib(dir, &f);
	read_leg(leg, &f);
	read_addresses(dir, leg, &f);
	return cb(&f, user);
}

int sysfs_list_netdevs(sysfs_netdev_cb cb, void *user)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(NET);
	struct dirent *de;
	int r = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (r >= 0 && (de = readdir(dir)))
		/* "bonding_masters" is a file in there. */
		if (de->d_name[0] != '.' && strlen(de->d_name) < IFNAMSIZ)
			r = list_netdev(de->d_name, cb, user);
	return MIN(r, 0);
}
