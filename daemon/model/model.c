/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <errno.h>

#include "macros.h"

/*
 * Readings and evidence of one and the same down edge may arrive in either order. For this long a
 * reading that was first keeps the evidence from being taken for a second edge.
 */
#define DEBT_LIFETIME (2 * USEC_PER_SEC)

/* How long an event may be overtaken by later ones of its port: a work of the kernel that queries it. */
#define EVENTS_REORDER (500 * USEC_PER_MSEC)

static const char *const health_table[_HEALTH_MAX] = {
	[HEALTH_OK] = "ok",
	[HEALTH_STARTING] = "starting",
	[HEALTH_UNKNOWN] = "unknown",
	[HEALTH_DEGRADED] = "degraded",
	[HEALTH_FAILED] = "failed",
	[HEALTH_IGNORED] = "ignored",
};
DEFINE_STRING_TABLE(health, enum health)

static const char *const severity_table[_SEVERITY_MAX] = {
	[SEVERITY_NOTICE] = "notice",
	[SEVERITY_UNKNOWN] = "unknown",
	[SEVERITY_DEGRADED] = "degraded",
	[SEVERITY_FAILED] = "failed",
};
DEFINE_STRING_TABLE(severity, enum severity)

static const char *const reason_class_table[_CLASS_MAX] = {
	[CLASS_LINK] = "link",
	[CLASS_FABRIC] = "fabric",
	[CLASS_DEVICE] = "device",
	[CLASS_SETUP] = "setup",
	[CLASS_MONITOR] = "monitor",
	[CLASS_CONFIG] = "config",
};
DEFINE_STRING_TABLE(reason_class, enum reason_class)

static const char *const probe_state_table[_PROBE_STATE_MAX] = {
	[PROBE_FRESH] = "fresh",
	[PROBE_LATE] = "late",
	[PROBE_SILENT] = "silent",
};
DEFINE_STRING_TABLE(probe_state, enum probe_state)

static const char *const step_result_table[_STEP_RESULT_MAX] = {
	[STEP_PENDING] = "pending",
	[STEP_OK] = "ok",
	[STEP_CHANGED] = "changed",
	[STEP_WAITING] = "waiting",
	[STEP_UNSUPPORTED] = "unsupported",
	[STEP_BLOCKED] = "blocked",
	[STEP_FAILED] = "failed",
	[STEP_DRIFTED] = "drifted",
};
DEFINE_STRING_TABLE(step_result, enum step_result)

enum health health_worst(enum health a, enum health b)
{
	if (a == HEALTH_IGNORED)
		return b;
	if (b == HEALTH_IGNORED)
		return a;
	return MAX(a, b); /* the enum is in this order */
}

void verdict_copy(struct verdict *to, const struct verdict *from)
{
	to->health = from->health;
	to->since = from->since;
	to->n_reasons = from->n_reasons;
	memcpy(to->reasons, from->reasons, from->n_reasons * sizeof(from->reasons[0]));
	STRSCPY(to->ignored_because, from->ignored_because);
}

const struct reason *verdict_find(const struct verdict *v, enum reason_id id, const char *subject)
{
	for (size_t i = 0; i < v->n_reasons; i++)
		if (v->reasons[i].id == id && streq(v->reasons[i].subject, subject))
			return &v->reasons[i];
	return NULL;
}

size_t verdict_acknowledge(
	struct verdict *v, enum reason_id id, const char *subject, const struct acknowledgement *a)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_reasons; i++) {
		struct reason *r = &v->reasons[i];

		if (r->id != id || (subject && !streq(r->subject, subject)))
			continue;
		r->ack = a ? *a : (struct acknowledgement){ 0 };
		n++;
	}
	return n;
}

static void port_done(struct port *p)
{
	port_tables_done(&p->tables);
	for (size_t i = 0; i < _COUNTER_SOURCE_MAX; i++)
		counter_table_free(p->counters[i]);
}

static void device_free(struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		port_done(&d->ports[i]);
	counter_table_free(d->counters);
	free(d->ports);
	free(d);
}

static void netdev_free(struct netdev *n)
{
	free(n->addresses);
	free(n);
}

