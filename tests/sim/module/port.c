// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: ports. What a query answers, the GID and P_Key tables, and the tie
 * between an Ethernet port and its netdev.
 */
#include <linux/inet.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>

#include "rdmasim.h"

struct rdmasim_word {
	const char *word;
	u32 code;
};

static const struct rdmasim_word rdmasim_states[] = {
	{ "NOP", IB_PORT_NOP },
	{ "DOWN", IB_PORT_DOWN },
	{ "INIT", IB_PORT_INIT },
	{ "ARMED", IB_PORT_ARMED },
	{ "ACTIVE", IB_PORT_ACTIVE },
	{ "ACTIVE_DEFER", IB_PORT_ACTIVE_DEFER },
	{}
};

static const struct rdmasim_word rdmasim_phys_states[] = {
	{ "Sleep", IB_PORT_PHYS_STATE_SLEEP },
	{ "Polling", IB_PORT_PHYS_STATE_POLLING },
	{ "Disabled", IB_PORT_PHYS_STATE_DISABLED },
	{ "PortConfigurationTraining",
	  IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING },
	{ "LinkUp", IB_PORT_PHYS_STATE_LINK_UP },
	{ "LinkErrorRecovery", IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY },
	{ "PhyTest", IB_PORT_PHYS_STATE_PHY_TEST },
	{}
};

static const struct rdmasim_word rdmasim_widths[] = {
	{ "1X", IB_WIDTH_1X },
	{ "2X", IB_WIDTH_2X },
	{ "4X", IB_WIDTH_4X },
	{ "8X", IB_WIDTH_8X },
	{ "12X", IB_WIDTH_12X },
	{}
};

static const struct rdmasim_word rdmasim_speeds[] = {
	{ "SDR", IB_SPEED_SDR },
	{ "DDR", IB_SPEED_DDR },
	{ "QDR", IB_SPEED_QDR },
	{ "FDR10", IB_SPEED_FDR10 },
	{ "FDR", IB_SPEED_FDR },
	{ "EDR", IB_SPEED_EDR },
	{ "HDR", IB_SPEED_HDR },
	{ "NDR", IB_SPEED_NDR },
	{ "XDR", RDMASIM_SPEED_XDR },
	{}
};

static const struct rdmasim_word rdmasim_mtus[] = {
	{ "256", IB_MTU_256 },
	{ "512", IB_MTU_512 },
	{ "1024", IB_MTU_1024 },
	{ "2048", IB_MTU_2048 },
	{ "4096", IB_MTU_4096 },
	{}
};

/* @max is what the field of struct ib_port_attr can hold. */
static const struct {
	const char *key;
	const struct rdmasim_word *words;
	size_t offset;
	u32 max;
} rdmasim_port_keys[] = {
#define FIELD(f) offsetof(struct rdmasim_port, f)
	{ "state",	rdmasim_states,		FIELD(state),		255 },
	{ "phys",	rdmasim_phys_states,	FIELD(phys_state),	255 },
	{ "width",	rdmasim_widths,		FIELD(width),		255 },
	{ "speed",	rdmasim_speeds,		FIELD(speed),		65535 },
	{ "lid",	NULL,			FIELD(lid),		65535 },
	{ "lmc",	NULL,			FIELD(lmc),		7 },
	{ "sm_lid",	NULL,			FIELD(sm_lid),		65535 },
	{ "sm_sl",	NULL,			FIELD(sm_sl),		15 },
	{ "cap_mask",	NULL,			FIELD(cap_mask),	U32_MAX },
	{ "max_mtu",	rdmasim_mtus,		FIELD(max_mtu),		255 },
	{ "active_mtu",	rdmasim_mtus,		FIELD(active_mtu),	255 },
#undef FIELD
};

static int rdmasim_parse_word(const struct rdmasim_word *words,
			      const char *text, u32 *code)
{
	for (; words && words->word; words++) {
		if (!strcasecmp(words->word, text)) {
			*code = words->code;
			return 0;
		}
	}
	return kstrtou32(text, 0, code);
}

/**
 * rdmasim_port_key - set one attribute of a port
 * @port: the port; its device's lock is held, or nobody else knows it yet
 * @key: which attribute
 * @value: its word, or its raw code so that unknown ones can be played
 * @err: where the result goes
 *
 * Return: whether there is such an attribute.
 */
