/* SPDX-License-Identifier: MIT */
/*
 * Flow control and traffic classes of a netdev, as the kernel reports them: DCB netlink (PFC, ETS,
 * the APP table, who negotiates) and ethtool netlink (802.3x pause). Read only. The requests wait
 * for the rtnl lock and the driver may ask its firmware: only workers call this.
 */
#pragma once

#include "details.h"

struct nlmsghdr;

/*
 * Reads what is in force now. Always fills in *ret; what the driver does not report, or what cannot
 * be read, stays unknown there alone. Returns 0, or the negative errno (also in ret->error) that
 * made all of it unknown; -ENODEV: there is no netdev of that index that has that name (any more).
 *
 * Trust is what the driver says it trusts first (DCB_ATTR_DCB_APP_TRUST_TABLE, kernel 6.3, few
 * drivers). From others one only learns it by the APP table: drivers trust DSCP as soon as it has
 * an entry for DSCP. No entry says nothing, and stays unknown. A vendor-specific selection algorithm
 * (255) does not fit into class_algorithm, and is unknown as well.
 */
int qos_read(uint32_t ifindex, const char *name, struct qos_facts *ret);

/*
 * What one answer says: adds it to f. False when it is another message. The message is not changed.
 * qos_parse_dcb() understands DCB_CMD_IEEE_GET and DCB_CMD_GDCBX, qos_parse_pause()
 * ETHTOOL_MSG_PAUSE_GET_REPLY.
 */
bool qos_parse_dcb(struct nlmsghdr *h, struct qos_facts *f);
bool qos_parse_pause(struct nlmsghdr *h, struct qos_facts *f);
