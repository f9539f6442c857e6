/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <errno.h>
#include <inttypes.h>

#include "model.h"

static struct timepoint at(usec_t sec)
{
	return (struct timepoint){ .mono = sec * USEC_PER_SEC,
		.real = (1000 + sec) * USEC_PER_SEC };
}

static struct device *see(struct model *m, uint32_t index, const char *name, uint32_t ports)
{
	struct device_facts f = { .index = index, .port_count = ports, .numa_node = -1 };
	struct device *d = NULL;

	STRSCPY(f.name, name);
	assert_true(model_see_device(m, &f, at(1), &d) >= 0);
	assert_non_null(d);
	return d;
}

static struct port_update read_as(struct port *p, int state, bool settle, usec_t sec)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, p->number);

	f.state = state;
	return port_see(p, &f, settle, at(sec));
}

static struct port_update up(struct port *p, bool settle, usec_t sec)
{
	return read_as(p, PORT_STATE_ACTIVE, settle, sec);
}

static struct port_update down(struct port *p, bool settle, usec_t sec)
{
	return read_as(p, PORT_STATE_DOWN, settle, sec);
}

static void test_listing(void **state)
{
	struct model m = { 0 };
	struct device_facts f = { .index = 3, .port_count = 2 };
	struct device *d;

	(void)state;
	model_listing_begin(&m);
	see(&m, 5, "b", 1);
	see(&m, 3, "a", 2);
	assert_string_equal(m.devices->facts.name, "a");
	assert_null(model_next_vanished(&m));

	/* A rename keeps the object and its ports' history. */
	device_port(m.devices, 2)->flap_count = 9;
	STRSCPY(f.name, "fast0");
	assert_int_equal(model_see_device(&m, &f, at(2), &d), DEVICE_RENAMED);
	assert_ptr_equal(d, m.devices);
	assert_int_equal(device_port(d, 2)->flap_count, 9);
	assert_int_equal(model_see_device(&m, &f, at(2), &d), 0);
	assert_ptr_equal(model_device_by_name(&m, "fast0"), d);
	assert_null(model_device_by_name(&m, "a"));

	/* What a listing does not name is gone; what is named stays. */
	model_listing_begin(&m);
	assert_int_equal(model_see_device(&m, &f, at(3), &d), 0);
	d = model_next_vanished(&m);
	assert_non_null(d);
	assert_string_equal(d->facts.name, "b");
	model_remove_device(&m, d);
	assert_null(model_next_vanished(&m));

	f.port_count = RDMA_PORTS_MAX + 1;
	assert_int_equal(model_see_device(&m, &f, at(3), &d), -E2BIG);
	assert_null(device_port(m.devices, 0));
	assert_null(device_port(m.devices, 3));
	model_done(&m);
}

/* RDMA netlink is refused, then answers again: the numbers are others, the devices are not. */
static void test_renumbered(void **state)
{
	struct device_facts f = { .index = DEVICE_INDEX_MADE_UP | 70,
		.port_count = 1,
		.node_guid = 0x10,
		.numa_node = -1,
		.name = "a" };
	struct model m = { 0 };
	struct device *d, *same;

	(void)state;
	model_listing_begin(&m);
	assert_true(model_see_device(&m, &f, at(1), &d) >= 0);
	d->ports[0].flap_count = 9;
	f.index = DEVICE_INDEX_MADE_UP | 60;
	STRSCPY(f.name, "b");
	f.node_guid = 0x11;
	assert_true(model_see_device(&m, &f, at(1), &same) >= 0);

	f.index = 1;
	assert_ptr_equal(model_find_renumbered(&m, &f), same);
	f.node_guid = 0x12; /* another device of that name */
	assert_null(model_find_renumbered(&m, &f));
	STRSCPY(f.name, "a");
	f.node_guid = 0x10;
	assert_ptr_equal(model_find_renumbered(&m, &f), d);
	model_renumber_device(&m, d, f.index);
	assert_ptr_equal(m.devices, d); /* in order of index */
	assert_ptr_equal(d->next, same);
	assert_null(same->next);
	assert_int_equal(d->ports[0].facts.device_index, 1);
	assert_int_equal(d->ports[0].flap_count, 9);
	model_listing_begin(&m);
	assert_int_equal(model_see_device(&m, &f, at(2), &same), 0);
	assert_ptr_equal(same, d);
	/* It has its number now: one of the same kind is another device. */
	f.index = 2;
	assert_null(model_find_renumbered(&m, &f));
	model_done(&m);
}

