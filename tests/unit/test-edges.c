/* SPDX-License-Identifier: MIT */
/*
 * Acknowledgements and reminders, from the judgement to the journal, which is a socket here.
 */
#include "test.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../daemon/edges.h"
#include "judge.h"
#include "reminder.h"

#define HOUR USEC_PER_HOUR

static struct timepoint at(usec_t mono)
{
	return (struct timepoint){ .mono = mono, .real = 1000000 * USEC_PER_SEC + mono };
}

/* ---- when reminders are due ---- */

static void test_schedule(void **state)
{
	static const unsigned hours[] = { 1, 3, 7, 15, 31, 55, 79, 103 };
	struct reason r = { .severity = SEVERITY_FAILED, .since = at(5 * HOUR) };

	for (size_t i = 0; i < ARRAY_SIZE(hours); i++) {
		usec_t due = (5 + hours[i]) * HOUR;

		assert_true(reminder_due(&r) == due);
		assert_false(reminder_take(&r, due - 1));
		assert_true(reminder_take(&r, due));
		assert_false(reminder_take(&r, due));
	}
}

/* The host slept: one reminder, not five. */
static void test_schedule_late(void **state)
{
	struct reason r = { .severity = SEVERITY_DEGRADED, .since = at(HOUR) };

	assert_true(reminder_take(&r, 30 * HOUR));
	assert_int_equal(r.reminders, 4);
	assert_true(reminder_due(&r) == 32 * HOUR);
}

static void test_schedule_none(void **state)
{
	struct reason notice = { .severity = SEVERITY_NOTICE, .since = at(HOUR) };
	struct reason known = {
		.severity = SEVERITY_FAILED,
		.since = at(HOUR),
		.ack = { .when = at(90 * USEC_PER_MINUTE) },
	};

	assert_true(reminder_due(&notice) == USEC_INFINITY);
	assert_false(reminder_take(&notice, 1000 * HOUR));
	assert_false(reminder_take(&known, 9 * HOUR));
	/* Taken back: the next one at its time, not those that were kept back. */
	known.ack = (struct acknowledgement){ 0 };
	assert_false(reminder_take(&known, 9 * HOUR));
	assert_true(reminder_take(&known, 16 * HOUR));
}

/* ---- a host with a port, and what its journal gets ---- */

struct world {
	struct model model;
	struct edges edges;
	struct config *config;
	struct device *device;
	struct port *port;
	struct port_edges pe;
	usec_t now, next;
	int journal;
	char path[64];
};

static void begin(struct world *w)
{
	struct device_facts f = { .index = 1, .port_count = 1, .name = "x0" };
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	*w = (struct world){ .now = 100 * USEC_PER_SEC };
	w->edges.model = &w->model;
	w->config = config_new();
	assert_non_null(w->config);
	assert_true(model_see_device(&w->model, &f, at(w->now), &w->device) >= 0);
	w->port = device_port(w->device, 1);
	w->model.listed = true;
	snprintf(w->path, sizeof(w->path), "/tmp/test-edges.%d", getpid());
	STRSCPY(a.sun_path, w->path);
	w->journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(w->journal, (struct sockaddr *)&a, sizeof(a)), 0);
	journal_set_socket(w->path);
}

static void end(struct world *w)
{
	journal_done();
	close(w->journal);
	unlink(w->path);
	model_done(&w->model);
	config_free(w->config);
}

/* As the manager does it. */
static void judge(struct world *w)
{
	struct verdict old;
	usec_t recheck = USEC_INFINITY;

	if (judge_port(&w->model, w->port, w->config, at(w->now), &old, &recheck))
		port_edges_changed(&w->edges, w->port, &w->pe, &old, w->config, at(w->now));
	port_edges_count(&w->edges, w->port, &w->pe, w->config, at(w->now));
	if (w->pe.storm.pending && w->pe.storm.deadline <= w->now)
		port_edges_timeout(&w->edges, w->port, &w->pe, w->config, at(w->now));
	port_edges_why(&w->edges, w->port, &w->pe, at(w->now));
	w->next = port_edges_remind(w->port, &w->pe, at(w->now));
}

