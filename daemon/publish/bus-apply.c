/* SPDX-License-Identifier: MIT */
/*
 * org.rdmad1.Manager.Apply and ApplyObjects: answered when setup has settled, so that the caller can
 * look at what came of it, or when that takes too long: then it goes on without anybody waiting.
 */
#include <errno.h>

#include "bus-internal.h"
#include "log.h"

#define APPLY_DISRUPTIVE UINT64_C(1)
#define APPLY_USEC       (60 * USEC_PER_SEC)

static void answer_all(struct bus *b, bool settled)
{
	while (b->n_applying > 0) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *call =
			b->applying[--b->n_applying];
		int r = settled ? sd_bus_reply_method_return(call, NULL)
				: sd_bus_reply_method_errorf(call, BUS_ERROR_TIMED_OUT,
					  "Setup has not settled yet, and goes on: see rdmactl "
					  "plan");

		if (r < 0)
			log_debug("Cannot answer a call: %s", strerror(-r));
	}
}

void bus_applied(struct bus *b)
{
	answer_all(b, true);
}

void bus_apply_clear(struct bus *b)
{
	while (b->n_applying > 0)
		sd_bus_message_unref(b->applying[--b->n_applying]);
	b->apply_timer = sd_event_source_disable_unref(b->apply_timer);
}

static int on_late(sd_event_source *source, uint64_t usec, void *user)
{
	answer_all(user, false);
	return 0;
}

/* Runs when the caller was found to be allowed to. */
int bus_do_apply(struct bus *b, sd_bus_message *call, uint32_t uid)
{
	_cleanup_(strv_freep) char **objects = NULL;
	char why[TEXT_MAX] = "";
	uint64_t flags = 0;
	int r;

	/* Of Apply() they stay NULL: all is meant. */
	r = sd_bus_message_has_signature(call, "ast") ? bus_read_objects(call, &objects, &flags)
						      : bus_read_flags(call, &flags);
	if (r < 0)
		return r;
	if (b->n_applying == APPLYING_MAX)
		return sd_bus_reply_method_errorf(
			call, BUS_ERROR_LIMITS_EXCEEDED, "Too many calls are waiting for setup");
	r = bus_set_timer(b, &b->apply_timer, APPLY_USEC, on_late);
	if (r < 0)
		return r;
	b->applying[b->n_applying++] = sd_bus_message_ref(call);
	r = b->callbacks->apply(b->user, objects, flags & APPLY_DISRUPTIVE, uid, why, sizeof(why));
	if (r >= 0)
		return 0;
	/* It may have been answered within, but not when it was refused. */
	b->n_applying--;
	r = bus_reply_error(
		call, r == -ENODEV ? BUS_ERROR_NO_SUCH_OBJECT : BUS_ERROR_FAILED, r, why);
	sd_bus_message_unref(call);
	return r;
}

int bus_apply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return bus_take_flags(user, m, APPLY_DISRUPTIVE, ACTION_APPLY, error);
}

int bus_apply_objects(sd_bus_message *m, void *user, sd_bus_error *error)
{
	/* No name could be meant for all; that is what Apply() is for. */
	return bus_take_objects(user, m, true, APPLY_DISRUPTIVE, ACTION_APPLY, error);
}