void model_done(struct model *m)
{
	while (m->devices) {
		struct device *d = m->devices;

		m->devices = d->next;
		device_free(d);
	}
	while (m->netdevs) {
		struct netdev *n = m->netdevs;

		m->netdevs = n->next;
		netdev_free(n);
	}
	while (m->missing) {
		struct missing *x = m->missing;

		m->missing = x->next;
		free(x);
	}
	free(m->unprobed);
	m->unprobed = NULL;
	m->n_unprobed = 0;
	free(m->elsewhere);
	m->elsewhere = NULL;
	m->n_elsewhere = 0;
}

void model_listing_begin(struct model *m)
{
	m->generation++;
	m->n_elsewhere = 0;
}

/*
 * Gives the device as many ports as the kernel says. The count of a registered device does not
 * change; should it, history stays with the ports that remain.
 */
static int device_set_ports(struct device *d, uint32_t count, struct timepoint now)
{
	struct port *ports;

	if (count == d->n_ports)
		return 0;
	if (count > RDMA_PORTS_MAX)
		return -E2BIG;
	ports = calloc(MAX(count, 1u), sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (i < d->n_ports) {
			ports[i] = d->ports[i];
			continue;
		}
		ports[i] = (struct port){
			.device = d,
			.number = i + 1,
			.facts = port_facts_unknown(d->facts.index, i + 1),
			.first_seen = now,
		};
		ports[i].verdict.health = HEALTH_UNKNOWN;
	}
	for (size_t i = count; i < d->n_ports; i++)
		port_done(&d->ports[i]);
	free(d->ports);
	d->ports = ports;
	d->n_ports = count;
	return 0;
}

/* Puts a device in its place in the list, which is in order of index. */
static void device_insert(struct model *m, struct device *d)
{
	struct device **at = &m->devices;

	while (*at && (*at)->facts.index < d->facts.index)
		at = &(*at)->next;
	d->next = *at;
	*at = d;
}

static void device_unlink(struct model *m, const struct device *d)
{
	struct device **at = &m->devices;

	while (*at && *at != d)
		at = &(*at)->next;
	if (*at)
		*at = d->next;
}

static struct device *device_new(
	struct model *m, const struct device_facts *f, struct timepoint now)
{
	struct device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->facts = *f;
	d->details = device_details_unknown(f->index);
	d->first_seen = now;
	d->verdict.health = HEALTH_UNKNOWN;
	if (device_set_ports(d, f->port_count, now) < 0) {
		device_free(d);
		return NULL;
	}
	device_insert(m, d);
	return d;
}

/* A text that could not be read this time is still what it was. */
#define KEEP_TEXT(now, old)                    \
	do {                                   \
		if (!(now)[0])                 \
			STRSCPY((now), (old)); \
	} while (0)

/* What the listing does not read is what the details said. */
static struct device_facts with_details(const struct device_facts *f, const struct device *d)
{
	struct device_facts now = *f;

	KEEP_TEXT(now.board_id, d->facts.board_id);
	return now;
}

int model_see_device(
	struct model *m, const struct device_facts *f, struct timepoint now, struct device **ret)
{
	struct device *d = model_device_by_index(m, f->index);
	struct device_facts facts;
	int changes = 0, r;

	if (f->port_count > RDMA_PORTS_MAX)
		return -E2BIG;
	facts = d ? with_details(f, d) : *f;
	if (!d) {
		d = device_new(m, f, now);
		if (!d)
			return -ENOMEM;
		changes = DEVICE_NEW;
	} else if (memcmp(&d->facts, &facts, sizeof(facts)) != 0) {
		if (!streq(d->facts.name, f->name))
			changes |= DEVICE_RENAMED;
		else
			changes |= DEVICE_CHANGED;
		r = device_set_ports(d, f->port_count, now);
		if (r < 0)
			return r;
		d->facts = facts;
	}
	d->generation = m->generation;
	*ret = d;
	return changes;
}

