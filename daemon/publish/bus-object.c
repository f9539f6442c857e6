/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bus-internal.h"
#include "parse.h"
#include "rules.h"

/* One text of a dictionary; what is not known is left out. */
static int append_entry(sd_bus_message *m, const char *key, const char *text)
{
	char buf[TEXT_MAX];

	if (!text || !text[0])
		return 0;
	return sd_bus_message_append(m, "{sv}", key, "s", text_clean(text, buf));
}

/* One reason as a{sv}: a dictionary can grow, a struct could not. */
static int append_reason(sd_bus_message *m, const struct reason *reason)
{
	const struct rule *rule = rule_get(reason->id);
	int r;

	r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0)
		r = append_entry(m, "Id", rule->name);
	if (r >= 0)
		r = append_entry(m, "Severity", severity_to_string(reason->severity));
	if (r >= 0)
		r = append_entry(m, "Class", reason_class_to_string(rule->class));
	if (r >= 0)
		r = append_entry(m, "Subject", reason->subject);
	if (r >= 0 && reason->since.real)
		r = sd_bus_message_append(m, "{sv}", "Since", "t", reason->since.real);
	if (r >= 0)
		r = append_entry(m, "Found", reason->found);
	if (r >= 0)
		r = append_entry(m, "Wanted", reason->wanted);
	if (r >= 0)
		r = append_entry(m, "Remedy", reason->remedy);
	if (r >= 0)
		r = sd_bus_message_append(
			m, "{sv}", "Acknowledged", "b", (int)(reason->ack.when.mono > 0));
	if (r >= 0 && reason->ack.when.real)
		r = sd_bus_message_append(m, "{sv}", "AcknowledgedAt", "t", reason->ack.when.real);
	if (r >= 0)
		r = append_entry(m, "AcknowledgedBy", reason->ack.by);
	if (r >= 0)
		r = append_entry(m, "AcknowledgedComment", reason->ack.comment);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_reasons(sd_bus_message *m, const struct verdict *v)
{
	int r;

	r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; r >= 0 && i < v->n_reasons; i++)
		r = append_reason(m, &v->reasons[i]);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_append_field(sd_bus_message *m, const struct field *f, const struct subject *s)
{
	struct value v;

	field_get(f, s, &v);
	switch (f->type) {
	case FIELD_STRING:
		return sd_bus_message_append(m, "s", v.known ? v.string : "");
	case FIELD_PATH:
		return sd_bus_message_append(m, "o", v.known ? v.string : "/");
	case FIELD_U32:
		return sd_bus_message_append(m, "u", v.known ? (uint32_t)v.number : UINT32_MAX);
	case FIELD_U64:
		return sd_bus_message_append(m, "t", v.known ? v.number : UINT64_MAX);
	case FIELD_BOOL:
		return sd_bus_message_append(m, "b", (int)(v.known && v.flag));
	case FIELD_REASONS:
		return append_reasons(m, v.verdict);
	}
	return -EINVAL;
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
