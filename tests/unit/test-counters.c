/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>

#include "counters.h"

static struct timepoint at(usec_t sec)
{
	return (struct timepoint){ .mono = sec * USEC_PER_SEC,
		.real = (1000 + sec) * USEC_PER_SEC };
}

struct column {
	const char *name;
	uint32_t width;
	uint32_t flags;
};

static int name_at(struct counter_table **t, uint32_t set, uint32_t pos, uint32_t n,
	const struct column *column)
{
	struct counter_name f = {
		.set = set, .at = pos, .n = n, .width = column->width, .flags = column->flags
	};

	STRSCPY(f.name, column->name);
	return counter_table_name(t, &f);
}

static void name_all(
	struct counter_table **t, uint32_t set, const struct column *columns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(name_at(t, set, i, n, &columns[i]), 0);
}

/* UNREAD in values means that it could not be read. */
#define UNREAD UINT64_C(0xdeadbeefdeadbeef)

static void see(
	struct counter_table *t, uint32_t set, const uint64_t *values, uint32_t n, usec_t sec)
{
	struct counter_values f = { .set = set, .n = n };
	struct counters_done done = { .n = n };

	for (uint32_t i = 0; i < n; i++)
		if (values[i] != UNREAD) {
			f.known |= UINT64_C(1) << i;
			f.values[i] = values[i];
		} else {
			done.unreadable++;
		}
	assert_int_equal(counter_table_values(t, &f, at(sec)), 0);
	counter_table_finish(&t, &done, at(sec));
}

static void see_one(struct counter_table *t, uint64_t value, usec_t sec)
{
	see(t, 1, &value, 1, sec);
}

/* A series of readings, 10 s apart, and what is known after the last. -1: no such value. */
static const struct series {
	const char *what;
	struct column column;
	uint64_t values[4];
	size_t n;
	double delta, rate;
	uint32_t resets;
	bool saturated, stale;
	usec_t base_at;
} series[] = {
	{ "old errors are no news", { "e", 16 }, { 500 }, 1, 0, -1, 0, false, false, 10 },
	{ "rises", { "e", 16 }, { 500, 510, 540 }, 3, 40, 3, 0, false, false, 10 },
	{ "stands", { "e", 16 }, { 7, 7 }, 2, 0, 0, 0, false, false, 10 },
	{ "backwards", { "e", 16 }, { 500, 510, 3 }, 3, 0, -1, 1, false, false, 30 },
	{ "and on", { "e", 16 }, { 500, 2, 12 }, 3, 10, 1, 1, false, false, 20 },
	{ "twice", { "e", 16 }, { 5, 4, 3 }, 3, 0, -1, 2, false, false, 30 },
	{ "sticks, was so", { "e", 8 }, { 255, 255 }, 2, 0, -1, 0, true, false, 10 },
	{ "sticks", { "e", 4 }, { 3, 15 }, 2, 12, 1.2, 0, true, false, 10 },
	{ "sticks and stays", { "e", 4 }, { 3, 15, 15 }, 3, 12, -1, 0, true, false, 10 },
	{ "of 32 bits", { "e", 32 }, { 1, UINT32_MAX }, 2, (double)(UINT32_MAX - 1),
		(UINT32_MAX - 1) / 10.0, 0, true, false, 10 },
	{ "cleared at its maximum", { "e", 32 }, { UINT32_MAX, 5 }, 2, 0, -1, 1, false, false, 20 },
	{ "width not known", { "e", 0 }, { 1, UINT32_MAX, UINT32_MAX }, 3, (double)(UINT32_MAX - 1),
		0, 0, false, false, 10 },
	{ "more than the width allows", { "e", 8 }, { 255, 256 }, 2, 1, 0.1, 0, false, false, 10 },
	{ "64 bits wrap", { "e", 0 }, { UINT64_MAX - 9, 10 }, 2, 20, 2, 0, false, false, 10 },
	{ "64 bits reset", { "e", 64 }, { UINT64_C(1) << 62, 10 }, 2, 0, -1, 1, false, false, 20 },
	{ "64 bits full", { "e", 64 }, { 1, UINT64_MAX, UINT64_MAX }, 3, (double)UINT64_MAX, -1, 0,
		true, false, 10 },
	{ "unread", { "e", 16 }, { 5, 25, UNREAD }, 3, 20, -1, 0, false, true, 10 },
	{ "unread for a while", { "e", 16 }, { 5, UNREAD, 25 }, 3, 20, 1, 0, false, false, 10 },
	{ "never read", { "e", 16 }, { UNREAD, UNREAD }, 2, -1, -1, 0, false, false, 0 },
	{ "read late", { "e", 16 }, { UNREAD, 9 }, 2, 0, -1, 0, false, false, 20 },
	{ "a gauge", { "e", 0, COUNTER_GAUGE }, { 9, 4 }, 2, -1, -1, 0, false, false, 10 },
};

