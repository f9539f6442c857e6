/* SPDX-License-Identifier: MIT */
/* The configuration: everything that DESIGN section 6 promises, and everything that can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "config.h"
#include "counter-rule.h"
#include "macros.h"
#include "notes.h"

#define MAIN "/etc/rdmad/rdmad.conf"
#define DROP "/etc/rdmad/rdmad.conf.d"

/* A directory tree that stands for a host. */
struct host {
	char root[64];
	struct config *config;
};

static int host_setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));

	strcpy(h->root, "/tmp/test-config-XXXXXX");
	assert_non_null(mkdtemp(h->root));
	*state = h;
	return 0;
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void clear(struct host *h)
{
	nftw(h->root, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(h->root, 0755);
}

static int host_teardown(void **state)
{
	struct host *h = *state;

	config_free(h->config);
	nftw(h->root, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
	free(h);
	return 0;
}

static const char *path_of(const struct host *h, const char *path)
{
	static char buf[4][256];
	static unsigned i;
	char *p = buf[i++ % 4];

	snprintf(p, sizeof(buf[0]), "%s%s", h->root, path);
	return p;
}

static void make_parents(const char *path)
{
	char dir[256];

	STRSCPY(dir, path);
	for (char *p = dir + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(dir, 0755);
			*p = '/';
		}
}

static void put_bytes(const struct host *h, const char *path, const void *data, size_t size)
{
	const char *p = path_of(h, path);
	FILE *f;

	make_parents(p);
	f = fopen(p, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void put(const struct host *h, const char *path, const char *text)
{
	put_bytes(h, path, text, strlen(text));
}

static void put_link(const struct host *h, const char *path, const char *target)
{
	const char *p = path_of(h, path);

	make_parents(p);
	assert_int_equal(symlink(target, p), 0);
}

static struct config *load(struct host *h)
{
	config_free(h->config);
	h->config = NULL;
	assert_int_equal(config_load(h->root, &h->config), 0);
	return h->config;
}

static void show_problems(const struct config *c)
{
	char buf[512];

	for (size_t i = 0; i < c->n_problems; i++)
		print_message("# %s\n", config_problem_format(&c->problems[i], buf, sizeof(buf)));
}

static void expect_clean(const struct config *c)
{
	if (c->n_problems > 0)
		show_problems(c);
	assert_int_equal(c->n_problems, 0);
}

/* The only problem there is: of this file and line, and it says that. */
static void expect_problem(const struct host *h, const char *file, unsigned line, const char *says)
{
	const struct config *c = h->config;

	if (c->n_problems != 1)
		show_problems(c);
	assert_int_equal(c->n_problems, 1);
	assert_string_equal(c->problems[0].origin.file, path_of(h, file));
	assert_int_equal(c->problems[0].origin.line, line);
	if (!strstr(c->problems[0].text, says))
		show_problems(c);
	assert_non_null(strstr(c->problems[0].text, says));
}

static void expect_default_values(const struct config *c)
{
	struct config *d = config_new();

	assert_int_equal(c->probe_usec, d->probe_usec);
	assert_int_equal(c->probe_timeout_usec, d->probe_timeout_usec);
	assert_int_equal(c->grace_usec, d->grace_usec);
	assert_int_equal(c->start_budget_usec, d->start_budget_usec);
	assert_int_equal(c->setup_mode, d->setup_mode);
	assert_int_equal(c->drift, d->drift);
	assert_int_equal(c->n_load, 0);
	assert_int_equal(c->n_deny, 0);
	assert_int_equal(c->load_for[MODULES_FOR_INFINIBAND].n, 2);
	assert_string_equal(c->load_for[MODULES_FOR_INFINIBAND].names[0], "ib_umad");
	assert_string_equal(c->load_for[MODULES_FOR_INFINIBAND].names[1], "ib_ipoib");
	assert_int_equal(c->load_for[MODULES_FOR_ROCE].n, 0);
	assert_int_equal(c->load_for[MODULES_FOR_IWARP].n, 0);
	assert_int_equal(c->netns_exclusive, -1);
	assert_int_equal(c->privileged_qkey, -1);
	assert_int_equal(c->flap_count, d->flap_count);
	assert_int_equal(c->flap_window_usec, d->flap_window_usec);
	assert_int_equal(c->stable_usec, d->stable_usec);
	assert_int_equal(c->down_delay_usec, d->down_delay_usec);
	assert_int_equal(c->degraded_delay_usec, d->degraded_delay_usec);
	assert_int_equal(c->missing_delay_usec, d->missing_delay_usec);
	assert_int_equal(c->unresponsive_usec, d->unresponsive_usec);
	config_free(d);
}

static void expect_defaults(const struct config *c)
{
	expect_default_values(c);
	assert_int_equal(c->n_links, 0);
	assert_int_equal(c->n_devices, 0);
	assert_int_equal(c->n_ports, 0);
	assert_int_equal(c->n_ipoibs, 0);
}

/* ---- what is right ---- */

static void no_file_at_all(void **state)
{
	struct host *h = *state;

	expect_clean(load(h));
	expect_defaults(h->config);
	assert_int_equal(h->config->probe_usec, 30 * USEC_PER_SEC);
	assert_int_equal(h->config->probe_timeout_usec, 5 * USEC_PER_SEC);
	assert_int_equal(h->config->grace_usec, USEC_PER_MINUTE);
	assert_int_equal(h->config->start_budget_usec, 15 * USEC_PER_SEC);
	assert_int_equal(h->config->flap_count, 3);
	assert_int_equal(h->config->flap_window_usec, USEC_PER_HOUR);
	assert_int_equal(h->config->stable_usec, 10 * USEC_PER_MINUTE);
	assert_int_equal(h->config->down_delay_usec, 0);
	assert_int_equal(h->config->missing_delay_usec, USEC_PER_MINUTE);
	assert_int_equal(h->config->unresponsive_usec, 5 * USEC_PER_MINUTE);
}

static void every_key(void **state)
{
	struct host *h = *state;
	const struct config *c;

	put(h, MAIN,
		"# comment\n; another\n   # and one that is indented\n\n"
		"[Daemon]\nProbeSec=1min\nProbeTimeoutSec=200ms\nGraceSec = 0\nStartBudgetSec=5\n"
		"[Setup]\nMode=report\nDrift=repair\n"
		"[Modules]\nLoad=ib_umad ib_ipoib\nLoad=rdma-link-rxe ib-umad\nDeny=ib_srp\n"
		"[Link rxe0]\nType=rxe\nNetDevice=d0\n"
		"[Link siw.one]\nNetDevice=eth0.100\nType=siw\n"
		"[Device mlx5_* driver=mlx5_core]\nMonitor=events\nExpect=yes\n"
		"[Port mlx5_?/2]\nExpect=down\n"
		"[Expect rails]\nMatch=mlx5_*/1 "
		"linklayer=InfiniBand\nCount=8\nState=any\nMinRate=200Gb/s\n"
		"[Health]\nFlapCount=0\nFlapWindowSec=30min\nStableSec=1min "
		"30s\nDownDelaySec=0.5s\n"
		"DegradedDelaySec=7s\nMissingDelaySec=0\nUnresponsiveSec=1h\n");
	c = load(h);
	expect_clean(c);
	assert_int_equal(c->probe_usec, USEC_PER_MINUTE);
	assert_int_equal(c->probe_timeout_usec, 200 * USEC_PER_MSEC);
	assert_int_equal(c->grace_usec, 0);
	assert_int_equal(c->start_budget_usec, 5 * USEC_PER_SEC);
	assert_int_equal(c->setup_mode, SETUP_MODE_REPORT);
	assert_int_equal(c->drift, DRIFT_REPAIR);
	assert_int_equal(c->n_load, 3);
	assert_string_equal(c->load[0], "ib_umad");
	assert_string_equal(c->load[1], "ib_ipoib");
	assert_string_equal(c->load[2], "rdma-link-rxe");
	assert_true(config_module_denied(c, "ib-srp"));
	assert_false(config_module_denied(c, "ib_srpt"));
	assert_int_equal(c->n_links, 2);
	assert_string_equal(c->links[0].name, "rxe0");
	assert_int_equal(c->links[0].type, LINK_TYPE_RXE);
	assert_string_equal(c->links[0].netdev, "d0");
	assert_int_equal(c->links[0].origin.line, 17);
	assert_int_equal(c->links[1].type, LINK_TYPE_SIW);
	assert_string_equal(c->links[1].netdev, "eth0.100");
	assert_int_equal(c->n_devices, 1);
	assert_int_equal(c->devices[0].monitor, MONITOR_EVENTS);
	assert_int_equal(c->devices[0].expect, EXPECT_UP);
	assert_int_equal(c->n_ports, 1);
	assert_int_equal(c->ports[0].expect, EXPECT_DOWN);
	assert_int_equal(c->ports[0].selector.port, 2);
	assert_int_equal(c->n_expects, 1);
	assert_string_equal(c->expects[0].name, "rails");
	assert_string_equal(c->expects[0].match.name_glob, "mlx5_*");
	assert_int_equal(c->expects[0].match.port, 1);
	assert_int_equal(c->expects[0].count, 8);
	assert_true(c->expects[0].any_state);
	assert_int_equal(c->expects[0].min_rate_mbps, 200000);
	assert_int_equal(c->expects[0].origin.line, 28);
	assert_int_equal(c->flap_count, 0);
	assert_int_equal(c->flap_window_usec, 30 * USEC_PER_MINUTE);
	assert_int_equal(c->stable_usec, 90 * USEC_PER_SEC);
	assert_int_equal(c->down_delay_usec, 500 * USEC_PER_MSEC);
	assert_int_equal(c->degraded_delay_usec, 7 * USEC_PER_SEC);
	assert_int_equal(c->missing_delay_usec, 0);
	assert_int_equal(c->unresponsive_usec, USEC_PER_HOUR);
}

static void crlf_and_bom(void **state)
{
	static const char *const texts[] = {
		"[Daemon]\r\nProbeSec=7s\r\n\r\n[Modules]\r\nLoad=ib_umad\r\n",
		"\xef\xbb\xbf[Daemon]\nProbeSec=7s\n[Modules]\nLoad=ib_umad\n",
		"\xef\xbb\xbf# x\r\n[Daemon]\r\nProbeSec=7s\r\n[Modules]\r\nLoad=ib_umad",
		"[Daemon]\nProbeSec=7s   \n[Modules] \t\nLoad=\tib_umad\t \n\n\n\n",
	};
	struct host *h = *state;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put(h, MAIN, texts[i]);
		expect_clean(load(h));
		assert_int_equal(h->config->probe_usec, 7 * USEC_PER_SEC);
		assert_int_equal(h->config->n_load, 1);
		assert_string_equal(h->config->load[0], "ib_umad");
	}
}

static void empty_assignment_resets(void **state)
{
	struct host *h = *state;
	const struct device_facts f = { .name = "a" };

	put(h, MAIN,
		"[Daemon]\nProbeSec=7s\nProbeSec=\n[Setup]\nMode=off\nMode=\nDrift=ignore\nDrift=\n"
		"[Modules]\nLoad=a b\nLoad=\nLoad=c\nDeny=x\nDeny=\n"
		"[Health]\nFlapCount=9\nFlapCount=\nStableSec=1s\nStableSec=\n"
		"[Device *]\nMonitor=no\nExpect=yes\n[Device a]\nMonitor=\nExpect=\n"
		"[Port *]\nExpect=up\n[Port a/1]\nExpect=\n"
		"[Expect e]\nMatch=a\nCount=3\nState=any\nMinRate=1Gb/s\nMatch=\nCount=\nState=\n"
		"MinRate=\nMatch=b\n[Expect e]\nCount=2\n"
		"[Link r]\nType=siw\nNetDevice=x\nType=\nNetDevice=\nType=rxe\nNetDevice=d0\n");
	expect_clean(load(h));
	assert_int_equal(h->config->probe_usec, 30 * USEC_PER_SEC);
	assert_int_equal(h->config->setup_mode, SETUP_MODE_APPLY);
	assert_int_equal(h->config->drift, DRIFT_REPORT);
	assert_int_equal(h->config->n_load, 1);
	assert_string_equal(h->config->load[0], "c");
	assert_int_equal(h->config->n_deny, 0);
	assert_int_equal(h->config->flap_count, 3);
	assert_int_equal(h->config->stable_usec, 10 * USEC_PER_MINUTE);
	assert_int_equal(config_device_settings(h->config, &f).monitor, MONITOR_AUTO);
	assert_int_equal(config_device_settings(h->config, &f).expect, EXPECT_AUTO);
	assert_int_equal(h->config->links[0].type, LINK_TYPE_RXE);
	assert_int_equal(h->config->n_expects, 1);
	assert_string_equal(h->config->expects[0].match.text, "b");
	assert_int_equal(h->config->expects[0].count, 2);
	assert_false(h->config->expects[0].any_state);
	assert_int_equal(h->config->expects[0].min_rate_mbps, 0);
}

static void duplicate_sections_merge(void **state)
{
	struct host *h = *state;

	put(h, MAIN,
		"[Link rxe0]\nType=rxe\n[Daemon]\nProbeSec=7s\n[Link rxe0]\nNetDevice=d0\n"
		"[Daemon]\nGraceSec=1s\n[Link rxe0]\nNetDevice=d1\n");
	expect_clean(load(h));
	assert_int_equal(h->config->n_links, 1);
	assert_string_equal(h->config->links[0].netdev, "d1");
	assert_int_equal(h->config->probe_usec, 7 * USEC_PER_SEC);
	assert_int_equal(h->config->grace_usec, USEC_PER_SEC);
}

static void limits_are_exact(void **state)
{
	struct host *h = *state;
	char text[1024], word[256];

	/* A line of 198 bytes is the longest that inih takes in whole; one more is not cut. */
	memset(word, 'a', sizeof(word));
	for (int n = 198; n <= 199; n++) {
		int k = snprintf(text, sizeof(text), "[Modules]\nLoad=%.63s b%.62s c%.*s\n", word,
			word, n - 134, word);

		assert_int_equal(k - 11, n);
		text[10 + n - 2] = ' '; /* module names themselves end at 63 */
		put(h, MAIN, text);
		load(h);
		if (n == 199) {
			expect_problem(h, MAIN, 2, "too long");
			assert_int_equal(h->config->n_load, 0);
			continue;
		}
		expect_clean(h->config);
		assert_int_equal(h->config->n_load, 4);
		assert_int_equal(strlen(h->config->load[0]), 63);
		assert_string_equal(h->config->load[3], "a");
	}

	/* 49 bytes of section header, and 50. */
	snprintf(text, sizeof(text), "[Link %.44s]\nType=rxe\nNetDevice=d0\n", word);
	put(h, MAIN, text);
	expect_clean(load(h));
	assert_int_equal(strlen(h->config->links[0].name), 44);
	snprintf(text, sizeof(text), "[Link %.45s]\nType=rxe\nNetDevice=d0\n", word);
	put(h, MAIN, text);
	load(h);
	expect_problem(h, MAIN, 1, "longer than 49 bytes");
	assert_int_equal(h->config->n_links, 0);

	/* Comments may be as long as they like. */
	snprintf(text, sizeof(text), "# %.250s %.250s\n[Daemon]\nProbeSec=7s\n", word, word);
	put(h, MAIN, text);
	expect_clean(load(h));
	assert_int_equal(h->config->probe_usec, 7 * USEC_PER_SEC);
}

/* ---- what is wrong: one line, and everything else holds ---- */

#define X50  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X300 X50 X50 X50 X50 X50 X50

static void bad_lines(void **state)
{
	static const struct {
		const char *bad; /* comes after "[Daemon]\nProbeSec=7s\n", so on line 3 */
		unsigned line;
		const char *says;
	} cases[] = {
		/* values */
		{ "GraceSec=soon\n", 3, "GraceSec=soon: not a time span" },
		{ "GraceSec=-1s\n", 3, "not a time span" },
		{ "GraceSec=5 parsecs\n", 3, "not a time span" },
		{ "GraceSec=infinity\n", 3, "out of range, 0 to 1d" },
		{ "GraceSec=99999999999999999999s\n", 3, "GraceSec=" },
		{ "ProbeSec=999ms\n", 3, "out of range, 1s to 1d" },
		{ "ProbeTimeoutSec=99ms\n", 3, "out of range, 100ms" },
		{ "StartBudgetSec=2min\n", 3, "out of range" },
		{ "[Setup]\nMode=aply\n", 4, "Mode=aply: must be apply, report or off" },
		{ "[Setup]\nMode=Apply\n", 4, "must be" },
		{ "[Setup]\nDrift=fix\n", 4, "must be report, repair or ignore" },
		{ "[Health]\nFlapCount=three\n", 4, "not a whole number" },
		{ "[Health]\nFlapCount=-1\n", 4, "not a whole number" },
		{ "[Health]\nFlapCount=0x3\n", 4, "not a whole number" },
		{ "[Health]\nFlapCount=129\n", 4, "not a whole number from 0 to 128" },
		{ "[Health]\nFlapWindowSec=0\n", 4, "out of range" },
		{ "[Modules]\nLoad=ib/umad\n", 4, "\"ib/umad\" is not a module name" },
		{ "[Modules]\nLoad=siw,rdma_rxe\n", 4, "write spaces between modules" },
		{ "[Modules]\nDeny=siw.ko.xz\n", 4, "without .ko" },
		{ "[Port *]\nOptionalCounters=a,b\n", 4, "write spaces between names" },
		{ "[Modules]\nLoad=-r\n", 4, "\"-r\" is not a module name" },
		{ "[Modules]\nLoad=ib_* \n", 4, "is not a module name" },
		{ "[Modules]\nLoad=" X50 X50 "\n", 4, "too long" },
		{ "[Modules]\nDeny=a,b%\n", 4, "is not a module name" },
		{ "[Device *]\nMonitor=maybe\n", 4, "must be auto, events, reads or no" },
		{ "[Device *]\nExpect=up\n", 4, "must be auto, yes or no" },
		{ "[Port *]\nExpect=yes\n", 4, "must be auto, up, down or any" },
		/* keys */
		{ "ProbSec=5s\n", 3, "unknown key ProbSec= in [Daemon]; did you mean ProbeSec=?" },
		{ "probesec=5s\n", 3, "did you mean ProbeSec=?" },
		{ "Quux=5s\n", 3, "unknown key Quux= in [Daemon]" },
		{ "Load=ib_umad\n", 3, "unknown key Load= in [Daemon]" },
		{ "[Modules]\nLoadInfiniBand=a/b\n", 4, "\"a/b\" is not a module name" },
		{ "[Modules]\nLoadRoce=x\n", 4, "did you mean LoadRoCE=?" },
		{ "[System]\nNetnsMode=private\n", 4, "must be shared or exclusive" },
		{ "[System]\nPrivilegedQKey=maybe\n", 4, "must be yes or no" },
		{ "[System x]\nNetnsMode=shared\n", 3, "takes no name" },
		{ "[Device *]\nName=a/b\n", 4, "cannot be the name of an RDMA device" },
		{ "[Device *]\nName=mlx5_*\n", 4, "cannot be the name of an RDMA device" },
		{ "[Device *]\nName=x%d\n", 4, "cannot be the name of an RDMA device" },
		{ "[Device *]\nNodeDescription=a %h\n", 4, "behind % may be H" },
		{ "[Device *]\nNodeDescription=100%\n", 4, "behind % may be H" },
		{ "[Device *]\nNodeDescription=a\tb\n", 4, "control character" },
		{ "[Device *]\nNodeDescription=a\xc2\x85 b\n", 4, "control character" },
		{ "[Device *]\nNodeDescription=\xc3\n", 4, "not valid UTF-8" },
		{ "[Device *]\nAdaptiveModeration=auto\n", 4, "must be yes or no" },
		{ "[Port *]\nRoCEMode=V2\n", 4, "must be v1 or v2" },
		{ "[Port *]\nRoCEToS=256\n", 4, "not a whole number from 0 to 255" },
		{ "[Port *]\nRoCEToS=-1\n", 4, "not a whole number from 0 to 255" },
		{ "[Port *]\nOptionalCounters=a \xc3\xa4\n", 4, "cannot be the name of a counter" },
		{ "[Port *]\nOptionalCounters=" X50 "12345678901234\n", 4, "a name is too long" },
		{ "[Port *]\nMinRate=200\n", 4, "not a data rate" },
		{ "[Port *]\nMinRate=0Gb/s\n", 4, "not a data rate" },
		{ "[Port *]\nLinkLayer=Unknown\n", 4, "must be InfiniBand or Ethernet" },
		{ "[Port *]\nLinkLayer=IB\n", 4, "must be InfiniBand or Ethernet" },
		{ "[Port *]\nGroup=two words\n", 4, "must be one word" },
		/* sections */
		{ "[Deamon]\nGraceSec=1s\n", 3,
			"unknown section [Deamon]; did you mean [Daemon]?" },
		{ "[daemon]\nGraceSec=1s\n", 3, "did you mean [Daemon]?" },
		{ "[Nonsense at all]\nGraceSec=1s\n", 3, "unknown section [Nonsense at all]" },
		{ "[]\nGraceSec=1s\n", 3, "not a section" },
		{ "[ Daemon]\nGraceSec=1s\n", 3, "not a section" },
		{ "[Daemon now]\nGraceSec=1s\n", 3, "takes no name" },
		{ "[Metrics]\nTextfile=/x\nAnything=1\n", 3, "known, but not supported" },
		{ "[IPoIB]\nMode=datagram\n", 3,
			"[IPoIB] needs a name behind the word: [IPoIB ib0]" },
		{ "[IPoIB ib%d]\nMode=datagram\n", 3, "cannot be the name of a network" },
		{ "[IPoIB ib0.8001]\nPKey=1\n", 4, "PKey= of [IPoIB ib0.8001] is left out" },
		{ "[IPoIB ib1]\nParent=ib0\nPKey=0x8000\n", 5, "not a P_Key" },
		{ "[IPoIB ib1]\nParent=ib0\nPKey=0\n", 5, "not a P_Key" },
		{ "[IPoIB ib1]\nParent=ib0\nPKey=0x\n", 5, "not a P_Key" },
		{ "[IPoIB ib1]\nParent=ib0\nPKey=0x10001\n", 5, "not a P_Key" },
		{ "[IPoIB ib1]\nParent=ib0\nPKey=65536\n", 5, "not a P_Key" },
		{ "[IPoIB ib1]\nParent=ib0\nPKey=8001h\n", 5, "not a P_Key" },
		{ "[IPoIB ib1]\nParent=ib1\n", 4, "on top of itself" },
		{ "[IPoIB ib1]\nParent=i/b\n", 4, "not the name of a network interface" },
		{ "[IPoIB ib1]\nMode=unreliable\n", 4, "must be datagram or connected" },
		{ "[IPoIB ib1]\nMTU=67\n", 4, "from 68 to 65520" },
		{ "[IPoIB ib1]\nMTU=65521\n", 4, "from 68 to 65520" },
		{ "[IPoIB ib1]\nUmcast=sure\n", 4, "must be yes or no" },
		{ "[Daemon\nGraceSec=1s\n", 3, "no closing bracket" },
		{ "[Device mlx5_[01]]\nMonitor=no\n", 3, "behind the first \"]\"" },
		{ "[Daemon] GraceSec=1s\n", 3, "behind the first \"]\"" },
		{ "[Link " X50 "1234]\nType=rxe\nNetDevice=x\n", 3, "longer than 49 bytes" },
		{ "[Daemon] ; comment\nGraceSec=1s\n", 3, "needs a line of its own" },
		/* traps of inih */
		{ "  GraceSec=1s\n", 3, "indented" },
		{ "\tGraceSec=1s\n", 3, "indented" },
		{ "  5min\n", 3, "indented" },
		{ "  [Setup]\nMode=off\n", 3, "indented" },
		{ "GraceSec=1s ; slowly\n", 3, "needs a line of its own" },
		{ "GraceSec=1s\t;slowly\n", 3, "needs a line of its own" },
		{ "[Modules]\nLoad=" X300 "\n", 4, "too long" },
		{ "GraceSec: 1s\n", 3, "neither a section header nor an assignment" },
		{ "GraceSec: x=1s\n", 3, "\":\" before the \"=\"" },
		{ "GraceSec\n", 3, "neither a section header nor an assignment" },
		{ "=1s\n", 3, "no key" },
		{ "GraceSec=\x01\n", 3, "control character" },
		{ "GraceSec=1s\rProbeSec=1s\n", 3, "control character" },
		{ "GraceSec=\xff\n", 3, "not valid UTF-8" },
		{ "GraceSec=\xed\xa0\x80\n", 3, "not valid UTF-8" },
		{ "GraceSec=1s # slowly\n", 3, "not a time span" },
		/* links */
		{ "[Link]\nType=rxe\nNetDevice=d0\n", 3,
			"[Link] needs a name behind the word: [Link rxe0]" },
		{ "[Link a/b]\nType=rxe\nNetDevice=d0\n", 3, "cannot be the name" },
		{ "[Link a b]\nType=rxe\nNetDevice=d0\n", 3, "cannot be the name" },
		{ "[Link rxe%d]\nType=rxe\nNetDevice=d0\n", 3, "cannot be the name" },
		{ "[Link rxe*]\nType=rxe\nNetDevice=d0\n", 3, "cannot be the name" },
		{ "[Link ..]\nType=rxe\nNetDevice=d0\n", 3, "cannot be the name" },
		{ "[Link r]\n", 3, "[Link r] lacks Type= and NetDevice=" },
		{ "[Link r]\nType=rxe\n", 3, "[Link r] lacks NetDevice=" },
		{ "[Link r]\nNetDevice=d0\n", 3, "[Link r] lacks Type=" },
		{ "[Link r]\nType=rxe\nNetDevice=d0\n[Link s]\nType=rxe\nNetDevice=d0\n", 6,
			"[Link s] is left out: d0 carries the rxe link r" },
		/* counts */
		{ "[Expect]\nMatch=*\nCount=2\n", 3, "needs a name" },
		{ "[Expect a b]\nMatch=*\nCount=2\n", 3, "needs a name" },
		{ "[Expect a]\n", 3, "[Expect a] lacks Match= and Count=: left out" },
		{ "[Expect a]\nMatch=*\n", 3, "[Expect a] lacks Count=: left out" },
		{ "[Expect a]\nCount=2\n", 3, "[Expect a] lacks Match=: left out" },
		{ "[Expect a]\nMatch=*\nCount=2\nCount=0\n", 6, "from 1 to 65535" },
		{ "[Expect a]\nMatch=*\nCount=2\nCount=-2\n", 6, "not a whole number" },
		{ "[Expect a]\nMatch=*\nCount=2\nState=down\n", 6, "must be up or any" },
		{ "[Expect a]\nMatch=*\nCount=2\nMinRate=200\n", 6, "not a rate" },
		{ "[Expect a]\nMatch=*\nCount=2\nMatch=x/0\n", 6, "not a port number" },
		{ "[Expect a]\nMatch=*\nCount=2\nGroup=x\n", 6, "unknown key Group=" },
		/* selectors */
		{ "[Device]\nMonitor=no\n", 3,
			"[Device] needs a selector behind the word: [Device mlx5_0]" },
		{ "[Device mlx5_0/1]\nMonitor=no\n", 3, "names a port" },
		{ "[Device a b]\nMonitor=no\n", 3, "two names" },
		{ "[Device guid=0]\nMonitor=no\n", 3, "\"guid=0\" is not understood" },
		{ "[Device guid=0000:0000:0000:0000]\nMonitor=no\n", 3, "zero GUID" },
		{ "[Device pci=banana]\nMonitor=no\n", 3, "not understood" },
		{ "[Device color=red]\nMonitor=no\n", 3, "a selector knows" },
		{ "[Device driver=]\nMonitor=no\n", 3, "needs a value" },
		{ "[Port mlx5_0/0]\nExpect=up\n", 3, "not a port number" },
		{ "[Port mlx5_0/256]\nExpect=up\n", 3, "not a port number" },
		{ "[Port mlx5_0/x]\nExpect=up\n", 3, "not a port number" },
		{ "[Port linklayer=Token]\nExpect=up\n", 3, "not understood" },
	};
	struct host *h = *state;
	char text[1024];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "[Daemon]\nProbeSec=7s\n%s[Setup]\nDrift=ignore\n",
			cases[i].bad);
		put(h, MAIN, text);
		load(h);
		expect_problem(h, MAIN, cases[i].line, cases[i].says);
		/* What is before and after it holds; what is wrong has touched nothing. */
		assert_int_equal(h->config->probe_usec, 7 * USEC_PER_SEC);
		assert_int_equal(h->config->drift, DRIFT_IGNORE);
		assert_int_equal(h->config->grace_usec, 60 * USEC_PER_SEC);
		assert_int_equal(h->config->setup_mode, SETUP_MODE_APPLY);
		assert_int_equal(h->config->flap_count, 3);
		assert_int_equal(h->config->n_load, 0);
		assert_true(h->config->n_links <= 1);
	}
}

static void bad_link_values(void **state)
{
	struct host *h = *state;

	put(h, MAIN,
		"[Link a]\nType=roce\nType=rxe\nNetDevice=way-too-long-name\nNetDevice=d/0\n"
		"NetDevice=d:0\nNetDevice=d0\n");
	load(h);
	assert_int_equal(h->config->n_problems, 4);
	assert_int_equal(h->config->problems[0].origin.line, 2);
	assert_non_null(strstr(h->config->problems[0].text, "must be rxe or siw"));
	assert_non_null(strstr(h->config->problems[3].text, "not the name of a network interface"));
	assert_int_equal(h->config->n_links, 1);
	/* A link with nothing right in it is named twice: the value, and what is lacking. */
	put(h, MAIN, "[Link a]\nType=roce\nNetDevice=d0\n");
	load(h);
	assert_int_equal(h->config->n_problems, 2);
	assert_int_equal(h->config->n_links, 0);
}

/* MinRate=, LinkLayer=, Group=: the later section wins key by key, and says where it stands. */
static void port_keys(void **state)
{
	struct device_facts d = { .index = 1, .name = "x0" };
	struct port_facts p = port_facts_unknown(1, 1), q = port_facts_unknown(1, 2);
	struct host *h = *state;
	struct port_settings s;

	put(h, MAIN,
		"[Port *]\nMinRate=200Gb/s\nLinkLayer=infiniband\n"
		"[Port *]\nMinRate=200Gb/s\nLinkLayer=InfiniBand\nGroup=rails\n"
		"[Port x0/2]\nMinRate=2.5 Gb/s\nLinkLayer=\n"
		"[Port x0/2]\nGroup=\n");
	load(h);
	expect_problem(h, MAIN, 3, "must be InfiniBand or Ethernet");
	s = config_port_settings(h->config, &d, &p);
	assert_int_equal(s.min_rate_mbps, 200000);
	assert_int_equal(s.link_layer, LINK_LAYER_INFINIBAND);
	assert_string_equal(s.group, "rails");
	assert_int_equal(s.min_rate_at->line, 5);
	assert_int_equal(s.link_layer_at->line, 6);
	assert_non_null(strstr(s.min_rate_at->file, MAIN));
	s = config_port_settings(h->config, &d, &q);
	assert_int_equal(s.min_rate_mbps, 2500);
	assert_int_equal(s.min_rate_at->line, 9);
	assert_int_equal(s.link_layer, LINK_LAYER_UNKNOWN);
	assert_null(s.link_layer_at);
	assert_null(s.group);

	/* An empty assignment takes it back. */
	put(h, MAIN, "[Port *]\nMinRate=200Gb/s\nMinRate=\nGroup=a\nGroup=\n");
	expect_clean(load(h));
	s = config_port_settings(h->config, &d, &p);
	assert_int_equal(s.min_rate_mbps, 0);
	assert_null(s.min_rate_at);
	assert_null(s.group);
}

/* ---- what setup acts on ---- */

static void modules_and_system(void **state)
{
	struct host *h = *state;
	const struct config_modules *m;

	put(h, MAIN,
		"[Modules]\nLoadInfiniBand=ib_srp ib-umad\nLoadRoCE=rdma_ucm\n"
		"LoadRoCE=\nLoadRoCE=rds_rdma xprtrdma\nLoadIWARP=iw_cm\nLoad=rdma_ucm\n"
		"[System]\nNetnsMode=exclusive\nPrivilegedQKey=off\n");
	expect_clean(load(h));
	m = h->config->load_for;
	assert_int_equal(m[MODULES_FOR_INFINIBAND].n, 3); /* behind the default, each once */
	assert_string_equal(m[MODULES_FOR_INFINIBAND].names[1], "ib_ipoib");
	assert_string_equal(m[MODULES_FOR_INFINIBAND].names[2], "ib_srp");
	assert_int_equal(m[MODULES_FOR_ROCE].n, 2);
	assert_string_equal(m[MODULES_FOR_ROCE].names[0], "rds_rdma");
	assert_int_equal(m[MODULES_FOR_IWARP].n, 1);
	assert_int_equal(h->config->n_load, 1);
	assert_int_equal(h->config->netns_exclusive, 1);
	assert_int_equal(h->config->privileged_qkey, 0);
	assert_int_equal(CONFIG_ORIGIN(h->config, netns_exclusive)->line, 9);
	assert_int_equal(CONFIG_ORIGIN(h->config, privileged_qkey)->line, 10);

	/* Empty takes the default away, too, and what is not configured has no place. */
	put(h, MAIN,
		"[Modules]\nLoadInfiniBand=\n[System]\nNetnsMode=shared\nNetnsMode=\n"
		"PrivilegedQKey=yes\n");
	expect_clean(load(h));
	assert_int_equal(h->config->load_for[MODULES_FOR_INFINIBAND].n, 0);
	assert_int_equal(h->config->netns_exclusive, -1);
	assert_null(CONFIG_ORIGIN(h->config, netns_exclusive));
	assert_int_equal(h->config->privileged_qkey, 1);
}

/* Name=, NodeDescription=, AdaptiveModeration=: the later section wins key by key. */
static void device_keys(void **state)
{
	struct device_facts a = { .index = 1, .name = "x0" }, b = { .index = 2, .name = "x1" };
	struct host *h = *state;
	struct device_settings s;

	put(h, MAIN,
		"[Device *]\nNodeDescription=%H %d, 100%%\nAdaptiveModeration=yes\n"
		"[Device x0]\nName=rail0\nAdaptiveModeration=no\n"
		"[Device x1]\nNodeDescription=\nAdaptiveModeration=\n"
		"[Device x0]\nMonitor=reads\n");
	expect_clean(load(h));
	s = config_device_settings(h->config, &a);
	assert_string_equal(s.name, "rail0");
	assert_int_equal(s.name_at->line, 5);
	assert_non_null(strstr(s.name_at->file, MAIN));
	assert_string_equal(s.node_description, "%H %d, 100%%");
	assert_int_equal(s.node_description_at->line, 2);
	assert_int_equal(s.adaptive_moderation, 0);
	assert_int_equal(s.adaptive_moderation_at->line, 6);
	assert_int_equal(s.monitor, MONITOR_READS);
	s = config_device_settings(h->config, &b);
	assert_null(s.name);
	assert_null(s.name_at);
	assert_null(s.node_description);
	assert_null(s.node_description_at);
	assert_int_equal(s.adaptive_moderation, -1);
	assert_null(s.adaptive_moderation_at);

	/* What is refused takes nothing back. */
	put(h, MAIN, "[Device *]\nName=a\nAdaptiveModeration=yes\nName=a/b\n");
	load(h);
	expect_problem(h, MAIN, 4, "cannot be the name");
	s = config_device_settings(h->config, &a);
	assert_string_equal(s.name, "a");
	assert_int_equal(s.adaptive_moderation, 1);
	put(h, MAIN, "[Device *]\nAdaptiveModeration=yes\n[Device x0]\nAdaptiveModeration=x\n");
	load(h);
	expect_problem(h, MAIN, 4, "must be yes or no");
	s = config_device_settings(h->config, &a);
	assert_int_equal(s.adaptive_moderation, 1);
	assert_int_equal(s.adaptive_moderation_at->line, 2);
}

static void roce_keys(void **state)
{
	struct device_facts d = { .index = 1, .name = "x0" };
	struct port_facts p = port_facts_unknown(1, 1), q = port_facts_unknown(1, 2);
	struct host *h = *state;
	struct port_settings s;

	put(h, MAIN,
		"[Port *]\nRoCEMode=v1\nRoCEToS=106\n[Port x0/1]\nRoCEMode=v2\nRoCEToS=0\n"
		"[Port x0/2]\nRoCEMode=\nRoCEToS=\n");
	expect_clean(load(h));
	s = config_port_settings(h->config, &d, &p);
	assert_int_equal(s.roce_mode, GID_TYPE_ROCE_V2);
	assert_int_equal(s.roce_mode_at->line, 5);
	assert_int_equal(s.roce_tos, 0);
	assert_int_equal(s.roce_tos_at->line, 6);
	s = config_port_settings(h->config, &d, &q);
	assert_int_equal(s.roce_mode, GID_TYPE_UNKNOWN);
	assert_null(s.roce_mode_at);
	assert_int_equal(s.roce_tos, -1);
	assert_null(s.roce_tos_at);
}

/* A list that grows over the sections that match, and that an empty assignment begins anew. */
static void optional_counters(void **state)
{
	struct device_facts d = { .index = 1, .name = "x0" };
	struct port_facts p = port_facts_unknown(1, 1), q = port_facts_unknown(1, 2);
	struct host *h = *state;
	struct port_settings s;
	const char *both;

	put(h, MAIN,
		"[Port *]\nOptionalCounters=a  b\nOptionalCounters=b c\n"
		"[Port x0/1]\nOptionalCounters=c d\n"
		"[Port x0/2]\nOptionalCounters=\n");
	expect_clean(load(h));
	s = config_port_settings(h->config, &d, &p);
	assert_string_equal(s.optional_counters, "a b c d");
	assert_int_equal(s.optional_counters_at->line, 5);
	both = s.optional_counters;
	/* Asked for again: the very same text, not one more. */
	assert_ptr_equal(config_port_settings(h->config, &d, &p).optional_counters, both);
	s = config_port_settings(h->config, &d, &q);
	assert_null(s.optional_counters);
	assert_null(s.optional_counters_at);

	put(h, DROP "/50.conf",
		"[Port x0/2]\nOptionalCounters=e\n[Port *]\nOptionalCounters=x\n"
		"OptionalCounters=\nOptionalCounters=f\n");
	expect_clean(load(h));
	assert_string_equal(config_port_settings(h->config, &d, &p).optional_counters, "f");
	s = config_port_settings(h->config, &d, &q);
	assert_string_equal(s.optional_counters, "f");
	assert_int_equal(s.optional_counters_at->line, 6);
	assert_non_null(strstr(s.optional_counters_at->file, "50.conf"));
}

static void ipoib_sections(void **state)
{
	struct host *h = *state;
	const struct config_ipoib *e;

	put(h, MAIN,
		"[IPoIB ib0]\nMode=connected\nMTU=65520\nUmcast=yes\n"
		"[IPoIB ib0.1]\nParent=ib0\nPKey=0x0001\n"
		"[IPoIB storage]\nParent=ib0\nPKey=32770\nMode=datagram\nMTU=2044\nUmcast=no\n"
		"[IPoIB ib0]\nMTU=\n");
	expect_clean(load(h));
	e = h->config->ipoibs;
	assert_int_equal(h->config->n_ipoibs, 3);
	assert_string_equal(e[0].name, "ib0");
	assert_null(e[0].parent);
	assert_int_equal(e[0].connected, 1);
	assert_int_equal(e[0].mtu, 0);
	assert_int_equal(e[0].umcast, 1);
	assert_int_equal(e[0].origin.line, 1);
	assert_string_equal(e[1].parent, "ib0");
	assert_int_equal(e[1].pkey, 0x0001);
	assert_int_equal(e[1].connected, -1);
	assert_int_equal(e[1].mtu, 0);
	assert_int_equal(e[1].umcast, -1);
	assert_int_equal(e[2].pkey, 0x8002);
	assert_int_equal(e[2].connected, 0);
	assert_int_equal(e[2].mtu, 2044);
	assert_int_equal(e[2].umcast, 0);

	/* A P_Key needs an interface to make; its own file and line are named, and the rest holds. */
	put(h, MAIN, "[IPoIB ib1]\nMTU=1500\nParent=ib0\n");
	put(h, DROP "/50.conf", "[IPoIB ib1]\n\nPKey=0x8001\nParent=\n");
	load(h);
	expect_problem(h, DROP "/50.conf", 3, "needs Parent=");
	assert_int_equal(h->config->ipoibs[0].pkey, 0);
	assert_int_equal(h->config->ipoibs[0].mtu, 1500);
	put(h, DROP "/50.conf", "[IPoIB ib1]\nPKey=0x8001\nPKey=\nParent=\n");
	expect_clean(load(h));
}

static void keys_before_any_section(void **state)
{
	struct host *h = *state;

	put(h, MAIN, "ProbeSec=7s\n[Daemon]\nGraceSec=1s\n");
	load(h);
	expect_problem(h, MAIN, 1, "outside of a section");
	assert_int_equal(h->config->probe_usec, 30 * USEC_PER_SEC);
	assert_int_equal(h->config->grace_usec, USEC_PER_SEC);
}

static void nul_bytes(void **state)
{
	static const char text[] = "[Daemon]\nGrace\0Sec=1s\nProbeSec=7s\n";
	struct host *h = *state;

	put_bytes(h, MAIN, text, sizeof(text) - 1);
	load(h);
	expect_problem(h, MAIN, 2, "NUL byte");
	assert_int_equal(h->config->probe_usec, 7 * USEC_PER_SEC);
	assert_int_equal(h->config->grace_usec, 60 * USEC_PER_SEC);

	put_bytes(h, MAIN, "\xff\xfe[\0D\0]\0\n\0", 10);
	load(h);
	expect_problem(h, MAIN, 0, "UTF-16");
}

static void problems_are_bounded(void **state)
{
	struct host *h = *state;
	_cleanup_(freep) char *text = malloc(1024 * 1024);
	size_t n = 0;

	while (n < 1000 * 1000)
		n += (size_t)sprintf(text + n, "nonsense\n");
	put_bytes(h, MAIN, text, n);
	load(h);
	assert_int_equal(h->config->n_problems, 51);
	assert_non_null(strstr(h->config->problems[50].text, "not listed"));

	n = (size_t)sprintf(text, "[Modules]\nLoad=");
	for (unsigned i = 0; n < 1000 * 1000; i++)
		n += (size_t)sprintf(text + n, "m%u%s", i, i % 20 == 19 ? "\nLoad=" : " ");
	text[n++] = '\n';
	put_bytes(h, MAIN, text, n);
	load(h);
	assert_int_equal(h->config->n_load, 1024);
	assert_int_equal(h->config->n_problems, 51);
}

/* ---- whole files ---- */

static void file_too_large(void **state)
{
	struct host *h = *state;
	size_t size = 1024 * 1024;
	_cleanup_(freep) char *text = malloc(size + 1);

	memset(text, '#', size + 1);
	memcpy(text, "[Daemon]\nProbeSec=7s\n", 21);
	put_bytes(h, MAIN, text, size);
	expect_clean(load(h));
	assert_int_equal(h->config->probe_usec, 7 * USEC_PER_SEC);
	put_bytes(h, MAIN, text, size + 1);
	put(h, DROP "/50.conf", "[Daemon]\nGraceSec=1s\n");
	load(h);
	expect_problem(h, MAIN, 0, "larger than 1 MB");
	assert_int_equal(h->config->probe_usec, 30 * USEC_PER_SEC);
	assert_int_equal(h->config->grace_usec, USEC_PER_SEC);
}

/* In a child without root's rights: the exit status tells what it saw. */
static int load_as_nobody(struct host *h, const char *file, const char *says)
{
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct config *c = NULL;

		if (geteuid() == 0 &&
			(setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
			_exit(10);
		if (config_load(h->root, &c) < 0)
			_exit(11);
		if (c->n_problems != 1)
			_exit(12);
		if (!streq(c->problems[0].origin.file, path_of(h, file)) ||
			!strstr(c->problems[0].text, says))
			_exit(13);
		if (c->grace_usec != USEC_PER_SEC)
			_exit(14);
		config_free(c);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void file_unreadable(void **state)
{
	struct host *h = *state;

	chmod(h->root, 0755);
	put(h, MAIN, "[Daemon]\nProbeSec=7s\n");
	put(h, DROP "/50.conf", "[Daemon]\nGraceSec=1s\n");
	chmod(path_of(h, MAIN), 0);
	assert_int_equal(load_as_nobody(h, MAIN, "cannot be read: Permission denied"), 0);

	chmod(path_of(h, MAIN), 0644);
	put(h, DROP "/60.conf", "[Daemon]\nGraceSec=2s\n");
	chmod(path_of(h, DROP "/60.conf"), 0);
	assert_int_equal(
		load_as_nobody(h, DROP "/60.conf", "cannot be read: Permission denied"), 0);

	/* A directory that cannot be listed is named; the rest holds. */
	unlink(path_of(h, DROP "/60.conf"));
	put(h, "/run/rdmad/rdmad.conf.d/60.conf", "[Daemon]\nGraceSec=2s\n");
	chmod(path_of(h, "/run/rdmad/rdmad.conf.d"), 0);
	assert_int_equal(load_as_nobody(h, "/run/rdmad/rdmad.conf.d", "cannot be listed"), 0);
	chmod(path_of(h, "/run/rdmad/rdmad.conf.d"), 0755);
}

static void file_is_no_file(void **state)
{
	struct host *h = *state;

	make_parents(path_of(h, MAIN "/x"));
	load(h);
	expect_problem(h, MAIN, 0, "is a directory");
	clear(h);

	make_parents(path_of(h, DROP "/50.conf/x"));
	load(h);
	expect_problem(h, DROP "/50.conf", 0, "is a directory");
	clear(h);

	make_parents(path_of(h, MAIN));
	assert_int_equal(mkfifo(path_of(h, MAIN), 0644), 0);
	load(h); /* does not hang */
	expect_problem(h, MAIN, 0, "not a regular file");
	clear(h);

	put_link(h, MAIN, "nowhere");
	put(h, "/usr/lib/rdmad/rdmad.conf", "[Daemon]\nProbeSec=7s\n");
	load(h);
	expect_problem(h, MAIN, 0, "cannot be read: No such file");
	clear(h);

	put_link(h, DROP "/loop.conf", "loop.conf");
	load(h);
	expect_problem(h, DROP "/loop.conf", 0, "cannot be read");
	clear(h);

	put(h, DROP, "[Daemon]\nProbeSec=7s\n"); /* a file in place of the directory */
	load(h);
	expect_problem(h, DROP, 0, "cannot be listed: Not a directory");
	expect_defaults(h->config);
}

/* ---- where files are ---- */

static void main_file_precedence(void **state)
{
	struct host *h = *state;

	put(h, "/usr/lib/rdmad/rdmad.conf", "[Daemon]\nProbeSec=3s\nGraceSec=3s\n");
	load(h);
	assert_int_equal(h->config->probe_usec, 3 * USEC_PER_SEC);
	put(h, "/run/rdmad/rdmad.conf", "[Daemon]\nProbeSec=2s\n");
	load(h);
	assert_int_equal(h->config->probe_usec, 2 * USEC_PER_SEC);
	/* The first one alone, not merged. */
	assert_int_equal(h->config->grace_usec, 60 * USEC_PER_SEC);
	put(h, MAIN, "[Daemon]\nProbeSec=1s\n");
	expect_clean(load(h));
	assert_int_equal(h->config->probe_usec, USEC_PER_SEC);
	/* Masked, or empty: the defaults. */
	put(h, MAIN, "");
	expect_clean(load(h));
	expect_defaults(h->config);
	unlink(path_of(h, MAIN));
	put_link(h, MAIN, "/dev/null");
	expect_clean(load(h));
	expect_defaults(h->config);
}

static void dropin_precedence(void **state)
{
	struct host *h = *state;

	put(h, "/usr/lib/rdmad/rdmad.conf", "[Daemon]\nProbeSec=1s\nGraceSec=1s\n");
	put(h, "/usr/lib/rdmad/rdmad.conf.d/10.conf", "[Daemon]\nProbeSec=2s\n[Modules]\nLoad=a\n");
	put(h, DROP "/05.conf", "[Daemon]\nProbeSec=3s\n[Modules]\nLoad=b\n");
	put(h, "/run/rdmad/rdmad.conf.d/20.conf", "[Modules]\nLoad=c\n");
	/* None of these is a drop-in. */
	put(h, DROP "/90.conf~", "nonsense");
	put(h, DROP "/.90.conf", "nonsense");
	put(h, DROP "/README", "nonsense");
	put(h, DROP "/.conf", "nonsense");
	expect_clean(load(h));
	/* By name across the directories: 05 of /etc is before 10 of /usr/lib. */
	assert_int_equal(h->config->probe_usec, 2 * USEC_PER_SEC);
	assert_int_equal(h->config->grace_usec, USEC_PER_SEC);
	assert_int_equal(h->config->n_load, 3);
	assert_string_equal(h->config->load[0], "b");
	assert_string_equal(h->config->load[1], "a");
	assert_string_equal(h->config->load[2], "c");

	/* Equal names: /etc over /run over /usr/lib, as a whole. */
	put(h, "/run/rdmad/rdmad.conf.d/10.conf", "[Daemon]\nProbeSec=4s\n");
	load(h);
	assert_int_equal(h->config->probe_usec, 4 * USEC_PER_SEC);
	assert_int_equal(h->config->n_load, 2);
	put(h, DROP "/10.conf", "[Daemon]\nProbeSec=5s\n");
	load(h);
	assert_int_equal(h->config->probe_usec, 5 * USEC_PER_SEC);

	/* A link to /dev/null, or an empty file, masks. */
	unlink(path_of(h, DROP "/10.conf"));
	put_link(h, DROP "/10.conf", "/dev/null");
	expect_clean(load(h));
	assert_int_equal(h->config->probe_usec, 3 * USEC_PER_SEC);
	put(h, DROP "/20.conf", "");
	expect_clean(load(h));
	assert_int_equal(h->config->n_load, 1);

	/* Drop-ins work without any rdmad.conf. */
	unlink(path_of(h, "/usr/lib/rdmad/rdmad.conf"));
	expect_clean(load(h));
	assert_int_equal(h->config->grace_usec, 60 * USEC_PER_SEC);
	assert_int_equal(h->config->probe_usec, 3 * USEC_PER_SEC);
}

static void problems_name_their_file(void **state)
{
	struct host *h = *state;
	char buf[512], want[512];

	put(h, MAIN, "[Daemon]\nX=1\n");
	put(h, DROP "/50-x.conf", "\n\n\n[Daemon]\n\nY=1\n");
	put(h, "/run/rdmad/rdmad.conf.d/40-y.conf", "[Link a]\nType=rxe\n");
	load(h);
	assert_int_equal(h->config->n_problems, 3);
	snprintf(want, sizeof(want), "%s:2: unknown key X= in [Daemon]", path_of(h, MAIN));
	assert_string_equal(config_problem_format(&h->config->problems[0], buf, sizeof(buf)), want);
	snprintf(want, sizeof(want), "%s:6: unknown key Y= in [Daemon]",
		path_of(h, DROP "/50-x.conf"));
	assert_string_equal(config_problem_format(&h->config->problems[1], buf, sizeof(buf)), want);
	snprintf(want, sizeof(want), "%s:1: [Link a] lacks NetDevice=: left out",
		path_of(h, "/run/rdmad/rdmad.conf.d/40-y.conf"));
	assert_string_equal(config_problem_format(&h->config->problems[2], buf, sizeof(buf)), want);
}

/* ---- selectors and settings ---- */

static void selectors(void **state)
{
	static const struct device_facts d = {
		.index = 1,
		.name = "mlx5_0",
		.node_guid = 0x0a7fbc1245efd23bULL,
		.pci_address = "0000:3b:00.0",
		.driver = "mlx5_core",
		.board_id = "MT_0000000359",
		.protocol = "ib",
	};
	static const struct {
		const char *text;
		bool match;
	} cases[] = {
		{ "*", true },
		{ "mlx5_0", true },
		{ "mlx5_1", false },
		{ "mlx5", false },
		{ "mlx5_*", true },
		{ "*_0", true },
		{ "m*5*0", true },
		{ "m*5*1", false },
		{ "mlx?_?", true },
		{ "mlx5_0?", false },
		{ "mlx5_0*", true },
		{ "**0", true },
		{ "MLX5_0", false },
		{ "mlx5_0/1", true },
		{ "mlx5_0/2", false },
		{ "*/1", true },
		{ "guid=0a7f:bc12:45ef:d23b", true },
		{ "guid=0x0A7FBC1245EFD23B", true },
		{ "guid=0a7fbc1245efd23b mlx5_1", false },
		{ "guid=0a7f:bc12:45ef:d23c", false },
		{ "pci=0000:3b:00.0", true },
		{ "pci=3b:00.0", true },
		{ "pci=3B:00.0", true },
		{ "pci=0000:3b:00.1", false },
		{ "netdev=ib0", true },
		{ "netdev=ib1", false },
		{ "driver=mlx5_core", true },
		{ "driver=mlx4_core", false },
		{ "board=MT_0000000359", true },
		{ "board=MT_1", false },
		{ "linklayer=InfiniBand", true },
		{ "linklayer=infiniband", true },
		{ "linklayer=Ethernet", false },
		{ "mlx5_* driver=mlx5_core linklayer=InfiniBand pci=3b:00.0", true },
		{ "mlx5_* driver=mlx5_core linklayer=Ethernet pci=3b:00.0", false },
		{ "  mlx5_*   netdev=ib0  ", true },
	};
	static const char *const bad[] = { "", " ", "a b", "guid=1", "guid=0a7f:bc12:45ef:d23b:1",
		"guid=0a7fbc1245efd23", "guid=0a7fbc1245efd2311", "guid=:0a7fbc1245efd23b",
		"guid=0a7fbc1245efd23b:", "pci=3b:00", "pci=3b:00.8", "pci=3b:20.0", "pci=3b:00.0x",
		"pci= 3b:00.0", "pci=1:2:3:4.5", "netdev=a/b", "linklayer=", "x=y", "/1", "a/",
		"a/-1", "a/1/2", "a%", "a[01]" };
	struct port_facts p = port_facts_unknown(1, 1);
	struct selector s;
	char why[160];

	p.link_layer = LINK_LAYER_INFINIBAND;
	strcpy(p.netdev, "ib0");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(selector_parse(cases[i].text, true, &s, why, sizeof(why)), 0);
		assert_string_equal(s.text, cases[i].text);
		if (selector_match(&s, &d, &p) != cases[i].match)
			fail_msg("%s", cases[i].text);
		selector_done(&s);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		why[0] = '\0';
		if (selector_parse(bad[i], true, &s, why, sizeof(why)) != -EINVAL)
			fail_msg("%s", bad[i]);
		assert_string_not_equal(why, "");
	}

	/* Without a port: the protocol tells the link layer, and there is no "/N". */
	assert_int_equal(selector_parse("linklayer=InfiniBand", true, &s, why, sizeof(why)), 0);
	assert_true(selector_match(&s, &d, NULL));
	selector_done(&s);
	assert_int_equal(selector_parse("mlx5_0/1", true, &s, why, sizeof(why)), 0);
	assert_false(selector_match(&s, &d, NULL));
	selector_done(&s);
	assert_int_equal(selector_parse("mlx5_0/1", false, &s, why, sizeof(why)), -EINVAL);
}

static void glob_is_not_exponential(void **state)
{
	struct device_facts d = { .index = 1 };
	struct selector s;
	char why[160];

	memset(d.name, 'a', sizeof(d.name) - 1);
	assert_int_equal(
		selector_parse("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", false, &s, why, sizeof(why)),
		0);
	for (int i = 0; i < 10000; i++)
		assert_false(selector_match(&s, &d, NULL));
	selector_done(&s);
}

static void settings_win_key_by_key(void **state)
{
	struct host *h = *state;
	struct device_facts d = { .index = 1, .name = "mlx5_0", .driver = "mlx5_core" };
	struct port_facts p1 = port_facts_unknown(1, 1), p2 = port_facts_unknown(1, 2);
	struct device_settings s;

	put(h, MAIN,
		"[Device *]\nMonitor=reads\nExpect=no\n[Device mlx5_0]\nExpect=yes\n"
		"[Device mlx4_*]\nMonitor=no\n[Port *]\nExpect=any\n[Port "
		"mlx5_0/2]\nExpect=down\n");
	put(h, DROP "/50.conf", "[Device driver=mlx5_core]\nMonitor=events\n");
	expect_clean(load(h));
	s = config_device_settings(h->config, &d);
	assert_int_equal(s.monitor, MONITOR_EVENTS);
	assert_int_equal(s.expect, EXPECT_UP);
	assert_int_equal(config_port_settings(h->config, &d, &p1).expect, EXPECT_ANY);
	assert_int_equal(config_port_settings(h->config, &d, &p2).expect, EXPECT_DOWN);
	assert_null(config_port_settings(h->config, &d, &p2).link);
	strcpy(d.name, "rxe0");
	strcpy(d.driver, "rxe");
	s = config_device_settings(h->config, &d);
	assert_int_equal(s.monitor, MONITOR_READS);
	assert_int_equal(s.expect, EXPECT_ANY);
}

static void links_are_recognised(void **state)
{
	struct host *h = *state;
	struct device_facts d = {
		.index = 1,
		.name = "rxe0",
		.link_type = LINK_TYPE_RXE,
		.parent_netdev = "d0",
	};
	const struct port_facts p = port_facts_unknown(1, 1);

	put(h, MAIN, "[Link rxe0]\nType=rxe\nNetDevice=d0\n[Link siw0]\nType=siw\nNetDevice=d0\n");
	expect_clean(load(h)); /* of two types: both fit on one netdev */
	assert_string_equal(config_link_by_name(h->config, "siw0")->netdev, "d0");
	assert_null(config_link_by_name(h->config, "siw1"));
	assert_string_equal(config_port_settings(h->config, &d, &p).link->name, "rxe0");
	strcpy(d.name, "fast0"); /* renamed by hand: still ours */
	assert_string_equal(config_link_of(h->config, &d)->name, "rxe0");
	strcpy(d.name, "rxe0");
	strcpy(d.parent_netdev, "d1"); /* the name alone makes it not ours */
	assert_null(config_link_of(h->config, &d));
	d.parent_netdev[0] = '\0'; /* unless nothing else is known */
	assert_string_equal(config_link_of(h->config, &d)->name, "rxe0");
	d.link_type = LINK_TYPE_SIW;
	assert_null(config_link_of(h->config, &d));
	d.link_type = LINK_TYPE_NONE;
	assert_null(config_link_of(h->config, &d));
}

/* ---- counters ---- */

/* What the sections come to for one counter: later ones win, key by key. */
static void counter_sections(void **state)
{
	struct host *h = *state;
	const char *file;
	struct counter_rule r;

	put(h, MAIN,
		"[Counter port_*_errors]\nThreshold=20/min\nSeverity=failed\n"
		"[Counter port_rcv_errors]\nWindow=5min\n"
		"[Counter port_rcv_error?]\nThreshold=7\n"
		"[Counter link_error_recovery]\nThreshold=3/5min\nThreshold=\n"
		"[Counter symbol_error]\nSeverity=none\n"
		"[Counter port_xmit_discards]\nThreshold=200 / 5min\n"
		"[Counter RNR_sent]\nThreshold=5/s\n"
		"[Counter out_of_*]\nThreshold=9\n"
		"[Counter *data]\nThreshold=1/s\n");
	expect_clean(load(h));
	file = h->config->counters[0].origin.file;

	assert_true(config_counter_rule(h->config, COUNTER_PMA, "port_rcv_errors", NULL, &r));
	assert_int_equal(r.alarm, ALARM_FAILED);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.limits[0].window, 5 * USEC_PER_MINUTE);
	assert_int_equal(r.limits[0].count, 7);
	assert_int_equal(r.limits[0].per, 0);
	assert_string_equal(r.origin.file, file);
	assert_int_equal(r.origin.line, 7);

	/* An empty assignment is the default. */
	assert_true(config_counter_rule(h->config, COUNTER_PMA, "link_error_recovery", NULL, &r));
	assert_int_equal(r.alarm, ALARM_DEGRADED);
	assert_int_equal(r.limits[0].count, 5);
	assert_null(r.origin.file);

	assert_true(config_counter_rule(h->config, COUNTER_PMA, "symbol_error", NULL, &r));
	assert_int_equal(r.alarm, ALARM_NONE);
	assert_int_equal(r.n, 0);

	/* Information by default, and named in full: an alarm. */
	assert_true(config_counter_rule(h->config, COUNTER_PMA, "port_xmit_discards", NULL, &r));
	assert_int_equal(r.alarm, ALARM_DEGRADED);
	assert_int_equal(r.limits[0].count, 200);
	assert_int_equal(r.limits[0].per, 5 * USEC_PER_MINUTE);
	assert_int_equal(r.limits[0].window, 5 * USEC_PER_MINUTE);

	/* By a pattern: not the traffic. */
	assert_true(config_counter_rule(h->config, COUNTER_PMA, "port_xmit_data", NULL, &r));
	assert_int_equal(r.alarm, ALARM_NONE);

	/* By the name as one word; a rate per second is judged over a minute. */
	assert_true(config_counter_rule(h->config, COUNTER_HW, "RNR sent", "RNR_sent", &r));
	assert_int_equal(r.limits[0].window, USEC_PER_MINUTE);
	assert_true(counter_limit_allowed(&r.limits[0], 0) > 299.5);
	assert_true(counter_limit_allowed(&r.limits[0], 0) < 300.5);

	assert_true(config_counter_rule(h->config, COUNTER_HW, "out_of_buffer", NULL, &r));
	assert_int_equal(r.alarm, ALARM_DEGRADED);
	assert_int_equal(r.limits[0].window, USEC_PER_HOUR);
	assert_false(config_counter_rule(h->config, COUNTER_HW, "rx_write_requests", NULL, &r));
}

/* What each counter is without any configuration, and at which rate of the link. */
static void counter_defaults(void **state)
{
	static const struct {
		enum counter_source source;
		const char *name;
		enum counter_alarm alarm;
		uint64_t rate_mbps;
		double allowed;
		usec_t window;
	} t[] = {
		{ COUNTER_PMA, "symbol_error", ALARM_DEGRADED, 400000, 2.88, 720 * USEC_PER_SEC },
		{ COUNTER_PMA, "symbol_error", ALARM_DEGRADED, 800000, 5.76, 720 * USEC_PER_SEC },
		{ COUNTER_PMA, "symbol_error", ALARM_DEGRADED, 40000, 1, 720 * USEC_PER_SEC },
		{ COUNTER_PMA, "link_error_recovery", ALARM_DEGRADED, 0, 5, USEC_PER_MINUTE },
		{ COUNTER_PMA, "port_rcv_errors", ALARM_DEGRADED, 0, 10, USEC_PER_MINUTE },
		{ COUNTER_PMA, "local_link_integrity_errors", ALARM_DEGRADED, 0, 0, USEC_PER_HOUR },
		{ COUNTER_PMA, "excessive_buffer_overrun_errors", ALARM_DEGRADED, 0, 0,
			USEC_PER_HOUR },
		{ COUNTER_PMA, "port_xmit_constraint_errors", ALARM_NOTICE, 0, 0, USEC_PER_HOUR },
		{ COUNTER_PMA, "port_rcv_constraint_errors", ALARM_NOTICE, 0, 0, USEC_PER_HOUR },
		{ COUNTER_HW, "req_transport_retries_exceeded", ALARM_NOTICE, 0, 0, USEC_PER_HOUR },
		{ COUNTER_HW, "retry_exceeded_err", ALARM_NOTICE, 0, 0, USEC_PER_HOUR },
		{ COUNTER_HW, "max_retry_exceeded", ALARM_NOTICE, 0, 0, USEC_PER_HOUR },
		{ COUNTER_PMA, "port_xmit_wait", ALARM_NONE },
		{ COUNTER_PMA, "port_xmit_discards", ALARM_NONE },
		{ COUNTER_PMA, "port_rcv_remote_physical_errors", ALARM_NONE },
		{ COUNTER_PMA, "port_rcv_switch_relay_errors", ALARM_NONE },
		{ COUNTER_PMA, "VL15_dropped", ALARM_NONE },
		{ COUNTER_PMA, "link_downed", ALARM_NONE },
		{ COUNTER_HW, "np_cnp_sent", ALARM_NONE },
		{ COUNTER_HW, "cnpSent", ALARM_NONE },
		{ COUNTER_HW, "np_ecn_marked_roce_packets", ALARM_NONE },
	};
	struct host *h = *state;

	load(h);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		double allowed;
		struct counter_rule r;

		if (!config_counter_rule(h->config, t[i].source, t[i].name, NULL, &r) ||
			r.alarm != t[i].alarm || (r.n > 0) != (r.alarm != ALARM_NONE))
			fail_msg("%s: not as it should be", t[i].name);
		if (r.n == 0)
			continue;
		allowed = counter_limit_allowed(&r.limits[0], t[i].rate_mbps);
		if (allowed < t[i].allowed - 0.001 || allowed > t[i].allowed + 0.001 ||
			r.limits[0].window != t[i].window)
			fail_msg("%s: %f", t[i].name, allowed);
	}
}

/* The one thing that is wrong is named with its file and line, and left out. */
static void counter_thresholds_out_of_reach(void **state)
{
	static const struct {
		const char *text;
		unsigned line; /* 0: nothing is wrong */
		const char *says;
	} t[] = {
		{ "[Counter local_link_integrity_errors]\nThreshold=14\n", 0, NULL },
		{ "[Counter local_link_integrity_errors]\nThreshold=15\n", 2, "ends at 15" },
		{ "[Counter local_link_integrity_errors]\nThreshold=10/s\n", 2, "4 bits" },
		{ "[Counter link_error_recovery]\nThreshold=254\n", 0, NULL },
		{ "[Counter link_error_recovery]\nThreshold=255\n", 2, "8 bits" },
		{ "[Counter link_error_recovery]\nWindow=1h\n", 2, "Window= is left out" },
		{ "[Counter link_error_recovery]\nWindow=1h\nThreshold=5/h\n", 0, NULL },
		{ "[Counter link_error_recovery]\n\nThreshold=20/min\nWindow=1h\n", 3,
			"more than 1200 in 1h" },
		{ "[Counter port_rcv_errors]\nThreshold=65534\n", 0, NULL },
		{ "[Counter port_rcv_errors]\nThreshold=65535\n", 2, "16 bits" },
		{ "[Counter port_rcv_errors]\nThreshold=100000\nSeverity=none\n", 0, NULL },
		{ "[Counter port_xmit_wait]\nThreshold=5000000000\n", 2, "32 bits" },
		{ "[Counter req_transport_retries_exceeded]\nThreshold=5000000000\n", 0, NULL },
		{ "[Counter *integrity*]\nThreshold=100\n", 2, "local_link_integrity_errors" },
		{ "[Counter *]\nThreshold=20\n[Counter *_integrity_*]\nThreshold=2\n"
		  "[Counter excessive*]\nThreshold=2\n",
			0, NULL },
		{ "[Counter]\nThreshold=1\n", 1,
			"needs a name behind the word: [Counter symbol_error]" },
		{ "[Counter x]\nThreshold=many\n", 2, "not a number of errors" },
		{ "[Counter x]\nThreshold=-1\n", 2, "not a number of errors" },
		{ "[Counter x]\nThreshold=1/\n", 2, "not a number of errors" },
		{ "[Counter x]\nThreshold=1/0s\n", 2, "not a number of errors" },
		{ "[Counter x]\nThreshold=/min\n", 2, "not a number of errors" },
		{ "[Counter x]\nThreshold=1/fortnight\n", 2, "not a number of errors" },
		{ "[Counter x]\nWindow=soon\n", 2, "not a time span" },
		{ "[Counter x]\nWindow=10ms\n", 2, "out of range" },
		{ "[Counter x]\nSeverity=unknown\n", 2,
			"must be failed, degraded, notice or none" },
		{ "[Counter x]\nTreshold=1\n", 2, "did you mean Threshold=?" },
	};
	struct host *h = *state;

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		put(h, MAIN, t[i].text);
		load(h);
		if (t[i].line == 0 && h->config->n_problems > 0) {
			show_problems(h->config);
			fail_msg("case %zu", i);
		}
		if (t[i].line)
			expect_problem(h, MAIN, t[i].line, t[i].says);
	}
}

