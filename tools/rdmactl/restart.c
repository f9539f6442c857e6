/* SPDX-License-Identifier: MIT */
/*
 * rdmactl restart: the installed rdmad goes on where the running one is. The daemon itself tries it
 * first, and refuses when it could not go on; this waits until the new one has looked at everything.
 */
#include <systemd/sd-bus.h>

#include "bus-call.h"
#include "bus-report.h"
#include "macros.h"
#include "output.h"
#include "source.h"
#include "text.h"
#include "view.h"

/* The new binary is tried for 20 s at most. */
#define RESTART_TIMEOUT (40 * USEC_PER_SEC)
/* RestartSec=, StartBudgetSec=, and a busy host. */
#define READY_TIMEOUT (90 * USEC_PER_SEC)
#define POLL_INTERVAL (100 * USEC_PER_MSEC)
#define POLL_TIMEOUT  (5 * USEC_PER_SEC)

#define SYSTEMD "org.freedesktop.systemd1"

static const struct bus_words words = {
	.refused = "rdmad is not restarted",
	.no_daemon = "rdmad is not running. Start it with: systemctl start rdmad",
	.no_bus = "Without one, use: systemctl kill --kill-who=main rdmad; systemctl start rdmad",
};

/* ---- who would be stopped ---- */

/* The path of a unit's object; NULL when it is not loaded. */
static char *unit_path(sd_bus *bus, const char *unit)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *path = NULL;

	if (sd_bus_call_method(bus, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager",
		    "GetUnit", NULL, &reply, "s", unit) < 0 ||
		sd_bus_message_read(reply, "o", &path) < 0)
		return NULL;
	return strdup(path);
}

static bool unit_is_active(sd_bus *bus, const char *unit)
{
	_cleanup_(freep) char *path = unit_path(bus, unit), *state = NULL;

	if (!path || sd_bus_get_property_string(
			     bus, SYSTEMD, path, SYSTEMD ".Unit", "ActiveState", NULL, &state) < 0)
		return false;
	return !streq(state, "inactive") && !streq(state, "failed");
}

/* The first active unit that depends in this way, in *ret, to be freed. */
static void find_dependent(sd_bus *bus, const char *path, const char *how, char **ret)
{
	_cleanup_(strv_freep) char **units = NULL;

	if (*ret || sd_bus_get_property_strv(
			    bus, SYSTEMD, path, SYSTEMD ".Unit", how, NULL, &units) < 0)
		return;
	for (char **u = units; u && *u && !*ret; u++)
		if (unit_is_active(bus, *u))
			*ret = strdup(*u);
}

/*
 * A unit that systemd would stop (and start again) with rdmad: an automatic restart is propagated to
 * those that require it, whatever RestartMode= says. NULL: there is none, or nobody to ask.
 */
static char *dependent_unit(const struct options *o)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(freep) char *path = NULL;
	char *found = NULL;

	if ((o->host ? sd_bus_open_system_remote(&bus, o->host) : sd_bus_open_system(&bus)) < 0)
		return NULL;
	path = unit_path(bus, "rdmad.service");
	if (!path)
		return NULL;
	find_dependent(bus, path, "RequiredBy", &found);
	find_dependent(bus, path, "BoundBy", &found);
	find_dependent(bus, path, "ConsistsOf", &found);
	return found;
}

/* A unit that was masked while it runs: systemd would not start it again. */
static bool is_masked(const struct options *o)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(freep) char *path = NULL, *state = NULL;

	if ((o->host ? sd_bus_open_system_remote(&bus, o->host) : sd_bus_open_system(&bus)) < 0)
		return false;
	path = unit_path(bus, "rdmad.service");
	return path &&
	       sd_bus_get_property_string(
		       bus, SYSTEMD, path, SYSTEMD ".Unit", "LoadState", NULL, &state) >= 0 &&
	       streq(state, "masked");
}

/*
 * systemd counts the starts of a unit, those that are wanted, too, and gives up at the fifth in 30 s. What is
 * asked for here is no crash, so the count begins anew. False when it does not, as for other users
 * than root; where there is no systemd nobody counts.
 */
static bool reset_start_count(const struct options *o)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;

	if ((o->host ? sd_bus_open_system_remote(&bus, o->host) : sd_bus_open_system(&bus)) < 0)
		return true;
	return sd_bus_call_method(bus, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager",
		       "ResetFailedUnit", &error, NULL, "s", "rdmad.service") >= 0 ||
	       sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

/* ---- until the new one is there ---- */

/* The description of a daemon that is ready, to be freed; NULL: time is up. */
static json_t *await_ready(const struct options *o)
{
	usec_t deadline = usec_add(timepoint_now().mono, READY_TIMEOUT);

	while (timepoint_now().mono < deadline) {
		struct bus_answer a = bus_call_describe(o->host, true, POLL_TIMEOUT);
		json_t *root = a.text ? json_loads(a.text, 0, NULL) : NULL;

		bus_answer_done(&a);
		if (json_is_true(json_object_get(json_object_get(root, "Daemon"), "Ready")))
			return root;
		json_decref(root);
		usleep(POLL_INTERVAL);
	}
	return NULL;
}

/* why: it had to be in place; empty: it was asked for, or was not */
static void print_done(const json_t *root, const char *why, bool in_place)
{
	const json_t *daemon = json_object_get(root, "Daemon");
	const json_t *gap = json_object_get(daemon, "GapUSec");
	char span[TIMESPAN_MAX];

	printf("rdmad %s goes on", or_text(json_text(daemon, "Version"), "-"));
	if (json_text(daemon, "PreviousVersion"))
		printf(", was %s", json_text(daemon, "PreviousVersion"));
	if (json_is_integer(gap))
		printf("; not watched for %s",
			timespan_format(span, sizeof(span), (usec_t)json_integer_value(gap)));
	else
		printf("; it begins anew, nothing of what was known could be kept");
	putchar('\n');
	if (in_place)
		printf("In place%s: sandbox and limits stay as they were.\n", why);
}

/* Whether systemd must not see it, and why not. */
static bool must_be_in_place(const struct options *o, char *why, size_t size)
{
	_cleanup_(freep) char *dependent = dependent_unit(o);

	if (dependent)
		snprintf(why, size, ", since systemd would stop %s with it", dependent);
	else if (is_masked(o))
		snprintf(why, size,
			", since rdmad.service is masked and would not be started again");
	else if (!reset_start_count(o))
		snprintf(why, size, ", since systemd would count it as one more failure");
	return why[0] != '\0';
}

int verb_restart(const struct options *o)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	char why[256] = "";
	bool in_place = o->in_place || must_be_in_place(o, why, sizeof(why));
	struct bus_answer a = bus_call_restart(o->host, in_place, RESTART_TIMEOUT);
	int status = bus_report(o, &a, &words);

	bus_answer_done(&a);
	if (status != EXIT_SUCCESS)
		return status;
	root = await_ready(o);
	if (!root) {
		output_error("The new rdmad is not ready. See: systemctl status rdmad");
		return EXIT_FAILED;
	}
	print_done(root, why, in_place);
	return output_close(EXIT_SUCCESS);
}
