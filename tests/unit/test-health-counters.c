/* SPDX-License-Identifier: MIT */
/* Counters: rates in windows against thresholds, ends of their widths, falls that link_downed saw. */
#include "test.h"

#include "config.h"
#include "counter-width.h"
#include "judge.h"
#include "message.h"
#include "rules.h"

#define S  USEC_PER_SEC
#define MN USEC_PER_MINUTE
#define H  USEC_PER_HOUR

/* A host with one port that is ACTIVE, its configuration, and a clock that the test moves. */
struct world {
	struct model model;
	struct config *config;
	struct device *device;
	struct port *port;
	struct port_update update;
	enum link_layer layer;
	uint64_t rate_mbps;
	enum counter_source source;
	size_t n;
	usec_t now;
};

static struct timepoint at(usec_t mono)
{
	return (struct timepoint){ .mono = mono, .real = 1000000 * USEC_PER_SEC + mono };
}

static void world_judge(struct world *w)
{
	judge_port(&w->model, w->port, w->config, at(w->now), NULL, NULL);
}

/* A reading of the port that was asked for after all that is known. */
static void world_read(struct world *w, int state)
{
	struct port_facts f = port_facts_unknown(w->device->facts.index, 1);

	f.state = state;
	f.phys_state = state == PORT_STATE_ACTIVE ? PHYS_STATE_LINKUP : PHYS_STATE_POLLING;
	f.link_layer = w->layer;
	f.rate_mbps = w->rate_mbps;
	w->update = port_see(w->port, &f, true, at(w->now));
	world_judge(w);
}

/* The configuration as from a file; text NULL: none. */
static void world_configure(struct world *w, const char *text)
{
	char path[] = "/tmp/test-health-counters-XXXXXX";
	int fd;

	config_free(w->config);
	w->config = NULL;
	if (!text) {
		w->config = config_new();
		assert_non_null(w->config);
		return;
	}
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(config_load_file(path, &w->config), 0);
	unlink(path);
	assert_int_equal(w->config->n_problems, 0);
}

static void world_begin(
	struct world *w, enum link_layer layer, uint64_t rate_mbps, const char *config)
{
	struct device_facts f = { .index = 1, .port_count = 1, .name = "mlx5_0" };

	*w = (struct world){ .now = 100 * S, .layer = layer, .rate_mbps = rate_mbps };
	world_configure(w, config);
	assert_true(model_see_device(&w->model, &f, at(w->now), &w->device) >= 0);
	w->port = device_port(w->device, 1);
	w->model.listed = true;
	world_read(w, PORT_STATE_ACTIVE);
}

static void world_end(struct world *w)
{
	model_done(&w->model);
	config_free(w->config);
}

/* The names of all counters of a source. */
static void world_name(
	struct world *w, enum counter_source source, const char *const *names, size_t n)
{
	w->source = source;
	w->n = n;
	for (size_t i = 0; i < n; i++) {
		struct counter_name f = {
			.device_index = 1,
			.port = 1,
			.source = source,
			.set = 1 + (uint32_t)n,
			.at = (uint32_t)i,
			.n = (uint32_t)n,
			.width = source == COUNTER_PMA ? counter_pma_width(names[i], true) : 0,
		};

		STRSCPY(f.name, names[i]);
		assert_int_equal(counter_table_name(&w->port->counters[source], &f), 0);
	}
}

/* A reading of all of them, and what the manager makes of it. */
static uint32_t world_count(struct world *w, const uint64_t *values, uint64_t known)
{
	struct counter_values f = {
		.source = w->source,
		.set = 1 + (uint32_t)w->n,
		.n = (uint32_t)w->n,
		.known = known,
	};
	struct counters_done done = { .source = w->source, .n = (uint32_t)w->n };
	struct counter_table **t = &w->port->counters[w->source];
	const struct counter *c;
	uint32_t downs = 0;

	memcpy(f.values, values, w->n * sizeof(values[0]));
	assert_int_equal(counter_table_values(*t, &f, at(w->now)), 0);
	assert_int_equal(counter_table_finish(t, &done, at(w->now)), 0);
	c = counter_table_find(*t, "link_downed");
	if (c)
		downs = port_see_link_downed(w->port, c, w->now);
	world_judge(w);
	return downs;
}

/* ---- one counter and its readings ---- */

enum what { END, READ, UNREAD, DOWN, UP, RELOAD };

/* What stands afterwards. */
enum stands {
	NO = 0,
	ERR = 1, /* link-errors */
	SAT = 2, /* counter-saturated */
	BOTH = 3,
};

struct step {
	enum what what;
	usec_t after;
	uint64_t value;
	enum stands stands;
};

struct situation {
	const char *name;
	enum counter_source source;
	const char *counter;
	enum link_layer layer;
	uint64_t rate_mbps;
	const char *config;
	enum severity severity; /* of link-errors, where it stands */
	struct step steps[12];
};

#define IB  LINK_LAYER_INFINIBAND
#define ETH LINK_LAYER_ETHERNET
#define PMA COUNTER_PMA
#define HW  COUNTER_HW
#define DEG SEVERITY_DEGRADED
#define NDR 400000

