/* SPDX-License-Identifier: MIT */
/*
 * rdmad-setup: the only part of rdmad with privileges. Started by its socket, carries out typed steps
 * for rdmad, those of one client one after the other, and ends when nobody asks any more. Each client
 * has a thread: a module that hangs while it is loaded, or a driver that does not answer, keeps only
 * its own client waiting. It keeps nothing open that could hold a device or a module.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "build-config.h"
#include "execute.h"
#include "log.h"
#include "macros.h"

#define CLIENTS_MAX 8

/* Long enough for the steps of one boot to find it running, short enough to be no resident. */
#define IDLE_MSEC 5000

/* A client that holds its connection and says nothing for so long is dropped. */
#define CLIENT_IDLE_SEC 60

struct helper {
	int fd; /* the listening socket */
	uid_t user;
	bool have_user;
};

static atomic_uint n_clients;

static bool peer_allowed(const struct helper *h, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || len != sizeof(cred)) {
		log_warning("refusing a client without credentials");
		return false;
	}
	if (cred.uid == 0 || (h->have_user && cred.uid == h->user))
		return true;
	log_warning("refusing a client of uid %u (pid %d)", (unsigned)cred.uid, (int)cred.pid);
	return false;
}

static void log_step(const struct setup_request *req, const struct setup_answer *a)
{
	/* The unit's limit is notice: it is started often only to look. */
	int level = a->result == STEP_FAILED || a->result == STEP_BLOCKED ? LOG_WARNING
		    : a->result == STEP_OK                                ? LOG_DEBUG
									  : LOG_NOTICE;

	log_write(level, "%s %s%s%s%s%s: %s%s%s", step_kind_to_string((enum step_kind)req->kind),
		req->name, req->netdev[0] ? " on " : "", req->netdev, req->value[0] ? " to " : "",
		req->value, step_result_to_string((enum step_result)a->result),
		a->detail[0] ? ": " : "", a->detail);
}

/* One request, one answer. Returns false at the end: who breaks the rules gets at most one. */
static bool serve_request(int fd)
{
	struct setup_request req = { 0 };
	struct setup_answer a;
	ssize_t n;
	int r;

	n = recv(fd, &req, sizeof(req), MSG_TRUNC);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false; /* gone, or idle for too long */
	r = setup_request_check(&req, (size_t)n);
	if (r == -EBADMSG) {
		log_warning("refusing a message of %zd bytes that is no request", n);
		return false;
	}
	if (r < 0) {
		/* The beginning of the message is the same in every version. */
		a = setup_answer_make(&req, STEP_FAILED, r);
		STRSCPY(a.detail, "setup helper is of another version than rdmad");
		log_warning("refusing a request of protocol version %u", req.version);
	} else {
		a = step_execute(&req);
		log_step(&req, &a);
	}
	if (send(fd, &a, sizeof(a), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(a)) {
		/* What was done stays done; who asks again is told that it is there. */
		log_debug("client is gone before its answer");
		return false;
	}
	return true;
}

static void *serve_client(void *user)
{
	int fd = (int)(intptr_t)user;

	while (serve_request(fd))
		;
	close(fd);
	atomic_fetch_sub(&n_clients, 1);
	return NULL;
}

static void accept_client(const struct helper *h)
{
	const struct timeval idle = { .tv_sec = CLIENT_IDLE_SEC };
	_cleanup_(closep) int fd = accept4(h->fd, NULL, NULL, SOCK_CLOEXEC);
	pthread_attr_t detached;
	pthread_t thread;

	if (fd < 0 || !peer_allowed(h, fd))
		return;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof(idle)) < 0)
		return;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	atomic_fetch_add(&n_clients, 1);
	if (pthread_create(&thread, &detached, serve_client, (void *)(intptr_t)fd) == 0) {
		fd = -1; /* the thread's now */
	} else {
		atomic_fetch_sub(&n_clients, 1);
		log_warning("no thread for a client");
	}
	pthread_attr_destroy(&detached);
}

/* Until nobody has asked for a while. */
static int run(const struct helper *h)
{
	for (;;) {
		/* Who does not fit waits in the listening socket's queue. */
		bool room = atomic_load(&n_clients) < CLIENTS_MAX;
		struct pollfd p = { .fd = room ? h->fd : -1, .events = POLLIN };
		int n = poll(&p, 1, room ? IDLE_MSEC : IDLE_MSEC / 10);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0 && atomic_load(&n_clients) == 0)
			return 0;
		if (n <= 0)
			continue;
		if (p.revents & (POLLERR | POLLNVAL))
			return -EIO;
		accept_client(h);
	}
}

static int adopt_socket(struct helper *h)
{
	int n = sd_listen_fds(1);

	if (n < 0)
		return n;
	if (n != 1) {
		log_error("rdmad-setup is started by rdmad-setup.socket, not by hand");
		return -EINVAL;
	}
	n = sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_SEQPACKET, 1);
	if (n <= 0) {
		log_error("what was handed over is not a listening SOCK_SEQPACKET socket");
		return n < 0 ? n : -EINVAL;
	}
	h->fd = SD_LISTEN_FDS_START;
	return 0;
}

int main(int argc, char *argv[])
{
	struct helper h = { 0 };
	const struct passwd *pw;
	int r;

	log_open();
	if (argc > 1 && streq(argv[1], "--version")) {
		puts("rdmad-setup " RDMAD_VERSION);
		return EXIT_SUCCESS;
	}
	r = adopt_socket(&h);
	if (r < 0)
		return EXIT_FAILURE;

	pw = getpwnam(RDMAD_USER);
	if (pw) {
		h.user = pw->pw_uid;
		h.have_user = true;
	} else {
		log_warning("there is no user %s: serving root only", RDMAD_USER);
	}
	r = run(&h);
	if (r < 0) {
		log_error("poll: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
