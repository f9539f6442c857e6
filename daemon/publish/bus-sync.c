/* SPDX-License-Identifier: MIT */
/*
 * What clients were told, and what differs now: compute, compare, emit once, as networkd does.
 * A hash per property is kept, not the values. The list of objects is in the model's order, so that
 * both are walked side by side.
 */
#include <errno.h>

#include "bus-internal.h"
#include "log.h"
#include "rules.h"

/* Objects that leave are gone with all they had, also with what sd-bus itself put there. */
static int emit_removed(struct bus *b, const struct told *t)
{
	const char *interfaces[] = {
		t->number ? BUS_PORT_INTERFACE : BUS_DEVICE_INTERFACE,
		"org.freedesktop.DBus.Peer",
		"org.freedesktop.DBus.Introspectable",
		"org.freedesktop.DBus.Properties",
		NULL,
	};
	char path[OBJECT_PATH_MAX];

	if (t->number)
		port_path(t->index, t->number, path);
	else
		device_path(t->index, path);
	return sd_bus_emit_interfaces_removed_strv(b->conn, path, (char **)interfaces);
}

static void compute_hashes(
	const struct field *fields, const struct subject *s, uint64_t hash[FIELDS_MAX])
{
	for (size_t i = 0; fields[i].name; i++) {
		if (fields[i].use == FIELD_QUIET) {
			hash[i] = 0;
			continue;
		}
		hash[i] = field_hash(&fields[i], s);
	}
}

/* One PropertiesChanged with the names whose hashes differ; none when none does. */
static void emit_changed(struct bus *b, const char *path, const char *interface,
	const struct field *fields, uint64_t told[FIELDS_MAX], const uint64_t now[FIELDS_MAX])
{
	const char *names[FIELDS_MAX + 1];
	size_t n = 0;
	int r;

	for (size_t i = 0; fields[i].name; i++) {
		if (told[i] == now[i])
			continue;
		told[i] = now[i];
		names[n++] = fields[i].name;
	}
	if (n == 0)
		return;
	bus_probe(b);
	names[n] = NULL;
	r = sd_bus_emit_properties_changed_strv(b->conn, path, interface, (char **)names);
	if (r < 0)
		log_debug("Cannot signal changes of %s: %s", path, strerror(-r));
}

static bool comes_before(
	uint32_t index, uint32_t number, uint32_t other_index, uint32_t other_number)
{
	return index < other_index || (index == other_index && number < other_number);
}

static struct told *insert(struct told **at, uint32_t index, uint32_t number)
{
	struct told *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->index = index;
	t->number = number;
	t->next = *at;
	*at = t;
	return t;
}

static void remove_told(struct bus *b, struct told **at, bool emit)
{
	struct told *t = *at;
	int r;

	*at = t->next;
	if (emit) {
		r = emit_removed(b, t);
		if (r < 0)
			log_debug("Cannot signal that an object is gone: %s", strerror(-r));
	}
	free(t);
}

/*
 * Brings one object up to date at *at in the list, and moves *at behind it. With emit false clients
 * are taken to know. Returns 0, -EAGAIN when the bus does not take any more, -ENOMEM.
 */
static int sync_object(struct bus *b, struct told ***at, const struct subject *s, bool emit)
{
	uint32_t index = s->device->facts.index, number = s->port ? s->port->number : 0;
	const struct field *fields = s->port ? port_fields : device_fields;
	char path[OBJECT_PATH_MAX];
	uint64_t now[FIELDS_MAX];
	struct told *t;
	int r;

	if (emit && bus_under_pressure(b))
		return -EAGAIN;
	while (**at && comes_before((**at)->index, (**at)->number, index, number))
		remove_told(b, *at, emit);

	if (number)
		port_path(index, number, path);
	else
		device_path(index, path);
	compute_hashes(fields, s, now);
	t = **at;
	if (t && t->index == index && t->number == number) {
		emit_changed(b, path, number ? BUS_PORT_INTERFACE : BUS_DEVICE_INTERFACE, fields,
			t->hash, now);
	} else {
		t = insert(*at, index, number);
		if (!t)
			return -ENOMEM;
		memcpy(t->hash, now, sizeof(now));
		r = emit ? sd_bus_emit_object_added(b->conn, path) : 0;
		if (r < 0)
			log_debug("Cannot signal that %s is there: %s", path, strerror(-r));
	}
	*at = &t->next;
	return 0;
}

