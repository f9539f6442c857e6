/* SPDX-License-Identifier: MIT */
#include "inventory.h"

#include <errno.h>
#include <time.h>

#include "macros.h"

static const char *const inventory_fact_table[_INVENTORY_FACT_MAX] = {
	[INVENTORY_NEW] = "new-adapter",
	[INVENTORY_REPLACED] = "adapter-replaced",
	[INVENTORY_GONE] = "adapter-gone",
	[INVENTORY_BACK] = "adapter-back",
	[INVENTORY_GUID] = "guid",
	[INVENTORY_SYS_IMAGE_GUID] = "system-image-guid",
	[INVENTORY_SLOT] = "slot",
	[INVENTORY_FIRMWARE] = "firmware",
	[INVENTORY_BOARD] = "board",
	[INVENTORY_LINK_LAYER] = "link-layer",
	[INVENTORY_NETDEV] = "netdev",
	[INVENTORY_BEST_RATE] = "best-rate",
};
DEFINE_STRING_TABLE(inventory_fact, enum inventory_fact);

/* ---- entries ---- */

static void entry_done(struct inventory_entry *e)
{
	free(e->ports);
	*e = (struct inventory_entry){ 0 };
}

void inventory_done(struct inventory *inv)
{
	for (size_t i = 0; i < inv->n; i++)
		entry_done(&inv->entries[i]);
	free(inv->entries);
	*inv = (struct inventory){ 0 };
}

/* Makes room by forgetting the adapter that is away longest; NULL when all are here. */
static struct inventory_entry *forget_oldest(struct inventory *inv)
{
	struct inventory_entry *oldest = NULL;

	for (size_t i = 0; i < inv->n; i++) {
		struct inventory_entry *e = &inv->entries[i];

		if (!e->present && (!oldest || e->last_seen < oldest->last_seen))
			oldest = e;
	}
	if (oldest)
		entry_done(oldest);
	return oldest;
}

struct inventory_entry *inventory_add(struct inventory *inv)
{
	struct inventory_entry *entries;

	if (inv->n >= INVENTORY_MAX)
		return forget_oldest(inv);
	entries = realloc(inv->entries, (inv->n + 1) * sizeof(*entries));
	if (!entries)
		return NULL;
	inv->entries = entries;
	entries[inv->n] = (struct inventory_entry){ 0 };
	return &entries[inv->n++];
}

struct inventory_port *inventory_entry_port(struct inventory_entry *e, uint32_t number)
{
	struct inventory_port *ports;

	for (size_t i = 0; i < e->n_ports; i++)
		if (e->ports[i].number == number)
			return &e->ports[i];
	if (e->n_ports >= INVENTORY_PORTS_MAX)
		return NULL;
	ports = realloc(e->ports, (e->n_ports + 1) * sizeof(*ports));
	if (!ports)
		return NULL;
	e->ports = ports;
	ports[e->n_ports] = (struct inventory_port){ .number = number };
	return &ports[e->n_ports++];
}

void inventory_touch(struct inventory *inv, usec_t now_real)
{
	for (size_t i = 0; i < inv->n; i++)
		if (inv->entries[i].present)
			inv->entries[i].last_seen = now_real;
}

/* ---- who is who ---- */

#define NO_ENTRY SIZE_MAX

/* A device of the model and the entry that is its. */
struct match {
	const struct device *device;
	size_t entry;
};

/* One look: the devices that count, and the way out. */
struct looking {
	struct inventory *inv;
	const struct inventory_look *look;
	struct match *matches;
	size_t n;
	usec_t again;
};

static bool device_counts(const struct device *d)
{
	return d->facts.link_type == LINK_TYPE_NONE &&
	       !(d->have_details && d->details.is_vf == 1) &&
	       (d->facts.node_guid || d->facts.pci_address[0]);
}

static bool device_is_read(const struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		if (!d->ports[i].have_facts && !d->ports[i].last_error)
			return false;
	return true;
}

