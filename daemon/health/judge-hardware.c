/* SPDX-License-Identifier: MIT */
#include "judge-hardware.h"

#include "macros.h"

/* ---- pcie-degraded ---- */

/* Link power management lowers the speed of an idle device: one reading may have met that. */
#define SLOW_READS 2

static const char *pcie_not_judged(const struct making *mk, const struct device *d)
{
	if (mk->v.health == HEALTH_IGNORED)
		return "the device is ignored";
	if (!d->have_details)
		return "where it is plugged in is not known";
	if (d->details.is_vf == 1)
		return "a virtual function: judged at the physical one";
	return NULL;
}

void judge_pcie(struct making *mk, const struct device *d)
{
	const enum reason_id id = REASON_PCIE_DEGRADED;
	const char *why_not = pcie_not_judged(mk, d);
	char found[PCIE_LINK_MAX], wanted[PCIE_LINK_MAX], more[32] = "";
	struct pcie_link s;
	struct reason *r;
	unsigned slow;

	if (why_not || !pcie_link_at(&d->details, 0, &s)) {
		/* It was there, and cannot be read now. */
		if (!why_not && d->details.n_pcie == 0)
			keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, NULL, "%s",
			why_not ? why_not : "its PCIe link is not known");
		return;
	}
	slow = pcie_slow_links(&d->details, &s);
	pcie_link_format(found, s.speed_mtps, s.width);
	pcie_link_format(wanted, s.max_speed_mtps ? s.max_speed_mtps : s.speed_mtps,
		s.max_width ? s.max_width : s.width);
	if (d->pcie_slow_reads < SLOW_READS) {
		note_rule(id, "", slow ? OUTCOME_PENDING : OUTCOME_CLEAR, NULL,
			"found %s between %s and %s, both can do %s", found, s.upper->address,
			s.lower->address, wanted);
		return;
	}
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	if (slow > 1)
		snprintf(more, sizeof(more), ", and %u more", slow - 1);
	snprintf(r->found, sizeof(r->found), "%s between %s and %s%s", found, s.upper->address,
		s.lower->address, more);
	snprintf(r->wanted, sizeof(r->wanted), "%s, which both ends can do", wanted);
	STRSCPY(r->remedy, "reseat the adapter or its riser; look at the slot's settings in the "
			   "firmware setup, and lspci -vv");
	note_rule(id, "", OUTCOME_RAISED, NULL, "found %s, wanted %s, for %u readings", r->found,
		r->wanted, d->pcie_slow_reads);
}

/* ---- device-nodes-missing: uverbs ---- */

void judge_uverbs(struct making *mk, const struct device *d)
{
	const enum reason_id id = REASON_DEVICE_NODES_MISSING;
	usec_t due = usec_add(d->first_seen.mono, mk->degraded_delay);
	char span[TIMESPAN_MAX];
	struct reason *r;

	if (mk->v.health == HEALTH_IGNORED) {
		note_rule(id, "", OUTCOME_ABSENT, NULL, "the device is ignored");
		return;
	}
	if (d->facts.uverbs[0]) {
		note_rule(id, "", OUTCOME_CLEAR, NULL, "uverbs node %s", d->facts.uverbs);
		return;
	}
	if (!d->facts.no_uverbs) {
		keep_reason(mk, id, "");
		note_rule(id, "", OUTCOME_ABSENT, NULL, "its uverbs node is not known");
		return;
	}
	if (mk->now.mono < due) {
		recheck_at(mk, due);
		note_rule(id, "", OUTCOME_PENDING, NULL, "no uverbs node; it counts after %s",
			timespan_format(span, sizeof(span), mk->degraded_delay));
		return;
	}
	r = raise_reason(mk, id, SEVERITY_DEGRADED, "");
	if (!r)
		return;
	STRSCPY(r->found, "no uverbs node");
	STRSCPY(r->wanted, "/dev/infiniband/uverbsN");
	STRSCPY(r->remedy, "programs cannot use the device: modprobe ib_uverbs; see journalctl -k");
	note_rule(id, "", OUTCOME_RAISED, NULL, "found %s, wanted %s", r->found, r->wanted);
}

