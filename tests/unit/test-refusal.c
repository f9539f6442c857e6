/* SPDX-License-Identifier: MIT */
/*
 * Every kind of step refused with every errno that a kernel or driver may give: the result, a sentence
 * that fits and says what to do, and everything else is carried out all the same (issue 6, must show 3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "names.h"
#include "plan.h"
#include "refusal.h"
#include "setting.h"
#include "setup-world.h"

/*
 * What each comes to. W waiting, U unsupported, B blocked, F failed. Busy things are tried again, what is
 * gone is waited for, and what nobody can be sure of has failed.
 */
static const int errors[] = { EBUSY, EOPNOTSUPP, EEXIST, EINVAL, ENODEV, EPERM, EACCES, ENOENT,
	EPROTONOSUPPORT, EIO, ENOMEM, ETIMEDOUT };
static const char *const wanted[_STEP_KIND_MAX] = {
	/*                              EBUSY, EOPNOTSUPP, EEXIST... */
	[STEP_LOAD_MODULE] = /*       */ "FFFFFBBFUFFF",
	[STEP_ADD_LINK] = /*          */ "BUBFWBBFUFFF",
	[STEP_NETNS_MODE] = /*        */ "BUFUFBBFUFFF",
	[STEP_PRIVILEGED_QKEY] = /*   */ "FUFUFBBFUFFF",
	[STEP_DEVICE_NAME] = /*       */ "BUBFWBBFUFFF",
	[STEP_NODE_DESCRIPTION] = /*  */ "BUFFWBBUUFFF",
	[STEP_ADAPTIVE_MODERATION] = /**/ "BUFUWBBFUFFF",
	[STEP_ROCE_MODE] = /*         */ "BUBUWBBBUFFF",
	[STEP_ROCE_TOS] = /*          */ "BUBUWBBBUFFF",
	[STEP_OPTIONAL_COUNTERS] = /* */ "BUFUWBBUUFFF",
	[STEP_ADD_IPOIB] = /*         */ "BBBFWBBFUFFF",
	[STEP_IPOIB_MODE] = /*        */ "BUFUWBBFUFFF",
	[STEP_IPOIB_UMCAST] = /*      */ "BUFUWBBFUFFF",
	[STEP_NETDEV_MTU] = /*        */ "BUFFWBBFUFFF",
};

static enum step_result result_of(char letter)
{
	return letter == 'W'   ? STEP_WAITING
	       : letter == 'U' ? STEP_UNSUPPORTED
	       : letter == 'B' ? STEP_BLOCKED
			       : STEP_FAILED;
}

/* One host of which everything is to be set, and nothing is. */
struct host {
	struct config *config;
	struct model model;
	struct plan plan;
	enum module_state ib_srpt; /* all others are loaded */
	usec_t now;
};

static enum module_state module_state(const char *module, void *user)
{
	const struct host *h = user;

	return streq(module, "ib_srpt") ? h->ib_srpt : MODULE_STATE_LIVE;
}

static void see_device(struct host *h)
{
	struct device_facts f = { .index = 3, .name = "mlx5_0", .port_count = 1 };
	struct timepoint now = { .mono = h->now, .real = h->now };
	struct device *d;

	STRSCPY(f.driver, "mlx5_core");
	STRSCPY(f.protocol, "roce");
	assert_true(model_see_device(&h->model, &f, now, &d) >= 0);
	d->ports[0].facts = port_facts_unknown(3, 1);
	d->ports[0].facts.link_layer = LINK_LAYER_ETHERNET;
	d->ports[0].have_facts = true;
}

static void see_host(struct host *h)
{
	h->model.listed = true;
	h->model.system.netns_exclusive = 0;
	h->model.system.privileged_qkey = 0;
	see_device(h);
	see_netdev(&h->model, 11, "d0", false);
	see_netdev(&h->model, 12, "ib0", true);
	see_netdev(&h->model, 13, "ib1", true);
}

