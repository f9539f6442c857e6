/* SPDX-License-Identifier: MIT */
#include "netdev.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "log.h"
#include "macros.h"
#include "nl-monitor.h"

#define LIST_TIMEOUT_SEC 10
/* While netdevs come and go in a loop, three of four dumps of some hundred are interrupted. */
#define LIST_ATTEMPTS 20

struct netdev_monitor {
	struct nl_sock *sock;
	const struct netdev_callbacks *callbacks; /* while it receives */
	void *user;
};

DEFINE_CLEANUP(struct nl_sock *, nl_socket_free)

static int socket_errno(int nlerr)
{
	/* libnl has one code for ENOMEM and ENOBUFS; on a receive it is the lost messages. */
	switch (-nlerr) {
	case NLE_NOMEM:
		return -ENOBUFS;
	case NLE_AGAIN:
		return -EAGAIN;
	case NLE_PERM:
		return -EPERM;
	case NLE_DUMP_INTR:
		return -EINTR;
	default:
		return -EIO;
	}
}

/* An attribute of an unexpected length is one that is not understood. */
static bool has_u8(const struct nlattr *a)
{
	return a && nla_len(a) == sizeof(uint8_t);
}

static bool has_u32(const struct nlattr *a)
{
	return a && nla_len(a) == sizeof(uint32_t);
}

static bool nla_is(const struct nlattr *a, const char *word)
{
	return a && nla_strcmp(a, word) == 0;
}

/* The kinds that run on the netdev that IFLA_LINK names; a veth has its peer there, for example. */
static bool kind_is_stacked(const char *kind)
{
	static const char *const stacked[] = { "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap",
		"ipoib" };

	for (size_t i = 0; i < ARRAY_SIZE(stacked); i++)
		if (streq(kind, stacked[i]))
			return true;
	return false;
}

static bool set_address(struct netdev_facts *f, const struct nlattr *a)
{
	int n = a ? nla_len(a) : 0;

	if (n <= 0 || n > HW_ADDRESS_MAX)
		return false;
	memcpy(f->address, nla_data(a), (size_t)n);
	f->address_length = (uint8_t)n;
	return true;
}

/* The attributes inside info[IFLA_INFO_SLAVE_DATA]; all absent when info is not a bond's leg. */
static void parse_leg(
	struct nlattr *info[], struct nlattr *leg[IFLA_BOND_SLAVE_MAX + 1], struct netdev_facts *f)
{
	if (!nla_is(info[IFLA_INFO_SLAVE_KIND], "bond"))
		return;
	f->leg = BOND_LEG_UNKNOWN;
	if (!info[IFLA_INFO_SLAVE_DATA] ||
		nla_parse_nested(leg, IFLA_BOND_SLAVE_MAX, info[IFLA_INFO_SLAVE_DATA], NULL) < 0)
		return;
	if (has_u8(leg[IFLA_BOND_SLAVE_STATE]))
		switch (nla_get_u8(leg[IFLA_BOND_SLAVE_STATE])) {
		case BOND_STATE_ACTIVE:
			f->leg = BOND_LEG_ACTIVE;
			break;
		case BOND_STATE_BACKUP:
			f->leg = BOND_LEG_BACKUP;
			break;
		default:
			break;
		}
	if (has_u8(leg[IFLA_BOND_SLAVE_MII_STATUS]))
		switch (nla_get_u8(leg[IFLA_BOND_SLAVE_MII_STATUS])) {
		case BOND_LINK_UP:
			f->mii = BOND_MII_UP;
			break;
		case BOND_LINK_FAIL:
			f->mii = BOND_MII_GOING_DOWN;
			break;
		case BOND_LINK_DOWN:
			f->mii = BOND_MII_DOWN;
			break;
		case BOND_LINK_BACK:
			f->mii = BOND_MII_GOING_UP;
			break;
		default:
			break;
		}
}

