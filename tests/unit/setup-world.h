/* SPDX-License-Identifier: MIT */
/* What the tests of settings have in common of the host that they set up. After cmocka.h. */
#pragma once

#include <linux/if.h>

#include "macros.h"
#include "model.h"

/* A netdev that is up; of IPoIB: in datagram mode, of the default partition. */
static inline void see_netdev(struct model *m, uint32_t ifindex, const char *name, bool ipoib)
{
	struct netdev_facts f = { .ifindex = ifindex, .flags = IFF_UP, .mtu = 2044 };
	uint32_t downs;

	STRSCPY(f.name, name);
	f.is_ipoib = ipoib;
	f.ipoib_connected = ipoib ? 0 : -1;
	f.ipoib_umcast = ipoib ? 0 : -1;
	f.pkey = ipoib ? 0xffff : 0;
	assert_true(model_see_netdev(m, &f, &downs) >= 0);
}
