/* SPDX-License-Identifier: MIT */
#include "event.h"

#include <errno.h>
#include <syslog.h>

#include "macros.h"
#include "output.h"
#include "parse.h"
#include "text.h"
#include "view.h"

static const struct {
	const char *journal; /* name of the field in the journal */
	const char *json;
	bool number;
} fields[_EVENT_FIELD_MAX] = {
	[EVENT_MESSAGE] = { "MESSAGE", "Message", false },
	[EVENT_MESSAGE_ID] = { "MESSAGE_ID", "MessageId", false },
	[EVENT_PRIORITY] = { "PRIORITY", "Priority", true },
	[EVENT_OBJECT] = { "RDMAD_OBJECT", "Object", false },
	[EVENT_REASON] = { "RDMAD_REASON", "Reason", false },
	[EVENT_EDGE] = { "RDMAD_EDGE", "Edge", false },
	[EVENT_SEVERITY] = { "RDMAD_SEVERITY", "Severity", false },
	[EVENT_CLASS] = { "RDMAD_CLASS", "Class", false },
	[EVENT_SUBJECT] = { "RDMAD_SUBJECT", "Subject", false },
	[EVENT_OLD_STATE] = { "RDMAD_OLD_STATE", "OldState", false },
	[EVENT_NEW_STATE] = { "RDMAD_NEW_STATE", "NewState", false },
	[EVENT_ACTION] = { "RDMAD_ACTION", "Action", false },
	[EVENT_BY] = { "RDMAD_BY", "By", false },
	[EVENT_COMMENT] = { "RDMAD_COMMENT", "Comment", false },
	[EVENT_FACT] = { "RDMAD_FACT", "Fact", false },
	[EVENT_BEFORE] = { "RDMAD_BEFORE", "Before", false },
	[EVENT_FOUND] = { "RDMAD_FOUND", "Found", false },
	[EVENT_WANTED] = { "RDMAD_WANTED", "Wanted", false },
	[EVENT_REMEDY] = { "RDMAD_REMEDY", "Remedy", false },
	[EVENT_DEVICE] = { "RDMA_DEVICE", "Device", false },
	[EVENT_PORT] = { "RDMA_PORT", "Port", true },
	[EVENT_GUID] = { "RDMA_GUID", "NodeGuid", false },
	[EVENT_NETDEV] = { "INTERFACE", "NetDevice", false },
	[EVENT_BOOT_ID] = { "_BOOT_ID", "BootId", false },
};

void event_read(struct event *ret, usec_t when, event_getter get, void *user)
{
	*ret = (struct event){ .when = when };
	for (size_t i = 0; i < _EVENT_FIELD_MAX; i++)
		ret->fields[i] = get(user, fields[i].journal);
	ret->kind = event_kind_of(or_text(ret->fields[EVENT_MESSAGE_ID], ""));
}

void event_done(struct event *e)
{
	for (size_t i = 0; i < _EVENT_FIELD_MAX; i++)
		free(e->fields[i]);
	*e = (struct event){ 0 };
}

bool event_selected(const struct options *o, const struct event *e)
{
	const char *object = e->fields[EVENT_OBJECT], *device = e->fields[EVENT_DEVICE];

	if (e->kind >= _EVENT_KIND_MAX)
		return false;
	if (o->n_patterns == 0)
		return true;
	/* The object of a storm's summary is the host, that of a missing device its GUID. */
	return (object && name_selected(o, object)) || (device && name_selected(o, device));
}

int event_kinds_option(const struct options *o, unsigned *ret)
{
	_cleanup_(freep) char *wrong = NULL;
	int r;

	*ret = event_kinds_all();
	r = o->kinds ? event_kinds_parse(o->kinds, ret, &wrong) : 0;
	if (r == -ENOMEM) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	if (r < 0) {
		output_error("--kind=%s: not one of state, inventory, config, admin",
			or_text(wrong, ""));
		return EXIT_USAGE;
	}
	return 0;
}

int event_priority(const struct event *e)
{
	uint32_t n;

	if (!e->fields[EVENT_PRIORITY] || parse_u32(e->fields[EVENT_PRIORITY], &n) < 0 ||
		n > LOG_DEBUG)
		return LOG_INFO;
	return (int)n;
}

/* A string for JSON: what is not UTF-8 in it is written as \xNN. */
static json_t *text_json(const char *s)
{
	json_t *v = json_string(s);
	_cleanup_(freep) char *clean = v ? NULL : text_sanitise(s, false);

	return v ? v : clean ? json_string(clean) : NULL;
}

json_t *event_json(const struct event *e)
{
	json_t *v = json_pack(
		"{s:I, s:s?}", "When", (json_int_t)e->when, "Kind", event_kind_name(e->kind));

	for (size_t i = 0; i < _EVENT_FIELD_MAX; i++) {
		const char *s = e->fields[i];
		uint64_t n;
		json_t *member;

		if (!s)
			member = NULL;
		else if (!fields[i].number)
			member = text_json(s);
		else
			member = parse_u64(s, &n) < 0 ? NULL : json_integer((json_int_t)n);
		json_object_set_new(v, fields[i].json, json_or_null(member));
	}
	return v;
}
