/* SPDX-License-Identifier: MIT */
/* Life of the daemon: timers, readiness, reload; manager-internal.h says what is where. */
#include "manager.h"

#include <errno.h>
#include <signal.h>

#include "absence.h"
#include "keep.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"

/* A worker is busy for a moment, or hangs: the first wait, and the longest. */
#define RETRY_FIRST (50 * USEC_PER_MSEC)
#define RETRY_LAST  (500 * USEC_PER_MSEC)

#define PAUSE_MAX (250 * USEC_PER_MSEC)

struct timepoint manager_now(struct manager *m)
{
	uint64_t mono = 0, real = 0;

	sd_event_now(m->event, CLOCK_BOOTTIME, &mono);
	sd_event_now(m->event, CLOCK_REALTIME, &real);
	return (struct timepoint){ .mono = mono, .real = real };
}

/* How long links, switches and subnet managers may take after the host has slept. */
#define RESUME_SETTLE (120 * USEC_PER_SEC)

static usec_t slept_until_now(struct manager *m)
{
	uint64_t boot = 0, mono = 0;

	sd_event_now(m->event, CLOCK_BOOTTIME, &boot);
	sd_event_now(m->event, CLOCK_MONOTONIC, &mono);
	return usec_sub(boot, mono);
}

void manager_notice_resume(struct manager *m)
{
	usec_t slept = slept_until_now(m), now;
	char span[TIMESPAN_MAX];

	/* The two clocks are not read at the same moment. */
	if (slept <= usec_add(m->slept, USEC_PER_SEC))
		return;
	log_notice("the host has slept for %s: links may take a while to come back",
		timespan_format(span, sizeof(span), usec_sub(slept, m->slept)));
	m->slept = slept;
	now = manager_now(m).mono;
	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			d->ports[i].settle_until = usec_add(now, RESUME_SETTLE);
			port_excuse_down(&d->ports[i], now, usec_add(now, RESUME_SETTLE));
		}
	manager_request_listing(m);
}

void timer_in(sd_event_source *timer, usec_t delay)
{
	sd_event_source_set_time_relative(timer, delay);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

bool timer_is_armed(sd_event_source *timer)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(timer, &enabled);
	return enabled != SD_EVENT_OFF;
}

usec_t manager_pause_after(usec_t begin)
{
	usec_t end = timepoint_now().mono;

	return usec_add(end, MIN(PAUSE_MAX, 4 * usec_sub(end, begin)));
}

void manager_retry_at(struct manager *m, usec_t mono)
{
	if (timer_is_armed(m->retry_timer) && m->retry_at <= mono)
		return;
	m->retry_at = mono;
	sd_event_source_set_time(m->retry_timer, mono);
	sd_event_source_set_enabled(m->retry_timer, SD_EVENT_ONESHOT);
}

void manager_retry_soon(struct manager *m)
{
	m->found_busy = true;
	manager_retry_at(m,
		usec_add(manager_now(m).mono, usec_backoff(RETRY_FIRST, RETRY_LAST, m->n_retries)));
}

void manager_recheck_at(struct manager *m, usec_t mono)
{
	if (mono == USEC_INFINITY)
		return;
	if (timer_is_armed(m->recheck_timer) && m->recheck_at <= mono)
		return;
	m->recheck_at = mono;
	sd_event_source_set_time(m->recheck_timer, mono);
	sd_event_source_set_enabled(m->recheck_timer, SD_EVENT_ONESHOT);
}

/* ---- timers ---- */

static int on_probe_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)usec;
	manager_notice_resume(m);
	manager_request_listing(m);
	for (struct device *d = m->model.devices; d; d = d->next)
		device_ask_ports(m, d);
	timer_in(source, m->config->probe_usec);
	return 0;
}

static int on_counter_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)usec;
	for (struct device *d = m->model.devices; d; d = d->next)
		device_ask_counters(m, d, COUNTER_HW);
	timer_in(source, m->config->counter_usec);
	return 0;
}

static int on_slow_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)usec;
	for (struct device *d = m->model.devices; d; d = d->next)
		device_ask_slow(m, d);
	timer_in(source, m->config->slow_counter_usec);
	return 0;
}

static int on_recheck_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)source;
	(void)usec;
	m->recheck_at = USEC_INFINITY;
	manager_end_releases(m);
	manager_judge_all(m);
	manager_tell_pending(m);
	m->plan_dirty = true;
	return 0;
}

