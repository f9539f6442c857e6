/* SPDX-License-Identifier: MIT */
#include "kept-files.h"

#include <errno.h>
#include <fcntl.h>

#include "file.h"
#include "log.h"
#include "macros.h"
#include "publish.h"

struct keep_origin kept_origin(const struct picture_origin *o)
{
	return (struct keep_origin){ .machine = o->machine, .board = o->board, .boot = o->boot };
}

static int read_text(const char *dir, const char *name, char **ret)
{
	char path[4096];
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = file_read(path, O_NOFOLLOW, KEEP_MAX, ret, NULL);
	return r == -EINVAL || r == -EFBIG || r == -ELOOP ? -EBADMSG : r; /* none of ours */
}

void kept_done(struct model *m)
{
	for (struct device *d = m->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++)
			free(d->ports[i].user);
	model_done(m);
}

/* A text that makes no sense is kept for whoever wants to know what was in it. */
static void set_aside(const char *dir, const char *name, int error)
{
	if (error == -EBADMSG) {
		int r = state_file_set_aside(dir, name);

		if (r < 0)
			log_warning("%s/%s cannot be understood, nor kept as %s.bad: %s", dir, name,
				name, strerror(-r));
		else
			log_warning("%s/%s cannot be understood: kept as %s.bad", dir, name, name);
	} else if (error == -ENOTSUP) {
		log_notice("%s/%s is of a newer version of rdmad that this one cannot read", dir,
			name);
	} else if (error == -EXDEV) {
		log_notice("%s/%s is of another machine", dir, name);
	} else if (error != -ENOENT && error != -ESTALE) {
		log_warning("%s/%s cannot be read: %s", dir, name, strerror(-error));
	}
}

static int read_counters(const char *dir, const struct keep_origin *o, struct model *m)
{
	_cleanup_(freep) char *text = NULL;
	int r = read_text(dir, COUNTERS_NAME, &text);

	return r < 0 ? r : keep_counters_parse(text, o, m);
}

static int read_state(const char *dir, const struct keep_origin *o, struct keep *k)
{
	_cleanup_(freep) char *text = NULL;
	int r = read_text(dir, STATE_NAME, &text);

	return r < 0 ? r : keep_parse(text, o, k);
}

int kept_read(const char *dir, const struct picture_origin *origin, struct keep *k)
{
	struct keep_origin o = kept_origin(origin);
	int r;

	r = read_state(dir, &o, k);
	if (r >= 0)
		(void)read_counters(dir, &o, k->model);
	return r;
}

int kept_load(const char *dir, const struct picture_origin *origin, struct keep *k)
{
	struct keep_origin o = kept_origin(origin);
	int r;

	r = read_state(dir, &o, k);
	if (r < 0) {
		set_aside(dir, STATE_NAME, r);
		return r;
	}
	r = read_counters(dir, &o, k->model);
	if (r < 0)
		set_aside(dir, COUNTERS_NAME, r);
	return 0;
}
