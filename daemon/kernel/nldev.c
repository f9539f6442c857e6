/* SPDX-License-Identifier: MIT */
#include "nldev.h"

#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "macros.h"
#include "nldev-numbers.h"

/*
 * How long one receive may wait. The kernel answers within the send itself, so this only ends a
 * wait that nothing would end; a hung driver blocks in the send, which the worker's deadline is for.
 */
#define RECEIVE_TIMEOUT_SEC 10

struct nldev {
	struct nl_sock *sock;
};

static int nl_to_errno(int nlerr)
{
	switch (-nlerr) {
	case NLE_SUCCESS:
		return 0;
	case NLE_PROTO_MISMATCH:
		return -EPROTONOSUPPORT;
	case NLE_OPNOTSUPP:
		return -EOPNOTSUPP;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM:
		return -EPERM;
	case NLE_NOACCESS:
		return -EACCES;
	case NLE_EXIST:
		return -EEXIST;
	case NLE_NODEV:
		return -ENODEV;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_BUSY:
		return -EBUSY;
	case NLE_AGAIN:
		return -ETIMEDOUT;
	case NLE_INVAL:
		return -EINVAL;
	case NLE_RANGE:
		return -ERANGE;
	case NLE_DUMP_INTR:
		return -EINTR;
	default:
		return -EIO;
	}
}

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
	struct timeval tv = { .tv_sec = RECEIVE_TIMEOUT_SEC };
	_cleanup_(nldev_closep) struct nldev *n = NULL;
	int r;

	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->sock = nl_socket_alloc();
	if (!n->sock)
		return -ENOMEM;
	r = nl_connect(n->sock, NETLINK_RDMA);
	if (r < 0)
		return nl_to_errno(r);
	/* The answers to a request are read before the next one is sent: no ACK needs waiting for. */
	nl_socket_disable_auto_ack(n->sock);
	if (setsockopt(nl_socket_get_fd(n->sock), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	*ret = TAKE_PTR(n);
	return 0;
}

static struct nl_msg *request_new(int op, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
			   0, NLM_F_REQUEST | flags)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

DEFINE_CLEANUP(struct nl_msg *, nlmsg_free)
DEFINE_CLEANUP(struct nl_cb *, nl_cb_put)

struct receive {
	nl_recvmsg_msg_cb_t parse;
	void *user;
	int result; /* negative errno out of parse, or the kernel's error */
	bool done;
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct receive *rx = arg;
	int r;

	/* Once the callback gave up, the rest of the dump is still read: the socket stays usable. */
	if (rx->result == 0) {
		r = rx->parse(msg, rx->user);
		if (r < 0)
			rx->result = r;
	}
	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_MULTI))
		rx->done = true;
	return NL_OK;
}

static int on_done(struct nl_msg *msg, void *arg)
{
	struct receive *rx = arg;

	(void)msg;
	rx->done = true;
	return NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct receive *rx = arg;

	(void)from;
	/* The errno as the kernel gave it: libnl's own codes merge several. */
	rx->result = err->error;
	rx->done = true;
	return NL_STOP;
}

/*
 * Sends a request and hands each answer to parse (may be NULL when only the ACK matters). Returns
 * 0, the kernel's negative errno, or what parse returned below 0.
 */
static int transact(struct nldev *n, struct nl_msg *msg, nl_recvmsg_msg_cb_t parse, void *user)
{
	struct receive rx = { .parse = parse, .user = user };
	_cleanup_(nl_cb_putp) struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int r;

	if (!cb)
		return -ENOMEM;
	r = nl_send_auto(n->sock, msg);
	if (r < 0)
		return nl_to_errno(r);
	if (parse)
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &rx);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, &rx);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_done, &rx);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &rx);
	while (!rx.done) {
		r = nl_recvmsgs(n->sock, cb);
		if (r < 0 && !rx.done)
			return nl_to_errno(r);
	}
	return rx.result;
}

static int parse_attrs(struct nl_msg *msg, struct nlattr *tb[RDMA_NLDEV_ATTR_MAX])
{
	/* nldev messages have no family header behind nlmsghdr. Newer kernels send attributes that
	 * these headers do not know: libnl skips those. */
	return nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMA_NLDEV_ATTR_MAX - 1, NULL) < 0 ? -EBADMSG : 0;
}

