/* SPDX-License-Identifier: MIT */
#include "nldev.h"

#include <errno.h>

#include "macros.h"
#include "nldev-internal.h"

struct nldev {
	struct nl_sock *sock;
};

struct nldev *nldev_close(struct nldev *n)
{
	if (n) {
		nl_socket_free(n->sock);
		free(n);
	}
	return NULL;
}

void nldev_closep(struct nldev **n)
{
	nldev_close(*n);
}

int nldev_open(struct nldev **ret)
{
	_cleanup_(nldev_closep) struct nldev *n = NULL;
	int r;

	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	r = nl_request_open(NETLINK_RDMA, &n->sock);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(n);
	return 0;
}

struct nl_msg *nldev_request(int op, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
			   0, NLM_F_REQUEST | flags)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int nldev_transact(struct nldev *n, struct nl_msg *msg, nl_recvmsg_msg_cb_t parse, void *user)
{
	return nl_request(n->sock, msg, parse, user);
}

int nldev_parse(struct nl_msg *msg, struct nlattr *tb[RDMAD_ATTR_MAX + 1])
{
	/* nldev messages have no family header behind nlmsghdr. Newer kernels send attributes that
	 * nobody here knows: libnl skips those. */
	return nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMAD_ATTR_MAX, NULL) < 0 ? -EBADMSG : 0;
}

struct nl_msg *nldev_port_request(int op, int flags, uint32_t device_index, uint32_t port)
{
	struct nl_msg *msg = nldev_request(op, flags);

	if (msg && (nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device_index) < 0 ||
			   nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port) < 0)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

int nldev_each_entry(struct nl_msg *msg, int table, int entry, nldev_entry_cb cb, void *user)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 }, *one;
	int r, rest;

	r = nldev_parse(msg, tb);
	if (r < 0 || !tb[table])
		return MIN(r, 0);
	nla_for_each_nested(one, tb[table], rest)
	{
		struct nlattr *fields[RDMAD_ATTR_MAX + 1] = { 0 };

		if (entry && nla_type(one) != entry)
			continue;
		r = nla_parse_nested(fields, RDMAD_ATTR_MAX, one, NULL) < 0 ? -EBADMSG
									    : cb(fields, user);
		if (r < 0)
			return r;
	}
	return 0;
}

static uint64_t get_u64(struct nlattr *a)
{
	return a && nla_len(a) >= (int)sizeof(uint64_t) ? nla_get_u64(a) : 0;
}

/* Bounded copy of a string attribute, which need not be terminated. */
static void get_string(struct nlattr *a, char *dst, size_t size)
{
	if (a)
		nla_strlcpy(dst, a, size);
}

struct list_devices {
	nldev_device_cb cb;
	void *user;
};

static int on_device(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	struct list_devices *l = arg;
	struct device_facts f = { .numa_node = -1 };
	int r;

	r = nldev_parse(msg, tb);
	if (r < 0)
		return r;
	if (!nldev_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX], &f.index))
		return -EBADMSG;
	/* In a device message PORT_INDEX is the number of ports (nldev.c: fill_dev_info()). */
	nldev_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], &f.port_count);
	get_string(tb[RDMA_NLDEV_ATTR_DEV_NAME], f.name, sizeof(f.name));
	get_string(tb[RDMA_NLDEV_ATTR_FW_VERSION], f.firmware_version, sizeof(f.firmware_version));
	get_string(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL], f.protocol, sizeof(f.protocol));
	/* Both are be64_to_cpu()ed by the kernel. */
	f.node_guid = get_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]);
	f.sys_image_guid = get_u64(tb[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID]);
	return l->cb(&f, l->user);
}

int nldev_list_devices(struct nldev *n, nldev_device_cb cb, void *user)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	struct list_devices l = { .cb = cb, .user = user };

	return msg ? nldev_transact(n, msg, on_device, &l) : -ENOMEM;
}

int nldev_read_device(struct nldev *n, uint32_t index, nldev_device_cb cb, void *user)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_GET, 0);
	struct list_devices l = { .cb = cb, .user = user };
	int r;

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0)
		return -ENOMEM;
	r = nldev_transact(n, msg, on_device, &l);
	return r == -EINVAL ? -ENODEV : r;
}

struct read_port {
	struct port_facts facts;
	char name[RDMA_NAME_MAX];
};

