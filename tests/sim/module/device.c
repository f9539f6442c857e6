// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: devices. How one is described, made, changed and taken away.
 */
#include <linux/ctype.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "rdmasim.h"

struct workqueue_struct *rdmasim_wq;

/* Words of a create command that need the device to be there already. */
struct rdmasim_draft {
	char *link_layer;
	char *netdev;
	char *hw_counters;
	char *adapter;
	char *pci;
	char *vf_of;
	char *node_desc;
	bool no_hw_counters;
};

static const char * const rdmasim_counter_modes[] = {
	[RDMASIM_COUNTERS_EXT]		= "ext",
	[RDMASIM_COUNTERS_NOIETF]	= "noietf",
	[RDMASIM_COUNTERS_BASIC]	= "basic",
	[RDMASIM_COUNTERS_NONE]		= "none",
	[RDMASIM_COUNTERS_SYSFS]	= "sysfs",
};

static void rdmasim_text(struct rdmasim_dev *sdev, char *buf, const char *text)
{
	spin_lock(&sdev->lock);
	strscpy(buf, text, RDMASIM_TEXT);
	spin_unlock(&sdev->lock);
}

static ssize_t rdmasim_text_emit(struct rdmasim_dev *sdev, char *buf,
				 const char *text)
{
	char copy[RDMASIM_TEXT];

	rdmasim_text(sdev, copy, text);
	return sysfs_emit(buf, "%s\n", copy);
}

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	struct rdmasim_dev *sdev =
		rdma_device_to_drv_device(dev, struct rdmasim_dev, ibdev);

	return rdmasim_text_emit(sdev, buf, sdev->hw_rev);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	struct rdmasim_dev *sdev =
		rdma_device_to_drv_device(dev, struct rdmasim_dev, ibdev);

	return rdmasim_text_emit(sdev, buf, sdev->hca_type);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	struct rdmasim_dev *sdev =
		rdma_device_to_drv_device(dev, struct rdmasim_dev, ibdev);
	int err;

	err = rdmasim_fault(sdev, 0, RDMASIM_BOARD_ID);
	if (err)
		return err;
	return rdmasim_text_emit(sdev, buf, sdev->board_id);
}
static DEVICE_ATTR_RO(board_id);

static ssize_t adapter_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct rdmasim_dev *sdev =
		rdma_device_to_drv_device(dev, struct rdmasim_dev, ibdev);

	return sysfs_emit(buf, "%s\n", dev_name(sdev->ibdev.dev.parent));
}
static DEVICE_ATTR_RO(adapter);

static struct attribute *rdmasim_device_attrs[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	&dev_attr_adapter.attr,
	NULL
};

/* A driver without such a text has no such file. */
static umode_t rdmasim_attr_visible(struct kobject *kobj,
				    struct attribute *attr, int n)
{
	struct rdmasim_dev *sdev =
		rdma_device_to_drv_device(kobj_to_dev(kobj), struct rdmasim_dev,
					  ibdev);

	if ((attr == &dev_attr_hw_rev.attr && !*sdev->hw_rev) ||
	    (attr == &dev_attr_hca_type.attr && !*sdev->hca_type) ||
	    (attr == &dev_attr_board_id.attr && !*sdev->board_id))
		return 0;
	return attr->mode;
}

static const struct attribute_group rdmasim_device_group = {
	.attrs = rdmasim_device_attrs,
	.is_visible = rdmasim_attr_visible,
};

static void rdmasim_get_fw_str(struct ib_device *ibdev, char *str)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);

	rdmasim_text(sdev, str, sdev->fw_ver);
}

static const struct ib_device_ops rdmasim_device_ops = {
	.device_group = &rdmasim_device_group,
	.get_dev_fw_str = rdmasim_get_fw_str,
};

static int rdmasim_modify_device(struct ib_device *ibdev, int mask,
				 struct ib_device_modify *modify)
{
	int err;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	err = rdmasim_fault(to_rdmasim(ibdev), 0, RDMASIM_NODE_DESC);
	if (!err && (mask & IB_DEVICE_MODIFY_NODE_DESC))
		memcpy(ibdev->node_desc, modify->node_desc,
		       IB_DEVICE_NODE_DESC_MAX);
	return err;
}

