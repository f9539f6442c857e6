// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: the cards that the ib_devices sit on.
 *
 * Each is a device of a bus of its own, /sys/bus/rdmasim/devices/NAME, bound to
 * a driver called rdmasim. Monitors group ib_devices by the `device` link in
 * sysfs, name the slot by its target, and show the driver's name; a bus gives
 * all three without the fixed names that the platform bus wants. A card may be
 * below others, as below the bridges of a PCIe path, and has then, like them,
 * the files by which the kernel tells of a link.
 */
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "rdmasim.h"

static LIST_HEAD(rdmasim_adapters);	/* under rdmasim_lock */

static int rdmasim_num_vf(struct device *dev);

/* Without a match function every device of the bus fits every driver. */
static struct bus_type rdmasim_bus = {
	.name = "rdmasim",
	.num_vf = rdmasim_num_vf,
};

static struct device_driver rdmasim_driver = {
	.name = "rdmasim",
	.bus = &rdmasim_bus,
	.owner = THIS_MODULE,
	/* unbinding would not take the ib_devices along, so do not offer it */
	.suppress_bind_attrs = true,
};

static struct rdmasim_adapter *to_adapter(struct device *dev)
{
	return container_of(dev, struct rdmasim_adapter, dev);
}

static int rdmasim_num_vf(struct device *dev)
{
	return to_adapter(dev)->num_vfs;
}

static void rdmasim_adapter_release(struct device *dev)
{
	kfree(to_adapter(dev));
}

/* --- the files of a PCIe link: each is there once it has a text --- */

/* in the order of rdmasim_pcie_attrs */
static const char * const rdmasim_pcie_keys[RDMASIM_PCIE_FILES] = {
	"speed", "width", "max_speed", "max_width",
};

static int rdmasim_pcie_of(const struct attribute *attr);

static ssize_t rdmasim_pcie_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	struct rdmasim_adapter *adapter = to_adapter(dev);
	ssize_t n;

	spin_lock(&adapter->lock);
	n = sysfs_emit(buf, "%s\n",
		       adapter->pcie[rdmasim_pcie_of(&attr->attr)]);
	spin_unlock(&adapter->lock);
	return n;
}

static struct device_attribute rdmasim_pcie_attrs[RDMASIM_PCIE_FILES] = {
	__ATTR(current_link_speed, 0444, rdmasim_pcie_show, NULL),
	__ATTR(current_link_width, 0444, rdmasim_pcie_show, NULL),
	__ATTR(max_link_speed, 0444, rdmasim_pcie_show, NULL),
	__ATTR(max_link_width, 0444, rdmasim_pcie_show, NULL),
};

static struct attribute *rdmasim_pcie_list[] = {
	&rdmasim_pcie_attrs[0].attr,
	&rdmasim_pcie_attrs[1].attr,
	&rdmasim_pcie_attrs[2].attr,
	&rdmasim_pcie_attrs[3].attr,
	NULL,
};

static int rdmasim_pcie_of(const struct attribute *attr)
{
	int i;

	for (i = 0; rdmasim_pcie_list[i + 1]; i++)
		if (rdmasim_pcie_list[i] == attr)
			break;
	return i;
}

static umode_t rdmasim_pcie_visible(struct kobject *kobj,
				    struct attribute *attr, int n)
{
	return *to_adapter(kobj_to_dev(kobj))->pcie[n] ? attr->mode : 0;
}

static const struct attribute_group rdmasim_pcie_group = {
	.attrs = rdmasim_pcie_list,
	.is_visible = rdmasim_pcie_visible,
};

static const struct attribute_group *rdmasim_adapter_groups[] = {
	&rdmasim_pcie_group,
	NULL,
};

/* --- cards --- */

static struct rdmasim_adapter *rdmasim_adapter_find(const char *name)
{
	struct rdmasim_adapter *adapter;

	list_for_each_entry(adapter, &rdmasim_adapters, entry)
		if (!strcmp(dev_name(&adapter->dev), name))
			return adapter;
	return NULL;
}

static struct rdmasim_adapter *rdmasim_adapter_new(const char *name,
						   struct rdmasim_adapter *above)
{
	struct rdmasim_adapter *adapter = kzalloc(sizeof(*adapter), GFP_KERNEL);
	int err;

	if (!adapter)
		return ERR_PTR(-ENOMEM);
	device_initialize(&adapter->dev);
	spin_lock_init(&adapter->lock);
	adapter->dev.bus = &rdmasim_bus;
	adapter->dev.parent = above ? &above->dev : NULL;
	adapter->dev.groups = rdmasim_adapter_groups;
	adapter->dev.release = rdmasim_adapter_release;
	adapter->above = above;
	adapter->devices = 1;
	INIT_LIST_HEAD(&adapter->reporters);
	err = dev_set_name(&adapter->dev, "%s", name);
	if (!err)
		err = device_add(&adapter->dev);
	if (err) {
		put_device(&adapter->dev);
		return ERR_PTR(err);
	}
	list_add_tail(&adapter->entry, &rdmasim_adapters);
	return adapter;
}

