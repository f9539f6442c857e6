/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

#include "macros.h"

static const char *const link_layer_table[_LINK_LAYER_MAX] = {
	[LINK_LAYER_UNKNOWN] = "Unknown",
	[LINK_LAYER_INFINIBAND] = "InfiniBand",
	[LINK_LAYER_ETHERNET] = "Ethernet",
};
DEFINE_STRING_TABLE(link_layer, enum link_layer)

static const char *const link_type_table[_LINK_TYPE_MAX] = {
	[LINK_TYPE_RXE] = "rxe",
	[LINK_TYPE_SIW] = "siw",
};
DEFINE_STRING_TABLE(link_type, enum link_type)

static const char *const bond_leg_table[_BOND_LEG_MAX] = {
	[BOND_LEG_ACTIVE] = "active",
	[BOND_LEG_BACKUP] = "backup",
};
DEFINE_STRING_TABLE(bond_leg, enum bond_leg)

static const char *const bond_mii_table[_BOND_MII_MAX] = {
	[BOND_MII_UP] = "up",
	[BOND_MII_GOING_DOWN] = "going down",
	[BOND_MII_DOWN] = "down",
	[BOND_MII_GOING_UP] = "going up",
};
DEFINE_STRING_TABLE(bond_mii, enum bond_mii)

const char *link_type_module(enum link_type type)
{
	switch (type) {
	case LINK_TYPE_RXE:
		return "rdma_rxe";
	case LINK_TYPE_SIW:
		return "siw";
	case LINK_TYPE_NONE:
	case _LINK_TYPE_MAX:
		break;
	}
	return NULL;
}

static const char *state_word(
	const char *const *table, size_t n, int state, char buf[STATE_WORD_MAX])
{
	const char *word;

	if (state < 0)
		return NULL;
	word = strtab_to_string(table, n, state);
	if (word)
		return word;
	snprintf(buf, STATE_WORD_MAX, "unknown(%d)", state);
	return buf;
}

const char *port_state_word(int state, char buf[STATE_WORD_MAX])
{
	static const char *const table[] = {
		[PORT_STATE_DOWN] = "down",
		[PORT_STATE_INIT] = "init",
		[PORT_STATE_ARMED] = "armed",
		[PORT_STATE_ACTIVE] = "active",
	};

	return state_word(table, ARRAY_SIZE(table), state, buf);
}

const char *phys_state_word(int state, char buf[STATE_WORD_MAX])
{
	static const char *const table[] = {
		[PHYS_STATE_SLEEP] = "sleep",
		[PHYS_STATE_POLLING] = "polling",
		[PHYS_STATE_DISABLED] = "disabled",
		[PHYS_STATE_TRAINING] = "training",
		[PHYS_STATE_LINKUP] = "linkup",
		[PHYS_STATE_RECOVERY] = "recovery",
		[PHYS_STATE_TEST] = "test",
	};

	return state_word(table, ARRAY_SIZE(table), state, buf);
}

struct system_facts system_facts_unknown(void)
{
	return (struct system_facts){ .netns_exclusive = -1, .privileged_qkey = -1 };
}

void port_events_add(struct port_events *e, bool active)
{
	if (e->errs + e->actives == 0)
		e->err_first = !active;
	if (active)
		e->actives++;
	else
		e->errs++;
	e->active_latest = active;
}

struct port_facts port_facts_unknown(uint32_t device_index, uint32_t number)
{
	return (struct port_facts){
		.device_index = device_index,
		.number = number,
		.state = PORT_STATE_UNKNOWN,
		.phys_state = PHYS_STATE_UNKNOWN,
		.lid = UINT32_MAX,
		.sm_lid = UINT32_MAX,
		.lmc = UINT32_MAX,
	};
}

char *hex_groups_format(char *buf, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *p = buf;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && i % 2 == 0)
			*p++ = ':';
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 0xf];
	}
	*p = '\0';
	return buf;
}

/* RDMA_NLDEV_ATTR_DEV_PROTOCOL, include/uapi/rdma/rdma_netlink.h; of mixed ports the first one's. */
enum link_layer device_link_layer(const struct device_facts *f)
{
	if (streq(f->protocol, "ib") || streq(f->protocol, "opa"))
		return LINK_LAYER_INFINIBAND;
	return streq(f->protocol, "roce") || streq(f->protocol, "iw") ? LINK_LAYER_ETHERNET
								      : LINK_LAYER_UNKNOWN;
}

const char *guid_format(char buf[GUID_STRING_MAX], uint64_t guid)
{
	uint64_t order = htobe64(guid);
	uint8_t bytes[sizeof(order)];

	if (guid == 0) {
		buf[0] = '\0';
		return buf;
	}
	memcpy(bytes, &order, sizeof(bytes));
	return hex_groups_format(buf, bytes, sizeof(bytes));
}

const char *rate_format(char buf[RATE_STRING_MAX], const struct port_facts *facts)
{
	uint64_t mbps = facts->rate_mbps;
	int n;

	if (mbps == 0)
		return strcpy(buf, "unknown");
	if (mbps % 1000)
		n = snprintf(buf, RATE_STRING_MAX, "%" PRIu64 ".%" PRIu64 " Gb/s", mbps / 1000,
			mbps % 1000 / 100);
	else
		n = snprintf(buf, RATE_STRING_MAX, "%" PRIu64 " Gb/s", mbps / 1000);
	if (facts->width[0])
		snprintf(buf + n, RATE_STRING_MAX - (size_t)n, " (%s%s%s)", facts->width,
			facts->speed[0] ? " " : "", facts->speed);
	return buf;
}
