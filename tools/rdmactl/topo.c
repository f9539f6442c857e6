/* SPDX-License-Identifier: MIT */
/*
 * rdmactl topo: where each port is in the host: the PCIe links up to the root, NUMA node, CPUs, the
 * nearest GPU, netdev, and the GIDs that programs are told by index.
 */
#include "topo.h"

#include "macros.h"
#include "output.h"
#include "text.h"

static bool is_link_local(const json_t *port, const json_t *gid)
{
	const char *layer = json_text(port, "LinkLayer"), *type = json_text(gid, "Type");
	const char *raw = json_text(gid, "Gid");

	/* On InfiniBand fe80::/64 is the subnet prefix that every fabric begins with. */
	if ((layer && streq(layer, "InfiniBand")) || (type && streq(type, "IB")))
		return false;
	return raw && strncmp(raw, "fe80:", 5) == 0;
}

static unsigned gid_rank(const json_t *gid)
{
	const char *type = json_text(gid, "Type");
	bool v2 = type && streq(type, "RoCE v2");

	if (!v2)
		return 2;
	return json_is_true(json_object_get(gid, "LinkLocal")) ? 1 : 0;
}

static uint64_t gid_index(const json_t *gid)
{
	uint64_t n;

	return json_number(gid, "Index", &n) ? n : UINT64_MAX;
}

static int by_use(const void *x, const void *y)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	unsigned ra = gid_rank(a), rb = gid_rank(b);
	uint64_t ia = gid_index(a), ib = gid_index(b);

	if (ra != rb)
		return ra < rb ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

json_t *topo_gids(const json_t *port)
{
	const json_t *gids = json_object_get(port, "Gids");
	size_t n = json_array_size(gids), have = 0;
	json_t **copies = calloc(n + 1, sizeof(*copies)), *list = json_array();

	for (size_t i = 0; copies && i < n; i++) {
		const json_t *gid = json_array_get(gids, i);

		if (!json_is_object(gid))
			continue;
		copies[have] = json_copy((json_t *)gid);
		json_object_set_new(
			copies[have], "LinkLocal", json_boolean(is_link_local(port, gid)));
		have++;
	}
	if (copies)
		qsort(copies, have, sizeof(*copies), by_use);
	for (size_t i = 0; i < have; i++)
		json_array_append_new(list, copies[i]);
	free(copies);
	return list;
}

/* What is known of a port, and of the device that it is on, in one object. */
static json_t *port_json(const struct object *p)
{
	static const char *const of_device[] = { "PciAddress", "NumaNode", "LocalCpus", "Gpu",
		"GpuHops", "UverbsNode", "VirtualFunction", "PhysicalFunction" };
	static const char *const of_port[] = { "LinkLayer", "NetDevice", "Bond", "BondLegs", "Qos",
		"PKeys", "UmadNode" };
	json_t *v = json_pack("{s:s, s:O}", "Object", p->name, "Device",
		json_or_null(json_object_get(p->device, "Name")));

	for (size_t i = 0; i < ARRAY_SIZE(of_device); i++)
		json_object_set(
			v, of_device[i], json_or_null(json_object_get(p->device, of_device[i])));
	json_object_set(v, "PcieLinks", json_or_null(json_object_get(p->device, "PcieLinks")));
	json_object_set_new(v, "PcieSegments", pcie_segments_json(p->device));
	for (size_t i = 0; i < ARRAY_SIZE(of_port); i++)
		json_object_set(v, of_port[i], json_or_null(json_object_get(p->json, of_port[i])));
	json_object_set_new(v, "Gids",
		json_is_array(json_object_get(p->json, "Gids")) ? topo_gids(p->json) : json_null());
	return v;
}

static void topo_json(const struct options *o, const struct source *s, const struct view *v)
{
	json_t *ports = json_array(), *all;

	for (size_t i = 0; i < v->n; i++)
		if (v->objects[i].kind == OBJECT_PORT)
			json_array_append_new(ports, port_json(&v->objects[i]));
	all = json_pack("{s:o, s:o}", "Daemon", source_daemon_json(s), "Ports", ports);
	output_json(o, all);
	json_decref(all);
}

int verb_topo(const struct options *o)
{
	_cleanup_(source_done) struct source s;
	_cleanup_(view_done) struct view v = { 0 };
	int r;

	r = view_load(o, 0, &s, &v);
	if (r != 0)
		return r;
	output_open(o);
	r = view_exit_status(&s, &v, o);
	if (o->format != OUTPUT_TEXT)
		topo_json(o, &s, &v);
	else {
		source_note_file(&s);
		if (topo_print(o, &v) < 0) {
			output_error("Out of memory");
			r = EXIT_FAILED;
		}
	}
	return output_close(r);
}