bool rdmasim_port_key(struct rdmasim_port *port, const char *key,
		      const char *value, int *err)
{
	u32 code;
	int i;

	if (!strcmp(key, "follow")) {
		*err = kstrtobool(value, &port->follow);
		return true;
	}
	if (!strcmp(key, "subnet_prefix")) {
		*err = kstrtou64(value, 16, &port->subnet_prefix);
		if (!*err)
			port->gids[0].global.subnet_prefix =
				cpu_to_be64(port->subnet_prefix);
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(rdmasim_port_keys); i++) {
		if (strcmp(key, rdmasim_port_keys[i].key))
			continue;
		*err = rdmasim_parse_word(rdmasim_port_keys[i].words, value,
					  &code);
		if (!*err && code > rdmasim_port_keys[i].max)
			*err = -ERANGE;
		if (!*err)
			*(u32 *)((u8 *)port + rdmasim_port_keys[i].offset) = code;
		return true;
	}
	return false;
}

/**
 * rdmasim_port_defaults - make a port a healthy one
 * @sdev: its device, not registered yet
 * @port: its number
 */
void rdmasim_port_defaults(struct rdmasim_dev *sdev, u32 port)
{
	static atomic_t next_lid = ATOMIC_INIT(15);
	struct rdmasim_port *p = &sdev->ports[port];
	u64 guid = be64_to_cpu(sdev->ibdev.node_guid);

	p->state = IB_PORT_ACTIVE;
	p->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	p->width = IB_WIDTH_4X;
	p->speed = IB_SPEED_HDR;
	p->max_mtu = IB_MTU_4096;
	p->pkeys[0] = 0xffff;

	if (p->link_layer == IB_LINK_LAYER_INFINIBAND) {
		p->active_mtu = IB_MTU_4096;
		p->lid = (u32)atomic_inc_return(&next_lid) % 0xbfff;
		p->sm_lid = 1;
		p->cap_mask = 0x2651e848;
		p->subnet_prefix = 0xfe80000000000000ULL;
		p->gids[0].global.subnet_prefix = cpu_to_be64(p->subnet_prefix);
		p->gids[0].global.interface_id =
			cpu_to_be64(guid ? guid + port - 1 : 0);
	} else {
		p->active_mtu = IB_MTU_1024;
		p->cap_mask = IB_PORT_CM_SUP;
		p->follow = true;
	}
}

static bool rdmasim_netdev_up(const struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev);
}

/**
 * rdmasim_port_follow - whether the netdev decides about the port's state
 * @port: the port
 *
 * Return: true for an Ethernet port that has not been told otherwise.
 */
bool rdmasim_port_follow(struct rdmasim_port *port)
{
	return port->link_layer == IB_LINK_LAYER_ETHERNET && port->follow;
}

/**
 * rdmasim_port_state - the state that a query reports
 * @port: the port; its device's lock is held
 * @phys: where the physical state goes
 *
 * Return: the state's code.
 */
u32 rdmasim_port_state(const struct rdmasim_port *port, u32 *phys)
{
	if (port->link_layer != IB_LINK_LAYER_ETHERNET || !port->follow) {
		*phys = port->phys_state;
		return port->state;
	}
	if (port->netdev && rdmasim_netdev_up(port->netdev)) {
		*phys = IB_PORT_PHYS_STATE_LINK_UP;
		return IB_PORT_ACTIVE;
	}
	*phys = port->netdev && netif_running(port->netdev) ?
		IB_PORT_PHYS_STATE_POLLING : IB_PORT_PHYS_STATE_DISABLED;
	return IB_PORT_DOWN;
}

static int rdmasim_query_port(struct ib_device *ibdev, u32 port,
			      struct ib_port_attr *attr)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);
	struct rdmasim_port *p = &sdev->ports[port];
	u32 phys;
	int err;

	err = rdmasim_fault(sdev, port, RDMASIM_QUERY_PORT);
	if (err)
		return err;

	spin_lock(&sdev->lock);
	attr->state = rdmasim_port_state(p, &phys);
	attr->phys_state = phys;
	attr->active_width = p->width;
	attr->active_speed = p->speed;
	attr->lid = p->lid;
	attr->lmc = p->lmc;
	attr->sm_lid = p->sm_lid;
	attr->sm_sl = p->sm_sl;
	attr->port_cap_flags = p->cap_mask;
	attr->max_mtu = p->max_mtu;
	attr->active_mtu = p->active_mtu;
	if (rdmasim_port_follow(p) && p->netdev)
		attr->active_mtu = iboe_get_mtu(READ_ONCE(p->netdev->mtu));
	attr->subnet_prefix = p->subnet_prefix;
	spin_unlock(&sdev->lock);

	attr->gid_tbl_len = sdev->gid_len;
	attr->pkey_tbl_len = sdev->pkey_len;
	attr->max_msg_sz = 0x40000000;
	attr->max_vl_num = 4;
	attr->ip_gids = p->link_layer == IB_LINK_LAYER_ETHERNET;
	return 0;
}