/**
 * rdmasim_adapter_get - find or make a card
 * @path: what it is called in sysfs, behind the names of those that it is
 *        below, if any, with slashes; changed. A card that there is stays
 *        where it is.
 *
 * Context: rdmasim_lock held.
 * Return: the card with one more device on it, or an ERR_PTR.
 */
struct rdmasim_adapter *rdmasim_adapter_get(char *path)
{
	struct rdmasim_adapter *adapter, *above = NULL;
	char *name;

	while ((name = strsep(&path, "/"))) {
		adapter = rdmasim_adapter_find(name);
		if (adapter) {
			adapter->devices++;
			/* it holds what it is below by itself */
			if (above)
				rdmasim_adapter_put(above);
		} else {
			adapter = rdmasim_adapter_new(name, above);
			if (IS_ERR(adapter)) {
				if (above)
					rdmasim_adapter_put(above);
				return adapter;
			}
		}
		above = adapter;
	}
	return above;
}

/* A virtual function goes; the physical one may be gone already. */
static void rdmasim_adapter_leave(struct rdmasim_adapter *adapter)
{
	char name[16];

	if (!adapter->physfn)
		return;
	sysfs_remove_link(&adapter->dev.kobj, "physfn");
	snprintf(name, sizeof(name), "virtfn%d", adapter->vf);
	if (device_is_registered(&adapter->physfn->dev))
		sysfs_remove_link(&adapter->physfn->dev.kobj, name);
	put_device(&adapter->physfn->dev);
}

/**
 * rdmasim_adapter_put - take one device off a card; the last removes the card
 * @adapter: the card
 *
 * Context: rdmasim_lock held.
 */
void rdmasim_adapter_put(struct rdmasim_adapter *adapter)
{
	struct rdmasim_adapter *above;

	while (adapter && !--adapter->devices) {
		above = adapter->above;
		list_del(&adapter->entry);
		rdmasim_devlink_remove(adapter);
		rdmasim_adapter_leave(adapter);
		device_unregister(&adapter->dev);
		adapter = above;
	}
}

/**
 * rdmasim_adapter_vf_of - make a card a virtual function of another
 * @adapter: the card
 * @name: the physical one
 *
 * Context: rdmasim_lock held.
 * Return: 0 or a negative errno.
 */
int rdmasim_adapter_vf_of(struct rdmasim_adapter *adapter, const char *name)
{
	struct rdmasim_adapter *pf = rdmasim_adapter_find(name);
	char link[16];
	int err;

	if (!pf || pf == adapter)
		return -ENODEV;
	if (adapter->physfn)
		return 0;
	if (pf->num_vfs == RDMASIM_MAX_VFS)
		return -ENOSPC;
	snprintf(link, sizeof(link), "virtfn%d", pf->num_vfs);
	err = sysfs_create_link(&adapter->dev.kobj, &pf->dev.kobj, "physfn");
	if (err)
		return err;
	err = sysfs_create_link(&pf->dev.kobj, &adapter->dev.kobj, link);
	if (err) {
		sysfs_remove_link(&adapter->dev.kobj, "physfn");
		return err;
	}
	adapter->vf = pf->num_vfs++;
	get_device(&pf->dev);
	adapter->physfn = pf;
	return 0;
}

/**
 * rdmasim_cmd_pcie - pcie ADAPTER [KEY=TEXT...]
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_pcie(struct rdmasim_cmd *cmd)
{
	struct rdmasim_adapter *adapter;
	int err = 0, i, k;
	char *text;

	if (cmd->argc < 1) {
		rdmasim_say(cmd, "usage: pcie ADAPTER [KEY=TEXT...]");
		return -EINVAL;
	}
	mutex_lock(&rdmasim_lock);
	adapter = rdmasim_adapter_find(cmd->argv[0]);
	if (!adapter) {
		rdmasim_say(cmd, "no adapter is called '%s'", cmd->argv[0]);
		err = -ENODEV;
	}
	for (i = 1; !err && i < cmd->argc; i++) {
		text = rdmasim_key(cmd->argv[i]);
		k = match_string(rdmasim_pcie_keys, RDMASIM_PCIE_FILES,
				 cmd->argv[i]);
		if (!text || k < 0) {
			rdmasim_say(cmd, "'%s' is not speed=, width=, max_speed= or max_width=",
				    cmd->argv[i]);
			err = -EINVAL;
			break;
		}
		rdmasim_decode(text);
		spin_lock(&adapter->lock);
		strscpy(adapter->pcie[k], text, RDMASIM_TEXT);
		spin_unlock(&adapter->lock);
	}
	if (adapter && !err)
		err = sysfs_update_group(&adapter->dev.kobj,
					 &rdmasim_pcie_group);
	mutex_unlock(&rdmasim_lock);
	return err;
}

/**
 * rdmasim_adapter_init - register bus and driver
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_adapter_init(void)
{
	int err;

	err = bus_register(&rdmasim_bus);
	if (err)
		return err;
	err = driver_register(&rdmasim_driver);
	if (err)
		bus_unregister(&rdmasim_bus);
	return err;
}

/**
 * rdmasim_adapter_exit - unregister bus and driver; no card is left by now
 */
void rdmasim_adapter_exit(void)
{
	driver_unregister(&rdmasim_driver);
	bus_unregister(&rdmasim_bus);
}