/* ---- the shipped files ---- */

/* Takes "#Key=value" and "#[Section]" for what they are; prose stays a comment. */
static void uncomment(char *text)
{
	char *out = text;

	for (char *line = text; *line;) {
		char *end = strchrnul(line, '\n');
		size_t len = (size_t)(end - line) + (*end == '\n');

		if (line[0] == '#' && (line[1] == '[' || (line[1] >= 'A' && line[1] <= 'Z' &&
								 memchr(line, '=', len)))) {
			line++;
			len--;
		}
		memmove(out, line, len);
		out += len;
		line = end + (*end == '\n');
	}
	*out = '\0';
}

static char *read_source(const char *name)
{
	char path[512];
	char *text = calloc(1, 65536);
	FILE *f;

	snprintf(path, sizeof(path), "%s/conf/%s", SOURCE_ROOT, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, 65535, f) > 0);
	fclose(f);
	return text;
}

static void shipped_file_shows_the_defaults(void **state)
{
	struct host *h = *state;
	_cleanup_(freep) char *text = read_source("rdmad.conf");
	struct counter_rule rule;
	size_t n = 0;

	/* As it is shipped it says nothing. */
	put(h, "/usr/lib/rdmad/rdmad.conf", text);
	expect_clean(load(h));
	expect_defaults(h->config);
	/* And what it says, uncommented, is every key with its default. */
	uncomment(text);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n += p[1] >= 'A' && p[1] <= 'Z';
	assert_int_equal(n, 48);
	put(h, "/usr/lib/rdmad/rdmad.conf", text);
	expect_clean(load(h));
	expect_default_values(h->config);
	assert_int_equal(h->config->n_links, 1);
	assert_int_equal(h->config->devices[0].monitor, MONITOR_AUTO);
	assert_int_equal(h->config->devices[0].expect, EXPECT_AUTO);
	assert_null(h->config->devices[0].name);
	assert_null(h->config->devices[0].node_description);
	assert_int_equal(h->config->devices[0].adaptive_moderation, -1);
	assert_int_equal(h->config->ports[0].expect, EXPECT_AUTO);
	assert_int_equal(h->config->ports[0].roce_tos, -1);
	assert_null(h->config->ports[0].optional_counters);
	assert_int_equal(h->config->n_ipoibs, 1);
	assert_int_equal(h->config->ipoibs[0].umcast, -1);
	assert_int_equal(h->config->n_counters, 1);
	assert_true(config_counter_rule(
		h->config, COUNTER_PMA, h->config->counters[0].glob, NULL, &rule));
	assert_int_equal(rule.n, 2);
	assert_null(rule.origin.file);
}

