/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <strings.h>

#include "details.h"
#include "keys.h"
#include "words.h"

/* ---- [Modules] ---- */

/* Appends one module to a list, once. */
static int append_module(
	struct parser *p, char ***list, size_t *n, const char *name, const char *key, unsigned line)
{
	char **l;

	for (size_t i = 0; i < *n; i++)
		if (module_name_equal((*list)[i], name))
			return 0;
	if (*n >= CONFIG_ITEMS_MAX)
		return parser_problem(p, line, "%s=: too many modules", key);
	l = reallocarray(*list, *n + 1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	*list = l;
	l[*n] = strdup(name);
	if (!l[*n])
		return -ENOMEM;
	(*n)++;
	return 0;
}

/* What is wrong with a word of a list of modules; NULL: nothing. */
static const char *module_fault(const char *word)
{
	/* Aliases of device trees have commas, and a colon, too. */
	if (strchr(word, ',') && !strchr(word, ':'))
		return "is not a module name: write spaces between modules";
	if (strstr(word, ".ko"))
		return "is not a module name: that is without .ko";
	return module_name_valid(word) ? NULL : "is not a module name";
}

static int assign_modules(struct parser *p, char ***list, size_t *n, const char *key,
	const char *value, unsigned line)
{
	char word[MODULE_NAME_MAX];
	const char *why;
	int r;

	if (!*value) {
		for (size_t i = 0; i < *n; i++)
			free((*list)[i]);
		*n = 0;
		return 0;
	}
	for (;;) {
		r = next_word(&value, word, sizeof(word));
		if (r == 0)
			return 0;
		if (r < 0)
			return parser_problem(p, line, "%s=: a module name is too long", key);
		why = module_fault(word);
		r = why ? parser_problem(p, line, "%s=: \"%s\" %s", key, word, why)
			: append_module(p, list, n, word, key, line);
		if (r < 0)
			return r;
	}
}

DECLARE_KEY(key_load)
{
	return assign_modules(p, &p->config->load, &p->config->n_load, key, value, line);
}

DECLARE_KEY(key_deny)
{
	return assign_modules(p, &p->config->deny, &p->config->n_deny, key, value, line);
}

DECLARE_KEY(key_load_for)
{
	struct config_modules *m = (struct config_modules *)(void *)((char *)p->config + k->offset);

	return assign_modules(p, &m->names, &m->n, key, value, line);
}

/* ---- [System] ---- */

DECLARE_KEY(key_netns_mode)
{
	int v = -1;

	if (streq(value, "exclusive"))
		v = 1;
	else if (streq(value, "shared"))
		v = 0;
	else if (*value)
		return parser_problem(p, line, "%s=%s: must be shared or exclusive", key, value);
	p->config->netns_exclusive = v;
	return 0;
}

/* "yes" 1, "no" 0, "" -1: not configured. */
static int parse_yes_no(
	struct parser *p, const char *key, const char *value, unsigned line, int *ret)
{
	bool yes;

