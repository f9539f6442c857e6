/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "internal.h"
#include "macros.h"

/* ---- head and tail ---- */

FILE *keep_begin(char **ret, size_t *ret_size)
{
	*ret = NULL;
	return open_memstream(ret, ret_size);
}

int keep_finish(FILE *f, char **text, const size_t *size)
{
	bool failed = ferror(f) != 0;
	int r = 0;

	if (fclose(f) != 0 || failed)
		r = -ENOMEM;
	else if (*size > KEEP_MAX)
		r = -EFBIG;
	if (r < 0) {
		free(*text);
		*text = NULL;
	}
	return r;
}

void keep_put_head(struct record_out *o, const struct keep_origin *origin)
{
	record_put_number(o, "Version", KEEP_VERSION);
	record_put_number(o, "ReadableFrom", KEEP_READABLE_FROM);
	record_put_text(o, "Machine", origin->machine);
	record_put_text(o, "Board", origin->board);
	record_put_text(o, "BootId", origin->boot);
}

/* Two differ where both are known and not the same. */
static bool is_of(const json_t *root, const char *key, const char *ours)
{
	char theirs[64] = "";

	record_get_text(json_object_get(root, key), theirs, sizeof(theirs));
	return !theirs[0] || !ours[0] || streq(theirs, ours);
}

static int check_head(const json_t *root, const struct keep_origin *o)
{
	uint64_t version = 0, from = 0;

	record_get_number(json_object_get(root, "Version"), &version);
	record_get_number(json_object_get(root, "ReadableFrom"), &from);
	if (version == 0 || from == 0)
		return -EBADMSG;
	if (from > KEEP_VERSION)
		return -ENOTSUP;
	if (!is_of(root, "Machine", o->machine) || !is_of(root, "Board", o->board))
		return -EXDEV;
	return is_of(root, "BootId", o->boot) ? 0 : -ESTALE;
}

int keep_open(const char *text, const struct keep_origin *o, json_t **ret)
{
	json_t *root = json_loads(text, 0, NULL);
	int r;

	if (!root)
		return -EBADMSG;
	r = check_head(root, o);
	if (r < 0) {
		json_decref(root);
		return r;
	}
	*ret = root;
	return 0;
}

/* ---- verdicts ---- */

static void put_object(
	struct record_out *o, const char *key, const struct record_field *fields, const void *base)
{
	record_open(o, key, '{');
	record_put(o, fields, base);
	record_close(o, '}');
}

static void get_object(
	const json_t *o, const char *key, const struct record_field *fields, void *base)
{
	record_get(json_object_get(o, key), fields, base);
}

static void put_reason(struct record_out *o, const char *key, const struct reason *r)
{
	record_open(o, key, '{');
	record_put(o, kept_reason, r);
	if (r->ack.when.mono)
		put_object(o, "Acknowledged", kept_ack, &r->ack);
	record_close(o, '}');
}

/* False: a condition that this version does not know. */
static bool get_reason(const json_t *o, struct reason *ret)
{
	struct reason r = { .id = _REASON_MAX, .severity = _SEVERITY_MAX };

	record_get(o, kept_reason, &r);
	if (r.id == _REASON_MAX || r.severity == _SEVERITY_MAX)
		return false;
	get_object(o, "Acknowledged", kept_ack, &r.ack);
	*ret = r;
	return true;
}

static void put_verdict(struct record_out *o, const char *key, const struct verdict *v)
{
	record_open(o, key, '{');
	record_put(o, kept_verdict, v);
	record_open(o, "Reasons", '[');
	for (size_t i = 0; i < v->n_reasons; i++)
		put_reason(o, NULL, &v->reasons[i]);
	record_close(o, ']');
	record_close(o, '}');
}

static void get_verdict(const json_t *o, const char *key, struct verdict *v)
{
	const json_t *verdict = json_object_get(o, key), *reason;
	size_t i;

	record_get(verdict, kept_verdict, v);
	json_array_foreach(json_object_get(verdict, "Reasons"), i, reason)
	{
		if (v->n_reasons == REASONS_MAX)
			break;
		v->n_reasons += get_reason(reason, &v->reasons[v->n_reasons]);
	}
}

/* ---- ports ---- */

