/* SPDX-License-Identifier: MIT */
/*
 * What one run of rdmad hands on to the next one in this boot. The model is taken over as it was, as
 * if nothing but time had passed; then everything is listed and read, and only after that is anything
 * judged. So what still stands goes on standing, silently, what is over gets its record, and what
 * happened meanwhile is found like any event that was lost: by compare, and by the counts of carrier
 * and link_downed.
 */
#include "kept-files.h"

#include <errno.h>

#include "build-config.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"

/* Counters change all the time and are many. */
#define COUNTERS_INTERVAL (30 * USEC_PER_SEC)
/* Nobody waits longer for a device that does not answer. */
#define RECALL_PATIENCE (3 * USEC_PER_SEC)

struct manager_keep {
	struct picture_origin origin;
	struct keep from; /* the run before this one; its model is ours now */
	bool recalled;
	bool recalling; /* nothing is judged yet */
	usec_t deadline;
	usec_t counters_saved;
	int state_error, counters_error; /* said once per kind */
	sd_event_source *timer;
};

/* ---- files ---- */

static const struct port_edges *edges_of(const struct port *p)
{
	return p->user ? &port_watch(p)->edges : NULL;
}

static int save_state(struct manager *m, const char *why)
{
	struct keep_origin o = kept_origin(&m->keep->origin);
	struct keep k = { .saved = timepoint_now(), .slept = m->slept, .model = &m->model };
	_cleanup_(freep) char *text = NULL;
	int r;

	STRSCPY(k.version, RDMAD_VERSION);
	STRSCPY(k.why, why);
	r = keep_format(&k, &o, edges_of, &text);
	return r < 0 ? r : state_file_write(m->options.runtime_dir, STATE_NAME, text);
}

static int save_counters(struct manager *m)
{
	struct keep_origin o = kept_origin(&m->keep->origin);
	_cleanup_(freep) char *text = NULL;
	int r;

	r = keep_counters_format(&m->model, &o, timepoint_now(), &text);
	return r < 0 ? r : state_file_write(m->options.runtime_dir, COUNTERS_NAME, text);
}

static void tell_unwritten(const struct manager *m, const char *name, int r, int *said)
{
	if (r < 0 && r != *said)
		log_warning("%s/%s cannot be written: %s; a restart would begin anew",
			m->options.runtime_dir, name, strerror(-r));
	*said = r;
}

int manager_keep_save(struct manager *m, const char *why)
{
	struct manager_keep *k = m->keep;
	usec_t now = manager_now(m).mono;
	bool ends = why[0] != '\0';
	int r;

	/* What is kept must not be replaced by what was not looked at. */
	if (!m->model.listed && !k->recalled)
		return 0;
	r = save_state(m, why);
	tell_unwritten(m, STATE_NAME, r, &k->state_error);
	if (!ends && k->counters_saved && usec_sub(now, k->counters_saved) < COUNTERS_INTERVAL)
		return r;
	k->counters_saved = now;
	tell_unwritten(m, COUNTERS_NAME, save_counters(m), &k->counters_error);
	return r;
}

/* ---- whether the next one could ---- */

int manager_check_state(const struct manager_options *o)
{
	_cleanup_(config_freep) struct config *config = NULL;
	struct picture_origin origin;
	struct model kept = { 0 };
	struct keep k = { .model = &kept };
	int r;

	r = config_load(o->config_root, &config);
	if (r < 0) {
		printf("the configuration cannot be read: %s\n", strerror(-r));
		return r;
	}
	if (access(o->worker_path, X_OK) < 0) {
		r = -errno;
		printf("%s cannot be run: %s\n", o->worker_path, strerror(-r));
		return r;
	}
	picture_origin_read(&origin);
	r = kept_read(o->runtime_dir, &origin, &k);
	kept_done(&kept);
	/* Nothing, or of a newer version: it would begin anew, and say so. */
	if (r < 0 && r != -ENOENT && r != -ESTALE && r != -ENOTSUP) {
		printf("%s/%s: %s\n", o->runtime_dir, STATE_NAME,
			r == -EBADMSG ? "not understood" : strerror(-r));
		return r;
	}
	printf("%s\n", RDMAD_VERSION);
	return 0;
}

