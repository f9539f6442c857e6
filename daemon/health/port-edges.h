/* SPDX-License-Identifier: MIT */
/* What is remembered of a port between its edges (edges.h tells of them). Data only. */
#pragma once

#include "reason.h"
#include "storm.h"

/* Starts zeroed. */
struct port_edges {
	struct storm storm;
	struct reason told; /* the fall that the journal was told of last */
	usec_t was_active_for;
	char closed[REASON_TEXT_MAX]; /* why the fall is over, if not by the port's being up; "" */
	uint64_t falls;               /* flap_count when the storm was told of them last */
};
