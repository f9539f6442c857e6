/* SPDX-License-Identifier: MIT */
#include "refusal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "names.h"
#include "parse.h"
#include "setting.h"

void answer_detail(struct setup_answer *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->detail, sizeof(a->detail), fmt, ap);
	va_end(ap);
	utf8_trim(a->detail);
}

void answer_remedy(struct setup_answer *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->remedy, sizeof(a->remedy), fmt, ap);
	va_end(ap);
	utf8_trim(a->remedy);
}

void answer_conclude(struct setup_answer *a, enum step_result result, int error)
{
	a->result = (uint32_t)result;
	a->error = error;
}

const char *read_short(const char *path, char *buf, size_t size)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n < 0 ? 0 : n] = '\0';
	return strstrip(buf);
}

/* ---- what each refusal of a step means ---- */

/* Sets of kinds, by how the kernel is asked. */
#define KIND(k) (1u << STEP_##k)
#define NETLINK                                                                          \
	(KIND(ADD_LINK) | KIND(NETNS_MODE) | KIND(PRIVILEGED_QKEY) | KIND(DEVICE_NAME) | \
		KIND(ADAPTIVE_MODERATION) | KIND(OPTIONAL_COUNTERS) | INTERFACES)
#define CONFIGFS (KIND(ROCE_MODE) | KIND(ROCE_TOS))
#define FILES    (KIND(NODE_DESCRIPTION) | CONFIGFS)
#define DEVICES  (KIND(DEVICE_NAME) | KIND(ADAPTIVE_MODERATION) | KIND(OPTIONAL_COUNTERS) | FILES)
#define NETDEVS  (KIND(IPOIB_MODE) | KIND(IPOIB_UMCAST) | KIND(NETDEV_MTU))
/* By rtnetlink. */
#define INTERFACES (KIND(ADD_IPOIB) | NETDEVS)
#define ALL        ((1u << _STEP_KIND_MAX) - 1)

/*
 * The first that fits. In the sentences stand for: %o the object (of a module: its real name), %d its
 * device, %n the netdev of a link or the parent of a child, %t the type of a link, %v the value. Sources:
 * drivers/infiniband/core/{nldev,device,counters,cma_configfs}.c, drivers/infiniband/sw/rxe,
 * drivers/infiniband/ulp/ipoib/{ipoib_netlink,ipoib_main,ipoib_vlan}.c, kernel/module/main.c of Linux 6.12.
 */
