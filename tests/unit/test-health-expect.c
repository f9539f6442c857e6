/* SPDX-License-Identifier: MIT */
/* What is expected: by count, by what was learned; and what is no failure though it is down. */
#include "test.h"

#include <errno.h>

#include "absence.h"
#include "expectation.h"
#include "judge.h"

#define DEVICES 8

/* A host with adapters of one port each, mlx5_0 and up. */
struct host {
	struct model model;
	struct config *config;
	struct device *devices[DEVICES];
	usec_t now;
	usec_t recheck;
};

static struct timepoint at(usec_t mono)
{
	return (struct timepoint){ .mono = mono, .real = 1000000 * USEC_PER_SEC + mono };
}

static int set_up(void **state)
{
	struct host *h = calloc(1, sizeof(*h));

	*state = h;
	if (!h)
		return -1;
	h->config = config_new();
	h->now = 100 * USEC_PER_SEC;
	h->model.watched_since = at(h->now);
	h->model.listed = true;
	return h->config ? 0 : -1;
}

static int tear_down(void **state)
{
	struct host *h = *state;

	model_done(&h->model);
	config_free(h->config);
	free(h);
	return 0;
}

static struct port *plug(struct host *h, uint32_t n)
{
	struct device_facts f = {
		.index = n + 1, .port_count = 1, .node_guid = 0x1000 + n, .driver = "mlx5_core"
	};

	snprintf(f.name, sizeof(f.name), "mlx5_%u", n);
	snprintf(f.pci_address, sizeof(f.pci_address), "0000:%02x:00.0", n);
	assert_true(model_see_device(&h->model, &f, at(h->now), &h->devices[n]) >= 0);
	return device_port(h->devices[n], 1);
}

static void read_port(struct host *h, struct port *p, int state, uint64_t rate)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, 1);

	f.state = state;
	f.phys_state = state == PORT_STATE_ACTIVE ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	f.link_layer = LINK_LAYER_INFINIBAND;
	f.rate_mbps = rate;
	port_see(p, &f, true, at(h->now));
}

static void up(struct host *h, uint32_t n)
{
	read_port(h, device_port(h->devices[n], 1), PORT_STATE_ACTIVE, 200000);
}

static void down(struct host *h, uint32_t n)
{
	read_port(h, device_port(h->devices[n], 1), PORT_STATE_DOWN, 10000);
}

static struct config_expect *expect(
	struct host *h, const char *name, const char *match, uint32_t count)
{
	struct config *c = h->config;
	struct config_expect *e;
	char why[128];

	c->expects = realloc(c->expects, (c->n_expects + 1) * sizeof(*e));
	assert_non_null(c->expects);
	e = &c->expects[c->n_expects++];
	*e = (struct config_expect){ .name = strdup(name), .count = count };
	assert_int_equal(selector_parse(match, true, &e->match, why, sizeof(why)), 0);
	return e;
}

static void judge(struct host *h)
{
	h->recheck = USEC_INFINITY;
	for (struct device *d = h->model.devices; d; d = d->next) {
		for (size_t i = 0; i < d->n_ports; i++)
			judge_port(
				&h->model, &d->ports[i], h->config, at(h->now), NULL, &h->recheck);
		judge_device(d, h->config, at(h->now), NULL, &h->recheck);
	}
	for (struct missing *x = h->model.missing; x; x = x->next)
		judge_missing(&h->model, x, h->config, at(h->now), NULL, &h->recheck);
	judge_host(&h->model, h->config, NULL, 0, at(h->now), NULL, &h->recheck);
}

static void judge_after(struct host *h, usec_t span)
{
	h->now += span;
	judge(h);
}

static const struct reason *count_missing(const struct host *h, const char *name)
{
	return verdict_find(&h->model.verdict, REASON_COUNT_MISSING, name);
}

