/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>

#include "judge.h"
#include "message.h"
#include "rules.h"
#include "storm.h"

/* A host with one device of one port, its configuration, and a clock that the test moves. */
struct world {
	struct model model;
	struct config *config;
	struct device *device;
	struct port *port;
	struct verdict old;
	usec_t recheck;
	usec_t now;
};

static struct timepoint at(usec_t mono)
{
	return (struct timepoint){ .mono = mono, .real = 1000000 * USEC_PER_SEC + mono };
}

static void world_read(struct world *w, int state, int phys, enum link_layer layer)
{
	struct port_facts f = port_facts_unknown(w->device->facts.index, 1);

	f.state = state;
	f.phys_state = phys;
	f.link_layer = layer;
	f.netdev_index = layer == LINK_LAYER_ETHERNET ? 7 : 0;
	port_see(w->port, &f, true, at(w->now));
}

static bool world_judge(struct world *w)
{
	w->recheck = USEC_INFINITY;
	return judge_port(&w->model, w->port, w->config, at(w->now), &w->old, &w->recheck);
}

static void world_netdev(struct world *w, uint32_t flags)
{
	struct netdev_facts f = { .ifindex = 7, .flags = flags, .name = "d0" };
	uint32_t downs;

	assert_true(model_see_netdev(&w->model, &f, &downs) >= 0);
}

static void world_begin(struct world *w, const char *name, enum link_type type)
{
	struct device_facts f = { .index = 1, .port_count = 1, .link_type = type };

	*w = (struct world){ .now = 100 * USEC_PER_SEC };
	w->config = config_new();
	assert_non_null(w->config);
	STRSCPY(f.name, name);
	assert_true(model_see_device(&w->model, &f, at(w->now), &w->device) >= 0);
	w->port = device_port(w->device, 1);
	world_netdev(w, IFF_UP);
	w->model.listed = true;
}

static void world_end(struct world *w)
{
	model_done(&w->model);
	config_free(w->config);
}

/* [Port NAME] Expect=..., as the reader would have made it */
static void world_expect(struct world *w, const char *selector, enum expect expect)
{
	struct config *c = w->config;
	char why[128];

	c->ports = calloc(1, sizeof(c->ports[0]));
	assert_non_null(c->ports);
	c->n_ports = 1;
	c->ports[0].has_expect = true;
	c->ports[0].expect = expect;
	assert_int_equal(
		selector_parse(selector, true, &c->ports[0].selector, why, sizeof(why)), 0);
}

static void assert_reason(const struct verdict *v, enum reason_id id, bool there)
{
	if ((verdict_find(v, id, "") != NULL) != there)
		fail_msg("reason %s is %sthere", rule_get(id)->name, there ? "not " : "");
}

#define ACTIVE  PORT_STATE_ACTIVE, PHYS_STATE_LINKUP
#define POLLING PORT_STATE_DOWN, PHYS_STATE_POLLING
#define ETH     LINK_LAYER_ETHERNET
#define IB      LINK_LAYER_INFINIBAND

/* expected and not, found up and down */
static void test_expected_by_found(void **state)
{
	static const struct {
		enum expect expect;
		bool active;
		enum health health;
		bool reason;
	} t[] = {
		{ EXPECT_UP, true, HEALTH_OK, false },
		{ EXPECT_UP, false, HEALTH_FAILED, true },
		{ EXPECT_DOWN, true, HEALTH_OK, false },
		{ EXPECT_DOWN, false, HEALTH_IGNORED, false },
		{ EXPECT_ANY, true, HEALTH_OK, false },
		{ EXPECT_ANY, false, HEALTH_IGNORED, false },
		{ EXPECT_AUTO, true, HEALTH_OK, false },
		{ EXPECT_AUTO, false, HEALTH_IGNORED, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct world w;

		world_begin(&w, "x0", LINK_TYPE_NONE);
		world_expect(&w, "x0/1", t[i].expect);
		world_read(&w, PORT_STATE_DOWN, PHYS_STATE_POLLING, ETH);
		if (t[i].active)
			world_read(&w, ACTIVE, ETH);
		w.now += 2 * w.config->grace_usec;
		world_judge(&w);
		if (w.port->verdict.health != t[i].health)
			fail_msg("case %zu: %s", i, health_to_string(w.port->verdict.health));
		assert_reason(&w.port->verdict, REASON_PORT_DOWN, t[i].reason);
		if (t[i].health == HEALTH_IGNORED)
			assert_true(w.port->verdict.ignored_because[0] != '\0');
		world_end(&w);
	}
}

/* Grace is for ports that were never up; one that fell is told at once. */
static void test_grace(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_STARTING);
	world_read(&w, POLLING, ETH);
	w.now += USEC_PER_SEC;
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_STARTING);
	assert_true(w.recheck == 100 * USEC_PER_SEC + w.config->grace_usec);
	w.now = w.recheck;
	assert_true(world_judge(&w));
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);

	world_read(&w, ACTIVE, ETH);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	w.now += USEC_PER_SEC;
	world_read(&w, POLLING, ETH);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);
	world_end(&w);
}

