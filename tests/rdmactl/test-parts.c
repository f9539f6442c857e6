/* SPDX-License-Identifier: MIT */
/*
 * The parts of rdmactl that are told apart from where their input comes from: moments, kinds of
 * records, records and their selection, names of counters, PCIe links.
 */
#include <errno.h>
#include <time.h>

#include "counter-kind.h"
#include "event.h"
#include "explain-reason.h"
#include "message-ids.h"
#include "nearest.h"
#include "test.h"
#include "topo.h"
#include "when.h"

/* 2026-11-30 08:04:41.5 in Berlin, one hour east. */
#define NOW (UINT64_C(1796022281500000))
#define SEC USEC_PER_SEC

static int set_zone(void **state)
{
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return 0;
}

static void test_when(void **state)
{
	static const struct {
		const char *text;
		usec_t want;
	} t[] = {
		{ "now", NOW },
		{ "-1h", NOW - 3600 * SEC },
		{ "1h ago", NOW - 3600 * SEC },
		{ " 1h 30min ago ", NOW - 5400 * SEC },
		{ "-90", NOW - 90 * SEC },
		{ "-100000d", 0 },
		{ "@1796022281", 1796022281 * SEC },
		{ "today", UINT64_C(1795993200) * SEC },
		{ "yesterday", UINT64_C(1795906800) * SEC },
		{ "2026-11-30", UINT64_C(1795993200) * SEC },
		{ "2026-11-30 10:00", UINT64_C(1796029200) * SEC },
		{ "2026-11-30  10:00:30", UINT64_C(1796029230) * SEC },
		{ "2026-11-30T10:00", UINT64_C(1796029200) * SEC },
		{ "10:00", UINT64_C(1796029200) * SEC },
		{ "10:00:01", UINT64_C(1796029201) * SEC },
		/* Summer time is two hours east. */
		{ "2026-07-01 00:00", UINT64_C(1782856800) * SEC },
		{ "2024-02-29", UINT64_C(1709161200) * SEC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		usec_t got = 1;

		assert_int_equal(when_parse(t[i].text, NOW, &got), 0);
		if (got != t[i].want)
			fail_msg("%s: %llu, not %llu", t[i].text, (unsigned long long)got,
				(unsigned long long)t[i].want);
	}
}

/* The day before the clocks change, and the day after, begin at midnight, too. */
static void test_when_summer(void **state)
{
	usec_t got;

	/* 2026-03-30 12:00 CEST; the clocks went forward on the 29th. */
	assert_int_equal(when_parse("yesterday", UINT64_C(1774864800) * SEC, &got), 0);
	assert_true(got == UINT64_C(1774738800) * SEC);
	/* 2026-01-01 12:00 */
	assert_int_equal(when_parse("yesterday", UINT64_C(1767265200) * SEC, &got), 0);
	assert_true(got == UINT64_C(1767135600) * SEC);
}

static void test_when_wrong(void **state)
{
	static const char *const invalid[] = { "", "soon", "ago", "-", "1h", "h ago", "2026",
		"2026-1-1", "2026-11-30x", "2026-11-30 10", "2026-11-30 x", "10:0",
		"10:00:", "10:00:00:00", "@", "@x", "@-1", "-x", "today 10:00",
		"2026-11-30 10:00 UTC",
		"2026-11-30                                                       10:00" };
	static const char *const none[] = { "2026-02-30", "2025-02-29", "2026-13-01", "2026-00-01",
		"2026-11-00", "2026-11-31", "24:00", "10:60", "@99999999999999999" };
	usec_t got = 7;

	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		if (when_parse(invalid[i], NOW, &got) != -EINVAL)
			fail_msg("'%s' was taken", invalid[i]);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (when_parse(none[i], NOW, &got) != -ERANGE)
			fail_msg("'%s' was taken", none[i]);
	assert_true(got == 7);
}

static void test_when_format(void **state)
{
	char buf[WHEN_MAX];

	assert_string_equal(when_format(buf, NOW), "2026-11-30 08:04:41");
}

/* ---- events ---- */

/* Every MESSAGE_ID of the daemon has a kind here, and no other has. */
static void test_every_record_has_a_kind(void **state)
{
	FILE *f = fopen(SOURCE_ROOT "/daemon/publish/message-ids.h", "re");
	char line[256], id[64];
	enum event_kind kind;
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "#define RDMAD_MESSAGE_%*s \"%32[0-9a-f]\"", id) == 1) {
			n++;
			if (event_kind_of(id) == _EVENT_KIND_MAX)
				fail_msg("no kind in tools/rdmactl/event-kind.c: %s", line);
		}
	fclose(f);
	assert_true(n >= 15);
	assert_non_null(event_message_id(n - 1, &kind));
	assert_null(event_message_id(n, &kind));
	assert_int_equal(event_kind_of("00000000000000000000000000000000"), _EVENT_KIND_MAX);
	assert_int_equal(event_kind_of(RDMAD_MESSAGE_INVENTORY), EVENT_INVENTORY);
	assert_int_equal(event_kind_of(RDMAD_MESSAGE_RECOVERED), EVENT_STATE);
}

