/* SPDX-License-Identifier: MIT */
/*
 * Who may not change something by right may be asked for a password: polkit does that through an agent of the
 * session. On a terminal there is none until somebody starts one, as systemctl does.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Nobody is to be asked (--no-ask-password): for scripts that would wait for ever. */
void ask_password_never(void);

/*
 * Starts polkit's agent on this terminal and waits until it is ready. Returns whether a call to the
 * daemon of this host may say that the user can be asked: not for root, whom nobody asks, nor
 * without a terminal. To be ended by ask_password_end() when the call is over.
 */
bool ask_password_begin(pid_t *ret_agent);
void ask_password_end(pid_t *agent);