static const struct situation situations[] = {
	{ "old errors are not new ones", PMA, "symbol_error", IB, NDR, NULL, DEG,
		{ { READ, 0, 40000, NO }, { READ, MN, 40000, NO }, { READ, H, 40000, NO } } },
	{ "symbol errors: 2 in 12 minutes at 400 Gb/s are none too many", PMA, "symbol_error", IB,
		NDR, NULL, DEG,
		{ { READ, 0, 7, NO }, { READ, MN, 8, NO }, { READ, MN, 9, NO },
			{ READ, MN, 9, NO } } },
	{ "symbol errors: 3 are", PMA, "symbol_error", IB, NDR, NULL, DEG,
		{ { READ, 0, 7, NO }, { READ, MN, 8, NO }, { READ, MN, 10, ERR },
			{ READ, MN, 10, ERR }, { READ, 8 * MN, 10, ERR }, { READ, 3 * MN, 10, ERR },
			{ READ, 3 * MN, 10, NO } } },
	{ "symbol errors: at 800 Gb/s 3 are not", PMA, "symbol_error", IB, 800000, NULL, DEG,
		{ { READ, 0, 7, NO }, { READ, MN, 10, NO }, { READ, MN, 12, NO },
			{ READ, MN, 13, ERR } } },
	{ "symbol errors: one is no rate, at 10 Gb/s either", PMA, "symbol_error", IB, 10000, NULL,
		DEG, { { READ, 0, 0, NO }, { READ, MN, 1, NO }, { READ, MN, 2, ERR } } },
	{ "symbol errors: one each 40 minutes is the long window's, at 400 Gb/s", PMA,
		"symbol_error", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, 30 * MN, 1, NO }, { READ, 30 * MN, 2, NO },
			{ READ, 30 * MN, 3, NO }, { READ, 30 * MN, 4, ERR } } },
	{ "symbol errors: rate unknown", PMA, "symbol_error", IB, 0, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 5000, NO } } },
	{ "symbol errors: rate unknown, but a threshold is configured", PMA, "symbol_error", IB, 0,
		"[Counter symbol_error]\nThreshold=10/min\n", DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 10, NO }, { READ, MN, 21, ERR } } },
	{ "120 to 3 is a reset", PMA, "symbol_error", IB, NDR, NULL, DEG,
		{ { READ, 0, 120, NO }, { READ, MN, 3, NO }, { READ, MN, 4, NO },
			{ READ, MN, 6, ERR } } },
	{ "a reset while it stands: no new errors, and it clears", PMA, "link_error_recovery", IB,
		NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 6, ERR }, { READ, MN, 0, ERR },
			{ READ, MN, 0, ERR }, { READ, MN, 0, ERR }, { READ, MN, 0, NO } } },
	{ "recoveries: 5 a minute", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { READ, 0, 10, NO }, { READ, MN, 15, NO }, { READ, MN, 20, NO } } },
	{ "recoveries: 6 a minute", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { READ, 0, 10, NO }, { READ, MN, 16, ERR }, { READ, MN, 17, ERR },
			{ READ, MN, 18, ERR }, { READ, MN, 18, ERR }, { READ, MN, 18, NO } } },
	{ "recoveries: what is about the threshold is one condition", PMA, "link_error_recovery",
		IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 6, ERR }, { READ, MN, 10, ERR },
			{ READ, MN, 16, ERR }, { READ, MN, 19, ERR }, { READ, MN, 25, ERR } } },
	{ "rare readings: the rate counts, not what came together", PMA, "link_error_recovery", IB,
		NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, 10 * MN, 50, NO }, { READ, 10 * MN, 101, ERR } } },
	{ "frequent readings add up in the window", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, 10 * S, 2, NO }, { READ, 10 * S, 4, NO },
			{ READ, 10 * S, 5, NO }, { READ, 10 * S, 6, ERR } } },
	{ "receive errors: 10 a minute", PMA, "port_rcv_errors", IB, NDR, NULL, DEG,
		{ { READ, 0, 65000, NO }, { READ, MN, 65010, NO }, { READ, MN, 65021, ERR } } },
	{ "4 bits: any step", PMA, "local_link_integrity_errors", IB, NDR, NULL, DEG,
		{ { READ, 0, 3, NO }, { READ, MN, 3, NO }, { READ, MN, 4, ERR },
			{ READ, 30 * MN, 4, ERR }, { READ, 35 * MN, 4, NO } } },
	{ "4 bits: saturated from the first reading on", PMA, "excessive_buffer_overrun_errors", IB,
		NDR, NULL, DEG, { { READ, 0, 15, SAT }, { READ, H, 15, SAT } } },
	{ "4 bits: a step to the end is both, and then cannot be judged", PMA,
		"excessive_buffer_overrun_errors", IB, NDR, NULL, DEG,
		{ { READ, 0, 13, NO }, { READ, MN, 15, BOTH }, { READ, 30 * MN, 15, BOTH },
			{ READ, 40 * MN, 15, SAT }, { READ, MN, 0, NO }, { READ, MN, 1, ERR } } },
	{ "8 bits at their end", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { READ, 0, 254, NO }, { READ, MN, 255, SAT }, { READ, MN, 255, SAT },
			{ READ, MN, 0, NO } } },
	{ "constraint errors are a notice", PMA, "port_rcv_constraint_errors", IB, NDR, NULL,
		SEVERITY_NOTICE, { { READ, 0, 1, NO }, { READ, MN, 2, ERR } } },
	{ "so are those of sending", PMA, "port_xmit_constraint_errors", IB, NDR, NULL,
		SEVERITY_NOTICE, { { READ, 0, 1, NO }, { READ, MN, 2, ERR } } },
	{ "waiting at its end is silent", PMA, "port_xmit_wait", IB, NDR, NULL, DEG,
		{ { READ, 0, 5, NO }, { READ, MN, UINT32_MAX, NO },
			{ READ, MN, UINT32_MAX, NO } } },
	{ "discards are congestion", PMA, "port_xmit_discards", IB, NDR, NULL, DEG,
		{ { READ, 0, 5, NO }, { READ, MN, 60000, NO }, { READ, MN, 65535, NO } } },
	{ "discards with a threshold", PMA, "port_xmit_discards", IB, NDR,
		"[Counter port_xmit_discards]\nThreshold=200/5min\nSeverity=failed\n",
		SEVERITY_FAILED,
		{ { READ, 0, 0, NO }, { READ, MN, 200, NO }, { READ, MN, 201, ERR } } },
	{ "elsewhere in the fabric", PMA, "port_rcv_remote_physical_errors", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 40000, NO } } },
	{ "routing", PMA, "port_rcv_switch_relay_errors", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 40000, NO } } },
	{ "management packets", PMA, "VL15_dropped", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 40000, NO } } },
	{ "congestion control", HW, "np_cnp_sent", ETH, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 4000000, NO } } },
	{ "traffic", PMA, "port_xmit_data", IB, NDR, "[Counter *]\nThreshold=1\nWindow=1min\n", DEG,
		{ { READ, 0, 0, NO }, { READ, MN, UINT32_MAX, NO } } },
	{ "a queue pair that broke", HW, "req_transport_retries_exceeded", ETH, NDR, NULL,
		SEVERITY_NOTICE, { { READ, 0, 4, NO }, { READ, MN, 5, ERR } } },
	{ "of rxe", HW, "retry_exceeded_err", ETH, 1000, NULL, SEVERITY_NOTICE,
		{ { READ, 0, 4, NO }, { READ, MN, 5, ERR } } },
	{ "of bnxt_re", HW, "max_retry_exceeded", ETH, NDR, NULL, SEVERITY_NOTICE,
		{ { READ, 0, 4, NO }, { READ, MN, 5, ERR } } },
	{ "of the driver, on InfiniBand", HW, "req_transport_retries_exceeded", IB, NDR, NULL,
		SEVERITY_NOTICE, { { READ, 0, 4, NO }, { READ, MN, 5, ERR } } },
	{ "the specification's mean nothing on Ethernet", PMA, "port_rcv_errors", ETH, NDR, NULL,
		DEG, { { READ, 0, 0, NO }, { READ, MN, 60000, NO }, { READ, MN, 65535, NO } } },
	{ "nor where the link layer is not known", PMA, "symbol_error", LINK_LAYER_UNKNOWN, NDR,
		NULL, DEG, { { READ, 0, 0, NO }, { READ, MN, 65535, NO } } },
	{ "64 bits that wrap do not go backwards", HW, "max_retry_exceeded", ETH, NDR,
		"[Counter max_retry_exceeded]\nThreshold=10\n", DEG,
		{ { READ, 0, UINT64_MAX - 3, NO }, { READ, MN, 6, NO }, { READ, MN, 6, NO } } },
	{ "64 bits that wrap and rise", HW, "max_retry_exceeded", ETH, NDR,
		"[Counter max_retry_exceeded]\nThreshold=10\nSeverity=degraded\n", DEG,
		{ { READ, 0, UINT64_MAX - 3, NO }, { READ, MN, 7, ERR } } },
	{ "an unreadable value raises nothing", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { UNREAD, MN, 0, NO }, { UNREAD, MN, 0, NO },
			{ READ, MN, 6, NO } } },
	{ "and clears nothing", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 6, ERR }, { UNREAD, MN, 0, ERR },
			{ UNREAD, 10 * MN, 0, ERR }, { READ, MN, 6, NO } } },
	{ "one that was never read", PMA, "link_error_recovery", IB, NDR, NULL, DEG,
		{ { UNREAD, 0, 0, NO }, { UNREAD, MN, 0, NO }, { READ, MN, 200, NO },
			{ READ, MN, 206, ERR } } },
	{ "saturated, and not read again", PMA, "excessive_buffer_overrun_errors", IB, NDR, NULL,
		DEG, { { READ, 0, 15, SAT }, { UNREAD, MN, 0, SAT }, { READ, MN, 2, NO } } },
	{ "not judged while the link is down, nor what bringing it up cost", PMA, "symbol_error",
		IB, NDR, "[Port *]\nExpect=up\n", DEG,
		{ { READ, 0, 0, NO }, { DOWN, MN, 0, NO }, { READ, 1, 3000, NO },
			{ READ, MN, 5000, NO }, { UP, MN, 0, NO }, { READ, 1, 9000, NO },
			{ READ, MN, 9000, NO }, { READ, MN, 9009, ERR } } },
	{ "a fall clears nothing", PMA, "symbol_error", IB, NDR, "[Port *]\nExpect=up\n", DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 9, ERR }, { DOWN, MN, 0, ERR },
			{ READ, H, 9, ERR }, { UP, MN, 0, ERR }, { READ, 1, 9, ERR },
			{ READ, MN, 9, NO } } },
	{ "severity", PMA, "port_rcv_errors", IB, NDR,
		"[Counter port_rcv_errors]\nSeverity=failed\n", SEVERITY_FAILED,
		{ { READ, 0, 0, NO }, { READ, MN, 11, ERR } } },
	{ "severity none: not even saturated", PMA, "port_rcv_errors", IB, NDR,
		"[Counter port_rcv*]\nSeverity=none\n", DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 65535, NO } } },
	{ "a short window", PMA, "symbol_error", IB, NDR,
		"[Counter symbol_error]\nThreshold=3\nWindow=5s\n", DEG,
		{ { READ, 0, 0, NO }, { READ, S, 2, NO }, { READ, S, 4, ERR },
			{ READ, 5 * S, 4, ERR }, { READ, 10 * S, 4, ERR },
			{ READ, 10 * S, 4, NO } } },
	{ "a count in its window, one at a time", PMA, "symbol_error", IB, NDR,
		"[Counter symbol_error]\nThreshold=3\nWindow=16s\n", DEG,
		{ { READ, 0, 0, NO }, { READ, 4 * S, 1, NO }, { READ, 4 * S, 2, NO },
			{ READ, 4 * S, 3, NO }, { READ, 4 * S, 4, ERR } } },
	{ "the same count in a longer time", PMA, "symbol_error", IB, NDR,
		"[Counter symbol_error]\nThreshold=3\nWindow=16s\n", DEG,
		{ { READ, 0, 0, NO }, { READ, 6 * S, 1, NO }, { READ, 6 * S, 2, NO },
			{ READ, 6 * S, 3, NO }, { READ, 6 * S, 4, NO }, { READ, 6 * S, 5, NO } } },
	{ "a counter that nobody knows", HW, "out_of_buffer", ETH, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 100000, NO } } },
	{ "with a threshold", HW, "out_of_buffer", ETH, NDR,
		"[Counter out_of_*]\nThreshold=100/s\n", DEG,
		{ { READ, 0, 0, NO }, { READ, 10 * S, 6000, NO }, { READ, 10 * S, 6001, ERR } } },
	{ "any rise", HW, "out_of_buffer", ETH, NDR, "[Counter out_of_buffer]\nSeverity=notice\n",
		SEVERITY_NOTICE, { { READ, 0, 5, NO }, { READ, MN, 6, ERR } } },
	{ "a configuration that does not cover it any more closes it", PMA, "link_error_recovery",
		IB, NDR, NULL, DEG,
		{ { READ, 0, 0, NO }, { READ, MN, 6, ERR }, { RELOAD, S, 0, NO },
			{ READ, MN, 100, NO } } },
};

