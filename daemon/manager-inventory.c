/* SPDX-License-Identifier: MIT */
/*
 * The inventory over time: when it is compared with the model, who is told, and where its picture
 * is kept. In the runtime directory it is written at once: that is memory. /var may be on a remote
 * file system that hangs just when a port is down, so that only a child process ever touches
 * /var/lib/rdmad, one at a time, and nobody waits for it. Where that directory is not there, not
 * ours or not writable the picture is not copied, and that is no fault (DESIGN section 4): changes
 * are then noticed within one boot only.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "inventory.h"
#include "log.h"
#include "macros.h"
#include "manager-internal.h"
#include "picture.h"

#define COPY_DIR "/var/lib/rdmad"
#define COPY_OF  "/run/rdmad"

/* Facts settle (a driver is loaded anew, udev renames) before they are compared. */
#define LOOK_DELAY    (2 * USEC_PER_SEC)
#define SAVE_INTERVAL (10 * USEC_PER_SEC)
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

enum job_kind {
	JOB_NONE,
	JOB_FETCH, /* the picture in COPY_DIR comes through a pipe */
	JOB_ASIDE, /* ... is none: keep it under another name */
	JOB_STORE,
};

/* What a child ends with, if not with an errno. */
#define JOB_OK     0
#define JOB_NO_DIR 255

/* The child that works on COPY_DIR. */
struct job {
	enum job_kind kind;
	pid_t pid;
	int fd;     /* JOB_FETCH: what it reads comes here; -1: all of it came */
	int result; /* -1: it runs */
	char *text;
	size_t size;
	sd_event_source *child, *io;
};

struct manager_inventory {
	struct manager *manager;
	struct inventory inv;
	struct picture_origin origin;
	usec_t started;
	int persists;     /* the copy could be written: 1, 0, or -1 not tried yet */
	bool copies;      /* there is a copy: not of a run by hand with a directory of its own */
	bool had_picture; /* of an earlier run: what is new since then is told */
	/* COPY_DIR was asked for an earlier boot's picture, and may be overwritten. */
	bool copy_asked;
	bool copy_due; /* the copy is older than the picture */
	usec_t copy_retry;
	usec_t saved_at; /* mono, 0: not in this run */
	int save_error;  /* said once per kind */
	int copy_error;
	struct job job;
	sd_event_source *look_timer, *save_timer, *copy_timer;
};

static void copy_step(struct manager_inventory *mi);

