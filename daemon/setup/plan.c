/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <errno.h>

#include "plan-internal.h"

/* Between two attempts at one step, whatever happens: events may come in storms. */
#define TRY_GAP_USEC (1 * USEC_PER_SEC)

#define FAILED_RETRY_USEC     (5 * USEC_PER_SEC)
#define FAILED_RETRY_MAX_USEC (30 * USEC_PER_MINUTE)

/* A step that takes longer does not keep the next one waiting: firmware may be silent for a minute. */
#define HANGING_USEC (3 * USEC_PER_SEC)

/* Nor one that a driver reload is over. */
#define RIVAL_RECHECK_USEC (1 * USEC_PER_SEC)

/* No event tells that nobody uses a device any more. */
#define IN_USE_RETRY_USEC (10 * USEC_PER_SEC)

/* The helper is there again as soon as systemd is done with whatever it does. */
#define UNREACHABLE_RETRY_USEC     (1 * USEC_PER_SEC)
#define UNREACHABLE_RETRY_MAX_USEC (1 * USEC_PER_MINUTE)

void plan_done(struct plan *p)
{
	free(p->steps);
	setup_memory_done(&p->memory);
	*p = (struct plan){ 0 };
}

/* Of a setting of a device the object is but a name, and that may change. */
static bool is_of_request(const struct step *s, const struct setup_request *req)
{
	const struct setting *k = setting_get(s->kind);

	if (req->kind != (uint16_t)s->kind)
		return false;
	if (k && (k->of == SETTING_OF_DEVICE || k->of == SETTING_OF_PORT))
		return req->index == s->index && req->port == s->port;
	return streq(req->name, s->object);
}

static struct step *find_step(const struct plan *p, const struct setup_request *req)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (is_of_request(&p->steps[i], req))
			return &p->steps[i];
	return NULL;
}

static bool is_running(const struct plan *p, const struct step *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->runs); i++)
		if (p->runs[i].active && is_of_request(s, &p->runs[i].request))
			return true;
	return false;
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
		/* A module that this kernel does not have is a line in the log; others are owed. */
		s->has_condition = s->kind != STEP_LOAD_MODULE;
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

/* The latest of the running steps, NULL: none runs. */
static const struct plan_run *latest_run(const struct plan *p)
{
	const struct plan_run *latest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(p->runs); i++)
		if (p->runs[i].active && (!latest || p->runs[i].since > latest->since))
			latest = &p->runs[i];
	return latest;
}

static struct plan_run *free_run(struct plan *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->runs); i++)
		if (!p->runs[i].active)
			return &p->runs[i];
	return NULL;
}

/* Time alone makes this step due. */
static bool is_due(const struct step *s, usec_t now)
{
	return s->wants_look || (s->wanted_run && s->run.next_try <= now);
}

/*
 * What only root can read is in force, or not, as it was read last: the helper looks again, not more
 * often than anything else that no event tells of.
 */
static void plan_look(struct plan *p, struct step *s, const struct plan_input *in)
{
	const struct setting *k = setting_get(s->kind);
	usec_t due = usec_add(s->looked_at, in->config->slow_counter_usec);

	if (!k || !k->helper_reads || s->wanted_run || in->rival || !s->by_helper ||
		(s->result != STEP_OK && s->result != STEP_CHANGED && s->result != STEP_DRIFTED))
		return;
	s->wants_look = s->looked_at == 0 || due <= in->now;
	if (!s->wants_look)
		p->recheck = MIN(p->recheck, due);
}

static bool is_trouble(enum step_result r)
{
	return r == STEP_DRIFTED || r == STEP_BLOCKED || r == STEP_UNSUPPORTED || r == STEP_FAILED;
}

/*
 * Somebody else is at the drivers: what goes meanwhile was not undone by anybody, and nothing is begun.
 * before: what it was until now; trouble that there was stands. True when that is all there is to it.
 */
static bool stands_still(
	struct plan *p, struct step *s, enum step_result before, const struct plan_input *in)
{
	if (!in->rival || is_running(p, s) || s->result == STEP_OK ||
		(!s->wanted_run && (!is_trouble(s->result) || is_trouble(before))))
		return false;
	s->wanted_run = s->has_condition = false;
	s->result = STEP_WAITING;
	step_say(s->detail, "%s is at the drivers", in->rival);
	s->remedy[0] = '\0';
	p->recheck = MIN(p->recheck, usec_add(in->now, RIVAL_RECHECK_USEC));
	return true;
}

