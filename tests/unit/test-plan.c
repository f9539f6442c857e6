/* SPDX-License-Identifier: MIT */
/* The plan of setup: every situation that DESIGN sections 2 and 6 speak of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <net/if.h>

#include "macros.h"
#include "plan.h"

#define T0   (100 * USEC_PER_SEC)
#define BOOT "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

/* One host. */
struct host {
	struct config *config;
	struct model model;
	struct plan plan;
	usec_t now;
	struct {
		const char *name;
		enum module_state state;
	} modules[8];
};

static enum module_state host_module_state(const char *module, void *user)
{
	const struct host *h = user;

	for (size_t i = 0; i < ARRAY_SIZE(h->modules); i++)
		if (h->modules[i].name && module_name_equal(h->modules[i].name, module))
			return h->modules[i].state;
	return MODULE_STATE_NONE;
}

static void set_module(struct host *h, const char *name, enum module_state state)
{
	for (size_t i = 0; i < ARRAY_SIZE(h->modules); i++)
		if (!h->modules[i].name || streq(h->modules[i].name, name)) {
			h->modules[i].name = name;
			h->modules[i].state = state;
			return;
		}
	fail();
}

static void add_load(struct host *h, const char *name)
{
	struct config *c = h->config;

	c->load = reallocarray(c->load, c->n_load + 1, sizeof(*c->load));
	c->load[c->n_load++] = strdup(name);
}

static void add_deny(struct host *h, const char *name)
{
	struct config *c = h->config;

	c->deny = reallocarray(c->deny, c->n_deny + 1, sizeof(*c->deny));
	c->deny[c->n_deny++] = strdup(name);
}

static void add_link(struct host *h, const char *name, const char *netdev)
{
	struct config *c = h->config;

	c->links = reallocarray(c->links, c->n_links + 1, sizeof(*c->links));
	c->links[c->n_links++] = (struct config_link){
		.name = strdup(name),
		.type = LINK_TYPE_RXE,
		.netdev = strdup(netdev),
	};
}

static void see_netdev(struct host *h, uint32_t ifindex, const char *name, bool gone)
{
	struct netdev_facts f = { .ifindex = ifindex, .flags = IFF_UP, .gone = gone };
	uint32_t downs;

	STRSCPY(f.name, name);
	assert_true(model_see_netdev(&h->model, &f, &downs) >= 0);
}

static void see_device(
	struct host *h, uint32_t index, const char *name, enum link_type type, const char *netdev)
{
	struct device_facts f = { .index = index, .port_count = 1, .link_type = type };
	struct timepoint now = { .mono = h->now, .real = h->now };
	struct device *d;

	STRSCPY(f.name, name);
	STRSCPY(f.parent_netdev, netdev);
	STRSCPY(f.driver, type == LINK_TYPE_NONE ? "mlx5_core" : link_type_to_string(type));
	assert_true(model_see_device(&h->model, &f, now, &d) >= 0);
}

static void lose_device(struct host *h, uint32_t index)
{
	struct device *d = model_device_by_index(&h->model, index);

	assert_non_null(d);
	model_remove_device(&h->model, d);
}

static void update(struct host *h)
{
	struct plan_input in = {
		.config = h->config,
		.model = &h->model,
		.module_state = host_module_state,
		.user = h,
		.now = h->now,
	};

	assert_int_equal(plan_update(&h->plan, &in), 0);
}

/* A moment later, long enough for everything that settles by itself. */
static void settle(struct host *h)
{
	update(h);
	while (plan_next_news(&h->plan))
		;
	h->now += 20 * USEC_PER_SEC;
	update(h);
}

static struct step *start(struct host *h)
{
	struct step *s = plan_next(&h->plan, h->now);
	struct setup_request req;

	assert_non_null(s);
	plan_started(&h->plan, s, h->now, &req);
	assert_int_equal(setup_request_check(&req, sizeof(req)), 0);
	assert_null(plan_next(&h->plan, h->now)); /* one at a time */
	return s;
}

/* What was handed over last. */
static const struct setup_request *last_request(const struct host *h)
{
	for (size_t i = 0; i < PLAN_RUNS_MAX; i++)
		if (h->plan.runs[i].active && h->plan.runs[i].request.id == h->plan.last_id)
			return &h->plan.runs[i].request;
	fail_msg("nothing runs");
	return NULL;
}

static void finish(struct host *h, enum step_result result, int error, const char *detail)
{
	struct setup_answer a = setup_answer_make(last_request(h), result, error);

	STRSCPY(a.detail, detail);
	assert_int_equal(setup_answer_check(&a, sizeof(a), last_request(h)), 0);
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
}

static void finish_self(struct host *h, enum setup_answer_flags flag)
{
	struct setup_answer a = setup_answer_make(
		last_request(h), flag == SETUP_UNREACHABLE ? STEP_WAITING : STEP_FAILED, -EIO);

	a.flags = flag;
	STRSCPY(a.detail, flag == SETUP_DIED ? "setup helper died" : "not reachable");
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
}

/* Runs the one step that is due, as the kernel would: rxe0 on d0. */
static void make_rxe0(struct host *h, uint32_t index, uint32_t ifindex)
{
	struct setup_answer a;

	start(h);
	a = setup_answer_make(last_request(h), STEP_CHANGED, 0);
	a.ifindex = ifindex;
	a.device_index = index;
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE);
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	see_device(h, index, "rxe0", LINK_TYPE_RXE, "d0");
	update(h);
}

