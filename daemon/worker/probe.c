/* SPDX-License-Identifier: MIT */
/*
 * rdmad-probe, the worker that may block: it does for rdmad whatever touches a device. Two threads:
 * the main one reads requests and async events and never waits for a device; the other one does the
 * queries, one after the other. A driver that hangs therefore stalls the queries of its own adapter
 * and nothing else; rdmad's deadline deals with that (worker/pool.c).
 *
 * It ends when rdmad closes the socket or dies.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "log.h"
#include "macros.h"
#include "netdev.h"
#include "nldev.h"
#include "protocol.h"
#include "sysfs.h"
#include "verbs.h"

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

struct job {
	struct wire_message request;
	/* result of WIRE_WATCH, for the main thread */
	struct async_context *context;
	int error;
	bool pins;
	bool cancelled; /* WIRE_UNWATCH came before the answer */
	struct job *next;
};

struct job_list {
	struct job *first, **last;
};

static struct {
	int fd;
	int wakeup; /* eventfd: a watch job is done */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	struct job_list todo, done; /* under lock */
	struct job *running;        /* under lock */
	struct nldev *nldev;        /* query thread only */
	struct watch watches[WATCHES_MAX];
	size_t n_watches;
} probe = {
	.fd = WORKER_FD,
	.wakeup = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.cond = PTHREAD_COND_INITIALIZER,
};

static void job_list_add(struct job_list *l, struct job *j)
{
	j->next = NULL;
	if (!l->first)
		l->last = &l->first;
	*l->last = j;
	l->last = &j->next;
}

static struct job *job_list_take(struct job_list *l)
{
	struct job *j = l->first;

	if (j)
		l->first = j->next;
	return j;
}

/* A lost socket means that rdmad is gone: there is nobody to work for. */
static void send_or_exit(struct wire_message *m)
{
	int r = wire_send(probe.fd, m, 0);

	if (r < 0)
		_exit(r == -EPIPE || r == -ECONNRESET ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* ---- the query thread ---- */

static int ensure_nldev(void)
{
	if (probe.nldev)
		return 0;
	/* Opening the socket would load ib_core on a host that has no RDMA. */
	if (!sysfs_have_rdma())
		return -EPROTONOSUPPORT;
	return nldev_open(&probe.nldev);
}

static int send_device(const struct device_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_DEVICE, .id = *(uint32_t *)user, .device = *f };

	sysfs_complete_device(&m.device);
	send_or_exit(&m);
	return 0;
}

static int send_netdev(const struct netdev_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_NETDEV, .id = *(uint32_t *)user, .netdev = *f };

	send_or_exit(&m);
	return 0;
}

static void do_list(const struct wire_message *request)
{
	struct wire_message m = { .type = WIRE_LIST_DONE, .id = request->id };
	uint32_t id = request->id;
	int r;

	r = netdev_list(send_netdev, &id);
	if (r >= 0) {
		r = ensure_nldev();
		if (r >= 0)
			r = nldev_list_devices(probe.nldev, send_device, &id);
		else if (r == -EPROTONOSUPPORT)
			r = 0; /* no RDMA stack: a list of no devices */
	}
	m.result.error = r;
	send_or_exit(&m);
}

static void do_read_port(const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_PORT, .id = request->id };
	struct port_facts f = port_facts_unknown(ref->device_index, ref->port);
	int r;

	r = ensure_nldev();
	if (r >= 0)
		r = nldev_read_port(probe.nldev, ref->device_index, ref->port, &f);
	if (r >= 0)
		sysfs_complete_port(ref->device, &f);
	else
		f.error = r;
	m.port = f;
	send_or_exit(&m);
}

static void do_watch(struct job *j)
{
	const struct wire_device_ref *ref = &j->request.ref;
	int r;

	if (ref->measure) {
		r = async_measure_pin(ref->device_index, ref->device);
		if (r != 0) {
			j->pins = r > 0;
			j->error = MIN(r, 0);
			return;
		}
	}
	j->error = async_open(ref->device_index, ref->device, &j->context);
}