static int rdmasim_query_gid(struct ib_device *ibdev, u32 port, int index,
			     union ib_gid *gid)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);

	if (index < 0 || index >= sdev->gid_len)
		return -EINVAL;
	spin_lock(&sdev->lock);
	*gid = sdev->ports[port].gids[index];
	spin_unlock(&sdev->lock);
	return 0;
}

static int rdmasim_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			      u16 *pkey)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);

	if (index >= sdev->pkey_len)
		return -EINVAL;
	spin_lock(&sdev->lock);
	*pkey = sdev->ports[port].pkeys[index];
	spin_unlock(&sdev->lock);
	return 0;
}

static enum rdma_link_layer rdmasim_get_link_layer(struct ib_device *ibdev,
						   u32 port)
{
	return to_rdmasim(ibdev)->ports[port].link_layer;
}

static int rdmasim_get_port_immutable(struct ib_device *ibdev, u32 port,
				      struct ib_port_immutable *immutable)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);

	immutable->gid_tbl_len = sdev->gid_len;
	immutable->pkey_tbl_len = sdev->pkey_len;
	switch (sdev->ports[port].link_layer) {
	case IB_LINK_LAYER_INFINIBAND:
		immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
		break;
	case IB_LINK_LAYER_ETHERNET:
		immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE |
					    RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
		break;
	default:
		/* like efa: a protocol that the core knows nothing about */
		break;
	}
	return 0;
}

/*
 * An op rather than ib_device_set_netdev(): the latter would let rdma_rxe find
 * the device by its netdev (it asks for RDMA_DRIVER_RXE, which is what this
 * module reports) and take it for one of its own.
 */
static struct net_device *rdmasim_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);
	struct net_device *netdev;

	spin_lock(&sdev->lock);
	netdev = sdev->ports[port].netdev;
	dev_hold(netdev);
	spin_unlock(&sdev->lock);
	return netdev;
}

const struct ib_device_ops rdmasim_port_ops = {
	.get_link_layer = rdmasim_get_link_layer,
	.get_netdev = rdmasim_get_netdev,
	.get_port_immutable = rdmasim_get_port_immutable,
	.query_gid = rdmasim_query_gid,
	.query_pkey = rdmasim_query_pkey,
	.query_port = rdmasim_query_port,
};

/* Gives the netdev's reference back to the caller when @netdev goes away. */
static struct net_device *rdmasim_port_netdev_event(struct rdmasim_dev *sdev,
						    u32 port, bool leaving,
						    int *event)
{
	struct rdmasim_port *p = &sdev->ports[port];
	struct net_device *drop = NULL;
	u32 phys;
	bool up;

	spin_lock(&sdev->lock);
	if (leaving)
		swap(drop, p->netdev);
	if (rdmasim_port_follow(p)) {
		up = rdmasim_port_state(p, &phys) == IB_PORT_ACTIVE;
		if (up != p->was_up)
			*event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
		p->was_up = up;
	}
	spin_unlock(&sdev->lock);
	return drop;
}

static int rdmasim_netdev_event(struct notifier_block *nb, unsigned long what,
				void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct rdmasim_dev *sdev;
	int event;
	u32 p;

	if (what != NETDEV_UP && what != NETDEV_DOWN && what != NETDEV_CHANGE &&
	    what != NETDEV_UNREGISTER)
		return NOTIFY_DONE;

	mutex_lock(&rdmasim_lock);
	list_for_each_entry(sdev, &rdmasim_devices, entry) {
		for (p = 1; p <= sdev->num_ports; p++) {
			if (READ_ONCE(sdev->ports[p].netdev) != netdev)
				continue;
			event = -1;
			dev_put(rdmasim_port_netdev_event(sdev, p,
							  what == NETDEV_UNREGISTER,
							  &event));
			if (event < 0 || sdev->life != RDMASIM_LIVE)
				continue;
			if (event == IB_EVENT_PORT_ERR)
				rdmasim_count_link_down(sdev, p);
			rdmasim_event(sdev, p, event);
		}
	}
	mutex_unlock(&rdmasim_lock);
	return NOTIFY_DONE;
}