static bool stands(const struct world *w, enum reason_id id, const char *subject)
{
	return verdict_find(&w->port->verdict, id, subject) != NULL;
}

static void run(const struct situation *s)
{
	struct world w;

	world_begin(&w, s->layer, s->rate_mbps, s->config);
	world_name(&w, s->source, &s->counter, 1);
	for (size_t i = 0; s->steps[i].what != END; i++) {
		const struct step *x = &s->steps[i];
		enum stands found = NO;

		w.now += x->after;
		if (x->what == READ || x->what == UNREAD)
			world_count(&w, &x->value, x->what == READ);
		else if (x->what == RELOAD)
			world_configure(&w, "[Counter *]\nSeverity=none\n");
		else
			world_read(&w, x->what == UP ? PORT_STATE_ACTIVE : PORT_STATE_DOWN);
		world_judge(&w); /* judging twice changes nothing */
		if (stands(&w, REASON_LINK_ERRORS, s->counter))
			found |= ERR;
		if (stands(&w, REASON_COUNTER_SATURATED, s->counter))
			found |= SAT;
		if (found != x->stands)
			fail_msg("%s: step %zu: %u, not %u", s->name, i, found, x->stands);
		if ((found & ERR) &&
			verdict_find(&w.port->verdict, REASON_LINK_ERRORS, s->counter)->severity !=
				s->severity)
			fail_msg("%s: step %zu: severity", s->name, i);
	}
	world_end(&w);
}

