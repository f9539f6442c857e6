/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <errno.h>
#include <strings.h>

#include "model.h"

static const struct section_name sections[] = {
	{ "Daemon", SECTION_DAEMON, NULL },
	{ "Setup", SECTION_SETUP, NULL },
	{ "Modules", SECTION_MODULES, NULL },
	{ "Health", SECTION_HEALTH, NULL },
	{ "Link", SECTION_LINK, "[Link rxe0]" },
	{ "Device", SECTION_DEVICE, "[Device mlx5_0], or [Device *] for every one" },
	{ "Port", SECTION_PORT, "[Port mlx5_0/1], or [Port *] for every one" },
	{ "System", SECTION_SYSTEM, NULL },
	{ "Expect", SECTION_EXPECT, "[Expect rails]" },
	{ "IPoIB", SECTION_IPOIB, "[IPoIB ib0]" },
	{ "Counter", SECTION_COUNTER, "[Counter symbol_error]" },
	{ "Alert", SECTION_NONE, NULL },
	{ "Metrics", SECTION_NONE, NULL },
};

static int parse_time(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	usec_t *field = (usec_t *)(void *)((char *)p->config + k->offset);
	char min[TIMESPAN_MAX], max[TIMESPAN_MAX];
	usec_t v;

	if (!*value) {
		*field = k->dflt;
		return 0;
	}
	if (parse_timespan(value, &v) < 0)
		return parser_problem(
			p, line, "%s=%s: not a time span (write 500ms, 30s, 5min, 1h)", key, value);
	if (v < k->min || v > k->max)
		return parser_problem(p, line, "%s=%s: out of range, %s to %s", key, value,
			k->min ? timespan_format(min, sizeof(min), k->min) : "0",
			timespan_format(max, sizeof(max), k->max));
	*field = v;
	return 0;
}

static int parse_count(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	unsigned *field = (unsigned *)(void *)((char *)p->config + k->offset);
	uint32_t v;

	if (!*value) {
		*field = (unsigned)k->dflt;
		return 0;
	}
	if (parse_u32(value, &v) < 0 || v < k->min || v > k->max)
		return parser_problem(p, line, "%s=%s: not a whole number from %u to %u", key,
			value, (unsigned)k->min, (unsigned)k->max);
	*field = v;
	return 0;
}

static int parse_setup_mode(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	int v = *value ? setup_mode_from_string(value) : (int)SETUP_MODE_APPLY;

	if (v < 0)
		return parser_problem(p, line, "%s=%s: must be apply, report or off", key, value);
	p->config->setup_mode = (enum setup_mode)v;
	return 0;
}

static int parse_drift(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	int v = *value ? drift_mode_from_string(value) : (int)DRIFT_REPORT;

	if (v < 0)
		return parser_problem(
			p, line, "%s=%s: must be report, repair or ignore", key, value);
	p->config->drift = (enum drift_mode)v;
	return 0;
}

static int parse_link_type(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	int v = *value ? link_type_from_string(value) : (int)LINK_TYPE_NONE;

	if (v < 0)
		return parser_problem(p, line, "%s=%s: must be rxe or siw", key, value);
	p->config->links[p->item].type = (enum link_type)v;
	return 0;
}

static int parse_link_netdev(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_link *l = &p->config->links[p->item];
	char *t = NULL;

	if (*value) {
		if (!netdev_name_valid(value))
			return parser_problem(
				p, line, "%s=%s: not the name of a network interface", key, value);
		t = strdup(value);
		if (!t)
			return -ENOMEM;
	}
	free(l->netdev);
	l->netdev = t;
	return 0;
}

static int parse_monitor(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_device *d = &p->config->devices[p->item];
	int v = *value ? monitor_mode_from_string(value) : (int)MONITOR_AUTO;

	if (v < 0)
		return parser_problem(
			p, line, "%s=%s: must be auto, events, reads or no", key, value);
	d->monitor = (enum monitor_mode)v;
	d->has_monitor = true;
	return 0;
}

static int parse_device_expect(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_device *d = &p->config->devices[p->item];
	bool yes;

	if (!*value || streq(value, "auto"))
		d->expect = EXPECT_AUTO;
	else if (parse_bool(value, &yes) == 0)
		d->expect = yes ? EXPECT_UP : EXPECT_ANY;
	else
		return parser_problem(p, line, "%s=%s: must be auto, yes or no", key, value);
	d->has_expect = true;
	return 0;
}

