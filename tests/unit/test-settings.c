/* SPDX-License-Identifier: MIT */
/* Settings in the plan: each kind's situations, with facts, answers and a clock (DESIGN section 6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "macros.h"
#include "plan.h"
#include "setting.h"
#include "setup-world.h"

#define BOOT "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

/* One host with the configuration that is written here. */
struct host {
	struct config *config;
	struct model model;
	struct plan plan;
	const char *hostname, *rival;
	usec_t now;
	char file[64];
	enum module_state rdma_cm, ib_ipoib; /* all others are loaded */
	bool reading;
};

static enum module_state module_state(const char *module, void *user)
{
	const struct host *h = user;

	return streq(module, "rdma_cm")    ? h->rdma_cm
	       : streq(module, "ib_ipoib") ? h->ib_ipoib
					   : MODULE_STATE_LIVE;
}

static void configure(struct host *h, const char *text)
{
	FILE *f = fopen(h->file, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	config_free(h->config);
	h->config = NULL;
	assert_int_equal(config_load_file(h->file, &h->config), 0);
	if (h->config->n_problems)
		print_message("%s\n", h->config->problems[0].text);
	assert_int_equal(h->config->n_problems, 0);
}

static void update(struct host *h)
{
	struct plan_input in = {
		.config = h->config,
		.model = &h->model,
		.module_state = module_state,
		.user = h,
		.hostname = h->hostname,
		.rival = h->rival,
		.reading = h->reading,
		.now = h->now,
	};

	assert_int_equal(plan_update(&h->plan, &in), 0);
}

static struct device *see_device(struct host *h, uint32_t index, const char *name)
{
	struct device_facts f = { .index = index, .port_count = 1, .node_guid = 100 + index };
	struct timepoint now = { .mono = h->now, .real = h->now };
	struct port_facts p = port_facts_unknown(index, 1);
	struct device *d;

	STRSCPY(f.name, name);
	STRSCPY(f.driver, "mlx5_core");
	STRSCPY(f.protocol, "roce");
	assert_true(model_see_device(&h->model, &f, now, &d) >= 0);
	p.link_layer = LINK_LAYER_ETHERNET;
	d->ports[0].facts = p;
	d->ports[0].have_facts = true;
	return d;
}

static struct device *device(struct host *h, const char *name)
{
	struct device *d = model_device_by_name(&h->model, name);

	assert_non_null(d);
	return d;
}

static void lose_netdev(struct host *h, uint32_t ifindex)
{
	struct netdev_facts f = model_netdev_by_index(&h->model, ifindex)->facts;
	uint32_t downs;

	f.gone = true;
	assert_true(model_see_netdev(&h->model, &f, &downs) >= 0);
}

/* The step of this kind and object; fails when there is none. */
static const struct step *step(const struct host *h, enum step_kind kind, const char *object)
{
	for (size_t i = 0; i < h->plan.n_steps; i++)
		if (h->plan.steps[i].kind == kind && streq(h->plan.steps[i].object, object))
			return &h->plan.steps[i];
	fail_msg("no step %s of %s", step_kind_to_string(kind), object);
	return NULL;
}

static void expect(const struct host *h, enum step_kind kind, const char *object,
	enum step_result result, const char *found, const char *detail)
{
	const struct step *s = step(h, kind, object);

	if (s->result != result || (found && !strstr(s->found, found)) ||
		(detail && !strstr(s->detail, detail)))
		fail_msg("%s of %s: %s, found \"%s\", detail \"%s\"", step_kind_to_string(kind),
			object, step_result_to_string(s->result), s->found, s->detail);
}

/* The next step goes to the helper. */
static struct setup_request start(struct host *h, enum step_kind kind)
{
	struct step *s = plan_next(&h->plan, h->now);
	struct setup_request req = { 0 };

	assert_non_null(s);
	assert_string_equal(step_kind_to_string(s->kind), step_kind_to_string(kind));
	plan_started(&h->plan, s, h->now, &req);
	assert_int_equal(setup_request_check(&req, sizeof(req)), 0);
	return req;
}

static void answer(struct host *h, const struct setup_request *req, enum step_result result,
	int error, const char *value)
{
	struct setup_answer a = setup_answer_make(req, result, error);

	STRSCPY(a.value, value);
	if (result == STEP_WAITING)
		a.flags = SETUP_IN_USE;
	assert_int_equal(setup_answer_check(&a, sizeof(a), req), 0);
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	update(h);
}

static void expect_nothing_due(struct host *h)
{
	assert_null(plan_next(&h->plan, h->now + USEC_PER_DAY));
}

static int setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));
	int fd;

	STRSCPY(h->file, "/tmp/test-settings.XXXXXX");
	fd = mkstemp(h->file);
	assert_true(fd >= 0);
	close(fd);
	h->now = 100 * USEC_PER_SEC;
	h->hostname = "node7";
	h->rdma_cm = h->ib_ipoib = MODULE_STATE_LIVE;
	h->model.listed = true;
	h->model.system.netns_exclusive = h->model.system.privileged_qkey = -1;
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct host *h = *state;

	unlink(h->file);
	plan_done(&h->plan);
	model_done(&h->model);
	config_free(h->config);
	free(h);
	return 0;
}

/* ---- values ---- */

static void test_node_description(void **state)
{
	static const struct {
		const char *template, *wanted;
	} cases[] = {
		{ "%H %d", "node7 mlx5_0" },
		{ "100%% %d", "100% mlx5_0" },
		{ "%H", "node7" },
		/* 63 bytes and one character of two: it is left out as a whole. */
		{ "123456789012345678901234567890123456789012345678901234567890123\xc3\xa4",
			"123456789012345678901234567890123456789012345678901234567890123" },
		{ "1234567890123456789012345678901234567890123456789012345678901\xe2\x82\xac%d",
			"1234567890123456789012345678901234567890123456789012345678901\xe2\x82"
			"\xac" },
		{ "123456789012345678901234567890123456789012345678901234567890%d",
			"123456789012345678901234567890123456789012345678901234567890mlx5" },
		/* A blank at the end would not be read back, and be set for ever. */
		{ "123456789012345678901234567890123456789012345678901234567890123 %d",
			"123456789012345678901234567890123456789012345678901234567890123" },
	};
	static const struct {
		const char *hostname, *wanted;
	} hosts[] = {
		{ "", "mlx5_0" },
		{ "n\xc3\xb6rd", "n\xc3\xb6rd mlx5_0" },
		{ "n\xf6rd", "n?rd mlx5_0" },
		{ "a\nb\x1b", "a?b? mlx5_0" },
		{ "a\xc2\x9b", "a?? mlx5_0" },
	};
	char buf[NODE_DESC_MAX + 1];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(node_description(buf, cases[i].template, "node7", "mlx5_0"),
			cases[i].wanted);
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		assert_string_equal(node_description(buf, "%H %d", hosts[i].hostname, "mlx5_0"),
			hosts[i].wanted);
}

