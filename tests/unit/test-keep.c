/* SPDX-License-Identifier: MIT */
/* What one run hands on to the next: it comes back as it was, and what is no such text does no harm. */
#include "test.h"

#include <errno.h>

#include "keep-world.h"
#include "macros.h"

static const struct keep_origin here = { KEEP_WORLD_ORIGIN };

static const struct port_edges *edges_read(const struct port *p)
{
	return p->number == 1 ? p->user : NULL;
}

/* Nothing is lost on the way: written again it is the same text. */
static void test_round_trip(void **state)
{
	_cleanup_(freep) char *text = keep_world_state(), *again = NULL;
	struct model m = { 0 };
	struct keep k = { .model = &m };
	const struct reason *r;
	struct port *p;

	assert_int_equal(keep_parse(text, &here, &k), 0);
	assert_string_equal(k.version, "1.2.3");
	assert_string_equal(k.why, KEEP_WHY_RESTART);
	assert_int_equal(k.saved.mono, AT(110).mono);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_non_null(p);
	assert_true(p->recalled);
	assert_int_equal(p->flap_count, FLAP_RING + 5);
	assert_int_equal(port_flaps_within(p, 1000, 10, NULL), 11);
	assert_int_equal(p->unseen_downs, -1);
	assert_int_equal(p->no_gid.reading, 1); /* of this run's tables, the first one decides */
	assert_int_equal(p->facts.lid, UINT32_MAX);
	r = verdict_find(&p->verdict, REASON_PORT_DOWN, "sym\\bol \"x\"");
	assert_non_null(r);
	assert_int_equal(r->since.mono, AT(91).mono);
	assert_string_equal(r->ack.comment, "cable is ordered");
	assert_string_equal(r->found, "down\t\xc3\xa4\xff");
	assert_null(model_netdev_by_index(&m, 10));
	assert_true(model_netdev_by_index(&m, 9)->facts.address[31] == 0xa5);
	p->no_gid.reading = 9; /* or the texts would differ by that */
	STRSCPY(k.why, KEEP_WHY_RESTART);
	/* Only what a reader is to know, and no netdev that nobody runs on. */
	assert_int_equal(keep_format(&k, &here, edges_read, &again), 0);
	assert_string_equal(again, text);
	keep_world_forget(&m);
}

static void test_counters(void **state)
{
	_cleanup_(freep) char *text = keep_world_state(), *counters = keep_world_counters(),
			      *again = NULL;
	struct counter_name name = {
		.port = 1, .source = COUNTER_PMA, .set = 1, .n = 1, .width = 32
	};
	struct model m = { 0 };
	struct keep k = { .model = &m };
	const struct counter *c;
	struct counter_rise rise;
	struct port *p;
	uint64_t delta;

	assert_int_equal(keep_parse(text, &here, &k), 0);
	assert_int_equal(keep_counters_parse(counters, &here, &m), 0);
	assert_int_equal(keep_counters_format(&m, &here, AT(110), &again), 0);
	assert_string_equal(again, counters);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_false(counter_table_has_names(p->counters[COUNTER_PMA])); /* to be asked for */
	STRSCPY(name.name, "symbol_error");
	assert_int_equal(counter_table_name(&p->counters[COUNTER_PMA], &name), 0);
	c = counter_table_find(p->counters[COUNTER_PMA], "symbol_error");
	assert_non_null(c);
	assert_true(c->stale);
	assert_true(counter_delta(c, &delta));
	assert_int_equal(delta, 15);
	assert_true(c->history->standing);
	assert_true(counter_history_rise(c->history, 0, AT(160).mono, 30, &rise));
	assert_int_equal(rise.by, 20); /* since the sample of the run before */
	keep_world_forget(&m);
}

static void parse_all(const char *text, bool counters, int expected)
{
	_cleanup_(freep) char *good = keep_world_state();
	struct model m = { 0 };
	struct keep k = { .model = &m };
	int r;

	if (counters) {
		assert_int_equal(keep_parse(good, &here, &k), 0);
		r = keep_counters_parse(text, &here, &m);
		if (r < 0)
			assert_null(
				model_device_by_name(&m, "mlx5_0")->ports[0].counters[COUNTER_PMA]);
	} else {
		r = keep_parse(text, &here, &k);
		if (r < 0)
			assert_null(m.devices);
	}
	if (expected <= 0)
		assert_int_equal(r, expected);
	keep_world_forget(&m);
}

/* Whatever a crash or a full disk leaves of it. */
static void test_truncated(void **state)
{
	for (int counters = 0; counters < 2; counters++) {
		_cleanup_(freep) char *text = counters ? keep_world_counters() : keep_world_state();
		size_t size = strlen(text) - 1; /* without the line's end it is complete */

		for (size_t n = 0; n < size; n += n < 200 || n + 200 > size ? 1 : 37) {
			_cleanup_(freep) char *cut = strndup(text, n);

			parse_all(cut, counters, -EBADMSG);
		}
	}
}