static int on_retry_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)source;
	(void)usec;
	m->found_busy = false;
	m->n_retries++;
	if (m->list_again && !m->listing)
		manager_request_listing(m);
	for (struct device *d = m->model.devices; d; d = d->next) {
		for (size_t i = 0; i < d->n_ports; i++)
			if (d->ports[i].ask_again && !d->ports[i].asked_at.mono)
				port_ask(m, &d->ports[i]);
		device_retry_facts(m, d);
	}
	if (!m->found_busy)
		m->n_retries = 0;
	return 0;
}

static int on_plan_timer(sd_event_source *source, uint64_t usec, void *user)
{
	(void)source;
	(void)usec;
	(void)user; /* what this is for is done at the end of the turn */
	return 0;
}

static int on_state_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)source;
	(void)usec;
	m->state_dirty = true;
	return 0;
}

/* ---- once per turn of the loop ---- */

static bool ports_unread(const struct manager *m)
{
	for (const struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			if (d->ports[i].asked_at.mono &&
				(!d->ports[i].have_facts || d->ports[i].recalled))
				return true;
	return false;
}

static void become_ready(struct manager *m)
{
	m->ready = true;
	if (manager_recalled(m))
		manager_judge_host(m); /* which waited for setup */
	m->budget_timer = sd_event_source_disable_unref(m->budget_timer);
	/* Who was waiting for READY may have no bus: the state file must not be from before. */
	manager_show_now(m);
	notify_ready();
}

static int on_budget_timer(sd_event_source *source, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)source;
	(void)usec;
	if (!m->ready) {
		log_info("ready before everything is done (StartBudgetSec=): see rdmactl status");
		become_ready(m);
	}
	return 0;
}

static void plan_when_due(struct manager *m)
{
	usec_t begin = timepoint_now().mono;

	if (begin < m->plan_after) {
		if (!timer_is_armed(m->plan_timer))
			timer_in(m->plan_timer, m->plan_after - begin);
		return;
	}
	m->plan_dirty = false;
	manager_setup_replan(m);
	m->host_dirty = m->state_dirty = true;
	m->plan_after = manager_pause_after(begin);
}

/* After each dispatch: what is dirty is planned, judged and shown, once however much came in. */
static int on_post(sd_event_source *source, void *user)
{
	struct manager *m = user;

	(void)source;
	manager_keep_step(m);
	if (m->plan_dirty && m->model.listed)
		plan_when_due(m);
	if (m->host_dirty)
		manager_judge_host(m);
	if (m->state_dirty || m->show_unfinished)
		manager_show_soon(m);
	if (!m->ready && m->model.listed && !m->listing && !ports_unread(m) && !m->plan_dirty &&
		!manager_recalling(m) && manager_setup_settled(m))
		become_ready(m);
	manager_sign_state(m);
	return 0;
}

/* ---- configuration ---- */

static void arm_periods(struct manager *m)
{
	timer_in(m->probe_timer, m->config->probe_usec);
	timer_in(m->counter_timer, m->config->counter_usec);
	timer_in(m->slow_timer, m->config->slow_counter_usec);
}

/* What came of an order to load the configuration. */
static void tell_config(struct manager *m, const char *why)
{
	struct event e = { .when = manager_now(m), .object = "host", .reason = "config" };
	const struct config_record c = {
		.loaded = !why,
		.generation = m->config_generation,
		.why = why,
		.message = e.message,
	};

	if (why)
		snprintf(e.message, sizeof(e.message),
			"configuration not loaded, the old one stays in force: %s", why);
	else
		STRSCPY(e.message, "configuration loaded");
	journal_config(&c);
	model_add_event(&m->model, &e);
	m->state_dirty = true;
}

int manager_reload(struct manager *m, char *why, size_t why_size)
{
	_cleanup_(config_freep) struct config *c = NULL;
	int r;

	notify_reloading();
	r = config_load(m->options.config_root, &c);
	if (r < 0) {
		snprintf(why, why_size, "the configuration cannot be read: %s", strerror(-r));
	} else if (c->n_problems) {
		r = -EINVAL;
		config_problem_format(&c->problems[0], why, why_size);
		if (c->n_problems > 1) {
			size_t n = strlen(why);

			snprintf(why + n, why_size - n, " (and %zu more)", c->n_problems - 1);
		}
	}
	if (r < 0) {
		tell_config(m, why);
		notify_ready();
		return r;
	}
	config_free(m->config);
	m->config = TAKE_PTR(c);
	m->config_generation++;
	pool_set_timeout(m->pool, m->config->probe_timeout_usec);
	tell_config(m, NULL);
	manager_reconsider_missing(m, "no longer expected: configuration changed");
	absence_expect_configured(&m->model, m->config, manager_now(m));
	manager_inventory_look(m);
	manager_request_listing(m); /* what is set for the whole host is read again, too */
	for (struct device *d = m->model.devices; d; d = d->next) {
		device_rewatch(m, d);
		device_ask_facts(m, d);
	}
	arm_periods(m);
	m->edges.closing = "no longer expected: configuration changed";
	manager_judge_all(m); /* and the host, at the end of this turn of the loop */
	manager_setup_reloaded(m);
	m->plan_dirty = m->host_dirty = m->state_dirty = true;
	notify_ready();
	return 0;
}