static void test_values(void **state)
{
	static const struct {
		enum step_kind kind;
		const char *value;
		bool valid;
	} cases[] = {
		{ STEP_NETNS_MODE, "exclusive", true },
		{ STEP_NETNS_MODE, "0", false },
		{ STEP_ROCE_TOS, "255", true },
		{ STEP_ROCE_TOS, "256", false },
		{ STEP_ROCE_TOS, "-1", false },
		{ STEP_ROCE_MODE, "v2", true },
		{ STEP_ROCE_MODE, "v3", false },
		{ STEP_OPTIONAL_COUNTERS, "cc_rx_ce_pkts cc_tx_cnp_pkts", true },
		{ STEP_OPTIONAL_COUNTERS, " cc_rx_ce_pkts", false },
		{ STEP_OPTIONAL_COUNTERS, "a  b", false },
		{ STEP_OPTIONAL_COUNTERS, "", false },
		{ STEP_ADD_IPOIB, "0x8001", true },
		{ STEP_ADD_IPOIB, "", true },
		{ STEP_ADD_IPOIB, "0x8000", false },
		{ STEP_ADD_IPOIB, "0x0000", false },
		{ STEP_ADD_IPOIB, "8001", false },
		{ STEP_DEVICE_NAME, "ib/0", false },
		{ STEP_NETDEV_MTU, "67", false },
		{ STEP_NETDEV_MTU, "65520", true },
		{ STEP_LOAD_MODULE, "x", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
			setting_value_valid(cases[i].kind, cases[i].value), cases[i].valid);
	/* Others' counters stay on; the membership bit is no part of a P_Key's identity. */
	assert_true(setting_satisfied(STEP_OPTIONAL_COUNTERS, "a b c", "c a"));
	assert_false(setting_satisfied(STEP_OPTIONAL_COUNTERS, "ab b", "a"));
	assert_true(setting_satisfied(STEP_ADD_IPOIB, "0x8001", "0x0001"));
	assert_false(setting_satisfied(STEP_ADD_IPOIB, "0x8001", "0x8002"));
}

/* What does not belong into a request is refused by the helper. */
static void test_requests(void **state)
{
	struct setup_request req = setup_request_make(STEP_ROCE_TOS, "mlx5_0", 0, "");

	(void)state;
	STRSCPY(req.value, "106");
	assert_int_equal(setup_request_check(&req, sizeof(req)), -EBADMSG); /* of which port? */
	req.port = 1;
	assert_int_equal(setup_request_check(&req, sizeof(req)), -EBADMSG);
	req.index = 3;
	assert_int_equal(setup_request_check(&req, sizeof(req)), 0);
	STRSCPY(req.netdev, "eth0");
	assert_int_equal(setup_request_check(&req, sizeof(req)), -EBADMSG);
	req.netdev[0] = '\0';
	STRSCPY(req.name, "../../etc");
	assert_int_equal(setup_request_check(&req, sizeof(req)), -EBADMSG);
	STRSCPY(req.name, "mlx5_0");
	STRSCPY(req.value, "1\n2");
	assert_int_equal(setup_request_check(&req, sizeof(req)), -EBADMSG);
	req = setup_request_make(STEP_LOAD_MODULE, "ib_umad", 0, "");
	STRSCPY(req.value, "x");
	assert_int_equal(setup_request_check(&req, sizeof(req)), -EBADMSG);
}

/* ---- one setting from the beginning to the end ---- */

static void describe(struct host *h, const char *name, const char *text)
{
	struct device *d = device(h, name);

	d->have_settings = true;
	STRSCPY(d->settings.node_desc, text);
}

static void given_description(struct host *h)
{
	struct setup_request req;

	configure(h, "[Device *]\nNodeDescription=%H %d\n");
	see_device(h, 3, "mlx5_0");
	describe(h, "mlx5_0", "MT4129");
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	assert_string_equal(req.value, "node7 mlx5_0");
	answer(h, &req, STEP_CHANGED, 0, "node7 mlx5_0");
	/* What was read before it was set is no drift. */
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_CHANGED, NULL, NULL);
	describe(h, "mlx5_0", "node7 mlx5_0");
	h->now += 2 * USEC_PER_SEC;
	update(h);
	while (plan_next_news(&h->plan))
		;
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_OK, "node7 mlx5_0", NULL);
	expect_nothing_due(h);
}

static void test_set_and_kept(void **state)
{
	given_description(*state);
}

static void test_right_already(void **state)
{
	struct host *h = *state;

	configure(h, "[Device *]\nNodeDescription=%d\n");
	see_device(h, 3, "mlx5_0");
	describe(h, "mlx5_0", "mlx5_0");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_OK, NULL, NULL);
	expect_nothing_due(h);
}

static void test_drift(void **state)
{
	struct host *h = *state;
	struct plan_condition c;
	char *text = NULL;

	given_description(h);
	describe(h, "mlx5_0", "somebody's");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_DRIFTED, "somebody's", "rdma-ndd");
	assert_int_equal(plan_conditions(&h->plan, &c, 1), 1);
	assert_int_equal(c.id, REASON_SETUP_DRIFTED);
	assert_string_equal(c.found, "somebody's");
	assert_string_equal(c.wanted, "node7 mlx5_0");
	assert_non_null(strstr(c.remedy, "rdmactl apply"));
	expect_nothing_due(h);
	/* After a restart it is still somebody's. */
	assert_int_equal(setup_memory_format(&h->plan.memory, BOOT, &text), 0);
	plan_done(&h->plan);
	assert_true(setup_memory_parse(&h->plan.memory, text, BOOT) > 0);
	free(text);
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_DRIFTED, NULL, NULL);
	/* Ordered: mended. */
	plan_order(&h->plan, NULL, false);
	update(h);
	start(h, STEP_NODE_DESCRIPTION);
}

static void test_repair_without_fight(void **state)
{
	struct host *h = *state;

	configure(h, "[Setup]\nDrift=repair\n[Device *]\nNodeDescription=%d\n");
	see_device(h, 3, "mlx5_0");
	for (unsigned i = 0; i < 3; i++) {
		struct setup_request req;

		describe(h, "mlx5_0", "somebody's");
		h->now += USEC_PER_MINUTE;
		update(h);
		req = start(h, STEP_NODE_DESCRIPTION);
		answer(h, &req, STEP_CHANGED, 0, "mlx5_0");
		describe(h, "mlx5_0", "mlx5_0");
		update(h);
	}
	describe(h, "mlx5_0", "somebody's");
	h->now += USEC_PER_MINUTE;
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_DRIFTED, NULL, "2 times");
	expect_nothing_due(h);
}