static void one_counter(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(situations); i++)
		run(&situations[i]);
}

/* ---- ignored ports ---- */

static void ignored_ports(void **state)
{
	static const char *const names[] = { "link_error_recovery" };
	uint64_t value = 0;
	struct world w;

	(void)state;
	world_begin(&w, IB, NDR, "[Device *]\nMonitor=no\n");
	world_name(&w, PMA, names, 1);
	world_count(&w, &value, 1);
	w.now += MN;
	value = 255;
	world_count(&w, &value, 1);
	assert_int_equal(w.port->verdict.health, HEALTH_IGNORED);
	assert_int_equal(w.port->verdict.n_reasons, 0);
	world_end(&w);

	/* Never seen ACTIVE: an ignore rule covers counters alike. */
	world_begin(&w, IB, NDR, NULL);
	w.port->was_active = w.port->learned = false;
	world_read(&w, PORT_STATE_DOWN);
	world_name(&w, PMA, names, 1);
	value = 255;
	w.now += H;
	world_count(&w, &value, 1);
	assert_int_equal(w.port->verdict.health, HEALTH_IGNORED);
	assert_int_equal(w.port->verdict.n_reasons, 0);
	world_end(&w);
}

/* What was added while it was lent for a firmware burn is not judged afterwards. */
static void released_ports(void **state)
{
	static const char *const names[] = { "link_error_recovery", "link_downed" };
	uint64_t values[] = { 0, 0 };
	struct world w;

	(void)state;
	world_begin(&w, IB, NDR, NULL);
	world_name(&w, PMA, names, 2);
	world_count(&w, values, 3);
	w.now += MN;
	port_restart_counters(w.port, w.now);
	values[0] = 100;
	values[1] = 3;
	assert_int_equal(world_count(&w, values, 3), 0);
	assert_false(stands(&w, REASON_LINK_ERRORS, "link_error_recovery"));
	w.now += MN;
	values[0] = 106;
	values[1] = 4;
	assert_int_equal(world_count(&w, values, 3), 1);
	assert_true(stands(&w, REASON_LINK_ERRORS, "link_error_recovery"));
	world_end(&w);
}