/* Whether it is a virtual function is among the details; they may be refused, too. */
static bool device_is_known(const struct looking *l, const struct device *d)
{
	usec_t age = usec_sub(l->look->now.mono, d->first_seen.mono);

	return device_is_read(d) && (d->have_details || age >= INVENTORY_DETAILS_WAIT);
}

static int collect_devices(struct looking *l)
{
	size_t n = 0;

	for (const struct device *d = l->look->model->devices; d; d = d->next)
		n++;
	l->matches = calloc(n + 1, sizeof(*l->matches));
	if (!l->matches)
		return -ENOMEM;
	for (const struct device *d = l->look->model->devices; d; d = d->next)
		if (device_counts(d))
			l->matches[l->n++] = (struct match){ .device = d, .entry = NO_ENTRY };
	return 0;
}

typedef bool (*matcher)(const struct inventory_entry *e, const struct device_facts *f);

static bool same_slot(const struct inventory_entry *e, const struct device_facts *f)
{
	return f->pci_address[0] && streq(e->pci_address, f->pci_address);
}

static bool same_guid(const struct inventory_entry *e, const struct device_facts *f)
{
	return f->node_guid && e->node_guid == f->node_guid;
}

static bool same_guid_and_slot(const struct inventory_entry *e, const struct device_facts *f)
{
	return same_guid(e, f) && streq(e->pci_address, f->pci_address);
}

/* One of the two has no GUID that would contradict. */
static bool same_slot_guid_unknown(const struct inventory_entry *e, const struct device_facts *f)
{
	return same_slot(e, f) && (!e->node_guid || !f->node_guid);
}

const struct inventory_port *inventory_find_port(
	const struct inventory *inv, const struct device_facts *f, uint32_t number)
{
	for (size_t i = 0; i < inv->n; i++) {
		const struct inventory_entry *e = &inv->entries[i];

		if (!e->present || !(f->node_guid ? same_guid_and_slot(e, f) : same_slot(e, f)))
			continue;
		for (size_t k = 0; k < e->n_ports; k++)
			if (e->ports[k].number == number)
				return &e->ports[k];
	}
	return NULL;
}

struct inventory_entry *inventory_find(const struct inventory *inv, const struct device_facts *f)
{
	static const matcher matchers[] = { same_guid_and_slot, same_guid, same_slot_guid_unknown };

	for (size_t k = 0; k < ARRAY_SIZE(matchers); k++)
		for (size_t i = 0; i < inv->n; i++)
			if (matchers[k](&inv->entries[i], f))
				return &inv->entries[i];
	return NULL;
}

/* Gives devices that have none yet their entries, none to two devices. */
static void match_by(struct looking *l, matcher matches)
{
	for (size_t i = 0; i < l->n; i++) {
		struct match *m = &l->matches[i];

		for (size_t k = 0; k < l->inv->n && m->entry == NO_ENTRY; k++) {
			struct inventory_entry *e = &l->inv->entries[k];

			if (e->present || !matches(e, &m->device->facts))
				continue;
			e->present = true;
			m->entry = k;
		}
	}
}

/*
 * The entry that an unknown GUID replaces: the only one of its slot, and it is the slot's only
 * device. Where several devices share a PCI function (subfunctions) the slot tells nothing.
 */
static size_t find_replaced(const struct looking *l, const struct device *d)
{
	size_t found = NO_ENTRY;

	for (size_t i = 0; i < l->n; i++)
		if (l->matches[i].device != d &&
			streq(l->matches[i].device->facts.pci_address, d->facts.pci_address))
			return NO_ENTRY;
	for (size_t k = 0; k < l->inv->n; k++) {
		const struct inventory_entry *e = &l->inv->entries[k];

		if (e->present || !same_slot(e, &d->facts))
			continue;
		if (found != NO_ENTRY)
			return NO_ENTRY;
		found = k;
	}
	return found;
}

/* ---- changes ---- */

static void report(struct looking *l, struct inventory_change c)
{
	l->inv->changed = true;
	if (l->look->report)
		l->look->report(&c, l->look->user);
}

/* Since when a difference may be there, for inventory_change.since. */
static usec_t unwatched_since(const struct inventory_entry *e)
{
	return e->compared ? 0 : e->last_seen;
}

