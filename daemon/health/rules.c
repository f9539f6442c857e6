/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <errno.h>

#include "macros.h"

static const struct rule rules[_REASON_MAX] = {
	[REASON_PORT_DOWN] = { "port-down", SEVERITY_FAILED, CLASS_LINK,
		"A port that is expected to be ACTIVE has no link." },
	[REASON_NO_SUBNET_MANAGER] = { "no-subnet-manager", SEVERITY_FAILED, CLASS_FABRIC,
		"The InfiniBand link is up, but no subnet manager has configured the port." },
	[REASON_LINK_BLIP] = { "link-blip", SEVERITY_NOTICE, CLASS_LINK,
		"The link went down and came up again between two readings." },
	[REASON_LINK_FLAPPING] = { "link-flapping", SEVERITY_DEGRADED, CLASS_LINK,
		"The link went down several times within the flap window." },
	[REASON_DEVICE_MISSING] = { "device-missing", SEVERITY_FAILED, CLASS_DEVICE,
		"A device that is configured, or was here, is not there." },
	[REASON_DEVICE_FATAL] = { "device-fatal", SEVERITY_FAILED, CLASS_DEVICE,
		"The driver reported a fatal device error and the device was not removed." },
	[REASON_DEVICE_UNRESPONSIVE] = { "device-unresponsive", SEVERITY_UNKNOWN, CLASS_DEVICE,
		"The device, its driver or its firmware does not answer within the deadline." },
	[REASON_NETDEV_MISSING] = { "netdev-missing", SEVERITY_FAILED, CLASS_SETUP,
		"A configured software link has lost the network interface that it ran on." },
	[REASON_SETUP_FAILED] = { "setup-failed", SEVERITY_DEGRADED, CLASS_SETUP,
		"A configured setting could not be put in force." },
	[REASON_SETUP_BLOCKED] = { "setup-blocked", SEVERITY_DEGRADED, CLASS_SETUP,
		"Something stands in the way of a configured setting." },
	[REASON_SETUP_DRIFTED] = { "setup-drifted", SEVERITY_NOTICE, CLASS_SETUP,
		"Somebody changed what the configuration had put in force." },
	[REASON_ASYNC_EVENTS_UNAVAILABLE] = { "async-events-unavailable", SEVERITY_NOTICE,
		CLASS_MONITOR,
		"The device is watched by netlink and reads: no verbs context is held." },
	[REASON_CONFIG_INVALID] = { "config-invalid", SEVERITY_DEGRADED, CLASS_CONFIG,
		"Lines of the configuration were wrong and were left out." },
	[REASON_PORT_UNREADABLE] = { "port-unreadable", SEVERITY_UNKNOWN, CLASS_LINK,
		"The kernel answers a reading of the port with an error." },
	[REASON_COUNTERS_UNAVAILABLE] = { "counters-unavailable", SEVERITY_NOTICE, CLASS_MONITOR,
		"A reading of counters, tables or details of the device does not come back." },
	[REASON_COUNT_MISSING] = { "count-missing", SEVERITY_FAILED, CLASS_DEVICE,
		"Fewer ports match an [Expect] section than it asks for." },
	[REASON_PORT_INCONSISTENT] = { "port-inconsistent", SEVERITY_DEGRADED, CLASS_LINK,
		"State and physical state of the port contradict, or the link keeps recovering." },
	[REASON_WIDTH_DEGRADED] = { "width-degraded", SEVERITY_DEGRADED, CLASS_LINK,
		"The link runs over fewer lanes than it did, or than MinRate= needs." },
	[REASON_SPEED_DEGRADED] = { "speed-degraded", SEVERITY_DEGRADED, CLASS_LINK,
		"The link runs at a lower speed than it did, or than MinRate= asks for." },
	[REASON_RATE_DIFFERS] = { "rate-differs", SEVERITY_NOTICE, CLASS_LINK,
		"The link runs at another rate than those of like ports." },
	[REASON_UNEXPECTED_LINK_LAYER] = { "unexpected-link-layer", SEVERITY_DEGRADED, CLASS_SETUP,
		"The port is InfiniBand where Ethernet is configured, or the reverse." },
	[REASON_LAG_DEGRADED] = { "lag-degraded", SEVERITY_DEGRADED, CLASS_LINK,
		"A bond that the port is on has lost a leg." },
	[REASON_LINK_ERRORS] = { "link-errors", SEVERITY_DEGRADED, CLASS_LINK,
		"An error counter of the port or device rises faster than its threshold." },
	[REASON_COUNTER_SATURATED] = { "counter-saturated", SEVERITY_NOTICE, CLASS_LINK,
		"An error counter is at the maximum of its width: new errors cannot be seen." },
	[REASON_PCIE_DEGRADED] = { "pcie-degraded", SEVERITY_DEGRADED, CLASS_DEVICE,
		"A PCIe link on the way to the adapter runs below what both of its ends can do." },
	[REASON_DEVICE_NODES_MISSING] = { "device-nodes-missing", SEVERITY_DEGRADED, CLASS_DEVICE,
		"The device nodes through which programs use RDMA are not there." },
	[REASON_GID_MISSING] = { "gid-missing", SEVERITY_DEGRADED, CLASS_FABRIC,
		"An address of the port's network interface has no RoCE v2 GID." },
	[REASON_DEVICE_NOT_PROBED] = { "device-not-probed", SEVERITY_NOTICE, CLASS_DEVICE,
		"A PCI function is an RDMA adapter, and no RDMA device came of it." },
	[REASON_DEVLINK_REPORTER_ERROR] = { "devlink-reporter-error", SEVERITY_DEGRADED,
		CLASS_DEVICE,
		"The adapter's driver found an error in it, and has not recovered (devlink)." },
};

const struct rule *rule_get(enum reason_id id)
{
	return &rules[id];
}

int rule_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (streq(rules[i].name, name))
			return (int)i;
	return -EINVAL;
}