/* The facts say that the step should run: may it, and when? */
static void schedule(struct plan *p, struct step *s, const struct plan_input *in)
{
	if (in->config->setup_mode == SETUP_MODE_REPORT && !s->ordered) {
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

/* What was set on a device or netdev that is gone is set on the next one anew. */
static bool is_there(const struct memory_setting *s, void *user)
{
	const struct model *m = user;

	switch (setting_get(s->kind)->of) {
	case SETTING_OF_HOST:
		return true;
	case SETTING_OF_DEVICE:
	case SETTING_OF_PORT:
		return model_device_by_index(m, s->index) != NULL;
	case SETTING_OF_NETDEV:
	case SETTING_OF_PARENT:
		return model_netdev_by_index(m, s->index) != NULL;
	}
	return false;
}

/*
 * Its device has another name since a moment ago, which is not seen yet: by the old one it would be
 * taken for gone.
 */
static bool awaits_name(const struct step *steps, const struct step *of)
{
	const struct setting *k = setting_get(of->kind);

	if (!k || (k->of != SETTING_OF_DEVICE && k->of != SETTING_OF_PORT))
		return false;
	for (const struct step *s = steps; s < of; s++)
		if (s->kind == STEP_DEVICE_NAME && s->index == of->index)
			return s->made_at != 0;
	return false;
}

/* The MTU comes soon after its mode, or waits as long as that does. */
static void follow_mode(const struct step *steps, struct step *mtu)
{
	for (const struct step *s = steps; s < mtu; s++)
		if (s->kind == STEP_IPOIB_MODE && streq(s->object, mtu->object))
			mtu->result = s->result == STEP_OK || s->result == STEP_CHANGED
					      ? STEP_PENDING
					      : s->result;
	if (mtu->result != STEP_PENDING)
		mtu->result = STEP_WAITING;
}

int plan_update(struct plan *p, const struct plan_input *in)
{
	_cleanup_(freep) struct step *steps = NULL;
	const struct plan_run *latest = latest_run(p);
	size_t n;
	int r;

	r = plan_collect(p, in, &steps, &n);
	if (r < 0)
		return r;
	if (in->model->listed)
		setup_memory_prune_settings(&p->memory, is_there, (void *)in->model);
	p->recheck = USEC_INFINITY;
	for (size_t i = 0; i < n; i++) {
		struct step *s = &steps[i];
		enum step_result before = s->result;

		r = step_evaluate(s, &p->memory, in);
		if (r < 0)
			return r;
		if (stands_still(p, s, before, in)) {
			; /* it is said why */
		} else if (s->wanted_run && awaits_name(steps, s)) {
			s->wanted_run = false;
		} else if (s->wanted_run) {
			schedule(p, s, in);
		} else if (!is_running(p, s)) {
			forget_attempts(s);
			plan_look(p, s, in);
			/* Whether there is anything to do is not known before. */
			if (!s->wants_look && !in->reading && !s->settles_at)
				s->ordered = s->ordered_disruptive = false;
		}
		if (s->after_mode)
			follow_mode(steps, s);
		if (s->result == STEP_OK && s->changed_untold)
			s->result = STEP_CHANGED;
		if (s->settles_at)
			p->recheck = MIN(p->recheck, s->settles_at);
	}
	/* Then the next one may begin beside it. */
	if (latest && usec_add(latest->since, HANGING_USEC) > in->now)
		p->recheck = MIN(p->recheck, usec_add(latest->since, HANGING_USEC));
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
	const struct plan_run *latest = latest_run(p);

	/* In order, for later steps may need what earlier ones do. */
	if (!free_run(p) || (latest && now < usec_add(latest->since, HANGING_USEC)))
		return NULL;
	for (size_t i = 0; i < p->n_steps; i++)
		if (is_due(&p->steps[i], now) && !is_running(p, &p->steps[i]))
			return &p->steps[i];
	return NULL;
}

/* What the helper is to do for a step. */
static struct setup_request request_of(const struct step *s)
{
	struct setup_request req = setup_request_make(s->kind, s->object, s->link_type, s->netdev);

	if (!step_kind_is_setting(s->kind))
		return req;
	step_device_name(s, req.name);
	req.index = s->index;
	req.port = s->port;
	STRSCPY(req.value, s->interim[0] ? s->interim : s->value);
	if (s->ordered_disruptive)
		req.flags |= SETUP_DISRUPTIVE;
	if (s->wants_look)
		req.flags |= SETUP_LOOK;
	return req;
}

void plan_started(struct plan *p, struct step *s, usec_t now, struct setup_request *ret)
{
	struct plan_run *run = free_run(p); /* plan_next() has seen that there is one */

	*run = (struct plan_run){
		.active = true,
		.request = request_of(s),
		.ifindex = s->ifindex,
		.repairs = s->repairs,
		.looks = s->wants_look,
		.since = now,
	};
	run->request.id = ++p->last_id;
	*ret = run->request;
	if (s->wants_look) {
		s->wants_look = false;
		s->looked_at = MAX(now, (usec_t)1);
		return;
	}
	s->run.attempts++;
	s->run.last_try = now;
	s->run.next_try = USEC_INFINITY;
	s->run.fingerprint = s->fingerprint;
	if (s->run.result == STEP_PENDING)
		STRSCPY(s->detail, "running");
}

static usec_t backoff(usec_t now, usec_t first, usec_t max, unsigned attempts)
{
	usec_t span = first;

	for (unsigned i = 1; i < attempts && span < max; i++)
		span *= 2;
	return usec_add(now, MIN(span, max));
}

/* What keeps the host's modes busy stays: only a reboot, or who ordered it, tries those again. */
static bool is_of_host(const struct step *s)
{
	const struct setting *k = setting_get(s->kind);

	return k && k->of == SETTING_OF_HOST;
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
	} else if (answer->flags & SETUP_IN_USE) {
		run->next_try = usec_add(now, IN_USE_RETRY_USEC);
	} else if (run->result == STEP_FAILED || run->result == STEP_WAITING ||
		   (run->result == STEP_BLOCKED && answer->error == -EBUSY && !is_of_host(s))) {
		run->next_try =
			backoff(now, FAILED_RETRY_USEC, FAILED_RETRY_MAX_USEC, run->attempts);
	}
}

static int remember_link(
	struct plan *p, const struct plan_run *run, const struct setup_answer *answer)
{
	const struct memory_link *known = setup_memory_link(&p->memory, run->request.name);
	struct memory_link l = {
		.type = (enum link_type)run->request.link_type,
		.ifindex = answer->ifindex ? answer->ifindex : run->ifindex,
		.device_index = answer->device_index,
		.repairs = (known ? known->repairs : 0) + run->repairs,
	};

	STRSCPY(l.name, run->request.name);
	STRSCPY(l.netdev, run->request.netdev);
	return setup_memory_note_link(&p->memory, &l);
}

static int remember_setting(struct plan *p, const struct plan_run *run, const struct step *s)
{
	struct memory_setting e = step_memory(s);
	const struct memory_setting *known = setup_memory_setting(&p->memory, &e);

	e.repairs = (known ? known->repairs : 0) + run->repairs;
	return setup_memory_note_setting(&p->memory, &e);
}

/* What was done is remembered before anything else may happen. s may have gone since. */
static int remember(struct plan *p, const struct plan_run *run, const struct step *s,
	const struct setup_answer *answer)
{
	const char *name = run->request.name;
	int r = 0;

	if (run->request.kind == STEP_LOAD_MODULE)
		r = setup_memory_note_module(&p->memory, name,
			answer->module[0] ? answer->module : name, answer->flags & SETUP_BUILT_IN);
	else if (run->request.kind == STEP_ADD_LINK)
		r = remember_link(p, run, answer);
	else if (s)
		r = remember_setting(p, run, s);
	return r == -E2BIG ? 0 : r;
}

static void note_success(struct step *s, const struct setup_answer *answer, usec_t now)
{
	s->run = (struct step_run){
		.last_try = now,
		.next_try = usec_add(now, TRY_GAP_USEC),
	};
	s->wanted_run = s->has_condition = false;
	s->result = (enum step_result)answer->result;
	s->changed_untold = answer->result == STEP_CHANGED;
	STRSCPY(s->detail, answer->detail);
	STRSCPY(s->read_back, answer->value);
	s->looked_at = MAX(now, (usec_t)1);
	s->read_at = now;
	s->remedy[0] = '\0';
	if (s->kind != STEP_LOAD_MODULE)
		s->made_at = MAX(now, (usec_t)1);
	s->ordered = s->ordered_disruptive = false;
}

static struct plan_run *find_run(struct plan *p, uint64_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->runs); i++)
		if (p->runs[i].active && p->runs[i].request.id == id)
			return &p->runs[i];
	return NULL;
}