static void test_device_comes_anew(void **state)
{
	struct host *h = *state;

	given_description(h);
	model_remove_device(&h->model, device(h, "mlx5_0"));
	update(h);
	assert_int_equal(h->plan.n_steps, 0);
	see_device(h, 4, "mlx5_0");
	describe(h, "mlx5_0", "MT4129");
	update(h);
	start(h, STEP_NODE_DESCRIPTION);
}

static void test_hostname_changes(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	given_description(h);
	h->hostname = "node8";
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	assert_string_equal(req.value, "node8 mlx5_0");
}

static void test_device_renamed(void **state)
{
	struct host *h = *state;
	struct device *d;
	struct setup_request req;

	given_description(h);
	d = device(h, "mlx5_0");
	STRSCPY(d->facts.name, "ib0");
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	assert_string_equal(req.name, "ib0");
	assert_string_equal(req.value, "node7 ib0");
}

static void test_report_mode(void **state)
{
	struct host *h = *state;

	configure(h, "[Setup]\nMode=report\n[Device *]\nNodeDescription=%d\n");
	see_device(h, 3, "mlx5_0");
	describe(h, "mlx5_0", "MT4129");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_WAITING, "MT4129", "Mode=report");
	expect_nothing_due(h);
	plan_order(&h->plan, NULL, false);
	update(h);
	start(h, STEP_NODE_DESCRIPTION);
}

static void test_refused(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct plan_condition c[2];

	configure(h, "[Device *]\nAdaptiveModeration=yes\nNodeDescription=%d\n");
	see_device(h, 3, "mlx5_0");
	describe(h, "mlx5_0", "mlx5_0");
	update(h);
	req = start(h, STEP_ADAPTIVE_MODERATION);
	answer(h, &req, STEP_UNSUPPORTED, -EOPNOTSUPP, "");
	expect(h, STEP_ADAPTIVE_MODERATION, "mlx5_0", STEP_UNSUPPORTED, NULL, NULL);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_OK, NULL, NULL);
	assert_int_equal(plan_conditions(&h->plan, c, 2), 1);
	assert_int_equal(c[0].id, REASON_SETUP_FAILED);
	expect_nothing_due(h);
}

static void test_released(void **state)
{
	struct host *h = *state;

	configure(h, "[Device *]\nNodeDescription=%d\n");
	see_device(h, 3, "mlx5_0")->release.until.mono = h->now + USEC_PER_HOUR;
	describe(h, "mlx5_0", "MT4129");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_WAITING, NULL, "released");
	expect_nothing_due(h);
}

/* Somebody else reloads the drivers: nothing is begun until that is over. */
static void test_rival(void **state)
{
	struct host *h = *state;

	configure(h, "[Device *]\nNodeDescription=%d\n");
	see_device(h, 3, "mlx5_0");
	describe(h, "mlx5_0", "MT4129");
	h->rival = "openibd.service";
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_WAITING, "MT4129", "openibd.service is at");
	assert_null(plan_next(&h->plan, h->now + USEC_PER_DAY));
	assert_true(plan_recheck(&h->plan) <= h->now + USEC_PER_SEC);
	h->rival = NULL;
	update(h);
	start(h, STEP_NODE_DESCRIPTION);
}

/* What goes or changes meanwhile is nobody's drift; what stood before stands. */
static void test_rival_is_no_drift(void **state)
{
	struct host *h = *state;
	struct plan_condition c[4];

	configure(h, "[Device *]\nNodeDescription=%d\n[Port *]\nRoCEToS=7\n");
	describe(h, see_device(h, 3, "mlx5_0")->facts.name, "mlx5_0");
	device(h, "mlx5_0")->ports[0].have_settings = true;
	device(h, "mlx5_0")->ports[0].settings.roce_tos = 7;
	update(h);
	describe(h, "mlx5_0", "somebody");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_DRIFTED, "somebody", NULL);
	h->rival = "openibd.service";
	device(h, "mlx5_0")->ports[0].settings.roce_tos = 0;
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_DRIFTED, "somebody", NULL);
	expect(h, STEP_ROCE_TOS, "mlx5_0/1", STEP_WAITING, "0", "openibd.service is at");
	assert_int_equal(plan_conditions(&h->plan, c, ARRAY_SIZE(c)), 1);
	h->rival = NULL;
	update(h);
	expect(h, STEP_ROCE_TOS, "mlx5_0/1", STEP_DRIFTED, "0", NULL);
}

/* The section changes while the helper is at it: the answer is to what is not asked for any more. */
static void test_changed_while_running(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Device *]\nNodeDescription=old\n");
	see_device(h, 3, "mlx5_0");
	describe(h, "mlx5_0", "MT4129");
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	configure(h, "[Device *]\nNodeDescription=new\n");
	update(h);
	answer(h, &req, STEP_CHANGED, 0, "old");
	h->now += 2 * USEC_PER_SEC;
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	assert_string_equal(req.value, "new");
}

/* ---- ports ---- */

static void test_roce(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct port *p;

	configure(h, "[Port *]\nRoCEMode=v2\nRoCEToS=106\n");
	p = &see_device(h, 3, "mlx5_0")->ports[0];
	/* Nobody has made its directory in configfs: the helper looks itself. */
	update(h);
	req = start(h, STEP_ROCE_MODE);
	assert_int_equal(req.port, 1);
	answer(h, &req, STEP_OK, 0, "v2");
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_OK, "v2", NULL);
	h->now += 2 * USEC_PER_SEC;
	req = start(h, STEP_ROCE_TOS);
	answer(h, &req, STEP_CHANGED, 0, "106");
	p->have_settings = true;
	p->settings.roce_mode = GID_TYPE_ROCE_V2;
	p->settings.roce_tos = 106;
	update(h);
	expect(h, STEP_ROCE_TOS, "mlx5_0/1", STEP_CHANGED, "106", NULL);
	expect_nothing_due(h);
	p->settings.roce_mode = GID_TYPE_ROCE_V1;
	update(h);
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_DRIFTED, "v1", NULL);
	assert_non_null(strstr(step(h, STEP_ROCE_MODE, "mlx5_0/1")->remedy,
		"by hand: mkdir -p /sys/kernel/config/rdma_cm/mlx5_0; echo 'RoCE v2' >"));
}

