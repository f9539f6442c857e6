/* SPDX-License-Identifier: MIT */
/* Why the kernel refuses a step, in words that say what to do. */
#pragma once

#include "macros.h"
#include "protocol.h"

/* The sentences of an answer. */
void answer_detail(struct setup_answer *a, const char *fmt, ...) _printf_(2, 3);
void answer_remedy(struct setup_answer *a, const char *fmt, ...) _printf_(2, 3);
void answer_conclude(struct setup_answer *a, enum step_result result, int error);

/* The start of a small file, stripped; "" when it cannot be read. Returns buf. */
const char *read_short(const char *path, char *buf, size_t size);

/*
 * Result, detail and remedy for a step of any kind. error: the negative errno that looking at it, or
 * doing it, came to. Of a module a->module is its real name, where that is known.
 */
void explain_refusal(const struct setup_request *req, int error, struct setup_answer *a);