static void expect(const struct host *h, enum step_result result, const char *found,
	const char *detail, const char *remedy)
{
	const struct step *s;

	assert_int_equal(h->plan.n_steps, 1);
	s = &h->plan.steps[0];
	assert_string_equal(step_result_to_string(s->result), step_result_to_string(result));
	if (found)
		assert_non_null(strstr(s->found, found));
	if (detail)
		assert_non_null(strstr(s->detail, detail));
	if (remedy)
		assert_non_null(strstr(s->remedy, remedy));
}

/* id -1: none. */
static void expect_condition(const struct host *h, int id)
{
	struct plan_condition c[4];
	size_t n = plan_conditions(&h->plan, c, ARRAY_SIZE(c));

	if (id < 0) {
		assert_int_equal(n, 0);
		return;
	}
	assert_int_equal(n, 1);
	assert_int_equal(c[0].id, id);
	assert_string_not_equal(c[0].subject, "");
	assert_string_not_equal(c[0].found, "");
	assert_string_not_equal(c[0].wanted, "");
}

static void expect_idle(struct host *h)
{
	assert_null(plan_next(&h->plan, h->now));
	assert_null(plan_next(&h->plan, h->now + USEC_PER_DAY));
}

static int host_setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));

	h->config = config_new();
	h->now = T0;
	h->model.listed = true;
	*state = h;
	return 0;
}

static int host_teardown(void **state)
{
	struct host *h = *state;

	plan_done(&h->plan);
	model_done(&h->model);
	config_free(h->config);
	free(h);
	return 0;
}

/* A restart of rdmad: only the memory survives, as text. */
static void restart(struct host *h)
{
	char *text = NULL;

	assert_int_equal(setup_memory_format(&h->plan.memory, BOOT, &text), 0);
	plan_done(&h->plan);
	assert_true(setup_memory_parse(&h->plan.memory, text, BOOT) >= 0);
	free(text);
}

/* A host with [Link rxe0] on d0 (ifindex 5), made by us as device 1. */
static void given_rxe0(struct host *h)
{
	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	update(h);
	make_rxe0(h, 1, 5);
	expect(h, STEP_CHANGED, NULL, NULL, NULL);
	assert_non_null(plan_next_news(&h->plan));
	update(h);
	expect(h, STEP_OK, "rxe on d0", NULL, NULL);
	expect_idle(h);
}

/* ---- modules ---- */

static void module_is_loaded(void **state)
{
	struct host *h = *state;
	struct setup_answer a;

	add_load(h, "ib_umad");
	update(h);
	expect(h, STEP_PENDING, "not loaded", NULL, NULL);
	assert_false(plan_settled(&h->plan));
	start(h);
	expect(h, STEP_PENDING, NULL, "running", NULL);
	assert_false(plan_settled(&h->plan));
	a = setup_answer_make(last_request(h), STEP_CHANGED, 0);
	STRSCPY(a.module, "ib_umad");
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	set_module(h, "ib_umad", MODULE_STATE_LIVE);
	update(h);
	expect(h, STEP_CHANGED, "loaded", NULL, NULL);
	assert_non_null(plan_next_news(&h->plan));
	assert_null(plan_next_news(&h->plan));
	update(h);
	expect(h, STEP_OK, "loaded", NULL, NULL);
	assert_null(plan_next_news(&h->plan));
	assert_true(plan_settled(&h->plan));
	assert_true(plan_recheck(&h->plan) == USEC_INFINITY);
}

static void module_there_already(void **state)
{
	struct host *h = *state;

	add_load(h, "ib-umad"); /* the kernel knows it with an underscore */
	set_module(h, "ib_umad", MODULE_STATE_LIVE);
	update(h);
	expect(h, STEP_OK, "loaded", NULL, NULL);
	expect_idle(h);
	expect_condition(h, -1);
	assert_true(h->plan.memory.dirty);
}

static void module_built_in(void **state)
{
	struct host *h = *state;
	struct setup_answer a;

	add_load(h, "ib_core");
	update(h);
	start(h);
	a = setup_answer_make(last_request(h), STEP_OK, 0);
	a.flags = SETUP_BUILT_IN;
	STRSCPY(a.module, "ib_core");
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	/* It has no entry in sysfs, and was not unloaded for all that. */
	update(h);
	expect(h, STEP_OK, "built in", NULL, NULL);
	restart(h);
	update(h);
	expect(h, STEP_OK, "built in", NULL, NULL);
	expect_idle(h);
}

static void module_unloaded_by_hand(void **state)
{
	static const struct {
		enum drift_mode drift;
		enum step_result result;
		int condition;
	} cases[] = {
		{ DRIFT_REPORT, STEP_DRIFTED, REASON_SETUP_DRIFTED },
		{ DRIFT_REPAIR, STEP_BLOCKED, REASON_SETUP_BLOCKED },
		{ DRIFT_IGNORE, STEP_DRIFTED, -1 },
	};
	struct host *h = *state;

	add_load(h, "rdma_ucm");
	set_module(h, "rdma_ucm", MODULE_STATE_LIVE);
	update(h);
	set_module(h, "rdma_ucm", MODULE_STATE_CHANGING);
	update(h);
	expect(h, STEP_WAITING, NULL, NULL, NULL);
	assert_true(plan_recheck(&h->plan) != USEC_INFINITY);
	/* Half removed it looks in sysfs as if it were built in. */
	set_module(h, "rdma_ucm", MODULE_STATE_BUILT_IN);
	update(h);
	expect(h, STEP_WAITING, NULL, NULL, NULL);
	assert_true(plan_recheck(&h->plan) != USEC_INFINITY);
	set_module(h, "rdma_ucm", MODULE_STATE_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		h->config->drift = cases[i].drift;
		restart(h); /* and it is never loaded again after a restart either */
		settle(h);
		expect(h, cases[i].result, "unloaded by hand", NULL, "modprobe rdma_ucm");
		expect_condition(h, cases[i].condition);
		assert_int_equal(h->plan.steps[0].hidden, cases[i].drift == DRIFT_IGNORE);
		plan_retry(&h->plan); /* nor by a reload */
		expect_idle(h);
	}
	set_module(h, "rdma_ucm", MODULE_STATE_LIVE);
	update(h);
	expect(h, STEP_OK, "loaded", NULL, NULL);
	assert_false(h->plan.steps[0].hidden);
}

