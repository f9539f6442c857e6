/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <net/if.h> /* before linux/if.h, which then leaves out what both have */

#include "execute-setting.h"

#include "ipoib.h"
#include "netdev.h"
#include "nldev.h"
#include "parse.h"
#include "refusal.h"
#include "roce.h"
#include "sysfs.h"

/* What a request is about, while it is carried out. */
struct work {
	const struct setup_request *req;
	struct nldev *nldev;
	bool made_directory; /* of configfs: to be removed again */
	/* Of optional counters: what the driver does not have, "" all is there. */
	char missing[STEP_VALUE_MAX];
};

/* ---- each kind: how it is read and set; 0 or a negative errno ---- */

static int read_netns_mode(struct work *w, char value[STEP_VALUE_MAX])
{
	struct system_facts f;
	int r = nldev_read_system(w->nldev, &f);

	if (r < 0 || f.netns_exclusive < 0)
		return r < 0 ? r : -EOPNOTSUPP;
	snprintf(value, STEP_VALUE_MAX, "%s", f.netns_exclusive ? "exclusive" : "shared");
	return 0;
}

static int set_netns_mode(struct work *w)
{
	return nldev_set_netns_mode(w->nldev, streq(w->req->value, "exclusive"));
}

static int read_privileged_qkey(struct work *w, char value[STEP_VALUE_MAX])
{
	struct system_facts f;
	int r = nldev_read_system(w->nldev, &f);

	if (r < 0 || f.privileged_qkey < 0)
		return r < 0 ? r : -EOPNOTSUPP;
	snprintf(value, STEP_VALUE_MAX, "%s", setting_switch(f.privileged_qkey));
	return 0;
}

static int set_privileged_qkey(struct work *w)
{
	return nldev_set_privileged_qkey(w->nldev, streq(w->req->value, "on"));
}

/* By index: the name is what changes. */
static int match_name(const struct device_facts *f, void *user)
{
	struct device_facts *want = user;

	if (f->index == want->index)
		*want = *f;
	return 0;
}

static int read_name(struct work *w, char value[STEP_VALUE_MAX])
{
	struct device_facts f = { .index = w->req->index };
	int r = nldev_list_devices(w->nldev, match_name, &f);

	if (r < 0 || !f.name[0])
		return r < 0 ? r : -ENODEV;
	snprintf(value, STEP_VALUE_MAX, "%s", f.name);
	return 0;
}

static int set_name(struct work *w)
{
	return nldev_rename_device(w->nldev, w->req->index, w->req->value);
}

static int read_description(struct work *w, char value[STEP_VALUE_MAX])
{
	/* There may be none, which setting it tells. */
	if (sysfs_read_node_desc(w->req->name, value, STEP_VALUE_MAX) < 0)
		value[0] = '\0';
	return 0;
}

static int set_description(struct work *w)
{
	return sysfs_write_node_desc(w->req->name, w->req->value);
}

static int read_moderation(struct work *w, char value[STEP_VALUE_MAX])
{
	int r = nldev_read_adaptive_moderation(w->nldev, w->req->index);

	if (r < 0)
		return r;
	snprintf(value, STEP_VALUE_MAX, "%s", setting_switch(r));
	return 0;
}

static int set_moderation(struct work *w)
{
	return nldev_set_adaptive_moderation(w->nldev, w->req->index, streq(w->req->value, "on"));
}

/* The directory may be somebody else's, who removes it when he has read what he wanted. */
static int prepare_roce(struct work *w)
{
	int r = roce_prepare(w->req->name);

	w->made_directory |= r > 0;
	return r;
}

static int read_roce(struct work *w, enum gid_type *ret_mode, int *ret_tos)
{
	int r = prepare_roce(w);

	return r < 0 ? r : roce_read(w->req->name, w->req->port, ret_mode, ret_tos);
}

static int read_roce_mode(struct work *w, char value[STEP_VALUE_MAX])
{
	enum gid_type mode = GID_TYPE_UNKNOWN;
	int tos, r = read_roce(w, &mode, &tos);

	snprintf(value, STEP_VALUE_MAX, "%s", r < 0 ? "" : setting_roce_mode(mode));
	return r;
}

static int set_roce_mode(struct work *w)
{
	int r = prepare_roce(w);

	return r < 0 ? r
		     : roce_set_mode(w->req->name, w->req->port,
			       streq(w->req->value, "v1") ? GID_TYPE_ROCE_V1 : GID_TYPE_ROCE_V2);
}