static void read_port(struct world *w, bool active)
{
	struct port_facts f = port_facts_unknown(1, 1);

	f.state = active ? PORT_STATE_ACTIVE : PORT_STATE_DOWN;
	f.phys_state = active ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	f.link_layer = LINK_LAYER_ETHERNET;
	port_see(w->port, &f, true, at(w->now));
	judge(w);
}

static void pass(struct world *w, usec_t span)
{
	w->now += span;
	judge(w);
}

/* How many records with both texts came; forgets all. */
static unsigned records(struct world *w, const char *edge, const char *text)
{
	char record[8192];
	unsigned n = 0;
	ssize_t size;

	while ((size = recv(w->journal, record, sizeof(record) - 1, 0)) > 0) {
		record[size] = '\0';
		n += strstr(record, edge) && strstr(record, text);
	}
	return n;
}

/* How many of these two came, in that order. */
static int recv_two(struct world *w, const char *first, const char *second)
{
	const char *wanted[] = { first, second };
	char record[8192];
	ssize_t size;
	int n = 0;

	while ((size = recv(w->journal, record, sizeof(record) - 1, 0)) > 0) {
		record[size] = '\0';
		if (n < 2 && strstr(record, wanted[n]))
			n++;
	}
	return n;
}

static size_t ack(struct world *w, enum reason_id id, bool undo)
{
	struct acknowledgement a = { .when = at(w->now), .by = "root", .comment = "known" };

	return verdict_acknowledge(&w->port->verdict, id, NULL, undo ? NULL : &a);
}

static const struct acknowledgement *ack_of(const struct world *w, enum reason_id id)
{
	const struct reason *r = verdict_find(&w->port->verdict, id, "");

	return r && r->ack.when.mono ? &r->ack : NULL;
}

/* Learned to be expected, and fallen. */
static void fall(struct world *w)
{
	read_port(w, true);
	pass(w, w->config->stable_usec);
	read_port(w, false);
}

static void flap(struct world *w)
{
	for (unsigned i = 0; i < w->config->flap_count; i++) {
		assert_null(verdict_find(&w->port->verdict, REASON_LINK_FLAPPING, ""));
		pass(w, 10 * USEC_PER_SEC);
		read_port(w, false);
		pass(w, 10 * USEC_PER_SEC);
		read_port(w, true);
	}
	assert_non_null(verdict_find(&w->port->verdict, REASON_LINK_FLAPPING, ""));
}

static void test_reminders(void **state)
{
	struct world w;
	uint64_t events;

	begin(&w);
	fall(&w);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "port-down"), 1);
	assert_true(w.next == w.now + HOUR);
	events = w.model.n_events;
	pass(&w, HOUR - 1);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	pass(&w, 1);
	assert_int_equal(
		records(&w, "RDMAD_EDGE=reminder", "x0/1: still port-down after 1h: found "), 1);
	pass(&w, USEC_PER_MINUTE);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	pass(&w, 2 * HOUR);
	assert_int_equal(records(&w, "RDMAD_EDGE=reminder", "RDMAD_NEW_STATE=failed"), 1);
	assert_true(w.model.n_events == events); /* no news */
	end(&w);
}

static void test_ack_ends_reminders(void **state)
{
	struct world w;

	begin(&w);
	fall(&w);
	assert_int_equal(ack(&w, REASON_LINK_FLAPPING, false), 0);
	assert_int_equal(ack(&w, REASON_PORT_DOWN, false), 1);
	records(&w, "", "");
	pass(&w, 30 * HOUR);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	assert_non_null(ack_of(&w, REASON_PORT_DOWN));
	assert_string_equal(ack_of(&w, REASON_PORT_DOWN)->comment, "known");
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED); /* it counts as before */
	assert_int_equal(ack(&w, REASON_PORT_DOWN, true), 1);
	pass(&w, USEC_PER_MINUTE);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	pass(&w, HOUR);
	assert_int_equal(records(&w, "RDMAD_EDGE=reminder", "port-down"), 1);
	end(&w);
}