bool device_see_details(struct device *d, const struct device_details *f)
{
	struct device_details now = *f;

	if (d->have_details) {
		KEEP_TEXT(now.board_id, d->details.board_id);
		KEEP_TEXT(now.hca_type, d->details.hca_type);
		KEEP_TEXT(now.hw_rev, d->details.hw_rev);
		KEEP_TEXT(now.node_desc, d->details.node_desc);
	}
	/* A link that could not be read is neither. */
	if (now.n_pcie > 0)
		d->pcie_slow_reads = pcie_slow_links(&now, NULL) ? d->pcie_slow_reads + 1 : 0;
	if (d->have_details && memcmp(&d->details, &now, sizeof(now)) == 0)
		return false;
	d->details = now;
	STRSCPY(d->facts.board_id, now.board_id);
	d->have_details = true;
	return true;
}

static bool see_settings(struct setting_facts *known, bool *have, const struct setting_facts *f)
{
	if (*have && memcmp(known, f, sizeof(*f)) == 0)
		return false;
	*known = *f;
	*have = true;
	return true;
}

bool device_see_settings(struct device *d, const struct setting_facts *f)
{
	/* It is a detail, too, that is read less often. */
	if (d->have_details && f->node_desc[0])
		STRSCPY(d->details.node_desc, f->node_desc);
	return see_settings(&d->settings, &d->have_settings, f);
}

bool port_see_settings(struct port *p, const struct setting_facts *f)
{
	return see_settings(&p->settings, &p->have_settings, f);
}

bool netdev_see_qos(struct netdev *n, const struct qos_facts *f)
{
	struct qos_facts old = n->qos;
	bool had = n->have_qos;

	n->qos = *f;
	n->have_qos = true;
	old.pause_tx_frames = f->pause_tx_frames;
	old.pause_rx_frames = f->pause_rx_frames;
	return !had || memcmp(&old, f, sizeof(old)) != 0;
}

bool netdev_see_link(struct netdev *n, const struct link_facts *f)
{
	bool differs = !n->have_link || memcmp(&n->link, f, sizeof(*f)) != 0;

	n->link = *f;
	n->have_link = true;
	return differs;
}

bool device_see_vf_policy(struct device *d, const struct vf_policy *f)
{
	bool differs = !d->have_vf_policy || memcmp(&d->vf_policy, f, sizeof(*f)) != 0;

	d->vf_policy = *f;
	d->have_vf_policy = true;
	return differs;
}

bool device_see_devlink(struct device *d, const struct devlink_facts *f)
{
	bool differs = !d->have_devlink || memcmp(&d->devlink, f, sizeof(*f)) != 0;

	d->have_devlink = true;
	if (f->error && f->error != -ENODEV)
		d->devlink.error = f->error;
	else
		d->devlink = *f;
	return differs;
}

bool port_link_is_down(const struct model *m, const struct port *p)
{
	const struct netdev *n = port_netdev(m, p);

	/* The netdev may be ahead of the port. */
	return n && p->have_facts && p->facts.link_layer == LINK_LAYER_ETHERNET &&
	       (n->facts.flags & IFF_UP) && !n->facts.carrier;
}

struct device *model_next_vanished(struct model *m)
{
	for (struct device *d = m->devices; d; d = d->next)
		if (d->generation != m->generation)
			return d;
	return NULL;
}

void model_remove_device(struct model *m, struct device *d)
{
	device_unlink(m, d);
	device_free(d);
}

struct device *model_find_renumbered(const struct model *m, const struct device_facts *f)
{
	if (model_device_by_index(m, f->index))
		return NULL;
	for (struct device *d = m->devices; d; d = d->next)
		if (device_index_is_made_up(d->facts.index) != device_index_is_made_up(f->index) &&
			streq(d->facts.name, f->name) && d->facts.node_guid == f->node_guid)
			return d;
	return NULL;
}

void model_renumber_device(struct model *m, struct device *d, uint32_t index)
{
	device_unlink(m, d);
	d->facts.index = index;
	d->details.device_index = index;
	for (size_t i = 0; i < d->n_ports; i++)
		d->ports[i].facts.device_index = index;
	device_insert(m, d);
}

static void netdev_remove(struct model *m, uint32_t ifindex)
{
	for (struct netdev **at = &m->netdevs; *at; at = &(*at)->next)
		if ((*at)->facts.ifindex == ifindex) {
			struct netdev *n = *at;

			*at = n->next;
			netdev_free(n);
			return;
		}
}

