// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: sick firmware. Calls that block, take long, or fail.
 */
#include <linux/sched/signal.h>

#include "rdmasim.h"

const char * const rdmasim_point_names[RDMASIM_POINTS] = {
	[RDMASIM_QUERY_PORT]	= "query_port",
	[RDMASIM_COUNTERS]	= "counters",
	[RDMASIM_HW_COUNTERS]	= "hw_counters",
	[RDMASIM_OPEN]		= "open",
	[RDMASIM_NODE_DESC]	= "node_desc",
	[RDMASIM_BOARD_ID]	= "board_id",
};

/* Calls that concern the device as a whole keep their fault in port 0. */
static bool rdmasim_point_of_device(enum rdmasim_point point)
{
	return point == RDMASIM_OPEN || point == RDMASIM_NODE_DESC ||
	       point == RDMASIM_BOARD_ID;
}

static bool rdmasim_fault_over(struct rdmasim_dev *sdev,
			       struct rdmasim_fault *fault, u32 generation)
{
	return READ_ONCE(fault->generation) != generation ||
	       READ_ONCE(sdev->dying);
}

/**
 * rdmasim_fault - let a call suffer what has been ordered for it
 * @sdev: the device, kept alive by the caller's being inside one of its ops
 * @port: the port, 0 for the device
 * @point: which call it is
 *
 * Context: process context, sleeps, no lock of the module held.
 * Return: 0 to go on, or a negative errno. After a release the call goes on
 * and succeeds; when the device is being destroyed it fails with EIO, as
 * firmware commands do that a PCI removal aborts.
 */
int rdmasim_fault(struct rdmasim_dev *sdev, u32 port, enum rdmasim_point point)
{
	struct rdmasim_fault *fault = &sdev->ports[port].fault[point];
	struct rdmasim_fault order;
	unsigned long timeout;
	long left = 0;

	atomic64_inc(&sdev->calls[point]);

	spin_lock(&sdev->lock);
	order = *fault;
	if (order.active && order.times && !--fault->times)
		fault->active = false;
	spin_unlock(&sdev->lock);

	if (!order.active)
		return 0;

	if (order.block || order.delay_ms) {
		timeout = order.block ? MAX_SCHEDULE_TIMEOUT :
					msecs_to_jiffies(order.delay_ms);
		atomic_inc(&sdev->sleeping);
		if (order.killable)
			left = wait_event_killable_timeout(sdev->released,
				rdmasim_fault_over(sdev, fault, order.generation),
				timeout);
		else
			left = wait_event_timeout(sdev->released,
				rdmasim_fault_over(sdev, fault, order.generation),
				timeout);
		atomic_dec(&sdev->sleeping);
		if (left < 0)
			return -EINTR;
	}
	if (READ_ONCE(sdev->dying))
		return -EIO;
	return left ? 0 : -order.err;
}

static void rdmasim_fault_clear(struct rdmasim_fault *fault)
{
	fault->active = false;
	WRITE_ONCE(fault->generation, fault->generation + 1);
}

/**
 * rdmasim_fault_abort - free every sleeper because the device goes away
 * @sdev: the device
 */
void rdmasim_fault_abort(struct rdmasim_dev *sdev)
{
	spin_lock(&sdev->lock);
	WRITE_ONCE(sdev->dying, true);
	spin_unlock(&sdev->lock);
	wake_up_all(&sdev->released);
}

static int rdmasim_point(struct rdmasim_cmd *cmd, const char *name)
{
	int point = match_string(rdmasim_point_names, RDMASIM_POINTS, name);

	if (point < 0)
		rdmasim_say(cmd, "no point of fault is called '%s'", name);
	return point;
}

static int rdmasim_fault_words(struct rdmasim_cmd *cmd,
			       struct rdmasim_fault *order)
{
	char *word, *value;
	int i, err;

