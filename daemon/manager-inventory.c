/* SPDX-License-Identifier: MIT */
/* The inventory over time: when it is compared with the model, and who is told. */
#include <errno.h>

#include "log.h"
#include "macros.h"
#include "manager-inventory.h"

/* Facts settle (a driver is loaded anew, udev renames) before they are compared. */
#define LOOK_DELAY (2 * USEC_PER_SEC)

void timer_by(sd_event_source *timer, usec_t mono)
{
	uint64_t at = 0;

	if (timer_is_armed(timer) && sd_event_source_get_time(timer, &at) >= 0 && at <= mono)
		return;
	sd_event_source_set_time(timer, mono);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

void inventory_look_by(struct manager_inventory *mi, usec_t mono)
{
	if (mono != USEC_INFINITY)
		timer_by(mi->look_timer, mono);
}

/* ---- comparing ---- */

static const char *port_netdev_of(const struct inventory_change *c)
{
	for (size_t i = 0; i < c->entry->n_ports; i++)
		if (c->port && c->entry->ports[i].number == c->port)
			return c->entry->ports[i].netdev;
	return NULL;
}

static void tell_record(struct manager *m, const struct inventory_record *i)
{
	struct event e = { .when = manager_now(m) };

	journal_inventory(i);
	STRSCPY(e.object, i->object);
	STRSCPY(e.reason, "inventory");
	STRSCPY(e.message, i->message);
	model_add_event(&m->model, &e);
	m->state_dirty = true;
}

static void tell(const struct inventory_change *c, void *user)
{
	struct manager_inventory *mi = user;
	char message[INVENTORY_MESSAGE_MAX], object[OBJECT_NAME_MAX];
	struct inventory_record i = {
		.object = inventory_object(object, c),
		.device = c->entry->name,
		.node_guid = c->entry->node_guid,
		.port = c->port,
		.netdev = port_netdev_of(c),
		.fact = inventory_fact_to_string(c->fact),
		.before = c->before,
		.after = c->after,
		.message = inventory_message(message, c),
	};

	tell_record(mi->manager, &i);
}

static void tell_gid_move(
	struct manager *m, const struct port *p, const struct gid_move *move, size_t n_more)
{
	char object[OBJECT_NAME_MAX], before[16], after[16], message[INVENTORY_MESSAGE_MAX];
	char address[ADDRESS_STRING_MAX];
	const char *type = gid_type_to_string(move->gid.type);
	struct inventory_record i = {
		.object = port_object(object, p),
		.device = p->device->facts.name,
		.node_guid = p->device->facts.node_guid,
		.port = p->number,
		.netdev = move->gid.netdev,
		.fact = "gid-index",
		.before = before,
		.after = after,
		.message = message,
	};
	int n;

	snprintf(before, sizeof(before), "%u", move->old_index);
	snprintf(after, sizeof(after), "%u", move->gid.index);
	n = snprintf(message, sizeof(message), "%s: GID %s%s%s%s has index %s, was %s", object,
		gid_address_format(address, move->gid.gid), type ? " (" : "", type ? type : "",
		type ? ")" : "", after, before);
	if (n_more > 0 && n > 0 && (size_t)n < sizeof(message))
		snprintf(message + n, sizeof(message) - (size_t)n, ", and %zu more have moved",
			n_more);
	tell_record(m, &i);
}

void manager_inventory_gids(struct manager *m, const struct port *p, const struct tables_update *u)
{
	size_t told = MIN(u->n_moves, (size_t)GID_MOVES_MAX);

	for (size_t i = 0; i < told; i++)
		tell_gid_move(m, p, &u->moves[i], i + 1 == told ? u->n_moves - told : 0);
}

/* What ports have shown before this run: they are judged by it. */
static void remember_best(struct manager_inventory *mi)
{
	struct manager *m = mi->manager;

	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];
			const struct inventory_port *ip =
				inventory_find_port(&mi->inv, &d->facts, p->number);
			struct best_rate best = { 0 };

			if (!ip)
				continue;
			best.rate_mbps = ip->best_rate_mbps;
			best.link_layer = ip->link_layer;
			STRSCPY(best.width, ip->best_width);
			STRSCPY(best.speed, ip->best_speed);
			if (port_remember_best(p, &best))
				port_judge(m, p);
		}
}

static void look(struct manager_inventory *mi)
{
	struct manager *m = mi->manager;
	struct timepoint now = manager_now(m);
	usec_t again, due = usec_add(mi->started, m->config->missing_delay_usec);
	struct inventory_look look = {
		.model = &m->model,
		.now = now,
		.settled_at = due,
		.baseline = !mi->had_picture,
		.report = tell,
		.user = mi,
	};

	/* A listing that is complete calls again. */
	if (!m->model.listed || m->listing || m->list_failing)
		return;
	if (inventory_picture_awaited(mi, now.mono)) {
		inventory_look_by(mi, inventory_picture_patience(mi));
		return;
	}
	manager_miss_learned(m);
	if (inventory_look(&mi->inv, &look, &again) < 0) {
		inventory_look_by(mi, usec_add(now.mono, USEC_PER_MINUTE));
		return;
	}
	remember_best(mi);
	manager_recall_all(m);
	inventory_look_by(mi, again);
	if (now.mono < due)
		inventory_look_by(mi, due);
	/* Once in any case: until when everything was here. */
	if (mi->inv.changed || !mi->saved_at)
		inventory_save_soon(mi);
}

static int on_look_timer(sd_event_source *s, uint64_t usec, void *user)
{
	(void)s;
	(void)usec;
	look(user);
	return 0;
}

void manager_inventory_look_now(struct manager *m)
{
	look(m->inventory);
	if (m->inventory->inv.changed)
		inventory_save(m->inventory);
}

struct inventory *manager_inventory_of(struct manager *m)
{
	return &m->inventory->inv;
}

int manager_inventory_persists(const struct manager *m)
{
	return m->inventory->copies ? m->inventory->persists : 0;
}

void manager_inventory_look(struct manager *m)
{
	struct manager_inventory *mi = m->inventory;

	inventory_look_by(mi, usec_add(manager_now(m).mono, LOOK_DELAY));
}

/* ---- life ---- */

int manager_inventory_new(struct manager *m)
{
	struct manager_inventory *mi = calloc(1, sizeof(*mi));
	int r;

	if (!mi)
		return -ENOMEM;
	m->inventory = mi;
	mi->manager = m;
	mi->job.fd = -1;
	mi->started = manager_now(m).mono;
	r = manager_add_timer(
		m, &mi->look_timer, 100 * USEC_PER_MSEC, on_look_timer, mi, "inventory");
	if (r < 0)
		return r;
	return inventory_picture_new(mi);
}

struct manager_inventory *manager_inventory_free(struct manager_inventory *mi)
{
	if (!mi)
		return NULL;
	inventory_picture_done(mi);
	sd_event_source_disable_unref(mi->look_timer);
	inventory_done(&mi->inv);
	free(mi);
	return NULL;
}