/* Of a command that does not fit no half is told. */
static void test_long_command(void **state)
{
	struct host *h = *state;
	struct port *p;

	configure(h, "[Port *]\nRoCEMode=v2\n");
	p = &see_device(h, 3, "rocep193s0f0v12")->ports[0];
	p->have_settings = true;
	p->settings.roce_mode = GID_TYPE_ROCE_V2;
	update(h);
	expect(h, STEP_ROCE_MODE, "rocep193s0f0v12/1", STEP_OK, "v2", NULL);
	p->settings.roce_mode = GID_TYPE_ROCE_V1;
	update(h);
	expect(h, STEP_ROCE_MODE, "rocep193s0f0v12/1", STEP_DRIFTED, "v1", NULL);
	assert_string_equal(step(h, STEP_ROCE_MODE, "rocep193s0f0v12/1")->remedy,
		"rdmactl apply, or by hand what rdmactl plan shows");
}

/* What is not watched is set all the same, and what became of it is read without the device. */
static void test_not_watched(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct device *d;

	configure(h, "[Device *]\nMonitor=no\nNodeDescription=%d\n"
		     "[Port linklayer=Ethernet]\nRoCEMode=v2\n"
		     "[Port linklayer=InfiniBand]\nRoCEToS=3\n");
	d = see_device(h, 3, "mlx5_0");
	d->ports[0].have_facts = false;
	d->ports[0].facts = port_facts_unknown(3, 1);
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	answer(h, &req, STEP_CHANGED, 0, "mlx5_0");
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_CHANGED, "mlx5_0", NULL);
	h->now += 2 * USEC_PER_SEC;
	req = start(h, STEP_ROCE_MODE);
	answer(h, &req, STEP_CHANGED, 0, "v2");
	describe(h, "mlx5_0", "mlx5_0");
	d->ports[0].have_settings = true;
	d->ports[0].settings.roce_mode = GID_TYPE_ROCE_V2;
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_CHANGED, "mlx5_0", NULL);
	assert_string_equal(step(h, STEP_NODE_DESCRIPTION, "mlx5_0")->detail, "");
	expect_nothing_due(h);
	d->ports[0].settings.roce_mode = GID_TYPE_ROCE_V1;
	describe(h, "mlx5_0", "somebody");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_0", STEP_DRIFTED, "somebody", NULL);
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_DRIFTED, "v1", NULL);
	assert_int_equal(h->plan.n_steps, 3); /* and rdma_cm */
}

/* RoCE settings are rdma_cm's: it is loaded for them, and without it they are not in force. */
static void test_roce_module(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	h->rdma_cm = MODULE_STATE_NONE;
	configure(h, "[Port *]\nRoCEMode=v2\n");
	see_device(h, 3, "mlx5_0");
	update(h);
	req = start(h, STEP_LOAD_MODULE);
	assert_string_equal(req.name, "rdma_cm");
	h->rdma_cm = MODULE_STATE_LIVE;
	answer(h, &req, STEP_CHANGED, 0, "");
	req = start(h, STEP_ROCE_MODE);
	answer(h, &req, STEP_CHANGED, 0, "v2");
	while (plan_next_news(&h->plan))
		;
	h->now += USEC_PER_MINUTE;
	update(h);
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_OK, "v2", NULL);
	/* Unloaded by hand, and what was set with it. */
	h->rdma_cm = MODULE_STATE_NONE;
	update(h);
	expect(h, STEP_LOAD_MODULE, "rdma_cm", STEP_DRIFTED, "unloaded by hand", NULL);
	assert_non_null(strstr(step(h, STEP_LOAD_MODULE, "rdma_cm")->remedy, "RoCEMode="));
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_BLOCKED, "no rdma_cm", "unloaded by hand");
	expect_nothing_due(h);
	/* Back again: set again, which is nobody's drift. */
	h->rdma_cm = MODULE_STATE_LIVE;
	update(h);
	req = start(h, STEP_ROCE_MODE);
	answer(h, &req, STEP_CHANGED, 0, "v2");
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_CHANGED, NULL, NULL);
}

/* Only root can read it: the helper looks now and then, and what it finds is judged. */
static void test_roce_is_looked_at(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Port *]\nRoCEMode=v2\n");
	see_device(h, 3, "mlx5_0");
	update(h);
	req = start(h, STEP_ROCE_MODE);
	answer(h, &req, STEP_CHANGED, 0, "v2");
	while (plan_next_news(&h->plan))
		;
	update(h);
	assert_null(plan_next(&h->plan, h->now));
	assert_true(plan_recheck(&h->plan) == h->now + USEC_PER_MINUTE);
	h->now = plan_recheck(&h->plan);
	update(h);
	req = start(h, STEP_ROCE_MODE);
	assert_true(req.flags & SETUP_LOOK);
	answer(h, &req, STEP_OK, 0, "v2");
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_OK, "v2", NULL);
	assert_null(plan_next(&h->plan, h->now));
	assert_null(plan_next_news(&h->plan));
	/* It cannot be read any more: nothing is said to be as it was for ever. */
	for (int i = 0; i < 4; i++) {
		h->now = plan_recheck(&h->plan);
		update(h);
		req = start(h, STEP_ROCE_MODE);
		answer(h, &req, STEP_BLOCKED, -EACCES, "");
	}
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_OK, "v2", "long ago");
	/* Changed by somebody: told, looked at further on, and mended on request after one more look. */
	h->now = plan_recheck(&h->plan);
	update(h);
	req = start(h, STEP_ROCE_MODE);
	answer(h, &req, STEP_OK, 0, "v1");
	expect(h, STEP_ROCE_MODE, "mlx5_0/1", STEP_DRIFTED, "v1", NULL);
	plan_order(&h->plan, NULL, false);
	update(h);
	req = start(h, STEP_ROCE_MODE);
	assert_false(req.flags & SETUP_LOOK);
	answer(h, &req, STEP_CHANGED, 0, "v2");
	plan_order(&h->plan, NULL, false);
	update(h);
	assert_false(plan_settled(&h->plan));
	req = start(h, STEP_ROCE_MODE);
	assert_true(req.flags & SETUP_LOOK);
	answer(h, &req, STEP_OK, 0, "v1");
	h->now += 2 * USEC_PER_SEC;
	update(h);
	req = start(h, STEP_ROCE_MODE);
	assert_false(req.flags & SETUP_LOOK);
	answer(h, &req, STEP_CHANGED, 0, "v2");
	assert_true(plan_settled(&h->plan));
	/* A reload looks, too. */
	plan_retry(&h->plan);
	update(h);
	req = start(h, STEP_ROCE_MODE);
	assert_true(req.flags & SETUP_LOOK);
	answer(h, &req, STEP_OK, 0, "v2");
}