#define assert_found(h, name, text)                                         \
	do {                                                                \
		const struct reason *r_ = count_missing((h), (name));       \
		assert_non_null(r_);                                        \
		assert_string_equal(r_->found, (text));                     \
		assert_int_equal(r_->severity, SEVERITY_FAILED);            \
		assert_int_equal((h)->model.verdict.health, HEALTH_FAILED); \
	} while (0)

/* ---- [Expect] ---- */

/* A fresh image: one rail has been dead since the boot. */
static void test_dead_rail(void **state)
{
	struct host *h = *state;
	unsigned alarms = 0;

	expect(h, "rails", "mlx5_*", 8);
	for (uint32_t n = 0; n < 8; n++) {
		plug(h, n);
		if (n == 3)
			down(h, n);
		else
			up(h, n);
	}
	judge(h);
	assert_null(count_missing(h, "rails"));
	assert_int_equal(h->model.verdict.health, HEALTH_STARTING);
	assert_true(h->recheck == h->now + h->config->grace_usec);

	judge_after(h, h->config->grace_usec);
	assert_found(h, "rails", "7 ports up; mlx5_3/1 down (polling)");
	assert_string_equal(count_missing(h, "rails")->wanted, "8 ports up that match \"mlx5_*\"");
	/* That is the only alarm; the port says by whom it is counted. */
	for (uint32_t n = 0; n < 8; n++)
		alarms += h->devices[n]->ports[0].verdict.n_reasons;
	assert_int_equal(alarms, 0);
	assert_int_equal(h->devices[3]->ports[0].verdict.health, HEALTH_IGNORED);
	assert_string_equal(
		h->devices[3]->ports[0].verdict.ignored_because, "counted by [Expect rails]");

	up(h, 3);
	judge(h);
	assert_null(count_missing(h, "rails"));
	assert_int_equal(h->model.verdict.health, HEALTH_OK);
}

static void test_six_of_eight(void **state)
{
	struct host *h = *state;

	expect(h, "rails", "mlx5_* driver=mlx5_core", 8);
	expect(h, "enough", "mlx5_*/1", 6);
	expect(h, "elsewhere", "bnxt_re*", 1);
	for (uint32_t n = 0; n < 6; n++) {
		plug(h, n);
		up(h, n);
	}
	judge_after(h, h->config->grace_usec);
	assert_found(h, "rails", "6 ports up, and no other port matches");
	assert_null(count_missing(h, "enough"));
	assert_found(h, "elsewhere", "0 ports up, and no other port matches");
}

/* The same by name: [Device X] Expect=yes for each. */
static void test_six_of_eight_by_name(void **state)
{
	struct host *h = *state;
	struct config *c = h->config;
	unsigned missed = 0;
	char name[16], why[64];

	c->devices = calloc(8, sizeof(c->devices[0]));
	assert_non_null(c->devices);
	for (uint32_t n = 0; n < 8; n++) {
		snprintf(name, sizeof(name), "mlx5_%u", n);
		c->devices[n].has_expect = true;
		c->devices[n].expect = EXPECT_UP;
		assert_int_equal(
			selector_parse(name, false, &c->devices[n].selector, why, sizeof(why)), 0);
		c->n_devices++;
		if (n < 6) {
			plug(h, n);
			up(h, n);
		}
	}
	absence_expect_configured(&h->model, c, at(h->now));
	judge(h);
	assert_int_equal(h->model.verdict.health, HEALTH_STARTING);
	judge_after(h, c->grace_usec);
	for (struct missing *x = h->model.missing; x; x = x->next) {
		assert_int_equal(x->verdict.health, HEALTH_FAILED);
		assert_true(streq(x->name, "mlx5_6") || streq(x->name, "mlx5_7"));
		missed++;
	}
	assert_int_equal(missed, 2);
	assert_int_equal(h->model.verdict.health, HEALTH_FAILED);
}