/* A new netdev in its place in the list. */
static struct netdev *netdev_new(struct model *m, const struct netdev_facts *f)
{
	struct netdev *n = calloc(1, sizeof(*n));
	struct netdev **at = &m->netdevs;

	if (!n)
		return NULL;
	n->facts = *f;
	n->generation = m->generation;
	while (*at && (*at)->facts.ifindex < f->ifindex)
		at = &(*at)->next;
	n->next = *at;
	*at = n;
	return n;
}

int model_see_netdev(struct model *m, const struct netdev_facts *f, uint32_t *ret_downs)
{
	struct netdev *n = model_netdev_by_index(m, f->ifindex);

	*ret_downs = 0;
	if (f->gone) {
		if (!n)
			return 0;
		netdev_remove(m, f->ifindex);
		return 1;
	}
	if (!n)
		return netdev_new(m, f) ? 1 : -ENOMEM;
	n->generation = m->generation;
	if (memcmp(&n->facts, f, sizeof(*f)) == 0)
		return 0;
	/* The count only rises within the life of an ifindex; messages may overtake a listing. */
	if (n->facts.have_carrier_counts && f->have_carrier_counts) {
		if ((int32_t)(f->carrier_down_count - n->facts.carrier_down_count) < 0 ||
			(int32_t)(f->carrier_up_count - n->facts.carrier_up_count) < 0)
			return 0; /* older than what is known */
		*ret_downs = f->carrier_down_count - n->facts.carrier_down_count;
	}
	/* Why it was down then says nothing of now. */
	if (*ret_downs || n->facts.carrier != f->carrier || n->facts.flags != f->flags)
		n->have_link = false;
	n->facts = *f;
	return 1;
}

static struct netdev_address *netdev_address(struct netdev *n, const struct address_facts *f)
{
	for (size_t i = 0; i < n->n_addresses; i++) {
		struct address_facts *g = &n->addresses[i].facts;

		if (g->family == f->family && g->prefix_length == f->prefix_length &&
			memcmp(g->address, f->address, sizeof(f->address)) == 0)
			return &n->addresses[i];
	}
	return NULL;
}

static void netdev_remove_address(struct netdev *n, struct netdev_address *a)
{
	size_t i = (size_t)(a - n->addresses);

	n->n_addresses--;
	memmove(a, a + 1, (n->n_addresses - i) * sizeof(*a));
}

/* The ones that are not kept are counted anew by each listing. */
static void netdev_count_beyond(struct netdev *n, uint64_t generation)
{
	if (n->beyond_generation != generation)
		n->addresses_beyond = 0;
	n->beyond_generation = generation;
	n->addresses_beyond++;
}

