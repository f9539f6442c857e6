// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: what devlink says of a card. The first "reporter" command for one
 * of its devices gives the card a devlink instance, rdmasim/ADAPTER, so that
 * cards that nobody asks this of cost nothing.
 */
#include <linux/slab.h>
#include <net/devlink.h>

#include "rdmasim.h"

struct rdmasim_reporter {
	struct list_head entry;
	struct devlink_health_reporter_ops ops;
	struct devlink_health_reporter *health;
	char name[32];
};

/* Taken under rdmasim_lock or alone. */
static DEFINE_MUTEX(rdmasim_devlink_lock);

static const struct devlink_ops rdmasim_devlink_ops = {};

static int rdmasim_devlink_add(struct rdmasim_adapter *adapter)
{
	struct devlink *devlink;

	if (adapter->devlink)
		return 0;
	devlink = devlink_alloc(&rdmasim_devlink_ops, 0, &adapter->dev);
	if (!devlink)
		return -ENOMEM;
	devlink_register(devlink);
	adapter->devlink = devlink;
	return 0;
}

static struct rdmasim_reporter *
rdmasim_reporter_get(struct rdmasim_adapter *adapter, const char *name)
{
	struct rdmasim_reporter *r;
	void *err;

	list_for_each_entry(r, &adapter->reporters, entry)
		if (!strcmp(r->name, name))
			return r;

	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return ERR_PTR(-ENOMEM);
	strscpy(r->name, name, sizeof(r->name));
	r->ops.name = r->name;
	r->health = devlink_health_reporter_create(adapter->devlink, &r->ops, 0, r);
	if (IS_ERR(r->health)) {
		err = r->health;
		kfree(r);
		return err;
	}
	list_add_tail(&r->entry, &adapter->reporters);
	return r;
}

/**
 * rdmasim_devlink_remove - take the devlink instance of a card away, if it has one
 * @adapter: the card
 */
void rdmasim_devlink_remove(struct rdmasim_adapter *adapter)
{
	struct rdmasim_reporter *r, *next;

	mutex_lock(&rdmasim_devlink_lock);
	if (adapter->devlink)
		devlink_unregister(adapter->devlink);
	list_for_each_entry_safe(r, next, &adapter->reporters, entry) {
		devlink_health_reporter_destroy(r->health);
		list_del(&r->entry);
		kfree(r);
	}
	if (adapter->devlink)
		devlink_free(adapter->devlink);
	adapter->devlink = NULL;
	mutex_unlock(&rdmasim_devlink_lock);
}

static int rdmasim_report(struct rdmasim_adapter *adapter, const char *name, bool error)
{
	struct rdmasim_reporter *r;
	int err;

	err = rdmasim_devlink_add(adapter);
	if (err)
		return err;
	r = rdmasim_reporter_get(adapter, name);
	if (IS_ERR(r))
		return PTR_ERR(r);
	if (error)
		return devlink_health_report(r->health, "simulated", NULL);
	devlink_health_reporter_state_update(r->health,
					     DEVLINK_HEALTH_REPORTER_STATE_HEALTHY);
	return 0;
}

/**
 * rdmasim_cmd_reporter - reporter NAME REPORTER error|healthy
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_reporter(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	bool error;
	u32 port;
	int err;

	error = cmd->argc == 3 && !strcmp(cmd->argv[2], "error");
	if (cmd->argc != 3 || (!error && strcmp(cmd->argv[2], "healthy")) ||
	    strlen(cmd->argv[1]) >= sizeof_field(struct rdmasim_reporter, name)) {
		rdmasim_say(cmd, "usage: reporter NAME REPORTER error|healthy");
		return -EINVAL;
	}
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	if (sdev->adapter) {
		mutex_lock(&rdmasim_devlink_lock);
		err = rdmasim_report(sdev->adapter, cmd->argv[1], error);
		mutex_unlock(&rdmasim_devlink_lock);
	} else {
		rdmasim_say(cmd, "its parent is not ours");
		err = -EOPNOTSUPP;
	}
	rdmasim_put(sdev);
	return err;
}