static int parse_port_expect(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_port *e = &p->config->ports[p->item];
	int v = *value ? expect_from_string(value) : (int)EXPECT_AUTO;

	if (v < 0)
		return parser_problem(p, line, "%s=%s: must be auto, up, down or any", key, value);
	e->expect = (enum expect)v;
	e->has_expect = true;
	return 0;
}

static struct config_expect *expect_item(struct parser *p)
{
	return &p->config->expects[p->item];
}

static int parse_expect_match(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_expect *e = expect_item(p);
	struct selector s = { 0 };
	char why[160];
	int r;

	if (*value) {
		r = selector_parse(value, true, &s, why, sizeof(why));
		if (r == -EINVAL)
			return parser_problem(p, line, "%s=%s: %s", key, value, why);
		if (r < 0)
			return r;
	}
	selector_done(&e->match);
	e->match = s;
	return 0;
}

static int parse_expect_count(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	uint32_t v = 0;

	if (*value && (parse_u32(value, &v) < 0 || v < k->min || v > k->max))
		return parser_problem(p, line, "%s=%s: not a whole number from %u to %u", key,
			value, (unsigned)k->min, (unsigned)k->max);
	expect_item(p)->count = v;
	return 0;
}

static int parse_expect_state(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	if (*value && !streq(value, "up") && !streq(value, "any"))
		return parser_problem(p, line, "%s=%s: must be up or any", key, value);
	expect_item(p)->any_state = streq(value, "any");
	return 0;
}

static int parse_expect_rate(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	uint64_t v = 0;

	if (*value && (parse_rate(value, &v) < 0 || v == 0))
		return parser_problem(
			p, line, "%s=%s: not a rate (write 200Gb/s, 2.5Gb/s)", key, value);
	expect_item(p)->min_rate_mbps = v;
	return 0;
}

/* Where a key of the section at hand stands. */
static struct config_origin key_origin(const struct config_port *e, unsigned line)
{
	return (struct config_origin){ .file = e->origin.file, .line = line };
}

static int parse_min_rate(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_port *e = &p->config->ports[p->item];
	uint64_t mbps = 0;

	if (*value && (parse_rate(value, &mbps) < 0 || mbps == 0))
		return parser_problem(
			p, line, "%s=%s: not a data rate (write 100Gb/s, 2.5Gb/s)", key, value);
	e->min_rate_mbps = mbps;
	e->has_min_rate = true;
	e->min_rate_at = key_origin(e, line);
	return 0;
}

static int parse_link_layer(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_port *e = &p->config->ports[p->item];
	int v = *value ? link_layer_from_string(value) : (int)LINK_LAYER_UNKNOWN;

	if (v < 0 || (*value && v == LINK_LAYER_UNKNOWN))
		return parser_problem(p, line, "%s=%s: must be InfiniBand or Ethernet", key, value);
	e->link_layer = (enum link_layer)v;
	e->has_link_layer = true;
	e->link_layer_at = key_origin(e, line);
	return 0;
}

static int parse_group(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_port *e = &p->config->ports[p->item];
	char *t = NULL;

	if (*value) {
		if (!group_name_valid(value))
			return parser_problem(p, line,
				"%s=%s: must be one word of at most %d bytes", key, value,
				GROUP_NAME_MAX - 1);
		t = strdup(value);
		if (!t)
			return -ENOMEM;
	}
	free(e->group);
	e->group = t;
	e->has_group = true;
	return 0;
}

/* "10/min", "5/s", "200/5min": a number for that time; "3": in the window. */
static int parse_per(const char *value, uint64_t *ret_count, usec_t *ret_per)
{
	char count[32], span[32];
	const char *slash = strchr(value, '/');
	size_t n = slash ? (size_t)(slash - value) : strlen(value);
	usec_t per = 0;
	bool unit_only;
	int r;

	if (n >= sizeof(count) || (slash && strlen(slash) >= sizeof(span) - 1))
		return -EINVAL;
	snprintf(count, sizeof(count), "%.*s", (int)n, value);
	if (slash) {
		const char *unit = slash + 1 + strspn(slash + 1, " \t");

		unit_only = *unit < '0' || *unit > '9';
		snprintf(span, sizeof(span), "%s%s", unit_only ? "1" : "", unit);
		r = *unit ? parse_timespan(span, &per) : -EINVAL;
		if (r < 0 || per == 0 || per == USEC_INFINITY)
			return -EINVAL;
	}
	r = parse_u64(strstrip(count), ret_count);
	if (r < 0)
		return r;
	*ret_per = per;
	return 0;
}

