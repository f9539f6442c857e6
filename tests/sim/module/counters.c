// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: counters. Those of counters/ are answered as performance management
 * MADs, with the widths of the specification, and stick at their maximum; those
 * of hw_counters/ are 64 bits wide and have any names.
 */
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_sysfs.h>

#include "rdmasim.h"

/*
 * @width and @offset (in bits) are the field's place in PortCounters,
 * @ext the offset of its 64 bit form in PortCountersExtended; 0 is none.
 */
static const struct {
	const char *name;
	u8 width;
	u16 offset;
	u16 ext;
} rdmasim_pma[RDMASIM_PMA_COUNT] = {
	[RDMASIM_PMA_SYMBOL_ERROR] = { "symbol_error", 16, 32 },
	[RDMASIM_PMA_LINK_ERROR_RECOVERY] = { "link_error_recovery", 8, 48 },
	[RDMASIM_PMA_LINK_DOWNED] = { "link_downed", 8, 56 },
	[RDMASIM_PMA_RCV_ERRORS] = { "port_rcv_errors", 16, 64 },
	[RDMASIM_PMA_RCV_REMOTE_PHYSICAL] = { "port_rcv_remote_physical_errors", 16, 80 },
	[RDMASIM_PMA_RCV_SWITCH_RELAY] = { "port_rcv_switch_relay_errors", 16, 96 },
	[RDMASIM_PMA_XMIT_DISCARDS] = { "port_xmit_discards", 16, 112 },
	[RDMASIM_PMA_XMIT_CONSTRAINT] = { "port_xmit_constraint_errors", 8, 128 },
	[RDMASIM_PMA_RCV_CONSTRAINT] = { "port_rcv_constraint_errors", 8, 136 },
	[RDMASIM_PMA_LINK_INTEGRITY] = { "local_link_integrity_errors", 4, 152 },
	[RDMASIM_PMA_BUFFER_OVERRUN] = { "excessive_buffer_overrun_errors", 4, 156 },
	[RDMASIM_PMA_VL15_DROPPED] = { "VL15_dropped", 16, 176 },
	[RDMASIM_PMA_XMIT_DATA] = { "port_xmit_data", 32, 192, 64 },
	[RDMASIM_PMA_RCV_DATA] = { "port_rcv_data", 32, 224, 128 },
	[RDMASIM_PMA_XMIT_PACKETS] = { "port_xmit_packets", 32, 256, 192 },
	[RDMASIM_PMA_RCV_PACKETS] = { "port_rcv_packets", 32, 288, 256 },
	[RDMASIM_PMA_XMIT_WAIT] = { "port_xmit_wait", 32, 320 },
	[RDMASIM_PMA_UNICAST_XMIT] = { "unicast_xmit_packets", 0, 0, 320 },
	[RDMASIM_PMA_UNICAST_RCV] = { "unicast_rcv_packets", 0, 0, 384 },
	[RDMASIM_PMA_MULTICAST_XMIT] = { "multicast_xmit_packets", 0, 0, 448 },
	[RDMASIM_PMA_MULTICAST_RCV] = { "multicast_rcv_packets", 0, 0, 512 },
};

static const char * const rdmasim_default_hw[] = {
	"link_downed", "rx_write_requests", "rx_read_requests",
	"out_of_sequence", "packet_seq_err", "local_ack_timeout_err",
	"req_transport_retries_exceeded", "np_cnp_sent", "rp_cnp_handled",
};

/* The value now. Counting down ends at 0, counting up at @max. */
static u64 rdmasim_value_now(const struct rdmasim_value *v, u64 max)
{
	s64 ms = ktime_ms_delta(ktime_get(), v->since);
	u64 moved;

	if (!v->per_sec)
		return min(v->base, max);
	if (v->per_sec < 0) {
		moved = div_u64((u64)-v->per_sec * ms, MSEC_PER_SEC);
		return min(moved < v->base ? v->base - moved : 0, max);
	}
	moved = div_u64((u64)v->per_sec * ms, MSEC_PER_SEC);
	return min(v->base + moved < v->base ? U64_MAX : v->base + moved, max);
}

static void rdmasim_value_set(struct rdmasim_value *v, u64 base)
{
	v->base = base;
	v->since = ktime_get();
}

