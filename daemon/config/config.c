/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>

#include "macros.h"
#include "parser.h"
#include "words.h"

static const char *const setup_mode_table[_SETUP_MODE_MAX] = {
	[SETUP_MODE_APPLY] = "apply",
	[SETUP_MODE_REPORT] = "report",
	[SETUP_MODE_OFF] = "off",
};
DEFINE_STRING_TABLE(setup_mode, enum setup_mode)

static const char *const drift_mode_table[_DRIFT_MODE_MAX] = {
	[DRIFT_REPORT] = "report",
	[DRIFT_REPAIR] = "repair",
	[DRIFT_IGNORE] = "ignore",
};
DEFINE_STRING_TABLE(drift_mode, enum drift_mode)

static const char *const monitor_mode_table[_MONITOR_MODE_MAX] = {
	[MONITOR_AUTO] = "auto",
	[MONITOR_EVENTS] = "events",
	[MONITOR_READS] = "reads",
	[MONITOR_NO] = "no",
};
DEFINE_STRING_TABLE(monitor_mode, enum monitor_mode)

static const char *const expect_table[_EXPECT_MAX] = {
	[EXPECT_AUTO] = "auto",
	[EXPECT_UP] = "up",
	[EXPECT_DOWN] = "down",
	[EXPECT_ANY] = "any",
};
DEFINE_STRING_TABLE(expect, enum expect)

static const char *const counter_alarm_table[_COUNTER_ALARM_MAX] = {
	[ALARM_NONE] = "none",
	[ALARM_NOTICE] = "notice",
	[ALARM_DEGRADED] = "degraded",
	[ALARM_FAILED] = "failed",
};
DEFINE_STRING_TABLE(counter_alarm, enum counter_alarm)

