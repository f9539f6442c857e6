/* SPDX-License-Identifier: MIT */
#include "parser.h"

#include <errno.h>
#include <stdarg.h>

#include "details.h"
#include "keys.h"

int parser_problem(struct parser *p, unsigned line, const char *fmt, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list ap;
	int n;

	/* A file that is no configuration at all would fill the memory and every screen. */
	if (++p->n_problems > CONFIG_PROBLEMS_MAX) {
		if (p->n_problems > CONFIG_PROBLEMS_MAX + 1)
			return 0;
		return config_add_problem(
			p->config, p->file, line, "further problems of this file are not listed");
	}
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return config_add_problem(p->config, p->file, line, text);
}

/* Makes room for one more element and zeroes it. NULL: out of memory. */
static void *grow(void *array, size_t *n, size_t size)
{
	void **list = array;
	char *a = reallocarray(*list, *n + 1, size);

	if (!a)
		return NULL;
	*list = a;
	memset(a + *n * size, 0, size);
	return a + (*n)++ * size;
}

static int set_origin(struct parser *p, struct config_origin *origin, unsigned line)
{
	origin->line = line;
	origin->file = strdup(p->file);
	return origin->file ? 0 : -ENOMEM;
}

static int begin_link(struct parser *p, const char *name, unsigned line)
{
	struct config *c = p->config;
	const struct config_link *known = config_link_by_name(c, name);
	struct config_link *l;

	if (!rdma_name_valid(name) || strpbrk(name, "*?"))
		return parser_problem(p, line, "\"%s\" cannot be the name of an RDMA device", name);
	if (!known) {
		if (c->n_links >= CONFIG_ITEMS_MAX)
			return parser_problem(p, line, "too many [Link] sections");
		l = grow(&c->links, &c->n_links, sizeof(*l));
		if (!l || set_origin(p, &l->origin, line) < 0)
			return -ENOMEM;
		l->name = strdup(name);
		if (!l->name)
			return -ENOMEM;
		known = l;
	}
	p->item = (size_t)(known - c->links);
	p->section = SECTION_LINK;
	return 0;
}

static int begin_selected(struct parser *p, bool port, const char *text, unsigned line)
{
	struct config *c = p->config;
	struct selector s;
	char why[160];
	int r;

	r = selector_parse(text, port, &s, why, sizeof(why));
	if (r == -EINVAL)
		return parser_problem(p, line, "[%s %s]: %s", port ? "Port" : "Device", text, why);
	if (r < 0)
		return r;
	if ((port ? c->n_ports : c->n_devices) >= CONFIG_ITEMS_MAX) {
		selector_done(&s);
		return parser_problem(p, line, "too many sections of this kind");
	}
	if (port) {
		struct config_port *e = grow(&c->ports, &c->n_ports, sizeof(*e));

		if (!e) {
			selector_done(&s);
			return -ENOMEM;
		}
		e->selector = s;
		e->roce_tos = -1;
		p->item = c->n_ports - 1;
		p->section = SECTION_PORT;
		return set_origin(p, &e->origin, line);
	} else {
		struct config_device *e = grow(&c->devices, &c->n_devices, sizeof(*e));

		if (!e) {
			selector_done(&s);
			return -ENOMEM;
		}
		e->selector = s;
		e->adaptive_moderation = -1;
		p->item = c->n_devices - 1;
		p->section = SECTION_DEVICE;
		return set_origin(p, &e->origin, line);
	}
}

static int begin_expect(struct parser *p, const char *name, unsigned line)
{
	struct config *c = p->config;
	struct config_expect *e = NULL;

	if (!rdma_name_valid(name))
		return parser_problem(p, line, "[Expect %s]: needs a name, one word", name);
	for (size_t i = 0; i < c->n_expects && !e; i++)
		if (streq(c->expects[i].name, name))
			e = &c->expects[i];
	if (!e) {
		if (c->n_expects >= CONFIG_ITEMS_MAX)
			return parser_problem(p, line, "too many [Expect] sections");
		e = grow(&c->expects, &c->n_expects, sizeof(*e));
		if (!e || set_origin(p, &e->origin, line) < 0)
			return -ENOMEM;
		e->name = strdup(name);
		if (!e->name)
			return -ENOMEM;
	}
	p->item = (size_t)(e - c->expects);
	p->section = SECTION_EXPECT;
	return 0;
}

