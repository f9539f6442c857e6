/* SPDX-License-Identifier: MIT */
/* What counts as a change of an adapter, and what does not. */
#include "test.h"

#include <errno.h>

#include "inventory.h"

#define GUID_A UINT64_C(0x0002c90300aa0010)
#define GUID_B UINT64_C(0x0002c90300aa0020)
#define GUID_C UINT64_C(0x0002c90300aa0030)

/* ---- a host, and what is told of it ---- */

#define TOLD_MAX 1024

struct rig {
	struct model model;
	struct inventory inv;
	unsigned n;
	enum inventory_fact facts[TOLD_MAX];
	char messages[TOLD_MAX][INVENTORY_MESSAGE_MAX];
	usec_t again;
};

static struct timepoint at(usec_t sec)
{
	return (struct timepoint){ .mono = sec * USEC_PER_SEC,
		.real = (1700000000 + sec) * USEC_PER_SEC };
}

static void note(const struct inventory_change *c, void *user)
{
	struct rig *r = user;

	assert_true(r->n < TOLD_MAX);
	r->facts[r->n] = c->fact;
	inventory_message(r->messages[r->n++], c);
}

static void look_with(struct rig *r, usec_t sec, bool baseline, bool gone_due)
{
	struct inventory_look l = {
		.model = &r->model,
		.now = at(sec),
		.settled_at = gone_due ? 0 : USEC_INFINITY,
		.baseline = baseline,
		.report = note,
		.user = r,
	};

	r->n = 0;
	assert_int_equal(inventory_look(&r->inv, &l, &r->again), 0);
}

static void look(struct rig *r, usec_t sec)
{
	look_with(r, sec, false, false);
}

#define assert_told(r, text)                                 \
	do {                                                 \
		assert_int_equal((r)->n, 1);                 \
		assert_string_equal((r)->messages[0], text); \
	} while (0)

static struct device_facts facts_of(
	uint32_t index, const char *name, uint64_t guid, const char *pci)
{
	struct device_facts f = {
		.index = index,
		.port_count = 1,
		.node_guid = guid,
		.sys_image_guid = guid,
		.numa_node = -1,
		.firmware_version = "28.41.1000",
		.board_id = "SIM_1",
		.driver = "mlx5_core",
	};

	STRSCPY(f.name, name);
	STRSCPY(f.pci_address, pci);
	return f;
}

/* The device is there, and its ports were read. */
static struct device *plug_facts(struct rig *r, const struct device_facts *f)
{
	struct device *d;

	assert_true(model_see_device(&r->model, f, at(1), &d) >= 0);
	d->details = device_details_unknown(f->index);
	d->have_details = true;
	for (uint32_t i = 1; i <= f->port_count; i++) {
		struct port_facts p = port_facts_unknown(f->index, i);

		p.state = PORT_STATE_ACTIVE;
		p.link_layer = LINK_LAYER_ETHERNET;
		p.rate_mbps = 100000;
		STRSCPY(p.width, "4X");
		STRSCPY(p.speed, "EDR");
		STRSCPY(p.netdev, "ens1");
		port_see(device_port(d, i), &p, true, at(1));
	}
	return d;
}

static struct device *plug(
	struct rig *r, uint32_t index, const char *name, uint64_t guid, const char *pci)
{
	struct device_facts f = facts_of(index, name, guid, pci);

	return plug_facts(r, &f);
}

static void unplug(struct rig *r, uint32_t index)
{
	model_remove_device(&r->model, model_device_by_index(&r->model, index));
}

/* rdmad ends and starts: what is not in the picture is forgotten. */
static void restart(struct rig *r)
{
	for (size_t i = 0; i < r->inv.n; i++) {
		struct inventory_entry *e = &r->inv.entries[i];

		e->present = e->compared = e->gone_by_condition = false;
		for (size_t k = 0; k < e->n_ports; k++)
			e->ports[k].netdev_next[0] = '\0';
	}
	while (r->model.missing)
		model_remove_missing(&r->model, r->model.missing);
}

