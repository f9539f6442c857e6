/* SPDX-License-Identifier: MIT */
/*
 * What lies in /run/rdmad when rdmad starts: whatever became of the kept files, it is read or set aside, said
 * once, and no harm is done. (What a text may be: test-keep.c.)
 */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/kept-files.h"
#include "file.h"
#include "keep-world.h"
#include "macros.h"
#include "publish.h"

static const struct picture_origin here = { KEEP_WORLD_ORIGIN };

static char dir[] = "/tmp/rdmad-kept-XXXXXX";
static char said_path[sizeof(dir) + 8];

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text, size_t size)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	assert_int_equal(close(fd), 0);
}

static void clear(void)
{
	static const char *const names[] = { STATE_NAME, COUNTERS_NAME, STATE_NAME ".bad",
		COUNTERS_NAME ".bad", "elsewhere" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (unlink(in_dir(names[i])) < 0 && errno == EISDIR)
			assert_int_equal(rmdir(in_dir(names[i])), 0);
}

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(in_dir(name), &st) == 0;
}

/* Loads once, as a start does; *ret_lines is how many lines were said. */
static int load(size_t *ret_lines, size_t *ret_devices)
{
	_cleanup_(freep) char *said = NULL;
	struct model m = { 0 };
	struct keep k = { .model = &m };
	int r, saved = dup(STDERR_FILENO);
	int fd = open(said_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(saved >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	close(fd);
	r = kept_load(dir, &here, &k);
	dup2(saved, STDERR_FILENO);
	close(saved);
	if (r < 0)
		assert_null(m.devices);
	*ret_devices = 0;
	for (const struct device *d = m.devices; d; d = d->next)
		++*ret_devices;
	kept_done(&m);

	assert_int_equal(file_read(said_path, 0, 1 << 20, &said, NULL), 0);
	*ret_lines = 0;
	for (const char *s = said; (s = strchr(s, '\n')); s++)
		++*ret_lines;
	return r;
}

/*
 * Whatever is there: it is read, or it is set aside and said so in one line, or it is somebody else's and said
 * so; the next start finds nothing to say.
 */
static int survive(const char *name, size_t *ret_devices)
{
	char aside[64];
	size_t lines, devices;
	bool counters = streq(name, COUNTERS_NAME);
	int r = load(&lines, ret_devices), again;

	snprintf(aside, sizeof(aside), "%s.bad", name);
	if (r == -EBADMSG || (counters && is_there(aside))) {
		assert_true(is_there(aside));
		assert_false(is_there(name));
		assert_int_equal(lines, 1);
		again = load(&lines, &devices);
		assert_int_equal(again, counters ? 0 : -ENOENT);
		assert_int_equal(lines, 0);
	} else {
		assert_false(is_there(aside));
		assert_true(r == 0 || r == -ENOTSUP || r == -EXDEV || r == -ESTALE);
		assert_true(lines <= 1);
	}
	return r;
}

/* The state is good where it is the counters' turn. */
static int survive_text(const char *name, const char *text, size_t size, size_t *ret_devices)
{
	_cleanup_(freep) char *state = NULL;

	clear();
	if (!streq(name, STATE_NAME)) {
		state = keep_world_state();
		put(STATE_NAME, state, strlen(state));
	}
	put(name, text, size);
	return survive(name, ret_devices);
}

static char *text_of(const char *name)
{
	return streq(name, STATE_NAME) ? keep_world_state() : keep_world_counters();
}

static const char *const names[] = { STATE_NAME, COUNTERS_NAME };

static void test_whole(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *text = text_of(names[i]);
		size_t devices;

		assert_int_equal(survive_text(names[i], text, strlen(text), &devices), 0);
		assert_int_equal(devices, 1);
	}
	clear();
}

static void test_cut(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *text = text_of(names[i]);
		size_t size = strlen(text) - 1, devices; /* without the line's end it is complete */

		for (size_t n = 0; n < size; n += 64) {
			int r = survive_text(names[i], text, n, &devices);

			assert_int_equal(r, i == 0 ? -EBADMSG : 0);
			assert_int_equal(devices, i);
		}
	}
}