static int begin_ipoib(struct parser *p, const char *name, unsigned line)
{
	struct config *c = p->config;
	struct config_ipoib *e = NULL;

	/* With a "%" the kernel would choose the name. */
	if (!netdev_name_valid(name) || strchr(name, '%'))
		return parser_problem(
			p, line, "\"%s\" cannot be the name of a network interface", name);
	for (size_t i = 0; i < c->n_ipoibs && !e; i++)
		if (streq(c->ipoibs[i].name, name))
			e = &c->ipoibs[i];
	if (!e) {
		if (c->n_ipoibs >= CONFIG_ITEMS_MAX)
			return parser_problem(p, line, "too many [IPoIB] sections");
		e = grow(&c->ipoibs, &c->n_ipoibs, sizeof(*e));
		if (!e || set_origin(p, &e->origin, line) < 0)
			return -ENOMEM;
		e->connected = e->umcast = -1;
		e->name = strdup(name);
		if (!e->name)
			return -ENOMEM;
	}
	p->item = (size_t)(e - c->ipoibs);
	p->section = SECTION_IPOIB;
	return 0;
}

static bool counter_pattern_valid(const char *s)
{
	if (!*s || strlen(s) >= COUNTER_NAME_MAX)
		return false;
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			return false;
	return true;
}

static int begin_counter(struct parser *p, const char *pattern, unsigned line)
{
	struct config *c = p->config;
	struct config_counter *k;

	if (!counter_pattern_valid(pattern))
		return parser_problem(p, line, "\"%s\" cannot be the name of a counter", pattern);
	if (c->n_counters >= CONFIG_ITEMS_MAX)
		return parser_problem(p, line, "too many [Counter] sections");
	k = grow(&c->counters, &c->n_counters, sizeof(*k));
	if (!k || set_origin(p, &k->origin, line) < 0)
		return -ENOMEM;
	k->glob = strdup(pattern);
	if (!k->glob)
		return -ENOMEM;
	p->item = c->n_counters - 1;
	p->section = SECTION_COUNTER;
	return 0;
}

static int enter_section(struct parser *p, const char *text, unsigned line)
{
	const struct section_name *s;
	char kind[64];
	const char *argument = text;

	p->section = SECTION_NONE;
	if (next_word(&argument, kind, sizeof(kind)) <= 0 || text[0] == ' ' || text[0] == '\t')
		return parser_problem(p, line, "[%s] is not a section of rdmad", text);
	while (*argument == ' ' || *argument == '\t')
		argument++;

	s = section_lookup(kind);
	if (!s) {
		const char *near = section_suggest(kind);

		return parser_problem(p, line, "unknown section [%s]%s%s%s", text,
			near ? "; did you mean [" : "", near ? near : "", near ? "]?" : "");
	}
	if (s->kind == SECTION_NONE)
		return parser_problem(
			p, line, "section [%s] is known, but not supported by this version", text);
	if (!s->example && *argument)
		return parser_problem(
			p, line, "section [%s] takes no name: \"%s\"", kind, argument);
	if (s->example && !*argument)
		return parser_problem(p, line, "[%s] needs %s behind the word: %s", kind,
			s->kind == SECTION_DEVICE || s->kind == SECTION_PORT ? "a selector"
									     : "a name",
			s->example);
	switch (s->kind) {
	case SECTION_LINK:
		return begin_link(p, argument, line);
	case SECTION_DEVICE:
		return begin_selected(p, false, argument, line);
	case SECTION_PORT:
		return begin_selected(p, true, argument, line);
	case SECTION_EXPECT:
		return begin_expect(p, argument, line);
	case SECTION_IPOIB:
		return begin_ipoib(p, argument, line);
	case SECTION_COUNTER:
		return begin_counter(p, argument, line);
	case SECTION_DAEMON:
	case SECTION_SETUP:
	case SECTION_MODULES:
	case SECTION_SYSTEM:
	case SECTION_HEALTH:
	case SECTION_NONE:
	case _SECTION_MAX:
		break;
	}
	p->section = s->kind;
	return 0;
}