static int set_up(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	*state = r;
	if (!r)
		return -1;
	plug(r, 1, "mlx5_0", GUID_A, "0000:3b:00.0");
	look_with(r, 1, true, false);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, 1);
	assert_true(r->inv.changed);
	r->inv.changed = false;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *r = *state;

	inventory_done(&r->inv);
	model_done(&r->model);
	free(r);
	return 0;
}

/* ---- tests ---- */

static void test_nothing(void **state)
{
	struct rig *r = *state;

	/* The same again, a restart, a reload of the driver (another index), a rename. */
	look(r, 2);
	assert_int_equal(r->n, 0);
	restart(r);
	look_with(r, 3, false, true);
	assert_int_equal(r->n, 0);
	unplug(r, 1);
	look(r, 4);
	assert_int_equal(r->n, 0);
	plug(r, 2, "mlx5_0", GUID_A, "0000:3b:00.0");
	look_with(r, 5, false, true);
	assert_int_equal(r->n, 0);
	assert_false(r->inv.changed);
	for (usec_t i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "fast%u", (unsigned)i);
		plug(r, 2, name, GUID_A, "0000:3b:00.0");
		look(r, 10 + i);
		assert_int_equal(r->n, 0);
	}
	assert_string_equal(r->inv.entries[0].name, "fast99");
	assert_int_equal(r->inv.n, 1);
	assert_int_equal(r->inv.entries[0].last_seen, at(109).real);
}

static void test_firmware(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(1, "mlx5_0", GUID_A, "0000:3b:00.0");

	/* Unknown is no change, and nothing is lost by it. */
	f.firmware_version[0] = '\0';
	f.board_id[0] = '\0';
	plug_facts(r, &f);
	look(r, 2);
	assert_int_equal(r->n, 0);
	assert_string_equal(r->inv.entries[0].firmware_version, "28.41.1000");

	STRSCPY(f.firmware_version, "28.42.1000");
	plug_facts(r, &f);
	look(r, 3);
	assert_told(r, "mlx5_0: firmware 28.42.1000, was 28.41.1000");
	assert_true(r->inv.changed);
	look(r, 4);
	assert_int_equal(r->n, 0);

	/* Unwatched: between two runs. */
	restart(r);
	STRSCPY(f.firmware_version, "28.43.1000");
	STRSCPY(f.board_id, "SIM_2");
	plug_facts(r, &f);
	look(r, 100);
	assert_int_equal(r->n, 2);
	assert_string_equal(r->messages[0], "mlx5_0: firmware 28.43.1000, was 28.42.1000 (since "
					    "2023-11-14 22:13:24 UTC)");
	assert_int_equal(r->facts[1], INVENTORY_BOARD);
}

/* What was not known at first is filled in without a word. */
static void test_unknown_filled(void **state)
{
	struct rig *r = *state;
	struct device_facts f = { .index = 7, .port_count = 0, .pci_address = "0000:5e:00.0" };

	STRSCPY(f.name, "roce0");
	plug_facts(r, &f);
	look_with(r, 2, true, false);
	assert_int_equal(r->inv.n, 2);
	f = facts_of(7, "roce0", GUID_B, "0000:5e:00.0");
	f.port_count = 2;
	plug_facts(r, &f);
	look(r, 3);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, 2);
	assert_true(r->inv.entries[1].node_guid == GUID_B);
	assert_string_equal(r->inv.entries[1].firmware_version, "28.41.1000");
	assert_int_equal(r->inv.entries[1].n_ports, 2);
	assert_int_equal(r->inv.entries[1].ports[1].best_rate_mbps, 100000);
}