static u64 rdmasim_pma_max(const struct rdmasim_dev *sdev, int i)
{
	bool wide = sdev->counters == RDMASIM_COUNTERS_EXT ||
		    sdev->counters == RDMASIM_COUNTERS_NOIETF ||
		    sdev->counters == RDMASIM_COUNTERS_SYSFS;

	if (rdmasim_pma[i].ext && (wide || !rdmasim_pma[i].width))
		return U64_MAX;
	return (1ULL << rdmasim_pma[i].width) - 1;
}

/* Big endian, most significant bit first, as MADs have it. */
static void rdmasim_put_bits(u8 *data, u16 offset, u8 width, u64 value)
{
	int i;

	if (width == 4) {
		data[offset / 8] |= value << (4 - offset % 8);
		return;
	}
	for (i = width / 8 - 1; i >= 0; i--, value >>= 8)
		data[offset / 8 + i] = value;
}

/*
 * One MAD carries all counters of its attribute, and who asked for which of
 * them is not known here: an errno on one makes the whole attribute fail.
 */
static int rdmasim_pma_fill(struct rdmasim_dev *sdev, u32 port, bool ext,
			    u8 *data)
{
	struct rdmasim_port *p = &sdev->ports[port];
	int i, err = 0;
	u64 max;

	spin_lock(&sdev->lock);
	for (i = 0; i < RDMASIM_PMA_COUNT; i++) {
		if (ext ? !rdmasim_pma[i].ext : !rdmasim_pma[i].width)
			continue;
		if (p->pma[i].err)
			err = p->pma[i].err;
		max = ext ? U64_MAX : (1ULL << rdmasim_pma[i].width) - 1;
		rdmasim_put_bits(data,
				 ext ? rdmasim_pma[i].ext : rdmasim_pma[i].offset,
				 ext ? 64 : rdmasim_pma[i].width,
				 rdmasim_value_now(&p->pma[i], max));
	}
	spin_unlock(&sdev->lock);
	return -err;
}

static int rdmasim_process_mad(struct ib_device *ibdev, int flags, u32 port,
			       const struct ib_wc *wc, const struct ib_grh *grh,
			       const struct ib_mad *in, struct ib_mad *out,
			       size_t *out_size, u16 *out_pkey_index)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);
	struct ib_class_port_info *info;
	struct ib_pma_mad *pma = (struct ib_pma_mad *)out;
	u8 *data = pma->data;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_FAILURE;

	*out = *in;
	memset(data, 0, sizeof(pma->data));
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;

	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info = (struct ib_class_port_info *)data;
		info->base_version = 1;
		info->class_version = 1;
		info->capability_mask = IB_PMA_CLASS_CAP_XMIT_WAIT;
		if (sdev->counters == RDMASIM_COUNTERS_EXT)
			info->capability_mask |= IB_PMA_CLASS_CAP_EXT_WIDTH;
		else if (sdev->counters == RDMASIM_COUNTERS_NOIETF)
			info->capability_mask |= IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
		break;
	case IB_PMA_PORT_COUNTERS:
		if (rdmasim_fault(sdev, port, RDMASIM_COUNTERS) ||
		    rdmasim_pma_fill(sdev, port, false, data))
			return IB_MAD_RESULT_FAILURE;
		data[1] = port;
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (sdev->counters == RDMASIM_COUNTERS_BASIC ||
		    rdmasim_fault(sdev, port, RDMASIM_COUNTERS) ||
		    rdmasim_pma_fill(sdev, port, true, data))
			return IB_MAD_RESULT_FAILURE;
		data[1] = port;
		break;
	default:
		return IB_MAD_RESULT_FAILURE;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

const struct ib_device_ops rdmasim_mad_ops = {
	.process_mad = rdmasim_process_mad,
};

/*
 * A counters/ directory of our own, for what the core's cannot show: an errno
 * for one attribute, and the text that kernels before 4.11 gave.
 */
struct rdmasim_counter_attr {
	struct ib_port_attribute attr;
	enum rdmasim_pma pma;
};

