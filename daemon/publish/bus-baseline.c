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

typedef int (*baseline_callback)(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size);

static int change(struct bus *b, sd_bus_message *call, baseline_callback callback)
{
	_cleanup_(strv_freep) char **objects = NULL;
	char why[TEXT_MAX] = "";
	uint64_t flags;
	unsigned n = 0;
	int r;

	r = bus_read_objects(call, &objects, &flags);
	if (r < 0)
		return r;
	r = callback(b->user, objects, &n, why, sizeof(why));
	if (r >= 0)
		return sd_bus_reply_method_return(call, "u", n);
	return bus_reply_error(
		call, r == -ENODEV ? BUS_ERROR_NO_SUCH_OBJECT : BUS_ERROR_FAILED, r, why);
}

int bus_do_save_baseline(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	return change(b, call, b->callbacks->save_baseline);
}

int bus_do_drop_baseline(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	return change(b, call, b->callbacks->drop_baseline);
}

int bus_save_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return bus_take_objects(user, m, false, 0, ACTION_SAVE_BASELINE, error);
}

int bus_drop_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return bus_take_objects(user, m, false, 0, ACTION_DROP_BASELINE, error);
}