static struct inventory_change change_of(
	const struct inventory_entry *e, const struct device *d, enum inventory_fact fact)
{
	return (struct inventory_change){
		.fact = fact,
		.entry = e,
		.device = d,
		.since = unwatched_since(e),
	};
}

/* A text that is kept for showing only. */
static void note_text(struct inventory *inv, char *kept, size_t size, const char *now)
{
	if (!now[0] || streq(kept, now))
		return;
	snprintf(kept, size, "%s", now);
	inv->changed = true;
}

static void compare_text(struct looking *l, const struct inventory_change *template, char *kept,
	size_t size, const char *now)
{
	struct inventory_change c = *template;
	bool known = kept[0];

	if (!now[0] || streq(kept, now))
		return;
	STRSCPY(c.before, kept);
	STRSCPY(c.after, now);
	snprintf(kept, size, "%s", now);
	l->inv->changed = true;
	if (known)
		report(l, c);
}

static void compare_guid(
	struct looking *l, const struct inventory_change *template, uint64_t *kept, uint64_t now)
{
	struct inventory_change c = *template;
	bool known = *kept;

	if (!now || *kept == now)
		return;
	guid_format(c.before, *kept);
	guid_format(c.after, now);
	*kept = now;
	l->inv->changed = true;
	if (known)
		report(l, c);
}

/* Another netdev counts when it is there for some time; "" is none, or unknown, and says nothing. */
static void compare_netdev(struct looking *l, const struct inventory_change *template,
	struct inventory_port *ip, const char *now)
{
	struct inventory_change c = *template;
	usec_t due;

	if (!ip->netdev[0]) {
		note_text(l->inv, ip->netdev, sizeof(ip->netdev), now);
		return;
	}
	if (!now[0] || streq(ip->netdev, now)) {
		ip->netdev_next[0] = '\0';
		return;
	}
	if (!streq(ip->netdev_next, now)) {
		STRSCPY(ip->netdev_next, now);
		ip->netdev_next_at = l->look->now.mono;
		ip->netdev_next_since = c.since;
	}
	due = usec_add(ip->netdev_next_at, INVENTORY_NETDEV_HOLD);
	if (l->look->now.mono < due) {
		l->again = MIN(l->again, due);
		return;
	}
	c.since = ip->netdev_next_since;
	ip->netdev_next[0] = '\0';
	compare_text(l, &c, ip->netdev, sizeof(ip->netdev), now);
}

static void compare_best_rate(struct looking *l, const struct inventory_change *template,
	struct inventory_port *ip, const struct port *p)
{
	struct inventory_change c = *template;
	struct port_facts best = { .rate_mbps = ip->best_rate_mbps };
	bool known = ip->best_rate_mbps;

	/* A port that is not ACTIVE shows any rate. */
	if (!port_is_active(p) || p->facts.rate_mbps <= ip->best_rate_mbps)
		return;
	STRSCPY(best.width, ip->best_width);
	STRSCPY(best.speed, ip->best_speed);
	rate_format(c.before, &best);
	rate_format(c.after, &p->facts);
	ip->best_rate_mbps = p->facts.rate_mbps;
	STRSCPY(ip->best_width, p->facts.width);
	STRSCPY(ip->best_speed, p->facts.speed);
	l->inv->changed = true;
	if (known)
		report(l, c);
}