static int setup(void **state)
{
	static const char text[] =
		"[System]\nNetnsMode=exclusive\nPrivilegedQKey=yes\n"
		"[Modules]\nLoad=ib_srpt\n[Link rxe0]\nType=rxe\nNetDevice=d0\n"
		"[Device driver=mlx5_core]\nName=roce0\nNodeDescription=%d\n"
		"AdaptiveModeration=yes\n[Port *]\nRoCEMode=v1\nRoCEToS=106\n"
		"OptionalCounters=one\n[IPoIB ib0.8001]\nParent=ib0\nPKey=0x8001\n"
		"[IPoIB ib0]\nMode=connected\nUmcast=yes\n[IPoIB ib1]\nMTU=1500\n";
	char path[] = "/tmp/test-refusal.XXXXXX";
	struct host *h = calloc(1, sizeof(*h));
	int fd = mkstemp(path);

	assert_non_null(h);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	h->now = 100 * USEC_PER_SEC;
	assert_int_equal(config_load_file(path, &h->config), 0);
	unlink(path);
	assert_int_equal(h->config->n_problems, 0);
	see_host(h);
	*state = h;
	return 0;
}

static int teardown(void **state)
{
	struct host *h = *state;

	plan_done(&h->plan);
	model_done(&h->model);
	config_free(h->config);
	free(h);
	return 0;
}

static void update(struct host *h)
{
	struct plan_input in = {
		.config = h->config,
		.model = &h->model,
		.module_state = module_state,
		.user = h,
		.hostname = "node7",
		.now = h->now,
	};

	assert_int_equal(plan_update(&h->plan, &in), 0);
}

/* All that is due is carried out, but steps of this kind refused; none is tried twice. */
static const struct step *run_all(struct host *h, enum step_kind refused, int error)
{
	bool tried[_STEP_KIND_MAX] = { false };
	char object[STEP_OBJECT_MAX] = "";
	const struct step *of = NULL;
	struct step *s;

	update(h);
	while ((s = plan_next(&h->plan, h->now))) {
		struct setup_request req;
		struct setup_answer a;

		assert_false(tried[s->kind]);
		tried[s->kind] = true;
		plan_started(&h->plan, s, h->now, &req);
		a = setup_answer_make(&req, STEP_CHANGED, 0);
		STRSCPY(a.value, req.value);
		if (s->kind == refused) {
			STRSCPY(object, s->object);
			explain_refusal(&req, -error, &a);
		} else if (s->kind == STEP_LOAD_MODULE) {
			h->ib_srpt = MODULE_STATE_LIVE;
		} else if (s->kind == STEP_DEVICE_NAME) {
			STRSCPY(model_device_by_index(&h->model, 3)->facts.name, req.value);
		}
		assert_int_equal(setup_answer_check(&a, sizeof(a), &req), 0);
		assert_int_equal(plan_finished(&h->plan, &a, h->now), 0);
		update(h);
	}
	for (size_t i = 0; i < h->plan.n_steps; i++) {
		s = &h->plan.steps[i];
		if (s->kind == refused && streq(s->object, object))
			of = s;
		else if (s->result != STEP_CHANGED && s->result != STEP_OK)
			fail_msg("%s: %s", s->object, step_result_to_string(s->result));
	}
	for (size_t k = 0; k < _STEP_KIND_MAX; k++)
		assert_true(tried[k]);
	return of;
}