/* Repaired, and the second fault alarms like the first. */
static void test_ack_goes_with_the_condition(void **state)
{
	struct world w;

	begin(&w);
	fall(&w);
	ack(&w, REASON_PORT_DOWN, false);
	pass(&w, 2 * HOUR);
	read_port(&w, true);
	pass(&w, HOUR);
	assert_int_equal(records(&w, "RDMAD_EDGE=cleared", "port active again"), 1);
	read_port(&w, false);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "port-down"), 1);
	assert_null(ack_of(&w, REASON_PORT_DOWN));
	pass(&w, HOUR);
	assert_int_equal(records(&w, "RDMAD_EDGE=reminder", "port-down after 1h"), 1);
	end(&w);
}

static void test_ack_ends_flapping(void **state)
{
	struct world w;

	begin(&w);
	read_port(&w, true);
	flap(&w);
	records(&w, "", "");
	assert_int_equal(ack(&w, REASON_LINK_FLAPPING, false), 1);
	judge(&w);
	assert_null(verdict_find(&w.port->verdict, REASON_LINK_FLAPPING, ""));
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	assert_int_equal(
		records(&w, "RDMAD_EDGE=cleared", "x0/1: link-flapping was acknowledged by root"),
		1);
	/* Counted anew: as many again are needed. */
	flap(&w);
	assert_null(ack_of(&w, REASON_LINK_FLAPPING));
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "link-flapping"), 1);
	end(&w);
}

/* What got worse is not what was acknowledged. */
static void test_ack_and_severity(void **state)
{
	static const struct setup_condition two[] = {
		{ REASON_SETUP_DRIFTED, "siw", "f", "w", "r" },
		{ REASON_SETUP_FAILED, "siw", "f", "w", "r" },
	};
	const struct acknowledgement a = { .when = at(1), .by = "root" };
	struct verdict old, *v;
	struct world w;

	begin(&w);
	v = &w.model.verdict;
	judge_host(&w.model, w.config, two, 2, at(w.now), &old, NULL);
	assert_int_equal(verdict_acknowledge(v, REASON_SETUP_FAILED, "rxe1", &a), 0);
	assert_int_equal(verdict_acknowledge(v, REASON_SETUP_FAILED, "siw", &a), 1);
	judge_host(&w.model, w.config, two, 2, at(w.now + 5), &old, NULL);
	assert_true(verdict_find(v, REASON_SETUP_FAILED, "siw")->ack.when.mono == 1);
	assert_true(verdict_find(v, REASON_SETUP_DRIFTED, "siw")->ack.when.mono == 0);
	/* As if it had been a lesser thing that was acknowledged. */
	for (size_t i = 0; i < v->n_reasons; i++)
		v->reasons[i].severity = SEVERITY_NOTICE;
	judge_host(&w.model, w.config, two, 2, at(w.now + 6), &old, NULL);
	assert_true(verdict_find(v, REASON_SETUP_FAILED, "siw")->ack.when.mono == 0);
	end(&w);
}

/* The cable is back, and the subnet manager is not: who reads the journal hears of both. */
static void test_other_fall(void **state)
{
	struct port_facts f = port_facts_unknown(1, 1);
	struct world w;

	begin(&w);
	fall(&w);
	f.state = PORT_STATE_INIT;
	f.phys_state = PHYS_STATE_LINKUP;
	f.link_layer = LINK_LAYER_INFINIBAND;
	pass(&w, HOUR / 2);
	records(&w, "", "");
	port_see(w.port, &f, true, at(w.now));
	judge(&w);
	/* Long down, but not long in INIT: no other alarm, and no recovery. */
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	assert_non_null(verdict_find(&w.port->verdict, REASON_PORT_DOWN, ""));
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED);
	pass(&w, w.config->grace_usec - 1);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	pass(&w, 1);
	assert_null(verdict_find(&w.port->verdict, REASON_PORT_DOWN, ""));
	assert_non_null(verdict_find(&w.port->verdict, REASON_NO_SUBNET_MANAGER, ""));
	assert_int_equal(
		recv_two(&w, "x0/1: port-down is over", "x0/1: no-subnet-manager: found"), 2);
	f.state = PORT_STATE_ACTIVE;
	port_see(w.port, &f, true, at(w.now));
	judge(&w);
	pass(&w, 2 * USEC_PER_SEC);
	assert_int_equal(records(&w, "RDMAD_EDGE=cleared", "x0/1: no-subnet-manager is over"), 1);
	end(&w);
}