/* Makes a timer run at that time, or sooner if it was to. */
static void timer_by(sd_event_source *timer, usec_t mono)
{
	uint64_t at = 0;

	if (timer_is_armed(timer) && sd_event_source_get_time(timer, &at) >= 0 && at <= mono)
		return;
	sd_event_source_set_time(timer, mono);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

static void look_by(struct manager_inventory *mi, usec_t mono)
{
	if (mono != USEC_INFINITY)
		timer_by(mi->look_timer, mono);
}

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
		look_by(mi, 0);
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

static void save(struct manager_inventory *mi)
{
	write_picture(mi);
	copy_step(mi);
	timer_by(mi->save_timer, usec_add(mi->saved_at, REFRESH_INTERVAL));
}

static int on_save_timer(sd_event_source *s, uint64_t usec, void *user)
{
	(void)s;
	(void)usec;
	save(user);
	return 0;
}

static void save_soon(struct manager_inventory *mi)
{
	usec_t now = manager_now(mi->manager).mono;

	if (!mi->saved_at || usec_sub(now, mi->saved_at) >= SAVE_INTERVAL)
		save(mi);
	else
		timer_by(mi->save_timer, usec_add(mi->saved_at, SAVE_INTERVAL));
}

/* ---- comparing ---- */

static const char *port_netdev_of(const struct inventory_change *c)
{
	for (size_t i = 0; i < c->entry->n_ports; i++)
		if (c->port && c->entry->ports[i].number == c->port)
			return c->entry->ports[i].netdev;
	return NULL;
}

static void tell_record(struct manager *m, const struct inventory_record *i)
{
	struct event e = { .when = manager_now(m) };

	journal_inventory(i);
	STRSCPY(e.object, i->object);
	STRSCPY(e.reason, "inventory");
	STRSCPY(e.message, i->message);
	model_add_event(&m->model, &e);
	m->state_dirty = true;
}

static void tell(const struct inventory_change *c, void *user)
{
	struct manager_inventory *mi = user;
	char message[INVENTORY_MESSAGE_MAX], object[OBJECT_NAME_MAX];
	struct inventory_record i = {
		.object = inventory_object(object, c),
		.device = c->entry->name,
		.node_guid = c->entry->node_guid,
		.port = c->port,
		.netdev = port_netdev_of(c),
		.fact = inventory_fact_to_string(c->fact),
		.before = c->before,
		.after = c->after,
		.message = inventory_message(message, c),
	};

	tell_record(mi->manager, &i);
}

static void tell_gid_move(
	struct manager *m, const struct port *p, const struct gid_move *move, size_t n_more)
{
	char object[OBJECT_NAME_MAX], before[16], after[16], message[INVENTORY_MESSAGE_MAX];
	char address[ADDRESS_STRING_MAX];
	const char *type = gid_type_to_string(move->gid.type);
	struct inventory_record i = {
		.object = port_object(object, p),
		.device = p->device->facts.name,
		.node_guid = p->device->facts.node_guid,
		.port = p->number,
		.netdev = move->gid.netdev,
		.fact = "gid-index",
		.before = before,
		.after = after,
		.message = message,
	};
	int n;

	snprintf(before, sizeof(before), "%u", move->old_index);
	snprintf(after, sizeof(after), "%u", move->gid.index);
	n = snprintf(message, sizeof(message), "%s: GID %s%s%s%s has index %s, was %s", object,
		gid_address_format(address, move->gid.gid), type ? " (" : "", type ? type : "",
		type ? ")" : "", after, before);
	if (n_more > 0 && n > 0 && (size_t)n < sizeof(message))
		snprintf(message + n, sizeof(message) - (size_t)n, ", and %zu more have moved",
			n_more);
	tell_record(m, &i);
}

void manager_inventory_gids(struct manager *m, const struct port *p, const struct tables_update *u)
{
	size_t told = MIN(u->n_moves, (size_t)GID_MOVES_MAX);

	for (size_t i = 0; i < told; i++)
		tell_gid_move(m, p, &u->moves[i], i + 1 == told ? u->n_moves - told : 0);
}

/* Nobody waits for ever for a picture that a hung file system has. */
static bool fetch_is_awaited(const struct manager_inventory *mi, usec_t now)
{
	return mi->job.kind == JOB_FETCH && usec_sub(now, mi->started) < FETCH_PATIENCE;
}

/* What ports have shown before this run: they are judged by it. */
static void remember_best(struct manager_inventory *mi)
{
	struct manager *m = mi->manager;

	for (struct device *d = m->model.devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			struct port *p = &d->ports[i];
			const struct inventory_port *ip =
				inventory_find_port(&mi->inv, &d->facts, p->number);
			struct best_rate best = { 0 };

			if (!ip)
				continue;
			best.rate_mbps = ip->best_rate_mbps;
			best.link_layer = ip->link_layer;
			STRSCPY(best.width, ip->best_width);
			STRSCPY(best.speed, ip->best_speed);
			if (port_remember_best(p, &best))
				port_judge(m, p);
		}
}

static void look(struct manager_inventory *mi)
{
	struct manager *m = mi->manager;
	struct timepoint now = manager_now(m);
	usec_t again, due = usec_add(mi->started, m->config->missing_delay_usec);
	struct inventory_look look = {
		.model = &m->model,
		.now = now,
		.settled_at = due,
		.baseline = !mi->had_picture,
		.report = tell,
		.user = mi,
	};

	/* A listing that is complete calls again. */
	if (!m->model.listed || m->listing || m->list_failing)
		return;
	if (fetch_is_awaited(mi, now.mono)) {
		look_by(mi, usec_add(mi->started, FETCH_PATIENCE));
		return;
	}
	manager_miss_learned(m);
	if (inventory_look(&mi->inv, &look, &again) < 0) {
		look_by(mi, usec_add(now.mono, USEC_PER_MINUTE));
		return;
	}
	remember_best(mi);
	manager_recall_all(m);
	look_by(mi, again);
	if (now.mono < due)
		look_by(mi, due);
	/* Once in any case: until when everything was here. */
	if (mi->inv.changed || !mi->saved_at)
		save_soon(mi);
}

static int on_look_timer(sd_event_source *s, uint64_t usec, void *user)
{
	(void)s;
	(void)usec;
	look(user);
	return 0;
}

void manager_inventory_look_now(struct manager *m)
{
	look(m->inventory);
	if (m->inventory->inv.changed)
		save(m->inventory);
}

struct inventory *manager_inventory_of(struct manager *m)
{
	return &m->inventory->inv;
}

int manager_inventory_persists(const struct manager *m)
{
	return m->inventory->copies ? m->inventory->persists : 0;
}

void manager_inventory_look(struct manager *m)
{
	struct manager_inventory *mi = m->inventory;

	look_by(mi, usec_add(manager_now(m).mono, LOOK_DELAY));
}

/* ---- life ---- */

/* The picture of this boot, from memory; else a child looks for one of an earlier boot. */
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

static int add_timer(struct manager_inventory *mi, sd_event_source **ret, usec_t accuracy,
	sd_event_time_handler_t handler)
{
	int r;

	r = sd_event_add_time(
		mi->manager->event, ret, CLOCK_BOOTTIME, USEC_INFINITY, accuracy, handler, mi);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

int manager_inventory_new(struct manager *m)
{
	struct manager_inventory *mi = calloc(1, sizeof(*mi));
	int r;

	if (!mi)
		return -ENOMEM;
	m->inventory = mi;
	mi->manager = m;
	mi->job.fd = -1;
	mi->persists = -1;
	mi->copy_retry = COPY_RETRY_MIN;
	mi->copies = streq(m->options.runtime_dir, COPY_OF);
	mi->started = manager_now(m).mono;
	r = add_timer(mi, &mi->look_timer, 100 * USEC_PER_MSEC, on_look_timer);
	if (r < 0)
		return r;
	r = add_timer(mi, &mi->save_timer, USEC_PER_SEC, on_save_timer);
	if (r < 0)
		return r;
	r = add_timer(mi, &mi->copy_timer, USEC_PER_SEC, on_copy_timer);
	if (r < 0)
		return r;
	picture_origin_read(&mi->origin);
	load(mi);
	return 0;
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

/* What happened since the last picture, and that everything was here until now. */
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

struct manager_inventory *manager_inventory_free(struct manager_inventory *mi)
{
	if (!mi)
		return NULL;
	save_at_stop(mi);
	job_forget(&mi->job);
	sd_event_source_disable_unref(mi->look_timer);
	sd_event_source_disable_unref(mi->save_timer);
	sd_event_source_disable_unref(mi->copy_timer);
	inventory_done(&mi->inv);
	free(mi);
	return NULL;
}