/* ---- several at once ---- */

static void many_counters(void **state)
{
	char text[20][16];
	const char *names[20];
	uint64_t values[20] = { 0 };
	size_t errors = 0, others = 0;
	struct world w;

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		snprintf(text[i], sizeof(text[i]), "bad_%zu", i);
		names[i] = text[i];
	}
	world_begin(&w, IB, NDR, "[Counter bad_*]\nThreshold=0\nWindow=1min\n");
	world_name(&w, HW, names, 20);
	world_count(&w, values, UINT64_MAX);
	w.now += MN;
	for (size_t i = 0; i < 8; i++)
		values[i]++;
	world_count(&w, values, UINT64_MAX);
	assert_int_equal(w.port->verdict.n_reasons, 8);
	assert_true(stands(&w, REASON_LINK_ERRORS, "bad_7"));
	assert_false(stands(&w, REASON_LINK_ERRORS, "others"));
	w.now += MN;
	for (size_t i = 0; i < 20; i++)
		values[i]++;
	world_count(&w, values, UINT64_MAX);
	for (size_t i = 0; i < w.port->verdict.n_reasons; i++) {
		const struct reason *r = &w.port->verdict.reasons[i];

		errors += r->id == REASON_LINK_ERRORS;
		others += streq(r->subject, "others");
		if (streq(r->subject, "others"))
			assert_string_equal(r->found, "13 more counters");
	}
	assert_int_equal(errors, 8);
	assert_int_equal(others, 1);
	/* One that was told among the others is remembered all the same. */
	w.now += 2 * MN;
	world_count(&w, values, UINT64_MAX);
	assert_true(stands(&w, REASON_LINK_ERRORS, "others"));
	w.now += 3 * MN;
	world_count(&w, values, UINT64_MAX);
	assert_int_equal(w.port->verdict.n_reasons, 0);
	world_end(&w);
}

static void many_saturated(void **state)
{
	static const char *const names[] = { "symbol_error", "link_error_recovery", "link_downed",
		"port_rcv_errors", "local_link_integrity_errors" };
	const uint64_t values[] = { 65535, 255, 255, 65535, 15 };
	struct world w;

	(void)state;
	world_begin(&w, IB, NDR, NULL);
	world_name(&w, PMA, names, 5);
	world_count(&w, values, UINT64_MAX);
	assert_int_equal(w.port->verdict.n_reasons, 4);
	assert_true(stands(&w, REASON_COUNTER_SATURATED, "link_downed"));
	assert_true(stands(&w, REASON_COUNTER_SATURATED, "others"));
	assert_int_equal(w.port->verdict.health, HEALTH_OK);
	world_end(&w);
}

/* ---- what is said ---- */

static void texts(void **state)
{
	static const char *const names[] = { "symbol_error" };
	char message[MESSAGE_MAX];
	const struct reason *r;
	uint64_t value = 100;
	struct world w;

	(void)state;
	world_begin(&w, IB, NDR, NULL);
	world_name(&w, PMA, names, 1);
	world_count(&w, &value, 1);
	w.now += MN;
	value = 112;
	world_count(&w, &value, 1);
	r = verdict_find(&w.port->verdict, REASON_LINK_ERRORS, "symbol_error");
	assert_non_null(r);
	message_raised(message, "mlx5_0/1", r, 0);
	assert_string_equal(message,
		"mlx5_0/1: link-errors of symbol_error: found 12 more in 1min, wanted at most 2 in "
		"12min; this link: its cable or the peer's transmitter; clean, reseat or replace "
		"it");
	message_cleared(message, "mlx5_0/1", r, MN, w.port);
	assert_string_equal(message, "mlx5_0/1: link-errors of symbol_error is over (stood 1min)");
	w.now += MN;
	value = 65535;
	world_count(&w, &value, 1);
	r = verdict_find(&w.port->verdict, REASON_COUNTER_SATURATED, "symbol_error");
	assert_non_null(r);
	assert_string_equal(r->found, "65535, the most that 16 bits can show");
	world_end(&w);
}

/* What explain hears of one counter. */
struct heard {
	const char *counter;
	unsigned errors, saturated;
	enum rule_outcome outcome;
	char text[400];
	unsigned line;
};

static void hear(const struct rule_note *n, void *user)
{
	struct heard *h = user;

	if (!streq(n->subject, h->counter))
		return;
	h->saturated += n->id == REASON_COUNTER_SATURATED;
	if (n->id != REASON_LINK_ERRORS)
		return;
	h->errors++;
	h->outcome = n->outcome;
	h->line = n->origin ? n->origin->line : 0;
	STRSCPY(h->text, n->text);
}