int plan_finished(struct plan *p, const struct setup_answer *answer, usec_t now)
{
	struct plan_run *run = find_run(p, answer->id);
	const struct setup_request *req = run ? &run->request : NULL;
	struct step *s = run ? find_step(p, req) : NULL;
	bool done = answer->result == STEP_OK || answer->result == STEP_CHANGED;
	bool own = s && s->link_type == (enum link_type)req->link_type &&
		   streq(s->netdev, req->netdev) && streq(s->value, req->value);
	int r = 0;

	if (!run)
		return 0;
	run->active = false;
	if (run->looks) {
		/* What cannot be read stays as it was, and is soon said to be old. */
		if (own && done && answer->value[0]) {
			STRSCPY(s->read_back, answer->value);
			s->read_at = now;
		}
		return 0;
	}
	if (done)
		r = remember(p, run, own ? s : NULL, answer);
	if (!s)
		return r;
	/* Its section has changed meanwhile, or it made way for another: on with its own value. */
	if (!own && (done || !streq(s->interim, req->value))) {
		s->run = (struct step_run){ .last_try = now };
		return r;
	}
	if (done) {
		note_success(s, answer, now);
		return r;
	}
	if (s->ordered) {
		STRSCPY(s->refused, answer->detail);
		STRSCPY(s->refused_remedy, answer->remedy);
	}
	s->ordered = s->ordered_disruptive = false;
	note_failure(s, answer, now);
	if (s->run.result != STEP_PENDING)
		show_attempt(s);
	else
		STRSCPY(s->detail, s->run.detail);
	p->recheck = MIN(p->recheck, s->run.next_try);
	return r;
}

