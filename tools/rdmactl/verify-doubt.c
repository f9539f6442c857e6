/* SPDX-License-Identifier: MIT */
/* What is valid, and hardly meant so: it would do nothing, or something else. */
#include <inttypes.h>
#include <stdarg.h>

#include "macros.h"
#include "selector.h"
#include "text.h"
#include "verify.h"

struct doubts {
	const struct verification *v;
	json_t *found; /* what "verify_doubtful" returns */
};

static void doubt(struct doubts *d, const char *kind, const char *argument,
	const struct config_origin *at, const char *fmt, ...) _printf_(5, 6);

static void doubt(struct doubts *d, const char *kind, const char *argument,
	const struct config_origin *at, const char *fmt, ...)
{
	_cleanup_(freep) char *section = NULL, *why = NULL, *text = NULL;
	json_t *o = verify_place(at);
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	if (asprintf(&section, "%s%s%s", kind, argument ? " " : "", or_text(argument, "")) < 0)
		section = NULL;
	if (asprintf(&text, "[%s] %s", or_text(section, kind), or_text(why, "")) < 0)
		text = NULL;
	json_object_set_new(o, "Section", json_string(or_text(section, kind)));
	json_object_set_new(o, "Text", json_string(or_text(text, kind)));
	json_array_append_new(d->found, o);
}

/* ---- names ---- */

/* The devices that this is to be the name of, with a space before each. Returns how many. */
static unsigned named_so(const struct doubts *d, const char *name, char *ret, size_t size)
{
	const json_t *device;
	unsigned n = 0;
	size_t i;

	ret[0] = '\0';
	json_array_foreach(d->v->devices.list, i, device)
	{
		struct device_facts f = verify_device(device);
		const char *wanted = config_device_settings(d->v->config, &f).name;
		size_t used = strlen(ret);

		if (!wanted || !streq(wanted, name))
			continue;
		if (used < size)
			snprintf(ret + used, size - used, " %s", f.name);
		n++;
	}
	return n;
}

/* Other settings of a device that is renamed by its section, which it then is not of any more. */
static bool takes_own_name(const struct config_device *section)
{
	const char *glob = section->selector.name_glob;

	return section->name && glob && !glob_match(glob, section->name) &&
	       (section->has_monitor || section->has_expect || section->has_node_description ||
		       section->has_adaptive_moderation);
}

/* The link of that name which is another device than those of this section, NULL: none. */
static const struct config_link *link_in_the_way(
	const struct config *c, const struct config_device *section)
{
	const struct config_link *l = config_link_by_name(c, section->name);
	const struct selector *s = &section->selector;

	if (!l || streq_ptr(s->netdev, l->netdev) ||
		(s->name_glob && glob_match(s->name_glob, l->name)))
		return NULL;
	return l;
}

static void check_names(struct doubts *d)
{
	const struct config *c = d->v->config;
	char devices[160];

	for (size_t i = 0; i < c->n_devices; i++) {
		const struct config_device *section = &c->devices[i];

		if (takes_own_name(section))
			doubt(d, "Device", section->selector.text, &section->name_at,
				"Name=%s takes away the name that it matches by: what else is set "
				"there ends with it; select by guid= or pci=",
				section->name);
		if (section->name && named_so(d, section->name, devices, sizeof(devices)) > 1)
			doubt(d, "Device", section->selector.text, &section->name_at,
				"Name=%s is for more than one device %s, so that none gets it:%s",
				section->name, d->v->where, devices);
		if (section->name && link_in_the_way(c, section))
			doubt(d, "Device", section->selector.text, &section->name_at,
				"Name=%s is the name of [Link %s], too: one of the two does not "
				"get it",
				section->name, section->name);
	}
}

/* ---- RoCE ---- */

/* Whether it matches ports, and none of them can do RoCE. */
static bool matches_no_ethernet(const struct doubts *d, const struct selector *s)
{
	const json_t *device, *port;
	bool matches = false;
	size_t i, j;

	json_array_foreach(d->v->devices.list, i, device)
	{
		struct device_facts f = verify_device(device);

		json_array_foreach(json_object_get(device, "Ports"), j, port)
		{
			struct port_facts p = verify_port(port, j);

			if (!selector_match(s, &f, &p))
				continue;
			if (p.link_layer != LINK_LAYER_INFINIBAND)
				return false;
			matches = true;
		}
	}
	return matches;
}

static void check_roce(struct doubts *d)
{
	const struct config *c = d->v->config;

	for (size_t i = 0; i < c->n_ports; i++) {
		const struct config_port *p = &c->ports[i];

		if ((p->roce_mode != GID_TYPE_UNKNOWN || (p->has_roce_tos && p->roce_tos >= 0)) &&
			matches_no_ethernet(d, &p->selector))
			doubt(d, "Port", p->selector.text, &p->origin,
				"sets RoCE, and all ports that match %s are InfiniBand: nothing is "
				"set",
				d->v->where);
	}
}

