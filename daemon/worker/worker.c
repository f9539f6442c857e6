/* SPDX-License-Identifier: MIT */
/* The process of a worker: its start and end, its answers, and how long they may take. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "log.h"
#include "macros.h"
#include "pool-internal.h"

/* A worker that died is not replaced sooner than this after it was started. */
#define RESPAWN_INTERVAL (2 * USEC_PER_SEC)

usec_t pool_now(const struct pool *p)
{
	uint64_t now = 0;

	sd_event_now(p->event, CLOCK_MONOTONIC, &now);
	return now;
}

static void lane_clear(struct lane *l)
{
	while (l->first) {
		struct request *q = l->first;

		l->first = q->next;
		free(q);
	}
	l->last = &l->first;
	l->n = 0;
	l->timer = sd_event_source_disable_unref(l->timer);
}

void worker_disconnect(struct worker *w)
{
	w->io = sd_event_source_disable_unref(w->io);
	w->fd = safe_close(w->fd);
	while (w->unsent) {
		struct command *c = w->unsent;

		w->unsent = c->next;
		free(c);
	}
	w->unsent_end = &w->unsent;
	for (size_t i = 0; i < _LANE_MAX; i++)
		lane_clear(&w->lanes[i]);
}

void worker_free(struct worker *w)
{
	struct pool *p = w->pool;

	for (struct worker **at = &p->workers; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			break;
		}
	worker_disconnect(w);
	w->child = sd_event_source_disable_unref(w->child);
	if (w->pid > 0)
		kill(w->pid, SIGKILL);
	free(w);
}

static void worker_set_silence(struct worker *w, enum pool_silence silence)
{
	if (w->silence == silence)
		return;
	w->silence = silence;
	w->pool->cb.silence(w->adapter, silence, w->pool->user);
}

static void worker_set_slow(struct worker *w, bool late)
{
	if (w->slow_late == late)
		return;
	w->slow_late = late;
	w->pool->cb.slow(w->adapter, late, w->pool->user);
}

void worker_give_up(struct worker *w)
{
	worker_disconnect(w);
	if (w->pid > 0)
		kill(w->pid, SIGKILL);
	w->pool->cb.lost(w->adapter, w->pool->user);
}

/* Since when the oldest request has had the thread for itself. */
static usec_t lane_waits_since(const struct lane *l)
{
	return MAX(l->first->sent, l->answered);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *user);

