/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <systemd/sd-bus.h>

#include "bus-names.h"

static const sd_bus_error_map errors[] = {
	SD_BUS_ERROR_MAP(BUS_ERROR_ACCESS_DENIED, EACCES),
	SD_BUS_ERROR_MAP(BUS_ERROR_INVALID_ARGS, EINVAL),
	SD_BUS_ERROR_MAP(BUS_ERROR_LIMITS_EXCEEDED, ENOBUFS),
	SD_BUS_ERROR_MAP(BUS_ERROR_CONFIG_INVALID, EBADMSG),
	SD_BUS_ERROR_MAP(BUS_ERROR_NO_SUCH_OBJECT, ENODEV),
	SD_BUS_ERROR_MAP(BUS_ERROR_TIMED_OUT, ETIMEDOUT),
	SD_BUS_ERROR_MAP(BUS_ERROR_FAILED, EIO),
	SD_BUS_ERROR_MAP_END,
};

int bus_errors_register(void)
{
	int r = sd_bus_error_add_map(errors);

	return r < 0 ? r : 0;
}
