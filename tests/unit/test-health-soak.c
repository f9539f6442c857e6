/* SPDX-License-Identifier: MIT */
/*
 * An hour of a fake clock on 32 ports that fall and come back at random, with readings that are late,
 * merged and between the falls, and events that get lost: judged as the daemon does it, and beside
 * that by a model that is nothing but the sentences of rdmad.conf(5). At every moment both have to
 * say the same.
 */
#include "health-world.h"

#define PORTS    32
#define HOUR     USEC_PER_HOUR
#define PROBE    (30 * USEC_PER_SEC)
#define FALLS    4096
#define NO_EVENT USEC_INFINITY

/* One port as it really is, and as the plain model sees it. */
struct link {
	struct port *port;
	/* the truth */
	bool up;
	usec_t changes_at;
	bool event_lost; /* of the fall that it is in */
	/* the manager's part: one reading at a time */
	usec_t read_at; /* NO_EVENT: none is on its way */
	bool again;
	usec_t probe_at;
	/* the plain model */
	bool seen_up;
	usec_t falls[FALLS]; /* when each was counted */
	size_t n_falls;
	usec_t last_edge, floor;
	bool flapping;
	usec_t recheck_at;
	/* told */
	unsigned downs_raised, downs_seen;
};

static uint64_t seed;

/* xorshift64: the same sequence everywhere. */
static usec_t between(usec_t min, usec_t max)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return min + seed % (max - min + 1);
}

/* Most of the time quiet; now and then a restless quarter of an hour. */
static usec_t next_change(const struct link *l, usec_t now)
{
	bool restless = (now / (15 * USEC_PER_MINUTE) + l->port->number) % 4 == 0;

	/* A reading that was first keeps what follows within 2 s from being a second fall. */
	if (l->up && l->event_lost)
		return now + between(3 * USEC_PER_SEC, USEC_PER_MINUTE);
	if (l->up)
		return now + (restless ? between(USEC_PER_SEC / 5, 20 * USEC_PER_SEC)
				       : between(10 * USEC_PER_SEC, 20 * USEC_PER_MINUTE));
	return now + between(USEC_PER_MSEC, between(0, 3) ? USEC_PER_SEC : USEC_PER_MINUTE);
}

static void ask(struct link *l, usec_t now)
{
	if (l->read_at != NO_EVENT)
		l->again = true;
	else
		l->read_at = now + between(10 * USEC_PER_MSEC, 400 * USEC_PER_MSEC);
}

static void count_fall(struct link *l, usec_t now)
{
	assert_true(l->n_falls < FALLS);
	l->falls[l->n_falls++] = now;
	l->last_edge = now;
}

static void change(struct link *l, usec_t now)
{
	l->up = !l->up;
	if (!l->up) {
		/* Two falls of which one has an event are one to whoever was not there: an event
		 * gets lost only when what was before is settled. */
		l->event_lost = l->read_at == NO_EVENT && between(0, 9) == 0;
		if (!l->event_lost)
			port_note_downs(l->port, 1, now);
	}
	if (l->up || !l->event_lost)
		ask(l, now);
	l->changes_at = next_change(l, now);
}

/* Falls that events told of are counted with the reading that settles them. */
static void read_port(struct world *w, struct link *l, uint32_t *pending)
{
	struct port_facts f = port_facts_unknown(l->port->device->facts.index, l->port->number);
	bool settle = !l->again;

	f.link_layer = IB;
	f.state = l->up ? PORT_STATE_ACTIVE : PORT_STATE_DOWN;
	f.phys_state = l->up ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	port_see(l->port, &f, settle, world_now(w));
	l->read_at = NO_EVENT;
	l->again = false;

	if (!l->up && l->seen_up) {
		l->downs_seen++;
		/* This is one of those that were told of, or one of its own. */
		if (*pending)
			(*pending)--;
		count_fall(l, w->now);
	} else if (l->up && !l->seen_up) {
		l->last_edge = w->now;
	}
	l->seen_up = l->up;
	if (settle)
		for (; *pending; (*pending)--)
			count_fall(l, w->now);
	else
		ask(l, w->now);
}

