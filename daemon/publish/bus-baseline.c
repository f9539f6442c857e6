/* SPDX-License-Identifier: MIT */
/* org.rdmad1.Manager: what was learned, and learning and forgetting on request. */
#include <errno.h>

#include "bus-internal.h"

int bus_describe_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(freep) char *text = NULL;
	struct bus *b = user;
	int r;

	r = describe_baseline_text(b->callbacks->context(b->user), timepoint_now(), &text);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "s", text);
}

static int read_call(sd_bus_message *m, char ***ret_objects, uint64_t *ret_flags)
{
	int r;

	r = sd_bus_message_read_strv(m, ret_objects);
	if (r < 0)
		return r;
	return sd_bus_message_read(m, "t", ret_flags);
}

typedef int (*baseline_callback)(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size);

static int change(struct bus *b, sd_bus_message *call, baseline_callback callback)
{
	_cleanup_(strv_freep) char **objects = NULL;
	char why[TEXT_MAX] = "", clean[TEXT_MAX];
	uint64_t flags;
	unsigned n = 0;
	int r;

	r = sd_bus_message_rewind(call, true);
	if (r >= 0)
		r = read_call(call, &objects, &flags);
	if (r < 0)
		return r;
	r = callback(b->user, objects, &n, why, sizeof(why));
	if (r >= 0)
		return sd_bus_reply_method_return(call, "u", n);
	return sd_bus_reply_method_errorf(call,
		r == -ENODEV ? BUS_ERROR_NO_SUCH_OBJECT : BUS_ERROR_FAILED, "%s",
		why[0] ? text_clean(why, clean) : strerror(-r));
}

/* Run when the caller was found to be allowed to. */
static int save(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	return change(b, call, b->callbacks->save_baseline);
}

static int drop(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	return change(b, call, b->callbacks->drop_baseline);
}

static int method(sd_bus_message *m, struct bus *b, bus_action_t action, sd_bus_error *error)
{
	_cleanup_(strv_freep) char **objects = NULL;
	uint64_t flags;
	int r;

	r = read_call(m, &objects, &flags);
	if (r < 0)
		return r;
	if (flags != 0)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_ARGS, "Unknown flags, this version knows none");
	return bus_authorize(b, m, action);
}

int bus_save_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return method(m, user, save, error);
}

int bus_drop_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return method(m, user, drop, error);
}
