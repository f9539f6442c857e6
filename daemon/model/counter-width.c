/* SPDX-License-Identifier: MIT */
#include "counter-width.h"

#include "macros.h"

/* 0: 64 bits in PortCountersExtended, 32 in PortCounters. */
static const struct {
	const char *name;
	uint32_t width;
} pma_widths[] = {
	{ "symbol_error", 16 },
	{ "link_error_recovery", 8 },
	{ "link_downed", 8 },
	{ "port_rcv_errors", 16 },
	{ "port_rcv_remote_physical_errors", 16 },
	{ "port_rcv_switch_relay_errors", 16 },
	{ "port_xmit_discards", 16 },
	{ "port_xmit_constraint_errors", 8 },
	{ "port_rcv_constraint_errors", 8 },
	{ "local_link_integrity_errors", 4 },
	{ "excessive_buffer_overrun_errors", 4 },
	{ "VL15_dropped", 16 },
	{ "port_xmit_wait", 32 },
	{ "port_xmit_data", 0 },
	{ "port_rcv_data", 0 },
	{ "port_xmit_packets", 0 },
	{ "port_rcv_packets", 0 },
	{ "unicast_xmit_packets", 64 },
	{ "unicast_rcv_packets", 64 },
	{ "multicast_xmit_packets", 64 },
	{ "multicast_rcv_packets", 64 },
	/* Of counters_ext/ (before Linux 4.5). */
	{ "port_unicast_xmit_packets", 64 },
	{ "port_unicast_rcv_packets", 64 },
	{ "port_multicast_xmit_packets", 64 },
	{ "port_multicast_rcv_packets", 64 },
};

uint32_t counter_pma_width(const char *name, bool extended)
{
	for (size_t i = 0; i < ARRAY_SIZE(pma_widths); i++)
		if (streq(name, pma_widths[i].name))
			return pma_widths[i].width ?: extended ? 64 : 0;
	return 0;
}

const char *counter_pma_name(size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(pma_widths); i++)
		if (pma_widths[i].width > 0 && n-- == 0)
			return pma_widths[i].name;
	return NULL;
}

uint64_t counter_width_max(uint32_t width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}