/* Without it writing node_desc is refused with EOPNOTSUPP. */
static const struct ib_device_ops rdmasim_node_desc_ops = {
	.modify_device = rdmasim_modify_device,
};

/* Hexadecimal, with colons or without. */
static int rdmasim_guid(const char *text, __be64 *guid)
{
	u64 value = 0;
	int digits = 0;

	if (text[0] == '0' && tolower(text[1]) == 'x')
		text += 2;
	for (; *text; text++) {
		if (*text == ':')
			continue;
		if (!isxdigit(*text) || ++digits > 16)
			return -EINVAL;
		value = value << 4 | hex_to_bin(*text);
	}
	*guid = cpu_to_be64(value);
	return digits ? 0 : -EINVAL;
}

static int rdmasim_text_key(char *buf, char *value)
{
	rdmasim_decode(value);
	return strscpy(buf, value, RDMASIM_TEXT) < 0 ? -E2BIG : 0;
}

/* Texts that can also change while the device lives. */
static bool rdmasim_live_key(struct rdmasim_dev *sdev, const char *key,
			     char *value, int *err)
{
	if (!strcmp(key, "fw"))
		*err = rdmasim_text_key(sdev->fw_ver, value);
	else if (!strcmp(key, "board"))
		*err = rdmasim_text_key(sdev->board_id, value);
	else if (!strcmp(key, "hca_type"))
		*err = rdmasim_text_key(sdev->hca_type, value);
	else if (!strcmp(key, "hw_rev"))
		*err = rdmasim_text_key(sdev->hw_rev, value);
	else
		return false;
	return true;
}

static int rdmasim_range(const char *value, u32 *number, u32 max)
{
	int err = kstrtou32(value, 0, number);

	return err ?: *number < 1 || *number > max ? -ERANGE : 0;
}

static bool rdmasim_create_key(struct rdmasim_dev *sdev,
			       struct rdmasim_draft *draft, const char *key,
			       char *value, int *err)
{
	int mode;

	*err = 0;
	if (!strcmp(key, "ports")) {
		*err = rdmasim_range(value, &sdev->num_ports, RDMASIM_MAX_PORTS);
	} else if (!strcmp(key, "gids")) {
		*err = rdmasim_range(value, &sdev->gid_len, RDMASIM_MAX_TABLE);
	} else if (!strcmp(key, "pkeys")) {
		*err = rdmasim_range(value, &sdev->pkey_len, RDMASIM_MAX_TABLE);
	} else if (!strcmp(key, "node_guid")) {
		*err = rdmasim_guid(value, &sdev->ibdev.node_guid);
	} else if (!strcmp(key, "sys_image_guid")) {
		*err = rdmasim_guid(value, &sdev->sys_image_guid);
	} else if (!strcmp(key, "vendor_id")) {
		*err = kstrtou32(value, 0, &sdev->vendor_id);
	} else if (!strcmp(key, "part_id")) {
		*err = kstrtou32(value, 0, &sdev->part_id);
	} else if (!strcmp(key, "uverbs")) {
		*err = kstrtobool(value, &sdev->uverbs);
	} else if (!strcmp(key, "disassociate")) {
		*err = kstrtobool(value, &sdev->disassociate);
	} else if (!strcmp(key, "set_node_desc")) {
		*err = kstrtobool(value, &sdev->node_desc);
	} else if (!strcmp(key, "hw_on_device")) {
		*err = kstrtobool(value, &sdev->hw_on_device);
	} else if (!strcmp(key, "counters")) {
		mode = match_string(rdmasim_counter_modes,
				    ARRAY_SIZE(rdmasim_counter_modes), value);
		*err = mode < 0 ? mode : 0;
		if (!*err)
			sdev->counters = mode;
	} else if (!strcmp(key, "hw_counters")) {
		draft->no_hw_counters = !strcmp(value, "none");
		draft->hw_counters = value;
	} else if (!strcmp(key, "link_layer")) {
		draft->link_layer = value;
	} else if (!strcmp(key, "netdev")) {
		draft->netdev = value;
	} else if (!strcmp(key, "adapter")) {
		draft->adapter = value;
	} else if (!strcmp(key, "vf_of")) {
		draft->vf_of = value;
	} else if (!strcmp(key, "pci")) {
		draft->pci = value;
	} else if (!strcmp(key, "node_desc")) {
		rdmasim_decode(value);
		draft->node_desc = value;
	} else {
		return rdmasim_live_key(sdev, key, value, err);
	}
	return true;
}