static void test_state_and_rate(void **state)
{
	struct host *h = *state;

	expect(h, "there", "*", 2)->any_state = true;
	expect(h, "fast", "*", 2)->min_rate_mbps = 200000;
	plug(h, 0);
	plug(h, 1);
	up(h, 0);
	down(h, 1);
	judge_after(h, h->config->grace_usec);
	assert_null(count_missing(h, "there"));
	assert_found(h, "fast", "1 port up at 200 Gb/s or more; mlx5_1/1 down (polling)");
	read_port(h, &h->devices[1]->ports[0], PORT_STATE_ACTIVE, 100000);
	judge(h);
	assert_found(h, "fast", "1 port up at 200 Gb/s or more; mlx5_1/1 at 100 Gb/s");
	read_port(h, &h->devices[1]->ports[0], PORT_STATE_ACTIVE, 200000);
	judge(h);
	assert_null(count_missing(h, "fast"));
	/* A rate that is not known is no bad one. */
	read_port(h, &h->devices[1]->ports[0], PORT_STATE_ACTIVE, 0);
	judge(h);
	assert_null(count_missing(h, "fast"));
	assert_int_equal(h->model.verdict.health, HEALTH_UNKNOWN);
}

/* What is not known, not over, or meant to be, does not count as lost. */
static void test_not_lost(void **state)
{
	struct host *h = *state;
	struct missing *x;

	expect(h, "rails", "mlx5_*", 2);
	plug(h, 0);
	plug(h, 1);
	up(h, 0);
	up(h, 1);
	judge_after(h, h->config->grace_usec);
	assert_int_equal(h->model.verdict.health, HEALTH_OK);

	h->devices[1]->ports[0].last_error = -EIO;
	judge(h);
	assert_null(count_missing(h, "rails"));
	h->devices[1]->ports[0].last_error = 0;
	h->devices[1]->ports[0].probe_state = PROBE_SILENT;
	judge(h);
	assert_null(count_missing(h, "rails"));
	h->devices[1]->ports[0].probe_state = PROBE_FRESH;

	/* DownDelaySec= runs. */
	h->config->down_delay_usec = 5 * USEC_PER_SEC;
	down(h, 1);
	judge(h);
	assert_null(count_missing(h, "rails"));
	assert_true(h->recheck == h->now + 5 * USEC_PER_SEC);
	judge_after(h, 5 * USEC_PER_SEC);
	assert_found(h, "rails", "1 port up; mlx5_1/1 down (polling)");
	/* An error now does not end it. */
	h->devices[1]->ports[0].last_error = -EIO;
	judge(h);
	assert_found(h, "rails", "1 port up, and no other port matches");
	h->devices[1]->ports[0].last_error = 0;

	/* Released. */
	h->devices[1]->release = (struct release){ .until = at(2 * h->now), .by = "root" };
	judge(h);
	assert_null(count_missing(h, "rails"));
	h->devices[1]->release = (struct release){ 0 };

	/* Its driver is being loaded anew. */
	up(h, 1);
	judge(h);
	absence_note(&h->model, h->devices[1], h->config, at(h->now));
	model_remove_device(&h->model, h->devices[1]);
	judge(h);
	assert_null(count_missing(h, "rails"));
	judge_after(h, h->config->missing_delay_usec - 1);
	assert_null(count_missing(h, "rails"));
	judge_after(h, 1);
	assert_found(h, "rails", "1 port up; mlx5_1 missing");
	x = model_missing_by_name(&h->model, "mlx5_1");
	model_remove_missing(&h->model, x);
	plug(h, 1);
	down(h, 1);
	judge(h);
	assert_non_null(count_missing(h, "rails"));
	up(h, 1);
	judge(h);
	assert_null(count_missing(h, "rails"));
}

static void test_never_counted(void **state)
{
	struct host *h = *state;

	expect(h, "rails", "mlx5_*", 2);
	plug(h, 0);
	plug(h, 1);
	up(h, 0);
	up(h, 1);
	h->devices[1]->have_details = true;
	h->devices[1]->details.is_vf = 1;
	judge_after(h, h->config->grace_usec);
	assert_found(h, "rails", "1 port up, and no other port matches");
	h->devices[1]->details.is_vf = 0;
	judge(h);
	assert_null(count_missing(h, "rails"));
}