static int on_port(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	struct read_port *rp = arg;
	struct port_facts *f = &rp->facts;
	int r;

	r = nldev_parse(msg, tb);
	if (r < 0)
		return r;
	if (tb[RDMA_NLDEV_ATTR_PORT_STATE])
		f->state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]);
	if (tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE])
		f->phys_state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE]);
	if (tb[RDMA_NLDEV_ATTR_LMC])
		f->lmc = nla_get_u8(tb[RDMA_NLDEV_ATTR_LMC]);
	nldev_get_u32(tb[RDMA_NLDEV_ATTR_LID], &f->lid);
	nldev_get_u32(tb[RDMA_NLDEV_ATTR_SM_LID], &f->sm_lid);
	nldev_get_u32(tb[RDMA_NLDEV_ATTR_NDEV_INDEX], &f->netdev_index);
	get_string(tb[RDMA_NLDEV_ATTR_NDEV_NAME], f->netdev, sizeof(f->netdev));
	get_string(tb[RDMA_NLDEV_ATTR_DEV_NAME], rp->name, sizeof(rp->name));
	return 0;
}

int nldev_read_port(struct nldev *n, uint32_t device_index, uint32_t port, struct port_facts *ret,
	char ret_name[RDMA_NAME_MAX])
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		nldev_port_request(RDMA_NLDEV_CMD_PORT_GET, 0, device_index, port);
	struct read_port rp = { .facts = port_facts_unknown(device_index, port) };
	int r;

	if (!msg)
		return -ENOMEM;
	r = nldev_transact(n, msg, on_port, &rp);
	if (r < 0)
		return r == -EINVAL ? -ENODEV : r;
	*ret = rp.facts;
	memcpy(ret_name, rp.name, RDMA_NAME_MAX);
	return 0;
}

struct read_counters {
	nldev_counter_cb cb;
	void *user;
	bool any;
};

static int on_counter(struct nlattr *tb[RDMAD_ATTR_MAX + 1], void *user)
{
	struct read_counters *rc = user;
	struct nlattr *name, *value;

	name = tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	value = tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE];
	if (!name || !value || nla_len(value) < (int)sizeof(uint64_t))
		return -EBADMSG;
	rc->any = true;
	return rc->cb(nla_data(name), strnlen(nla_data(name), (size_t)nla_len(name)),
		nla_get_u64(value), rc->user);
}

static int on_counters(struct nl_msg *msg, void *arg)
{
	return nldev_each_entry(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, 0, on_counter, arg);
}

int nldev_read_hw_counters(
	struct nldev *n, uint32_t device_index, uint32_t port, nldev_counter_cb cb, void *user)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		nldev_port_request(RDMA_NLDEV_CMD_STAT_GET, 0, device_index, port);
	struct read_counters rc = { .cb = cb, .user = user };
	int r;

	if (!msg)
		return -ENOMEM;
	r = nldev_transact(n, msg, on_counters, &rc);
	if (r < 0)
		return r;
	return rc.any ? 0 : -ENODATA;
}

static int on_system(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	bool *has = arg;

	if (nldev_parse(msg, tb) < 0)
		return -EBADMSG;
	*has = tb[RDMAD_ATTR_MONITOR_MODE] && nla_get_u8(tb[RDMAD_ATTR_MONITOR_MODE]) == 1;
	return 0;
}

bool nldev_has_monitor(struct nldev *n)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SYS_GET, 0);
	bool has = false;

	return msg && nldev_transact(n, msg, on_system, &has) == 0 && has;
}

struct find_device {
	const char *name;
	uint32_t index;
	bool found;
};

static int match_name(const struct device_facts *f, void *user)
{
	struct find_device *find = user;

	if (streq(f->name, find->name)) {
		find->index = f->index;
		find->found = true;
	}
	return 0;
}

int nldev_device_index_by_name(struct nldev *n, const char *name, uint32_t *ret)
{
	struct find_device find = { .name = name };
	int r;

	r = nldev_list_devices(n, match_name, &find);
	if (r < 0)
		return r;
	if (!find.found)
		return -ENODEV;
	*ret = find.index;
	return 0;
}

int nldev_add_link(struct nldev *n, const char *name, enum link_type type, const char *netdev)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		nldev_request(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	const char *word = link_type_to_string(type);

	if (!word)
		return -EINVAL;
	if (!msg || nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) < 0 ||
		nla_put_string(msg, RDMA_NLDEV_ATTR_LINK_TYPE, word) < 0 ||
		nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, netdev) < 0)
		return -ENOMEM;
	return nldev_transact(n, msg, NULL, NULL);
}
