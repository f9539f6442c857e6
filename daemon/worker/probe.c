/* SPDX-License-Identifier: MIT */
/*
 * rdmad-probe, the worker that may block: it does for rdmad whatever touches a device. Three threads: the main
 * one reads requests and async events and never waits for a device; the query lane asks ports, one
 * after the other; the slow lane reads counters, tables and the like, so that no firmware command for
 * a counter delays an alarm. A driver that hangs therefore stalls its own adapter and nothing else;
 * rdmad's deadlines deal with that (worker/pool.c).
 *
 * It ends when rdmad closes the socket or dies.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "log.h"
#include "macros.h"
#include "nldev.h"
#include "probe-internal.h"
#include "sysfs.h"

/* Contexts of one adapter: functions and VFs. More are refused with EMFILE. */
#define WATCHES_MAX 256

/* What came in while rdmad did not take it: bounded, since it only counts. */
struct tally {
	struct wire_event event;
	bool pending;
};

struct watch {
	struct async_context *context;
	uint32_t device_index;
	uint32_t n_tallies;
	struct tally *tallies; /* by port number, 0 is the device */
};

struct probe probe = {
	.fd = WORKER_FD,
	.wakeup = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.query = { .cond = PTHREAD_COND_INITIALIZER, .work = query_work },
	.slow = { .cond = PTHREAD_COND_INITIALIZER, .work = slow_work },
};

/* Of the main thread. */
static struct watch watches[WATCHES_MAX];
static size_t n_watches;

static void job_list_add(struct job_list *l, struct job *j)
{
	j->next = NULL;
	if (!l->first)
		l->last = &l->first;
	*l->last = j;
	l->last = &j->next;
}

static void job_list_add_first(struct job_list *l, struct job *j)
{
	j->next = l->first;
	if (!l->first)
		l->last = &j->next;
	l->first = j;
}

static struct job *job_list_take(struct job_list *l)
{
	struct job *j = l->first;

	if (j)
		l->first = j->next;
	return j;
}

