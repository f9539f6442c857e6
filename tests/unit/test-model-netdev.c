/* SPDX-License-Identifier: MIT */
/* Netdevs in the model: their addresses, and which are the legs of a bond. */
#include "test.h"

#include <errno.h>
#include <sys/socket.h>

#include "model.h"

static void see_leg(struct model *m, uint32_t ifindex, uint32_t master, enum bond_leg leg)
{
	struct netdev_facts f = { .ifindex = ifindex, .master = master, .leg = (uint8_t)leg };
	uint32_t downs;

	snprintf(f.name, sizeof(f.name), "d%u", ifindex);
	assert_true(model_see_netdev(m, &f, &downs) >= 0);
}

static void see(struct model *m, uint32_t ifindex)
{
	see_leg(m, ifindex, 0, BOND_LEG_NONE);
}

static struct address_facts address(uint32_t ifindex, uint8_t family, uint32_t number)
{
	struct address_facts f = {
		.ifindex = ifindex, .family = family, .prefix_length = family == AF_INET ? 24 : 64
	};

	memcpy(f.address, &number, sizeof(number));
	return f;
}

static void test_addresses(void **state)
{
	struct address_facts a = address(7, AF_INET, 1), b = address(7, AF_INET6, 1);
	struct model m = { 0 };
	struct netdev *n;

	(void)state;
	model_listing_begin(&m);
	/* An address does not make a netdev. */
	assert_int_equal(model_see_address(&m, &a), 0);
	assert_null(m.netdevs);

	see(&m, 7);
	n = model_netdev_by_index(&m, 7);
	assert_int_equal(model_see_address(&m, &a), 1);
	assert_int_equal(model_see_address(&m, &a), 0);
	assert_int_equal(model_see_address(&m, &b), 1);
	assert_int_equal(n->n_addresses, 2);

	/* Duplicate address detection ended: another flag, the same address. */
	b.flags = 0x80;
	assert_int_equal(model_see_address(&m, &b), 1);
	assert_int_equal(n->n_addresses, 2);
	assert_int_equal(n->addresses[1].facts.flags, 0x80);

	/* The same address with another prefix is another one. */
	a.prefix_length = 16;
	assert_int_equal(model_see_address(&m, &a), 1);
	assert_int_equal(n->n_addresses, 3);

	/* What goes need not have the flags that it came with. */
	b.gone = 1;
	b.flags = 0;
	assert_int_equal(model_see_address(&m, &b), 1);
	assert_int_equal(model_see_address(&m, &b), 0);
	assert_int_equal(n->n_addresses, 2);
	assert_int_equal(n->addresses[0].facts.prefix_length, 24);
	assert_int_equal(n->addresses[1].facts.prefix_length, 16);
	for (size_t i = 0; i < n->n_addresses; i++)
		assert_int_equal(n->addresses[i].facts.family, AF_INET);
	model_done(&m);
}

static void test_addresses_go_with_netdev(void **state)
{
	struct netdev_facts gone = { .ifindex = 7, .gone = true };
	struct address_facts a = address(7, AF_INET, 1);
	struct model m = { 0 };
	uint32_t downs;

	(void)state;
	model_listing_begin(&m);
	see(&m, 7);
	assert_int_equal(model_see_address(&m, &a), 1);
	assert_int_equal(model_see_netdev(&m, &gone, &downs), 1);
	see(&m, 7);
	assert_int_equal(model_netdev_by_index(&m, 7)->n_addresses, 0);

	/* Likewise when a listing finds that it is gone. */
	assert_int_equal(model_see_address(&m, &a), 1);
	model_listing_begin(&m);
	model_drop_stale_netdevs(&m);
	assert_null(m.netdevs);
	model_done(&m);
}

