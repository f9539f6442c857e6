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
		judge_missing(x, h->config, at(h->now), NULL, &h->recheck);
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
	};

	return cmocka_run_group_tests_name("health-expect", tests, NULL, NULL);
}
