/* SPDX-License-Identifier: MIT */
/* How wide the counters of the InfiniBand specification are (IBA 16.1.3.5). PURE. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bits at whose maximum the counter of that name in counters/ sticks; 0: of another name, or of one
 * that has 64 bits with extended counters and is not known to stick at 32 without them.
 */
uint32_t counter_pma_width(const char *name, bool extended);

/* The name of the n-th counter whose width is the same everywhere; NULL beyond the last. */
const char *counter_pma_name(size_t n);

/* 2^width - 1. width is 1 to 64. */
uint64_t counter_width_max(uint32_t width);