static bool get_u32(struct nlattr *a, uint32_t *ret)
{
	if (!a || nla_len(a) < (int)sizeof(uint32_t))
		return false;
	*ret = nla_get_u32(a);
	return true;
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
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = { 0 };
	struct list_devices *l = arg;
	struct device_facts f = { .numa_node = -1 };
	int r;

	r = parse_attrs(msg, tb);
	if (r < 0)
		return r;
	if (!get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX], &f.index))
		return -EBADMSG;
	/* In a device message PORT_INDEX is the number of ports (nldev.c: fill_dev_info()). */
	get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], &f.port_count);
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
	_cleanup_(nlmsg_freep) struct nl_msg *msg = request_new(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	struct list_devices l = { .cb = cb, .user = user };

	return msg ? transact(n, msg, on_device, &l) : -ENOMEM;
}

struct read_port {
	struct port_facts facts;
	char name[RDMA_NAME_MAX];
};

static int on_port(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = { 0 };
	struct read_port *rp = arg;
	struct port_facts *f = &rp->facts;
	int r;

	r = parse_attrs(msg, tb);
	if (r < 0)
		return r;
	if (tb[RDMA_NLDEV_ATTR_PORT_STATE])
		f->state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]);
	if (tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE])
		f->phys_state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE]);
	if (tb[RDMA_NLDEV_ATTR_LMC])
		f->lmc = nla_get_u8(tb[RDMA_NLDEV_ATTR_LMC]);
	get_u32(tb[RDMA_NLDEV_ATTR_LID], &f->lid);
	get_u32(tb[RDMA_NLDEV_ATTR_SM_LID], &f->sm_lid);
	get_u32(tb[RDMA_NLDEV_ATTR_NDEV_INDEX], &f->netdev_index);
	get_string(tb[RDMA_NLDEV_ATTR_NDEV_NAME], f->netdev, sizeof(f->netdev));
	get_string(tb[RDMA_NLDEV_ATTR_DEV_NAME], rp->name, sizeof(rp->name));
	return 0;
}

int nldev_read_port(struct nldev *n, uint32_t device_index, uint32_t port, struct port_facts *ret,
	char ret_name[RDMA_NAME_MAX])
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = request_new(RDMA_NLDEV_CMD_PORT_GET, 0);
	struct read_port rp = { .facts = port_facts_unknown(device_index, port) };
	int r;

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device_index) < 0 ||
		nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port) < 0)
		return -ENOMEM;
	r = transact(n, msg, on_port, &rp);
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

static int on_counter(struct nlattr *entry, struct read_counters *rc)
{
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = { 0 }, *name, *value;

	if (nla_parse_nested(tb, RDMA_NLDEV_ATTR_MAX - 1, entry, NULL) < 0)
		return -EBADMSG;
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
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX] = { 0 }, *entry;
	struct read_counters *rc = arg;
	int r, rest;

	r = parse_attrs(msg, tb);
	if (r < 0)
		return r;
	if (!tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return 0;
	nla_for_each_nested(entry, tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], rest)
	{
		r = on_counter(entry, rc);
		if (r < 0)
			return r;
	}
	return 0;
}

int nldev_read_hw_counters(
	struct nldev *n, uint32_t device_index, uint32_t port, nldev_counter_cb cb, void *user)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = request_new(RDMA_NLDEV_CMD_STAT_GET, 0);
	struct read_counters rc = { .cb = cb, .user = user };
	int r;

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device_index) < 0 ||
		nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port) < 0)
		return -ENOMEM;
	r = transact(n, msg, on_counters, &rc);
	if (r < 0)
		return r;
	return rc.any ? 0 : -ENODATA;
}

static int on_system(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RDMAD_ATTR_MAX + 1] = { 0 };
	bool *has = arg;

	if (nlmsg_parse(nlmsg_hdr(msg), 0, tb, RDMAD_ATTR_MAX, NULL) < 0)
		return -EBADMSG;
	*has = tb[RDMAD_ATTR_MONITOR_MODE] && nla_get_u8(tb[RDMAD_ATTR_MONITOR_MODE]) == 1;
	return 0;
}

bool nldev_has_monitor(struct nldev *n)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = request_new(RDMA_NLDEV_CMD_SYS_GET, 0);
	bool has = false;

	return msg && transact(n, msg, on_system, &has) == 0 && has;
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
	_cleanup_(nlmsg_freep) struct nl_msg *msg = request_new(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	const char *word = link_type_to_string(type);

	if (!word)
		return -EINVAL;
	if (!msg || nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) < 0 ||
		nla_put_string(msg, RDMA_NLDEV_ATTR_LINK_TYPE, word) < 0 ||
		nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, netdev) < 0)
		return -ENOMEM;
	return transact(n, msg, NULL, NULL);
}
