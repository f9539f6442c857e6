/* SPDX-License-Identifier: MIT */
/*
 * Reads the counters of the devices named, so many cycles long, for tests/bench/counters.sh to count
 * system calls and CPU. One process per device, as rdmad has one per adapter.
 *
 *   bench-counters reader|files hw|pma CYCLES PORTS DEVICE...
 *
 * reader: as rdmad's workers do, the socket opened for each cycle of a device. files: what reading sysfs one file at a time costs: each is opened, read and
 * closed (the names are known before). Prints the counters read per cycle, and the CPU and elapsed
 * time per cycle in microseconds, and the sum of all values of a cycle, so that it can be seen that both
 * read the same.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "counter-reader.h"
#include "macros.h"
#include "nldev.h"
#include "sysfs.h"

#define PORTS_MAX 16
#define FILES_MAX 4096

struct task {
	const char *device;
	uint32_t ports;
	enum counter_source source;
	unsigned cycles;
	uint64_t n_read;
	uint64_t sum;
	struct rusage used; /* when the first cycle was over */
	usec_t since;
};

/* What the processes come to, together. */
struct total {
	uint64_t n_read;
	uint64_t sum;
	usec_t cpu;
	usec_t elapsed;
};

static usec_t used(const struct rusage *r)
{
	return (usec_t)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) * USEC_PER_SEC +
	       (usec_t)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

static void first_cycle_done(struct task *t)
{
	getrusage(RUSAGE_SELF, &t->used);
	t->since = timepoint_now().mono;
}

static void add_up(const struct task *t, struct total *total)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	total->cpu += used(&r) - used(&t->used);
	total->elapsed += timepoint_now().mono - t->since;
	total->n_read += t->n_read;
	total->sum += t->sum;
}

/* ---- as rdmad does ---- */

static int on_name(const struct counter_name *f, void *user)
{
	return 0;
}

static int on_values(const struct counter_values *f, void *user)
{
	struct task *t = user;

	t->n_read += (uint64_t)__builtin_popcountll(f->known);
	for (uint32_t i = 0; i < f->n; i++)
		t->sum += f->values[i];
	return 0;
}

static int on_done(const struct counters_done *f, void *user)
{
	if (f->error)
		errx(1, "port %u: %s", f->port, strerror(-f->error));
	return 0;
}

/* As a lane of a worker does for what is to be done (daemon/worker/probe.c). */
static struct nldev *open_nldev(void)
{
	struct nldev *n;
	int r = sysfs_have_rdma() ? nldev_open(&n) : -EPROTONOSUPPORT;

	if (r < 0)
		errx(1, "RDMA netlink: %s", strerror(-r));
	return n;
}

static void run_reader(struct task *t)
{
	struct counter_sink sink = { on_name, on_values, on_done, t };
	struct counter_reader *readers[PORTS_MAX];
	struct nldev *n = open_nldev();
	uint32_t index;
	int r;

	r = nldev_device_index_by_name(n, t->device, &index);
	if (r < 0)
		errx(1, "%s: %s", t->device, strerror(-r));
	nldev_close(n);
	for (uint32_t p = 0; p < t->ports; p++)
		if (counter_reader_new(t->device, index, p + 1, t->source, &readers[p]) < 0)
			errx(1, "out of memory");
	for (unsigned i = 0; i < t->cycles; i++) {
		n = t->source == COUNTER_HW ? open_nldev() : NULL;
		for (uint32_t p = 0; p < t->ports; p++)
			counter_reader_read(readers[p], n, i * 10 * USEC_PER_SEC, false, &sink);
		nldev_close(n);
		if (i == 0)
			first_cycle_done(t);
	}
	for (uint32_t p = 0; p < t->ports; p++)
		counter_reader_free(readers[p]);
}

/* ---- one file at a time ---- */

static size_t list_files(const struct task *t, char **paths)
{
	size_t n = 0;

	for (uint32_t p = 1; p <= t->ports; p++) {
		char dir[256];
		struct dirent *de;
		DIR *d;

		snprintf(dir, sizeof(dir), "/sys/class/infiniband/%s/ports/%u/%s", t->device, p,
			t->source == COUNTER_PMA ? "counters" : "hw_counters");
		d = opendir(dir);
		if (!d)
			err(1, "%s", dir);
		while ((de = readdir(d)) && n < FILES_MAX)
			if (de->d_name[0] != '.' && !streq(de->d_name, "lifespan") &&
				asprintf(&paths[n++], "%s/%s", dir, de->d_name) < 0)
				errx(1, "out of memory");
		closedir(d);
	}
	return n;
}

static void run_files(struct task *t)
{
	static char *paths[FILES_MAX];
	size_t n = list_files(t, paths);
	char text[64];
	ssize_t length;

	for (unsigned i = 0; i < t->cycles; i++) {
		for (size_t k = 0; k < n; k++) {
			int fd = open(paths[k], O_RDONLY | O_CLOEXEC);

			length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
			if (length <= 0)
				err(1, "%s", paths[k]);
			close(fd);
			text[length] = '\0';
			t->sum += strtoull(text, NULL, 10);
			t->n_read++;
		}
		if (i == 0)
			first_cycle_done(t);
	}
	for (size_t k = 0; k < n; k++)
		free(paths[k]);
}

/* ---- */

static unsigned number(const char *s)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	if (*end || n == 0 || n > 1000000)
		errx(2, "not a number from 1 on: %s", s);
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	struct total *total;
	struct task t;
	int status;

	if (argc < 6)
		errx(2, "bench-counters reader|files hw|pma CYCLES PORTS DEVICE...");
	t.source = streq(argv[2], "pma") ? COUNTER_PMA : COUNTER_HW;
	t.cycles = MAX(number(argv[3]), 2u);
	t.ports = MIN(number(argv[4]), (unsigned)PORTS_MAX);
	total = mmap(
		NULL, sizeof(*total), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (total == MAP_FAILED)
		err(1, "mmap");
	for (int i = 5; i < argc; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (pid == 0) {
			t.device = argv[i];
			t.n_read = t.sum = 0;
			(streq(argv[1], "files") ? run_files : run_reader)(&t);
			add_up(&t, total);
			exit(0);
		}
		/* One after another: so that nobody adds at the same time. */
		if (waitpid(pid, &status, 0) < 0 || status != 0)
			errx(1, "%s failed", argv[i]);
	}
	printf("%llu %llu %llu %llu\n", (unsigned long long)(total->n_read / t.cycles),
		(unsigned long long)(total->cpu / (t.cycles - 1)),
		(unsigned long long)(total->elapsed / (t.cycles - 1)),
		(unsigned long long)(total->sum / t.cycles));
	return 0;
}
