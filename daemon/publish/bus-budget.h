/* SPDX-License-Identifier: MIT */
/*
 * How much of the daemon's time the callers on the bus may take, each and all together. Anybody may
 * read, so anybody may ask without end; ports are to be watched nevertheless, and others answered.
 * What is counted is the time that was really spent, so that it fits any machine and any number of
 * ports. The clock is the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timespan.h"

/* What one connection may use at once, and in the long run: an eighth of the time. */
#define BUDGET_SENDER_BURST (250 * USEC_PER_MSEC)
#define BUDGET_SENDER_SHARE 8
/* What asks for everything may use of it, for all: a quarter of the time. */
#define BUDGET_LARGE_BURST (1 * USEC_PER_SEC)
#define BUDGET_LARGE_SHARE 4
/* Who asks on though refused waits no longer than this, in use, once it stops. */
#define BUDGET_SENDER_MAX (2 * BUDGET_SENDER_BURST)
/* Connections that are known one by one; of more the least busy are forgotten. */
#define BUDGET_SENDERS 32

/*
 * Questions to polkit, each of which is a dozen messages on the bus: what a user may ask at once,
 * and what one more costs of the time until it is forgiven (so four a second).
 */
#define BUDGET_QUESTION_COST  (USEC_PER_SEC / 4)
#define BUDGET_QUESTION_BURST (32 * BUDGET_QUESTION_COST)
/* Users that are known one by one. */
#define BUDGET_USERS 8

struct budget_user {
	uint32_t uid;
	usec_t used; /* 0: free */
};

struct budget_use {
	char sender[32]; /* a unique name on the bus; empty: free */
	usec_t used;
};

/* Starts zeroed. */
struct budget {
	struct budget_use senders[BUDGET_SENDERS];
	struct budget_user users[BUDGET_USERS];
	usec_t large_used;
	usec_t at; /* mono; when the above was right */
};

/* Whether a call of this sender is to be answered; large: it asks for everything. */
bool budget_allows(struct budget *b, const char *sender, bool large, usec_t now);

/* So long did it take, refusals included. */
void budget_spend(struct budget *b, const char *sender, bool large, usec_t spent, usec_t now);

/* Whether polkit may be asked one more thing on behalf of this user; counts it if so. */
bool budget_question(struct budget *b, uint32_t uid, usec_t now);
