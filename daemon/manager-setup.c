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
#include "file.h"
#include "log.h"
#include "look.h"
#include "macros.h"
#include "manager-internal.h"
#include "plan.h"
#include "setting.h"

#define MEMORY_FILE "setup-memory"
/* All that setup_memory_format() may write: MEMORY_MAX entries of each kind. */
#define MEMORY_SIZE_MAX (3 * MEMORY_MAX * 512)
#define CONDITIONS_MAX  REASONS_MAX

struct manager_setup {
	struct plan plan;
	struct apply *apply;
	char boot_id[SD_ID128_STRING_MAX];
	struct setup_condition conditions[CONDITIONS_MAX];
	size_t n_conditions;
	struct setup_row *rows;
	size_t n_rows;
	char hostname[HOST_NAME_MAX + 1];
	int hostname_fd;
	sd_event_source *hostname_io;
	const char *rival_told; /* the last one */
	usec_t drivers_gone;    /* when a module that drivers need was unloaded last, 0 never */
	bool ordered;           /* somebody waits for what plan_order() began */
};

static void free_rows(struct manager_setup *s)
{
	for (size_t i = 0; i < s->n_rows; i++)
		free((char *)s->rows[i].call);
	free(s->rows);
	s->rows = NULL;
	s->n_rows = 0;
}

struct manager_setup *manager_setup_free(struct manager_setup *s)
{
	if (!s)
		return NULL;
	apply_free(s->apply);
	plan_done(&s->plan);
	free_rows(s);
	sd_event_source_disable_unref(s->hostname_io);
	safe_close(s->hostname_fd);
	free(s);
	return NULL;
}

