/* SPDX-License-Identifier: MIT */
/*
 * GetManagedObjects, which monitoring agents call on hosts with hundreds of ports. sd-bus would make
 * it from the vtables, at twice the price: it looks each object up anew for each interface, and adds
 * the standard interfaces, which all objects have, to each.
 */
#include <errno.h>

#include "bus-internal.h"

static int append_object(sd_bus_message *m, const struct subject *s)
{
	uint32_t index = s->device->facts.index;
	char path[OBJECT_PATH_MAX];
	int r;

	if (s->port)
		port_path(index, s->port->number, path);
	else
		device_path(index, path);
	r = sd_bus_message_open_container(m, 'e', "oa{sa{sv}}");
	if (r >= 0)
		r = sd_bus_message_append_basic(m, 'o', path);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sa{sv}}");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'e', "sa{sv}");
	if (r >= 0)
		r = sd_bus_message_append_basic(
			m, 's', s->port ? BUS_PORT_INTERFACE : BUS_DEVICE_INTERFACE);
	if (r >= 0)
		r = bus_append_fields(m, s->port ? port_fields : device_fields, s);
	for (unsigned i = 0; r >= 0 && i < 3; i++) /* the three that were opened */
		r = sd_bus_message_close_container(m);
	return r;
}

static int append_objects(sd_bus_message *m, const struct model *model)
{
	int r = sd_bus_message_open_container(m, 'a', "{oa{sa{sv}}}");

	for (const struct device *d = model->devices; r >= 0 && d; d = d->next) {
		struct subject s = { .device = d };

		r = append_object(m, &s);
		for (size_t i = 0; r >= 0 && i < d->n_ports; i++) {
			s.port = &d->ports[i];
			r = append_object(m, &s);
		}
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_list_filter(struct bus *b, sd_bus_message *m)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r;

	if (!sd_bus_message_is_method_call(
		    m, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") ||
		!streq_ptr(sd_bus_message_get_path(m), BUS_ROOT_PATH) ||
		!sd_bus_message_has_signature(m, ""))
		return 0;
	if (sd_bus_message_get_expect_reply(m) <= 0)
		return 1;
	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = append_objects(reply, b->callbacks->context(b->user)->model);
	if (r >= 0)
		r = sd_bus_send(b->conn, reply, NULL);
	return r < 0 ? r : 1;
}