void probe_send(struct wire_message *m)
{
	int r = wire_send(probe.fd, m, 0);

	if (r < 0)
		_exit(r == -EPIPE || r == -ECONNRESET ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- the lanes ---- */

int lane_open_nldev(struct lane *l)
{
	if (l->nldev)
		return 0;
	/* Opening the socket would load ib_core on a host that has no RDMA. */
	if (!sysfs_have_rdma())
		return -EPROTONOSUPPORT;
	return nldev_open(&l->nldev);
}

int lane_open_nldev_for(struct lane *l, uint32_t device_index)
{
	/* The scout was refused; that this worker is not does not help. */
	if (device_index_is_made_up(device_index))
		return -EPROTONOSUPPORT;
	return lane_open_nldev(l);
}

static void *lane_thread(void *arg)
{
	struct lane *l = arg;

	for (;;) {
		struct job *j;

		pthread_mutex_lock(&probe.lock);
		while (!(j = job_list_take(&l->todo)))
			pthread_cond_wait(&l->cond, &probe.lock);
		l->running = j;
		pthread_mutex_unlock(&probe.lock);

		l->work(l, j);

		pthread_mutex_lock(&probe.lock);
		/* The socket is a reference to ib_core, which could not be unloaded. */
		if (!l->todo.first)
			l->nldev = nldev_close(l->nldev);
		l->running = NULL;
		if (j->request.type == WIRE_WATCH) {
			job_list_add(&probe.done, j);
			eventfd_write(probe.wakeup, 1);
		} else {
			free(j);
		}
		pthread_mutex_unlock(&probe.lock);
	}
	return NULL;
}

/* Somebody waits for the answer. */
static bool is_urgent(const struct wire_message *request)
{
	return request->type == WIRE_READ_LINK || request->type == WIRE_READ_VF;
}

static void enqueue(struct lane *l, const struct wire_message *request)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		_exit(EXIT_FAILURE); /* rdmad starts another one */
	j->request = *request;
	pthread_mutex_lock(&probe.lock);
	if (is_urgent(request))
		job_list_add_first(&l->todo, j);
	else
		job_list_add(&l->todo, j);
	pthread_cond_signal(&l->cond);
	pthread_mutex_unlock(&probe.lock);
}

/* ---- the main thread ---- */

static void watch_drop(size_t at)
{
	struct watch *w = &watches[at];

	async_close(w->context);
	free(w->tallies);
	watches[at] = watches[--n_watches];
}

static int watch_add(struct job *j)
{
	struct watch *w = &watches[n_watches];

	if (n_watches == WATCHES_MAX)
		return -EMFILE;
	*w = (struct watch){ .device_index = j->request.ref.device_index,
		.n_tallies = j->request.ref.port + 1 };
	w->tallies = calloc(w->n_tallies, sizeof(w->tallies[0]));
	if (!w->tallies)
		return -ENOMEM;
	w->context = TAKE_PTR(j->context);
	n_watches++;
	return 0;
}

/* Takes over the contexts that the query thread opened. */
static void finish_watches(void)
{
	eventfd_t value;

	eventfd_read(probe.wakeup, &value);
	for (;;) {
		struct wire_message m = { .type = WIRE_WATCHED };
		struct job *j;

		pthread_mutex_lock(&probe.lock);
		j = job_list_take(&probe.done);
		pthread_mutex_unlock(&probe.lock);
		if (!j)
			return;
		if (j->context && !j->cancelled)
			j->error = watch_add(j);
		async_close(j->context);
		m.id = j->request.id;
		m.result = (struct wire_result){ .device_index = j->request.ref.device_index,
			.error = j->cancelled ? -ECANCELED : j->error,
			.pins = j->pins };
		free(j);
		probe_send(&m);
	}
}

/* What is asked of a device and not begun, except for watches: they are cancelled and answered. */
static void drop_jobs(struct lane *l, uint32_t device_index)
{
	struct job *j;

	pthread_mutex_lock(&probe.lock);
	l->todo.last = &l->todo.first;
	while ((j = *l->todo.last)) {
		if (!wire_is_of_device(j->request.type) || j->request.type == WIRE_WATCH ||
			j->request.ref.device_index != device_index) {
			l->todo.last = &j->next;
			continue;
		}
		*l->todo.last = j->next;
		free(j);
	}
	pthread_mutex_unlock(&probe.lock);
}

static void cancel_watch(uint32_t device_index)
{
	pthread_mutex_lock(&probe.lock);
	for (struct job *j = probe.query.todo.first; j; j = j->next)
		if (j->request.type == WIRE_WATCH && j->request.ref.device_index == device_index)
			j->cancelled = true;
	for (struct job *j = probe.done.first; j; j = j->next)
		if (j->request.ref.device_index == device_index)
			j->cancelled = true;
	if (probe.query.running && probe.query.running->request.type == WIRE_WATCH &&
		probe.query.running->request.ref.device_index == device_index)
		probe.query.running->cancelled = true;
	pthread_mutex_unlock(&probe.lock);

	for (size_t i = 0; i < n_watches;)
		if (watches[i].device_index == device_index)
			watch_drop(i);
		else
			i++;
}

static void take_requests(void)
{
	for (;;) {
		struct wire_message m;
		int r = wire_receive(probe.fd, &m, MSG_DONTWAIT);

		if (r == -EAGAIN)
			return;
		/* Reset: the other end was closed before it had read everything. */
		if (r == 0 || r == -ECONNRESET)
			_exit(EXIT_SUCCESS);
		if (r < 0) {
			log_error("probe worker: bad request: %s", strerror(-r));
			_exit(EXIT_FAILURE);
		}
		switch ((int)m.type) {
		case WIRE_LIST:
		case WIRE_READ_PORT:
			enqueue(&probe.query, &m);
			break;
		case WIRE_WATCH:
			if (m.ref.port <= RDMA_PORTS_MAX)
				enqueue(&probe.query, &m);
			break;
		case WIRE_FORGET:
			cancel_watch(m.ref.device_index);
			drop_jobs(&probe.query, m.ref.device_index);
			drop_jobs(&probe.slow, m.ref.device_index);
			enqueue(&probe.slow, &m);
			break;
		case WIRE_UNWATCH:
			cancel_watch(m.ref.device_index);
			break;
		case WIRE_READ_DETAILS:
		case WIRE_READ_TABLES:
		case WIRE_READ_COUNTERS:
		case WIRE_READ_QOS:
		case WIRE_READ_SETTINGS:
		case WIRE_READ_DEVLINK:
		case WIRE_READ_LINK:
		case WIRE_READ_VF:
		case WIRE_READ_SWITCH:
			enqueue(&probe.slow, &m);
			break;
		default: /* answers: nobody sends us one */
			break;
		}
	}
}

static void tally(struct watch *w, const struct verbs_event *e)
{
	struct tally *t = &w->tallies[e->port < w->n_tallies ? e->port : 0];

	log_debug("device %u port %u: async event %s", w->device_index, e->port, e->name);
	switch (e->kind) {
	case VERBS_EVENT_OTHER:
		return;
	case VERBS_EVENT_DEVICE_FATAL:
		t->event.fatals++;
		break;
	case VERBS_EVENT_PORT_ERR:
		port_events_add(&t->event.events, false);
		break;
	case VERBS_EVENT_PORT_ACTIVE:
		port_events_add(&t->event.events, true);
		break;
	case VERBS_EVENT_PORT_CHANGE:
		t->event.changes++;
		break;
	}
	t->pending = true;
}

static void drain_events(struct watch *w)
{
	struct verbs_event e;

	while (async_next_event(w->context, &e) > 0)
		tally(w, &e);
}

/* Sends what was counted as far as rdmad takes it. Returns true when something is left. */
static bool send_tallies(void)
{
	for (size_t i = 0; i < n_watches; i++) {
		struct watch *w = &watches[i];

		for (uint32_t port = 0; port < w->n_tallies; port++) {
			struct tally *t = &w->tallies[port];
			struct wire_message m = { .type = WIRE_EVENT };
			int r;

			if (!t->pending)
				continue;
			m.event = t->event;
			m.event.device_index = w->device_index;
			m.event.port = port;
			r = wire_send(probe.fd, &m, MSG_DONTWAIT);
			if (r == -EAGAIN)
				return true;
			if (r < 0)
				_exit(EXIT_SUCCESS);
			*t = (struct tally){ 0 };
		}
	}
	return false;
}

static _Noreturn void run(void)
{
	static struct pollfd fds[2 + WATCHES_MAX];
	bool backlog = false;

	for (;;) {
		size_t n = 2 + n_watches;

		fds[0] = (struct pollfd){ .fd = probe.fd,
			.events = (short)(POLLIN | (backlog ? POLLOUT : 0)) };
		fds[1] = (struct pollfd){ .fd = probe.wakeup, .events = POLLIN };
		for (size_t i = 0; i < n_watches; i++)
			fds[2 + i] = (struct pollfd){ .fd = async_event_fd(watches[i].context),
				.events = POLLIN };
		if (poll(fds, n, -1) < 0) {
			if (errno == EINTR)
				continue;
			_exit(EXIT_FAILURE);
		}
		/* Events first: the requests may close what fds[] speaks of. */
		for (size_t i = 2; i < n; i++)
			if (fds[i].revents)
				drain_events(&watches[i - 2]);
		backlog = send_tallies();
		if (fds[1].revents)
			finish_watches();
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			take_requests();
	}
}

static bool lane_start(struct lane *l)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, lane_thread, l) == 0;
}

int main(void)
{
	log_open();
	/* "systemctl kill -s HUP rdmad" reloads the daemon; it reaches the workers, too. */
	signal(SIGHUP, SIG_IGN);
	/* Both ways to learn that rdmad is gone; the socket's end may wait behind a query. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() == 1)
		return EXIT_FAILURE;
	probe.wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (probe.wakeup < 0) {
		log_error("probe worker: eventfd: %m");
		return EXIT_FAILURE;
	}
	if (!lane_start(&probe.query) || !lane_start(&probe.slow)) {
		log_error("probe worker: cannot start its threads");
		return EXIT_FAILURE;
	}
	run();
	return EXIT_SUCCESS;
}
