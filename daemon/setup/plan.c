/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <errno.h>

#include "macros.h"

/* Between two attempts at one step, whatever happens: events may come in storms. */
#define TRY_GAP_USEC (1 * USEC_PER_SEC)

#define FAILED_RETRY_USEC     (5 * USEC_PER_SEC)
#define FAILED_RETRY_MAX_USEC (30 * USEC_PER_MINUTE)

/* The helper is there again as soon as systemd is done with whatever it does. */
#define UNREACHABLE_RETRY_USEC     (1 * USEC_PER_SEC)
#define UNREACHABLE_RETRY_MAX_USEC (1 * USEC_PER_MINUTE)

void plan_done(struct plan *p)
{
	free(p->steps);
	setup_memory_done(&p->memory);
	*p = (struct plan){ 0 };
}

static struct step *find_step(const struct plan *p, enum step_kind kind, const char *object)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].kind == kind && streq(p->steps[i].object, object))
			return &p->steps[i];
	return NULL;
}

static bool is_running(const struct plan *p, const struct step *s)
{
	return p->running && p->request.kind == (uint16_t)s->kind &&
	       streq(p->request.name, s->object);
}

/* An attempt has left the configured thing not in force: its outcome is what is shown. */
static void show_attempt(struct step *s)
{
	s->result = s->run.result;
	STRSCPY(s->detail, s->run.detail);
	STRSCPY(s->remedy, s->run.remedy);
	switch (s->result) {
	case STEP_BLOCKED:
		s->has_condition = true;
		s->condition = REASON_SETUP_BLOCKED;
		break;
	case STEP_UNSUPPORTED:
		/* A module that this kernel does not have is a line in the log; a link is owed. */
		s->has_condition = s->kind == STEP_ADD_LINK;
		s->condition = REASON_SETUP_FAILED;
		break;
	case STEP_FAILED:
		s->has_condition = true;
		s->condition = REASON_SETUP_FAILED;
		break;
	case STEP_PENDING:
	case STEP_OK:
	case STEP_CHANGED:
	case STEP_WAITING:
	case STEP_DRIFTED:
	case _STEP_RESULT_MAX:
		break;
	}
}

/* Time alone makes this step due. */
static bool is_due(const struct step *s, usec_t now)
{
	return s->wanted_run && s->run.next_try <= now;
}

/* The facts say that the step should run: may it, and when? */
static void schedule(struct plan *p, struct step *s, const struct plan_input *in)
{
	if (in->config->setup_mode == SETUP_MODE_REPORT) {
		s->wanted_run = false;
		s->result = STEP_WAITING;
		STRSCPY(s->detail, "[Setup] Mode=report: it would be done, and is not");
		return;
	}
	if (s->run.attempts > 0 && s->run.fingerprint != s->fingerprint) {
		/* The world is another one: from the beginning, but not in a rush. */
		s->run.attempts = 0;
		s->run.next_try = usec_add(s->run.last_try, TRY_GAP_USEC);
	}
	if (s->run.result != STEP_PENDING)
		show_attempt(s);
	else if (is_running(p, s))
		STRSCPY(s->detail, "running");
	else if (s->run.detail[0])
		STRSCPY(s->detail, s->run.detail);
	if (!is_running(p, s) && s->run.next_try > in->now)
		p->recheck = MIN(p->recheck, s->run.next_try);
}

/* The facts say that there is nothing to run: what went wrong before is over. */
static void forget_attempts(struct step *s)
{
	usec_t last = s->run.last_try;

	if (s->run.attempts == 0 && s->run.result == STEP_PENDING)
		return;
	s->run = (struct step_run){
		.last_try = last,
		.next_try = last ? usec_add(last, TRY_GAP_USEC) : 0,
	};
}

/* Lists the steps that the configuration asks for, with what is known of them. */
static int collect(const struct plan *p, const struct config *c, struct step **ret, size_t *ret_n)
{
	struct step *steps = calloc(c->n_load + c->n_links + 1, sizeof(*steps));
	const struct step *old;
	size_t n = 0;

	if (!steps)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_load; i++, n++) {
		old = find_step(p, STEP_LOAD_MODULE, c->load[i]);
		if (old) {
			steps[n] = *old;
			continue;
		}
		steps[n].kind = STEP_LOAD_MODULE;
		STRSCPY(steps[n].object, c->load[i]);
	}
	for (size_t i = 0; i < c->n_links; i++, n++) {
		const struct config_link *l = &c->links[i];

		old = find_step(p, STEP_ADD_LINK, l->name);
		if (old && old->link_type == l->type && streq(old->netdev, l->netdev)) {
			steps[n] = *old;
			continue;
		}
		steps[n].kind = STEP_ADD_LINK;
		steps[n].link_type = l->type;
		STRSCPY(steps[n].object, l->name);
		STRSCPY(steps[n].netdev, l->netdev);
	}
	*ret = steps;
	*ret_n = n;
	return 0;
}

