/* SPDX-License-Identifier: MIT */
/*
 * rdmactl: ask rdmad how RDMA is on this host. The table of verbs; what a verb does is in its own
 * file, the options in options.c.
 */
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>

#include "build-config.h"
#include "check-exit.h"
#include "explain-reason.h"
#include "macros.h"
#include "nearest.h"
#include "options.h"
#include "output.h"

struct verb {
	const char *name;
	const char *args; /* for the help; NULL: it takes none */
	bool needs_args;
	unsigned options; /* those it takes of the ones that not all verbs have */
	int (*run)(const struct options *o);
	const char *help;
};

#define RELEASE_DEFAULT  (15 * USEC_PER_MINUTE)
#define INTERVAL_DEFAULT (60 * USEC_PER_SEC)
#define TIMEOUT_DEFAULT  (120 * USEC_PER_SEC)

#define PATTERNS "[PATTERN...]"

#define OPTIONS_CHECK                                                                           \
	(OPTION_FAIL_ON | OPTION_CLASS | OPTION_GROUP | OPTION_PERFDATA | OPTION_IGNORE_ACKED | \
		OPTION_EXIT)

static const struct verb verbs[] = {
	{ "status", PATTERNS, false, OPTION_JSON, verb_status,
		"the host in one screen (the default)" },
	{ "list", PATTERNS, false, OPTION_JSON, verb_list, "one line per port" },
	{ "show", PATTERNS, false, OPTION_JSON, verb_show,
		"everything as Key=Value; without PATTERN the host" },
	{ "topo", PATTERNS, false, OPTION_JSON, verb_topo,
		"where ports are: PCIe, NUMA node, CPUs, GPU, netdev, GIDs" },
	{ "check", PATTERNS, false, OPTIONS_CHECK | OPTION_SINCE | OPTION_JSON, verb_check,
		"one line and an exit status: 0 ok, 1 degraded, 2 failed, 3 unknown" },
	{ "counters", PATTERNS, false,
		OPTION_ALL | OPTION_WATCH | OPTION_SAVE | OPTION_SINCE | OPTION_JSON, verb_counters,
		"counters: values, changes, rates" },
	{ "events", PATTERNS, false,
		OPTION_SINCE | OPTION_FOLLOW | OPTION_KIND | OPTION_LINES | OPTION_JSON,
		verb_events, "what happened, from the journal" },
	{ "monitor", PATTERNS, false, OPTION_KIND | OPTION_JSON, verb_monitor,
		"what happens, as it happens, from the bus" },
	{ "wait-online", PATTERNS, false,
		OPTION_TIMEOUT | OPTION_ANY | OPTION_FAIL_ON | OPTION_JSON, verb_wait_online,
		"wait until every required port is ok, or the timeout" },
	{ "explain", "OBJECT|REASON...", true, OPTION_JSON, verb_explain,
		"each rule that an object is judged by; what a reason means" },
	{ "baseline", "[ACTION] [OBJ...]", false, OPTION_AS_CONFIG | OPTION_JSON, verb_baseline,
		"what was learned: show (the default), save, drop" },
	{ "ack", "OBJECT REASON...", true, OPTION_COMMENT | OPTION_UNDO, verb_ack,
		"acknowledge a condition: it stays, reminders end" },
	{ "release", "OBJECT...", true, OPTION_FOR, verb_release,
		"let go of devices for a while, for driver reload or firmware burn" },
	{ "plan", PATTERNS, false, OPTION_ALL | OPTION_EXIT_CODE | OPTION_JSON, verb_plan,
		"what is not as configured, and what would mend it" },
	{ "apply", "[OBJECT...]", false, OPTION_DISRUPTIVE | OPTION_JSON, verb_apply,
		"make it as configured, also where somebody changed it" },
	{ "verify", NULL, false, OPTION_CONFIG | OPTION_ROOT | OPTION_JSON, verb_verify,
		"check the configuration files, without the daemon" },
	{ "doctor", NULL, false, OPTION_ROOT | OPTION_JSON, verb_doctor,
		"what on this host is in RDMA's way, and what to do" },
	{ "import-rdma-conf", "[FILE]", false, OPTION_OUTPUT | OPTION_FORCE, verb_import_rdma_conf,
		"make a drop-in of the old /etc/rdma/rdma.conf" },
	{ "inspect", "TREE...", true, OPTION_INTERVAL | OPTION_CONFIG | OPTION_JSON, verb_inspect,
		"judge captured trees without a daemon; exit status as check" },
	{ "collect", "FILE", true, OPTION_FORCE, verb_collect,
		"write such a tree of this host, with configuration and journal" },
	{ "reload", NULL, false, 0, verb_reload, "make rdmad read its configuration again" },
	{ "restart", NULL, false, OPTION_IN_PLACE, verb_restart,
		"have the installed rdmad go on where the running one is" },
};

