/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#include "down-why.h"
#include "expectation.h"
#include "link-why.h"
#include "macros.h"

/* "init", or with_phys "init, physical state Polling". Returns its length. */
static size_t found_state(struct reason *r, const struct port *p, bool with_phys)
{
	char state[STATE_WORD_MAX], phys[STATE_WORD_MAX];
	const char *word = phys_state_word(p->facts.phys_state, phys);

	return (size_t)snprintf(r->found, sizeof(r->found), "%s%s%s",
		port_state_word(p->facts.state, state), with_phys ? ", physical state " : "",
		!with_phys ? ""
		: word     ? word
			   : "unknown");
}

/* That, and what the format makes of the rest. */
_printf_(4, 5) static void found(
	struct reason *r, const struct port *p, bool with_phys, const char *format, ...)
{
	size_t n = found_state(r, p, with_phys);
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->found + n, sizeof(r->found) - n, format, ap);
	va_end(ap);
}

static bool down_by_netdev(struct reason *r, const struct port *p, const struct netdev *n)
{
	if (!netdev_disabled(n))
		return false;
	found(r, p, false, ", network interface %s is administratively down", n->facts.name);
	snprintf(r->remedy, sizeof(r->remedy), "disabled here: ip link set %s up", n->facts.name);
	return true;
}

/* The kernel holds a port of iWARP in INIT while its netdev has no IPv4 address (iw_query_port()). */
static bool down_without_address(struct reason *r, const struct port *p, const struct netdev *n)
{
	if (!n || !n->facts.carrier || p->facts.state != PORT_STATE_INIT ||
		!streq(p->device->facts.node_type, "RNIC"))
		return false;
	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].facts.family == AF_INET)
			return false;
	found(r, p, false, ", network interface %s has no IPv4 address", n->facts.name);
	snprintf(r->remedy, sizeof(r->remedy),
		"give it one: a port of iWARP needs it (ip address add ... dev %s)", n->facts.name);
	return true;
}

static void policy_remedy(struct reason *r, const struct port *p, const struct vf_policy *v)
{
	const char *physfn = p->device->details.physfn;
	bool ib = p->facts.link_layer == LINK_LAYER_INFINIBAND;

	if (v->link == VF_LINK_DISABLE && v->netdev[0])
		snprintf(r->remedy, sizeof(r->remedy),
			"let it follow: ip link set %s vf %d state auto", v->netdev, v->vf);
	else if (v->link == VF_LINK_DISABLE)
		snprintf(r->remedy, sizeof(r->remedy),
			"let it follow: echo Follow >/sys/bus/pci/devices/%s/sriov/%d/policy",
			physfn, v->vf);
	else if (v->link == VF_LINK_AUTO)
		snprintf(r->remedy, sizeof(r->remedy), "look at the port of %s, which it follows%s",
			physfn[0] ? physfn : "its adapter", ib ? ", and at its GUIDs" : "");
	else
		snprintf(r->remedy, sizeof(r->remedy),
			"a virtual function whose port is set up: %ssee journalctl -k",
			ib ? "look at its GUIDs and at the subnet manager, and " : "");
}

/* What the physical function lets a virtual one do. */
static bool down_by_policy(struct reason *r, const struct port *p, const struct netdev *n)
{
	static const char *const words[] = {
		[VF_LINK_AUTO] = "follows its port",
		[VF_LINK_ENABLE] = "is set up",
		[VF_LINK_DISABLE] = "is set down",
	};
	const struct device *d = p->device;
	const struct vf_policy *v = &d->vf_policy;

	if (!device_is_vf(d) || !d->have_vf_policy || v->link == VF_LINK_UNKNOWN)
		return false;
	found(r, p, true, "; VF %d of %s %s", v->vf,
		d->details.physfn[0] ? d->details.physfn : "its adapter", words[v->link]);
	policy_remedy(r, p, v);
	return true;
}

/* The driver's own words. */
static bool down_by_link(struct reason *r, const struct port *p, const struct netdev *n)
{
	const char *remedy;
	char why[96];

	if (!n || !n->have_link || n->facts.carrier ||
		!link_why(&n->link, why, sizeof(why), &remedy))
		return false;
	found(r, p, true, ", %s: %s", n->facts.name, why);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
	return true;
}

/* Where to look first while nobody says why. */
static void guess_remedy(struct reason *r, const struct port *p, const struct netdev *n)
{
	const char *physfn = p->device->details.physfn;

	if (device_is_vf(p->device))
		snprintf(r->remedy, sizeof(r->remedy),
			"a virtual function: look at the physical one%s%s, and at the policy%s "
			"that it "
			"sets (ip link set PF vf N state auto)",
			physfn[0] ? " " : "", physfn,
			p->facts.link_layer == LINK_LAYER_INFINIBAND ? " and GUID" : "");
	else if (p->facts.phys_state == PHYS_STATE_DISABLED)
		STRSCPY(r->remedy, "the port is disabled here: enable it (IPoIB or Ethernet "
				   "interface up, or ibportstate enable)");
	else if (port_lacks_sm(p))
		STRSCPY(r->remedy,
			"the link is back: a subnet manager has GraceSec= to make it active");
	else if (p->facts.phys_state == PHYS_STATE_LINKUP)
		STRSCPY(r->remedy,
			"there is a signal, and the driver has not brought the port up: see "
			"journalctl -k");
	else if (n)
		snprintf(r->remedy, sizeof(r->remedy),
			"no signal from the peer: look at the cable and at the other end of %s",
			n->facts.name);
	else
		STRSCPY(r->remedy,
			"no signal from the peer: look at the cable and at the switch port");
}

void down_explain(struct reason *r, const struct port *p, const struct netdev *n)
{
	static bool (*const known[])(
		struct reason *, const struct port *, const struct netdev *) = {
		down_by_netdev,
		down_without_address,
		down_by_policy,
		down_by_link,
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		r->explained = known[i](r, p, n);
		if (r->explained)
			return;
	}
	found_state(r, p, true);
	guess_remedy(r, p, n);
}