/* Each by itself, as it is and with nothing else. */
static void shipped_examples_work(void **state)
{
	struct host *h = *state;
	unsigned links = 0, expects = 0, devices = 0, ipoibs = 0, counters = 0;
	glob_t found;

	assert_int_equal(glob(SOURCE_ROOT "/conf/examples/*.conf", 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 5);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		_cleanup_(freep) char *text = read_source(strstr(found.gl_pathv[i], "examples/"));

		put(h, DROP "/60-example.conf", text);
		expect_clean(load(h));
		links += h->config->n_links;
		expects += h->config->n_expects;
		devices += h->config->n_devices;
		ipoibs += h->config->n_ipoibs;
		counters += h->config->n_counters;
	}
	globfree(&found);
	assert_int_equal(links, 2);
	assert_int_equal(expects, 2);
	assert_int_equal(devices, 4);
	assert_int_equal(ipoibs, 3);
	assert_int_equal(counters, 2);
}

static void expect_note(const struct config_notes *notes, size_t i, enum config_note_kind kind,
	unsigned line, const char *section, const char *key)
{
	assert_true(i < notes->n);
	assert_int_equal(notes->items[i].kind, kind);
	assert_int_equal(notes->items[i].origin.line, line);
	assert_true(streq_ptr(notes->items[i].section, section));
	assert_true(streq_ptr(notes->items[i].key, key));
}