static void test_netdevs(void **state)
{
	struct netdev_facts f = { .ifindex = 7,
		.have_carrier_counts = true,
		.carrier_down_count = 4,
		.carrier_up_count = 4,
		.carrier = true,
		.name = "d0" };
	struct model m = { 0 };
	uint32_t downs = 99;

	(void)state;
	model_listing_begin(&m);
	assert_int_equal(model_see_netdev(&m, &f, &downs), 1);
	assert_int_equal(downs, 0); /* the first sight is a baseline */
	assert_int_equal(model_see_netdev(&m, &f, &downs), 0);
	f.carrier_down_count = 7;
	f.carrier_up_count = 7;
	assert_int_equal(model_see_netdev(&m, &f, &downs), 1);
	assert_int_equal(downs, 3);
	/* A listing that was overtaken by a notification does not turn the clock back. */
	f.carrier_down_count = 5;
	f.carrier_up_count = 5;
	assert_int_equal(model_see_netdev(&m, &f, &downs), 0);
	assert_int_equal(downs, 0);
	assert_int_equal(model_netdev_by_name(&m, "d0")->facts.carrier_down_count, 7);
	f.gone = true;
	assert_int_equal(model_see_netdev(&m, &f, &downs), 1);
	assert_null(model_netdev_by_index(&m, 7));
	assert_int_equal(model_see_netdev(&m, &f, &downs), 0);
	model_done(&m);
}

static void test_edges(void **state)
{
	struct model m = { 0 };
	struct port_update u;
	struct port *p;

	(void)state;
	p = device_port(see(&m, 0, "r", 1), 1);
	u = up(p, true, 10);
	assert_true(u.went_up && u.changed && !u.went_down);
	assert_int_equal(p->flap_count, 0);
	u = up(p, true, 11);
	assert_true(!u.changed && !u.went_up && !u.blips);
	u = down(p, true, 20);
	assert_true(u.went_down);
	assert_true(u.active_for == 10 * USEC_PER_SEC);
	assert_int_equal(p->flap_count, 1);
	assert_true(p->down_since.mono == at(20).mono);
	u = up(p, true, 30);
	assert_true(u.went_up);
	assert_true(p->down_since.mono == 0);
	model_done(&m);
}

/* Evidence and reading of one and the same edge count once, whichever comes first. */
static void test_evidence(void **state)
{
	struct model m = { 0 };
	struct port_update u;
	struct port *p;

	(void)state;
	p = device_port(see(&m, 0, "r", 1), 1);
	up(p, true, 10);

	/* event, then a reading that shows it */
	port_note_downs(p, 1, at(20).mono);
	u = down(p, true, 20);
	assert_true(u.went_down);
	assert_int_equal(u.blips, 0);
	assert_int_equal(p->flap_count, 1);
	up(p, true, 21);

	/* a reading that shows it, then the event */
	down(p, true, 30);
	port_note_downs(p, 1, at(30).mono);
	u = up(p, true, 31);
	assert_int_equal(u.blips, 0);
	assert_int_equal(p->flap_count, 2);

	/* an event, and every reading says ACTIVE: a blip */
	port_note_downs(p, 1, at(40).mono);
	u = up(p, true, 40);
	assert_int_equal(u.blips, 1);
	assert_int_equal(p->flap_count, 3);
	u = up(p, true, 41);
	assert_int_equal(u.blips, 0);

	/* a reading that was asked for before the event settles nothing */
	port_note_downs(p, 1, at(50).mono);
	u = up(p, false, 50);
	assert_int_equal(u.blips, 0);
	u = down(p, true, 50);
	assert_true(u.went_down);
	assert_int_equal(u.blips, 0);
	assert_int_equal(p->flap_count, 4);
	up(p, true, 51);

	/* five falls, the last one stays: one is shown, four are blips */
	port_note_downs(p, 5, at(60).mono);
	u = down(p, true, 60);
	assert_true(u.went_down);
	assert_int_equal(u.blips, 4);
	assert_int_equal(p->flap_count, 9);

	/* up and down again while down */
	port_note_downs(p, 1, at(65).mono);
	u = down(p, true, 65);
	assert_int_equal(u.blips, 1);
	assert_int_equal(p->flap_count, 10);
	up(p, true, 66);

	/* a fall without evidence does not swallow a blip much later */
	down(p, true, 70);
	up(p, true, 71);
	port_note_downs(p, 1, at(100).mono);
	u = up(p, true, 100);
	assert_int_equal(u.blips, 1);
	model_done(&m);
}

