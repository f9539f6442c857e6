/* SPDX-License-Identifier: MIT */
#include "test.h"
#include <cmocka.h>

#include <errno.h>

#include "model.h"

static struct gid_facts gid(uint32_t index, uint8_t last, const char *netdev)
{
	struct gid_facts f = { .index = index, .port = 1, .type = GID_TYPE_ROCE_V2 };

	f.gid[0] = 0xfe;
	f.gid[15] = last;
	STRSCPY(f.netdev, netdev);
	return f;
}

static void add(struct port_tables *t, struct gid_facts f)
{
	assert_int_equal(port_tables_add_gid(t, &f), 0);
}

static struct tables_update finish(struct port_tables *t, int gid_error)
{
	struct table_facts f = { .port = 1, .gid_slots = 16, .gid_error = gid_error };
	struct tables_update u;

	port_tables_finish(t, &f, &u);
	return u;
}

static void test_first_reading(void **state)
{
	struct port_tables t = { 0 };
	struct tables_update u;

	port_tables_begin(&t);
	add(&t, gid(0, 1, "eth0"));
	assert_false(t.known);
	assert_int_equal(t.n_gids, 0); /* half a table is not shown */
	u = finish(&t, 0);
	assert_true(u.first && u.gids_changed && !u.pkeys_changed);
	assert_int_equal(u.n_moves, 0);
	assert_int_equal(t.n_gids, 1);
	port_tables_done(&t);
}

static void test_same_again(void **state)
{
	struct port_tables t = { 0 };

	for (int i = 0; i < 2; i++) {
		port_tables_begin(&t);
		add(&t, gid(0, 1, "eth0"));
		add(&t, gid(3, 2, "eth0"));
		assert_int_equal(finish(&t, 0).gids_changed, i == 0);
	}
	port_tables_done(&t);
}

static void test_move(void **state)
{
	struct port_tables t = { 0 };
	struct tables_update u;

	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(1, 2, "eth0"));
	add(&t, gid(2, 3, "eth0"));
	finish(&t, 0);
	/* 1 went, 3 took its place; a fourth is new at 5. */
	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(1, 3, "eth0"));
	add(&t, gid(5, 4, "eth0"));
	u = finish(&t, 0);
	assert_int_equal(u.n_moves, 1);
	assert_int_equal(u.moves[0].old_index, 2);
	assert_int_equal(u.moves[0].gid.index, 1);
	port_tables_done(&t);
}

/* An interface that is taken down and up again loses its GIDs for a while. */
static void test_move_across_absence(void **state)
{
	struct port_tables t = { 0 };
	struct tables_update u;

	(void)state;
	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(1, 2, "eth0"));
	add(&t, gid(2, 3, "eth0"));
	finish(&t, 0);
	assert_int_equal(finish(&t, 0).n_moves, 0);
	assert_int_equal(t.n_departed, 3);
	add(&t, gid(0, 1, "eth0"));
	assert_int_equal(finish(&t, 0).n_moves, 0);
	assert_int_equal(t.n_departed, 2);
	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(1, 3, "eth0"));
	add(&t, gid(2, 2, "eth0"));
	u = finish(&t, 0);
	assert_int_equal(u.n_moves, 2);
	assert_int_equal(u.moves[0].gid.index, 1);
	assert_int_equal(u.moves[0].old_index, 2);
	assert_int_equal(u.moves[1].old_index, 1);
	assert_int_equal(t.n_departed, 0);
	port_tables_done(&t);
}

/* However many come and go, what is remembered is bounded, and it is the last ones. */
static void test_departed_are_bounded(void **state)
{
	struct port_tables t = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		add(&t, gid(0, (uint8_t)i, "eth0"));
		finish(&t, 0);
	}
	assert_int_equal(t.n_departed, GIDS_DEPARTED_MAX);
	add(&t, gid(4, 198, "eth0"));
	assert_int_equal(finish(&t, 0).n_moves, 1);
	add(&t, gid(4, 100, "eth0"));
	assert_int_equal(finish(&t, 0).n_moves, 0);
	port_tables_done(&t);
}

static void test_same_gid_of_two_netdevs(void **state)
{
	struct port_tables t = { 0 };

	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(1, 1, "eth0.5"));
	finish(&t, 0);
	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(2, 1, "eth0.5"));
	assert_int_equal(finish(&t, 0).n_moves, 1);
	/* A copy at one more index moves nothing. */
	add(&t, gid(0, 1, "eth0"));
	add(&t, gid(2, 1, "eth0.5"));
	add(&t, gid(4, 1, "eth0"));
	assert_int_equal(finish(&t, 0).n_moves, 0);
	port_tables_done(&t);
}

static void test_unreadable_keeps_the_last(void **state)
{
	struct port_tables t = { 0 };
	struct tables_update u;

	add(&t, gid(0, 1, "eth0"));
	finish(&t, 0);
	port_tables_begin(&t);
	u = finish(&t, -EIO);
	assert_false(u.gids_changed);
	assert_int_equal(t.n_gids, 1);
	assert_int_equal(t.facts.gid_error, -EIO);
	port_tables_done(&t);
}