static struct notifier_block rdmasim_netdev_notifier = {
	.notifier_call = rdmasim_netdev_event,
};

/**
 * rdmasim_port_init - begin to listen to netdevs
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_port_init(void)
{
	return register_netdevice_notifier(&rdmasim_netdev_notifier);
}

/**
 * rdmasim_port_exit - stop listening to netdevs
 */
void rdmasim_port_exit(void)
{
	unregister_netdevice_notifier(&rdmasim_netdev_notifier);
}

static int rdmasim_port_bind(struct rdmasim_cmd *cmd, struct rdmasim_dev *sdev,
			     u32 port, const char *ifname)
{
	struct rdmasim_port *p = &sdev->ports[port];
	struct net_device *netdev = NULL;
	u32 phys;

	if (p->link_layer != IB_LINK_LAYER_ETHERNET) {
		rdmasim_say(cmd, "only an Ethernet port has a netdev");
		return -EINVAL;
	}
	if (strcmp(ifname, "none")) {
		netdev = dev_get_by_name(current->nsproxy->net_ns, ifname);
		if (!netdev) {
			rdmasim_say(cmd, "no netdev is called '%s'", ifname);
			return -ENODEV;
		}
	}
	/* under the mutex, so that the notifier sees either netdev, not a gap */
	mutex_lock(&rdmasim_lock);
	if (netdev && netdev->reg_state != NETREG_REGISTERED) {
		mutex_unlock(&rdmasim_lock);
		dev_put(netdev);
		return -ENODEV;
	}
	spin_lock(&sdev->lock);
	swap(p->netdev, netdev);
	p->was_up = rdmasim_port_state(p, &phys) == IB_PORT_ACTIVE;
	spin_unlock(&sdev->lock);
	mutex_unlock(&rdmasim_lock);
	dev_put(netdev);
	return 0;
}

/**
 * rdmasim_port_netdevs - bind the Ethernet ports of a new device
 * @cmd: the command that creates it
 * @sdev: the device, on the list already so that the notifier knows it
 * @names: interface names with commas, one for each port; the last one is not
 *	repeated, as a netdev has one port
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_port_netdevs(struct rdmasim_cmd *cmd, struct rdmasim_dev *sdev,
			 char *names)
{
	char *ifname;
	u32 port = 0;
	int err;

	while ((ifname = strsep(&names, ","))) {
		if (++port > sdev->num_ports) {
			rdmasim_say(cmd, "more netdevs than ports");
			return -EINVAL;
		}
		if (!*ifname)
			continue;
		err = rdmasim_port_bind(cmd, sdev, port, ifname);
		if (err)
			return err;
	}
	return 0;
}

/**
 * rdmasim_port_unbind - drop the netdevs of a device
 * @sdev: the device, not registered any more
 */
void rdmasim_port_unbind(struct rdmasim_dev *sdev)
{
	struct net_device *drop;
	u32 p;

	for (p = 1; p <= sdev->num_ports; p++) {
		drop = NULL;
		spin_lock(&sdev->lock);
		swap(drop, sdev->ports[p].netdev);
		spin_unlock(&sdev->lock);
		dev_put(drop);
	}
}

/* The dry run finds a bad word before anything has changed. */
static int rdmasim_port_check(struct rdmasim_cmd *cmd)
{
	struct rdmasim_port *scratch;
	union ib_gid gid;
	char *value;
	int i, err = 0;

	scratch = kzalloc(sizeof(*scratch), GFP_KERNEL);
	if (!scratch)
		return -ENOMEM;
	scratch->gids = &gid;
	for (i = 1; i < cmd->argc && !err; i++) {
		value = rdmasim_key(cmd->argv[i]);
		if (!value) {
			rdmasim_say(cmd, "'%s' is not KEY=VALUE", cmd->argv[i]);
			err = -EINVAL;
		} else if (strcmp(cmd->argv[i], "netdev") &&
			   !rdmasim_port_key(scratch, cmd->argv[i], value, &err)) {
			rdmasim_say(cmd, "a port has no key '%s'", cmd->argv[i]);
			err = -EINVAL;
		} else if (err) {
			rdmasim_say(cmd, "bad value in %s=%s", cmd->argv[i], value);
		}
	}
	kfree(scratch);
	return err;
}

