/* SPDX-License-Identifier: MIT */
/* Devices that are not there: missing ones, and where adapters are that have none. */
#include "model.h"

#include <errno.h>

#include "macros.h"

struct missing *model_add_missing(struct model *m, const char *name, uint64_t node_guid,
	const char *pci_address, struct timepoint now)
{
	struct missing *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	STRSCPY(x->name, name);
	STRSCPY(x->pci_address, pci_address);
	x->node_guid = node_guid;
	x->since = now;
	x->verdict.health = HEALTH_UNKNOWN;
	x->verdict.since = now;
	x->next = m->missing;
	m->missing = x;
	return x;
}

struct missing *model_find_missing(const struct model *m, const struct device_facts *f)
{
	for (struct missing *x = m->missing; x; x = x->next)
		if (x->node_guid && x->node_guid == f->node_guid)
			return x;
	for (struct missing *x = m->missing; x; x = x->next)
		if (!x->node_guid && x->pci_address[0] && streq(x->pci_address, f->pci_address))
			return x;
	for (struct missing *x = m->missing; x; x = x->next)
		if (!x->node_guid && !x->pci_address[0] && streq(x->name, f->name))
			return x;
	return NULL;
}

struct missing *model_missing_by_name(const struct model *m, const char *name)
{
	for (struct missing *x = m->missing; x; x = x->next)
		if (streq(x->name, name))
			return x;
	return NULL;
}

struct missing *model_find_replaced(const struct model *m, const struct device *d)
{
	const struct device_facts *f = &d->facts;

	if (!f->node_guid || !f->pci_address[0])
		return NULL;
	for (const struct device *other = m->devices; other; other = other->next)
		if (other != d && streq(other->facts.pci_address, f->pci_address))
			return NULL;
	for (struct missing *x = m->missing; x; x = x->next)
		if ((x->seen || x->remembered) && x->node_guid && x->node_guid != f->node_guid &&
			streq(x->pci_address, f->pci_address))
			return x;
	return NULL;
}

int model_see_elsewhere(struct model *m, const struct elsewhere_facts *f)
{
	if (m->n_elsewhere == ELSEWHERE_MAX)
		return -E2BIG;
	if (!m->elsewhere) {
		m->elsewhere = calloc(ELSEWHERE_MAX, sizeof(*m->elsewhere));
		if (!m->elsewhere)
			return -ENOMEM;
	}
	m->elsewhere[m->n_elsewhere++] = *f;
	return 0;
}

/* The same device by its PCI function where both have one, else by its name. */
static bool is_missing_one(const struct elsewhere_facts *f, const struct missing *x)
{
	if (f->pci_address[0] && x->pci_address[0])
		return streq(f->pci_address, x->pci_address);
	return f->name[0] && streq(f->name, x->name);
}

/* Its device is there, in another network namespace. */
static bool is_in_netns(const struct model *m, const char *pci_address)
{
	for (size_t i = 0; i < m->n_elsewhere; i++)
		if (m->elsewhere[i].kind == ELSEWHERE_NETNS &&
			streq(m->elsewhere[i].pci_address, pci_address))
			return true;
	return false;
}

static struct unprobed make_unprobed(const struct model *m, const struct elsewhere_facts *f)
{
	struct unprobed u = { .switched = -1 };

	for (size_t i = 0; i < m->n_unprobed; i++)
		if (m->unprobed[i].facts.kind == f->kind &&
			streq(m->unprobed[i].facts.pci_address, f->pci_address))
			u = m->unprobed[i];
	u.facts = *f;
	return u;
}

/* Out of memory: what the listing before said stands. */
static void note_unprobed(struct model *m)
{
	struct unprobed *list = calloc(m->n_elsewhere + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return;
	for (size_t i = 0; i < m->n_elsewhere; i++) {
		const struct elsewhere_facts *f = &m->elsewhere[i];

		if ((f->kind == ELSEWHERE_UNBOUND || f->kind == ELSEWHERE_NOT_PROBED) &&
			!is_in_netns(m, f->pci_address))
			list[n++] = make_unprobed(m, f);
	}
	free(m->unprobed);
	m->unprobed = list;
	m->n_unprobed = n;
}

static bool is_lent(const struct missing *x)
{
	return x->placed && x->elsewhere != ELSEWHERE_UNBOUND &&
	       x->elsewhere != ELSEWHERE_NOT_PROBED;
}

void model_place_missing(struct model *m, struct timepoint now)
{
	note_unprobed(m);
	for (struct missing *x = m->missing; x; x = x->next) {
		bool was_lent = is_lent(x);

		x->placed = false;
		for (size_t i = 0; i < m->n_elsewhere && !x->placed; i++) {
			x->placed = is_missing_one(&m->elsewhere[i], x);
			x->elsewhere = m->elsewhere[i].kind;
		}
		if (was_lent && !is_lent(x))
			x->since = now;
	}
}

void model_remove_missing(struct model *m, struct missing *x)
{
	for (struct missing **at = &m->missing; *at; at = &(*at)->next)
		if (*at == x) {
			*at = x->next;
			free(x);
			return;
		}
}
