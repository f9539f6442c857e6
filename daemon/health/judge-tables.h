/* SPDX-License-Identifier: MIT */
/* Rules on what the tables of a port lack. For judge_port() only. */
#pragma once

#include "making.h"

/* gid-missing, device-nodes-missing (umad); to be called when it is known whether it is ignored. */
void judge_tables(struct making *mk, const struct model *m, struct port *p);