static void test_kinds(void **state)
{
	unsigned kinds = 0;
	char *wrong = NULL;

	assert_int_equal(event_kinds_parse("state", &kinds, &wrong), 0);
	assert_int_equal(kinds, 1 << EVENT_STATE);
	assert_int_equal(event_kinds_parse("inventory,state", &kinds, &wrong), 0);
	assert_int_equal(kinds, 1 << EVENT_STATE | 1 << EVENT_INVENTORY);
	assert_null(wrong);
	assert_int_equal(event_kinds_parse("state,nosuch,x", &kinds, &wrong), -EINVAL);
	assert_string_equal(wrong, "nosuch");
	free(wrong);
	assert_int_equal(event_kinds_parse("state,", &kinds, &wrong), -EINVAL);
	assert_string_equal(wrong, "");
	free(wrong);
	assert_int_equal(event_kinds_parse("admin,config", &kinds, &wrong), 0);
	assert_int_equal(kinds, 1 << EVENT_ADMIN | 1 << EVENT_CONFIG);
	assert_int_equal(event_kinds_all(), (1 << _EVENT_KIND_MAX) - 1);
}

/* A record for event_read(): pairs of names and values, NULL at the end. */
static char *from_pairs(void *user, const char *field)
{
	for (const char *const *p = user; *p; p += 2)
		if (streq(p[0], field))
			return strdup(p[1]);
	return NULL;
}

static const char *const port_down[] = { "MESSAGE", "rxe0/1: port down\xff", "MESSAGE_ID",
	RDMAD_MESSAGE_PORT_DOWN, "PRIORITY", "3", "RDMAD_OBJECT", "rxe0/1", "RDMAD_EDGE", "raised",
	"RDMA_DEVICE", "rxe0", "RDMA_PORT", "1", NULL };
static const char *const host[] = { "MESSAGE_ID", RDMAD_MESSAGE_SETUP_FAILED, "PRIORITY", "x",
	"RDMAD_OBJECT", "host", NULL };
static const char *const moved[] = { "MESSAGE_ID", RDMAD_MESSAGE_INVENTORY, "RDMAD_OBJECT",
	"0000:1b:00.0", "RDMA_DEVICE", "mlx5_0", "RDMAD_FACT", "firmware", NULL };
static const char *const alien[] = { "MESSAGE_ID", "ffffffffffffffffffffffffffffffff",
	"RDMAD_OBJECT", "rxe0/1", NULL };

static bool selected(const char *const *record, char *pattern)
{
	char *patterns[] = { pattern };
	const struct options o = { .patterns = patterns, .n_patterns = pattern ? 1 : 0 };
	struct event e;
	bool b;

	event_read(&e, NOW, from_pairs, (void *)record);
	b = event_selected(&o, &e);
	event_done(&e);
	return b;
}

