/* SPDX-License-Identifier: MIT */
/*
 * rdmactl release: the daemon lets go of devices for a while, so that a driver can be reloaded or
 * firmware be burned, and takes them back by itself. A context belongs to a device: naming a port
 * lets go of all of it.
 */
#include "bus-call.h"
#include "macros.h"
#include "output.h"
#include "text.h"

/* A worker may have to end first. */
#define RELEASE_TIMEOUT (2 * USEC_PER_MINUTE)

static int report(const struct options *o, const struct bus_answer *a)
{
	const char *why = or_text(a->message, "out of memory");

	switch (a->outcome) {
	case BUS_ANSWERED:
		return EXIT_SUCCESS;
	case BUS_REFUSED:
		output_error("rdmad refuses: %s", why);
		return EXIT_FAILED;
	case BUS_NO_ANSWER:
		output_error("rdmad does not answer (%s); it may still be at it.", why);
		return EXIT_FAILED;
	case BUS_NO_DAEMON:
		output_error("rdmad is not running, so that it holds nothing.");
		return EXIT_NOT_RUNNING;
	case BUS_NO_BUS:
		break;
	}
	output_error(
		"Cannot reach the bus%s%s: %s", o->host ? " of " : "", or_text(o->host, ""), why);
	return o->host ? EXIT_FAILED : EXIT_NOT_RUNNING;
}

static void print_done(const char *object, const char *device, usec_t span)
{
	_cleanup_(freep) char *name = text_sanitise(object, false);
	char buf[TIMESPAN_MAX];

	printf("%s: ", or_text(name, ""));
	if (!streq(object, device))
		printf("its device is ");
	if (span > 0)
		printf("released for %s\n", timespan_format(buf, sizeof(buf), span));
	else
		printf("taken back\n");
}

static void free_all(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

int verb_release(const struct options *o)
{
	char **devices = calloc(o->n_patterns, sizeof(*devices));
	struct bus_answer a;
	int status;

	for (size_t i = 0; devices && i < o->n_patterns; i++) {
		devices[i] = strndup(o->patterns[i], strcspn(o->patterns[i], "/"));
		if (!devices[i]) {
			free_all(devices, i);
			devices = NULL;
		}
	}
	if (!devices) {
		output_error("Out of memory");
		return EXIT_FAILED;
	}
	a = bus_call_release(
		o->host, (const char *const *)devices, o->n_patterns, o->span, RELEASE_TIMEOUT);
	status = report(o, &a);
	for (size_t i = 0; status == EXIT_SUCCESS && i < o->n_patterns; i++)
		print_done(o->patterns[i], devices[i], o->span);
	free_all(devices, o->n_patterns);
	bus_answer_done(&a);
	return output_close(status);
}
