/* SPDX-License-Identifier: MIT */
#include "devlink.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>

#include "genl.h"

/* DEVLINK_ATTR_HEALTH_REPORTER_STATE, include/net/devlink.h: it is not among the UAPI headers. */
enum {
	REPORTER_HEALTHY,
	REPORTER_ERROR,
};

/* ---- what the answers say ---- */

static bool has(const struct nlattr *a, int size)
{
	return a && nla_len(a) >= size;
}

/* Attributes of devlink's message are all in one enum, nested or not. */
static bool parse_message(struct nlmsghdr *h, uint8_t command, struct nlattr **tb)
{
	struct genlmsghdr *genl;

	if (nlmsg_parse(h, sizeof(*genl), tb, DEVLINK_ATTR_MAX, NULL) < 0)
		return false;
	genl = nlmsg_data(h);
	return genl->cmd == command;
}

/* Copies a text that the kernel ends with a NUL; false when there is none, or it is too long. */
static bool get_text(const struct nlattr *a, char *buf, size_t size)
{
	size_t length = a ? strnlen(nla_data(a), (size_t)nla_len(a)) : 0;

	if (length == 0 || length >= size || length == (size_t)nla_len(a))
		return false;
	memcpy(buf, nla_data(a), length + 1);
	return true;
}

static bool is_of(struct nlattr **tb, const char *handle)
{
	char bus[DEVLINK_HANDLE_MAX], device[DEVLINK_HANDLE_MAX];
	size_t length;

	if (!get_text(tb[DEVLINK_ATTR_BUS_NAME], bus, sizeof(bus)) ||
		!get_text(tb[DEVLINK_ATTR_DEV_NAME], device, sizeof(device)))
		return false;
	length = strlen(bus);
	return strncmp(handle, bus, length) == 0 && handle[length] == '/' &&
	       streq(handle + length + 1, device);
}

static uint64_t get_count(struct nlattr *a)
{
	return has(a, sizeof(uint64_t)) ? nla_get_u64(a) : UINT64_MAX;
}

static int32_t get_error(struct nlattr *a)
{
	uint8_t state = has(a, 1) ? nla_get_u8(a) : UINT8_MAX;

	return state == REPORTER_ERROR ? 1 : state == REPORTER_HEALTHY ? 0 : -1;
}

bool devlink_parse_reporter(struct nlmsghdr *h, const char *handle, struct reporter *ret)
{
	struct nlattr *tb[DEVLINK_ATTR_MAX + 1] = { 0 }, *in[DEVLINK_ATTR_MAX + 1] = { 0 };
	struct reporter r = { .port = REPORTER_OF_DEVICE };

	if (!parse_message(h, DEVLINK_CMD_HEALTH_REPORTER_GET, tb) || !is_of(tb, handle) ||
		!tb[DEVLINK_ATTR_HEALTH_REPORTER] ||
		nla_parse_nested(in, DEVLINK_ATTR_MAX, tb[DEVLINK_ATTR_HEALTH_REPORTER], NULL) <
			0 ||
		!get_text(in[DEVLINK_ATTR_HEALTH_REPORTER_NAME], r.name, sizeof(r.name)))
		return false;
	if (has(tb[DEVLINK_ATTR_PORT_INDEX], sizeof(uint32_t)))
		r.port = nla_get_u32(tb[DEVLINK_ATTR_PORT_INDEX]);
	r.in_error = get_error(in[DEVLINK_ATTR_HEALTH_REPORTER_STATE]);
	r.errors = get_count(in[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT]);
	r.recoveries = get_count(in[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT]);
	*ret = r;
	return true;
}

/* A switch that is on is a flag that is there. */
static int32_t value_of(struct nlattr *nest, uint8_t mode)
{
	struct nlattr *value;
	int rest;

	nla_for_each_nested(value, nest, rest)
	{
		struct nlattr *in[DEVLINK_ATTR_MAX + 1] = { 0 };

		if (nla_type(value) != DEVLINK_ATTR_PARAM_VALUE ||
			nla_parse_nested(in, DEVLINK_ATTR_MAX, value, NULL) < 0 ||
			!has(in[DEVLINK_ATTR_PARAM_VALUE_CMODE], 1) ||
			nla_get_u8(in[DEVLINK_ATTR_PARAM_VALUE_CMODE]) != mode)
			continue;
		return in[DEVLINK_ATTR_PARAM_VALUE_DATA] ? 1 : 0;
	}
	return -1;
}