/* Bytes that turned into others: any answer but a crash (this is for the sanitizers). */
static void test_garbage(void **state)
{
	static const char bytes[] = "0]}\"-9,:[{x\xff";
	unsigned seed = 4711;

	for (int counters = 0; counters < 2; counters++) {
		_cleanup_(freep) char *text = counters ? keep_world_counters() : keep_world_state();
		size_t size = strlen(text);

		for (int i = 0; i < 1500; i++) {
			_cleanup_(freep) char *bad = strdup(text);

			for (int k = 0; k < 3; k++)
				bad[(size_t)rand_r(&seed) % size] =
					bytes[(size_t)rand_r(&seed) % (sizeof(bytes) - 1)];
			parse_all(bad, counters, 1);
		}
	}
	parse_all("", false, -EBADMSG);
	parse_all("[]", false, -EBADMSG);
	parse_all("{\"Version\":1,\"ReadableFrom\":1}", false, -EBADMSG);
}

static void test_whose(void **state)
{
	_cleanup_(freep) char *text = keep_world_state();
	const struct keep_origin boot = { .machine = "aaaa", .board = "b-1", .boot = "dddd" };
	const struct keep_origin machine = { .machine = "ffff", .board = "b-1", .boot = "cccc" };
	const struct keep_origin board = { .machine = "aaaa", .board = "b-2", .boot = "cccc" };
	const struct keep_origin unknown = { .machine = "aaaa", .board = "", .boot = "cccc" };
	struct model m = { 0 };
	struct keep k = { .model = &m };

	assert_int_equal(keep_parse(text, &boot, &k), -ESTALE);
	assert_int_equal(keep_parse(text, &machine, &k), -EXDEV);
	assert_int_equal(keep_parse(text, &board, &k), -EXDEV);
	assert_int_equal(keep_parse(text, &unknown, &k), 0);
	keep_world_forget(&m);
}

/* Replaces the first of two texts of the same length. */
static void put(char *text, const char *old, const char *new)
{
	char *at = strstr(text, old);

	assert_non_null(at);
	assert_int_equal(strlen(old), strlen(new));
	memcpy(at, new, strlen(new));
}

static void test_versions(void **state)
{
	_cleanup_(freep) char *newer = keep_world_state(), *other = keep_world_state(),
			      *older = keep_world_state();
	struct model m = { 0 };
	struct keep k = { .model = &m };
	const struct port *p;

	/* A newer one that this one understands: what it does not know is left out. */
	put(newer, "\"Version\":1", "\"Version\":9");
	put(newer, "\"Id\":\"link-flapping\"", "\"Id\":\"link-of-futur\"");
	put(newer, "\"FlapFloor\"", "\"WhatsThis\"");
	assert_int_equal(keep_parse(newer, &here, &k), 0);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_int_equal(p->verdict.n_reasons, 1);
	assert_int_equal(p->verdict.reasons[0].id, REASON_PORT_DOWN);
	keep_world_forget(&m);

	/* One that it does not understand. */
	m = (struct model){ 0 };
	put(other, "\"Version\":1", "\"Version\":9");
	put(other, "\"ReadableFrom\":1", "\"ReadableFrom\":2");
	assert_int_equal(keep_parse(other, &here, &k), -ENOTSUP);
	assert_null(m.devices);

	/* An older one, which did not say all of it: unknown, not 0. */
	put(older, "\"SmLid\"", "\"smlid\"");
	put(older, "\"IsVf\"", "\"isvf\"");
	assert_int_equal(keep_parse(older, &here, &k), 0);
	p = device_port(model_device_by_name(&m, "mlx5_0"), 1);
	assert_int_equal(p->facts.sm_lid, UINT32_MAX);
	assert_int_equal(p->device->details.is_vf, -1);
	keep_world_forget(&m);
}

/* The text is no key to memory that is not there. */
static void test_bounds(void **state)
{
	_cleanup_(freep) char *text = keep_world_state(), *long_text = NULL;
	struct model m = { 0 };
	struct keep k = { .model = &m };
	size_t size;
	FILE *f;

	put(text, "\"PortCount\":2", "\"PortCount\":0");
	assert_int_equal(keep_parse(text, &here, &k), 0);
	assert_int_equal(model_device_by_name(&m, "mlx5_0")->n_ports, 0);
	keep_world_forget(&m);

	f = open_memstream(&long_text, &size);
	assert_non_null(f);
	fprintf(f, "{\"Version\":1,\"ReadableFrom\":1,\"Host\":{\"Reasons\":[");
	for (int i = 0; i < 100; i++)
		fprintf(f, "%s{\"Id\":\"port-down\",\"Severity\":\"failed\",\"Subject\":\"%d\"}",
			i ? "," : "", i);
	fprintf(f, "]},\"Devices\":[{\"Facts\":{\"Name\":\"a\",\"PortCount\":4000000000}}]}");
	fclose(f);
	m = (struct model){ 0 };
	assert_int_equal(keep_parse(long_text, &here, &k), -EBADMSG);
	put(long_text, "4000000000", "         1");
	assert_int_equal(keep_parse(long_text, &here, &k), 0);
	assert_int_equal(m.verdict.n_reasons, REASONS_MAX);
	keep_world_forget(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
