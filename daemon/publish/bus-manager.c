/* SPDX-License-Identifier: MIT */
/* org.rdmad1.Manager at /org/rdmad1. */
#include <errno.h>

#include "bus-internal.h"

/* What "status" shows of the past; the state file has more, the journal has all. */
#define DESCRIBE_EVENTS 10

static int get_property(sd_bus *conn, const char *path, const char *interface, const char *property,
	sd_bus_message *reply, void *user, sd_bus_error *error)
{
	const struct field *f = field_find(manager_fields, property);
	struct bus *b = user;
	struct subject s = { .ctx = b->callbacks->context(b->user) };

	return f ? bus_append_field(reply, f, &s) : -ENOENT;
}

static int reply_description(sd_bus_message *m, struct bus *b, enum describe_form form)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	r = describe_text(
		b->callbacks->context(b->user), timepoint_now(), DESCRIBE_EVENTS, form, &text);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "s", text);
}

static int method_describe(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return reply_description(m, user, DESCRIBE_COMPACT);
}

static int method_describe_brief(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return reply_description(m, user, DESCRIBE_BRIEF);
}

static int method_describe_counters(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(freep) char *text = NULL;
	struct bus *b = user;
	int r;

	r = describe_counters_text(b->callbacks->context(b->user), timepoint_now(), NULL, &text);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "s", text);
}

static int method_explain(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(freep) char *text = NULL;
	struct bus *b = user;
	const char *object;
	int r;

	r = sd_bus_message_read(m, "s", &object);
	if (r < 0)
		return r;
	r = b->callbacks->explain(b->user, object, &text);
	if (r == -ENODEV)
		return sd_bus_error_setf(
			error, BUS_ERROR_NO_SUCH_OBJECT, "There is no object of that name");
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "s", text);
}

/* UNPRIVILEGED: else sd-bus would ask for the caller's credentials itself, and wait for them. */
static const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(SD_BUS_VTABLE_UNPRIVILEGED),
	CONST("Version", "s"),
	CHANGES("ConfigGeneration", "t"),
	CHANGES("HealthState", "s"),
	CHANGES("HealthSince", "t"),
	CHANGES("Reasons", "aa{sv}"),
	CHANGES("DeviceCount", "u"),
	CHANGES("PortCount", "u"),
	CHANGES("ExpectationConfigured", "b"),
	CHANGES("Missing", "aa{sv}"),
	CHANGES("Setup", "aa{sv}"),
	CHANGES("Ready", "b"),
	CHANGES("PreviousVersion", "s"),
	CHANGES("GapUSec", "t"),
	SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		method_describe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeBrief", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		method_describe_brief, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeCounters", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		method_describe_counters, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("s", object), SD_BUS_RESULT("s", json),
		method_explain, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_ARGS("t", flags), SD_BUS_NO_RESULT, bus_reload,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Restart", SD_BUS_ARGS("t", flags), SD_BUS_RESULT("s", version),
		bus_restart, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Release",
		SD_BUS_ARGS("as", objects, "t", duration_usec, "t", flags), SD_BUS_NO_RESULT,
		bus_release, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Apply", SD_BUS_ARGS("t", flags), SD_BUS_NO_RESULT, bus_apply,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ApplyObjects", SD_BUS_ARGS("as", objects, "t", flags),
		SD_BUS_NO_RESULT, bus_apply_objects, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeBaseline", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		bus_describe_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SaveBaseline", SD_BUS_ARGS("as", objects, "t", flags),
		SD_BUS_RESULT("u", learned), bus_save_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DropBaseline", SD_BUS_ARGS("as", objects, "t", flags),
		SD_BUS_RESULT("u", dropped), bus_drop_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Ack",
		SD_BUS_ARGS("s", object, "s", reason, "s", comment, "t", flags), SD_BUS_NO_RESULT,
		bus_ack, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS(
		"HealthChanged", SD_BUS_ARGS("o", path, "s", old, "s", new, "as", reasons), 0),
	SD_BUS_SIGNAL_WITH_ARGS("Event", SD_BUS_ARGS("t", when, "a{ss}", fields), 0),
	SD_BUS_VTABLE_END,
};

int bus_manager_add(struct bus *b)
{
	return sd_bus_add_object_vtable(
		b->conn, NULL, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, manager_vtable, b);
}
