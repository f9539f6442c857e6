/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * rdmasim: simulated RDMA adapters. What the files of the module share.
 * The locking rules are at the top of main.c.
 */
#ifndef RDMASIM_H
#define RDMASIM_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

#define RDMASIM_MAX_PORTS	16
#define RDMASIM_MAX_TABLE	256	/* GIDs and P_Keys of one port */
#define RDMASIM_MAX_HW_COUNTERS	256
#define RDMASIM_TEXT		64	/* board_id and the like */
#define RDMASIM_SAY		192	/* explanation that goes with an errno */
#define RDMASIM_PATH		256	/* adapters, each below the one before */

/* Where a fault can sit. */
enum rdmasim_point {
	RDMASIM_QUERY_PORT,
	RDMASIM_COUNTERS,	/* counters/, that is process_mad */
	RDMASIM_HW_COUNTERS,
	RDMASIM_OPEN,		/* a verbs context is opened */
	RDMASIM_NODE_DESC,	/* node_desc is written */
	RDMASIM_BOARD_ID,	/* board_id is read */
	RDMASIM_POINTS
};

/**
 * struct rdmasim_fault - what happens to calls at one point of one port
 * @active: calls are affected at all
 * @block: they sleep until released
 * @killable: a fatal signal ends the sleep (otherwise D state, as with firmware)
 * @delay_ms: they sleep so long, when not @block
 * @err: positive errno that they give afterwards, 0 for none
 * @times: only so many further calls, 0 for all
 * @generation: counts releases; a sleeper whose number is old goes on
 */
struct rdmasim_fault {
	bool active;
	bool block;
	bool killable;
	u32 delay_ms;
	int err;
	u32 times;
	u32 generation;
};

/**
 * struct rdmasim_value - a counter, at rest or moving
 * @base: value at @since
 * @per_sec: how fast it counts, negative for down
 * @since: when @base was set
 * @err: positive errno instead of a value, RDMASIM_NO_PMA for that text
 */
struct rdmasim_value {
	u64 base;
	s64 per_sec;
	ktime_t since;
	int err;
};

#define RDMASIM_NO_PMA 100000

enum rdmasim_pma {
	RDMASIM_PMA_SYMBOL_ERROR,
	RDMASIM_PMA_LINK_ERROR_RECOVERY,
	RDMASIM_PMA_LINK_DOWNED,
	RDMASIM_PMA_RCV_ERRORS,
	RDMASIM_PMA_RCV_REMOTE_PHYSICAL,
	RDMASIM_PMA_RCV_SWITCH_RELAY,
	RDMASIM_PMA_XMIT_DISCARDS,
	RDMASIM_PMA_XMIT_CONSTRAINT,
	RDMASIM_PMA_RCV_CONSTRAINT,
	RDMASIM_PMA_LINK_INTEGRITY,
	RDMASIM_PMA_BUFFER_OVERRUN,
	RDMASIM_PMA_VL15_DROPPED,
	RDMASIM_PMA_XMIT_DATA,
	RDMASIM_PMA_RCV_DATA,
	RDMASIM_PMA_XMIT_PACKETS,
	RDMASIM_PMA_RCV_PACKETS,
	RDMASIM_PMA_XMIT_WAIT,
	RDMASIM_PMA_UNICAST_XMIT,
	RDMASIM_PMA_UNICAST_RCV,
	RDMASIM_PMA_MULTICAST_XMIT,
	RDMASIM_PMA_MULTICAST_RCV,
	RDMASIM_PMA_COUNT
};

/* Who makes the directory counters/ and which counters are 64 bits wide. */
enum rdmasim_counters {
	RDMASIM_COUNTERS_EXT,		/* PMA with PortCountersExtended */
	RDMASIM_COUNTERS_NOIETF,	/* the same without unicast, multicast */
	RDMASIM_COUNTERS_BASIC,		/* 32 bit data and packets */
	RDMASIM_COUNTERS_NONE,		/* no process_mad, no directory */
	RDMASIM_COUNTERS_SYSFS,		/* own files: an errno or text for each */
};

struct rdmasim_port {
	enum rdma_link_layer link_layer;

	/* what query_port answers; raw codes, so that unknown ones can be set */
	u32 state;
	u32 phys_state;
	u32 width;
	u32 speed;
	u32 lid;
	u32 lmc;
	u32 sm_lid;
	u32 sm_sl;
	u32 cap_mask;
	u32 max_mtu;
	u32 active_mtu;

	u64 subnet_prefix;
	union ib_gid *gids;
	u16 *pkeys;

	struct net_device *netdev;	/* Ethernet, may be NULL; holds a reference */
	bool follow;			/* state comes from the netdev */
	bool was_up;			/* as last told by an event */

