/* SPDX-License-Identifier: MIT */
/* The steps that a configuration asks for on this host as it is. */
#include <errno.h>

#include "plan-internal.h"

struct collection {
	const struct plan *plan;
	const struct plan_input *in;
	struct step *steps;
	size_t n, size;
};

static bool same_step(const struct step *a, const struct step *b)
{
	const struct setting *k = setting_get(a->kind);

	if (a->kind != b->kind || a->link_type != b->link_type || !streq(a->netdev, b->netdev) ||
		!streq(a->value, b->value))
		return false;
	if (k && (a->index != b->index || a->port != b->port))
		return false;
	/* A device is the same one under another name. */
	return (k && k->of != SETTING_OF_HOST && k->of != SETTING_OF_PARENT) ||
	       streq(a->object, b->object);
}

/* Takes it up, with what is known of it from before. */
static int add(struct collection *c, const struct step *like)
{
	struct step *s;

	if (c->n == c->size) {
		size_t size = c->size ? 2 * c->size : 32;

		s = reallocarray(c->steps, size, sizeof(*s));
		if (!s)
			return -ENOMEM;
		c->steps = s;
		c->size = size;
	}
	s = &c->steps[c->n++];
	*s = *like;
	for (size_t i = 0; i < c->plan->n_steps; i++)
		if (same_step(&c->plan->steps[i], like)) {
			*s = c->plan->steps[i];
			/* Under another name it has another directory in configfs. */
			if (!streq(s->object, like->object))
				s->read_back[0] = '\0';
			STRSCPY(s->object, like->object);
			s->asked_by = like->asked_by;
			break;
		}
	return 0;
}

static struct step setting(enum step_kind kind, const char *object, const char *value)
{
	struct step s = { .kind = kind, .index = STEP_INDEX_NONE };

	STRSCPY(s.object, object);
	STRSCPY(s.value, value);
	return s;
}

/* ---- modules, links ---- */

static int add_module(struct collection *c, const char *name, const char *asked_by)
{
	struct step s = {
		.kind = STEP_LOAD_MODULE,
		.index = STEP_INDEX_NONE,
		.asked_by = asked_by,
	};

	for (size_t i = 0; i < c->n; i++)
		if (c->steps[i].kind == STEP_LOAD_MODULE &&
			module_name_equal(c->steps[i].object, name))
			return 0;
	STRSCPY(s.object, name);
	return add(c, &s);
}

/* What a device needs modules for; _MODULES_FOR_MAX: nothing, or not known. */
static enum modules_for modules_for(const struct device *d)
{
	const char *protocol = d->facts.protocol;

	/* RDMA_NLDEV_ATTR_DEV_PROTOCOL, include/uapi/rdma/rdma_netlink.h */
	if (streq(protocol, "ib") || streq(protocol, "opa"))
		return MODULES_FOR_INFINIBAND;
	if (streq(protocol, "roce"))
		return MODULES_FOR_ROCE;
	if (streq(protocol, "iw"))
		return MODULES_FOR_IWARP;
	return _MODULES_FOR_MAX;
}

/* Of a port that is never read the list of devices has to tell what it is; false: not known. */
static bool port_is_known(const struct collection *c, const struct port *p, struct port_facts *ret)
{
	const struct device *d = p->device;

	*ret = p->facts;
	if (p->have_facts)
		return true;
	if (config_device_settings(c->in->config, &d->facts).monitor != MONITOR_NO)
		return false;
	ret->number = p->number;
	ret->link_layer = device_link_layer(&d->facts);
	return true;
}

/* What is set of a port; false: it is not known yet what the port is, which selectors may ask for. */
static bool settings_of_port(
	const struct collection *c, const struct port *p, struct port_settings *ret)
{
	struct port_facts facts;

	if (!port_is_known(c, p, &facts))
		return false;
	*ret = config_port_settings(c->in->config, &p->device->facts, &facts);
	if (facts.link_layer != LINK_LAYER_ETHERNET) {
		ret->roce_mode = GID_TYPE_UNKNOWN;
		ret->roce_tos = -1;
	}
	return true;
}

