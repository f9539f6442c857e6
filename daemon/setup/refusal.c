/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <dirent.h>
#include <errno.h>

#include "execute-internal.h"
#include "names.h"
#include "setting.h"

#define ANY _STEP_KIND_MAX

/*
 * The first that fits; "%s" stands for the object. Sources: drivers/infiniband/core/{nldev,device,counters,
 * cma_configfs}.c, drivers/infiniband/ulp/ipoib/{ipoib_netlink,ipoib_main,ipoib_vlan}.c of Linux 6.12.
 */
static const struct refusal {
	enum step_kind kind;
	int errors[3]; /* 0: no further one */
	enum step_result result;
	const char *detail, *remedy;
} refusals[] = {
	{ STEP_NETNS_MODE, { EBUSY }, STEP_BLOCKED, "another network namespace exists",
		"options ib_core netns_mode=0 (1: shared) in modprobe.d, and reboot" },
	{ STEP_NETNS_MODE, { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED,
		"this kernel has no netns mode", "it takes Linux 5.2 or later" },
	{ STEP_PRIVILEGED_QKEY, { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED,
		"this kernel does not let it be chosen", "it takes Linux 6.7 or later" },
	{ STEP_DEVICE_NAME, { EEXIST }, STEP_BLOCKED, "another device has this name",
		"rdma dev shows which; give that one another name" },
	{ STEP_NODE_DESCRIPTION, { ENOENT }, STEP_UNSUPPORTED,
		"the driver of %s has no node description that can be set", "" },
	{ STEP_NODE_DESCRIPTION, { EOPNOTSUPP }, STEP_UNSUPPORTED,
		"the driver of %s does not let it be set", "" },
	{ STEP_ADAPTIVE_MODERATION, { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED,
		"the driver of %s has no adaptive moderation", "take AdaptiveModeration= out" },
	{ STEP_ROCE_MODE, { EINVAL }, STEP_UNSUPPORTED, "the port has no GIDs of that type",
		"rdmactl show %s lists what it has" },
	{ STEP_ROCE_MODE, { ENOENT }, STEP_BLOCKED, "rdma_cm's directory in configfs is not there",
		"systemctl start sys-kernel-config.mount; modprobe rdma_cm" },
	{ STEP_ROCE_TOS, { ENOENT }, STEP_BLOCKED, "rdma_cm's directory in configfs is not there",
		"systemctl start sys-kernel-config.mount; modprobe rdma_cm" },
	{ STEP_OPTIONAL_COUNTERS, { ENOENT }, STEP_UNSUPPORTED,
		"the driver of %s does not have all of them",
		"rdma statistic mode supported lists what it has" },
	{ STEP_OPTIONAL_COUNTERS, { EOPNOTSUPP, EINVAL, ENODATA }, STEP_UNSUPPORTED,
		"the driver of %s has no optional counters", "take OptionalCounters= out" },
	{ STEP_ADD_IPOIB, { EEXIST }, STEP_BLOCKED, "another interface has the name %s",
		"rename the section, or that interface" },
	{ STEP_ADD_IPOIB, { ENOTUNIQ }, STEP_BLOCKED,
		"its parent has a child with this P_Key already",
		"ip -d link shows it: take its name for the section" },
	{ STEP_ADD_IPOIB, { EOPNOTSUPP }, STEP_BLOCKED, "ib_ipoib is not loaded",
		"modprobe ib_ipoib, or add it to LoadInfiniBand=" },
	{ STEP_ADD_IPOIB, { EINVAL }, STEP_FAILED, "the kernel refuses a child on that parent",
		"Parent= must be the IPoIB interface of a port, no child itself" },
	{ STEP_IPOIB_MODE, { EOPNOTSUPP }, STEP_UNSUPPORTED, "%s is no IPoIB interface", "" },
	{ STEP_IPOIB_MODE, { EINVAL }, STEP_UNSUPPORTED, "%s cannot change its mode",
		"this adapter, or this kernel, does datagram mode only" },
	{ STEP_IPOIB_UMCAST, { EOPNOTSUPP }, STEP_UNSUPPORTED, "%s is no IPoIB interface", "" },
	{ STEP_NETDEV_MTU, { EINVAL, ERANGE }, STEP_FAILED, "the MTU does not fit %s",
		"datagram mode takes what the fabric's multicast MTU allows (2044, 4092)" },
	{ ANY, { EPROTONOSUPPORT }, STEP_UNSUPPORTED,
		"this kernel has no RDMA: ib_core cannot be loaded",
		"install the kernel's modules for RDMA" },
	{ ANY, { ENODEV }, STEP_WAITING, "%s is gone, or is another one by now", "" },
	{ ANY, { EPERM }, STEP_BLOCKED, "it is not permitted",
		"look for CAP_NET_ADMIN of rdmad-setup.service" },
	{ ANY, { EACCES }, STEP_BLOCKED, "it is not permitted",
		"look for SELinux or AppArmor: journalctl -k" },
	{ ANY, { EBUSY }, STEP_BLOCKED, "the kernel says that it is busy",
		"rdma resource shows its users" },
	{ ANY, { EOPNOTSUPP }, STEP_UNSUPPORTED, "the driver, or this kernel, cannot do it", "" },
};

/* The text with the object in place of its "%s". */
static void say_of(char buf[REASON_TEXT_MAX], const char *text, const char *object)
{
	const char *at = strstr(text, "%s");

	if (at)
		snprintf(buf, REASON_TEXT_MAX, "%.*s%s%s", (int)(at - text), text, object, at + 2);
	else
		snprintf(buf, REASON_TEXT_MAX, "%s", text);
	utf8_trim(buf);
}

/* Names of the network namespaces that "ip netns" made; the others have none. */
static void name_namespaces(struct setup_answer *a)
{
	char names[96] = "";
	DIR *dir = opendir("/run/netns");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && strlen(names) + strlen(e->d_name) + 2 < sizeof(names)) {
			strcat(names, " ");
			strcat(names, e->d_name);
		}
	if (dir)
		closedir(dir);
	if (names[0])
		answer_detail(a, "other network namespaces exist:%s", names);
	else
		answer_detail(a, "another network namespace exists (lsns -t net), maybe of a "
				 "service with PrivateNetwork=yes");
}

static bool is_of(const struct refusal *f, enum step_kind kind, int error)
{
	if (f->kind != ANY && f->kind != kind)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(f->errors) && f->errors[i]; i++)
		if (f->errors[i] == error)
			return true;
	return false;
}

void explain_refusal(const struct setup_request *req, int error, struct setup_answer *a)
{
	char object[STEP_NAME_MAX + 8];

	STRSCPY(object, req->name);
	if (req->port)
		snprintf(object, sizeof(object), "%s/%u", req->name, req->port);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *f = &refusals[i];

		if (!is_of(f, (enum step_kind)req->kind, -error))
			continue;
		answer_conclude(a, f->result, error);
		say_of(a->detail, f->detail, object);
		say_of(a->remedy, f->remedy, object);
		if (f->kind == STEP_NETNS_MODE && error == -EBUSY)
			name_namespaces(a);
		return;
	}
	answer_conclude(a, STEP_FAILED, error);
	answer_detail(a, "%s cannot be set: %s", setting_get((enum step_kind)req->kind)->label,
		strerror(-error));
	answer_remedy(a, "look at dmesg");
}