static void test_fell_within_grace(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	w.now += 2 * USEC_PER_SEC;
	world_read(&w, POLLING, ETH);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);
	assert_reason(&w.port->verdict, REASON_PORT_DOWN, true);
	world_end(&w);
}

static void test_since_is_kept(void **state)
{
	const struct reason *r;
	struct world w;
	usec_t fell;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	world_judge(&w);
	w.now += USEC_PER_SEC;
	fell = w.now;
	world_read(&w, POLLING, ETH);
	assert_true(world_judge(&w));
	w.now += 50 * USEC_PER_SEC;
	world_read(&w, POLLING, ETH);
	assert_false(world_judge(&w));
	/* another physical state is a difference, and the same condition */
	world_read(&w, PORT_STATE_DOWN, PHYS_STATE_DISABLED, ETH);
	assert_true(world_judge(&w));
	r = verdict_find(&w.port->verdict, REASON_PORT_DOWN, "");
	assert_non_null(r);
	assert_true(r->since.mono == fell);
	assert_true(w.port->verdict.since.mono == fell);
	world_end(&w);
}

static void test_learned(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_read(&w, ACTIVE, ETH);
	world_judge(&w);
	assert_false(w.port->required);
	assert_true(w.recheck == w.now + w.config->stable_usec);
	w.now = w.recheck;
	world_judge(&w);
	assert_true(w.port->required);
	world_read(&w, POLLING, ETH);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);

	/* what was learned gives way to an administrator who takes the interface down */
	world_netdev(&w, 0);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_IGNORED);
	assert_non_null(strstr(w.port->verdict.ignored_because, "d0"));
	world_end(&w);
}

static void test_disabled_here(void **state)
{
	const struct reason *r;
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	world_netdev(&w, 0);
	world_read(&w, PORT_STATE_DOWN, PHYS_STATE_DISABLED, ETH);
	world_judge(&w);
	r = verdict_find(&w.port->verdict, REASON_PORT_DOWN, "");
	assert_non_null(r);
	assert_non_null(strstr(r->found, "administratively down"));
	assert_non_null(strstr(r->remedy, "ip link set d0 up"));
	world_end(&w);
}

/* INIT without a subnet manager, before and after the grace period; never on Ethernet. */
static void test_subnet_manager(void **state)
{
	const struct reason *r;
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, PORT_STATE_INIT, PHYS_STATE_LINKUP, IB);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_STARTING);
	w.now += w.config->grace_usec;
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);
	assert_reason(&w.port->verdict, REASON_NO_SUBNET_MANAGER, true);
	assert_reason(&w.port->verdict, REASON_PORT_DOWN, false);

	world_read(&w, PORT_STATE_INIT, PHYS_STATE_LINKUP, ETH);
	world_judge(&w);
	assert_reason(&w.port->verdict, REASON_NO_SUBNET_MANAGER, false);
	assert_reason(&w.port->verdict, REASON_PORT_DOWN, true);
	/* There is a signal: nobody is sent to the cable. */
	r = verdict_find(&w.port->verdict, REASON_PORT_DOWN, "");
	assert_non_null(strstr(r->remedy, "journalctl -k"));
	assert_null(strstr(r->remedy, "cable"));
	world_end(&w);
}

