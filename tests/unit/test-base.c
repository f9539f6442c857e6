/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "file.h"
#include "parse.h"
#include "timespan.h"

static void test_numbers(void **state)
{
	uint64_t v = 7;
	uint32_t w = 7;

	(void)state;
	assert_int_equal(parse_u64("0", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(parse_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	v = 7;
	assert_int_equal(parse_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(parse_u64("", &v), -EINVAL);
	assert_int_equal(parse_u64("-1", &v), -EINVAL);
	assert_int_equal(parse_u64(" 1", &v), -EINVAL);
	assert_int_equal(parse_u64("1x", &v), -EINVAL);
	assert_int_equal(parse_u64("0x10", &v), -EINVAL);
	assert_int_equal(v, 7);
	assert_int_equal(parse_u32("4294967295", &w), 0);
	assert_int_equal(parse_u32("4294967296", &w), -ERANGE);
	assert_true(w == UINT32_MAX);
}

static void test_booleans(void **state)
{
	static const char *const yes[] = { "yes", "Y", "true", "T", "on", "1" };
	static const char *const no[] = { "no", "N", "False", "f", "OFF", "0" };
	bool b;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		b = false;
		assert_int_equal(parse_bool(yes[i], &b), 0);
		assert_true(b);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		b = true;
		assert_int_equal(parse_bool(no[i], &b), 0);
		assert_false(b);
	}
	assert_int_equal(parse_bool("maybe", &b), -EINVAL);
	assert_int_equal(parse_bool("", &b), -EINVAL);
	assert_int_equal(parse_bool("yess", &b), -EINVAL);
}

static void test_backoff(void **state)
{
	assert_true(usec_backoff(50, 500, 0) == 50);
	assert_true(usec_backoff(50, 500, 1) == 100);
	assert_true(usec_backoff(50, 500, 3) == 400);
	assert_true(usec_backoff(50, 500, 4) == 500);
	assert_true(usec_backoff(50, 500, UINT32_MAX) == 500);
	assert_true(usec_backoff(700, 500, 0) == 500);
	assert_true(usec_backoff(0, 500, 9) == 0);
	/* Also where doubling would wrap. */
	assert_true(usec_backoff(1, USEC_INFINITY, 63) == (usec_t)1 << 63);
	assert_true(usec_backoff(1, USEC_INFINITY, 1000) == USEC_INFINITY);
}

static void test_timespans(void **state)
{
	static const struct {
		const char *text;
		usec_t usec;
	} good[] = {
		{ "5s", 5 * USEC_PER_SEC },
		{ "5", 5 * USEC_PER_SEC },
		{ "0", 0 },
		{ "0.5s", 500 * USEC_PER_MSEC },
		{ "1min 30s", 90 * USEC_PER_SEC },
		{ "1min30s", 90 * USEC_PER_SEC },
		{ "250ms", 250 * USEC_PER_MSEC },
		{ "3 h", 3 * USEC_PER_HOUR },
		{ "2days", 2 * USEC_PER_DAY },
		{ "10us", 10 },
		{ "infinity", USEC_INFINITY },
	};
	static const char *const bad[] = { "", "s", "5x", "-5s", "5s x", "1.", ".5s", "5 5 y",
		"99999999999999999999s", "213503983d" };
	usec_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		v = 12345;
		if (parse_timespan(good[i].text, &v) != 0 || v != good[i].usec)
			fail_msg("'%s' is %llu", good[i].text, (unsigned long long)v);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		v = 12345;
		if (parse_timespan(bad[i], &v) >= 0 || v != 12345)
			fail_msg("'%s' was taken as %llu", bad[i], (unsigned long long)v);
	}
}

static void test_rates(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_int_equal(parse_rate("200Gb/s", &v), 0);
	assert_int_equal(v, 200000);
	assert_int_equal(parse_rate("2.5 Gb/s", &v), 0);
	assert_int_equal(v, 2500);
	assert_int_equal(parse_rate("800Mb/s", &v), 0);
	assert_int_equal(v, 800);
	assert_int_equal(parse_rate("1.6Tb/s", &v), 0);
	assert_int_equal(v, 1600000);
	assert_int_equal(parse_rate("200", &v), -EINVAL);
	assert_int_equal(parse_rate("200G", &v), -EINVAL);
	assert_int_equal(parse_rate("Gb/s", &v), -EINVAL);
	assert_int_equal(parse_rate("99999999999999Tb/s", &v), -ERANGE);
}

static void test_timespan_format(void **state)
{
	static const struct {
		usec_t usec;
		const char *text;
	} t[] = {
		{ 0, "0s" },
		{ 40 * USEC_PER_MSEC, "40ms" },
		{ 12 * USEC_PER_SEC, "12s" },
		{ 65 * USEC_PER_SEC, "1min 5s" },
		{ 3 * USEC_PER_DAY + 4 * USEC_PER_HOUR + 5, "3d 4h" },
		{ 2 * USEC_PER_HOUR, "2h" },
		{ 4 * USEC_PER_SEC + 12 * USEC_PER_MSEC, "4s" },
	};
	char buf[TIMESPAN_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		assert_string_equal(timespan_format(buf, sizeof(buf), t[i].usec), t[i].text);
}

static void test_words(void **state)
{
	const char *s = "  one\ttwo  ";
	char word[8], edge[] = " \n x y \t";

	(void)state;
	assert_int_equal(next_word(&s, word, sizeof(word)), 1);
	assert_string_equal(word, "one");
	assert_int_equal(next_word(&s, word, sizeof(word)), 1);
	assert_string_equal(word, "two");
	assert_int_equal(next_word(&s, word, sizeof(word)), 0);
	s = "eightchars";
	assert_int_equal(next_word(&s, word, sizeof(word)), -ENAMETOOLONG);
	assert_string_equal(strstrip(edge), "x y");
}

static void test_usec(void **state)
{
	(void)state;
	assert_true(usec_sub(3, 5) == 0);
	assert_true(usec_sub(5, 3) == 2);
	assert_true(usec_add(USEC_INFINITY - 1, 5) == USEC_INFINITY);
}

static void test_file(void **state)
{
	char dir[] = "/tmp/test-base.XXXXXX", path[64], other[64], command[64];
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(file_read(path, 0, 10, &text, &size), -ENOENT);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite("ab\0cd", 1, 5, f), 5);
	fclose(f);
	assert_int_equal(file_read(path, 0, 4, &text, &size), -EFBIG);
	assert_null(text);
	assert_int_equal(file_read(path, 0, 5, &text, &size), 0);
	assert_int_equal(size, 5);
	assert_memory_equal(text, "ab\0cd", 6);
	freep(&text);
	text = NULL;

	/* A link is followed unless the caller says otherwise; neither a FIFO nor a directory is read. */
	assert_int_equal(symlink(path, other), 0);
	assert_int_equal(file_read(other, O_NOFOLLOW, 5, &text, NULL), -ELOOP);
	assert_int_equal(file_read(other, 0, 5, &text, NULL), 0);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(mkfifo(other, 0600), 0);
	freep(&text);
	text = NULL;
	assert_int_equal(file_read(other, 0, 5, &text, NULL), -EINVAL);
	assert_int_equal(file_read(dir, 0, 5, &text, NULL), -EINVAL);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_booleans),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_timespans),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_timespan_format),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_usec),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
