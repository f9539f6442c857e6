/* SPDX-License-Identifier: MIT */
#include "nl-ask.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <sys/socket.h>

/*
 * How long one receive may wait. The kernel answers within the send itself, so this only ends a
 * wait that nothing would end; a hung driver blocks in the send, which the worker's deadline is for.
 */
#define RECEIVE_TIMEOUT_SEC 10

struct question {
	nl_answer_cb answer;
	void *user;
	uint32_t seq;
	int error;
	bool all; /* a dump, which has an end of its own */
	bool done;
};

static int on_answer(struct nl_msg *msg, void *arg)
{
	struct question *q = arg;

	if (nlmsg_hdr(msg)->nlmsg_seq != q->seq)
		return NL_OK;
	if (!q->answer(nlmsg_hdr(msg), q->user) && !q->all)
		q->error = -EBADMSG;
	q->done = !q->all;
	return NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct question *q = arg;
	int error;

	if (h->nlmsg_seq != q->seq)
		return NL_STOP;
	/* A dump that failed says so at its end. */
	if (nlmsg_datalen(h) >= (int)sizeof(error)) {
		memcpy(&error, nlmsg_data(h), sizeof(error));
		q->error = MIN(error, 0);
	}
	q->done = true;
	return NL_STOP;
}

/* libnl would make its own, fewer codes of the errno. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct question *q = arg;

	(void)from;
	if (e->msg.nlmsg_seq == q->seq) {
		q->error = e->error;
		q->done = true;
	}
	return NL_SKIP;
}

static int nl_to_errno(int nlerr)
{
	switch (-nlerr) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_AGAIN:
		return -ETIMEDOUT;
	case NLE_PERM:
		return -EPERM;
	case NLE_PROTO_MISMATCH:
		return -EPROTONOSUPPORT;
	default:
		return -EIO;
	}
}

static int ask(struct nl_sock *sock, struct nl_msg *msg, struct question *q)
{
	int r;

	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_answer, q);
	nl_socket_modify_cb(sock, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, q);
	nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, on_error, q);
	r = nl_send_auto(sock, msg);
	if (r < 0)
		return nl_to_errno(r);
	q->seq = nlmsg_hdr(msg)->nlmsg_seq;
	while (!q->done) {
		r = nl_recvmsgs_default(sock);
		if (r < 0)
			return nl_to_errno(r);
	}
	return q->error;
}

int nl_ask(struct nl_sock *sock, struct nl_msg *msg, nl_answer_cb answer, void *user)
{
	struct question q = { .answer = answer, .user = user };

	return ask(sock, msg, &q);
}

int nl_ask_all(struct nl_sock *sock, struct nl_msg *msg, nl_answer_cb answer, void *user)
{
	struct question q = { .answer = answer, .user = user, .all = true };

	return ask(sock, msg, &q);
}

int nl_ask_open(int protocol, struct nl_sock **ret)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = nl_socket_alloc();
	struct timeval tv = { .tv_sec = RECEIVE_TIMEOUT_SEC };
	int r;

	if (!sock)
		return -ENOMEM;
	r = nl_connect(sock, protocol);
	if (r < 0)
		return nl_to_errno(r);
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	/* An answer or an error, no more: an acknowledgement besides would only be in the way. */
	nl_socket_disable_auto_ack(sock);
	*ret = TAKE_PTR(sock);
	return 0;
}

/* ---- generic netlink ---- */

static struct nl_msg *genl_message(uint16_t type, uint8_t version, uint8_t command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
	struct genlmsghdr genl = { .cmd = command, .version = version };

	if (msg && nlmsg_append(msg, &genl, sizeof(genl), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

bool genl_parse_family(struct nlmsghdr *h, uint16_t *ret)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1] = { 0 };
	struct genlmsghdr *genl;

	if (h->nlmsg_type != GENL_ID_CTRL)
		return false;
	if (nlmsg_parse(h, sizeof(*genl), tb, CTRL_ATTR_MAX, NULL) < 0)
		return false;
	genl = nlmsg_data(h);
	if (genl->cmd != CTRL_CMD_NEWFAMILY || !tb[CTRL_ATTR_FAMILY_ID] ||
		nla_len(tb[CTRL_ATTR_FAMILY_ID]) < (int)sizeof(uint16_t))
		return false;
	*ret = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	return true;
}

static bool take_family(struct nlmsghdr *h, void *user)
{
	return genl_parse_family(h, user);
}

int genl_request(struct nl_sock *sock, const char *family, uint8_t version, uint8_t command,
	int flags, struct nl_msg **ret)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		genl_message(GENL_ID_CTRL, 1, CTRL_CMD_GETFAMILY, 0);
	uint16_t type;
	int r;

	if (!msg || nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, family) < 0)
		return -ENOMEM;
	r = nl_ask(sock, msg, take_family, &type);
	if (r < 0)
		return r;
	*ret = genl_message(type, version, command, flags);
	return *ret ? 0 : -ENOMEM;
}
