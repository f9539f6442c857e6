/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>

#include "ask-password.h"
#include "macros.h"
#include "output.h"
#include "parse.h"

#define WATCH_DEFAULT (2 * USEC_PER_SEC)
#define WATCH_MIN     (100 * USEC_PER_MSEC)

enum {
	ARG_JSON = 256,
	ARG_NO_LEGEND,
	ARG_FULL,
	ARG_NO_PAGER,
	ARG_NO_ASK_PASSWORD,
	ARG_ALL,
	ARG_WATCH,
	ARG_SAVE,
	ARG_SINCE,
	ARG_KIND,
	ARG_FOR,
	ARG_INTERVAL,
	ARG_CONFIG,
	ARG_FORCE,
	ARG_FAIL_ON,
	ARG_CLASS,
	ARG_GROUP,
	ARG_PERFDATA,
	ARG_IGNORE_ACKED,
	ARG_EXIT,
	ARG_AS_CONFIG,
	ARG_COMMENT,
	ARG_UNDO,
	ARG_EXIT_CODE,
	ARG_DISRUPTIVE,
	ARG_ROOT,
	ARG_OUTPUT,
	ARG_TIMEOUT,
	ARG_ANY,
	ARG_IN_PLACE,
	ARG_VERSION,
	ARG_LIST_VERBS,
	ARG_LIST_REASONS,
};

static const struct option long_options[] = {
	{ "json", optional_argument, NULL, ARG_JSON },
	{ "no-legend", no_argument, NULL, ARG_NO_LEGEND },
	{ "full", no_argument, NULL, ARG_FULL },
	{ "no-pager", no_argument, NULL, ARG_NO_PAGER },
	{ "no-ask-password", no_argument, NULL, ARG_NO_ASK_PASSWORD },
	{ "host", required_argument, NULL, 'H' },
	{ "all", no_argument, NULL, ARG_ALL },
	{ "watch", optional_argument, NULL, ARG_WATCH },
	{ "save", required_argument, NULL, ARG_SAVE },
	{ "since", required_argument, NULL, ARG_SINCE },
	{ "follow", no_argument, NULL, 'f' },
	{ "kind", required_argument, NULL, ARG_KIND },
	{ "lines", required_argument, NULL, 'n' },
	{ "for", required_argument, NULL, ARG_FOR },
	{ "interval", required_argument, NULL, ARG_INTERVAL },
	{ "config", required_argument, NULL, ARG_CONFIG },
	{ "force", no_argument, NULL, ARG_FORCE },
	{ "fail-on", required_argument, NULL, ARG_FAIL_ON },
	{ "class", required_argument, NULL, ARG_CLASS },
	{ "group", required_argument, NULL, ARG_GROUP },
	{ "perfdata", no_argument, NULL, ARG_PERFDATA },
	{ "ignore-acked", no_argument, NULL, ARG_IGNORE_ACKED },
	{ "exit", required_argument, NULL, ARG_EXIT },
	{ "as-config", no_argument, NULL, ARG_AS_CONFIG },
	{ "comment", required_argument, NULL, ARG_COMMENT },
	{ "undo", no_argument, NULL, ARG_UNDO },
	{ "exit-code", no_argument, NULL, ARG_EXIT_CODE },
	{ "disruptive", no_argument, NULL, ARG_DISRUPTIVE },
	{ "root", required_argument, NULL, ARG_ROOT },
	{ "output", required_argument, NULL, ARG_OUTPUT },
	{ "timeout", required_argument, NULL, ARG_TIMEOUT },
	{ "any", no_argument, NULL, ARG_ANY },
	{ "in-place", no_argument, NULL, ARG_IN_PLACE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, ARG_VERSION },
	{ "list-verbs", no_argument, NULL, ARG_LIST_VERBS },
	{ "list-reasons", no_argument, NULL, ARG_LIST_REASONS },
	{ 0 },
};

/* By the number of its bit. */
static const char *const names[] = {
	"--all",
	"--watch",
	"--save",
	"--since",
	"--follow",
	"--kind",
	"--lines",
	"--for",
	"--interval",
	"--config",
	"--force",
	"--fail-on",
	"--class",
	"--group",
	"--perfdata",
	"--ignore-acked",
	"--exit",
	"--as-config",
	"--comment",
	"--undo",
	"--exit-code",
	"--disruptive",
	"--root",
	"--output",
	"--timeout",
	"--any",
	"--in-place",
	"--json",
};

const char *option_name(unsigned bit)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (bit & (1u << i))
			return names[i];
	return "";
}

