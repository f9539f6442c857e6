/* SPDX-License-Identifier: MIT */
/*
 * rdmactl reload: the daemon reads its configuration again, and this waits for what came of it, so
 * that "systemctl reload rdmad" fails when the files are wrong. The daemon goes on by itself when
 * this is interrupted.
 */
#include "bus-call.h"
#include "macros.h"
#include "output.h"
#include "source.h"
#include "text.h"

/* Applying may wait for a module that loads slowly. */
#define RELOAD_TIMEOUT (2 * USEC_PER_MINUTE)

static int report(const struct options *o, const struct bus_answer *a)
{
	const char *why = or_text(a->message, "out of memory");

	switch (a->outcome) {
	case BUS_ANSWERED:
		return EXIT_SUCCESS;
	case BUS_REFUSED:
		output_error("rdmad keeps its configuration: %s", why);
		return EXIT_FAILED;
	case BUS_NO_ANSWER:
		output_error("rdmad does not answer (%s); it may still be at it.", why);
		return EXIT_FAILED;
	case BUS_NO_DAEMON:
		output_error("rdmad is not running. Start it with: systemctl start rdmad");
		return EXIT_NOT_RUNNING;
	case BUS_NO_BUS:
		break;
	}
	if (o->host) {
		output_error("Cannot reach the bus of %s: %s", o->host, why);
		return EXIT_FAILED;
	}
	output_error(
		"No system bus: %s. Without one, use: systemctl kill --kill-who=main -s HUP rdmad",
		why);
	return EXIT_NOT_RUNNING;
}

int verb_reload(const struct options *o)
{
	struct bus_answer a = bus_call_reload(o->host, RELOAD_TIMEOUT);
	int status = report(o, &a);

	bus_answer_done(&a);
	return status;
}
