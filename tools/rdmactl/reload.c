/* SPDX-License-Identifier: MIT */
/*
 * rdmactl reload: the daemon reads its configuration again, and this waits for what came of it, so
 * that "systemctl reload rdmad" fails when the files are wrong. The daemon goes on by itself when
 * this is interrupted.
 */
#include "bus-call.h"
#include "bus-report.h"
#include "macros.h"
#include "output.h"
#include "source.h"
#include "text.h"

/* Applying may wait for a module that loads slowly. */
#define RELOAD_TIMEOUT (2 * USEC_PER_MINUTE)

static const struct bus_words words = {
	.refused = "rdmad keeps its configuration",
	.no_daemon = "rdmad is not running. Start it with: systemctl start rdmad",
	.no_bus = "Without one, use: systemctl kill --kill-who=main -s HUP rdmad",
};

int verb_reload(const struct options *o)
{
	struct bus_answer a = bus_call_reload(o->host, RELOAD_TIMEOUT);
	int status = bus_report(o, &a, &words);

	bus_answer_done(&a);
	return status;
}
