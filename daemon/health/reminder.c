/* SPDX-License-Identifier: MIT */
#include "reminder.h"

#include "macros.h"

#define FIRST   USEC_PER_HOUR
#define LONGEST USEC_PER_DAY
#define DOUBLED 5 /* so many intervals are shorter than the longest */

usec_t reminder_due(const struct reason *r)
{
	/* 1 + 2 + 4 + ... */
	usec_t after = FIRST * ((1u << (MIN(r->reminders, DOUBLED - 1u) + 1)) - 1);

	if (r->severity == SEVERITY_NOTICE)
		return USEC_INFINITY;
	if (r->reminders >= DOUBLED)
		after += LONGEST * (r->reminders - DOUBLED + 1);
	return usec_add(r->since.mono, after);
}

bool reminder_take(struct reason *r, usec_t now)
{
	bool due = false;

	while (reminder_due(r) <= now) {
		r->reminders++;
		due = true;
	}
	return due && !r->ack.when.mono;
}