/* ---- device-not-probed ---- */

static bool device_is_at(const struct model *m, const char *pci_address)
{
	for (const struct device *d = m->devices; d; d = d->next)
		if (streq(d->facts.pci_address, pci_address))
			return true;
	return false;
}

static bool is_missed(const struct model *m, const char *pci_address)
{
	for (const struct missing *x = m->missing; x; x = x->next)
		if (streq(x->pci_address, pci_address))
			return true;
	return false;
}

/* Why it is nothing to tell; NULL: it is. */
static const char *not_told(const struct model *m, const struct config *c, const struct unprobed *u,
	const struct device_settings *ds)
{
	const struct elsewhere_facts *f = &u->facts;

	if (f->is_vf == 1)
		return "a virtual function";
	if (device_is_at(m, f->pci_address))
		return "it has an RDMA device";
	if (f->driver[0] && config_module_denied(c, f->driver))
		return "its driver is denied (Deny=)";
	if (ds->monitor == MONITOR_NO)
		return "not watched: Monitor=no";
	if (ds->expect == EXPECT_ANY)
		return "not expected: Expect=no";
	if (u->switched == 0)
		return "its RDMA part is switched off (devlink parameter enable_rdma)";
	if (is_missed(m, f->pci_address))
		return "device-missing tells it";
	return NULL;
}

static void judge_function(
	struct making *mk, const struct model *m, const struct config *c, struct unprobed *u)
{
	const enum reason_id id = REASON_DEVICE_NOT_PROBED;
	const struct elsewhere_facts *f = &u->facts;
	struct device_facts facts = { .numa_node = -1 };
	struct device_settings ds;
	const char *why_not;
	struct reason *r;

	/* The parts of a selector that a function without a device can match. */
	STRSCPY(facts.pci_address, f->pci_address);
	STRSCPY(facts.driver, f->driver);
	ds = config_device_settings(c, &facts);
	why_not = not_told(m, c, u, &ds);
	if (why_not) {
		hold_reached(mk, &u->hold, false, 0);
		note_rule(id, f->pci_address, OUTCOME_ABSENT, NULL, "%s", why_not);
		return;
	}
	/* A driver is loaded anew, or comes late. */
	if (!hold_reached(mk, &u->hold, true, c->missing_delay_usec)) {
		note_rule(id, f->pci_address, OUTCOME_PENDING, CONFIG_ORIGIN(c, missing_delay_usec),
			"no RDMA device; it counts after MissingDelaySec=");
		return;
	}
	r = raise_reason(
		mk, id, ds.expect == EXPECT_UP ? SEVERITY_FAILED : SEVERITY_NOTICE, f->pci_address);
	if (!r)
		return;
	if (f->kind == ELSEWHERE_UNBOUND)
		snprintf(r->found, sizeof(r->found), "RDMA adapter without a driver%s%s%s",
			f->driver[0] ? " (" : "", f->driver, f->driver[0] ? ")" : "");
	else
		snprintf(r->found, sizeof(r->found),
			"InfiniBand adapter with driver %s and no RDMA device", f->driver);
	STRSCPY(r->wanted, "an RDMA device");
	snprintf(r->remedy, sizeof(r->remedy),
		f->kind == ELSEWHERE_UNBOUND
			? "load its driver%s%s; see lspci -k and journalctl -k"
			: "is the RDMA part of %s%s loaded (mlx5_ib, mlx4_ib)? See journalctl -k",
		f->kind == ELSEWHERE_UNBOUND && f->driver[0] ? ": modprobe " : "", f->driver);
	note_rule(id, f->pci_address, OUTCOME_RAISED, ds.expect_origin, "found %s, wanted %s",
		r->found, r->wanted);
}

void judge_not_probed(struct making *mk, struct model *m, const struct config *c)
{
	if (m->n_unprobed == 0)
		note_rule(REASON_DEVICE_NOT_PROBED, "", OUTCOME_CLEAR, NULL,
			"no RDMA adapter is without an RDMA device");
	for (size_t i = 0; i < m->n_unprobed; i++)
		judge_function(mk, m, c, &m->unprobed[i]);
}