/* A port that flaps neither ends nor begins the condition each time. */
static void test_flapping_is_one(void **state)
{
	struct host *h = *state;
	unsigned edges = 0;
	bool was = false;

	expect(h, "rails", "mlx5_*", 1);
	plug(h, 0);
	up(h, 0);
	judge_after(h, h->config->grace_usec);
	for (unsigned i = 0; i < 100; i++) {
		h->now += USEC_PER_SEC;
		if (i % 2)
			up(h, 0);
		else
			down(h, 0);
		judge(h);
		edges += was != (count_missing(h, "rails") != NULL);
		was = count_missing(h, "rails");
	}
	assert_true(edges <= 5);
	assert_non_null(count_missing(h, "rails"));
	judge_after(h, h->config->stable_usec);
	assert_null(count_missing(h, "rails"));
}

static void test_names_have_a_limit(void **state)
{
	struct host *h = *state;

	expect(h, "rails", "mlx5_*", 8);
	for (uint32_t n = 0; n < 8; n++) {
		plug(h, n);
		down(h, n);
	}
	judge_after(h, h->config->grace_usec);
	assert_non_null(strstr(count_missing(h, "rails")->found, "mlx5_0/1 down (polling), "));
	assert_non_null(
		strstr(count_missing(h, "rails")->found, ", mlx5_3/1 down (polling) and 4 more"));
}

/* ---- learning ---- */

static void test_who_is_learned(void **state)
{
	struct host *h = *state;
	struct port *hw = plug(h, 0), *vf = plug(h, 1), *late = plug(h, 2), *soft = plug(h, 3);

	h->config->stable_usec = USEC_PER_SEC;
	hw->device->have_details = vf->device->have_details = true;
	hw->device->details.is_vf = 0;
	vf->device->details.is_vf = 1;
	soft->device->facts.link_type = LINK_TYPE_RXE;
	for (uint32_t n = 0; n < 4; n++)
		up(h, n);
	judge(h);
	assert_false(hw->learned);
	assert_true(h->recheck == h->now + USEC_PER_SEC);
	judge_after(h, USEC_PER_SEC);
	assert_true(hw->learned);
	assert_false(vf->learned || late->learned || soft->learned);
	/* Details that do not come: it is no virtual function as far as anybody knows... */
	judge_after(h, 10 * USEC_PER_SEC);
	assert_true(late->learned);
	assert_false(vf->learned || soft->learned);
	/* ... until it turns out to be one. */
	late->device->have_details = true;
	late->device->details.is_vf = 1;
	judge(h);
	assert_false(late->learned);
	assert_false(late->required);
}

/* What is dropped is not learned again by having been up all the time before. */
static void test_dropped(void **state)
{
	struct host *h = *state;
	struct port *p = plug(h, 0);

	up(h, 0);
	judge_after(h, h->config->stable_usec);
	assert_true(p->learned);
	p->learned = false;
	p->learn_from = h->now;
	judge_after(h, h->config->stable_usec - 1);
	assert_false(p->learned);
	judge_after(h, 1);
	assert_true(p->learned);
}

/* Learned in an earlier life, and not up yet in this one. */
static void test_recalled(void **state)
{
	struct host *h = *state;
	struct port *p = plug(h, 0);

	p->learned = true;
	down(h, 0);
	judge_after(h, h->config->grace_usec - 1);
	assert_int_equal(p->verdict.health, HEALTH_STARTING);
	judge_after(h, 1);
	assert_int_equal(p->verdict.health, HEALTH_FAILED);
	assert_non_null(verdict_find(&p->verdict, REASON_PORT_DOWN, ""));
}

