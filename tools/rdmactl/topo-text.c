/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>

#include "details.h"
#include "macros.h"
#include "status-table.h"
#include "table.h"
#include "text.h"
#include "topo.h"

#define SEGMENTS_MAX 16
#define PKEYS_SHOWN  5 /* with how many more, that fits into 80 columns */

enum column {
	COL_NAME,
	COL_WHAT,
	_COL_MAX,
};

static const struct table_column columns[_COL_MAX] = {
	[COL_NAME] = { "PORT", 0.1, SCOLS_FL_TREE },
	[COL_WHAT] = { "WHAT", 0.1, SCOLS_FL_TRUNC },
};

struct tree {
	struct libscols_table *table;
	bool failed;
};

/* Adds a line below parent (NULL: on top). */
static struct libscols_line *add(struct tree *t, struct libscols_line *parent, enum colour c,
	const char *name, const char *fmt, ...) _printf_(5, 6);
static struct libscols_line *add(struct tree *t, struct libscols_line *parent, enum colour c,
	const char *name, const char *fmt, ...)
{
	struct libscols_line *l = scols_table_new_line(t->table, parent);
	_cleanup_(freep) char *what = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		what = NULL;
	va_end(ap);
	if (!l || !what || table_set(l, COL_NAME, name, COLOUR_NONE) < 0 ||
		table_set(l, COL_WHAT, what, c) < 0)
		t->failed = true;
	return l;
}

static void add_segment(struct tree *t, struct libscols_line *parent, const struct pcie_segment *s)
{
	_cleanup_(freep) char *name = NULL;
	char now[PCIE_LINK_MAX], can[PCIE_LINK_MAX], lower[PCIE_LINK_MAX], upper[PCIE_LINK_MAX];

	pcie_link_format(now, s->speed_mtps, s->width);
	pcie_link_format(can, s->can_speed_mtps, s->can_width);
	pcie_link_format(lower, s->ends_speed_mtps[0], s->ends_width[0]);
	pcie_link_format(upper, s->ends_speed_mtps[1], s->ends_width[1]);

	if (asprintf(&name, "%s%s%s", or_text(s->lower, "?"), s->upper ? " - " : "",
		    or_text(s->upper, "")) < 0) {
		name = NULL;
		t->failed = true;
	} else if (pcie_segment_below(s) > 0)
		add(t, parent, COLOUR_WARN, name, "%s: SLOW, both ends can %s", now, can);
	else if (!streq(lower, upper))
		add(t, parent, COLOUR_NONE, name, "%s of %s / %s", now, lower, upper);
	else if (streq(now, "unknown"))
		add(t, parent, COLOUR_NONE, name, "unknown");
	else
		add(t, parent, COLOUR_NONE, name, "%s of %s", now, lower);
}

static void add_pcie(struct tree *t, struct libscols_line *port, const json_t *device)
{
	struct pcie_segment segments[SEGMENTS_MAX];
	size_t n = MIN(pcie_segments(device, segments, SEGMENTS_MAX), (size_t)SEGMENTS_MAX);
	bool virtual = json_is_true(json_object_get(device, "VirtualFunction"));
	struct libscols_line *l;

	l = add(t, port, COLOUR_NONE, "PCIe", "%s%s%s",
		or_text(json_text(device, "PciAddress"), "-"),
		virtual ? ", virtual function of " : "",
		virtual ? or_text(json_text(device, "PhysicalFunction"), "unknown") : "");
	for (size_t i = 0; i < n && !t->failed; i++)
		add_segment(t, l, &segments[i]);
}

static void add_place(struct tree *t, struct libscols_line *port, const json_t *device)
{
	const char *gpu = json_text(device, "Gpu");
	uint64_t node, hops;

	if (json_number(device, "NumaNode", &node))
		add(t, port, COLOUR_NONE, "NUMA node", "%" PRIu64, node);
	else
		add(t, port, COLOUR_NONE, "NUMA node", "-");
	add(t, port, COLOUR_NONE, "CPUs", "%s", or_text(json_text(device, "LocalCpus"), "-"));
	if (gpu && json_number(device, "GpuHops", &hops))
		add(t, port, COLOUR_NONE, "nearest GPU", "%s, %" PRIu64 " hop%s away", gpu, hops,
			hops == 1 ? "" : "s");
	else
		add(t, port, COLOUR_NONE, "nearest GPU", "%s", or_text(gpu, "-"));
}

static void add_netdev(struct tree *t, struct libscols_line *port, const json_t *json)
{
	const json_t *legs = json_object_get(json, "BondLegs");
	const char *netdev = json_text(json, "NetDevice"), *bond = json_text(json, "Bond");
	struct libscols_line *l;

	if (bond && streq_ptr(bond, netdev))
		l = add(t, port, COLOUR_NONE, "netdev", "%s, a bond", netdev);
	else
		l = add(t, port, COLOUR_NONE, "netdev", "%s%s%s", or_text(netdev, "-"),
			bond ? ", of bond " : "", or_text(bond, ""));
	for (size_t i = 0; i < json_array_size(legs) && !t->failed; i++) {
		const json_t *leg = json_array_get(legs, i),
			     *carrier = json_object_get(leg, "Carrier");
		bool lost = json_is_false(carrier);

		add(t, l, lost ? COLOUR_WARN : COLOUR_NONE, or_text(json_text(leg, "Name"), "?"),
			"%s, %s", or_text(json_text(leg, "State"), "unknown"),
			lost                    ? "no carrier"
			: json_is_true(carrier) ? "carrier"
						: "carrier unknown");
	}
}

