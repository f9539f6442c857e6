/* SPDX-License-Identifier: MIT */
/* The pool of workers against one that misbehaves as it is told: fake-worker.c. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "pool.h"

#define TIMEOUT (400 * USEC_PER_MSEC)

struct rig {
	sd_event *event;
	struct pool *pool;
	struct device_facts device;
	unsigned ports, details, watched, events, lost;
	unsigned port_settings, device_settings;
	unsigned lates, silents, answers; /* silence() */
	unsigned slow_lates, slow_answers;
	uint32_t order[8]; /* ports in the order of their answers */
	bool ask_after_loss;
	int asked; /* result of asking out of lost() */
};

static void on_device(const struct device_facts *f, void *user)
{
	(void)f;
	(void)user;
}

static void on_listed(const struct pool_listing *l, void *user)
{
	(void)l;
	(void)user;
}

static void on_port(const struct port_facts *f, void *user)
{
	struct rig *rig = user;

	if (rig->ports < ARRAY_SIZE(rig->order))
		rig->order[rig->ports] = f->number;
	rig->ports++;
}

static void on_details(const struct device_details *f, void *user)
{
	(void)f;
	((struct rig *)user)->details++;
}

static void on_settings(const struct setting_facts *f, void *user)
{
	struct rig *rig = user;

	assert_int_equal(f->device_index, rig->device.index);
	if (f->port)
		assert_int_equal(f->port, ++rig->port_settings);
	else
		rig->device_settings++;
}

static void on_watched(uint32_t device_index, int result, void *user)
{
	(void)device_index;
	assert_int_equal(result, 0);
	((struct rig *)user)->watched++;
}

static void on_event(const struct pool_event *e, void *user)
{
	(void)e;
	((struct rig *)user)->events++;
}

static void on_silence(const char *adapter, enum pool_silence silence, void *user)
{
	struct rig *rig = user;

	assert_string_equal(adapter, rig->device.adapter);
	if (silence == POOL_LATE)
		rig->lates++;
	else if (silence == POOL_SILENT)
		rig->silents++;
	else
		rig->answers++;
}

static void on_slow(const char *adapter, bool late, void *user)
{
	struct rig *rig = user;

	assert_string_equal(adapter, rig->device.adapter);
	if (late)
		rig->slow_lates++;
	else
		rig->slow_answers++;
}

static void on_lost(const char *adapter, void *user)
{
	struct rig *rig = user;

	assert_string_equal(adapter, rig->device.adapter);
	rig->lost++;
	if (rig->ask_after_loss)
		rig->asked = pool_read_port(rig->pool, &rig->device, 1);
}

static struct rig *rig_new(const char *behaviour)
{
	static const struct pool_callbacks cb = {
		.device = on_device,
		.listed = on_listed,
		.port = on_port,
		.details = on_details,
		.settings = on_settings,
		.watched = on_watched,
		.event = on_event,
		.silence = on_silence,
		.slow = on_slow,
		.lost = on_lost,
	};
	struct rig *rig = calloc(1, sizeof(*rig));
	const char *worker = getenv("FAKE_WORKER");

	assert_non_null(rig);
	assert_non_null(worker);
	rig->device.index = 1;
	rig->device.port_count = 1;
	STRSCPY(rig->device.name, "mlx5_0");
	STRSCPY(rig->device.adapter, behaviour);
	assert_int_equal(sd_event_new(&rig->event), 0);
	assert_int_equal(pool_new(rig->event, worker, &cb, rig, &rig->pool), 0);
	pool_set_timeout(rig->pool, TIMEOUT);
	assert_true(sd_event_run(rig->event, 0) >= 0); /* now there is a "now" */
	return rig;
}

static void rig_free(struct rig *rig)
{
	pool_free(rig->pool);
	sd_event_unref(rig->event);
	free(rig);
}

/* Lets the loop turn until *count is at least n, or time is up. */
static void turn_until(struct rig *rig, const unsigned *count, unsigned n, usec_t limit)
{
	usec_t end = timepoint_now().mono + limit;

	while (*count < n && timepoint_now().mono < end)
		assert_true(sd_event_run(rig->event, 10 * USEC_PER_MSEC) >= 0);
}

static void turn_for(struct rig *rig, usec_t span)
{
	unsigned never = 0;

	turn_until(rig, &never, 1, span);
}