static ssize_t rdmasim_counter_show(struct ib_device *ibdev, u32 port,
				    struct ib_port_attribute *attr, char *buf)
{
	enum rdmasim_pma i =
		container_of(attr, struct rdmasim_counter_attr, attr)->pma;
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);
	struct rdmasim_value *v = &sdev->ports[port].pma[i];
	u64 now;
	int err;

	err = rdmasim_fault(sdev, port, RDMASIM_COUNTERS);
	if (err)
		return err;
	spin_lock(&sdev->lock);
	err = v->err;
	now = rdmasim_value_now(v, rdmasim_pma_max(sdev, i));
	spin_unlock(&sdev->lock);
	if (err == RDMASIM_NO_PMA)
		return sysfs_emit(buf, "N/A (no PMA)\n");
	if (err)
		return -err;
	return sysfs_emit(buf, "%llu\n", now);
}

#define RDMASIM_COUNTER(_name, _pma)					\
	static struct rdmasim_counter_attr rdmasim_counter_##_name = {	\
		.attr = __ATTR(_name, 0444, rdmasim_counter_show, NULL), \
		.pma = _pma,						\
	}

RDMASIM_COUNTER(symbol_error, RDMASIM_PMA_SYMBOL_ERROR);
RDMASIM_COUNTER(link_error_recovery, RDMASIM_PMA_LINK_ERROR_RECOVERY);
RDMASIM_COUNTER(link_downed, RDMASIM_PMA_LINK_DOWNED);
RDMASIM_COUNTER(port_rcv_errors, RDMASIM_PMA_RCV_ERRORS);
RDMASIM_COUNTER(port_rcv_remote_physical_errors, RDMASIM_PMA_RCV_REMOTE_PHYSICAL);
RDMASIM_COUNTER(port_rcv_switch_relay_errors, RDMASIM_PMA_RCV_SWITCH_RELAY);
RDMASIM_COUNTER(port_xmit_discards, RDMASIM_PMA_XMIT_DISCARDS);
RDMASIM_COUNTER(port_xmit_constraint_errors, RDMASIM_PMA_XMIT_CONSTRAINT);
RDMASIM_COUNTER(port_rcv_constraint_errors, RDMASIM_PMA_RCV_CONSTRAINT);
RDMASIM_COUNTER(local_link_integrity_errors, RDMASIM_PMA_LINK_INTEGRITY);
RDMASIM_COUNTER(excessive_buffer_overrun_errors, RDMASIM_PMA_BUFFER_OVERRUN);
RDMASIM_COUNTER(VL15_dropped, RDMASIM_PMA_VL15_DROPPED);
RDMASIM_COUNTER(port_xmit_data, RDMASIM_PMA_XMIT_DATA);
RDMASIM_COUNTER(port_rcv_data, RDMASIM_PMA_RCV_DATA);
RDMASIM_COUNTER(port_xmit_packets, RDMASIM_PMA_XMIT_PACKETS);
RDMASIM_COUNTER(port_rcv_packets, RDMASIM_PMA_RCV_PACKETS);
RDMASIM_COUNTER(port_xmit_wait, RDMASIM_PMA_XMIT_WAIT);
RDMASIM_COUNTER(unicast_xmit_packets, RDMASIM_PMA_UNICAST_XMIT);
RDMASIM_COUNTER(unicast_rcv_packets, RDMASIM_PMA_UNICAST_RCV);
RDMASIM_COUNTER(multicast_xmit_packets, RDMASIM_PMA_MULTICAST_XMIT);
RDMASIM_COUNTER(multicast_rcv_packets, RDMASIM_PMA_MULTICAST_RCV);

