/* SPDX-License-Identifier: MIT */
/*
 * Error counters against their thresholds. Judged by readings and not by the clock: where none
 * comes, nothing is raised and nothing clears.
 */
#include "judge-counters.h"

#include <inttypes.h>
#include <math.h>

#include "counter-rule.h"
#include "counter-width.h"
#include "macros.h"

/*
 * A rate that goes about its threshold would make a record a minute: link-errors clears when the
 * windows have held less for so many windows, but at most for CLEAR_MAX.
 */
#define CLEAR_WINDOWS 4
#define CLEAR_MAX     (5 * USEC_PER_MINUTE)

/* Conditions of one id that stand by themselves; if there are more, the last is of all others. */
#define FINDINGS_MAX  8
#define SATURATED_MAX 4

/* The subject of that one; no counter of this name is known. */
#define OTHERS "others"

struct finding {
	const char *name;
	enum severity severity;
	char found[REASON_TEXT_MAX];
	char wanted[REASON_TEXT_MAX];
	const char *remedy;
};

struct findings {
	enum reason_id id;
	size_t max;
	size_t n; /* may be beyond max: those are counted only */
	enum severity worst_beyond;
	struct finding list[FINDINGS_MAX];
};

/* What is looked at. */
struct look {
	struct making *mk;
	const struct port *port; /* NULL: counters of the device */
	const struct config *config;
	enum counter_source source;
	struct counter_table *table;
	struct counter *counter;
	struct counter_rule rule;
	const char *name; /* the counter's, as a subject */
	struct findings *errors, *saturated;
};

/* ---- what is raised ---- */

/* The list stays as it is: it is long, and mostly there is nothing to put into it. */
static void findings_begin(struct findings *f, enum reason_id id, size_t max)
{
	f->id = id;
	f->max = max;
	f->n = 0;
	f->worst_beyond = SEVERITY_NOTICE;
}

/* The next finding; one that is only counted when the list is full. */
static void add_finding(struct findings *f, const struct finding *x)
{
	if (f->n >= f->max - 1)
		f->worst_beyond = MAX(f->worst_beyond, x->severity);
	if (f->n < f->max)
		f->list[f->n] = *x;
	f->n++;
}

static void raise_finding(struct making *mk, enum reason_id id, const struct finding *x)
{
	struct reason *r = raise_reason(mk, id, x->severity, x->name);

	if (!r)
		return;
	STRSCPY(r->found, x->found);
	STRSCPY(r->wanted, x->wanted);
	STRSCPY(r->remedy, x->remedy);
}

/* All beyond the maximum as one. */
static void raise_others(struct making *mk, const struct findings *f, size_t n)
{
	struct finding others = {
		.name = OTHERS,
		.severity = f->worst_beyond,
		.wanted = "as for each of them",
		.remedy = "rdmactl explain shows every counter with its threshold",
	};

	snprintf(others.found, sizeof(others.found), "%zu more counters", n);
	raise_finding(mk, f->id, &others);
}

static void raise_findings(struct making *mk, const struct findings *f)
{
	size_t single = f->n <= f->max ? f->n : f->max - 1;

	for (size_t i = 0; i < single; i++)
		raise_finding(mk, f->id, &f->list[i]);
	if (f->n > single)
		raise_others(mk, f, f->n - single);
}

static enum severity alarm_severity(enum counter_alarm a)
{
	switch (a) {
	case ALARM_FAILED:
		return SEVERITY_FAILED;
	case ALARM_DEGRADED:
		return SEVERITY_DEGRADED;
	case ALARM_NOTICE:
	case ALARM_NONE:
	case ALARM_DEFAULT:
	case _COUNTER_ALARM_MAX:
		break;
	}
	return SEVERITY_NOTICE;
}

/* ---- at its maximum ---- */

static void judge_saturated(struct look *k)
{
	const struct counter *c = k->counter;
	const struct reason *standing = verdict_find(k->mk->old, REASON_COUNTER_SATURATED, k->name);
	struct finding x = { .name = k->name, .severity = SEVERITY_NOTICE };

	if (!c->known) {
		note_rule(REASON_COUNTER_SATURATED, k->name, OUTCOME_ABSENT, NULL,
			"it could not be read so far");
		return;
	}
	if (c->width == 0) {
		note_rule(REASON_COUNTER_SATURATED, k->name, OUTCOME_ABSENT, NULL,
			"at which value it ends is not known");
		return;
	}
	/* A value that could not be read again is still the last one that is known. */
	if (!counter_is_saturated(c)) {
		note_rule(REASON_COUNTER_SATURATED, k->name, OUTCOME_CLEAR, NULL,
			"%" PRIu64 ", ends at %" PRIu64 "%s", c->value, counter_width_max(c->width),
			c->stale ? " (not read this time)" : "");
		return;
	}
	if (c->stale && !standing) {
		note_rule(REASON_COUNTER_SATURATED, k->name, OUTCOME_ABSENT, NULL,
			"it could not be read this time");
		return;
	}
	snprintf(x.found, sizeof(x.found), "%" PRIu64 ", the most that %u bits can show", c->value,
		c->width);
	STRSCPY(x.wanted, "a counter in which new errors can be seen");
	x.remedy = k->port ? "reset the counters of this port: perfquery -R, or a reload of the "
			     "driver"
			   : "a reload of the driver sets it to 0";
	note_rule(REASON_COUNTER_SATURATED, k->name, OUTCOME_RAISED, NULL, "%s", x.found);
	add_finding(k->saturated, &x);
}