static void parse_bond(struct nlattr *info[], struct netdev_facts *f)
{
	struct nlattr *tb[IFLA_BOND_MAX + 1] = { 0 };

	if (!info[IFLA_INFO_DATA] ||
		nla_parse_nested(tb, IFLA_BOND_MAX, info[IFLA_INFO_DATA], NULL) < 0)
		return;
	f->lacp = has_u8(tb[IFLA_BOND_MODE]) && nla_get_u8(tb[IFLA_BOND_MODE]) == BOND_MODE_8023AD;
}

static bool has_u16(const struct nlattr *a)
{
	return a && nla_len(a) == sizeof(uint16_t);
}

/* The attributes that ib_ipoib has of its own (ipoib_fill_info(), ipoib_netlink.c). */
static void parse_ipoib(struct nlattr *info[], struct netdev_facts *f)
{
	struct nlattr *tb[IFLA_IPOIB_MAX + 1] = { 0 };

	if (!info[IFLA_INFO_DATA] ||
		nla_parse_nested(tb, IFLA_IPOIB_MAX, info[IFLA_INFO_DATA], NULL) < 0)
		return;
	if (has_u16(tb[IFLA_IPOIB_PKEY]))
		f->pkey = nla_get_u16(tb[IFLA_IPOIB_PKEY]);
	if (has_u16(tb[IFLA_IPOIB_MODE]))
		f->ipoib_connected = nla_get_u16(tb[IFLA_IPOIB_MODE]) == IPOIB_MODE_CONNECTED;
	if (has_u16(tb[IFLA_IPOIB_UMCAST]))
		f->ipoib_umcast = nla_get_u16(tb[IFLA_IPOIB_UMCAST]) != 0;
}

/* What it is to other netdevs, and whose address it shows. */
static void parse_relations(struct nlattr *tb[], struct netdev_facts *f)
{
	struct nlattr *info[IFLA_INFO_MAX + 1] = { 0 };
	struct nlattr *leg[IFLA_BOND_SLAVE_MAX + 1] = { 0 };

	if (tb[IFLA_LINKINFO] &&
		nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) >= 0) {
		if (info[IFLA_INFO_KIND])
			nla_strlcpy(f->kind, info[IFLA_INFO_KIND], sizeof(f->kind));
		parse_leg(info, leg, f);
		f->is_ipoib = streq(f->kind, "ipoib");
		if (f->is_ipoib)
			parse_ipoib(info, f);
		if (streq(f->kind, "bond"))
			parse_bond(info, f);
	}
	if (has_u32(tb[IFLA_MASTER]))
		f->master = nla_get_u32(tb[IFLA_MASTER]);
	if (has_u32(tb[IFLA_LINK]) && !tb[IFLA_LINK_NETNSID] && kind_is_stacked(f->kind) &&
		nla_get_u32(tb[IFLA_LINK]) != f->ifindex)
		f->link = nla_get_u32(tb[IFLA_LINK]);
	/* A leg wears the bond's address. IFLA_PERM_ADDRESS is there since 5.6. */
	f->permanent_address = set_address(f, tb[IFLA_PERM_ADDRESS]) ||
			       set_address(f, leg[IFLA_BOND_SLAVE_PERM_HWADDR]);
	if (!f->permanent_address)
		set_address(f, tb[IFLA_ADDRESS]);
}

