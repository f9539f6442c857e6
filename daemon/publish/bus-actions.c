/* SPDX-License-Identifier: MIT */
/*
 * What changes something: the one table of it, and those methods of org.rdmad1.Manager that are not
 * in a file of their own. A method reads its arguments and refuses what makes no sense; then
 * bus_authorize() finds out who calls, and runs what the table has, which reads them again.
 */
#include <errno.h>
#include <inttypes.h>

#include "bus-internal.h"

int bus_refuse_flags(uint64_t flags, uint64_t known, sd_bus_error *error)
{
	if (!(flags & ~known))
		return 0;
	return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS,
		"Unknown flags 0x%" PRIx64 ", this version knows 0x%" PRIx64, flags & ~known,
		known);
}

int bus_read_flags(sd_bus_message *call, uint64_t *ret)
{
	int r = sd_bus_message_rewind(call, true);

	return r < 0 ? r : sd_bus_message_read(call, "t", ret);
}

int bus_read_objects(sd_bus_message *call, char ***ret_objects, uint64_t *ret_flags)
{
	int r = sd_bus_message_rewind(call, true);

	if (r >= 0)
		r = sd_bus_message_read_strv(call, ret_objects);
	return r < 0 ? r : sd_bus_message_read(call, "t", ret_flags);
}

int bus_take_objects(struct bus *b, sd_bus_message *m, bool some, uint64_t known,
	enum bus_action_id action, sd_bus_error *error)
{
	_cleanup_(strv_freep) char **objects = NULL;
	uint64_t flags;
	int r;

	r = bus_read_objects(m, &objects, &flags);
	if (r < 0)
		return r;
	r = bus_refuse_flags(flags, known, error);
	if (r < 0)
		return r;
	if (some && (!objects || !objects[0]))
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS, "No object is named");
	return bus_authorize(b, m, action);
}

int bus_take_flags(struct bus *b, sd_bus_message *m, uint64_t known, enum bus_action_id action,
	sd_bus_error *error)
{
	uint64_t flags;
	int r;

	r = bus_read_flags(m, &flags);
	if (r < 0)
		return r;
	r = bus_refuse_flags(flags, known, error);
	if (r < 0)
		return r;
	return bus_authorize(b, m, action);
}

int bus_reply_error(sd_bus_message *call, const char *error, int r, const char *why)
{
	char clean[TEXT_MAX];

	return sd_bus_reply_method_errorf(
		call, error, "%s", why[0] ? text_clean(why, clean) : strerror(-r));
}

/* Runs when the caller was found to be allowed to. */
static int reload(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	char why[TEXT_MAX] = "";
	int r;

	r = b->callbacks->reload(b->user, uid, why, sizeof(why));
	if (r >= 0)
		return sd_bus_reply_method_return(call, NULL);
	return bus_reply_error(call,
		r == -EINVAL || r == -EBADMSG ? BUS_ERROR_CONFIG_INVALID : BUS_ERROR_FAILED, r,
		why);
}

int bus_reload(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return bus_take_flags(user, m, 0, ACTION_RELOAD, error);
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
	char why[TEXT_MAX] = "";
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
	return bus_reply_error(
		call, r == -ENODEV ? BUS_ERROR_NO_SUCH_OBJECT : BUS_ERROR_FAILED, r, why);
}

int bus_release(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(strv_freep) char **objects = NULL;
	uint64_t duration, flags;
	int r;

	r = read_release(m, &objects, &duration, &flags);
	if (r < 0)
		return r;
	r = bus_refuse_flags(flags, 0, error);
	if (r < 0)
		return r;
	if (!objects || !objects[0])
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS, "No object is named");
	if (duration > RELEASE_MAX)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_ARGS, "Longer than seven days is not possible");
	return bus_authorize(user, m, ACTION_RELEASE);
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
	char why[TEXT_MAX] = "";
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
	return bus_reply_error(call, ack_error(r), r, why);
}

int bus_ack(sd_bus_message *m, void *user, sd_bus_error *error)
{
	struct acknowledge_call c;
	uint64_t flags = 0;
	int r;

	r = read_ack(m, &c, &flags);
	if (r < 0)
		return r;
	r = bus_refuse_flags(flags, ACK_UNDO, error);
	if (r < 0)
		return r;
	if (strlen(c.comment) >= REASON_TEXT_MAX)
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_ARGS,
			"The comment is longer than %d bytes", REASON_TEXT_MAX - 1);
	return bus_authorize(user, m, ACTION_ACK);
}

#define RESTART_IN_PLACE UINT64_C(1)

/* Runs when the caller was found to be allowed to. The answer comes when the new binary was tried. */
static int restart(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	char why[TEXT_MAX] = "";
	uint64_t flags = 0;
	int r;

	r = bus_read_flags(call, &flags);
	if (r < 0)
		return r;
	r = b->callbacks->restart(b->user, uid, flags & RESTART_IN_PLACE, call, why, sizeof(why));
	return r >= 0 ? 0 : bus_reply_error(call, BUS_ERROR_FAILED, r, why);
}

int bus_restart(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return bus_take_flags(user, m, RESTART_IN_PLACE, ACTION_RESTART, error);
}

void bus_restart_accepted(sd_bus_message *call, const char *version)
{
	char clean[TEXT_MAX];

	(void)sd_bus_reply_method_return(call, "s", text_clean(version, clean));
}

void bus_restart_refused(sd_bus_message *call, const char *why)
{
	(void)bus_reply_error(call, BUS_ERROR_FAILED, -EINVAL, why);
}

const struct bus_action bus_actions[] = {
	[ACTION_RELOAD] = { "org.rdmad1.reload", reload },
	[ACTION_RELEASE] = { "org.rdmad1.release", release },
	[ACTION_RESTART] = { "org.rdmad1.restart", restart },
	[ACTION_ACK] = { "org.rdmad1.ack", acknowledge },
	[ACTION_SAVE_BASELINE] = { "org.rdmad1.baseline", bus_do_save_baseline },
	[ACTION_DROP_BASELINE] = { "org.rdmad1.baseline", bus_do_drop_baseline },
	[ACTION_APPLY] = { "org.rdmad1.setup", bus_do_apply },
	/* As with every other service: that is nobody's but root's. */
	[ACTION_SET_LOG_LEVEL] = { NULL, bus_do_set_log_level },
};
