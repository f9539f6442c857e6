/* SPDX-License-Identifier: MIT */
/* Which end of a link a counter blames, and so where to look (IBA 16.1.3.5, counters.md 2.7). */
#include "judge-counters.h"

#include <fnmatch.h>

#include "macros.h"

static const struct {
	const char *pattern;
	const char *remedy;
} blames[] = {
	{ "symbol_error",
		"this link: its cable or the peer's transmitter; clean, reseat or replace it" },
	{ "link_error_recovery", "this link retrains: its cable, or a transmitter at either end; "
				 "reseat or replace" },
	{ "port_rcv_errors",
		"packets come damaged over this link: its cable or the peer's transmitter" },
	{ "local_link_integrity_errors",
		"this link: its cable or the peer's transmitter (many errors close together)" },
	{ "excessive_buffer_overrun_errors", "the peer sends more than it was allowed to: look at "
					     "its firmware and at this cable" },
	{ "port_rcv_remote_physical_errors",
		"not this link: another one in the fabric marks packets as bad; look there" },
	{ "port_rcv_switch_relay_errors",
		"not this link: the switch drops packets that it cannot forward; look at routing" },
	{ "port_xmit_discards",
		"congestion, or a peer that does not take packets: look at what is behind it" },
	{ "port_*_constraint_errors",
		"P_Key mismatch: compare the partitions of both ends (subnet manager, pkeys/)" },
	{ "VL15_dropped", "management packets come faster than the port takes them" },
	{ "*retry_exceeded*",
		"a queue pair gave up: often its peer died; else look at the path to it" },
	{ "*retries_exceeded*",
		"a queue pair gave up: often its peer died; else look at the path to it" },
	{ "no_completion_cmds", "the adapter's firmware left a command without an answer: see "
				"journalctl -k; reset or replace the adapter" },
};

const char *counter_blame(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(blames); i++)
		if (fnmatch(blames[i].pattern, name, 0) == 0)
			return blames[i].remedy;
	return "see the driver's documentation for what it counts; rdmactl counters shows all";
}
