/* SPDX-License-Identifier: MIT */
#include "genl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

static struct nl_msg *message_new(uint16_t type, uint8_t version, uint8_t command, int flags)
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

static int on_family(struct nl_msg *msg, void *user)
{
	return genl_parse_family(nlmsg_hdr(msg), user) ? 0 : -EBADMSG;
}

int genl_request_new(struct nl_sock *sock, const char *family, uint8_t version, uint8_t command,
	int flags, struct nl_msg **ret)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg =
		message_new(GENL_ID_CTRL, 1, CTRL_CMD_GETFAMILY, 0);
	uint16_t type;
	int r;

	if (!msg || nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, family) < 0)
		return -ENOMEM;
	r = nl_request(sock, msg, on_family, &type);
	if (r < 0)
		return r;
	*ret = message_new(type, version, command, flags);
	return *ret ? 0 : -ENOMEM;
}