static void test_half_read(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(9, "mlx5_9", GUID_B, "0000:5e:00.0");
	struct port_facts p = port_facts_unknown(9, 1);
	struct device *d;

	assert_true(model_see_device(&r->model, &f, at(2), &d) >= 0);
	look(r, 20);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, 1);
	assert_int_equal(r->again, at(21).mono);
	/* A port that refuses, and details that do not come, do not keep it out for ever. */
	p.error = -EIO;
	port_see(device_port(d, 1), &p, true, at(3));
	look(r, 3);
	assert_int_equal(r->n, 0);
	look(r, 20);
	assert_told(r, "mlx5_9: new adapter: GUID 0002:c903:00aa:0020, PCI 0000:5e:00.0, firmware "
		       "28.41.1000");

	/* Not read again yet after the restart: its identity counts, its facts do not. */
	restart(r);
	unplug(r, 9);
	f.index = 10;
	STRSCPY(f.firmware_version, "30.0.0");
	assert_true(model_see_device(&r->model, &f, at(4), &d) >= 0);
	look_with(r, 4, false, true);
	assert_int_equal(r->n, 0);
}

/* What a port has learned is kept, once, and found again by whatever identifies its device. */
static void test_learned(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(7, "other", GUID_A, "0000:5e:00.0");
	struct inventory_entry *e;
	struct port *p = device_port(model_device_by_index(&r->model, 1), 1);

	assert_false(r->inv.entries[0].ports[0].learned);
	p->learned = true;
	look(r, 5);
	assert_int_equal(r->n, 0);
	e = &r->inv.entries[0];
	assert_true(e->ports[0].learned);
	assert_int_equal(e->ports[0].learned_since, at(5).real);
	assert_true(r->inv.changed);
	r->inv.changed = false;
	look(r, 6);
	assert_false(r->inv.changed);
	assert_int_equal(e->ports[0].learned_since, at(5).real);

	assert_ptr_equal(inventory_find(&r->inv, &f), e); /* by GUID, wherever it sits */
	f.node_guid = GUID_B;
	assert_null(inventory_find(&r->inv, &f));
	STRSCPY(f.pci_address, "0000:3b:00.0");
	assert_null(inventory_find(&r->inv, &f)); /* another one in its slot */
	f.node_guid = 0;
	assert_ptr_equal(inventory_find(&r->inv, &f), e);
	f.pci_address[0] = '\0';
	assert_null(inventory_find(&r->inv, &f));
}

/* Another run has told that it is gone, this one misses it again: who tells of its return? */
static void test_missed_again(void **state)
{
	struct rig *r = *state;
	struct missing *x;

	restart(r);
	unplug(r, 1);
	r->inv.entries[0].gone_told = true;
	x = model_add_missing(&r->model, "mlx5_0", GUID_A, "0000:3b:00.0", at(2));
	x->verdict.n_reasons = 1;
	x->verdict.reasons[0].id = REASON_DEVICE_MISSING;
	look_with(r, 3, false, true);
	assert_int_equal(r->n, 0);
	model_remove_missing(&r->model, x);
	plug(r, 2, "mlx5_0", GUID_A, "0000:3b:00.0");
	look(r, 4);
	assert_int_equal(r->n, 0); /* the condition did */
	assert_false(r->inv.entries[0].gone_told);
}

static void test_replaced(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(2, "mlx5_0", GUID_B, "0000:3b:00.0");

	r->inv.entries[0].ports[0].learned = true;
	r->inv.entries[0].ports[0].best_rate_mbps = 400000;
	unplug(r, 1);
	STRSCPY(f.firmware_version, "30.1.1");
	STRSCPY(f.board_id, "OTHER");
	plug_facts(r, &f);
	look_with(r, 2, false, true);
	assert_told(r, "mlx5_0: adapter replaced: GUID 0002:c903:00aa:0020, PCI 0000:3b:00.0, "
		       "firmware 30.1.1, was GUID 0002:c903:00aa:0010");
	assert_int_equal(r->inv.n, 1);
	assert_string_equal(r->inv.entries[0].board_id, "OTHER");
	assert_int_equal(r->inv.entries[0].ports[0].best_rate_mbps, 100000);
	assert_true(r->inv.entries[0].ports[0].learned);
	look_with(r, 3, false, true);
	assert_int_equal(r->n, 0);
}