static int netdev_add_address(struct netdev *n, const struct address_facts *f, uint64_t generation)
{
	struct netdev_address *more;

	if (n->n_addresses == NETDEV_ADDRESSES_MAX) {
		netdev_count_beyond(n, generation);
		return 0;
	}
	more = reallocarray(n->addresses, n->n_addresses + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	n->addresses = more;
	n->addresses[n->n_addresses++] =
		(struct netdev_address){ .facts = *f, .generation = generation };
	return 1;
}

int model_see_address(struct model *m, const struct address_facts *f)
{
	struct netdev *n = model_netdev_by_index(m, f->ifindex);
	struct netdev_address *a;

	if (!n)
		return 0;
	a = netdev_address(n, f);
	if (f->gone) {
		if (a) {
			netdev_remove_address(n, a);
			return 1;
		}
		if (n->addresses_beyond > 0)
			n->addresses_beyond--;
		return 0;
	}
	if (!a)
		return netdev_add_address(n, f, m->generation);
	a->generation = m->generation;
	if (memcmp(&a->facts, f, sizeof(*f)) == 0)
		return 0;
	a->facts = *f;
	return 1;
}

struct missing *model_add_missing(struct model *m, const char *name, uint64_t node_guid,
	const char *pci_address, struct timepoint now)
{
	struct missing *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	STRSCPY(x->name, name);
	STRSCPY(x->pci_address, pci_address);
	x->node_guid = node_guid;
	x->since = now;
	x->verdict.health = HEALTH_UNKNOWN;
	x->verdict.since = now;
	x->next = m->missing;
	m->missing = x;
	return x;
}

struct missing *model_find_missing(const struct model *m, const struct device_facts *f)
{
	for (struct missing *x = m->missing; x; x = x->next)
		if (x->node_guid && x->node_guid == f->node_guid)
			return x;
	for (struct missing *x = m->missing; x; x = x->next)
		if (!x->node_guid && x->pci_address[0] && streq(x->pci_address, f->pci_address))
			return x;
	for (struct missing *x = m->missing; x; x = x->next)
		if (!x->node_guid && !x->pci_address[0] && streq(x->name, f->name))
			return x;
	return NULL;
}

struct missing *model_missing_by_name(const struct model *m, const char *name)
{
	for (struct missing *x = m->missing; x; x = x->next)
		if (streq(x->name, name))
			return x;
	return NULL;
}

struct missing *model_find_replaced(const struct model *m, const struct device *d)
{
	const struct device_facts *f = &d->facts;

	if (!f->node_guid || !f->pci_address[0])
		return NULL;
	for (const struct device *other = m->devices; other; other = other->next)
		if (other != d && streq(other->facts.pci_address, f->pci_address))
			return NULL;
	for (struct missing *x = m->missing; x; x = x->next)
		if ((x->seen || x->remembered) && x->node_guid && x->node_guid != f->node_guid &&
			streq(x->pci_address, f->pci_address))
			return x;
	return NULL;
}

int model_see_elsewhere(struct model *m, const struct elsewhere_facts *f)
{
	if (m->n_elsewhere == ELSEWHERE_MAX)
		return -E2BIG;
	if (!m->elsewhere) {
		m->elsewhere = calloc(ELSEWHERE_MAX, sizeof(*m->elsewhere));
		if (!m->elsewhere)
			return -ENOMEM;
	}
	m->elsewhere[m->n_elsewhere++] = *f;
	return 0;
}

/* The same device by its PCI function where both have one, else by its name. */
static bool is_missing_one(const struct elsewhere_facts *f, const struct missing *x)
{
	if (f->pci_address[0] && x->pci_address[0])
		return streq(f->pci_address, x->pci_address);
	return f->name[0] && streq(f->name, x->name);
}

/* Its device is there, in another network namespace. */
static bool is_in_netns(const struct model *m, const char *pci_address)
{
	for (size_t i = 0; i < m->n_elsewhere; i++)
		if (m->elsewhere[i].kind == ELSEWHERE_NETNS &&
			streq(m->elsewhere[i].pci_address, pci_address))
			return true;
	return false;
}

static struct unprobed make_unprobed(const struct model *m, const struct elsewhere_facts *f)
{
	struct unprobed u = { .switched = -1 };

	for (size_t i = 0; i < m->n_unprobed; i++)
		if (m->unprobed[i].facts.kind == f->kind &&
			streq(m->unprobed[i].facts.pci_address, f->pci_address))
			u = m->unprobed[i];
	u.facts = *f;
	return u;
}

/* Out of memory: what the listing before said stands. */
static void note_unprobed(struct model *m)
{
	struct unprobed *list = calloc(m->n_elsewhere + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return;
	for (size_t i = 0; i < m->n_elsewhere; i++) {
		const struct elsewhere_facts *f = &m->elsewhere[i];

		if ((f->kind == ELSEWHERE_UNBOUND || f->kind == ELSEWHERE_NOT_PROBED) &&
			!is_in_netns(m, f->pci_address))
			list[n++] = make_unprobed(m, f);
	}
	free(m->unprobed);
	m->unprobed = list;
	m->n_unprobed = n;
}

static bool is_lent(const struct missing *x)
{
	return x->placed && x->elsewhere != ELSEWHERE_UNBOUND &&
	       x->elsewhere != ELSEWHERE_NOT_PROBED;
}

void model_place_missing(struct model *m, struct timepoint now)
{
	note_unprobed(m);
	for (struct missing *x = m->missing; x; x = x->next) {
		bool was_lent = is_lent(x);

		x->placed = false;
		for (size_t i = 0; i < m->n_elsewhere && !x->placed; i++) {
			x->placed = is_missing_one(&m->elsewhere[i], x);
			x->elsewhere = m->elsewhere[i].kind;
		}
		if (was_lent && !is_lent(x))
			x->since = now;
	}
}

void model_remove_missing(struct model *m, struct missing *x)
{
	for (struct missing **at = &m->missing; *at; at = &(*at)->next)
		if (*at == x) {
			*at = x->next;
			free(x);
			return;
		}
}

static void netdev_drop_stale_addresses(struct netdev *n, uint64_t generation)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n_addresses; i++)
		if (n->addresses[i].generation == generation)
			n->addresses[kept++] = n->addresses[i];
	n->n_addresses = kept;
	if (n->beyond_generation != generation)
		n->addresses_beyond = 0;
}

