/* SPDX-License-Identifier: MIT */
/*
 * Network interfaces by rtnetlink. Listing is a request that waits for the rtnl lock, which a hung
 * driver may hold: only workers list. Receiving notifications never waits: rdmad itself does that.
 */
#pragma once

#include "facts.h"

typedef int (*netdev_cb)(const struct netdev_facts *f, void *user);

/* Lists all network interfaces. Returns 0, a negative errno, or what the callback returned < 0. */
int netdev_list(netdev_cb cb, void *user);

/* Notifications of RTNLGRP_LINK. */
struct netdev_monitor;

int netdev_monitor_open(struct netdev_monitor **ret);
struct netdev_monitor *netdev_monitor_close(struct netdev_monitor *m);
int netdev_monitor_fd(const struct netdev_monitor *m);

/*
 * Hands on everything that has arrived. Returns 0, or -ENOBUFS when messages were lost and only a
 * listing can tell what they said.
 */
int netdev_monitor_receive(struct netdev_monitor *m, netdev_cb cb, void *user);
