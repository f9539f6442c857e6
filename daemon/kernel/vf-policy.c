/* SPDX-License-Identifier: MIT */
#include "vf-policy.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <strings.h>
#include <sys/socket.h>

#include "macros.h"
#include "nl-request.h"
#include "parse.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"

#define PHYSFN "/sys/class/infiniband/%s/device/physfn"

enum vf_link vf_policy_from_word(const char *word)
{
	if (strcasecmp(word, "Down") == 0)
		return VF_LINK_DISABLE;
	if (strcasecmp(word, "Up") == 0)
		return VF_LINK_ENABLE;
	if (strcasecmp(word, "Follow") == 0)
		return VF_LINK_AUTO;
	return VF_LINK_UNKNOWN;
}

static enum vf_link from_number(uint32_t state)
{
	switch (state) {
	case IFLA_VF_LINK_STATE_AUTO:
		return VF_LINK_AUTO;
	case IFLA_VF_LINK_STATE_ENABLE:
		return VF_LINK_ENABLE;
	case IFLA_VF_LINK_STATE_DISABLE:
		return VF_LINK_DISABLE;
	default:
		return VF_LINK_UNKNOWN;
	}
}

bool vf_policy_parse(struct nlmsghdr *h, struct vf_policy *f)
{
	struct nlattr *tb[IFLA_MAX + 1] = { 0 }, *vf;
	int rest;

	if (h->nlmsg_type != RTM_NEWLINK ||
		nlmsg_parse(h, sizeof(struct ifinfomsg), tb, IFLA_MAX, NULL) < 0 ||
		!tb[IFLA_VFINFO_LIST])
		return false;
	nla_for_each_nested(vf, tb[IFLA_VFINFO_LIST], rest)
	{
		struct nlattr *info[IFLA_VF_MAX + 1] = { 0 };
		struct ifla_vf_link_state state;

		if (nla_parse_nested(info, IFLA_VF_MAX, vf, NULL) < 0 ||
			!info[IFLA_VF_LINK_STATE] ||
			nla_len(info[IFLA_VF_LINK_STATE]) < (int)sizeof(state))
			continue;
		memcpy(&state, nla_data(info[IFLA_VF_LINK_STATE]), sizeof(state));
		if (f->vf < 0 || state.vf != (uint32_t)f->vf)
			continue;
		f->link = from_number(state.link_state);
		return f->link != VF_LINK_UNKNOWN;
	}
	return false;
}

static int on_link(struct nl_msg *msg, void *user)
{
	(void)vf_policy_parse(nlmsg_hdr(msg), user); /* else it stays unknown */
	return 0;
}

/* Asks the netdev of the physical function. */
static int ask_netdev(struct nl_sock *sock, const char *name, struct vf_policy *f)
{
	_cleanup_(nlmsg_freep) struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	int r;

	if (!msg || nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0 ||
		nla_put_string(msg, IFLA_IFNAME, name) < 0 ||
		nla_put_u32(msg, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS) < 0)
		return -ENOMEM;
	r = nl_request(sock, msg, on_link, f);
	if (r >= 0 && f->link != VF_LINK_UNKNOWN)
		snprintf(f->netdev, sizeof(f->netdev), "%s", name);
	return r;
}

/* The netdevs of the physical function in turn: one of a port that represents a VF knows nothing. */
static int ask_netdevs(const char *device, struct vf_policy *f)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(PHYSFN "/net", device);
	_cleanup_(nl_socket_freep) struct nl_sock *sock = NULL;
	const struct dirent *e;
	int r;

	if (!dir)
		return -errno;
	r = nl_request_open(NETLINK_ROUTE, &sock);
	while (r >= 0 && f->link == VF_LINK_UNKNOWN && (e = readdir(dir)))
		if (e->d_name[0] != '.' && strlen(e->d_name) < IFNAMSIZ)
			(void)ask_netdev(sock, e->d_name, f); /* it may be gone */
	return MIN(r, 0);
}

/* Which of the physical function's this one is: "virtfn3" leads to it. */
static int find_number(const char *device, int32_t *ret)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory(PHYSFN, device);
	char path[PATH_MAX], target[NAME_MAX + 1];
	const struct dirent *e;
	uint64_t n;
	int r;

	if (!dir)
		return -errno;
	r = sysfs_resolve(path, "/sys/class/infiniband/%s/device", device);
	if (r < 0)
		return r;
	while ((e = readdir(dir))) {
		if (strncmp(e->d_name, "virtfn", 6) != 0 || parse_u64(e->d_name + 6, &n) < 0 ||
			n > INT32_MAX ||
			attr_link(dirfd(dir), e->d_name, target, sizeof(target)) < 0 ||
			!streq(target, strrchr(path, '/') + 1))
			continue;
		*ret = (int32_t)n;
		return 0;
	}
	return -ENOENT;
}

static void read_vendor(const char *device, struct vf_policy *f)
{
	_cleanup_(closep) int dir = sysfs_open_directory(PHYSFN "/sriov/%d", device, f->vf);
	char word[16];

	if (attr_read(dir, "policy", word, sizeof(word)) >= 0)
		f->link = vf_policy_from_word(word);
}

int vf_policy_read(uint32_t device_index, const char *device, struct vf_policy *ret)
{
	struct vf_policy f = vf_policy_unknown(device_index);
	int r;

	r = sysfs_is_name(device) ? find_number(device, &f.vf) : -EINVAL;
	if (r >= 0) {
		r = ask_netdevs(device, &f);
		if (f.link == VF_LINK_UNKNOWN)
			read_vendor(device, &f);
		if (f.link != VF_LINK_UNKNOWN)
			r = 0;
		else if (r >= 0)
			r = -ENOENT;
	}
	*ret = f;
	return r;
}
