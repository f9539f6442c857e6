/* SPDX-License-Identifier: MIT */
/* Rules on the link of a port: its states, its rate, its link layer, the bond that it is on. */
#include <errno.h>

#include "health-world.h"

#define SEC USEC_PER_SEC
/* How long a low rate has to stand. */
#define HOLD (30 * SEC)

static void assert_stands(const char *name, const struct port *p, enum reason_id id,
	enum severity severity, bool there)
{
	const struct reason *r = port_reason(p, id);

	if (!r != !there)
		fail_msg("%s: reason %d is %sthere", name, id, r ? "" : "not ");
	if (r && r->severity != severity)
		fail_msg("%s: severity %s", name, severity_to_string(r->severity));
}

/* ---- port-inconsistent ---- */

static void test_inconsistent(void **state)
{
	static const struct {
		const char *name;
		enum link_layer layer;
		const char *protocol;
		struct {
			int state, phys;
		} readings[4]; /* state 0: no more */
		bool raised;
	} t[] = {
		{ "ACTIVE and up", IB, "ib", { { 4, 5 }, { 4, 5 } }, false },
		{ "training, seen once", IB, "ib", { { 4, 5 }, { 4, 4 } }, false },
		{ "training, seen twice", IB, "ib", { { 4, 5 }, { 4, 4 }, { 4, 4 } }, true },
		{ "another one the second time", IB, "ib", { { 4, 4 }, { 4, 2 } }, true },
		{ "up between two", IB, "ib", { { 4, 4 }, { 4, 5 }, { 4, 4 } }, false },
		{ "and over", IB, "ib", { { 4, 4 }, { 4, 4 }, { 4, 5 } }, false },
		{ "recovery, once", IB, "ib", { { 4, 5 }, { 4, 6 } }, false },
		{ "recovery that stands", IB, "ib", { { 4, 6 }, { 4, 6 } }, true },
		{ "Omni-Path", IB, "opa", { { 4, 4 }, { 4, 4 } }, true },
		{ "not known", IB, "ib", { { 4, -1 }, { 4, -1 } }, false },
		{ "mlx5 RoCE says 4", ETHERNET, "roce", { { 4, 4 }, { 4, 4 } }, false },
		{ "Ethernet says 6", ETHERNET, "roce", { { 4, 6 }, { 4, 6 } }, false },
		{ "disabled, InfiniBand", IB, "ib", { { 4, 3 }, { 4, 3 } }, true },
		{ "disabled, Ethernet", ETHERNET, "roce", { { 4, 3 }, { 4, 3 } }, true },
		{ "disabled, no layer", LINK_LAYER_UNKNOWN, "", { { 4, 3 }, { 4, 3 } }, true },
		{ "no layer says 2", LINK_LAYER_UNKNOWN, "", { { 4, 2 }, { 4, 2 } }, false },
		{ "i40iw is no InfiniBand", IB, "iw", { { 4, 4 }, { 4, 4 } }, false },
		{ "down is no contradiction", IB, "ib", { { 4, 5 }, { 1, 2 }, { 1, 2 } }, false },
		{ "nor down and disabled", ETHERNET, "roce", { { 4, 5 }, { 1, 3 }, { 1, 3 } },
			false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device_facts f = { .driver = "mlx5_core" };
		char text[2 * REASON_TEXT_MAX];
		struct device *d;
		struct world w;

		world_begin(&w, "[Port *]\nExpect=up\n");
		STRSCPY(f.protocol, t[i].protocol);
		d = world_device(&w, "x0", &f, 1, 1);
		for (size_t k = 0; k < 4 && t[i].readings[k].state; k++) {
			world_read(&w, &d->ports[0], t[i].readings[k].state, t[i].readings[k].phys,
				t[i].layer);
			world_pass(&w, SEC);
		}
		assert_stands(t[i].name, &d->ports[0], REASON_PORT_INCONSISTENT, SEVERITY_DEGRADED,
			t[i].raised);
		assert_int_equal(world_outcome(&w, &d->ports[0], REASON_PORT_INCONSISTENT, text) ==
					 OUTCOME_RAISED,
			t[i].raised);
		world_end(&w);
	}
}

static void test_inconsistent_unknown(void **state)
{
	struct device *d;
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "");
	d = world_device(&w, "x0", NULL, 1, 1);
	p = &d->ports[0];
	world_read(&w, p, PORT_STATE_ACTIVE, PHYS_STATE_RECOVERY, IB);
	world_read(&w, p, PORT_STATE_ACTIVE, PHYS_STATE_RECOVERY, IB);
	world_judge(&w);
	assert_non_null(strstr(port_reason(p, REASON_PORT_INCONSISTENT)->remedy, "recovering"));
	/* What cannot be read now neither clears it nor makes a new one of it. */
	w.now += SEC;
	world_read(&w, p, PORT_STATE_ACTIVE, PHYS_STATE_UNKNOWN, IB);
	world_judge(&w);
	assert_int_equal(port_reason(p, REASON_PORT_INCONSISTENT)->since.mono, w.now - SEC);
	p->last_error = -EIO;
	world_judge(&w);
	assert_non_null(port_reason(p, REASON_PORT_INCONSISTENT));
	world_read(&w, p, ACTIVE, IB);
	world_judge(&w);
	assert_null(port_reason(p, REASON_PORT_INCONSISTENT));
	world_end(&w);
}