static struct attribute *rdmasim_counter_attrs[] = {
	&rdmasim_counter_symbol_error.attr.attr,
	&rdmasim_counter_link_error_recovery.attr.attr,
	&rdmasim_counter_link_downed.attr.attr,
	&rdmasim_counter_port_rcv_errors.attr.attr,
	&rdmasim_counter_port_rcv_remote_physical_errors.attr.attr,
	&rdmasim_counter_port_rcv_switch_relay_errors.attr.attr,
	&rdmasim_counter_port_xmit_discards.attr.attr,
	&rdmasim_counter_port_xmit_constraint_errors.attr.attr,
	&rdmasim_counter_port_rcv_constraint_errors.attr.attr,
	&rdmasim_counter_local_link_integrity_errors.attr.attr,
	&rdmasim_counter_excessive_buffer_overrun_errors.attr.attr,
	&rdmasim_counter_VL15_dropped.attr.attr,
	&rdmasim_counter_port_xmit_data.attr.attr,
	&rdmasim_counter_port_rcv_data.attr.attr,
	&rdmasim_counter_port_xmit_packets.attr.attr,
	&rdmasim_counter_port_rcv_packets.attr.attr,
	&rdmasim_counter_port_xmit_wait.attr.attr,
	&rdmasim_counter_unicast_xmit_packets.attr.attr,
	&rdmasim_counter_unicast_rcv_packets.attr.attr,
	&rdmasim_counter_multicast_xmit_packets.attr.attr,
	&rdmasim_counter_multicast_rcv_packets.attr.attr,
	NULL
};

static const struct attribute_group rdmasim_counter_group = {
	.name = "counters",
	.attrs = rdmasim_counter_attrs,
};

static const struct attribute_group *rdmasim_counter_groups[] = {
	&rdmasim_counter_group,
	NULL
};

const struct ib_device_ops rdmasim_sysfs_counter_ops = {
	.port_groups = rdmasim_counter_groups,
};

/* Optional ones are off until somebody asks for them; that is the driver's to say. */
static struct rdma_hw_stats *rdmasim_alloc_hw(struct rdmasim_dev *sdev)
{
	struct rdma_hw_stats *stats;
	u32 i;

	stats = rdma_alloc_hw_stats_struct(sdev->hw_descs, sdev->num_hw,
					   RDMA_HW_STATS_DEFAULT_LIFESPAN);
	for (i = 0; stats && i < sdev->num_hw; i++)
		if (sdev->hw_descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			set_bit(i, stats->is_disabled);
	return stats;
}

static struct rdma_hw_stats *rdmasim_alloc_hw_port(struct ib_device *ibdev,
						   u32 port)
{
	return rdmasim_alloc_hw(to_rdmasim(ibdev));
}

static struct rdma_hw_stats *rdmasim_alloc_hw_device(struct ib_device *ibdev)
{
	return rdmasim_alloc_hw(to_rdmasim(ibdev));
}

/*
 * The core asks with the index of one counter and is content with more. It
 * caches the lot only when told that all were updated; so as long as some
 * counter has an errno, the others are answered one by one, lest the cache hide
 * the errno. RDMA netlink always asks with index 0 and shows as many as this
 * returns.
 */
static int rdmasim_get_hw_stats(struct ib_device *ibdev,
				struct rdma_hw_stats *stats, u32 port, int index)
{
	struct rdmasim_dev *sdev = to_rdmasim(ibdev);
	struct rdmasim_value *hw = sdev->ports[port].hw;
	bool broken = false;
	int i, err;

	err = rdmasim_fault(sdev, port, RDMASIM_HW_COUNTERS);
	if (err)
		return err;