/* The host has slept, or the interface was set up again: links take their time. */
static void test_settles(void **state)
{
	struct host *h = *state;
	struct port *p = plug(h, 0);

	up(h, 0);
	p->learned = true;
	judge_after(h, USEC_PER_HOUR);
	p->settle_until = h->now + 120 * USEC_PER_SEC;
	down(h, 0);
	judge(h);
	assert_int_equal(p->verdict.health, HEALTH_STARTING);
	assert_true(h->recheck == p->settle_until);
	judge_after(h, 120 * USEC_PER_SEC);
	assert_int_equal(p->verdict.health, HEALTH_FAILED);
}

/* ---- what an earlier life has learned, and is gone ---- */

static struct inventory inventory;

static struct inventory_entry *remember(const char *name, uint64_t guid, const char *pci)
{
	struct inventory_entry *e = inventory_add(&inventory);
	struct inventory_port *p = inventory_entry_port(e, 1);

	STRSCPY(e->name, name);
	STRSCPY(e->pci_address, pci);
	STRSCPY(e->driver, "mlx5_core");
	e->node_guid = guid;
	e->last_seen = UINT64_C(1700000000) * USEC_PER_SEC;
	p->learned = true;
	STRSCPY(p->netdev, "ens1");
	p->link_layer = LINK_LAYER_ETHERNET;
	return e;
}

static unsigned n_missing(const struct host *h)
{
	unsigned n = 0;

	for (const struct missing *x = h->model.missing; x; x = x->next)
		n++;
	return n;
}

static void test_learned_and_gone(void **state)
{
	struct host *h = *state;
	const struct reason *r;
	struct missing *x;

	remember("mlx5_0", 0x1000, "0000:00:00.0"); /* is here, by GUID */
	remember("old1", 0x7777, "0000:01:00.0");   /* has another one in its place */
	remember("vf2", 0, "0000:02:00.0");         /* without a GUID, by its slot */
	remember("mlx5_7", 0x2007, "0000:77:00.0"); /* is not here */
	remember("was", 0x2008, "0000:78:00.0")->ports[0].learned = false;
	for (uint32_t n = 0; n < 3; n++) {
		plug(h, n);
		up(h, n);
	}
	absence_expect_learned(&h->model, &inventory, h->config, at(h->now));
	absence_expect_learned(&h->model, &inventory, h->config, at(h->now));
	assert_int_equal(n_missing(h), 1);
	x = model_missing_by_name(&h->model, "mlx5_7");
	assert_non_null(x);
	judge(h);
	assert_int_equal(x->verdict.health, HEALTH_STARTING);
	judge_after(h, h->config->grace_usec);
	assert_int_equal(x->verdict.health, HEALTH_FAILED);
	r = verdict_find(&x->verdict, REASON_DEVICE_MISSING, "");
	assert_non_null(r);
	assert_string_equal(r->found, "not there, GUID 0000:0000:0000:2007, PCI 0000:77:00.0, last "
				      "seen 2023-11-14 22:13:20 UTC");
	assert_true(r->since.real == UINT64_C(1700000000) * USEC_PER_SEC);
	assert_int_equal(h->model.verdict.health, HEALTH_FAILED);

	/* Lent to a virtual machine: the host has it still. */
	model_listing_begin(&h->model);
	assert_int_equal(model_see_elsewhere(&h->model,
				 &(struct elsewhere_facts){ ELSEWHERE_VFIO, "", "0000:77:00.0" }),
		0);
	model_place_missing(&h->model, at(h->now));
	judge(h);
	assert_int_equal(x->verdict.health, HEALTH_IGNORED);
	inventory_done(&inventory);
}

static void configure_port(struct host *h, const char *selector, enum expect expect_)
{
	struct config *c = h->config;
	char why[128];

	c->ports = realloc(c->ports, (c->n_ports + 1) * sizeof(c->ports[0]));
	assert_non_null(c->ports);
	c->ports[c->n_ports] = (struct config_port){ .has_expect = true, .expect = expect_ };
	assert_int_equal(
		selector_parse(selector, true, &c->ports[c->n_ports].selector, why, sizeof(why)),
		0);
	c->n_ports++;
}

