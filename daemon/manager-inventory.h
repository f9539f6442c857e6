/* SPDX-License-Identifier: MIT */
/*
 * What manager-inventory.c (when it is compared, and who is told) and manager-picture.c (where it is
 * kept) share. For nobody else.
 */
#pragma once

#include "inventory.h"
#include "manager-internal.h"
#include "picture.h"

enum job_kind {
	JOB_NONE,
	JOB_FETCH, /* the picture in COPY_DIR comes through a pipe */
	JOB_ASIDE, /* ... is none: keep it under another name */
	JOB_STORE,
};

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

/* Makes a timer run at that time, or sooner if it was to. */
void timer_by(sd_event_source *timer, usec_t mono);

/* The inventory is to be compared with the model at that time, or sooner. */
void inventory_look_by(struct manager_inventory *mi, usec_t mono);

/* ---- manager-picture.c ---- */

/* Opens its timers and loads the picture: of this boot, else a child looks for an earlier one's. */
int inventory_picture_new(struct manager_inventory *mi);

/* Saves what happened since the last picture; what is being done with its copy ends. */
void inventory_picture_done(struct manager_inventory *mi);

/* Writes the picture, now or as soon as the last one is old enough; its copy follows. */
void inventory_save(struct manager_inventory *mi);
void inventory_save_soon(struct manager_inventory *mi);

/* Whether an earlier boot's picture may still come. Nobody waits for ever for a hung file system. */
bool inventory_picture_awaited(const struct manager_inventory *mi, usec_t now);

/* Until when that is waited for. */
usec_t inventory_picture_patience(const struct manager_inventory *mi);