void model_drop_stale_netdevs(struct model *m)
{
	for (struct netdev **at = &m->netdevs; *at;) {
		struct netdev *n = *at;

		if (n->generation == m->generation) {
			netdev_drop_stale_addresses(n, m->generation);
			at = &n->next;
			continue;
		}
		*at = n->next;
		netdev_free(n);
	}
}

struct device *model_device_by_index(const struct model *m, uint32_t index)
{
	for (struct device *d = m->devices; d; d = d->next)
		if (d->facts.index == index)
			return d;
	return NULL;
}

struct device *model_device_by_name(const struct model *m, const char *name)
{
	for (struct device *d = m->devices; d; d = d->next)
		if (streq(d->facts.name, name))
			return d;
	return NULL;
}

struct netdev *model_netdev_by_index(const struct model *m, uint32_t ifindex)
{
	for (struct netdev *n = m->netdevs; n; n = n->next)
		if (n->facts.ifindex == ifindex)
			return n;
	return NULL;
}

struct netdev *model_netdev_by_name(const struct model *m, const char *name)
{
	for (struct netdev *n = m->netdevs; n; n = n->next)
		if (streq(n->facts.name, name))
			return n;
	return NULL;
}

struct port *device_port(const struct device *d, uint32_t number)
{
	if (number == 0 || number > d->n_ports)
		return NULL;
	return &d->ports[number - 1];
}

struct port *model_port_by_object(const struct model *m, const char *object)
{
	char name[OBJECT_NAME_MAX];

	for (struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (streq(port_object(name, &d->ports[i]), object))
				return &d->ports[i];
	return NULL;
}

const char *port_object(char buf[OBJECT_NAME_MAX], const struct port *p)
{
	snprintf(buf, OBJECT_NAME_MAX, "%s/%u", p->device->facts.name, p->number);
	return buf;
}

static bool state_is_active(int state)
{
	return state == PORT_STATE_ACTIVE || state == PORT_STATE_ACTIVE_DEFER;
}

bool port_is_active(const struct port *p)
{
	return p->have_facts && state_is_active(p->facts.state);
}

/* An old debt is of edges that never had evidence: it must not swallow a new one. */
static void port_forget_debt(struct port *p, usec_t now)
{
	if (usec_sub(now, p->downs_ahead_since) > DEBT_LIFETIME)
		p->downs_ahead = 0;
	if (p->unseen_downs < 0 && usec_sub(now, p->unseen_since) > DEBT_LIFETIME)
		p->unseen_downs = 0;
}

void port_note_downs(struct port *p, uint32_t n, usec_t now)
{
	uint32_t told;

	port_forget_debt(p, now);
	told = MIN(n, p->downs_ahead);
	p->downs_ahead -= told;
	n -= told;
	if (n == 0)
		return;
	p->unseen_downs += n;
	p->unseen_since = now;
}

/*
 * How many falls these events tell of. Each one ends an ACTIVE, so that there are as many as became
 * ACTIVE, up to how it began and ended; and each one has a PORT_ERR. More PORT_ERR than that are of a
 * driver that sends one for INIT; more PORT_ACTIVE, of one that a reading was ahead of. What is left
 * over may be of events to come that this time were slower than others.
 */
static uint32_t port_match_events(
	struct port *p, const struct port_events *e, bool was_up, usec_t now)
{
	struct spare_events *spare = &p->spare_events;
	uint64_t errs, actives, ups, falls;