/* ---- taking over ---- */

/* The table is older than the conditions: what stands goes by them. */
static void restore_standing(const struct counter_table *t, const struct verdict *v, usec_t saved)
{
	for (size_t i = 0; i < v->n_reasons; i++) {
		const struct reason *r = &v->reasons[i];
		const struct counter *c = counter_table_find(t, r->subject);

		if (r->id != REASON_LINK_ERRORS || !c || !c->history || c->history->standing)
			continue;
		c->history->standing = true;
		c->history->over_at = saved;
	}
}

/* The ledger goes on from what the counter is known as. */
static void restore_ledger(struct port *p)
{
	enum counter_source s =
		p->facts.link_layer == LINK_LAYER_INFINIBAND ? COUNTER_PMA : COUNTER_HW;
	const struct counter *c = counter_table_find(p->counters[s], "link_downed");

	p->link_downed.resets = c ? c->resets : 0;
}

static void adopt_port(struct port *p, usec_t saved)
{
	restore_ledger(p);
	port_watch(p)->edges.falls = p->flap_count; /* those were another run's */
	for (size_t s = 0; s < _COUNTER_SOURCE_MAX; s++)
		restore_standing(p->counters[s], &p->verdict, saved);
	if (p->probe_state == PROBE_LATE)
		p->probe_state = PROBE_FRESH; /* it has not been asked by this run */
}

static int adopt_device(struct device *d, usec_t saved)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		struct port *p = &d->ports[i];
		struct port_edges *edges = TAKE_PTR(p->user);
		struct port_watch *pw = calloc(1, sizeof(*pw));

		if (!pw) {
			free(edges);
			return -ENOMEM;
		}
		if (edges)
			pw->edges = *edges;
		free(edges);
		p->user = pw;
		adopt_port(p, saved);
	}
	restore_standing(d->counters, &d->verdict, saved);
	if (d->probe_state == PROBE_LATE)
		d->probe_state = PROBE_FRESH;
	if (device_attach(d) < 0)
		return -ENOMEM;
	device_watch(d)->recalled = true;
	device_watch(d)->slow_recalled = d->slow_since.mono > 0;
	return 0;
}

static int adopt(struct manager *m)
{
	struct manager_keep *k = m->keep;
	struct model *kept = k->from.model;

	for (struct device *d = kept->devices; d; d = d->next)
		if (adopt_device(d, k->from.saved.mono) < 0)
			return -ENOMEM;
	m->model = *kept;
	*kept = (struct model){ 0 };
	m->slept = k->from.slept;
	k->recalled = k->recalling = true;
	k->deadline = usec_add(manager_now(m).mono, RECALL_PATIENCE);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *user)
{
	struct manager *m = user;

	(void)s;
	(void)usec;
	m->state_dirty = true; /* on_post() asks whether all is read */
	return 0;
}

int manager_keep_new(struct manager *m)
{
	struct manager_keep *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	m->keep = k;
	r = manager_add_timer(m, &k->timer, 10 * USEC_PER_MSEC, on_timer, m, "recall");
	if (r < 0)
		return r;
	k->from.model = calloc(1, sizeof(*k->from.model));
	if (!k->from.model)
		return -ENOMEM;
	picture_origin_read(&k->origin);
	if (kept_load(m->options.runtime_dir, &k->origin, &k->from) < 0)
		return 0;
	r = adopt(m);
	if (r >= 0)
		timer_in(k->timer, RECALL_PATIENCE);
	return r;
}

struct manager_keep *manager_keep_free(struct manager_keep *k)
{
	if (!k)
		return NULL;
	if (k->from.model)
		kept_done(k->from.model);
	free(k->from.model);
	sd_event_source_disable_unref(k->timer);
	free(k);
	return NULL;
}