/* FlapCount= falls within FlapWindowSec= make it flapping, StableSec= without an edge end that. */
static void judge_plainly(const struct world *w, struct link *l)
{
	const struct config *c = w->config;
	size_t n = 0;

	if (l->flapping && w->now >= l->last_edge + c->stable_usec) {
		l->flapping = false;
		l->floor = w->now;
	}
	for (size_t i = 0; i < l->n_falls; i++)
		if (l->falls[i] >= l->floor && w->now - l->falls[i] <= c->flap_window_usec)
			n++;
	if (n >= c->flap_count)
		l->flapping = true;
}

static void judge(struct world *w, struct link *l)
{
	bool was_down = port_reason(l->port, REASON_PORT_DOWN) != NULL, is_down;
	usec_t recheck = USEC_INFINITY;

	judge_port(&w->model, l->port, w->config, world_now(w), NULL, &recheck);
	l->recheck_at = recheck;
	judge_plainly(w, l);

	is_down = port_reason(l->port, REASON_PORT_DOWN) != NULL;
	l->downs_raised += is_down && !was_down;
	assert_int_equal(is_down, !l->seen_up);
	assert_int_equal(l->port->flap_count, l->n_falls);
	if ((port_reason(l->port, REASON_LINK_FLAPPING) != NULL) != l->flapping)
		fail_msg("port %u at %llu ms: flapping is %d, should be %d", l->port->number,
			(unsigned long long)(w->now / USEC_PER_MSEC), !l->flapping, l->flapping);
}

/* The next moment at which anything happens to it. */
static usec_t due(const struct link *l)
{
	usec_t t = MIN(l->changes_at, l->probe_at);

	return MIN(t, MIN(l->read_at, l->recheck_at));
}

static void step(struct world *w, struct link *l, uint32_t *pending)
{
	if (w->now >= l->changes_at) {
		change(l, w->now);
		if (!l->up && !l->event_lost)
			(*pending)++;
	}
	if (w->now >= l->probe_at) {
		ask(l, w->now);
		l->probe_at = w->now + PROBE;
	}
	if (w->now >= l->read_at) {
		read_port(w, l, pending);
		judge(w, l);
	} else if (w->now >= l->recheck_at) {
		judge(w, l);
	}
}

static void soak(uint64_t with_seed)
{
	static const char config[] = "[Port *]\nExpect=up\n[Health]\nFlapCount=3\n"
				     "FlapWindowSec=5min\nStableSec=2min\n";
	static struct link links[PORTS];
	static uint32_t pending[PORTS];
	struct device_facts facts = { .node_guid = 0xabc };
	size_t falls = 0, flaps = 0;
	struct device *d;
	struct world w;
	usec_t end;

	seed = with_seed;
	world_begin(&w, config);
	end = w.now + HOUR;
	d = world_device(&w, "mlx5_0", &facts, 1, PORTS);
	for (unsigned i = 0; i < PORTS; i++) {
		struct link *l = &links[i];

		*l = (struct link){ .port = &d->ports[i], .up = true, .seen_up = true };
		world_read(&w, l->port, ACTIVE, IB);
		l->last_edge = w.now;
		l->read_at = NO_EVENT;
		l->probe_at = w.now + between(0, PROBE);
		l->changes_at = next_change(l, w.now);
		pending[i] = 0;
		judge(&w, l);
	}
	while (w.now < end) {
		size_t first = 0;

		for (size_t i = 1; i < PORTS; i++)
			if (due(&links[i]) < due(&links[first]))
				first = i;
		w.now = MAX(w.now, due(&links[first]));
		step(&w, &links[first], &pending[first]);
		flaps += links[first].flapping;
	}
	for (size_t i = 0; i < PORTS; i++) {
		assert_int_equal(links[i].downs_raised, links[i].downs_seen);
		falls += links[i].n_falls;
	}
	/* It was no quiet hour: what is compared must have happened. */
	assert_true(falls > 500);
	assert_true(flaps > 100);
	world_end(&w);
}

static void test_soak(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 20; i++)
		soak(i * 0x9e3779b97f4a7c15);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_soak) };

	return cmocka_run_group_tests_name("health-soak", tests, NULL, NULL);
}