static void module_alias(void **state)
{
	struct host *h = *state;
	struct setup_answer a;

	add_load(h, "rdma-link-rxe");
	update(h);
	start(h);
	a = setup_answer_make(last_request(h), STEP_CHANGED, 0);
	STRSCPY(a.module, "rdma_rxe");
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE);
	restart(h);
	update(h);
	expect(h, STEP_OK, "loaded", NULL, NULL);
	set_module(h, "rdma_rxe", MODULE_STATE_NONE);
	update(h);
	expect(h, STEP_DRIFTED, "unloaded by hand", NULL, NULL);
	expect_idle(h);
}

static void module_denied(void **state)
{
	struct host *h = *state;

	add_load(h, "ib_ipoib");
	add_deny(h, "ib-ipoib");
	update(h);
	expect(h, STEP_OK, "not loaded", "Deny=", NULL);
	expect_condition(h, -1);
	expect_idle(h);
}

static void module_absent_is_one_notice(void **state)
{
	struct host *h = *state;
	char text[512];
	struct step *s;

	add_load(h, "ib_foo");
	update(h);
	start(h);
	finish(h, STEP_UNSUPPORTED, -ENOENT, "this kernel has no module ib_foo");
	s = plan_next_news(&h->plan);
	assert_non_null(s);
	assert_non_null(strstr(step_message(s, text, sizeof(text)), "ib_foo: unsupported: this"));
	for (int i = 0; i < 5; i++) {
		settle(h);
		assert_null(plan_next_news(&h->plan));
		expect(h, STEP_UNSUPPORTED, NULL, "no module", NULL);
		expect_condition(h, -1);
		expect_idle(h);
	}
	plan_retry(&h->plan); /* a reload asks again */
	update(h);
	assert_non_null(plan_next(&h->plan, h->now));
	start(h);
	finish(h, STEP_UNSUPPORTED, -ENOENT, "this kernel has no module ib_foo");
	assert_null(plan_next_news(&h->plan));
}

static void module_blacklisted(void **state)
{
	struct host *h = *state;

	add_load(h, "ib_srp");
	update(h);
	start(h);
	finish(h, STEP_BLOCKED, -EPERM, "ib_srp is blacklisted in modprobe.d");
	settle(h);
	expect(h, STEP_BLOCKED, NULL, "blacklisted", NULL);
	expect_condition(h, REASON_SETUP_BLOCKED);
	expect_idle(h);
	set_module(h, "ib_srp", MODULE_STATE_LIVE); /* somebody loads it all the same */
	update(h);
	expect(h, STEP_OK, NULL, NULL, NULL);
	expect_condition(h, -1);
}

/* ---- links ---- */

static void link_is_made(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	expect_condition(h, -1);
	assert_true(plan_settled(&h->plan));
}

static void nothing_before_the_listing(void **state)
{
	struct host *h = *state;

	h->model.listed = false;
	add_link(h, "rxe0", "d0");
	add_load(h, "ib_umad");
	update(h);
	assert_false(plan_settled(&h->plan));
	/* Modules need not wait. */
	assert_string_equal(start(h)->object, "ib_umad");
	finish(h, STEP_FAILED, -EIO, "x");
	update(h);
	assert_null(plan_next(&h->plan, h->now));
}

static void link_is_adopted(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	see_device(h, 1, "rxe0", LINK_TYPE_RXE, "d0");
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE);
	update(h);
	expect(h, STEP_OK, "rxe on d0", NULL, NULL);
	expect_idle(h);
	assert_null(plan_next_news(&h->plan));
	/* And again after a restart, with nothing to do and nothing new to remember. */
	restart(h);
	settle(h);
	expect(h, STEP_OK, "rxe on d0", NULL, NULL);
	expect_idle(h);
	assert_false(h->plan.memory.dirty);
}

static void link_is_something_else(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	see_netdev(h, 6, "d1", false);
	see_device(h, 1, "rxe0", LINK_TYPE_RXE, "d1");
	settle(h);
	expect(h, STEP_BLOCKED, "rxe on d1", "exists on d1, not on d0", "rdma link delete rxe0");
	expect_condition(h, REASON_SETUP_BLOCKED);
	expect_idle(h);
	lose_device(h, 1);
	see_device(h, 2, "rxe0", LINK_TYPE_SIW, "d0");
	update(h);
	expect(h, STEP_BLOCKED, "rxe0 is an siw link", NULL, NULL);
	lose_device(h, 2);
	see_device(h, 3, "rxe0", LINK_TYPE_NONE, "");
	update(h);
	expect(h, STEP_BLOCKED, "an adapter (mlx5_core)", NULL, NULL);
	lose_device(h, 3);
	update(h);
	assert_non_null(plan_next(&h->plan, h->now));
}

static void link_not_looked_at(void **state)
{
	struct host *h = *state;
	struct device_facts f = { .index = 1, .port_count = 1, .name = "rxe0" };
	struct timepoint now = { .mono = T0, .real = T0 };
	struct device *d;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	model_see_device(&h->model, &f, now, &d);
	settle(h);
	expect(h, STEP_WAITING, "not looked at", NULL, NULL);
	expect_condition(h, -1);
	expect_idle(h);
}