	if (!*value)
		*ret = -1;
	else if (parse_bool(value, &yes) == 0)
		*ret = yes;
	else
		return parser_problem(p, line, "%s=%s: must be yes or no", key, value);
	return 0;
}

DECLARE_KEY(key_privileged_qkey)
{
	return parse_yes_no(p, key, value, line, &p->config->privileged_qkey);
}

/* ---- [Device] ---- */

/* Takes value over into *field, NULL for an empty one. */
static int assign_text(char **field, const char *value)
{
	char *t = NULL;

	if (*value) {
		t = strdup(value);
		if (!t)
			return -ENOMEM;
	}
	free(*field);
	*field = t;
	return 0;
}

/* Where a key of this section stands: the file is the section's. */
static struct config_origin at_line(const struct config_origin *section, unsigned line)
{
	return (struct config_origin){ .file = section->file, .line = line };
}

DECLARE_KEY(key_device_name)
{
	struct config_device *d = &p->config->devices[p->item];

	/* A name that is a pattern could not be named in any section. */
	if (*value && (!rdma_name_valid(value) || strpbrk(value, "*?")))
		return parser_problem(
			p, line, "%s=%s: cannot be the name of an RDMA device", key, value);
	d->has_name = true;
	d->name_at = at_line(&d->origin, line);
	return assign_text(&d->name, value);
}

/* What is wrong with this template; NULL: nothing. The reader has seen to UTF-8 and ASCII controls. */
static const char *node_description_fault(const char *s)
{
	for (; *s; s++) {
		/* U+0080 to U+009F are control characters, too. */
		if (*s == '\t' || ((unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0))
			return "there is a control character in it";
		if (*s != '%')
			continue;
		s++;
		if (*s != 'H' && *s != 'd' && *s != '%')
			return "behind % may be H (the host's name), d (the device's) or % only";
	}
	return NULL;
}

DECLARE_KEY(key_node_description)
{
	struct config_device *d = &p->config->devices[p->item];
	const char *why = node_description_fault(value);

	if (why)
		return parser_problem(p, line, "%s=%s: %s", key, value, why);
	d->has_node_description = true;
	d->node_description_at = at_line(&d->origin, line);
	return assign_text(&d->node_description, value);
}

DECLARE_KEY(key_adaptive_moderation)
{
	struct config_device *d = &p->config->devices[p->item];
	unsigned problems = p->n_problems;
	int v = -1, r = parse_yes_no(p, key, value, line, &v);

	if (r < 0 || p->n_problems > problems)
		return r;
	d->adaptive_moderation = v;
	d->has_adaptive_moderation = true;
	d->adaptive_moderation_at = at_line(&d->origin, line);
	return 0;
}

/* ---- [Port] ---- */

DECLARE_KEY(key_roce_mode)
{
	struct config_port *e = &p->config->ports[p->item];
	enum gid_type mode = GID_TYPE_UNKNOWN;

	if (streq(value, "v1"))
		mode = GID_TYPE_ROCE_V1;
	else if (streq(value, "v2"))
		mode = GID_TYPE_ROCE_V2;
	else if (*value)
		return parser_problem(p, line, "%s=%s: must be v1 or v2", key, value);
	e->roce_mode = mode;
	e->has_roce_mode = true;
	e->roce_mode_at = at_line(&e->origin, line);
	return 0;
}

/* A number within the limits of the key. False: not so, and that is noted in *r. */
static bool parse_limited(struct parser *p, const struct key *k, const char *key, const char *value,
	unsigned line, uint32_t *ret, int *r)
{
	if (parse_u32(value, ret) == 0 && *ret >= k->min && *ret <= k->max)
		return true;
	*r = parser_problem(p, line, "%s=%s: not a whole number from %u to %u", key, value,
		(unsigned)k->min, (unsigned)k->max);
	return false;
}

DECLARE_KEY(key_roce_tos)
{
	struct config_port *e = &p->config->ports[p->item];
	uint32_t v;
	int r = 0;

	if (*value && !parse_limited(p, k, key, value, line, &v, &r))
		return r;
	e->roce_tos = *value ? (int)v : -1;
	e->has_roce_tos = true;
	e->roce_tos_at = at_line(&e->origin, line);
	return 0;
}

DECLARE_KEY(key_optional_counters)
{
	struct config_port *e = &p->config->ports[p->item];
	const char *at = value;
	char word[COUNTER_NAME_MAX];
	int r;

	if (!*value) {
		e->optional_reset = true;
		return assign_text(&e->optional_counters, "");
	}
	while ((r = next_word(&at, word, sizeof(word))) == 1) {
		if (strchr(word, ','))
			return parser_problem(p, line,
				"%s=: \"%s\" cannot be the name of a counter: write spaces "
				"between names",
				key, word);
		for (const char *c = word; *c; c++)
			if (*c < '!' || *c > '~')
				return parser_problem(p, line,
					"%s=: \"%s\" cannot be the name of a counter", key, word);
	}
	if (r < 0)
		return parser_problem(p, line, "%s=: a name is too long", key);
	e->optional_counters_at = at_line(&e->origin, line);
	return config_words_add(&e->optional_counters, value);
}

/* ---- [IPoIB] ---- */

static struct config_ipoib *ipoib_item(struct parser *p)
{
	return &p->config->ipoibs[p->item];
}

DECLARE_KEY(key_ipoib_parent)
{
	struct config_ipoib *e = ipoib_item(p);

	if (*value && !netdev_name_valid(value))
		return parser_problem(
			p, line, "%s=%s: not the name of a network interface", key, value);
	if (streq(value, e->name))
		return parser_problem(
			p, line, "%s=%s: an interface cannot be on top of itself", key, value);
	return assign_text(&e->parent, value);
}

/* "0x8001" or "32769". A P_Key without its membership bit is one of the partition 0, or none. */
static int parse_pkey(const char *s, uint16_t *ret)
{
	unsigned long v;
	uint32_t decimal;

	if (strncasecmp(s, "0x", 2) == 0) {
		/* strtoul() would take a sign, white space and a second prefix. */
		if (strspn(s + 2, "0123456789abcdefABCDEF") != strlen(s + 2) || strlen(s) > 6)
			return -EINVAL;
		v = strtoul(s, NULL, 16);
	} else if (parse_u32(s, &decimal) == 0) {
		v = decimal;
	} else {
		return -EINVAL;
	}
	if (v > 0xffff || (v & 0x7fff) == 0)
		return -EINVAL;
	*ret = (uint16_t)v;
	return 0;
}

DECLARE_KEY(key_ipoib_pkey)
{
	struct config_ipoib *e = ipoib_item(p);
	uint16_t v = 0;
	char *file;

	if (*value && parse_pkey(value, &v) < 0)
		return parser_problem(p, line,
			"%s=%s: not a P_Key (write 0x8001, 0x0001 to 0xffff without 0x8000)", key,
			value);
	file = strdup(p->file);
	if (!file)
		return -ENOMEM;
	free(e->pkey_at.file);
	e->pkey_at = (struct config_origin){ .file = file, .line = line };
	e->pkey = v;
	return 0;
}

DECLARE_KEY(key_ipoib_mode)
{
	int v = -1;

	if (streq(value, "connected"))
		v = 1;
	else if (streq(value, "datagram"))
		v = 0;
	else if (*value)
		return parser_problem(p, line, "%s=%s: must be datagram or connected", key, value);
	ipoib_item(p)->connected = v;
	return 0;
}

DECLARE_KEY(key_ipoib_mtu)
{
	uint32_t v = 0;
	int r = 0;

	if (*value && !parse_limited(p, k, key, value, line, &v, &r))
		return r;
	ipoib_item(p)->mtu = v;
	return 0;
}

DECLARE_KEY(key_ipoib_umcast)
{
	return parse_yes_no(p, key, value, line, &ipoib_item(p)->umcast);
}
