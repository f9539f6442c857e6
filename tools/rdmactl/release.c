/* SPDX-License-Identifier: MIT */
/*
 * rdmactl release: the daemon lets go of devices for a while, so that a driver can be reloaded or
 * firmware be burned, and takes them back by itself. A context belongs to a device: naming a port
 * lets go of all of it.
 */
#include "bus-call.h"
#include "bus-report.h"
#include "macros.h"
#include "output.h"
#include "text.h"

/* A worker may have to end first. */
#define RELEASE_TIMEOUT (2 * USEC_PER_MINUTE)

static const struct bus_words words = {
	.refused = "rdmad refuses",
	.no_daemon = "rdmad is not running, so that it holds nothing.",
};

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
	status = bus_report(o, &a, &words);
	for (size_t i = 0; status == EXIT_SUCCESS && i < o->n_patterns; i++)
		print_done(o->patterns[i], devices[i], o->span);
	free_all(devices, o->n_patterns);
	bus_answer_done(&a);
	return output_close(status);
}