static void netdev_not_there_yet(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	update(h);
	expect(h, STEP_WAITING, "no netdev d0", "netdev d0 is not there yet", NULL);
	expect_condition(h, -1);
	assert_true(plan_settled(&h->plan)); /* does not hold READY */
	assert_true(plan_recheck(&h->plan) == USEC_INFINITY);
	see_netdev(h, 5, "d0", false);
	update(h);
	make_rxe0(h, 1, 5);
}

static void netdev_lost_and_back(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	for (uint32_t i = 0; i < 20; i++) {
		/* The end of the two in either order; no false alarm of a deletion. */
		if (i % 2) {
			lose_device(h, 1 + i);
			update(h);
			expect(h, STEP_PENDING, NULL, NULL, NULL);
			expect_condition(h, -1);
			see_netdev(h, 5 + i, "d0", true);
		} else {
			see_netdev(h, 5 + i, "d0", true);
			update(h);
			lose_device(h, 1 + i);
		}
		update(h);
		expect(h, STEP_WAITING, "no netdev d0", "gone, and the link with it", NULL);
		expect_condition(h, REASON_NETDEV_MISSING);
		expect_idle(h);
		if (i % 3 == 0)
			restart(h);
		see_netdev(h, 6 + i, "d0", false);
		h->now += 2 * USEC_PER_SEC;
		update(h);
		make_rxe0(h, 2 + i, 6 + i);
		update(h);
		expect_condition(h, -1);
	}
}

static void netdev_back_with_the_same_index(void **state)
{
	struct host *h = *state;

	/* Moved to another namespace and back. */
	given_rxe0(h);
	lose_device(h, 1);
	see_netdev(h, 5, "d0", true);
	update(h);
	restart(h);
	see_netdev(h, 5, "d0", false);
	update(h);
	make_rxe0(h, 2, 5);
	settle(h);
	expect(h, STEP_OK, NULL, NULL, NULL);
}

static void netdev_replaced_while_down(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	restart(h);
	lose_device(h, 1);
	see_netdev(h, 5, "d0", true);
	see_netdev(h, 9, "d0", false);
	update(h);
	make_rxe0(h, 2, 9);
}

static void stale_device_on_a_new_netdev(void **state)
{
	struct host *h = *state;

	/* The netdev was replaced at once, and the old device has not gone from the model yet. */
	given_rxe0(h);
	see_netdev(h, 5, "d0", true);
	see_netdev(h, 6, "d0", false);
	settle(h);
	expect(h, STEP_WAITING, NULL, "going away", NULL);
	expect_idle(h);
	lose_device(h, 1);
	update(h);
	make_rxe0(h, 2, 6);
}

static void link_deleted_report(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	lose_device(h, 1);
	update(h);
	expect(h, STEP_PENDING, NULL, "looking again", NULL);
	expect_condition(h, -1);
	assert_true(plan_recheck(&h->plan) <= h->now + USEC_PER_SEC);
	h->now = plan_recheck(&h->plan);
	update(h);
	expect(h, STEP_DRIFTED, "deleted by hand", NULL, "rdma link add rxe0 type rxe netdev d0");
	expect_condition(h, REASON_SETUP_DRIFTED);
	expect_idle(h);
	assert_non_null(plan_next_news(&h->plan));
	/* Nor is it made again by a restart (kill -9), a reload, or a netdev that goes down and up. */
	restart(h);
	settle(h);
	plan_retry(&h->plan);
	update(h);
	expect(h, STEP_DRIFTED, "deleted by hand", NULL, NULL);
	expect_idle(h);
	/* Somebody makes it again by hand. */
	see_device(h, 2, "rxe0", LINK_TYPE_RXE, "d0");
	update(h);
	expect(h, STEP_OK, NULL, NULL, NULL);
	expect_condition(h, -1);
}

/* Who orders it a moment after the deletion, or just after it was made, need not do so again. */
static void link_deleted_ordered(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	lose_device(h, 1);
	update(h);
	expect(h, STEP_PENDING, NULL, "looking again", NULL);
	plan_order(&h->plan, NULL, false);
	update(h);
	expect_idle(h);
	assert_false(plan_settled(&h->plan));
	h->now = plan_recheck(&h->plan);
	update(h);
	make_rxe0(h, 2, 5);
	update(h);
	assert_true(plan_settled(&h->plan));
}

/* Made, and deleted before anybody saw it. */
static void link_deleted_unseen(void **state)
{
	struct host *h = *state;
	struct setup_answer a;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	update(h);
	start(h);
	a = setup_answer_make(last_request(h), STEP_CHANGED, 0);
	a.ifindex = 5;
	a.device_index = 1;
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE);
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	update(h);
	expect(h, STEP_CHANGED, NULL, "made, not yet seen", NULL);
	plan_order(&h->plan, NULL, false);
	for (int i = 0; i < 3 && !plan_next(&h->plan, h->now); i++) {
		assert_false(plan_settled(&h->plan));
		h->now = plan_recheck(&h->plan);
		update(h);
	}
	start(h);
}

static void link_deleted_ignore(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	h->config->drift = DRIFT_IGNORE;
	lose_device(h, 1);
	settle(h);
	assert_true(h->plan.steps[0].hidden);
	expect_condition(h, -1);
	expect_idle(h);
	assert_null(plan_next_news(&h->plan));
	assert_true(plan_settled(&h->plan));
}

