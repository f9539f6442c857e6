/* SPDX-License-Identifier: MIT */
/*
 * Tables are read on events, and some events are not sent, or come before the kernel has done what
 * they tell of. So what seems to be missing is looked for once more before anybody is alarmed.
 */
#include "judge-tables.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "judge-link.h"
#include "macros.h"

/* How long an address may be without its GID, and a device without its nodes. */
#define GID_DELAY (10 * USEC_PER_SEC)
/* What was not there is looked for so often. */
#define LOOK_AGAIN (30 * USEC_PER_SEC)

static void want_tables(struct making *mk, struct port *p, struct doubt *d)
{
	d->asked = mk->now.mono;
	p->tables_wanted = true;
}

/* Whether it stands: for that long, and in a reading of the tables that was made after that. */
static bool is_certain(struct making *mk, struct port *p, struct doubt *d, usec_t delay)
{
	if (!hold_reached(mk, &d->hold, true, delay))
		return false;
	if (d->reading == 0) {
		d->reading = p->tables.readings + 1;
		want_tables(mk, p, d);
	} else if (usec_sub(mk->now.mono, d->asked) >= LOOK_AGAIN) {
		want_tables(mk, p, d);
	}
	recheck_at(mk, usec_add(d->asked, LOOK_AGAIN));
	return p->tables.readings >= d->reading;
}

/* ---- gid-missing ---- */

/* An address that has to have a GID: global, unicast, in use. */
static bool needs_gid(const struct address_facts *a)
{
	if (a->scope != RT_SCOPE_UNIVERSE ||
		a->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED))
		return false;
	if (a->family == AF_INET)
		return a->address[0] != 0 && a->address[0] != 127 && a->address[0] < 224;
	return a->family == AF_INET6 && a->address[0] != 0xff;
}

static void gid_of(uint8_t gid[16], const struct address_facts *a)
{
	if (a->family == AF_INET6) {
		memcpy(gid, a->address, 16);
		return;
	}
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, a->address, 4);
}

/* A GID of a type that could not be read may be the one. */
static bool has_gid(const struct port_tables *t, const struct address_facts *a)
{
	uint8_t gid[16];

	gid_of(gid, a);
	for (size_t i = 0; i < t->n_gids; i++)
		if ((t->gids[i].type == GID_TYPE_ROCE_V2 || t->gids[i].type == GID_TYPE_UNKNOWN) &&
			memcmp(t->gids[i].gid, gid, sizeof(gid)) == 0)
			return true;
	return false;
}

static bool has_type(const struct port_tables *t, enum gid_type type)
{
	for (size_t i = 0; i < t->n_gids; i++)
		if (t->gids[i].type == type)
			return true;
	return false;
}

/* Adapters that can do RoCE v1 only (ConnectX-3) have no other GIDs. */
static bool knows_v2(const struct port_tables *t)
{
	return has_type(t, GID_TYPE_ROCE_V2) || !has_type(t, GID_TYPE_ROCE_V1);
}

/*
 * Whether the kernel makes GIDs of this netdev's addresses for a port on port_netdev
 * (drivers/infiniband/core/roce_gid_mgmt.c): its own, those of a bond of which it is the active leg,
 * and of VLANs on either.
 */
static bool carries_gids(
	const struct model *m, const struct netdev *n, const struct netdev *port_netdev)
{
	const struct netdev *bond = NULL;
	uint32_t below = n->facts.link;

	if (!(n->facts.flags & IFF_UP))
		return false;
	if (n == port_netdev)
		return true;
	if (port_netdev->facts.leg == BOND_LEG_ACTIVE)
		bond = netdev_bond(m, port_netdev);
	if (bond && n == bond)
		return true;
	return streq(n->facts.kind, "vlan") && below &&
	       (below == port_netdev->facts.ifindex || (bond && below == bond->facts.ifindex));
}

/* The addresses of a port's netdevs that have no GID: how many, and the first. */
struct lacking {
	unsigned n, of;
	const struct netdev *netdev;
	const struct address_facts *address;
};

static struct lacking find_lacking(const struct model *m, const struct port *p)
{
	const struct netdev *own = port_netdev(m, p);
	struct lacking l = { .n = 0 };

	for (const struct netdev *n = m->netdevs; n; n = n->next) {
		if (!carries_gids(m, n, own))
			continue;
		for (size_t i = 0; i < n->n_addresses; i++) {
			const struct address_facts *a = &n->addresses[i].facts;

			if (!needs_gid(a))
				continue;
			l.of++;
			if (has_gid(&p->tables, a))
				continue;
			if (l.n++ == 0) {
				l.netdev = n;
				l.address = a;
			}
		}
	}
	return l;
}