int plan_update(struct plan *p, const struct plan_input *in)
{
	_cleanup_(freep) struct step *steps = NULL;
	size_t n;
	int r;

	r = collect(p, in->config, &steps, &n);
	if (r < 0)
		return r;
	p->recheck = USEC_INFINITY;
	for (size_t i = 0; i < n; i++) {
		struct step *s = &steps[i];

		r = step_evaluate(s, &p->memory, in);
		if (r < 0)
			return r;
		if (s->wanted_run)
			schedule(p, s, in);
		else if (!is_running(p, s))
			forget_attempts(s);
		if (s->result == STEP_OK && s->changed_untold)
			s->result = STEP_CHANGED;
		if (s->settles_at)
			p->recheck = MIN(p->recheck, s->settles_at);
	}
	/* What was seen is remembered all the same. */
	if (in->config->setup_mode == SETUP_MODE_OFF) {
		n = 0;
		p->recheck = USEC_INFINITY;
	}
	free(p->steps);
	p->steps = TAKE_PTR(steps);
	p->n_steps = n;
	return 0;
}

struct step *plan_next(struct plan *p, usec_t now)
{
	if (p->running)
		return NULL;
	for (size_t i = 0; i < p->n_steps; i++)
		if (is_due(&p->steps[i], now))
			return &p->steps[i];
	return NULL;
}

void plan_started(struct plan *p, struct step *s, usec_t now, struct setup_request *ret)
{
	p->request = setup_request_make(s->kind, s->object, s->link_type, s->netdev);
	p->running = true;
	p->running_ifindex = s->ifindex;
	p->running_repairs = s->repairs;
	s->run.attempts++;
	s->run.last_try = now;
	s->run.next_try = USEC_INFINITY;
	s->run.fingerprint = s->fingerprint;
	if (s->run.result == STEP_PENDING)
		STRSCPY(s->detail, "running");
	*ret = p->request;
}

static usec_t backoff(usec_t now, usec_t first, usec_t max, unsigned attempts)
{
	usec_t span = first;

	for (unsigned i = 1; i < attempts && span < max; i++)
		span *= 2;
	return usec_add(now, MIN(span, max));
}

/* Keeps the outcome, and works out when to try again. */
static void note_failure(struct step *s, const struct setup_answer *answer, usec_t now)
{
	struct step_run *run = &s->run;

	run->result = (enum step_result)answer->result;
	STRSCPY(run->detail, answer->detail);
	STRSCPY(run->remedy, answer->remedy);
	run->next_try = USEC_INFINITY;
	if (answer->flags & SETUP_UNREACHABLE) {
		run->result = STEP_WAITING;
		run->next_try = backoff(
			now, UNREACHABLE_RETRY_USEC, UNREACHABLE_RETRY_MAX_USEC, run->attempts);
	} else if ((answer->flags & SETUP_DIED) && run->attempts <= 1) {
		run->result = STEP_PENDING;
		run->next_try = usec_add(now, TRY_GAP_USEC);
	} else if (run->result == STEP_FAILED || run->result == STEP_WAITING) {
		run->next_try =
			backoff(now, FAILED_RETRY_USEC, FAILED_RETRY_MAX_USEC, run->attempts);
	}
}

/* What was done is remembered before anything else may happen. */
static int remember(struct plan *p, const struct setup_answer *answer)
{
	const struct memory_link *known;
	struct memory_link l;
	int r;

	if (p->request.kind == STEP_LOAD_MODULE) {
		r = setup_memory_note_module(&p->memory, p->request.name,
			answer->module[0] ? answer->module : p->request.name,
			answer->flags & SETUP_BUILT_IN);
	} else {
		known = setup_memory_link(&p->memory, p->request.name);
		l = (struct memory_link){
			.type = (enum link_type)p->request.link_type,
			.ifindex = answer->ifindex ? answer->ifindex : p->running_ifindex,
			.device_index = answer->device_index,
			.repairs = (known ? known->repairs : 0) + p->running_repairs,
		};
		STRSCPY(l.name, p->request.name);
		STRSCPY(l.netdev, p->request.netdev);
		r = setup_memory_note_link(&p->memory, &l);
	}
	return r == -E2BIG ? 0 : r;
}