	struct rdmasim_value pma[RDMASIM_PMA_COUNT];
	struct rdmasim_value *hw;
	struct rdmasim_fault fault[RDMASIM_POINTS];
	u64 events;
};

enum rdmasim_life {
	RDMASIM_CREATING,
	RDMASIM_LIVE,
	RDMASIM_DYING,
};

#define RDMASIM_PCIE_FILES	4
#define RDMASIM_MAX_VFS		16

/**
 * struct rdmasim_adapter - a physical card: the parent of the ib_devices on it
 * @dev: in sysfs
 * @entry: in the list of all
 * @above: what it is plugged into, NULL nothing; counted there
 * @devices: ib_devices on it and cards below it
 * @lock: guards @pcie
 * @pcie: texts of the files of its PCIe link, "" no such file
 * @devlink: its devlink instance, NULL none yet
 * @reporters: that this instance has
 * @physfn: of a virtual function: the physical one, referenced
 * @num_vfs: of a physical one: how many it has had
 * @vf: of a virtual one: its number
 * @vf_link: of a physical one: the link state of each (IFLA_VF_LINK_STATE_*)
 */
struct rdmasim_adapter {
	struct device dev;
	struct list_head entry;
	struct rdmasim_adapter *above;
	unsigned int devices;
	spinlock_t lock;
	char pcie[RDMASIM_PCIE_FILES][RDMASIM_TEXT];
	struct devlink *devlink;
	struct list_head reporters;
	struct rdmasim_adapter *physfn;
	int num_vfs;
	int vf;
	u8 vf_link[RDMASIM_MAX_VFS];
};

/**
 * struct rdmasim_dev - one simulated ib_device
 * @ibdev: what the RDMA core sees; must be first for ib_alloc_device()
 * @entry: in rdmasim_devices
 * @life: creating, live or dying; under rdmasim_lock
 * @users: holders from rdmasim_get(); the teardown waits for them
 * @teardown: removes it, when all devices are removed side by side
 * @name: the name that it was created with; a rename leaves it alone
 * @adapter: its card, NULL with @pci_parent
 * @pci_parent: a real PCI function as parent, referenced
 * @num_ports: ports, numbered from 1
 * @gid_len: entries of each port's GID table
 * @pkey_len: entries of each port's P_Key table
 * @vendor_id: as ibv_devinfo shows it
 * @part_id: the same
 * @num_hw: hw_counters of each port, or of the device
 * @uverbs: it has a uverbs node
 * @disassociate: its driver can take the device from open contexts
 * @node_desc: its node_desc can be written
 * @hw_on_device: the hw_counters are the device's, not the ports'
 * @counters: what its counters/ is like
 * @hw_descs: names of the hw_counters
 * @lock: guards what follows, as far as it changes
 * @sys_image_guid: constant
 * @fw_ver: text of fw_ver
 * @board_id: text of board_id; without one at creation there is no such file
 * @hca_type: the same for hca_type
 * @hw_rev: the same for hw_rev
 * @ports: 0 is the device as a whole, then 1..@num_ports
 * @released: sleepers in faults wait here
 * @dying: faults end at once, new ones have no effect
 * @calls: how often the layers above came to each point
 * @sleeping: how many of their calls sleep in a fault now
 * @contexts: open verbs contexts
 */
struct rdmasim_dev {
	struct ib_device ibdev;
	struct list_head entry;
	enum rdmasim_life life;
	atomic_t users;
	struct work_struct teardown;

	char name[IB_DEVICE_NAME_MAX];
	struct rdmasim_adapter *adapter;
	struct device *pci_parent;

	u32 num_ports;
	u32 gid_len;
	u32 pkey_len;
	u32 vendor_id;
	u32 part_id;
	u32 num_hw;
	bool uverbs;
	bool disassociate;
	bool node_desc;
	bool hw_on_device;
	enum rdmasim_counters counters;
	struct rdma_stat_desc *hw_descs;

	spinlock_t lock;
	__be64 sys_image_guid;
	char fw_ver[RDMASIM_TEXT];
	char board_id[RDMASIM_TEXT];
	char hca_type[RDMASIM_TEXT];
	char hw_rev[RDMASIM_TEXT];
	struct rdmasim_port *ports;
	wait_queue_head_t released;
	bool dying;

	atomic64_t calls[RDMASIM_POINTS];
	atomic_t sleeping;
	atomic_t contexts;
};

static inline struct rdmasim_dev *to_rdmasim(struct ib_device *ibdev)
{
	return container_of(ibdev, struct rdmasim_dev, ibdev);
}

