/* SPDX-License-Identifier: MIT */
/*
 * The sentences that people read in the journal: object first, then what was found, what was
 * wanted, since when, and what to do (DESIGN rule 8). PURE.
 */
#pragma once

#include "model.h"
#include "storm.h"

#define MESSAGE_MAX 640

/* A condition appeared. before: how long the port was ACTIVE until then, 0 when that says nothing. */
void message_raised(
	char buf[MESSAGE_MAX], const char *object, const struct reason *r, usec_t before);

/* A condition still stands, for so long already. */
void message_reminder(
	char buf[MESSAGE_MAX], const char *object, const struct reason *r, usec_t stood);

/* Why a port is down that was told to be: the answer came later than the record had to go. */
void message_why(char buf[MESSAGE_MAX], const char *object, const struct reason *r);

/* A condition went away after standing that long. p may be NULL for what is no port. */
void message_cleared(char buf[MESSAGE_MAX], const char *object, const struct reason *r,
	usec_t stood, const struct port *p);

/* A condition was closed for a cause that is not its end: "no longer expected: …". */
void message_closed(char buf[MESSAGE_MAX], const char *object, const struct reason *r,
	const char *why, usec_t stood);

/* The link went down and up again n times without any reading showing it. */
void message_blip(char buf[MESSAGE_MAX], const char *object, unsigned n, const struct port *p);

/* The host's storm is over. */
void message_storm(char buf[MESSAGE_MAX], const struct storms *s);
