/* SPDX-License-Identifier: MIT */
/* The one fact that plans need and nobody else: is a module loaded? */
#pragma once

#include "plan.h"

/*
 * Looks in /sys/module; user is NULL, or another directory for tests. A module that is built in and
 * has no parameters has no entry there: NONE.
 */
enum module_state look_module_state(const char *module, void *user);