/* ---- width-degraded, speed-degraded ---- */

struct rate {
	uint64_t gbps; /* 0: the port is down and shows 10 */
	const char *width, *speed;
};

static void read_rate(struct world *w, struct port *p, enum link_layer layer, const struct rate *r)
{
	if (r->gbps)
		world_read_rate(w, p, layer, r->gbps, r->width, r->speed);
	else
		world_read(w, p, POLLING, layer);
}

#define HDR                      \
	{                        \
		200, "4X", "HDR" \
	}
#define HDR_2X                   \
	{                        \
		100, "2X", "HDR" \
	}
#define EDR                      \
	{                        \
		100, "4X", "EDR" \
	}
#define EDR_2X                  \
	{                       \
		50, "2X", "EDR" \
	}
#define NDR                      \
	{                        \
		400, "4X", "NDR" \
	}
#define DOWN                  \
	{                     \
		0, NULL, NULL \
	}
#define WANT(g) "[Port *]\nMinRate=" #g "Gb/s\n"

static void test_rate(void **state)
{
	static const struct {
		const char *name, *config;
		enum link_type type;
		enum link_layer layer;
		struct rate before, now;
		const char *width,
			*speed; /* wanted, of the reason that is raised; NULL not raised */
	} t[] = {
		{ "2X HDR wanted 100", WANT(100), 0, IB, HDR_2X, HDR_2X, NULL, NULL },
		{ "2X HDR wanted 200", WANT(200), 0, IB, HDR_2X, HDR_2X,
			"200 Gb/s (4X HDR) (MinRate=)", NULL },
		{ "4X EDR wanted 200", WANT(200), 0, IB, EDR, EDR, NULL, "200 Gb/s (MinRate=)" },
		{ "2X HDR wanted 150", WANT(150), 0, IB, HDR_2X, HDR_2X, "150 Gb/s (MinRate=)",
			NULL },
		{ "2X EDR wanted 200: not the width alone", WANT(200), 0, IB, EDR_2X, EDR_2X, NULL,
			"200 Gb/s (MinRate=)" },
		{ "exactly what is wanted", WANT(400), 0, IB, NDR, NDR, NULL, NULL },
		{ "more than is wanted", WANT(100), 0, IB, NDR, NDR, NULL, NULL },
		{ "less than seen, as much as wanted", WANT(100), 0, IB, HDR, HDR_2X, NULL, NULL },
		{ "half the lanes of before", "", 0, IB, HDR, HDR_2X,
			"200 Gb/s (4X HDR) (the best seen)", NULL },
		{ "half the speed of before", "", 0, IB, HDR, EDR, NULL,
			"200 Gb/s (4X HDR) (the best seen)" },
		{ "both", "", 0, IB, HDR, EDR_2X, "200 Gb/s (4X HDR) (the best seen)",
			"200 Gb/s (4X HDR) (the best seen)" },
		{ "better than before", "", 0, IB, EDR, HDR, NULL, NULL },
		{ "never seen better", "", 0, IB, HDR_2X, HDR_2X, NULL, NULL },
		{ "down shows 10", WANT(200), 0, IB, HDR, DOWN, NULL, NULL },
		{ "down shows 10, learned", "", 0, IB, HDR, DOWN, NULL, NULL },
		{ "Ethernet has no lanes", "", 0, ETHERNET, HDR, HDR_2X, NULL,
			"200 Gb/s (4X HDR) (the best seen)" },
		{ "Ethernet has no lanes to want", WANT(200), 0, ETHERNET, HDR, HDR_2X, NULL,
			"200 Gb/s (MinRate=)" },
		{ "width not known", "", 0, IB, HDR, { 100, "", "" }, NULL,
			"200 Gb/s (4X HDR) (the best seen)" },
		{ "another link layer (EFA)", "", 0, LINK_LAYER_UNKNOWN, EDR, EDR, NULL, NULL },
		{ "rxe follows its netdev", "", LINK_TYPE_RXE, ETHERNET, EDR, { 10, "1X", "" },
			NULL, NULL },
		{ "rxe, and something is wanted", WANT(25), LINK_TYPE_RXE, ETHERNET, EDR,
			{ 10, "1X", "" }, NULL, "25 Gb/s (MinRate=)" },
		{ "siw", "", LINK_TYPE_SIW, ETHERNET, { 20, "4X", "DDR" }, { 1, "1X", "" }, NULL,
			NULL },
		{ "MinRate= of another port", "[Port y*]\nMinRate=400Gb/s\n", 0, IB, HDR, HDR, NULL,
			NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device_facts f = { .link_type = t[i].type };
		const struct reason *width, *speed;
		bool any = t[i].width || t[i].speed;
		struct world w;
		struct port *p;

		world_begin(&w, t[i].config);
		p = &world_device(&w, "x0", &f, 1, 1)->ports[0];
		read_rate(&w, p, t[i].layer, &t[i].before);
		read_rate(&w, p, t[i].layer, &t[i].now);
		world_judge(&w);
		assert_stands(t[i].name, p, REASON_WIDTH_DEGRADED, 0, false);
		assert_stands(t[i].name, p, REASON_SPEED_DEGRADED, 0, false);
		if (any)
			assert_true(w.recheck <= w.now + HOLD);
		world_pass(&w, HOLD - 1);
		assert_stands(t[i].name, p, REASON_WIDTH_DEGRADED, 0, false);
		assert_stands(t[i].name, p, REASON_SPEED_DEGRADED, 0, false);
		world_pass(&w, 1);
		assert_stands(t[i].name, p, REASON_WIDTH_DEGRADED, SEVERITY_DEGRADED, t[i].width);
		assert_stands(t[i].name, p, REASON_SPEED_DEGRADED, SEVERITY_DEGRADED, t[i].speed);
		width = port_reason(p, REASON_WIDTH_DEGRADED);
		speed = port_reason(p, REASON_SPEED_DEGRADED);
		if (width)
			assert_string_equal(width->wanted, t[i].width);
		if (speed)
			assert_string_equal(speed->wanted, t[i].speed);
		if (any)
			assert_int_equal(p->verdict.health, HEALTH_DEGRADED);
		world_end(&w);
	}
}

/* Raised after it stood, cleared at once; a break begins the time anew. */
static void test_rate_hysteresis(void **state)
{
	static const struct rate hdr = HDR, half = HDR_2X, down = DOWN;
	char text[2 * REASON_TEXT_MAX];
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "[Port *]\nExpect=up\n");
	p = &world_device(&w, "x0", NULL, 1, 1)->ports[0];
	assert_int_equal(world_outcome(&w, p, REASON_WIDTH_DEGRADED, text), OUTCOME_ABSENT);
	read_rate(&w, p, IB, &hdr);
	assert_int_equal(world_outcome(&w, p, REASON_WIDTH_DEGRADED, text), OUTCOME_CLEAR);
	read_rate(&w, p, IB, &half);
	world_judge(&w);
	world_pass(&w, 20 * SEC);
	assert_int_equal(world_outcome(&w, p, REASON_WIDTH_DEGRADED, text), OUTCOME_PENDING);
	assert_non_null(strstr(text, "found 100 Gb/s (2X HDR), wanted 200 Gb/s (4X HDR)"));
	read_rate(&w, p, IB, &hdr);
	world_judge(&w);
	read_rate(&w, p, IB, &half);
	world_judge(&w);
	world_pass(&w, 20 * SEC);
	assert_null(port_reason(p, REASON_WIDTH_DEGRADED));
	world_pass(&w, 10 * SEC);
	assert_non_null(port_reason(p, REASON_WIDTH_DEGRADED));
	assert_string_equal(port_reason(p, REASON_WIDTH_DEGRADED)->found, "100 Gb/s (2X HDR)");

	/* Down: another condition tells, and this one is not judged. */
	read_rate(&w, p, IB, &down);
	world_pass(&w, SEC);
	assert_null(port_reason(p, REASON_WIDTH_DEGRADED));
	assert_non_null(port_reason(p, REASON_PORT_DOWN));
	assert_int_equal(world_outcome(&w, p, REASON_WIDTH_DEGRADED, text), OUTCOME_ABSENT);
	read_rate(&w, p, IB, &half);
	world_pass(&w, SEC);
	assert_null(port_reason(p, REASON_WIDTH_DEGRADED));
	world_pass(&w, HOLD);
	assert_non_null(port_reason(p, REASON_WIDTH_DEGRADED));
	read_rate(&w, p, IB, &hdr);
	world_judge(&w);
	assert_null(port_reason(p, REASON_WIDTH_DEGRADED));
	assert_int_equal(p->verdict.health, HEALTH_OK);
	world_end(&w);
}

