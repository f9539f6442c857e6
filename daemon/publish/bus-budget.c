/* SPDX-License-Identifier: MIT */
#include "bus-budget.h"

#include "macros.h"

/* Use is forgiven as time goes by. */
static void forgive(struct budget *b, usec_t now)
{
	usec_t gone = usec_sub(now, b->at);

	b->at = now;
	b->large_used = usec_sub(b->large_used, gone / BUDGET_LARGE_SHARE);
	for (size_t i = 0; i < BUDGET_USERS; i++)
		b->users[i].used = usec_sub(b->users[i].used, gone);
	for (size_t i = 0; i < BUDGET_SENDERS; i++) {
		struct budget_use *u = &b->senders[i];

		u->used = usec_sub(u->used, gone / BUDGET_SENDER_SHARE);
		if (u->used == 0)
			u->sender[0] = '\0';
	}
}

static struct budget_use *find(struct budget *b, const char *sender)
{
	for (size_t i = 0; i < BUDGET_SENDERS; i++)
		if (streq(b->senders[i].sender, sender))
			return &b->senders[i];
	return NULL;
}

/* A place for one more: a free one, or that of the least busy. */
static struct budget_use *make_room(struct budget *b)
{
	struct budget_use *least = &b->senders[0];

	for (size_t i = 1; i < BUDGET_SENDERS; i++)
		if (b->senders[i].used < least->used)
			least = &b->senders[i];
	return least;
}

bool budget_allows(struct budget *b, const char *sender, bool large, usec_t now)
{
	const struct budget_use *u;

	forgive(b, now);
	u = find(b, sender);
	if (u && u->used > BUDGET_SENDER_BURST)
		return false;
	return !large || b->large_used <= BUDGET_LARGE_BURST;
}

void budget_spend(struct budget *b, const char *sender, bool large, usec_t spent, usec_t now)
{
	struct budget_use *u;

	forgive(b, now);
	if (large)
		b->large_used = usec_add(b->large_used, spent);
	if (spent == 0)
		return;
	u = find(b, sender);
	if (!u) {
		u = make_room(b);
		if (u->used > spent)
			return;
		*u = (struct budget_use){ 0 };
		STRSCPY(u->sender, sender);
	}
	u->used = MIN(usec_add(u->used, spent), BUDGET_SENDER_MAX);
}

bool budget_question(struct budget *b, uint32_t uid, usec_t now)
{
	struct budget_user *u = &b->users[0];

	forgive(b, now);
	/* Its own place, or that of the least busy. */
	for (size_t i = 0; i < BUDGET_USERS; i++) {
		struct budget_user *other = &b->users[i];

		if (other->used > 0 && other->uid == uid) {
			u = other;
			break;
		}
		if (other->used < u->used)
			u = other;
	}
	if (u->uid != uid)
		*u = (struct budget_user){ .uid = uid };
	if (u->used + BUDGET_QUESTION_COST > BUDGET_QUESTION_BURST)
		return false;
	u->used += BUDGET_QUESTION_COST;
	return true;
}
