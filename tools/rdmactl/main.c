/* SPDX-License-Identifier: MIT */
/*
 * rdmactl: ask rdmad how RDMA is on this host. Arguments and the table of verbs; what a verb does is
 * in its own file.
 */
#include <getopt.h>
#include <locale.h>

#include "build-config.h"
#include "macros.h"
#include "output.h"

struct verb {
	const char *name;
	size_t max_args;
	int (*run)(const struct options *o);
	const char *help;
};

/* Exit status of "check" when it could not tell; usage errors count as that. */
#define CHECK_UNKNOWN 3

static const struct verb verbs[] = {
	{ "status", SIZE_MAX, verb_status, "the host in one screen (the default)" },
	{ "list", SIZE_MAX, verb_list, "one line per port" },
	{ "show", SIZE_MAX, verb_show, "everything as Key=Value; without PATTERN the host" },
	{ "check", SIZE_MAX, verb_check,
		"one line and an exit status: 0 ok, 1 degraded, 2 failed, 3 unknown" },
	{ "reload", 0, verb_reload, "make rdmad read its configuration again" },
};

enum {
	ARG_JSON = 256,
	ARG_NO_LEGEND,
	ARG_FULL,
	ARG_NO_PAGER,
	ARG_VERSION,
	ARG_LIST_VERBS,
};

static void help(void)
{
	printf("rdmactl [OPTION...] [VERB] [PATTERN...]\n\n"
	       "Ask rdmad how RDMA is on this host.\n\nVerbs:\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  %-6s %-12s  %s\n", verbs[i].name, verbs[i].max_args ? "[PATTERN...]" : "",
			verbs[i].help);
	printf("\nOptions:\n"
	       "  --json[=pretty|short|off]  JSON on stdout, by read verbs\n"
	       "  --no-legend                no headings and no totals\n"
	       "  --full                     nothing shortened, nothing summarised\n"
	       "  --no-pager                 do not start a pager\n"
	       "  -H, --host=[USER@]HOST     ask the rdmad of another host, over ssh\n"
	       "  -h, --help                 this text\n"
	       "  --version                  the version\n"
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

static bool parse_json(const char *arg, enum output_format *ret)
{
	if (!arg || streq(arg, "pretty"))
		*ret = OUTPUT_JSON_PRETTY;
	else if (streq(arg, "short"))
		*ret = OUTPUT_JSON_SHORT;
	else if (streq(arg, "off"))
		*ret = OUTPUT_TEXT;
	else
		return false;
	return true;
}

/*
 * Returns -1 to go on with the verb at argv[optind], or the exit status. Goes through all options
 * even after a wrong one, because which status says "usage" depends on the verb.
 */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "json", optional_argument, NULL, ARG_JSON },
		{ "no-legend", no_argument, NULL, ARG_NO_LEGEND },
		{ "full", no_argument, NULL, ARG_FULL },
		{ "no-pager", no_argument, NULL, ARG_NO_PAGER },
		{ "host", required_argument, NULL, 'H' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, ARG_VERSION },
		{ "list-verbs", no_argument, NULL, ARG_LIST_VERBS },
		{ 0 },
	};
	bool wrong = false;
	int c;

	while ((c = getopt_long(argc, argv, "H:h", options, NULL)) >= 0)
		switch (c) {
		case ARG_JSON:
			if (optarg && streq(optarg, "help")) {
				puts("pretty\nshort\noff");
				return EXIT_SUCCESS;
			}
			if (!parse_json(optarg, &o->format)) {
				output_error("--json=%s: not one of pretty, short, off", optarg);
				wrong = true;
			}
			break;
		case ARG_NO_LEGEND:
			o->legend = false;
			break;
		case ARG_FULL:
			o->full = true;
			break;
		case ARG_NO_PAGER:
			o->pager = false;
			break;
		case 'H':
			o->host = optarg;
			break;
		case 'h':
			help();
			return EXIT_SUCCESS;
		case ARG_VERSION:
			puts("rdmactl " RDMAD_VERSION);
			return EXIT_SUCCESS;
		case ARG_LIST_VERBS:
			for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
				puts(verbs[i].name);
			return EXIT_SUCCESS;
		default: /* getopt has said what is wrong */
			wrong = true;
			break;
		}
	return wrong ? EXIT_USAGE : -1;
}

int main(int argc, char **argv)
{
	struct options o = { .legend = true, .pager = true };
	const struct verb *verb = &verbs[0];
	int r;

	setlocale(LC_CTYPE, "");
	r = parse_options(argc, argv, &o);
	if (r == EXIT_SUCCESS)
		return output_close(r);

	if (optind < argc) {
		verb = find_verb(argv[optind]);
		if (!verb) {
			output_error("There is no verb '%s'. See: rdmactl --help", argv[optind]);
			return EXIT_USAGE;
		}
		optind++;
	}
	o.patterns = argv + optind;
	o.n_patterns = (size_t)(argc - optind);
	if (r < 0 && o.n_patterns > verb->max_args) {
		output_error("'%s' takes no arguments", verb->name);
		r = EXIT_USAGE;
	}
	if (r >= 0)
		return verb->run == verb_check ? CHECK_UNKNOWN : r;
	return verb->run(&o);
}