static void compare_port(struct looking *l, struct inventory_entry *e, const struct port *p)
{
	struct inventory_change c = change_of(e, p->device, INVENTORY_LINK_LAYER);
	size_t before = e->n_ports;
	struct inventory_port *ip;

	if (!p->have_facts)
		return;
	ip = inventory_entry_port(e, p->number);
	if (!ip)
		return;
	if (e->n_ports != before)
		l->inv->changed = true;
	c.port = p->number;
	if (p->learned && !ip->learned) {
		ip->learned = true;
		ip->learned_since = l->look->now.real;
		l->inv->changed = true;
	}
	if (p->facts.link_layer != LINK_LAYER_UNKNOWN && p->facts.link_layer != ip->link_layer) {
		STRSCPY(c.before, link_layer_to_string(ip->link_layer));
		STRSCPY(c.after, link_layer_to_string(p->facts.link_layer));
		l->inv->changed = true;
		if (ip->link_layer != LINK_LAYER_UNKNOWN) {
			ip->best_rate_mbps = 0; /* not that of this protocol */
			report(l, c);
		}
		ip->link_layer = p->facts.link_layer;
		c.before[0] = c.after[0] = '\0';
	}
	c.fact = INVENTORY_NETDEV;
	compare_netdev(l, &c, ip, p->facts.netdev);
	c.fact = INVENTORY_BEST_RATE;
	compare_best_rate(l, &c, ip, p);
}

static void returned(struct looking *l, struct inventory_entry *e, const struct device *d)
{
	struct inventory_change c = change_of(e, d, INVENTORY_BACK);

	if (!e->gone_told)
		return;
	c.since = e->last_seen;
	guid_format(c.after, e->node_guid);
	if (!e->gone_by_condition)
		report(l, c);
	e->gone_told = e->gone_by_condition = false;
	l->inv->changed = true;
}

/* Everything about a device that is known to be this entry's. */
static void compare(struct looking *l, struct inventory_entry *e, const struct device *d)
{
	const struct device_facts *f = &d->facts;
	struct inventory_change c;

	note_text(l->inv, e->name, sizeof(e->name), f->name);
	note_text(l->inv, e->driver, sizeof(e->driver), f->driver);
	returned(l, e, d);
	c = change_of(e, d, INVENTORY_GUID);
	compare_guid(l, &c, &e->node_guid, f->node_guid);
	c.fact = INVENTORY_SYS_IMAGE_GUID;
	compare_guid(l, &c, &e->sys_image_guid, f->sys_image_guid);
	c.fact = INVENTORY_SLOT;
	compare_text(l, &c, e->pci_address, sizeof(e->pci_address), f->pci_address);
	c.fact = INVENTORY_FIRMWARE;
	compare_text(l, &c, e->firmware_version, sizeof(e->firmware_version), f->firmware_version);
	c.fact = INVENTORY_BOARD;
	compare_text(l, &c, e->board_id, sizeof(e->board_id),
		f->board_id[0] ? f->board_id : d->details.board_id);
	for (size_t i = 0; i < d->n_ports; i++)
		compare_port(l, e, &d->ports[i]);
	e->compared = true;
	e->last_seen = l->look->now.real;
}

/*
 * Another adapter sits where e was. What is expected of the slot's ports stays: their cables do. All
 * other facts are the new adapter's own.
 */
static void replace(struct looking *l, struct inventory_entry *e, const struct device *d)
{
	struct inventory_change c = change_of(e, d, INVENTORY_REPLACED);

	guid_format(c.before, e->node_guid);
	guid_format(c.after, d->facts.node_guid);
	e->node_guid = d->facts.node_guid;
	e->sys_image_guid = d->facts.sys_image_guid;
	e->firmware_version[0] = e->board_id[0] = '\0';
	e->first_seen = l->look->now.real;
	e->gone_told = e->gone_by_condition = false;
	e->n_ports = MIN(e->n_ports, d->n_ports);
	for (size_t i = 0; i < e->n_ports; i++)
		e->ports[i] = (struct inventory_port){
			.number = e->ports[i].number,
			.learned = e->ports[i].learned,
			.learned_since = e->ports[i].learned_since,
		};
	compare(l, e, d); /* fills in, silently */
	report(l, c);
}

