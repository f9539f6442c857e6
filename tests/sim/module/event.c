// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: asynchronous events, alone or in bursts.
 */
#include <linux/delay.h>
#include <linux/sched/signal.h>

#include "rdmasim.h"

#define RDMASIM_MAX_EVENT_LIST	16
#define RDMASIM_MAX_BURST	10000000

static const struct {
	const char *name;
	enum ib_event_type type;
	bool device;	/* about the device, not a port */
} rdmasim_events[] = {
	{ "PORT_ERR",		IB_EVENT_PORT_ERR },
	{ "PORT_ACTIVE",	IB_EVENT_PORT_ACTIVE },
	{ "LID_CHANGE",		IB_EVENT_LID_CHANGE },
	{ "PKEY_CHANGE",	IB_EVENT_PKEY_CHANGE },
	{ "SM_CHANGE",		IB_EVENT_SM_CHANGE },
	{ "CLIENT_REREGISTER",	IB_EVENT_CLIENT_REREGISTER },
	{ "GID_CHANGE",		IB_EVENT_GID_CHANGE },
	{ "DEVICE_FATAL",	IB_EVENT_DEVICE_FATAL, true },
};

/**
 * struct rdmasim_burst - what one event command asks for
 * @list: indices into rdmasim_events, taken in turn
 * @len: how many of them
 * @count: events for each port
 * @rate: events in a second for each port, 0 for as fast as it goes
 * @apply: change the port's state to what the event says
 */
struct rdmasim_burst {
	int list[RDMASIM_MAX_EVENT_LIST];
	u32 len;
	u32 count;
	u32 rate;
	bool apply;
};

/**
 * rdmasim_event - send an event
 * @sdev: a device that cannot begin to be unregistered meanwhile
 * @port: the port, 0 for the device
 * @type: the event
 */
void rdmasim_event(struct rdmasim_dev *sdev, u32 port, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &sdev->ibdev,
		.element.port_num = port,
		.event = type,
	};

	spin_lock(&sdev->lock);
	sdev->ports[port].events++;
	spin_unlock(&sdev->lock);
	ib_dispatch_event(&event);
}

static void rdmasim_event_apply(struct rdmasim_dev *sdev, u32 port,
				enum ib_event_type type)
{
	struct rdmasim_port *p = &sdev->ports[port];

	if (type == IB_EVENT_PORT_ERR) {
		spin_lock(&sdev->lock);
		p->state = IB_PORT_DOWN;
		p->phys_state = IB_PORT_PHYS_STATE_POLLING;
		spin_unlock(&sdev->lock);
		rdmasim_count_link_down(sdev, port);
	} else if (type == IB_EVENT_PORT_ACTIVE) {
		spin_lock(&sdev->lock);
		p->state = IB_PORT_ACTIVE;
		p->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
		spin_unlock(&sdev->lock);
	}
}

static int rdmasim_event_list(struct rdmasim_cmd *cmd, char *names,
			      struct rdmasim_burst *burst)
{
	char *name;
	int i;

	while ((name = strsep(&names, ","))) {
		for (i = 0; i < ARRAY_SIZE(rdmasim_events); i++)
			if (!strcmp(rdmasim_events[i].name, name))
				break;
		if (i == ARRAY_SIZE(rdmasim_events)) {
			rdmasim_say(cmd, "no event is called '%s'", name);
			return -EINVAL;
		}
		if (burst->len == RDMASIM_MAX_EVENT_LIST) {
			rdmasim_say(cmd, "a list has at most %d events",
				    RDMASIM_MAX_EVENT_LIST);
			return -E2BIG;
		}
		burst->list[burst->len++] = i;
	}
	burst->count = burst->len;
	return 0;
}

static int rdmasim_event_words(struct rdmasim_cmd *cmd,
			       struct rdmasim_burst *burst)
{
	char *word, *value;
	int i, err;

	for (i = 2; i < cmd->argc; i++) {
		word = cmd->argv[i];
		value = rdmasim_key(word);
		if (value && !strcmp(word, "count")) {
			err = kstrtou32(value, 0, &burst->count);
			if (!err && burst->count > RDMASIM_MAX_BURST)
				err = -ERANGE;
		} else if (value && !strcmp(word, "rate")) {
			err = kstrtou32(value, 0, &burst->rate);
		} else if (value && !strcmp(word, "apply")) {
			err = kstrtobool(value, &burst->apply);
		} else {
			rdmasim_say(cmd, "event knows no '%s'", word);
			return -EINVAL;
		}
		if (err) {
			rdmasim_say(cmd, "bad value in %s=%s", word, value);
			return err;
		}
	}
	return 0;
}

static void rdmasim_event_once(struct rdmasim_dev *sdev, u32 port,
			       const struct rdmasim_burst *burst, u32 turn)
{
	int i = burst->list[turn % burst->len];
	u32 p;

	if (rdmasim_events[i].device) {
		rdmasim_event(sdev, port, rdmasim_events[i].type);
		return;
	}
	for (p = 1; p <= sdev->num_ports; p++) {
		if (port && p != port)
			continue;
		if (burst->apply)
			rdmasim_event_apply(sdev, p, rdmasim_events[i].type);
		rdmasim_event(sdev, p, rdmasim_events[i].type);
	}
}

/* Sleeps until it is @turn's time; the schedule does not drift. */
static int rdmasim_event_pace(struct rdmasim_dev *sdev, ktime_t start, u32 turn,
			      u32 rate)
{
	s64 wait_us;

	if (READ_ONCE(sdev->dying))
		return -ENODEV;
	if (signal_pending(current))
		return -EINTR;
	if (!rate) {
		cond_resched();
		return 0;
	}
	wait_us = div_u64((u64)turn * USEC_PER_SEC, rate) -
		  ktime_us_delta(ktime_get(), start);
	if (wait_us > 20000)
		wait_event_interruptible_timeout(sdev->released,
						 READ_ONCE(sdev->dying),
						 usecs_to_jiffies(wait_us));
	else if (wait_us > 10)
		usleep_range(wait_us, wait_us + 10);
	return 0;
}

/**
 * rdmasim_cmd_event - event NAME[/PORT] EVENT[,EVENT...] [KEY=VALUE...]
 * @cmd: the command
 *
 * Without apply=1 the ports stay as they are: a blip that no query sees.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_event(struct rdmasim_cmd *cmd)
{
	struct rdmasim_burst burst = {};
	struct rdmasim_dev *sdev;
	ktime_t start;
	u32 port, i;
	int err;

	if (cmd->argc < 2) {
		rdmasim_say(cmd, "usage: event NAME[/PORT] EVENT[,EVENT...] [count=N] [rate=N] [apply=1]");
		return -EINVAL;
	}
	err = rdmasim_event_list(cmd, cmd->argv[1], &burst);
	if (!err)
		err = rdmasim_event_words(cmd, &burst);
	if (err)
		return err;
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);

	start = ktime_get();
	for (i = 0; i < burst.count; i++) {
		err = rdmasim_event_pace(sdev, start, i, burst.rate);
		if (err) {
			rdmasim_say(cmd, "stopped after %u events", i);
			break;
		}
		rdmasim_event_once(sdev, port, &burst, i);
	}
	rdmasim_put(sdev);
	return err;
}
