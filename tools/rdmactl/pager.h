/* SPDX-License-Identifier: MIT */
/*
 * A pager behind stdout, by systemd's rules (systemctl(1), "Environment"), and stricter for root.
 */
#pragma once

#include <stdbool.h>

/* Starts a pager when stdout is a terminal and the environment does not say otherwise. */
void pager_open(void);

/* Waits for it. Returns whether there was one. */
bool pager_close(void);