static bool rdmasim_name_ok(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (!isalnum(*c) && !strchr("_.:-", *c))
			return false;
	return *name && *name != '.' && strlen(name) < IB_DEVICE_NAME_MAX &&
	       strcmp(name, "all");
}

/* Names of adapters, each below the one before. */
static bool rdmasim_path_ok(const char *path)
{
	char copy[RDMASIM_PATH], *rest = copy, *name;

	if (strscpy(copy, path, sizeof(copy)) < 0)
		return false;
	while ((name = strsep(&rest, "/")))
		if (!rdmasim_name_ok(name))
			return false;
	return true;
}

static int rdmasim_alloc_ports(struct rdmasim_dev *sdev)
{
	u32 p;

	sdev->ports = kcalloc(sdev->num_ports + 1, sizeof(*sdev->ports),
			      GFP_KERNEL);
	if (!sdev->ports)
		return -ENOMEM;
	for (p = 1; p <= sdev->num_ports; p++) {
		sdev->ports[p].gids = kcalloc(sdev->gid_len,
					      sizeof(union ib_gid), GFP_KERNEL);
		sdev->ports[p].pkeys = kcalloc(sdev->pkey_len, sizeof(u16),
					       GFP_KERNEL);
		if (!sdev->ports[p].gids || !sdev->ports[p].pkeys)
			return -ENOMEM;
	}
	return 0;
}

/* Frees also what creation left half done; not for a registered device. */
static void rdmasim_free(struct rdmasim_dev *sdev)
{
	u32 p, i;

	for (p = 0; sdev->ports && p <= sdev->num_ports; p++) {
		kfree(sdev->ports[p].gids);
		kfree(sdev->ports[p].pkeys);
		kfree(sdev->ports[p].hw);
	}
	kfree(sdev->ports);
	for (i = 0; i < sdev->num_hw; i++)
		kfree(sdev->hw_descs[i].name);
	kfree(sdev->hw_descs);
	put_device(sdev->pci_parent);
	ib_dealloc_device(&sdev->ibdev);
}

/* One word for all ports, or one for each, the last for the rest. */
static int rdmasim_link_layers(struct rdmasim_cmd *cmd, struct rdmasim_dev *sdev,
			       char *words)
{
	enum rdma_link_layer layer = IB_LINK_LAYER_INFINIBAND;
	char *word;
	u32 p;

	for (p = 1; p <= sdev->num_ports; p++) {
		word = strsep(&words, ",");
		if (word && !strcasecmp(word, "InfiniBand")) {
			layer = IB_LINK_LAYER_INFINIBAND;
		} else if (word && !strcasecmp(word, "Ethernet")) {
			layer = IB_LINK_LAYER_ETHERNET;
		} else if (word && !strcasecmp(word, "Unknown")) {
			layer = IB_LINK_LAYER_UNSPECIFIED;
		} else if (word) {
			rdmasim_say(cmd, "no link layer is called '%s'", word);
			return -EINVAL;
		}
		sdev->ports[p].link_layer = layer;
	}
	sdev->ibdev.node_type = layer == IB_LINK_LAYER_UNSPECIFIED ?
				RDMA_NODE_UNSPECIFIED : RDMA_NODE_IB_CA;
	return 0;
}

