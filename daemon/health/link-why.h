/* SPDX-License-Identifier: MIT */
/* Words for why an Ethernet link is down, out of ethtool's extended link state. PURE. */
#pragma once

#include "details.h"

/*
 * "no cable", "cable issue: unsupported cable", "module: not ready"; returns false, and no text, when
 * the driver does not say, or in a way that is not known here. *ret_remedy: what to do.
 */
bool link_why(const struct link_facts *f, char *buf, size_t size, const char **ret_remedy);