static void link_deleted_repair(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	h->config->drift = DRIFT_REPAIR;
	for (uint32_t i = 0; i < 2; i++) {
		lose_device(h, 1 + i);
		settle(h);
		expect(h, STEP_PENDING, NULL, NULL, NULL);
		make_rxe0(h, 2 + i, 5);
		settle(h);
		expect(h, STEP_OK, NULL, NULL, NULL);
		restart(h);
	}
	/* Who deletes it a third time means it. */
	lose_device(h, 3);
	settle(h);
	expect(h, STEP_DRIFTED, "deleted by hand", "left alone", NULL);
	expect_condition(h, REASON_SETUP_DRIFTED);
	expect_idle(h);
	plan_retry(&h->plan); /* the administrator asks */
	update(h);
	assert_non_null(plan_next(&h->plan, h->now));
}

static void module_of_link_unloaded(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	h->config->drift = DRIFT_REPAIR;
	set_module(h, "rdma_rxe", MODULE_STATE_NONE);
	lose_device(h, 1);
	restart(h);
	settle(h);
	expect(h, STEP_BLOCKED, NULL, "rdma_rxe was unloaded by hand", "modprobe rdma_rxe");
	expect_condition(h, REASON_SETUP_BLOCKED);
	plan_retry(&h->plan);
	expect_idle(h);
	/* Reported only: drifted, and not loaded either. */
	h->config->drift = DRIFT_REPORT;
	settle(h);
	expect(h, STEP_DRIFTED, "rdma_rxe was unloaded by hand", NULL, NULL);
	expect_idle(h);
	/* Loaded by hand, and the link is owed. */
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE);
	update(h);
	make_rxe0(h, 3, 5);
	set_module(h, "rdma_rxe", MODULE_STATE_NONE);
	lose_device(h, 3);
	settle(h);
	/* A netdev that comes back would bring the link, but not the module. */
	see_netdev(h, 5, "d0", true);
	update(h);
	see_netdev(h, 7, "d0", false);
	settle(h);
	expect(h, STEP_BLOCKED, NULL, "rdma_rxe was unloaded by hand", NULL);
	expect_idle(h);
	/* Loaded by hand: now it comes. */
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE);
	update(h);
	make_rxe0(h, 2, 7);
}

/* So quickly that nobody sees it away. */
static void module_of_link_reloaded(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	h->now += USEC_PER_HOUR;
	plan_module_removed(&h->plan, "rdma_rxe", h->now);
	lose_device(h, 1);
	settle(h);
	expect(h, STEP_PENDING, "gone with its module", NULL, NULL);
	make_rxe0(h, 2, 5);
	/* Deleted by hand long after that is deleted by hand. */
	h->now += USEC_PER_HOUR;
	update(h);
	lose_device(h, 2);
	settle(h);
	expect(h, STEP_DRIFTED, "deleted by hand", NULL, NULL);
	expect_idle(h);
}

static void module_of_link_denied(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	add_deny(h, "rdma_rxe");
	see_netdev(h, 5, "d0", false);
	settle(h);
	expect(h, STEP_BLOCKED, NULL, "Deny= forbids", "out of Deny=");
	expect_idle(h);
	set_module(h, "rdma_rxe", MODULE_STATE_LIVE); /* somebody else loaded it */
	update(h);
	assert_non_null(plan_next(&h->plan, h->now));
}

static void link_renamed_by_hand(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	see_device(h, 1, "fast0", LINK_TYPE_RXE, "d0");
	settle(h);
	expect(h, STEP_OK, "named fast0", "renamed by hand", NULL);
	expect_condition(h, -1);
	expect_idle(h);
	assert_null(plan_next_news(&h->plan));
	restart(h);
	settle(h);
	expect(h, STEP_OK, "named fast0", NULL, NULL);
	expect_idle(h);
}

/* Each has the other's name: which is whose is known by what was made. */
static void links_swap_names(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	add_link(h, "rxe1", "d1");
	see_netdev(h, 6, "d1", false);
	see_device(h, 2, "rxe1", LINK_TYPE_RXE, "d1");
	settle(h);
	lose_device(h, 2);
	see_device(h, 1, "rxe1", LINK_TYPE_RXE, "d0");
	see_device(h, 2, "rxe0", LINK_TYPE_RXE, "d1");
	update(h);
	for (size_t i = 0; i < h->plan.n_steps; i++) {
		assert_int_equal(h->plan.steps[i].result, STEP_OK);
		assert_string_equal(h->plan.steps[i].detail, "renamed by hand");
	}
	expect_condition(h, -1);
	expect_idle(h);
	/* Or was it asked for? */
	h->config->devices = calloc(1, sizeof(struct config_device));
	assert_non_null(h->config->devices);
	h->config->n_devices = 1;
	h->config->devices->name = strdup("rxe1");
	update(h);
	assert_string_equal(h->plan.steps[0].detail, "renamed, as [Device] Name= says");
}

static void netdev_carries_another_link(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	see_device(h, 1, "mine", LINK_TYPE_RXE, "d0");
	settle(h);
	expect(h, STEP_BLOCKED, "d0 carries the rxe link mine", "already carries an rxe link",
		"rdma dev set mine name rxe0");
	expect_condition(h, REASON_SETUP_BLOCKED);
	expect_idle(h);
	see_device(h, 1, "rxe0", LINK_TYPE_RXE, "d0");
	update(h);
	expect(h, STEP_OK, NULL, NULL, NULL);
}