/* What the configuration says of a device that is gone, by all that is known of it. */
static void test_gone_and_configured(void **state)
{
	static const struct {
		const char *selector;
		enum expect expect;
		bool missed;
	} t[] = {
		{ "mlx5_7", EXPECT_ANY, false },
		{ "mlx5_7/1", EXPECT_DOWN, false },
		{ "mlx5_7/2", EXPECT_ANY, true },
		{ "guid=0000000000002007", EXPECT_ANY, false },
		{ "pci=77:00.0", EXPECT_ANY, false },
		{ "netdev=ens1", EXPECT_ANY, false },
		{ "netdev=ens2", EXPECT_ANY, true },
		{ "driver=mlx5_core", EXPECT_ANY, false },
		{ "linklayer=Ethernet", EXPECT_ANY, false },
		{ "linklayer=InfiniBand", EXPECT_ANY, true },
		{ "*", EXPECT_UP, true },
	};
	struct host *h = *state;

	remember("mlx5_7", 0x2007, "0000:77:00.0");
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct missing *x;

		/* As it is started with that, and as it is loaded later. */
		absence_expect_learned(&h->model, &inventory, h->config, at(h->now));
		x = h->model.missing;
		assert_non_null(x);
		configure_port(h, t[i].selector, t[i].expect);
		if (absence_reconsider(x, h->config) != t[i].missed)
			fail_msg("case %zu, loaded: %s", i, t[i].selector);
		model_remove_missing(&h->model, x);
		absence_expect_learned(&h->model, &inventory, h->config, at(h->now));
		if ((h->model.missing != NULL) != t[i].missed)
			fail_msg("case %zu, started: %s", i, t[i].selector);
		if (h->model.missing)
			model_remove_missing(&h->model, h->model.missing);
		selector_done(&h->config->ports[0].selector);
		h->config->n_ports = 0;
	}
	inventory_done(&inventory);
}

/* Expect=yes by name, and the picture knows who that is. */
static void test_gone_by_name_and_learned(void **state)
{
	struct host *h = *state;
	struct config *c = h->config;
	struct missing *x;
	char why[64];

	remember("mlx5_7", 0x2007, "0000:77:00.0");
	c->devices = calloc(1, sizeof(c->devices[0]));
	assert_non_null(c->devices);
	c->n_devices = 1;
	c->devices[0].has_expect = true;
	c->devices[0].expect = EXPECT_UP;
	assert_int_equal(
		selector_parse("mlx5_7", false, &c->devices[0].selector, why, sizeof(why)), 0);
	absence_expect_configured(&h->model, c, at(h->now));
	absence_expect_learned(&h->model, &inventory, c, at(h->now));
	assert_int_equal(n_missing(h), 1);
	x = h->model.missing;
	assert_int_equal(x->node_guid, 0x2007);
	assert_string_equal(x->pci_address, "0000:77:00.0");
	/* The section goes: what was learned still holds; that goes as well: nothing does. */
	c->devices[0].expect = EXPECT_AUTO;
	assert_true(absence_reconsider(x, c));
	x->ports[0].learned = false;
	assert_false(absence_reconsider(x, c));
	inventory_done(&inventory);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_dead_rail),
		T(test_six_of_eight),
		T(test_six_of_eight_by_name),
		T(test_state_and_rate),
		T(test_not_lost),
		T(test_never_counted),
		T(test_flapping_is_one),
		T(test_names_have_a_limit),
		T(test_who_is_learned),
		T(test_dropped),
		T(test_recalled),
		T(test_settles),
		T(test_learned_and_gone),
		T(test_gone_and_configured),
		T(test_gone_by_name_and_learned),
	};

	return cmocka_run_group_tests_name("health-expect", tests, NULL, NULL);
}
