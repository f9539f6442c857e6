/* SPDX-License-Identifier: MIT */
/*
 * time-objects: has rdmad list its objects five times, and reads each answer to its end, every name and every value,
 * as a monitoring agent does. Prints the number of objects, of properties, and the medians of the times in microseconds
 * until the answer was there, and until it was read.
 */
#include <systemd/sd-bus.h>

#include "bus-names.h"
#include "macros.h"
#include "timespan.h"

#define RUNS 5

struct count {
	unsigned objects, properties;
};

static int read_value(sd_bus_message *m)
{
	union {
		const char *string;
		uint64_t number;
		uint32_t number32;
		int flag;
	} v;
	const char *contents;
	char type;
	int r = sd_bus_message_peek_type(m, &type, &contents);

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'v', contents);
	if (r >= 0 && contents[0] == 'a')
		r = sd_bus_message_skip(m, contents);
	else if (r >= 0)
		r = sd_bus_message_read_basic(m, contents[0], &v);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* 0 when there is none any more. */
static int read_property(sd_bus_message *m)
{
	const char *name;
	int r = sd_bus_message_enter_container(m, 'e', "sv");

	if (r <= 0)
		return r;
	r = sd_bus_message_read_basic(m, 's', &name);
	if (r >= 0)
		r = read_value(m);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : 1;
}

static int read_interfaces(sd_bus_message *m, struct count *c)
{
	int r = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
		r = sd_bus_message_skip(m, "s");
		if (r >= 0)
			r = sd_bus_message_enter_container(m, 'a', "{sv}");
		while (r >= 0 && (r = read_property(m)) > 0)
			c->properties++;
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_objects(sd_bus_message *m, struct count *c)
{
	int r = sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}")) > 0) {
		c->objects++;
		r = sd_bus_message_skip(m, "o");
		if (r >= 0)
			r = read_interfaces(m, c);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static int list_objects(sd_bus *bus, struct count *c, usec_t *ret_answered, usec_t *ret_read)
{
	_cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	usec_t start = timepoint_now().mono;
	int r;

	*c = (struct count){ 0 };
	r = sd_bus_call_method(bus, BUS_NAME, BUS_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
		"GetManagedObjects", &e, &m, "");
	*ret_answered = timepoint_now().mono - start;
	if (r >= 0)
		r = read_objects(m, c);
	*ret_read = timepoint_now().mono - start;
	if (sd_bus_error_is_set(&e))
		fprintf(stderr, "time-objects: %s: %s\n", e.name, e.message);
	return r;
}

static int compare(const void *a, const void *b)
{
	const usec_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static usec_t median(usec_t took[RUNS])
{
	qsort(took, RUNS, sizeof(took[0]), compare);
	return took[RUNS / 2];
}

int main(void)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	struct count c = { 0 };
	usec_t answered[RUNS], read[RUNS];
	int r = sd_bus_open_system(&bus);

	for (size_t i = 0; r >= 0 && i < RUNS; i++) {
		r = list_objects(bus, &c, &answered[i], &read[i]);
		/* Callers may take an eighth of the daemon's time: who has more than that is refused. */
		usleep((useconds_t)(4 * read[i]));
	}
	if (r < 0) {
		fprintf(stderr, "time-objects: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	printf("%u %u %llu %llu\n", c.objects, c.properties, (unsigned long long)median(answered),
		(unsigned long long)median(read));
	return EXIT_SUCCESS;
}
