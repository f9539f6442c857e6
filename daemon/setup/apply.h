/* SPDX-License-Identifier: MIT */
/*
 * The client of the setup helper, inside rdmad: sends the plan's steps and hands the answers back. Each
 * step that runs has a connection of its own; one is all that is needed as long as no step hangs. Nothing here blocks: a helper that is absent, dead, hung or insane makes an answer
 * that says so, or (hung) leaves its step pending.
 */
#pragma once

#include <systemd/sd-event.h>

#include "plan.h"

struct apply;

/*
 * One answer, from the event loop and never from within apply_kick(). The manager calls
 * plan_finished(), then plan_update() and apply_kick().
 */
typedef void (*apply_done)(
	void *user, const struct setup_request *req, const struct setup_answer *answer);

/* The socket is SETUP_SOCKET_PATH, or what RDMAD_SETUP_SOCKET in the environment says. */
int apply_new(sd_event *event, apply_done done, void *user, struct apply **ret);
struct apply *apply_free(struct apply *a);
void apply_freep(struct apply **a);

/*
 * Sends the steps of the plan that are due (plan_next()). Connections that nothing runs on are closed,
 * so that the helper can end.
 */
void apply_kick(struct apply *a, struct plan *plan, usec_t now);
