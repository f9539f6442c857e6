/* SPDX-License-Identifier: MIT */
#include "macros.h"
#include "selector.h"
#include "text.h"
#include "verify.h"
#include "view.h"

struct matching {
	const struct verification *v;
	json_t *found; /* what "verify_unmatched" returns */
};

/* ---- facts for selectors ---- */

static uint64_t parse_guid(const char *s)
{
	uint64_t guid = 0;

	for (; *s; s++)
		if (*s != ':')
			guid = guid << 4 |
			       (uint64_t)(*s <= '9' ? *s - '0' : (*s | 0x20) - 'a' + 10);
	return guid;
}

struct port_facts verify_port(const json_t *port, size_t nr)
{
	struct port_facts p;
	uint64_t number = nr + 1;
	int layer = link_layer_from_string(or_text(json_text(port, "LinkLayer"), ""));

	json_number(port, "Number", &number);
	p = port_facts_unknown(0, (uint32_t)number);
	if (layer > 0)
		p.link_layer = (enum link_layer)layer;
	STRSCPY(p.netdev, or_text(json_text(port, "NetDevice"), ""));
	return p;
}

struct device_facts verify_device(const json_t *device)
{
	struct device_facts f = { 0 };
	struct port_facts p = verify_port(json_array_get(json_object_get(device, "Ports"), 0), 0);

	STRSCPY(f.name, or_text(json_text(device, "Name"), ""));
	STRSCPY(f.pci_address, or_text(json_text(device, "PciAddress"), ""));
	STRSCPY(f.driver, or_text(json_text(device, "Driver"), ""));
	STRSCPY(f.board_id, or_text(json_text(device, "BoardId"), ""));
	f.node_guid = parse_guid(or_text(json_text(device, "NodeGuid"), ""));
	/* Not in the description; the first port knows. */
	if (p.link_layer != LINK_LAYER_UNKNOWN)
		STRSCPY(f.protocol, p.link_layer == LINK_LAYER_INFINIBAND ? "ib" : "roce");
	if (link_type_from_string(f.driver) > 0)
		STRSCPY(f.parent_netdev, p.netdev);
	return f;
}

static bool matches_device(const struct matching *m, const struct selector *s)
{
	const json_t *device;
	size_t i;

	json_array_foreach(m->v->devices.list, i, device)
	{
		struct device_facts f = verify_device(device);

		if (selector_match(s, &f, NULL))
			return true;
	}
	return false;
}

static bool matches_port(const struct matching *m, const struct selector *s)
{
	const json_t *device, *port;
	size_t i, j;

	json_array_foreach(m->v->devices.list, i, device)
	{
		struct device_facts f = verify_device(device);

		json_array_foreach(json_object_get(device, "Ports"), j, port)
		{
			struct port_facts p = verify_port(port, j);

			if (selector_match(s, &f, &p))
				return true;
		}
	}
	return false;
}

/* ---- counters: the names only, no driver is asked ---- */

static bool directory_has(const struct matching *m, const char *path, const char *glob)
{
	_cleanup_(strv_freep) char **names = host_list(&m->v->host, path);

	for (char **name = names; name && *name; name++)
		if (glob_match(glob, *name))
			return true;
	return false;
}

static bool device_has_counter(const struct matching *m, const char *device, const char *glob)
{
	static const char *const kinds[] = { "counters", "hw_counters", "counters_ext" };
	_cleanup_(strv_freep) char **ports = NULL;
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/hw_counters", device);
	if (directory_has(m, path, glob))
		return true;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports", device);
	ports = host_list(&m->v->host, path);
	for (char **port = ports; port && *port; port++)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%s/%s", device,
				*port, kinds[i]);
			if (directory_has(m, path, glob))
				return true;
		}
	return false;
}

static bool matches_counter(const struct matching *m, const char *glob)
{
	_cleanup_(strv_freep) char **devices = host_list(&m->v->host, "/sys/class/infiniband");

	/* Without a device nothing can be said about counters. */
	if (!devices || !devices[0])
		return true;
	for (char **d = devices; *d; d++)
		if (device_has_counter(m, *d, glob))
			return true;
	return false;
}

/* ---- the sections ---- */

static void unmatched(const struct matching *m, const char *kind, const char *argument,
	const struct config_origin *at, const char *what)
{
	_cleanup_(freep) char *section = NULL, *text = NULL;
	json_t *o = verify_place(at);

	if (asprintf(&section, "%s %s", kind, argument) < 0)
		section = NULL;
	if (asprintf(&text, "[%s %s] %s %s", kind, argument, what, m->v->where) < 0)
		text = NULL;
	json_object_set_new(o, "Section", json_string(or_text(section, kind)));
	json_object_set_new(o, "Text", json_string(or_text(text, what)));
	json_array_append_new(m->found, o);
}

static void check_netdev(const struct matching *m, const char *kind, const char *argument,
	const struct config_origin *at, const char *netdev)
{
	_cleanup_(freep) char *what = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/net/%s", netdev);
	if (host_exists(&m->v->host, path))
		return;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", netdev);
	if (asprintf(&what,
		    host_exists(&m->v->host, path)
			    ? "waits: %s is the name of an RDMA device, and of no network interface"
			    : "waits: there is no network interface %s",
		    netdev) < 0)
		what = NULL;
	unmatched(m, kind, argument, at, or_text(what, "waits"));
}

json_t *verify_unmatched(const struct verification *v)
{
	struct matching m = { .v = v, .found = json_array() };
	const struct config *c = v->config;

	if (!v->devices.list) {
		json_decref(m.found);
		return NULL;
	}
	for (size_t i = 0; i < c->n_links; i++)
		check_netdev(&m, "Link", c->links[i].name, &c->links[i].origin, c->links[i].netdev);
	for (size_t i = 0; i < c->n_ipoibs; i++)
		check_netdev(&m, "IPoIB", c->ipoibs[i].name, &c->ipoibs[i].origin,
			or_text(c->ipoibs[i].parent, c->ipoibs[i].name));
	for (size_t i = 0; i < c->n_devices; i++)
		if (!matches_device(&m, &c->devices[i].selector))
			unmatched(&m, "Device", c->devices[i].selector.text, &c->devices[i].origin,
				"matches no device");
	for (size_t i = 0; i < c->n_ports; i++)
		if (!matches_port(&m, &c->ports[i].selector))
			unmatched(&m, "Port", c->ports[i].selector.text, &c->ports[i].origin,
				"matches no port");
	for (size_t i = 0; i < c->n_expects; i++)
		if (!matches_port(&m, &c->expects[i].match))
			unmatched(&m, "Expect", c->expects[i].name, &c->expects[i].origin,
				"matches no port");
	for (size_t i = 0; i < c->n_counters; i++)
		if (!matches_counter(&m, c->counters[i].glob))
			unmatched(&m, "Counter", c->counters[i].glob, &c->counters[i].origin,
				"is no counter");
	return m.found;
}
