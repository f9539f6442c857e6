/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bus-internal.h"
#include "parse.h"

static int append_list(
	sd_bus_message *m, const struct list *l, const struct subject *s, const struct value *v);

/*
 * Text that is valid UTF-8, as field_get() and the fields' names are. sd_bus_message_append_basic()
 * would look at each character once more: a tenth of what a list of everything takes.
 */
static int append_text(sd_bus_message *m, const char *s)
{
	size_t size = strlen(s);
	char *space;
	int r = sd_bus_message_append_string_space(m, size, &space);

	if (r < 0)
		return r;
	memcpy(space, s, size);
	return 0;
}

static int append_value(
	sd_bus_message *m, const struct field *f, const struct subject *s, const struct value *v)
{
	uint64_t number = v->known ? v->number : UINT64_MAX;
	uint32_t number32 = (uint32_t)number;
	int flag = v->known && v->flag;

	switch (f->type) {
	case FIELD_STRING:
		return append_text(m, v->known ? v->string : "");
	case FIELD_PATH:
		return sd_bus_message_append_basic(m, 'o', v->known ? v->string : "/");
	case FIELD_U32:
		return sd_bus_message_append_basic(m, 'u', &number32);
	case FIELD_U64:
		return sd_bus_message_append_basic(m, 't', &number);
	case FIELD_BOOL:
		return sd_bus_message_append_basic(m, 'b', &flag);
	case FIELD_LIST:
		return append_list(m, f->list, s, v);
	}
	return -EINVAL;
}

/* One entry of a dictionary; what is not known is left out of a row. */
static int append_entry(
	sd_bus_message *m, const struct field *f, const struct subject *s, bool is_row)
{
	struct value v;
	int r;

	field_get(f, s, &v);
	if (!v.known && is_row)
		return 0;
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = append_text(m, f->name);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', field_signature(f));
	if (r >= 0)
		r = append_value(m, f, s, &v);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* A row is a dictionary: that can grow, a struct could not. */
static int append_row(sd_bus_message *m, const struct list *l, const struct subject *row)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (const struct field *f = l->fields; r >= 0 && f->name; f++)
		r = append_entry(m, f, row, true);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_list(
	sd_bus_message *m, const struct list *l, const struct subject *s, const struct value *v)
{
	struct subject row = *s;
	int r = sd_bus_message_open_container(m, 'a', "a{sv}");

	if (v->known)
		for (size_t i = 0; r >= 0 && l->row(s, v, i, &row); i++)
			r = append_row(m, l, &row);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_append_field(sd_bus_message *m, const struct field *f, const struct subject *s)
{
	struct value v;

	field_get(f, s, &v);
	return append_value(m, f, s, &v);
}

int bus_append_fields(sd_bus_message *m, const struct field *fields, const struct subject *s)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (const struct field *f = fields; r >= 0 && f->name; f++)
		if (f->use != FIELD_BY_NAME)
			r = append_entry(m, f, s, false);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

bool bus_parse_path(const char *path, uint32_t *ret_index, uint32_t *ret_number)
{
	const char *word = strrchr(path, '/');
	char canonical[OBJECT_PATH_MAX], copy[OBJECT_PATH_MAX];
	uint32_t index, number = 0;
	char *p;

	if (!word || word[1] != 'd' || strlen(word) >= sizeof(copy))
		return false;
	STRSCPY(copy, word + 2);
	if (ret_number) {
		p = strchr(copy, 'p');
		if (!p)
			return false;
		*p++ = '\0';
		if (parse_u32(p, &number) < 0)
			return false;
	}
	if (parse_u32(copy, &index) < 0)
		return false;
	/* Leading zeros and the like: one object has one path. */
	if (ret_number)
		port_path(index, number, canonical);
	else
		device_path(index, canonical);
	if (!streq(path, canonical))
		return false;
	*ret_index = index;
	if (ret_number)
		*ret_number = number;
	return true;
}

int bus_list_paths(const struct model *m, bool ports, char ***ret)
{
	char path[OBJECT_PATH_MAX];
	size_t n = 0;
	char **list;

	for (const struct device *d = m->devices; d; d = d->next)
		n += ports ? d->n_ports : 1;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	n = 0;
	for (const struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < (ports ? d->n_ports : 1); i++) {
			if (ports)
				port_path(d->facts.index, d->ports[i].number, path);
			else
				device_path(d->facts.index, path);
			list[n] = strdup(path);
			if (!list[n])
				goto no_memory;
			n++;
		}
	*ret = list;
	return 0;

no_memory:
	while (n > 0)
		free(list[--n]);
	free(list);
	return -ENOMEM;
}
