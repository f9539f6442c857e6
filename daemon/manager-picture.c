/* SPDX-License-Identifier: MIT */
/*
 * Where the picture of the inventory is kept. In the runtime directory it is written at once: that
 * is memory. /var may be on a remote file system that hangs just when a port is down, so that only a
 * child process ever touches /var/lib/rdmad, one at a time, and nobody waits for it. Where that
 * directory is not there, not ours or not writable the picture is not copied, and that is no fault
 * (DESIGN section 4): changes are then noticed within one boot only.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "log.h"
#include "macros.h"
#include "manager-inventory.h"

#define COPY_DIR "/var/lib/rdmad"
#define COPY_OF  "/run/rdmad"

/* What was told of is kept before the next second is over, whatever happens to rdmad. */
#define SAVE_INTERVAL USEC_PER_SEC
/* When everything was last seen is written that often, though nothing changed. */
#define REFRESH_INTERVAL USEC_PER_DAY
/* An older one is written anew when rdmad stops. */
#define STALE_AT_STOP USEC_PER_HOUR
/* /var may be mounted after rdmad has started: the first wait, and the longest. */
#define COPY_RETRY_MIN USEC_PER_MINUTE
#define COPY_RETRY_MAX USEC_PER_HOUR
/* The first comparison waits so long for the picture of an earlier boot. */
#define FETCH_PATIENCE (5 * USEC_PER_SEC)
#define STOP_PATIENCE  USEC_PER_SEC

/* What a child ends with, if not with an errno. */
#define JOB_OK     0
#define JOB_NO_DIR 255

static void copy_step(struct manager_inventory *mi);

/* ---- the child ---- */