static int read_roce_tos(struct work *w, char value[STEP_VALUE_MAX])
{
	enum gid_type mode;
	int tos = -1, r = read_roce(w, &mode, &tos);

	if (r >= 0 && tos >= 0)
		snprintf(value, STEP_VALUE_MAX, "%d", tos);
	return r;
}

static int set_roce_tos(struct work *w)
{
	uint32_t tos;
	int r = parse_u32(w->req->value, &tos);

	if (r >= 0)
		r = prepare_roce(w);
	return r < 0 ? r : roce_set_tos(w->req->name, w->req->port, tos);
}

/* Optional counters: what is on stays on, since the kernel takes the whole set at once. */
#define OPTIONAL_MAX 256

struct optional {
	const char *wanted;
	char on[STEP_VALUE_MAX];
	uint32_t indexes[OPTIONAL_MAX];
	size_t n;
	char seen[STEP_VALUE_MAX]; /* of the wanted */
};

/* One more word; false: there is no room for it. */
static bool add_word(char list[STEP_VALUE_MAX], const char *word)
{
	size_t used = strlen(list);

	if (used + strlen(word) + 2 > STEP_VALUE_MAX)
		return false;
	snprintf(list + used, STEP_VALUE_MAX - used, "%s%s", used ? " " : "", word);
	return true;
}

static int collect_optional(const char *name, uint32_t hw_index, bool enabled, void *user)
{
	struct optional *o = user;
	char one[STEP_VALUE_MAX];
	bool wanted;

	STRSCPY(one, name);
	wanted = o->wanted && setting_satisfied(STEP_OPTIONAL_COUNTERS, o->wanted, one);
	if (wanted)
		(void)add_word(o->seen, one);
	if (enabled)
		(void)add_word(o->on, one);
	if (!enabled && !wanted)
		return 0;
	if (o->n == OPTIONAL_MAX)
		return -E2BIG;
	o->indexes[o->n++] = hw_index;
	return 0;
}

static int read_optional(struct work *w, char value[STEP_VALUE_MAX])
{
	struct optional o = { 0 };
	int r = nldev_list_optional_counters(
		w->nldev, w->req->index, w->req->port, collect_optional, &o);

	if (r >= 0)
		snprintf(value, STEP_VALUE_MAX, "%s", o.on);
	return r;
}

/* Those of the wanted that were not seen. */
static void find_missing(const char *wanted, const char *seen, char missing[STEP_VALUE_MAX])
{
	char word[STEP_VALUE_MAX];

	while (next_word(&wanted, word, sizeof(word)) > 0)
		if (!setting_satisfied(STEP_OPTIONAL_COUNTERS, seen, word))
			(void)add_word(missing, word);
}

static int set_optional(struct work *w)
{
	struct optional o = { .wanted = w->req->value };
	int r = nldev_list_optional_counters(
		w->nldev, w->req->index, w->req->port, collect_optional, &o);

	if (r < 0)
		return r;
	find_missing(w->req->value, o.seen, w->missing);
	if (w->missing[0])
		return -ENOENT;
	return nldev_set_optional_counters(w->nldev, w->req->index, w->req->port, o.indexes, o.n);
}

struct netdev_wanted {
	const char *name;
	struct netdev_facts facts;
	bool found;
};

static int match_netdev(const struct netdev_facts *f, void *user)
{
	struct netdev_wanted *want = user;

	if (streq(f->name, want->name)) {
		want->facts = *f;
		want->found = true;
	}
	return 0;
}

static int read_netdev(const char *name, struct netdev_facts *ret)
{
	struct netdev_wanted want = { .name = name };
	int r = netdev_list(match_netdev, &want);

	if (r < 0 || !want.found)
		return r < 0 ? r : -ENODEV;
	*ret = want.facts;
	return 0;
}

static int read_child(struct work *w, char value[STEP_VALUE_MAX])
{
	struct netdev_facts f;
	int r = read_netdev(w->req->name, &f);

	if (r == -ENODEV)
		return 0; /* to be made */
	if (r < 0)
		return r;
	if (!f.is_ipoib || (f.link && f.link != w->req->index))
		return -EEXIST;
	snprintf(value, STEP_VALUE_MAX, "0x%04x", f.pkey);
	return 0;
}

static int add_child(struct work *w)
{
	uint32_t ifindex;

	return ipoib_add_child(w->req->name, w->req->index, setting_pkey(w->req->value), &ifindex);
}