/* The times of the last edges, oldest first. */
static void put_flaps(struct record_out *o, const struct port *p)
{
	uint64_t n = MIN(p->flap_count, (uint64_t)FLAP_RING);

	record_open(o, "Flaps", '[');
	for (uint64_t i = p->flap_count - n; i < p->flap_count; i++)
		record_put_number(o, NULL, p->flap_ring[i % FLAP_RING]);
	record_close(o, ']');
}

static void get_flaps(const json_t *o, struct port *p)
{
	const json_t *flaps = json_object_get(o, "Flaps"), *flap;
	uint64_t n = json_array_size(flaps), first;
	size_t i;

	if (n > FLAP_RING || n > p->flap_count)
		return;
	first = p->flap_count - n;
	json_array_foreach(flaps, i, flap)
		record_get_number(flap, &p->flap_ring[(first + i) % FLAP_RING]);
}

static void put_edges(struct record_out *o, const struct port_edges *e)
{
	if (!e)
		return;
	record_open(o, "Edges", '{');
	record_put(o, kept_edges, e);
	put_object(o, "Storm", kept_storm, &e->storm);
	put_reason(o, "Told", &e->told);
	record_close(o, '}');
}

static struct port_edges *get_edges(const json_t *o)
{
	const json_t *edges = json_object_get(o, "Edges");
	struct port_edges *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	record_get(edges, kept_edges, e);
	get_object(edges, "Storm", kept_storm, &e->storm);
	if (!get_reason(json_object_get(edges, "Told"), &e->told))
		e->storm.told_down = false; /* there is nothing to say that is over */
	return e;
}

static void put_port(struct record_out *o, const struct port *p, keep_edges_of_t edges)
{
	record_open(o, NULL, '{');
	put_object(o, "Facts", kept_port_facts, &p->facts);
	record_put(o, kept_port, p);
	put_flaps(o, p);
	put_object(o, "LinkDowned", kept_ledger, &p->link_downed);
	put_object(o, "Best", kept_best, &p->best);
	put_verdict(o, "Verdict", &p->verdict);
	put_edges(o, edges(p));
	record_close(o, '}');
}

/* Of a reading of tables that was to decide, the next one does. */
static void reset_doubt(struct doubt *d)
{
	d->reading = MIN(d->reading, (uint64_t)1);
}

static int get_port(const json_t *o, struct port *p)
{
	p->user = get_edges(o);
	if (!p->user)
		return -ENOMEM;
	get_object(o, "Facts", kept_port_facts, &p->facts);
	record_get(o, kept_port, p);
	get_flaps(o, p);
	get_object(o, "LinkDowned", kept_ledger, &p->link_downed);
	get_object(o, "Best", kept_best, &p->best);
	get_verdict(o, "Verdict", &p->verdict);
	reset_doubt(&p->no_gid);
	reset_doubt(&p->no_umad);
	p->recalled = true;
	return 0;
}

/* ---- devices ---- */

static void put_device(struct record_out *o, const struct device *d, keep_edges_of_t edges)
{
	uint32_t hops = MIN(d->details.n_pcie, (uint32_t)PCIE_HOPS_MAX);

	record_open(o, NULL, '{');
	put_object(o, "Facts", kept_device_facts, &d->facts);
	record_put(o, kept_device, d);
	put_object(o, "Details", kept_details, &d->details);
	record_open(o, "Pcie", '[');
	for (uint32_t i = 0; i < hops; i++)
		put_object(o, NULL, kept_pcie_hop, &d->details.pcie[i]);
	record_close(o, ']');
	put_object(o, "Release", kept_release, &d->release);
	put_verdict(o, "Verdict", &d->verdict);
	record_open(o, "Ports", '[');
	for (size_t i = 0; i < d->n_ports; i++)
		put_port(o, &d->ports[i], edges);
	record_close(o, ']');
	record_close(o, '}');
}

static void get_details(const json_t *o, struct device_details *d)
{
	const json_t *hop;
	uint32_t n = 0;
	size_t i;

	get_object(o, "Details", kept_details, d);
	json_array_foreach(json_object_get(o, "Pcie"), i, hop)
	{
		if (n == PCIE_HOPS_MAX)
			break;
		record_get(hop, kept_pcie_hop, &d->pcie[n++]);
	}
	d->n_pcie = n;
}