/* Brings an object up to date that this pass has not come to yet. -EINPROGRESS: time is up, but not before one is. */
static int sync_next(
	struct bus *b, struct told ***at, const struct subject *s, bool emit, usec_t until)
{
	uint32_t index = s->device->facts.index, number = s->port ? s->port->number : 0;

	if (comes_before(index, number, b->sync_index, b->sync_number))
		return 0;
	if (until != USEC_INFINITY && b->n_synced > 0 && timepoint_now().mono >= until) {
		b->sync_index = index;
		b->sync_number = number;
		return -EINPROGRESS;
	}
	b->n_synced++;
	return sync_object(b, at, s, emit);
}

/* Goes on where the last call stopped. */
static int sync_objects(struct bus *b, const struct model *m, bool emit, usec_t until)
{
	struct told **at = &b->told;
	int r;

	b->n_synced = 0;
	while (*at && comes_before((*at)->index, (*at)->number, b->sync_index, b->sync_number))
		at = &(*at)->next;
	for (const struct device *d = m->devices; d; d = d->next) {
		struct subject s = { .device = d };

		r = sync_next(b, &at, &s, emit, until);
		for (size_t i = 0; r >= 0 && i < d->n_ports; i++) {
			s.port = &d->ports[i];
			r = sync_next(b, &at, &s, emit, until);
		}
		if (r < 0)
			return r;
	}
	while (*at)
		remove_told(b, at, emit);
	return 0;
}

bool bus_sync(struct bus *b, usec_t budget)
{
	const struct publish_context *ctx;
	struct subject s = { NULL };
	uint64_t now[FIELDS_MAX];
	int r;

	if (!b->connected)
		return false;
	ctx = b->callbacks->context(b->user);
	b->sync_pending = false;
	r = sync_objects(b, ctx->model, true, usec_add(timepoint_now().mono, budget));
	if (r == -EINPROGRESS)
		return true;
	b->sync_index = b->sync_number = 0;
	if (r < 0) {
		/* on_pressure() calls again; what was not told differs still then. */
		b->sync_pending = true;
		return false;
	}
	s.ctx = ctx;
	compute_hashes(manager_fields, &s, now);
	emit_changed(b, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, manager_fields, b->told_manager, now);
	return false;
}

void bus_told_reset(struct bus *b)
{
	const struct publish_context *ctx = b->callbacks->context(b->user);
	struct subject s = { .ctx = ctx };

	bus_told_clear(b);
	/* What memory was out for is "added" later. */
	(void)sync_objects(b, ctx->model, false, USEC_INFINITY);
	compute_hashes(manager_fields, &s, b->told_manager);
}

void bus_told_clear(struct bus *b)
{
	b->sync_index = b->sync_number = 0;
	while (b->told)
		remove_told(b, &b->told, false);
}

void bus_forget_device(struct bus *b, const struct device *d)
{
	struct told **at = &b->told;

	while (*at) {
		if ((*at)->index == d->facts.index)
			remove_told(b, at, b->connected);
		else
			at = &(*at)->next;
	}
}

static int append_reason_ids(sd_bus_message *m, const struct verdict *v)
{
	int r;

	r = sd_bus_message_open_container(m, 'a', "s");
	for (size_t i = 0; r >= 0 && i < v->n_reasons; i++)
		r = sd_bus_message_append(m, "s", rule_get(v->reasons[i].id)->name);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

void bus_health_changed(struct bus *b, const struct device *d, const struct port *p,
	enum health old_health, const struct verdict *v)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	char path[OBJECT_PATH_MAX] = BUS_ROOT_PATH;
	int r;

	if (!b->connected || bus_under_pressure(b))
		return;
	bus_probe(b);
	if (p)
		port_path(p->device->facts.index, p->number, path);
	else if (d)
		device_path(d->facts.index, path);

	r = sd_bus_message_new_signal(
		b->conn, &m, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "HealthChanged");
	if (r >= 0)
		r = sd_bus_message_append(
			m, "oss", path, health_to_string(old_health), health_to_string(v->health));
	if (r >= 0)
		r = append_reason_ids(m, v);
	if (r >= 0)
		r = sd_bus_send(b->conn, m, NULL);
	if (r < 0)
		log_debug("Cannot signal the health of %s: %s", path, strerror(-r));
}
