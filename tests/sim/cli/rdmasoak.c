/* SPDX-License-Identifier: MIT */
/*
 * rdmasoak: lets random things happen to simulated adapters for a while, and says what a monitor must
 * have made of it. It is a reference model that is nothing but the sentences of rdmad.conf(5): it knows
 * what it did, and when. What it cannot say for sure, because it would hang on how soon a monitor looks,
 * it does not do: an action keeps away from the moments at which time alone changes a condition.
 *
 * Usage: rdmasoak config SLOW                      the rdmad.conf that goes with it
 *        rdmasoak run SEED DEVICES SECONDS SLOW    actions to standard error, and then what is expected:
 *
 *   standing GUID REASON     conditions at the end
 *   falls GUID N             of a port that is there: how often it went down
 *   unsure GUID              nothing: this machine was too slow
 *   told GUID REASON N       how many records say that it began; of falls, where no storm kept them back
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEVICES_MAX 64
#define FALLS_MAX   4096
#define NEVER       INT64_MAX

/* Times of the configuration, in ms: those by default, by a hundred. */
#define GRACE   2000
#define MISSING 3000
#define STABLE  6000
#define WINDOW  36000
#define FLAPS   3
/* Those that are no keys. */
#define FATAL 5000
#define LOW   30000
/* How long before and after such a moment nothing is done to a device. Readings come every 1 to 2 s. */
#define BEFORE 1000
#define AFTER  3200
/* Between two actions on a device; before the end, so that all is settled there. */
#define GAP    3000
#define SETTLE 14000

enum link { UP, DOWN, INIT };

struct dev {
	unsigned nr;
	char name[16];
	bool renamed;
	bool known; /* somebody holds a context, and has read its counters twice */
	bool there;
	enum link link;
	bool narrow;
	bool low, flapping, fatal, missing, no_sm; /* conditions that time brings */
	int64_t low_at, stable_at, fatal_at, missing_at, no_sm_at, burst;
	int64_t born, last_edge, floor;
	int64_t falls[FALLS_MAX];
	unsigned n_falls;
	bool down;   /* port-down stands */
	bool unsure; /* this machine was so slow that nobody knows when something happened */
	int64_t next;
	bool stormy; /* it was flapping once: the journal was spared */
	unsigned n_down, n_no_sm, n_blip, n_flapping, n_fatal, n_missing, n_low, n_errors;
};

static struct dev devs[DEVICES_MAX];
static unsigned n_devs;
static int control;
static int64_t slow = 1, start, end;
static uint64_t seed;
static unsigned n_actions;

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* xorshift64: the same sequence everywhere. */
static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

static void sim(const char *fmt, ...)
{
	char line[256], reason[256];
	ssize_t n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "%7.2f %s\n", (double)(now_ms() - start) / 1000, line);
	if (write(control, line, strlen(line)) >= 0)
		return;
	fprintf(stderr, "rdmasoak: %s: %s", line, strerror(errno));
	n = read(control, reason, sizeof(reason) - 1);
	fprintf(stderr, ": %.*s\n", n > 0 ? (int)n : 0, reason);
	exit(1);
}

/* ---- the model ---- */

static void at(bool *condition, int64_t *when, int64_t now, unsigned *told)
{
	if (now < *when)
		return;
	*when = NEVER;
	*condition = true;
	(*told)++;
}

/* What time alone has brought by now. */
static void pass(struct dev *d, int64_t now)
{
	if (now >= d->stable_at) {
		d->flapping = false;
		d->floor = d->stable_at;
		d->stable_at = NEVER;
	}
	at(&d->low, &d->low_at, now, &d->n_low);
	at(&d->fatal, &d->fatal_at, now, &d->n_fatal);
	at(&d->missing, &d->missing_at, now, &d->n_missing);
	at(&d->no_sm, &d->no_sm_at, now, &d->n_no_sm);
	if (d->no_sm)
		d->down = false;
}

/* The first moment from then on at which nothing of this device hangs on a second more or less. */
static int64_t clear_of_doubt(const struct dev *d, int64_t then)
{
	int64_t moments[5 + FALLS_MAX] = { d->stable_at, d->low_at, d->fatal_at, d->missing_at,
		d->no_sm_at };
	unsigned n = 5;
	bool moved;

	for (unsigned i = 0; i < d->n_falls; i++)
		moments[n++] = d->falls[i] + WINDOW * slow;
	do {
		moved = false;
		for (unsigned i = 0; i < n; i++)
			if (moments[i] != NEVER && then > moments[i] - BEFORE * slow &&
				then < moments[i] + AFTER * slow) {
				then = moments[i] + AFTER * slow;
				moved = true;
			}
	} while (moved);
	return then;
}