/* ---- until everything was read again ---- */

bool manager_recalling(const struct manager *m)
{
	return m->keep->recalling;
}

bool manager_recalled(const struct manager *m)
{
	return m->keep->recalled;
}

bool port_is_unconfirmed(const struct manager *m, const struct port *p)
{
	return p->recalled && p->probe_state != PROBE_SILENT && device_is_watched(m, p->device);
}

static bool ask_is_open(const struct ask *a)
{
	return a->in_flight || a->again;
}

static bool device_is_read(const struct manager *m, const struct device *d)
{
	if (!device_is_watched(m, d) || d->probe_state == PROBE_SILENT)
		return true;
	if (ask_is_open(&device_watch(d)->details))
		return false;
	for (size_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].recalled || ask_is_open(&port_watch(&d->ports[i])->tables))
			return false;
	return true;
}

static bool all_is_read(const struct manager *m)
{
	if (!m->model.listed || m->listing)
		return false;
	for (const struct device *d = m->model.devices; d; d = d->next)
		if (!device_is_read(m, d))
			return false;
	return true;
}

/* Whether falls of the port that no event told of are counted by somebody. */
static bool falls_are_counted(const struct manager *m, const struct port *p)
{
	return !device_is_watched(m, p->device) || port_has_carrier_counts(&m->model, p) ||
	       p->link_downed.known;
}

/* "mlx5_0/1, mlx5_1/1 and 3 more"; returns how many there are. */
static size_t list_uncounted(const struct manager *m, char *buf, size_t size)
{
	char object[OBJECT_NAME_MAX];
	size_t n = 0;

	buf[0] = '\0';
	for (const struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			size_t have = strlen(buf);

			if (falls_are_counted(m, &d->ports[i]) || n++ >= 4)
				continue;
			snprintf(buf + have, size - have, "%s%s", have ? ", " : "",
				port_object(object, &d->ports[i]));
		}
	if (n > 4) {
		size_t have = strlen(buf);

		snprintf(buf + have, size - have, " and %zu more", n - 4);
	}
	return n;
}

static void tell_gap(struct manager *m, usec_t gap)
{
	const struct keep *from = &m->keep->from;
	char uncounted[4 * OBJECT_NAME_MAX + 32], span[TIMESPAN_MAX];
	struct event e = { .when = manager_now(m), .object = "host", .reason = "restart" };
	struct restart_record r = {
		.old_version = from->version,
		.new_version = RDMAD_VERSION,
		.why = from->why,
		.gap = gap,
		.uncounted = uncounted,
		.message = e.message,
	};
	size_t n = list_uncounted(m, uncounted, sizeof(uncounted));

	snprintf(e.message, sizeof(e.message), "%s %s, was %s; not watched for %s%s%s%s",
		streq(from->why, KEEP_WHY_RESTART) ? "restarted as version" : "goes on as version",
		RDMAD_VERSION, from->version, from->why[0] ? "" : "at most ",
		timespan_format(span, sizeof(span), gap),
		n ? "; whether these fell meanwhile is not counted by anybody: " : "",
		n ? uncounted : "");
	journal_restart(&r);
	model_add_event(&m->model, &e);
}

void manager_keep_step(struct manager *m)
{
	struct manager_keep *k = m->keep;
	usec_t now;

	if (!k->recalling)
		return;
	now = manager_now(m).mono;
	if (!all_is_read(m) && now < k->deadline)
		return;
	k->recalling = false;
	m->context.gap = usec_sub(now, k->from.saved.mono);
	STRSCPY(m->context.previous_version, k->from.version);
	tell_gap(m, m->context.gap);
	/* It was kept back until now. */
	manager_judge_all(m);
	manager_tell_pending(m);
	manager_end_releases(m);
	m->plan_dirty = m->host_dirty = m->state_dirty = true;
}