static void test_unreadable(void **state)
{
	struct port_facts f = port_facts_unknown(1, 1);
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	f.error = -EIO;
	port_see(w.port, &f, true, at(w.now));
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_UNKNOWN);
	assert_reason(&w.port->verdict, REASON_PORT_UNREADABLE, true);
	assert_reason(&w.port->verdict, REASON_PORT_DOWN, false);

	/* never read at all: starting, then unknown, never ok */
	world_end(&w);
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_STARTING);
	w.now += w.config->grace_usec;
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_UNKNOWN);
	world_end(&w);
}

/* Every second reading fails, for a day: a dozen conditions, not one for each; and it ends. */
static void test_unreadable_now_and_then(void **state)
{
	struct port_facts f = port_facts_unknown(1, 1);
	unsigned raised = 0, quick = 0;
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	f.error = -EIO;
	for (unsigned i = 0; i < 24 * 60; i++) {
		bool before = verdict_find(&w.port->verdict, REASON_PORT_UNREADABLE, "");

		w.now += 30 * USEC_PER_SEC;
		port_see(w.port, &f, true, at(w.now));
		world_judge(&w);
		assert_reason(&w.port->verdict, REASON_PORT_UNREADABLE, true);
		raised += !before;
		w.now += 30 * USEC_PER_SEC;
		world_read(&w, ACTIVE, ETH);
		world_judge(&w);
		quick += i == 0 && !verdict_find(&w.port->verdict, REASON_PORT_UNREADABLE, "");
	}
	assert_in_range(raised, 2, 12);
	assert_int_equal(quick, 1); /* the first one is over with the first good reading */
	w.now += 10 * USEC_PER_MINUTE;
	world_judge(&w);
	assert_reason(&w.port->verdict, REASON_PORT_UNREADABLE, false);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	world_end(&w);
}

/* Read, but for its state: neither up nor down, also for who expects it up. */
static void test_state_unknown(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "a0", LINK_TYPE_NONE);
	world_expect(&w, "a0/1", EXPECT_UP);
	w.now += USEC_PER_HOUR;
	world_read(&w, PORT_STATE_UNKNOWN, PHYS_STATE_LINKUP, LINK_LAYER_INFINIBAND);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_UNKNOWN);
	assert_reason(&w.port->verdict, REASON_PORT_UNREADABLE, true);
	assert_reason(&w.port->verdict, REASON_PORT_DOWN, false);

	/* No edge is made of it. */
	world_read(&w, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, LINK_LAYER_INFINIBAND);
	world_read(&w, PORT_STATE_UNKNOWN, PHYS_STATE_LINKUP, LINK_LAYER_INFINIBAND);
	assert_int_equal(w.port->flap_count, 0);
	assert_int_equal(w.port->down_since.mono, 0);
	assert_int_equal(w.port->active_since.mono, 0);
	world_read(&w, PORT_STATE_ACTIVE, PHYS_STATE_LINKUP, LINK_LAYER_INFINIBAND);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);

	/* Where nobody cares, nobody is told. */
	w.config->ports[0].expect = EXPECT_ANY;
	world_read(&w, PORT_STATE_UNKNOWN, PHYS_STATE_UNKNOWN, LINK_LAYER_INFINIBAND);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_IGNORED);
	world_end(&w);
}