/* What a memory or a disk does: a bit, of each byte in turn; zeros where a block should be. */
static void test_flipped(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *text = text_of(names[i]);
		size_t size = strlen(text), devices;

		for (size_t at = 0; at < size; at += 3) {
			text[at] ^= (char)(1 << (at % 8));
			survive_text(names[i], text, size, &devices);
			text[at] ^= (char)(1 << (at % 8));
		}
		for (size_t at = 0; at + 512 <= size; at += 512) {
			_cleanup_(freep) char *hole = strdup(text);

			memset(hole + at, 0, 512);
			assert_int_equal(survive_text(names[i], hole, size, &devices),
				i == 0 ? -EBADMSG : 0);
		}
	}
}

static void replace(char *text, const char *old, const char *new)
{
	char *at = strstr(text, old);

	assert_non_null(at);
	assert_int_equal(strlen(old), strlen(new));
	memcpy(at, new, strlen(new));
}

static void test_not_ours(void **state)
{
	static const struct {
		const char *old, *new;
		int error;
	} others[] = {
		{ "\"cccc\"", "\"dddd\"", -ESTALE }, /* another boot */
		{ "\"aaaa\"", "\"bbbb\"", -EXDEV },
		{ "\"b-1\"", "\"b-2\"", -EXDEV },
		{ "\"ReadableFrom\":1", "\"ReadableFrom\":2", -ENOTSUP },
		{ "\"ReadableFrom\":1", "\"ReadableFrom\":x", -EBADMSG },
		{ "\"Version\":1", "\"Version\":\x01", -EBADMSG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		_cleanup_(freep) char *text = keep_world_state();
		size_t devices;

		replace(text, others[i].old, others[i].new);
		assert_int_equal(
			survive_text(STATE_NAME, text, strlen(text), &devices), others[i].error);
	}
}

/* Much of nothing: of ours to read it is bounded, and deep nesting is no stack's affair. */
static void test_huge(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *deep = malloc(KEEP_MAX);
		size_t devices;
		int fd;

		assert_non_null(deep);
		memset(deep, '[', KEEP_MAX);
		survive_text(names[i], deep, KEEP_MAX, &devices);
		assert_true(is_there(i ? COUNTERS_NAME ".bad" : STATE_NAME ".bad"));

		clear();
		fd = open(in_dir(names[0]), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
		close(fd);
		assert_int_equal(survive(names[0], &devices), -EBADMSG);
	}
}

static void survive_and_write(void)
{
	size_t devices;

	assert_int_equal(survive(STATE_NAME, &devices), -EBADMSG);
	assert_int_equal(state_file_write(dir, STATE_NAME, "{}"), 0);
}

/* No regular file: not waited for, not followed. */
static void test_no_file(void **state)
{
	_cleanup_(freep) char *text = keep_world_state();
	size_t devices;

	clear();
	assert_int_equal(mkdir(in_dir(STATE_NAME), 0700), 0);
	survive_and_write();

	clear();
	assert_int_equal(mkfifo(in_dir(STATE_NAME), 0600), 0);
	survive_and_write();

	clear();
	put("elsewhere", text, strlen(text));
	assert_int_equal(symlink("elsewhere", in_dir(STATE_NAME)), 0);
	survive_and_write();
	assert_true(is_there("elsewhere"));

	clear();
	assert_int_equal(symlink("nowhere", in_dir(STATE_NAME)), 0);
	survive_and_write();

	/* Nor can it be set aside: said, and the daemon starts all the same. */
	clear();
	put(STATE_NAME, "x", 1);
	assert_int_equal(mkdir(in_dir(STATE_NAME ".bad"), 0700), 0);
	assert_int_equal(load(&devices, &devices), -EBADMSG);
	assert_int_equal(state_file_write(dir, STATE_NAME, text), 0);
	clear();
}

static int set_up(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(said_path, sizeof(said_path), "%s/said", dir);
	return 0;
}

static int tear_down(void **state)
{
	clear();
	unlink(said_path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
