/* SPDX-License-Identifier: MIT */
#include "counter-reader-internal.h"

#include <errno.h>

int counter_reader_new(const char *device, uint32_t device_index, uint32_t port,
	enum counter_source source, struct counter_reader **ret)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->base = r->dirs[DIRECTORY_MAIN] = r->dirs[DIRECTORY_EXTENDED] = -1;
	r->device_index = device_index;
	r->port = port;
	r->source = source;
	r->device = strdup(device);
	if (!r->device)
		return -ENOMEM;
	*ret = TAKE_PTR(r);
	return 0;
}

struct counter_reader *counter_reader_free(struct counter_reader *r)
{
	if (r) {
		counter_attributes_clear(&r->attrs);
		safe_close(r->base);
		safe_close(r->dirs[DIRECTORY_MAIN]);
		safe_close(r->dirs[DIRECTORY_EXTENDED]);
		free(r->device);
		free(r);
	}
	return NULL;
}

void counter_reader_freep(struct counter_reader **r)
{
	counter_reader_free(*r);
}

/* ---- netlink ---- */

struct netlink_reading {
	struct counter_reader *reader;
	struct attributes fresh;
	size_t at;
};

/* The names are as they were, nearly always. */
static int on_known(const char *name, size_t length, uint64_t value, void *user)
{
	struct netlink_reading *reading = user;
	struct attributes *attrs = &reading->reader->attrs;
	struct attribute *a;

	if (reading->at < attrs->n) {
		a = &attrs->list[reading->at];
		if (strlen(a->name) != length || memcmp(a->name, name, length) != 0)
			return -ESTALE;
		a->value = value;
		a->known = true;
	}
	reading->at++;
	return 0;
}

static int on_fresh(const char *name, size_t length, uint64_t value, void *user)
{
	struct netlink_reading *reading = user;
	struct attributes *attrs = &reading->fresh;
	int e;

	attrs->n_all++;
	if (attrs->n == COUNTERS_MAX)
		return 0;
	e = counter_attributes_add(attrs, name, length);
	if (e < 0)
		return e;
	attrs->list[attrs->n - 1].value = value;
	attrs->list[attrs->n - 1].known = true;
	return 0;
}

static int read_netlink(struct counter_reader *r, struct nldev *n)
{
	struct netlink_reading reading = { .reader = r };
	int e;

	if (r->from_netlink) {
		e = nldev_read_hw_counters(n, r->device_index, r->port, on_known, &reading);
		if (e != -ESTALE && (e < 0 || reading.at == r->attrs.n_all))
			return e;
	}
	e = nldev_read_hw_counters(n, r->device_index, r->port, on_fresh, &reading);
	if (e < 0) {
		counter_attributes_clear(&reading.fresh);
		return e;
	}
	counter_attributes_clear(&r->attrs);
	r->attrs = reading.fresh;
	r->from_netlink = true;
	r->changed = true;
	return 0;
}

/* ---- a reading ---- */

static void read_values(struct counter_reader *r, struct nldev *n, usec_t now)
{
	int e;

	for (size_t i = 0; i < r->attrs.n; i++)
		r->attrs.list[i].known = false;
	/* The kernel has no message for the counters of a device. */
	if (n && r->source == COUNTER_HW && r->port > 0 && r->netlink.at <= now) {
		e = read_netlink(r, n);
		if (e >= 0) {
			r->netlink = (struct retry){ 0 };
			r->all = (struct retry){ 0 };
			r->error = 0;
			return;
		}
		for (size_t i = 0; i < r->attrs.n; i++)
			r->attrs.list[i].known = false;
		counter_retry_failed(&r->netlink, now, ATTRIBUTE_RETRY_MIN);
	}
	counter_files_read(r, n, now);
}

int counter_reader_read(struct counter_reader *r, struct nldev *n, usec_t now, bool names,
	const struct counter_sink *sink)
{
	int e = 0;

	read_values(r, n, now);
	if (r->changed || r->set == 0) {
		r->set = counter_set_number(&r->attrs);
		names = true;
	}
	if (names)
		e = counter_tell_names(r, sink);
	if (e < 0)
		return e;
	r->changed = false;
	if (r->error == 0)
		e = counter_tell_values(r, sink);
	return e < 0 ? e : counter_tell_done(r, sink);
}