static int add_module_for(struct config *c, enum modules_for protocol, const char *name)
{
	struct config_modules *m = &c->load_for[protocol];
	char **names = reallocarray(m->names, m->n + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	m->names = names;
	names[m->n] = strdup(name);
	if (!names[m->n])
		return -ENOMEM;
	m->n++;
	return 0;
}

struct config *config_new(void)
{
	static uint64_t made;
	_cleanup_(config_freep) struct config *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->words = config_words_new();
	if (!c->words || add_module_for(c, MODULES_FOR_INFINIBAND, "ib_umad") < 0 ||
		add_module_for(c, MODULES_FOR_INFINIBAND, "ib_ipoib") < 0)
		return NULL;
	c->serial = ++made;
	/* conf/rdmad.conf shows these; test-config holds the two together. */
	c->probe_usec = 30 * USEC_PER_SEC;
	c->counter_usec = 10 * USEC_PER_SEC;
	c->slow_counter_usec = 60 * USEC_PER_SEC;
	c->probe_timeout_usec = 5 * USEC_PER_SEC;
	c->grace_usec = 60 * USEC_PER_SEC;
	c->start_budget_usec = 15 * USEC_PER_SEC;
	c->setup_mode = SETUP_MODE_APPLY;
	c->drift = DRIFT_REPORT;
	c->flap_count = 3;
	c->flap_window_usec = USEC_PER_HOUR;
	c->stable_usec = 10 * USEC_PER_MINUTE;
	c->down_delay_usec = 0;
	c->degraded_delay_usec = 30 * USEC_PER_SEC;
	c->missing_delay_usec = 60 * USEC_PER_SEC;
	c->unresponsive_usec = 5 * USEC_PER_MINUTE;
	c->netns_exclusive = c->privileged_qkey = -1;
	return TAKE_PTR(c);
}

void config_link_done(struct config_link *l)
{
	free(l->name);
	free(l->netdev);
	free(l->origin.file);
	*l = (struct config_link){ 0 };
}

void config_expect_done(struct config_expect *e)
{
	free(e->name);
	selector_done(&e->match);
	free(e->origin.file);
	*e = (struct config_expect){ 0 };
}

static void ipoib_done(struct config_ipoib *i)
{
	free(i->name);
	free(i->parent);
	free(i->origin.file);
	free(i->pkey_at.file);
	*i = (struct config_ipoib){ 0 };
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

struct config *config_free(struct config *c)
{
	if (!c)
		return NULL;
	free_list(c->load, c->n_load);
	free_list(c->deny, c->n_deny);
	for (size_t i = 0; i < _MODULES_FOR_MAX; i++)
		free_list(c->load_for[i].names, c->load_for[i].n);
	config_words_free(c->words);
	for (size_t i = 0; i < c->n_links; i++)
		config_link_done(&c->links[i]);
	free(c->links);
	for (size_t i = 0; i < c->n_devices; i++) {
		selector_done(&c->devices[i].selector);
		free(c->devices[i].origin.file);
		free(c->devices[i].name);
		free(c->devices[i].node_description);
	}
	free(c->devices);
	for (size_t i = 0; i < c->n_ports; i++) {
		selector_done(&c->ports[i].selector);
		free(c->ports[i].origin.file);
		free(c->ports[i].group);
		free(c->ports[i].optional_counters);
	}
	free(c->ports);
	for (size_t i = 0; i < c->n_set; i++)
		free(c->set[i].origin.file);
	free(c->set);
	for (size_t i = 0; i < c->n_expects; i++)
		config_expect_done(&c->expects[i]);
	free(c->expects);
	for (size_t i = 0; i < c->n_ipoibs; i++)
		ipoib_done(&c->ipoibs[i]);
	free(c->ipoibs);
	for (size_t i = 0; i < c->n_counters; i++) {
		free(c->counters[i].glob);
		free(c->counters[i].origin.file);
	}
	free(c->counters);
	for (size_t i = 0; i < c->n_problems; i++) {
		free(c->problems[i].text);
		free(c->problems[i].origin.file);
	}
	free(c->problems);
	free(c);
	return NULL;
}

void config_freep(struct config **c)
{
	config_free(*c);
}

int config_add_problem(struct config *c, const char *file, unsigned line, const char *text)
{
	struct config_problem *p;

	p = reallocarray(c->problems, c->n_problems + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	c->problems = p;
	p += c->n_problems;
	*p = (struct config_problem){
		.origin = { .file = strdup(file), .line = line },
		.text = strdup(text),
	};
	if (!p->origin.file || !p->text) {
		free(p->origin.file);
		free(p->text);
		return -ENOMEM;
	}
	c->n_problems++;
	return 0;
}

const char *config_problem_format(const struct config_problem *p, char *buf, size_t size)
{
	if (p->origin.line)
		snprintf(buf, size, "%s:%u: %s", p->origin.file, p->origin.line, p->text);
	else
		snprintf(buf, size, "%s: %s", p->origin.file, p->text);
	return buf;
}

struct device_settings config_device_settings(const struct config *c, const struct device_facts *f)
{
	struct device_settings s = {
		.monitor = MONITOR_AUTO,
		.expect = EXPECT_AUTO,
		.adaptive_moderation = -1,
	};

	for (size_t i = 0; i < c->n_devices; i++) {
		const struct config_device *d = &c->devices[i];

		if (!selector_match(&d->selector, f, NULL))
			continue;
		if (d->has_monitor) {
			s.monitor = d->monitor;
			s.monitor_origin = &d->origin;
		}
		if (d->has_expect) {
			s.expect = d->expect;
			s.expect_origin = &d->origin;
		}
		if (d->has_name) {
			s.name = d->name;
			s.name_at = d->name ? &d->name_at : NULL;
		}
		if (d->has_node_description) {
			s.node_description = d->node_description;
			s.node_description_at =
				d->node_description ? &d->node_description_at : NULL;
		}
		if (d->has_adaptive_moderation) {
			s.adaptive_moderation = d->adaptive_moderation;
			s.adaptive_moderation_at =
				d->adaptive_moderation >= 0 ? &d->adaptive_moderation_at : NULL;
		}
	}
	return s;
}

/*
 * Adds what a section that matches says of optional counters. Where memory is out, the later section
 * stands alone: it is what the administrator cares about most.
 */
static void add_optional_counters(
	const struct config *c, struct port_settings *s, const struct config_port *e)
{
	_cleanup_(freep) char *both = NULL;
	const char *kept = NULL;

	if (e->optional_reset) {
		s->optional_counters = NULL;
		s->optional_counters_at = NULL;
	}
	if (!e->optional_counters)
		return;
	s->optional_counters_at = &e->optional_counters_at;
	if (s->optional_counters) {
		if (config_words_add(&both, s->optional_counters) == 0 &&
			config_words_add(&both, e->optional_counters) == 0)
			kept = config_words_keep(c->words, both);
	}
	s->optional_counters = kept ? kept : e->optional_counters;
}

struct port_settings config_port_settings(
	const struct config *c, const struct device_facts *f, const struct port_facts *port)
{
	struct port_settings s = {
		.expect = EXPECT_AUTO,
		.link = config_link_of(c, f),
		.roce_tos = -1,
	};

	for (size_t i = 0; i < c->n_ports; i++) {
		const struct config_port *e = &c->ports[i];

		if (!selector_match(&e->selector, f, port))
			continue;
		if (e->has_expect) {
			s.expect = e->expect;
			s.expect_origin = &e->origin;
		}
		if (e->has_min_rate) {
			s.min_rate_mbps = e->min_rate_mbps;
			s.min_rate_at = e->min_rate_mbps ? &e->min_rate_at : NULL;
		}
		if (e->has_link_layer) {
			s.link_layer = e->link_layer;
			s.link_layer_at = e->link_layer ? &e->link_layer_at : NULL;
		}
		if (e->has_group)
			s.group = e->group;
		if (e->has_roce_mode) {
			s.roce_mode = e->roce_mode;
			s.roce_mode_at = e->roce_mode ? &e->roce_mode_at : NULL;
		}
		if (e->has_roce_tos) {
			s.roce_tos = e->roce_tos;
			s.roce_tos_at = e->roce_tos >= 0 ? &e->roce_tos_at : NULL;
		}
		add_optional_counters(c, &s, e);
	}
	return s;
}

const struct config_origin *config_origin_at(const struct config *c, size_t offset)
{
	for (size_t i = 0; i < c->n_set; i++)
		if (c->set[i].offset == offset)
			return &c->set[i].origin;
	return NULL;
}

int config_note_set(struct config *c, size_t offset, bool set, const char *file, unsigned line)
{
	struct config_set *list;
	size_t i = 0;
	char *copy;

	while (i < c->n_set && c->set[i].offset != offset)
		i++;
	if (i < c->n_set) {
		free(c->set[i].origin.file);
		c->set[i] = c->set[--c->n_set];
	}
	if (!set)
		return 0;
	list = reallocarray(c->set, c->n_set + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	c->set = list;
	copy = strdup(file);
	if (!copy)
		return -ENOMEM;
	c->set[c->n_set++] = (struct config_set){ offset, { copy, line } };
	return 0;
}

const struct config_link *config_link_by_name(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_links; i++)
		if (streq(c->links[i].name, name))
			return &c->links[i];
	return NULL;
}

const struct config_link *config_link_of(const struct config *c, const struct device_facts *f)
{
	const struct config_link *l;

	if (f->link_type == LINK_TYPE_NONE)
		return NULL;
	if (!f->parent_netdev[0]) {
		l = config_link_by_name(c, f->name);
		return l && l->type == f->link_type ? l : NULL;
	}
	for (size_t i = 0; i < c->n_links; i++)
		if (c->links[i].type == f->link_type && streq(c->links[i].netdev, f->parent_netdev))
			return &c->links[i];
	return NULL;
}

const struct config_expect *config_expect_of(
	const struct config *c, const struct device_facts *f, const struct port_facts *p)
{
	for (size_t i = 0; i < c->n_expects; i++)
		if (selector_match(&c->expects[i].match, f, p))
			return &c->expects[i];
	return NULL;
}

bool config_expects_anything(const struct config *c)
{
	if (c->n_links || c->n_expects)
		return true;
	for (size_t i = 0; i < c->n_devices; i++)
		if (c->devices[i].has_expect && c->devices[i].expect == EXPECT_UP)
			return true;
	for (size_t i = 0; i < c->n_ports; i++)
		if (c->ports[i].has_expect && c->ports[i].expect == EXPECT_UP)
			return true;
	return false;
}

bool config_module_denied(const struct config *c, const char *module)
{
	for (size_t i = 0; i < c->n_deny; i++)
		if (module_name_equal(c->deny[i], module))
			return true;
	return false;
}
