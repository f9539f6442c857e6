/* SPDX-License-Identifier: MIT */
/* Devices, those that are here and those that are missed. */
#include <errno.h>
#include <time.h>

#include "absence.h"
#include "judge-counters.h"
#include "judge-hardware.h"
#include "macros.h"
#include "making.h"
#include "notes.h"

static bool device_required(const struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].required)
			return true;
	return false;
}

static void judge_unresponsive(struct making *mk, const struct device *d, const struct config *c)
{
	usec_t fails_at = usec_add(d->silent_since.mono, c->unresponsive_usec);
	bool fails = device_required(d) && mk->now.mono >= fails_at;
	struct reason *r = raise_reason(
		mk, REASON_DEVICE_UNRESPONSIVE, fails ? SEVERITY_FAILED : SEVERITY_UNKNOWN, "");
	char span[TIMESPAN_MAX];

	if (!fails && device_required(d))
		recheck_at(mk, fails_at);
	if (!r)
		return;
	snprintf(r->found, sizeof(r->found), "no answer for %s",
		timespan_format(span, sizeof(span), usec_sub(mk->now.mono, d->silent_since.mono)));
	snprintf(r->wanted, sizeof(r->wanted), "an answer within %s",
		timespan_format(span, sizeof(span), c->probe_timeout_usec));
	STRSCPY(r->remedy,
		"driver or firmware hangs: see journalctl -k; a reset or a power cycle may "
		"be needed");
}

static void judge_no_events(struct making *mk, const struct device *d)
{
	struct reason *r = raise_reason(mk, REASON_ASYNC_EVENTS_UNAVAILABLE, SEVERITY_NOTICE, "");

	if (!r)
		return;
	if (d->events_error == EVENTS_WOULD_PIN)
		STRSCPY(r->found, "no verbs context: it would pin the driver's module");
	else
		snprintf(r->found, sizeof(r->found), "no verbs context: %s",
			strerror(-d->events_error));
	STRSCPY(r->wanted, "verbs async events");
	STRSCPY(r->remedy,
		"none needed: watched by netlink and reads (Monitor=reads silences this)");
}

/* Ports are read all the same; what is shown of the rest is as old as this says. */
static void judge_slow(struct making *mk, const struct device *d)
{
	struct reason *r = raise_reason(mk, REASON_COUNTERS_UNAVAILABLE, SEVERITY_NOTICE, "");

	if (!r)
		return;
	r->since = d->slow_since;
	STRSCPY(r->found, "no answer to a reading of counters, tables or details");
	STRSCPY(r->wanted, "an answer within ProbeTimeoutSec=");
	STRSCPY(r->remedy, "the firmware is slow or hangs: see journalctl -k; ports are watched "
			   "all the same");
}

static void judge_fatal(struct making *mk)
{
	struct reason *r = raise_reason(mk, REASON_DEVICE_FATAL, SEVERITY_FAILED, "");

	if (!r)
		return;
	STRSCPY(r->found, "DEVICE_FATAL event, and the device is still here");
	STRSCPY(r->wanted, "no fatal error");
	STRSCPY(r->remedy, "reload the driver or reset the adapter; see journalctl -k");
}

bool judge_device(struct device *d, const struct config *c, struct timepoint now,
	struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk;
	enum monitor_mode monitor = config_device_settings(c, &d->facts).monitor;

	making_begin(&mk, &d->verdict, now);
	mk.degraded_delay = c->degraded_delay_usec;
	mk.v.health = HEALTH_IGNORED;
	for (size_t i = 0; i < d->n_ports; i++)
		mk.v.health = health_worst(mk.v.health, d->ports[i].verdict.health);

	if (d->release.until.mono) {
		released_text(mk.v.ignored_because, sizeof(mk.v.ignored_because), &d->release);
		return making_end(&mk, &d->verdict, ret_old, ret_recheck);
	}
	if (monitor == MONITOR_NO) {
		STRSCPY(mk.v.ignored_because, "not watched: Monitor=no");
		return making_end(&mk, &d->verdict, ret_old, ret_recheck);
	}
	if (mk.v.health == HEALTH_IGNORED)
		STRSCPY(mk.v.ignored_because,
			d->n_ports ? "none of its ports is expected" : "it has no ports");
	if (d->probe_state == PROBE_SILENT)
		judge_unresponsive(&mk, d, c);
	if (d->fatal)
		judge_fatal(&mk);
	if (d->slow_since.mono && d->probe_state != PROBE_SILENT)
		judge_slow(&mk, d);
	/* What a software link could say by events, its netdev says by rtnetlink: nothing lacks. */
	if (d->events_error < 0 || (d->events_error && d->facts.link_type == LINK_TYPE_NONE))
		judge_no_events(&mk, d);
	judge_pcie(&mk, d);
	judge_devlink(&mk, d);
	judge_uverbs(&mk, d);
	if (mk.v.health != HEALTH_IGNORED)
		judge_device_counters(&mk, d, c);
	if (mk.v.health != HEALTH_IGNORED)
		mk.v.ignored_because[0] = '\0';
	note_device_rules(&mk, d, c);
	return making_end(&mk, &d->verdict, ret_old, ret_recheck);
}