/* What the daemon before this one, in this boot, made or saw. No file is no memory. */
static void recall(struct manager *m)
{
	struct manager_setup *s = m->setup;
	_cleanup_(freep) char *text = NULL;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/" MEMORY_FILE, m->options.runtime_dir);
	r = file_read(path, O_NOFOLLOW, MEMORY_SIZE_MAX, &text, NULL);
	if (r >= 0)
		setup_memory_parse(&s->plan.memory, text, s->boot_id);
	else if (r != -ENOENT)
		log_warning("%s: %s; what was unloaded by hand may be loaded again", path,
			strerror(-r));
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

/* Nothing is to be done for it. */
static bool is_in_force(const struct step *s)
{
	return s->result == STEP_OK || s->result == STEP_CHANGED;
}

/* How bad what a step ended as is for its device. */
static unsigned badness(enum step_result r)
{
	static const unsigned table[_STEP_RESULT_MAX] = {
		[STEP_PENDING] = 1,
		[STEP_WAITING] = 2,
		[STEP_DRIFTED] = 3,
		[STEP_UNSUPPORTED] = 4,
		[STEP_BLOCKED] = 5,
		[STEP_FAILED] = 6,
	};

	return table[r];
}

static struct device *device_of_step(struct manager *m, const struct step *s)
{
	const struct setting *k = setting_get(s->kind);

	if (s->kind == STEP_ADD_LINK)
		return model_device_by_name(&m->model, s->object);
	return k && (k->of == SETTING_OF_DEVICE || k->of == SETTING_OF_PORT)
		       ? model_device_by_index(&m->model, s->index)
		       : NULL;
}

/* Each device's own summary of the plan. */
static void tell_devices(struct manager *m)
{
	struct plan *p = &m->setup->plan;

	for (struct device *d = m->model.devices; d; d = d->next)
		d->have_setup_result = false;
	for (size_t i = 0; i < p->n_steps; i++) {
		struct device *d = device_of_step(m, &p->steps[i]);
		/* That something was changed just now is news, not a state. */
		enum step_result r =
			p->steps[i].result == STEP_CHANGED ? STEP_OK : p->steps[i].result;

		if (!d || p->steps[i].hidden ||
			(d->have_setup_result && badness(d->setup_result) >= badness(r)))
			continue;
		d->have_setup_result = true;
		d->setup_result = r;
	}
}

static void collect_rows(struct manager *m)
{
	struct manager_setup *s = m->setup;
	char command[STEP_COMMAND_MAX];

	free_rows(s);
	m->context.n_setup = 0;
	s->rows = calloc(s->plan.n_steps + 1, sizeof(*s->rows));
	if (!s->rows)
		return;
	for (size_t i = 0; i < s->plan.n_steps; i++) {
		const struct step *step = &s->plan.steps[i];

		if (step->hidden)
			continue;
		s->rows[s->n_rows++] = (struct setup_row){
			.step = step_kind_to_string(step->kind),
			.object = step->object,
			.found = step->found,
			.wanted = step->wanted,
			.detail = step->detail,
			.remedy = step->remedy,
			.result = step->result,
			.disruptive = step->disruptive,
			.call = is_in_force(step) ? NULL : strdup(step_command(step, command)),
		};
	}
	m->context.setup = s->rows;
	m->context.n_setup = s->n_rows;
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

/* A driver container may end without a word: after that time it is not waited for any more. */
#define DRIVERS_USEC (2 * USEC_PER_MINUTE)

/* Two that set up the same devices: said once, for it says itself by the plan when it is over. */
static const char *notice_rival(struct manager_setup *s, usec_t now)
{
	static const char container[] = "a driver container (/run/mellanox/drivers)";
	const char *rival = look_rival(NULL);

	if (!rival && s->drivers_gone && usec_sub(now, s->drivers_gone) < DRIVERS_USEC &&
		look_driver_container(NULL))
		rival = container;
	if (rival && rival != s->rival_told)
		log_warning("%s and rdmad.service both set up the RDMA devices of this host: rdmad "
			    "stands still while the former runs",
			rival);
	if (rival)
		s->rival_told = rival;
	return rival;
}

/* What somebody changed a moment ago is not known before it is read; who hangs is not waited for. */
static bool is_reading(const struct manager *m)
{
	if (m->listing)
		return true;
	for (struct device *d = m->model.devices; d; d = d->next)
		if ((device_watch(d)->settings.in_flight || device_watch(d)->settings.again) &&
			d->probe_state != PROBE_SILENT && !d->slow_since.mono &&
			!d->release.until.mono)
			return true;
	return false;
}

void manager_setup_read(struct manager *m)
{
	m->plan_dirty |= m->setup->ordered;
}

void manager_setup_replan(struct manager *m)
{
	struct manager_setup *s = m->setup;
	struct timepoint now = manager_now(m);
	struct plan_input in = {
		.config = m->config,
		.model = &m->model,
		.module_state = look_module_state,
		.hostname = s->hostname,
		.rival = notice_rival(s, now.mono),
		.reading = s->ordered && is_reading(m),
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
	tell_devices(m);
	if (s->plan.memory.dirty)
		remember(m);
	manager_recheck_at(m, plan_recheck(&s->plan));
	if (s->ordered && !in.reading && plan_settled(&s->plan)) {
		s->ordered = false;
		manager_show_now(m); /* what came of it is there before the answer */
		bus_applied(m->bus);
	}
}

/* Whether it is anything that setup could be of: in the plan, or here without a setting. */
static bool is_known(const struct manager *m, const char *object)
{
	const struct plan *p = &m->setup->plan;

	for (size_t i = 0; i < p->n_steps; i++)
		if (streq(p->steps[i].object, object))
			return true;
	return model_device_by_name(&m->model, object) || model_port_by_object(&m->model, object) ||
	       model_netdev_by_name(&m->model, object);
}

/* object NULL: all of it. */
static void order(struct manager *m, const char *object, bool disruptive, uint32_t uid)
{
	char message[256], by[CALLER_MAX];
	const struct admin_record a = {
		.action = "apply",
		.object = object ? object : "host",
		.by = manager_caller(uid, by),
		.message = message,
	};

	snprintf(message, sizeof(message), "%s%ssetup ordered%s by %s", object ? object : "",
		object ? ": " : "", disruptive ? ", also where it disturbs traffic," : "", by);
	manager_tell_admin(m, &a);
	plan_order(&m->setup->plan, object, disruptive);
}

int manager_apply(
	void *user, char *const *objects, bool disruptive, uint32_t uid, char *why, size_t why_size)
{
	struct manager *m = user;

	if (m->config->setup_mode == SETUP_MODE_OFF) {
		snprintf(why, why_size, "[Setup] Mode=off: nothing is set up by rdmad");
		return -EPERM;
	}
	/* All of them or none. */
	for (char *const *o = objects; o && *o; o++)
		if (!is_known(m, *o)) {
			snprintf(why, why_size,
				"%s: there is no such object, and nothing is configured for it",
				*o);
			return -ENODEV;
		}
	if (!objects)
		order(m, NULL, disruptive, uid);
	for (char *const *o = objects; o && *o; o++)
		order(m, *o, disruptive, uid);
	for (struct device *d = m->model.devices; d; d = d->next)
		device_ask_settings(m, d);
	manager_request_listing(m);
	m->setup->ordered = true;
	m->plan_dirty = true;
	return 0;
}

/* What was set is read again before anything is said of it. */
static void look_again(
	struct manager *m, const struct setup_request *req, const struct setup_answer *answer)
{
	const struct setting *k = setting_get((enum step_kind)answer->kind);
	struct device *d;

	if (answer->kind == STEP_ADD_LINK || (k && k->of == SETTING_OF_HOST) ||
		answer->kind == STEP_DEVICE_NAME || answer->kind == STEP_ADD_IPOIB)
		manager_request_listing(m);
	if (!k || (k->of != SETTING_OF_DEVICE && k->of != SETTING_OF_PORT))
		return;
	d = model_device_by_index(&m->model, req->index);
	if (d)
		device_ask_settings(m, d);
}

static void on_step_done(
	void *user, const struct setup_request *req, const struct setup_answer *answer)
{
	struct manager *m = user;
	int r;

	r = plan_finished(&m->setup->plan, answer, manager_now(m).mono);
	if (r < 0)
		log_error("setup: %s", strerror(-r));
	look_again(m, req, answer);
	m->plan_dirty = true;
}

/* Node descriptions say the host's name. */
static void read_hostname(struct manager_setup *s)
{
	if (gethostname(s->hostname, sizeof(s->hostname) - 1) < 0)
		STRSCPY(s->hostname, "localhost");
}

static int on_hostname(sd_event_source *source, int fd, uint32_t revents, void *user)
{
	struct manager *m = user;
	char buf[8];

	/* Only a read from the beginning takes the wake-up (fs/proc/proc_sysctl.c). */
	(void)source;
	(void)revents;
	if (pread(fd, buf, sizeof(buf), 0) < 0)
		log_debug("/proc/sys/kernel/hostname: %m");
	read_hostname(m->setup);
	m->plan_dirty = true;
	return 0;
}

static int watch_hostname(struct manager *m)
{
	struct manager_setup *s = m->setup;

	read_hostname(s);
	s->hostname_fd = open("/proc/sys/kernel/hostname", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (s->hostname_fd < 0) {
		log_notice("/proc/sys/kernel/hostname: %m; node descriptions follow the host's "
			   "name only at the next start");
		return 0;
	}
	/* It is told by POLLERR, which needs no asking for. */
	return sd_event_add_io(m->event, &s->hostname_io, s->hostname_fd, 0, on_hostname, m);
}

int manager_setup_new(struct manager *m)
{
	struct manager_setup *s = calloc(1, sizeof(*s));
	sd_id128_t boot;
	int r;

	if (!s)
		return -ENOMEM;
	m->setup = s;
	s->hostname_fd = -1;
	r = watch_hostname(m);
	if (r < 0)
		return r;
	r = sd_id128_get_boot(&boot);
	if (r >= 0)
		sd_id128_to_string(boot, s->boot_id);
	r = apply_new(m->event, on_step_done, m, &s->apply);
	if (r < 0)
		return r;
	recall(m);
	return 0;
}

void manager_setup_module_removed(struct manager *m, const char *module)
{
	plan_module_removed(&m->setup->plan, module, manager_now(m).mono);
	if (look_is_driver(module))
		m->setup->drivers_gone = manager_now(m).mono;
}

void manager_setup_reloaded(struct manager *m)
{
	plan_retry(&m->setup->plan);
}

bool manager_setup_awaits_pkey(const struct manager *m)
{
	return plan_awaits_pkey(&m->setup->plan);
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
