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

static int method_describe(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(freep) char *text = NULL;
	struct bus *b = user;
	int r;

	r = describe_text(
		b->callbacks->context(b->user), timepoint_now(), DESCRIBE_EVENTS, false, &text);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "s", text);
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

/* Runs when the caller was found to be allowed to. */
static int reload(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	char why[TEXT_MAX] = "", clean[TEXT_MAX];
	int r;

	r = b->callbacks->reload(b->user, uid, why, sizeof(why));
	if (r >= 0)
		return sd_bus_reply_method_return(call, NULL);
	return sd_bus_reply_method_errorf(call,
		r == -EINVAL || r == -EBADMSG ? BUS_ERROR_CONFIG_INVALID : BUS_ERROR_FAILED, "%s",
		why[0] ? text_clean(why, clean) : strerror(-r));
}

static int method_reload(sd_bus_message *m, void *user, sd_bus_error *error)
{
	uint64_t flags;
	int r;

	r = sd_bus_message_read(m, "t", &flags);
	if (r < 0)
		return r;
	if (flags != 0)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_ARGS, "Unknown flags, this version knows none");
	return bus_authorize(user, m, reload);
}

/* Longer than any driver reload or benchmark, short enough not to be forgotten for ever. */
#define RELEASE_MAX (7 * USEC_PER_DAY)

static int read_release(
	sd_bus_message *m, char ***ret_objects, uint64_t *ret_duration, uint64_t *ret_flags)
{
	int r;

	r = sd_bus_message_read_strv(m, ret_objects);
	if (r < 0)
		return r;
	return sd_bus_message_read(m, "tt", ret_duration, ret_flags);
}

/* Runs when the caller was found to be allowed to. */
static int release(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	_cleanup_(strv_freep) char **objects = NULL;
	char why[TEXT_MAX] = "", clean[TEXT_MAX];
	uint64_t duration, flags;
	int r;

	r = sd_bus_message_rewind(call, true);
	if (r >= 0)
		r = read_release(call, &objects, &duration, &flags);
	if (r < 0)
		return r;
	r = b->callbacks->release(b->user, objects, duration, uid, why, sizeof(why));
	if (r >= 0)
		return sd_bus_reply_method_return(call, NULL);
	return sd_bus_reply_method_errorf(call,
		r == -ENODEV ? BUS_ERROR_NO_SUCH_OBJECT : BUS_ERROR_FAILED, "%s",
		why[0] ? text_clean(why, clean) : strerror(-r));
}

static int method_release(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(strv_freep) char **objects = NULL;
	uint64_t duration, flags;
	int r;

	r = read_release(m, &objects, &duration, &flags);
	if (r < 0)
		return r;
	if (flags != 0)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_ARGS, "Unknown flags, this version knows none");
	if (!objects || !objects[0])
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS, "No object is named");
	if (duration > RELEASE_MAX)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_ARGS, "Longer than seven days is not possible");
	return bus_authorize(user, m, release);
}

#define ACK_UNDO UINT64_C(1)

static int read_ack(sd_bus_message *m, struct acknowledge_call *ret, uint64_t *ret_flags)
{
	int r;

	r = sd_bus_message_read(m, "ssst", &ret->object, &ret->reason, &ret->comment, ret_flags);
	ret->undo = *ret_flags & ACK_UNDO;
	return r;
}

static const char *ack_error(int error)
{
	switch (error) {
	case -ENODEV:
	case -ESRCH:
		return BUS_ERROR_NO_SUCH_OBJECT;
	case -EINVAL:
		return BUS_ERROR_INVALID_ARGS;
	default:
		return BUS_ERROR_FAILED;
	}
}

/* Runs when the caller was found to be allowed to. */
static int acknowledge(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	char why[TEXT_MAX] = "", clean[TEXT_MAX];
	struct acknowledge_call c;
	uint64_t flags = 0;
	int r;

	r = sd_bus_message_rewind(call, true);
	if (r >= 0)
		r = read_ack(call, &c, &flags);
	if (r < 0)
		return r;
	r = b->callbacks->acknowledge(b->user, &c, uid, why, sizeof(why));
	if (r >= 0)
		return sd_bus_reply_method_return(call, NULL);
	return sd_bus_reply_method_errorf(
		call, ack_error(r), "%s", why[0] ? text_clean(why, clean) : strerror(-r));
}

static int method_ack(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct acknowledge_call c;
	uint64_t flags = 0;
	int r;

	r = read_ack(m, &c, &flags);
	if (r < 0)
		return r;
	if (flags & ~ACK_UNDO)
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS,
			"Unknown flags, this version knows 1 (undo)");
	if (strlen(c.comment) >= REASON_TEXT_MAX)
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS,
			"The comment is longer than %d bytes", REASON_TEXT_MAX - 1);
	return bus_authorize(user, m, acknowledge);
}

#define CONST(name, type) SD_BUS_PROPERTY(name, type, get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST)
#define CHANGES(name, type) \
	SD_BUS_PROPERTY(name, type, get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)

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
	SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		method_describe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeCounters", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		method_describe_counters, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("s", object), SD_BUS_RESULT("s", json),
		method_explain, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_ARGS("t", flags), SD_BUS_NO_RESULT, method_reload,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Release",
		SD_BUS_ARGS("as", objects, "t", duration_usec, "t", flags), SD_BUS_NO_RESULT,
		method_release, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DescribeBaseline", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
		bus_describe_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("SaveBaseline", SD_BUS_ARGS("as", objects, "t", flags),
		SD_BUS_RESULT("u", learned), bus_save_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("DropBaseline", SD_BUS_ARGS("as", objects, "t", flags),
		SD_BUS_RESULT("u", dropped), bus_drop_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Ack",
		SD_BUS_ARGS("s", object, "s", reason, "s", comment, "t", flags), SD_BUS_NO_RESULT,
		method_ack, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS(
		"HealthChanged", SD_BUS_ARGS("o", path, "s", old, "s", new, "as", reasons), 0),
	SD_BUS_VTABLE_END,
};

int bus_manager_add(struct bus *b)
{
	return sd_bus_add_object_vtable(
		b->conn, NULL, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, manager_vtable, b);
}