	for (i = 2; i < cmd->argc; i++) {
		word = cmd->argv[i];
		value = rdmasim_key(word);
		if (!value) {
			rdmasim_say(cmd, "'%s' is not KEY=VALUE", word);
			return -EINVAL;
		}
		if (!strcmp(word, "delay")) {
			err = kstrtou32(value, 0, &order->delay_ms);
		} else if (!strcmp(word, "times")) {
			err = kstrtou32(value, 0, &order->times);
		} else if (!strcmp(word, "block")) {
			err = kstrtobool(value, &order->block);
		} else if (!strcmp(word, "killable")) {
			err = kstrtobool(value, &order->killable);
		} else if (!strcmp(word, "errno")) {
			order->err = rdmasim_errno(value);
			err = order->err <= 0 ? -EINVAL : 0;
		} else {
			rdmasim_say(cmd, "fault knows no key '%s'", word);
			return -EINVAL;
		}
		if (err) {
			rdmasim_say(cmd, "bad value in %s=%s", word, value);
			return err;
		}
	}
	if (!order->block && !order->delay_ms && !order->err) {
		rdmasim_say(cmd, "a fault needs block=1, delay=MS or errno=NAME");
		return -EINVAL;
	}
	return 0;
}

/**
 * rdmasim_cmd_fault - fault NAME[/PORT] POINT KEY=VALUE...
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_fault(struct rdmasim_cmd *cmd)
{
	struct rdmasim_fault order = { .active = true }, *fault;
	struct rdmasim_dev *sdev;
	int point, err;
	u32 port, p;

	if (cmd->argc < 3) {
		rdmasim_say(cmd, "usage: fault NAME[/PORT] POINT KEY=VALUE...");
		return -EINVAL;
	}
	point = rdmasim_point(cmd, cmd->argv[1]);
	if (point < 0)
		return point;
	err = rdmasim_fault_words(cmd, &order);
	if (err)
		return err;
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	if (port && rdmasim_point_of_device(point)) {
		rdmasim_say(cmd, "%s is a matter of the device, not of a port",
			    rdmasim_point_names[point]);
		err = -EINVAL;
		goto out;
	}

	spin_lock(&sdev->lock);
	for (p = 0; p <= sdev->num_ports; p++) {
		if (port && p != port)
			continue;
		/* who sleeps in an earlier fault stays there until a release */
		fault = &sdev->ports[p].fault[point];
		order.generation = fault->generation;
		*fault = order;
	}
	spin_unlock(&sdev->lock);
out:
	rdmasim_put(sdev);
	return err;
}

static void rdmasim_release(struct rdmasim_dev *sdev, u32 port, int point)
{
	u32 p;
	int i;

	spin_lock(&sdev->lock);
	for (p = 0; p <= sdev->num_ports; p++) {
		if (port && p != port)
			continue;
		for (i = 0; i < RDMASIM_POINTS; i++)
			if (point < 0 || i == point)
				rdmasim_fault_clear(&sdev->ports[p].fault[i]);
	}
	spin_unlock(&sdev->lock);
	wake_up_all(&sdev->released);
}

/**
 * rdmasim_cmd_release - release NAME[/PORT]|all [POINT]
 * @cmd: the command
 *
 * Ends faults and lets go on who sleeps in them.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_release(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	int point = -1;
	u32 port;

	if (cmd->argc < 1 || cmd->argc > 2) {
		rdmasim_say(cmd, "usage: release NAME[/PORT]|all [POINT]");
		return -EINVAL;
	}
	if (cmd->argc == 2) {
		point = rdmasim_point(cmd, cmd->argv[1]);
		if (point < 0)
			return point;
	}
	if (!strcmp(cmd->argv[0], "all")) {
		mutex_lock(&rdmasim_lock);
		list_for_each_entry(sdev, &rdmasim_devices, entry)
			rdmasim_release(sdev, 0, point);
		mutex_unlock(&rdmasim_lock);
		return 0;
	}
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	rdmasim_release(sdev, port, point);
	rdmasim_put(sdev);
	return 0;
}
