// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: network interfaces of a card, for what veth and the like cannot
 * play: a driver that knows why its link is down (and takes its time to say
 * so, with the rtnl lock held, as firmware does), and a physical function that
 * sets the link state of its virtual ones. They carry nothing.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "rdmasim.h"

struct rdmasim_netdev {
	struct list_head entry;
	struct net_device *dev;
	struct rdmasim_adapter *adapter;
	int ext;		/* ETHTOOL_LINK_EXT_STATE_*, -1 it does not know */
	u8 sub;
	unsigned int delay_ms;
};

static LIST_HEAD(rdmasim_netdevs);	/* under rdmasim_lock */

static struct rdmasim_netdev *to_netdev(struct net_device *dev)
{
	return *(struct rdmasim_netdev **)netdev_priv(dev);
}

static netdev_tx_t rdmasim_netdev_xmit(struct sk_buff *skb,
				       struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static int rdmasim_get_vf_config(struct net_device *dev, int vf,
				 struct ifla_vf_info *ivi)
{
	struct rdmasim_adapter *adapter = to_netdev(dev)->adapter;

	if (vf >= adapter->num_vfs)
		return -EINVAL;
	ivi->vf = vf;
	ivi->linkstate = adapter->vf_link[vf];
	return 0;
}

static int rdmasim_set_vf_link_state(struct net_device *dev, int vf, int state)
{
	struct rdmasim_adapter *adapter = to_netdev(dev)->adapter;

	if (vf >= adapter->num_vfs)
		return -EINVAL;
	adapter->vf_link[vf] = state;
	return 0;
}

static const struct net_device_ops rdmasim_netdev_ops = {
	.ndo_start_xmit = rdmasim_netdev_xmit,
	.ndo_get_vf_config = rdmasim_get_vf_config,
	.ndo_set_vf_link_state = rdmasim_set_vf_link_state,
};

static int rdmasim_get_ext_state(struct net_device *dev,
				 struct ethtool_link_ext_state_info *info)
{
	struct rdmasim_netdev *n = to_netdev(dev);

	if (n->delay_ms)
		msleep(n->delay_ms);
	if (n->ext < 0)
		return -ENODATA;
	info->link_ext_state = n->ext;
	info->__link_ext_substate = n->sub;
	return 0;
}

static const struct ethtool_ops rdmasim_netdev_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ext_state = rdmasim_get_ext_state,
};

static struct rdmasim_netdev *rdmasim_netdev_find(const char *name)
{
	struct rdmasim_netdev *n;

	list_for_each_entry(n, &rdmasim_netdevs, entry)
		if (!strcmp(n->dev->name, name))
			return n;
	return NULL;
}

static int rdmasim_netdev_new(const char *name, char *card,
			      struct rdmasim_netdev **ret)
{
	struct rdmasim_netdev *n = kzalloc(sizeof(*n), GFP_KERNEL);
	int err = -ENOMEM;

	if (!n)
		return -ENOMEM;
	n->ext = -1;
	n->adapter = rdmasim_adapter_get(card);
	if (IS_ERR(n->adapter)) {
		err = PTR_ERR(n->adapter);
		goto err_free;
	}
	n->dev = alloc_etherdev(sizeof(n));
	if (!n->dev)
		goto err_adapter;
	*(struct rdmasim_netdev **)netdev_priv(n->dev) = n;
	strscpy(n->dev->name, name, IFNAMSIZ);
	n->dev->netdev_ops = &rdmasim_netdev_ops;
	n->dev->ethtool_ops = &rdmasim_netdev_ethtool_ops;
	eth_hw_addr_random(n->dev);
	SET_NETDEV_DEV(n->dev, &n->adapter->dev);
	err = register_netdev(n->dev);
	if (err)
		goto err_netdev;
	list_add_tail(&n->entry, &rdmasim_netdevs);
	*ret = n;
	return 0;

err_netdev:
	free_netdev(n->dev);
err_adapter:
	rdmasim_adapter_put(n->adapter);
err_free:
	kfree(n);
	return err;
}

static int rdmasim_netdev_key(struct rdmasim_netdev *n, const char *key,
			      const char *value)
{
	int number;

	if (kstrtoint(value, 0, &number) || number < -1 || number > 60000)
		return -EINVAL;
	if (!strcmp(key, "ext")) {
		n->ext = number;
	} else if (!strcmp(key, "sub")) {
		n->sub = number;
	} else if (!strcmp(key, "delay")) {
		n->delay_ms = max(number, 0);
	} else if (!strcmp(key, "carrier")) {
		if (number)
			netif_carrier_on(n->dev);
		else
			netif_carrier_off(n->dev);
	} else {
		return -ENOENT;
	}
	return 0;
}

/**
 * rdmasim_cmd_netdev - netdev NAME [card=CARD] [ext=] [sub=] [delay=] [carrier=]
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_netdev(struct rdmasim_cmd *cmd)
{
	struct rdmasim_netdev *n;
	int err = 0, i = 1;
	char *value;

	if (cmd->argc < 1 || strlen(cmd->argv[0]) >= IFNAMSIZ) {
		rdmasim_say(cmd, "usage: netdev NAME [card=CARD] [carrier=0|1] [ext=N] [sub=N] [delay=MS]");
		return -EINVAL;
	}
	mutex_lock(&rdmasim_lock);
	n = rdmasim_netdev_find(cmd->argv[0]);
	if (!n && cmd->argc > 1 && !strncmp(cmd->argv[1], "card=", 5)) {
		err = rdmasim_netdev_new(cmd->argv[0], cmd->argv[1] + 5, &n);
		i = 2;
	} else if (!n) {
		rdmasim_say(cmd, "there is no interface '%s' of ours", cmd->argv[0]);
		err = -ENODEV;
	}
	for (; !err && i < cmd->argc; i++) {
		value = rdmasim_key(cmd->argv[i]);
		err = value ? rdmasim_netdev_key(n, cmd->argv[i], value) : -EINVAL;
		if (err)
			rdmasim_say(cmd, "'%s' is not carrier=, ext=, sub= or delay= and a number",
				    cmd->argv[i]);
	}
	mutex_unlock(&rdmasim_lock);
	return err;
}

/**
 * rdmasim_netdev_exit - remove all interfaces
 */
void rdmasim_netdev_exit(void)
{
	struct rdmasim_netdev *n, *next;
	LIST_HEAD(all);

	mutex_lock(&rdmasim_lock);
	list_splice_init(&rdmasim_netdevs, &all);
	mutex_unlock(&rdmasim_lock);
	list_for_each_entry_safe(n, next, &all, entry) {
		unregister_netdev(n->dev);
		free_netdev(n->dev);
		mutex_lock(&rdmasim_lock);
		rdmasim_adapter_put(n->adapter);
		mutex_unlock(&rdmasim_lock);
		kfree(n);
	}
}
