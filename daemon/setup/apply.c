/* SPDX-License-Identifier: MIT */
#include "apply.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "log.h"
#include "macros.h"

/* One connection, and the step that it was sent. */
struct lane {
	struct apply *apply;
	sd_event_source *io;
	sd_event_source *deferred; /* an answer that we made ourselves */
	int fd;
	bool busy;
	struct setup_request request;
	struct setup_answer answer; /* for deferred */
};

struct apply {
	sd_event *event;
	struct lane lanes[PLAN_RUNS_MAX];
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	apply_done done;
	void *user;
};

static void disconnect(struct lane *l)
{
	l->io = sd_event_source_disable_unref(l->io);
	l->fd = safe_close(l->fd);
}

static void deliver(struct lane *l, const struct setup_answer *answer)
{
	struct setup_answer copy = *answer;

	l->busy = false;
	l->apply->done(l->apply->user, &l->request, &copy);
}

static int on_deferred(sd_event_source *source, void *userdata)
{
	struct lane *l = userdata;

	if (l->busy)
		deliver(l, &l->answer);
	return 0;
}

/* There will be no answer from the helper: give one that says why, on the next turn of the loop. */
static void answer_self(struct lane *l, enum setup_answer_flags flag, int error, const char *why)
{
	int r;

	disconnect(l);
	l->answer = setup_answer_make(
		&l->request, flag == SETUP_UNREACHABLE ? STEP_WAITING : STEP_FAILED, error);
	l->answer.flags = (uint32_t)flag;
	if (flag == SETUP_UNREACHABLE) {
		snprintf(l->answer.detail, sizeof(l->answer.detail),
			"setup helper is not reachable: %s", why);
		STRSCPY(l->answer.remedy, "systemctl start rdmad-setup.socket");
	} else {
		STRSCPY(l->answer.detail, why);
		STRSCPY(l->answer.remedy, error == -EPROTONOSUPPORT
						  ? "rdmactl restart"
						  : "journalctl -u rdmad-setup.service");
	}
	r = sd_event_source_set_enabled(l->deferred, SD_EVENT_ONESHOT);
	if (r < 0)
		log_debug("setup: cannot defer an answer: %s", strerror(-r));
}

/* One message, or the end of the connection. */
static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct lane *l = userdata;
	struct setup_answer answer = { 0 };
	ssize_t n;
	int r;

	/* One byte more would be another protocol; MSG_TRUNC tells the true length. */
	n = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (!l->busy) {
		/* Nothing was asked: the helper is ending, or confused. */
		disconnect(l);
		return 0;
	}
	if (n <= 0) {
		answer_self(l, SETUP_DIED, n < 0 ? -errno : -ECONNRESET, "setup helper died");
		return 0;
	}
	r = setup_answer_check(&answer, (size_t)n, &l->request);
	if (r == -EPROTONOSUPPORT)
		answer_self(l, 0, r, "setup helper is of another version than rdmad");
	else if (r < 0)
		answer_self(l, 0, r, "setup helper gave an answer that makes no sense");
	else
		deliver(l, &answer);
	return 0;
}

/* 0, or a negative errno. A unix connect() is done at once or not at all. */
static int ensure_connected(struct lane *l)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	_cleanup_(closep) int fd = -1;
	int r;

	if (l->fd >= 0)
		return 0;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	memcpy(sa.sun_path, l->apply->path, sizeof(sa.sun_path));
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	r = sd_event_add_io(l->apply->event, &l->io, fd, EPOLLIN, on_io, l);
	if (r < 0)
		return r;
	(void)sd_event_source_set_description(l->io, "setup-helper");
	l->fd = TAKE_FD(fd);
	return 0;
}

static int open_lane(struct apply *a, struct lane *l)
{
	int r;

	l->apply = a;
	l->fd = -1;
	r = sd_event_add_defer(a->event, &l->deferred, on_deferred, l);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(l->deferred, SD_EVENT_OFF);
}

int apply_new(sd_event *event, apply_done done, void *user, struct apply **ret)
{
	_cleanup_(apply_freep) struct apply *a = calloc(1, sizeof(*a));
	const char *path = secure_getenv("RDMAD_SETUP_SOCKET");
	int r = 0;

	if (!a)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(a->lanes); i++)
		a->lanes[i].fd = -1;
	if (!path || !*path)
		path = SETUP_SOCKET_PATH;
	if (strlen(path) >= sizeof(a->path))
		return -ENAMETOOLONG;
	STRSCPY(a->path, path);
	a->event = sd_event_ref(event);
	a->done = done;
	a->user = user;
	for (size_t i = 0; i < ARRAY_SIZE(a->lanes) && r >= 0; i++)
		r = open_lane(a, &a->lanes[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(a);
	return 0;
}

struct apply *apply_free(struct apply *a)
{
	if (!a)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(a->lanes); i++) {
		disconnect(&a->lanes[i]);
		sd_event_source_disable_unref(a->lanes[i].deferred);
	}
	sd_event_unref(a->event);
	free(a);
	return NULL;
}

void apply_freep(struct apply **a)
{
	apply_free(*a);
}

static void send_step(struct lane *l)
{
	ssize_t n;
	int r;

	l->busy = true;
	r = ensure_connected(l);
	if (r < 0) {
		answer_self(l, SETUP_UNREACHABLE, r,
			r == -EAGAIN ? "it is busy with somebody else" : strerror(-r));
		return;
	}
	n = send(l->fd, &l->request, sizeof(l->request), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n != (ssize_t)sizeof(l->request))
		/* It went between two steps; the next attempt starts a new one. */
		answer_self(l, SETUP_DIED, n < 0 ? -errno : -EIO, "setup helper died");
}

/* One that is connected already, if there is one. */
static struct lane *free_lane(struct apply *a)
{
	struct lane *free = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(a->lanes); i++)
		if (!a->lanes[i].busy && (!free || a->lanes[i].fd >= 0))
			free = &a->lanes[i];
	return free;
}

void apply_kick(struct apply *a, struct plan *plan, usec_t now)
{
	struct lane *l;
	struct step *s;

	while ((s = plan_next(plan, now)) && (l = free_lane(a))) {
		plan_started(plan, s, now, &l->request);
		send_step(l);
	}
	for (size_t i = 0; i < ARRAY_SIZE(a->lanes); i++)
		if (!a->lanes[i].busy)
			disconnect(&a->lanes[i]);
}