static void ask_ports(struct rig *rig, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		assert_int_equal(pool_read_port(rig->pool, &rig->device, i), 0);
}

static void test_answers(void **state)
{
	struct rig *rig = rig_new("good");

	(void)state;
	ask_ports(rig, 2);
	assert_int_equal(pool_watch(rig->pool, &rig->device, false), 0);
	assert_int_equal(pool_read_details(rig->pool, &rig->device), 0);
	assert_int_equal(rig->ports + rig->details + rig->watched, 0); /* not out of the request */
	turn_until(rig, &rig->details, 1, 5 * USEC_PER_SEC);
	turn_for(rig, 3 * TIMEOUT);
	assert_int_equal(rig->ports, 2);
	assert_int_equal(rig->watched, 1);
	assert_int_equal(rig->details, 1);
	/* Who is asked nothing is not late. */
	assert_int_equal(rig->lates + rig->silents + rig->slow_lates + rig->lost, 0);
	rig_free(rig);
}

static void test_out_of_order(void **state)
{
	struct rig *rig = rig_new("backwards");

	(void)state;
	ask_ports(rig, 3);
	turn_until(rig, &rig->ports, 3, 5 * USEC_PER_SEC);
	turn_for(rig, 3 * TIMEOUT);
	assert_int_equal(rig->ports, 3);
	assert_int_equal(rig->order[0], 3);
	assert_int_equal(rig->order[2], 1);
	assert_int_equal(rig->lost, 0);
	/* The list of requests is whole: */
	ask_ports(rig, 3);
	turn_until(rig, &rig->ports, 6, 5 * USEC_PER_SEC);
	assert_int_equal(rig->ports, 6);
	rig_free(rig);
}

static void test_hangs(void **state)
{
	struct rig *rig = rig_new("hangs");
	usec_t t0 = timepoint_now().mono, t;

	(void)state;
	rig->ask_after_loss = true;
	ask_ports(rig, 1);
	turn_until(rig, &rig->lates, 1, 5 * USEC_PER_SEC);
	t = timepoint_now().mono - t0;
	assert_int_equal(rig->lates, 1);
	assert_true(t >= TIMEOUT);
	assert_int_equal(rig->lost, 0);
	turn_until(rig, &rig->lost, 1, 5 * USEC_PER_SEC);
	t = timepoint_now().mono - t0;
	assert_true(t >= 2 * TIMEOUT);
	assert_int_equal(rig->silents, 1);
	assert_int_equal(rig->lost, 1);
	assert_int_equal(rig->asked, -EBUSY);
	/* Dead, but not sooner than 2 s after its start is there another one. */
	rig->ask_after_loss = false;
	turn_for(rig, USEC_PER_SEC / 2);
	assert_int_equal(pool_read_port(rig->pool, &rig->device, 1), -EBUSY);
	turn_for(rig, 2 * USEC_PER_SEC);
	assert_int_equal(pool_read_port(rig->pool, &rig->device, 1), 0);
	assert_int_equal(rig->answers, 0); /* it has not answered yet */
	rig_free(rig);
}

static void test_late_then_answers(void **state)
{
	struct rig *rig = rig_new("600ms");

	(void)state;
	ask_ports(rig, 1);
	turn_until(rig, &rig->ports, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->ports, 1);
	assert_int_equal(rig->lates, 1);
	assert_int_equal(rig->answers, 1);
	assert_int_equal(rig->silents + rig->lost, 0);
	rig_free(rig);
}

/* Waiting behind others is not being late: 60 x 30 ms are 4.5 deadlines. */
static void test_progress(void **state)
{
	struct rig *rig = rig_new("30ms");

	(void)state;
	ask_ports(rig, 60);
	turn_until(rig, &rig->ports, 60, 10 * USEC_PER_SEC);
	assert_int_equal(rig->ports, 60);
	assert_int_equal(rig->lates + rig->silents + rig->lost, 0);
	rig_free(rig);
}