/**
 * rdmasim_cmd_port - port NAME[/PORT] KEY=VALUE...
 * @cmd: the command
 *
 * Changes what queries answer, and sends no event: `event` does that.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_port(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	bool rescan = false;
	char *key, *value;
	u32 port, p;
	int i, err;

	if (cmd->argc < 2) {
		rdmasim_say(cmd, "usage: port NAME[/PORT] KEY=VALUE...");
		return -EINVAL;
	}
	err = rdmasim_port_check(cmd);
	if (err)
		return err;
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);

	for (i = 1; i < cmd->argc; i++) {
		key = cmd->argv[i];
		/* the check has cut the words in two at the '=' */
		value = key + strlen(key) + 1;
		if (!strcmp(key, "netdev")) {
			err = rdmasim_port_bind(cmd, sdev, port ?: 1, value);
			if (err)
				break;
			rescan = true;
			continue;
		}
		spin_lock(&sdev->lock);
		for (p = 1; p <= sdev->num_ports; p++)
			if (!port || p == port)
				rdmasim_port_key(&sdev->ports[p], key, value, &err);
		spin_unlock(&sdev->lock);
	}
	if (rescan)
		rdma_roce_rescan_device(&sdev->ibdev);
	rdmasim_put(sdev);
	return err;
}

static int rdmasim_table_object(struct rdmasim_cmd *cmd, const char *usage,
				struct rdmasim_dev **sdev, u32 *port, u32 *index)
{
	if (cmd->argc != 3 || kstrtou32(cmd->argv[1], 0, index)) {
		rdmasim_say(cmd, "usage: %s", usage);
		return -EINVAL;
	}
	*sdev = rdmasim_get_object(cmd, cmd->argv[0], port);
	if (IS_ERR(*sdev))
		return PTR_ERR(*sdev);
	if (!*port && (*sdev)->num_ports == 1)
		*port = 1;
	if (!*port) {
		rdmasim_say(cmd, "which port of %s?", cmd->argv[0]);
		rdmasim_put(*sdev);
		return -EINVAL;
	}
	return 0;
}

/**
 * rdmasim_cmd_gid - gid NAME/PORT INDEX GID
 * @cmd: the command
 *
 * The kernel reads the table again at CLIENT_REREGISTER or GID_CHANGE.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_gid(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	union ib_gid gid;
	u32 port, index;
	int err;

	err = rdmasim_table_object(cmd, "gid NAME/PORT INDEX GID", &sdev, &port,
				   &index);
	if (err)
		return err;
	err = -EINVAL;
	if (sdev->ports[port].link_layer == IB_LINK_LAYER_ETHERNET)
		rdmasim_say(cmd, "the GIDs of an Ethernet port are the addresses of its netdev");
	else if (index >= sdev->gid_len)
		rdmasim_say(cmd, "the table has %u entries", sdev->gid_len);
	else if (!in6_pton(cmd->argv[2], -1, gid.raw, -1, NULL))
		rdmasim_say(cmd, "'%s' is no GID", cmd->argv[2]);
	else
		err = 0;
	if (!err) {
		spin_lock(&sdev->lock);
		sdev->ports[port].gids[index] = gid;
		spin_unlock(&sdev->lock);
	}
	rdmasim_put(sdev);
	return err;
}

/**
 * rdmasim_cmd_pkey - pkey NAME/PORT INDEX VALUE
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_pkey(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	u32 port, index;
	u16 pkey;
	int err;

	err = rdmasim_table_object(cmd, "pkey NAME/PORT INDEX VALUE", &sdev,
				   &port, &index);
	if (err)
		return err;
	err = kstrtou16(cmd->argv[2], 0, &pkey);
	if (err) {
		rdmasim_say(cmd, "'%s' is no P_Key", cmd->argv[2]);
	} else if (index >= sdev->pkey_len) {
		rdmasim_say(cmd, "the table has %u entries", sdev->pkey_len);
		err = -EINVAL;
	} else {
		spin_lock(&sdev->lock);
		sdev->ports[port].pkeys[index] = pkey;
		spin_unlock(&sdev->lock);
	}
	rdmasim_put(sdev);
	return err;
}