static void rdmasim_defaults(struct rdmasim_dev *sdev)
{
	static atomic_t serial = ATOMIC_INIT(0);
	u64 guid = 0x0200c9fffe000000ULL |
		   (u64)((u32)atomic_inc_return(&serial) & 0xffff) << 8;

	spin_lock_init(&sdev->lock);
	init_waitqueue_head(&sdev->released);
	sdev->ibdev.node_guid = cpu_to_be64(guid);
	sdev->num_ports = 1;
	sdev->gid_len = 16;
	sdev->pkey_len = 8;
	sdev->vendor_id = 0x02c9;
	sdev->part_id = 4129;
	sdev->uverbs = true;
	sdev->disassociate = true;
	sdev->node_desc = true;
	strscpy(sdev->fw_ver, "28.41.1000", RDMASIM_TEXT);
	strscpy(sdev->board_id, "SIM_0000000838", RDMASIM_TEXT);
	strscpy(sdev->hca_type, "MT4129", RDMASIM_TEXT);
	strscpy(sdev->hw_rev, "0", RDMASIM_TEXT);
}

/*
 * The words come in any order, but ports need their number and the defaults the
 * GUID: so first what concerns the device, then the rest, which is for ports.
 */
static int rdmasim_describe(struct rdmasim_cmd *cmd, struct rdmasim_dev *sdev,
			    struct rdmasim_draft *draft)
{
	char *key, *value, *ours[64] = {};
	int i, err;
	u32 p;

	for (i = 1; i < cmd->argc; i++) {
		key = cmd->argv[i];
		value = rdmasim_key(key);
		if (!value) {
			rdmasim_say(cmd, "'%s' is not KEY=VALUE", key);
			return -EINVAL;
		}
		if (!rdmasim_create_key(sdev, draft, key, value, &err)) {
			ours[i] = value;
		} else if (err) {
			rdmasim_say(cmd, "bad value in %s=%s", key, value);
			return err;
		}
	}
	if (!sdev->sys_image_guid)
		sdev->sys_image_guid = sdev->ibdev.node_guid;

	err = rdmasim_alloc_ports(sdev);
	if (!err)
		err = rdmasim_link_layers(cmd, sdev, draft->link_layer);
	if (!err && !draft->no_hw_counters)
		err = rdmasim_hw_names(sdev, draft->hw_counters);
	if (err) {
		rdmasim_say(cmd, "bad link_layer or hw_counters");
		return err;
	}

	for (p = 1; p <= sdev->num_ports; p++) {
		rdmasim_port_defaults(sdev, p);
		for (i = 1; i < cmd->argc; i++) {
			if (!ours[i])
				continue;
			err = 0;
			if (!rdmasim_port_key(&sdev->ports[p], cmd->argv[i],
					      ours[i], &err)) {
				rdmasim_say(cmd, "create knows no key '%s'",
					    cmd->argv[i]);
				return -EINVAL;
			}
			if (err) {
				rdmasim_say(cmd, "bad value in %s=%s",
					    cmd->argv[i], ours[i]);
				return err;
			}
		}
	}
	return 0;
}

/* The core's view of what has been described. */
static void rdmasim_equip(struct rdmasim_dev *sdev, const char *node_desc)
{
	struct ib_device *ibdev = &sdev->ibdev;

	ibdev->phys_port_cnt = sdev->num_ports;
	ibdev->num_comp_vectors = 1;
	strscpy(ibdev->node_desc, node_desc ?: sdev->name,
		sizeof(ibdev->node_desc));
	ibdev->dev.parent = sdev->adapter ? &sdev->adapter->dev :
					    sdev->pci_parent;

	ib_set_device_ops(ibdev, &rdmasim_verbs_ops);
	ib_set_device_ops(ibdev, &rdmasim_port_ops);
	ib_set_device_ops(ibdev, &rdmasim_device_ops);
	if (sdev->uverbs)
		ib_set_device_ops(ibdev, &rdmasim_uverbs_ops);
	if (sdev->uverbs && sdev->disassociate)
		ib_set_device_ops(ibdev, &rdmasim_disassociate_ops);
	if (sdev->node_desc)
		ib_set_device_ops(ibdev, &rdmasim_node_desc_ops);
	if (sdev->counters == RDMASIM_COUNTERS_SYSFS)
		ib_set_device_ops(ibdev, &rdmasim_sysfs_counter_ops);
	else if (sdev->counters != RDMASIM_COUNTERS_NONE)
		ib_set_device_ops(ibdev, &rdmasim_mad_ops);
	if (sdev->num_hw)
		ib_set_device_ops(ibdev, sdev->hw_on_device ?
				  &rdmasim_hw_device_ops : &rdmasim_hw_port_ops);
}

