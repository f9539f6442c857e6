/* SPDX-License-Identifier: MIT */
/* The lists within a device or a port that only JSON has: PCIe links, P_Keys, bond legs, flow control. */
#include "describe-internal.h"

#include <errno.h>

static json_t *json_known(uint64_t number, bool known)
{
	return known ? json_number(number) : json_null();
}

/* 1 yes, 0 no, -1 unknown. */
static json_t *json_tristate(int32_t value)
{
	return value < 0 ? json_null() : json_boolean(value);
}

void describe_put_device_lists(struct builder *b, json_t *o, const struct device *d)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i < d->details.n_pcie; i++) {
		const struct pcie_hop *hop = &d->details.pcie[i];
		json_t *link = json_object();

		put(b, link, "Address", json_text(hop->address));
		put(b, link, "Speed", json_known(hop->speed_mtps, hop->speed_mtps > 0));
		put(b, link, "Width", json_known(hop->width, hop->width > 0));
		put(b, link, "MaxSpeed", json_known(hop->max_speed_mtps, hop->max_speed_mtps > 0));
		put(b, link, "MaxWidth", json_known(hop->max_width, hop->max_width > 0));
		append(b, links, link);
	}
	/* Here, since D-Bus has no boolean that may be unknown. */
	put(b, o, "VirtualFunction", json_tristate(d->details.is_vf));
	put(b, o, "PcieLinks", links);
}

/* ---- tables of a port ---- */

/* The kernel makes no directory of a table without entries, and iWARP has no P_Keys. */
static bool knows_pkeys(const struct port *p)
{
	return p->tables.pkeys_known ||
	       (p->tables.facts.pkey_error == -ENOENT && streq(p->device->facts.protocol, "iw"));
}

static json_t *json_pkeys(struct builder *b, const struct port_tables *t)
{
	json_t *array = json_array();
	char text[8];

	for (size_t i = 0; i < t->n_pkeys; i++) {
		json_t *o;

		if (t->pkeys[i] == 0)
			continue;
		o = json_object();
		snprintf(text, sizeof(text), "0x%04x", t->pkeys[i]);
		put(b, o, "Index", json_number(i));
		put(b, o, "PKey", json_text(text));
		append(b, array, o);
	}
	return array;
}

/* ---- the netdev of a port ---- */

static json_t *json_numbers(struct builder *b, const int8_t numbers[QOS_CLASSES])
{
	json_t *array = json_array();

	for (size_t i = 0; i < QOS_CLASSES; i++)
		append(b, array, numbers[i] < 0 ? json_null() : json_integer(numbers[i]));
	return array;
}

static json_t *json_priorities(struct builder *b, int32_t mask)
{
	json_t *array;

	if (mask < 0)
		return json_null();
	array = json_array();
	for (int i = 0; i < QOS_CLASSES; i++)
		if (mask & 1 << i)
			append(b, array, json_integer(i));
	return array;
}

static json_t *json_qos(struct builder *b, const struct qos_facts *f)
{
	json_t *o = json_object();

	put(b, o, "Trust", json_text(qos_trust_to_string(f->trust)));
	put(b, o, "DcbxOwner", json_text(dcbx_owner_to_string(f->dcbx)));
	put(b, o, "Pfc", json_priorities(b, f->pfc));
	put(b, o, "PriorityClass", json_numbers(b, f->prio_class));
	put(b, o, "ClassBandwidth", json_numbers(b, f->class_bandwidth));
	put(b, o, "ClassAlgorithm", json_numbers(b, f->class_algorithm));
	put(b, o, "PauseAutoneg", json_tristate(f->pause_autoneg));
	put(b, o, "PauseRx", json_tristate(f->pause_rx));
	put(b, o, "PauseTx", json_tristate(f->pause_tx));
	put(b, o, "PauseTxFrames",
		json_known(f->pause_tx_frames, f->pause_tx_frames != UINT64_MAX));
	put(b, o, "PauseRxFrames",
		json_known(f->pause_rx_frames, f->pause_rx_frames != UINT64_MAX));
	return o;
}

static json_t *json_legs(struct builder *b, const struct model *m, const struct netdev *bond)
{
	const struct netdev *leg = NULL;
	json_t *array = json_array();

	while (bond && (leg = model_next_leg(m, bond->facts.ifindex, leg))) {
		json_t *o = json_object();

		put(b, o, "Name", json_text(leg->facts.name));
		put(b, o, "State", json_text(bond_leg_to_string(leg->facts.leg)));
		put(b, o, "Carrier", json_boolean(leg->facts.carrier));
		append(b, array, o);
	}
	return array;
}

void describe_put_port_lists(
	struct builder *b, json_t *o, const struct model *m, const struct port *p)
{
	const struct port_tables *t = &p->tables;
	const struct netdev *n = port_netdev(m, p), *bond = netdev_bond(m, n);

	put(b, o, "PKeys", knows_pkeys(p) ? json_pkeys(b, t) : json_null());
	put(b, o, "Bond", bond ? json_text(bond->facts.name) : json_null());
	put(b, o, "BondLegs", json_legs(b, m, bond));
	put(b, o, "Qos", n && n->have_qos ? json_qos(b, &n->qos) : json_null());
}