static void test_selection(void **state)
{
	char device[] = "rxe0", port[] = "rxe0/1", glob[] = "rxe*/1", other[] = "rxe1",
	     mlx[] = "mlx5_*", all[] = "*";

	assert_true(selected(port_down, NULL));
	assert_true(selected(port_down, device));
	assert_true(selected(port_down, port));
	assert_true(selected(port_down, glob));
	assert_true(selected(port_down, all));
	assert_false(selected(port_down, other));
	assert_true(selected(host, NULL));
	assert_false(selected(host, device));
	assert_true(selected(moved, mlx));
	assert_false(selected(moved, other));
	/* Another program's record is never one of ours. */
	assert_false(selected(alien, NULL));
	assert_false(selected(alien, port));
}

static void test_event_json(void **state)
{
	struct event e;
	json_t *v;

	event_read(&e, NOW, from_pairs, (void *)port_down);
	assert_int_equal(event_priority(&e), 3);
	v = event_json(&e);
	assert_true(json_integer_value(json_object_get(v, "When")) == (json_int_t)NOW);
	assert_string_equal(json_string_value(json_object_get(v, "Kind")), "state");
	assert_string_equal(
		json_string_value(json_object_get(v, "Message")), "rxe0/1: port down\\xff");
	assert_true(json_integer_value(json_object_get(v, "Priority")) == 3);
	assert_true(json_integer_value(json_object_get(v, "Port")) == 1);
	assert_true(json_is_null(json_object_get(v, "Remedy")));
	json_decref(v);
	event_done(&e);

	event_read(&e, NOW, from_pairs, (void *)host);
	assert_int_equal(event_priority(&e), 6);
	v = event_json(&e);
	assert_true(json_is_null(json_object_get(v, "Priority")));
	json_decref(v);
	event_done(&e);
}

/* ---- counters ---- */

static void test_counter_names(void **state)
{
	static const char *const errors[] = { "symbol_error", "link_downed", "VL15_dropped",
		"port_xmit_discards", "port_xmit_wait", "out_of_sequence", "rnr_nak_retry_err",
		"local_ack_timeout_err", "excessive_buffer_overrun_errors", "link_error_recovery",
		"duplicate_request", "out_of_seq_request", "retry_exceeded_err", "RNR sent",
		"RxCrcErr", "no_completion_cmds", "max_retry_exceeded",
		"rx_icrc_encapsulated_err" };
	static const char *const traffic[] = { "port_xmit_data", "port_rcv_packets",
		"rx_read_requests", "unicast_rcv_packets", "rcvd_pkts", "sent_pkts",
		"submitted_cmds", "keep_alive_rcvd", "ip4InOctets", "tx_bytes", "active_qps" };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (!counter_is_error(errors[i]))
			fail_msg("%s", errors[i]);
	for (size_t i = 0; i < ARRAY_SIZE(traffic); i++)
		if (counter_is_error(traffic[i]))
			fail_msg("%s", traffic[i]);
	assert_int_equal(counter_bytes("port_xmit_data"), 4);
	assert_int_equal(counter_bytes("port_rcv_data"), 4);
	assert_int_equal(counter_bytes("rx_bytes"), 1);
	assert_int_equal(counter_bytes("port_rcv_packets"), 0);
}

static void test_counter_format(void **state)
{
	char buf[COUNTER_TEXT_MAX];

	assert_string_equal(counter_format(buf, "x", UINT64_MAX, false), "18446744073709551615");
	assert_string_equal(counter_format(buf, "port_rcv_data", 0, false), "0 B");
	assert_string_equal(counter_format(buf, "port_rcv_data", 249, false), "996 B");
	assert_string_equal(counter_format(buf, "port_rcv_data", 250, false), "1.0 kB");
	assert_string_equal(counter_format(buf, "port_rcv_data", 308642, false), "1.2 MB");
	assert_string_equal(counter_format(buf, "port_rcv_data", 308642, true), "1234568 B");
	/* Four times that is more than 64 bits. */
	assert_string_equal(counter_format(buf, "port_rcv_data", UINT64_MAX, true), "73.8 EB");
	assert_string_equal(counter_rate_format(buf, "port_rcv_data", 2.5e9), "10.0 GB/s");
	assert_string_equal(counter_rate_format(buf, "x", 0), "0/s");
	assert_string_equal(counter_rate_format(buf, "x", 0.001), "<0.01/s");
	assert_string_equal(counter_rate_format(buf, "x", 1.5), "1.50/s");
	assert_string_equal(counter_rate_format(buf, "x", 1234.4), "1234/s");
}