/* Every counter that has a rule is explained once, also when it is clear or information. */
static void explained(void **state)
{
	static const char *const names[] = { "symbol_error", "link_error_recovery",
		"port_rcv_errors", "port_xmit_wait", "link_downed", "local_link_integrity_errors" };
	static const struct {
		size_t at;
		enum rule_outcome outcome;
		unsigned line, saturated;
		const char *says;
	} t[] = {
		{ 0, OUTCOME_CLEAR, 0, 1, "0 more in 1min, wanted at most 2 in 12min" },
		{ 1, OUTCOME_RAISED, 0, 1, "6 more in 1min, wanted at most 5 in 1min" },
		{ 2, OUTCOME_CLEAR, 2, 1, "7 more in 1min, wanted at most 100 in 1min" },
		{ 3, OUTCOME_ABSENT, 0, 0, "information only: congestion" },
		{ 4, OUTCOME_ABSENT, 0, 1, "information only: counted as falls of the link" },
		{ 5, OUTCOME_ABSENT, 0, 1, "it could not be read so far" },
	};
	uint64_t values[] = { 7, 0, 0, 0, 0, 0 };
	struct rule_listener l = { .note = hear };
	struct world w;

	(void)state;
	world_begin(&w, IB, NDR, "[Counter port_rcv_errors]\nThreshold=100/min\n");
	world_name(&w, PMA, names, ARRAY_SIZE(names));
	world_count(&w, values, 0x1f);
	w.now += MN;
	values[1] = 6;
	values[2] = 7;
	world_count(&w, values, 0x1f);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct heard h = { .counter = names[t[i].at] };

		l.user = &h;
		judge_set_listener(&l);
		world_judge(&w);
		judge_set_listener(NULL);
		if (h.errors != 1 || h.outcome != t[i].outcome || h.line != t[i].line ||
			h.saturated != t[i].saturated || !streq(h.text, t[i].says))
			fail_msg("%s: %u times, %s, line %u, %u times saturated: %s", h.counter,
				h.errors, rule_outcome_to_string(h.outcome), h.line, h.saturated,
				h.text);
	}
	world_end(&w);
}

/* ---- counters of the device ---- */

static void device_name(struct world *w, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct counter_name f = { .device_index = 1,
			.source = COUNTER_HW,
			.set = 1,
			.at = (uint32_t)i,
			.n = (uint32_t)n };

		STRSCPY(f.name, names[i]);
		assert_int_equal(counter_table_name(&w->device->counters, &f), 0);
	}
}

static void device_count(struct world *w, const uint64_t *values, uint32_t n, uint64_t known)
{
	struct counter_values f = { .set = 1, .n = n, .known = known };
	struct counters_done done = { .n = n };

	memcpy(f.values, values, n * sizeof(values[0]));
	assert_int_equal(counter_table_values(w->device->counters, &f, at(w->now)), 0);
	assert_int_equal(counter_table_finish(&w->device->counters, &done, at(w->now)), 0);
	world_judge(w);
	judge_device(w->device, w->config, at(w->now), NULL, NULL);
}

static const struct reason *device_error(const struct world *w, const char *counter)
{
	return verdict_find(&w->device->verdict, REASON_LINK_ERRORS, counter);
}

#define EFA_COUNTERS "submitted_cmds", "no_completion_cmds", "cmds_err", "retry_exceeded_err"

/* efa: no PMA, a link layer that is none, and what the firmware does with commands. */
static void device_counters(void **state)
{
	static const char *const names[] = { EFA_COUNTERS };
	uint64_t values[] = { 1000, 7, 3, 0 };
	const struct reason *r;
	struct world w;

	(void)state;
	world_begin(&w, LINK_LAYER_UNKNOWN, 100000, NULL);
	device_name(&w, names, 4);
	device_count(&w, values, 4, 0xf);
	w.now += MN;
	values[0] = 5000;
	values[2] =
		90; /* refused commands: who asked asked wrongly, it is no fault of the device */
	device_count(&w, values, 4, 0xf);
	assert_int_equal(w.device->verdict.n_reasons, 0);
	w.now += MN;
	values[1] = 8;
	values[3] = 1;
	device_count(&w, values, 4, 0xf);
	r = device_error(&w, "no_completion_cmds");
	assert_non_null(r);
	assert_int_equal(r->severity, SEVERITY_FAILED);
	assert_string_equal(r->found, "1 more in 2min");
	assert_string_equal(r->wanted, "none in 1h");
	assert_non_null(strstr(r->remedy, "firmware"));
	assert_int_equal(w.device->verdict.health, HEALTH_FAILED);
	assert_int_equal(device_error(&w, "retry_exceeded_err")->severity, SEVERITY_NOTICE);
	assert_int_equal(w.device->verdict.n_reasons, 2);
	assert_int_equal(w.port->verdict.n_reasons, 0);
	/* It cannot be read: what stands stands. */
	w.now += 2 * H;
	device_count(&w, values, 4, 0xf & ~2u);
	assert_non_null(device_error(&w, "no_completion_cmds"));
	w.now += MN;
	device_count(&w, values, 4, 0xf);
	assert_null(device_error(&w, "no_completion_cmds"));
	assert_int_equal(w.device->verdict.health, HEALTH_OK);
	world_end(&w);
}