static void test_roce_module_denied(void **state)
{
	struct host *h = *state;

	h->rdma_cm = MODULE_STATE_NONE;
	configure(h, "[Modules]\nDeny=rdma_cm\n[Port *]\nRoCEToS=7\n");
	see_device(h, 3, "mlx5_0");
	update(h);
	expect(h, STEP_LOAD_MODULE, "rdma_cm", STEP_OK, "not loaded", "Deny= forbids it");
	expect(h, STEP_ROCE_TOS, "mlx5_0/1", STEP_BLOCKED, "no rdma_cm", "Deny= forbids");
	expect_nothing_due(h);
	/* Somebody else loaded it: then it is as good as any. */
	h->rdma_cm = MODULE_STATE_LIVE;
	update(h);
	start(h, STEP_ROCE_TOS);
}

static void test_roce_on_infiniband(void **state)
{
	struct host *h = *state;

	configure(h, "[Port *]\nRoCEMode=v2\n");
	see_device(h, 3, "mlx5_0")->ports[0].facts.link_layer = LINK_LAYER_INFINIBAND;
	update(h);
	for (size_t i = 0; i < h->plan.n_steps; i++)
		assert_int_not_equal(h->plan.steps[i].kind, STEP_ROCE_MODE);
}

/* ---- names ---- */

static void test_name_in_use(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Device guid=0000:0000:0000:0067]\nName=ib0\n");
	see_device(h, 3, "mlx5_0");
	update(h);
	assert_true(step(h, STEP_DEVICE_NAME, "mlx5_0")->disruptive);
	req = start(h, STEP_DEVICE_NAME);
	assert_int_equal(req.flags, 0);
	answer(h, &req, STEP_WAITING, -EBUSY, "mlx5_0");
	expect(h, STEP_DEVICE_NAME, "mlx5_0", STEP_WAITING, "mlx5_0", NULL);
	/* Looked at again, for no event tells that its user is gone. */
	assert_null(plan_next(&h->plan, h->now + 5 * USEC_PER_SEC));
	assert_non_null(plan_next(&h->plan, h->now + 15 * USEC_PER_SEC));
	plan_order(&h->plan, NULL, true);
	h->now += 2 * USEC_PER_SEC;
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	assert_int_equal(req.flags, SETUP_DISRUPTIVE);
	answer(h, &req, STEP_CHANGED, 0, "ib0");
	STRSCPY(device(h, "mlx5_0")->facts.name, "ib0");
	update(h);
	expect(h, STEP_DEVICE_NAME, "ib0", STEP_CHANGED, "ib0", NULL);
	expect_nothing_due(h);
}

/* Each has the other's name: one makes way. */
static void test_names_swap(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Device guid=0000:0000:0000:0067]\nName=b\n[Device "
		     "guid=0000:0000:0000:0068]\nName=a\n");
	see_device(h, 3, "a");
	see_device(h, 4, "b");
	update(h);
	expect(h, STEP_DEVICE_NAME, "b", STEP_WAITING, NULL, "a is to be renamed first");
	req = start(h, STEP_DEVICE_NAME);
	assert_int_equal(req.index, 3);
	assert_string_equal(req.value, "rdmad3");
	STRSCPY(device(h, "a")->facts.name, "rdmad3");
	answer(h, &req, STEP_CHANGED, 0, "rdmad3");
	h->now += 2 * USEC_PER_SEC;
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	assert_int_equal(req.index, 4);
	assert_string_equal(req.value, "a");
	STRSCPY(device(h, "b")->facts.name, "a");
	answer(h, &req, STEP_CHANGED, 0, "a");
	h->now += 2 * USEC_PER_SEC;
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	assert_int_equal(req.index, 3);
	assert_string_equal(req.value, "b");
	STRSCPY(device(h, "rdmad3")->facts.name, "b");
	answer(h, &req, STEP_CHANGED, 0, "b");
	expect(h, STEP_DEVICE_NAME, "a", STEP_CHANGED, NULL, NULL);
	expect_nothing_due(h);
}

static void test_names_clash(void **state)
{
	struct host *h = *state;

	configure(h, "[Device driver=mlx5_core]\nName=ib0\n");
	see_device(h, 3, "a");
	see_device(h, 4, "b");
	update(h);
	expect(h, STEP_DEVICE_NAME, "a", STEP_BLOCKED, "a", "more than one device: a b");
	expect(h, STEP_DEVICE_NAME, "b", STEP_BLOCKED, "b", "more than one");
	configure(h, "[Device guid=0000:0000:0000:0067]\nName=b\n");
	update(h);
	expect(h, STEP_DEVICE_NAME, "a", STEP_BLOCKED, "a", "another device has the name");
	expect_nothing_due(h);
}

/* What is waited for in vain is told from what is only not there yet. */
static void test_no_netdev(void **state)
{
	struct host *h = *state;
	const struct step *s;

	configure(h, "[Link rxe0]\nType=rxe\nNetDevice=mlx5_0\n[IPoIB c0]\nParent=mlx5_0\n"
		     "[IPoIB c1]\nParent=ib7\nMTU=2044\n");
	see_device(h, 1, "mlx5_0");
	update(h);
	expect(h, STEP_ADD_LINK, "rxe0", STEP_WAITING, "no netdev",
		"mlx5_0 is the name of an RDMA");
	expect(h, STEP_ADD_IPOIB, "c0", STEP_WAITING, "no netdev", "mlx5_0 is the name of an RDMA");
	expect(h, STEP_ADD_IPOIB, "c1", STEP_WAITING, "no netdev", "netdev ib7 is not there yet");
	assert_non_null(strstr(step(h, STEP_ADD_IPOIB, "c1")->remedy, "when ib7 comes"));
	/* Nothing will ever make it. */
	h->ib_ipoib = MODULE_STATE_NONE;
	configure(h, "[Modules]\nDeny=ib_ipoib\n[IPoIB c1]\nParent=ib7\nMTU=2044\n");
	update(h);
	expect(h, STEP_ADD_IPOIB, "c1", STEP_BLOCKED, NULL, "ib_ipoib, which [Modules] Deny=");
	s = step(h, STEP_NETDEV_MTU, "c1");
	assert_int_equal(s->result, STEP_BLOCKED);
	assert_string_equal(s->remedy, "take ib_ipoib out of Deny=, or [IPoIB c1] out");
	/* Somebody has loaded it all the same. */
	h->ib_ipoib = MODULE_STATE_LIVE;
	update(h);
	expect(h, STEP_ADD_IPOIB, "c1", STEP_WAITING, NULL, "netdev ib7 is not there yet");
}

/* ---- the host ---- */