/* One card, another node GUID: the system image says that it is the same. */
static void test_guid(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(2, "mlx5_0", GUID_B, "0000:3b:00.0");

	unplug(r, 1);
	f.sys_image_guid = GUID_A;
	plug_facts(r, &f);
	look(r, 2);
	assert_told(r, "mlx5_0: node GUID 0002:c903:00aa:0020, was 0002:c903:00aa:0010");
	f.sys_image_guid = GUID_C;
	plug_facts(r, &f);
	look(r, 3);
	assert_told(r, "mlx5_0: system image GUID 0002:c903:00aa:0030, was 0002:c903:00aa:0010");
}

static void test_slots(void **state)
{
	struct rig *r = *state;

	plug(r, 2, "mlx5_1", GUID_B, "0000:5e:00.0");
	look_with(r, 2, true, false);

	/* Two cards change places. */
	restart(r);
	unplug(r, 1);
	unplug(r, 2);
	plug(r, 3, "mlx5_0", GUID_B, "0000:3b:00.0");
	plug(r, 4, "mlx5_1", GUID_A, "0000:5e:00.0");
	look_with(r, 3, false, true);
	assert_int_equal(r->n, 2);
	assert_string_equal(r->messages[0], "mlx5_0: slot 0000:3b:00.0, was 0000:5e:00.0 (since "
					    "2023-11-14 22:13:22 UTC)");
	assert_int_equal(r->facts[1], INVENTORY_SLOT);
	assert_int_equal(r->inv.n, 2);

	/* One moves to where the other was, which is gone: told as that, and not as replaced. */
	unplug(r, 3);
	unplug(r, 4);
	plug(r, 5, "mlx5_0", GUID_B, "0000:5e:00.0");
	look_with(r, 4, false, true);
	assert_int_equal(r->n, 2);
	assert_int_equal(r->facts[0], INVENTORY_SLOT);
	assert_int_equal(r->facts[1], INVENTORY_GONE);
}

/* Several devices of one PCI function (subfunctions): the slot does not tell who replaced whom. */
static void test_shared_slot(void **state)
{
	struct rig *r = *state;

	plug(r, 2, "mlx5_1", GUID_B, "0000:3b:00.0");
	look(r, 2);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->facts[0], INVENTORY_NEW);
	unplug(r, 2);
	plug(r, 3, "mlx5_1", GUID_C, "0000:3b:00.0");
	look(r, 3);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->facts[0], INVENTORY_NEW);
	assert_int_equal(r->inv.n, 3);
}

/* Two devices with one GUID (a driver's fault): each keeps its own entry. */
static void test_same_guid_twice(void **state)
{
	struct rig *r = *state;

	plug(r, 2, "mlx5_1", GUID_A, "0000:5e:00.0");
	look_with(r, 2, true, false);
	assert_int_equal(r->inv.n, 2);
	for (usec_t i = 3; i < 6; i++) {
		look(r, i);
		assert_int_equal(r->n, 0);
	}
	/* Listed the other way round. */
	unplug(r, 1);
	unplug(r, 2);
	plug(r, 3, "mlx5_1", GUID_A, "0000:5e:00.0");
	plug(r, 4, "mlx5_0", GUID_A, "0000:3b:00.0");
	look(r, 7);
	assert_int_equal(r->n, 0);
}

static void test_zero_guid(void **state)
{
	struct rig *r = *state;
	struct device_facts f;

	/* By its slot; without either nothing identifies it. */
	plug(r, 2, "vf0", 0, "0000:3b:00.2");
	plug(r, 3, "odd0", 0, "");
	look(r, 2);
	assert_told(r, "vf0: new adapter: no GUID, PCI 0000:3b:00.2, firmware 28.41.1000");
	assert_int_equal(r->inv.n, 2);
	f = facts_of(2, "vf0", 0, "0000:3b:00.2");
	STRSCPY(f.firmware_version, "28.42.1000");
	plug_facts(r, &f);
	look(r, 3);
	assert_told(r, "vf0: firmware 28.42.1000, was 28.41.1000");
	/* A GUID that is lost is not another adapter, and comes back to the same one. */
	unplug(r, 1);
	plug(r, 4, "mlx5_0", 0, "0000:3b:00.0");
	look(r, 4);
	assert_int_equal(r->n, 0);
	assert_true(r->inv.entries[0].node_guid == GUID_A);
	plug(r, 4, "mlx5_0", GUID_A, "0000:3b:00.0");
	look(r, 5);
	assert_int_equal(r->n, 0);
}