/* Thresholds of the configuration, whatever state the links are in; not of a device that is ignored. */
static void device_counters_configured(void **state)
{
	static const char *const names[] = { EFA_COUNTERS };
	uint64_t values[] = { 0, 0, 0, 0 };
	struct rule_listener l = { .note = hear };
	struct heard h = { .counter = "cmds_err" };
	struct world w;

	(void)state;
	world_begin(&w, ETH, 0,
		"[Counter cmds_err]\nThreshold=10/min\nSeverity=degraded\n"
		"[Port mlx5_0/1]\nExpect=up\n");
	device_name(&w, names, 4);
	device_count(&w, values, 4, 0xf);
	world_read(&w, PORT_STATE_DOWN);
	w.now += MN;
	values[2] = 10;
	device_count(&w, values, 4, 0xf);
	assert_null(device_error(&w, "cmds_err"));
	w.now += MN;
	values[2] = 21;
	device_count(&w, values, 4, 0xf);
	assert_int_equal(device_error(&w, "cmds_err")->severity, SEVERITY_DEGRADED);
	assert_string_equal(device_error(&w, "cmds_err")->found, "11 more in 1min");
	l.user = &h;
	judge_set_listener(&l);
	judge_device(w.device, w.config, at(w.now), NULL, NULL);
	judge_set_listener(NULL);
	assert_int_equal(h.errors, 1);
	assert_int_equal(h.outcome, OUTCOME_RAISED);
	assert_int_equal(h.line, 2);
	/* Nobody expects its port any more. */
	world_configure(&w, "[Counter cmds_err]\nThreshold=10/min\n[Port *]\nExpect=any\n");
	w.now += MN;
	values[2] = 90;
	device_count(&w, values, 4, 0xf);
	assert_int_equal(w.device->verdict.health, HEALTH_IGNORED);
	assert_int_equal(w.device->verdict.n_reasons, 0);
	world_end(&w);
}

/* ---- falls that nobody told of ---- */

struct fall_world {
	struct world w;
	uint64_t value;
};

static void falls_begin(struct fall_world *f, uint64_t value)
{
	static const char *const names[] = { "link_downed" };

	world_begin(&f->w, IB, NDR, NULL);
	world_name(&f->w, PMA, names, 1);
	f->value = value;
	assert_int_equal(world_count(&f->w, &f->value, 1), 0);
}

/* The counter rises by that much; what it told that nothing else did becomes blips. */
static uint32_t falls_count(struct fall_world *f, usec_t after, uint64_t by)
{
	f->w.now += after;
	f->value += by;
	if (world_count(&f->w, &f->value, 1) == 0)
		return 0;
	world_read(&f->w, f->w.port->facts.state);
	return f->w.update.blips;
}

/* A PORT_ERR, and a reading that says what follows. */
static uint32_t falls_event(struct fall_world *f, usec_t after, int state)
{
	f->w.now += after;
	port_note_downs(f->w.port, 1, f->w.now);
	world_read(&f->w, state);
	return f->w.update.blips;
}

static void link_downed_blips(void **state)
{
	static const struct {
		uint64_t from, by;
		uint32_t blips;
		bool saturated;
	} t[] = {
		{ 5, 0, 0, false },
		{ 5, 1, 1, false },
		{ 0, 3, 3, false },
		{ 254, 1, 1, true },
		{ 255, 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct fall_world f;

		falls_begin(&f, t[i].from);
		if (falls_count(&f, MN, t[i].by) != t[i].blips)
			fail_msg("%zu: %u", i, f.w.update.blips);
		assert_int_equal(f.w.port->flap_count, t[i].blips);
		assert_int_equal(
			stands(&f.w, REASON_COUNTER_SATURATED, "link_downed"), t[i].saturated);
		/* And not once more by the next reading. */
		assert_int_equal(falls_count(&f, MN, 0), 0);
		world_end(&f.w);
	}
}

/* At its end the counter says nothing; the event does. */
static void link_downed_at_its_end(void **state)
{
	struct fall_world f;

	(void)state;
	falls_begin(&f, 255);
	assert_int_equal(falls_event(&f, MN, PORT_STATE_ACTIVE), 1);
	assert_int_equal(falls_count(&f, S, 0), 0);
	assert_int_equal(f.w.port->flap_count, 1);
	assert_true(stands(&f.w, REASON_COUNTER_SATURATED, "link_downed"));
	world_end(&f.w);
}

/* In whatever order event, reading and counter come, one fall is one. */
static void link_downed_counts_once(void **state)
{
	struct fall_world f;

	(void)state;
	/* event, counter */
	falls_begin(&f, 0);
	falls_event(&f, MN, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, S, 1), 0);
	assert_int_equal(f.w.port->flap_count, 1);
	/* counter, event soon after */
	assert_int_equal(falls_count(&f, MN, 1), 1);
	assert_int_equal(falls_event(&f, S / 2, PORT_STATE_ACTIVE), 0);
	assert_int_equal(falls_count(&f, MN, 0), 0);
	assert_int_equal(f.w.port->flap_count, 2);
	/* counter read before it counted, event, counter */
	falls_event(&f, MN, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, 1, 0), 0);
	assert_int_equal(falls_count(&f, MN, 1), 0);
	assert_int_equal(f.w.port->flap_count, 3);
	/* two falls of which one event was lost */
	falls_event(&f, MN, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, S, 2), 1);
	assert_int_equal(f.w.port->flap_count, 5);
	/* an event much later is another fall */
	assert_int_equal(falls_event(&f, 10 * S, PORT_STATE_ACTIVE), 1);
	assert_int_equal(falls_count(&f, S, 1), 0);
	assert_int_equal(f.w.port->flap_count, 6);
	world_end(&f.w);
}