static void edge(struct dev *d, int64_t now)
{
	d->last_edge = now;
	d->stable_at = d->flapping ? now + STABLE * slow : NEVER;
}

static void count_fall(struct dev *d, int64_t now)
{
	unsigned n = 0;

	if (d->n_falls == FALLS_MAX) {
		fprintf(stderr, "rdmasoak: more than %d falls of a port\n", FALLS_MAX);
		exit(1);
	}
	d->falls[d->n_falls++] = now;
	for (unsigned i = 0; i < d->n_falls; i++)
		n += d->falls[i] >= d->floor && now - d->falls[i] <= WINDOW * slow;
	if (!d->flapping && n >= FLAPS) {
		d->flapping = d->stormy = true;
		d->n_flapping++;
	}
	edge(d, now);
}

/* A port that is not ACTIVE has no speed. */
static void forget_rate(struct dev *d)
{
	d->low = false;
	d->low_at = NEVER;
}

static void set_link(struct dev *d, enum link link, int64_t now)
{
	enum link was = d->link;

	d->link = link;
	d->no_sm = false;
	d->no_sm_at = link == INIT ? now + GRACE * slow : NEVER;
	if (was == UP) {
		count_fall(d, now);
		forget_rate(d);
	}
	if (link == UP) {
		edge(d, now);
		if (d->narrow)
			d->low_at = now + LOW;
	}
	/* A port that comes back to INIT is down as before, for GraceSec=. */
	d->n_down += link == DOWN && !d->down;
	d->down = link == DOWN || (link == INIT && d->down);
}

static void forget_all(struct dev *d)
{
	d->there = d->narrow = d->low = d->flapping = d->fatal = d->missing = d->no_sm = false;
	d->down = false;
	d->low_at = d->stable_at = d->fatal_at = d->missing_at = d->no_sm_at = NEVER;
	d->burst = 0;
	d->n_falls = 0;
	d->floor = 0;
}

/* ---- what happens ---- */

static void go(struct dev *d, int64_t now)
{
	sim("destroy %s", d->name);
	forget_all(d);
	d->missing_at = now + MISSING * slow;
}

static void come(struct dev *d, enum link link, int64_t now)
{
	forget_all(d);
	snprintf(d->name, sizeof(d->name), "s%u", d->nr);
	d->renamed = d->known = false;
	d->there = true;
	d->link = link;
	d->born = now;
	d->down = link == DOWN;
	d->n_down += d->down;
	sim("create %s node_guid=0x%x adapter=card%u%s", d->name, 0x1000 + d->nr, d->nr / 2,
		link == DOWN ? " state=DOWN phys=Polling" : "");
}

static void rename_it(struct dev *d)
{
	char command[64], name[16];

	snprintf(name, sizeof(name), "%c%u", d->renamed ? 's' : 't', d->nr);
	snprintf(command, sizeof(command), "rdma dev set %s name %s", d->name, name);
	fprintf(stderr, "%7.2f %s\n", (double)(now_ms() - start) / 1000, command);
	if (system(command) != 0)
		exit(1);
	d->renamed = !d->renamed;
	memcpy(d->name, name, sizeof(name));
}

static void fall(struct dev *d, int64_t now)
{
	switch (below(3)) {
	case 0:
		sim("event %s/1 PORT_ERR apply=1", d->name);
		break;
	case 1: /* and nobody tells */
		sim("port %s/1 state=DOWN phys=Polling", d->name);
		sim("counter %s/1 link_downed +1", d->name);
		break;
	case 2:
		sim("port %s/1 state=INIT phys=LinkUp sm_lid=0", d->name);
		sim("event %s/1 LID_CHANGE", d->name);
		set_link(d, INIT, now);
		return;
	}
	set_link(d, DOWN, now);
}

static void rise(struct dev *d, int64_t now)
{
	if (below(3)) {
		sim("event %s/1 PORT_ACTIVE apply=1", d->name);
	} else {
		sim("port %s/1 state=ACTIVE phys=LinkUp", d->name);
	}
	set_link(d, UP, now);
}

/* As mlx5 does it: with a PORT_ERR that is no fall. */
static void train(struct dev *d, int64_t now)
{
	sim("port %s/1 state=INIT phys=LinkUp sm_lid=0", d->name);
	sim("event %s/1 PORT_ERR", d->name);
	set_link(d, INIT, now);
}