/* On the host; in a guest, without its physical function, it is an adapter as any other. */
static void test_virtual_function(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(2, "vf0", GUID_B, "0000:3b:00.2");
	struct device *d;

	assert_true(model_see_device(&r->model, &f, at(1), &d) >= 0);
	d->details = device_details_unknown(2);
	d->details.is_vf = 1;
	d->have_details = true;
	look(r, 20);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, 1);
}

static void test_software_left_out(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(2, "rxe0", GUID_B, "");

	f.link_type = LINK_TYPE_RXE;
	plug_facts(r, &f);
	look(r, 2);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, 1);
}

/* ---- ports ---- */

static void read_port(struct rig *r, int state, uint64_t rate, const char *netdev)
{
	struct port *p = device_port(model_device_by_index(&r->model, 1), 1);
	struct port_facts f = p->facts;

	f.state = state;
	f.rate_mbps = rate;
	STRSCPY(f.speed, rate == 200000 ? "HDR" : "EDR");
	STRSCPY(f.netdev, netdev);
	port_see(p, &f, true, at(2));
}

static void test_best_rate(void **state)
{
	struct rig *r = *state;

	read_port(r, PORT_STATE_DOWN, 200000, "ens1");
	look(r, 2);
	assert_int_equal(r->n, 0);
	read_port(r, PORT_STATE_ACTIVE, 200000, "ens1");
	look(r, 3);
	assert_told(r, "mlx5_0/1: best rate 200 Gb/s (4X HDR), was 100 Gb/s (4X EDR)");
	/* A lower one is for health to judge. */
	read_port(r, PORT_STATE_ACTIVE, 100000, "ens1");
	look(r, 4);
	assert_int_equal(r->n, 0);
	read_port(r, PORT_STATE_ACTIVE, 0, "ens1");
	look(r, 5);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.entries[0].ports[0].best_rate_mbps, 200000);
}

static void test_netdev(void **state)
{
	struct rig *r = *state;

	/* A rename of early boot, or of somebody who tries names: too short. */
	restart(r);
	read_port(r, PORT_STATE_ACTIVE, 100000, "eth0");
	look(r, 100);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->again, at(110).mono);
	look(r, 109);
	assert_int_equal(r->n, 0);
	read_port(r, PORT_STATE_ACTIVE, 100000, "ens1");
	look(r, 111);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->again, USEC_INFINITY);

	/* None, for a moment or for good, is not another one. */
	read_port(r, PORT_STATE_ACTIVE, 100000, "");
	look(r, 112);
	look(r, 200);
	assert_int_equal(r->n, 0);

	/* It stays: told once, and since when it may be so. */
	restart(r);
	read_port(r, PORT_STATE_ACTIVE, 100000, "lan0");
	look(r, 300);
	look(r, 310);
	assert_told(r, "mlx5_0/1: netdev lan0, was ens1 (since 2023-11-14 22:16:40 UTC)");
	look(r, 320);
	assert_int_equal(r->n, 0);

	for (unsigned i = 0; i < 100; i++) {
		read_port(r, PORT_STATE_ACTIVE, 100000, i % 2 ? "a" : "b");
		look(r, 400 + i);
		assert_int_equal(r->n, 0);
	}
}

