/* SPDX-License-Identifier: MIT */
/*
 * devlink, the part that everybody may read: health reporters and parameters. A request takes the lock
 * of the devlink instance, which a driver holds while it resets or reloads: only workers call this. A
 * handle is "BUS/DEVICE", as devlink(8) writes it.
 */
#pragma once

#include "details.h"

struct nlmsghdr;

/*
 * All health reporters of the handle, added to f. -ENODEV: it has no devlink instance. Before 6.7 the
 * kernel goes through those of all devices, and waits for the lock of each: better ask for known ones
 * by devlink_read_reporter().
 */
int devlink_list_reporters(const char *handle, struct devlink_facts *f);

/* The reporter of this name and port, read again. -EINVAL and others: it is gone. */
int devlink_read_reporter(const char *handle, struct reporter *r);

/*
 * A parameter that is on (1) or off (0): the value in force, or the one that the driver starts with.
 * -EINVAL: the driver has no such parameter, or it is no switch.
 */
int devlink_read_switch(const char *handle, const char *name);

/*
 * What an answer of DEVLINK_CMD_HEALTH_REPORTER_GET says, if it is of that handle; or of
 * DEVLINK_CMD_PARAM_GET, -1 where that does not say it. False: another message.
 */
bool devlink_parse_reporter(struct nlmsghdr *h, const char *handle, struct reporter *ret);
bool devlink_parse_switch(struct nlmsghdr *h, int32_t *ret);
