/* SPDX-License-Identifier: MIT */
/* The facts that plans need and nobody else: is a module loaded, and who else is at the drivers? */
#pragma once

#include "plan.h"

/*
 * Looks in /sys/module; user is NULL, or another directory for tests. A module that is built in and
 * has no parameters has no entry there: NONE.
 */
enum module_state look_module_state(const char *module, void *user);

/*
 * The unit of another driver set-up that is running at this moment, "openibd.service"; NULL: none is. A
 * oneshot unit has processes in its control group only while it works. slice is NULL, or another
 * directory than /sys/fs/cgroup/system.slice for tests.
 */
const char *look_rival(const char *slice);

/*
 * Whether a container that brings the drivers of NVIDIA adapters is here and has not said that they are
 * there: it makes a file in its root directory, which the host has there, when they are, and removes it
 * before it reloads them, or ends. root is NULL, or another directory than /run/mellanox/drivers for
 * tests.
 */
bool look_driver_container(const char *root);

/* Whether a module is one of those that every such reload takes away first. */
bool look_is_driver(const char *module);
