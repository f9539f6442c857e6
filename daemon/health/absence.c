/* SPDX-License-Identifier: MIT */
#include "absence.h"

#include "macros.h"

struct device_facts absence_facts(const struct missing *x)
{
	struct device_facts f = { .node_guid = x->node_guid };

	STRSCPY(f.name, x->name);
	STRSCPY(f.pci_address, x->pci_address);
	STRSCPY(f.driver, x->driver);
	STRSCPY(f.board_id, x->board_id);
	return f;
}

static bool port_is_required(const struct missing_port *p, const struct device_facts *f,
	const struct config *c, enum expect of_device)
{
	struct port_facts facts = port_facts_unknown(0, p->number);
	enum expect expect;

	facts.link_layer = p->link_layer;
	STRSCPY(facts.netdev, p->netdev);
	expect = config_port_settings(c, f, &facts).expect;
	if (expect == EXPECT_AUTO)
		expect = of_device;
	return expect == EXPECT_UP || (expect == EXPECT_AUTO && p->learned);
}

/* By what is known of it, whether its absence is a failure. */
static bool is_required(const struct missing *x, const struct config *c)
{
	struct device_facts f = absence_facts(x);
	struct device_settings s = config_device_settings(c, &f);

	if (s.monitor == MONITOR_NO)
		return false;
	if (s.expect == EXPECT_UP)
		return true;
	for (size_t i = 0; i < x->n_ports; i++)
		if (port_is_required(&x->ports[i], &f, c, s.expect))
			return true;
	return false;
}

static bool was_required(const struct device *d, const struct config *c)
{
	if (config_device_settings(c, &d->facts).expect == EXPECT_UP)
		return true;
	for (size_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].required)
			return true;
	return false;
}

void absence_note(
	struct model *m, const struct device *d, const struct config *c, struct timepoint since)
{
	struct missing *x;

	if (d->facts.link_type != LINK_TYPE_NONE || model_find_missing(m, &d->facts))
		return;
	x = model_add_missing(m, d->facts.name, d->facts.node_guid, d->facts.pci_address, since);
	if (!x)
		return;
	x->seen = true;
	x->required = was_required(d, c);
	x->release = d->release;
	STRSCPY(x->driver, d->facts.driver);
	STRSCPY(x->board_id, d->facts.board_id);
	for (size_t i = 0; i < d->n_ports && x->n_ports < MISSING_PORTS_MAX; i++) {
		struct missing_port *p = &x->ports[x->n_ports++];

		p->number = d->ports[i].number;
		p->link_layer = d->ports[i].facts.link_layer;
		p->learned = d->ports[i].learned;
		STRSCPY(p->netdev, d->ports[i].facts.netdev);
	}
}

void absence_expect_configured(struct model *m, const struct config *c, struct timepoint now)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		const struct config_device *cd = &c->devices[i];
		const char *name = cd->selector.name_glob;
		struct device_facts f = { 0 };
		struct missing *x;

		if (!cd->has_expect || cd->expect != EXPECT_UP || !name || strpbrk(name, "*?"))
			continue;
		if (model_device_by_name(m, name))
			continue;
		STRSCPY(f.name, name);
		f.node_guid = cd->selector.guid;
		STRSCPY(f.pci_address, cd->selector.pci ? cd->selector.pci : "");
		if (model_find_missing(m, &f) || model_missing_by_name(m, name))
			continue;
		x = model_add_missing(m, f.name, f.node_guid, f.pci_address, now);
		if (x)
			x->required = true;
	}
}

/* What the picture says of x, for one that is known by its name only as well. */
static void remember(struct missing *x, const struct inventory_entry *e)
{
	x->remembered = true;
	x->since.real = e->last_seen;
	x->node_guid = e->node_guid;
	STRSCPY(x->pci_address, e->pci_address);
	STRSCPY(x->driver, e->driver);
	STRSCPY(x->board_id, e->board_id);
	x->n_ports = 0;
	for (size_t i = 0; i < e->n_ports && x->n_ports < MISSING_PORTS_MAX; i++) {
		struct missing_port *p = &x->ports[x->n_ports++];

		p->number = e->ports[i].number;
		p->link_layer = e->ports[i].link_layer;
		p->learned = e->ports[i].learned;
		STRSCPY(p->netdev, e->ports[i].netdev);
	}
}

static bool is_learned(const struct inventory_entry *e)
{
	for (size_t i = 0; i < e->n_ports; i++)
		if (e->ports[i].learned)
			return true;
	return false;
}

/* Itself, or what may turn out to have replaced it. */
static bool is_here(const struct model *m, const struct inventory_entry *e)
{
	for (const struct device *d = m->devices; d; d = d->next)
		if ((e->node_guid && d->facts.node_guid == e->node_guid) ||
			(e->pci_address[0] && streq(d->facts.pci_address, e->pci_address)))
			return true;
	return false;
}

void absence_expect_learned(
	struct model *m, const struct inventory *inv, const struct config *c, struct timepoint now)
{
	for (size_t i = 0; i < inv->n; i++) {
		const struct inventory_entry *e = &inv->entries[i];
		struct missing candidate = { 0 }, *x;
		struct device_facts f;

		if (!is_learned(e) || is_here(m, e))
			continue;
		STRSCPY(candidate.name, e->name);
		remember(&candidate, e);
		f = absence_facts(&candidate);
		x = model_find_missing(m, &f);
		if (x) {
			if (!x->seen && !x->node_guid && !x->pci_address[0])
				remember(x, e); /* configured by its name */
			continue;
		}
		if (!is_required(&candidate, c))
			continue;
		x = model_add_missing(m, e->name, e->node_guid, e->pci_address, now);
		if (!x)
			continue;
		remember(x, e);
		x->required = true;
	}
}

bool absence_reconsider(struct missing *x, const struct config *c)
{
	bool was = x->required;

	x->required = is_required(x, c);
	/* One that nobody needed was seen to go, and stays a notice. */
	return x->required || (x->seen && !was);
}