/* Frees what; returns the line, NULL when there was nothing to say. */
static struct libscols_line *add_words(
	struct tree *t, struct libscols_line *parent, const char *name, char *what)
{
	_cleanup_(freep) char *text = what;

	if (!text)
		t->failed = true;
	return text && text[0] ? add(t, parent, COLOUR_NONE, name, "%s", text) : NULL;
}

/* Only where there is anything of the kind: InfiniBand and software links have none. */
static void add_qos(struct tree *t, struct libscols_line *port, const json_t *json)
{
	const json_t *qos = json_object_get(json, "Qos");

	if (!json_is_object(qos))
		return;
	add_words(t, port, "flow control", topo_qos_flow(qos));
	add_words(t, port, "trust", topo_qos_trust(qos));
	for (size_t i = 0; i < QOS_CLASSES && !t->failed; i++) {
		char name[32];

		snprintf(name, sizeof(name), "ETS class %zu", i);
		add_words(t, port, name, topo_qos_class(qos, i));
	}
}

/* The netdev of a GID is named where it is not the port's own, as that of a VLAN is not. */
static void add_gid(
	struct tree *t, struct libscols_line *parent, const json_t *gid, const char *own_netdev)
{
	const char *address = or_text(json_text(gid, "Address"), json_text(gid, "Gid"));
	const char *netdev = json_text(gid, "NetDevice");
	bool other = netdev && !streq_ptr(netdev, own_netdev);
	bool local = json_is_true(json_object_get(gid, "LinkLocal"));
	char name[32] = "GID ?";
	uint64_t index;

	if (json_number(gid, "Index", &index))
		snprintf(name, sizeof(name), "GID %" PRIu64, index);
	add(t, parent, local ? COLOUR_DIM : COLOUR_NONE, name, "%-7s  %s%s%s%s",
		or_text(json_text(gid, "Type"), "-"), or_text(address, "-"), other ? "  " : "",
		other ? netdev : "", local ? "  link-local" : "");
}

static void add_gids(struct tree *t, struct libscols_line *port, const json_t *json)
{
	json_t *gids;

	if (!json_is_array(json_object_get(json, "Gids"))) {
		add(t, port, COLOUR_NONE, "GIDs", "-");
		return;
	}
	gids = topo_gids(json);
	if (json_array_size(gids) == 0)
		add(t, port, COLOUR_NONE, "GIDs", "none");
	for (size_t i = 0; i < json_array_size(gids) && !t->failed; i++)
		add_gid(t, port, json_array_get(gids, i), json_text(json, "NetDevice"));
	json_decref(gids);
}

static void add_pkeys(
	const struct options *o, struct tree *t, struct libscols_line *port, const json_t *json)
{
	const json_t *pkeys = json_object_get(json, "PKeys");
	size_t n = json_array_size(pkeys), shown = o->full ? n : MIN(n, (size_t)PKEYS_SHOWN), size;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	if (!f) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < shown; i++)
		fprintf(f, "%s%s", i ? " " : "",
			or_text(json_text(json_array_get(pkeys, i), "PKey"), "?"));
	if (n > shown)
		fprintf(f, " and %zu more", n - shown);
	if (n == 0)
		fputs(json_is_array(pkeys) ? "none" : "-", f);
	if (fclose(f) == 0)
		add(t, port, COLOUR_NONE, "P_Keys", "%s", text);
	else
		t->failed = true;
	free(text);
}

static void add_nodes(struct tree *t, struct libscols_line *port, const struct object *o)
{
	const char *uverbs = json_text(o->device, "UverbsNode"),
		   *umad = json_text(o->json, "UmadNode");

	add(t, port, COLOUR_NONE, "nodes", "%s%s%s", or_text(uverbs, umad ? "" : "-"),
		uverbs && umad ? " " : "", or_text(umad, ""));
}

static void add_port(const struct options *opt, struct tree *t, const struct object *o)
{
	char state[OBJECT_TEXT_MAX], rate[OBJECT_TEXT_MAX];
	bool no_rate = streq(object_rate(o, rate), "-");
	struct libscols_line *l;

	l = add(t, NULL, health_colour(o->health), o->name, "%s, %s%s%s", o->health_word,
		object_state(o, state), no_rate ? "" : ", ", no_rate ? "" : rate);
	add_pcie(t, l, o->device);
	add_place(t, l, o->device);
	add_netdev(t, l, o->json);
	add_qos(t, l, o->json);
	add_gids(t, l, o->json);
	add_pkeys(opt, t, l, o->json);
	add_nodes(t, l, o);
}

int topo_print(const struct options *o, const struct view *v)
{
	_cleanup_(scols_unref_tablep) struct libscols_table *table =
		table_new(o, columns, _COL_MAX);
	struct tree t = { .table = table };

	if (!table)
		return -1;
	for (size_t i = 0; i < v->n && !t.failed; i++)
		if (v->objects[i].kind == OBJECT_PORT)
			add_port(o, &t, &v->objects[i]);
	if (t.failed)
		return -1;
	if (scols_table_get_nlines(table) > 0)
		scols_print_table(table);
	else if (o->legend && v->n > 0)
		printf("There are no ports.\n");
	return 0;
}
