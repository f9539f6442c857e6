/* SPDX-License-Identifier: MIT */
/*
 * The baseline: which ports are expected since they were ACTIVE for long enough. The inventory keeps
 * it over driver reloads, restarts and boots; here it comes back to the ports, and is saved and
 * dropped on request.
 */
#include <errno.h>

#include "absence.h"
#include "expectation.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"

/* ---- what an earlier life knew ---- */

bool manager_recall_device(struct manager *m, struct device *d)
{
	const struct inventory_entry *e = inventory_find(manager_inventory_of(m), &d->facts);
	bool any = false;

	for (size_t i = 0; e && i < e->n_ports; i++) {
		struct port *p = device_port(d, e->ports[i].number);

		if (!p || p->learned || !e->ports[i].learned || !port_is_learnable(p))
			continue;
		p->learned = any = true;
	}
	return any;
}

void manager_recall_all(struct manager *m)
{
	for (struct device *d = m->model.devices; d; d = d->next)
		if (manager_recall_device(m, d))
			device_judge_whole(m, d);
}

void manager_miss_learned(struct manager *m)
{
	absence_expect_learned(&m->model, manager_inventory_of(m), m->config, manager_now(m));
	model_place_missing(&m->model, manager_now(m));
	manager_judge_missing(m);
}

/* ---- who is meant ---- */

static bool is_guid(const char *object, uint64_t guid)
{
	char text[GUID_STRING_MAX];

	return guid && strcasecmp(guid_format(text, guid), object) == 0;
}

/* "mlx5_0", "mlx5_0/1", a GUID or a PCI address; number is of the port. */
static bool object_is(
	const char *object, const char *name, uint64_t guid, const char *pci, uint32_t number)
{
	char port[OBJECT_NAME_MAX];

	snprintf(port, sizeof(port), "%s/%u", name, number);
	return streq(object, name) || streq(object, port) || is_guid(object, guid) ||
	       (pci[0] && strcasecmp(object, pci) == 0);
}

/* No object at all means every one. */
static bool is_meant(
	char *const *objects, const char *name, uint64_t guid, const char *pci, uint32_t number)
{
	if (!objects || !objects[0])
		return true;
	for (char *const *o = objects; *o; o++)
		if (object_is(*o, name, guid, pci, number))
			return true;
	return false;
}

static bool port_is_meant(char *const *objects, const struct port *p)
{
	const struct device_facts *f = &p->device->facts;

	return is_meant(objects, f->name, f->node_guid, f->pci_address, p->number);
}

static bool entry_is_meant(
	char *const *objects, const struct inventory_entry *e, const struct inventory_port *p)
{
	return is_meant(objects, e->name, e->node_guid, e->pci_address, p->number);
}

/* ---- save ---- */

static bool can_be_saved(const struct port *p)
{
	return port_is_learnable(p) && port_is_active(p) && !p->last_error &&
	       p->probe_state != PROBE_SILENT && !p->device->release.until.mono;
}

static bool any_to_save(const struct manager *m, const char *object)
{
	char *const one[] = { (char *)object, NULL };

	for (const struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (port_is_meant(one, &d->ports[i]) && can_be_saved(&d->ports[i]))
				return true;
	return false;
}

int manager_save_baseline(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size)
{
	struct manager *m = user;
	unsigned n = 0;

	/* All of them or none. */
	for (char *const *o = objects; o && *o; o++)
		if (!any_to_save(m, *o)) {
			snprintf(why, why_size,
				"%s: no port of it is ACTIVE and can be learned (software links "
				"and "
				"virtual functions cannot)",
				*o);
			return -ENODEV;
		}
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];

			if (p->learned || !port_is_meant(objects, p) || !can_be_saved(p))
				continue;
			p->learned = true;
			n++;
			port_judge(m, p);
		}
	if (n) {
		log_notice("%u port%s learned on request", n, n == 1 ? "" : "s");
		manager_inventory_look_now(m);
	}
	m->state_dirty = true;
	*ret_n = n;
	return 0;
}

/* ---- drop ---- */

static bool any_to_drop(struct manager *m, const char *object)
{
	const struct inventory *inv = manager_inventory_of(m);
	char *const one[] = { (char *)object, NULL };

	for (const struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (port_is_meant(one, &d->ports[i]))
				return true;
	for (size_t i = 0; i < inv->n; i++)
		for (size_t k = 0; k < inv->entries[i].n_ports; k++)
			if (entry_is_meant(one, &inv->entries[i], &inv->entries[i].ports[k]))
				return true;
	return model_missing_by_name(&m->model, object) != NULL;
}

/* What is learned anew begins now: else a port that is ACTIVE would be learned again at once. */
static unsigned drop_from_ports(struct manager *m, char *const *objects)
{
	unsigned n = 0;

	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];

			if (!port_is_meant(objects, p))
				continue;
			n += p->learned;
			p->learned = false;
			p->best = (struct best_rate){ 0 };
			p->learn_from = manager_now(m).mono;
		}
	return n;
}

/* Returns how many were learned that are not here: the others are counted as ports. */
static unsigned drop_from_inventory(struct manager *m, char *const *objects)
{
	struct inventory *inv = manager_inventory_of(m);
	unsigned n = 0;

	for (size_t i = 0; i < inv->n; i++) {
		struct inventory_entry *e = &inv->entries[i];

		for (size_t k = 0; k < e->n_ports; k++) {
			struct inventory_port *p = &e->ports[k];

			if (!entry_is_meant(objects, e, p))
				continue;
			n += p->learned && !e->present;
			p->learned = false;
			p->learned_since = 0;
			p->best_rate_mbps = 0;
			p->best_width[0] = p->best_speed[0] = '\0';
			inv->changed = true;
		}
	}
	return n;
}

static void drop_from_missing(struct manager *m, char *const *objects)
{
	for (struct missing *x = m->model.missing, *next; x; x = next) {
		bool meant = false;

		next = x->next;
		for (size_t i = 0; i < x->n_ports; i++)
			if (is_meant(objects, x->name, x->node_guid, x->pci_address,
				    x->ports[i].number)) {
				x->ports[i].learned = false;
				meant = true;
			}
		if (!meant || absence_reconsider(x, m->config))
			continue;
		missing_edges_closed(&m->edges, x, "no longer expected: its baseline was dropped",
			manager_now(m));
		model_remove_missing(&m->model, x);
	}
}

int manager_drop_baseline(
	void *user, char *const *objects, unsigned *ret_n, char *why, size_t why_size)
{
	struct manager *m = user;
	unsigned n;

	for (char *const *o = objects; o && *o; o++)
		if (!any_to_drop(m, *o)) {
			snprintf(why, why_size,
				"%s: nothing of that name, GUID or PCI address is "
				"known",
				*o);
			return -ENODEV;
		}
	n = drop_from_ports(m, objects);
	n += drop_from_inventory(m, objects);
	drop_from_missing(m, objects);
	log_notice("the baseline of %u port%s was dropped on request", n, n == 1 ? "" : "s");
	m->edges.closing = "no longer expected: its baseline was dropped";
	manager_judge_all(m);
	manager_inventory_look_now(m);
	m->state_dirty = true;
	*ret_n = n;
	return 0;
}

/* ---- the configuration has changed ---- */

void manager_reconsider_missing(struct manager *m, const char *why)
{
	for (struct missing *x = m->model.missing, *next; x; x = next) {
		next = x->next;
		if (absence_reconsider(x, m->config))
			continue;
		missing_edges_closed(&m->edges, x, why, manager_now(m));
		model_remove_missing(&m->model, x);
	}
}