static int get_device(const json_t *o, struct model *m)
{
	struct device_facts f = { .numa_node = -1 };
	struct timepoint seen = { 0 };
	const json_t *port;
	struct device *d;
	size_t i;
	int r;

	get_object(o, "Facts", kept_device_facts, &f);
	if (!f.name[0] || model_device_by_index(m, f.index))
		return -EBADMSG;
	r = model_see_device(m, &f, seen, &d);
	if (r < 0)
		return r == -E2BIG ? -EBADMSG : r;
	record_get(o, kept_device, d);
	get_details(o, &d->details);
	get_object(o, "Release", kept_release, &d->release);
	get_verdict(o, "Verdict", &d->verdict);
	json_array_foreach(json_object_get(o, "Ports"), i, port)
	{
		if (i == d->n_ports)
			break;
		r = get_port(port, &d->ports[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- what is not a device ---- */

static bool runs_on(const struct model *m, uint32_t ifindex)
{
	for (const struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (d->ports[i].facts.netdev_index == ifindex)
				return true;
	return false;
}

/* Those whose carrier counts tell of falls, and those that a port on a bond is judged by. */
static bool netdev_is_kept(const struct model *m, const struct netdev *n)
{
	return netdev_is_bond_leg(n) || streq(n->facts.kind, "bond") ||
	       runs_on(m, n->facts.ifindex);
}

static void put_netdevs(struct record_out *o, const struct model *m)
{
	size_t n_kept = 0;

	record_open(o, "NetDevices", '[');
	for (const struct netdev *n = m->netdevs; n && n_kept < KEEP_NETDEVS_MAX; n = n->next)
		if (netdev_is_kept(m, n)) {
			put_object(o, NULL, kept_netdev, &n->facts);
			n_kept++;
		}
	record_close(o, ']');
}

static int get_netdev(const json_t *o, struct model *m)
{
	struct netdev_facts f = { 0 };
	uint32_t downs;

	record_get(o, kept_netdev, &f);
	return f.ifindex ? model_see_netdev(m, &f, &downs) : -EBADMSG;
}

static void put_missing(struct record_out *o, const struct missing *x)
{
	record_open(o, NULL, '{');
	record_put(o, kept_missing, x);
	put_object(o, "Release", kept_release, &x->release);
	record_open(o, "Ports", '[');
	for (size_t i = 0; i < x->n_ports; i++)
		put_object(o, NULL, kept_missing_port, &x->ports[i]);
	record_close(o, ']');
	put_verdict(o, "Verdict", &x->verdict);
	record_close(o, '}');
}

static int get_missing(const json_t *o, struct model *m)
{
	struct missing *x = model_add_missing(m, "", 0, "", (struct timepoint){ 0 });
	const json_t *port;
	size_t i;

	if (!x)
		return -ENOMEM;
	x->verdict.since = (struct timepoint){ 0 };
	record_get(o, kept_missing, x);
	get_object(o, "Release", kept_release, &x->release);
	json_array_foreach(json_object_get(o, "Ports"), i, port)
	{
		if (i == MISSING_PORTS_MAX)
			break;
		record_get(port, kept_missing_port, &x->ports[i]);
		x->n_ports = i + 1;
	}
	get_verdict(o, "Verdict", &x->verdict);
	return x->name[0] ? 0 : -EBADMSG;
}

static void put_unprobed(struct record_out *o, const struct model *m)
{
	record_open(o, "Unprobed", '[');
	for (size_t i = 0; i < m->n_unprobed; i++) {
		record_open(o, NULL, '{');
		record_put(o, kept_unprobed, &m->unprobed[i]);
		record_put(o, kept_elsewhere, &m->unprobed[i].facts);
		record_close(o, '}');
	}
	record_close(o, ']');
}

static int get_unprobed(const json_t *o, struct model *m)
{
	struct unprobed *u;

	if (m->n_unprobed == ELSEWHERE_MAX)
		return 0;
	u = realloc(m->unprobed, (m->n_unprobed + 1) * sizeof(*u));
	if (!u)
		return -ENOMEM;
	m->unprobed = u;
	u += m->n_unprobed++;
	*u = (struct unprobed){ .facts.is_vf = -1 };
	record_get(o, kept_unprobed, u);
	record_get(o, kept_elsewhere, &u->facts);
	return 0;
}

static void put_events(struct record_out *o, const struct model *m)
{
	uint64_t n = MIN(m->n_events, (uint64_t)EVENTS_MAX);

	record_open(o, "Events", '[');
	for (uint64_t i = m->n_events - n; i < m->n_events; i++)
		put_object(o, NULL, kept_event, &m->events[i % EVENTS_MAX]);
	record_close(o, ']');
}

static int get_event(const json_t *o, struct model *m)
{
	struct event e = { 0 };

	record_get(o, kept_event, &e);
	model_add_event(m, &e);
	return 0;
}

/* ---- the whole ---- */

/* Missing ones are put in front as they are read: the last one is written first. */
static void put_all_missing(struct record_out *o, const struct missing *x)
{
	size_t n = 0;

	record_open(o, "Missing", '[');
	for (const struct missing *y = x; y; y = y->next)
		n++;
	while (n-- > 0) {
		const struct missing *y = x;

		for (size_t i = 0; i < n; i++)
			y = y->next;
		put_missing(o, y);
	}
	record_close(o, ']');
}

int keep_format(
	const struct keep *k, const struct keep_origin *origin, keep_edges_of_t edges, char **ret)
{
	const struct model *m = k->model;
	struct record_out o = { 0 };
	size_t size;

	o.f = keep_begin(ret, &size);
	if (!o.f)
		return -ENOMEM;
	record_open(&o, NULL, '{');
	keep_put_head(&o, origin);
	record_put(&o, kept_fields, k);
	record_open(&o, "WatchedSince", '[');
	record_put_number(&o, NULL, m->watched_since.mono);
	record_put_number(&o, NULL, m->watched_since.real);
	record_close(&o, ']');
	put_verdict(&o, "Host", &m->verdict);
	put_netdevs(&o, m);
	record_open(&o, "Devices", '[');
	for (const struct device *d = m->devices; d; d = d->next)
		put_device(&o, d, edges);
	record_close(&o, ']');
	put_all_missing(&o, m->missing);
	put_unprobed(&o, m);
	put_events(&o, m);
	record_close(&o, '}');
	fputc('\n', o.f);
	return keep_finish(o.f, ret, &size);
}

static int get_each(const json_t *root, const char *key, size_t max,
	int (*get)(const json_t *o, struct model *m), struct model *m)
{
	const json_t *o;
	size_t i;
	int r;

	json_array_foreach(json_object_get(root, key), i, o)
	{
		if (i == max)
			break;
		r = get(o, m);
		if (r < 0)
			return r;
	}
	return 0;
}

static int get_model(const json_t *root, struct model *m)
{
	const json_t *watched = json_object_get(root, "WatchedSince");
	int r;

	if (!json_is_array(json_object_get(root, "Devices")))
		return -EBADMSG;
	record_get_number(json_array_get(watched, 0), &m->watched_since.mono);
	record_get_number(json_array_get(watched, 1), &m->watched_since.real);
	get_verdict(root, "Host", &m->verdict);
	r = get_each(root, "NetDevices", KEEP_NETDEVS_MAX, get_netdev, m);
	if (r >= 0)
		r = get_each(root, "Devices", KEEP_DEVICES_MAX, get_device, m);
	if (r >= 0)
		r = get_each(root, "Missing", KEEP_DEVICES_MAX, get_missing, m);
	if (r >= 0)
		r = get_each(root, "Unprobed", ELSEWHERE_MAX, get_unprobed, m);
	if (r >= 0)
		r = get_each(root, "Events", EVENTS_MAX, get_event, m);
	return r;
}

static void forget_model(struct model *m)
{
	for (struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			free(d->ports[i].user);
	model_done(m);
	*m = (struct model){ 0 };
}

int keep_parse(const char *text, const struct keep_origin *o, struct keep *k)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	int r;

	r = keep_open(text, o, &root);
	if (r < 0)
		return r;
	record_get(root, kept_fields, k);
	r = get_model(root, k->model);
	if (r < 0)
		forget_model(k->model);
	return r;
}