int lane_arm(struct lane *l)
{
	struct worker *w = l->worker;
	bool late = l == &w->lanes[LANE_SLOW] ? w->slow_late : w->silence != POOL_ANSWERS;
	usec_t due;

	if (!l->first)
		return l->timer ? sd_event_source_set_enabled(l->timer, SD_EVENT_OFF) : 0;
	due = lane_waits_since(l) + (late ? 2 : 1) * w->pool->timeout;
	if (!l->timer)
		return sd_event_add_time(w->pool->event, &l->timer, CLOCK_MONOTONIC, due,
			50 * USEC_PER_MSEC, on_deadline, l);
	sd_event_source_set_time(l->timer, due);
	return sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

/*
 * It was this process that did not run, stopped or starved: perhaps the worker did not either, perhaps
 * its answer waits to be read. The time begins anew.
 */
static bool lane_excused(struct lane *l, usec_t due)
{
	usec_t now = pool_now(l->worker->pool);

	if (usec_sub(now, due) < l->worker->pool->timeout / 2)
		return false;
	l->answered = now;
	lane_arm(l);
	return true;
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *user)
{
	struct lane *l = user;
	struct worker *w = l->worker;
	usec_t waited;

	(void)source;
	if (!l->first || lane_excused(l, usec))
		return 0;
	waited = usec_sub(pool_now(w->pool), lane_waits_since(l));
	if (l == &w->lanes[LANE_SLOW]) {
		if (waited >= w->pool->timeout)
			worker_set_slow(w, true);
		else
			lane_arm(l);
		return 0;
	}
	if (waited >= 2 * w->pool->timeout) {
		log_debug("probe worker of %s: silent, killed", w->adapter);
		worker_set_silence(w, POOL_SILENT);
		worker_give_up(w);
		return 0;
	}
	if (waited >= w->pool->timeout && w->silence == POOL_ANSWERS)
		worker_set_silence(w, POOL_LATE);
	lane_arm(l);
	return 0;
}

static void worker_answered(struct worker *w, enum lane_id id, uint32_t request)
{
	struct lane *l = &w->lanes[id];

	/* Watches are answered by the worker's main thread: out of turn. */
	for (struct request **at = &l->first; *at; at = &(*at)->next)
		if ((*at)->id == request) {
			struct request *q = *at;

			*at = q->next;
			if (!*at)
				l->last = at;
			free(q);
			l->n--;
			break;
		}
	l->answered = pool_now(w->pool);
	if (id == LANE_SLOW)
		worker_set_slow(w, false);
	else
		worker_set_silence(w, POOL_ANSWERS);
	lane_arm(l);
}

/* Answers of the slow lane. */
static void worker_slow_message(struct worker *w, const struct wire_message *m)
{
	const struct pool_callbacks *cb = &w->pool->cb;
	void *user = w->pool->user;

	switch ((int)m->type) {
	case WIRE_DETAILS:
		worker_answered(w, LANE_SLOW, m->id);
		cb->details(&m->details, user);
		break;
	case WIRE_GID:
		cb->gid(&m->gid, user);
		break;
	case WIRE_PKEYS:
		cb->pkeys(&m->pkeys, user);
		break;
	case WIRE_TABLES_DONE:
		worker_answered(w, LANE_SLOW, m->id);
		cb->tables(&m->tables, user);
		break;
	case WIRE_COUNTER_NAME:
		cb->counter_name(&m->counter_name, user);
		break;
	case WIRE_COUNTER_VALUES:
		cb->counter_values(&m->counter_values, user);
		break;
	case WIRE_COUNTERS_DONE:
		worker_answered(w, LANE_SLOW, m->id);
		cb->counters(&m->counters_done, user);
		break;
	case WIRE_QOS:
		worker_answered(w, LANE_SLOW, m->id);
		cb->qos(&m->qos, user);
		break;
	case WIRE_SETTINGS:
		if (m->settings.port == 0)
			worker_answered(w, LANE_SLOW, m->id);
		cb->settings(&m->settings, user);
		break;
	case WIRE_DEVLINK:
		worker_answered(w, LANE_SLOW, m->id);
		cb->devlink(&m->devlink, user);
		break;
	case WIRE_LINK:
		worker_answered(w, LANE_SLOW, m->id);
		cb->link(&m->link, user);
		break;
	case WIRE_VF:
		worker_answered(w, LANE_SLOW, m->id);
		cb->vf_policy(&m->vf_policy, user);
		break;
	case WIRE_SWITCH:
		worker_answered(w, LANE_SLOW, m->id);
		cb->rdma_switch(&m->rdma_switch, user);
		break;
	default: /* requests: nobody sends us one */
		break;
	}
}

static void worker_listed(struct worker *w, const struct wire_result *r)
{
	struct pool_listing l = { .error = r->error };

	if (r->how & LISTED_SYSFS) {
		l.refused = r->error;
		l.error = 0;
	}
	l.notifies = (r->how & LISTED_MONITOR) != 0;
	l.doubtful = (r->how & LISTED_DOUBT) != 0;
	w->pool->cb.listed(&l, w->pool->user);
}

static void worker_message(struct worker *w, const struct wire_message *m)
{
	const struct pool_callbacks *cb = &w->pool->cb;
	void *user = w->pool->user;

	switch ((int)m->type) {
	case WIRE_DEVICE:
		cb->device(&m->device, user);
		break;
	case WIRE_NETDEV:
		cb->netdev(&m->netdev, user);
		break;
	case WIRE_ADDRESS:
		cb->address(&m->address, user);
		break;
	case WIRE_ELSEWHERE:
		cb->elsewhere(&m->elsewhere, user);
		break;
	case WIRE_SYSTEM:
		cb->system(&m->system, user);
		break;
	case WIRE_LIST_DONE:
		worker_answered(w, LANE_QUERY, m->id);
		worker_listed(w, &m->result);
		break;
	case WIRE_PORT:
		worker_answered(w, LANE_QUERY, m->id);
		cb->port(&m->port, user);
		break;
	case WIRE_WATCHED:
		worker_answered(w, LANE_QUERY, m->id);
		cb->watched(m->result.device_index, m->result.pins ? 1 : m->result.error, user);
		break;
	case WIRE_EVENT: {
		struct pool_event e = {
			.device_index = m->event.device_index,
			.port = m->event.port,
			.events = m->event.events,
			.changes = m->event.changes,
			.fatals = m->event.fatals,
		};

		cb->event(&e, user);
		break;
	}
	default:
		worker_slow_message(w, m);
		break;
	}
}

/* Sends what found the socket full, as far as it goes. */
static int worker_flush(struct worker *w)
{
	while (w->unsent) {
		struct command *c = w->unsent;
		int r = wire_send(w->fd, &c->message, MSG_DONTWAIT);

		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return r;
		w->unsent = c->next;
		free(c);
	}
	w->unsent_end = &w->unsent;
	return sd_event_source_set_io_events(w->io, EPOLLIN);
}

static int on_worker_io(sd_event_source *source, int fd, uint32_t revents, void *user)
{
	struct worker *w = user;
	struct wire_message m;
	int r;

	(void)source;
	(void)fd;
	if ((revents & EPOLLOUT) && worker_flush(w) < 0) {
		worker_give_up(w);
		return 0;
	}
	/* Bounded: other event sources get their turn; level triggering brings us back. A callback
	 * may give this very worker up. */
	for (int i = 0; i < 64 && w->fd >= 0; i++) {
		r = wire_receive(w->fd, &m, MSG_DONTWAIT);
		if (r == -EAGAIN)
			return 0;
		if (r <= 0) {
			if (r < 0)
				log_warning("probe worker of %s: %s", w->adapter, strerror(-r));
			worker_give_up(w);
			return 0;
		}
		worker_message(w, &m);
	}
	return 0;
}

static int on_worker_exit(sd_event_source *source, const siginfo_t *si, void *user)
{
	struct worker *w = user;

	(void)source;
	w->pid = 0;
	w->child = sd_event_source_disable_unref(w->child);
	if (w->fd >= 0) {
		log_warning("probe worker of %s ended by itself (%s %d), it will be started again",
			w->adapter[0] ? w->adapter : "the device list",
			si->si_code == CLD_EXITED ? "exit status" : "signal", si->si_status);
		worker_give_up(w);
	}
	if (w->dropped)
		worker_free(w);
	return 0;
}

/* Starts the process with one end of a socket pair as WORKER_FD and everything else closed. */
static int spawn(const char *path, const char *adapter, int *ret_fd, pid_t *ret_pid)
{
	char *const argv[] = { (char *)path, (char *)adapter, NULL };
	_cleanup_(closep) int ours = -1, theirs = -1;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	ours = fds[0];
	theirs = fds[1];
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	/* Should it be WORKER_FD already, dup2 onto itself clears close-on-exec (POSIX.1-2008 TC2,
	 * glibc 2.29). */
	r = posix_spawn_file_actions_adddup2(&actions, theirs, WORKER_FD);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (r != 0)
		return -r;
	*ret_fd = TAKE_FD(ours);
	return 0;
}

int worker_start(struct worker *w)
{
	struct pool *p = w->pool;
	int r;

	if (w->pid > 0)
		return w->fd >= 0 ? 0 : -EBUSY; /* given up, not dead yet */
	if (w->started && usec_sub(pool_now(p), w->started) < RESPAWN_INTERVAL)
		return -EBUSY;
	w->started = pool_now(p);
	r = spawn(p->worker_path, w->adapter, &w->fd, &w->pid);
	if (r < 0)
		return r;
	r = sd_event_add_child(p->event, &w->child, w->pid, WEXITED, on_worker_exit, w);
	if (r >= 0)
		r = sd_event_add_io(p->event, &w->io, w->fd, EPOLLIN, on_worker_io, w);
	if (r < 0) {
		worker_disconnect(w);
		kill(w->pid, SIGKILL);
		return r;
	}
	log_debug("probe worker of %s: pid %d", w->adapter, (int)w->pid);
	return 0;
}

void lane_forget_device(struct lane *l, uint32_t device_index)
{
	struct request *q;

	l->last = &l->first;
	while ((q = *l->last)) {
		if (!q->of_device || q->device_index != device_index) {
			l->last = &q->next;
			continue;
		}
		*l->last = q->next;
		free(q);
		l->n--;
	}
	lane_arm(l);
}
