/* SPDX-License-Identifier: MIT */
/* Exit statuses of the verbs that judge, check and inspect: the order of monitoring plugins. */
#pragma once

#include "reason.h"

enum check_status {
	CHECK_OK = 0,
	CHECK_DEGRADED = 1,
	CHECK_FAILED = 2,
	CHECK_UNKNOWN = 3, /* also: it could not be told */
};

enum check_status check_status_of(enum health h);
