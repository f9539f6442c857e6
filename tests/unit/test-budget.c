/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "bus-budget.h"

#define START (100 * USEC_PER_SEC)

/* Asks all the time until end, each call taking so long; returns what was answered. */
static unsigned ask(
	struct budget *b, const char *sender, bool large, usec_t takes, usec_t *now, usec_t end)
{
	unsigned n = 0;

	while (*now < end) {
		bool allowed = budget_allows(b, sender, large, *now);
		usec_t spent = allowed ? takes : 100;

		n += allowed;
		*now += spent;
		budget_spend(b, sender, large, spent, *now);
	}
	return n;
}

static void test_alone(void **state)
{
	struct budget b = { 0 };
	usec_t now = START;
	unsigned n;

	/* A quarter of a second is its own; from then on it is an eighth of the time, less what its refusals take. */
	n = ask(&b, ":1.1", false, 10 * USEC_PER_MSEC, &now, START + BUDGET_SENDER_BURST);
	assert_in_range(n, 24, 26);
	n = ask(&b, ":1.1", false, 10 * USEC_PER_MSEC, &now, START + 21 * USEC_PER_SEC);
	assert_in_range(n, 1, 20 * 100 / 8 + 30);
	/* The others do not even notice. */
	assert_true(budget_allows(&b, ":1.2", true, now));
	/* Once it stops it is answered again soon. */
	assert_true(
		budget_allows(&b, ":1.1", false, now + BUDGET_SENDER_MAX * BUDGET_SENDER_SHARE));
}

static void test_moderate(void **state)
{
	struct budget b = { 0 };
	usec_t now = START;

	/* 100 ms each second, for ever. */
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(budget_allows(&b, ":1.1", true, now));
		now += 100 * USEC_PER_MSEC;
		budget_spend(&b, ":1.1", true, 100 * USEC_PER_MSEC, now);
		now += 900 * USEC_PER_MSEC;
	}
}

/* A new connection for each call: what asks for everything is bounded for all together, the rest is not. */
static void test_many(void **state)
{
	struct budget b = { 0 };
	usec_t now = START, end = START + 60 * USEC_PER_SEC, busy = 0;
	char sender[32];

	for (unsigned i = 0; now < end; i++) {
		snprintf(sender, sizeof(sender), ":1.%u", i);
		if (!budget_allows(&b, sender, true, now)) {
			assert_true(budget_allows(&b, sender, false, now));
			now += 1000;
			budget_spend(&b, sender, false, 1000, now);
			continue;
		}
		now += 100 * USEC_PER_MSEC;
		busy += 100 * USEC_PER_MSEC;
		budget_spend(&b, sender, true, 100 * USEC_PER_MSEC, now);
	}
	assert_in_range(busy, 10 * USEC_PER_SEC, 18 * USEC_PER_SEC);
}

/* The busy one is remembered however many others come and go. */
static void test_crowd(void **state)
{
	struct budget b = { 0 };
	usec_t now = START;
	char sender[32];

	budget_spend(&b, ":1.0", false, 2 * USEC_PER_SEC, now);
	for (unsigned i = 1; i < 1000; i++) {
		snprintf(sender, sizeof(sender), ":1.%u", i);
		assert_true(budget_allows(&b, sender, false, now));
		now += 100;
		budget_spend(&b, sender, false, 100, now);
	}
	assert_false(budget_allows(&b, ":1.0", false, now));
}

static unsigned questions(struct budget *b, uint32_t uid, usec_t now)
{
	unsigned n = 0;

	while (n < 1000 && budget_question(b, uid, now))
		n++;
	return n;
}

static void test_questions(void **state)
{
	struct budget b = { 0 };

	assert_int_equal(questions(&b, 1000, START), 32);
	assert_int_equal(questions(&b, 1001, START), 32);
	assert_int_equal(questions(&b, 1000, START + USEC_PER_SEC), 4);
	/* More users than are known: the first is still one of them. */
	for (uint32_t uid = 2000; uid < 2100; uid++)
		assert_true(budget_question(&b, uid, START + USEC_PER_SEC));
	assert_int_equal(questions(&b, 1000, START + USEC_PER_SEC), 0);
	assert_int_equal(questions(&b, 1000, START + USEC_PER_MINUTE), 32);
	/* uid 0 is a user like any other. */
	assert_int_equal(questions(&b, 0, START + USEC_PER_MINUTE), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_moderate),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
