/* SPDX-License-Identifier: MIT */
/* The pool (pool.c: who is asked what) and its workers (worker.c: a process each, and how long it may take). */
#pragma once

#include "pool.h"
#include "protocol.h"

struct request {
	uint32_t id;
	usec_t sent;
	bool of_device; /* of the device below; the others are of the host */
	uint32_t device_index;
	struct request *next;
};

/* What is not answered and found the socket full. */
struct command {
	struct wire_message message;
	struct command *next;
};

/* The threads of a worker. */
enum lane_id {
	LANE_QUERY,
	LANE_SLOW,
	_LANE_MAX,
};

struct lane {
	struct worker *worker;
	struct request *first, **last; /* oldest first; answered in order, but for watches */
	size_t n;
	usec_t answered; /* when the last answer came: who waits behind others is not late yet */
	sd_event_source *timer;
};

struct worker {
	struct pool *pool;
	char adapter[64];
	pid_t pid; /* 0: none */
	int fd;    /* -1: none, or given up */
	usec_t started;
	struct lane lanes[_LANE_MAX];
	struct command *unsent, **unsent_end; /* go before any request */
	enum pool_silence silence;            /* of the query lane */
	bool slow_late;
	bool dropped; /* its adapter is gone: forget it once it is dead */
	sd_event_source *io, *child;
	struct worker *next;
};

struct pool {
	sd_event *event;
	struct pool_callbacks cb;
	void *user;
	char *worker_path;
	usec_t timeout;
	uint32_t next_id;
	struct worker *workers;
};

/* ---- worker.c ---- */

/* When the loop began to handle what it handles now. */
usec_t pool_now(const struct pool *p);

/* Starts its process unless that runs. -EBUSY: not yet, the one before is not dead or was started just now. */
int worker_start(struct worker *w);

/* Drops the connection, and what waits for an answer with it; the process ends by itself then. */
void worker_disconnect(struct worker *w);

/* Kills it: it is reaped when it can die. Who waits for its answers is told (lost). */
void worker_give_up(struct worker *w);
void worker_free(struct worker *w);

/* Arms the timer for the oldest request: once at its deadline, once more at twice that. */
int lane_arm(struct lane *l);

/* What was asked of the device is waited for no more. */
void lane_forget_device(struct lane *l, uint32_t device_index);
