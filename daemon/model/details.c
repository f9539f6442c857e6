/* SPDX-License-Identifier: MIT */
#include "details.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>

#include "macros.h"

static const char *const gid_type_table[_GID_TYPE_MAX] = {
	[GID_TYPE_IB] = "IB",
	[GID_TYPE_ROCE_V1] = "RoCE v1",
	[GID_TYPE_ROCE_V2] = "RoCE v2",
};
DEFINE_STRING_TABLE(gid_type, enum gid_type)

static const char *const counter_source_table[_COUNTER_SOURCE_MAX] = {
	[COUNTER_HW] = "hw",
	[COUNTER_PMA] = "pma",
};
DEFINE_STRING_TABLE(counter_source, enum counter_source)

static const char *const qos_trust_table[_QOS_TRUST_MAX] = {
	[QOS_TRUST_PCP] = "pcp",
	[QOS_TRUST_DSCP] = "dscp",
};
DEFINE_STRING_TABLE(qos_trust, enum qos_trust)

static const char *const dcbx_owner_table[_DCBX_OWNER_MAX] = {
	[DCBX_NONE] = "none",
	[DCBX_HOST] = "host",
	[DCBX_FIRMWARE] = "firmware",
};
DEFINE_STRING_TABLE(dcbx_owner, enum dcbx_owner)

struct device_details device_details_unknown(uint32_t device_index)
{
	return (struct device_details){
		.device_index = device_index,
		.is_vf = -1,
		.gpu_hops = -1,
	};
}

struct setting_facts setting_facts_unknown(uint32_t device_index, uint32_t port)
{
	return (struct setting_facts){
		.device_index = device_index,
		.port = port,
		.adaptive_moderation = -1,
		.roce_mode = GID_TYPE_UNKNOWN,
		.roce_tos = -1,
		.optional_error = -ENODATA,
	};
}

struct qos_facts qos_facts_unknown(uint32_t ifindex, const char *name)
{
	struct qos_facts f = {
		.pause_tx_frames = UINT64_MAX,
		.pause_rx_frames = UINT64_MAX,
		.ifindex = ifindex,
		.pfc = -1,
		.pause_autoneg = -1,
		.pause_rx = -1,
		.pause_tx = -1,
	};

	memset(f.prio_class, -1, sizeof(f.prio_class));
	memset(f.class_bandwidth, -1, sizeof(f.class_bandwidth));
	memset(f.class_algorithm, -1, sizeof(f.class_algorithm));
	STRSCPY(f.name, name);
	return f;
}

struct link_facts link_facts_unknown(uint32_t ifindex)
{
	return (struct link_facts){ .ifindex = ifindex, .state = -1, .substate = -1 };
}

struct vf_policy vf_policy_unknown(uint32_t device_index)
{
	return (struct vf_policy){ .device_index = device_index, .vf = -1 };
}

void devlink_facts_add(struct devlink_facts *f, const struct reporter *r)
{
	f->n_all++;
	if (f->n < REPORTERS_MAX) {
		f->reporters[f->n++] = *r;
		return;
	}
	for (size_t i = 0; r->in_error == 1 && i < f->n; i++)
		if (f->reporters[i].in_error != 1) {
			f->reporters[i] = *r;
			return;
		}
}

const char *pcie_link_format(char buf[PCIE_LINK_MAX], uint32_t speed_mtps, uint32_t width)
{
	if (speed_mtps == 0 || width == 0)
		return strcpy(buf, "unknown");
	snprintf(buf, PCIE_LINK_MAX, "%" PRIu32 ".%" PRIu32 " GT/s x%" PRIu32, speed_mtps / 1000,
		speed_mtps % 1000 / 100, width);
	return buf;
}

const char *gid_format(char buf[GID_STRING_MAX], const uint8_t gid[16])
{
	return hex_groups_format(buf, gid, 16);
}

const char *gid_address_format(char buf[ADDRESS_STRING_MAX], const uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(gid, mapped, sizeof(mapped)) == 0)
		inet_ntop(AF_INET, gid + 12, buf, ADDRESS_STRING_MAX);
	else
		inet_ntop(AF_INET6, gid, buf, ADDRESS_STRING_MAX);
	return buf;
}

/* The lesser; 0 when one is not known. */
static uint32_t both_can(uint32_t a, uint32_t b)
{
	return a && b ? MIN(a, b) : 0;
}

struct pcie_link pcie_link_between(const struct pcie_hop *lower, const struct pcie_hop *upper)
{
	return (struct pcie_link){
		.lower = lower,
		.upper = upper,
		/* Both say the same; one may not say it. */
		.speed_mtps = MAX(lower->speed_mtps, upper->speed_mtps),
		.width = MAX(lower->width, upper->width),
		.max_speed_mtps = both_can(lower->max_speed_mtps, upper->max_speed_mtps),
		.max_width = both_can(lower->max_width, upper->max_width),
	};
}

int pcie_link_is_slow(const struct pcie_link *l)
{
	bool speed_known = l->speed_mtps && l->max_speed_mtps;
	bool width_known = l->width && l->max_width;

	if ((speed_known && l->speed_mtps < l->max_speed_mtps) ||
		(width_known && l->width < l->max_width))
		return 1;
	return speed_known && width_known ? 0 : -1;
}

bool pcie_link_at(const struct device_details *d, uint32_t n, struct pcie_link *ret)
{
	if (n >= PCIE_HOPS_MAX / 2 || 2 * n + 1 >= d->n_pcie)
		return false;
	*ret = pcie_link_between(&d->pcie[2 * n], &d->pcie[2 * n + 1]);
	return true;
}

unsigned pcie_slow_links(const struct device_details *d, struct pcie_link *ret_first)
{
	struct pcie_link s;
	unsigned slow = 0;

	for (uint32_t n = 0; pcie_link_at(d, n, &s); n++) {
		if (pcie_link_is_slow(&s) <= 0)
			continue;
		if (slow++ == 0 && ret_first)
			*ret_first = s;
	}
	return slow;
}
