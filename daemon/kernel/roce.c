/* SPDX-License-Identifier: MIT */
#include "roce.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "macros.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"

#define CONFIGFS "/sys/kernel/config/rdma_cm"
#define MODE     "default_roce_mode"
#define TOS      "default_roce_tos"

/* The words of configfs (ib_cache_gid_type_str()); the kernel takes no others. */
static const struct {
	enum gid_type mode;
	const char *word;
} modes[] = {
	{ GID_TYPE_ROCE_V1, "IB/RoCE v1" },
	{ GID_TYPE_ROCE_V2, "RoCE v2" },
};

int roce_prepare(const char *device)
{
	_cleanup_(closep) int dir = sysfs_open_directory(CONFIGFS);

	if (dir < 0)
		return dir == -ENOTDIR ? -ENOENT : dir;
	if (!sysfs_is_name(device))
		return -EINVAL;
	if (mkdirat(dir, device, 0755) == 0)
		return 1;
	return errno == EEXIST ? 0 : -errno;
}

void roce_drop(const char *device)
{
	_cleanup_(closep) int dir = sysfs_open_directory(CONFIGFS);

	if (dir >= 0 && sysfs_is_name(device))
		(void)unlinkat(dir, device, AT_REMOVEDIR);
}

static int open_port(const char *device, uint32_t port)
{
	int dir;

	if (!sysfs_is_name(device))
		return -EINVAL;
	dir = sysfs_open_directory(CONFIGFS "/%s/ports/%u", device, port);
	return dir == -ENOTDIR ? -ENOENT : dir;
}

int roce_read(const char *device, uint32_t port, enum gid_type *ret_mode, int *ret_tos)
{
	_cleanup_(closep) int dir = open_port(device, port);
	enum gid_type mode = GID_TYPE_UNKNOWN;
	char word[32];
	uint32_t tos;
	int r_mode, r_tos;

	if (dir < 0)
		return dir;
	r_mode = attr_read(dir, MODE, word, sizeof(word));
	for (size_t i = 0; r_mode >= 0 && i < ARRAY_SIZE(modes); i++)
		if (streq(word, modes[i].word))
			mode = modes[i].mode;
	r_tos = attr_read_u32(dir, TOS, &tos);
	if (r_mode == -ENODEV && r_tos == -ENODEV)
		return -ENODEV;
	*ret_mode = mode;
	*ret_tos = r_tos >= 0 && tos <= UINT8_MAX ? (int)tos : -1;
	return 0;
}

int roce_set_mode(const char *device, uint32_t port, enum gid_type mode)
{
	_cleanup_(closep) int dir = open_port(device, port);

	if (dir < 0)
		return dir;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].mode == mode)
			return attr_write(dir, MODE, modes[i].word);
	return -EINVAL;
}

int roce_set_tos(const char *device, uint32_t port, unsigned tos)
{
	_cleanup_(closep) int dir = open_port(device, port);
	char text[16];

	if (dir < 0)
		return dir;
	snprintf(text, sizeof(text), "%u", tos);
	return attr_write(dir, TOS, text);
}
