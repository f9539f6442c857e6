/* SPDX-License-Identifier: MIT */
/*
 * Verbs contexts, held for their async events only. In probe workers and nowhere else: opening and
 * closing may block as long as the driver likes.
 */
#pragma once

#include "facts.h"

struct async_context;

/*
 * Opens the device with this index (the name may change at any moment), or, where libibverbs does
 * not know its index, of this name. -ENODEV: there is no such device, or no provider for it.
 */
int async_open(uint32_t index, const char *name, struct async_context **ret);
struct async_context *async_close(struct async_context *c);

/* Readable when an event waits. Never says that the device went (kernel-interfaces.md). */
int async_event_fd(const struct async_context *c);

enum verbs_event_kind {
	VERBS_EVENT_OTHER,
	VERBS_EVENT_DEVICE_FATAL,
	VERBS_EVENT_PORT_ERR,
	VERBS_EVENT_PORT_ACTIVE,
	VERBS_EVENT_PORT_CHANGE, /* LID, P_Key, SM, GID, client reregistration: read again */
};

struct verbs_event {
	enum verbs_event_kind kind;
	uint32_t port;    /* 0: of the device */
	const char *name; /* as the kernel's enum calls it, for the log */
};

/* Takes the next event. Returns 1, 0 when none waits, negative errno. */
int async_next_event(struct async_context *c, struct verbs_event *ret);

/*
 * Measures whether an open context of this device holds its driver's module (DESIGN rule 2): opens
 * and closes it twice and looks at the drivers' reference counts. Returns 1 when it does or when
 * that cannot be told, 0 when it does not, negative errno when the device cannot be opened.
 */
int async_measure_pin(uint32_t index, const char *name);
