/* SPDX-License-Identifier: MIT */
#include "judge-link.h"

#include "macros.h"

bool port_is_fresh(const struct port *p)
{
	return p->have_facts && !p->last_error && p->probe_state != PROBE_SILENT &&
	       p->facts.state != PORT_STATE_UNKNOWN;
}

/* ---- port-inconsistent ---- */

/* One reading may have been made while the state changed. */
#define INCONSISTENT_READS 2

/* iWARP adapters (i40iw) have called themselves InfiniBand. */
static bool is_infiniband(const struct port *p)
{
	const char *protocol = p->device->facts.protocol;

	return p->facts.link_layer == LINK_LAYER_INFINIBAND && !streq(protocol, "iw") &&
	       !streq(protocol, "roce");
}

/*
 * On Ethernet the physical state is what the driver makes of the netdev's, and some make anything of
 * it (mlx5: 4 while ACTIVE). But that an ACTIVE port is Disabled is said by nobody without a reason.
 */
static bool contradicts(const struct port *p)
{
	if (p->odd_phys_reads < INCONSISTENT_READS)
		return false;
	if (port_is_active(p) && p->facts.phys_state == PHYS_STATE_DISABLED)
		return true;
	return is_infiniband(p);
}

static void judge_inconsistent(struct making *mk, const struct port *p)
{
	const enum reason_id id = REASON_PORT_INCONSISTENT;
	char state[STATE_WORD_MAX], phys[STATE_WORD_MAX];
	bool recovers = p->facts.phys_state == PHYS_STATE_RECOVERY;
	struct reason *r;

	if (!port_is_fresh(p) || p->facts.phys_state == PHYS_STATE_UNKNOWN) {
		keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, NULL, "the physical state is not known");
		return;
	}
	if (!contradicts(p)) {
		note_rule(id, "",
			p->odd_phys_reads && is_infiniband(p) ? OUTCOME_PENDING : OUTCOME_CLEAR,
			NULL, "found %s, physical state %s", port_state_word(p->facts.state, state),
			phys_state_word(p->facts.phys_state, phys));
		return;
	}
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	snprintf(r->found, sizeof(r->found), "port state %s, physical state %s",
		port_state_word(p->facts.state, state), phys_state_word(p->facts.phys_state, phys));
	STRSCPY(r->wanted, "physical state linkup");
	if (recovers)
		STRSCPY(r->remedy,
			"the link keeps recovering from errors: reseat the cable at both "
			"ends, else exchange it");
	else
		STRSCPY(r->remedy,
			"see journalctl -k for this adapter's driver; disable and enable "
			"the port");
	note_rule(id, "", OUTCOME_RAISED, NULL, "found %s, wanted %s, for %u readings", r->found,
		r->wanted, p->odd_phys_reads);
}

/* ---- unexpected-link-layer ---- */

static void judge_link_layer(
	struct making *mk, const struct port *p, const struct port_settings *ps)
{
	const enum reason_id id = REASON_UNEXPECTED_LINK_LAYER;
	const char *wanted = link_layer_to_string(ps->link_layer);
	struct reason *r;

	if (!ps->link_layer_at) {
		note_rule(id, "", OUTCOME_ABSENT, NULL, "no LinkLayer= is configured");
		return;
	}
	if (!port_is_active(p) && (ps->expect == EXPECT_ANY || ps->expect == EXPECT_DOWN)) {
		note_rule(
			id, "", OUTCOME_ABSENT, ps->link_layer_at, "it is down, as Expect= allows");
		return;
	}
	if (!p->have_facts || p->facts.link_layer == LINK_LAYER_UNKNOWN) {
		keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, ps->link_layer_at,
			"wanted %s, the link layer is not known", wanted);
		return;
	}
	if (p->facts.link_layer == ps->link_layer) {
		note_rule(id, "", OUTCOME_CLEAR, ps->link_layer_at, "found %s, wanted the same",
			wanted);
		return;
	}
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	STRSCPY(r->found, link_layer_to_string(p->facts.link_layer));
	STRSCPY(r->wanted, wanted);
	STRSCPY(r->remedy, "set the port type in the adapter's firmware (mlxconfig LINK_TYPE_P1=), "
			   "or LinkLayer=");
	note_rule(id, "", OUTCOME_RAISED, ps->link_layer_at, "found %s, wanted %s", r->found,
		r->wanted);
}

/* ---- lag-degraded ---- */

/* How long the legs are whole, the first time, before that is told. */
#define LAG_HOLD USEC_PER_SEC

/* The link monitor of a bond may be off or count delays; no carrier is no carrier. */
static bool leg_is_up(const struct netdev *leg)
{
	return leg->facts.carrier &&
	       (leg->facts.mii == BOND_MII_UNKNOWN || leg->facts.mii == BOND_MII_UP);
}