/* Where a missing device is when it is not lost; NULL when it is. */
static const char *lent_to(const struct missing *x)
{
	if (!x->placed)
		return NULL;
	switch (x->elsewhere) {
	case ELSEWHERE_NETNS:
		return "it is in another network namespace";
	case ELSEWHERE_VFIO:
		return "its PCI function is lent to a virtual machine (vfio)";
	case ELSEWHERE_UNBOUND:
	case ELSEWHERE_NOT_PROBED:
	case _ELSEWHERE_KIND_MAX:
		break;
	}
	return NULL;
}

/* "0000:3b:00.0" and "0000:3b:00.1": functions of one adapter. */
static bool same_slot(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n && n == strcspn(b, ".") && memcmp(a, b, n) == 0;
}

/* A device of the same adapter that carries this bond; NULL none. */
static const struct device *bond_carrier(
	const struct model *m, const struct netdev *bond, const char *pci_address)
{
	for (const struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (same_slot(d->facts.pci_address, pci_address) &&
				netdev_bond(m, port_netdev(m, &d->ports[i])) == bond)
				return d;
	return NULL;
}

/*
 * RoCE on a bond of the two ports of an adapter: there is one RDMA device for both functions, and the
 * second one's is gone (mlx5: lag/lag.c). Returns whether that is so, and why it is not missed.
 */
static bool is_in_lag(const struct model *m, const struct missing *x, char *buf, size_t size)
{
	for (size_t i = 0; i < x->n_ports; i++) {
		const struct netdev *n =
			x->ports[i].netdev[0] ? model_netdev_by_name(m, x->ports[i].netdev) : NULL;
		const struct netdev *bond = n && netdev_is_bond_leg(n) ? netdev_bond(m, n) : NULL;
		const struct device *d = bond ? bond_carrier(m, bond, x->pci_address) : NULL;

		if (!d)
			continue;
		snprintf(buf, size, "its port is a leg of %s, which %s carries", bond->facts.name,
			d->facts.name);
		return true;
	}
	return false;
}

/* It went while nobody watched: the condition is as old as that. */
static void note_last_seen(struct reason *r, const struct missing *x)
{
	time_t t = (time_t)(x->since.real / USEC_PER_SEC);
	size_t n = strlen(r->found);
	struct tm tm;

	r->since.real = x->since.real;
	if (gmtime_r(&t, &tm))
		strftime(r->found + n, sizeof(r->found) - n, ", last seen %Y-%m-%d %H:%M:%S UTC",
			&tm);
}

static const char *where_is(const struct missing *x)
{
	if (!x->placed)
		return "not there";
	return x->elsewhere == ELSEWHERE_NOT_PROBED
		       ? "its PCI function has a driver and no RDMA device"
		       : "its PCI function has no driver";
}

bool judge_missing(const struct model *m, struct missing *x, const struct config *c,
	struct timepoint now, struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk;
	usec_t due = usec_add(x->since.mono, x->seen ? c->missing_delay_usec : c->grace_usec);
	char guid[GUID_STRING_MAX], because[REASON_TEXT_MAX];
	const char *lent = lent_to(x);
	struct device_facts f;
	struct reason *r;

	making_begin(&mk, &x->verdict, now);
	if (x->release.until.mono > now.mono) {
		released_text(because, sizeof(because), &x->release);
		recheck_at(&mk, x->release.until.mono);
		return making_ignore(&mk, &x->verdict, ret_old, ret_recheck, because);
	}
	if (lent)
		return making_ignore(&mk, &x->verdict, ret_old, ret_recheck, lent);
	f = absence_facts(x);
	if (config_device_settings(c, &f).expect != EXPECT_UP &&
		is_in_lag(m, x, because, sizeof(because))) {
		x->since.mono = now.mono; /* when the bond goes, it has time to come back */
		return making_ignore(&mk, &x->verdict, ret_old, ret_recheck, because);
	}
	if (now.mono < due) {
		mk.v.health = x->seen ? HEALTH_UNKNOWN : HEALTH_STARTING;
		recheck_at(&mk, due);
		note_missing_rules(&mk, x, c);
		return making_end(&mk, &x->verdict, ret_old, ret_recheck);
	}
	mk.v.health = HEALTH_OK;
	r = raise_reason(
		&mk, REASON_DEVICE_MISSING, x->required ? SEVERITY_FAILED : SEVERITY_NOTICE, "");
	if (r) {
		guid_format(guid, x->node_guid);
		snprintf(r->found, sizeof(r->found), "%s%s%s%s%s", where_is(x),
			guid[0] ? ", GUID " : "", guid, x->pci_address[0] ? ", PCI " : "",
			x->pci_address);
		if (x->remembered)
			note_last_seen(r, x);
		STRSCPY(r->wanted, "present");
		STRSCPY(r->remedy, x->remembered ? "is the adapter seated and its driver loaded? "
						   "lspci, rdma dev; if it was taken out for "
						   "good: rdmactl baseline drop"
				   : x->seen
					   ? "see journalctl -k for why it went; reload its driver "
					     "or reseat the adapter"
					   : "is the adapter seated and its driver loaded? lspci, "
					     "rdma dev; else remove Expect=yes");
	}
	note_missing_rules(&mk, x, c);
	return making_end(&mk, &x->verdict, ret_old, ret_recheck);
}