static void test_begin_drops_half_a_reading(void **state)
{
	struct port_tables t = { 0 };

	add(&t, gid(0, 1, "eth0"));
	port_tables_begin(&t);
	add(&t, gid(1, 2, "eth0"));
	finish(&t, 0);
	assert_int_equal(t.n_gids, 1);
	assert_int_equal(t.gids[0].index, 1);
	port_tables_done(&t);
}

static void test_bounds(void **state)
{
	struct pkey_facts piece = { .port = 1, .n = PKEYS_PER_PIECE };
	struct port_tables t = { 0 };
	struct gid_facts f = gid(0, 1, "");

	for (size_t i = 0; i < GIDS_MAX; i++)
		assert_int_equal(port_tables_add_gid(&t, &f), 0);
	assert_int_equal(port_tables_add_gid(&t, &f), -E2BIG);
	piece.first = 1; /* a hole */
	assert_int_equal(port_tables_add_pkeys(&t, &piece), -E2BIG);
	for (piece.first = 0; piece.first < PKEYS_MAX; piece.first += PKEYS_PER_PIECE)
		assert_int_equal(port_tables_add_pkeys(&t, &piece), 0);
	assert_int_equal(port_tables_add_pkeys(&t, &piece), -E2BIG);
	piece = (struct pkey_facts){ .port = 1, .first = PKEYS_MAX, .n = UINT32_MAX };
	assert_int_equal(port_tables_add_pkeys(&t, &piece), -E2BIG);
	finish(&t, 0);
	assert_int_equal(t.n_pkeys, PKEYS_MAX);
	port_tables_done(&t);
}

static void test_details_keep_what_was_known(void **state)
{
	struct device d = { 0 };
	struct device_details f = device_details_unknown(1);

	STRSCPY(f.board_id, "MT_0000000838");
	assert_true(device_see_details(&d, &f));
	assert_false(device_see_details(&d, &f));
	f.board_id[0] = '\0';
	STRSCPY(f.local_cpus, "0-3");
	assert_true(device_see_details(&d, &f));
	assert_string_equal(d.details.board_id, "MT_0000000838");
	assert_string_equal(d.details.local_cpus, "0-3");
}

static void test_settings_change(void **state)
{
	struct device d = { 0 };
	struct port p = { 0 };
	struct setting_facts f = setting_facts_unknown(1, 1);

	(void)state;
	/* To know that it is unknown is a change, too: it was asked. */
	assert_true(port_see_settings(&p, &f));
	assert_true(p.have_settings);
	assert_int_equal(p.settings.roce_tos, -1);
	assert_true(p.settings.optional_error < 0);
	assert_false(port_see_settings(&p, &f));
	f.optional_error = 0;
	STRSCPY(f.optional_on, "cc_rx_ce_pkts");
	assert_true(port_see_settings(&p, &f));
	assert_string_equal(p.settings.optional_on, "cc_rx_ce_pkts");
	/* What cannot be read any more is not taken for what it was. */
	f = setting_facts_unknown(1, 1);
	assert_true(port_see_settings(&p, &f));
	assert_string_equal(p.settings.optional_on, "");

	f = setting_facts_unknown(1, 0);
	f.adaptive_moderation = 0;
	assert_true(device_see_settings(&d, &f));
	assert_false(device_see_settings(&d, &f));
	assert_int_equal(d.settings.adaptive_moderation, 0);
	assert_int_equal(system_facts_unknown().netns_exclusive, -1);
}

static void test_qos_counts_are_no_change(void **state)
{
	struct netdev n = { 0 };
	struct qos_facts f = qos_facts_unknown(3, "eth0");

	assert_true(netdev_see_qos(&n, &f));
	f.pause_tx_frames = 17;
	assert_false(netdev_see_qos(&n, &f));
	assert_int_equal(n.qos.pause_tx_frames, 17);
	f.pfc = 8;
	assert_true(netdev_see_qos(&n, &f));
}

static void test_formats(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	static const uint8_t ll[16] = { 0xfe, 0x80, [8] = 0, 2, 0xc9, 3, 0, 0xaa, 0, 0x11 };
	char link[PCIE_LINK_MAX], text[GID_STRING_MAX], address[ADDRESS_STRING_MAX];

	assert_string_equal(pcie_link_format(link, 16000, 16), "16.0 GT/s x16");
	assert_string_equal(pcie_link_format(link, 2500, 1), "2.5 GT/s x1");
	assert_string_equal(pcie_link_format(link, 0, 16), "unknown");
	assert_string_equal(gid_format(text, ll), "fe80:0000:0000:0000:0002:c903:00aa:0011");
	assert_string_equal(gid_address_format(address, mapped), "192.0.2.1");
	assert_string_equal(gid_address_format(address, ll), "fe80::2:c903:aa:11");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_reading),
		cmocka_unit_test(test_same_again),
		cmocka_unit_test(test_move),
		cmocka_unit_test(test_move_across_absence),
		cmocka_unit_test(test_departed_are_bounded),
		cmocka_unit_test(test_same_gid_of_two_netdevs),
		cmocka_unit_test(test_unreadable_keeps_the_last),
		cmocka_unit_test(test_begin_drops_half_a_reading),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_details_keep_what_was_known),
		cmocka_unit_test(test_settings_change),
		cmocka_unit_test(test_qos_counts_are_no_change),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
