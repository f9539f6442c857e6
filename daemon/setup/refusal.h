/* SPDX-License-Identifier: MIT */
/* Why the kernel refuses a setting, in words that say what to do. */
#pragma once

#include "protocol.h"

/* error: the negative errno that looking at it, or setting it, came to. */
void explain_refusal(const struct setup_request *req, int error, struct setup_answer *a);
