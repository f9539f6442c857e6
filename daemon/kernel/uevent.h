/* SPDX-License-Identifier: MIT */
/*
 * Kernel uevents of RDMA devices and of modules, straight from the kernel's group by libudev: they come before
 * udev has worked on them (a context must be closed at once on "remove uverbsN", DESIGN rule 2),
 * and, other than with sd_device_monitor (which swallows receive errors), an overrun is seen.
 */
#pragma once

#include "facts.h"

enum uevent_kind {
	UEVENT_DEVICE,        /* an infiniband device came, went or was renamed: list again */
	UEVENT_UVERBS_REMOVE, /* uverbsN goes: whoever holds it must let go */
	UEVENT_MODULE,        /* a kernel module was loaded or unloaded */
	UEVENT_UMAD,          /* umadN came or went; whose it is tells sysfs only */
};

struct uevent {
	enum uevent_kind kind;
	bool removed;                /* of a module: it was unloaded */
	char sysname[RDMA_NAME_MAX]; /* "rxe0", "uverbs0" */
};

struct uevent_monitor;

int uevent_monitor_open(struct uevent_monitor **ret);
struct uevent_monitor *uevent_monitor_close(struct uevent_monitor *m);
int uevent_monitor_fd(const struct uevent_monitor *m);

/*
 * Takes the next event of interest. Returns 1, 0 when none is waiting, -ENOBUFS when some were
 * lost (call again: later ones may be there).
 */
int uevent_monitor_next(struct uevent_monitor *m, struct uevent *ret);
