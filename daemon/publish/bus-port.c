/* SPDX-License-Identifier: MIT */
/* org.rdmad1.Port at /org/rdmad1/port/dINDEXpNUMBER. */
#include <errno.h>

#include "bus-internal.h"

static int get_property(sd_bus *conn, const char *path, const char *interface, const char *property,
	sd_bus_message *reply, void *user, sd_bus_error *error)
{
	const struct field *f = field_find(port_fields, property);
	const struct port *p = user;
	struct subject s = { .device = p->device, .port = p };

	return f ? bus_append_field(reply, f, &s) : -ENOENT;
}

static const sd_bus_vtable port_vtable[] = {
	SD_BUS_VTABLE_START(0),
	CONST("Device", "o"),
	CONST("Number", "u"),
	CHANGES("LinkLayer", "s"),
	CHANGES("PortState", "s"),
	CHANGES("PhysState", "s"),
	CHANGES("Rate", "t"),
	CHANGES("Width", "s"),
	CHANGES("Speed", "s"),
	CHANGES("ActiveMtu", "u"),
	CHANGES("Lid", "u"),
	CHANGES("SmLid", "u"),
	CHANGES("NetDevice", "s"),
	CHANGES("NetDeviceIndex", "u"),
	CHANGES("UmadNode", "s"),
	CHANGES("Group", "s"),
	CHANGES("Required", "b"),
	CHANGES("HealthState", "s"),
	CHANGES("HealthSince", "t"),
	CHANGES("Reasons", "aa{sv}"),
	CHANGES("IgnoredBecause", "s"),
	CHANGES("FlapCount", "t"),
	CHANGES("DownSince", "t"),
	CHANGES("ProbeState", "s"),
	QUIET("LastProbe", "t"),
	BY_NAME("Gids", "aa{sv}"),
	SD_BUS_VTABLE_END,
};

static int find(sd_bus *conn, const char *path, const char *interface, void *user, void **ret_found,
	sd_bus_error *error)
{
	struct bus *b = user;
	uint32_t index, number;
	struct device *d;
	struct port *p;

	if (!bus_parse_path(path, &index, &number))
		return 0;
	d = model_device_by_index(b->callbacks->context(b->user)->model, index);
	p = d ? device_port(d, number) : NULL;
	if (!p)
		return 0;
	*ret_found = p;
	return 1;
}

static int enumerate(
	sd_bus *conn, const char *prefix, void *user, char ***ret_nodes, sd_bus_error *error)
{
	struct bus *b = user;

	return bus_list_paths(b->callbacks->context(b->user)->model, true, ret_nodes);
}

int bus_port_add(struct bus *b)
{
	int r;

	r = sd_bus_add_fallback_vtable(
		b->conn, NULL, BUS_PORT_PREFIX, BUS_PORT_INTERFACE, port_vtable, find, b);
	if (r < 0)
		return r;
	return sd_bus_add_node_enumerator(b->conn, NULL, BUS_PORT_PREFIX, enumerate, b);
}
