/* SPDX-License-Identifier: MIT */
/* What the setup helper does with one step. Blocks for as long as the kernel takes. */
#pragma once

#include "protocol.h"

/* Carries out a request that setup_request_check() has accepted, and reads back what came of it. */
struct setup_answer step_execute(const struct setup_request *req);
