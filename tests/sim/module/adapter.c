// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: the cards that the ib_devices sit on.
 *
 * Each is a device of a bus of its own, /sys/bus/rdmasim/devices/NAME, bound to
 * a driver called rdmasim. Monitors group ib_devices by the `device` link in
 * sysfs, name the slot by its target, and show the driver's name; a bus gives
 * all three without the fixed names that the platform bus wants.
 */
#include <linux/slab.h>

#include "rdmasim.h"

static LIST_HEAD(rdmasim_adapters);	/* under rdmasim_lock */

/* Without a match function every device of the bus fits every driver. */
static struct bus_type rdmasim_bus = {
	.name = "rdmasim",
};

static struct device_driver rdmasim_driver = {
	.name = "rdmasim",
	.bus = &rdmasim_bus,
	.owner = THIS_MODULE,
	/* unbinding would not take the ib_devices along, so do not offer it */
	.suppress_bind_attrs = true,
};

static void rdmasim_adapter_release(struct device *dev)
{
	kfree(container_of(dev, struct rdmasim_adapter, dev));
}

/**
 * rdmasim_adapter_get - find or make a card
 * @name: what it is called in sysfs
 *
 * Context: rdmasim_lock held.
 * Return: the card with one more device on it, or an ERR_PTR.
 */
struct rdmasim_adapter *rdmasim_adapter_get(const char *name)
{
	struct rdmasim_adapter *adapter;
	int err;

	list_for_each_entry(adapter, &rdmasim_adapters, entry) {
		if (!strcmp(dev_name(&adapter->dev), name)) {
			adapter->devices++;
			return adapter;
		}
	}

	adapter = kzalloc(sizeof(*adapter), GFP_KERNEL);
	if (!adapter)
		return ERR_PTR(-ENOMEM);
	device_initialize(&adapter->dev);
	adapter->dev.bus = &rdmasim_bus;
	adapter->dev.release = rdmasim_adapter_release;
	adapter->devices = 1;
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
 * rdmasim_adapter_put - take one device off a card; the last removes the card
 * @adapter: the card
 *
 * Context: rdmasim_lock held.
 */
void rdmasim_adapter_put(struct rdmasim_adapter *adapter)
{
	if (--adapter->devices)
		return;
	list_del(&adapter->entry);
	device_unregister(&adapter->dev);
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
