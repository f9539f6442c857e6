/* SPDX-License-Identifier: MIT */
/* org.rdmad1.Device at /org/rdmad1/device/dINDEX. */
#include <errno.h>

#include "bus-internal.h"

static int get_property(sd_bus *conn, const char *path, const char *interface, const char *property,
	sd_bus_message *reply, void *user, sd_bus_error *error)
{
	const struct field *f = field_find(device_fields, property);
	struct subject s = { .device = user };

	return f ? bus_append_field(reply, f, &s) : -ENOENT;
}

static const sd_bus_vtable device_vtable[] = {
	SD_BUS_VTABLE_START(0),
	CONST("Index", "u"),
	CHANGES("Name", "s"),
	CHANGES("NodeGuid", "s"),
	CHANGES("SysImageGuid", "s"),
	CHANGES("NodeType", "s"),
	CHANGES("Driver", "s"),
	CHANGES("PciAddress", "s"),
	CHANGES("Adapter", "s"),
	CHANGES("NumaNode", "u"),
	CHANGES("FirmwareVersion", "s"),
	CHANGES("BoardId", "s"),
	CHANGES("HcaType", "s"),
	CHANGES("HardwareRevision", "s"),
	CHANGES("NodeDescription", "s"),
	CHANGES("UverbsNode", "s"),
	CHANGES("PhysicalFunction", "s"),
	CHANGES("LocalCpus", "s"),
	CHANGES("Gpu", "s"),
	CHANGES("GpuHops", "u"),
	CHANGES("HealthState", "s"),
	CHANGES("HealthSince", "t"),
	CHANGES("Reasons", "aa{sv}"),
	CHANGES("IgnoredBecause", "s"),
	CHANGES("ReleasedUntil", "t"),
	CHANGES("ReleasedBy", "s"),
	CHANGES("SetupState", "s"),
	SD_BUS_VTABLE_END,
};

static int find(sd_bus *conn, const char *path, const char *interface, void *user, void **ret_found,
	sd_bus_error *error)
{
	struct bus *b = user;
	uint32_t index;
	struct device *d;

	if (!bus_parse_path(path, &index, NULL))
		return 0;
	d = model_device_by_index(b->callbacks->context(b->user)->model, index);
	if (!d)
		return 0;
	*ret_found = d;
	return 1;
}

static int enumerate(
	sd_bus *conn, const char *prefix, void *user, char ***ret_nodes, sd_bus_error *error)
{
	struct bus *b = user;

	return bus_list_paths(b->callbacks->context(b->user)->model, false, ret_nodes);
}

int bus_device_add(struct bus *b)
{
	int r;

	r = sd_bus_add_fallback_vtable(
		b->conn, NULL, BUS_DEVICE_PREFIX, BUS_DEVICE_INTERFACE, device_vtable, find, b);
	if (r < 0)
		return r;
	return sd_bus_add_node_enumerator(b->conn, NULL, BUS_DEVICE_PREFIX, enumerate, b);
}
