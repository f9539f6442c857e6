/* SPDX-License-Identifier: MIT */
/*
 * rdmactl events: what happened, from the journal, which is rdmad's only memory of it. Works
 * without the daemon.
 */
#include <errno.h>
#include <time.h>

#include "event-journal.h"
#include "event-text.h"
#include "events-remote.h"
#include "follow.h"
#include "macros.h"
#include "output.h"
#include "when.h"

#define LINES_DEFAULT 100

struct listing {
	const struct options *o;
	sd_journal *journal;
	size_t width; /* of the objects */
	size_t n;     /* printed so far */
	bool array;   /* JSON: all of them are one array; else one object a line */
};

static void print_json(struct listing *l, const struct event *e)
{
	struct options line = *l->o;
	json_t *v = event_json(e);

	if (!l->array)
		line.format = OUTPUT_JSON_SHORT;
	else if (l->n > 0)
		putchar(',');
	output_json(&line, v);
	json_decref(v);
}

/* Prints what there is. Returns 0, or a negative errno. */
static int print_all(struct listing *l)
{
	struct event e;
	int r;

	while ((r = event_journal_next(l->journal, l->o, &e)) > 0) {
		if (l->o->format == OUTPUT_TEXT)
			event_text_print(l->o, &e, l->width);
		else
			print_json(l, &e);
		l->n++;
		event_done(&e);
	}
	return r;
}

/* Waits for more, until it is ended. Returns 0, or a negative errno. */
static int follow(struct listing *l)
{
	int fd = sd_journal_get_fd(l->journal);
	/* Once more: what was written before the descriptor was there wakes nobody. */
	int r = fd < 0 ? fd : print_all(l);

	follow_begin();
	while (r >= 0 && follow_flush()) {
		usec_t deadline = USEC_INFINITY, now;
		struct timespec ts;
		int events = sd_journal_get_events(l->journal);

		/* The deadline is on the monotonic clock, which timepoint_now() does not tell. */
		clock_gettime(CLOCK_MONOTONIC, &ts);
		now = (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
		if (events < 0 || sd_journal_get_timeout(l->journal, &deadline) < 0)
			return -EIO;
		if (follow_wait(fd, (short)events,
			    deadline == USEC_INFINITY ? deadline : usec_sub(deadline, now)) ==
			FOLLOW_END)
			return 0;
		r = sd_journal_process(l->journal);
		if (r >= 0)
			r = print_all(l);
	}
	return r;
}

/* In place of the array: nothing is known, which is not the same as none. */
static void print_unknown(const struct options *o)
{
	if (o->format != OUTPUT_TEXT && !o->follow)
		puts("null");
}

static int failed(int error)
{
	output_error("The journal cannot be read: %s", strerror(-error));
	return output_close(EXIT_FAILED);
}

static int list(const struct options *o, sd_journal *j, usec_t since)
{
	struct listing l = { .o = o, .journal = j, .array = !o->follow };
	uint64_t max = o->lines != UINT64_MAX ? o->lines : o->since ? UINT64_MAX : LINES_DEFAULT;
	bool json = o->format != OUTPUT_TEXT;
	int r, any;

	any = event_journal_seek(j, o, since, max, &l.width);
	if (any < 0) {
		print_unknown(o);
		return failed(any);
	}
	if (!any)
		l.width = sizeof("mlx5_0/1");
	output_open(o);
	if (json && l.array)
		putchar('[');
	else if (!json && o->legend && (any || o->follow))
		event_text_head(l.width);
	r = any || o->follow ? print_all(&l) : 0;
	if (r >= 0 && o->follow)
		r = follow(&l);
	if (json && l.array)
		puts("]");
	if (r < 0)
		return failed(r);
	if (o->follow)
		return EXIT_SUCCESS;
	if (!json && o->legend && l.n == 0)
		printf("No events.\n");
	return output_close(EXIT_SUCCESS);
}

int verb_events(const struct options *o)
{
	_cleanup_(sd_journal_closep) sd_journal *j = NULL;
	struct options mine = *o;
	unsigned kinds;
	usec_t since = 0;
	int r;

	r = event_kinds_option(o, &kinds);
	if (r != 0)
		return r;
	r = o->since ? when_parse(o->since, timepoint_now().real, &since) : 0;
	if (r < 0) {
		output_error("--since=%s: %s", o->since,
			r == -ERANGE ? "there is no such time"
				     : "not a time such as yesterday, -1h or 2026-11-30 10:00");
		return EXIT_USAGE;
	}
	mine.pager = o->pager && !o->follow;
	if (o->host)
		return events_remote(&mine);
	r = event_journal_open(kinds, &j);
	if (r != 0) {
		print_unknown(o);
		return output_close(r);
	}
	return list(&mine, j, since);
}
