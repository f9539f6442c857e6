/* SPDX-License-Identifier: MIT */
/*
 * Following the daemon over the bus: that it comes and goes, what it signals, and its description
 * whenever that may have changed. Nothing is asked again and again, nothing waits, and nothing here
 * starts a service: where there is no bus yet, its socket is waited for.
 */
#pragma once

#include <jansson.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct bus_watch;

/* Any may be NULL. */
struct bus_watch_ops {
	/* The daemon is on the bus: also told when it is another one than before. */
	void (*there)(void *user);
	/* It is not, and why that is; not told twice. */
	void (*away)(void *user, const char *why);
	/* It has sent a signal. */
	void (*signalled)(void *user, sd_bus_message *m);
	/* What bus_watch_describe() asked for; an object. */
	void (*described)(void *user, const json_t *root);
	/* The way to the other host is cut: the end. */
	void (*lost)(void *user, const char *why);
};

/* host: over ssh, or NULL. 0 or a negative errno. */
int bus_watch_new(sd_event *event, const char *host, const struct bus_watch_ops *ops, void *user,
	struct bus_watch **ret);
struct bus_watch *bus_watch_free(struct bus_watch *w);

/*
 * Asks the daemon for its description. Asked again before that has come, or soon after, it is asked
 * once more then: however much it signals, what it is asked for stays bounded.
 */
void bus_watch_describe(struct bus_watch *w);