static int read_ipoib_mode(struct work *w, char value[STEP_VALUE_MAX])
{
	struct netdev_facts f;
	int r = read_netdev(w->req->name, &f);

	if (r < 0 || !f.is_ipoib || f.ipoib_connected < 0)
		return r < 0 ? r : -EOPNOTSUPP;
	snprintf(value, STEP_VALUE_MAX, "%s", f.ipoib_connected ? "connected" : "datagram");
	return 0;
}

static int set_ipoib_mode(struct work *w)
{
	return ipoib_set_connected(w->req->index, streq(w->req->value, "connected"));
}

static int read_umcast(struct work *w, char value[STEP_VALUE_MAX])
{
	struct netdev_facts f;
	int r = read_netdev(w->req->name, &f);

	if (r < 0 || !f.is_ipoib || f.ipoib_umcast < 0)
		return r < 0 ? r : -EOPNOTSUPP;
	snprintf(value, STEP_VALUE_MAX, "%s", setting_switch(f.ipoib_umcast));
	return 0;
}

static int set_umcast(struct work *w)
{
	return ipoib_set_umcast(w->req->index, streq(w->req->value, "on"));
}

static int read_mtu(struct work *w, char value[STEP_VALUE_MAX])
{
	struct netdev_facts f;
	int r = read_netdev(w->req->name, &f);

	if (r >= 0 && f.mtu)
		snprintf(value, STEP_VALUE_MAX, "%u", f.mtu);
	return r;
}

static int set_mtu(struct work *w)
{
	uint32_t mtu;
	int r = parse_u32(w->req->value, &mtu);

	return r < 0 ? r : netdev_set_mtu(w->req->index, mtu);
}

static const struct operations {
	/* Leaves value "" where that is not known, or there is nothing yet. */
	int (*read)(struct work *w, char value[STEP_VALUE_MAX]);
	int (*set)(struct work *w);
	bool netlink; /* RDMA netlink is what does it */
} operations[_STEP_KIND_MAX] = {
	[STEP_NETNS_MODE] = { read_netns_mode, set_netns_mode, true },
	[STEP_PRIVILEGED_QKEY] = { read_privileged_qkey, set_privileged_qkey, true },
	[STEP_DEVICE_NAME] = { read_name, set_name, true },
	[STEP_NODE_DESCRIPTION] = { read_description, set_description },
	[STEP_ADAPTIVE_MODERATION] = { read_moderation, set_moderation, true },
	[STEP_ROCE_MODE] = { read_roce_mode, set_roce_mode },
	[STEP_ROCE_TOS] = { read_roce_tos, set_roce_tos },
	[STEP_OPTIONAL_COUNTERS] = { read_optional, set_optional, true },
	[STEP_ADD_IPOIB] = { read_child, add_child },
	[STEP_IPOIB_MODE] = { read_ipoib_mode, set_ipoib_mode },
	[STEP_IPOIB_UMCAST] = { read_umcast, set_umcast },
	[STEP_NETDEV_MTU] = { read_mtu, set_mtu },
};

/* ---- what stands before it ---- */

/* Whether the names in the request are still those of what was planned for. 0 or -ENODEV. */
static int check_target(struct work *w)
{
	const struct setup_request *req = w->req;
	uint32_t index;
	int r;

	switch (setting_get((enum step_kind)req->kind)->of) {
	case SETTING_OF_HOST:
		return 0;
	case SETTING_OF_DEVICE:
	case SETTING_OF_PORT:
		/* sysfs has no index to compare with. */
		if (!w->nldev || device_index_is_made_up(req->index))
			return 0;
		if (req->kind == STEP_DEVICE_NAME)
			return 0; /* by its index alone */
		r = nldev_device_index_by_name(w->nldev, req->name, &index);
		return r == 0 && index != req->index ? -ENODEV : r;
	case SETTING_OF_NETDEV:
		return if_nametoindex(req->name) == req->index ? 0 : -ENODEV;
	case SETTING_OF_PARENT:
		return if_nametoindex(req->netdev) == req->index ? 0 : -ENODEV;
	}
	return -ENODEV;
}