static void test_rate_unknown(void **state)
{
	static const struct rate hdr = HDR, half = HDR_2X, slow = { 2, "1X", "SDR" };
	struct device_facts qedr = { .driver = "qedr" };
	struct world w;
	struct port *p;
	usec_t since;

	(void)state;
	world_begin(&w, "");
	p = &world_device(&w, "x0", NULL, 1, 1)->ports[0];
	read_rate(&w, p, IB, &hdr);
	/* Unknown raises nothing */
	world_read(&w, p, ACTIVE, IB);
	world_judge(&w);
	world_pass(&w, 2 * HOLD);
	assert_null(port_reason(p, REASON_WIDTH_DEGRADED));
	assert_null(port_reason(p, REASON_SPEED_DEGRADED));
	/* and clears nothing. */
	read_rate(&w, p, IB, &half);
	world_judge(&w);
	world_pass(&w, HOLD);
	since = port_reason(p, REASON_WIDTH_DEGRADED)->since.mono;
	world_read(&w, p, ACTIVE, IB);
	world_pass(&w, SEC);
	assert_int_equal(port_reason(p, REASON_WIDTH_DEGRADED)->since.mono, since);
	world_read(&w, p, PORT_STATE_UNKNOWN, PHYS_STATE_UNKNOWN, IB);
	world_pass(&w, SEC);
	assert_int_equal(port_reason(p, REASON_WIDTH_DEGRADED)->since.mono, since);
	read_rate(&w, p, IB, &half);
	world_pass(&w, SEC);
	assert_int_equal(port_reason(p, REASON_WIDTH_DEGRADED)->since.mono, since);

	/* qedr says so of a speed that it does not know. */
	p = &world_device(&w, "y0", &qedr, 2, 1)->ports[0];
	read_rate(&w, p, ETHERNET, &hdr);
	read_rate(&w, p, ETHERNET, &slow);
	p->facts.rate_mbps = 2500;
	world_judge(&w);
	world_pass(&w, 2 * HOLD);
	assert_null(port_reason(p, REASON_SPEED_DEGRADED));
	world_end(&w);
}

