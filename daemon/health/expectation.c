/* SPDX-License-Identifier: MIT */
#include "expectation.h"

#include "macros.h"

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

bool port_lacks_sm(const struct port *p)
{
	return p->facts.link_layer == LINK_LAYER_INFINIBAND && p->init_since.mono;
}

usec_t port_awaited_until(const struct port *p, const struct config *c)
{
	usec_t until = usec_add(p->down_since.mono, c->down_delay_usec);

	if (p->have_facts && port_lacks_sm(p))
		until = usec_add(p->init_since.mono, c->grace_usec);
	/* A port that was never up may still be on its way; one that fell is a fact. */
	else if (!p->was_active)
		until = MAX(until, usec_add(p->first_seen.mono, c->grace_usec));
	return MAX(until, p->settle_until);
}

bool device_is_vf(const struct device *d)
{
	return d->have_details && d->details.is_vf == 1;
}

bool port_is_learnable(const struct port *p)
{
	return p->device->facts.link_type == LINK_TYPE_NONE && !device_is_vf(p->device);
}

/* Whether it is a virtual function is among the details, which may be late, or never come. */
#define DETAILS_WAIT (10 * USEC_PER_SEC)

void port_learn(struct port *p, const struct config *c, usec_t now, usec_t *ret_at)
{
	usec_t at = usec_add(MAX(p->active_since.mono, p->learn_from), c->stable_usec);

	*ret_at = USEC_INFINITY;
	if (!port_is_learnable(p))
		p->learned = false;
	if (p->learned || !port_is_learnable(p) || !port_is_active(p))
		return;
	if (!p->device->have_details)
		at = MAX(at, usec_add(p->device->first_seen.mono, DETAILS_WAIT));
	if (now >= at)
		p->learned = true;
	else
		*ret_at = at;
}

bool netdev_disabled(const struct netdev *n)
{
	return n && !(n->facts.flags & IFF_UP);
}