static void what_was_understood_is_noted(void **state)
{
	struct host *h = *state;
	_cleanup_(config_freep) struct config *c = NULL;
	struct config_notes notes;

	put(h, MAIN,
		"[Modules]\nLoad=ib_umad\nLoda=siw\n# x\n[Nonsense]\nLoad=siw\n"
		"[Port mlx5_0/1]\nExpect=up\nOptionalCounters=cc_rx_ce_pkts\nExpect=maybe\n");
	assert_int_equal(mkdir(path_of(h, DROP), 0755), 0);
	assert_int_equal(symlink("/dev/null", path_of(h, DROP "/10.conf")), 0);
	assert_int_equal(config_load_noted(h->root, NULL, &c, &notes), 0);
	assert_int_equal(c->n_problems, 3);
	expect_note(&notes, 0, NOTE_FILE, 0, NULL, NULL);
	expect_note(&notes, 1, NOTE_SECTION, 1, "Modules", NULL);
	expect_note(&notes, 2, NOTE_LIST, 2, "Modules", "Load");
	expect_note(&notes, 3, NOTE_SECTION, 7, "Port mlx5_0/1", NULL);
	expect_note(&notes, 4, NOTE_KEY, 8, "Port mlx5_0/1", "Expect");
	expect_note(&notes, 5, NOTE_LIST, 9, "Port mlx5_0/1", "OptionalCounters");
	expect_note(&notes, 6, NOTE_MASKED, 0, NULL, NULL);
	assert_int_equal(notes.n, 7);
	assert_string_equal(notes.items[2].value, "ib_umad");
	assert_string_equal(notes.items[6].origin.file, path_of(h, DROP "/10.conf"));
	assert_true(config_note_is_of(&notes.items[4], "Port"));
	assert_false(config_note_is_of(&notes.items[4], "Por"));
	assert_false(config_note_is_of(&notes.items[6], "Port"));
	config_notes_done(&notes);
}

#define T(f) cmocka_unit_test_setup_teardown(f, host_setup, host_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(no_file_at_all),
		T(every_key),
		T(crlf_and_bom),
		T(empty_assignment_resets),
		T(duplicate_sections_merge),
		T(limits_are_exact),
		T(bad_lines),
		T(bad_link_values),
		T(port_keys),
		T(modules_and_system),
		T(device_keys),
		T(roce_keys),
		T(optional_counters),
		T(ipoib_sections),
		T(keys_before_any_section),
		T(nul_bytes),
		T(problems_are_bounded),
		T(file_too_large),
		T(file_unreadable),
		T(file_is_no_file),
		T(main_file_precedence),
		T(dropin_precedence),
		T(problems_name_their_file),
		cmocka_unit_test(selectors),
		cmocka_unit_test(glob_is_not_exponential),
		T(settings_win_key_by_key),
		T(links_are_recognised),
		T(counter_sections),
		T(counter_defaults),
		T(counter_thresholds_out_of_reach),
		T(shipped_file_shows_the_defaults),
		T(what_was_understood_is_noted),
		T(shipped_examples_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
