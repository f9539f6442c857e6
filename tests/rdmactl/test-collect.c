/* SPDX-License-Identifier: MIT */
/* Reading what may not answer, and taking directories away: what collect and inspect stand on. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "archive.h"
#include "slow-read.h"

#define SOON  (5 * USEC_PER_SEC)
#define SHORT (100 * USEC_PER_MSEC)

static char *top;

static int begin(void **state)
{
	(void)state;
	return private_directory(&top);
}

static int end(void **state)
{
	(void)state;
	private_directoryp(&top);
	return 0;
}

static const char *in_top(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void put(const char *name, size_t size)
{
	_cleanup_(closep) int fd = open(in_top(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	_cleanup_(freep) char *data = malloc(size + 1);

	assert_true(fd >= 0);
	assert_non_null(data);
	memset(data, 'x', size);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
}

static void test_slow_read(void **state)
{
	struct slow_reader r = { 0 };
	const char *data;
	size_t n;
	pid_t first;

	(void)state;
	put("file", 100 * 1024);
	put("empty", 0);
	assert_int_equal(mkfifo(in_top("fifo"), 0600), 0);
	assert_int_equal(symlink("file", in_top("link")), 0);

	assert_int_equal(slow_read(&r, in_top("file"), 100 * 1024, SOON, &data, &n), 0);
	assert_int_equal(n, 100 * 1024);
	assert_int_equal(data[n - 1], 'x');
	first = r.pid;
	assert_int_equal(slow_read(&r, in_top("file"), 100 * 1024 - 1, SOON, &data, &n), -EFBIG);
	assert_int_equal(slow_read(&r, in_top("empty"), 10, SOON, &data, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(slow_read(&r, in_top("fifo"), 10, SOON, &data, &n), -EINVAL);
	assert_int_equal(slow_read(&r, in_top("link"), 10, SOON, &data, &n), -EINVAL);
	assert_int_equal(slow_read(&r, in_top("none"), 10, SOON, &data, &n), -ENOENT);
	assert_int_equal(slow_read(&r, top, 10, SOON, &data, &n), -EINVAL);
	assert_int_equal(r.pid, first);

	/* It does not answer, as if its file were a firmware that hangs: the next one has another. */
	assert_int_equal(kill(r.pid, SIGSTOP), 0);
	assert_int_equal(slow_read(&r, in_top("file"), 100 * 1024, SHORT, &data, &n), -ETIMEDOUT);
	assert_int_equal(slow_read(&r, in_top("file"), 100 * 1024, SOON, &data, &n), 0);
	assert_int_equal(n, 100 * 1024);
	assert_int_not_equal(r.pid, first);

	/* It is killed by somebody else. */
	assert_int_equal(kill(r.pid, SIGKILL), 0);
	assert_int_equal(slow_read(&r, in_top("file"), 100 * 1024, SOON, &data, &n), -EIO);
	assert_int_equal(slow_read(&r, in_top("file"), 100 * 1024, SOON, &data, &n), 0);
	slow_reader_done(&r);
}

static void test_run_program(void **state)
{
	const char *const yes[] = { "true", NULL }, *const no[] = { "false", NULL };
	const char *const none[] = { "no-such-program-as-this", NULL };
	const char *const hangs[] = { "sleep", "60", NULL };
	usec_t before = timepoint_now().mono;

	(void)state;
	assert_int_equal(run_program(yes, -1, SOON), 0);
	assert_int_equal(run_program(no, -1, SOON), 1);
	assert_int_equal(run_program(none, -1, SOON), -ENOENT);
	assert_int_equal(run_program(hangs, -1, SHORT), -ETIMEDOUT);
	assert_true(usec_sub(timepoint_now().mono, before) < 30 * USEC_PER_SEC);
}

/* What an archive may hold: closed directories, links out. */
static void test_remove_tree(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(in_top("keep"), 0500), 0);
	assert_int_equal(mkdir(in_top("gone"), 0700), 0);
	assert_int_equal(mkdir(in_top("gone/closed"), 0700), 0);
	put("gone/closed/file", 1);
	assert_int_equal(symlink("../../keep", in_top("gone/closed/link")), 0);
	assert_int_equal(chmod(in_top("gone/closed"), 0), 0);
	remove_tree(in_top("gone"));
	assert_int_equal(stat(in_top("gone"), &st), -1);
	assert_int_equal(stat(in_top("keep"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_read),
		cmocka_unit_test(test_run_program),
		cmocka_unit_test(test_remove_tree),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
