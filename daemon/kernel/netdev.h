/* SPDX-License-Identifier: MIT */
/*
 * Network interfaces and their addresses by rtnetlink. Listing is a request that waits for the rtnl
 * lock, which a hung driver may hold: only workers list. Receiving notifications never waits: rdmad
 * itself does that.
 *
 * How one tells what a netdev is to another one:
 *
 * - A leg of a bond has facts.leg != BOND_LEG_NONE (IFLA_INFO_SLAVE_KIND is "bond"), and
 *   facts.master is the bond's ifindex. leg and mii are the bond's view of it; the kernel announces
 *   a change of them as a change of the leg, not of the bond, but is silent while the bond's
 *   downdelay or updelay runs. Legs of a bond that is not up are down. Only the driver's upper/lower
 *   relation counts: whether the adapter bonds its RDMA ports as well is not said here. Where RoCE
 *   runs on a bond, the RDMA port's netdev is the bond or one of its legs, by driver.
 * - facts.master without a leg is a bridge, a VRF, a team, an Open vSwitch.
 * - A VLAN has the kind "vlan", and facts.link is the ifindex of the netdev below, which may be a
 *   bond. The RDMA port's netdev is never the VLAN; its addresses are GIDs of the port all the same.
 * - A veth's peer is in IFLA_LINK, too, and so is the netdev below that is in another network
 *   namespace (IFLA_LINK_NETNSID, an ifindex that means something else here): both are left out.
 */
#pragma once

#include "details.h"

struct nlmsghdr;

typedef int (*netdev_cb)(const struct netdev_facts *f, void *user);
typedef int (*address_cb)(const struct address_facts *f, void *user);

/*
 * Lists all network interfaces, once the list is complete. Returns 0, a negative errno, or what the
 * callback returned < 0. -EINTR: while they were listed, some came or went, again and again; nothing
 * was handed on, and another time will do.
 */
int netdev_list(netdev_cb cb, void *user);

/* Lists the IPv4 and IPv6 addresses of all of them, likewise. */
int netdev_list_addresses(address_cb cb, void *user);

/* Notifications of RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR and RTNLGRP_IPV6_IFADDR. */
struct netdev_monitor;

int netdev_monitor_open(struct netdev_monitor **ret);
struct netdev_monitor *netdev_monitor_close(struct netdev_monitor *m);
int netdev_monitor_fd(const struct netdev_monitor *m);

/* Who gets the notifications, all of them set; what they return is not looked at. */
struct netdev_callbacks {
	netdev_cb link;
	address_cb address;
};

/*
 * Hands on everything that has arrived, in the kernel's order. Returns 0, or -ENOBUFS when messages
 * were lost and only a listing can tell what they said.
 */
int netdev_monitor_receive(
	struct netdev_monitor *m, const struct netdev_callbacks *callbacks, void *user);

/*
 * What one rtnetlink message says. False when it is of another type, or does not describe a whole
 * netdev or address. The message is not changed.
 */
bool netdev_parse_link(struct nlmsghdr *h, struct netdev_facts *ret);
bool netdev_parse_address(struct nlmsghdr *h, struct address_facts *ret);