	if (usec_sub(now, spare->since) > EVENTS_REORDER)
		*spare = (struct spare_events){ 0 };
	errs = (uint64_t)e->errs + spare->errs;
	actives = (uint64_t)e->actives + spare->actives;
	ups = actives + was_up;
	falls = MIN(errs, ups > e->active_latest ? ups - e->active_latest : 0);
	errs -= falls;
	actives = ups - MIN(ups, falls + e->active_latest);
	*spare = (struct spare_events){
		.errs = (uint32_t)MIN(errs, (uint64_t)UINT32_MAX),
		.actives = (uint32_t)MIN(actives, (uint64_t)UINT32_MAX),
		.since = now,
	};
	return (uint32_t)MIN(falls, (uint64_t)UINT32_MAX);
}

void port_note_events(struct port *p, const struct port_events *e, usec_t now)
{
	bool known, was_up;

	if (e->errs + e->actives == 0)
		return;
	port_forget_debt(p, now);
	/* A reading or a counter told of the fall, and this is its event. */
	known = p->unseen_downs < 0 || p->downs_ahead > 0;
	/* While events come by the dozen, what was read lately is ahead of them. */
	was_up = usec_sub(now, p->spare_events.since) > EVENTS_REORDER ? p->up_latest : p->up_told;
	port_note_downs(p, port_match_events(p, e, was_up || (e->err_first && known), now), now);
	p->up_told = p->up_latest = e->active_latest;
}

/* Returns whether it counts. */
static bool port_count_edge(struct port *p, usec_t now)
{
	bool excused = now < p->excused_until;

	p->excused_until = 0; /* good for one fall */
	if (excused) {
		p->excused_downs++;
		return false;
	}
	p->flap_ring[p->flap_count % FLAP_RING] = now;
	p->flap_count++;
	p->last_edge = now;
	return true;
}

/* The netdev may say that it was set down after the port has said that it fell. */
#define EXCUSE_BACK (2 * USEC_PER_SEC)

void port_excuse_down(struct port *p, usec_t now, usec_t until)
{
	usec_t last = p->flap_count ? p->flap_ring[(p->flap_count - 1) % FLAP_RING] : 0;

	if (last && !port_is_active(p) && usec_sub(now, last) <= EXCUSE_BACK) {
		p->flap_count--;
		p->excused_downs++;
	} else {
		p->excused_until = until;
	}
}

/* Turns evidence that no reading showed into blips, once a reading is newer than the evidence. */
static uint32_t port_settle(struct port *p, usec_t now)
{
	uint32_t blips = 0;

	for (; p->unseen_downs > 0; p->unseen_downs--)
		blips += port_count_edge(p, now);
	return blips;
}

static bool layers_differ(enum link_layer a, enum link_layer b)
{
	return a != LINK_LAYER_UNKNOWN && b != LINK_LAYER_UNKNOWN && a != b;
}

bool port_remember_best(struct port *p, const struct best_rate *best)
{
	if (best->rate_mbps <= p->best.rate_mbps ||
		layers_differ(best->link_layer, p->facts.link_layer))
		return false;
	p->best = *best;
	return true;
}

/* What a reading says of the best rate, and of states that contradict. */
static void port_see_quality(struct port *p)
{
	const struct port_facts *f = &p->facts;
	struct best_rate now = { .rate_mbps = f->rate_mbps, .link_layer = f->link_layer };
	bool odd;

	/* A rate of one protocol says nothing of the other. */
	if (layers_differ(p->best.link_layer, f->link_layer))
		p->best = (struct best_rate){ 0 };
	STRSCPY(now.width, f->width);
	STRSCPY(now.speed, f->speed);
	/* A port that is not ACTIVE shows any rate. */
	if (state_is_active(f->state))
		port_remember_best(p, &now);
	/* 0 is no state (IBA 14.2.5.6): of a driver that fills in none. */
	odd = f->phys_state == PHYS_STATE_RECOVERY ||
	      (state_is_active(f->state) && f->phys_state > 0 &&
		      f->phys_state != PHYS_STATE_LINKUP);
	p->odd_phys_reads = odd ? p->odd_phys_reads + 1 : 0;
}

/* The peer is there, and nobody has made the port ACTIVE. */
static void port_see_init(struct port *p, struct timepoint now)
{
	int state = p->facts.state;

	if (p->facts.phys_state != PHYS_STATE_LINKUP ||
		(state != PORT_STATE_INIT && state != PORT_STATE_ARMED))
		p->init_since = (struct timepoint){ 0 };
	else if (p->init_since.mono == 0)
		p->init_since = now;
}

struct port_update port_see(
	struct port *p, const struct port_facts *f, bool settle, struct timepoint now)
{
	struct port_update u = { 0 };
	bool was_active = port_is_active(p), is_active, known = f->state != PORT_STATE_UNKNOWN;

