/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <errno.h>
#include <inttypes.h>

#include "macros.h"
#include "parse.h"
#include "setting.h"

#define HEADER  "rdmad-setup-memory 1"
#define SETTING "setting "

/* "link" has the most: its name, type, netdev, two indexes, lost, repairs. */
#define FIELDS_MAX 8

void setup_memory_done(struct setup_memory *m)
{
	free(m->modules);
	free(m->links);
	free(m->settings);
	*m = (struct setup_memory){ 0 };
}

struct memory_module *setup_memory_module(const struct setup_memory *m, const char *name)
{
	for (size_t i = 0; i < m->n_modules; i++)
		if (module_name_equal(m->modules[i].name, name))
			return &m->modules[i];
	return NULL;
}

struct memory_link *setup_memory_link(const struct setup_memory *m, const char *name)
{
	for (size_t i = 0; i < m->n_links; i++)
		if (streq(m->links[i].name, name))
			return &m->links[i];
	return NULL;
}

int setup_memory_note_module(
	struct setup_memory *m, const char *name, const char *real, bool built_in)
{
	struct memory_module *e = setup_memory_module(m, name);

	if (e && streq(e->real, real) && e->built_in == built_in)
		return 0;
	if (!e) {
		if (m->n_modules >= MEMORY_MAX)
			return -E2BIG;
		e = reallocarray(m->modules, m->n_modules + 1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		m->modules = e;
		e += m->n_modules++;
	}
	*e = (struct memory_module){ .built_in = built_in };
	STRSCPY(e->name, name);
	STRSCPY(e->real, real);
	m->dirty = true;
	return 0;
}

static bool link_equal(const struct memory_link *a, const struct memory_link *b)
{
	return streq(a->name, b->name) && a->type == b->type && streq(a->netdev, b->netdev) &&
	       a->ifindex == b->ifindex && a->device_index == b->device_index &&
	       a->lost == b->lost && a->repairs == b->repairs;
}

int setup_memory_note_link(struct setup_memory *m, const struct memory_link *link)
{
	struct memory_link *e = setup_memory_link(m, link->name);

	if (e && link_equal(e, link))
		return 0;
	if (!e) {
		if (m->n_links >= MEMORY_MAX)
			return -E2BIG;
		e = reallocarray(m->links, m->n_links + 1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		m->links = e;
		e += m->n_links++;
	}
	*e = *link;
	m->dirty = true;
	return 0;
}

struct memory_setting *setup_memory_setting(
	const struct setup_memory *m, const struct memory_setting *like)
{
	for (size_t i = 0; i < m->n_settings; i++) {
		struct memory_setting *s = &m->settings[i];

		if (s->kind == like->kind && s->index == like->index && s->port == like->port &&
			streq(s->name, like->name))
			return s;
	}
	return NULL;
}

int setup_memory_note_setting(struct setup_memory *m, const struct memory_setting *setting)
{
	struct memory_setting *e = setup_memory_setting(m, setting);

	if (e && streq(e->value, setting->value) && e->repairs == setting->repairs)
		return 0;
	if (!e) {
		if (m->n_settings >= MEMORY_MAX)
			return -E2BIG;
		e = reallocarray(m->settings, m->n_settings + 1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		m->settings = e;
		e += m->n_settings++;
	}
	*e = *setting;
	m->dirty = true;
	return 0;
}

void setup_memory_prune_settings(struct setup_memory *m, memory_keep keep, void *user)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_settings; i++)
		if (keep(&m->settings[i], user))
			m->settings[n++] = m->settings[i];
	m->dirty |= n != m->n_settings;
	m->n_settings = n;
}

static int parse_module(struct setup_memory *m, char *const *field, size_t n)
{
	if (n != 4 || !module_name_valid(field[1]) || !module_name_valid(field[2]))
		return 0;
	return setup_memory_note_module(m, field[1], field[2], streq(field[3], "built-in"));
}

static int parse_link(struct setup_memory *m, char *const *field, size_t n)
{
	struct memory_link l = { 0 };
	int type;

	if (n != 8 || !rdma_name_valid(field[1]) || !netdev_name_valid(field[3]))
		return 0;
	type = link_type_from_string(field[2]);
	if (type < 0 || parse_u32(field[4], &l.ifindex) < 0 ||
		parse_u32(field[5], &l.device_index) < 0 || parse_bool(field[6], &l.lost) < 0 ||
		parse_u32(field[7], &l.repairs) < 0)
		return 0;
	l.type = (enum link_type)type;
	STRSCPY(l.name, field[1]);
	STRSCPY(l.netdev, field[3]);
	return setup_memory_note_link(m, &l);
}

/* "setting KIND INDEX PORT REPAIRS NAME VALUE", the value up to the end of the line. */
static int parse_setting(struct setup_memory *m, const char *line)
{
	struct memory_setting s = { 0 };
	char word[STEP_NAME_MAX];
	uint32_t *const numbers[] = { &s.index, &s.port, &s.repairs };
	int kind;

	if (next_word(&line, word, sizeof(word)) <= 0)
		return 0;
	kind = step_kind_from_string(word);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (next_word(&line, word, sizeof(word)) <= 0 || parse_u32(word, numbers[i]) < 0)
			return 0;
	if (next_word(&line, word, sizeof(word)) <= 0)
		return 0;
	if (!streq(word, "-"))
		STRSCPY(s.name, word);
	line += *line == ' ';
	if (kind < 0 || strlen(line) >= sizeof(s.value) ||
		!setting_value_valid((enum step_kind)kind, line))
		return 0;
	s.kind = (enum step_kind)kind;
	STRSCPY(s.value, line);
	return setup_memory_note_setting(m, &s);
}

/* 1: go on, 0: the rest is not ours, or a negative errno. */
static int parse_line(struct setup_memory *m, char *line, unsigned number, const char *boot_id)
{
	char *field[FIELDS_MAX + 1], *save = NULL;
	size_t n = 0;
	int r = 0;

	if (number == 0)
		return streq(line, HEADER);
	if (strncmp(line, SETTING, strlen(SETTING)) == 0 && number > 1) {
		r = parse_setting(m, line + strlen(SETTING));
		return r < 0 && r != -E2BIG ? r : 1;
	}
	while (n < ARRAY_SIZE(field) && (field[n] = strtok_r(n ? NULL : line, " ", &save)))
		n++;
	if (number == 1)
		return n == 2 && streq(field[0], "boot") && streq(field[1], boot_id);
	if (n > 0 && streq(field[0], "module"))
		r = parse_module(m, field, n);
	else if (n > 0 && streq(field[0], "link"))
		r = parse_link(m, field, n);
	return r < 0 && r != -E2BIG ? r : 1;
}

int setup_memory_parse(struct setup_memory *m, const char *text, const char *boot_id)
{
	_cleanup_(freep) char *copy = strdup(text);
	char *line, *rest = copy;
	int r = 1;

	if (!copy)
		return -ENOMEM;
	for (unsigned number = 0; r > 0 && (line = strsep(&rest, "\n")); number++)
		r = parse_line(m, line, number, boot_id);
	if (r < 0)
		return r;
	m->dirty = false;
	return (int)(m->n_modules + m->n_links + m->n_settings);
}

int setup_memory_format(struct setup_memory *m, const char *boot_id, char **ret)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool failed;

	if (!f)
		return -ENOMEM;
	fprintf(f, HEADER "\nboot %s\n", boot_id);
	for (size_t i = 0; i < m->n_modules; i++)
		fprintf(f, "module %s %s %s\n", m->modules[i].name, m->modules[i].real,
			m->modules[i].built_in ? "built-in" : "loaded");
	for (size_t i = 0; i < m->n_links; i++) {
		const struct memory_link *l = &m->links[i];

		fprintf(f, "link %s %s %s %" PRIu32 " %" PRIu32 " %s %" PRIu32 "\n", l->name,
			link_type_to_string(l->type), l->netdev, l->ifindex, l->device_index,
			l->lost ? "yes" : "no", l->repairs);
	}
	for (size_t i = 0; i < m->n_settings; i++) {
		const struct memory_setting *e = &m->settings[i];

		fprintf(f, SETTING "%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %s %s\n",
			step_kind_to_string(e->kind), e->index, e->port, e->repairs,
			e->name[0] ? e->name : "-", e->value);
	}
	failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		free(text);
		return -ENOMEM;
	}
	m->dirty = false;
	*ret = text;
	return 0;
}