/* It was not ACTIVE: no fall either. */
static void lose(struct dev *d, int64_t now)
{
	sim("port %s/1 state=DOWN phys=Polling", d->name);
	sim("event %s/1 PORT_ERR", d->name);
	set_link(d, DOWN, now);
}

static void blip(struct dev *d, int64_t now)
{
	/* Whether the port was up between two readings of the counter is not sure soon after. */
	if (below(2) || now - d->last_edge < 2 * GAP * slow)
		sim("event %s/1 PORT_ERR", d->name);
	sim("counter %s/1 link_downed +1", d->name);
	count_fall(d, now);
	d->n_blip++;
}

static void resize(struct dev *d, int64_t now)
{
	d->narrow = !d->narrow;
	sim("port %s/1 width=%s", d->name, d->narrow ? "2X" : "4X");
	forget_rate(d);
	if (d->narrow)
		d->low_at = now + LOW;
}

/* A hundred errors at once, if it is sure whether that is over at the end. */
static void burst(struct dev *d, int64_t now)
{
	if (d->burst || (end - now > 10000 * slow && end - now < 50000 * slow))
		return;
	sim("counter %s/1 symbol_error +100", d->name);
	d->burst = now;
	d->n_errors++;
}

static void die(struct dev *d, int64_t now)
{
	if (d->fatal || d->fatal_at != NEVER)
		return;
	sim("event %s DEVICE_FATAL", d->name);
	d->fatal_at = now + FATAL;
}

static void act_up(struct dev *d, int64_t now)
{
	bool restless = d->nr % 2;

	switch (below(restless ? 5 : 12)) {
	case 0:
	case 1:
		fall(d, now);
		break;
	case 2:
	case 3:
	case 4:
		blip(d, now);
		break;
	case 5:
		rename_it(d);
		break;
	case 6:
		go(d, now);
		break;
	case 7:
		die(d, now);
		break;
	case 8:
	case 9:
		burst(d, now);
		break;
	default:
		resize(d, now);
		break;
	}
}

static void act(struct dev *d, int64_t now)
{
	n_actions++;
	pass(d, now);
	if (!d->there)
		come(d, below(4) ? UP : DOWN, now);
	else if (d->link == UP)
		act_up(d, now);
	else if (below(6) == 0)
		rename_it(d);
	else if (below(8) == 0)
		go(d, now);
	else if (d->link == DOWN && below(3) == 0)
		train(d, now);
	else if (d->link == INIT && below(4) == 0)
		lose(d, now);
	else
		rise(d, now);
}

/* Each file of counters/ that is read is a MAD: more than 20 at a time. */
#define MADS_OF_TWO_READINGS 50

/* Whether a monitor can have learned of all that happens to it from now on. */
static bool is_known(struct dev *d)
{
	static char list[DEVICES_MAX * 1024];
	char key[32];
	const char *at, *contexts, *mads;
	size_t n = 0;
	ssize_t r;
	int fd;

	if (d->known || !d->there)
		return true;
	fd = open("/dev/rdmasim", O_RDONLY | O_CLOEXEC);
	while (n < sizeof(list) - 1 && (r = read(fd, list + n, sizeof(list) - 1 - n)) > 0)
		n += (size_t)r;
	close(fd);
	list[n] = '\0';
	snprintf(key, sizeof(key), "device %s ", d->name);
	at = strstr(list, key);
	contexts = at ? strstr(at, " contexts=") : NULL;
	mads = at ? strstr(at, " n_counters=") : NULL;
	d->known = contexts && mads && atoi(contexts + strlen(" contexts=")) > 0 &&
		   atoi(mads + strlen(" n_counters=")) >= MADS_OF_TWO_READINGS;
	return d->known;
}

/* When something happens to it next: soon, or after a while of peace. */
static void plan(struct dev *d, int64_t now)
{
	int64_t gap = GAP + below(2000);

	if (below(4) == 0)
		gap += 8000;
	if (d->there && d->born == now)
		gap += 3000; /* a monitor has to get to know it */
	d->next = clear_of_doubt(d, now + gap * slow);
}

static struct dev *first_due(void)
{
	struct dev *first = &devs[0];

	for (unsigned i = 1; i < n_devs; i++)
		if (devs[i].next < first->next)
			first = &devs[i];
	return first;
}