static void test_series(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(series); i++) {
		const struct series *s = &series[i];
		struct counter_table *t = NULL;
		const struct counter *c;
		uint64_t delta;
		double rate;

		print_message("# %s\n", s->what);
		name_all(&t, 1, &s->column, 1);
		for (size_t k = 0; k < s->n; k++)
			see_one(t, s->values[k], 10 * (k + 1));
		c = counter_table_find(t, "e");
		assert_non_null(c);
		assert_true(counter_delta(c, &delta) == (s->delta >= 0));
		if (s->delta >= 0)
			assert_float_equal((double)delta, s->delta, 0);
		assert_true(counter_rate(c, &rate) == (s->rate >= 0));
		if (s->rate >= 0)
			assert_float_equal(rate, s->rate, 0.001);
		assert_int_equal(c->resets, s->resets);
		assert_int_equal(counter_is_saturated(c), s->saturated);
		assert_int_equal(c->stale, s->stale);
		assert_true(c->base_at.mono == s->base_at * USEC_PER_SEC);
		counter_table_free(t);
	}
}

/* A driver that has none: there is a table that says so, and not "not read yet". */
static void test_none_at_all(void **state)
{
	struct counters_done none = { .error = -ENOENT };
	struct counter_table *t = NULL;

	(void)state;
	assert_int_equal(counter_table_finish(&t, &none, at(10)), 0);
	assert_non_null(t);
	assert_int_equal(t->error, -ENOENT);
	assert_false(counter_table_has_names(t));
	counter_table_free(t);
}

/* What was last known stays, with its time. */
static void test_failed_reading(void **state)
{
	struct counters_done failed = { .n = 1, .unreadable = 1, .error = -EIO };
	struct column column = { "e", 16 };
	struct counter_table *t = NULL;
	const struct counter *c;

	(void)state;
	name_all(&t, 1, &column, 1);
	see_one(t, 5, 10);
	assert_int_equal(t->error, 0);
	counter_table_finish(&t, &failed, at(20));
	c = counter_table_find(t, "e");
	assert_true(c->stale);
	assert_true(c->value == 5);
	assert_true(c->read_at.mono == at(10).mono);
	assert_int_equal(t->error, -EIO);
	assert_int_equal(t->unreadable, 1);
	assert_true(t->done_at.mono == at(20).mono);
	see_one(t, 6, 30);
	assert_false(c->stale);
	assert_int_equal(t->error, 0);

	/* None any more. */
	failed = (struct counters_done){ .error = -ENOENT };
	counter_table_finish(&t, &failed, at(40));
	assert_int_equal(t->n, 0);
	assert_null(counter_table_find(t, "e"));
	name_all(&t, 1, &column, 1);
	assert_non_null(counter_table_find(t, "e"));
	counter_table_free(t);
}

static void test_set_replaced(void **state)
{
	static const struct column old[] = { { "a", 8 }, { "b", 8 }, { "c", 8 } };
	static const struct column new[] = { { "c", 16 }, { "d", 8 }, { "a", 8 } };
	struct counter_table *t = NULL;
	const struct counter *c;
	uint64_t delta;

	(void)state;
	name_all(&t, 1, old, 3);
	see(t, 1, (const uint64_t[]){ 1, 2, 3 }, 3, 10);
	see(t, 1, (const uint64_t[]){ 256, 2, 5 }, 3, 20);

	/* Half of a new set is none yet; its values have no place, the old ones still have. */
	assert_int_equal(name_at(&t, 2, 0, 3, &new[0]), 0);
	assert_int_equal(name_at(&t, 2, 1, 3, &new[1]), 0);
	see(t, 2, (const uint64_t[]){ 77, 77, 77 }, 3, 25);
	see(t, 1, (const uint64_t[]){ 257, 2, 6 }, 3, 30);
	assert_int_equal(t->set, 1);
	assert_int_equal(name_at(&t, 2, 2, 3, &new[2]), 0);
	assert_int_equal(t->set, 2);
	assert_int_equal(t->n, 3);
	assert_null(counter_table_find(t, "b"));
	c = counter_table_find(t, "c");
	assert_ptr_equal(c, &t->counters[0]);
	assert_int_equal(c->width, 16);
	assert_true(counter_delta(c, &delta) && delta == 3);
	assert_false(counter_table_find(t, "d")->known);
	/* What its values refuted is not believed the second time. */
	assert_int_equal(counter_table_find(t, "a")->width, 0);

	see(t, 1, (const uint64_t[]){ 9, 9, 9 }, 3, 40); /* sent before the new names */
	assert_true(c->value == 6);
	see(t, 2, (const uint64_t[]){ 10, 1, 258 }, 3, 50);
	assert_true(counter_delta(c, &delta) && delta == 7);
	/* Told again, as a new worker does. */
	name_all(&t, 2, new, 3);
	assert_true(counter_delta(counter_table_find(t, "a"), &delta) && delta == 257);
	counter_table_free(t);
}

