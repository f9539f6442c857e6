/* SPDX-License-Identifier: MIT */
/* The netdevs of the picture, their addresses, and which belong to one bond. */
#include <errno.h>

#include "macros.h"
#include "model-internal.h"

void netdev_free(struct netdev *n)
{
	free(n->addresses);
	free(n);
}

bool netdev_see_qos(struct netdev *n, const struct qos_facts *f)
{
	struct qos_facts old = n->qos;
	bool had = n->have_qos;

	n->qos = *f;
	n->have_qos = true;
	old.pause_tx_frames = f->pause_tx_frames;
	old.pause_rx_frames = f->pause_rx_frames;
	return !had || memcmp(&old, f, sizeof(old)) != 0;
}

bool netdev_see_link(struct netdev *n, const struct link_facts *f)
{
	bool differs = !n->have_link || memcmp(&n->link, f, sizeof(*f)) != 0;

	n->link = *f;
	n->have_link = true;
	return differs;
}

static void netdev_remove(struct model *m, uint32_t ifindex)
{
	for (struct netdev **at = &m->netdevs; *at; at = &(*at)->next)
		if ((*at)->facts.ifindex == ifindex) {
			struct netdev *n = *at;

			*at = n->next;
			netdev_free(n);
			return;
		}
}

/* A new netdev in its place in the list. */
static struct netdev *netdev_new(struct model *m, const struct netdev_facts *f)
{
	struct netdev *n = calloc(1, sizeof(*n));
	struct netdev **at = &m->netdevs;

	if (!n)
		return NULL;
	n->facts = *f;
	n->generation = m->generation;
	while (*at && (*at)->facts.ifindex < f->ifindex)
		at = &(*at)->next;
	n->next = *at;
	*at = n;
	return n;
}

int model_see_netdev(struct model *m, const struct netdev_facts *f, uint32_t *ret_downs)
{
	struct netdev *n = model_netdev_by_index(m, f->ifindex);

	*ret_downs = 0;
	if (f->gone) {
		if (!n)
			return 0;
		netdev_remove(m, f->ifindex);
		return 1;
	}
	if (!n)
		return netdev_new(m, f) ? 1 : -ENOMEM;
	n->generation = m->generation;
	if (memcmp(&n->facts, f, sizeof(*f)) == 0)
		return 0;
	/* The count only rises within the life of an ifindex; messages may overtake a listing. */
	if (n->facts.have_carrier_counts && f->have_carrier_counts) {
		if ((int32_t)(f->carrier_down_count - n->facts.carrier_down_count) < 0 ||
			(int32_t)(f->carrier_up_count - n->facts.carrier_up_count) < 0)
			return 0; /* older than what is known */
		*ret_downs = f->carrier_down_count - n->facts.carrier_down_count;
	}
	/* Why it was down then says nothing of now. */
	if (*ret_downs || n->facts.carrier != f->carrier || n->facts.flags != f->flags)
		n->have_link = false;
	n->facts = *f;
	return 1;
}

static struct netdev_address *netdev_address(struct netdev *n, const struct address_facts *f)
{
	for (size_t i = 0; i < n->n_addresses; i++) {
		struct address_facts *g = &n->addresses[i].facts;

		if (g->family == f->family && g->prefix_length == f->prefix_length &&
			memcmp(g->address, f->address, sizeof(f->address)) == 0)
			return &n->addresses[i];
	}
	return NULL;
}

static void netdev_remove_address(struct netdev *n, struct netdev_address *a)
{
	size_t i = (size_t)(a - n->addresses);

	n->n_addresses--;
	memmove(a, a + 1, (n->n_addresses - i) * sizeof(*a));
}

/* The ones that are not kept are counted anew by each listing. */
static void netdev_count_beyond(struct netdev *n, uint64_t generation)
{
	if (n->beyond_generation != generation)
		n->addresses_beyond = 0;
	n->beyond_generation = generation;
	n->addresses_beyond++;
}

static int netdev_add_address(struct netdev *n, const struct address_facts *f, uint64_t generation)
{
	struct netdev_address *more;

	if (n->n_addresses == NETDEV_ADDRESSES_MAX) {
		netdev_count_beyond(n, generation);
		return 0;
	}
	more = reallocarray(n->addresses, n->n_addresses + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	n->addresses = more;
	n->addresses[n->n_addresses++] =
		(struct netdev_address){ .facts = *f, .generation = generation };
	return 1;
}

int model_see_address(struct model *m, const struct address_facts *f)
{
	struct netdev *n = model_netdev_by_index(m, f->ifindex);
	struct netdev_address *a;

	if (!n)
		return 0;
	a = netdev_address(n, f);
	if (f->gone) {
		if (a) {
			netdev_remove_address(n, a);
			return 1;
		}
		if (n->addresses_beyond > 0)
			n->addresses_beyond--;
		return 0;
	}
	if (!a)
		return netdev_add_address(n, f, m->generation);
	a->generation = m->generation;
	if (memcmp(&a->facts, f, sizeof(*f)) == 0)
		return 0;
	a->facts = *f;
	return 1;
}

static void netdev_drop_stale_addresses(struct netdev *n, uint64_t generation)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].generation == generation)
			n->addresses[kept++] = n->addresses[i];
	n->n_addresses = kept;
	if (n->beyond_generation != generation)
		n->addresses_beyond = 0;
}

void model_drop_stale_netdevs(struct model *m)
{
	for (struct netdev **at = &m->netdevs; *at;) {
		struct netdev *n = *at;

		if (n->generation == m->generation) {
			netdev_drop_stale_addresses(n, m->generation);
			at = &n->next;
			continue;
		}
		*at = n->next;
		netdev_free(n);
	}
}

struct netdev *model_netdev_by_index(const struct model *m, uint32_t ifindex)
{
	for (struct netdev *n = m->netdevs; n; n = n->next)
		if (n->facts.ifindex == ifindex)
			return n;
	return NULL;
}

struct netdev *model_netdev_by_name(const struct model *m, const char *name)
{
	for (struct netdev *n = m->netdevs; n; n = n->next)
		if (streq(n->facts.name, name))
			return n;
	return NULL;
}

bool netdev_is_bond_leg(const struct netdev *n)
{
	return n->facts.leg != BOND_LEG_NONE;
}

const struct netdev *netdev_bond(const struct model *m, const struct netdev *n)
{
	if (n && netdev_is_bond_leg(n))
		return model_netdev_by_index(m, n->facts.master);
	return n && model_next_leg(m, n->facts.ifindex, NULL) ? n : NULL;
}

const struct netdev *model_next_leg(
	const struct model *m, uint32_t master_ifindex, const struct netdev *prev)
{
	for (const struct netdev *n = prev ? prev->next : m->netdevs; n; n = n->next)
		if (netdev_is_bond_leg(n) && n->facts.master == master_ifindex)
			return n;
	return NULL;
}

const struct netdev *port_netdev(const struct model *m, const struct port *p)
{
	return p->facts.netdev_index ? model_netdev_by_index(m, p->facts.netdev_index) : NULL;
}
