/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <errno.h>

#include "macros.h"
#include "model-internal.h"

static void device_free(struct device *d)
{
	for (size_t i = 0; i < d->n_ports; i++)
		port_done(&d->ports[i]);
	counter_table_free(d->counters);
	free(d->ports);
	free(d);
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

void model_add_event(struct model *m, const struct event *e)
{
	m->events[m->n_events % EVENTS_MAX] = *e;
	m->n_events++;
}