/* ---- too fast ---- */

static const struct config_origin *rule_origin(const struct look *k)
{
	return k->rule.origin.file ? &k->rule.origin : NULL;
}

/* "at most 5 in 1min" */
static void wanted_text(char *buf, size_t size, const struct counter_limit *l, double allowed)
{
	char span[TIMESPAN_MAX];

	timespan_format(span, sizeof(span), l->window);
	if (allowed < 1)
		snprintf(buf, size, "none in %s", span);
	else
		snprintf(buf, size, "at most %" PRIu64 " in %s", (uint64_t)allowed, span);
}

/* Neither raised nor cleared: what stood stands, in its old words. */
static void keep_standing(struct look *k, bool standing, const char *why)
{
	const struct reason *r = verdict_find(k->mk->old, REASON_LINK_ERRORS, k->name);
	struct finding x = { .name = k->name, .severity = alarm_severity(k->rule.alarm) };

	note_rule(REASON_LINK_ERRORS, k->name, standing ? OUTCOME_RAISED : OUTCOME_ABSENT,
		rule_origin(k), "%s%s", why,
		standing ? "; it stands until it is judged again" : "");
	if (!standing)
		return;
	x.remedy = counter_blame(k->counter->name);
	if (r) {
		STRSCPY(x.found, r->found);
		STRSCPY(x.wanted, r->wanted);
	} else {
		STRSCPY(x.found, "rose too fast");
	}
	add_finding(k->errors, &x);
}

static uint64_t rate_of_link(const struct look *k)
{
	return k->port ? k->port->facts.rate_mbps : 0;
}

/* Why it cannot be judged now; NULL: it can. */
static const char *why_not_now(const struct look *k)
{
	if (!k->counter->known)
		return "it could not be read so far";
	if (k->counter->stale)
		return "it could not be read this time";
	if (k->port && !port_is_active(k->port))
		return "not judged while the link is not ACTIVE";
	if (k->port && k->counter->read_at.mono < k->port->active_since.mono)
		return "not read since the link is ACTIVE";
	for (size_t i = 0; i < k->rule.n; i++)
		if (isnan(counter_limit_allowed(&k->rule.limits[i], rate_of_link(k))))
			return "its threshold goes by the rate of the link, which is unknown";
	return NULL;
}

/* What came of one window. */
struct window_result {
	bool measured, over;
	struct counter_rise rise;
	double allowed;
};

static struct window_result judge_window(const struct look *k, size_t i)
{
	const struct counter_limit *l = &k->rule.limits[i];
	const struct counter *c = k->counter;
	struct window_result w = {
		.allowed = counter_limit_allowed(l, rate_of_link(k)),
	};
	double stretch = 1;

	w.measured = counter_history_rise(c->history, i, c->read_at.mono, c->value, &w.rise);
	if (!w.measured)
		return w;
	/* Readings that are rarer than the window: the same rate, over a longer time. */
	if (w.rise.during > l->window)
		stretch = (double)w.rise.during / (double)l->window;
	w.over = (double)w.rise.by > w.allowed * stretch;
	return w;
}

static void found_text(char *buf, size_t size, const struct look *k, const struct window_result *w)
{
	char span[TIMESPAN_MAX];

	snprintf(buf, size, "%" PRIu64 " more in %s%s", w->rise.by,
		timespan_format(span, sizeof(span), w->rise.during),
		counter_is_saturated(k->counter) ? ", and is at its maximum now" : "");
}

static void raise_errors(struct look *k, size_t window, const struct window_result *w)
{
	struct finding x = {
		.name = k->name,
		.severity = alarm_severity(k->rule.alarm),
		.remedy = counter_blame(k->counter->name),
	};

	found_text(x.found, sizeof(x.found), k, w);
	wanted_text(x.wanted, sizeof(x.wanted), &k->rule.limits[window], w->allowed);
	note_rule(REASON_LINK_ERRORS, k->name, OUTCOME_RAISED, rule_origin(k), "%s, wanted %s",
		x.found, x.wanted);
	add_finding(k->errors, &x);
}

static void note_clear(const struct look *k, const struct window_result *w)
{
	char wanted[REASON_TEXT_MAX], found[REASON_TEXT_MAX];

	wanted_text(wanted, sizeof(wanted), &k->rule.limits[0], w->allowed);
	if (!w->measured) {
		note_rule(REASON_LINK_ERRORS, k->name, OUTCOME_PENDING, rule_origin(k),
			"the first reading is the baseline; wanted %s", wanted);
		return;
	}
	found_text(found, sizeof(found), k, w);
	note_rule(REASON_LINK_ERRORS, k->name,
		counter_is_saturated(k->counter) ? OUTCOME_ABSENT : OUTCOME_CLEAR, rule_origin(k),
		"%s, wanted %s", found, wanted);
}