bool netdev_parse_link(struct nlmsghdr *h, struct netdev_facts *ret)
{
	struct nlattr *tb[IFLA_MAX + 1] = { 0 };
	struct netdev_facts f = { .ipoib_connected = -1, .ipoib_umcast = -1 };
	struct ifinfomsg *ifi;

	if (h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK)
		return false;
	if (nlmsg_parse(h, sizeof(*ifi), tb, IFLA_MAX, NULL) < 0)
		return false;
	ifi = nlmsg_data(h);
	/* Bridges send RTM_*LINK of their ports with their own family: not a link come or gone. */
	if (ifi->ifi_family != AF_UNSPEC)
		return false;
	/* Events of wireless drivers are RTM_NEWLINK as well, with nothing but the event in them. */
	if (!tb[IFLA_IFNAME])
		return false;
	nla_strlcpy(f.name, tb[IFLA_IFNAME], sizeof(f.name));
	f.ifindex = (uint32_t)ifi->ifi_index;
	f.flags = ifi->ifi_flags;
	f.type = ifi->ifi_type;
	f.gone = h->nlmsg_type == RTM_DELLINK;
	if (has_u32(tb[IFLA_MTU]))
		f.mtu = nla_get_u32(tb[IFLA_MTU]);
	if (has_u8(tb[IFLA_OPERSTATE]))
		f.operstate = nla_get_u8(tb[IFLA_OPERSTATE]);
	/* IFLA_CARRIER is there since 2.6; IFF_LOWER_UP says the same. */
	f.carrier = has_u8(tb[IFLA_CARRIER]) ? nla_get_u8(tb[IFLA_CARRIER]) != 0
					     : (f.flags & IFF_LOWER_UP) != 0;
	if (has_u32(tb[IFLA_CARRIER_UP_COUNT]) && has_u32(tb[IFLA_CARRIER_DOWN_COUNT])) {
		f.have_carrier_counts = true;
		f.carrier_up_count = nla_get_u32(tb[IFLA_CARRIER_UP_COUNT]);
		f.carrier_down_count = nla_get_u32(tb[IFLA_CARRIER_DOWN_COUNT]);
	}
	if (tb[IFLA_PHYS_PORT_NAME])
		nla_strlcpy(f.phys_port_name, tb[IFLA_PHYS_PORT_NAME], sizeof(f.phys_port_name));
	parse_relations(tb, &f);
	*ret = f;
	return true;
}

bool netdev_parse_address(struct nlmsghdr *h, struct address_facts *ret)
{
	struct nlattr *tb[IFA_MAX + 1] = { 0 }, *a;
	struct address_facts f = { 0 };
	struct ifaddrmsg *ifa;
	size_t length;

	if (h->nlmsg_type != RTM_NEWADDR && h->nlmsg_type != RTM_DELADDR)
		return false;
	if (nlmsg_parse(h, sizeof(*ifa), tb, IFA_MAX, NULL) < 0)
		return false;
	ifa = nlmsg_data(h);
	if (ifa->ifa_family != AF_INET && ifa->ifa_family != AF_INET6)
		return false;
	length = ifa->ifa_family == AF_INET ? 4 : 16;
	/* On a point-to-point link IFA_ADDRESS is the peer's, and IFA_LOCAL is ours. */
	a = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	if (!a || (size_t)nla_len(a) != length)
		return false;
	memcpy(f.address, nla_data(a), length);
	f.ifindex = ifa->ifa_index;
	f.family = ifa->ifa_family;
	f.prefix_length = ifa->ifa_prefixlen;
	f.scope = ifa->ifa_scope;
	f.flags = has_u32(tb[IFA_FLAGS]) ? nla_get_u32(tb[IFA_FLAGS]) : ifa->ifa_flags;
	f.gone = h->nlmsg_type == RTM_DELADDR;
	*ret = f;
	return true;
}

/* One dump, kept until it is complete. */
struct list {
	bool (*parse)(struct nlmsghdr *h, void *ret);
	size_t size; /* of what parse() makes */
	void *items;
	size_t n, allocated;
	int error;
	bool done;
};

static void list_done(struct list *l)
{
	free(l->items);
}

static void *list_item(const struct list *l, size_t i)
{
	return (char *)l->items + i * l->size;
}

static int list_grow(struct list *l)
{
	size_t allocated = MAX(2 * l->allocated, (size_t)64);
	void *items = reallocarray(l->items, allocated, l->size);

	if (!items)
		return -ENOMEM;
	l->items = items;
	l->allocated = allocated;
	return 0;
}

static int on_list_message(struct nl_msg *msg, void *arg)
{
	struct list *l = arg;

	if (l->error == 0 && l->n == l->allocated)
		l->error = list_grow(l);
	if (l->error == 0 && l->parse(nlmsg_hdr(msg), list_item(l, l->n)))
		l->n++;
	return NL_OK;
}

