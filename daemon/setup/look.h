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
