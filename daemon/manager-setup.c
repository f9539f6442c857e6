/* SPDX-License-Identifier: MIT */
/*
 * The manager's side of setup: keeps the plan up to date with the model, sends steps to the setup
 * helper, keeps the memory of this boot in the runtime directory, and turns what is not in force
 * into conditions of the host.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <systemd/sd-id128.h>

#include "apply.h"
#include "log.h"
#include "look.h"
#include "macros.h"
#include "manager-internal.h"
#include "plan.h"

#define MEMORY_FILE     "setup-memory"
#define MEMORY_SIZE_MAX (1024 * 1024)
#define CONDITIONS_MAX  REASONS_MAX

struct manager_setup {
	struct plan plan;
	struct apply *apply;
	char boot_id[SD_ID128_STRING_MAX];
	struct setup_condition conditions[CONDITIONS_MAX];
	size_t n_conditions;
	struct setup_row *rows;
};

struct manager_setup *manager_setup_free(struct manager_setup *s)
{
	if (!s)
		return NULL;
	apply_free(s->apply);
	plan_done(&s->plan);
	free(s->rows);
	free(s);
	return NULL;
}

/* What the daemon before this one, in this boot, made or saw. No file is no memory. */
static void recall(struct manager *m)
{
	struct manager_setup *s = m->setup;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(closep) int fd = -1;
	char path[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/" MEMORY_FILE, m->options.runtime_dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		if (errno != ENOENT)
			log_warning("%s: %m; what was unloaded by hand may be loaded again", path);
		return;
	}
	text = malloc(MEMORY_SIZE_MAX + 1);
	if (!text)
		return;
	n = read(fd, text, MEMORY_SIZE_MAX);
	if (n < 0) {
		log_warning("%s: %m; what was unloaded by hand may be loaded again", path);
		return;
	}
	text[n] = '\0';
	setup_memory_parse(&s->plan.memory, text, s->boot_id);
}

static void remember(struct manager *m)
{
	struct manager_setup *s = m->setup;
	_cleanup_(freep) char *text = NULL;
	int r;

	r = setup_memory_format(&s->plan.memory, s->boot_id, &text);
	if (r >= 0)
		r = state_file_write(m->options.runtime_dir, MEMORY_FILE, text);
	if (r < 0) {
		log_warning("%s/" MEMORY_FILE " cannot be written: %s", m->options.runtime_dir,
			strerror(-r));
		s->plan.memory.dirty = true; /* the next plan tries again */
	}
}

static void collect_conditions(struct manager_setup *s)
{
	struct plan_condition c[CONDITIONS_MAX];

	s->n_conditions = plan_conditions(&s->plan, c, ARRAY_SIZE(c));
	for (size_t i = 0; i < s->n_conditions; i++)
		s->conditions[i] = (struct setup_condition){
			.id = c[i].id,
			.subject = c[i].subject,
			.found = c[i].found,
			.wanted = c[i].wanted,
			.remedy = c[i].remedy,
		};
}

static void collect_rows(struct manager *m)
{
	struct manager_setup *s = m->setup;
	struct setup_row *rows;
	size_t n = 0;

	rows = calloc(s->plan.n_steps + 1, sizeof(*rows));
	if (!rows)
		return;
	for (size_t i = 0; i < s->plan.n_steps; i++) {
		const struct step *step = &s->plan.steps[i];

		if (step->hidden)
			continue;
		rows[n++] = (struct setup_row){
			.step = step_kind_to_string(step->kind),
			.object = step->object,
			.found = step->found,
			.wanted = step->wanted,
			.detail = step->detail,
			.result = step->result,
		};
	}
	free(s->rows);
	s->rows = rows;
	m->context.setup = rows;
	m->context.n_setup = n;
}

/*
 * Steps that are conditions of the host are told as such; the rest gets a plain line, a notice where
 * somebody may want to know that it cannot be.
 */
static void log_news(struct manager_setup *s)
{
	char text[512];
	struct step *step;

	while ((step = plan_next_news(&s->plan)))
		if (!step->has_condition)
			log_write(step->result == STEP_UNSUPPORTED ? LOG_NOTICE : LOG_INFO, "%s",
				step_message(step, text, sizeof(text)));
}

void manager_setup_replan(struct manager *m)
{
	struct manager_setup *s = m->setup;
	struct timepoint now = manager_now(m);
	struct plan_input in = {
		.config = m->config,
		.model = &m->model,
		.module_state = look_module_state,
		.now = now.mono,
	};
	int r;

	r = plan_update(&s->plan, &in);
	if (r < 0) {
		log_error("setup cannot be planned: %s", strerror(-r));
		return;
	}
	apply_kick(s->apply, &s->plan, now.mono);
	log_news(s);
	collect_conditions(s);
	collect_rows(m);
	if (s->plan.memory.dirty)
		remember(m);
	manager_recheck_at(m, plan_recheck(&s->plan));
}

static void on_step_done(void *user, const struct setup_answer *answer)
{
	struct manager *m = user;
	int r;

	r = plan_finished(&m->setup->plan, answer, manager_now(m).mono);
	if (r < 0)
		log_error("setup: %s", strerror(-r));
	/* What was made is looked at before anything is said of it. */
	if (answer->kind == STEP_ADD_LINK)
		manager_request_listing(m);
	m->plan_dirty = true;
}

int manager_setup_new(struct manager *m)
{
	struct manager_setup *s = calloc(1, sizeof(*s));
	sd_id128_t boot;
	int r;

	if (!s)
		return -ENOMEM;
	m->setup = s;
	r = sd_id128_get_boot(&boot);
	if (r >= 0)
		sd_id128_to_string(boot, s->boot_id);
	r = apply_new(m->event, on_step_done, m, &s->apply);
	if (r < 0)
		return r;
	recall(m);
	return 0;
}

void manager_setup_reloaded(struct manager *m)
{
	plan_retry(&m->setup->plan);
}

bool manager_setup_settled(const struct manager *m)
{
	return plan_settled(&m->setup->plan);
}

const struct setup_condition *manager_setup_conditions(const struct manager *m, size_t *ret_n)
{
	*ret_n = m->setup->n_conditions;
	return m->setup->conditions;
}
