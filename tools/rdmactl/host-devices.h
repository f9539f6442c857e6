/* SPDX-License-Identifier: MIT */
/*
 * The RDMA devices and ports of this host, or of a tree, as far as a selector of rdmad.conf asks for
 * them: from the daemon where it runs, else from sysfs, which may not answer.
 */
#pragma once

#include <jansson.h>

#include "host-root.h"
#include "rdmactl.h"

struct host_devices {
	json_t *list;       /* array as Devices[] of a description; NULL: not known */
	const char *source; /* "rdmad", "sysfs"; NULL: not known */
	bool running;       /* the daemon is */
};

void host_devices_find(struct host_devices *d, const struct options *o, const struct host_root *h);
void host_devices_done(struct host_devices *d);
