/* SPDX-License-Identifier: MIT */
#include "expectation.h"

enum expectation port_expectation(
	const struct port *p, const struct config *c, const struct port_settings *ps)
{
	enum expect expect = ps->expect;

	if (expect == EXPECT_AUTO)
		expect = config_device_settings(c, &p->device->facts).expect;
	switch (expect) {
	case EXPECT_UP:
		return EXPECTED_BY_CONFIG;
	case EXPECT_DOWN:
	case EXPECT_ANY:
		return NOT_EXPECTED;
	case EXPECT_AUTO:
	case _EXPECT_MAX:
		break;
	}
	if (ps->link)
		return EXPECTED_BY_CONFIG;
	return p->learned ? EXPECTED_BY_HISTORY : NOT_EXPECTED;
}

bool netdev_disabled(const struct netdev *n)
{
	return n && !(n->facts.flags & IFF_UP);
}
