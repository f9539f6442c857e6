// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: simulated RDMA adapters, for testing what runs above them.
 *
 * The module registers real ib_devices, so that RDMA netlink, uverbs, umad,
 * sysfs and uevents are the kernel's own; only the hardware is played. It is
 * driven through /dev/rdmasim (control.c; the language is in README.md).
 *
 * Locking rules
 * -------------
 *
 * rdmasim_lock (mutex): the list of devices, each device's @life, the list of
 *	adapters. It may be taken under RTNL (the netdevice notifier does), so
 *	nothing that takes RTNL is called with it held: in particular neither
 *	ib_register_device() nor ib_unregister_device(), which moreover can wait
 *	for ever for somebody's open context.
 *
 * rdmasim_dev.lock (spinlock): all that can change in a device: port
 *	attributes, tables, counters, faults, texts. It is the innermost lock:
 *	nothing is called with it held that sleeps or takes another lock. The
 *	RDMA core calls into the module under its own locks and this is the only
 *	lock that those paths take.
 *
 * rdmasim_cq.lock, rdmasim_qp.lock (spinlocks, irqs off): the queues of kernel
 *	users. A QP's lock is taken before its CQ's. Completion handlers are
 *	called with neither.
 *
 *	order: RTNL -> rdmasim_lock -> rdmasim_dev.lock
 *
 * Lifetime. A device is CREATING while ib_register_device() runs, then LIVE,
 * then DYING; it is on the list all that time, so that its name stays taken and
 * the netdevice notifier can drop its netdev references even when its removal
 * waits for a context. Commands get LIVE devices by rdmasim_get(), which counts
 * @users without holding any lock afterwards. Who sets DYING (under
 * rdmasim_lock, once) owns the teardown: it aborts the faults, waits until
 * @users is 0, unregisters, unlinks and frees. Events are dispatched only by a
 * user or with rdmasim_lock held and the device LIVE, hence never after
 * unregistration has begun.
 *
 * Faults sleep without any lock of the module. What wakes them is @generation
 * (a release) or @dying (the teardown), both set under rdmasim_dev.lock, then
 * wake_up_all(). So a release always frees a sleeper, and a hung device can
 * always be destroyed.
 */
#include <linux/module.h>

#include "rdmasim.h"

DEFINE_MUTEX(rdmasim_lock);	/* see above */
LIST_HEAD(rdmasim_devices);
static DECLARE_WAIT_QUEUE_HEAD(rdmasim_idle);

static struct rdmasim_dev *rdmasim_find(const char *name)
{
	struct rdmasim_dev *sdev;

	/* The current name first: it is what other tools print. */
	list_for_each_entry(sdev, &rdmasim_devices, entry)
		if (sdev->life == RDMASIM_LIVE && !strcmp(sdev->ibdev.name, name))
			return sdev;
	list_for_each_entry(sdev, &rdmasim_devices, entry)
		if (sdev->life == RDMASIM_LIVE && !strcmp(sdev->name, name))
			return sdev;
	return NULL;
}

/**
 * rdmasim_get - find a live device and keep it from being torn down
 * @name: its present name, or the one that it was created with
 *
 * Return: the device, to be given back by rdmasim_put(), or NULL.
 */
struct rdmasim_dev *rdmasim_get(const char *name)
{
	struct rdmasim_dev *sdev;

	mutex_lock(&rdmasim_lock);
	sdev = rdmasim_find(name);
	if (sdev)
		atomic_inc(&sdev->users);
	mutex_unlock(&rdmasim_lock);
	return sdev;
}

/**
 * rdmasim_put - give back what rdmasim_get() found
 * @sdev: the device; it may be gone when this returns
 */
void rdmasim_put(struct rdmasim_dev *sdev)
{
	/* the wait queue is global because @sdev can be freed after the last put */
	if (atomic_dec_and_test(&sdev->users))
		wake_up_all(&rdmasim_idle);
}

/**
 * rdmasim_wait_unused - wait for the last user of a dying device
 * @sdev: the device, to which nobody can get any more
 */
void rdmasim_wait_unused(struct rdmasim_dev *sdev)
{
	wait_event(rdmasim_idle, !atomic_read(&sdev->users));
}

static int __init rdmasim_init(void)
{
	int err;

	rdmasim_wq = alloc_workqueue("rdmasim", WQ_UNBOUND, 0);
	if (!rdmasim_wq)
		return -ENOMEM;
	err = rdmasim_adapter_init();
	if (err)
		goto err_wq;
	err = rdmasim_port_init();
	if (err)
		goto err_adapter;
	err = rdmasim_control_init();
	if (err)
		goto err_port;
	return 0;

err_port:
	rdmasim_port_exit();
err_adapter:
	rdmasim_adapter_exit();
err_wq:
	destroy_workqueue(rdmasim_wq);
	return err;
}

static void __exit rdmasim_exit(void)
{
	rdmasim_control_exit();
	rdmasim_destroy_all();
	rdmasim_netdev_exit();
	rdmasim_port_exit();
	rdmasim_adapter_exit();
	destroy_workqueue(rdmasim_wq);
}

module_init(rdmasim_init);
module_exit(rdmasim_exit);

MODULE_DESCRIPTION("Simulated RDMA adapters");
MODULE_LICENSE("Dual MIT/GPL");
/* hardware drivers need ib_uverbs for its symbols; ib_umad is left to user space */
MODULE_SOFTDEP("pre: ib_uverbs");