	p->recalled = false;
	p->last_error = f->error;
	if (f->error)
		return u;

	u.changed = !p->have_facts || memcmp(&p->facts, f, sizeof(*f)) != 0;
	u.reselect = !p->have_facts || p->facts.link_layer != f->link_layer ||
		     p->facts.netdev_index != f->netdev_index || !streq(p->facts.netdev, f->netdev);
	/* Evidence from before the first reading is older than what rdmad watches. */
	if (!p->have_facts)
		p->unseen_downs = 0;
	p->facts = *f;
	p->have_facts = true;
	p->read_at = now;
	port_see_quality(p);
	port_see_init(p, now);

	is_active = state_is_active(f->state);
	u.went_down = was_active && known && !is_active;
	u.went_up = !was_active && is_active;
	if (u.went_down) {
		u.active_for = usec_sub(now.mono, p->active_since.mono);
		p->last_active_for = u.active_for;
		p->active_since = (struct timepoint){ 0 };
		p->device->have_vf_policy = false;
		port_count_edge(p, now.mono);
		port_forget_debt(p, now.mono);
		p->unseen_downs--;
		p->unseen_since = now.mono;
	}
	if (u.went_up) {
		p->was_active = true;
		p->active_since = now;
		p->down_since = (struct timepoint){ 0 };
		p->last_edge = now.mono;
	} else if (!known) {
		/* Neither up nor down, and no edge. */
		p->active_since = p->down_since = (struct timepoint){ 0 };
	} else if (!is_active && p->down_since.mono == 0) {
		p->down_since = now;
	}
	if (settle) {
		u.blips = port_settle(p, now.mono);
		p->up_latest = is_active;
	}
	return u;
}

unsigned port_flaps_within(const struct port *p, usec_t now, usec_t window, usec_t *ret_first)
{
	uint64_t held = MIN(p->flap_count, (uint64_t)FLAP_RING);
	unsigned n = 0;

	for (uint64_t i = 0; i < held; i++) {
		usec_t t = p->flap_ring[(p->flap_count - 1 - i) % FLAP_RING];

		if (usec_sub(now, t) > window || t < p->flap_floor)
			break;
		n++;
		if (ret_first)
			*ret_first = t;
	}
	return n;
}

void model_add_event(struct model *m, const struct event *e)
{
	m->events[m->n_events % EVENTS_MAX] = *e;
	m->n_events++;
}

bool netdev_is_bond_leg(const struct netdev *n)
{
	return n->facts.leg != BOND_LEG_NONE;
}

const struct netdev *netdev_bond(const struct model *m, const struct netdev *n)
{
	if (n && netdev_is_bond_leg(n))
		return model_netdev_by_index(m, n->facts.master);
	return n && model_next_leg(m, n->facts.ifindex, NULL) ? n : NULL;
}

const struct netdev *model_next_leg(
	const struct model *m, uint32_t master_ifindex, const struct netdev *prev)
{
	for (const struct netdev *n = prev ? prev->next : m->netdevs; n; n = n->next)
		if (netdev_is_bond_leg(n) && n->facts.master == master_ifindex)
			return n;
	return NULL;
}

const struct netdev *port_netdev(const struct model *m, const struct port *p)
{
	return p->facts.netdev_index ? model_netdev_by_index(m, p->facts.netdev_index) : NULL;
}
