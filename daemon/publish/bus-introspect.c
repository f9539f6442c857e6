/* SPDX-License-Identifier: MIT */
/*
 * bus-introspect INTERFACE: writes the description of one of our interfaces in D-Bus's introspection
 * format, for who makes bindings of it. Run when rdmad is built. It is what sd-bus tells clients of
 * the vtables, which are asked over a pair of sockets.
 */
#include <errno.h>
#include <sys/socket.h>

#include "bus-internal.h"

static const char doctype[] =
	"<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n"
	" \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
	"<!-- SPDX-License-Identifier: MIT -->\n";

static struct model model;
static const struct publish_context context = { .model = &model };

static const struct publish_context *get_context(void *user)
{
	return &context;
}

static const struct bus_callbacks callbacks = { .context = get_context };

/* Device 0 with port 1: who is not there cannot be asked. */
static int make_model(void)
{
	const struct timepoint now = { .mono = 1, .real = 1 };
	struct device_facts f = { .index = 0, .port_count = 1 };
	struct device *d;

	STRSCPY(f.name, "rxe0");
	model_listing_begin(&model);
	return model_see_device(&model, &f, now, &d);
}

static int serve(struct bus *b, int fd)
{
	sd_id128_t id;
	int r;

	r = sd_id128_randomize(&id);
	if (r >= 0)
		r = sd_bus_new(&b->conn);
	if (r >= 0)
		r = sd_bus_set_fd(b->conn, fd, fd);
	if (r >= 0)
		r = sd_bus_set_server(b->conn, true, id);
	if (r >= 0)
		r = bus_manager_add(b);
	if (r >= 0)
		r = bus_device_add(b);
	if (r >= 0)
		r = bus_port_add(b);
	return r < 0 ? r : sd_bus_start(b->conn);
}

static int on_reply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	char **xml = user;
	const char *text;
	int r;

	if (sd_bus_message_is_method_error(m, NULL))
		return -sd_bus_message_get_errno(m);
	r = sd_bus_message_read(m, "s", &text);
	if (r < 0)
		return r;
	*xml = strdup(text);
	return *xml ? 1 : -ENOMEM;
}

/* Neither end waits, for the other is in the same hands. */
static int ask(struct bus *b, int fd, const char *path, char **ret)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *client = NULL;
	char *xml = NULL;
	int r;

	r = sd_bus_new(&client);
	if (r >= 0)
		r = sd_bus_set_fd(client, fd, fd);
	if (r >= 0)
		r = sd_bus_start(client);
	if (r >= 0)
		r = sd_bus_call_method_async(client, NULL, NULL, path,
			"org.freedesktop.DBus.Introspectable", "Introspect", on_reply, &xml, "");
	while (r >= 0 && !xml) {
		r = sd_bus_process(client, NULL);
		if (r >= 0)
			r = sd_bus_process(b->conn, NULL);
	}
	if (r < 0) {
		free(xml);
		return r;
	}
	*ret = xml;
	return 0;
}

/* What is about one interface, of all that the object has. */
static int write_interface(const char *xml, const char *interface)
{
	static const char end[] = "</interface>\n";
	char begin[64];
	const char *from, *to;

	snprintf(begin, sizeof(begin), " <interface name=\"%s\">\n", interface);
	from = strstr(xml, begin);
	to = from ? strstr(from, end) : NULL;
	if (!to)
		return -ENOENT;
	fputs(doctype, stdout);
	fputs("<node>\n", stdout);
	fwrite(from, (size_t)(to - from) + strlen(end), 1, stdout);
	fputs("</node>\n", stdout);
	return fflush(stdout) == 0 ? 0 : -EIO;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *interface, *path;
	} objects[] = {
		{ BUS_MANAGER_INTERFACE, BUS_ROOT_PATH },
		{ BUS_DEVICE_INTERFACE, BUS_DEVICE_PREFIX "/d0" },
		{ BUS_PORT_INTERFACE, BUS_PORT_PREFIX "/d0p1" },
	};
	struct bus b = { .callbacks = &callbacks };
	_cleanup_(freep) char *xml = NULL;
	int fds[2], r = -EINVAL;

	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(objects); i++) {
		if (!streq(argv[1], objects[i].interface))
			continue;
		r = make_model();
		if (r >= 0 &&
			socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
			r = -errno;
		if (r >= 0)
			r = serve(&b, fds[0]);
		if (r >= 0)
			r = ask(&b, fds[1], objects[i].path, &xml);
		if (r >= 0)
			r = write_interface(xml, objects[i].interface);
	}
	sd_bus_close_unref(b.conn);
	model_done(&model);
	if (r < 0)
		fprintf(stderr, "bus-introspect: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