#define PATIENCE (100 * USEC_PER_MSEC)

/* The port's netdev has no carrier, and its driver is asked why. */
static void lose_carrier(struct world *w)
{
	struct netdev_facts n = { .ifindex = 7, .flags = IFF_UP, .name = "eth7" };
	struct port_facts f = w->port->facts;
	uint32_t downs;

	assert_true(model_see_netdev(&w->model, &n, &downs) >= 0);
	f.state = PORT_STATE_DOWN;
	f.phys_state = PHYS_STATE_POLLING;
	f.netdev_index = 7;
	STRSCPY(f.netdev, "eth7");
	w->pe.why_until = w->now + PATIENCE;
	port_see(w->port, &f, true, at(w->now));
	judge(w);
}

/* The driver's answer; none: it does not know. */
static void answer(struct world *w, bool knows)
{
	struct link_facts link = link_facts_unknown(7);

	if (knows)
		link.state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	netdev_see_link(model_netdev_by_index(&w->model, 7), &link);
	w->pe.why_until = 0;
	judge(w);
}

static void begin_learned(struct world *w)
{
	begin(w);
	read_port(w, true);
	pass(w, w->config->stable_usec);
	lose_carrier(w);
}

/* The first record of a fall has the reason why, if that is known soon. */
static void test_why_in_time(void **state)
{
	struct world w;

	begin_learned(&w);
	assert_int_equal(w.port->verdict.health, HEALTH_FAILED); /* on the bus at once */
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	assert_true(w.pe.held_until == w.now + PATIENCE);
	pass(&w, USEC_PER_MSEC);
	answer(&w, true);
	assert_int_equal(w.pe.held_until, 0);
	assert_string_equal(w.model.events[0].old_state, "ok");
	assert_string_equal(w.model.events[0].new_state, "failed");
	assert_int_equal(records(&w, "RDMAD_EDGE=raised",
				 "was active 10min): found down, physical state "
				 "polling, eth7: no cable, wanted"),
		1);
	pass(&w, USEC_PER_MINUTE);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	end(&w);
}

/* Who does not know does not delay it; who is slow, no longer than that; and then a record follows. */
static void test_why_late(void **state)
{
	struct world w;

	begin_learned(&w);
	pass(&w, USEC_PER_MSEC);
	answer(&w, false);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "physical state polling, wanted"), 1);
	end(&w);

	begin_learned(&w);
	pass(&w, PATIENCE - 1);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	pass(&w, 1);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "physical state polling, wanted"), 1);
	pass(&w, USEC_PER_SEC);
	answer(&w, true);
	assert_int_equal(records(&w, "RDMAD_EDGE=explained",
				 "x0/1: why the port is down: down, physical state polling, eth7: "
				 "no cable; plug a cable in"),
		1);
	answer(&w, true);
	pass(&w, USEC_PER_MINUTE);
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 0);
	/* The next fall is another one. */
	read_port(&w, true);
	pass(&w, USEC_PER_MINUTE);
	assert_int_equal(records(&w, "RDMAD_EDGE=cleared", "port active again"), 1);
	w.port->facts.netdev_index = 0;
	read_port(&w, false);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "physical state polling, wanted"), 1);
	end(&w);
}

/* Up again, or gone, while the record waits: it comes first. */
static void test_why_too_late(void **state)
{
	struct world w;

	begin_learned(&w);
	w.now += USEC_PER_MSEC;
	read_port(&w, true);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "RDMAD_NEW_STATE=failed"), 1);
	pass(&w, USEC_PER_MINUTE);
	assert_int_equal(records(&w, "RDMAD_EDGE=cleared", "port active again"), 1);
	end(&w);

	begin_learned(&w);
	w.now += USEC_PER_MSEC;
	port_edges_gone(&w.edges, w.port, &w.pe, at(w.now));
	assert_int_equal(recv_two(&w, "x0/1: port down", "port-down is closed"), 2);
	end(&w);
}