/**
 * struct rdmasim_cmd - one command line, cut into words
 * @argc: number of words, the verb not counted
 * @argv: the words
 * @say: why the command was refused, in words
 */
struct rdmasim_cmd {
	int argc;
	char **argv;
	char say[RDMASIM_SAY];
};

/* main.c */
extern struct mutex rdmasim_lock;
extern struct list_head rdmasim_devices;
struct rdmasim_dev *rdmasim_get(const char *name);
void rdmasim_put(struct rdmasim_dev *sdev);
void rdmasim_wait_unused(struct rdmasim_dev *sdev);

/* adapter.c */
int rdmasim_adapter_init(void);
void rdmasim_adapter_exit(void);
struct rdmasim_adapter *rdmasim_adapter_get(char *path);
void rdmasim_adapter_put(struct rdmasim_adapter *adapter);
int rdmasim_adapter_vf_of(struct rdmasim_adapter *adapter, const char *name);
int rdmasim_cmd_pcie(struct rdmasim_cmd *cmd);

/* devlink.c */
void rdmasim_devlink_remove(struct rdmasim_adapter *adapter);
int rdmasim_cmd_reporter(struct rdmasim_cmd *cmd);

/* device.c */
extern struct workqueue_struct *rdmasim_wq;
int rdmasim_cmd_create(struct rdmasim_cmd *cmd);
int rdmasim_cmd_destroy(struct rdmasim_cmd *cmd);
int rdmasim_cmd_set(struct rdmasim_cmd *cmd);
void rdmasim_destroy_all(void);

/* port.c */
extern const struct ib_device_ops rdmasim_port_ops;
int rdmasim_port_init(void);
void rdmasim_port_exit(void);
int rdmasim_port_netdevs(struct rdmasim_cmd *cmd, struct rdmasim_dev *sdev,
			 char *names);
void rdmasim_port_unbind(struct rdmasim_dev *sdev);
void rdmasim_port_defaults(struct rdmasim_dev *sdev, u32 port);
bool rdmasim_port_key(struct rdmasim_port *port, const char *key,
		      const char *value, int *err);
bool rdmasim_port_follow(struct rdmasim_port *port);
u32 rdmasim_port_state(const struct rdmasim_port *port, u32 *phys);
int rdmasim_cmd_port(struct rdmasim_cmd *cmd);
int rdmasim_cmd_gid(struct rdmasim_cmd *cmd);
int rdmasim_cmd_pkey(struct rdmasim_cmd *cmd);

/* counters.c */
extern const struct ib_device_ops rdmasim_mad_ops;
extern const struct ib_device_ops rdmasim_hw_port_ops;
extern const struct ib_device_ops rdmasim_hw_device_ops;
extern const struct ib_device_ops rdmasim_sysfs_counter_ops;
int rdmasim_hw_names(struct rdmasim_dev *sdev, const char *list);
void rdmasim_count_link_down(struct rdmasim_dev *sdev, u32 port);
int rdmasim_cmd_counter(struct rdmasim_cmd *cmd);
int rdmasim_cmd_hw_counter(struct rdmasim_cmd *cmd);
int rdmasim_cmd_reset(struct rdmasim_cmd *cmd);

/* fault.c */
extern const char * const rdmasim_point_names[RDMASIM_POINTS];
int rdmasim_fault(struct rdmasim_dev *sdev, u32 port, enum rdmasim_point point);
void rdmasim_fault_abort(struct rdmasim_dev *sdev);
int rdmasim_cmd_fault(struct rdmasim_cmd *cmd);
int rdmasim_cmd_release(struct rdmasim_cmd *cmd);

/* event.c */
void rdmasim_event(struct rdmasim_dev *sdev, u32 port, enum ib_event_type type);
int rdmasim_cmd_event(struct rdmasim_cmd *cmd);

/* netdev.c */
int rdmasim_cmd_netdev(struct rdmasim_cmd *cmd);
void rdmasim_netdev_exit(void);

/* verbs.c */
extern const struct ib_device_ops rdmasim_verbs_ops;
extern const struct ib_device_ops rdmasim_uverbs_ops;
extern const struct ib_device_ops rdmasim_disassociate_ops;

/* control.c */
int rdmasim_control_init(void);
void rdmasim_control_exit(void);
__printf(2, 3) void rdmasim_say(struct rdmasim_cmd *cmd, const char *fmt, ...);
char *rdmasim_key(char *word);
void rdmasim_decode(char *text);
int rdmasim_errno(const char *text);
struct rdmasim_dev *rdmasim_get_object(struct rdmasim_cmd *cmd,
				       const char *object, u32 *port);

#endif