static bool parse_json(const char *arg, struct options *o, enum request *request)
{
	if (!arg || streq(arg, "pretty"))
		o->format = OUTPUT_JSON_PRETTY;
	else if (streq(arg, "short"))
		o->format = OUTPUT_JSON_SHORT;
	else if (streq(arg, "off"))
		o->format = OUTPUT_TEXT;
	else if (streq(arg, "help"))
		*request = REQUEST_JSON_FORMATS;
	else {
		output_error("--json=%s: not one of pretty, short, off", arg);
		return false;
	}
	return true;
}

static bool parse_watch(const char *arg, struct options *o)
{
	o->watch = WATCH_DEFAULT;
	if (!arg)
		return true;
	if (parse_timespan(arg, &o->watch) < 0 || o->watch == USEC_INFINITY) {
		output_error("--watch=%s: not a time span", arg);
		return false;
	}
	o->watch = MAX(o->watch, WATCH_MIN);
	return true;
}

static bool parse_lines(const char *arg, struct options *o)
{
	if (parse_u64(arg, &o->lines) == 0 && o->lines > 0 && o->lines < UINT64_MAX)
		return true;
	output_error("--lines=%s: not a number of lines", arg);
	return false;
}

static bool parse_for(const char *arg, struct options *o)
{
	if (parse_timespan(arg, &o->span) == 0 && o->span != USEC_INFINITY)
		return true;
	output_error("--for=%s: not a time span such as 15min; 0 takes back now", arg);
	return false;
}

static bool parse_interval(const char *arg, struct options *o)
{
	if (parse_timespan(arg, &o->interval) == 0 && o->interval > 0 &&
		o->interval != USEC_INFINITY)
		return true;
	output_error("--interval=%s: not a time span such as 60s", arg);
	return false;
}

static bool parse_timeout(const char *arg, struct options *o)
{
	if (streq(arg, "infinity"))
		o->timeout = USEC_INFINITY;
	else if (parse_timespan(arg, &o->timeout) < 0) {
		output_error("--timeout=%s: not a time span such as 2min; 0 waits for ever", arg);
		return false;
	} else if (o->timeout == 0)
		o->timeout = USEC_INFINITY;
	return true;
}

static bool parse_fail_on(const char *arg, struct options *o)
{
	int h = health_from_string(arg);

	if (h == HEALTH_FAILED || h == HEALTH_DEGRADED || h == HEALTH_UNKNOWN) {
		o->fail_on = (enum health)h;
		return true;
	}
	output_error("--fail-on=%s: not one of failed, degraded, unknown", arg);
	return false;
}

static bool parse_classes(const char *arg, struct options *o)
{
	for (;;) {
		size_t n = strcspn(arg, ",");
		_cleanup_(freep) char *word = strndup(arg, n);
		int class = word ? reason_class_from_string(word) : -1;

		if (class < 0) {
			output_error("--class=%s: not one of link, fabric, device, setup, monitor, "
				     "config",
				word ? word : "");
			return false;
		}
		o->classes |= 1u << class;
		if (!arg[n])
			return true;
		arg += n + 1;
	}
}

static bool parse_exit(const char *arg, struct options *o)
{
	if (streq(arg, "nagios"))
		o->exit_style = EXIT_STYLE_NAGIOS;
	else if (streq(arg, "npd"))
		o->exit_style = EXIT_STYLE_NPD;
	else if (streq(arg, "bool"))
		o->exit_style = EXIT_STYLE_BOOL;
	else {
		output_error("--exit=%s: not one of nagios, npd, bool", arg);
		return false;
	}
	return true;
}

/* Those of "check". As parse_verb_option(). */
static bool parse_check_option(int c, const char *arg, struct options *o, unsigned *ret_bit)
{
	switch (c) {
	case ARG_FAIL_ON:
		*ret_bit = OPTION_FAIL_ON;
		return parse_fail_on(arg, o);
	case ARG_CLASS:
		*ret_bit = OPTION_CLASS;
		return parse_classes(arg, o);
	case ARG_GROUP:
		*ret_bit = OPTION_GROUP;
		o->group = arg;
		return true;
	case ARG_PERFDATA:
		*ret_bit = OPTION_PERFDATA;
		o->perfdata = true;
		return true;
	case ARG_IGNORE_ACKED:
		*ret_bit = OPTION_IGNORE_ACKED;
		o->ignore_acked = true;
		return true;
	case ARG_EXIT:
		*ret_bit = OPTION_EXIT;
		return parse_exit(arg, o);
	default: /* getopt has said what is wrong */
		return false;
	}
}