static void test_host(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[System]\nNetnsMode=exclusive\n");
	h->model.system.netns_exclusive = 0;
	update(h);
	req = start(h, STEP_NETNS_MODE);
	assert_string_equal(req.value, "exclusive");
	answer(h, &req, STEP_BLOCKED, -EBUSY, "shared");
	expect(h, STEP_NETNS_MODE, SETTING_HOST, STEP_BLOCKED, "shared", NULL);
	h->model.system.netns_exclusive = 1;
	update(h);
	expect(h, STEP_NETNS_MODE, SETTING_HOST, STEP_OK, "exclusive", NULL);
}

/* ---- IPoIB ---- */

static void test_ipoib(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct netdev *n;
	char *text = NULL;

	configure(h, "[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\nMode=connected\nMTU=65520\n");
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_WAITING, "no netdev ib0", "not there yet");
	expect(h, STEP_IPOIB_MODE, "ib0.8001", STEP_WAITING, NULL, "not there yet");
	expect_nothing_due(h);
	see_netdev(&h->model, 7, "ib0", true);
	update(h);
	req = start(h, STEP_ADD_IPOIB);
	assert_int_equal(req.index, 7);
	assert_string_equal(req.netdev, "ib0");
	assert_string_equal(req.value, "0x8001");
	answer(h, &req, STEP_CHANGED, 0, "0x8001");
	see_netdev(&h->model, 8, "ib0.8001", true);
	n = model_netdev_by_index(&h->model, 8);
	n->facts.pkey = 0x8001;
	n->facts.link = 7;
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_CHANGED, "0x8001", NULL);
	/* The mode first, for it sets the MTU. */
	req = start(h, STEP_IPOIB_MODE);
	assert_int_equal(req.index, 8);
	n->facts.ipoib_connected = 1;
	n->facts.mtu = 65520;
	answer(h, &req, STEP_CHANGED, 0, "connected");
	expect(h, STEP_NETDEV_MTU, "ib0.8001", STEP_OK, "65520", NULL);
	/* Deleted by hand. */
	lose_netdev(h, 8);
	h->now += USEC_PER_MINUTE;
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_PENDING, "no ib0.8001", "looking again");
	h->now = plan_recheck(&h->plan);
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_DRIFTED, "no ib0.8001", NULL);
	/* Nor is it made again by the next rdmad. */
	assert_int_equal(setup_memory_format(&h->plan.memory, BOOT, &text), 0);
	plan_done(&h->plan);
	assert_true(setup_memory_parse(&h->plan.memory, text, BOOT) > 0);
	free(text);
	update(h);
	h->now += USEC_PER_MINUTE;
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_DRIFTED, "no ib0.8001", NULL);
	expect_nothing_due(h);
	/* The parent came anew. */
	lose_netdev(h, 7);
	see_netdev(&h->model, 9, "ib0", true);
	update(h);
	req = start(h, STEP_ADD_IPOIB);
	assert_int_equal(req.index, 9);
}

/* What ends a reading of the tables of a port: its GID, and these P_Keys. */
static void see_tables(struct host *h, const char *name, uint16_t pkey, int error)
{
	struct device *d = device(h, name);
	struct gid_facts gid = { .port = 1, .type = GID_TYPE_IB, .gid = { 0xfe, 0x80 } };
	struct pkey_facts keys = { .port = 1, .n = 2, .pkeys = { 0xffff, pkey } };
	struct table_facts facts = { .port = 1, .pkey_error = error, .pkey_slots = 2 };
	struct tables_update u;

	gid.gid[15] = (uint8_t)d->facts.index;
	port_tables_begin(&d->ports[0].tables);
	assert_int_equal(port_tables_add_gid(&d->ports[0].tables, &gid), 0);
	assert_int_equal(port_tables_add_pkeys(&d->ports[0].tables, &keys), 0);
	port_tables_finish(&d->ports[0].tables, &facts, &u);
}

static void given_ib0(struct host *h)
{
	struct device *d = see_device(h, 3, "mlx5_0");
	struct netdev *n;

	STRSCPY(d->facts.protocol, "ib");
	d->ports[0].facts.link_layer = LINK_LAYER_INFINIBAND;
	see_netdev(&h->model, 7, "ib0", true);
	n = model_netdev_by_index(&h->model, 7);
	n->facts.address_length = 20;
	n->facts.address[4] = 0xfe;
	n->facts.address[5] = 0x80;
	n->facts.address[19] = 3;
}

/* A child waits until its port is in the partition, as a full or a limited member. */
static void test_ipoib_partition(void **state)
{
	struct host *h = *state;

	configure(h, "[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\n");
	given_ib0(h);
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_PENDING, "no ib0.8001", "not read yet");
	assert_null(plan_next(&h->plan, h->now));
	see_tables(h, "mlx5_0", 0x8002, 0);
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_WAITING, "no ib0.8001",
		"mlx5_0/1 is not in the partition: it has no P_Key 0x8001");
	assert_true(plan_awaits_pkey(&h->plan));
	assert_true(plan_settled(&h->plan));
	expect_nothing_due(h);
	/* By the device's old name nothing is read any more, and what was read stands. */
	see_tables(h, "mlx5_0", 0x8001, -ENODEV);
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_WAITING, "no ib0.8001", "no P_Key 0x8001");
	expect_nothing_due(h);
	see_tables(h, "mlx5_0", 0x0001, 0);
	update(h);
	assert_false(plan_awaits_pkey(&h->plan));
	assert_string_equal(start(h, STEP_ADD_IPOIB).value, "0x8001");
}

/* Where nobody can tell, the kernel is asked: it takes any P_Key. */
static void test_ipoib_partition_unknown(void **state)
{
	struct host *h = *state;

	configure(h, "[Device mlx5_9]\nMonitor=no\n[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\n");
	given_ib0(h);
	see_device(h, 9, "mlx5_9"); /* nobody waits for what is never read */
	see_tables(h, "mlx5_0", 0x8002, -EIO);
	update(h);
	start(h, STEP_ADD_IPOIB);
}

static void test_ipoib_partition_silent(void **state)
{
	struct host *h = *state;

	configure(h, "[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\n");
	given_ib0(h);
	device(h, "mlx5_0")->probe_state = PROBE_SILENT;
	update(h);
	start(h, STEP_ADD_IPOIB);
}

static void test_ipoib_name_taken(void **state)
{
	struct host *h = *state;

	configure(h, "[IPoIB ib0.8001]\nParent=ib0\nPKey=0x0001\n");
	see_netdev(&h->model, 7, "ib0", true);
	see_netdev(&h->model, 8, "ib0.8001", false);
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_BLOCKED, "no IPoIB", "another interface");
	model_netdev_by_index(&h->model, 8)->facts.is_ipoib = true;
	model_netdev_by_index(&h->model, 8)->facts.pkey = 0x8002;
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_BLOCKED, "0x8002", "exists with P_Key 0x8002");
	/* The membership bit is not identity. */
	model_netdev_by_index(&h->model, 8)->facts.pkey = 0x8001;
	update(h);
	expect(h, STEP_ADD_IPOIB, "ib0.8001", STEP_OK, "0x8001", NULL);
}