static void test_silent(void **state)
{
	const struct reason *r;
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	w.device->probe_state = w.port->probe_state = PROBE_SILENT;
	w.device->silent_since = at(w.now);
	w.now += 12 * USEC_PER_SEC;
	world_judge(&w);
	judge_device(w.device, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(w.port->verdict.health, HEALTH_UNKNOWN);
	assert_int_equal(w.device->verdict.health, HEALTH_UNKNOWN);
	r = verdict_find(&w.device->verdict, REASON_DEVICE_UNRESPONSIVE, "");
	assert_non_null(r);
	assert_string_equal(r->found, "no answer for 12s");
	w.now += w.config->unresponsive_usec;
	judge_device(w.device, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(w.device->verdict.health, HEALTH_FAILED);
	world_end(&w);
}

static void test_monitor_no(void **state)
{
	struct world w;
	char why[128];

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	w.config->devices = calloc(1, sizeof(w.config->devices[0]));
	assert_non_null(w.config->devices);
	w.config->n_devices = 1;
	w.config->devices[0].has_monitor = true;
	w.config->devices[0].monitor = MONITOR_NO;
	assert_int_equal(
		selector_parse("x*", false, &w.config->devices[0].selector, why, sizeof(why)), 0);
	world_read(&w, POLLING, ETH);
	world_judge(&w);
	judge_device(w.device, w.config, at(w.now), &w.old, NULL);
	assert_int_equal(w.port->verdict.health, HEALTH_IGNORED);
	assert_int_equal(w.device->verdict.health, HEALTH_IGNORED);
	assert_string_equal(w.device->verdict.ignored_because, "not watched: Monitor=no");
	world_end(&w);
}

static void flap(struct world *w, unsigned n, usec_t spacing)
{
	while (n--) {
		w->now += spacing;
		world_read(w, POLLING, ETH);
		world_judge(w);
		w->now += spacing;
		world_read(w, ACTIVE, ETH);
		world_judge(w);
	}
}

static void test_flapping(void **state)
{
	const struct reason *r;
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	world_judge(&w);
	flap(&w, 2, USEC_PER_SEC);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	flap(&w, 1, USEC_PER_SEC);
	assert_int_equal(w.port->verdict.health, HEALTH_DEGRADED);
	assert_reason(&w.port->verdict, REASON_LINK_FLAPPING, true);
	flap(&w, 4, USEC_PER_SEC);
	r = verdict_find(&w.port->verdict, REASON_LINK_FLAPPING, "");
	assert_non_null(r);
	assert_true(strncmp(r->found, "7 times down since ", 19) == 0);

	/* it clears after a stable time, and old edges do not raise it again */
	w.now = w.port->last_edge + w.config->stable_usec - 1;
	world_judge(&w);
	assert_reason(&w.port->verdict, REASON_LINK_FLAPPING, true);
	w.now++;
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	flap(&w, 2, USEC_PER_SEC);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	flap(&w, 1, USEC_PER_SEC);
	assert_int_equal(w.port->verdict.health, HEALTH_DEGRADED);
	world_end(&w);
}

static void test_slow_flaps_and_none(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_expect(&w, "x0", EXPECT_UP);
	world_read(&w, ACTIVE, ETH);
	flap(&w, 5, 31 * USEC_PER_MINUTE); /* never three within an hour */
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	w.config->flap_count = 0;
	flap(&w, 20, USEC_PER_SEC);
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	assert_int_equal(w.port->flap_count, 25);
	world_end(&w);
}

static void test_missing(void **state)
{
	struct world w;
	struct missing *x;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	x = model_add_missing(&w.model, "mlx5_0", 0xabc, "0000:01:00.0", at(w.now));
	x->seen = x->required = true;
	judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(x->verdict.health, HEALTH_UNKNOWN);
	w.now += w.config->missing_delay_usec;
	judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(x->verdict.health, HEALTH_FAILED);
	assert_non_null(strstr(x->verdict.reasons[0].found, "0000:0000:0000:0abc"));
	assert_non_null(strstr(x->verdict.reasons[0].found, "0000:01:00.0"));

	/* nobody needed it: one notice, no alarm */
	x->required = false;
	judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(x->verdict.health, HEALTH_OK);
	assert_int_equal(x->verdict.reasons[0].severity, SEVERITY_NOTICE);
	world_end(&w);
}

/* It is not here, and it is known where it is. */
static void test_missing_elsewhere(void **state)
{
	static const struct {
		struct elsewhere_facts facts;
		enum health health;
	} t[] = {
		{ { ELSEWHERE_NETNS, "mlx5_0", "" }, HEALTH_IGNORED },
		{ { ELSEWHERE_NETNS, "renamed", "0000:01:00.0" }, HEALTH_IGNORED },
		{ { ELSEWHERE_VFIO, "", "0000:01:00.0" }, HEALTH_IGNORED },
		{ { ELSEWHERE_UNBOUND, "", "0000:01:00.0" }, HEALTH_FAILED },
		{ { ELSEWHERE_NETNS, "mlx5_0", "0000:02:00.0" }, HEALTH_FAILED },
		{ { ELSEWHERE_VFIO, "", "0000:01:00.1" }, HEALTH_FAILED },
	};
	struct world w;
	struct missing *x;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	x = model_add_missing(&w.model, "mlx5_0", 0xabc, "0000:01:00.0", at(w.now));
	x->seen = x->required = true;
	w.now += w.config->missing_delay_usec;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		model_listing_begin(&w.model);
		assert_int_equal(model_see_elsewhere(&w.model, &t[i].facts), 0);
		model_place_missing(&w.model, at(w.now));
		w.now += w.config->missing_delay_usec;
		judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
		if (x->verdict.health != t[i].health)
			fail_msg("case %zu: %s", i, health_to_string(x->verdict.health));
		assert_int_equal(
			x->verdict.ignored_because[0] != '\0', t[i].health == HEALTH_IGNORED);
	}
	/* Lent, and then nowhere: it may be on its way back, after the delay it is lost. */
	model_listing_begin(&w.model);
	assert_int_equal(model_see_elsewhere(&w.model, &t[0].facts), 0);
	model_place_missing(&w.model, at(w.now));
	for (int i = 0; i < 2; i++) {
		model_listing_begin(&w.model);
		model_place_missing(&w.model, at(w.now));
		judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
		assert_int_equal(x->verdict.health, i == 0 ? HEALTH_UNKNOWN : HEALTH_FAILED);
		w.now += w.config->missing_delay_usec;
	}
	world_end(&w);
}

static void test_released(void **state)
{
	struct world w;
	struct missing *x;

	(void)state;
	world_begin(&w, "mlx5_0", LINK_TYPE_NONE);
	world_expect(&w, "mlx5_0", EXPECT_UP);
	world_read(&w, ACTIVE, IB);
	world_read(&w, POLLING, IB);
	world_judge(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);
	w.device->release.until = at(w.now + USEC_PER_MINUTE);
	STRSCPY(w.device->release.by, "root");
	world_judge(&w);
	judge_device(w.device, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(w.port->verdict.health, HEALTH_IGNORED);
	assert_int_equal(w.device->verdict.health, HEALTH_IGNORED);
	assert_non_null(strstr(w.port->verdict.ignored_because, "released by root until "));
	assert_int_equal(w.port->verdict.n_reasons, 0);

	/* It goes meanwhile: not missed until its time is over. */
	x = model_add_missing(&w.model, "mlx5_0", 0xabc, "", at(w.now));
	x->seen = x->required = true;
	x->release = w.device->release;
	w.config->missing_delay_usec = USEC_PER_SEC;
	w.now += 2 * USEC_PER_SEC;
	w.recheck = USEC_INFINITY;
	judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(x->verdict.health, HEALTH_IGNORED);
	assert_int_equal(w.recheck, x->release.until.mono);
	w.now = w.recheck;
	judge_missing(&w.model, x, w.config, at(w.now), &w.old, &w.recheck);
	assert_int_equal(x->verdict.health, HEALTH_FAILED);
	world_end(&w);
}

/* Slow counters are a notice, and nothing at all where the ports do not answer either. */
static void test_counters_unavailable(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "mlx5_0", LINK_TYPE_NONE);
	world_expect(&w, "mlx5_0", EXPECT_UP);
	world_read(&w, ACTIVE, IB);
	world_judge(&w);
	w.device->slow_since = at(w.now);
	w.now += 7 * USEC_PER_SEC;
	judge_device(w.device, w.config, at(w.now), &w.old, &w.recheck);
	assert_reason(&w.device->verdict, REASON_COUNTERS_UNAVAILABLE, true);
	assert_int_equal(w.device->verdict.health, HEALTH_OK);
	assert_int_equal(w.device->verdict.reasons[0].since.mono, w.device->slow_since.mono);
	w.device->probe_state = PROBE_SILENT;
	judge_device(w.device, w.config, at(w.now), &w.old, &w.recheck);
	assert_reason(&w.device->verdict, REASON_COUNTERS_UNAVAILABLE, false);
	assert_reason(&w.device->verdict, REASON_DEVICE_UNRESPONSIVE, true);
	world_end(&w);
}

static void test_host(void **state)
{
	const struct setup_condition setup[] = {
		{ .id = REASON_SETUP_DRIFTED,
			.subject = "rxe0",
			.found = "f",
			.wanted = "w",
			.remedy = "r" },
		{ .id = REASON_SETUP_FAILED,
			.subject = "rxe1",
			.found = "f",
			.wanted = "w",
			.remedy = "r" },
	};
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	world_read(&w, ACTIVE, ETH);
	world_judge(&w);
	judge_device(w.device, w.config, at(w.now), &w.old, NULL);
	judge_host(&w.model, w.config, NULL, 0, at(w.now), &w.old, NULL);
	assert_int_equal(w.model.verdict.health, HEALTH_OK);
	/* a notice never changes health */
	judge_host(&w.model, w.config, setup, 1, at(w.now), &w.old, NULL);
	assert_int_equal(w.model.verdict.health, HEALTH_OK);
	assert_int_equal(w.model.verdict.n_reasons, 1);
	judge_host(&w.model, w.config, setup, 2, at(w.now), &w.old, NULL);
	assert_int_equal(w.model.verdict.health, HEALTH_DEGRADED);
	assert_int_equal(w.model.verdict.reasons[0].id, REASON_SETUP_FAILED); /* worst first */
	/* before the first listing nothing is known to be fine */
	w.model.listed = false;
	judge_host(&w.model, w.config, NULL, 0, at(w.now), &w.old, NULL);
	assert_int_equal(w.model.verdict.health, HEALTH_STARTING);
	w.model.listed = true;
	w.config->problems = calloc(1, sizeof(w.config->problems[0]));
	assert_non_null(w.config->problems);
	w.config->problems[0].origin.file = strdup("/etc/rdmad/rdmad.conf");
	w.config->problems[0].origin.line = 3;
	w.config->problems[0].text = strdup("unknown key");
	w.config->n_problems = 1;
	judge_host(&w.model, w.config, NULL, 0, at(w.now), &w.old, NULL);
	assert_int_equal(w.model.verdict.health, HEALTH_DEGRADED);
	assert_string_equal(
		w.model.verdict.reasons[0].found, "/etc/rdmad/rdmad.conf:3: unknown key");
	world_end(&w);
}

/* More conditions than fit: the worst health is still right. */
static void test_many_reasons(void **state)
{
	struct setup_condition setup[REASONS_MAX + 4];
	char names[REASONS_MAX + 4][8];
	struct world w;

	(void)state;
	world_begin(&w, "x0", LINK_TYPE_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(setup); i++) {
		snprintf(names[i], sizeof(names[i]), "l%zu", i);
		setup[i] = (struct setup_condition){ .id = REASON_SETUP_DRIFTED,
			.subject = names[i],
			.found = "",
			.wanted = "",
			.remedy = "" };
	}
	setup[ARRAY_SIZE(setup) - 1].id = REASON_NETDEV_MISSING;
	judge_host(&w.model, w.config, setup, ARRAY_SIZE(setup), at(w.now), &w.old, NULL);
	assert_int_equal(w.model.verdict.n_reasons, REASONS_MAX);
	assert_int_equal(w.model.verdict.health, HEALTH_FAILED);
	world_end(&w);
}

/* ---- storm ---- */

#define MS       USEC_PER_MSEC
#define MAX_HOLD (10 * USEC_PER_MINUTE)

static void test_storm_single(void **state)
{
	struct storm s = { 0 };

	(void)state;
	assert_int_equal(storm_edge(&s, true, true, 100 * MS, MAX_HOLD), STORM_SAY_DOWN);
	assert_int_equal(storm_edge(&s, true, true, 110 * MS, MAX_HOLD), STORM_NOTHING);
	assert_int_equal(storm_edge(&s, false, true, 5000 * MS, MAX_HOLD), STORM_NOTHING);
	assert_true(s.pending);
	assert_int_equal(storm_timeout(&s, s.deadline - 1, MAX_HOLD), STORM_NOTHING);
	assert_int_equal(storm_timeout(&s, s.deadline, MAX_HOLD), STORM_SAY_UP);
	assert_false(s.pending);
	assert_int_equal(storm_edge(&s, true, true, 60000 * MS, MAX_HOLD), STORM_SAY_DOWN);
}

/* Ten pulls a fifth of a second apart: the first fall, link-flapping (the caller's), the end. */
static void test_storm_burst(void **state)
{
	struct storm s = { 0 };
	unsigned told = 0;
	usec_t now = 1000 * MS;

	(void)state;
	for (int i = 0; i < 10; i++) {
		if (i == 2)
			storm_flapping(&s, true, now);
		told += storm_edge(&s, true, true, now, MAX_HOLD) != STORM_NOTHING;
		now += 200 * MS;
		told += storm_edge(&s, false, true, now, MAX_HOLD) != STORM_NOTHING;
		now += 200 * MS;
	}
	assert_int_equal(told, 1);
	assert_true(s.pending);
	assert_int_equal(storm_timeout(&s, s.deadline, MAX_HOLD), STORM_SAY_UP);
	/* a fall that lasts, while flapping still stands, is told after the hold */
	now = s.deadline + 60 * USEC_PER_SEC;
	assert_int_equal(storm_edge(&s, true, true, now, MAX_HOLD), STORM_NOTHING);
	assert_true(s.pending);
	assert_true(s.deadline > now && s.deadline <= now + MAX_HOLD);
	assert_int_equal(storm_timeout(&s, s.deadline, MAX_HOLD), STORM_SAY_DOWN);
}

/* An hour of edges 20 s apart, all longer than the first hold: records stay few. */
static void test_storm_bounded(void **state)
{
	struct storm s = { 0 };
	unsigned told = 0;
	usec_t now = 1000 * MS;

	(void)state;
	storm_flapping(&s, true, now);
	for (int i = 0; i < 180; i++) {
		told += storm_edge(&s, i % 2 == 0, true, now, MAX_HOLD) != STORM_NOTHING;
		if (s.pending && s.deadline < now + 20 * USEC_PER_SEC)
			told += storm_timeout(&s, s.deadline, MAX_HOLD) != STORM_NOTHING;
		now += 20 * USEC_PER_SEC;
	}
	assert_in_range(told, 1, 4);
}

static void test_storm_off(void **state)
{
	struct storm s = { 0 };
	unsigned told = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		told += storm_edge(&s, i % 2 == 0, false, i * 50 * MS, MAX_HOLD) != STORM_NOTHING;
	assert_int_equal(told, 20);
}

/* ---- the host's storm ---- */

static void flapping(struct storm *ports, size_t n)
{
	for (size_t i = 0; i < n; i++)
		storm_flapping(&ports[i], true, 0);
}

/* Three ports, a hundred falls each, one of them not flapping: one summary, of two ports. */
static void test_storms_sum(void **state)
{
	struct storm ports[3] = { 0 };
	usec_t now = 1000 * MS;
	struct storms s = { 0 };
	char text[MESSAGE_MAX];

	(void)state;
	assert_true(storms_deadline(&s) == USEC_INFINITY);
	assert_false(storms_over(&s, now));
	flapping(ports, 2);
	storms_overrun(&s, now - 100 * MS);
	for (int i = 0; i < 50; i++, now += 100 * MS)
		for (size_t k = 0; k < 3; k++) {
			storms_falls(&s, &ports[k], 2, now, MAX_HOLD);
			storms_falls(&s, &ports[k], 0, now, MAX_HOLD);
			assert_false(storms_over(&s, now));
		}
	storms_overrun(&s, now);
	now -= 100 * MS; /* of the last fall */
	assert_true(storms_deadline(&s) == now + STORMS_QUIET);
	assert_false(storms_over(&s, now + STORMS_QUIET - 1));
	assert_true(storms_over(&s, now + STORMS_QUIET));
	assert_int_equal(s.ports, 2);
	assert_int_equal(s.falls, 200);
	assert_int_equal(s.overruns, 2);
	message_storm(text, &s);
	assert_string_equal(text, "host: link storm is over: 2 ports fell 200 times, noticed "
				  "within 4s; the kernel had "
				  "more to tell than rdmad could take, 2 times: all was read anew");
	assert_true(storms_deadline(&s) == USEC_INFINITY);
	assert_false(storms_over(&s, now + USEC_PER_HOUR));
}

/* A port that falls now and then has its link-flapping; nothing is to be summed up. */
static void test_storms_slow(void **state)
{
	struct storm port = { 0 };
	struct storms s = { 0 };
	usec_t now = 0;

	(void)state;
	flapping(&port, 1);
	for (int i = 0; i < 1000; i++) {
		now += 2 * STORMS_QUIET;
		assert_false(storms_over(&s, now));
		storms_falls(&s, &port, STORMS_MIN - 1, now, MAX_HOLD);
	}
	storms_falls(&s, &port, 1, now, MAX_HOLD);
	assert_true(storms_over(&s, now + STORMS_QUIET));
	assert_int_equal(s.ports, 1);
}

/* Gust upon gust for an hour: the summaries get rare. Later storms are as new. */
static void test_storms_bounded(void **state)
{
	struct storms s = { 0 };
	struct storm port = { 0 };
	usec_t now = 0, end = USEC_PER_HOUR;
	unsigned told = 0, id;

	(void)state;
	flapping(&port, 1);
	for (; now < end; now += 20 * USEC_PER_SEC) {
		told += storms_over(&s, now);
		storms_falls(&s, &port, 50, now, MAX_HOLD);
	}
	assert_in_range(told, 1, 3);
	now = storms_deadline(&s);
	assert_true(storms_over(&s, now));
	id = s.id;
	/* What was lost long before it has nothing to do with it. */
	storms_overrun(&s, now + MAX_HOLD);
	now += 2 * MAX_HOLD;
	storms_falls(&s, &port, STORMS_MIN, now, MAX_HOLD);
	assert_int_equal(s.id, id + 1);
	assert_int_equal(s.overruns, 0);
	assert_true(storms_deadline(&s) == now + STORMS_QUIET);
}

static void test_messages(void **state)
{
	struct reason r = { .id = REASON_PORT_DOWN, .severity = SEVERITY_FAILED };
	char text[MESSAGE_MAX];
	struct world w;

	(void)state;
	world_begin(&w, "rxe0", LINK_TYPE_RXE);
	STRSCPY(r.found, "down, physical state polling");
	STRSCPY(r.wanted, "active");
	STRSCPY(r.remedy, "look at the cable");
	message_raised(text, "rxe0/1", &r, 100 * USEC_PER_HOUR);
	assert_string_equal(text, "rxe0/1: port down (was active 4d 4h): found down, physical "
				  "state polling, wanted active; look at the cable");
	world_read(&w, ACTIVE, ETH);
	message_cleared(text, "rxe0/1", &r, 3 * USEC_PER_SEC, w.port);
	assert_string_equal(text, "rxe0/1: port active again at unknown (was down 3s)");
	STRSCPY(w.port->verdict.ignored_because, "released by root until 14:05:10");
	message_cleared(text, "rxe0/1", &r, 3 * USEC_PER_SEC, w.port);
	assert_string_equal(text, "rxe0/1: port-down is not watched for any more: released by root "
				  "until 14:05:10 (stood 3s)");
	message_blip(text, "rxe0/1", 1, w.port);
	assert_string_equal(text, "rxe0/1: link blip: down and up again between two readings");
	world_end(&w);
}

static void test_rules(void **state)
{
	(void)state;
	for (int i = 0; i < _REASON_MAX; i++) {
		const struct rule *rule = rule_get((enum reason_id)i);

		assert_non_null(rule->name);
		assert_non_null(rule->meaning);
		assert_int_equal(rule_by_name(rule->name), i);
	}
	assert_int_equal(rule_by_name("no-such-reason"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expected_by_found),
		cmocka_unit_test(test_grace),
		cmocka_unit_test(test_fell_within_grace),
		cmocka_unit_test(test_since_is_kept),
		cmocka_unit_test(test_learned),
		cmocka_unit_test(test_disabled_here),
		cmocka_unit_test(test_subnet_manager),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_unreadable_now_and_then),
		cmocka_unit_test(test_state_unknown),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_monitor_no),
		cmocka_unit_test(test_flapping),
		cmocka_unit_test(test_slow_flaps_and_none),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_missing_elsewhere),
		cmocka_unit_test(test_released),
		cmocka_unit_test(test_counters_unavailable),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_many_reasons),
		cmocka_unit_test(test_storm_single),
		cmocka_unit_test(test_storm_burst),
		cmocka_unit_test(test_storm_bounded),
		cmocka_unit_test(test_storm_off),
		cmocka_unit_test(test_storms_sum),
		cmocka_unit_test(test_storms_slow),
		cmocka_unit_test(test_storms_bounded),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