/* Those of the verbs about setup. As parse_verb_option(). */
static bool parse_setup_option(int c, const char *arg, struct options *o, unsigned *ret_bit)
{
	switch (c) {
	case ARG_EXIT_CODE:
		*ret_bit = OPTION_EXIT_CODE;
		o->exit_code = true;
		return true;
	case ARG_DISRUPTIVE:
		*ret_bit = OPTION_DISRUPTIVE;
		o->disruptive = true;
		return true;
	case ARG_ROOT:
		*ret_bit = OPTION_ROOT;
		o->root = arg;
		return true;
	case ARG_OUTPUT:
		*ret_bit = OPTION_OUTPUT;
		o->output = arg;
		return true;
	case ARG_IN_PLACE:
		*ret_bit = OPTION_IN_PLACE;
		o->in_place = true;
		return true;
	default:
		return parse_check_option(c, arg, o, ret_bit);
	}
}

/* The options of some verbs only. Returns whether the argument is right; *ret_bit 0: none of them. */
static bool parse_verb_option(int c, const char *arg, struct options *o, unsigned *ret_bit)
{
	*ret_bit = 0;
	switch (c) {
	case ARG_ALL:
		*ret_bit = OPTION_ALL;
		o->all = true;
		return true;
	case ARG_WATCH:
		*ret_bit = OPTION_WATCH;
		return parse_watch(arg, o);
	case ARG_SAVE:
		*ret_bit = OPTION_SAVE;
		o->save = arg;
		return true;
	case ARG_SINCE:
		*ret_bit = OPTION_SINCE;
		o->since = arg;
		return true;
	case 'f':
		*ret_bit = OPTION_FOLLOW;
		o->follow = true;
		return true;
	case ARG_KIND:
		*ret_bit = OPTION_KIND;
		o->kinds = arg;
		return true;
	case 'n':
		*ret_bit = OPTION_LINES;
		return parse_lines(arg, o);
	case ARG_FOR:
		*ret_bit = OPTION_FOR;
		return parse_for(arg, o);
	case ARG_INTERVAL:
		*ret_bit = OPTION_INTERVAL;
		return parse_interval(arg, o);
	case ARG_CONFIG:
		*ret_bit = OPTION_CONFIG;
		o->config = arg;
		return true;
	case ARG_FORCE:
		*ret_bit = OPTION_FORCE;
		o->force = true;
		return true;
	case ARG_AS_CONFIG:
		*ret_bit = OPTION_AS_CONFIG;
		o->as_config = true;
		return true;
	case ARG_COMMENT:
		*ret_bit = OPTION_COMMENT;
		o->comment = arg;
		return true;
	case ARG_UNDO:
		*ret_bit = OPTION_UNDO;
		o->undo = true;
		return true;
	case ARG_TIMEOUT:
		*ret_bit = OPTION_TIMEOUT;
		return parse_timeout(arg, o);
	case ARG_ANY:
		*ret_bit = OPTION_ANY;
		o->any = true;
		return true;
	default:
		return parse_setup_option(c, arg, o, ret_bit);
	}
}

static bool parse_one(
	int c, const char *arg, struct options *o, enum request *request, unsigned *ret_bit)
{
	*ret_bit = 0;
	switch (c) {
	case ARG_JSON:
		if (!parse_json(arg, o, request))
			return false;
		*ret_bit = o->format == OUTPUT_TEXT ? 0 : OPTION_JSON;
		return true;
	case ARG_NO_LEGEND:
		o->legend = false;
		return true;
	case ARG_FULL:
		o->full = true;
		return true;
	case ARG_NO_PAGER:
		o->pager = false;
		return true;
	case ARG_NO_ASK_PASSWORD:
		ask_password_never();
		return true;
	case 'H':
		/* ssh would take it for an option. */
		if (!*arg || arg[0] == '-') {
			output_error("'%s' is no host", arg);
			return false;
		}
		o->host = arg;
		return true;
	case 'h':
		*request = REQUEST_HELP;
		return true;
	case ARG_VERSION:
		*request = REQUEST_VERSION;
		return true;
	case ARG_LIST_VERBS:
		*request = REQUEST_LIST_VERBS;
		return true;
	case ARG_LIST_REASONS:
		*request = REQUEST_LIST_REASONS;
		return true;
	default:
		return parse_verb_option(c, arg, o, ret_bit);
	}
}

bool options_parse(
	int argc, char **argv, struct options *o, enum request *ret_request, unsigned *ret_given)
{
	bool right = true;
	int c;

	*ret_request = REQUEST_VERB;
	*ret_given = 0;
	/* What asks for words about rdmactl is answered at once, whatever stands behind it. */
	while (*ret_request == REQUEST_VERB &&
		(c = getopt_long(argc, argv, "H:fhn:", long_options, NULL)) >= 0) {
		unsigned bit;

		right = parse_one(c, optarg, o, ret_request, &bit) && right;
		*ret_given |= bit;
	}
	return right;
}
