/* SPDX-License-Identifier: MIT */
#include "apply.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "log.h"
#include "macros.h"

struct apply {
	sd_event *event;
	sd_event_source *io;       /* the connection */
	sd_event_source *deferred; /* an answer that we made ourselves */
	int fd;
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	apply_done done;
	void *user;
	uint64_t next_id;
	bool busy;
	struct setup_request request;
	struct setup_answer answer; /* for deferred */
};

static void disconnect(struct apply *a)
{
	a->io = sd_event_source_disable_unref(a->io);
	a->fd = safe_close(a->fd);
}

static void deliver(struct apply *a, const struct setup_answer *answer)
{
	struct setup_answer copy = *answer;

	a->busy = false;
	a->done(a->user, &copy);
}

static int on_deferred(sd_event_source *source, void *userdata)
{
	struct apply *a = userdata;

	if (a->busy)
		deliver(a, &a->answer);
	return 0;
}

/* There will be no answer from the helper: give one that says why, on the next turn of the loop. */
static void answer_self(struct apply *a, enum setup_answer_flags flag, int error, const char *why)
{
	int r;

	disconnect(a);
	a->answer = setup_answer_make(
		&a->request, flag == SETUP_UNREACHABLE ? STEP_WAITING : STEP_FAILED, error);
	a->answer.flags = (uint32_t)flag;
	if (flag == SETUP_UNREACHABLE) {
		snprintf(a->answer.detail, sizeof(a->answer.detail),
			"setup helper is not reachable: %s", why);
		STRSCPY(a->answer.remedy, "systemctl start rdmad-setup.socket");
	} else {
		STRSCPY(a->answer.detail, why);
		STRSCPY(a->answer.remedy, error == -EPROTONOSUPPORT
						  ? "rdmactl restart"
						  : "journalctl -u rdmad-setup.service");
	}
	r = sd_event_source_set_enabled(a->deferred, SD_EVENT_ONESHOT);
	if (r < 0)
		log_debug("setup: cannot defer an answer: %s", strerror(-r));
}

/* One message, or the end of the connection. */
static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct apply *a = userdata;
	struct setup_answer answer = { 0 };
	ssize_t n;
	int r;

	/* One byte more would be another protocol; MSG_TRUNC tells the true length. */
	n = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (!a->busy) {
		/* Nothing was asked: the helper is ending, or confused. */
		disconnect(a);
		return 0;
	}
	if (n <= 0) {
		answer_self(a, SETUP_DIED, n < 0 ? -errno : -ECONNRESET, "setup helper died");
		return 0;
	}
	r = setup_answer_check(&answer, (size_t)n, &a->request);
	if (r == -EPROTONOSUPPORT)
		answer_self(a, 0, r, "setup helper is of another version than rdmad");
	else if (r < 0)
		answer_self(a, 0, r, "setup helper gave an answer that makes no sense");
	else
		deliver(a, &answer);
	return 0;
}

/* 0, or a negative errno. A unix connect() is done at once or not at all. */
static int ensure_connected(struct apply *a)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	_cleanup_(closep) int fd = -1;
	int r;

	if (a->fd >= 0)
		return 0;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	memcpy(sa.sun_path, a->path, sizeof(sa.sun_path));
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	r = sd_event_add_io(a->event, &a->io, fd, EPOLLIN, on_io, a);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(a->io, "setup-helper");
	a->fd = TAKE_FD(fd);
	return 0;
}

int apply_new(sd_event *event, apply_done done, void *user, struct apply **ret)
{
	_cleanup_(apply_freep) struct apply *a = calloc(1, sizeof(*a));
	const char *path = secure_getenv("RDMAD_SETUP_SOCKET");
	int r;

	if (!a)
		return -ENOMEM;
	a->fd = -1;
	if (!path || !*path)
		path = SETUP_SOCKET_PATH;
	if (strlen(path) >= sizeof(a->path))
		return -ENAMETOOLONG;
	STRSCPY(a->path, path);
	a->event = sd_event_ref(event);
	a->done = done;
	a->user = user;
	r = sd_event_add_defer(event, &a->deferred, on_deferred, a);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(a->deferred, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(a);
	return 0;
}

struct apply *apply_free(struct apply *a)
{
	if (!a)
		return NULL;
	disconnect(a);
	sd_event_source_disable_unref(a->deferred);
	sd_event_unref(a->event);
	free(a);
	return NULL;
}

void apply_freep(struct apply **a)
{
	apply_free(*a);
}

int apply_kick(struct apply *a, struct plan *plan, usec_t now)
{
	struct step *s;
	ssize_t n;
	int r;

	if (a->busy)
		return 1;
	s = plan_next(plan, now);
	if (!s) {
		if (!plan->running)
			disconnect(a);
		return 0;
	}
	plan_started(plan, s, now, &a->request);
	a->request.id = ++a->next_id;
	a->busy = true;

	r = ensure_connected(a);
	if (r < 0) {
		answer_self(a, SETUP_UNREACHABLE, r,
			r == -EAGAIN ? "it is busy with somebody else" : strerror(-r));
		return 1;
	}
	n = send(a->fd, &a->request, sizeof(a->request), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n != (ssize_t)sizeof(a->request))
		/* It went between two steps; the next attempt starts a new one. */
		answer_self(a, SETUP_DIED, n < 0 ? -errno : -EIO, "setup helper died");
	return 1;
}
