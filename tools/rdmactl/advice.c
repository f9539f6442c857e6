/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include "macros.h"

/* Only what no shell touches, and no option either: the words come from the kernel. */
static bool is_plain(const char *s)
{
	return s && *s && *s != '-' &&
	       strspn(s,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@%+-") ==
		       strlen(s);
}

static bool of_counters(const char *reason)
{
	return streq(reason, "link-errors") || streq(reason, "counter-saturated") ||
	       streq(reason, "port-inconsistent");
}

/* What was wanted comes from somewhere. */
static bool of_rate(const char *reason)
{
	return streq(reason, "width-degraded") || streq(reason, "speed-degraded") ||
	       streq(reason, "unexpected-link-layer");
}

bool advice_command(const struct object *o, const char *reason, char *buf, size_t size)
{
	const char *netdev = json_text(o->json, "NetDevice");
	const char *device = json_text(o->device, "Name");
	const char *pci = json_text(o->device, "PciAddress");
	const char *layer = json_text(o->json, "LinkLayer");
	uint64_t port = 1;

	json_number(o->json, "Number", &port);
	if (!reason)
		reason = "";

	if (streq(reason, "port-down") && is_plain(device) && layer && streq(layer, "InfiniBand"))
		snprintf(buf, size, "rdma link show %s/%llu", device, (unsigned long long)port);
	else if (streq(reason, "port-down") && is_plain(netdev))
		snprintf(buf, size, "ip -s -d link show dev %s", netdev);
	else if (streq(reason, "no-subnet-manager") && is_plain(device))
		snprintf(buf, size, "sminfo -C %s -P %llu", device, (unsigned long long)port);
	else if (streq(reason, "device-missing") && is_plain(pci))
		snprintf(buf, size, "lspci -nnk -s %s", pci);
	else if ((streq(reason, "device-unresponsive") || streq(reason, "device-fatal")) &&
		 is_plain(pci))
		snprintf(buf, size, "journalctl -k -b -g %s", pci);
	else if (streq(reason, "netdev-missing"))
		snprintf(buf, size, "ip -br link");
	else if (streq(reason, "config-invalid"))
		snprintf(buf, size, "rdmactl verify");
	else if (strncmp(reason, "setup-", strlen("setup-")) == 0)
		snprintf(buf, size, "rdmactl plan");
	else if (streq(reason, "count-missing"))
		snprintf(buf, size, "rdmactl list");
	else if (streq(reason, "gid-missing") && is_plain(netdev))
		snprintf(buf, size, "ip address show dev %s", netdev);
	else if (streq(reason, "device-nodes-missing"))
		snprintf(buf, size, "ls -l /dev/infiniband");
	else if (streq(reason, "pcie-degraded") && is_plain(device))
		snprintf(buf, size, "rdmactl topo %s", device);
	else if (of_counters(reason) && is_plain(o->name))
		snprintf(buf, size, "rdmactl counters %s", o->name);
	else if (streq(reason, "link-flapping") && is_plain(o->name))
		snprintf(buf, size, "rdmactl events %s", o->name);
	else if (of_rate(reason) && is_plain(o->name))
		snprintf(buf, size, "rdmactl explain %s", o->name);
	else if (o->kind == OBJECT_HOST)
		snprintf(buf, size, "journalctl -x -b -u rdmad");
	else if (is_plain(o->name))
		snprintf(buf, size, "journalctl -x -b RDMAD_OBJECT=%s", o->name);
	else
		return false;
	return true;
}