static void link_section_changes(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	see_netdev(h, 6, "d1", false);
	free(h->config->links[0].netdev);
	h->config->links[0].netdev = strdup("d1");
	settle(h);
	expect(h, STEP_BLOCKED, "rxe on d0", "not on d1", NULL);
	lose_device(h, 1);
	update(h);
	assert_string_equal(start(h)->netdev, "d1");
	/* The section goes while its step runs: the answer finds nobody, and is remembered. */
	h->config->n_links = 0;
	update(h);
	finish(h, STEP_CHANGED, 0, "");
	h->config->n_links = 1;
	assert_string_equal(setup_memory_link(&h->plan.memory, "rxe0")->netdev, "d1");
	assert_int_equal(setup_memory_link(&h->plan.memory, "rxe0")->ifindex, 6);
}

/* ---- failures ---- */

static void failure_backs_off(void **state)
{
	struct host *h = *state;
	usec_t last = 0, gap = 0;
	unsigned tries = 0;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	update(h);
	/* A day of it, as fast as the manager could possibly ask. */
	while (h->now < T0 + USEC_PER_DAY) {
		if (plan_next(&h->plan, h->now)) {
			gap = h->now - last;
			last = h->now;
			start(h);
			finish(h, STEP_FAILED, -ENOMEM, "adding the link failed");
			tries++;
		}
		update(h);
		expect(h, STEP_FAILED, NULL, "adding the link failed", NULL);
		expect_condition(h, REASON_SETUP_FAILED);
		assert_true(plan_settled(&h->plan));
		assert_true(plan_recheck(&h->plan) > h->now);
		h->now = plan_recheck(&h->plan);
	}
	assert_in_range(tries, 10, 70);
	assert_true(gap == 30 * USEC_PER_MINUTE);

	/* It does not flicker while it is tried again. */
	h->now += USEC_PER_DAY;
	update(h);
	start(h);
	update(h);
	expect_condition(h, REASON_SETUP_FAILED);
	finish(h, STEP_FAILED, -ENOMEM, "adding the link failed");

	/* Something relevant changes: at once, though not twice in a second. */
	see_netdev(h, 5, "d0", true);
	see_netdev(h, 8, "d0", false);
	update(h);
	assert_null(plan_next(&h->plan, h->now));
	h->now = plan_recheck(&h->plan);
	assert_true(h->now <= last + 3 * USEC_PER_DAY);
	update(h);
	start(h);
	finish(h, STEP_FAILED, -ENOMEM, "adding the link failed");
	h->now += USEC_PER_SEC;
	plan_retry(&h->plan);
	update(h);
	make_rxe0(h, 2, 8);
	expect_condition(h, -1);
}

static void one_failure_stops_nothing_else(void **state)
{
	struct host *h = *state;

	add_load(h, "a");
	add_load(h, "b");
	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	update(h);
	assert_string_equal(start(h)->object, "a");
	finish(h, STEP_FAILED, -EIO, "x");
	update(h);
	assert_string_equal(start(h)->object, "b");
	finish(h, STEP_BLOCKED, -EPERM, "x");
	update(h);
	assert_string_equal(start(h)->object, "rxe0");
}

static void helper_unreachable(void **state)
{
	struct host *h = *state;

	add_load(h, "ib_umad");
	update(h);
	for (int i = 0; i < 10; i++) {
		start(h);
		finish_self(h, SETUP_UNREACHABLE);
		update(h);
		expect(h, STEP_WAITING, NULL, "not reachable", NULL);
		expect_condition(h, -1);
		assert_null(plan_next(&h->plan, h->now));
		assert_true(plan_settled(&h->plan));
		assert_true(plan_recheck(&h->plan) <= h->now + USEC_PER_MINUTE);
		h->now = plan_recheck(&h->plan);
		update(h);
	}
}

static void helper_dies(void **state)
{
	struct host *h = *state;

	add_load(h, "ib_umad");
	update(h);
	start(h);
	finish_self(h, SETUP_DIED);
	update(h);
	expect(h, STEP_PENDING, NULL, "setup helper died", NULL); /* tried once more */
	expect_condition(h, -1);
	assert_true(plan_recheck(&h->plan) == h->now + USEC_PER_SEC);
	h->now = plan_recheck(&h->plan);
	update(h);
	start(h);
	finish_self(h, SETUP_DIED);
	update(h);
	expect(h, STEP_FAILED, NULL, "setup helper died", NULL);
	expect_condition(h, REASON_SETUP_FAILED);
	assert_true(plan_recheck(&h->plan) > h->now + USEC_PER_SEC);
}

static void helper_hangs(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct setup_answer a;

	add_load(h, "slow");
	add_load(h, "other");
	update(h);
	start(h);
	h->now += USEC_PER_SEC;
	update(h);
	assert_string_equal(h->plan.steps[0].detail, "running");
	assert_null(plan_next(&h->plan, h->now));
	/* After a while the others are not kept waiting; nor is it begun twice. */
	h->now = plan_recheck(&h->plan);
	update(h);
	assert_ptr_equal(plan_next(&h->plan, h->now), &h->plan.steps[1]);
	plan_started(&h->plan, &h->plan.steps[1], h->now, &req);
	a = setup_answer_make(&req, STEP_CHANGED, 0);
	set_module(h, "other", MODULE_STATE_LIVE);
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	h->now += USEC_PER_HOUR;
	update(h);
	assert_false(plan_settled(&h->plan));
	assert_string_equal(h->plan.steps[0].detail, "running");
	assert_int_equal(h->plan.steps[1].result, STEP_CHANGED);
	expect_idle(h);
}

