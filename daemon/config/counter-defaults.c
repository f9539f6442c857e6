/* SPDX-License-Identifier: MIT */
/*
 * What rdmad thinks of each counter without any configuration. Two questions: does it blame this
 * link (then there is a threshold), and how fast may it rise on a good one? Numbers are measured
 * practice of others where there is any, named with each. rdmad.conf(5) shows this table.
 */
#include <math.h>

#include "counter-rule.h"
#include "macros.h"
#include "selector.h"

#define ANY_SOURCE _COUNTER_SOURCE_MAX

#define S USEC_PER_SEC
#define M USEC_PER_MINUTE
#define H USEC_PER_HOUR

static const struct {
	enum counter_source source;
	const char *glob;
	struct counter_rule rule;
} defaults[] = {
	/* Limits of NVIDIA's PDR plugin for UFM (ufm_sdk_3.0, README): BER 1e-14 over 12 minutes,
	 * 1e-15 over 125 minutes. */
	{ COUNTER_PMA, "symbol_error",
		{ ALARM_DEGRADED, false, 2,
			{ { 720 * S, 0, 0, 1e-14 }, { 7500 * S, 0, 0, 1e-15 } } } },
	/* NVSentinel's rule. */
	{ COUNTER_PMA, "link_error_recovery", { ALARM_DEGRADED, false, 1, { { M, 5, M, 0 } } } },
	/* error_thresholds of infiniband-diags has 10 in all: so many a minute are too many. */
	{ COUNTER_PMA, "port_rcv_errors", { ALARM_DEGRADED, false, 1, { { M, 10, M, 0 } } } },
	/* 4 bits: they are at their end before any rate could be taken. */
	{ COUNTER_PMA, "local_link_integrity_errors",
		{ ALARM_DEGRADED, false, 1, { { H, 0, 0, 0 } } } },
	{ COUNTER_PMA, "excessive_buffer_overrun_errors",
		{ ALARM_DEGRADED, false, 1, { { H, 0, 0, 0 } } } },
	/* IBSWCountLimits: a partition that is set up wrongly, at one end. */
	{ COUNTER_PMA, "port_*_constraint_errors", { ALARM_NOTICE, false, 1, { { H, 0, 0, 0 } } } },
	/* A queue pair broke: often because its peer died. */
	{ COUNTER_HW, "req_transport_retries_exceeded",
		{ ALARM_NOTICE, false, 1, { { H, 0, 0, 0 } } } },
	{ COUNTER_HW, "retry_exceeded_err", { ALARM_NOTICE, false, 1, { { H, 0, 0, 0 } } } },
	{ COUNTER_HW, "max_retry_exceeded", { ALARM_NOTICE, false, 1, { { H, 0, 0, 0 } } } },
	/* efa, of the device: its firmware took a command and never answered. Whoever watches for
	 * that calls it critical at once. */
	{ COUNTER_HW, "no_completion_cmds", { ALARM_FAILED, false, 1, { { H, 0, 0, 0 } } } },
	/* Falls of the link are judged as such; at its end the counter does not see them any more. */
	{ ANY_SOURCE, "link_downed",
		{ .watch_end = true, .why_none = "counted as falls of the link" } },
	/* Information: it blames somebody else, or nobody. */
	{ COUNTER_PMA, "port_rcv_remote_physical_errors",
		{ .why_none = "the fault is elsewhere in the fabric" } },
	{ COUNTER_PMA, "port_rcv_switch_relay_errors", { .why_none = "can be normal" } },
	{ COUNTER_PMA, "port_xmit_discards",
		{ .why_none = "congestion, or a peer that was down" } },
	{ COUNTER_PMA, "port_xmit_wait", { .why_none = "congestion" } },
	{ COUNTER_PMA, "VL15_dropped", { .why_none = "small numbers are harmless" } },
	{ COUNTER_PMA, "*_data", { .why_none = "traffic" } },
	{ COUNTER_PMA, "*_packets", { .why_none = "traffic" } },
	{ COUNTER_HW, "*cnp*", { .why_none = "congestion control at work" } },
	{ COUNTER_HW, "*CNP*", { .why_none = "congestion control at work" } },
	{ COUNTER_HW, "*ecn_marked*", { .why_none = "congestion control at work" } },
	{ COUNTER_HW, "RxECNMrkd", { .why_none = "congestion control at work" } },
};

bool counter_default(enum counter_source source, const char *name, struct counter_rule *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if ((defaults[i].source == source || defaults[i].source == ANY_SOURCE) &&
			glob_match(defaults[i].glob, name)) {
			*ret = defaults[i].rule;
			return true;
		}
	return false;
}

double counter_limit_allowed(const struct counter_limit *l, uint64_t rate_mbps)
{
	double bits = (double)rate_mbps * 1e6 * (double)l->window / (double)USEC_PER_SEC;

	if (l->per_bit > 0)
		/* One error is no rate, however slow the link. */
		return rate_mbps ? MAX(bits * l->per_bit, 1.0) : NAN;
	return l->per ? (double)l->count * (double)l->window / (double)l->per : (double)l->count;
}
