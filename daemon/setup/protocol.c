/* SPDX-License-Identifier: MIT */
#include "protocol.h"

#include <errno.h>

#include "macros.h"
#include "names.h"

_Static_assert(sizeof(struct setup_request) == 24 + STEP_NAME_MAX + IFNAMSIZ, "padding");
_Static_assert(
	sizeof(struct setup_answer) == 40 + 2 * STEP_NAME_MAX + 2 * REASON_TEXT_MAX, "padding");

static const char *const step_kind_table[_STEP_KIND_MAX] = {
	[STEP_LOAD_MODULE] = "load-module",
	[STEP_ADD_LINK] = "add-link",
};
DEFINE_STRING_TABLE(step_kind, enum step_kind)

struct setup_request setup_request_make(
	enum step_kind kind, const char *name, enum link_type type, const char *netdev)
{
	struct setup_request req = {
		.magic = SETUP_MAGIC,
		.version = SETUP_VERSION,
		.kind = (uint16_t)kind,
		.link_type = (uint32_t)type,
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

int setup_request_check(const struct setup_request *req, size_t size)
{
	if (size < offsetof(struct setup_request, kind) || req->magic != SETUP_MAGIC)
		return -EBADMSG;
	if (req->version != SETUP_VERSION)
		return -EPROTONOSUPPORT;
	if (size != sizeof(*req) || req->reserved != 0 ||
		!terminated(req->name, sizeof(req->name)) ||
		!terminated(req->netdev, sizeof(req->netdev)))
		return -EBADMSG;
	switch (req->kind) {
	case STEP_LOAD_MODULE:
		if (!module_name_valid(req->name) || req->netdev[0] || req->link_type)
			return -EBADMSG;
		return 0;
	case STEP_ADD_LINK:
		if (!rdma_name_valid(req->name) || !netdev_name_valid(req->netdev) ||
			!link_type_valid(req->link_type))
			return -EBADMSG;
		return 0;
	}
	return -EBADMSG;
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
	if (!result_valid(a->result) || a->error > 0 || (a->flags & ~(uint32_t)SETUP_BUILT_IN) ||
		!terminated(a->module, sizeof(a->module)) ||
		(a->module[0] && !module_name_valid(a->module)) ||
		!sentence_valid(a->detail, sizeof(a->detail)) ||
		!sentence_valid(a->remedy, sizeof(a->remedy)))
		return -EBADMSG;
	return 0;
}
