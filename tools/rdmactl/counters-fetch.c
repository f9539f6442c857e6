/* SPDX-License-Identifier: MIT */
#include "bus-call.h"
#include "bus-report.h"
#include "counters.h"
#include "macros.h"
#include "output.h"
#include "source.h"
#include "text.h"
#include "view.h"

#define LOCAL_TIMEOUT  (10 * USEC_PER_SEC)
#define REMOTE_TIMEOUT (2 * USEC_PER_MINUTE)

/* running is taken. */
static int fail(const struct options *o, json_t *running, int status, const char *why)
{
	if (o->format != OUTPUT_TEXT) {
		json_t *v = json_pack("{s:{s:O}}", "Daemon", "Running", running);

		if (status != EXIT_NOT_RUNNING)
			json_object_set_new(v, "Error", json_string(why));
		output_json(o, v);
		json_decref(v);
	}
	json_decref(running);
	return status;
}

static int no_answer(const struct options *o, const struct bus_answer *a)
{
	const char *why = or_text(a->message, "out of memory");

	switch (a->outcome) {
	case BUS_NO_DAEMON:
		output_error(
			"rdmad is not running, and its state file does not hold the counters.\n"
			"Start it with: systemctl start rdmad");
		return fail(o, bus_running(o, a), EXIT_NOT_RUNNING, why);
	case BUS_NO_ANSWER:
		output_error("rdmad does not answer on the bus: %s", why);
		return fail(o, bus_running(o, a), EXIT_FAILED, why);
	case BUS_REFUSED:
		output_error("rdmad refuses: %s", why);
		return fail(o, bus_running(o, a), EXIT_FAILED, why);
	case BUS_NO_BUS:
	case BUS_ANSWERED:
		break;
	}
	if (o->host) {
		output_error("Cannot reach the bus of %s: %s", o->host, why);
		return fail(o, bus_running(o, a), EXIT_FAILED, why);
	}
	output_error("No system bus: %s. The state file does not hold the counters.", why);
	return fail(o, bus_running(o, a), EXIT_NOT_RUNNING, why);
}

/* Takes the ports away that the patterns do not select. */
static void select_ports(const struct options *o, json_t *root)
{
	json_t *ports = json_object_get(root, "Ports");

	for (size_t i = json_array_size(ports); i > 0; i--) {
		const json_t *port = json_array_get(ports, i - 1);

		if (!json_is_object(port) ||
			!name_selected(o, or_text(json_text(port, "Object"), "")))
			json_array_remove(ports, i - 1);
	}
}

int counters_fetch(const struct options *o, json_t **ret)
{
	struct bus_answer a;
	json_error_t error;
	json_t *root, *daemon;
	int r;

	if (!o->host && !bus_wanted()) {
		output_error("RDMAD_BUS=no: the state file does not hold the counters.");
		return fail(o, json_false(), EXIT_NOT_RUNNING, "RDMAD_BUS=no");
	}
	a = bus_call_describe_counters(o->host, o->host ? REMOTE_TIMEOUT : LOCAL_TIMEOUT);
	if (a.outcome != BUS_ANSWERED) {
		r = no_answer(o, &a);
		bus_answer_done(&a);
		return r;
	}
	root = json_loads(or_text(a.text, ""), 0, &error);
	bus_answer_done(&a);
	if (!json_is_object(root) || !json_is_array(json_object_get(root, "Ports"))) {
		json_decref(root);
		output_error("rdmad's answer on the bus is not a description of counters");
		return fail(o, json_true(), EXIT_FAILED, "not a description of counters");
	}
	daemon = json_object_get(root, "Daemon");
	if (!json_is_object(daemon)) {
		daemon = json_object();
		json_object_set_new(root, "Daemon", daemon);
	}
	json_object_set_new(daemon, "Running", json_true());
	select_ports(o, root);
	*ret = root;
	return 0;
}

json_t *counters_clean(const struct options *o, json_t *v)
{
	json_t *clean;

	if (!v || o->format != OUTPUT_TEXT)
		return v;
	clean = text_sanitise_json(v);
	json_decref(v);
	return clean;
}
