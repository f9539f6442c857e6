/* SPDX-License-Identifier: MIT */
#include "execute.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/utsname.h>

#include "execute-setting.h"
#include "modules.h"
#include "names.h"
#include "nldev.h"
#include "parse.h"
#include "refusal.h"

static void explain_no_module(struct setup_answer *a, const char *name)
{
	struct utsname u;

	answer_conclude(a, STEP_UNSUPPORTED, -ENOENT);
	if (modules_directory_exists()) {
		answer_detail(a, "this kernel has no module %s", name);
		answer_remedy(a, "install the package that has it, or take it out of rdmad.conf");
	} else {
		answer_detail(a, "no module %s: there is no /lib/modules/%s", name,
			uname(&u) == 0 ? u.release : "");
		answer_remedy(a, "was the kernel upgraded? reboot");
	}
}

/* req: the one for that module. */
static void explain_module(
	struct setup_answer *a, const struct setup_request *req, const struct module_result *m)
{
	const char *module = m->name[0] ? m->name : req->name;

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
		explain_no_module(a, req->name);
		break;
	case MODULE_BLOCKED:
		answer_conclude(a, STEP_BLOCKED, -EPERM);
		answer_detail(a, "%s is blacklisted in modprobe.d", module);
		answer_remedy(a,
			"grep -r %s /etc/modprobe.d /lib/modprobe.d; or take it out of rdmad.conf",
			module);
		break;
	case MODULE_ERROR:
		explain_refusal(req, m->error, a);
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
		answer_remedy(a, "modprobe -c tells what is wrong with it; depmod");
		return;
	}
	result = modules_load(m, req->name);
	explain_module(a, req, &result);
}

static uint32_t netdev_ifindex(const char *netdev)
{
	char path[64], buf[16];
	uint32_t v;

	(void)snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", netdev);
	return parse_u32(read_short(path, buf, sizeof(buf)), &v) < 0 ? 0 : v;
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
	struct setup_request load;
	struct module_result result;
	char alias[64];

	explain_refusal(req, -EINVAL, a);
	if (modules_open(&m) < 0)
		return false;
	(void)snprintf(alias, sizeof(alias), "rdma-link-%s", type);
	load = setup_request_make(STEP_LOAD_MODULE, alias, LINK_TYPE_NONE, "");
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
		explain_no_module(a, link_type_module((enum link_type)req->link_type));
		return false;
	case MODULE_BLOCKED:
	case MODULE_ERROR:
		explain_module(a, &load, &result);
		return false;
	}
	return false;
}

static void add_link(const struct setup_request *req, struct setup_answer *a)
{
	_cleanup_(nldev_closep) struct nldev *n = NULL;
	enum link_type type = (enum link_type)req->link_type;
	const char *word = link_type_to_string(type);
	int r;

	a->ifindex = netdev_ifindex(req->netdev);
	if (!a->ifindex) {
		explain_refusal(req, -ENODEV, a);
		return;
	}
	r = nldev_open(&n);
	if (r < 0) {
		explain_refusal(req, r, a);
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
		explain_refusal(req, r, a);
		return;
	}
	/* Success is what is there, not what was said. */
	r = nldev_device_index_by_name(n, req->name, &a->device_index);
	a->detail[0] = a->remedy[0] = '\0';
	if (r < 0) {
		a->device_index = UINT32_MAX;
		answer_conclude(a, STEP_FAILED, r);
		answer_detail(a, "the kernel took it, but there is no %s", req->name);
		answer_remedy(a, "rdma link shows under which name it came; it is tried again");
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
