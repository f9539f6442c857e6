/* SPDX-License-Identifier: MIT */
#include "execute.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include "execute-internal.h"
#include "execute-setting.h"
#include "modules.h"
#include "names.h"
#include "nldev.h"
#include "parse.h"

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

static bool modules_disabled(void)
{
	char buf[8];

	return streq(read_short("/proc/sys/kernel/modules_disabled", buf, sizeof(buf)), "1");
}

/* The module exists and its loading failed. */
static void explain_load_error(struct setup_answer *a, const char *module, int error)
{
	answer_conclude(a, STEP_FAILED, error);
	switch (-error) {
	case EPERM:
		answer_conclude(a, STEP_BLOCKED, error);
		if (modules_disabled()) {
			answer_detail(
				a, "this kernel loads no more modules (kernel.modules_disabled=1)");
			answer_remedy(a, "load %s at boot before that is set, or reboot", module);
		} else {
			answer_detail(a, "loading %s is not permitted", module);
			answer_remedy(a,
				"look for lockdown and for CAP_SYS_MODULE of rdmad-setup.service");
		}
		return;
	case ENOKEY:
	case EKEYREJECTED:
	case EBADMSG:
		answer_conclude(a, STEP_BLOCKED, error);
		answer_detail(a, "the signature of %s is not accepted by this kernel", module);
		answer_remedy(a, "sign the module and enrol its key (mokutil --import)");
		return;
	case ENOEXEC:
		answer_detail(a, "%s was built for another kernel", module);
		answer_remedy(a, "build or install it for the running kernel, then depmod");
		return;
	case ENODEV:
		answer_detail(a, "%s found no hardware to drive", module);
		return;
	}
	answer_detail(a, "loading %s failed: %s", module, strerror(-error));
	answer_remedy(a, "look at dmesg");
}

static void explain_no_module(struct setup_answer *a, const char *name)
{
	struct utsname u;

	answer_conclude(a, STEP_UNSUPPORTED, -ENOENT);
	if (modules_directory_exists()) {
		answer_detail(a, "this kernel has no module %s", name);
	} else {
		answer_detail(a, "no module %s: there is no /lib/modules/%s", name,
			uname(&u) == 0 ? u.release : "");
		answer_remedy(a, "was the kernel upgraded? reboot");
	}
}

static void explain_module(struct setup_answer *a, const char *name, const struct module_result *m)
{
	const char *module = m->name[0] ? m->name : name;

	STRSCPY(a->module, m->name);
	switch (m->outcome) {
	case MODULE_CHANGED:
		answer_conclude(a, STEP_CHANGED, 0);
		answer_detail(a, "loaded");
		break;
	case MODULE_OK:
		answer_conclude(a, STEP_OK, 0);
		answer_detail(a, "%s", m->built_in ? "built in" : "loaded already");
		break;
	case MODULE_NOT_FOUND:
		explain_no_module(a, name);
		break;
	case MODULE_BLOCKED:
		answer_conclude(a, STEP_BLOCKED, -EPERM);
		answer_detail(a, "%s is blacklisted in modprobe.d", module);
		answer_remedy(a,
			"grep -r %s /etc/modprobe.d /lib/modprobe.d; or take it out of rdmad.conf",
			module);
		break;
	case MODULE_ERROR:
		explain_load_error(a, module, m->error);
		break;
	}
	if (m->built_in)
		a->flags |= SETUP_BUILT_IN;
}

static void load_module(const struct setup_request *req, struct setup_answer *a)
{
	_cleanup_(modules_closep) struct modules *m = NULL;
	struct module_result result;
	int r;

	r = modules_open(&m);
	if (r < 0) {
		answer_conclude(a, STEP_FAILED, r);
		answer_detail(a, "cannot read the module configuration: %s", strerror(-r));
		return;
	}
	result = modules_load(m, req->name);
	explain_module(a, req->name, &result);
}

static uint32_t netdev_ifindex(const char *netdev)
{
	char path[64], buf[16];
	uint32_t v;

	(void)snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", netdev);
	return parse_u32(read_short(path, buf, sizeof(buf)), &v) < 0 ? 0 : v;
}

static bool netdev_is_vlan(const char *netdev)
{
	char path[64], buf[256];

	(void)snprintf(path, sizeof(path), "/sys/class/net/%s/uevent", netdev);
	return strstr(read_short(path, buf, sizeof(buf)), "DEVTYPE=vlan") != NULL;
}