static void events(struct port *p, const char *text, unsigned s)
{
	struct port_events e = { 0 };

	for (; *text; text++)
		port_events_add(&e, *text == '+');
	port_note_events(p, &e, at(s).mono);
}

/* A PORT_ERR that ends no ACTIVE is no fall: mlx5 sends one when a link comes to INIT. */
static void test_events(void **state)
{
	struct port_facts init = port_facts_unknown(0, 1);
	struct model m = { 0 };
	struct port_update u;
	struct port *p;

	(void)state;
	init.state = PORT_STATE_INIT;
	init.phys_state = PHYS_STATE_LINKUP;
	p = device_port(see(&m, 0, "r", 1), 1);
	up(p, true, 10);

	/* a cable pulled and plugged in again */
	events(p, "-", 20);
	assert_true(down(p, true, 20).went_down);
	events(p, "-", 25);
	assert_int_equal(port_see(p, &init, true, at(25)).blips, 0);
	events(p, "+", 26);
	assert_int_equal(up(p, true, 26).blips, 0);
	assert_int_equal(p->flap_count, 1);

	/* the same, while the worker was late: in one message, or before any reading */
	events(p, "--+", 30);
	assert_int_equal(up(p, true, 30).blips, 1);
	assert_int_equal(p->flap_count, 2);
	events(p, "-", 40);
	events(p, "-", 40);
	events(p, "+", 40);
	assert_int_equal(up(p, true, 40).blips, 1);
	assert_int_equal(p->flap_count, 3);

	/* a reading is first; then the event of the fall, and that of INIT */
	assert_true(down(p, true, 50).went_down);
	events(p, "-", 50);
	events(p, "-", 51);
	assert_int_equal(port_see(p, &init, true, at(51)).blips, 0);
	events(p, "+", 52);
	u = up(p, true, 52);
	assert_int_equal(u.blips, 0);
	assert_int_equal(p->flap_count, 4);

	/* down, up and down again between two readings */
	assert_true(down(p, true, 60).went_down);
	events(p, "-+-", 60);
	assert_int_equal(down(p, true, 60).blips, 1);
	assert_int_equal(p->flap_count, 6);
	up(p, true, 61);

	/* three blips, of a driver that sends no PORT_ERR for INIT, and of one that does */
	events(p, "-+-+-+", 70);
	assert_int_equal(up(p, true, 70).blips, 3);
	events(p, "--+--+--+", 80);
	assert_int_equal(up(p, true, 80).blips, 3);
	assert_int_equal(p->flap_count, 12);
	model_done(&m);
}

