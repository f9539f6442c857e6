/* SPDX-License-Identifier: MIT */
/* Reading counters from trees: small ones made here and those of tests/data. (Netlink: in the VM.) */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "counter-reader.h"
#include "sysfs.h"

#define PORT   "sys/class/infiniband/x0/ports/1"
#define DEVICE "sys/class/infiniband/x0"

static char root[64];

static void path_of(char *buf, size_t size, const char *path)
{
	snprintf(buf, size, "%s/%s", root, path);
}

static void make_dirs(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

static void put_bytes(const char *path, const char *bytes, size_t n, mode_t mode)
{
	_cleanup_(closep) int fd = -1;
	char full[512];

	path_of(full, sizeof(full), path);
	make_dirs(full);
	unlink(full);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text), 0444);
}

/* Changes the file in place, as sysfs does: who has it open sees it. */
static void change(const char *path, const char *text)
{
	_cleanup_(closep) int fd = -1;
	char full[512];

	path_of(full, sizeof(full), path);
	assert_int_equal(chmod(full, 0644), 0);
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void drop(const char *path)
{
	char full[512];

	path_of(full, sizeof(full), path);
	assert_int_equal(unlink(full), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test-counters-XXXXXX");
	return mkdtemp(root) && sysfs_set_root(root) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* What a reading said. */
static struct {
	struct counter_name names[COUNTERS_MAX];
	size_t n_names;
	uint64_t values[COUNTERS_MAX];
	bool known[COUNTERS_MAX];
	size_t n_values;
	struct counters_done done;
	unsigned n_done;
} got;

static int on_name(const struct counter_name *f, void *user)
{
	(void)user;
	if (f->at == 0)
		got.n_names = 0;
	assert_int_equal(f->at, got.n_names);
	got.names[got.n_names++] = *f;
	return 0;
}

static int on_values(const struct counter_values *f, void *user)
{
	(void)user;
	assert_int_equal(f->set, got.names[0].set);
	assert_int_equal(f->first, got.n_values);
	for (size_t i = 0; i < f->n; i++) {
		got.values[got.n_values] = f->values[i];
		got.known[got.n_values++] = f->known >> i & 1;
	}
	return 0;
}

static int on_done(const struct counters_done *f, void *user)
{
	(void)user;
	got.done = *f;
	got.n_done++;
	return 0;
}

static const struct counter_sink sink = { on_name, on_values, on_done, NULL };

static struct counter_reader *reader(uint32_t port, enum counter_source source)
{
	struct counter_reader *r = NULL;

	memset(&got, 0, sizeof(got));
	assert_int_equal(counter_reader_new("x0", 7, port, source, &r), 0);
	return r;
}

static void read_at(struct counter_reader *r, usec_t sec)
{
	got.n_values = 0;
	got.n_done = 0;
	assert_int_equal(counter_reader_read(r, NULL, sec * USEC_PER_SEC, false, &sink), 0);
	assert_int_equal(got.n_done, 1);
	assert_int_equal(got.done.device_index, 7);
}

static size_t find(const char *name)
{
	for (size_t i = 0; i < got.n_names; i++)
		if (streq(got.names[i].name, name))
			return i;
	return SIZE_MAX;
}

#define assert_value(name, value)                                \
	do {                                                     \
		size_t _at = find(name);                         \
		assert_true(_at < got.n_values);                 \
		assert_true(got.known[_at]);                     \
		assert_true(got.values[_at] == (uint64_t)value); \
	} while (0)

#define assert_unread(name)                      \
	do {                                     \
		size_t _at = find(name);         \
		assert_true(_at < got.n_values); \
		assert_false(got.known[_at]);    \
	} while (0)

static uint32_t width(const char *name)
{
	size_t at = find(name);

	assert_true(at < got.n_names);
	return got.names[at].width;
}

static void test_pma(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;
	uint32_t set;

	(void)state;
	put(PORT "/counters/symbol_error", "65535\n");
	put(PORT "/counters/local_link_integrity_errors", "3\n");
	put(PORT "/counters/port_rcv_data", "18446744073709551615\n");
	put(PORT "/counters/unicast_rcv_packets", "0\n");
	r = reader(1, COUNTER_PMA);
	read_at(r, 10);
	assert_int_equal(got.done.error, 0);
	assert_int_equal(got.done.n, 4);
	assert_int_equal(got.done.unreadable, 0);
	assert_int_equal(got.n_names, 4);
	assert_value("symbol_error", 65535);
	assert_value("port_rcv_data", UINT64_MAX);
	assert_value("unicast_rcv_packets", 0);
	assert_int_equal(width("symbol_error"), 16);
	assert_int_equal(width("local_link_integrity_errors"), 4);
	assert_int_equal(width("port_rcv_data"), 64);
	assert_int_equal(got.names[0].port, 1);
	assert_int_equal(got.names[0].source, COUNTER_PMA);
	set = got.names[0].set;

	/* Names come once, values each time, through the descriptors that are open already. */
	got.names[0].at = 99;
	change(PORT "/counters/symbol_error", "12\n");
	read_at(r, 20);
	assert_int_equal(got.names[0].at, 99);
	assert_value("symbol_error", 12);

	/* Somebody who forgot them can ask, and another process says the same number. */
	got.n_values = 0;
	assert_int_equal(counter_reader_read(r, NULL, 30 * USEC_PER_SEC, true, &sink), 0);
	assert_int_equal(got.names[0].at, 0);
	assert_int_equal(got.names[0].set, set);
	r = counter_reader_free(r);
	r = reader(1, COUNTER_PMA);
	read_at(r, 40);
	assert_int_equal(got.names[0].set, set);
}

/* Which command the kernel uses cannot be seen without the files of unicast packets. */
static void test_unknown_width(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;
	uint32_t set;

	(void)state;
	put(PORT "/counters/port_rcv_data", "4294967295\n");
	put(PORT "/counters/port_xmit_packets", "1\n");
	r = reader(1, COUNTER_PMA);
	read_at(r, 10);
	assert_int_equal(width("port_rcv_data"), 0);
	set = got.names[0].set;
	change(PORT "/counters/port_rcv_data", "4294967296\n");
	read_at(r, 20);
	assert_int_equal(width("port_rcv_data"), 64);
	assert_int_not_equal(got.names[0].set, set);
	assert_value("port_rcv_data", 4294967296);
	/* Listed anew, it is still known. */
	set = got.names[0].set;
	change(PORT "/counters/port_rcv_data", "1\n");
	read_at(r, 10000);
	assert_int_equal(got.names[0].set, set);
}

static void test_old_mlx4(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;

	(void)state;
	put(PORT "/counters/port_rcv_data", "4294967295\n");
	put(PORT "/counters/port_xmit_wait", "4294967295\n");
	put(PORT "/counters_ext/port_rcv_data_64", "70000000000\n");
	put(PORT "/counters_ext/port_unicast_rcv_packets", "5\n");
	r = reader(1, COUNTER_PMA);
	read_at(r, 10);
	assert_int_equal(got.done.n, 3);
	assert_value("port_rcv_data", 70000000000);
	assert_int_equal(width("port_rcv_data"), 64);
	assert_value("port_unicast_rcv_packets", 5);
	assert_int_equal(width("port_xmit_wait"), 32);
}

static void test_not_counters(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;
	_cleanup_(freep) char *junk = malloc(70000);
	char full[512];

	(void)state;
	assert_non_null(junk);
	memset(junk, 'x', 70000);
	put(DEVICE "/hw_counters/SwLinkUp,32", "4\n");
	put(DEVICE "/hw_counters/RNR sent", "6\n");
	put(DEVICE "/hw_counters/active_qps", "2\n");
	put(DEVICE "/hw_counters/lifespan", "12\n");
	put(DEVICE "/hw_counters/tempsense", "41.00 105.00 65.00\n");
	put(DEVICE "/hw_counters/empty", "");
	put(DEVICE "/hw_counters/huge", "18446744073709551616\n");
	put(DEVICE "/hw_counters/negative", "-1\n");
	put_bytes(DEVICE "/hw_counters/junk", junk, 70000, 0444);
	put_bytes(DEVICE "/hw_counters/nul", "1\0002\n", 4, 0444);
	put_bytes(DEVICE "/hw_counters/chip_reset", "0\n", 2, 0200);
	put(DEVICE "/hw_counters/dir/file", "1\n");
	path_of(full, sizeof(full), DEVICE "/hw_counters/fifo");
	assert_int_equal(mkfifo(full, 0666), 0);
	path_of(full, sizeof(full), DEVICE "/hw_counters/link");
	assert_int_equal(symlink("SwLinkUp,32", full), 0);

	r = reader(0, COUNTER_HW);
	read_at(r, 10);
	assert_int_equal(got.done.error, 0);
	assert_int_equal(got.n_names, 5);
	assert_int_equal(got.done.n, 5);
	assert_int_equal(got.done.unreadable, 2);
	assert_value("SwLinkUp,32", 4);
	assert_value("RNR sent", 6);
	assert_value("active_qps", 2);
	assert_unread("empty");
	assert_unread("huge");
	assert_int_equal(got.names[find("active_qps")].flags, COUNTER_GAUGE);
	assert_int_equal(got.names[find("RNR sent")].flags, 0);
	/* Nothing of it is a counter the second time either. */
	read_at(r, 10000);
	assert_int_equal(got.done.n, 5);
}

static void test_no_pma(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;

	(void)state;
	put(PORT "/counters/symbol_error", "N/A (no PMA)\n");
	put(PORT "/counters/link_downed", "N/A (no PMA)\n");
	r = reader(1, COUNTER_PMA);
	read_at(r, 10);
	assert_int_equal(got.done.error, -EOPNOTSUPP);
	assert_int_equal(got.done.n, 2);
	assert_int_equal(got.done.unreadable, 2);
	assert_int_equal(got.n_names, 2);
	assert_int_equal(got.n_values, 0);

	/* All failed: one is asked again after a minute, and then all are back. */
	change(PORT "/counters/symbol_error", "1\n");
	change(PORT "/counters/link_downed", "2\n");
	read_at(r, 69);
	assert_int_equal(got.done.error, -EOPNOTSUPP);
	read_at(r, 70);
	assert_int_equal(got.done.error, 0);
	assert_value("symbol_error", 1);
	assert_value("link_downed", 2);
}

/* The one that is asked is not always the same one; the waits double. */
static void test_source_retries(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;

	(void)state;
	put(PORT "/counters/a", "N/A\n");
	put(PORT "/counters/b", "N/A\n");
	r = reader(1, COUNTER_PMA);
	read_at(r, 0);
	change(PORT "/counters/b", "2\n");
	read_at(r, 60); /* asks a */
	assert_int_equal(got.done.error, -EOPNOTSUPP);
	read_at(r, 179);
	assert_int_equal(got.done.error, -EOPNOTSUPP);
	read_at(r, 180); /* asks b */
	assert_int_equal(got.done.error, 0);
	assert_value("b", 2);
	assert_unread("a");
	assert_int_equal(got.done.unreadable, 1);
}

static void test_attribute_retries(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;

	(void)state;
	put(PORT "/hw_counters/good", "1\n");
	put(PORT "/hw_counters/bad", "");
	r = reader(1, COUNTER_HW);
	read_at(r, 0);
	assert_value("good", 1);
	assert_unread("bad");
	change(PORT "/hw_counters/good", "3\n");
	read_at(r, 299);
	assert_value("good", 3);
	/* Asked for at 300 in vain, then not before 900. */
	read_at(r, 300);
	assert_unread("bad");
	change(PORT "/hw_counters/bad", "5\n");
	read_at(r, 899);
	assert_unread("bad");
	read_at(r, 900);
	assert_value("bad", 5);
	/* What was a number once is a counter, whatever it says later. */
	change(PORT "/hw_counters/bad", "now a text\n");
	read_at(r, 901);
	assert_int_equal(got.done.n, 2);
	assert_unread("bad");
}

static void test_set_changes(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;
	uint32_t set;

	(void)state;
	put(PORT "/hw_counters/a", "1\n");
	put(PORT "/hw_counters/c", "3\n");
	r = reader(1, COUNTER_HW);
	read_at(r, 0);
	set = got.names[0].set;
	put(PORT "/hw_counters/b", "2\n");
	drop(PORT "/hw_counters/a");
	read_at(r, 599);
	assert_int_equal(got.names[0].set, set);
	read_at(r, 600);
	assert_int_not_equal(got.names[0].set, set);
	assert_int_equal(got.done.n, 2);
	assert_int_equal(find("a"), SIZE_MAX);
	assert_value("b", 2);
	assert_value("c", 3);
}

static void test_nothing(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;

	(void)state;
	r = reader(1, COUNTER_PMA);
	read_at(r, 0);
	assert_int_equal(got.done.error, -ENODEV);
	put(PORT "/state", "4: ACTIVE\n");
	read_at(r, 1);
	assert_int_equal(got.done.error, -ENOENT);
	assert_int_equal(got.done.n, 0);
	put(PORT "/counters/only_text", "some\n");
	read_at(r, 2);
	assert_int_equal(got.done.error, -ENOENT);
	put(PORT "/counters/number", "1\n");
	read_at(r, 700);
	assert_int_equal(got.done.error, 0);
	assert_value("number", 1);
}

/* ---- of drivers ---- */

static void make_tree(const char *name)
{
	char manifest[512];
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		snprintf(manifest, sizeof(manifest), SOURCE_ROOT "/tests/data/trees/%s.tree", name);
		execlp("python3", "python3", SOURCE_ROOT "/tests/data/make-tree", manifest, root,
			NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* What one source of each has, and one of its counters. */
static const struct {
	const char *tree, *device;
	uint32_t port;
	enum counter_source source;
	uint32_t n;
	int error;
	const char *name;
	uint64_t value;
	uint32_t width, flags;
} drivers[] = {
	/* 21 of counters/, five of counters_ext/ of which four stand for one of the 21. */
	{ "mlx4", "mlx4_0", 1, COUNTER_PMA, 22, 0, "port_rcv_data", 8796093022208, 64 },
	{ "mlx4", "mlx4_0", 1, COUNTER_PMA, 22, 0, "port_xmit_wait", UINT32_MAX, 32 },
	{ "mlx4", "mlx4_0", 1, COUNTER_PMA, 22, 0, "port_multicast_rcv_packets", 12, 64 },
	{ "mlx4", "mlx4_0", 2, COUNTER_PMA, 4, 0, "link_downed", 3, 8 },
	{ "mlx4", "mlx4_0", 2, COUNTER_HW, 0, -ENOENT },
	{ "mlx5-ndr", "mlx5_0", 1, COUNTER_HW, 29, 0, "rx_write_requests", 42000 },
	{ "mlx5-ndr", "mlx5_1", 1, COUNTER_PMA, 21, 0, "link_downed", 255, 8 },
	{ "mlx5-ndr", "mlx5_1", 1, COUNTER_PMA, 21, 0, "port_rcv_data", 123456789012346, 64 },
	{ "hfi1", "hfi1_0", 1, COUNTER_HW, 6, 0, "SwLinkUp,32", 0 },
	{ "hfi1", "hfi1_0", 0, COUNTER_HW, 2, 0, "DcRecvErr", 0 },
	{ "irdma", "rocep24s0f0", 1, COUNTER_HW, 14, 0, "RNR sent", 3 },
	{ "irdma", "rocep24s0f0", 1, COUNTER_PMA, 0, -ENOENT },
	{ "bnxt_re", "bnxt_re0", 1, COUNTER_HW, 24, 0, "active_qps", 3, 0, COUNTER_GAUGE },
	{ "bnxt_re", "bnxt_re0", 1, COUNTER_HW, 24, 0, "recoverable_errors", 8812 },
	{ "efa", "rdmap16s27", 0, COUNTER_HW, 5, 0, "keep_alive_rcvd", 55 },
	{ "efa", "rdmap16s27", 1, COUNTER_HW, 12, 0, "rx_bytes", 9007199254740993 },
	{ "i40iw", "i40iw0", 1, COUNTER_PMA, 21, -EOPNOTSUPP },
	{ "i40iw", "i40iw0", 1, COUNTER_HW, 4, 0, "iwInRdmaReads", 0 },
	{ "soft", "rxe0", 1, COUNTER_HW, 12, 0, "rcvd_pkts", 17 },
	{ "soft", "rxe0", 1, COUNTER_PMA, 0, -ENOENT },
	{ "hostile", "good", 1, COUNTER_PMA, 1, 0, "symbol_error", 7, 16 },
};

static void test_drivers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		struct counter_reader *r = NULL;

		if (i == 0 || !streq(drivers[i].tree, drivers[i - 1].tree)) {
			teardown(NULL);
			assert_int_equal(setup(NULL), 0);
			make_tree(drivers[i].tree);
		}
		print_message("# %s %s/%u %s\n", drivers[i].tree, drivers[i].device,
			drivers[i].port, counter_source_to_string(drivers[i].source));
		memset(&got, 0, sizeof(got));
		assert_int_equal(counter_reader_new(drivers[i].device, 7, drivers[i].port,
					 drivers[i].source, &r),
			0);
		read_at(r, 0);
		assert_int_equal(got.done.error, drivers[i].error);
		assert_int_equal(got.done.n, drivers[i].n);
		assert_int_equal(got.done.unreadable, drivers[i].error ? drivers[i].n : 0);
		if (drivers[i].name) {
			assert_value(drivers[i].name, drivers[i].value);
			assert_int_equal(width(drivers[i].name), drivers[i].width);
			assert_int_equal(got.names[find(drivers[i].name)].flags, drivers[i].flags);
		}
		counter_reader_free(r);
	}
}

static void test_many(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *r = NULL;
	char path[128], text[16];

	(void)state;
	for (unsigned i = 0; i < COUNTERS_MAX + 5; i++) {
		snprintf(path, sizeof(path), PORT "/hw_counters/c%05u", i);
		snprintf(text, sizeof(text), "%u\n", i);
		put(path, text);
	}
	r = reader(1, COUNTER_HW);
	read_at(r, 0);
	assert_int_equal(got.n_names, COUNTERS_MAX);
	assert_int_equal(got.n_values, COUNTERS_MAX);
	assert_int_equal(got.done.n, COUNTERS_MAX + 5);
	assert_value("c00000", 0);
	assert_value("c01023", 1023);
	read_at(r, 10);
	assert_value("c00700", 700);
}

static void test_display_names(void **state)
{
	static const char x70[] =
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	static const char x71[] =
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	static const char *const names[] = { "a\xff", "RNR sent", "a\x01", "", "twice", "twice",
		x70, x71, "SwLinkUp,32" };
	enum { N = ARRAY_SIZE(names) };
	char shown[N][COUNTER_NAME_MAX], first[COUNTER_NAME_MAX];
	const char *again[2] = { "a\xff", first };

	(void)state;
	counter_display_names(shown, names, N);
	assert_string_equal(shown[1], "RNR sent");
	assert_string_equal(shown[4], "twice");
	assert_string_equal(shown[8], "SwLinkUp,32");
	assert_memory_equal(shown[0], "a?~", 3);
	assert_int_equal(strlen(shown[6]), COUNTER_NAME_MAX - 1);
	for (size_t i = 0; i < N; i++) {
		assert_true(shown[i][0]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(shown[i], shown[k]);
	}
	/* One that happens to be what another one would become. */
	STRSCPY(first, shown[0]);
	counter_display_names(shown, again, 2);
	assert_string_equal(shown[1], first);
	assert_string_not_equal(shown[0], first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pma, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_width, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_mlx4, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_pma, setup, teardown),
		cmocka_unit_test_setup_teardown(test_source_retries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_attribute_retries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_set_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drivers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test(test_display_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