/* The best of an earlier run counts; that of the other protocol does not. */
static void test_best_rate(void **state)
{
	static const struct rate hdr = HDR, half = HDR_2X, edr = EDR;
	struct best_rate best = { .rate_mbps = 200000, .link_layer = IB, .width = "4X" };
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "");
	p = &world_device(&w, "x0", NULL, 1, 1)->ports[0];
	read_rate(&w, p, IB, &half);
	assert_true(port_remember_best(p, &best));
	assert_false(port_remember_best(p, &best));
	world_judge(&w);
	world_pass(&w, HOLD);
	assert_string_equal(
		port_reason(p, REASON_WIDTH_DEGRADED)->wanted, "200 Gb/s (4X) (the best seen)");
	/* The port is made Ethernet: what it was is nothing to it. */
	read_rate(&w, p, ETHERNET, &edr);
	world_judge(&w);
	assert_int_equal(p->best.rate_mbps, 100000);
	assert_false(port_remember_best(p, &best));
	world_pass(&w, HOLD);
	assert_int_equal(p->verdict.n_reasons, 0);
	read_rate(&w, p, ETHERNET, &hdr);
	assert_int_equal(p->best.rate_mbps, 200000);
	world_end(&w);
}

/* ---- rate-differs ---- */

static void test_rate_differs(void **state)
{
	static const struct {
		const char *name, *config;
		unsigned n;
		uint64_t gbps[8]; /* of x0, x1, ...; 0 down */
		const char *odd;  /* numbers of those that are told */
		bool other_board; /* the last one is of another kind */
	} t[] = {
		{ "seven and one", "", 8, { 400, 400, 200, 400, 400, 400, 400, 400 }, "2", false },
		{ "all alike", "", 8, { 400, 400, 400, 400, 400, 400, 400, 400 }, "", false },
		{ "one is faster", "", 3, { 100, 100, 200 }, "2", false },
		{ "half and half", "", 4, { 100, 100, 200, 200 }, "", false },
		{ "two are no kind", "", 2, { 100, 200 }, "", false },
		{ "no majority", "", 3, { 100, 200, 400 }, "", false },
		{ "the odd one is down", "", 4, { 400, 400, 400, 0 }, "", false },
		{ "another kind", "", 4, { 400, 400, 400, 200 }, "", true },
		{ "two of a group", "[Port *]\nGroup=a\n", 2, { 100, 200 }, "0", false },
		{ "a group of two kinds", "[Port *]\nGroup=a\n", 4, { 400, 400, 400, 200 }, "3",
			true },
		{ "two groups", "[Port x0]\nGroup=a\n[Port x1]\nGroup=b\n", 2, { 100, 200 }, "",
			false },
		{ "one has a group of its own", "[Port x3]\nGroup=storage\n", 4,
			{ 400, 400, 400, 100 }, "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct device *d[8];
		struct world w;

		world_begin(&w, t[i].config);
		for (unsigned k = 0; k < t[i].n; k++) {
			struct device_facts f = { .driver = "mlx5_core", .board_id = "MT_1" };
			char name[8];

			if (t[i].other_board && k == t[i].n - 1)
				STRSCPY(f.board_id, "MT_2");
			snprintf(name, sizeof(name), "x%u", k);
			d[k] = world_device(&w, name, &f, k + 1, 1);
			read_rate(
				&w, &d[k]->ports[0], IB, &(struct rate){ t[i].gbps[k], "4X", "" });
		}
		world_judge(&w);
		world_judge(&w);
		world_pass(&w, HOLD);
		for (unsigned k = 0; k < t[i].n; k++) {
			assert_stands(t[i].name, &d[k]->ports[0], REASON_RATE_DIFFERS,
				SEVERITY_NOTICE, strchr(t[i].odd, (int)('0' + k)) != NULL);
			/* A notice changes nothing. */
			if (t[i].gbps[k])
				assert_int_equal(d[k]->ports[0].verdict.health, HEALTH_OK);
		}
		world_end(&w);
	}
}

/* A port that fell behind itself is told once. */
static void test_rate_differs_once(void **state)
{
	static const struct rate hdr = HDR, half = HDR_2X;
	struct device_facts f = { .driver = "mlx5_core", .board_id = "MT_1" };
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "");
	for (uint32_t i = 1; i <= 3; i++) {
		p = &world_device(&w, i == 1 ? "x1" : i == 2 ? "x2" : "x3", &f, i, 1)->ports[0];
		read_rate(&w, p, IB, &hdr);
	}
	read_rate(&w, p, IB, &half);
	world_judge(&w);
	world_pass(&w, HOLD);
	assert_non_null(port_reason(p, REASON_WIDTH_DEGRADED));
	assert_null(port_reason(p, REASON_RATE_DIFFERS));
	world_end(&w);
}