/* Its link is up, and the switch did not take it into the aggregate. */
static bool leg_is_aside(const struct netdev *bond, const struct netdev *leg)
{
	return bond->facts.lacp && leg->facts.leg == BOND_LEG_BACKUP;
}

struct legs {
	unsigned n, lost, aside;
	char text[REASON_TEXT_MAX]; /* "bond0: ens1f1 has no carrier", one for all */
};

static struct legs look_at_legs(const struct model *m, const struct netdev *bond)
{
	const struct netdev *leg = NULL;
	struct legs l = { 0 };
	const char *what;
	size_t n;

	n = (size_t)snprintf(l.text, sizeof(l.text), "%s:", bond->facts.name);
	while ((leg = model_next_leg(m, bond->facts.ifindex, leg))) {
		l.n++;
		if (!leg_is_up(leg)) {
			l.lost++;
			what = !(leg->facts.flags & IFF_UP) ? "is administratively down"
			       : leg->facts.carrier         ? "is not up for the bond"
							    : "has no carrier";
		} else if (leg_is_aside(bond, leg)) {
			l.aside++;
			what = "is not in the aggregate (LACP)";
		} else {
			continue;
		}
		if (n < sizeof(l.text))
			n += (size_t)snprintf(l.text + n, sizeof(l.text) - n, "%s %s %s",
				l.lost + l.aside > 1 ? "," : "", leg->facts.name, what);
	}
	return l;
}

static void judge_legs(struct making *mk, struct port *p, const struct legs *l, const char *bond)
{
	const enum reason_id id = REASON_LAG_DEGRADED;
	bool aside = hold_reached(mk, &p->not_aggregated, l->aside > 0, mk->degraded_delay);
	bool before = verdict_find(mk->old, id, "") != NULL;
	unsigned up = l->n - l->lost - l->aside;
	struct reason *r;

	if (l->lost == 0 && !aside) {
		if (before && !calm_is_over(mk, &p->lag)) {
			keep_reason(mk, id, "");
			note_rule(id, "", OUTCOME_RAISED, NULL,
				"%s: all %u legs are up, not long enough yet", bond, l->n);
		} else if (l->aside > 0) {
			note_rule(id, "", OUTCOME_PENDING, NULL, "%s", l->text);
		} else {
			note_rule(
				id, "", OUTCOME_CLEAR, NULL, "%s: all %u legs are up", bond, l->n);
		}
		return;
	}
	calm_broken(mk, &p->lag, id, LAG_HOLD);
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	STRSCPY(r->found, l->text);
	snprintf(r->wanted, sizeof(r->wanted), "%u legs up, %u %s", l->n, up,
		up == 1 ? "is" : "are");
	STRSCPY(r->remedy, l->lost ? "look at the cable and at the switch port of the leg"
				   : "is the switch port of the leg in the same LACP group? See "
				     "/proc/net/bonding");
	note_rule(id, "", OUTCOME_RAISED, NULL, "found %s, wanted %s", r->found, r->wanted);
}

static void judge_lag(struct making *mk, const struct model *m, struct port *p)
{
	const enum reason_id id = REASON_LAG_DEGRADED;
	const struct netdev *bond = netdev_bond(m, port_netdev(m, p));
	struct legs legs;

	if (p->facts.link_layer != LINK_LAYER_ETHERNET || !bond) {
		note_rule(id, "", OUTCOME_ABSENT, NULL, "it is not on a bond");
		return;
	}
	if (!port_is_fresh(p)) {
		keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, NULL, "the port's state is not known");
		return;
	}
	/* Then port-down says what there is to say. */
	if (!port_is_active(p) || !(bond->facts.flags & IFF_UP)) {
		p->not_aggregated = (struct hold){ 0 };
		note_rule(id, "", OUTCOME_ABSENT, NULL, "%s is not up", bond->facts.name);
		return;
	}
	legs = look_at_legs(m, bond);
	judge_legs(mk, p, &legs, bond->facts.name);
}

/* ---- all of them ---- */

void judge_link(
	struct making *mk, const struct model *m, struct port *p, const struct port_settings *ps)
{
	static const char because[] = "the port is ignored";

	if (mk->v.health == HEALTH_IGNORED) {
		note_rule(REASON_PORT_INCONSISTENT, "", OUTCOME_ABSENT, NULL, because);
		ignore_rate(p, because);
		note_rule(REASON_LAG_DEGRADED, "", OUTCOME_ABSENT, NULL, because);
	} else {
		judge_inconsistent(mk, p);
		judge_rate(mk, m, p, ps);
		judge_lag(mk, m, p);
	}
	judge_link_layer(mk, p, ps);
}