static const struct refusal {
	unsigned kinds;
	int errors[3]; /* 0: no further one */
	enum step_result result;
	const char *detail, *remedy;
} refusals[] = {
	{ KIND(LOAD_MODULE), { EPERM, EACCES }, STEP_BLOCKED, "loading %o is not permitted",
		"look for lockdown (journalctl -k) and for CAP_SYS_MODULE of rdmad-setup.service" },
	{ KIND(LOAD_MODULE), { ENOKEY, EKEYREJECTED, EBADMSG }, STEP_BLOCKED,
		"the signature of %o is not accepted by this kernel",
		"sign the module and enrol its key (mokutil --import)" },
	{ KIND(LOAD_MODULE), { ENOEXEC }, STEP_FAILED, "%o was built for another kernel",
		"build or install it for the running kernel, then depmod" },
	{ KIND(LOAD_MODULE), { ENOENT }, STEP_FAILED,
		"%o needs a symbol that no loaded module has: they do not fit each other",
		"journalctl -k names it; install all drivers from one source, then depmod" },
	{ KIND(LOAD_MODULE), { EINVAL }, STEP_FAILED, "%o refuses its options, or its hardware",
		"journalctl -k says which; modprobe -c | grep 'options %o' shows them" },
	{ KIND(LOAD_MODULE), { ENODEV, ENXIO }, STEP_FAILED, "%o found no hardware to drive",
		"on a host without that hardware take %o out of [Modules]" },
	{ KIND(LOAD_MODULE), { EEXIST, EBUSY }, STEP_FAILED,
		"what %o needs is taken, maybe by another driver",
		"journalctl -k says what; lsmod and rdmactl doctor show other drivers" },
	{ KIND(LOAD_MODULE), { EOPNOTSUPP }, STEP_FAILED, "%o does not work on this host",
		"journalctl -k says why; else take %o out of [Modules]" },

	{ KIND(ADD_LINK), { EEXIST }, STEP_BLOCKED, "netdev %n already carries an %t link",
		"rdma link: there is one per netdev; give it the name %o" },
	{ KIND(ADD_LINK), { ENFILE }, STEP_BLOCKED, "there is another device of the name %o",
		"give one of the two another name" },
	{ KIND(ADD_LINK), { ENODEV }, STEP_WAITING, "netdev %n is not there yet",
		"ip link shows what there is; the link is made as soon as %n comes" },
	{ KIND(ADD_LINK), { EINVAL }, STEP_FAILED, "the kernel refuses an %t link on %n",
		"%t needs another kind of netdev; look at dmesg" },
	{ KIND(ADD_LINK), { EOPNOTSUPP }, STEP_UNSUPPORTED, "this kernel cannot add RDMA links",
		"it takes Linux 5.1 or later" },
	{ KIND(ADD_LINK), { EBUSY }, STEP_BLOCKED, "netdev %n is busy: the kernel adds no %t link",
		"ip -d link show %n tells who has it; the link is tried again" },

	{ KIND(NETNS_MODE), { EBUSY }, STEP_BLOCKED, "another network namespace exists",
		"options ib_core netns_mode=0 (1: shared) in modprobe.d, and reboot" },
	{ KIND(NETNS_MODE), { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED,
		"this kernel has no netns mode", "it takes Linux 5.2 or later" },
	{ KIND(PRIVILEGED_QKEY), { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED,
		"this kernel does not let it be chosen",
		"it takes Linux 6.7 or later: until then take PrivilegedQKey= out" },

	{ KIND(DEVICE_NAME), { EEXIST }, STEP_BLOCKED, "another device has the name %v",
		"rdma dev shows which; give that one another name" },
	{ KIND(DEVICE_NAME), { EINVAL }, STEP_FAILED,
		"the kernel does not take the name %v, or %o has just gone",
		"rdma dev shows what is there; else choose another Name=" },
	{ KIND(DEVICE_NAME), { EOPNOTSUPP }, STEP_UNSUPPORTED,
		"this kernel cannot rename RDMA devices", "it takes Linux 4.20 or later" },
	{ KIND(NODE_DESCRIPTION), { ENOENT }, STEP_UNSUPPORTED,
		"the driver of %o has no node description that can be set",
		"take NodeDescription= out for %o" },
	{ KIND(NODE_DESCRIPTION), { EOPNOTSUPP }, STEP_UNSUPPORTED,
		"the driver of %o does not let it be set", "take NodeDescription= out for %o" },
	{ KIND(NODE_DESCRIPTION), { EPERM }, STEP_BLOCKED,
		"the adapter does not let %o be described from here",
		"a virtual function is described on its host; take NodeDescription= out for it" },
	{ KIND(ADAPTIVE_MODERATION), { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED,
		"the driver of %o has no adaptive moderation",
		"take AdaptiveModeration= out for %o" },

	{ KIND(ROCE_MODE), { EINVAL }, STEP_UNSUPPORTED, "the port has no GIDs of that type",
		"rdmactl show %o lists what it has" },
	{ KIND(ROCE_MODE), { EOPNOTSUPP }, STEP_UNSUPPORTED, "%o cannot change its RoCE mode",
		"take RoCEMode= out for %o" },
	{ KIND(ROCE_TOS), { EOPNOTSUPP, EINVAL }, STEP_UNSUPPORTED, "%o takes no RoCE ToS of %v",
		"take RoCEToS= out for %o, or choose another" },
	{ CONFIGFS, { ENOENT }, STEP_BLOCKED, "rdma_cm's directory in configfs is not there",
		"systemctl start sys-kernel-config.mount; modprobe rdma_cm" },
	{ CONFIGFS, { EPERM, EEXIST }, STEP_BLOCKED, "rdma_cm's directory in configfs is not ours",
		"look at /sys/kernel/config/rdma_cm/%d: who made it, and is it a directory?" },

	{ KIND(OPTIONAL_COUNTERS), { ENOENT }, STEP_UNSUPPORTED,
		"the driver of %o does not have all of them",
		"rdma statistic mode supported lists what it has" },
	{ KIND(OPTIONAL_COUNTERS), { EOPNOTSUPP, EINVAL, ENODATA }, STEP_UNSUPPORTED,
		"the driver of %o has no optional counters", "take OptionalCounters= out for %o" },
	{ KIND(OPTIONAL_COUNTERS), { EBUSY }, STEP_BLOCKED,
		"the driver of %o is busy with its counters",
		"rdma statistic qp mode shows who counts; it is tried again" },

	{ KIND(ADD_IPOIB), { EEXIST }, STEP_BLOCKED, "another interface has the name %o",
		"rename the section, or that interface" },
	{ KIND(ADD_IPOIB), { ENOTUNIQ }, STEP_BLOCKED,
		"its parent has a child with this P_Key already",
		"ip -d link shows it: take its name for the section" },
	{ KIND(ADD_IPOIB), { EOPNOTSUPP }, STEP_BLOCKED, "ib_ipoib is not loaded",
		"modprobe ib_ipoib, or add it to LoadInfiniBand=" },
	{ KIND(ADD_IPOIB), { EINVAL }, STEP_FAILED, "the kernel refuses a child on that parent",
		"Parent= must be the IPoIB interface of a port, no child itself" },
	{ KIND(ADD_IPOIB), { ENODEV }, STEP_WAITING, "its parent %n is gone, or is going",
		"ip link shows what there is; the child is made as soon as %n is back" },
	{ KIND(ADD_IPOIB), { EBUSY }, STEP_BLOCKED, "its parent %n is busy",
		"ip -d link show %n; the child is tried again" },
	{ KIND(IPOIB_MODE), { EINVAL }, STEP_UNSUPPORTED, "%o cannot change its mode",
		"this adapter, or this kernel, does datagram mode only" },
	{ KIND(IPOIB_UMCAST), { EINVAL }, STEP_UNSUPPORTED, "%o cannot change umcast",
		"take Umcast= out of [IPoIB %o]" },
	{ KIND(IPOIB_MODE) | KIND(IPOIB_UMCAST), { EOPNOTSUPP }, STEP_UNSUPPORTED,
		"%o is no IPoIB interface", "ip -d link shows which are; correct [IPoIB %o]" },
	{ KIND(NETDEV_MTU), { EINVAL, ERANGE }, STEP_FAILED, "the MTU does not fit %o",
		"datagram mode takes what the fabric's multicast MTU allows (2044, 4092)" },
	{ KIND(NETDEV_MTU), { EOPNOTSUPP }, STEP_UNSUPPORTED, "the MTU of %o cannot be changed",
		"take MTU= out of [IPoIB %o]" },

	{ ALL, { EPROTONOSUPPORT }, STEP_UNSUPPORTED,
		"this kernel has no RDMA: ib_core cannot be loaded",
		"install the kernel's modules for RDMA" },
	{ DEVICES | NETDEVS, { ENODEV }, STEP_WAITING, "%o is gone, or is another one by now",
		"rdma dev and ip link show what there is; it is set as soon as %o is back" },
	{ NETLINK, { EPERM }, STEP_BLOCKED, "it is not permitted",
		"look for CAP_NET_ADMIN of rdmad-setup.service" },
	{ ALL, { EACCES }, STEP_BLOCKED, "it is not permitted",
		"look for SELinux or AppArmor: journalctl -k" },
	{ FILES, { EROFS }, STEP_BLOCKED, "/sys is read-only here",
		"in a container it is the host's to set; else look at rdmad-setup.service" },
	{ DEVICES, { EBUSY }, STEP_BLOCKED, "the driver of %o is busy with something else",
		"rdma resource shows users of %d; it is tried again" },
	{ NETDEVS, { EBUSY }, STEP_BLOCKED, "%o is busy with something else",
		"ip -d link show %o; it is tried again" },
	{ ALL, { EOPNOTSUPP }, STEP_UNSUPPORTED, "the driver, or this kernel, cannot do it",
		"take it out of the configuration of this host" },
};

/* ---- in words ---- */

/* What the letters in a sentence stand for. */
struct wording {
	const struct setup_request *req;
	char object[STEP_NAME_MAX + 8];
};

static const char *word_of(const struct wording *w, char letter)
{
	switch (letter) {
	case 'o':
		return w->object;
	case 'd':
		return w->req->name;
	case 'n':
		return w->req->netdev;
	case 't':
		return link_type_to_string((enum link_type)w->req->link_type);
	case 'v':
		return w->req->value;
	}
	return NULL;
}

static void say_of(char buf[REASON_TEXT_MAX], const char *text, const struct wording *w)
{
	size_t n = 0;

	for (; *text && n < REASON_TEXT_MAX - 1; text++) {
		const char *word = *text == '%' ? word_of(w, text[1]) : NULL;

		if (!word) {
			buf[n++] = *text;
			continue;
		}
		text++;
		n += (size_t)snprintf(buf + n, REASON_TEXT_MAX - n, "%s", word);
	}
	buf[MIN(n, (size_t)REASON_TEXT_MAX - 1)] = '\0';
	utf8_trim(buf);
}

/* ---- what only this host can tell ---- */

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

static void explain_disabled_modules(struct setup_answer *a, const char *module)
{
	char buf[8];

	if (!streq(read_short("/proc/sys/kernel/modules_disabled", buf, sizeof(buf)), "1"))
		return;
	answer_detail(a, "this kernel loads no more modules (kernel.modules_disabled=1)");
	answer_remedy(a, "load %s at boot before that is set, or reboot", module);
}

static void explain_vlan(struct setup_answer *a, const struct setup_request *req)
{
	char path[64], buf[256];

	(void)snprintf(path, sizeof(path), "/sys/class/net/%s/uevent", req->netdev);
	if (!strstr(read_short(path, buf, sizeof(buf)), "DEVTYPE=vlan"))
		return;
	answer_detail(a, "%s is a VLAN, and %s does not run on VLANs", req->netdev,
		link_type_to_string((enum link_type)req->link_type));
	answer_remedy(a, "make the link on the netdev below it: GIDs of VLANs come along");
}

/* Where this host says more than the errno does. */
static void explain_more(
	const struct setup_request *req, int error, const char *object, struct setup_answer *a)
{
	if (req->kind == STEP_NETNS_MODE && error == -EBUSY)
		name_namespaces(a);
	else if (req->kind == STEP_LOAD_MODULE && error == -EPERM)
		explain_disabled_modules(a, object);
	else if (req->kind == STEP_ADD_LINK && error == -EPERM)
		explain_vlan(a, req);
}

/* ---- all of it ---- */

static bool is_of(const struct refusal *f, enum step_kind kind, int error)
{
	if (!(f->kinds & (1u << kind)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(f->errors) && f->errors[i]; i++)
		if (f->errors[i] == error)
			return true;
	return false;
}

/* Nothing is known of this errno for this kind. */
static void explain_other(
	const struct setup_request *req, int error, const char *object, struct setup_answer *a)
{
	const struct setting *k = setting_get((enum step_kind)req->kind);

	answer_conclude(a, STEP_FAILED, error);
	if (k && k->of == SETTING_OF_HOST)
		answer_detail(a, "the %s cannot be set: %s", k->label, strerror(-error));
	else if (k)
		answer_detail(
			a, "the %s of %s cannot be set: %s", k->label, object, strerror(-error));
	else if (req->kind == STEP_LOAD_MODULE)
		answer_detail(a, "loading %s failed: %s", object, strerror(-error));
	else
		answer_detail(a, "adding the link failed: %s", strerror(-error));
	answer_remedy(a, "look at dmesg; it is tried again, at once by rdmactl apply");
}

void explain_refusal(const struct setup_request *req, int error, struct setup_answer *a)
{
	struct wording w = { .req = req };

	/* Of an alias the module behind it is what is refused. */
	STRSCPY(w.object, req->kind == STEP_LOAD_MODULE && a->module[0] ? a->module : req->name);
	if (req->port)
		snprintf(w.object, sizeof(w.object), "%s/%u", req->name, req->port);
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *f = &refusals[i];

		if (!is_of(f, (enum step_kind)req->kind, -error))
			continue;
		answer_conclude(a, f->result, error);
		say_of(a->detail, f->detail, &w);
		say_of(a->remedy, f->remedy, &w);
		explain_more(req, error, w.object, a);
		return;
	}
	explain_other(req, error, w.object, a);
}
