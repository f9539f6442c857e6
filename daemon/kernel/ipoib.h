/* SPDX-License-Identifier: MIT */
/*
 * IPoIB interfaces by rtnetlink (drivers/infiniband/ulp/ipoib/ipoib_netlink.c): what is set, for the
 * setup helper. What is in force comes with struct netdev_facts. The calls wait for the rtnl lock.
 * Errors are the kernel's own unless said.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * "ip link add NAME link PARENT type ipoib pkey PKEY". pkey 0: the parent's. The kernel loads ib_ipoib
 * by itself, and adds the membership bit. -EEXIST: the name is taken. -ENODEV:
 * there is no such parent, or it is not IPoIB. -EINVAL: the parent is a child itself, or pkey is
 * 0x8000. Several children may have one P_Key. The interface has no carrier until its partition is in
 * the port's P_Key table.
 */
int ipoib_add_child(
	const char *name, uint32_t parent_ifindex, uint16_t pkey, uint32_t *ret_ifindex);

/*
 * "ip link set NAME type ipoib mode connected|datagram". The kernel changes the MTU with it (connected:
 * to 65520). -EINVAL: the adapter, or the kernel, has datagram only. -EOPNOTSUPP: not an IPoIB interface.
 */
int ipoib_set_connected(uint32_t ifindex, bool connected);

/* "ip link set NAME type ipoib umcast 0|1". -EOPNOTSUPP: not an IPoIB interface. */
int ipoib_set_umcast(uint32_t ifindex, bool on);

/* "ip link set NAME mtu MTU". -EINVAL: more or less than the interface can do now. */
int netdev_set_mtu(uint32_t ifindex, uint32_t mtu);