static void test_link_layer(void **state)
{
	struct rig *r = *state;
	struct port *p = device_port(r->model.devices, 1);
	struct port_facts f = p->facts;

	f.link_layer = LINK_LAYER_INFINIBAND;
	f.rate_mbps = 56000;
	port_see(p, &f, true, at(2));
	look(r, 2);
	assert_told(r, "mlx5_0/1: link layer InfiniBand, was Ethernet");
	assert_int_equal(r->inv.entries[0].ports[0].best_rate_mbps, 56000);
	f.link_layer = LINK_LAYER_UNKNOWN;
	port_see(p, &f, true, at(3));
	look(r, 3);
	assert_int_equal(r->n, 0);
}

static void test_many_ports(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(2, "esw0", GUID_B, "0000:5e:00.0");

	f.port_count = 128;
	plug_facts(r, &f);
	look(r, 2);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->inv.entries[1].n_ports, INVENTORY_PORTS_MAX);
}

/* ---- gone and back ---- */

static void test_gone_between_runs(void **state)
{
	struct rig *r = *state;

	restart(r);
	unplug(r, 1);
	look_with(r, 10, false, false); /* its driver may still be loading */
	assert_int_equal(r->n, 0);
	look_with(r, 70, false, true);
	assert_told(r, "mlx5_0: adapter gone: GUID 0002:c903:00aa:0010, PCI 0000:3b:00.0, firmware "
		       "28.41.1000 (last seen 2023-11-14 22:13:21 UTC)");
	look_with(r, 80, false, true);
	assert_int_equal(r->n, 0);
	restart(r);
	look_with(r, 90, false, true);
	assert_int_equal(r->n, 0);

	plug(r, 5, "mlx5_3", GUID_A, "0000:3b:00.0");
	look_with(r, 100, false, true);
	assert_told(r, "mlx5_3: adapter is back: GUID 0002:c903:00aa:0010, PCI 0000:3b:00.0, "
		       "firmware 28.41.1000 (last seen 2023-11-14 22:13:21 UTC)");
	look_with(r, 101, false, true);
	assert_int_equal(r->n, 0);
}

static void test_lent(void **state)
{
	struct rig *r = *state;
	struct elsewhere_facts f = { .kind = ELSEWHERE_VFIO, .pci_address = "0000:3b:00.0" };

	restart(r);
	unplug(r, 1);
	assert_int_equal(model_see_elsewhere(&r->model, &f), 0);
	look_with(r, 70, false, true);
	assert_int_equal(r->n, 0);
	model_listing_begin(&r->model);
	f = (struct elsewhere_facts){ .kind = ELSEWHERE_NETNS, .name = "mlx5_0" };
	assert_int_equal(model_see_elsewhere(&r->model, &f), 0);
	look_with(r, 80, false, true);
	assert_int_equal(r->n, 0);
	model_listing_begin(&r->model);
	look_with(r, 90, false, true);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->facts[0], INVENTORY_GONE);
}

/* The condition device-missing tells of an adapter that goes under our eyes, and of its return. */
static void test_gone_by_condition(void **state)
{
	struct rig *r = *state;
	struct missing *x;

	unplug(r, 1);
	x = model_add_missing(&r->model, "mlx5_0", GUID_A, "0000:3b:00.0", at(2));
	look_with(r, 70, false, true);
	assert_int_equal(r->n, 0);
	assert_false(r->inv.entries[0].gone_told);
	x->verdict.n_reasons = 1;
	x->verdict.reasons[0] = (struct reason){ .id = REASON_DEVICE_MISSING };
	look_with(r, 80, false, true);
	assert_int_equal(r->n, 0);
	assert_true(r->inv.entries[0].gone_told);
	assert_true(r->inv.changed);

	/* It is told no second time by the next run. */
	model_remove_missing(&r->model, x);
	look_with(r, 90, false, true);
	assert_int_equal(r->n, 0);
	plug(r, 2, "mlx5_0", GUID_A, "0000:3b:00.0");
	look_with(r, 100, false, true);
	assert_int_equal(r->n, 0);
	assert_false(r->inv.entries[0].gone_told);
}

