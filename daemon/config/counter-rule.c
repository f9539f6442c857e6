/* SPDX-License-Identifier: MIT */
#include "counter-rule.h"

#include "counter-width.h"
#include "macros.h"
#include "parser.h"
#include "selector.h"

/* Of a threshold that the configuration gives without a window. */
#define WINDOW_OF_COUNT USEC_PER_HOUR   /* where the counter has none by default */
#define WINDOW_OF_RATE  USEC_PER_MINUTE /* at least: readings are no denser */

/* What the matching sections come to, key by key; NULL: none of them has that key. */
struct settings {
	const struct config_counter *threshold, *window, *alarm;
};

static bool section_matches(const struct config_counter *s, const char *name, const char *safe_name)
{
	return glob_match(s->glob, name) || (safe_name && glob_match(s->glob, safe_name));
}

static struct settings find_settings(
	const struct config *c, const char *name, const char *safe_name)
{
	struct settings s = { 0 };

	for (size_t i = 0; i < c->n_counters; i++) {
		const struct config_counter *k = &c->counters[i];

		if (!section_matches(k, name, safe_name))
			continue;
		if (k->has_threshold)
			s.threshold = k->threshold_reset ? NULL : k;
		if (k->has_window)
			s.window = k->window ? k : NULL;
		if (k->has_alarm)
			s.alarm = k->alarm != ALARM_DEFAULT ? k : NULL;
	}
	return s;
}

static struct config_origin origin_of(const struct config_counter *s, unsigned line)
{
	return (struct config_origin){ .file = s->origin.file, .line = line };
}

/*
 * A counter that is information by default becomes an alarm when somebody gives it a threshold; but
 * not by a pattern, which may be meant for others ("*" is also the traffic).
 */
static enum counter_alarm effective_alarm(
	const struct settings *s, bool known, const struct counter_rule *dflt)
{
	if (s->alarm)
		return s->alarm->alarm;
	if (known && dflt->alarm != ALARM_NONE)
		return dflt->alarm;
	if (s->threshold && (!known || !strpbrk(s->threshold->glob, "*?")))
		return ALARM_DEGRADED;
	return ALARM_NONE;
}

static void set_limits(struct counter_rule *r, const struct settings *s)
{
	struct counter_limit *l = &r->limits[0];

	if (!s->threshold && !s->window && r->n > 0)
		return;
	if (s->threshold) {
		*l = (struct counter_limit){
			.count = s->threshold->threshold,
			.per = s->threshold->threshold_per,
			.window = l->window,
		};
		if (l->per)
			l->window = MAX(l->per, WINDOW_OF_RATE);
	}
	if (l->window == 0)
		l->window = WINDOW_OF_COUNT; /* Severity= alone: any rise */
	if (s->window)
		l->window = s->window->window;
	r->n = 1;
}

bool config_counter_rule(const struct config *c, enum counter_source source, const char *name,
	const char *safe_name, struct counter_rule *ret)
{
	struct settings s = find_settings(c, name, safe_name);
	struct counter_rule r = { 0 };
	bool known = counter_default(source, name, &r);

	if (!known && !s.threshold && !s.alarm)
		return false;
	r.alarm = effective_alarm(&s, known, &r);
	if (r.alarm == ALARM_NONE)
		r.n = 0;
	else
		set_limits(&r, &s);
	if (s.threshold)
		r.origin = origin_of(s.threshold, s.threshold->threshold_line);
	else if (s.alarm)
		r.origin = origin_of(s.alarm, s.alarm->alarm_line);
	else if (s.window)
		r.origin = origin_of(s.window, s.window->window_line);
	if (s.alarm) {
		r.why_none = NULL;
		r.watch_end = r.watch_end && s.alarm->alarm != ALARM_NONE;
	}
	*ret = r;
	return true;
}

/* ---- thresholds that can never be reached ---- */

/*
 * A counter that sticks at its maximum cannot rise by more than that. The assignment that makes it
 * so is the threshold's, or the window's where the default threshold is a rate.
 */
static int check_counter(struct config *c, const char *name, uint32_t width, bool tell,
	struct config_counter **ret_wrong)
{
	struct settings s = find_settings(c, name, NULL);
	uint64_t max = counter_width_max(width);
	const struct config_counter *wrong;
	struct counter_rule r;
	char text[256], window[TIMESPAN_MAX];
	double allowed;

	*ret_wrong = NULL;
	if (width == 0 || width > 32 || !config_counter_rule(c, COUNTER_PMA, name, NULL, &r) ||
		r.n == 0 || r.limits[0].per_bit > 0)
		return 0;
	allowed = counter_limit_allowed(&r.limits[0], 0);
	wrong = s.threshold ?: s.window;
	if (!wrong || allowed < (double)max)
		return 0;
	timespan_format(window, sizeof(window), r.limits[0].window);
	snprintf(text, sizeof(text),
		"[Counter %s]: more than %.0f in %s can never be seen: %s has %u bits and ends at "
		"%ju; %s is left out",
		wrong->glob, allowed, window, name, width, (uintmax_t)max,
		s.threshold ? "Threshold=" : "Window=");
	*ret_wrong = &c->counters[wrong - c->counters];
	if (!tell)
		return 0;
	return config_add_problem(c, wrong->origin.file,
		s.threshold ? wrong->threshold_line : wrong->window_line, text);
}

int config_check_counters(struct config *c)
{
	const char *name;
	int r;

	for (size_t i = 0; (name = counter_pma_name(i)); i++) {
		uint32_t width = counter_pma_width(name, true);
		struct config_counter *wrong;
		bool tell = true;

		/* Without the threshold its window may not fit, either: that is the same mistake. */
		for (;; tell = false) {
			r = check_counter(c, name, width, tell, &wrong);
			if (r < 0)
				return r;
			if (!wrong)
				break;
			if (wrong->has_threshold && !wrong->threshold_reset)
				wrong->has_threshold = false;
			else
				wrong->has_window = false;
		}
	}
	return 0;
}