/* A device whose GUID nobody had so far: in a known slot, or all new. */
static void welcome(struct looking *l, struct match *m)
{
	const struct device_facts *f = &m->device->facts;
	size_t at = f->pci_address[0] ? find_replaced(l, m->device) : NO_ENTRY;
	bool was_there = m->device->first_seen.mono < l->look->settled_at;
	struct inventory_change c;
	struct inventory_entry *e;

	if (at != NO_ENTRY) {
		e = &l->inv->entries[at];
		e->present = true;
		/* The same system image: the card stayed, somebody gave it another GUID. */
		if (e->sys_image_guid && e->sys_image_guid == f->sys_image_guid)
			compare(l, e, m->device);
		else
			replace(l, e, m->device);
		return;
	}
	e = inventory_add(l->inv);
	if (!e)
		return; /* all 512 are here: one more is watched, but not remembered */
	e->present = true;
	e->compared = true;
	e->first_seen = l->look->now.real;
	compare(l, e, m->device);
	l->inv->changed = true;
	c = change_of(e, m->device, INVENTORY_NEW);
	c.since = was_there ? l->inv->as_of : 0;
	guid_format(c.after, e->node_guid);
	if (!was_there || !l->look->baseline)
		report(l, c);
}

/* ---- who is not here ---- */

/* Some device sits in the slot that is not known yet: it may turn out to be this one's successor. */
static bool slot_is_taken(const struct looking *l, const struct inventory_entry *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->matches[i].entry == NO_ENTRY && same_slot(e, &l->matches[i].device->facts))
			return true;
	return false;
}

static const struct missing *find_missing(const struct looking *l, const struct inventory_entry *e)
{
	struct device_facts f = { .node_guid = e->node_guid };

	STRSCPY(f.name, e->name);
	STRSCPY(f.pci_address, e->pci_address);
	return model_find_missing(l->look->model, &f);
}

/* Lent to a virtual machine or a container, or without a driver: it is still the host's. */
static bool is_elsewhere(const struct model *m, const struct inventory_entry *e)
{
	for (size_t i = 0; i < m->n_elsewhere; i++) {
		const struct elsewhere_facts *f = &m->elsewhere[i];

		if (f->pci_address[0] && e->pci_address[0] ? streq(f->pci_address, e->pci_address)
							   : f->name[0] && streq(f->name, e->name))
			return true;
	}
	return false;
}

static void absent(struct looking *l, struct inventory_entry *e)
{
	const struct missing *x;
	struct inventory_change c;

	x = find_missing(l, e);
	if (x && verdict_find(&x->verdict, REASON_DEVICE_MISSING, "")) {
		if (!e->gone_told)
			l->inv->changed = true;
		/* Also where an earlier run has told it: the condition will tell of the return. */
		e->gone_told = e->gone_by_condition = true;
	}
	if (x || e->gone_told || slot_is_taken(l, e) || is_elsewhere(l->look->model, e))
		return;
	if (l->look->now.mono < l->look->settled_at)
		return;
	c = change_of(e, NULL, INVENTORY_GONE);
	c.since = e->last_seen;
	guid_format(c.before, e->node_guid);
	e->gone_told = true;
	report(l, c);
}

int inventory_look(struct inventory *inv, const struct inventory_look *look, usec_t *ret_again)
{
	struct looking l = { .inv = inv, .look = look, .again = USEC_INFINITY };
	int r;

	*ret_again = USEC_INFINITY;
	r = collect_devices(&l);
	if (r < 0)
		return r;
	for (size_t i = 0; i < inv->n; i++)
		inv->entries[i].present = false;
	match_by(&l, same_guid_and_slot);
	match_by(&l, same_guid);
	match_by(&l, same_slot_guid_unknown);
	for (size_t i = 0; i < l.n; i++)
		if (l.matches[i].entry != NO_ENTRY && device_is_read(l.matches[i].device))
			compare(&l, &inv->entries[l.matches[i].entry], l.matches[i].device);
	for (size_t i = 0; i < l.n; i++)
		if (l.matches[i].entry == NO_ENTRY) {
			if (device_is_known(&l, l.matches[i].device))
				welcome(&l, &l.matches[i]);
			else
				l.again = MIN(l.again, usec_add(look->now.mono, USEC_PER_SEC));
		}
	for (size_t i = 0; i < inv->n; i++)
		if (!inv->entries[i].present)
			absent(&l, &inv->entries[i]);
	free(l.matches);
	*ret_again = l.again;
	return 0;
}