/* Who asked for it is told before what comes of it. */
static void tell_reload(struct manager *m, uint32_t uid)
{
	char message[128], by[CALLER_MAX];
	const struct admin_record a = {
		.action = "reload",
		.object = "host",
		.by = manager_caller(uid, by),
		.message = message,
	};

	/* By the unit's ExecReload=: who called systemctl it does not say. */
	snprintf(message, sizeof(message), "reload of the configuration asked for by %s",
		uid != 0 && uid == getuid() ? "systemctl" : by);
	manager_tell_admin(m, &a);
}

static int bus_reload(void *user, uint32_t uid, char *why, size_t why_size)
{
	tell_reload(user, uid);
	return manager_reload(user, why, why_size);
}

static int on_sighup(sd_event_source *source, const struct signalfd_siginfo *si, void *user)
{
	char why[512];

	(void)source;
	tell_reload(user, si->ssi_uid);
	manager_reload(user, why, sizeof(why)); /* says itself what is wrong */
	return 0;
}

static void log_problems(const struct config *c)
{
	char text[512];

	for (size_t i = 0; i < c->n_problems; i++)
		log_warning(
			"%s: left out", config_problem_format(&c->problems[i], text, sizeof(text)));
}

/* ---- life ---- */

int manager_add_timer(struct manager *m, sd_event_source **ret, usec_t accuracy,
	sd_event_time_handler_t handler, void *user, const char *name)
{
	int r;

	/* BOOTTIME: conditions age while the host sleeps. */
	r = sd_event_add_time(
		m->event, ret, CLOCK_BOOTTIME, USEC_INFINITY, accuracy, handler, user);
	if (r < 0)
		return r;
	sd_event_source_set_description(*ret, name);
	return sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

static int open_timers(struct manager *m)
{
	const struct {
		sd_event_source **source;
		usec_t accuracy;
		sd_event_time_handler_t handler;
		const char *name;
	} timers[] = {
		{ &m->probe_timer, USEC_PER_SEC, on_probe_timer, "probe" },
		{ &m->counter_timer, USEC_PER_SEC, on_counter_timer, "counters" },
		{ &m->slow_timer, USEC_PER_SEC, on_slow_timer, "slow" },
		{ &m->recheck_timer, 10 * USEC_PER_MSEC, on_recheck_timer, "recheck" },
		{ &m->retry_timer, 10 * USEC_PER_MSEC, on_retry_timer, "retry" },
		{ &m->plan_timer, USEC_PER_MSEC, on_plan_timer, "plan" },
		{ &m->state_timer, 50 * USEC_PER_MSEC, on_state_timer, "state" },
		{ &m->budget_timer, 50 * USEC_PER_MSEC, on_budget_timer, "budget" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(timers); i++) {
		int r = manager_add_timer(m, timers[i].source, timers[i].accuracy,
			timers[i].handler, m, timers[i].name);

		if (r < 0)
			return r;
	}
	return manager_open_show(m);
}

static int open_pool(struct manager *m)
{
	static const struct pool_callbacks callbacks = {
		.device = on_pool_device,
		.netdev = on_pool_netdev,
		.address = on_pool_address,
		.elsewhere = on_pool_elsewhere,
		.system = on_pool_system,
		.listed = on_pool_listed,
		.port = on_pool_port,
		.details = on_pool_details,
		.gid = on_pool_gid,
		.pkeys = on_pool_pkeys,
		.tables = on_pool_tables,
		.counter_name = on_pool_counter_name,
		.counter_values = on_pool_counter_values,
		.counters = on_pool_counters,
		.qos = on_pool_qos,
		.settings = on_pool_settings,
		.devlink = on_pool_devlink,
		.link = on_pool_link,
		.vf_policy = on_pool_vf_policy,
		.rdma_switch = on_pool_switch,
		.watched = on_pool_watched,
		.event = on_pool_event,
		.silence = on_pool_silence,
		.slow = on_pool_slow,
		.lost = on_pool_lost,
	};
	int r;

	r = pool_new(m->event, m->options.worker_path, &callbacks, m, &m->pool);
	if (r < 0)
		return r;
	pool_set_timeout(m->pool, m->config->probe_timeout_usec);
	return 0;
}

struct manager *manager_free(struct manager *m)
{
	if (!m)
		return NULL;
	if (m->keep)
		manager_keep_save(m, m->ending);
	journal_done();
	sd_event_source_disable_unref(m->post);
	sd_event_source_disable_unref(m->sighup);
	sd_event_source_disable_unref(m->uevent_io);
	sd_event_source_disable_unref(m->netdev_io);
	sd_event_source_disable_unref(m->rdma_io);
	sd_event_source_disable_unref(m->probe_timer);
	sd_event_source_disable_unref(m->counter_timer);
	sd_event_source_disable_unref(m->slow_timer);
	sd_event_source_disable_unref(m->recheck_timer);
	sd_event_source_disable_unref(m->retry_timer);
	sd_event_source_disable_unref(m->show_idle);
	sd_event_source_disable_unref(m->show_timer);
	sd_event_source_disable_unref(m->plan_timer);
	sd_event_source_disable_unref(m->state_timer);
	sd_event_source_disable_unref(m->budget_timer);
	manager_setup_free(m->setup);
	manager_inventory_free(m->inventory);
	manager_restart_free(m->restart);
	manager_keep_free(m->keep);
	bus_free(m->bus);
	pool_free(m->pool);
	uevent_monitor_close(m->uevents);
	netdev_monitor_close(m->netdevs);
	rdma_monitor_close(m->rdma);
	for (struct device *d = m->model.devices; d; d = d->next)
		device_detach(d);
	model_done(&m->model);
	config_free(m->config);
	sd_event_unref(m->event);
	free(m);
	return NULL;
}

static void on_record(void *user, const struct journal_field *fields, size_t n)
{
	bus_event(user, fields, n);
}

int manager_new(sd_event *event, const struct manager_options *o, struct manager **ret)
{
	static const struct bus_callbacks bus_callbacks = {
		.reload = bus_reload,
		.release = manager_release,
		.save_baseline = manager_save_baseline,
		.drop_baseline = manager_drop_baseline,
		.acknowledge = manager_acknowledge,
		.apply = manager_apply,
		.restart = manager_restart,
		.explain = manager_explain,
		.context = manager_context,
	};
	struct manager *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->event = sd_event_ref(event);
	m->options = *o;
	m->recheck_at = USEC_INFINITY;
	m->ending = KEEP_WHY_STOP;
	m->model.verdict.health = HEALTH_STARTING;
	m->model.system = system_facts_unknown();
	m->edges.model = &m->model;
	r = config_load(o->config_root, &m->config);
	if (r < 0) {
		log_error("the configuration cannot be read: %s", strerror(-r));
		goto fail;
	}
	m->model.watched_since = timepoint_now();
	m->slept = slept_until_now(m);
	m->config_generation = 1;
	log_problems(m->config);
	journal_attach(event);
	r = open_timers(m);
	if (r < 0)
		goto fail;
	r = manager_open_events(m);
	if (r < 0)
		goto fail;
	r = open_pool(m);
	if (r < 0)
		goto fail;
	r = manager_keep_new(m);
	if (r < 0)
		goto fail;
	r = manager_setup_new(m);
	if (r < 0)
		goto fail;
	r = manager_inventory_new(m);
	if (r < 0)
		goto fail;
	r = bus_new(event, &bus_callbacks, m, &m->bus);
	if (r < 0)
		log_warning("cannot be on D-Bus: %s", strerror(-r)); /* the rest goes on */
	else
		journal_listen(on_record, m->bus);
	m->edges.bus = m->bus;
	r = sd_event_add_signal(event, &m->sighup, SIGHUP, on_sighup, m);
	if (r < 0)
		goto fail;
	r = sd_event_add_post(event, &m->post, on_post, m);
	if (r < 0)
		goto fail;
	*ret = m;
	return 0;
fail:
	manager_free(m);
	return r;
}

int manager_start(struct manager *m)
{
	timer_in(m->budget_timer, m->config->start_budget_usec);
	arm_periods(m);
	m->host_dirty = m->state_dirty = true;
	/* Everything is listened to by now: nothing that happens from here on is missed. */
	manager_request_listing(m);
	return 0;
}
