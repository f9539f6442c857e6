/* SPDX-License-Identifier: MIT */
#include "counters.h"
#include "macros.h"
#include "text.h"
#include "view.h"

/* A GUID that identifies: one of zeros does not (DESIGN rule 6). */
static const char *usable_guid(const json_t *port)
{
	const char *guid = json_text(port, "NodeGuid");

	return guid && strspn(guid, "0:") < strlen(guid) ? guid : NULL;
}

static bool same_number(const json_t *a, const json_t *b)
{
	uint64_t x, y;

	return json_number(a, "Number", &x) && json_number(b, "Number", &y) && x == y;
}

/*
 * The same port in the old picture. Where several have its GUID, its name decides; where the GUID
 * says nothing, its name alone does.
 */
static const json_t *find_old(const json_t *ports, const json_t *port)
{
	const char *guid = usable_guid(port);
	const json_t *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *old = json_array_get(ports, i);

		if (!streq_ptr(usable_guid(old), guid) || !same_number(old, port))
			continue;
		if (streq_ptr(json_text(old, "Object"), json_text(port, "Object")))
			return old;
		found = old;
		n++;
	}
	return guid && n == 1 ? found : NULL;
}

/* "hw/out_of_sequence": names are only unique within their source. */
static char *counter_key(const json_t *counter)
{
	char *key;

	if (!json_text(counter, "Name") ||
		asprintf(&key, "%s/%s", or_text(json_text(counter, "Source"), ""),
			json_text(counter, "Name")) < 0)
		return NULL;
	return key;
}

/* The counters of a port by their key; a new reference. */
static json_t *index_counters(const json_t *port)
{
	const json_t *counters = json_object_get(port, "Counters");
	json_t *by_key = json_object();

	for (size_t i = 0; i < json_array_size(counters); i++) {
		_cleanup_(freep) char *key = counter_key(json_array_get(counters, i));

		if (key)
			json_object_set(by_key, key, json_array_get(counters, i));
	}
	return by_key;
}

/* Whether it began anew in between: it went backwards, or the daemon saw it do so. */
static bool was_reset(const json_t *old, const json_t *now, uint64_t x, uint64_t y)
{
	uint64_t resets_then, resets_now;

	return y < x ||
	       (json_number(old, "Resets", &resets_then) &&
		       json_number(now, "Resets", &resets_now) && resets_now > resets_then);
}

/* Between the two readings of the counter, else between the two pictures. */
static usec_t time_between(
	const json_t *old, const json_t *now, const struct counters_file *file, usec_t until)
{
	uint64_t then, last;

	if (json_number(old, "LastRead", &then) && json_number(now, "LastRead", &last))
		return usec_sub(last, then);
	return usec_sub(until, file->saved);
}

static json_t *diff_counter(
	const json_t *old, const json_t *now, const struct counters_file *file, usec_t until)
{
	json_t *difference = NULL, *rate = NULL;
	bool gauge = json_is_true(json_object_get(now, "Gauge")), reset = false;
	uint64_t x, y;

	if (!gauge && json_number(old, "Value", &x) && json_number(now, "Value", &y)) {
		usec_t span = time_between(old, now, file, until);

		reset = was_reset(old, now, x, y);
		if (!reset) {
			difference = json_integer((json_int_t)(y - x));
			if (span > 0)
				rate = json_real((double)(y - x) * USEC_PER_SEC / (double)span);
		}
	}
	return json_pack("{s:O, s:O, s:O, s:O, s:O, s:o, s:o, s:b, s:O, s:O, s:b}", "Name",
		json_or_null(json_object_get(now, "Name")), "SafeName",
		json_or_null(json_object_get(now, "SafeName")), "Source",
		json_or_null(json_object_get(now, "Source")), "Old",
		json_or_null(json_object_get(old, "Value")), "New",
		json_or_null(json_object_get(now, "Value")), "Difference", json_or_null(difference),
		"Rate", json_or_null(rate), "Reset", reset, "Saturated",
		json_or_null(json_object_get(now, "Saturated")), "Stale",
		json_or_null(json_object_get(now, "Stale")), "Gauge", gauge);
}

static json_t *diff_port(
	const json_t *old, const json_t *now, const struct counters_file *file, usec_t until)
{
	const json_t *counters = json_object_get(now, "Counters");
	json_t *by_key = index_counters(old), *list = json_array();

	for (size_t i = 0; i < json_array_size(counters); i++) {
		const json_t *counter = json_array_get(counters, i);
		_cleanup_(freep) char *key = counter_key(counter);

		if (key)
			json_array_append_new(list,
				diff_counter(json_object_get(by_key, key), counter, file, until));
	}
	json_decref(by_key);
	return json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:O, s:o}", "Object",
		json_or_null(json_object_get(now, "Object")), "OldObject",
		json_or_null(json_object_get(old, "Object")), "Device",
		json_or_null(json_object_get(now, "Device")), "Number",
		json_or_null(json_object_get(now, "Number")), "NodeGuid",
		json_or_null(json_object_get(now, "NodeGuid")), "HwError",
		json_or_null(json_object_get(now, "HwError")), "PmaError",
		json_or_null(json_object_get(now, "PmaError")), "Counters", list);
}

static json_t *rebooted(const struct counters_file *old, const char *boot_id)
{
	if (!old->boot_id || !*boot_id)
		return json_null();
	return json_boolean(!streq(old->boot_id, boot_id));
}

json_t *counters_diff(
	const struct counters_file *old, const json_t *now, usec_t until, const char *boot_id)
{
	const json_t *ports = json_object_get(now, "Ports");
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		json_array_append_new(
			list, diff_port(find_old(old->ports, port), port, old, until));
	}
	return json_pack("{s:O, s:I, s:I, s:o, s:o}", "Daemon",
		json_or_null(json_object_get(now, "Daemon")), "Since", (json_int_t)old->saved,
		"Until", (json_int_t)until, "Rebooted", rebooted(old, boot_id), "Ports", list);
}