/* ---- in words ---- */

const char *inventory_object(char buf[OBJECT_NAME_MAX], const struct inventory_change *c)
{
	if (c->port)
		snprintf(buf, OBJECT_NAME_MAX, "%s/%u", c->entry->name, c->port);
	else
		snprintf(buf, OBJECT_NAME_MAX, "%s", c->entry->name);
	return buf;
}

/* "2026-11-30 08:00:00 UTC": two hosts, and two time zones, say the same. */
#define DATE_MAX 32
static const char *date_format(char buf[DATE_MAX], usec_t real)
{
	time_t t = (time_t)(real / USEC_PER_SEC);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(buf, DATE_MAX, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
		return "an unknown time";
	return buf;
}

/* "GUID 0002:c903:00aa:0010, PCI 0000:3b:00.0, firmware 28.41.1000", as far as known. */
#define IDENTITY_MAX 160
static const char *identity_format(char buf[IDENTITY_MAX], const struct inventory_entry *e)
{
	char guid[GUID_STRING_MAX];

	guid_format(guid, e->node_guid);
	snprintf(buf, IDENTITY_MAX, "%s%s%s%s%s%s", guid[0] ? "GUID " : "no GUID", guid,
		e->pci_address[0] ? ", PCI " : "", e->pci_address,
		e->firmware_version[0] ? ", firmware " : "", e->firmware_version);
	return buf;
}

static const char *fact_words(enum inventory_fact fact)
{
	switch (fact) {
	case INVENTORY_NEW:
		return "new adapter";
	case INVENTORY_REPLACED:
		return "adapter replaced";
	case INVENTORY_GONE:
		return "adapter gone";
	case INVENTORY_BACK:
		return "adapter is back";
	case INVENTORY_GUID:
		return "node GUID";
	case INVENTORY_SYS_IMAGE_GUID:
		return "system image GUID";
	case INVENTORY_SLOT:
		return "slot";
	case INVENTORY_FIRMWARE:
		return "firmware";
	case INVENTORY_BOARD:
		return "board";
	case INVENTORY_LINK_LAYER:
		return "link layer";
	case INVENTORY_NETDEV:
		return "netdev";
	case INVENTORY_BEST_RATE:
		return "best rate";
	case _INVENTORY_FACT_MAX:
		break;
	}
	return "";
}

const char *inventory_message(char buf[INVENTORY_MESSAGE_MAX], const struct inventory_change *c)
{
	char object[OBJECT_NAME_MAX], identity[IDENTITY_MAX], date[DATE_MAX];
	const char *words = fact_words(c->fact);
	int n;

	inventory_object(object, c);
	identity_format(identity, c->entry);
	switch (c->fact) {
	case INVENTORY_NEW:
	case INVENTORY_GONE:
	case INVENTORY_BACK:
		n = snprintf(buf, INVENTORY_MESSAGE_MAX, "%s: %s: %s", object, words, identity);
		break;
	case INVENTORY_REPLACED:
		n = snprintf(buf, INVENTORY_MESSAGE_MAX, "%s: %s: %s, was GUID %s", object, words,
			identity, c->before);
		break;
	case INVENTORY_GUID:
	case INVENTORY_SYS_IMAGE_GUID:
	case INVENTORY_SLOT:
	case INVENTORY_FIRMWARE:
	case INVENTORY_BOARD:
	case INVENTORY_LINK_LAYER:
	case INVENTORY_NETDEV:
	case INVENTORY_BEST_RATE:
	case _INVENTORY_FACT_MAX:
	default:
		n = snprintf(buf, INVENTORY_MESSAGE_MAX, "%s: %s %s, was %s", object, words,
			c->after, c->before);
		break;
	}
	if (c->since && n > 0 && n < INVENTORY_MESSAGE_MAX)
		snprintf(buf + n, (size_t)(INVENTORY_MESSAGE_MAX - n), " (%s %s)",
			c->fact == INVENTORY_GONE || c->fact == INVENTORY_BACK ? "last seen"
									       : "since",
			date_format(date, c->since));
	return buf;
}
