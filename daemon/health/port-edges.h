/* SPDX-License-Identifier: MIT */
/* What is remembered of a port between its edges (edges.h tells of them). Data only. */
#pragma once

#include "reason.h"
#include "storm.h"

/* Starts zeroed. */
struct port_edges {
	struct storm storm;
	struct reason told; /* the fall that the journal was told of last */
	usec_t why_until; /* mono; why the port is down may be known until then; 0 nobody was asked */
	usec_t held_until;     /* mono; the fall is told then at the latest; 0: none is held back */
	enum health held_from; /* the port's health before that fall */
	bool why_told;         /* its records said why */
	usec_t was_active_for;
	char closed[REASON_TEXT_MAX]; /* why the fall is over, if not by the port's being up; "" */
	uint64_t falls;               /* flap_count when the storm was told of them last */
};
