/* SPDX-License-Identifier: MIT */
#include "bus-report.h"

#include "macros.h"
#include "output.h"
#include "text.h"

json_t *bus_running(const struct options *o, const struct bus_answer *a)
{
	switch (a->outcome) {
	case BUS_ANSWERED:
	case BUS_REFUSED:
	case BUS_NO_ANSWER:
		return json_true();
	case BUS_NO_BUS:
		/* Of another host that cannot be reached nothing is known. */
		if (o->host)
			return json_null();
		break;
	case BUS_NO_DAEMON:
		break;
	}
	return json_false();
}

int bus_report(const struct options *o, const struct bus_answer *a, const struct bus_words *words)
{
	const char *why = or_text(a->message, "out of memory");

	switch (a->outcome) {
	case BUS_ANSWERED:
		return EXIT_SUCCESS;
	case BUS_REFUSED:
		output_error("%s: %s", words->refused, why);
		return EXIT_FAILED;
	case BUS_NO_ANSWER:
		output_error("rdmad does not answer (%s); it may still be at it.", why);
		return EXIT_FAILED;
	case BUS_NO_DAEMON:
		output_error("%s", words->no_daemon);
		return EXIT_NOT_RUNNING;
	case BUS_NO_BUS:
		break;
	}
	if (o->host) {
		output_error("Cannot reach the bus of %s: %s", o->host, why);
		return EXIT_FAILED;
	}
	output_error("Cannot reach the bus: %s%s%s", why, words->no_bus ? ". " : "",
		or_text(words->no_bus, ""));
	return EXIT_NOT_RUNNING;
}