int plan_finished(struct plan *p, const struct setup_answer *answer, usec_t now)
{
	struct step *s = find_step(p, (enum step_kind)p->request.kind, p->request.name);
	bool done = answer->result == STEP_OK || answer->result == STEP_CHANGED;
	int r = 0;

	if (!p->running)
		return 0;
	p->running = false;
	if (done)
		r = remember(p, answer);
	/* The section may have changed under the running step; then the answer is not its own. */
	if (!s || s->link_type != (enum link_type)p->request.link_type ||
		!streq(s->netdev, p->request.netdev))
		return r;

	if (!done) {
		note_failure(s, answer, now);
		if (s->run.result != STEP_PENDING)
			show_attempt(s);
		else
			STRSCPY(s->detail, s->run.detail);
		p->recheck = MIN(p->recheck, s->run.next_try);
		return r;
	}
	s->run = (struct step_run){
		.last_try = now,
		.next_try = usec_add(now, TRY_GAP_USEC),
	};
	s->wanted_run = s->has_condition = false;
	s->result = (enum step_result)answer->result;
	s->changed_untold = answer->result == STEP_CHANGED;
	STRSCPY(s->detail, answer->detail);
	s->remedy[0] = '\0';
	if (s->kind == STEP_ADD_LINK)
		s->made_at = MAX(now, (usec_t)1);
	return r;
}

usec_t plan_recheck(const struct plan *p)
{
	return p->recheck;
}

bool plan_settled(const struct plan *p)
{
	if (p->running)
		return false;
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].result == STEP_PENDING && !p->steps[i].hidden)
			return false;
	return true;
}

void plan_retry(struct plan *p)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *s = &p->steps[i];

		if (is_running(p, s))
			continue;
		s->run.attempts = 0;
		s->run.next_try = MIN(s->run.next_try, usec_add(s->run.last_try, TRY_GAP_USEC));
	}
	for (size_t i = 0; i < p->memory.n_links; i++) {
		if (p->memory.links[i].repairs == 0)
			continue;
		p->memory.links[i].repairs = 0;
		p->memory.dirty = true;
	}
}

size_t plan_conditions(const struct plan *p, struct plan_condition *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_steps && n < max; i++) {
		const struct step *s = &p->steps[i];

		if (!s->has_condition || s->hidden)
			continue;
		ret[n++] = (struct plan_condition){
			.id = s->condition,
			.subject = s->object,
			/* A refusal says more than what is there instead. */
			.found = s->condition == REASON_SETUP_DRIFTED || !s->detail[0] ? s->found
										       : s->detail,
			.wanted = s->wanted,
			.remedy = s->remedy,
		};
	}
	return n;
}

struct step *plan_next_news(struct plan *p)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *s = &p->steps[i];
		bool same = !s->changed_untold && s->told_result == s->result &&
			    streq(s->told_detail, s->detail);
		/* In order from the beginning, or just told to be made. */
		bool quiet = s->result == STEP_OK &&
			     (s->told_result == STEP_PENDING || s->told_result == STEP_CHANGED ||
				     s->told_result == STEP_OK);

		if (s->hidden || s->result == STEP_PENDING || same)
			continue;
		/* Made, and a moment later still made. */
		if (s->result == STEP_CHANGED && !s->changed_untold)
			quiet = true;
		s->changed_untold = false;
		s->told_result = s->result;
		STRSCPY(s->told_detail, s->detail);
		if (!quiet)
			return s;
	}
	return NULL;
}

const char *step_message(const struct step *s, char *buf, size_t size)
{
	const char *what = s->kind == STEP_LOAD_MODULE ? "module " : "link ";

	snprintf(buf, size, "%s%s: %s%s%s (found: %s, wanted: %s)%s%s", what, s->object,
		step_result_to_string(s->result), s->detail[0] ? ": " : "", s->detail,
		s->found[0] ? s->found : "?", s->wanted[0] ? s->wanted : "?",
		s->remedy[0] ? "; " : "", s->remedy);
	return buf;
}
