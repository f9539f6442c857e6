/* SPDX-License-Identifier: MIT */
/*
 * org.freedesktop.LogControl1, so that "systemctl service-log-level rdmad debug" works. The level
 * may be set by root and by our own user; the target is fixed.
 */
#include <errno.h>

#include "bus-internal.h"
#include "log.h"

#define LOGCONTROL_PATH      "/org/freedesktop/LogControl1"
#define LOGCONTROL_INTERFACE "org.freedesktop.LogControl1"

static const char *const level_table[] = {
	[LOG_EMERG] = "emerg",
	[LOG_ALERT] = "alert",
	[LOG_CRIT] = "crit",
	[LOG_ERR] = "err",
	[LOG_WARNING] = "warning",
	[LOG_NOTICE] = "notice",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
};

static int get_level(sd_bus *conn, const char *path, const char *interface, const char *property,
	sd_bus_message *reply, void *user, sd_bus_error *error)
{
	const char *word =
		strtab_to_string(level_table, ARRAY_SIZE(level_table), log_get_max_level());

	return sd_bus_message_append(reply, "s", word ? word : "");
}

/* Setting goes through bus_logcontrol_filter(); whatever comes here was not authorized. */
static int refuse_level(sd_bus *conn, const char *path, const char *interface, const char *property,
	sd_bus_message *value, void *user, sd_bus_error *error)
{
	return sd_bus_error_setf(error, BUS_ERROR_ACCESS_DENIED, "Not allowed");
}

static int get_target(sd_bus *conn, const char *path, const char *interface, const char *property,
	sd_bus_message *reply, void *user, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", getenv("JOURNAL_STREAM") ? "journal" : "console");
}

static int get_identifier(sd_bus *conn, const char *path, const char *interface,
	const char *property, sd_bus_message *reply, void *user, sd_bus_error *error)
{
	return sd_bus_message_append(reply, "s", "rdmad");
}

static const sd_bus_vtable logcontrol_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_WRITABLE_PROPERTY(
		"LogLevel", "s", get_level, refuse_level, 0, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("LogTarget", "s", get_target, 0, 0),
	SD_BUS_PROPERTY("SyslogIdentifier", "s", get_identifier, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};

int bus_logcontrol_add(struct bus *b)
{
	return sd_bus_add_object_vtable(
		b->conn, NULL, LOGCONTROL_PATH, LOGCONTROL_INTERFACE, logcontrol_vtable, b);
}

int bus_do_set_log_level(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	const char *word;
	int level, r;

	r = sd_bus_message_skip(call, "ss");
	if (r >= 0)
		r = sd_bus_message_read(call, "v", "s", &word);
	level = r >= 0 ? strtab_from_string(level_table, ARRAY_SIZE(level_table), word) : r;
	if (level < 0)
		return sd_bus_reply_method_errorf(call, BUS_ERROR_INVALID_ARGS,
			"LogLevel is one of emerg, alert, crit, err, warning, notice, info, debug");
	log_set_max_level(level);
	return sd_bus_reply_method_return(call, NULL);
}

int bus_logcontrol_filter(struct bus *b, sd_bus_message *m)
{
	const char *path = sd_bus_message_get_path(m), *interface, *property;
	bool ours;
	int r;

	if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "Set") ||
		!streq_ptr(path, LOGCONTROL_PATH))
		return 0;
	r = sd_bus_message_read(m, "ss", &interface, &property);
	ours = r >= 0 && streq(interface, LOGCONTROL_INTERFACE) && streq(property, "LogLevel");
	r = sd_bus_message_rewind(m, true);
	if (r < 0)
		return r;
	return ours ? bus_authorize(b, m, ACTION_SET_LOG_LEVEL) : 0;
}
