/* SPDX-License-Identifier: MIT */
/*
 * rdmad-setup: the only part of rdmad with privileges. Started by its socket, carries out one typed
 * step after the other for rdmad, and ends when nobody asks any more. It keeps nothing open that
 * could hold a device or a module.
 */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "build-config.h"
#include "execute.h"
#include "log.h"
#include "macros.h"

#define CLIENTS_MAX 8

/* Long enough for the steps of one boot to find it running, short enough to be no resident. */
#define IDLE_MSEC 5000

/* A client that holds its connection and says nothing for so many idle periods is dropped. */
#define CLIENT_IDLE_MAX 12

struct helper {
	struct pollfd fds[1 + CLIENTS_MAX]; /* the listening socket, the clients */
	unsigned idle[1 + CLIENTS_MAX];
	uid_t user;
	bool have_user;
};

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

static void drop_client(struct helper *h, size_t i)
{
	h->fds[i].fd = safe_close(h->fds[i].fd);
}

static void accept_client(struct helper *h)
{
	int fd = accept4(h->fds[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (peer_allowed(h, fd))
		for (size_t i = 1; i <= CLIENTS_MAX; i++)
			if (h->fds[i].fd < 0) {
				h->fds[i].fd = fd;
				h->idle[i] = 0;
				return;
			}
	close(fd);
}

static size_t count_clients(const struct helper *h)
{
	size_t n = 0;

	for (size_t i = 1; i <= CLIENTS_MAX; i++)
		n += h->fds[i].fd >= 0;
	return n;
}

static void log_step(const struct setup_request *req, const struct setup_answer *a)
{
	int level = a->result == STEP_FAILED || a->result == STEP_BLOCKED ? LOG_WARNING : LOG_INFO;

	log_write(level, "%s %s%s%s: %s%s%s", step_kind_to_string((enum step_kind)req->kind),
		req->name, req->netdev[0] ? " on " : "", req->netdev,
		step_result_to_string((enum step_result)a->result), a->detail[0] ? ": " : "",
		a->detail);
}

/* One request, one answer. A client that breaks the rules gets at most one and is dropped. */
static void serve_client(struct helper *h, size_t i)
{
	struct setup_request req = { 0 };
	struct setup_answer a;
	ssize_t n;
	int r;

	n = recv(h->fds[i].fd, &req, sizeof(req), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop_client(h, i);
		return;
	}
	h->idle[i] = 0;
	r = setup_request_check(&req, (size_t)n);
	if (r == -EBADMSG) {
		log_warning("refusing a message of %zd bytes that is no request", n);
		drop_client(h, i);
		return;
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
	if (send(h->fds[i].fd, &a, sizeof(a), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(a)) {
		/* What was done stays done; who asks again is told that it is there. */
		log_debug("client is gone before its answer");
		drop_client(h, i);
	}
}

/* An idle period has passed. Returns false when it is time to end. */
static bool tick(struct helper *h)
{
	if (count_clients(h) == 0)
		return false;
	for (size_t i = 1; i <= CLIENTS_MAX; i++)
		if (h->fds[i].fd >= 0 && ++h->idle[i] >= CLIENT_IDLE_MAX)
			drop_client(h, i);
	return true;
}

static int run(struct helper *h)
{
	for (;;) {
		int n;

		/* Who does not fit waits in the listening socket's queue. */
		h->fds[0].events = count_clients(h) < CLIENTS_MAX ? POLLIN : 0;
		n = poll(h->fds, 1 + CLIENTS_MAX, IDLE_MSEC);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		if (n == 0) {
			if (!tick(h))
				return 0;
			continue;
		}
		if (h->fds[0].revents & (POLLERR | POLLNVAL))
			return -EIO;
		for (size_t i = 1; i <= CLIENTS_MAX; i++)
			if (h->fds[i].fd >= 0 && h->fds[i].revents)
				serve_client(h, i);
		if (h->fds[0].revents & POLLIN)
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
	h->fds[0].fd = SD_LISTEN_FDS_START;
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
	for (size_t i = 0; i < ARRAY_SIZE(h.fds); i++)
		h.fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
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