static int on_list_done(struct nl_msg *msg, void *arg)
{
	struct list *l = arg;

	(void)msg;
	l->done = true;
	return NL_OK;
}

static int list_once(struct nl_sock *sock, int type, void *header, size_t size, struct list *l)
{
	int r;

	l->n = 0;
	l->done = false;
	r = nl_send_simple(sock, type, NLM_F_DUMP, header, size);
	if (r < 0)
		return socket_errno(r);
	while (!l->done) {
		r = nl_recvmsgs_default(sock);
		if (r < 0)
			return socket_errno(r);
	}
	return l->error;
}

/* header is what the request carries. */
static int list(int type, void *header, size_t size, struct list *l)
{
	_cleanup_(nl_socket_freep) struct nl_sock *sock = nl_socket_alloc();
	struct timeval tv = { .tv_sec = LIST_TIMEOUT_SEC };
	int r;

	if (!sock)
		return -ENOMEM;
	r = nl_connect(sock, NETLINK_ROUTE);
	if (r < 0)
		return socket_errno(r);
	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0)
		return -errno;
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_list_message, l);
	nl_socket_modify_cb(sock, NL_CB_FINISH, NL_CB_CUSTOM, on_list_done, l);
	/* A dump during which something changed may have left out what did not change. */
	for (int i = 0; i < LIST_ATTEMPTS; i++) {
		r = list_once(sock, type, header, size, l);
		if (r != -EINTR)
			break;
	}
	return r;
}

static bool take_link(struct nlmsghdr *h, void *ret)
{
	return netdev_parse_link(h, ret);
}

static bool take_address(struct nlmsghdr *h, void *ret)
{
	return netdev_parse_address(h, ret);
}

int netdev_list(netdev_cb cb, void *user)
{
	_cleanup_(list_done) struct list l = { take_link, sizeof(struct netdev_facts) };
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC };
	int r;

	r = list(RTM_GETLINK, &ifi, sizeof(ifi), &l);
	for (size_t i = 0; r >= 0 && i < l.n; i++)
		r = cb(list_item(&l, i), user);
	return MIN(r, 0);
}

int netdev_list_addresses(address_cb cb, void *user)
{
	_cleanup_(list_done) struct list l = { take_address, sizeof(struct address_facts) };
	struct ifaddrmsg ifa = { .ifa_family = AF_UNSPEC };
	int r;

	r = list(RTM_GETADDR, &ifa, sizeof(ifa), &l);
	for (size_t i = 0; r >= 0 && i < l.n; i++)
		r = cb(list_item(&l, i), user);
	return MIN(r, 0);
}

struct netdev_monitor *netdev_monitor_close(struct netdev_monitor *m)
{
	if (m) {
		nl_socket_free(m->sock);
		free(m);
	}
	return NULL;
}

DEFINE_CLEANUP(struct netdev_monitor *, netdev_monitor_close)

static int on_notification(struct nl_msg *msg, void *arg)
{
	struct netdev_monitor *m = arg;
	struct address_facts address;
	struct netdev_facts link;

	if (netdev_parse_link(nlmsg_hdr(msg), &link))
		m->callbacks->link(&link, m->user);
	else if (netdev_parse_address(nlmsg_hdr(msg), &address))
		m->callbacks->address(&address, m->user);
	return NL_OK;
}

int netdev_monitor_open(struct netdev_monitor **ret)
{
	static const int groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR };
	_cleanup_(netdev_monitor_closep) struct netdev_monitor *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	r = nl_monitor_open(
		NETLINK_ROUTE, groups, ARRAY_SIZE(groups), on_notification, m, &m->sock);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

int netdev_monitor_fd(const struct netdev_monitor *m)
{
	return nl_socket_get_fd(m->sock);
}

int netdev_monitor_receive(
	struct netdev_monitor *m, const struct netdev_callbacks *callbacks, void *user)
{
	m->callbacks = callbacks;
	m->user = user;
	return nl_monitor_receive(m->sock);
}