/* Whether somebody else has set up this interface; then it is theirs. False: nobody, or not known. */
static bool netdev_is_managed(uint32_t ifindex, const char **ret_by)
{
	static const struct {
		const char *directory, *sign, *by;
	} managers[] = {
		{ "/run/systemd/netif/links", "NETWORK_FILE=", "systemd-networkd" },
		{ "/run/NetworkManager/devices", "managed=true", "NetworkManager" },
	};
	char path[64], text[4096];

	for (size_t i = 0; i < ARRAY_SIZE(managers); i++) {
		snprintf(path, sizeof(path), "%s/%u", managers[i].directory, ifindex);
		if (strstr(read_short(path, text, sizeof(text)), managers[i].sign)) {
			*ret_by = managers[i].by;
			return true;
		}
	}
	return false;
}

/* Whether setting it now would take something from somebody; the answer says from whom. */
static bool is_in_use(struct work *w, struct setup_answer *a)
{
	const struct setup_request *req = w->req;
	struct device_users users;

	if (!setting_get((enum step_kind)req->kind)->disruptive || (req->flags & SETUP_DISRUPTIVE))
		return false;
	if (req->kind == STEP_DEVICE_NAME) {
		if (nldev_read_users(w->nldev, req->index, &users) < 0 ||
			(!users.contexts && !users.qps))
			return false;
		answer_detail(a, "in use by %s (pid %u)", users.comm, users.pid);
	} else {
		struct netdev_facts f;

		if (read_netdev(req->name, &f) < 0 || !(f.flags & IFF_UP))
			return false;
		answer_detail(a, "in use: %s is up", req->name);
	}
	answer_conclude(a, STEP_WAITING, -EBUSY);
	answer_remedy(a, "rdmactl apply --disruptive; else it is done when it is unused");
	a->flags |= SETUP_IN_USE;
	return true;
}

static bool is_left_to_others(const struct setup_request *req, struct setup_answer *a)
{
	const char *by;

	if (setting_get((enum step_kind)req->kind)->of != SETTING_OF_NETDEV ||
		!netdev_is_managed(req->index, &by))
		return false;
	answer_conclude(a, STEP_BLOCKED, -EBUSY);
	answer_detail(a, "%s sets up %s", by, req->name);
	answer_remedy(a, "set it there, and take it out of [IPoIB %s]", req->name);
	return true;
}

/* ---- all of it ---- */

static void set_and_look(struct work *w, const struct operations *op, struct setup_answer *a)
{
	const struct setup_request *req = w->req;
	int r = op->set(w);

	if (r < 0) {
		explain_refusal(req, r, a);
		if (w->missing[0])
			answer_detail(a, "the driver of %s/%u does not have %s", req->name,
				req->port, w->missing);
		return;
	}
	a->value[0] = '\0';
	r = op->read(w, a->value);
	if (r < 0 || !a->value[0] ||
		!setting_satisfied((enum step_kind)req->kind, a->value, req->value)) {
		answer_conclude(a, STEP_FAILED, r);
		answer_detail(a, "the kernel took it, but it reads %s",
			a->value[0] ? a->value : "nothing");
		answer_remedy(a, "somebody else may set it, too; it is tried again");
		return;
	}
	answer_conclude(a, STEP_CHANGED, 0);
	answer_detail(a, "set");
}

static void read_and_set(struct work *w, const struct operations *op, struct setup_answer *a)
{
	const struct setup_request *req = w->req;
	int r = op->read(w, a->value);

	if (r < 0) {
		explain_refusal(req, r, a);
		return;
	}
	if (req->flags & SETUP_LOOK) {
		answer_conclude(a, STEP_OK, 0);
		return;
	}
	if (a->value[0] && setting_satisfied((enum step_kind)req->kind, a->value, req->value)) {
		answer_conclude(a, STEP_OK, 0);
		answer_detail(a, "set already");
		return;
	}
	if (is_left_to_others(req, a) || is_in_use(w, a))
		return;
	set_and_look(w, op, a);
}

void execute_setting(const struct setup_request *req, struct setup_answer *a)
{
	const struct operations *op = &operations[req->kind];
	_cleanup_(nldev_closep) struct nldev *n = NULL;
	struct work w = { .req = req };
	int r = nldev_open(&n);

	w.nldev = n;
	if (!n && op->netlink) {
		explain_refusal(req, r, a);
		return;
	}
	r = check_target(&w);
	if (r < 0) {
		explain_refusal(req, r == -EINVAL ? -ENODEV : r, a);
		return;
	}
	read_and_set(&w, op, a);
	if (w.made_directory)
		roce_drop(req->name);
}