/* Not more than so many at a time, however many hang. */
static void helpers_hang(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	struct host *h = *state;
	unsigned begun = 0;
	struct setup_request req;
	struct step *s;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_load(h, names[i]);
	for (unsigned i = 0; i < 20; i++, h->now += 5 * USEC_PER_SEC) {
		update(h);
		s = plan_next(&h->plan, h->now);
		if (!s)
			continue;
		plan_started(&h->plan, s, h->now, &req);
		begun++;
	}
	assert_int_equal(begun, PLAN_RUNS_MAX);
}

static void made_and_deleted_at_once(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	update(h);
	start(h);
	finish(h, STEP_CHANGED, 0, "");
	/* The model hears of it later, or never: it is not made twice. */
	update(h);
	expect(h, STEP_CHANGED, NULL, NULL, NULL);
	expect_idle(h);
	h->now = plan_recheck(&h->plan);
	settle(h);
	expect(h, STEP_DRIFTED, NULL, NULL, NULL);
	expect_idle(h);
}

static void killed_in_the_middle(void **state)
{
	struct host *h = *state;

	/* rdmad dies while the helper works; the link is made, nobody heard of it. */
	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	update(h);
	start(h);
	restart(h);
	update(h);
	assert_non_null(plan_next(&h->plan, h->now)); /* the listing was before it was there */
	see_device(h, 1, "rxe0", LINK_TYPE_RXE, "d0");
	update(h);
	expect(h, STEP_OK, NULL, NULL, NULL);
	expect_idle(h);
}

/* ---- modes ---- */

static void mode_report(void **state)
{
	struct host *h = *state;

	add_link(h, "rxe0", "d0");
	see_netdev(h, 5, "d0", false);
	h->config->setup_mode = SETUP_MODE_REPORT;
	settle(h);
	expect(h, STEP_WAITING, "no link", "Mode=report", NULL);
	expect_condition(h, -1);
	expect_idle(h);
	assert_true(plan_settled(&h->plan));
}

static void mode_off(void **state)
{
	struct host *h = *state;

	given_rxe0(h);
	h->config->setup_mode = SETUP_MODE_OFF;
	add_load(h, "ib_umad");
	set_module(h, "ib_umad", MODULE_STATE_LIVE);
	update(h);
	assert_int_equal(h->plan.n_steps, 0);
	expect_condition(h, -1);
	expect_idle(h);
	/* What was seen meanwhile counts afterwards. */
	set_module(h, "ib_umad", MODULE_STATE_NONE);
	h->config->setup_mode = SETUP_MODE_APPLY;
	update(h);
	assert_string_equal(h->plan.steps[0].found, "unloaded by hand");
}

/* ---- memory and messages ---- */