/* Settings come port by port, and the device ends them. */
static void test_settings(void **state)
{
	struct rig *rig = rig_new("good");

	(void)state;
	rig->device.port_count = 3;
	assert_int_equal(pool_read_settings(rig->pool, &rig->device, true), 0);
	turn_until(rig, &rig->device_settings, 1, 5 * USEC_PER_SEC);
	turn_for(rig, 2 * TIMEOUT);
	assert_int_equal(rig->port_settings, 3);
	assert_int_equal(rig->device_settings, 1);
	assert_int_equal(rig->slow_lates, 0);

	/* By the scout, of a device that is not watched. */
	rig->port_settings = 0;
	assert_int_equal(pool_read_settings(rig->pool, &rig->device, false), 0);
	turn_until(rig, &rig->device_settings, 2, 5 * USEC_PER_SEC);
	assert_int_equal(rig->port_settings, 3);
	rig_free(rig);

	/* An answer without its end is none. */
	rig = rig_new("halfway");
	rig->device.port_count = 2;
	assert_int_equal(pool_read_settings(rig->pool, &rig->device, true), 0);
	turn_until(rig, &rig->slow_lates, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->port_settings, 2);
	assert_int_equal(rig->slow_lates, 1);
	rig_free(rig);
}

/* What is slow is told, never killed, and is in nobody's way. */
static void test_slow_lane(void **state)
{
	struct rig *rig = rig_new("slow");
	struct device_facts last = rig->device;

	(void)state;
	last.index = 99;
	assert_int_equal(pool_read_details(rig->pool, &rig->device), 0);
	turn_until(rig, &rig->slow_lates, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->slow_lates, 1);
	assert_int_equal(pool_read_details(rig->pool, &rig->device), 0);
	turn_for(rig, 4 * TIMEOUT);
	assert_int_equal(rig->slow_lates, 1);
	assert_int_equal(rig->lost, 0);
	ask_ports(rig, 2);
	turn_until(rig, &rig->ports, 2, 5 * USEC_PER_SEC);
	assert_int_equal(rig->ports, 2);
	assert_int_equal(rig->lates + rig->silents, 0);
	assert_int_equal(rig->slow_answers, 0); /* of the other lane */
	pool_forget(rig->pool, &last);
	turn_until(rig, &rig->details, 2, 5 * USEC_PER_SEC);
	assert_int_equal(rig->details, 2);
	assert_int_equal(rig->slow_answers, 1);
	rig_free(rig);
}

/* It was late, it died, its successor answers: nobody is late any more. */
static void test_slow_and_lost(void **state)
{
	struct rig *rig = rig_new("slow");
	struct device_facts last = rig->device;

	(void)state;
	last.index = 99;
	assert_int_equal(pool_read_details(rig->pool, &rig->device), 0);
	turn_until(rig, &rig->slow_lates, 1, 5 * USEC_PER_SEC);
	assert_int_equal(kill(0, SIGUSR1), 0); /* all of this group: the fake does not survive it */
	turn_until(rig, &rig->lost, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->lost, 1);
	assert_int_equal(rig->slow_answers, 0);
	turn_for(rig, 2 * USEC_PER_SEC);
	assert_int_equal(pool_read_details(rig->pool, &rig->device), 0);
	pool_forget(rig->pool, &last);
	turn_until(rig, &rig->details, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->details, 1);
	assert_int_equal(rig->slow_lates, 1);
	assert_int_equal(rig->slow_answers, 1);
	rig_free(rig);
}

static void test_dies(void **state)
{
	struct rig *rig = rig_new("dies");

	(void)state;
	rig->ask_after_loss = true;
	rig->asked = 0;
	ask_ports(rig, 1);
	turn_until(rig, &rig->lost, 1, 5 * USEC_PER_SEC);
	turn_for(rig, USEC_PER_SEC);
	assert_int_equal(rig->lost, 1);
	assert_int_equal(rig->asked, -EBUSY);
	assert_int_equal(rig->lates + rig->silents, 0);
	rig_free(rig);
}

static void test_garbage(void **state)
{
	struct rig *rig = rig_new("garbage");

	(void)state;
	ask_ports(rig, 1);
	turn_until(rig, &rig->lost, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->lost, 1);
	assert_int_equal(rig->ports, 0);
	rig_free(rig);
}

