/* SPDX-License-Identifier: MIT */
/* Inside of the room: the [Expect] sections, judged for the host. */
#pragma once

#include "making.h"

/* After every port, device and missing device was judged. */
void judge_counts(struct making *mk, const struct model *m, const struct config *c);