static void judge_errors(struct look *k)
{
	struct counter_history *h = k->counter->history;
	bool standing = h->standing && k->mk->old->health != HEALTH_IGNORED;
	usec_t hold = MIN(CLEAR_WINDOWS * k->rule.limits[0].window, CLEAR_MAX);
	const char *why = why_not_now(k);
	struct window_result first = { 0 }, w;

	if (why) {
		keep_standing(k, standing, why);
		return;
	}
	/* What happened while the link was brought up is no news. */
	if (k->port)
		counter_history_drop(h, k->port->active_since.mono);
	h->standing = false;
	for (size_t i = 0; i < k->rule.n; i++) {
		w = judge_window(k, i);
		if (i == 0)
			first = w;
		if (!w.over)
			continue;
		h->standing = true;
		h->over_at = k->counter->read_at.mono;
		raise_errors(k, i, &w);
		return;
	}
	if (standing && usec_sub(k->counter->read_at.mono, h->over_at) < hold) {
		h->standing = true;
		keep_standing(k, true, "below its threshold again, not for long enough yet");
		return;
	}
	if (standing && !first.measured) {
		h->standing = true;
		keep_standing(k, true, "this reading is a new baseline");
		return;
	}
	note_clear(k, &first);
}

/* ---- all counters of a port ---- */

/* Hands out histories to the counters that have a threshold, once for each set and configuration. */
static void watch_counters(
	struct counter_table *t, enum counter_source source, const struct config *c)
{
	usec_t windows[COUNTER_SPANS_MAX];
	struct counter_rule rule;
	bool complete = true;

	if (t->watched_set == t->set && t->watched_by == c->serial)
		return;
	for (size_t i = 0; i < t->n; i++) {
		struct counter *k = &t->counters[i];
		size_t n = 0;

		if (!(k->flags & COUNTER_GAUGE) &&
			config_counter_rule(c, source, k->name, k->safe_name, &rule))
			n = rule.n;
		for (size_t w = 0; w < n; w++)
			windows[w] = rule.limits[w].window;
		if (counter_watch(k, windows, n) < 0)
			complete = false;
	}
	if (complete) {
		t->watched_set = t->set;
		t->watched_by = c->serial;
	}
}

static void note_information(const struct look *k)
{
	note_rule(REASON_LINK_ERRORS, k->name, OUTCOME_ABSENT, rule_origin(k),
		"information only%s%s", k->rule.why_none ? ": " : "",
		k->rule.why_none ? k->rule.why_none : "");
}

static void judge_counter(struct look *k)
{
	const struct counter *c = k->counter;

	/* The counters of the specification mean nothing on Ethernet, where most stay 0. */
	if (k->source == COUNTER_PMA && k->port->facts.link_layer != LINK_LAYER_INFINIBAND) {
		note_rule(REASON_LINK_ERRORS, k->name, OUTCOME_ABSENT, rule_origin(k),
			"judged on InfiniBand only");
		return;
	}
	if (k->rule.n > 0 || k->rule.watch_end)
		judge_saturated(k);
	if (c->history)
		judge_errors(k);
	else
		note_information(k);
}

static void judge_table(struct look *k)
{
	struct counter_table *t = k->table;

	watch_counters(t, k->source, k->config);
	for (size_t i = 0; i < t->n; i++) {
		k->counter = &t->counters[i];
		/* Most counters have no rule and are of interest only to who explains. */
		if (!k->counter->history && k->counter->width == 0 && !rules_are_explained())
			continue;
		k->name = k->counter->name;
		if (config_counter_rule(k->config, k->source, k->counter->name,
			    k->counter->safe_name, &k->rule))
			judge_counter(k);
	}
}

static void judge_tables_of(struct look *k, struct counter_table *const *tables, size_t n)
{
	struct findings errors, saturated;

	findings_begin(&errors, REASON_LINK_ERRORS, FINDINGS_MAX);
	findings_begin(&saturated, REASON_COUNTER_SATURATED, SATURATED_MAX);
	k->errors = &errors;
	k->saturated = &saturated;
	for (size_t i = 0; i < n; i++) {
		k->source = (enum counter_source)i;
		k->table = tables[i];
		if (k->table)
			judge_table(k);
	}
	raise_findings(k->mk, &errors);
	raise_findings(k->mk, &saturated);
}

void judge_counters(struct making *mk, struct port *p, const struct config *c)
{
	struct look k = { .mk = mk, .port = p, .config = c };

	judge_tables_of(&k, p->counters, _COUNTER_SOURCE_MAX);
}

void judge_device_counters(struct making *mk, struct device *d, const struct config *c)
{
	struct look k = { .mk = mk, .config = c };

	judge_tables_of(&k, &d->counters, COUNTER_HW + 1);
}