static int begin_section(void *user, const char *text, unsigned line)
{
	struct parser *p = user;
	int r;

	r = enter_section(p, text, line);
	if (r < 0 || p->section == SECTION_NONE)
		return r;
	STRSCPY(p->header, text);
	return config_notes_add(p->notes, NOTE_SECTION, p->file, line, p->header, NULL, NULL);
}

static int handle_value(void *user, const char *key, const char *value, unsigned line)
{
	struct parser *p = user;
	unsigned problems = p->n_problems;
	int r;

	if (p->section == SECTION_NONE)
		return 0;
	r = key_assign(p, key, value, line);
	if (r < 0 || p->n_problems != problems)
		return r;
	return config_notes_add(p->notes, key_is_list(p->section, key) ? NOTE_LIST : NOTE_KEY,
		p->file, line, p->header, key, value);
}

static int handle_problem(void *user, unsigned line, const char *text)
{
	struct parser *p = user;

	return parser_problem(p, line, "%s", text);
}

const struct reader_callbacks parser_callbacks = {
	.section = begin_section,
	.value = handle_value,
	.problem = handle_problem,
};

/* What is wrong with links[i], given the ones before it that are kept; NULL: nothing. */
static char *link_fault(const struct config *c, size_t n_kept, const struct config_link *l)
{
	char *text = NULL;
	int n = 0;

	if (l->type == LINK_TYPE_NONE || !l->netdev) {
		n = asprintf(&text, "[Link %s] lacks %s%s%s: left out", l->name,
			l->type == LINK_TYPE_NONE ? "Type=" : "",
			l->type == LINK_TYPE_NONE && !l->netdev ? " and " : "",
			l->netdev ? "" : "NetDevice=");
		return n < 0 ? NULL : text;
	}
	for (size_t i = 0; i < n_kept; i++) {
		const struct config_link *k = &c->links[i];

		if (k->type != l->type || !streq(k->netdev, l->netdev))
			continue;
		n = asprintf(&text,
			"[Link %s] is left out: %s carries the %s link %s (%s:%u) already, and "
			"there is one per netdev",
			l->name, l->netdev, link_type_to_string(l->type), k->name, k->origin.file,
			k->origin.line);
		return n < 0 ? NULL : text;
	}
	return NULL;
}

/* Without both of them nothing could be counted. */
static int drop_incomplete_expects(struct config *c)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < c->n_expects; i++) {
		struct config_expect *e = &c->expects[i];
		_cleanup_(freep) char *why = NULL;

		if (e->match.text && e->count) {
			c->expects[kept++] = *e;
			continue;
		}
		if (asprintf(&why, "[Expect %s] lacks %s%s%s: left out", e->name,
			    e->match.text ? "" : "Match=",
			    !e->match.text && !e->count ? " and " : "",
			    e->count ? "" : "Count=") < 0) {
			why = NULL;
			r = -ENOMEM;
		}
		if (r == 0)
			r = config_add_problem(c, e->origin.file, e->origin.line, why);
		config_expect_done(e);
	}
	c->n_expects = kept;
	return r;
}

/* The P_Key belongs to the making of an interface; the rest of the section holds without it. */
static int drop_pkeys_without_parent(struct config *c)
{
	for (size_t i = 0; i < c->n_ipoibs; i++) {
		struct config_ipoib *e = &c->ipoibs[i];
		_cleanup_(freep) char *why = NULL;
		int r;

		if (e->parent || !e->pkey)
			continue;
		if (asprintf(&why, "PKey= of [IPoIB %s] is left out: it needs Parent=", e->name) <
			0) {
			why = NULL;
			return -ENOMEM;
		}
		r = config_add_problem(c, e->pkey_at.file, e->pkey_at.line, why);
		if (r < 0)
			return r;
		e->pkey = 0;
	}
	return 0;
}

int parser_finish(struct config *c)
{
	size_t kept = 0;
	int r = drop_incomplete_expects(c);

	if (r == 0)
		r = drop_pkeys_without_parent(c);

	for (size_t i = 0; i < c->n_links; i++) {
		struct config_link *l = &c->links[i];
		_cleanup_(freep) char *why = link_fault(c, kept, l);

		if (!why) {
			c->links[kept++] = *l;
			continue;
		}
		if (r == 0)
			r = config_add_problem(c, l->origin.file, l->origin.line, why);
		config_link_done(l);
	}
	c->n_links = kept;
	return r < 0 ? r : config_check_counters(c);
}