/* What software device NAME runs on; "" when nobody says. */
static const char *link_netdev(const char *name, char *buf, size_t size)
{
	char path[160];
	const char *s;

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/parent", name);
	s = read_short(path, buf, size);
	if (*s)
		return s;
	(void)snprintf(
		path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0", name);
	return read_short(path, buf, size);
}

/* A device of that name is there before we did anything. */
static void explain_present(struct setup_answer *a, const struct setup_request *req)
{
	char buf[64];
	const char *on = link_netdev(req->name, buf, sizeof(buf));

	if (streq(on, req->netdev)) {
		/* Made by a step whose answer got lost. */
		answer_conclude(a, STEP_OK, 0);
		answer_detail(a, "there already");
		return;
	}
	a->device_index = UINT32_MAX;
	answer_conclude(a, STEP_BLOCKED, -EEXIST);
	if (*on)
		answer_detail(a, "%s exists on %s, not on %s", req->name, on, req->netdev);
	else
		answer_detail(a, "there is another device of the name %s", req->name);
	answer_remedy(a, "give one of the two another name");
}

/*
 * EINVAL of a new link: most likely the kernel has no such type. true: the module has been loaded
 * now (the kernel's own modprobe could not), so that another attempt makes sense.
 */
static bool explain_unknown_type(
	struct setup_answer *a, const struct setup_request *req, const char *type)
{
	_cleanup_(modules_closep) struct modules *m = NULL;
	struct module_result result;
	char alias[64];

	answer_conclude(a, STEP_FAILED, -EINVAL);
	answer_detail(a, "the kernel refuses an %s link on %s", type, req->netdev);
	answer_remedy(a, "%s needs another kind of netdev; look at dmesg", type);
	if (modules_open(&m) < 0)
		return false;
	(void)snprintf(alias, sizeof(alias), "rdma-link-%s", type);
	result = modules_load(m, alias);
	switch (result.outcome) {
	case MODULE_CHANGED:
		return true;
	case MODULE_OK:
		return false;
	case MODULE_NOT_FOUND:
		/* Without indexes there is no alias; a loaded module is known by its name only. */
		result = modules_query(m, link_type_module((enum link_type)req->link_type));
		if (result.outcome == MODULE_OK)
			return false;
		a->remedy[0] = '\0';
		explain_no_module(a, link_type_module((enum link_type)req->link_type));
		return false;
	case MODULE_BLOCKED:
	case MODULE_ERROR:
		explain_module(a, alias, &result);
		return false;
	}
	return false;
}

static void explain_link_error(
	struct setup_answer *a, const struct setup_request *req, const char *type, int error)
{
	answer_conclude(a, STEP_FAILED, error);
	switch (-error) {
	case EEXIST:
		answer_conclude(a, STEP_BLOCKED, error);
		answer_detail(a, "netdev %s already carries an %s link", req->netdev, type);
		answer_remedy(
			a, "rdma link: there is one per netdev; give it the name %s", req->name);
		return;
	case ENFILE:
		answer_conclude(a, STEP_BLOCKED, error);
		answer_detail(a, "there is another device of the name %s", req->name);
		answer_remedy(a, "give one of the two another name");
		return;
	case ENODEV:
		answer_conclude(a, STEP_WAITING, error);
		answer_detail(a, "netdev %s is not there yet", req->netdev);
		return;
	case EPERM:
		answer_conclude(a, STEP_BLOCKED, error);
		if (netdev_is_vlan(req->netdev)) {
			answer_detail(
				a, "%s is a VLAN, and %s does not run on VLANs", req->netdev, type);
			answer_remedy(a,
				"make the link on the netdev below it: GIDs of VLANs come along");
		} else {
			answer_detail(a, "adding links is not permitted");
			answer_remedy(a, "look for CAP_NET_ADMIN of rdmad-setup.service");
		}
		return;
	case EOPNOTSUPP:
		answer_conclude(a, STEP_UNSUPPORTED, error);
		answer_detail(a, "this kernel cannot add RDMA links");
		answer_remedy(a, "it takes Linux 5.1 or later");
		return;
	}
	answer_detail(a, "adding the link failed: %s", strerror(-error));
	answer_remedy(a, "look at dmesg");
}

static void add_link(const struct setup_request *req, struct setup_answer *a)
{
	_cleanup_(nldev_closep) struct nldev *n = NULL;
	enum link_type type = (enum link_type)req->link_type;
	const char *word = link_type_to_string(type);
	int r;

	a->ifindex = netdev_ifindex(req->netdev);
	if (!a->ifindex) {
		explain_link_error(a, req, word, -ENODEV);
		return;
	}
	r = nldev_open(&n);
	if (r < 0) {
		answer_conclude(a, r == -EPROTONOSUPPORT ? STEP_UNSUPPORTED : STEP_FAILED, r);
		if (r == -EPROTONOSUPPORT)
			answer_detail(a, "this kernel has no RDMA: ib_core cannot be loaded");
		else
			answer_detail(a, "no RDMA netlink: %s", strerror(-r));
		return;
	}
	if (nldev_device_index_by_name(n, req->name, &a->device_index) == 0) {
		explain_present(a, req);
		return;
	}
	a->device_index = UINT32_MAX;

	r = nldev_add_link(n, req->name, type, req->netdev);
	if (r == -EINVAL) {
		if (!explain_unknown_type(a, req, word))
			return;
		r = nldev_add_link(n, req->name, type, req->netdev);
	}
	if (r < 0) {
		explain_link_error(a, req, word, r);
		return;
	}
	/* Success is what is there, not what was said. */
	r = nldev_device_index_by_name(n, req->name, &a->device_index);
	a->detail[0] = a->remedy[0] = '\0';
	if (r < 0) {
		a->device_index = UINT32_MAX;
		answer_conclude(a, STEP_FAILED, r);
		answer_detail(a, "the kernel took it, but there is no %s", req->name);
		return;
	}
	answer_conclude(a, STEP_CHANGED, 0);
	answer_detail(a, "%s made on %s", word, req->netdev);
}

struct setup_answer step_execute(const struct setup_request *req)
{
	struct setup_answer a = setup_answer_make(req, STEP_FAILED, -EBADMSG);

	if (req->kind == STEP_LOAD_MODULE)
		load_module(req, &a);
	else if (req->kind == STEP_ADD_LINK)
		add_link(req, &a);
	else
		execute_setting(req, &a);
	return a;
}
