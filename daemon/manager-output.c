/* SPDX-License-Identifier: MIT */
/*
 * The host's verdict, and what is shown of the whole: D-Bus properties, STATUS= and the state file,
 * once per turn of the loop however much came in.
 */
#include <errno.h>

#include "log.h"
#include "macros.h"
#include "manager-internal.h"
#include "rules.h"

#define STATE_FILE_NAME "state.json"
#define STATE_INTERVAL  USEC_PER_SEC
/* How old the file may get beyond that while there is always something else to do. */
#define STATE_PATIENCE (2 * USEC_PER_SEC)
/* Who finds the bus too busy to ask reads the file, and must see that it is no dead one's. */
#define STATE_SIGN_INTERVAL (5 * USEC_PER_SEC)
/* What is told to the bus at a time: answers of workers and calls of clients come between. */
#define SHOW_SLICE (10 * USEC_PER_MSEC)
/* How long what changed waits for the loop to have nothing else to do. */
#define SHOW_PATIENCE (100 * USEC_PER_MSEC)

const struct publish_context *manager_context(void *user)
{
	struct manager *m = user;

	m->context.model = &m->model;
	m->context.config_generation = m->config_generation;
	m->context.inventory = manager_inventory_of(m);
	m->context.learning_persists = manager_inventory_persists(m);
	m->context.ready = m->ready;
	m->context.expects_anything = config_expects_anything(m->config);
	return &m->context;
}

/* What is wrong with the host itself, to be freed; NULL when memory is out. */
static struct setup_condition *host_conditions(struct manager *m, size_t *ret_n)
{
	struct setup_condition *conditions;
	const struct setup_condition *setup;
	size_t n;

	setup = manager_setup_conditions(m, &n);
	conditions = calloc(n + 1, sizeof(*conditions));
	if (!conditions)
		return NULL;
	if (n)
		memcpy(conditions, setup, n * sizeof(*conditions));
	if (m->list_silent)
		conditions[n++] = (struct setup_condition){
			.id = REASON_DEVICE_UNRESPONSIVE,
			.subject = "device list",
			.found = "no answer of the kernel to a listing of devices and interfaces",
			.wanted = "an answer within ProbeTimeoutSec=",
			.remedy = "a driver hangs and holds the kernel's lock: see journalctl -k",
		};
	*ret_n = n;
	return conditions;
}

void manager_judge_host(struct manager *m)
{
	_cleanup_(freep) struct setup_condition *conditions = NULL;
	struct timepoint now = manager_now(m);
	usec_t recheck = USEC_INFINITY;
	struct verdict old;
	size_t n;

	/* What setup comes to is of this run; what it came to before stands until then. */
	m->host_dirty = false;
	if (manager_recalling(m) || (manager_recalled(m) && !m->ready))
		return;
	conditions = host_conditions(m, &n);
	if (!conditions)
		return;
	if (judge_host(&m->model, m->config, conditions, n, now, &old, &recheck)) {
		host_edges_changed(&m->edges, &old, now);
		m->state_dirty = true;
	}
	recheck = MIN(recheck, host_edges_remind(&m->model, now));
	manager_recheck_at(m, recheck);
	m->edges.closing = NULL;
}

int manager_explain_host(struct manager *m)
{
	_cleanup_(freep) struct setup_condition *conditions = NULL;
	struct verdict now;
	size_t n;

	conditions = host_conditions(m, &n);
	if (!conditions)
		return -ENOMEM;
	now = m->model.verdict;
	judge_host(&m->model, m->config, conditions, n, manager_now(m), NULL, NULL);
	m->model.verdict = now; /* nobody was told of another */
	return 0;
}

/* The first reason of the worst object, for STATUS=. */
static void worst_reason(const struct manager *m, char *buf, size_t size)
{
	char object[OBJECT_NAME_MAX];

	buf[0] = '\0';
	for (const struct device *d = m->model.devices; d; d = d->next) {
		if (d->verdict.health != m->model.verdict.health)
			continue;
		for (size_t i = 0; i < d->n_ports; i++) {
			const struct port *p = &d->ports[i];

			if (p->verdict.health != d->verdict.health || !p->verdict.n_reasons)
				continue;
			snprintf(buf, size, ": %s %s", port_object(object, p),
				rule_get(p->verdict.reasons[0].id)->name);
			return;
		}
		if (d->verdict.n_reasons) {
			snprintf(buf, size, ": %s %s", d->facts.name,
				rule_get(d->verdict.reasons[0].id)->name);
			return;
		}
	}
	for (const struct missing *x = m->model.missing; x; x = x->next)
		if (x->verdict.health == m->model.verdict.health && x->verdict.n_reasons) {
			snprintf(buf, size, ": %s %s", x->name,
				rule_get(x->verdict.reasons[0].id)->name);
			return;
		}
	if (m->model.verdict.n_reasons)
		snprintf(buf, size, ": %s", rule_get(m->model.verdict.reasons[0].id)->name);
}

