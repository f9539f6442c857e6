/* SPDX-License-Identifier: MIT */
#include "nl-request.h"

#include <errno.h>
#include <netlink/attr.h>
#include <sys/socket.h>

/*
 * How long one receive may wait. The kernel answers within the send itself, so this only ends a
 * wait that nothing would end; a hung driver blocks in the send, which the worker's deadline is for.
 */
#define RECEIVE_TIMEOUT_SEC 10

DEFINE_CLEANUP(struct nl_cb *, nl_cb_put)

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

int nl_request_open(int protocol, struct nl_sock **ret)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = nl_socket_alloc();
	struct timeval tv = { .tv_sec = RECEIVE_TIMEOUT_SEC };
	int r;

	if (!sock)
		return -ENOMEM;
	r = nl_connect(sock, protocol);
	if (r < 0)
		return nl_to_errno(r);
	/* The answers to a request are read before the next one is sent: no ACK needs waiting for. */
	nl_socket_disable_auto_ack(sock);
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	*ret = TAKE_PTR(sock);
	return 0;
}

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

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct receive *rx = arg;

	(void)msg;
	rx->done = true;
	return NL_OK;
}

/* A dump that failed ends like one that did not, with its errno in the end: libnl does not look. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct receive *rx = arg;
	int32_t error = 0;

	if (nlmsg_datalen(nlmsg_hdr(msg)) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(nlmsg_hdr(msg)), sizeof(error));
	if (error < 0 && rx->result == 0)
		rx->result = error;
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

int nl_request(struct nl_sock *sock, struct nl_msg *msg, nl_recvmsg_msg_cb_t parse, void *user)
{
	struct receive rx = { .parse = parse, .user = user };
	_cleanup_(nl_cb_putp) struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int r;

	if (!cb)
		return -ENOMEM;
	r = nl_send_auto(sock, msg);
	if (r < 0)
		return nl_to_errno(r);
	if (parse)
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &rx);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &rx);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &rx);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &rx);
	while (!rx.done) {
		r = nl_recvmsgs(sock, cb);
		if (r < 0 && !rx.done)
			return nl_to_errno(r);
	}
	return rx.result;
}