/* A mode that is set anew brings its own MTU: that was nobody. */
static void test_mode_changes_mtu(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct netdev *n;

	configure(h, "[IPoIB ib0]\nMode=datagram\nMTU=2044\n");
	see_netdev(&h->model, 7, "ib0", true);
	n = model_netdev_by_index(&h->model, 7);
	update(h);
	expect(h, STEP_NETDEV_MTU, "ib0", STEP_OK, NULL, NULL);
	/* Nor is it tried where somebody else's mode stands. */
	configure(h, "[IPoIB ib0]\nMode=connected\nMTU=65520\n");
	h->config->setup_mode = SETUP_MODE_REPORT;
	update(h);
	expect(h, STEP_NETDEV_MTU, "ib0", STEP_WAITING, "2044", "after the mode");
	configure(h, "[IPoIB ib0]\nMode=connected\nMTU=2044\n");
	update(h);
	req = start(h, STEP_IPOIB_MODE);
	expect(h, STEP_NETDEV_MTU, "ib0", STEP_OK, "2044", NULL);
	/* The kernel tells of it before the helper does. */
	n->facts.ipoib_connected = 1;
	n->facts.mtu = 65520;
	update(h);
	expect(h, STEP_NETDEV_MTU, "ib0", STEP_PENDING, "65520", NULL);
	answer(h, &req, STEP_CHANGED, 0, "connected");
	req = start(h, STEP_NETDEV_MTU);
	assert_string_equal(req.value, "2044");
}

/* ---- on request ---- */

/* Only what is named is tried, with all of a device's ports. */
static void test_order(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Device *]\nNodeDescription=%d\n[Port *]\nRoCEToS=7\n");
	for (uint32_t i = 1; i <= 2; i++) {
		char name[8];

		snprintf(name, sizeof(name), "mlx5_%u", i);
		see_device(h, i, name)->ports[0].have_settings = true;
		device(h, name)->ports[0].settings.roce_tos = 7;
		describe(h, name, name);
	}
	update(h);
	expect_nothing_due(h);
	/* Somebody changes all of it. */
	for (uint32_t i = 1; i <= 2; i++) {
		model_device_by_index(&h->model, i)->ports[0].settings.roce_tos = 8;
		STRSCPY(model_device_by_index(&h->model, i)->settings.node_desc, "x");
	}
	update(h);
	expect(h, STEP_ROCE_TOS, "mlx5_2/1", STEP_DRIFTED, "8", NULL);
	expect_nothing_due(h);
	assert_int_equal(plan_order(&h->plan, "mlx5_", false), 0);
	assert_int_equal(plan_order(&h->plan, "mlx5_1/1", false), 1);
	update(h);
	req = start(h, STEP_ROCE_TOS);
	assert_int_equal(req.index, 1);
	device(h, "mlx5_1")->ports[0].settings.roce_tos = 7;
	answer(h, &req, STEP_CHANGED, 0, "7");
	expect_nothing_due(h);
	assert_int_equal(plan_order(&h->plan, "mlx5_2", true), 2);
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	assert_int_equal(req.index, 2);
	assert_true(req.flags & SETUP_DISRUPTIVE);
	answer(h, &req, STEP_CHANGED, 0, "mlx5_2");
	h->now += 2 * USEC_PER_SEC;
	assert_int_equal(start(h, STEP_ROCE_TOS).index, 2);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_1", STEP_DRIFTED, "x", NULL);
}

/* Who changed it a moment ago and then orders it is not told that there is nothing to do. */
static void test_order_reads_first(void **state)
{
	struct host *h = *state;

	configure(h, "[Device *]\nNodeDescription=%d\n");
	describe(h, see_device(h, 1, "mlx5_1")->facts.name, "mlx5_1");
	update(h);
	plan_order(&h->plan, "mlx5_1", false);
	h->reading = true;
	update(h);
	assert_null(plan_next(&h->plan, h->now));
	describe(h, "mlx5_1", "somebody");
	h->reading = false;
	update(h);
	start(h, STEP_NODE_DESCRIPTION);
	/* Without any change it ends there. */
	plan_done(&h->plan);
	describe(h, "mlx5_1", "mlx5_1");
	update(h);
	plan_order(&h->plan, "mlx5_1", false);
	update(h);
	describe(h, "mlx5_1", "somebody");
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_1", STEP_DRIFTED, "somebody", NULL);
}

/* A device that was renamed a moment ago is known by its old name until it is listed again. */
static void test_name_comes_first(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Device driver=mlx5_core]\nName=ib1\nNodeDescription=%d\n");
	describe(h, see_device(h, 1, "mlx5_1")->facts.name, "x");
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	answer(h, &req, STEP_CHANGED, 0, "ib1");
	assert_null(plan_next(&h->plan, h->now));
	assert_false(plan_settled(&h->plan));
	STRSCPY(device(h, "mlx5_1")->facts.name, "ib1");
	update(h);
	assert_string_equal(start(h, STEP_NODE_DESCRIPTION).name, "ib1");
	/* Refused, it waits for nothing. */
	plan_done(&h->plan);
	STRSCPY(device(h, "ib1")->facts.name, "mlx5_1");
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	answer(h, &req, STEP_FAILED, -EIO, "");
	req = start(h, STEP_NODE_DESCRIPTION);
	assert_string_equal(req.name, "mlx5_1");
	assert_string_equal(req.value, "mlx5_1");
}

/* A description says a name that the device has or gets, never one that it is refused. */
static void test_described_by_true_name(void **state)
{
	struct host *h = *state;
	struct setup_request req;

	configure(h, "[Device driver=mlx5_core]\nName=ib0\nNodeDescription=%d\n");
	see_device(h, 3, "a");
	see_device(h, 4, "b");
	describe(h, "a", "x");
	describe(h, "b", "x");
	update(h);
	for (unsigned i = 0; i < 2; i++) {
		req = start(h, STEP_NODE_DESCRIPTION);
		assert_string_equal(req.value, req.name);
		answer(h, &req, STEP_CHANGED, 0, req.value);
		describe(h, req.name, req.value);
		update(h);
	}
	expect_nothing_due(h);
	while (plan_next_news(&h->plan))
		;
	/* In use: it keeps its name for as long as that takes. */
	configure(h, "[Device guid=0000:0000:0000:0067]\nName=ib0\nNodeDescription=%d\n");
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	answer(h, &req, STEP_WAITING, -EBUSY, "a");
	expect(h, STEP_NODE_DESCRIPTION, "a", STEP_OK, "a", NULL);
	h->now += USEC_PER_MINUTE;
	update(h);
	req = start(h, STEP_DEVICE_NAME);
	STRSCPY(device(h, "a")->facts.name, "ib0");
	answer(h, &req, STEP_CHANGED, 0, "ib0");
	assert_string_equal(start(h, STEP_NODE_DESCRIPTION).value, "ib0");
	/* Somebody else has the name, and keeps it. */
	configure(h, "[Device guid=0000:0000:0000:0067]\nName=b\nNodeDescription=%d here\n");
	plan_done(&h->plan);
	update(h);
	assert_string_equal(start(h, STEP_NODE_DESCRIPTION).value, "ib0 here");
}

