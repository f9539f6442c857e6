/* SPDX-License-Identifier: MIT */
/*
 * What the files of rdmad-probe share: probe.c (the main thread: requests, events), probe-query.c
 * (listing, ports, contexts) and probe-slow.c (what may take its time). For nobody else.
 */
#pragma once

#include <pthread.h>

#include "protocol.h"
#include "verbs.h"

struct nldev;

struct job {
	struct wire_message request;
	/* result of WIRE_WATCH, for the main thread */
	struct async_context *context;
	int error;
	bool pins;
	bool cancelled; /* WIRE_UNWATCH came before the answer */
	struct job *next;
};

struct job_list {
	struct job *first, **last;
};

/* A thread that does one job after the other. */
struct lane {
	pthread_cond_t cond;
	struct job_list todo; /* under probe.lock */
	struct job *running;  /* likewise */
	struct nldev *nldev;  /* this thread's own socket; NULL not opened yet */
	void (*work)(struct lane *l, struct job *j);
};

struct probe {
	int fd;
	int wakeup; /* eventfd: a watch job is done */
	pthread_mutex_t lock;
	struct job_list done; /* watches; under lock */
	struct lane query, slow;
};

extern struct probe probe;

/* Sends an answer. A lost socket means that rdmad is gone: there is nobody to work for. */
void probe_send(struct wire_message *m);

/* Opens the lane's RDMA netlink socket, unless there is no RDMA: -EPROTONOSUPPORT. */
int lane_open_nldev(struct lane *l);

/* The same for one device: -EPROTONOSUPPORT also where its index means nothing to RDMA netlink. */
int lane_open_nldev_for(struct lane *l, uint32_t device_index);

void query_work(struct lane *l, struct job *j);
void slow_work(struct lane *l, struct job *j);

/* probe-devlink.c, for the slow lane: WIRE_READ_DEVLINK, WIRE_READ_SWITCH, WIRE_FORGET. */
void devlink_work(const struct wire_message *request);
void devlink_work_switch(const struct wire_message *request);
void devlink_forget(uint32_t device_index);