/* ---- unexpected-link-layer ---- */

static void test_link_layer(void **state)
{
	static const struct {
		const char *name, *config;
		int state;
		enum link_layer layer;
		bool raised;
	} t[] = {
		{ "nothing configured", "", 4, IB, false },
		{ "as configured", "[Port *]\nLinkLayer=InfiniBand\n", 4, IB, false },
		{ "Ethernet for InfiniBand", "[Port *]\nLinkLayer=InfiniBand\n", 4, ETHERNET,
			true },
		{ "InfiniBand for Ethernet", "[Port *]\nLinkLayer=Ethernet\n", 4, IB, true },
		{ "unknown is not wrong", "[Port *]\nLinkLayer=Ethernet\n", 4, LINK_LAYER_UNKNOWN,
			false },
		{ "down for that very reason", "[Port *]\nLinkLayer=Ethernet\n", 1, IB, true },
		{ "a port that may be down", "[Port *]\nLinkLayer=Ethernet\nExpect=any\n", 1, IB,
			false },
		{ "such a port that is up", "[Port *]\nLinkLayer=Ethernet\nExpect=any\n", 4, IB,
			true },
		{ "taken back", "[Port *]\nLinkLayer=Ethernet\n[Port x0/1]\nLinkLayer=\n", 4, IB,
			false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		char text[2 * REASON_TEXT_MAX];
		struct world w;
		struct port *p;

		world_begin(&w, t[i].config);
		p = &world_device(&w, "x0", NULL, 1, 1)->ports[0];
		world_read(&w, p, t[i].state, PHYS_STATE_LINKUP, t[i].layer);
		world_judge(&w);
		assert_stands(
			t[i].name, p, REASON_UNEXPECTED_LINK_LAYER, SEVERITY_DEGRADED, t[i].raised);
		assert_int_equal(
			world_outcome(&w, p, REASON_UNEXPECTED_LINK_LAYER, text) == OUTCOME_RAISED,
			t[i].raised);
		/* It stays while nobody knows, and goes when it is right. */
		world_read(&w, p, t[i].state, PHYS_STATE_LINKUP, LINK_LAYER_UNKNOWN);
		world_judge(&w);
		assert_stands(
			t[i].name, p, REASON_UNEXPECTED_LINK_LAYER, SEVERITY_DEGRADED, t[i].raised);
		world_configure(&w, "");
		world_judge(&w);
		assert_stands(t[i].name, p, REASON_UNEXPECTED_LINK_LAYER, 0, false);
		world_end(&w);
	}
}

/* ---- lag-degraded ---- */

#define LEG_UP   IFF_UP, true, BOND_MII_UP
#define NO_MII   IFF_UP, true, BOND_MII_UNKNOWN
#define LEG_LOST IFF_UP, false, BOND_MII_DOWN

static void test_lag(void **state)
{
	static const struct {
		const char *name;
		uint32_t port_netdev; /* 10 the bond, 11 and 12 its legs, 20 another */
		uint32_t bond_flags;
		int port_state;
		struct {
			uint32_t flags;
			bool carrier;
			uint8_t mii;
		} legs[2];
		const char *found; /* NULL: not raised */
	} t[] = {
		{ "both up", 10, IFF_UP, 4, { { LEG_UP }, { LEG_UP } }, NULL },
		{ "no link monitor", 10, IFF_UP, 4, { { NO_MII }, { NO_MII } }, NULL },
		{ "one lost", 10, IFF_UP, 4, { { LEG_UP }, { LEG_LOST } },
			"bond0: leg1 has no carrier" },
		{ "no carrier, the monitor is late", 10, IFF_UP, 4,
			{ { LEG_UP }, { IFF_UP, false, BOND_MII_UP } },
			"bond0: leg1 has no carrier" },
		{ "carrier, and not up for the bond", 10, IFF_UP, 4,
			{ { IFF_UP, true, BOND_MII_DOWN }, { LEG_UP } },
			"bond0: leg0 is not up for the bond" },
		{ "updelay runs", 10, IFF_UP, 4,
			{ { IFF_UP, true, BOND_MII_GOING_UP }, { LEG_UP } },
			"bond0: leg0 is not up for the bond" },
		{ "taken down by hand", 10, IFF_UP, 4, { { 0, false, BOND_MII_DOWN }, { LEG_UP } },
			"bond0: leg0 is administratively down" },
		{ "the port is on a leg", 11, IFF_UP, 4, { { LEG_UP }, { LEG_LOST } },
			"bond0: leg1 has no carrier" },
		{ "not on the bond", 20, IFF_UP, 4, { { LEG_UP }, { LEG_LOST } }, NULL },
		{ "no netdev", 0, IFF_UP, 4, { { LEG_UP }, { LEG_LOST } }, NULL },
		{ "the bond is down", 10, 0, 4, { { LEG_UP }, { LEG_LOST } }, NULL },
		{ "the port is down: told by that", 10, IFF_UP, 1, { { LEG_LOST }, { LEG_LOST } },
			NULL },
		{ "both lost, and still ACTIVE", 10, IFF_UP, 4, { { LEG_LOST }, { LEG_LOST } },
			"bond0: leg0 has no carrier, leg1 has no carrier" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct reason *r;
		struct world w;
		struct port *p;

		world_begin(&w, "[Port *]\nExpect=up\n");
		p = &world_device(&w, "mlx5_bond_0", NULL, 1, 1)->ports[0];
		p->facts.netdev_index = t[i].port_netdev;
		world_netdev(&w, &(struct netdev_facts){ .ifindex = 10,
					 .name = "bond0",
					 .kind = "bond",
					 .flags = t[i].bond_flags,
					 .carrier = true });
		world_netdev(&w, &(struct netdev_facts){ .ifindex = 20, .name = "d0" });
		for (uint32_t k = 0; k < 2; k++)
			world_netdev(&w, &(struct netdev_facts){ .ifindex = 11 + k,
						 .name = { 'l', 'e', 'g', (char)('0' + k) },
						 .master = 10,
						 .leg = BOND_LEG_ACTIVE,
						 .flags = t[i].legs[k].flags,
						 .carrier = t[i].legs[k].carrier,
						 .mii = t[i].legs[k].mii });
		world_read(&w, p, t[i].port_state, PHYS_STATE_LINKUP, ETHERNET);
		world_judge(&w);
		assert_stands(t[i].name, p, REASON_LAG_DEGRADED, SEVERITY_DEGRADED, t[i].found);
		r = port_reason(p, REASON_LAG_DEGRADED);
		if (r)
			assert_string_equal(r->found, t[i].found);
		world_end(&w);
	}
}

static void set_leg(struct world *w, uint32_t ifindex, bool carrier, enum bond_leg leg)
{
	world_netdev(w, &(struct netdev_facts){ .ifindex = ifindex,
				.name = { 'l', 'e', 'g', (char)('0' + ifindex - 11) },
				.master = 10,
				.leg = (uint8_t)leg,
				.flags = IFF_UP,
				.carrier = carrier,
				.mii = carrier ? BOND_MII_UP : BOND_MII_DOWN });
}

static struct port *begin_bond(struct world *w, bool lacp)
{
	struct port *p;

	world_begin(w, "[Port *]\nExpect=up\n");
	p = &world_device(w, "mlx5_bond_0", NULL, 1, 1)->ports[0];
	p->facts.netdev_index = 10;
	world_netdev(w, &(struct netdev_facts){ .ifindex = 10,
				.name = "bond0",
				.kind = "bond",
				.flags = IFF_UP,
				.carrier = true,
				.lacp = lacp });
	set_leg(w, 11, true, BOND_LEG_ACTIVE);
	set_leg(w, 12, true, BOND_LEG_ACTIVE);
	world_read(w, p, ACTIVE, ETHERNET);
	world_judge(w);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	return p;
}

/* RoCE on a bond by LACP: a leg whose link is up, and that the switch leaves out of the aggregate. */
static void test_lag_not_aggregated(void **state)
{
	const struct reason *r;
	struct world w;
	struct port *p;

	(void)state;
	p = begin_bond(&w, true);
	/* While LACP comes to terms it is as in an active-backup bond. */
	set_leg(&w, 12, true, BOND_LEG_BACKUP);
	world_judge(&w);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	world_pass(&w, 30 * SEC - 1);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	world_pass(&w, 1);
	r = port_reason(p, REASON_LAG_DEGRADED);
	assert_non_null(r);
	assert_string_equal(r->found, "bond0: leg1 is not in the aggregate (LACP)");
	assert_string_equal(r->wanted, "2 legs up, 1 is");
	assert_non_null(strstr(r->remedy, "LACP group"));
	set_leg(&w, 12, true, BOND_LEG_ACTIVE);
	world_judge(&w);
	world_pass(&w, 2 * SEC);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	world_end(&w);

	/* active-backup: that is how it is meant. */
	p = begin_bond(&w, false);
	set_leg(&w, 12, true, BOND_LEG_BACKUP);
	world_judge(&w);
	world_pass(&w, USEC_PER_HOUR);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	world_end(&w);
}

/* A leg that comes and goes for a day: a handful of conditions, not one for each time. */
static void test_lag_flaps(void **state)
{
	unsigned raised = 0;
	struct world w;
	struct port *p;

	(void)state;
	p = begin_bond(&w, false);
	for (unsigned i = 0; i < 24 * 360; i++) {
		bool before = port_reason(p, REASON_LAG_DEGRADED) != NULL;

		set_leg(&w, 12, false, BOND_LEG_BACKUP);
		world_pass(&w, 5 * SEC);
		assert_non_null(port_reason(p, REASON_LAG_DEGRADED));
		raised += !before;
		set_leg(&w, 12, true, BOND_LEG_ACTIVE);
		world_judge(&w);
		world_pass(&w, 5 * SEC);
	}
	assert_in_range(raised, 2, 6);
	/* It ends, and after some quiet the next one is told as quickly as the first. */
	world_pass(&w, 20 * USEC_PER_MINUTE);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	world_pass(&w, 20 * USEC_PER_MINUTE);
	set_leg(&w, 12, false, BOND_LEG_BACKUP);
	world_judge(&w);
	assert_non_null(port_reason(p, REASON_LAG_DEGRADED));
	set_leg(&w, 12, true, BOND_LEG_ACTIVE);
	world_judge(&w);
	world_pass(&w, SEC);
	assert_null(port_reason(p, REASON_LAG_DEGRADED));
	world_end(&w);
}

/* A card of two ports of which one has a cable, for a day: the other one is nobody's concern. */
static void test_one_port_of_two(void **state)
{
	struct device *d;
	struct world w;

	(void)state;
	world_begin(&w, "");
	d = world_device(&w, "mlx5_0", NULL, 1, 2);
	for (unsigned i = 0; i < 24 * 60; i++) {
		world_read(&w, &d->ports[0], ACTIVE, IB);
		world_read(&w, &d->ports[1], POLLING, IB);
		world_pass(&w, USEC_PER_MINUTE);
		assert_int_equal(d->ports[1].verdict.health, HEALTH_IGNORED);
		assert_int_equal(d->ports[1].verdict.n_reasons, 0);
		assert_int_equal(d->verdict.n_reasons, 0);
	}
	assert_string_equal(d->ports[1].verdict.ignored_because, "not expected: never seen ACTIVE");
	assert_int_equal(d->verdict.health, HEALTH_OK);
	world_read(&w, &d->ports[0], POLLING, IB);
	world_judge(&w);
	assert_non_null(port_reason(&d->ports[0], REASON_PORT_DOWN));
	assert_int_equal(d->verdict.health, HEALTH_FAILED);
	assert_int_equal(d->ports[1].verdict.health, HEALTH_IGNORED);
	world_end(&w);
}

/* efa and irdma have none of the counters of the specification, and efa no link layer either. */
static void test_no_counters(void **state)
{
	static const enum link_layer layers[] = { LINK_LAYER_UNKNOWN, LINK_LAYER_ETHERNET };
	struct device *d;
	struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		world_begin(&w, "");
		d = world_device(&w, "rdmap0s6", NULL, 1, 1);
		for (unsigned k = 0; k < 60; k++) {
			world_read(&w, &d->ports[0], ACTIVE, layers[i]);
			world_pass(&w, USEC_PER_MINUTE);
			assert_int_equal(d->verdict.health, HEALTH_OK);
			assert_int_equal(d->ports[0].verdict.n_reasons + d->verdict.n_reasons, 0);
		}
		assert_true(d->ports[0].learned);
		world_read(&w, &d->ports[0], POLLING, layers[i]);
		world_judge(&w);
		assert_non_null(port_reason(&d->ports[0], REASON_PORT_DOWN));
		world_end(&w);
	}
}

/* A switch restarts, and its subnet manager with it: one condition, in the words that fit. */
static void test_switch_restarts(void **state)
{
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "[Port *]\nExpect=up\n");
	p = &world_device(&w, "mlx5_0", NULL, 1, 1)->ports[0];
	world_read(&w, p, ACTIVE, IB);
	world_pass(&w, USEC_PER_HOUR);
	world_read(&w, p, POLLING, IB);
	world_judge(&w);
	assert_non_null(port_reason(p, REASON_PORT_DOWN));
	world_pass(&w, 3 * USEC_PER_MINUTE);
	/* Its link is back, the subnet manager has not swept yet. */
	world_read(&w, p, PORT_STATE_INIT, PHYS_STATE_LINKUP, IB);
	world_pass(&w, 50 * SEC);
	assert_non_null(port_reason(p, REASON_PORT_DOWN));
	assert_null(port_reason(p, REASON_NO_SUBNET_MANAGER));
	world_read(&w, p, PORT_STATE_ARMED, PHYS_STATE_LINKUP, IB);
	world_pass(&w, SEC);
	assert_null(port_reason(p, REASON_NO_SUBNET_MANAGER));
	world_read(&w, p, ACTIVE, IB);
	world_judge(&w);
	assert_int_equal(p->verdict.n_reasons, 0);
	assert_int_equal(p->flap_count, 1);
	world_end(&w);
}