/* RoCE mode and ToS are rdma_cm's, which nothing loads before the first connection. */
static bool roce_is_set(const struct collection *c, const struct device *d)
{
	struct port_settings set;

	for (size_t i = 0; modules_for(d) == MODULES_FOR_ROCE && i < d->n_ports; i++)
		if (settings_of_port(c, &d->ports[i], &set) &&
			(set.roce_mode != GID_TYPE_UNKNOWN || set.roce_tos >= 0))
			return true;
	return false;
}

static int collect_modules(struct collection *c)
{
	static const char *const for_key[_MODULES_FOR_MAX] = {
		[MODULES_FOR_INFINIBAND] = "[Modules] LoadInfiniBand=",
		[MODULES_FOR_ROCE] = "[Modules] LoadRoCE=",
		[MODULES_FOR_IWARP] = "[Modules] LoadIWARP=",
	};
	const struct config *config = c->in->config;
	bool wanted[_MODULES_FOR_MAX] = { false }, roce = false;
	int r = 0;

	for (size_t i = 0; i < config->n_load && r >= 0; i++)
		r = add_module(c, config->load[i], "[Modules] Load=");
	for (const struct device *d = c->in->model->devices; d; d = d->next) {
		if (modules_for(d) < _MODULES_FOR_MAX)
			wanted[modules_for(d)] = true;
		roce = roce || roce_is_set(c, d);
	}
	for (size_t k = 0; k < _MODULES_FOR_MAX; k++)
		for (size_t i = 0; wanted[k] && i < config->load_for[k].n && r >= 0; i++)
			r = add_module(c, config->load_for[k].names[i], for_key[k]);
	if (roce && r >= 0)
		r = add_module(c, ROCE_MODULE, "RoCEMode= and RoCEToS=");
	return r;
}

static int collect_links(struct collection *c)
{
	const struct config *config = c->in->config;
	int r = 0;

	for (size_t i = 0; i < config->n_links && r >= 0; i++) {
		struct step s = {
			.kind = STEP_ADD_LINK,
			.index = STEP_INDEX_NONE,
			.link_type = config->links[i].type,
		};

		STRSCPY(s.object, config->links[i].name);
		STRSCPY(s.netdev, config->links[i].netdev);
		r = add(c, &s);
	}
	return r;
}

/* ---- the host, devices, ports ---- */

static int collect_host(struct collection *c)
{
	const struct config *config = c->in->config;
	struct step s;
	int r = 0;

	if (config->netns_exclusive >= 0) {
		s = setting(STEP_NETNS_MODE, SETTING_HOST,
			config->netns_exclusive ? "exclusive" : "shared");
		r = add(c, &s);
	}
	if (config->privileged_qkey >= 0 && r >= 0) {
		s = setting(STEP_PRIVILEGED_QKEY, SETTING_HOST,
			setting_switch(config->privileged_qkey));
		r = add(c, &s);
	}
	return r;
}

static int add_device_setting(
	struct collection *c, const struct device *d, enum step_kind kind, const char *value)
{
	struct step s = setting(kind, d->facts.name, value);

	s.index = d->facts.index;
	return add(c, &s);
}

/*
 * The name that a description is to say: the one that the device gets in a moment, so that it is not written
 * twice, but none that it does not get: two that are refused the same name would have the same description.
 */
static const char *name_to_describe(
	const struct collection *c, const struct device *d, const struct step *name)
{
	bool refused = name->result == STEP_BLOCKED || name->result == STEP_FAILED ||
		       name->result == STEP_UNSUPPORTED || name->result == STEP_WAITING;

	if (refused && c->in->config->setup_mode != SETUP_MODE_REPORT)
		return d->facts.name;
	return step_name_is_due(c->in, d) ? name->value : d->facts.name;
}

