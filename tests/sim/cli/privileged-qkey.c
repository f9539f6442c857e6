/* SPDX-License-Identifier: MIT */
/*
 * privileged-qkey [on|off]: says, or sets, whether users without privileges may use controlled QKEYs, as
 * "rdma system" of newer iproute2 does: Debian 12's does not know it.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE, u8, of Linux 6.7 and later */
#define PRIVILEGED_QKEY 96

struct message {
	struct nlmsghdr header;
	char payload[2048];
};

/* The answer takes the request's place. 0 or a negative errno. */
static int ask(struct message *m, int command, int flags)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	struct nlmsgerr error;

	m->header.nlmsg_type = (__u16)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	m->header.nlmsg_flags = (__u16)(NLM_F_REQUEST | flags);
	if (fd < 0 || send(fd, m, m->header.nlmsg_len, 0) < 0 || recv(fd, m, sizeof(*m), 0) < 0)
		return -errno;
	memcpy(&error, m->payload, sizeof(error));
	return m->header.nlmsg_type == NLMSG_ERROR ? error.error : 0;
}

static int set_mode(unsigned char on)
{
	struct message m = { .header.nlmsg_len = NLMSG_HDRLEN + NLA_HDRLEN + 4 };
	struct nlattr a = { .nla_len = NLA_HDRLEN + 1, .nla_type = PRIVILEGED_QKEY };

	memcpy(m.payload, &a, sizeof(a));
	m.payload[NLA_HDRLEN] = (char)on;
	return ask(&m, RDMA_NLDEV_CMD_SYS_SET, NLM_F_ACK);
}

static int print_mode(void)
{
	struct message m = { .header.nlmsg_len = NLMSG_HDRLEN };
	int r = ask(&m, RDMA_NLDEV_CMD_SYS_GET, 0);
	struct nlattr a;

	for (size_t at = 0; r == 0 && at + NLMSG_HDRLEN < m.header.nlmsg_len;
		at += NLA_ALIGN(a.nla_len)) {
		memcpy(&a, m.payload + at, sizeof(a));
		if (a.nla_type == PRIVILEGED_QKEY)
			return puts(m.payload[at + NLA_HDRLEN] ? "on" : "off") < 0;
		if (a.nla_len < NLA_HDRLEN)
			break;
	}
	return r ? r : -EOPNOTSUPP;
}

int main(int argc, char *argv[])
{
	int r;

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "on") && strcmp(argv[1], "off"))) {
		fputs("usage: privileged-qkey [on|off]\n", stderr);
		return 2;
	}
	r = argc == 2 ? set_mode(!strcmp(argv[1], "on")) : print_mode();
	if (r < 0)
		fprintf(stderr, "privileged-qkey: %s\n", strerror(-r));
	return r < 0;
}
