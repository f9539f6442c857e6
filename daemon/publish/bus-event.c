/* SPDX-License-Identifier: MIT */
/* The signal Event: what the journal is told, for those who listen. */
#include <errno.h>

#include "bus-internal.h"
#include "log.h"

/* Of every record alike; or for journald alone. */
static bool is_for_journal(const char *key)
{
	return strncmp(key, "SYSLOG_", strlen("SYSLOG_")) == 0;
}

static int append_field(sd_bus_message *m, const struct journal_field *f)
{
	char clean[TEXT_MAX];
	_cleanup_(freep) char *value = strndup(f->value, f->size);

	if (!value)
		return -ENOMEM;
	return sd_bus_message_append(m, "{ss}", f->key, text_clean(value, clean));
}

static int append_fields(sd_bus_message *m, const struct journal_field *fields, size_t n)
{
	int r;

	r = sd_bus_message_open_container(m, 'a', "{ss}");
	for (size_t i = 0; r >= 0 && i < n; i++)
		if (!is_for_journal(fields[i].key))
			r = append_field(m, &fields[i]);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

void bus_event(struct bus *b, const struct journal_field *fields, size_t n)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r;

	if (!b->connected || bus_under_pressure(b))
		return;
	bus_probe(b);
	r = sd_bus_message_new_signal(b->conn, &m, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Event");
	if (r >= 0)
		r = sd_bus_message_append(m, "t", timepoint_now().real);
	if (r >= 0)
		r = append_fields(m, fields, n);
	if (r >= 0)
		r = sd_bus_send(b->conn, m, NULL);
	if (r < 0)
		log_debug("Cannot signal an event: %s", strerror(-r));
}