static void update_status(struct manager *m)
{
	unsigned devices = 0, ports = 0, counts[_HEALTH_MAX] = { 0 };
	char text[256], worst[128];
	int n;

	for (const struct device *d = m->model.devices; d; d = d->next) {
		devices++;
		for (size_t i = 0; i < d->n_ports; i++) {
			ports++;
			counts[d->ports[i].verdict.health]++;
		}
	}
	if (!devices && m->model.verdict.health == HEALTH_OK) {
		notify_status("no RDMA devices, none expected");
		return;
	}
	n = snprintf(text, sizeof(text), "%u device%s, %u port%s", devices, devices == 1 ? "" : "s",
		ports, ports == 1 ? "" : "s");
	for (int h = HEALTH_FAILED; h >= HEALTH_STARTING; h--)
		if (counts[h])
			n += snprintf(text + n, sizeof(text) - (size_t)n, ", %u %s", counts[h],
				health_to_string((enum health)h));
	if (m->model.verdict.health != HEALTH_OK) {
		worst_reason(m, worst, sizeof(worst));
		snprintf(text + n, sizeof(text) - (size_t)n, "; host %s%s",
			health_to_string(m->model.verdict.health), worst);
	} else {
		snprintf(text + n, sizeof(text) - (size_t)n, "; ok");
	}
	notify_status(text);
}

/* Writes the state file, at most once in STATE_INTERVAL, and in a storm when it is over. */
static void write_state(struct manager *m, bool idle)
{
	_cleanup_(freep) char *text = NULL;
	struct timepoint now = manager_now(m);
	usec_t due = usec_add(m->state_written, STATE_INTERVAL);
	int r;

	if (!m->state_wanted)
		m->state_wanted = now.mono;
	if (!idle)
		due = MAX(due, usec_add(m->state_wanted, STATE_PATIENCE));
	if (m->state_written && now.mono < due) {
		if (!timer_is_armed(m->state_timer))
			timer_in(m->state_timer, usec_sub(due, now.mono));
		return;
	}
	m->state_written = now.mono;
	m->state_wanted = 0;
	(void)manager_keep_save(m, ""); /* says itself what is wrong */
	r = describe_text(manager_context(m), now, EVENTS_MAX, DESCRIBE_PRETTY, &text);
	if (r >= 0)
		r = state_file_write(m->options.runtime_dir, STATE_FILE_NAME, text);
	if (r < 0 && r != m->state_error)
		log_warning("%s/" STATE_FILE_NAME " cannot be written: %s", m->options.runtime_dir,
			strerror(-r));
	m->state_error = r;
	m->state_held = now.mono;
}

void manager_sign_state(struct manager *m)
{
	usec_t now;

	/* One that could not be written, or is to be written, is not what is known. */
	if (!m->state_written || m->state_error < 0 || m->state_dirty || m->state_wanted)
		return;
	now = timepoint_now().mono;
	if (now < usec_add(m->state_held, STATE_SIGN_INTERVAL))
		return;
	m->state_held = now;
	(void)state_file_touch(m->options.runtime_dir, STATE_FILE_NAME);
}

static void show(struct manager *m, usec_t budget, bool idle)
{
	usec_t begin = timepoint_now().mono;

	sd_event_source_set_enabled(m->show_idle, SD_EVENT_OFF);
	sd_event_source_set_enabled(m->show_timer, SD_EVENT_OFF);
	/* What changes while a pass goes on needs one more. */
	if (!m->show_unfinished)
		m->state_dirty = false;
	m->show_unfinished = m->bus && bus_sync(m->bus, budget);
	update_status(m);
	write_state(m, idle && !m->show_unfinished); /* one that is due later has its timer */
	m->show_after = manager_pause_after(begin);
}

void manager_show_now(struct manager *m)
{
	m->state_written = 0;
	show(m, USEC_INFINITY, true);
}

static int on_idle(sd_event_source *source, void *user)
{
	(void)source;
	show(user, SHOW_SLICE, true);
	return 0;
}

static int on_show_timer(sd_event_source *source, uint64_t usec, void *user)
{
	(void)source;
	(void)usec;
	show(user, SHOW_SLICE, false);
	return 0;
}

void manager_show_soon(struct manager *m)
{
	usec_t now;

	if (timer_is_armed(m->show_timer))
		return;
	now = timepoint_now().mono;
	timer_in(m->show_timer, MAX(SHOW_PATIENCE, usec_sub(m->show_after, now)));
	sd_event_source_set_enabled(m->show_idle, SD_EVENT_ONESHOT);
}

int manager_open_show(struct manager *m)
{
	int r;

	r = sd_event_add_defer(m->event, &m->show_idle, on_idle, m);
	if (r < 0)
		return r;
	sd_event_source_set_description(m->show_idle, "show-idle");
	sd_event_source_set_enabled(m->show_idle, SD_EVENT_OFF);
	sd_event_source_set_priority(m->show_idle, SD_EVENT_PRIORITY_IDLE);
	return manager_add_timer(m, &m->show_timer, USEC_PER_MSEC, on_show_timer, m, "show");
}