/* Something unread sits in the slot: it waits until it is known what. */
static void test_gone_waits_for_slot(void **state)
{
	struct rig *r = *state;
	struct device_facts f = facts_of(2, "mlx5_0", GUID_B, "0000:3b:00.0");
	struct device *d;

	restart(r);
	unplug(r, 1);
	assert_true(model_see_device(&r->model, &f, at(2), &d) >= 0);
	look_with(r, 70, false, true);
	assert_int_equal(r->n, 0);
	plug_facts(r, &f);
	look_with(r, 71, false, true);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->facts[0], INVENTORY_REPLACED);
}

static void test_new_since_picture(void **state)
{
	struct rig *r = *state;

	r->inv.as_of = at(1).real;
	restart(r);
	plug(r, 2, "mlx5_1", GUID_B, "0000:5e:00.0");
	look(r, 10);
	assert_told(r, "mlx5_1: new adapter: GUID 0002:c903:00aa:0020, PCI 0000:5e:00.0, firmware "
		       "28.41.1000 (since 2023-11-14 22:13:21 UTC)");
}

/* The first inventory of a host tells nothing, however late the facts of what was there come. */
static void test_baseline(void **state)
{
	struct rig *r = *state;
	struct inventory_look l = {
		.model = &r->model,
		.now = at(100),
		.settled_at = at(60).mono,
		.baseline = true,
		.report = note,
		.user = r,
	};

	inventory_done(&r->inv);
	r->n = 0;
	assert_int_equal(inventory_look(&r->inv, &l, &r->again), 0);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, 1);
	plug(r, 2, "mlx5_1", GUID_B, "0000:5e:00.0")->first_seen = at(101);
	assert_int_equal(inventory_look(&r->inv, &l, &r->again), 0);
	assert_told(r, "mlx5_1: new adapter: GUID 0002:c903:00aa:0020, PCI 0000:5e:00.0, firmware "
		       "28.41.1000");
}

static void test_bounded(void **state)
{
	struct rig *r = *state;
	struct device_facts f;

	/* 2000 adapters come and go: those that were away longest are forgotten. */
	for (uint32_t i = 0; i < 2000; i++) {
		f = facts_of(100 + i, "x", 0x1000 + i, "");
		f.port_count = 0;
		plug_facts(r, &f);
		look(r, 10 + i);
		assert_int_equal(r->n, 1);
		unplug(r, 100 + i);
	}
	look(r, 3000);
	assert_int_equal(r->inv.n, INVENTORY_MAX);
	assert_true(r->inv.entries[0].node_guid == GUID_A);

	/* More at a time than there is room for. */
	for (uint32_t i = 0; i < INVENTORY_MAX + 10; i++) {
		f = facts_of(5000 + i, "y", 0x900000 + i, "");
		f.port_count = 0;
		plug_facts(r, &f);
	}
	look(r, 4000);
	assert_int_equal(r->n, INVENTORY_MAX - 1);
	look(r, 4001);
	assert_int_equal(r->n, 0);
	assert_int_equal(r->inv.n, INVENTORY_MAX);
}

static void test_words(void **state)
{
	for (int i = 0; i < _INVENTORY_FACT_MAX; i++)
		assert_non_null(inventory_fact_to_string((enum inventory_fact)i));
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_nothing),
		T(test_firmware),
		T(test_unknown_filled),
		T(test_half_read),
		T(test_replaced),
		T(test_learned),
		T(test_missed_again),
		T(test_guid),
		T(test_slots),
		T(test_shared_slot),
		T(test_same_guid_twice),
		T(test_zero_guid),
		T(test_virtual_function),
		T(test_software_left_out),
		T(test_best_rate),
		T(test_netdev),
		T(test_link_layer),
		T(test_many_ports),
		T(test_gone_between_runs),
		T(test_lent),
		T(test_gone_by_condition),
		T(test_gone_waits_for_slot),
		T(test_new_since_picture),
		T(test_baseline),
		T(test_bounded),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("inventory", tests, NULL, NULL);
}
