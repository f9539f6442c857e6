/* SPDX-License-Identifier: MIT */
/* RDMA netlink's resource tracking: which processes have a device open. */
#include <errno.h>
#include <fcntl.h>

#include "nldev-internal.h"

/* The name of rdmad's workers, which hold contexts themselves to hear of events. */
#define WORKER_COMM "rdmad-probe"

struct count {
	int table, entry; /* the attributes that hold them */
	uint32_t n;
	struct device_users *users;
	/* whom the entry before this one was of: one process has many */
	uint32_t pid;
	char comm[16];
};

/* Leaves "" where the process is gone, or hidden from us. */
static void read_comm(uint32_t pid, char comm[16])
{
	_cleanup_(closep) int fd = -1;
	char path[32];
	ssize_t n;

	comm[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, comm, 15);
	comm[MAX(n, 0)] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
}

static int on_entry(struct nlattr *tb[RDMAD_ATTR_MAX + 1], void *user)
{
	struct count *c = user;
	uint32_t pid;

	/* What the kernel uses has a name instead; what a dying process had has neither. */
	if (!nldev_get_u32(tb[RDMA_NLDEV_ATTR_RES_PID], &pid) || pid == 0)
		return 0;
	if (pid != c->pid) {
		c->pid = pid;
		read_comm(pid, c->comm);
	}
	if (streq(c->comm, WORKER_COMM))
		return 0;
	c->n++;
	if (!c->users->pid) {
		c->users->pid = pid;
		STRSCPY(c->users->comm, c->comm);
	}
	return 0;
}

static int on_entries(struct nl_msg *msg, void *arg)
{
	const struct count *c = arg;

	return nldev_each_entry(msg, c->table, c->entry, on_entry, arg);
}

static int count(struct nldev *n, int op, uint32_t index, struct count *c)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nldev_request(op, NLM_F_DUMP);

	if (!msg || nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index) < 0)
		return -ENOMEM;
	return nldev_transact(n, msg, on_entries, c);
}

int nldev_read_users(struct nldev *n, uint32_t index, struct device_users *ret)
{
	struct device_users users = { 0 };
	struct count contexts = { RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY };
	struct count qps = { RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY };
	int r;

	contexts.users = qps.users = &users;
	/* Whether the device is there tells the list of QPs, which every kernel has. */
	r = count(n, RDMA_NLDEV_CMD_RES_CTX_GET, index, &contexts);
	if (r < 0 && r != -EINVAL && r != -EOPNOTSUPP)
		return r;
	r = count(n, RDMA_NLDEV_CMD_RES_QP_GET, index, &qps);
	if (r < 0)
		return r;
	users.contexts = contexts.n;
	users.qps = qps.n;
	*ret = users;
	return 0;
}