/* Quicker than the kernel's works: events overtake each other, within a message and across two. */
static void test_events_out_of_order(void **state)
{
	static const struct {
		const char *first, *second;
		unsigned falls;
	} t[] = {
		{ "--++", "", 2 },
		{ "-+--++++--", "", 5 },
		{ "---+++", "", 3 },
		{ "--", "++", 2 },
		{ "-++", "-", 2 },
		{ "----", "--++++++", 6 },
		{ "-+-+-+-+--", "++", 6 },
		/* of a driver that sends PORT_ERR for INIT, too: three falls */
		{ "----+-+-+", "", 3 },
		{ "------", "+++", 3 },
		/* a reading was ahead of the first one */
		{ "+", "-+", 1 },
		{ "+", "-", 1 },
		{ "++", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct model m = { 0 };
		struct port *p = device_port(see(&m, 0, "r", 1), 1);

		up(p, true, 10);
		events(p, t[i].first, 20);
		events(p, t[i].second, 20);
		up(p, true, 20);
		if (p->flap_count != t[i].falls)
			fail_msg("%s %s: %u", t[i].first, t[i].second, (unsigned)p->flap_count);
		model_done(&m);
	}
}

/* What was left over a while ago belongs to nothing that comes now. */
static void test_spare_events_expire(void **state)
{
	struct model m = { 0 };
	struct port *p;

	(void)state;
	p = device_port(see(&m, 0, "r", 1), 1);
	up(p, true, 10);
	events(p, "+", 20);
	events(p, "-", 25);
	events(p, "-", 26); /* INIT */
	events(p, "+", 27);
	assert_int_equal(up(p, true, 27).blips, 1);
	/* PORT_ERR for INIT, then a PORT_ACTIVE twice */
	events(p, "--+", 30);
	events(p, "+", 35);
	assert_int_equal(up(p, true, 35).blips, 1);
	/* A PORT_ACTIVE that never comes: by the reading it is up, and the next PORT_ERR is a fall. */
	events(p, "-", 40);
	assert_int_equal(up(p, true, 40).blips, 1);
	events(p, "-+", 50);
	assert_int_equal(up(p, true, 50).blips, 1);
	model_done(&m);
}

/* ---- a storm: what it was, and what events, readings and a counter make of it ---- */

#define STORM_TICK   (100u) /* us */
#define STORM_EVENTS 8192

struct storm_event {
	usec_t due;
	bool active;
};

struct storm_case {
	uint32_t one_in;    /* how often the link turns: 10 kHz by this */
	uint32_t jitter;    /* how much later an event comes, at most, in us */
	unsigned batch;     /* ticks between two messages of the worker */
	uint32_t slow;      /* how long a reading takes, at most, in us */
	bool err_for_init;  /* as mlx5 does */
	unsigned lost;      /* one of so many events does not come; 0 none */
	unsigned counted;   /* ticks between readings of link_downed; 0 none */
	uint64_t allowance; /* how many falls it may be off */
};

struct storm_sim {
	struct model m;
	struct port *p;
	usec_t now;
	uint32_t seed;
	const struct storm_case *c;
	bool up;
	uint64_t falls;
	struct storm_event events[STORM_EVENTS];
	size_t n;
	usec_t read_due, count_due; /* when the answer comes; 0: not asked */
	int read_state;
	uint64_t count_value;
	bool read_again;
	struct counter counter;
};

static uint32_t storm_random(struct storm_sim *s, uint32_t below)
{
	s->seed = s->seed * 1664525 + 1013904223;
	return (s->seed >> 8) % below;
}

static void storm_send(struct storm_sim *s, bool active, usec_t after)
{
	if (s->c->lost && storm_random(s, s->c->lost) == 0)
		return;
	assert_true(s->n < STORM_EVENTS);
	s->events[s->n++] = (struct storm_event){
		.due = s->now + after + storm_random(s, s->c->jitter),
		.active = active,
	};
}

static void storm_turn(struct storm_sim *s)
{
	s->up = !s->up;
	s->falls += !s->up;
	if (s->up && s->c->err_for_init)
		storm_send(s, false, 0);
	storm_send(s, s->up, 1);
}

static void storm_ask(struct storm_sim *s)
{
	s->read_again = s->read_due != 0;
	if (s->read_due)
		return;
	s->read_state = s->up ? PORT_STATE_ACTIVE : PORT_STATE_DOWN;
	s->read_due = s->now + 200 + storm_random(s, s->c->slow);
}

/* As the manager does it: all that came in is one message; it asks for a reading. */
static void storm_deliver(struct storm_sim *s)
{
	struct port_events e = { 0 };

	for (usec_t last = 0;;) {
		struct storm_event *next = NULL;

		for (size_t i = 0; i < s->n; i++)
			if (s->events[i].due <= s->now && (!next || s->events[i].due < next->due))
				next = &s->events[i];
		if (!next)
			break;
		assert_true(next->due >= last);
		last = next->due;
		port_events_add(&e, next->active);
		*next = s->events[--s->n];
	}
	if (e.errs + e.actives == 0)
		return;
	port_note_events(s->p, &e, s->now);
	storm_ask(s);
}

static void storm_answers(struct storm_sim *s)
{
	struct port_facts f = port_facts_unknown(0, 1);

	if (s->read_due && s->now >= s->read_due) {
		f.state = s->read_state;
		s->read_due = 0;
		port_see(s->p, &f, !s->read_again,
			(struct timepoint){ .mono = s->now, .real = s->now });
		if (s->read_again)
			storm_ask(s);
	}
	if (s->count_due && s->now >= s->count_due) {
		s->counter.value = s->count_value;
		s->count_due = 0;
		if (port_see_link_downed(s->p, &s->counter, s->now) > 0)
			storm_ask(s);
	}
}

static void storm_run(struct storm_sim *s, unsigned ticks, bool storm)
{
	for (unsigned i = 0; i < ticks; i++) {
		s->now += STORM_TICK;
		if (storm && storm_random(s, s->c->one_in) == 0)
			storm_turn(s);
		if (s->c->counted && i % s->c->counted == 0 && !s->count_due) {
			s->count_value = s->falls;
			s->count_due = s->now + storm_random(s, 20000);
		}
		if (i % s->c->batch == 0)
			storm_deliver(s);
		storm_answers(s);
	}
}

/* A second of it, after and before quiet; how many falls were counted, and how many there were. */
static uint64_t storm_count(const struct storm_case *c, uint32_t seed, uint64_t *ret_falls)
{
	struct storm_sim *s = calloc(1, sizeof(*s));
	uint64_t n;

	assert_non_null(s);
	s->c = c;
	s->seed = seed;
	s->now = 1000 * USEC_PER_SEC;
	s->up = true;
	s->counter.known = true;
	s->p = device_port(see(&s->m, 0, "r", 1), 1);
	storm_ask(s);
	storm_run(s, 1000, false);
	storm_run(s, 10000, true);
	if (!s->up)
		storm_turn(s);
	storm_run(s, 40000, false);
	n = s->p->flap_count;
	*ret_falls = s->falls;
	model_done(&s->m);
	free(s);
	return n;
}

/* Up to 2,500 falls a second are counted one by one, in whatever order one hears of them. */
static void test_storm(void **state)
{
	static const struct storm_case cases[] = {
		{ 1000, 1, 10, 800, false, 0, 0, 0 },
		{ 10, 1, 10, 800, false, 0, 0, 0 },
		{ 10, 500, 10, 800, false, 0, 0, 0 },
		{ 10, 500, 300, 20000, false, 0, 0, 0 },
		{ 4, 5000, 10, 800, false, 0, 0, 0 },
		{ 4, 30000, 10, 20000, false, 0, 0, 0 },
		{ 1000, 1, 10, 800, true, 0, 0, 0 },
		/* more PORT_ERR than falls, and in any order: a few too many */
		{ 4, 500, 10, 800, true, 0, 0, 20 },
		/* link_downed settles it, and adds nothing to what is known */
		{ 10, 500, 10, 800, false, 0, 500, 0 },
		{ 4, 30000, 100, 30000, false, 0, 20000, 0 },
		{ 4, 500, 10, 800, true, 0, 500, 20 },
		/* also where the kernel loses events */
		{ 10, 500, 10, 800, false, 20, 500, 0 },
		{ 4, 500, 10, 800, false, 5, 20000, 0 },
		{ 4, 500, 10, 800, true, 20, 500, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (uint32_t seed = 1; seed <= 10; seed++) {
			uint64_t falls, n = storm_count(&cases[i], seed, &falls);
			uint64_t off = n > falls ? n - falls : falls - n;

			if (off > cases[i].allowance)
				fail_msg("case %zu, seed %u: %" PRIu64 " of %" PRIu64, i, seed, n,
					falls);
		}
}

static void test_unreadable(void **state)
{
	struct port_facts f = port_facts_unknown(0, 1);
	struct model m = { 0 };
	struct port_update u;
	struct port *p;

	(void)state;
	p = device_port(see(&m, 0, "r", 1), 1);
	up(p, true, 10);
	f.error = -EIO;
	u = port_see(p, &f, true, at(20));
	assert_true(!u.changed && !u.went_down);
	assert_int_equal(p->last_error, -EIO);
	assert_true(port_is_active(p)); /* the last good reading is kept */
	assert_true(p->read_at.mono == at(10).mono);
	up(p, true, 30);
	assert_int_equal(p->last_error, 0);
	model_done(&m);
}

/* What selectors may ask for of a port: told apart from its state, which changes all the time. */
static void test_reselect(void **state)
{
	struct port_facts f = port_facts_unknown(0, 1);
	struct model m = { 0 };
	struct port *p;

	(void)state;
	p = device_port(see(&m, 0, "r", 1), 1);
	f.link_layer = LINK_LAYER_ETHERNET;
	assert_true(port_see(p, &f, true, at(10)).reselect);
	assert_false(port_see(p, &f, true, at(11)).reselect);
	f.state = PORT_STATE_ACTIVE;
	assert_true(port_see(p, &f, true, at(12)).changed);
	f.netdev_index = 7;
	STRSCPY(f.netdev, "d2");
	assert_true(port_see(p, &f, true, at(13)).reselect);
	STRSCPY(f.netdev, "d3");
	assert_true(port_see(p, &f, true, at(14)).reselect);
	f.state = PORT_STATE_DOWN;
	assert_false(port_see(p, &f, true, at(15)).reselect);
	f.error = -EIO;
	f.netdev[0] = '\0';
	assert_false(port_see(p, &f, true, at(16)).reselect); /* the last good reading is kept */
	model_done(&m);
}

static void test_hundred_blips(void **state)
{
	struct model m = { 0 };
	struct port *p;
	usec_t first = 0;

	(void)state;
	p = device_port(see(&m, 0, "r", 1), 1);
	up(p, true, 1);
	for (unsigned i = 0; i < 100; i++) {
		port_note_downs(p, 1, at(10 + i).mono);
		assert_int_equal(up(p, true, 10 + i).blips, 1);
	}
	assert_int_equal(p->flap_count, 100);
	assert_int_equal(port_flaps_within(p, at(109).mono, USEC_PER_HOUR, &first), 100);
	assert_true(first == at(10).mono);
	assert_int_equal(port_flaps_within(p, at(109).mono, 9 * USEC_PER_SEC, &first), 10);
	p->flap_floor = at(105).mono;
	assert_int_equal(port_flaps_within(p, at(109).mono, USEC_PER_HOUR, &first), 5);
	model_done(&m);
}

static void test_missing(void **state)
{
	struct device_facts f = { .node_guid = 0xabc };
	struct model m = { 0 };
	struct missing *x;

	(void)state;
	x = model_add_missing(&m, "mlx5_0", 0xabc, "0000:01:00.0", at(1));
	model_add_missing(&m, "mlx5_1", 0, "0000:02:00.0", at(1));
	model_add_missing(&m, "mlx5_2", 0, "", at(1));
	STRSCPY(f.name, "other");
	assert_ptr_equal(model_find_missing(&m, &f), x);
	f.node_guid = 0; /* a zero GUID identifies nothing */
	assert_null(model_find_missing(&m, &f));
	STRSCPY(f.pci_address, "0000:02:00.0");
	assert_string_equal(model_find_missing(&m, &f)->name, "mlx5_1");
	STRSCPY(f.pci_address, "");
	STRSCPY(f.name, "mlx5_2");
	assert_string_equal(model_find_missing(&m, &f)->name, "mlx5_2");
	model_remove_missing(&m, x);
	f.node_guid = 0xabc;
	STRSCPY(f.name, "x");
	assert_null(model_find_missing(&m, &f));
	model_done(&m);
}

static void test_replaced(void **state)
{
	struct device_facts f = { .index = 1, .node_guid = 0xdef };
	struct device *d, *other;
	struct model m = { 0 };
	struct missing *x;

	(void)state;
	x = model_add_missing(&m, "mlx5_0", 0xabc, "0000:01:00.0", at(1));
	x->seen = true;
	STRSCPY(f.name, "mlx5_1");
	model_listing_begin(&m);
	assert_int_equal(model_see_device(&m, &f, at(2), &d), DEVICE_NEW);
	assert_null(model_find_replaced(&m, d)); /* its place is not known */
	STRSCPY(d->facts.pci_address, "0000:02:00.0");
	assert_null(model_find_replaced(&m, d));
	STRSCPY(d->facts.pci_address, "0000:01:00.0");
	assert_ptr_equal(model_find_replaced(&m, d), x);
	d->facts.node_guid = 0xabc; /* it is the missing one itself */
	assert_null(model_find_replaced(&m, d));
	d->facts.node_guid = 0; /* a function that nobody has configured */
	assert_null(model_find_replaced(&m, d));
	d->facts.node_guid = 0xdef;
	x->seen = false; /* what is only configured was never in a place */
	assert_null(model_find_replaced(&m, d));
	x->seen = true;

	/* Where devices share the function, a new one says nothing of the others. */
	f = d->facts;
	f.index = 2;
	assert_int_equal(model_see_device(&m, &f, at(3), &other), DEVICE_NEW);
	assert_null(model_find_replaced(&m, other));
	assert_null(model_find_replaced(&m, d));

	assert_ptr_equal(model_missing_by_name(&m, "mlx5_0"), x);
	assert_null(model_missing_by_name(&m, "mlx5_1"));
	model_done(&m);
}

static void test_words(void **state)
{
	struct port_facts f = port_facts_unknown(0, 1);
	char buf[STATE_WORD_MAX], guid[GUID_STRING_MAX], rate[RATE_STRING_MAX];

	(void)state;
	assert_null(port_state_word(PORT_STATE_UNKNOWN, buf));
	assert_string_equal(port_state_word(4, buf), "active");
	assert_string_equal(port_state_word(9, buf), "unknown(9)");
	assert_string_equal(phys_state_word(5, buf), "linkup");
	assert_string_equal(phys_state_word(11, buf), "unknown(11)");
	assert_string_equal(guid_format(guid, 0x0a7fbc1245efd23bULL), "0a7f:bc12:45ef:d23b");
	assert_string_equal(guid_format(guid, 0), "");
	assert_string_equal(rate_format(rate, &f), "unknown");
	f.rate_mbps = 200000;
	STRSCPY(f.width, "4X");
	STRSCPY(f.speed, "HDR");
	assert_string_equal(rate_format(rate, &f), "200 Gb/s (4X HDR)");
	f.rate_mbps = 2500;
	f.speed[0] = '\0';
	assert_string_equal(rate_format(rate, &f), "2.5 Gb/s (4X)");
}

static void test_worst(void **state)
{
	(void)state;
	assert_int_equal(health_worst(HEALTH_FAILED, HEALTH_DEGRADED), HEALTH_FAILED);
	assert_int_equal(health_worst(HEALTH_UNKNOWN, HEALTH_DEGRADED), HEALTH_DEGRADED);
	assert_int_equal(health_worst(HEALTH_STARTING, HEALTH_UNKNOWN), HEALTH_UNKNOWN);
	assert_int_equal(health_worst(HEALTH_OK, HEALTH_STARTING), HEALTH_STARTING);
	assert_int_equal(health_worst(HEALTH_IGNORED, HEALTH_OK), HEALTH_OK);
	assert_int_equal(health_worst(HEALTH_IGNORED, HEALTH_IGNORED), HEALTH_IGNORED);
}

/* Somebody set the netdev down: before the port says so, after it, and with no reading between. */
static void test_excused(void **state)
{
	struct model m = { 0 };
	struct port *p = device_port(see(&m, 1, "a", 1), 1);
	struct port_update u;

	(void)state;
	up(p, true, 1);
	port_excuse_down(p, at(10).mono, at(15).mono);
	port_note_downs(p, 1, at(10).mono);
	u = down(p, true, 11);
	assert_true(u.went_down);
	assert_int_equal(u.blips, 0);
	assert_int_equal(p->flap_count, 0);

	up(p, true, 100);
	down(p, true, 110);
	assert_int_equal(p->flap_count, 1);
	port_excuse_down(p, at(111).mono, at(116).mono);
	assert_int_equal(p->flap_count, 0);

	up(p, true, 200);
	port_excuse_down(p, at(210).mono, at(215).mono);
	port_note_downs(p, 1, at(210).mono);
	u = up(p, true, 211);
	assert_int_equal(u.blips, 0);
	assert_int_equal(p->flap_count, 0);

	/* It is good for one fall, and not for ever. */
	down(p, true, 212);
	assert_int_equal(p->flap_count, 1);
	up(p, true, 300);
	port_excuse_down(p, at(310).mono, at(315).mono);
	down(p, true, 320);
	assert_int_equal(p->flap_count, 2);
	model_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_excused),
		cmocka_unit_test(test_renumbered),
		cmocka_unit_test(test_netdevs),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_out_of_order),
		cmocka_unit_test(test_spare_events_expire),
		cmocka_unit_test(test_storm),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_reselect),
		cmocka_unit_test(test_hundred_blips),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_worst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