/* Drivers that fill in no physical state: 0 is none. */
static void test_no_phys_state(void **state)
{
	struct world w;
	struct port *p;

	(void)state;
	world_begin(&w, "[Port *]\nExpect=up\n");
	p = &world_device(&w, "x0", NULL, 1, 1)->ports[0];
	for (unsigned i = 0; i < 5; i++) {
		world_read(&w, p, PORT_STATE_ACTIVE, 0, ETHERNET);
		world_pass(&w, 30 * SEC);
	}
	assert_int_equal(p->verdict.health, HEALTH_OK);
	world_end(&w);
}

/* A link that comes up with one lane and trains for a minute. */
static void test_slow_training(void **state)
{
	static const struct rate one = { 50, "1X", "HDR" }, full = HDR;
	struct world w;
	struct port *p;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		world_begin(&w, i ? "[Port *]\nMinRate=200Gb/s\n[Health]\nDegradedDelaySec=2min\n"
				  : "[Port *]\nMinRate=200Gb/s\n");
		p = &world_device(&w, "x0", NULL, 1, 1)->ports[0];
		for (unsigned k = 0; k < 6; k++) {
			read_rate(&w, p, IB, &one);
			world_pass(&w, 10 * SEC);
		}
		assert_int_equal(port_reason(p, REASON_WIDTH_DEGRADED) != NULL, i == 0);
		read_rate(&w, p, IB, &full);
		world_judge(&w);
		assert_null(port_reason(p, REASON_WIDTH_DEGRADED));
		world_end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inconsistent),
		cmocka_unit_test(test_inconsistent_unknown),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_rate_hysteresis),
		cmocka_unit_test(test_rate_unknown),
		cmocka_unit_test(test_best_rate),
		cmocka_unit_test(test_rate_differs),
		cmocka_unit_test(test_rate_differs_once),
		cmocka_unit_test(test_link_layer),
		cmocka_unit_test(test_lag),
		cmocka_unit_test(test_lag_not_aggregated),
		cmocka_unit_test(test_lag_flaps),
		cmocka_unit_test(test_one_port_of_two),
		cmocka_unit_test(test_no_counters),
		cmocka_unit_test(test_switch_restarts),
		cmocka_unit_test(test_no_phys_state),
		cmocka_unit_test(test_slow_training),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
