/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "macros.h"
#include "parse.h"
#include "sysfs-attr.h"
#include "sysfs-nodes.h"
#include "sysfs-root.h"
#include "sysfs.h"

#define PORT "/sys/class/infiniband/%s/ports/%u"

/* Far above what hardware has; the names of files in a captured tree can be any number. */
#define SLOTS_MAX 4096

/* The length of a table: entries are numbered without a gap. */
static int count_slots(const char *device, uint32_t port, const char *table, uint32_t *ret)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(PORT "/%s", device, port, table);
	uint32_t n = 0, i;
	struct dirent *de;

	if (!dir)
		return -errno;
	while ((de = readdir(dir)))
		if (parse_u32(de->d_name, &i) >= 0 && i < SLOTS_MAX)
			n = MAX(n, i + 1);
	*ret = n;
	return 0;
}

/* What the attributes of all entries are read through. */
struct gid_table {
	int gids, types, netdevs;
	enum gid_type first_type; /* what "IB/RoCE v1" means on this port */
};

static void gid_table_close(struct gid_table *t)
{
	safe_close(t->gids);
	safe_close(t->types);
	safe_close(t->netdevs);
}

/* "IB/RoCE v1" is one text for two things, and iWARP ports, which have neither, say it as well. */
static enum gid_type find_first_type(const char *device, uint32_t port)
{
	_cleanup_(closep) int ib = sysfs_open_directory("/sys/class/infiniband/%s", device);
	_cleanup_(closep) int dir = sysfs_open_directory(PORT, device, port);
	char layer[32];
	int32_t type;

	if (attr_read(dir, "link_layer", layer, sizeof(layer)) < 0 ||
		attr_read_numbered(ib, "node_type", &type) < 0 || type != 1)
		return GID_TYPE_UNKNOWN;
	if (streq(layer, "InfiniBand"))
		return GID_TYPE_IB;
	return streq(layer, "Ethernet") ? GID_TYPE_ROCE_V1 : GID_TYPE_UNKNOWN;
}

static void gid_table_open(struct gid_table *t, const char *device, uint32_t port)
{
	t->gids = sysfs_open_directory(PORT "/gids", device, port);
	t->types = sysfs_open_directory(PORT "/gid_attrs/types", device, port);
	t->netdevs = sysfs_open_directory(PORT "/gid_attrs/ndevs", device, port);
	t->first_type = find_first_type(device, port);
}

/* Returns 1 with an entry that is in use, 0 for an empty one, negative errno. */
static int read_gid(const struct gid_table *t, uint32_t index, struct gid_facts *f)
{
	static const uint8_t zero[sizeof(f->gid)];
	char name[16], text[32];
	int r;

	snprintf(name, sizeof(name), "%u", index);
	r = attr_read_groups(t->gids, name, f->gid, sizeof(f->gid) / 2);
	if (r < 0)
		return r;
	/* Most are empty, and then the other two attributes say EINVAL: they are not asked. */
	if (memcmp(f->gid, zero, sizeof(zero)) == 0)
		return 0;
	f->index = index;
	if (attr_read(t->types, name, text, sizeof(text)) >= 0) {
		if (streq(text, "RoCE v2"))
			f->type = GID_TYPE_ROCE_V2;
		else if (streq(text, "IB/RoCE v1"))
			f->type = t->first_type;
	}
	(void)attr_read(t->netdevs, name, f->netdev, sizeof(f->netdev));
	return 1;
}

int sysfs_read_gids(uint32_t device_index, const char *device, uint32_t port, sysfs_gid_cb cb,
	void *user, uint32_t *ret_slots)
{
	_cleanup_(gid_table_close) struct gid_table t = { -1, -1, -1, GID_TYPE_UNKNOWN };
	uint32_t slots = 0, used = 0;
	int r, error = 0;

	r = count_slots(device, port, "gids", &slots);
	if (r < 0)
		return r;
	gid_table_open(&t, device, port);
	for (uint32_t i = 0; i < slots; i++) {
		struct gid_facts f = { .device_index = device_index, .port = port };

		r = read_gid(&t, i, &f);
		if (r < 0)
			error = r;
		if (r <= 0)
			continue;
		used++;
		r = cb(&f, user);
		if (r < 0)
			return r;
	}
	*ret_slots = slots;
	/* What could not be read may be in use: then the table is not known to be empty. */
	return used == 0 ? error : 0;
}

int sysfs_read_pkeys(uint32_t device_index, const char *device, uint32_t port, sysfs_pkey_cb cb,
	void *user, uint32_t *ret_slots)
{
	_cleanup_(closep) int dir = sysfs_open_directory(PORT "/pkeys", device, port);
	uint32_t slots = 0;
	int r, error = 0;

	r = count_slots(device, port, "pkeys", &slots);
	if (r < 0)
		return r;
	for (uint32_t first = 0; first < slots; first += PKEYS_PER_PIECE) {
		struct pkey_facts f = { .device_index = device_index,
			.port = port,
			.first = first,
			.n = MIN(slots - first, (uint32_t)PKEYS_PER_PIECE) };

		for (uint32_t i = 0; i < f.n; i++) {
			char name[16];
			uint32_t pkey = 0;

			snprintf(name, sizeof(name), "%u", first + i);
			r = attr_read_hex(dir, name, UINT16_MAX, &pkey);
			if (r < 0 && error == 0)
				error = r;
			f.pkeys[i] = (uint16_t)pkey;
		}
		r = cb(&f, user);
		if (r < 0)
			return r;
	}
	*ret_slots = slots;
	return error;
}

void sysfs_read_tables(uint32_t device_index, const char *device, uint32_t port,
	sysfs_gid_cb gid_cb, sysfs_pkey_cb pkey_cb, void *user, struct table_facts *ret)
{
	struct table_facts t = { .device_index = device_index, .port = port };

	t.gid_error = sysfs_read_gids(device_index, device, port, gid_cb, user, &t.gid_slots);
	t.pkey_error = sysfs_read_pkeys(device_index, device, port, pkey_cb, user, &t.pkey_slots);
	(void)sysfs_find_umad(device, port, t.umad, sizeof(t.umad));
	*ret = t;
}
