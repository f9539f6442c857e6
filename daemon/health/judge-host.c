/* SPDX-License-Identifier: MIT */
#include "judge-count.h"
#include "judge-hardware.h"
#include "macros.h"
#include "making.h"
#include "rules.h"

/* The rules of setup speak of what is not in force; one that has nothing to say is clear. */
static void note_setup(const struct setup_condition *setup, size_t n)
{
	static const enum reason_id ids[] = { REASON_SETUP_FAILED, REASON_SETUP_BLOCKED,
		REASON_SETUP_DRIFTED, REASON_NETDEV_MISSING, REASON_DEVICE_UNRESPONSIVE };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		size_t found = 0;

		for (size_t k = 0; k < n; k++) {
			if (setup[k].id != ids[i])
				continue;
			note_rule(ids[i], setup[k].subject, OUTCOME_RAISED, NULL, "%s",
				setup[k].found);
			found++;
		}
		if (!found)
			note_rule(ids[i], "", OUTCOME_CLEAR, NULL, "%s",
				ids[i] == REASON_DEVICE_UNRESPONSIVE
					? "the kernel answers listings of devices"
					: "no setup step ended so");
	}
}

static void note_config(const struct config_problem *problems, size_t n)
{
	if (n == 0)
		note_rule(REASON_CONFIG_INVALID, "", OUTCOME_CLEAR, NULL, "no line was left out");
	for (size_t i = 0; i < n; i++)
		note_rule(REASON_CONFIG_INVALID, "", OUTCOME_RAISED, &problems[i].origin, "%s",
			problems[i].text);
}

bool judge_host(struct model *m, const struct config *c, const struct setup_condition *setup,
	size_t n_setup, struct timepoint now, struct verdict *ret_old, usec_t *ret_recheck)
{
	struct making mk;
	struct reason *r;

	making_begin(&mk, &m->verdict, now);
	mk.v.health = m->listed ? HEALTH_OK : HEALTH_STARTING;
	for (const struct device *d = m->devices; d; d = d->next)
		mk.v.health = health_worst(mk.v.health, d->verdict.health);
	for (const struct missing *x = m->missing; x; x = x->next)
		mk.v.health = health_worst(mk.v.health, x->verdict.health);

	for (size_t i = 0; i < n_setup; i++) {
		enum severity severity = rule_get(setup[i].id)->severity;

		r = raise_reason(&mk, setup[i].id, severity, setup[i].subject);
		if (!r)
			continue;
		STRSCPY(r->found, setup[i].found);
		STRSCPY(r->wanted, setup[i].wanted);
		STRSCPY(r->remedy, setup[i].remedy);
	}
	judge_counts(&mk, m, c);
	if (c->n_problems > 0) {
		r = raise_reason(&mk, REASON_CONFIG_INVALID, SEVERITY_DEGRADED, "");
		if (r) {
			config_problem_format(&c->problems[0], r->found, sizeof(r->found));
			if (c->n_problems > 1)
				snprintf(r->wanted, sizeof(r->wanted),
					"a valid configuration (%zu more lines are wrong)",
					c->n_problems - 1);
			else
				STRSCPY(r->wanted, "a valid configuration");
			STRSCPY(r->remedy, "correct it, then: systemctl reload rdmad");
		}
	}
	judge_not_probed(&mk, m, c); /* the last one: there may be many of it */
	note_setup(setup, n_setup);
	note_config(c->problems, c->n_problems);
	return making_end(&mk, &m->verdict, ret_old, ret_recheck);
}
