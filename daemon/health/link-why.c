/* SPDX-License-Identifier: MIT */
#include "link-why.h"

#include <linux/ethtool.h>

#include "macros.h"

#define SUBSTATES_MAX 8

static const struct {
	const char *text, *remedy;
	const char *substates[SUBSTATES_MAX]; /* from 1 */
} whys[] = {
	[ETHTOOL_LINK_EXT_STATE_AUTONEG] = { "autonegotiation",
		"compare speed, FEC and autonegotiation of both ends (ethtool, ethtool --show-fec)",
		{ NULL, "no partner detected", "no acknowledgement received",
			"exchange of next page failed", "no partner detected in force mode",
			"FEC mismatch", "no common denominator" } },
	[ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE] = { "link training failed",
		"compare speed and FEC of both ends; reseat or exchange the cable",
		{ NULL, "frame lock not acquired", "timeout", "the partner is not ready",
			"remote fault" } },
	[ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH] = { "logical mismatch",
		"compare FEC and lanes of both ends (ethtool --show-fec)",
		{ NULL, "no block lock", "no alignment marker lock", "no alignment",
			"Firecode FEC is not locked", "RS FEC is not locked" } },
	[ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY] = { "bad signal integrity",
		"clean, reseat or exchange the cable",
		{ NULL, "large number of physical errors", "unsupported rate",
			"reference clock lost", "no signal (ALOS)" } },
	[ETHTOOL_LINK_EXT_STATE_NO_CABLE] = { "no cable",
		"plug a cable in, or reseat the one that is there", { NULL } },
	[ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE] = { "cable issue",
		"exchange the cable or module for one that the adapter supports",
		{ NULL, "unsupported cable", "the cable test failed" } },
	[ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE] = { "the memory of the cable or module is unreadable",
		"reseat or exchange the cable or module", { NULL } },
	[ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE] = { "calibration failed",
		"reseat or exchange the cable or module; else reset the adapter", { NULL } },
	[ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED] = { "power budget exceeded",
		"the cable or module takes more power than the slot gives: take another one",
		{ NULL } },
	[ETHTOOL_LINK_EXT_STATE_OVERHEAT] = { "module overheated",
		"look at the fans and at the airflow past the module", { NULL } },
	[ETHTOOL_LINK_EXT_STATE_MODULE] = { "module",
		"reseat or exchange the module (ethtool --show-module)", { NULL, "not ready" } },
};

bool link_why(const struct link_facts *f, char *buf, size_t size, const char **ret_remedy)
{
	const char *more = NULL;

	if (f->state < 0 || (size_t)f->state >= ARRAY_SIZE(whys))
		return false;
	if (f->substate > 0 && f->substate < SUBSTATES_MAX)
		more = whys[f->state].substates[f->substate];
	snprintf(buf, size, "%s%s%s", whys[f->state].text, more ? ": " : "", more ? more : "");
	*ret_remedy = whys[f->state].remedy;
	return true;
}
