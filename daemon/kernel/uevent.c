/* SPDX-License-Identifier: MIT */
#include "uevent.h"

#include <errno.h>
#include <libudev.h>

#include "log.h"
#include "macros.h"

#define MONITOR_BUFFER (1024 * 1024)

struct uevent_monitor {
	struct udev *udev;
	struct udev_monitor *monitor;
};

struct uevent_monitor *uevent_monitor_close(struct uevent_monitor *m)
{
	if (m) {
		udev_monitor_unref(m->monitor);
		udev_unref(m->udev);
		free(m);
	}
	return NULL;
}

DEFINE_CLEANUP(struct uevent_monitor *, uevent_monitor_close)
DEFINE_CLEANUP(struct udev_device *, udev_device_unref)

int uevent_monitor_open(struct uevent_monitor **ret)
{
	static const char *const subsystems[] = { "infiniband", "infiniband_verbs",
		"infiniband_mad", "module" };
	_cleanup_(uevent_monitor_closep) struct uevent_monitor *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->udev = udev_new();
	if (!m->udev)
		return -ENOMEM;
	m->monitor = udev_monitor_new_from_netlink(m->udev, "kernel");
	if (!m->monitor)
		return errno ? -errno : -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(subsystems); i++) {
		r = udev_monitor_filter_add_match_subsystem_devtype(
			m->monitor, subsystems[i], NULL);
		if (r < 0)
			return r;
	}
	/* Best effort: forcing more than rmem_max needs CAP_NET_ADMIN. */
	r = udev_monitor_set_receive_buffer_size(m->monitor, MONITOR_BUFFER);
	if (r < 0)
		log_debug("uevents: receive buffer stays small: %s", strerror(-r));
	r = udev_monitor_enable_receiving(m->monitor);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

int uevent_monitor_fd(const struct uevent_monitor *m)
{
	return udev_monitor_get_fd(m->monitor);
}

int uevent_monitor_next(struct uevent_monitor *m, struct uevent *ret)
{
	for (;;) {
		_cleanup_(udev_device_unrefp) struct udev_device *d = NULL;
		const char *subsystem, *action, *sysname;

		errno = 0;
		d = udev_monitor_receive_device(m->monitor);
		if (!d) {
			if (errno == ENOBUFS)
				return -ENOBUFS;
			/* A message that libudev does not accept says nothing; if another waits,
			 * the descriptor stays readable. */
			if (errno != 0 && errno != EAGAIN)
				log_debug("uevents: %m");
			return 0;
		}
		subsystem = udev_device_get_subsystem(d);
		action = udev_device_get_action(d);
		sysname = udev_device_get_sysname(d);
		if (!subsystem || !action || !sysname)
			continue;
		log_debug("uevent %s %s %s", action, subsystem, sysname);
		STRSCPY(ret->sysname, sysname);
		ret->removed = streq(action, "remove");
		if (streq(subsystem, "infiniband")) {
			ret->kind = UEVENT_DEVICE;
			return 1;
		}
		if (streq(subsystem, "module")) {
			ret->kind = UEVENT_MODULE;
			return 1;
		}
		if (streq(subsystem, "infiniband_mad")) {
			if (strncmp(sysname, "umad", strlen("umad")) != 0)
				continue; /* issmN comes beside it */
			ret->kind = UEVENT_UMAD;
			return 1;
		}
		/* The node of a device in another network namespace is all that we hear of it. */
		ret->kind = ret->removed ? UEVENT_UVERBS_REMOVE : UEVENT_DEVICE;
		return 1;
	}
}