/* ---- modules ---- */

static void check_denied(struct doubts *d)
{
	const struct config *c = d->v->config;

	for (size_t i = 0; i < c->n_links; i++) {
		const char *module = link_type_module(c->links[i].type);

		if (config_module_denied(c, module))
			doubt(d, "Link", c->links[i].name, &c->links[i].origin,
				"needs %s, which [Modules] Deny= forbids", module);
	}
	for (size_t i = 0; i < c->n_ipoibs; i++)
		if (config_module_denied(c, "ib_ipoib"))
			doubt(d, "IPoIB", c->ipoibs[i].name, &c->ipoibs[i].origin,
				"needs ib_ipoib, which [Modules] Deny= forbids");
}

/* ---- P_Keys ---- */

/* "8001" is a number, and people who write it mean 0x8001. */
static void check_pkey(struct doubts *d, const struct config_note *note)
{
	unsigned long decimal, hex;

	if (!note->value[0] || strspn(note->value, "0123456789") != strlen(note->value))
		return;
	decimal = strtoul(note->value, NULL, 10);
	hex = strtoul(note->value, NULL, 16);
	if (hex <= UINT16_MAX && hex != decimal)
		doubt(d, note->section, NULL, &note->origin,
			"PKey=%s is decimal, which makes it 0x%04lx; write 0x%s if that is meant",
			note->value, decimal, note->value);
}

static void check_pkeys(struct doubts *d)
{
	const struct config_notes *notes = &d->v->notes;

	for (size_t i = 0; i < notes->n; i++) {
		const struct config_note *note = &notes->items[i];

		if (note->key && streq(note->key, "PKey") && config_note_is_of(note, "IPoIB") &&
			!verify_overridden(notes, note))
			check_pkey(d, note);
	}
}

/* ---- IPoIB ---- */

/* The section of an interface that is made on another one, NULL: there is none. */
static const struct config_ipoib *child_of_name(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_ipoibs; i++)
		if (c->ipoibs[i].parent && streq(c->ipoibs[i].name, name))
			return &c->ipoibs[i];
	return NULL;
}

/*
 * The limit of datagram mode is the fabric's: the MTU of a packet less 4 bytes, which is 4096 on InfiniBand and
 * 10240 on Omni-Path (IPOIB_UD_MTU, drivers/infiniband/ulp/ipoib; enum opa_mtu).
 */
#define DATAGRAM_MTU_MAX 10236

static void check_ipoibs(struct doubts *d)
{
	const struct config *c = d->v->config;

	for (size_t i = 0; i < c->n_ipoibs; i++) {
		const struct config_ipoib *e = &c->ipoibs[i];
		const struct config_ipoib *parent = e->parent ? child_of_name(c, e->parent) : NULL;

		if (parent)
			doubt(d, "IPoIB", e->name, &e->origin,
				"Parent=%s is a child itself, and the kernel makes none on it; "
				"write Parent=%s",
				parent->name, parent->parent);
		if (e->connected == 0 && e->mtu > DATAGRAM_MTU_MAX)
			doubt(d, "IPoIB", e->name, &e->origin,
				"MTU=%" PRIu32
				" is more than datagram mode can do (4092, on Omni-Path %d); "
				"it takes Mode=connected",
				e->mtu, DATAGRAM_MTU_MAX);
	}
}

/* ---- values ---- */

/* Shells take quotes and comments off, and nothing does it here. */
static const char *value_doubt(const char *value)
{
	size_t n = strlen(value);

	if (n > 1 && (value[0] == '"' || value[0] == '\'') && value[n - 1] == value[0])
		return "the quotes are part of the value; take them out";
	if (strstr(value, " #") || strstr(value, "\t#"))
		return "the \"#\" is part of the value; a comment needs a line of its own";
	return NULL;
}

static void check_values(struct doubts *d)
{
	const struct config_notes *notes = &d->v->notes;

	for (size_t i = 0; i < notes->n; i++) {
		const struct config_note *note = &notes->items[i];
		const char *why = note->key ? value_doubt(note->value) : NULL;

		if (why && !verify_overridden(notes, note))
			doubt(d, note->section, NULL, &note->origin, "%s=%s: %s", note->key,
				note->value, why);
	}
}

json_t *verify_doubtful(const struct verification *v)
{
	struct doubts d = { .v = v, .found = json_array() };

	check_names(&d);
	check_roce(&d);
	check_denied(&d);
	check_pkeys(&d);
	check_ipoibs(&d);
	check_values(&d);
	return d.found;
}