static void memory_garbage(void **state)
{
	static const struct {
		const char *text;
		int entries;
	} cases[] = {
		{ "", 0 },
		{ "\n\n\n", 0 },
		{ "rdmad-setup-memory 2\nboot " BOOT "\nmodule a a loaded\n", 0 },
		{ "rdmad-setup-memory 1\nboot other\nmodule a a loaded\n", 0 },
		{ "rdmad-setup-memory 1\nmodule a a loaded\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nmodule a a loaded", 1 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nmodule a a loaded\nmodule a\nmodule\n", 1 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nmodule a/b c loaded\nwhat is this\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nlink rxe0 rxe d0 5 1 no 0\n", 1 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nlink rxe0 rxe d0 5 1 no 0 9\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nlink rxe0 rxe d0 5 1 no\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nlink rxe0 foo d0 5 1 no 0\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nlink rxe0 rxe d0 -5 1 no 0\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT "\nlink rxe0 rxe d0 5 1 perhaps 0\n", 0 },
		{ "rdmad-setup-memory 1\nboot " BOOT
		  "\nmodule a a loaded\nmodule a a built-in\nlink r%e rxe d0 5 1 no 0\n",
			1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setup_memory m = { 0 };

		assert_int_equal(setup_memory_parse(&m, cases[i].text, BOOT), cases[i].entries);
		assert_false(m.dirty);
		setup_memory_done(&m);
	}
}

static void memory_round_trip(void **state)
{
	struct setup_memory m = { 0 }, n = { 0 };
	struct memory_link l = {
		.name = "rxe0",
		.type = LINK_TYPE_SIW,
		.netdev = "d0",
		.ifindex = 5,
		.device_index = UINT32_MAX,
		.lost = true,
		.repairs = 2,
	};
	char *a = NULL, *b = NULL;

	assert_int_equal(setup_memory_note_module(&m, "rdma-link-rxe", "rdma_rxe", false), 0);
	assert_int_equal(setup_memory_note_module(&m, "ib_core", "ib_core", true), 0);
	assert_int_equal(setup_memory_note_link(&m, &l), 0);
	assert_true(m.dirty);
	assert_int_equal(setup_memory_format(&m, BOOT, &a), 0);
	assert_false(m.dirty);
	assert_int_equal(setup_memory_parse(&n, a, BOOT), 3);
	assert_int_equal(setup_memory_format(&n, BOOT, &b), 0);
	assert_string_equal(a, b);
	assert_int_equal(n.links[0].type, LINK_TYPE_SIW);
	assert_int_equal(n.links[0].device_index, UINT32_MAX);
	assert_true(n.links[0].lost);
	assert_int_equal(setup_memory_note_link(&n, &l), 0);
	assert_false(n.dirty);
	free(a);
	free(b);
	setup_memory_done(&m);
	setup_memory_done(&n);
}

static void requests_are_checked(void **state)
{
	const struct setup_request good =
		setup_request_make(STEP_ADD_LINK, "rxe0", LINK_TYPE_RXE, "d0");
	struct setup_request r;

#define BAD(size, how, change)                                        \
	do {                                                          \
		r = good;                                             \
		change;                                               \
		assert_int_equal(setup_request_check(&r, size), how); \
	} while (0)
	BAD(sizeof(r), 0, (void)0);
	BAD(sizeof(r) - 1, -EBADMSG, (void)0);
	BAD(sizeof(r) + 1, -EBADMSG, (void)0);
	BAD(0, -EBADMSG, (void)0);
	BAD(sizeof(r), -EBADMSG, r.magic++);
	BAD(sizeof(r), -EPROTONOSUPPORT, r.version++);
	BAD(sizeof(r) + 8, -EPROTONOSUPPORT, r.version++);
	BAD(sizeof(r), -EBADMSG, r.kind = 77);
	BAD(sizeof(r), -EBADMSG, r.kind = STEP_LOAD_MODULE);
	BAD(sizeof(r), -EBADMSG, r.link_type = 0);
	BAD(sizeof(r), -EBADMSG, r.link_type = _LINK_TYPE_MAX);
	BAD(sizeof(r), -EBADMSG, r.flags = 2);
	BAD(sizeof(r), -EBADMSG, memset(r.name, 'a', sizeof(r.name)));
	BAD(sizeof(r), -EBADMSG, memset(r.netdev, 'a', sizeof(r.netdev)));
	BAD(sizeof(r), -EBADMSG, r.name[0] = '\0');
	BAD(sizeof(r), -EBADMSG, r.name[1] = '/');
	BAD(sizeof(r), -EBADMSG, r.name[1] = '%');
	BAD(sizeof(r), -EBADMSG, strcpy(r.name, ".."));
	BAD(sizeof(r), -EBADMSG, strcpy(r.netdev, "../x"));
	BAD(sizeof(r), -EBADMSG, strcpy(r.netdev, ""));
#undef BAD
	r = setup_request_make(STEP_LOAD_MODULE, "ib_umad", LINK_TYPE_NONE, "");
	assert_int_equal(setup_request_check(&r, sizeof(r)), 0);
	strcpy(r.name, "../evil");
	assert_int_equal(setup_request_check(&r, sizeof(r)), -EBADMSG);
	strcpy(r.name, "-r");
	assert_int_equal(setup_request_check(&r, sizeof(r)), -EBADMSG);
}

static void answers_are_checked(void **state)
{
	const struct setup_request req =
		setup_request_make(STEP_ADD_LINK, "rxe0", LINK_TYPE_RXE, "d0");
	const struct setup_answer good = setup_answer_make(&req, STEP_CHANGED, 0);
	struct setup_answer a;

#define BAD(size, how, change)                                             \
	do {                                                               \
		a = good;                                                  \
		change;                                                    \
		assert_int_equal(setup_answer_check(&a, size, &req), how); \
	} while (0)
	BAD(sizeof(a), 0, (void)0);
	BAD(3, -EBADMSG, (void)0);
	BAD(sizeof(a) + 1, -EBADMSG, (void)0);
	BAD(sizeof(a), -EBADMSG, a.magic = 0);
	BAD(sizeof(a), -EPROTONOSUPPORT, a.version = 9);
	BAD(sizeof(a), -EBADMSG, a.id = 4);
	BAD(sizeof(a), -EBADMSG, a.kind = STEP_LOAD_MODULE);
	BAD(sizeof(a), -EBADMSG, strcpy(a.name, "rxe1"));
	BAD(sizeof(a), -EBADMSG, a.result = STEP_PENDING);
	BAD(sizeof(a), -EBADMSG, a.result = STEP_DRIFTED);
	BAD(sizeof(a), -EBADMSG, a.result = 99);
	BAD(sizeof(a), -EBADMSG, a.error = 1);
	BAD(sizeof(a), -EBADMSG, a.flags = SETUP_DIED);
	BAD(sizeof(a), -EBADMSG, memset(a.detail, 'x', sizeof(a.detail)));
	BAD(sizeof(a), -EBADMSG, strcpy(a.detail, "two\nlines"));
	BAD(sizeof(a), -EBADMSG, strcpy(a.remedy, "\xff"));
	BAD(sizeof(a), -EBADMSG, strcpy(a.module, "a b"));
#undef BAD
}

#define T(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(module_is_loaded),
		T(module_there_already),
		T(module_built_in),
		T(module_unloaded_by_hand),
		T(module_alias),
		T(module_denied),
		T(module_absent_is_one_notice),
		T(module_blacklisted),
		T(link_is_made),
		T(nothing_before_the_listing),
		T(link_is_adopted),
		T(link_is_something_else),
		T(link_not_looked_at),
		T(netdev_not_there_yet),
		T(netdev_lost_and_back),
		T(netdev_back_with_the_same_index),
		T(netdev_replaced_while_down),
		T(stale_device_on_a_new_netdev),
		T(link_deleted_report),
		T(link_deleted_ordered),
		T(link_deleted_unseen),
		T(link_deleted_ignore),
		T(link_deleted_repair),
		T(module_of_link_unloaded),
		T(module_of_link_reloaded),
		T(module_of_link_denied),
		T(link_renamed_by_hand),
		T(links_swap_names),
		T(netdev_carries_another_link),
		T(link_section_changes),
		T(failure_backs_off),
		T(one_failure_stops_nothing_else),
		T(helper_unreachable),
		T(helper_dies),
		T(helper_hangs),
		T(helpers_hang),
		T(made_and_deleted_at_once),
		T(killed_in_the_middle),
		T(mode_report),
		T(mode_off),
		cmocka_unit_test(memory_garbage),
		cmocka_unit_test(memory_round_trip),
		cmocka_unit_test(requests_are_checked),
		cmocka_unit_test(answers_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
