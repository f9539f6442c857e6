/* SPDX-License-Identifier: MIT */
/*
 * The names by which the world knows rdmad on D-Bus (DESIGN section 8), for the daemon and for
 * rdmactl. Names are forever: add, never change.
 */
#pragma once

#define BUS_NAME              "org.rdmad1"
#define BUS_ROOT_PATH         "/org/rdmad1"
#define BUS_DEVICE_PREFIX     BUS_ROOT_PATH "/device"
#define BUS_PORT_PREFIX       BUS_ROOT_PATH "/port"
#define BUS_MANAGER_INTERFACE "org.rdmad1.Manager"
#define BUS_DEVICE_INTERFACE  "org.rdmad1.Device"
#define BUS_PORT_INTERFACE    "org.rdmad1.Port"

#define BUS_ERROR_ACCESS_DENIED   "org.rdmad1.Error.AccessDenied"
#define BUS_ERROR_INVALID_ARGS    "org.rdmad1.Error.InvalidArgs"
#define BUS_ERROR_LIMITS_EXCEEDED "org.rdmad1.Error.LimitsExceeded"
#define BUS_ERROR_CONFIG_INVALID  "org.rdmad1.Error.ConfigInvalid" /* the old one stays in force */
#define BUS_ERROR_NO_SUCH_OBJECT  "org.rdmad1.Error.NoSuchObject"
#define BUS_ERROR_TIMED_OUT       "org.rdmad1.Error.TimedOut"
#define BUS_ERROR_FAILED          "org.rdmad1.Error.Failed"

/*
 * Teaches sd-bus in this process which errno each of the errors above is. Callable more than once.
 * 0 or -ENOMEM.
 */
int bus_errors_register(void);
