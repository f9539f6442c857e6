/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "macros.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"
#include "sysfs.h"

bool sysfs_have_rdma(void)
{
	_cleanup_(closep) int dir = sysfs_open_directory("/sys/class/infiniband");

	return dir >= 0;
}

bool sysfs_module_present(const char *module)
{
	_cleanup_(closep) int dir = -1;
	char name[NAME_MAX + 1];

	STRSCPY(name, module);
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_'; /* the kernel's own spelling */
	dir = sysfs_open_directory("/sys/module/%s", name);
	return dir >= 0;
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
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory("/sys/module/ib_core/holders");
	struct dirent *de;
	uint64_t sum = 0, n;
	bool any = false;

	if (!dir)
		return -ENODATA;
	while ((de = readdir(dir))) {
		_cleanup_(closep) int module = -1;

		if (de->d_name[0] == '.' || is_core_module(de->d_name))
			continue;
		module = sysfs_open_directory("/sys/module/%s", de->d_name);
		if (attr_read_u64(module, "refcnt", &n) < 0)
			continue;
		sum += n;
		any = true;
	}
	if (!any)
		return -ENODATA;
	*ret = sum;
	return 0;
}