/* A fall that readings saw, with its event before or after the counter. */
static void link_downed_and_readings(void **state)
{
	struct fall_world f;

	(void)state;
	falls_begin(&f, 9);
	falls_event(&f, MN, PORT_STATE_DOWN);
	assert_int_equal(falls_count(&f, S, 1), 0);
	f.w.now += S;
	world_read(&f.w, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, MN, 0), 0);
	assert_int_equal(f.w.port->flap_count, 1);
	/* The counter was first, the reading then says DOWN, the event comes last. */
	f.w.now += MN;
	f.value++;
	assert_int_equal(world_count(&f.w, &f.value, 1), 1);
	world_read(&f.w, PORT_STATE_DOWN);
	assert_int_equal(f.w.update.blips, 0);
	assert_int_equal(falls_event(&f, S / 2, PORT_STATE_DOWN), 0);
	assert_int_equal(f.w.port->flap_count, 2);
	world_end(&f.w);
}

/* Bringing a link up, losing the subnet manager, a reset and a gap are no falls that were missed. */
static void link_downed_no_evidence(void **state)
{
	struct fall_world f;

	(void)state;
	falls_begin(&f, 9);
	f.value = 3; /* a reset */
	assert_int_equal(falls_count(&f, MN, 0), 0);
	assert_int_equal(falls_count(&f, MN, 0), 0);
	/* INIT is an edge which the counter never comes to: it must not hide the next fall for ever. */
	f.w.now += MN;
	world_read(&f.w, PORT_STATE_INIT);
	f.w.now += S;
	world_read(&f.w, PORT_STATE_ACTIVE);
	assert_int_equal(f.w.port->flap_count, 1);
	assert_int_equal(falls_count(&f, MN, 0), 0);
	assert_int_equal(falls_count(&f, MN, 0), 0);
	assert_int_equal(falls_count(&f, MN, 1), 1);
	/* Not ACTIVE at both readings. */
	f.w.now += 10 * S;
	world_read(&f.w, PORT_STATE_DOWN);
	assert_int_equal(falls_count(&f, MN, 4), 0);
	f.w.now += S;
	world_read(&f.w, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, MN, 2), 0);
	assert_int_equal(f.w.port->flap_count, 3);
	/* Meant to be: no blip, by the counter either. */
	f.w.now += MN;
	assert_int_equal(falls_count(&f, 1, 0), 0);
	port_excuse_down(f.w.port, f.w.now, f.w.now + MN);
	f.w.now += S;
	world_read(&f.w, PORT_STATE_DOWN);
	f.w.now += S;
	world_read(&f.w, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, MN, 1), 0);
	assert_int_equal(f.w.port->flap_count, 3);
	assert_int_equal(falls_count(&f, MN, 0), 0);
	/* Unread: what came meanwhile is compared when it is read again. */
	f.w.now += MN;
	f.value++;
	assert_int_equal(world_count(&f.w, &f.value, 0), 0);
	assert_int_equal(falls_count(&f, MN, 0), 1);
	world_end(&f.w);
}

/* More than the ring of flaps holds; and at random moments, when the link is not ACTIVE at each reading. */
static void link_downed_in_a_storm(void **state)
{
	struct fall_world f;

	(void)state;
	falls_begin(&f, 0);
	assert_int_equal(falls_count(&f, MN, 200), 200);
	assert_int_equal(f.w.port->flap_count, 200);
	world_end(&f.w);

	falls_begin(&f, 0);
	for (int i = 0; i < 3; i++)
		falls_event(&f, 3 * S, PORT_STATE_ACTIVE);
	falls_event(&f, S, PORT_STATE_DOWN);
	/* Down now: 4 are known, 40 were. */
	assert_int_equal(falls_count(&f, S, 40), 36);
	assert_int_equal(f.w.port->flap_count, 40);
	/* It was down then and falls on. */
	f.w.now += 3 * S;
	world_read(&f.w, PORT_STATE_ACTIVE);
	for (int i = 0; i < 3; i++)
		falls_event(&f, 3 * S, PORT_STATE_ACTIVE);
	assert_int_equal(falls_count(&f, S, 10), 7);
	assert_int_equal(f.w.port->flap_count, 50);
	/* No link falls that often. */
	assert_int_equal(falls_count(&f, MN, UINT32_MAX), 1000000);
	world_end(&f.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_counter),
		cmocka_unit_test(ignored_ports),
		cmocka_unit_test(released_ports),
		cmocka_unit_test(many_counters),
		cmocka_unit_test(many_saturated),
		cmocka_unit_test(texts),
		cmocka_unit_test(explained),
		cmocka_unit_test(device_counters),
		cmocka_unit_test(device_counters_configured),
		cmocka_unit_test(link_downed_blips),
		cmocka_unit_test(link_downed_at_its_end),
		cmocka_unit_test(link_downed_counts_once),
		cmocka_unit_test(link_downed_and_readings),
		cmocka_unit_test(link_downed_no_evidence),
		cmocka_unit_test(link_downed_in_a_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