static void test_wrong_messages(void **state)
{
	struct column column = { "e", 16 };
	struct counter_values v = { .set = 1, .first = 1, .n = 1, .known = 1 };
	struct counter_table *t = NULL;

	(void)state;
	assert_int_equal(name_at(&t, 0, 0, 1, &column), -EINVAL);
	assert_int_equal(name_at(&t, 1, 0, 0, &column), -EINVAL);
	assert_int_equal(name_at(&t, 1, 1, 1, &column), -EINVAL);
	assert_int_equal(name_at(&t, 1, 0, COUNTERS_MAX + 1, &column), -EINVAL);
	assert_int_equal(name_at(&t, 1, 1, 2, &column), -EINVAL);
	assert_int_equal(name_at(&t, 1, 0, 2, &column), 0);
	assert_int_equal(name_at(&t, 1, 1, 3, &column), -EINVAL);
	assert_int_equal(name_at(&t, 2, 1, 2, &column), -EINVAL);
	column.width = 65;
	assert_int_equal(name_at(&t, 1, 1, 2, &column), -EINVAL);
	column.width = 16;
	name_all(&t, 1, &column, 1);
	assert_int_equal(counter_table_values(t, &v, at(1)), -EINVAL);
	v.first = UINT32_MAX;
	assert_int_equal(counter_table_values(t, &v, at(1)), -EINVAL);
	v = (struct counter_values){ .set = 1, .n = COUNTERS_PER_PIECE + 1 };
	assert_int_equal(counter_table_values(t, &v, at(1)), -EINVAL);
	v.n = 2;
	assert_int_equal(counter_table_values(t, &v, at(1)), -EINVAL);
	assert_false(counter_table_find(t, "e")->known);
	assert_true(counter_table_has_names(t));
	assert_false(counter_table_has_names(NULL));
	counter_table_free(t);
	counter_table_free(NULL);
	assert_null(counter_table_find(NULL, "e"));
}

static bool is_safe(const char *s)
{
	return s[0] && !strchr("0123456789", s[0]) &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static void test_safe_names(void **state)
{
	static const struct column columns[] = {
		{ "symbol_error" },
		{ "SwLinkUp,32" },
		{ "RNR sent" },
		{ "RNR_sent" }, /* is such a word already */
		{ "x,y" },
		{ "x y" },
		{ "x?y~0123abcd" },
		{ "9lives" },
		{ "_9lives" },
		{ ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,," }, /* 63 */
		{ ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,, " },
		{ "twice" },
		{ "twice" },
	};
	enum { N = ARRAY_SIZE(columns) };
	struct counter_table *t = NULL;
	char plain[COUNTER_NAME_MAX];

	(void)state;
	name_all(&t, 1, columns, N);
	for (size_t i = 0; i < N; i++) {
		assert_true(is_safe(counter_safe(&t->counters[i])));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				counter_safe(&t->counters[i]), counter_safe(&t->counters[k]));
	}
	assert_string_equal(counter_safe(&t->counters[0]), "symbol_error");
	assert_string_equal(counter_safe(&t->counters[1]), "SwLinkUp_32");
	assert_string_equal(counter_safe(&t->counters[3]), "RNR_sent");
	assert_memory_equal(counter_safe(&t->counters[2]), "RNR_sent_", 9);
	assert_memory_equal(counter_safe(&t->counters[4]), "x_y_", 4);
	assert_memory_equal(counter_safe(&t->counters[5]), "x_y_", 4);
	assert_string_equal(counter_safe(&t->counters[11]), "twice");
	counter_safe_name(plain, "");
	assert_string_equal(plain, "_");
	counter_table_free(t);
}

static void test_words(void **state)
{
	(void)state;
	assert_true(counter_is_words(COUNTER_PMA, "port_rcv_data"));
	assert_false(counter_is_words(COUNTER_PMA, "port_rcv_packets"));
	assert_false(counter_is_words(COUNTER_HW, "port_rcv_data"));
	assert_string_equal(counter_source_to_string(COUNTER_PMA), "pma");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_failed_reading),
		cmocka_unit_test(test_none_at_all),
		cmocka_unit_test(test_set_replaced),
		cmocka_unit_test(test_wrong_messages),
		cmocka_unit_test(test_safe_names),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
