/* SPDX-License-Identifier: MIT */
#include "look.h"

#include <errno.h>
#include <fcntl.h>

#include "macros.h"

enum module_state look_module_state(const char *module, void *user)
{
	const char *base = user ? user : "/sys/module";
	char path[512], state[16];
	_cleanup_(closep) int fd = -1;
	ssize_t n;

	if (!module_name_valid(module) || module[0] == '.')
		return MODULE_STATE_NONE;
	n = snprintf(path, sizeof(path), "%s/%s", base, module);
	if (n < 0 || (size_t)n + sizeof("/initstate") > sizeof(path))
		return MODULE_STATE_NONE;
	for (char *p = path + strlen(base); *p; p++)
		if (*p == '-')
			*p = '_';
	if (access(path, F_OK) < 0)
		return MODULE_STATE_NONE;
	strcpy(path + n, "/initstate");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		/* Only what can be unloaded has a state. It may have gone since, too. */
		return errno == ENOENT && (path[n] = '\0', access(path, F_OK)) == 0
			       ? MODULE_STATE_BUILT_IN
			       : MODULE_STATE_NONE;
	n = read(fd, state, sizeof(state) - 1);
	if (n <= 0)
		return MODULE_STATE_CHANGING;
	state[n] = '\0';
	return strncmp(state, "live", 4) == 0 ? MODULE_STATE_LIVE : MODULE_STATE_CHANGING;
}

bool look_driver_container(const char *root)
{
	char path[512];

	/* github.com/Mellanox/ofed-docker and doca-driver-build, entrypoint.sh */
	if (!root)
		root = "/run/mellanox/drivers";
	snprintf(path, sizeof(path), "%s/.driver-ready", root);
	return access(root, F_OK) == 0 && access(path, F_OK) < 0 && errno == ENOENT;
}

bool look_is_driver(const char *module)
{
	static const char *const names[] = { "ib_core", "mlx4_core", "mlx5_core", "mlx5_ib",
		"mlx_compat" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(module, names[i]))
			return true;
	return false;
}

const char *look_rival(const char *slice)
{
	/* MLNX_OFED, DOCA-OFED */
	static const char *const units[] = { "openibd.service" };
	char path[512], c;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		_cleanup_(closep) int fd = -1;

		snprintf(path, sizeof(path), "%s/%s/cgroup.procs",
			slice ? slice : "/sys/fs/cgroup/system.slice", units[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, &c, 1) == 1)
			return units[i];
	}
	return NULL;
}
