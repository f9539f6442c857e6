/* SPDX-License-Identifier: MIT */
/*
 * The client of the setup helper, inside rdmad: sends the plan's steps one at a time and hands the
 * answers back. Nothing here blocks: a helper that is absent, dead, hung or insane makes an answer
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
typedef void (*apply_done)(void *user, const struct setup_answer *answer);

/* The socket is SETUP_SOCKET_PATH, or what RDMAD_SETUP_SOCKET in the environment says. */
int apply_new(sd_event *event, apply_done done, void *user, struct apply **ret);
struct apply *apply_free(struct apply *a);
void apply_freep(struct apply **a);

/*
 * Sends the next step of the plan that is due. Returns 1 when a step is with the helper now (just
 * sent, or still), 0 when there is nothing to send: then the connection is closed, so that the
 * helper can end.
 */
int apply_kick(struct apply *a, struct plan *plan, usec_t now);