usec_t plan_recheck(const struct plan *p)
{
	return p->recheck;
}

/* It was ordered, and has not come to an end. */
static bool is_awaited(const struct step *s)
{
	return s->ordered && (s->wants_look || s->wanted_run || s->settles_at);
}

bool plan_settled(const struct plan *p)
{
	if (latest_run(p))
		return false;
	for (size_t i = 0; i < p->n_steps; i++)
		if ((p->steps[i].result == STEP_PENDING && !p->steps[i].hidden) ||
			is_awaited(&p->steps[i]))
			return false;
	return true;
}

void plan_module_removed(struct plan *p, const char *module, usec_t now)
{
	for (enum link_type t = LINK_TYPE_NONE + 1; t < _LINK_TYPE_MAX; t++)
		if (module_name_equal(link_type_module(t), module))
			p->memory.unloaded[t] = now;
}

bool plan_awaits_pkey(const struct plan *p)
{
	for (size_t i = 0; i < p->n_steps; i++)
		if (p->steps[i].awaits_pkey)
			return true;
	return false;
}

void plan_retry(struct plan *p)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *s = &p->steps[i];

		s->looked_at = 0;
		if (is_running(p, s))
			continue;
		s->run.attempts = 0;
		s->run.next_try = MIN(s->run.next_try, usec_add(s->run.last_try, TRY_GAP_USEC));
	}
	for (size_t i = 0; i < p->memory.n_settings; i++) {
		p->memory.dirty |= p->memory.settings[i].repairs != 0;
		p->memory.settings[i].repairs = 0;
	}
	for (size_t i = 0; i < p->memory.n_links; i++) {
		if (p->memory.links[i].repairs == 0)
			continue;
		p->memory.links[i].repairs = 0;
		p->memory.dirty = true;
	}
}

/* How often it was repaired counts from 0. */
static void forget_repairs(struct setup_memory *m, const struct step *s)
{
	struct memory_link *l = s->kind == STEP_ADD_LINK ? setup_memory_link(m, s->object) : NULL;
	struct memory_setting key, *e = NULL;

	if (step_kind_is_setting(s->kind)) {
		key = step_memory(s);
		e = setup_memory_setting(m, &key);
	}
	m->dirty |= (e && e->repairs) || (l && l->repairs);
	if (e)
		e->repairs = 0;
	if (l)
		l->repairs = 0;
}

/* A device's ports are of it, too. */
static bool is_of_object(const struct step *s, const char *object)
{
	size_t n = strlen(object);

	return strncmp(s->object, object, n) == 0 && (!s->object[n] || s->object[n] == '/');
}

size_t plan_order(struct plan *p, const char *object, bool disruptive)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *s = &p->steps[i];

		if (object && !is_of_object(s, object))
			continue;
		n++;
		forget_repairs(&p->memory, s);
		if (is_running(p, s))
			continue;
		s->ordered = true;
		s->ordered_disruptive = disruptive;
		s->refused[0] = '\0';
		s->looked_at = 0;
		/* What came of the last attempt is shown until this one ends: it is not over. */
		s->run.attempts = 0;
		s->run.next_try = 0;
	}
	return n;
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
			.subject = s->subject,
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
	const struct setting *k = setting_get(s->kind);
	const char *what = k ? k->label : s->kind == STEP_LOAD_MODULE ? "module" : "link";

	snprintf(buf, size, "%s%s%s: %s%s%s (found: %s, wanted: %s)%s%s", k ? s->object : what,
		k ? ": " : " ", k ? what : s->object, step_result_to_string(s->result),
		s->detail[0] ? ": " : "", s->detail, s->found[0] ? s->found : "?",
		s->wanted[0] ? s->wanted : "?", s->remedy[0] ? "; " : "", s->remedy);
	return buf;
}
