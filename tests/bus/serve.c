/* SPDX-License-Identifier: MIT */
/*
 * serve N: rdmad's side of the bus (DBUS_SYSTEM_BUS_ADDRESS) with N devices, each with a port that has four
 * GIDs. On SIGUSR1 the port of device 0 goes down, or comes back. Until SIGTERM.
 */
#include <errno.h>
#include <signal.h>

#include "macros.h"
#include "publish.h"

static struct model model;
static struct bus *bus;
static const struct publish_context context = { .model = &model, .config_generation = 1 };

static const struct publish_context *get_context(void *user)
{
	return &context;
}

static const struct bus_callbacks callbacks = { .context = get_context };

static void see_port(struct port *p, enum port_state state)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, p->number);

	f.state = state;
	f.phys_state = state == PORT_STATE_ACTIVE ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	f.link_layer = LINK_LAYER_ETHERNET;
	f.rate_mbps = 400000;
	f.active_mtu = 4096;
	STRSCPY(f.width, "4X");
	STRSCPY(f.speed, "NDR");
	snprintf(f.netdev, sizeof(f.netdev), "eth%u", p->device->facts.index);
	port_see(p, &f, true, timepoint_now());
}

static int see_gids(struct port *p)
{
	struct tables_update u;
	struct table_facts t = {
		.device_index = p->device->facts.index,
		.port = p->number,
	};

	port_tables_begin(&p->tables);
	for (uint32_t i = 0; i < 4; i++) {
		struct gid_facts g = {
			.device_index = t.device_index,
			.port = p->number,
			.index = i,
			.type = i % 2 ? GID_TYPE_ROCE_V2 : GID_TYPE_ROCE_V1,
			.gid = { 0xfe, 0x80, [14] = (uint8_t)t.device_index, [15] = (uint8_t)i },
		};
		int r = port_tables_add_gid(&p->tables, &g);

		if (r < 0)
			return r;
	}
	port_tables_finish(&p->tables, &t, &u);
	return 0;
}

static int see_devices(uint32_t n)
{
	model_listing_begin(&model);
	for (uint32_t i = 0; i < n; i++) {
		struct device_facts f = { .index = i, .port_count = 1, .numa_node = 0 };
		struct device *d;
		int r;

		f.node_guid = 0x0a7fbc1245ef0000 + i;
		snprintf(f.name, sizeof(f.name), "mlx5_%u", i);
		STRSCPY(f.node_type, "CA");
		STRSCPY(f.driver, "mlx5_core");
		STRSCPY(f.firmware_version, "28.39.1002");
		r = model_see_device(&model, &f, timepoint_now(), &d);
		if (r < 0)
			return r;
		see_port(device_port(d, 1), PORT_STATE_ACTIVE);
		r = see_gids(device_port(d, 1));
		if (r < 0)
			return r;
	}
	return 0;
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *user)
{
	struct device *d = model_device_by_index(&model, 0);
	struct port *p = d ? device_port(d, 1) : NULL;
	enum health old;

	if (!p)
		return -ENODEV;
	old = p->verdict.health;
	p->verdict.health = old == HEALTH_FAILED ? HEALTH_OK : HEALTH_FAILED;
	see_port(p, old == HEALTH_FAILED ? PORT_STATE_ACTIVE : PORT_STATE_DOWN);
	bus_health_changed(bus, d, p, old, &p->verdict);
	bus_sync(bus, USEC_INFINITY);
	return 0;
}

int main(int argc, char **argv)
{
	sd_event *event = NULL;
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	r = sd_event_new(&event);
	if (r >= 0)
		r = see_devices(argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1);
	if (r >= 0)
		r = bus_new(event, &callbacks, NULL, &bus);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGUSR1, on_signal, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_loop(event);
	if (r < 0)
		fprintf(stderr, "serve: %s\n", strerror(-r));
	bus = bus_free(bus);
	sd_event_unref(event);
	model_done(&model);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