/* Takes the name and the place on the card; from here the notifier knows it. */
static int rdmasim_link(struct rdmasim_cmd *cmd, struct rdmasim_dev *sdev,
			const struct rdmasim_draft *draft)
{
	char *adapter = draft->adapter ?: sdev->name;
	struct rdmasim_dev *other;
	int err = 0;

	mutex_lock(&rdmasim_lock);
	list_for_each_entry(other, &rdmasim_devices, entry) {
		if (!strcmp(other->life == RDMASIM_LIVE ? other->ibdev.name :
							  other->name,
			    sdev->name)) {
			rdmasim_say(cmd, "there is a device '%s'%s", sdev->name,
				    other->life == RDMASIM_DYING ?
				    ", waiting to be removed" : "");
			err = -EEXIST;
			goto out;
		}
	}
	if (!sdev->pci_parent) {
		char path[RDMASIM_PATH];

		strscpy(path, adapter, sizeof(path));
		sdev->adapter = rdmasim_adapter_get(path);
		if (IS_ERR(sdev->adapter)) {
			err = PTR_ERR(sdev->adapter);
			sdev->adapter = NULL;
			rdmasim_say(cmd, "cannot make the adapter '%s'", adapter);
			goto out;
		}
		if (draft->vf_of)
			err = rdmasim_adapter_vf_of(sdev->adapter, draft->vf_of);
		if (err) {
			rdmasim_adapter_put(sdev->adapter);
			sdev->adapter = NULL;
			rdmasim_say(cmd, "no other adapter is called '%s'",
				    draft->vf_of);
			goto out;
		}
	}
	list_add_tail(&sdev->entry, &rdmasim_devices);
out:
	mutex_unlock(&rdmasim_lock);
	return err;
}

static void rdmasim_unlink(struct rdmasim_dev *sdev)
{
	mutex_lock(&rdmasim_lock);
	list_del(&sdev->entry);
	if (sdev->adapter)
		rdmasim_adapter_put(sdev->adapter);
	mutex_unlock(&rdmasim_lock);
	rdmasim_port_unbind(sdev);
}

static void rdmasim_go_live(struct rdmasim_dev *sdev)
{
	u32 p, phys;

	mutex_lock(&rdmasim_lock);
	spin_lock(&sdev->lock);
	for (p = 1; p <= sdev->num_ports; p++)
		sdev->ports[p].was_up =
			rdmasim_port_state(&sdev->ports[p], &phys) == IB_PORT_ACTIVE;
	spin_unlock(&sdev->lock);
	sdev->life = RDMASIM_LIVE;
	mutex_unlock(&rdmasim_lock);
}

static void rdmasim_teardown(struct rdmasim_dev *sdev)
{
	rdmasim_fault_abort(sdev);
	rdmasim_wait_unused(sdev);
	ib_unregister_device(&sdev->ibdev);
	rdmasim_unlink(sdev);
	rdmasim_free(sdev);
}

static void rdmasim_teardown_work(struct work_struct *work)
{
	rdmasim_teardown(container_of(work, struct rdmasim_dev, teardown));
}