static void help(void)
{
	printf("rdmactl [OPTION...] [VERB] [PATTERN...]\n\n"
	       "Ask rdmad how RDMA is on this host.\n\nVerbs:\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  %-11s %-12s  %s\n", verbs[i].name, verbs[i].args ? verbs[i].args : "",
			verbs[i].help);
	printf("\nOptions:\n"
	       "  --json[=pretty|short|off]  JSON on stdout, by read verbs\n"
	       "  --no-legend                no headings and no totals\n"
	       "  --full                     nothing shortened, nothing summarised\n"
	       "  --no-pager                 do not start a pager\n"
	       "  --no-ask-password          do not ask for a password for what needs one\n"
	       "  -H, --host=[USER@]HOST     ask the rdmad of another host, over ssh\n"
	       "  -h, --help                 this text\n"
	       "  --version                  the version\n"
	       "  --all                      counters: also those that are 0 or did not change;\n"
	       "                             plan: also what is as configured\n"
	       "  --watch[=SECONDS]          counters: look again every 2 s\n"
	       "  --save=FILE                counters: write them to a file\n"
	       "  --since=FILE|TIME          counters: what changed since a saved file;\n"
	       "                             events: since then: yesterday, -1h, 2026-11-30 "
	       "10:00;\n"
	       "                             check: was it ever, since then\n"
	       "  -f, --follow               events: wait for more\n"
	       "  --kind=KIND,...            events, monitor: only these: state, inventory, "
	       "config,\n"
	       "                             admin\n"
	       "  -n, --lines=N              events: the last N (100, or all with a time)\n"
	       "  --as-config                baseline: as configuration for a drop-in\n"
	       "  --for=SPAN                 release: how long (15min); 0 takes back now\n"
	       "  --interval=SPAN            inspect: how far apart the trees were taken (60s)\n"
	       "  --config=FILE              inspect, verify: this instead of what is installed\n"
	       "  --force                    collect, import-rdma-conf: write over a file that is "
	       "there\n"
	       "  --fail-on=HEALTH           check: what fails: failed, degraded (default), "
	       "unknown;\n"
	       "                             wait-online: failed lets degraded ports be online\n"
	       "  --class=CLASS,...          check: only reasons of link, fabric, device, setup, "
	       "...\n"
	       "  --group=NAME               check: only ports of that [Port] Group=\n"
	       "  --ignore-acked             check: but for what is acknowledged\n"
	       "  --perfdata                 check: with numbers of ports for monitoring\n"
	       "  --exit=nagios|npd|bool     check: exit status and words for these\n"
	       "  --comment=TEXT             ack: why, or what is being done\n"
	       "  --undo                     ack: take it back\n"
	       "  --root=DIRECTORY           verify, doctor: of the tree there\n"
	       "  --output=FILE|-            import-rdma-conf: write to that file, or to stdout\n"
	       "  --exit-code                plan: exit with 1 when anything is not as configured\n"
	       "  --disruptive               apply: also what disturbs traffic\n"
	       "  --timeout=SPAN             wait-online: how long (2min); 0 for ever\n"
	       "  --any                      wait-online: one port is enough\n"
	       "  --in-place                 restart: in the same process and sandbox\n"
	       "\nPATTERN is a glob over names: mlx5_0, 'mlx5_*', rxe0/1, 'mlx5_*/1'.\n"
	       "See rdmactl(1).\n");
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (streq(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void no_such_verb(const char *name)
{
	struct nearest nearest = nearest_to(name);

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		nearest_try(&nearest, verbs[i].name);
	if (nearest.word)
		output_error("There is no verb '%s'. Did you mean '%s'?", name, nearest.word);
	else if (strpbrk(name, "0123456789/*"))
		output_error("There is no verb '%s'. Did you mean 'status %s'?", name, name);
	else
		output_error("There is no verb '%s'. See: rdmactl --help", name);
}

static int answer(enum request request)
{
	switch (request) {
	case REQUEST_HELP:
		help();
		break;
	case REQUEST_VERSION:
		puts("rdmactl " RDMAD_VERSION);
		break;
	case REQUEST_LIST_VERBS:
		for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
			puts(verbs[i].name);
		break;
	case REQUEST_LIST_REASONS:
		explain_list_reasons();
		break;
	case REQUEST_JSON_FORMATS:
		puts("pretty\nshort\noff");
		break;
	case REQUEST_VERB:
		break;
	}
	return output_close(EXIT_SUCCESS);
}

/* Whether the verb takes what it was given; says what it does not. */
static bool fits(const struct verb *verb, const struct options *o, unsigned given)
{
	unsigned strange = given & ~verb->options;

	if (strange)
		output_error("'%s' takes no %s", verb->name, option_name(strange));
	else if (o->n_patterns > 0 && !verb->args)
		output_error("'%s' takes no arguments%s", verb->name,
			verb->options & OPTION_CONFIG ? ": --config=FILE, to check another file"
						      : "");
	else if (o->n_patterns == 0 && verb->needs_args)
		output_error("'%s' needs %s", verb->name, verb->args);
	else
		return true;
	return false;
}

static int exit_usage(const struct verb *verb, const struct options *o)
{
	if (verb->run == verb_check)
		return check_exit(o->exit_style, CHECK_UNKNOWN, HEALTH_UNKNOWN);
	return verb->run == verb_inspect ? CHECK_UNKNOWN : EXIT_USAGE;
}

/*
 * Started without stdout, what is opened next would be it, and have in it what is printed; a pipe to tar
 * would be its stdin. In their places are files that can be read, or written, as little as a closed one.
 */
static void occupy_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	struct options o = {
		.legend = true,
		.pager = true,
		.lines = UINT64_MAX,
		.span = RELEASE_DEFAULT,
		.interval = INTERVAL_DEFAULT,
		.timeout = TIMEOUT_DEFAULT,
		.fail_on = HEALTH_DEGRADED,
	};
	const struct verb *verb = &verbs[0];
	enum request request;
	unsigned given;
	bool right;

	occupy_standard_files();
	setlocale(LC_CTYPE, "");
	right = options_parse(argc, argv, &o, &request, &given);
	if (request != REQUEST_VERB)
		return answer(request);

	if (optind < argc) {
		verb = find_verb(argv[optind]);
		if (!verb) {
			no_such_verb(argv[optind]);
			return EXIT_USAGE;
		}
		optind++;
	}
	o.patterns = argv + optind;
	o.n_patterns = (size_t)(argc - optind);
	if (!right || !fits(verb, &o, given))
		return exit_usage(verb, &o);
	return verb->run(&o);
}