/* What was told of it ends with the device, once; what was not told needs no end. */
static void test_device_gone(void **state)
{
	struct verdict old;
	struct world w;

	begin(&w);
	fall(&w);
	flap(&w);
	w.device->fatal = true;
	judge_device(w.device, w.config, at(w.now), &old, NULL);
	device_edges_changed(&w.edges, w.device, &old, at(w.now));
	pass(&w, 10 * USEC_PER_SEC);
	read_port(&w, false); /* in the storm's gate, and not told yet */
	records(&w, "", "");
	port_edges_gone(&w.edges, w.port, &w.pe, at(w.now));
	device_edges_gone(&w.edges, w.device, at(w.now));
	assert_int_equal(records(&w, "RDMAD_EDGE=cleared", "is closed: the device is gone"), 2);
	end(&w);

	begin(&w);
	fall(&w);
	assert_int_equal(records(&w, "RDMAD_EDGE=raised", "port-down"), 1);
	port_edges_gone(&w.edges, w.port, &w.pe, at(w.now));
	assert_int_equal(
		records(&w, "RDMAD_EDGE=cleared", "x0/1: port-down is closed: the device is gone"),
		1);
	end(&w);
}

static void test_host_and_device_reminders(void **state)
{
	static const struct setup_condition failed = { REASON_SETUP_FAILED, "siw", "f", "w", "r" };
	struct verdict old;
	struct world w;

	begin(&w);
	judge_host(&w.model, w.config, &failed, 1, at(w.now), &old, NULL);
	assert_true(host_edges_remind(&w.model, at(w.now)) == w.now + HOUR);
	host_edges_remind(&w.model, at(w.now + HOUR));
	assert_int_equal(records(&w, "RDMAD_EDGE=reminder", "RDMAD_OBJECT=host"), 1);
	w.device->fatal = true;
	judge_device(w.device, w.config, at(w.now), &old, NULL);
	device_edges_remind(w.device, at(w.now + HOUR));
	assert_int_equal(records(&w, "RDMAD_EDGE=reminder", "x0: still device-fatal after 1h"), 1);
	end(&w);
}

/* A hundred falls that no reading showed: link-flapping, and a while later one summary. */
static void test_storm(void **state)
{
	struct world w;

	begin(&w);
	read_port(&w, true);
	pass(&w, w.config->stable_usec);
	port_note_downs(w.port, 100, w.now);
	read_port(&w, true);
	assert_false(edges_storm_over(&w.edges, at(w.now)));
	assert_int_equal(records(&w, "RDMAD_EDGE=", ""), 1);
	w.now = storms_deadline(&w.edges.storms);
	assert_true(edges_storm_over(&w.edges, at(w.now)));
	assert_string_equal(w.model.events[(w.model.n_events - 1) % EVENTS_MAX].message,
		"host: link storm is over: 1 port fell 100 times, noticed within 1s");
	assert_int_equal(records(&w, "RDMAD_REASON=link-storm\n", "RDMAD_FALLS=100\n"), 1);
	pass(&w, USEC_PER_MINUTE);
	assert_false(edges_storm_over(&w.edges, at(w.now)));
	assert_int_equal(records(&w, "RDMAD_REASON=", ""), 0);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_schedule_late),
		cmocka_unit_test(test_schedule_none),
		cmocka_unit_test(test_reminders),
		cmocka_unit_test(test_ack_ends_reminders),
		cmocka_unit_test(test_ack_goes_with_the_condition),
		cmocka_unit_test(test_ack_ends_flapping),
		cmocka_unit_test(test_ack_and_severity),
		cmocka_unit_test(test_host_and_device_reminders),
		cmocka_unit_test(test_other_fall),
		cmocka_unit_test(test_why_in_time),
		cmocka_unit_test(test_why_late),
		cmocka_unit_test(test_why_too_late),
		cmocka_unit_test(test_device_gone),
		cmocka_unit_test(test_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