/**
 * rdmasim_cmd_create - create NAME [KEY=VALUE...]
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_create(struct rdmasim_cmd *cmd)
{
	struct rdmasim_draft draft = {};
	struct rdmasim_dev *sdev;
	int err;

	if (cmd->argc < 1 || !rdmasim_name_ok(cmd->argv[0])) {
		rdmasim_say(cmd, "usage: create NAME [KEY=VALUE...], NAME of letters, digits and _.:-");
		return -EINVAL;
	}
	sdev = ib_alloc_device(rdmasim_dev, ibdev);
	if (!sdev)
		return -ENOMEM;
	rdmasim_defaults(sdev);
	INIT_WORK(&sdev->teardown, rdmasim_teardown_work);
	strscpy(sdev->name, cmd->argv[0], sizeof(sdev->name));

	err = rdmasim_describe(cmd, sdev, &draft);
	if (err)
		goto err_free;
	if (draft.adapter && !rdmasim_path_ok(draft.adapter)) {
		rdmasim_say(cmd, "'%s' is no name for an adapter", draft.adapter);
		err = -EINVAL;
		goto err_free;
	}
	if (draft.pci) {
		sdev->pci_parent = bus_find_device_by_name(&pci_bus_type, NULL,
							   draft.pci);
		if (!sdev->pci_parent) {
			rdmasim_say(cmd, "no PCI function %s", draft.pci);
			err = -ENODEV;
			goto err_free;
		}
	}

	err = rdmasim_link(cmd, sdev, &draft);
	if (err)
		goto err_free;
	if (draft.netdev)
		err = rdmasim_port_netdevs(cmd, sdev, draft.netdev);
	if (err)
		goto err_unlink;

	rdmasim_equip(sdev, draft.node_desc);
	err = ib_register_device(&sdev->ibdev, sdev->name, NULL);
	if (err) {
		rdmasim_say(cmd, "the RDMA core refuses the device (%d)", err);
		goto err_unlink;
	}
	rdmasim_go_live(sdev);
	return 0;

err_unlink:
	rdmasim_unlink(sdev);
err_free:
	rdmasim_free(sdev);
	return err;
}

/**
 * rdmasim_destroy_all - destroy every device, side by side
 *
 * Returns when all are gone; that can wait for open contexts.
 */
void rdmasim_destroy_all(void)
{
	struct rdmasim_dev *sdev;

	mutex_lock(&rdmasim_lock);
	list_for_each_entry(sdev, &rdmasim_devices, entry) {
		if (sdev->life != RDMASIM_LIVE)
			continue;
		sdev->life = RDMASIM_DYING;
		queue_work(rdmasim_wq, &sdev->teardown);
	}
	mutex_unlock(&rdmasim_lock);
	flush_workqueue(rdmasim_wq);
}

/**
 * rdmasim_cmd_destroy - destroy NAME|all
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_destroy(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	bool mine;
	u32 port;

	if (cmd->argc != 1) {
		rdmasim_say(cmd, "usage: destroy NAME|all");
		return -EINVAL;
	}
	if (!strcmp(cmd->argv[0], "all")) {
		rdmasim_destroy_all();
		return 0;
	}
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	mutex_lock(&rdmasim_lock);
	mine = sdev->life == RDMASIM_LIVE && !port;
	if (mine)
		sdev->life = RDMASIM_DYING;
	mutex_unlock(&rdmasim_lock);
	rdmasim_put(sdev);
	if (!mine) {
		rdmasim_say(cmd, "%s", port ? "a port cannot be destroyed alone" :
					      "it is being destroyed already");
		return port ? -EINVAL : -EALREADY;
	}
	rdmasim_teardown(sdev);
	return 0;
}

/**
 * rdmasim_cmd_set - set NAME fw=... board=... hca_type=... hw_rev=...
 * @cmd: the command
 *
 * A file that the device was created without does not appear by this.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_set(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	char *value;
	int i, err = 0;
	u32 port;

	if (cmd->argc < 2) {
		rdmasim_say(cmd, "usage: set NAME [fw=] [board=] [hca_type=] [hw_rev=]");
		return -EINVAL;
	}
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	for (i = 1; i < cmd->argc && !err; i++) {
		bool known = false;

		value = rdmasim_key(cmd->argv[i]);
		if (value) {
			spin_lock(&sdev->lock);
			known = rdmasim_live_key(sdev, cmd->argv[i], value, &err);
			spin_unlock(&sdev->lock);
		}
		if (!known) {
			rdmasim_say(cmd, "set knows no '%s'", cmd->argv[i]);
			err = -EINVAL;
		}
	}
	rdmasim_put(sdev);
	return err;
}