static void sleep_until(int64_t then)
{
	int64_t ms = then - now_ms();
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	if (ms > 0)
		nanosleep(&ts, NULL);
}

/* ---- what is expected ---- */

static void say(const struct dev *d, const char *what, const char *reason, bool when)
{
	if (when)
		printf("%s 0000:0000:0000:%04x %s\n", what, 0x1000 + d->nr, reason);
}

static void say_told(const struct dev *d, const char *reason, unsigned n)
{
	if (n)
		printf("told 0000:0000:0000:%04x %s %u\n", 0x1000 + d->nr, reason, n);
}

static void conclude(struct dev *d)
{
	if (d->unsure) {
		printf("unsure 0000:0000:0000:%04x\n", 0x1000 + d->nr);
		return;
	}
	pass(d, end);
	say(d, "standing", "device-missing", d->missing);
	say(d, "standing", "device-fatal", d->fatal);
	say(d, "standing", "port-down", d->down);
	say(d, "standing", "no-subnet-manager", d->no_sm);
	say(d, "standing", "link-flapping", d->flapping);
	say(d, "standing", "width-degraded", d->low);
	say(d, "standing", "link-errors", d->burst && end - d->burst < 30000 * slow);
	if (d->there)
		printf("falls 0000:0000:0000:%04x %u\n", 0x1000 + d->nr, d->n_falls);
	say_told(d, "device-missing", d->n_missing);
	say_told(d, "device-fatal", d->n_fatal);
	say_told(d, "link-flapping", d->n_flapping);
	say_told(d, "width-degraded", d->n_low);
	say_told(d, "link-errors", d->n_errors);
	if (d->stormy)
		return;
	say_told(d, "port-down", d->n_down);
	say_told(d, "no-subnet-manager", d->n_no_sm);
	say_told(d, "link-blip", d->n_blip);
}

static int run(void)
{
	int64_t now, stop;
	struct dev *d;

	control = open("/dev/rdmasim", O_RDWR | O_CLOEXEC);
	if (control < 0) {
		perror("/dev/rdmasim");
		return 1;
	}
	start = now_ms();
	stop = start + end;
	end = stop + SETTLE * slow;
	for (unsigned i = 0; i < n_devs; i++) {
		devs[i].nr = i;
		come(&devs[i], UP, start);
		plan(&devs[i], start + below(3000) * slow);
		/* rdmad is started, and has to see all */
		devs[i].next += 3000 * slow;
	}
	while ((d = first_due())->next < stop) {
		sleep_until(d->next);
		now = now_ms();
		/* This machine may be late, and what was sure is no more. */
		d->next = clear_of_doubt(d, now);
		if (!is_known(d))
			d->next = now + 500;
		if (d->next > now)
			continue;
		act(d, now);
		if (now_ms() - now > (AFTER - BEFORE) * slow) {
			fprintf(stderr, "rdmasoak: %s: that took %lld ms\n", d->name,
				(long long)(now_ms() - now));
			d->unsure = true;
		}
		plan(d, now);
	}
	sleep_until(end);
	fprintf(stderr, "rdmasoak: %u actions\n", n_actions);
	for (unsigned i = 0; i < n_devs; i++)
		conclude(&devs[i]);
	return 0;
}

static void print_config(void)
{
	printf("[Daemon]\nProbeTimeoutSec=30s\nProbeSec=1s\nCounterSec=1s\nSlowCounterSec="
	       "1s\nGraceSec=%lldms\n"
	       "[Health]\nFlapCount=%d\nFlapWindowSec=%lldms\nStableSec=%lldms\nMissingDelaySec=%"
	       "lldms\n"
	       "[Port *]\nExpect=up\n"
	       "[Counter symbol_error]\nThreshold=10/min\nWindow=5s\n",
		(long long)(GRACE * slow), FLAPS, (long long)(WINDOW * slow),
		(long long)(STABLE * slow), (long long)(MISSING * slow));
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "config") == 0) {
		slow = atoll(argv[2]);
		print_config();
		return 0;
	}
	if (argc != 6 || strcmp(argv[1], "run") != 0) {
		fprintf(stderr, "usage: rdmasoak config SLOW | run SEED DEVICES SECONDS SLOW\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
	n_devs = (unsigned)atoi(argv[3]);
	end = atoll(argv[4]) * 1000;
	slow = atoll(argv[5]);
	if (n_devs < 1 || n_devs > DEVICES_MAX || slow < 1)
		return 2;
	return run();
}
