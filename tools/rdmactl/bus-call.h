/* SPDX-License-Identifier: MIT */
/*
 * One method call to the daemon, with a deadline that holds whatever the bus does: sd_bus_call()'s
 * own timeout does not cover connecting, and a dbus.socket whose daemon is not up yet accepts
 * connections and says nothing. Nothing here starts a service.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timespan.h"

enum bus_outcome {
	BUS_ANSWERED,
	BUS_NO_BUS,    /* no bus, or it does not talk to us: nothing is known about the daemon */
	BUS_NO_DAEMON, /* the bus is fine and nobody has the name */
	BUS_NO_ANSWER, /* somebody has the name and does not answer */
	BUS_REFUSED,   /* an error reply */
};

struct bus_answer {
	enum bus_outcome outcome;
	char *text;          /* BUS_ANSWERED: the string of the reply, NULL when it has none */
	char *message;       /* otherwise: a sentence; may be NULL when memory is out */
	uint32_t number;     /* BUS_ANSWERED: that of the reply, 0 when it has none */
	bool goes_on;        /* BUS_REFUSED: it was begun, and is not done yet */
	bool no_such_object; /* BUS_REFUSED: since it has no object of that name */
	bool no_such_method; /* BUS_REFUSED: it is an older one */
};

/*
 * Manager.Describe(), or DescribeBrief() where the daemon has it: it may be an older one. host: over
 * ssh, or NULL.
 */
struct bus_answer bus_call_describe(const char *host, bool brief, usec_t timeout);

/* Manager.DescribeCounters(). */
struct bus_answer bus_call_describe_counters(const char *host, usec_t timeout);

/* Manager.Explain(object). */
struct bus_answer bus_call_explain(const char *host, const char *object, usec_t timeout);

/* Manager.Release(objects, duration, 0): names of devices; a duration of 0 ends their release. */
struct bus_answer bus_call_release(
	const char *host, const char *const *objects, size_t n, usec_t duration, usec_t timeout);

/* Manager.DescribeBaseline(). */
struct bus_answer bus_call_describe_baseline(const char *host, usec_t timeout);

/* Manager.SaveBaseline(objects, 0), Manager.DropBaseline(objects, 0); none stands for all. */
struct bus_answer bus_call_baseline(
	const char *host, const char *method, const char *const *objects, size_t n, usec_t timeout);

/* Manager.Ack(object, reason, comment, undo). */
struct bus_answer bus_call_ack(const char *host, const char *object, const char *reason,
	const char *comment, bool undo, usec_t timeout);

/* Manager.Apply(disruptive), ApplyObjects() of any: when it answers, the plan has settled. */
struct bus_answer bus_call_apply(
	const char *host, const char *const *objects, size_t n, bool disruptive, usec_t timeout);

/* Manager.Reload(0). */
struct bus_answer bus_call_reload(const char *host, usec_t timeout);

/* Manager.Restart(in place): when it answers, the version in text is to go on. */
struct bus_answer bus_call_restart(const char *host, bool in_place, usec_t timeout);

void bus_answer_done(struct bus_answer *a);
