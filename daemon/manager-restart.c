/* SPDX-License-Identifier: MIT */
/*
 * "rdmactl restart": the new binary is run as a child first, which checks that it starts and
 * understands what is kept. Only then this run ends. Either systemd starts the new one, in the
 * sandbox of the unit as it is now (exit status 133, RestartForceExitStatus=); or, in place, this
 * process becomes the new one: systemd sees no end of the unit, and stops nothing that requires it,
 * which on an automatic restart it does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "keep.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"

/* A disk may have to be read for it; nothing waits meanwhile. */
#define CHECK_TIMEOUT (20 * USEC_PER_SEC)

struct manager_restart {
	struct manager *manager;
	sd_bus_message *call;
	bool in_place;
	pid_t pid; /* of the child; 0: it has ended */
	int fd;    /* what it says; -1: all of it came */
	int status;
	bool late;
	size_t n_said;
	char said[512];
	sd_event_source *child, *io, *deadline;
};

/* The version, or why not: the first line. */
static const char *said(struct manager_restart *r)
{
	r->said[r->n_said] = '\0';
	r->said[strcspn(r->said, "\n")] = '\0';
	return r->said;
}

struct manager_restart *manager_restart_free(struct manager_restart *r)
{
	if (!r)
		return NULL;
	if (r->pid > 0)
		kill(r->pid, SIGKILL);
	sd_event_source_disable_unref(r->child);
	sd_event_source_disable_unref(r->io);
	sd_event_source_disable_unref(r->deadline);
	safe_close(r->fd);
	sd_bus_message_unref(r->call);
	free(r);
	return NULL;
}

static void refuse(struct manager *m, const char *why)
{
	struct manager_restart *r = m->restart;

	log_warning("not restarted: %s", why);
	bus_restart_refused(r->call, why);
	m->restart = manager_restart_free(r);
}

/* The child has ended, and everything from it is here. */
static void restart_step(struct manager_restart *r)
{
	struct manager *m = r->manager;
	char why[sizeof(r->said) + 64];

	if (r->pid > 0 || r->fd >= 0)
		return;
	if (r->late) {
		refuse(m, "the new binary did not say within 20s whether it can go on");
	} else if (r->status != 0) {
		snprintf(why, sizeof(why), "the new binary cannot go on: %s",
			said(r)[0] ? r->said : "it does not start");
		refuse(m, why);
	} else {
		log_info("version %s is to go on", said(r));
		bus_restart_accepted(r->call, r->said);
		m->ending = KEEP_WHY_RESTART;
		sd_event_exit(m->event, r->in_place ? MANAGER_EXIT_IN_PLACE : MANAGER_EXIT_ANEW);
	}
}

static int on_child(sd_event_source *s, const siginfo_t *si, void *user)
{
	struct manager_restart *r = user;

	(void)s;
	r->status = si->si_code == CLD_EXITED ? si->si_status : -1;
	r->pid = 0;
	restart_step(r);
	return 0;
}

static int on_said(sd_event_source *s, int fd, uint32_t revents, void *user)
{
	struct manager_restart *r = user;
	char rest[256];
	size_t room = sizeof(r->said) - 1 - r->n_said;
	ssize_t n;

	(void)s;
	(void)revents;
	n = room ? read(fd, r->said + r->n_said, room) : read(fd, rest, sizeof(rest));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0) {
		r->n_said += room ? (size_t)n : 0;
		return 0;
	}
	r->io = sd_event_source_disable_unref(r->io);
	r->fd = safe_close(r->fd);
	restart_step(r);
	return 0;
}

static int on_deadline(sd_event_source *s, uint64_t usec, void *user)
{
	struct manager_restart *r = user;

	(void)s;
	(void)usec;
	r->late = true;
	if (r->pid > 0)
		kill(r->pid, SIGKILL);
	return 0;
}

static _Noreturn void child_main(const struct manager_options *o, int fd)
{
	char root[4096];
	char *const argv[] = { (char *)o->binary, (char *)"--check-state", root, NULL };
	sigset_t none;

	snprintf(root, sizeof(root), "--root=%s", o->config_root);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(EXIT_FAILURE);
	close_range(3, ~0u, 0);
	execv(o->binary, argv);
	dprintf(STDOUT_FILENO, "%s: %s\n", o->binary, strerror(errno));
	_exit(EXIT_FAILURE);
}

static int start_check(struct manager_restart *r)
{
	_cleanup_(closep) int ours = -1, theirs = -1;
	struct manager *m = r->manager;
	int fds[2], k;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	ours = fds[0];
	theirs = fds[1];
	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	r->pid = fork();
	if (r->pid < 0) {
		r->pid = 0;
		return -errno;
	}
	if (r->pid == 0)
		child_main(&m->options, theirs);
	r->fd = TAKE_FD(ours);
	k = sd_event_add_child(m->event, &r->child, r->pid, WEXITED, on_child, r);
	if (k >= 0)
		k = sd_event_add_io(m->event, &r->io, r->fd, EPOLLIN, on_said, r);
	if (k >= 0)
		k = manager_add_timer(
			m, &r->deadline, USEC_PER_SEC, on_deadline, r, "restart-deadline");
	if (k >= 0)
		timer_in(r->deadline, CHECK_TIMEOUT);
	return k;
}

static void tell_asked(struct manager *m, uint32_t uid, bool in_place)
{
	char message[128], by[CALLER_MAX];
	const struct admin_record a = {
		.action = "restart",
		.object = "host",
		.by = manager_caller(uid, by),
		.message = message,
	};

	snprintf(message, sizeof(message), "restart%s asked for by %s", in_place ? " in place" : "",
		by);
	manager_tell_admin(m, &a);
}

int manager_restart(
	void *user, uint32_t uid, bool in_place, sd_bus_message *call, char *why, size_t why_size)
{
	struct manager *m = user;
	int r;

	if (m->restart) {
		snprintf(why, why_size, "a restart is under way already");
		return -EBUSY;
	}
	tell_asked(m, uid, in_place);
	r = manager_keep_save(m, "");
	if (r < 0) {
		snprintf(why, why_size, "what is known cannot be kept: %s", strerror(-r));
		return r;
	}
	m->restart = calloc(1, sizeof(*m->restart));
	if (!m->restart)
		return -ENOMEM;
	*m->restart = (struct manager_restart){
		.manager = m,
		.call = sd_bus_message_ref(call),
		.in_place = in_place,
		.fd = -1,
	};
	r = start_check(m->restart);
	if (r < 0)
		m->restart = manager_restart_free(m->restart);
	return r;
}
