/* SPDX-License-Identifier: MIT */
#include "protocol.h"

#include <errno.h>

#include "macros.h"
#include "names.h"
#include "setting.h"

_Static_assert(
	sizeof(struct setup_request) == 32 + STEP_NAME_MAX + IFNAMSIZ + STEP_VALUE_MAX, "padding");
_Static_assert(sizeof(struct setup_answer) ==
		       40 + 2 * STEP_NAME_MAX + STEP_VALUE_MAX + 2 * REASON_TEXT_MAX,
	"padding");

static const char *const step_kind_table[_STEP_KIND_MAX] = {
	[STEP_LOAD_MODULE] = "load-module",
	[STEP_ADD_LINK] = "add-link",
	[STEP_NETNS_MODE] = "netns-mode",
	[STEP_PRIVILEGED_QKEY] = "privileged-qkey",
	[STEP_DEVICE_NAME] = "device-name",
	[STEP_NODE_DESCRIPTION] = "node-description",
	[STEP_ADAPTIVE_MODERATION] = "adaptive-moderation",
	[STEP_ROCE_MODE] = "roce-mode",
	[STEP_ROCE_TOS] = "roce-tos",
	[STEP_OPTIONAL_COUNTERS] = "optional-counters",
	[STEP_ADD_IPOIB] = "add-ipoib",
	[STEP_IPOIB_MODE] = "ipoib-mode",
	[STEP_IPOIB_UMCAST] = "ipoib-umcast",
	[STEP_NETDEV_MTU] = "netdev-mtu",
};
DEFINE_STRING_TABLE(step_kind, enum step_kind)

bool step_kind_is_setting(enum step_kind kind)
{
	return kind > STEP_ADD_LINK && kind < _STEP_KIND_MAX;
}

struct setup_request setup_request_make(
	enum step_kind kind, const char *name, enum link_type type, const char *netdev)
{
	struct setup_request req = {
		.magic = SETUP_MAGIC,
		.version = SETUP_VERSION,
		.kind = (uint16_t)kind,
		.link_type = (uint32_t)type,
		.index = STEP_INDEX_NONE,
	};

	STRSCPY(req.name, name);
	STRSCPY(req.netdev, netdev);
	return req;
}

struct setup_answer setup_answer_make(
	const struct setup_request *req, enum step_result result, int error)
{
	struct setup_answer a = {
		.magic = SETUP_MAGIC,
		.version = SETUP_VERSION,
		.kind = req->kind,
		.id = req->id,
		.result = (uint32_t)result,
		.error = error,
		.device_index = UINT32_MAX,
	};

	memcpy(a.name, req->name, sizeof(a.name));
	a.name[sizeof(a.name) - 1] = '\0';
	return a;
}

static bool terminated(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

/* Text that may go into logs, JSON and the bus as it is. */
static bool sentence_valid(const char *s, size_t size)
{
	if (!terminated(s, size) || !utf8_valid(s, strlen(s)))
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static bool link_type_valid(uint32_t type)
{
	return type > LINK_TYPE_NONE && type < _LINK_TYPE_MAX;
}

static bool no_setting(const struct setup_request *req)
{
	return req->index == STEP_INDEX_NONE && !req->port && !req->value[0];
}

/* What a setting is of: everything that it needs, and nothing else. */
static bool target_valid(const struct setup_request *req)
{
	bool has_index = req->index != STEP_INDEX_NONE;
	bool has_port = req->port != 0;

	if (req->link_type)
		return false;
	switch (setting_get((enum step_kind)req->kind)->of) {
	case SETTING_OF_HOST:
		return !has_index && !has_port && streq(req->name, SETTING_HOST) && !req->netdev[0];
	case SETTING_OF_DEVICE:
		return has_index && !has_port && rdma_name_valid(req->name) && !req->netdev[0];
	case SETTING_OF_PORT:
		return has_index && has_port && req->port <= RDMA_PORTS_MAX &&
		       rdma_name_valid(req->name) && !req->netdev[0];
	case SETTING_OF_NETDEV:
		return has_index && !has_port && netdev_name_valid(req->name) && !req->netdev[0];
	case SETTING_OF_PARENT:
		return has_index && !has_port && netdev_name_valid(req->name) &&
		       netdev_name_valid(req->netdev);
	}
	return false;
}

static bool request_strings_valid(const struct setup_request *req)
{
	return terminated(req->name, sizeof(req->name)) &&
	       terminated(req->netdev, sizeof(req->netdev)) &&
	       sentence_valid(req->value, sizeof(req->value));
}

int setup_request_check(const struct setup_request *req, size_t size)
{
	bool good = false;

	if (size < offsetof(struct setup_request, kind) || req->magic != SETUP_MAGIC)
		return -EBADMSG;
	if (req->version != SETUP_VERSION)
		return -EPROTONOSUPPORT;
	if (size != sizeof(*req) || (req->flags & ~(SETUP_DISRUPTIVE | SETUP_LOOK)) ||
		!request_strings_valid(req))
		return -EBADMSG;
	if ((req->flags & SETUP_LOOK) && !step_kind_is_setting((enum step_kind)req->kind))
		return -EBADMSG;
	if (req->kind == STEP_LOAD_MODULE)
		good = module_name_valid(req->name) && !req->netdev[0] && !req->link_type &&
		       no_setting(req);
	else if (req->kind == STEP_ADD_LINK)
		good = rdma_name_valid(req->name) && netdev_name_valid(req->netdev) &&
		       link_type_valid(req->link_type) && no_setting(req);
	else if (step_kind_is_setting((enum step_kind)req->kind))
		good = target_valid(req) &&
		       setting_value_valid((enum step_kind)req->kind, req->value);
	return good ? 0 : -EBADMSG;
}

/* The results that a helper can come to. */
static bool result_valid(uint32_t result)
{
	return result == STEP_OK || result == STEP_CHANGED || result == STEP_WAITING ||
	       result == STEP_UNSUPPORTED || result == STEP_BLOCKED || result == STEP_FAILED;
}

int setup_answer_check(const struct setup_answer *a, size_t size, const struct setup_request *req)
{
	if (size < offsetof(struct setup_answer, kind) || a->magic != SETUP_MAGIC)
		return -EBADMSG;
	if (a->version != SETUP_VERSION)
		return -EPROTONOSUPPORT;
	if (size != sizeof(*a) || a->kind != req->kind || a->id != req->id ||
		!terminated(a->name, sizeof(a->name)) || !streq(a->name, req->name))
		return -EBADMSG;
	if (!result_valid(a->result) || a->error > 0 ||
		(a->flags & ~(uint32_t)(SETUP_BUILT_IN | SETUP_IN_USE)) ||
		!terminated(a->module, sizeof(a->module)) ||
		(a->module[0] && !module_name_valid(a->module)) ||
		!sentence_valid(a->value, sizeof(a->value)) ||
		!sentence_valid(a->detail, sizeof(a->detail)) ||
		!sentence_valid(a->remedy, sizeof(a->remedy)))
		return -EBADMSG;
	return 0;
}
