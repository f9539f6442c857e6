/* SPDX-License-Identifier: MIT */
/*
 * Letting go of devices on request: for a driver reload, a firmware burn, a benchmark. Nothing of a
 * released device is held, read or judged; it is taken back by itself when its time is over. It is
 * the device that is released, not the name: one that goes meanwhile comes back released.
 */
#include <errno.h>

#include "log.h"
#include "macros.h"
#include "manager-internal.h"

static struct device *find_device(struct manager *m, const char *object)
{
	char name[RDMA_NAME_MAX];

	STRSCPY(name, object);
	name[strcspn(name, "/")] = '\0'; /* a port lets go of its device */
	return model_device_by_name(&m->model, name);
}

static void device_let_go(struct manager *m, struct device *d)
{
	pool_forget(m->pool, &d->facts);
	device_drop_context(d);
	device_lost_requests(d);
	manager_recheck_at(m, d->release.until.mono);
}

/* What happened meanwhile was meant to, and the link may have to come up yet. */
static void port_taken_back(struct manager *m, struct port *p)
{
	usec_t now = manager_now(m).mono;

	p->unseen_downs = 0;
	port_restart_counters(p, now);
	p->settle_until = usec_add(now, m->config->grace_usec);
	port_excuse_down(p, now, usec_add(now, m->config->probe_usec));
}

static void device_take_back(struct manager *m, struct device *d)
{
	d->release = (struct release){ 0 };
	counter_table_restart(d->counters, manager_now(m).mono);
	for (size_t i = 0; i < d->n_ports; i++)
		port_taken_back(m, &d->ports[i]);
	device_rewatch(m, d);
	device_ask_facts(m, d);
}

static void tell_release(struct manager *m, const struct device *d, usec_t duration, uint32_t uid)
{
	char message[256], span[TIMESPAN_MAX], by[CALLER_MAX];
	const struct admin_record a = {
		.action = duration ? "release" : "take-back",
		.object = d->facts.name,
		.by = manager_caller(uid, by),
		.message = message,
	};

	if (duration)
		snprintf(message, sizeof(message), "%s: released by %s for %s", d->facts.name, by,
			timespan_format(span, sizeof(span), duration));
	else
		snprintf(message, sizeof(message), "%s: taken back by %s, watched again",
			d->facts.name, by);
	manager_tell_admin(m, &a);
}

static void device_judge_anew(struct manager *m, struct device *d)
{
	device_judge_whole(m, d);
	m->plan_dirty = m->state_dirty = true;
}

static struct release release_for(struct manager *m, usec_t duration, uint32_t uid)
{
	struct timepoint now = manager_now(m);
	struct release r = {
		.until = { .mono = now.mono + duration, .real = now.real + duration },
	};

	manager_caller(uid, r.by);
	return r;
}

int manager_release(
	void *user, char *const *objects, usec_t duration, uint32_t uid, char *why, size_t why_size)
{
	struct manager *m = user;

	/* All of them or none. */
	for (char *const *o = objects; *o; o++)
		if (!find_device(m, *o)) {
			snprintf(why, why_size, "%s: there is no such device", *o);
			return -ENODEV;
		}
	for (char *const *o = objects; *o; o++) {
		struct device *d = find_device(m, *o);

		if (duration) {
			d->release = release_for(m, duration, uid);
			device_let_go(m, d);
			tell_release(m, d, duration, uid);
		} else if (d->release.until.mono) {
			device_take_back(m, d);
			tell_release(m, d, 0, uid);
		}
		device_judge_anew(m, d);
	}
	return 0;
}

void device_inherit_release(struct manager *m, struct device *d, const struct missing *x)
{
	if (x->release.until.mono <= manager_now(m).mono)
		return;
	d->release = x->release;
	/* One that is listed before its predecessor is missed was taken for any other so far. */
	device_let_go(m, d);
	device_judge_anew(m, d);
}

void manager_end_releases(struct manager *m)
{
	usec_t now = manager_now(m).mono;

	for (struct device *d = m->model.devices; d; d = d->next) {
		if (!d->release.until.mono)
			continue;
		if (d->release.until.mono <= now) {
			device_take_back(m, d);
			log_notice("%s: taken back, watched again", d->facts.name);
		} else {
			manager_recheck_at(m, d->release.until.mono);
		}
	}
}