static void raise_gid(struct making *mk, const struct port *p, const struct lacking *l)
{
	const struct table_facts *t = &p->tables.facts;
	struct reason *r = raise_reason(mk, REASON_GID_MISSING, SEVERITY_DEGRADED, "");
	char address[ADDRESS_STRING_MAX], more[32] = "";

	if (!r)
		return;
	inet_ntop(l->address->family, l->address->address, address, sizeof(address));
	if (l->n > 1)
		snprintf(more, sizeof(more), " and %u more", l->n - 1);
	snprintf(r->found, sizeof(r->found), "no RoCE v2 GID for %s of %s%s", address,
		l->netdev->facts.name, more);
	STRSCPY(r->wanted, "a GID for each address");
	if (t->gid_slots && p->tables.n_gids >= t->gid_slots)
		snprintf(r->remedy, sizeof(r->remedy),
			"the GID table is full (%u entries): remove addresses or VLANs",
			t->gid_slots);
	else
		STRSCPY(r->remedy, "remove the address and add it again; see journalctl -k");
	note_rule(REASON_GID_MISSING, "", OUTCOME_RAISED, NULL, "found %s, wanted %s", r->found,
		r->wanted);
}

/* Why the rule is not for this port; NULL: it is. */
static const char *no_gids_wanted(const struct model *m, const struct port *p)
{
	if (p->facts.link_layer != LINK_LAYER_ETHERNET)
		return "only Ethernet has addresses for GIDs";
	if (!streq(p->device->facts.protocol, "roce"))
		return "it is not RoCE";
	if (!port_netdev(m, p))
		return "it has no network interface";
	if (p->tables.known && !knows_v2(&p->tables))
		return "it has RoCE v1 only";
	return NULL;
}

static void judge_gid(struct making *mk, const struct model *m, struct port *p)
{
	const enum reason_id id = REASON_GID_MISSING;
	const struct port_tables *t = &p->tables;
	const char *why_not = no_gids_wanted(m, p);
	struct lacking l;

	if (!port_is_fresh(p) || !t->known || t->facts.gid_error || t->n_gids == GIDS_MAX) {
		keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, NULL, "the GID table is not known");
		return;
	}
	if (!port_is_active(p))
		why_not = "it is not ACTIVE";
	if (why_not) {
		p->no_gid = (struct doubt){ 0 };
		note_rule(id, "", OUTCOME_ABSENT, NULL, "%s", why_not);
		return;
	}
	l = find_lacking(m, p);
	if (l.n == 0) {
		p->no_gid = (struct doubt){ 0 };
		note_rule(id, "", OUTCOME_CLEAR, NULL, "%u global addresses, each has a GID", l.of);
	} else if (is_certain(mk, p, &p->no_gid, GID_DELAY)) {
		raise_gid(mk, p, &l);
	} else {
		note_rule(id, "", OUTCOME_PENDING, NULL,
			"%u of %u global addresses have no GID yet; it counts after 10s", l.n,
			l.of);
	}
}

/* ---- device-nodes-missing: umad ---- */

static bool has_umad(const struct port *p)
{
	return p->tables.known && p->tables.facts.umad[0];
}

static bool wants_umad(const struct port *p)
{
	const char *protocol = p->device->facts.protocol;

	return p->facts.link_layer == LINK_LAYER_INFINIBAND &&
	       (!protocol[0] || streq(protocol, "ib") || streq(protocol, "opa"));
}

/* Without the module ib_umad nobody has one, and that may be meant. */
static bool others_have_umad(const struct model *m, const struct port *p)
{
	for (const struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (&d->ports[i] != p && wants_umad(&d->ports[i]) && has_umad(&d->ports[i]))
				return true;
	return false;
}

static void judge_umad(struct making *mk, const struct model *m, struct port *p)
{
	const enum reason_id id = REASON_DEVICE_NODES_MISSING;
	char span[TIMESPAN_MAX];
	struct reason *r;

	if (!p->have_facts || !p->tables.known) {
		keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, NULL, "its umad node is not known");
		return;
	}
	if (!wants_umad(p) || has_umad(p) || !others_have_umad(m, p)) {
		p->no_umad = (struct doubt){ 0 };
		if (has_umad(p))
			note_rule(
				id, "", OUTCOME_CLEAR, NULL, "umad node %s", p->tables.facts.umad);
		else
			note_rule(id, "", OUTCOME_ABSENT, NULL, "%s",
				wants_umad(p) ? "no port has a umad node (module ib_umad)"
					      : "only InfiniBand has umad nodes");
		return;
	}
	if (!is_certain(mk, p, &p->no_umad, mk->degraded_delay)) {
		note_rule(id, "", OUTCOME_PENDING, NULL, "no umad node; it counts after %s",
			timespan_format(span, sizeof(span), mk->degraded_delay));
		return;
	}
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	STRSCPY(r->found, "no umad node, other ports have one");
	STRSCPY(r->wanted, "/dev/infiniband/umadN");
	STRSCPY(r->remedy, "see journalctl -k for ib_umad; reload that module when nobody uses it");
	note_rule(id, "", OUTCOME_RAISED, NULL, "found %s, wanted %s", r->found, r->wanted);
}

void judge_tables(struct making *mk, const struct model *m, struct port *p)
{
	static const enum reason_id ids[] = { REASON_GID_MISSING, REASON_DEVICE_NODES_MISSING };

	if (mk->v.health == HEALTH_IGNORED) {
		p->no_gid = p->no_umad = (struct doubt){ 0 };
		for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
			note_rule(ids[i], "", OUTCOME_ABSENT, NULL, "the port is ignored");
		return;
	}
	judge_gid(mk, m, p);
	judge_umad(mk, m, p);
}