static void on_other(sd_event_source *source, uint64_t usec, void *user)
{
	(void)source;
	(void)usec;
	++*(unsigned *)user;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *user)
{
	on_other(source, usec, user);
	sd_event_source_set_time_relative(source, USEC_PER_MSEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* One that talks without end is heard, and others are, too. */
static void test_floods(void **state)
{
	struct rig *rig = rig_new("floods");
	sd_event_source *tick = NULL;
	unsigned ticks = 0;

	(void)state;
	assert_true(sd_event_add_time_relative(
			    rig->event, &tick, CLOCK_MONOTONIC, 0, 1, on_tick, &ticks) >= 0);
	ask_ports(rig, 1);
	turn_until(rig, &rig->ports, 1, 20 * USEC_PER_SEC);
	assert_int_equal(rig->ports, 1);
	assert_int_equal(rig->events, 5000);
	assert_true(ticks > 3);
	assert_int_equal(rig->lost, 0);
	sd_event_source_disable_unref(tick);
	rig_free(rig);
}

/* A worker that does not read for a while: requests are refused, what lets go is not lost. */
static void test_deaf(void **state)
{
	struct rig *rig = rig_new("deaf");
	unsigned sent = 0;
	int r = 0;

	(void)state;
	pool_set_timeout(rig->pool, 5 * USEC_PER_SEC);
	while (sent < 5000 && (r = pool_read_port(rig->pool, &rig->device, 1)) == 0)
		sent++;
	assert_int_equal(r, -EBUSY);
	for (int i = 0; i < 300; i++)
		pool_unwatch(rig->pool, &rig->device);
	assert_int_equal(rig->lost, 0);
	turn_until(rig, &rig->events, 300, 20 * USEC_PER_SEC);
	assert_int_equal(rig->events, 300);
	assert_int_equal(rig->ports, sent);
	assert_int_equal(rig->lost, 0);
	/* and requests are taken again */
	ask_ports(rig, 1);
	turn_until(rig, &rig->ports, sent + 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->ports, sent + 1);
	rig_free(rig);
}

/* Not more than REQUESTS_MAX wait, however fast the worker takes them in. */
static void test_requests_max(void **state)
{
	struct rig *rig = rig_new("hangs");
	unsigned sent = 0;
	int r = 0;

	(void)state;
	pool_set_timeout(rig->pool, 60 * USEC_PER_SEC);
	for (int full = 0; sent < 10000 && full < 1000;) {
		r = pool_read_port(rig->pool, &rig->device, 1);
		if (r == 0) {
			sent++;
			full = 0;
			continue;
		}
		assert_int_equal(r, -EBUSY);
		full++;
		usleep(1000);
	}
	assert_int_equal(sent, 4096);
	rig_free(rig);
}

/* A device that is forgotten owes no answer. */
static void test_forget(void **state)
{
	struct rig *rig = rig_new("hangs");

	(void)state;
	ask_ports(rig, 3);
	pool_forget(rig->pool, &rig->device);
	turn_for(rig, 4 * TIMEOUT);
	assert_int_equal(rig->lates + rig->silents + rig->lost, 0);
	/* Another one of the same adapter does. */
	rig->device.index = 2;
	ask_ports(rig, 1);
	turn_until(rig, &rig->silents, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->silents, 1);
	rig_free(rig);
}

/* An adapter that comes back while its given-up worker is still known is judged from new. */
static void test_dropped(void **state)
{
	struct rig *rig = rig_new("hangs");

	(void)state;
	ask_ports(rig, 1);
	turn_until(rig, &rig->lost, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->silents, 1);
	pool_drop_adapter(rig->pool, rig->device.adapter);
	/* Not reaped yet: it is the same worker that is asked. */
	assert_int_equal(pool_read_port(rig->pool, &rig->device, 1), -EBUSY);
	turn_for(rig, 3 * USEC_PER_SEC);
	ask_ports(rig, 1);
	turn_until(rig, &rig->lost, 2, 5 * USEC_PER_SEC);
	assert_int_equal(rig->lates, 2);
	assert_int_equal(rig->silents, 2);
	rig_free(rig);
}

/* Who did not run itself does not blame the worker. */
static void test_stopped(void **state)
{
	struct rig *rig = rig_new("1200ms");

	(void)state;
	ask_ports(rig, 1);
	usleep(1000000); /* the loop does not turn: more than two deadlines */
	turn_until(rig, &rig->ports, 1, 5 * USEC_PER_SEC);
	assert_int_equal(rig->ports, 1);
	assert_int_equal(rig->lates + rig->silents + rig->lost, 0);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_late_then_answers),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_slow_lane),
		cmocka_unit_test(test_slow_and_lost),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_deaf),
		cmocka_unit_test(test_requests_max),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_stopped),
	};
	sigset_t child;

	/* As rdmad: children are waited for in the loop. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	/* Workers get their defaults back, this process does not mind. */
	signal(SIGUSR1, SIG_IGN);
	setpgid(0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