static void test_stale_addresses(void **state)
{
	struct model m = { 0 };
	struct address_facts a;
	struct netdev *n;

	(void)state;
	model_listing_begin(&m);
	see(&m, 7);
	for (uint32_t i = 0; i < 6; i++) {
		a = address(7, AF_INET, i);
		assert_int_equal(model_see_address(&m, &a), 1);
	}
	model_drop_stale_netdevs(&m);
	n = model_netdev_by_index(&m, 7);
	assert_int_equal(n->n_addresses, 6);

	model_listing_begin(&m);
	see(&m, 7);
	for (uint32_t i = 1; i < 6; i += 2) {
		a = address(7, AF_INET, i);
		assert_int_equal(model_see_address(&m, &a), 0);
	}
	assert_int_equal(n->n_addresses, 6);
	model_drop_stale_netdevs(&m);
	assert_int_equal(n->n_addresses, 3);
	for (uint32_t i = 0; i < 3; i++) {
		a = address(7, AF_INET, 2 * i + 1);
		assert_memory_equal(&n->addresses[i].facts, &a, sizeof(a));
	}
	model_done(&m);
}

static void see_many(struct model *m, uint32_t count)
{
	struct address_facts a;

	for (uint32_t i = 0; i < count; i++) {
		a = address(7, AF_INET6, i);
		model_see_address(m, &a);
	}
}

static void test_too_many_addresses(void **state)
{
	struct model m = { 0 };
	struct address_facts a;
	struct netdev *n;

	(void)state;
	model_listing_begin(&m);
	see(&m, 7);
	n = model_netdev_by_index(&m, 7);
	see_many(&m, NETDEV_ADDRESSES_MAX + 5);
	assert_int_equal(n->n_addresses, NETDEV_ADDRESSES_MAX);
	assert_int_equal(n->addresses_beyond, 5);
	model_drop_stale_netdevs(&m);
	assert_int_equal(n->addresses_beyond, 5);

	/* One that is not kept may go as well. */
	a = address(7, AF_INET6, NETDEV_ADDRESSES_MAX + 1);
	a.gone = 1;
	assert_int_equal(model_see_address(&m, &a), 0);
	assert_int_equal(n->addresses_beyond, 4);

	/* The next listing does not count them twice, and finds when there is room again. */
	model_listing_begin(&m);
	see(&m, 7);
	see_many(&m, NETDEV_ADDRESSES_MAX + 2);
	model_drop_stale_netdevs(&m);
	assert_int_equal(n->addresses_beyond, 2);
	model_listing_begin(&m);
	see(&m, 7);
	see_many(&m, 3);
	model_drop_stale_netdevs(&m);
	assert_int_equal(n->n_addresses, 3);
	assert_int_equal(n->addresses_beyond, 0);
	model_done(&m);
}

static void test_legs(void **state)
{
	const struct netdev *leg;
	struct model m = { 0 };

	(void)state;
	see(&m, 9);
	see_leg(&m, 5, 9, BOND_LEG_BACKUP);
	see_leg(&m, 6, 10, BOND_LEG_ACTIVE);
	see_leg(&m, 7, 9, BOND_LEG_NONE); /* a master that is no bond */
	see_leg(&m, 4, 9, BOND_LEG_UNKNOWN);
	see_leg(&m, 12, 9, BOND_LEG_ACTIVE);

	leg = model_next_leg(&m, 9, NULL);
	assert_int_equal(leg->facts.ifindex, 4);
	leg = model_next_leg(&m, 9, leg);
	assert_int_equal(leg->facts.ifindex, 5);
	leg = model_next_leg(&m, 9, leg);
	assert_int_equal(leg->facts.ifindex, 12);
	assert_null(model_next_leg(&m, 9, leg));
	assert_null(model_next_leg(&m, 7, NULL));
	assert_true(netdev_is_bond_leg(leg));
	assert_false(netdev_is_bond_leg(model_netdev_by_index(&m, 7)));

	/* Out of the bond. */
	see(&m, 4);
	leg = model_next_leg(&m, 9, NULL);
	assert_int_equal(leg->facts.ifindex, 5);
	model_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_addresses_go_with_netdev),
		cmocka_unit_test(test_stale_addresses),
		cmocka_unit_test(test_too_many_addresses),
		cmocka_unit_test(test_legs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