static _Noreturn void child_fetch(int fd)
{
	_cleanup_(freep) char *text = NULL;
	size_t left;
	char *p;
	int r;

	if (access(COPY_DIR, R_OK | X_OK) < 0)
		_exit(JOB_NO_DIR);
	r = picture_read(COPY_DIR, &text);
	if (r < 0)
		_exit(-r);
	p = text;
	for (left = strlen(text); left > 0;) {
		ssize_t n = write(fd, p, left);

		if (n < 0 && errno != EINTR)
			_exit(errno);
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
	_exit(JOB_OK);
}

static _Noreturn void child_main(enum job_kind kind, int fd, const char *text)
{
	int r = 0;

	/* Above all the sockets of the workers: they must see when rdmad ends. */
	if (fd >= 0 && dup2(fd, 3) < 0)
		_exit(errno);
	close_range(fd >= 0 ? 4 : 3, ~0u, 0);
	switch (kind) {
	case JOB_FETCH:
		child_fetch(3);
	case JOB_ASIDE:
		r = picture_set_aside(COPY_DIR);
		break;
	case JOB_STORE:
		r = picture_write(COPY_DIR, text);
		break;
	case JOB_NONE:
		break;
	}
	_exit(-r);
}

static void job_forget(struct job *j)
{
	j->child = sd_event_source_disable_unref(j->child);
	j->io = sd_event_source_disable_unref(j->io);
	j->fd = safe_close(j->fd);
	free(j->text);
	*j = (struct job){ .fd = -1 };
}

/* ---- what the child found ---- */

/* Says what is wrong with a picture. Returns whether it is to be set aside. */
static bool explain_bad(const char *dir, int error)
{
	if (error == -EXDEV) {
		log_info("%s/" PICTURE_NAME " is of another machine (a cloned image?): "
			 "not compared with",
			dir);
		return false;
	}
	log_warning("%s/" PICTURE_NAME " cannot be understood: kept as " PICTURE_NAME
		    ".bad, the inventory starts anew",
		dir);
	return true;
}

/*
 * An earlier boot's picture has come. What was learned meanwhile was taken as given: it is compared
 * now.
 */
static void take_picture(struct manager_inventory *mi, struct inventory *inv)
{
	inventory_done(&mi->inv);
	mi->inv = *inv;
	*inv = (struct inventory){ 0 };
	mi->had_picture = true;
}

/* Returns whether what was fetched is no picture, and is to be set aside. */
static bool fetched(struct manager_inventory *mi, int result, const char *text)
{
	struct inventory inv = { 0 };
	int r = -EBADMSG;

	if (result == JOB_NO_DIR) {
		mi->persists = 0;
		mi->manager->state_dirty = true;
		return false; /* maybe later */
	}
	mi->copy_asked = true;
	if (result == ENOENT)
		return false;
	if (result == JOB_OK)
		r = picture_parse(text, &mi->origin, &inv);
	else if (result != EFBIG && result != ELOOP)
		r = -result;
	if (r >= 0)
		take_picture(mi, &inv);
	else if (r == -EBADMSG || r == -EXDEV)
		return explain_bad(COPY_DIR, r);
	else
		log_warning(COPY_DIR "/" PICTURE_NAME " cannot be read: %s", strerror(-r));
	return false;
}

static void stored(struct manager_inventory *mi, int result)
{
	mi->persists = result == JOB_OK;
	mi->manager->state_dirty = true;
	if (result == JOB_OK) {
		mi->copy_retry = COPY_RETRY_MIN;
		mi->copy_error = 0;
		return;
	}
	mi->copy_due = true;
	if (result == ENOENT || result == EACCES || result == EPERM || result == EROFS) {
		log_debug(COPY_DIR " cannot be written to: %s", strerror(result));
		return;
	}
	if (result != mi->copy_error)
		log_warning(COPY_DIR "/" PICTURE_NAME " cannot be written: %s", strerror(result));
	mi->copy_error = result;
}

static int start_job(struct manager_inventory *mi, enum job_kind kind, const char *text);

/* The child has ended and everything from it is here: what is next? */
static void job_step(struct manager_inventory *mi)
{
	struct job *j = &mi->job;
	enum job_kind kind = j->kind;
	bool aside = false, go_on = true;

	if (j->result < 0 || j->fd >= 0)
		return;
	if (kind == JOB_FETCH) {
		aside = fetched(mi, j->result, j->text ? j->text : "");
		go_on = mi->copy_asked;
		inventory_look_by(mi, 0);
	} else if (kind == JOB_STORE) {
		stored(mi, j->result);
		go_on = j->result == JOB_OK;
	}
	job_forget(j);
	if (aside && start_job(mi, JOB_ASIDE, NULL) >= 0)
		return;
	if (!mi->copy_due)
		return;
	if (go_on) {
		copy_step(mi);
		return;
	}
	timer_by(mi->copy_timer, usec_add(manager_now(mi->manager).mono, mi->copy_retry));
	mi->copy_retry = MIN(2 * mi->copy_retry, COPY_RETRY_MAX);
}

static int on_child(sd_event_source *s, const siginfo_t *si, void *user)
{
	struct manager_inventory *mi = user;

	(void)s;
	mi->job.result = si->si_code == CLD_EXITED ? si->si_status : EIO;
	mi->job.pid = 0;
	job_step(mi);
	return 0;
}

/* Takes what has come; at the end of it closes the pipe. */
static int on_text(sd_event_source *s, int fd, uint32_t revents, void *user)
{
	struct manager_inventory *mi = user;
	struct job *j = &mi->job;
	char buf[16384], *text;
	ssize_t n;

	(void)s;
	(void)revents;
	n = read(fd, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && j->size + (size_t)n <= PICTURE_MAX) {
		text = realloc(j->text, j->size + (size_t)n + 1);
		if (text) {
			memcpy(text + j->size, buf, (size_t)n);
			j->text = text;
			j->size += (size_t)n;
			text[j->size] = '\0';
			return 0;
		}
	}
	j->io = sd_event_source_disable_unref(j->io);
	j->fd = safe_close(j->fd);
	job_step(mi);
	return 0;
}

static int start_job(struct manager_inventory *mi, enum job_kind kind, const char *text)
{
	_cleanup_(closep) int ours = -1, theirs = -1;
	struct job *j = &mi->job;
	sd_event *event = mi->manager->event;
	int fds[2], r;

	if (kind == JOB_FETCH) {
		if (pipe2(fds, O_CLOEXEC) < 0)
			return -errno;
		ours = fds[0];
		theirs = fds[1];
		if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	}
	j->pid = fork();
	if (j->pid < 0) {
		j->pid = 0;
		return -errno;
	}
	if (j->pid == 0)
		child_main(kind, theirs, text);
	j->kind = kind;
	j->result = -1;
	j->fd = TAKE_FD(ours);
	r = sd_event_add_child(event, &j->child, j->pid, WEXITED, on_child, mi);
	if (r >= 0 && j->fd >= 0)
		r = sd_event_add_io(event, &j->io, j->fd, EPOLLIN, on_text, mi);
	if (r < 0) {
		kill(j->pid, SIGKILL);
		job_forget(j);
	}
	return r;
}

/* Does what is to be done next in COPY_DIR, if nothing is being done there. */
static void copy_step(struct manager_inventory *mi)
{
	_cleanup_(freep) char *text = NULL;
	usec_t real = manager_now(mi->manager).real;
	int r;

	if (!mi->copies || mi->job.kind != JOB_NONE)
		return;
	if (!mi->copy_asked) {
		r = start_job(mi, JOB_FETCH, NULL);
	} else if (mi->copy_due) {
		r = picture_format(&mi->inv, &mi->origin, real, &text);
		if (r >= 0)
			r = start_job(mi, JOB_STORE, text);
		if (r >= 0)
			mi->copy_due = false;
	} else {
		return;
	}
	if (r < 0) {
		log_debug("the inventory cannot be copied: %s", strerror(-r));
		timer_by(mi->copy_timer, usec_add(manager_now(mi->manager).mono, COPY_RETRY_MAX));
	}
}

static int on_copy_timer(sd_event_source *s, uint64_t usec, void *user)
{
	(void)s;
	(void)usec;
	copy_step(user);
	return 0;
}

/* ---- saving ---- */

static void write_picture(struct manager_inventory *mi)
{
	struct manager *m = mi->manager;
	struct timepoint now = manager_now(m);
	_cleanup_(freep) char *text = NULL;
	int r;

	inventory_touch(&mi->inv, now.real);
	r = picture_format(&mi->inv, &mi->origin, now.real, &text);
	if (r >= 0)
		r = picture_write(m->options.runtime_dir, text);
	if (r < 0 && r != mi->save_error)
		log_warning("%s/" PICTURE_NAME " cannot be written: %s", m->options.runtime_dir,
			strerror(-r));
	mi->save_error = r;
	mi->inv.changed = false;
	mi->saved_at = now.mono;
	mi->copy_due = true;
}

void inventory_save(struct manager_inventory *mi)
{
	write_picture(mi);
	copy_step(mi);
	timer_by(mi->save_timer, usec_add(mi->saved_at, REFRESH_INTERVAL));
}

static int on_save_timer(sd_event_source *s, uint64_t usec, void *user)
{
	(void)s;
	(void)usec;
	inventory_save(user);
	return 0;
}

void inventory_save_soon(struct manager_inventory *mi)
{
	usec_t now = manager_now(mi->manager).mono;

	if (!mi->saved_at || usec_sub(now, mi->saved_at) >= SAVE_INTERVAL)
		inventory_save(mi);
	else
		timer_by(mi->save_timer, usec_add(mi->saved_at, SAVE_INTERVAL));
}

bool inventory_picture_awaited(const struct manager_inventory *mi, usec_t now)
{
	return mi->job.kind == JOB_FETCH && usec_sub(now, mi->started) < FETCH_PATIENCE;
}

usec_t inventory_picture_patience(const struct manager_inventory *mi)
{
	return usec_add(mi->started, FETCH_PATIENCE);
}

/* ---- life ---- */

static void load(struct manager_inventory *mi)
{
	const char *dir = mi->manager->options.runtime_dir;
	_cleanup_(freep) char *text = NULL;
	struct inventory inv = { 0 };
	int r;

	r = picture_read(dir, &text);
	if (r >= 0)
		r = picture_parse(text, &mi->origin, &inv);
	if (r >= 0) {
		take_picture(mi, &inv);
		mi->copy_asked = true;
		return;
	}
	if (r == -EBADMSG || r == -EXDEV || r == -EFBIG || r == -ELOOP) {
		if (explain_bad(dir, r))
			(void)picture_set_aside(dir);
	} else if (r != -ENOENT) {
		log_warning("%s/" PICTURE_NAME " cannot be read: %s", dir, strerror(-r));
	}
	copy_step(mi);
}

/* Waits for the child, but not for long. Returns whether it ended. */
static bool await_child(struct job *j)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	usec_t end = usec_add(timepoint_now().mono, STOP_PATIENCE);

	j->child = sd_event_source_disable_unref(j->child);
	while (j->pid > 0 && waitpid(j->pid, NULL, WNOHANG) == 0) {
		if (timepoint_now().mono >= end)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void save_at_stop(struct manager_inventory *mi)
{
	usec_t now = manager_now(mi->manager).mono;

	if (!mi->saved_at)
		return; /* nothing was compared */
	if (mi->inv.changed || usec_sub(now, mi->saved_at) >= STALE_AT_STOP)
		write_picture(mi);
	if (mi->job.kind != JOB_NONE && !await_child(&mi->job))
		return;
	job_forget(&mi->job);
	copy_step(mi);
	await_child(&mi->job);
}

int inventory_picture_new(struct manager_inventory *mi)
{
	struct manager *m = mi->manager;
	int r;

	mi->persists = -1;
	mi->copy_retry = COPY_RETRY_MIN;
	mi->copies = streq(m->options.runtime_dir, COPY_OF);
	r = manager_add_timer(m, &mi->save_timer, USEC_PER_SEC, on_save_timer, mi, "picture");
	if (r < 0)
		return r;
	r = manager_add_timer(m, &mi->copy_timer, USEC_PER_SEC, on_copy_timer, mi, "picture-copy");
	if (r < 0)
		return r;
	picture_origin_read(&mi->origin);
	load(mi);
	return 0;
}

void inventory_picture_done(struct manager_inventory *mi)
{
	save_at_stop(mi);
	job_forget(&mi->job);
	sd_event_source_disable_unref(mi->save_timer);
	sd_event_source_disable_unref(mi->copy_timer);
}
