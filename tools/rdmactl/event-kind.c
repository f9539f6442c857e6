/* SPDX-License-Identifier: MIT */
#include "event-kind.h"

#include <errno.h>

#include "macros.h"
#include "message-ids.h"

static const struct {
	const char *message_id;
	enum event_kind kind;
} records[] = {
	{ RDMAD_MESSAGE_PORT_DOWN, EVENT_STATE },
	{ RDMAD_MESSAGE_NO_SUBNET_MANAGER, EVENT_STATE },
	{ RDMAD_MESSAGE_LINK_BLIP, EVENT_STATE },
	{ RDMAD_MESSAGE_LINK_FLAPPING, EVENT_STATE },
	{ RDMAD_MESSAGE_DEVICE_MISSING, EVENT_STATE },
	{ RDMAD_MESSAGE_DEVICE_FATAL, EVENT_STATE },
	{ RDMAD_MESSAGE_DEVICE_UNRESPONSIVE, EVENT_STATE },
	{ RDMAD_MESSAGE_NETDEV_MISSING, EVENT_STATE },
	{ RDMAD_MESSAGE_SETUP_FAILED, EVENT_STATE },
	{ RDMAD_MESSAGE_SETUP_BLOCKED, EVENT_STATE },
	{ RDMAD_MESSAGE_SETUP_DRIFTED, EVENT_STATE },
	{ RDMAD_MESSAGE_ASYNC_EVENTS_UNAVAILABLE, EVENT_STATE },
	{ RDMAD_MESSAGE_CONFIG_INVALID, EVENT_STATE },
	{ RDMAD_MESSAGE_PORT_UNREADABLE, EVENT_STATE },
	{ RDMAD_MESSAGE_COUNTERS_UNAVAILABLE, EVENT_STATE },
	{ RDMAD_MESSAGE_COUNT_MISSING, EVENT_STATE },
	{ RDMAD_MESSAGE_PORT_INCONSISTENT, EVENT_STATE },
	{ RDMAD_MESSAGE_WIDTH_DEGRADED, EVENT_STATE },
	{ RDMAD_MESSAGE_SPEED_DEGRADED, EVENT_STATE },
	{ RDMAD_MESSAGE_RATE_DIFFERS, EVENT_STATE },
	{ RDMAD_MESSAGE_UNEXPECTED_LINK_LAYER, EVENT_STATE },
	{ RDMAD_MESSAGE_LAG_DEGRADED, EVENT_STATE },
	{ RDMAD_MESSAGE_LINK_ERRORS, EVENT_STATE },
	{ RDMAD_MESSAGE_COUNTER_SATURATED, EVENT_STATE },
	{ RDMAD_MESSAGE_PCIE_DEGRADED, EVENT_STATE },
	{ RDMAD_MESSAGE_DEVICE_NODES_MISSING, EVENT_STATE },
	{ RDMAD_MESSAGE_GID_MISSING, EVENT_STATE },
	{ RDMAD_MESSAGE_DEVICE_NOT_PROBED, EVENT_STATE },
	{ RDMAD_MESSAGE_DEVLINK_REPORTER_ERROR, EVENT_STATE },
	{ RDMAD_MESSAGE_RECOVERED, EVENT_STATE },
	{ RDMAD_MESSAGE_LINK_STORM, EVENT_STATE },
	{ RDMAD_MESSAGE_INVENTORY, EVENT_INVENTORY },
	{ RDMAD_MESSAGE_CONFIG, EVENT_CONFIG },
	{ RDMAD_MESSAGE_ADMIN, EVENT_ADMIN },
	{ RDMAD_MESSAGE_RESTART, EVENT_ADMIN },
};

static const char *const names[_EVENT_KIND_MAX] = {
	[EVENT_STATE] = "state",
	[EVENT_INVENTORY] = "inventory",
	[EVENT_CONFIG] = "config",
	[EVENT_ADMIN] = "admin",
};

const char *event_kind_name(enum event_kind kind)
{
	return kind < _EVENT_KIND_MAX ? names[kind] : NULL;
}

const char *event_message_id(size_t n, enum event_kind *ret_kind)
{
	if (n >= ARRAY_SIZE(records))
		return NULL;
	*ret_kind = records[n].kind;
	return records[n].message_id;
}

enum event_kind event_kind_of(const char *message_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		if (streq(records[i].message_id, message_id))
			return records[i].kind;
	return _EVENT_KIND_MAX;
}

unsigned event_kinds_all(void)
{
	unsigned all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		all |= 1u << records[i].kind;
	return all;
}

static unsigned bit_of(const char *word)
{
	for (unsigned i = 0; i < _EVENT_KIND_MAX; i++)
		if (streq(names[i], word))
			return 1u << i;
	return 0;
}

int event_kinds_parse(const char *s, unsigned *ret, char **ret_wrong)
{
	unsigned kinds = 0;

	for (;;) {
		size_t n = strcspn(s, ",");
		_cleanup_(freep) char *word = strndup(s, n);
		unsigned bit = word ? bit_of(word) : 0;

		if (!word)
			return -ENOMEM;
		if (!bit) {
			*ret_wrong = TAKE_PTR(word);
			return -EINVAL;
		}
		kinds |= bit;
		if (!s[n])
			break;
		s += n + 1;
	}
	*ret = kinds;
	return 0;
}