/* Words that one kind's sentences may have; "" ends a list. */
static const struct {
	const char *word;
	enum step_kind of[8];
	size_t n;
} vocabulary[] = {
	{ "P_Key", { STEP_ADD_IPOIB }, 1 },
	{ "child", { STEP_ADD_IPOIB }, 1 },
	{ "configfs", { STEP_ROCE_MODE, STEP_ROCE_TOS }, 2 },
	{ "rdma_cm", { STEP_ROCE_MODE, STEP_ROCE_TOS }, 2 },
	{ "GID", { STEP_ROCE_MODE }, 1 },
	{ "RoCEMode", { STEP_ROCE_MODE }, 1 },
	{ "ToS", { STEP_ROCE_TOS }, 1 },
	{ "counter", { STEP_OPTIONAL_COUNTERS }, 1 },
	{ "namespace", { STEP_NETNS_MODE }, 1 },
	{ "PrivilegedQKey", { STEP_PRIVILEGED_QKEY }, 1 },
	{ "moderation", { STEP_ADAPTIVE_MODERATION }, 1 },
	{ "NodeDescription", { STEP_NODE_DESCRIPTION }, 1 },
	{ "Name=", { STEP_DEVICE_NAME }, 1 },
	{ "MTU", { STEP_NETDEV_MTU }, 1 },
	{ "umcast", { STEP_IPOIB_UMCAST }, 1 },
	{ "CAP_SYS_MODULE", { STEP_LOAD_MODULE }, 1 },
	{ "depmod", { STEP_LOAD_MODULE }, 1 },
	{ "lsmod", { STEP_LOAD_MODULE }, 1 },
	{ "VLAN", { STEP_ADD_LINK }, 1 },
	{ "there is one per netdev", { STEP_ADD_LINK }, 1 },
	{ "is gone",
		{ STEP_DEVICE_NAME, STEP_NODE_DESCRIPTION, STEP_ADAPTIVE_MODERATION, STEP_ROCE_MODE,
			STEP_ROCE_TOS, STEP_OPTIONAL_COUNTERS, STEP_ADD_IPOIB },
		7 },
};

/* "is gone" is also said of netdevs, which are more than the table holds. */
static bool may_say(size_t entry, enum step_kind kind)
{
	const struct setting *k = setting_get(kind);

	for (size_t i = 0; i < vocabulary[entry].n; i++)
		if (vocabulary[entry].of[i] == kind)
			return true;
	return streq(vocabulary[entry].word, "is gone") && k && k->of == SETTING_OF_NETDEV;
}

static void check_sentence(const struct step *s, int error)
{
	char message[512], what[64];

	snprintf(what, sizeof(what), "%s refused with %s", step_kind_to_string(s->kind),
		strerrorname_np(error));
	if (!s->detail[0] || !s->remedy[0])
		fail_msg("%s: \"%s\", remedy \"%s\"", what, s->detail, s->remedy);
	/* A letter that was left in place, or too long for what shows it. */
	if (strchr(s->detail, '%') || strchr(s->remedy, '%') ||
		strlen(s->detail) >= REASON_TEXT_MAX - 1 ||
		strlen(s->remedy) >= REASON_TEXT_MAX - 1)
		fail_msg("%s: %s; %s", what, s->detail, s->remedy);
	for (size_t i = 0; i < ARRAY_SIZE(vocabulary); i++)
		if (!may_say(i, s->kind) && (strstr(s->detail, vocabulary[i].word) ||
						    strstr(s->remedy, vocabulary[i].word)))
			fail_msg("%s: says \"%s\": %s; %s", what, vocabulary[i].word, s->detail,
				s->remedy);
	step_message(s, message, sizeof(message));
	if (!strstr(message, s->object) || !strstr(message, s->detail) ||
		!strstr(message, s->remedy) || !strstr(message, s->wanted) ||
		(setting_get(s->kind) && !strstr(message, setting_get(s->kind)->label)))
		fail_msg("%s: %s", what, message);
}

/* What the host has the condition for. */
static void check_condition(const struct host *h, const struct step *s)
{
	struct plan_condition c[4];
	size_t n = plan_conditions(&h->plan, c, ARRAY_SIZE(c));

	/* A kernel without the module is no trouble of the host. */
	if (s->result == STEP_WAITING ||
		(s->kind == STEP_LOAD_MODULE && s->result == STEP_UNSUPPORTED)) {
		assert_int_equal(n, 0);
		return;
	}
	assert_int_equal(n, 1);
	assert_int_equal(
		c[0].id, s->result == STEP_BLOCKED ? REASON_SETUP_BLOCKED : REASON_SETUP_FAILED);
	assert_non_null(strstr(c[0].subject, s->object));
	assert_string_equal(c[0].found, s->detail);
	assert_string_equal(c[0].remedy, s->remedy);
}