static int parse_threshold(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_counter *c = &p->config->counters[p->item];

	if (*value && parse_per(value, &c->threshold, &c->threshold_per) < 0)
		return parser_problem(p, line,
			"%s=%s: not a number of errors, or one for a time (write 3, 10/min, 5/s)",
			key, value);
	c->has_threshold = true;
	c->threshold_reset = !*value;
	c->threshold_line = line;
	return 0;
}

static int parse_window(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_counter *c = &p->config->counters[p->item];
	char min[TIMESPAN_MAX], max[TIMESPAN_MAX];
	usec_t v = 0;

	if (*value && parse_timespan(value, &v) < 0)
		return parser_problem(
			p, line, "%s=%s: not a time span (write 30s, 5min, 1h)", key, value);
	if (*value && (v < k->min || v > k->max))
		return parser_problem(p, line, "%s=%s: out of range, %s to %s", key, value,
			timespan_format(min, sizeof(min), k->min),
			timespan_format(max, sizeof(max), k->max));
	c->has_window = true;
	c->window = v;
	c->window_line = line;
	return 0;
}

static int parse_alarm(
	struct parser *p, const struct key *k, const char *key, const char *value, unsigned line)
{
	struct config_counter *c = &p->config->counters[p->item];
	int v = *value ? counter_alarm_from_string(value) : (int)ALARM_DEFAULT;

	if (*value && v < 0)
		return parser_problem(
			p, line, "%s=%s: must be failed, degraded, notice or none", key, value);
	c->has_alarm = true;
	c->alarm = (enum counter_alarm)v;
	c->alarm_line = line;
	return 0;
}

#define S        USEC_PER_SEC
#define M        USEC_PER_MINUTE
#define H        USEC_PER_HOUR
#define D        USEC_PER_DAY
#define FIELD(f) offsetof(struct config, f)

static const struct key keys[] = {
	{ SECTION_DAEMON, "ProbeSec", parse_time, FIELD(probe_usec), S, D, 30 * S },
	{ SECTION_DAEMON, "ProbeTimeoutSec", parse_time, FIELD(probe_timeout_usec),
		100 * USEC_PER_MSEC, 5 * M, 5 * S },
	{ SECTION_DAEMON, "GraceSec", parse_time, FIELD(grace_usec), 0, D, 60 * S },
	/* More would run into systemd's own TimeoutStartSec=. */
	{ SECTION_DAEMON, "StartBudgetSec", parse_time, FIELD(start_budget_usec), 0, M, 15 * S },
	{ SECTION_DAEMON, "CounterSec", parse_time, FIELD(counter_usec), S, D, 10 * S },
	{ SECTION_DAEMON, "SlowCounterSec", parse_time, FIELD(slow_counter_usec), S, D, 60 * S },
	{ SECTION_SETUP, "Mode", parse_setup_mode },
	{ SECTION_SETUP, "Drift", parse_drift },
	{ SECTION_MODULES, "Load", key_load },
	{ SECTION_MODULES, "Deny", key_deny },
	{ SECTION_MODULES, "LoadInfiniBand", key_load_for,
		FIELD(load_for[MODULES_FOR_INFINIBAND]) },
	{ SECTION_MODULES, "LoadRoCE", key_load_for, FIELD(load_for[MODULES_FOR_ROCE]) },
	{ SECTION_MODULES, "LoadIWARP", key_load_for, FIELD(load_for[MODULES_FOR_IWARP]) },
	{ SECTION_SYSTEM, "NetnsMode", key_netns_mode, FIELD(netns_exclusive) },
	{ SECTION_SYSTEM, "PrivilegedQKey", key_privileged_qkey, FIELD(privileged_qkey) },
	{ SECTION_HEALTH, "FlapCount", parse_count, FIELD(flap_count), 0, FLAP_RING, 3 },
	{ SECTION_HEALTH, "FlapWindowSec", parse_time, FIELD(flap_window_usec), S, 7 * D, H },
	{ SECTION_HEALTH, "StableSec", parse_time, FIELD(stable_usec), S, 7 * D, 10 * M },
	{ SECTION_HEALTH, "DownDelaySec", parse_time, FIELD(down_delay_usec), 0, H, 0 },
	{ SECTION_HEALTH, "DegradedDelaySec", parse_time, FIELD(degraded_delay_usec), 0, H,
		30 * S },
	{ SECTION_HEALTH, "MissingDelaySec", parse_time, FIELD(missing_delay_usec), 0, D, 60 * S },
	{ SECTION_HEALTH, "UnresponsiveSec", parse_time, FIELD(unresponsive_usec), S, D, 5 * M },
	{ SECTION_LINK, "Type", parse_link_type },
	{ SECTION_LINK, "NetDevice", parse_link_netdev },
	{ SECTION_DEVICE, "Monitor", parse_monitor },
	{ SECTION_DEVICE, "Expect", parse_device_expect },
	{ SECTION_DEVICE, "Name", key_device_name },
	{ SECTION_DEVICE, "NodeDescription", key_node_description },
	{ SECTION_DEVICE, "AdaptiveModeration", key_adaptive_moderation },
	{ SECTION_PORT, "Expect", parse_port_expect },
	{ SECTION_PORT, "MinRate", parse_min_rate },
	{ SECTION_PORT, "LinkLayer", parse_link_layer },
	{ SECTION_PORT, "Group", parse_group },
	{ SECTION_PORT, "RoCEMode", key_roce_mode },
	{ SECTION_PORT, "RoCEToS", key_roce_tos, 0, 0, 255, 0 },
	{ SECTION_PORT, "OptionalCounters", key_optional_counters },
	{ SECTION_EXPECT, "Match", parse_expect_match },
	{ SECTION_EXPECT, "Count", parse_expect_count, 0, 1, 65535, 0 },
	{ SECTION_EXPECT, "State", parse_expect_state },
	{ SECTION_EXPECT, "MinRate", parse_expect_rate },
	{ SECTION_IPOIB, "Parent", key_ipoib_parent },
	{ SECTION_IPOIB, "PKey", key_ipoib_pkey },
	{ SECTION_IPOIB, "Mode", key_ipoib_mode },
	/* IPv4 needs 68; the kernel takes no more than IPoIB connected mode has. */
	{ SECTION_IPOIB, "MTU", key_ipoib_mtu, 0, 68, 65520, 0 },
	{ SECTION_IPOIB, "Umcast", key_ipoib_umcast },
	{ SECTION_COUNTER, "Threshold", parse_threshold },
	{ SECTION_COUNTER, "Window", parse_window, 0, S, 7 * D },
	{ SECTION_COUNTER, "Severity", parse_alarm },
};