	spin_lock(&sdev->lock);
	for (i = 0; i < sdev->num_hw; i++) {
		if (hw[i].err) {
			broken = true;
			if (i == index)
				err = -hw[i].err;
			continue;
		}
		stats->value[i] = rdmasim_value_now(&hw[i], U64_MAX);
	}
	spin_unlock(&sdev->lock);
	if (err)
		return err;
	return broken && index > 0 && index < sdev->num_hw ? index :
							     sdev->num_hw;
}

static int rdmasim_modify_hw_stat(struct ib_device *ibdev, u32 port,
				  unsigned int index, bool enable)
{
	return rdmasim_fault(to_rdmasim(ibdev), port, RDMASIM_HW_COUNTERS);
}

const struct ib_device_ops rdmasim_hw_port_ops = {
	.alloc_hw_port_stats = rdmasim_alloc_hw_port,
	.get_hw_stats = rdmasim_get_hw_stats,
	.modify_hw_stat = rdmasim_modify_hw_stat,
};

const struct ib_device_ops rdmasim_hw_device_ops = {
	.alloc_hw_device_stats = rdmasim_alloc_hw_device,
	.get_hw_stats = rdmasim_get_hw_stats,
};

static int rdmasim_hw_name_add(struct rdmasim_dev *sdev, const char *name)
{
	struct rdma_stat_desc *desc;
	bool optional = *name == '?';
	char *copy;
	u32 i;

	name += optional;
	if (!*name || strchr(name, '/') || sdev->num_hw == RDMASIM_MAX_HW_COUNTERS)
		return -EINVAL;
	for (i = 0; i < sdev->num_hw; i++)
		if (!strcmp(sdev->hw_descs[i].name, name))
			return -EEXIST;
	copy = kstrdup(name, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	desc = &sdev->hw_descs[sdev->num_hw++];
	desc->name = copy;
	if (optional)
		desc->flags |= IB_STAT_FLAG_OPTIONAL;
	return 0;
}

/**
 * rdmasim_hw_names - give a new device its hw_counters
 * @sdev: the device, not registered yet
 * @list: names with commas between, not decoded yet so that a name can have a
 *	comma in it (%2C); optional ones begin with "?"; NULL for the usual ones
 *
 * The names are freed with the device, also after a failure.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_hw_names(struct rdmasim_dev *sdev, const char *list)
{
	char *copy, *rest, *name;
	int i, err = 0;

	sdev->hw_descs = kcalloc(RDMASIM_MAX_HW_COUNTERS,
				 sizeof(*sdev->hw_descs), GFP_KERNEL);
	if (!sdev->hw_descs)
		return -ENOMEM;

	if (list) {
		rest = copy = kstrdup(list, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		while (!err && (name = strsep(&rest, ","))) {
			rdmasim_decode(name);
			err = rdmasim_hw_name_add(sdev, name);
		}
		kfree(copy);
	} else {
		for (i = 0; !err && i < ARRAY_SIZE(rdmasim_default_hw); i++)
			err = rdmasim_hw_name_add(sdev, rdmasim_default_hw[i]);
	}
	for (i = 0; !err && i <= sdev->num_ports; i++) {
		sdev->ports[i].hw = kcalloc(sdev->num_hw,
					    sizeof(*sdev->ports[i].hw),
					    GFP_KERNEL);
		if (!sdev->ports[i].hw)
			err = -ENOMEM;
	}
	return err;
}

static struct rdmasim_value *rdmasim_hw_find(struct rdmasim_dev *sdev, u32 port,
					     const char *name)
{
	u32 i;

	for (i = 0; i < sdev->num_hw; i++)
		if (!strcmp(sdev->hw_descs[i].name, name))
			return &sdev->ports[port].hw[i];
	return NULL;
}

/**
 * rdmasim_count_link_down - count a lost link as an adapter does
 * @sdev: the device
 * @port: the port
 */
void rdmasim_count_link_down(struct rdmasim_dev *sdev, u32 port)
{
	struct rdmasim_value *hw = rdmasim_hw_find(sdev, port, "link_downed");

	spin_lock(&sdev->lock);
	sdev->ports[port].pma[RDMASIM_PMA_LINK_DOWNED].base++;
	if (hw)
		hw->base++;
	spin_unlock(&sdev->lock);
}

/* VALUE, +N, -N, per_sec=N, error=ERRNO|none|no-pma */
static int rdmasim_value_word(struct rdmasim_cmd *cmd, struct rdmasim_value *v,
			      char *word, u64 max, bool pma)
{
	u64 now = rdmasim_value_now(v, max), n;
	char *value = rdmasim_key(word);
	s64 per_sec;

	if (!value) {
		if (kstrtou64(*word == '+' || *word == '-' ? word + 1 : word, 0, &n)) {
			rdmasim_say(cmd, "'%s' is no value", word);
			return -EINVAL;
		}
		if (*word == '+')
			n = now + n < now ? U64_MAX : now + n;
		else if (*word == '-')
			n = n < now ? now - n : 0;
		rdmasim_value_set(v, min(n, max));
		return 0;
	}
	if (!strcmp(word, "per_sec")) {
		if (kstrtos64(value, 0, &per_sec) ||
		    per_sec > S32_MAX || per_sec < -(s64)S32_MAX) {
			rdmasim_say(cmd, "'%s' is no rate", value);
			return -EINVAL;
		}
		rdmasim_value_set(v, now);
		v->per_sec = per_sec;
		return 0;
	}
	if (!strcmp(word, "error")) {
		if (pma && !strcmp(value, "no-pma")) {
			v->err = RDMASIM_NO_PMA;
			return 0;
		}
		v->err = rdmasim_errno(value);
		if (v->err >= 0)
			return 0;
		v->err = 0;
		rdmasim_say(cmd, "'%s' is no errno", value);
		return -EINVAL;
	}
	rdmasim_say(cmd, "a counter has no key '%s'", word);
	return -EINVAL;
}

static int rdmasim_pma_find(const char *name)
{
	int i;

	for (i = 0; i < RDMASIM_PMA_COUNT; i++)
		if (!strcmp(rdmasim_pma[i].name, name))
			return i;
	return -1;
}

static int rdmasim_counter_words(struct rdmasim_cmd *cmd, bool hw)
{
	struct rdmasim_value *v, draft;
	struct rdmasim_dev *sdev;
	u32 port, p, first, last;
	u64 max = U64_MAX;
	int i, w, err = 0;

	if (cmd->argc < 3) {
		rdmasim_say(cmd, "usage: %scounter NAME[/PORT] COUNTER [VALUE|+N|-N] [per_sec=N] [error=ERRNO|none%s]",
			    hw ? "hw_" : "", hw ? "" : "|no-pma");
		return -EINVAL;
	}
	rdmasim_decode(cmd->argv[1]);
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);

	i = hw ? 0 : rdmasim_pma_find(cmd->argv[1]);
	if (hw ? !rdmasim_hw_find(sdev, 0, cmd->argv[1]) : i < 0) {
		rdmasim_say(cmd, "no counter is called '%s'", cmd->argv[1]);
		rdmasim_put(sdev);
		return -ENOENT;
	}
	first = last = port;
	if (!port && !(hw && sdev->hw_on_device)) {
		first = 1;
		last = sdev->num_ports;
	}
	if (!hw)
		max = rdmasim_pma_max(sdev, i);

	for (w = 2; w < cmd->argc && !err; w++) {
		char *word = kstrdup(cmd->argv[w], GFP_KERNEL);

		if (!word) {
			err = -ENOMEM;
			break;
		}
		for (p = first; p <= last && !err; p++) {
			strscpy(word, cmd->argv[w], strlen(cmd->argv[w]) + 1);
			v = hw ? rdmasim_hw_find(sdev, p, cmd->argv[1]) :
				 &sdev->ports[p].pma[i];
			spin_lock(&sdev->lock);
			draft = *v;
			err = rdmasim_value_word(cmd, &draft, word, max, !hw);
			if (!err)
				*v = draft;
			spin_unlock(&sdev->lock);
		}
		kfree(word);
	}
	rdmasim_put(sdev);
	return err;
}

/**
 * rdmasim_cmd_counter - counter NAME[/PORT] COUNTER VALUE...
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_counter(struct rdmasim_cmd *cmd)
{
	return rdmasim_counter_words(cmd, false);
}

/**
 * rdmasim_cmd_hw_counter - hw_counter NAME[/PORT] COUNTER VALUE...
 * @cmd: the command
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_hw_counter(struct rdmasim_cmd *cmd)
{
	return rdmasim_counter_words(cmd, true);
}

/**
 * rdmasim_cmd_reset - reset NAME[/PORT]
 * @cmd: the command
 *
 * All counters are 0 again, as after a driver reload; rates and errors stay.
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_cmd_reset(struct rdmasim_cmd *cmd)
{
	struct rdmasim_dev *sdev;
	u32 port, p, i;

	if (cmd->argc != 1) {
		rdmasim_say(cmd, "usage: reset NAME[/PORT]");
		return -EINVAL;
	}
	sdev = rdmasim_get_object(cmd, cmd->argv[0], &port);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	spin_lock(&sdev->lock);
	for (p = 0; p <= sdev->num_ports; p++) {
		if (port && p != port)
			continue;
		for (i = 0; i < RDMASIM_PMA_COUNT; i++)
			rdmasim_value_set(&sdev->ports[p].pma[i], 0);
		for (i = 0; i < sdev->num_hw; i++)
			rdmasim_value_set(&sdev->ports[p].hw[i], 0);
	}
	spin_unlock(&sdev->lock);
	rdmasim_put(sdev);
	return 0;
}