static void *query_thread(void *arg)
{
	(void)arg;
	for (;;) {
		struct job *j;

		pthread_mutex_lock(&probe.lock);
		while (!(j = job_list_take(&probe.todo)))
			pthread_cond_wait(&probe.cond, &probe.lock);
		probe.running = j;
		pthread_mutex_unlock(&probe.lock);

		if (j->request.type == WIRE_LIST)
			do_list(&j->request);
		else if (j->request.type == WIRE_READ_PORT)
			do_read_port(&j->request);
		else if (!j->cancelled)
			do_watch(j);

		pthread_mutex_lock(&probe.lock);
		probe.running = NULL;
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

/* ---- the main thread ---- */

static void watch_drop(size_t at)
{
	struct watch *w = &probe.watches[at];

	async_close(w->context);
	free(w->tallies);
	probe.watches[at] = probe.watches[--probe.n_watches];
}

static int watch_add(struct job *j)
{
	struct watch *w = &probe.watches[probe.n_watches];

	if (probe.n_watches == WATCHES_MAX)
		return -EMFILE;
	*w = (struct watch){ .device_index = j->request.ref.device_index,
		.n_tallies = j->request.ref.port + 1 };
	w->tallies = calloc(w->n_tallies, sizeof(w->tallies[0]));
	if (!w->tallies)
		return -ENOMEM;
	w->context = TAKE_PTR(j->context);
	probe.n_watches++;
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
		send_or_exit(&m);
	}
}

static void cancel_watch(uint32_t device_index)
{
	pthread_mutex_lock(&probe.lock);
	for (struct job *j = probe.todo.first; j; j = j->next)
		if (j->request.type == WIRE_WATCH && j->request.ref.device_index == device_index)
			j->cancelled = true;
	for (struct job *j = probe.done.first; j; j = j->next)
		if (j->request.ref.device_index == device_index)
			j->cancelled = true;
	if (probe.running && probe.running->request.type == WIRE_WATCH &&
		probe.running->request.ref.device_index == device_index)
		probe.running->cancelled = true;
	pthread_mutex_unlock(&probe.lock);

	for (size_t i = 0; i < probe.n_watches;)
		if (probe.watches[i].device_index == device_index)
			watch_drop(i);
		else
			i++;
}

static void enqueue(const struct wire_message *request)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		_exit(EXIT_FAILURE); /* rdmad starts another one */
	j->request = *request;
	pthread_mutex_lock(&probe.lock);
	job_list_add(&probe.todo, j);
	pthread_cond_signal(&probe.cond);
	pthread_mutex_unlock(&probe.lock);
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
		switch ((enum wire_type)m.type) {
		case WIRE_LIST:
		case WIRE_READ_PORT:
			enqueue(&m);
			break;
		case WIRE_WATCH:
			if (m.ref.port <= RDMA_PORTS_MAX)
				enqueue(&m);
			break;
		case WIRE_UNWATCH:
			cancel_watch(m.ref.device_index);
			break;
		case WIRE_DEVICE:
		case WIRE_NETDEV:
		case WIRE_LIST_DONE:
		case WIRE_PORT:
		case WIRE_WATCHED:
		case WIRE_EVENT:
		case _WIRE_TYPE_MAX:
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
		t->event.port_errs++;
		break;
	case VERBS_EVENT_PORT_ACTIVE:
		t->event.port_actives++;
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
	for (size_t i = 0; i < probe.n_watches; i++) {
		struct watch *w = &probe.watches[i];

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
		size_t n = 2 + probe.n_watches;

		fds[0] = (struct pollfd){ .fd = probe.fd,
			.events = (short)(POLLIN | (backlog ? POLLOUT : 0)) };
		fds[1] = (struct pollfd){ .fd = probe.wakeup, .events = POLLIN };
		for (size_t i = 0; i < probe.n_watches; i++)
			fds[2 + i] =
				(struct pollfd){ .fd = async_event_fd(probe.watches[i].context),
					.events = POLLIN };
		if (poll(fds, n, -1) < 0) {
			if (errno == EINTR)
				continue;
			_exit(EXIT_FAILURE);
		}
		/* Events first: the requests may close what fds[] speaks of. */
		for (size_t i = 2; i < n; i++)
			if (fds[i].revents)
				drain_events(&probe.watches[i - 2]);
		backlog = send_tallies();
		if (fds[1].revents)
			finish_watches();
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			take_requests();
	}
}

int main(void)
{
	pthread_t thread;

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
	if (pthread_create(&thread, NULL, query_thread, NULL) != 0) {
		log_error("probe worker: cannot start its query thread");
		return EXIT_FAILURE;
	}
	run();
	return EXIT_SUCCESS;
}