/* What is ordered again has not been mended before it is: nobody is told that it is over. */
static void test_order_again(void **state)
{
	struct host *h = *state;
	struct plan_condition c;
	struct setup_request req;

	configure(h, "[Device *]\nNodeDescription=%d\n");
	describe(h, see_device(h, 1, "mlx5_1")->facts.name, "x");
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	answer(h, &req, STEP_BLOCKED, -EPERM, "");
	assert_int_equal(plan_conditions(&h->plan, &c, 1), 1);
	assert_true(plan_settled(&h->plan));
	plan_order(&h->plan, NULL, false);
	update(h);
	assert_int_equal(plan_conditions(&h->plan, &c, 1), 1);
	assert_false(plan_settled(&h->plan));
	req = start(h, STEP_NODE_DESCRIPTION);
	update(h);
	assert_int_equal(plan_conditions(&h->plan, &c, 1), 1);
	answer(h, &req, STEP_CHANGED, 0, "mlx5_1");
	assert_int_equal(plan_conditions(&h->plan, &c, 1), 0);
	assert_true(plan_settled(&h->plan));
}

/* An order that is refused says why, and not that it may be ordered. */
static void test_order_refused(void **state)
{
	struct host *h = *state;
	struct setup_request req;
	struct setup_answer a;

	configure(h, "[Device *]\nNodeDescription=%d\n");
	describe(h, see_device(h, 1, "mlx5_1")->facts.name, "mlx5_1");
	update(h);
	describe(h, "mlx5_1", "somebody");
	update(h);
	plan_order(&h->plan, NULL, false);
	update(h);
	req = start(h, STEP_NODE_DESCRIPTION);
	a = setup_answer_make(&req, STEP_BLOCKED, -EPERM);
	STRSCPY(a.detail, "it is not permitted");
	STRSCPY(a.remedy, "look for it");
	assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
	update(h);
	expect(h, STEP_NODE_DESCRIPTION, "mlx5_1", STEP_DRIFTED, "somebody", "it is not permitted");
	assert_string_equal(step(h, STEP_NODE_DESCRIPTION, "mlx5_1")->remedy, "look for it");
	describe(h, "mlx5_1", "mlx5_1");
	update(h);
	describe(h, "mlx5_1", "somebody");
	update(h);
	assert_null(strstr(step(h, STEP_NODE_DESCRIPTION, "mlx5_1")->detail, "permitted"));
}

/* ---- modules by need ---- */

static void test_modules_by_need(void **state)
{
	struct host *h = *state;
	struct device *d;

	configure(h, "[Modules]\nLoadRoCE=rdma_ucm\nLoadIWARP=siw_foo\n");
	update(h);
	assert_int_equal(h->plan.n_steps, 0);
	d = see_device(h, 3, "mlx5_0");
	update(h);
	assert_int_equal(h->plan.n_steps, 1);
	expect(h, STEP_LOAD_MODULE, "rdma_ucm", STEP_OK, "loaded", NULL);
	STRSCPY(d->facts.protocol, "ib");
	update(h);
	assert_int_equal(h->plan.n_steps, 2);
	expect(h, STEP_LOAD_MODULE, "ib_umad", STEP_OK, "loaded", NULL);
	expect(h, STEP_LOAD_MODULE, "ib_ipoib", STEP_OK, "loaded", NULL);
}

static void test_commands(void **state)
{
	struct host *h = *state;
	char command[STEP_COMMAND_MAX];

	configure(h, "[Port *]\nRoCEMode=v1\nOptionalCounters=a b\n"
		     "[Device *]\nNodeDescription=Ann's %d\n"
		     "[IPoIB ib1]\nParent=ib0\nPKey=0x8001\n");
	see_device(h, 3, "mlx5_0");
	update(h);
	assert_string_equal(step_command(step(h, STEP_ROCE_MODE, "mlx5_0/1"), command),
		"mkdir -p /sys/kernel/config/rdma_cm/mlx5_0; "
		"echo 'IB/RoCE v1' >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode");
	assert_string_equal(step_command(step(h, STEP_OPTIONAL_COUNTERS, "mlx5_0/1"), command),
		"rdma statistic set link mlx5_0/1 optional-counters a,b");
	assert_string_equal(step_command(step(h, STEP_ADD_IPOIB, "ib1"), command),
		"ip link add link ib0 name ib1 type ipoib pkey 0x8001");
	assert_string_equal(step_command(step(h, STEP_NODE_DESCRIPTION, "mlx5_0"), command),
		"echo -n 'Ann'\\''s mlx5_0' >/sys/class/infiniband/mlx5_0/node_desc");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_description),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_requests),
		CASE(test_set_and_kept),
		CASE(test_right_already),
		CASE(test_drift),
		CASE(test_repair_without_fight),
		CASE(test_device_comes_anew),
		CASE(test_hostname_changes),
		CASE(test_device_renamed),
		CASE(test_report_mode),
		CASE(test_refused),
		CASE(test_released),
		CASE(test_rival),
		CASE(test_rival_is_no_drift),
		CASE(test_changed_while_running),
		CASE(test_roce),
		CASE(test_long_command),
		CASE(test_not_watched),
		CASE(test_roce_module),
		CASE(test_roce_is_looked_at),
		CASE(test_roce_module_denied),
		CASE(test_roce_on_infiniband),
		CASE(test_name_in_use),
		CASE(test_names_swap),
		CASE(test_names_clash),
		CASE(test_described_by_true_name),
		CASE(test_no_netdev),
		CASE(test_host),
		CASE(test_ipoib),
		CASE(test_ipoib_partition),
		CASE(test_ipoib_partition_unknown),
		CASE(test_ipoib_partition_silent),
		CASE(test_ipoib_name_taken),
		CASE(test_mode_changes_mtu),
		CASE(test_order),
		CASE(test_order_reads_first),
		CASE(test_name_comes_first),
		CASE(test_order_again),
		CASE(test_order_refused),
		CASE(test_modules_by_need),
		CASE(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