/* ---- PCIe ---- */

static size_t segments_of(const char *hops, struct pcie_segment *ret, json_t **ret_device)
{
	*ret_device = json_pack("{s:o}", "PcieLinks", json_loads(hops, 0, NULL));
	return pcie_segments(*ret_device, ret, 4);
}

static void test_pcie(void **state)
{
	struct pcie_segment s[4];
	json_t *device;
	size_t n;

	n = segments_of("[{\"Address\":\"a\",\"Speed\":8000,\"Width\":16,\"MaxSpeed\":16000,"
			"\"MaxWidth\":16},{\"Address\":\"b\",\"MaxSpeed\":8000,\"MaxWidth\":16},"
			"{\"Address\":\"c\",\"Speed\":8000,\"MaxSpeed\":16000},"
			"{\"Address\":\"d\",\"Width\":8,\"MaxSpeed\":16000,\"MaxWidth\":8},"
			"{\"Address\":\"e\",\"Speed\":8000,\"Width\":4,\"MaxSpeed\":8000,"
			"\"MaxWidth\":8}]",
		s, &device);
	assert_int_equal(n, 3);
	assert_string_equal(s[0].lower, "a");
	assert_string_equal(s[0].upper, "b");
	/* Slower than the adapter could, but the slot cannot more. */
	assert_int_equal(pcie_segment_below(&s[0]), 0);
	/* The width is not known of one end, and the speed alone tells. */
	assert_string_equal(s[1].lower, "c");
	assert_int_equal(s[1].width, 8);
	assert_int_equal(pcie_segment_below(&s[1]), 1);
	/* What the other end can is not known. */
	assert_null(s[2].upper);
	assert_int_equal(pcie_segment_below(&s[2]), -1);
	json_decref(device);

	assert_int_equal(segments_of("[]", s, &device), 0);
	json_decref(device);
	assert_int_equal(segments_of("[null,{},7,8,9,10,11,12,13,14]", s, &device), 5);
	assert_int_equal(pcie_segment_below(&s[3]), -1);
	json_decref(device);
}

static void test_nearest(void **state)
{
	static const struct {
		const char *typed, *want;
	} t[] = {
		{ "prot-down", "port-down" },
		{ "port-down", "port-down" },
		{ "portdown", "port-down" },
		{ "mlx5_1", "mlx5_0" },
		{ "rxe", "rxe0" },
		{ "host1", "host" },
		{ "something", NULL },
		{ "x", NULL },
	};
	static const char *const words[] = { "port-down", "device-missing", "mlx5_0", "rxe0",
		"host" };

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct nearest n = nearest_to(t[i].typed);

		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			nearest_try(&n, words[k]);
		if (!streq_ptr(n.word, t[i].want))
			fail_msg("%s: %s", t[i].typed, n.word ? n.word : "none");
	}
}

static void test_catalog_text(void **state)
{
	static const char entry[] =
		"Subject: @RDMAD_OBJECT@: gone\nDefined-By: rdmad\n\n"
		"The port @RDMAD_OBJECT@ of @RDMA_DEVICE@ is a@b @ @c@ gone.\n\n"
		"Found:  @RDMAD_FOUND@\nWanted: @RDMAD_WANTED@\n\n"
		"What to do: @RDMAD_REMEDY@\n\n 1. Look at @ERRNO@.\n";
	_cleanup_(freep) char *text = explain_catalog_text(entry);
	_cleanup_(freep) char *headless = explain_catalog_text("one line");

	assert_string_equal(text, "The port OBJECT of DEVICE is a@b @ @c@ gone.\n\n"
				  " 1. Look at ....\n");
	assert_string_equal(headless, "one line\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_catalog_text),
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_when_summer),
		cmocka_unit_test(test_when_wrong),
		cmocka_unit_test(test_when_format),
		cmocka_unit_test(test_every_record_has_a_kind),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_event_json),
		cmocka_unit_test(test_counter_names),
		cmocka_unit_test(test_counter_format),
		cmocka_unit_test(test_pcie),
	};

	return cmocka_run_group_tests(tests, set_zone, NULL);
}