bool devlink_parse_switch(struct nlmsghdr *h, int32_t *ret)
{
	struct nlattr *tb[DEVLINK_ATTR_MAX + 1] = { 0 }, *in[DEVLINK_ATTR_MAX + 1] = { 0 };
	struct nlattr *values;

	if (!parse_message(h, DEVLINK_CMD_PARAM_GET, tb) || !tb[DEVLINK_ATTR_PARAM] ||
		nla_parse_nested(in, DEVLINK_ATTR_MAX, tb[DEVLINK_ATTR_PARAM], NULL) < 0)
		return false;
	*ret = -1;
	values = in[DEVLINK_ATTR_PARAM_VALUES_LIST];
	if (!values || !has(in[DEVLINK_ATTR_PARAM_TYPE], 1) ||
		nla_get_u8(in[DEVLINK_ATTR_PARAM_TYPE]) != NLA_FLAG)
		return true;
	*ret = value_of(values, DEVLINK_PARAM_CMODE_RUNTIME);
	if (*ret < 0)
		*ret = value_of(values, DEVLINK_PARAM_CMODE_DRIVERINIT);
	return true;
}

/* ---- asking ---- */

static int open_request(const char *handle, uint8_t command, int flags, struct nl_sock **ret_sock,
	struct nl_msg **ret_msg)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	char bus[DEVLINK_HANDLE_MAX];
	char *slash;
	int r;

	STRSCPY(bus, handle);
	slash = strchr(bus, '/');
	if (!slash)
		return -EINVAL;
	*slash = '\0';
	r = nl_request_open(NETLINK_GENERIC, &sock);
	if (r < 0)
		return r;
	r = genl_request_new(sock, DEVLINK_GENL_NAME, DEVLINK_GENL_VERSION, command, flags, &msg);
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r; /* a kernel without devlink */
	if (nla_put_string(msg, DEVLINK_ATTR_BUS_NAME, bus) < 0 ||
		nla_put_string(msg, DEVLINK_ATTR_DEV_NAME, slash + 1) < 0)
		return -ENOMEM;
	*ret_sock = TAKE_PTR(sock);
	*ret_msg = TAKE_PTR(msg);
	return 0;
}

static int on_instance(struct nl_msg *msg, void *user)
{
	struct nlattr *tb[DEVLINK_ATTR_MAX + 1] = { 0 };

	(void)user;
	return parse_message(nlmsg_hdr(msg), DEVLINK_CMD_NEW, tb) ? 0 : -EBADMSG;
}

/* -ENODEV: nothing is called so. */
static int find_instance(const char *handle)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	int r;

	r = open_request(handle, DEVLINK_CMD_GET, 0, &sock, &msg);
	return r < 0 ? r : nl_request(sock, msg, on_instance, NULL);
}

struct listing {
	const char *handle;
	struct devlink_facts *facts;
};

/* Those of other devices are passed over. */
static int on_listed(struct nl_msg *msg, void *user)
{
	struct listing *l = user;
	struct reporter r;

	if (devlink_parse_reporter(nlmsg_hdr(msg), l->handle, &r))
		devlink_facts_add(l->facts, &r);
	return 0;
}

int devlink_list_reporters(const char *handle, struct devlink_facts *f)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	struct listing l = { .handle = handle, .facts = f };
	int r;

	r = find_instance(handle);
	if (r >= 0)
		r = open_request(handle, DEVLINK_CMD_HEALTH_REPORTER_GET, NLM_F_DUMP, &sock, &msg);
	return r < 0 ? r : nl_request(sock, msg, on_listed, &l);
}

struct one {
	const char *handle;
	struct reporter *reporter;
};

static int on_one(struct nl_msg *msg, void *user)
{
	struct one *o = user;

	return devlink_parse_reporter(nlmsg_hdr(msg), o->handle, o->reporter) ? 0 : -EBADMSG;
}

int devlink_read_reporter(const char *handle, struct reporter *r)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	struct one o = { .handle = handle, .reporter = r };
	int error;

	error = open_request(handle, DEVLINK_CMD_HEALTH_REPORTER_GET, 0, &sock, &msg);
	if (error < 0)
		return error;
	if (nla_put_string(msg, DEVLINK_ATTR_HEALTH_REPORTER_NAME, r->name) < 0 ||
		(r->port != REPORTER_OF_DEVICE &&
			nla_put_u32(msg, DEVLINK_ATTR_PORT_INDEX, r->port) < 0))
		return -ENOMEM;
	return nl_request(sock, msg, on_one, &o);
}

static int on_switch(struct nl_msg *msg, void *user)
{
	return devlink_parse_switch(nlmsg_hdr(msg), user) ? 0 : -EBADMSG;
}

int devlink_read_switch(const char *handle, const char *name)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	_cleanup_(nlmsg_freep) struct nl_msg *msg = NULL;
	int32_t on = -1;
	int r;

	r = open_request(handle, DEVLINK_CMD_PARAM_GET, 0, &sock, &msg);
	if (r < 0)
		return r;
	if (nla_put_string(msg, DEVLINK_ATTR_PARAM_NAME, name) < 0)
		return -ENOMEM;
	r = nl_request(sock, msg, on_switch, &on);
	if (r < 0)
		return r;
	return on < 0 ? -EINVAL : on;
}