#undef S
#undef M
#undef H
#undef D

/* The name as it stands in a header; for messages. */
static const char *section_word(enum section_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i].kind == kind)
			return sections[i].name;
	return "?";
}

/* Edit distance of two short words without regard to case, at most 255. */
static unsigned distance(const char *a, const char *b)
{
	unsigned char row[64];
	size_t n = strlen(b);

	if (n >= sizeof(row))
		return 255;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned char)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned char diagonal = row[0];

		row[0] = (unsigned char)MIN(i + 1, 255U);
		for (size_t j = 0; j < n; j++) {
			unsigned char above = row[j + 1];
			unsigned best = diagonal + !!strncasecmp(&a[i], &b[j], 1);

			best = MIN(best, MIN(above, row[j]) + 1U);
			row[j + 1] = (unsigned char)MIN(best, 255U);
			diagonal = above;
		}
	}
	return row[n];
}

const struct section_name *section_lookup(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (streq(sections[i].name, name))
			return &sections[i];
	return NULL;
}

const char *section_suggest(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (distance(name, sections[i].name) <= 2)
			return sections[i].name;
	return NULL;
}

static const char *key_suggest(enum section_kind section, const char *name)
{
	const char *found = NULL;
	unsigned best = 3;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		unsigned d = keys[i].section == section ? distance(name, keys[i].name) : 255;

		if (d < best) {
			best = d;
			found = keys[i].name;
		}
	}
	return found;
}

int key_assign(struct parser *p, const char *key, const char *value, unsigned line)
{
	unsigned problems = p->n_problems;
	const char *near;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *k = &keys[i];

		if (k->section != p->section || !streq(k->name, key))
			continue;
		r = k->parse(p, k, key, value, line);
		/* What a rule compares with, and what the setup names with its line. */
		if (r == 0 && p->n_problems == problems &&
			(k->parse == parse_time || k->parse == parse_count ||
				k->section == SECTION_SYSTEM))
			r = config_note_set(p->config, k->offset, *value, p->file, line);
		return r;
	}
	near = key_suggest(p->section, key);
	return parser_problem(p, line, "unknown key %s= in [%s]%s%s%s", key,
		section_word(p->section), near ? "; did you mean " : "", near ? near : "",
		near ? "=?" : "");
}

bool key_is_list(enum section_kind section, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].section == section && streq(keys[i].name, key))
			return keys[i].parse == key_load || keys[i].parse == key_deny ||
			       keys[i].parse == key_load_for ||
			       keys[i].parse == key_optional_counters;
	return false;
}
