/* SPDX-License-Identifier: MIT */
/* What "rdmactl explain" is told: each rule once, with what it came to. */
#include "test.h"

#include "judge.h"

struct heard {
	size_t n;
	enum rule_outcome outcome[_REASON_MAX];
	char subject[_REASON_MAX][64];
	char text[_REASON_MAX][256];
	unsigned line[_REASON_MAX];
	unsigned times[_REASON_MAX];
};

static void hear(const struct rule_note *n, void *user)
{
	struct heard *h = user;

	h->n++;
	h->times[n->id]++;
	h->outcome[n->id] = n->outcome;
	STRSCPY(h->subject[n->id], n->subject);
	STRSCPY(h->text[n->id], n->text);
	h->line[n->id] = n->origin ? n->origin->line : 0;
}

static struct timepoint at(usec_t sec)
{
	return (struct timepoint){ .mono = sec * USEC_PER_SEC, .real = sec * USEC_PER_SEC };
}

static void judge(struct model *m, const struct setup_condition *setup, size_t n,
	struct config_problem *problems, size_t n_problems, struct heard *h)
{
	const struct rule_listener listener = { .note = hear, .user = h };
	struct config c = { .problems = problems, .n_problems = n_problems };

	*h = (struct heard){ 0 };
	judge_set_listener(&listener);
	judge_host(m, &c, setup, n, at(100), NULL, NULL);
	judge_set_listener(NULL);
}

static void test_host_clear(void **state)
{
	struct model m = { .listed = true };
	struct heard h;

	judge(&m, NULL, 0, NULL, 0, &h);
	assert_true(h.n >= 6);
	for (size_t i = 0; i < _REASON_MAX; i++) {
		assert_true(h.times[i] <= 1);
		if (h.times[i])
			assert_int_equal(h.outcome[i], OUTCOME_CLEAR);
	}
	assert_int_equal(h.times[REASON_SETUP_FAILED], 1);
	assert_int_equal(h.times[REASON_CONFIG_INVALID], 1);
	assert_int_equal(h.times[REASON_PORT_DOWN], 0);
}

static void test_host_raised(void **state)
{
	static const struct setup_condition setup[] = {
		{ REASON_SETUP_FAILED, "siw", "module not found", "loaded", "install it" },
		{ REASON_SETUP_FAILED, "rxe1", "no such netdev", "rxe on d1", "" },
	};
	static char file[] = "/etc/rdmad/rdmad.conf", text[] = "Mode=aply: not a mode";
	struct config_problem problem = {
		.origin = { .file = file, .line = 7 },
		.text = text,
	};
	struct model m = { .listed = true };
	struct heard h;

	judge(&m, setup, ARRAY_SIZE(setup), &problem, 1, &h);
	assert_int_equal(h.times[REASON_SETUP_FAILED], 2);
	assert_int_equal(h.outcome[REASON_SETUP_FAILED], OUTCOME_RAISED);
	assert_string_equal(h.subject[REASON_SETUP_FAILED], "rxe1");
	assert_string_equal(h.text[REASON_SETUP_FAILED], "no such netdev");
	assert_int_equal(h.outcome[REASON_SETUP_BLOCKED], OUTCOME_CLEAR);
	assert_int_equal(h.outcome[REASON_CONFIG_INVALID], OUTCOME_RAISED);
	assert_int_equal(h.line[REASON_CONFIG_INVALID], 7);
	assert_string_equal(h.text[REASON_CONFIG_INVALID], "Mode=aply: not a mode");
}

/* Nobody listens: nothing is told, and nothing differs. */
static void test_nobody_listens(void **state)
{
	struct model m = { .listed = true };
	struct config c = { 0 };
	struct heard h;

	judge(&m, NULL, 0, NULL, 0, &h);
	h.n = 0;
	judge_host(&m, &c, NULL, 0, at(100), NULL, NULL);
	assert_int_equal(h.n, 0);
	assert_int_equal(m.verdict.health, HEALTH_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_clear),
		cmocka_unit_test(test_host_raised),
		cmocka_unit_test(test_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