/* What may pass by itself is tried again in time, by itself; the host's modes only by order. */
static void check_retry(const struct host *h, const struct step *s, int error)
{
	const struct setting *k = setting_get(s->kind);
	bool again = s->result == STEP_FAILED || s->result == STEP_WAITING ||
		     (error == EBUSY && k && k->of != SETTING_OF_HOST) ||
		     (error == EBUSY && s->kind == STEP_ADD_LINK);

	assert_int_equal(s->run.next_try != USEC_INFINITY, again);
	if (again)
		assert_true(plan_recheck(&h->plan) <= s->run.next_try);
}

static void test_matrix(void **state)
{
	for (enum step_kind kind = 0; kind < _STEP_KIND_MAX; kind++)
		for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
			void *fresh = NULL;
			struct host *h;
			const struct step *s;

			assert_int_equal(strlen(wanted[kind]), ARRAY_SIZE(errors));
			assert_int_equal(setup(&fresh), 0);
			h = fresh;
			s = run_all(h, kind, errors[i]);
			assert_non_null(s);
			if (s->result != result_of(wanted[kind][i]))
				fail_msg("%s refused with %s: %s", step_kind_to_string(kind),
					strerrorname_np(errors[i]),
					step_result_to_string(s->result));
			check_sentence(s, errors[i]);
			check_condition(h, s);
			check_retry(h, s, errors[i]);
			teardown(&fresh);
		}
	(void)state;
}

/* Two refusals of one step that ask for different things are told apart. */
static void test_told_apart(void **state)
{
	static const int of_the_issue[] = { EBUSY, EOPNOTSUPP, EEXIST, EINVAL, ENODEV, EPERM };

	(void)state;
	for (enum step_kind kind = 0; kind < _STEP_KIND_MAX; kind++) {
		struct setup_answer a[ARRAY_SIZE(of_the_issue)];
		struct setup_request req = setup_request_make(kind, "x0", LINK_TYPE_RXE, "nosuch0");

		for (size_t i = 0; i < ARRAY_SIZE(of_the_issue); i++) {
			a[i] = setup_answer_make(&req, STEP_FAILED, 0);
			explain_refusal(&req, -of_the_issue[i], &a[i]);
			assert_int_equal(a[i].error, -of_the_issue[i]);
			for (size_t k = 0; k < i; k++)
				if (a[i].result != a[k].result && streq(a[i].detail, a[k].detail))
					fail_msg("%s: %s", step_kind_to_string(kind), a[i].detail);
		}
	}
}

/* The longest names there can be: a sentence ends early then, and is still one. */
static void test_long_names(void **state)
{
	(void)state;
	for (enum step_kind kind = 0; kind < _STEP_KIND_MAX; kind++)
		for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
			struct setup_request req =
				setup_request_make(kind, "x", LINK_TYPE_RXE, "abcdefghijklmno");
			struct setup_answer a;

			memset(req.name, 'n', sizeof(req.name) - 1);
			memset(req.value, 'v', sizeof(req.value) - 1);
			req.port = 255;
			a = setup_answer_make(&req, STEP_FAILED, 0);
			explain_refusal(&req, -errors[i], &a);
			assert_true(strlen(a.detail) < sizeof(a.detail));
			assert_true(strlen(a.remedy) < sizeof(a.remedy));
			assert_int_equal(setup_answer_check(&a, sizeof(a), &req), 0);
		}
}

/* An alias stands for a module, which is what the sentence is about. */
static void test_alias(void **state)
{
	struct setup_request req = setup_request_make(STEP_LOAD_MODULE, "rdma-link-rxe", 0, "");
	struct setup_answer a = setup_answer_make(&req, STEP_FAILED, 0);

	(void)state;
	STRSCPY(a.module, "rdma_rxe");
	explain_refusal(&req, -ENOKEY, &a);
	assert_int_equal(a.result, STEP_BLOCKED);
	assert_string_equal(a.detail, "the signature of rdma_rxe is not accepted by this kernel");
	/* Without one, by its own name. */
	a.module[0] = '\0';
	explain_refusal(&req, -ENOEXEC, &a);
	assert_string_equal(a.detail, "rdma-link-rxe was built for another kernel");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_told_apart),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_alias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