static int collect_device(struct collection *c, const struct device *d)
{
	struct device_settings set = config_device_settings(c->in->config, &d->facts);
	char description[NODE_DESC_MAX + 1];
	const char *name = d->facts.name;
	int r = 0;

	if (set.name) {
		r = add_device_setting(c, d, STEP_DEVICE_NAME, set.name);
		if (r >= 0)
			name = name_to_describe(c, d, &c->steps[c->n - 1]);
	}
	if (set.node_description && r >= 0) {
		node_description(description, set.node_description, c->in->hostname, name);
		if (description[0])
			r = add_device_setting(c, d, STEP_NODE_DESCRIPTION, description);
	}
	if (set.adaptive_moderation >= 0 && r >= 0)
		r = add_device_setting(
			c, d, STEP_ADAPTIVE_MODERATION, setting_switch(set.adaptive_moderation));
	return r;
}

static int add_port_setting(
	struct collection *c, const struct port *p, enum step_kind kind, const char *value)
{
	struct step s = setting(kind, "", value);

	snprintf(s.object, sizeof(s.object), "%s/%u", p->device->facts.name, p->number);
	s.index = p->device->facts.index;
	s.port = p->number;
	return add(c, &s);
}

static int collect_port(struct collection *c, const struct port *p)
{
	struct port_settings set;
	char tos[16];
	int r = 0;

	if (!settings_of_port(c, p, &set))
		return 0;
	if (set.roce_mode != GID_TYPE_UNKNOWN)
		r = add_port_setting(c, p, STEP_ROCE_MODE, setting_roce_mode(set.roce_mode));
	if (set.roce_tos >= 0 && r >= 0) {
		snprintf(tos, sizeof(tos), "%d", set.roce_tos);
		r = add_port_setting(c, p, STEP_ROCE_TOS, tos);
	}
	if (set.optional_counters && *set.optional_counters && r >= 0)
		r = add_port_setting(c, p, STEP_OPTIONAL_COUNTERS, set.optional_counters);
	return r;
}

static int collect_devices(struct collection *c)
{
	int r = 0;

	for (const struct device *d = c->in->model->devices; d && r >= 0; d = d->next) {
		r = collect_device(c, d);
		for (size_t i = 0; i < d->n_ports && r >= 0; i++)
			r = collect_port(c, &d->ports[i]);
	}
	return r;
}

/* ---- IPoIB ---- */

static int add_netdev_setting(
	struct collection *c, const char *netdev, enum step_kind kind, const char *value)
{
	const struct netdev *n = model_netdev_by_name(c->in->model, netdev);
	struct step s = setting(kind, netdev, value);

	if (n)
		s.index = n->facts.ifindex;
	return add(c, &s);
}

static int collect_ipoib(struct collection *c, const struct config_ipoib *i)
{
	const struct netdev *parent;
	struct step s;
	char value[16];
	int r = 0;

	if (i->parent) {
		snprintf(value, sizeof(value), i->pkey ? "0x%04x" : "", i->pkey);
		s = setting(STEP_ADD_IPOIB, i->name, value);
		STRSCPY(s.netdev, i->parent);
		parent = model_netdev_by_name(c->in->model, i->parent);
		if (parent)
			s.index = parent->facts.ifindex;
		r = add(c, &s);
	}
	if (i->connected >= 0 && r >= 0)
		r = add_netdev_setting(
			c, i->name, STEP_IPOIB_MODE, i->connected ? "connected" : "datagram");
	if (i->umcast >= 0 && r >= 0)
		r = add_netdev_setting(c, i->name, STEP_IPOIB_UMCAST, setting_switch(i->umcast));
	/* After the mode, which sets it, too. */
	if (i->mtu && r >= 0) {
		snprintf(value, sizeof(value), "%u", i->mtu);
		r = add_netdev_setting(c, i->name, STEP_NETDEV_MTU, value);
	}
	return r;
}

int plan_collect(
	const struct plan *p, const struct plan_input *in, struct step **ret, size_t *ret_n)
{
	struct collection c = { .plan = p, .in = in };
	int r;

	r = collect_host(&c);
	if (r >= 0)
		r = collect_modules(&c);
	if (r >= 0)
		r = collect_links(&c);
	if (r >= 0)
		r = collect_devices(&c);
	for (size_t i = 0; i < in->config->n_ipoibs && r >= 0; i++)
		r = collect_ipoib(&c, &in->config->ipoibs[i]);
	if (r < 0) {
		free(c.steps);
		return r;
	}
	*ret = c.steps;
	*ret_n = c.n;
	return 0;
}
