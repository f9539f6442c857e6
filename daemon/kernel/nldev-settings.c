/* SPDX-License-Identifier: MIT */
/* RDMA netlink: what is set, and read back. Each change is one message, as the kernel takes them. */
#include <errno.h>

#include "nldev-internal.h"

/* ---- all devices together ---- */

static int on_system(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	struct system_facts *f = arg;
	uint8_t v;

	if (nldev_parse(msg, tb) < 0)
		return -EBADMSG;
	if (nldev_get_u8(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE], &v))
		f->netns_exclusive = v == 0;
	if (nldev_get_u8(tb[RDMAD_ATTR_PRIVILEGED_QKEY], &v))
		f->privileged_qkey = v != 0;
	return 0;
}

int nldev_read_system(struct nldev *n, struct system_facts *ret)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SYS_GET, 0);
	struct system_facts f = system_facts_unknown();
	int r = msg ? nldev_transact(n, msg, on_system, &f) : -ENOMEM;

	if (r >= 0)
		*ret = f;
	return r;
}

/* The kernel looks at the first of these attributes only that it finds: one for each message. */
static int set_system(struct nldev *n, int attribute, uint8_t value)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		nldev_request(RDMA_NLDEV_CMD_SYS_SET, NLM_F_ACK);

	if (!msg || nla_put_u8(msg, attribute, value) < 0)
		return -ENOMEM;
	return nldev_transact(n, msg, NULL, NULL);
}

int nldev_set_netns_mode(struct nldev *n, bool exclusive)
{
	return set_system(n, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, !exclusive);
}

int nldev_set_privileged_qkey(struct nldev *n, bool on)
{
	return set_system(n, RDMAD_ATTR_PRIVILEGED_QKEY, on);
}

/* ---- a device ---- */

int nldev_rename_device(struct nldev *n, uint32_t index, const char *name)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SET, NLM_F_ACK);

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0 ||
		nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) < 0)
		return -ENOMEM;
	return nldev_transact(n, msg, NULL, NULL);
}

int nldev_set_adaptive_moderation(struct nldev *n, uint32_t index, bool on)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SET, NLM_F_ACK);

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0 ||
		nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, on) < 0)
		return -ENOMEM;
	return nldev_transact(n, msg, NULL, NULL);
}

static int on_moderation(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	int *moderation = arg;
	uint8_t v;

	if (nldev_parse(msg, tb) < 0)
		return -EBADMSG;
	if (nldev_get_u8(tb[RDMA_NLDEV_ATTR_DEV_DIM], &v))
		*moderation = v != 0;
	return 0;
}

int nldev_read_adaptive_moderation(struct nldev *n, uint32_t index)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_GET, 0);
	int moderation = -EOPNOTSUPP, r;

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0)
		return -ENOMEM;
	r = nldev_transact(n, msg, on_moderation, &moderation);
	if (r < 0)
		return r == -EINVAL ? -ENODEV : r;
	return moderation;
}

/* ---- a port ---- */

struct list_optional {
	nldev_optional_counter_cb cb;
	void *user;
};

static int on_counter_status(struct nlattr *tb[RDMAD_ATTR_MAX + 1], void *user)
{
	struct list_optional *l = user;
	struct nlattr *name;
	_cleanup_(freep) char *text = NULL;
	uint32_t hw_index;
	uint8_t enabled;

	/* Only those that can be switched have it. */
	if (!nldev_get_u8(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC], &enabled))
		return 0;
	name = tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	if (!name || !nldev_get_u32(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX], &hw_index))
		return -EBADMSG;
	text = strndup(nla_data(name), (size_t)nla_len(name));
	return text ? l->cb(text, hw_index, enabled != 0, l->user) : -ENOMEM;
}

static int on_counter_statuses(struct nl_msg *msg, void *arg)
{
	return nldev_each_entry(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, 0, on_counter_status, arg);
}

int nldev_list_optional_counters(
	struct nldev *n, uint32_t index, uint32_t port, nldev_optional_counter_cb cb, void *user)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		nldev_port_request(RDMA_NLDEV_CMD_STAT_GET_STATUS, 0, index, port);
	struct list_optional l = { .cb = cb, .user = user };

	return msg ? nldev_transact(n, msg, on_counter_statuses, &l) : -ENOMEM;
}

int nldev_set_optional_counters(struct nldev *n, uint32_t index, uint32_t port,
	const uint32_t *hw_indexes, size_t n_indexes)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		nldev_port_request(RDMA_NLDEV_CMD_STAT_SET, NLM_F_ACK, index, port);
	struct nlattr *list;

	if (!msg)
		return -ENOMEM;
	/* The kernel refuses a nest that does not say that it is one. */
	list = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED);
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n_indexes; i++)
		if (nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, hw_indexes[i]) < 0)
			return -ENOMEM;
	/* An empty one switches all of them off; libnl would leave it out. */
	nla_nest_end_keep_empty(msg, list);
	return nldev_transact(n, msg, NULL, NULL);
}
