/* SPDX-License-Identifier: MIT */
/* What the files of the setup helper share. */
#pragma once

#include "macros.h"
#include "protocol.h"

/* The sentences of an answer. */
void answer_detail(struct setup_answer *a, const char *fmt, ...) _printf_(2, 3);
void answer_remedy(struct setup_answer *a, const char *fmt, ...) _printf_(2, 3);
void answer_conclude(struct setup_answer *a, enum step_result result, int error);

/* The start of a small file, stripped; "" when it cannot be read. Returns buf. */
const char *read_short(const char *path, char *buf, size_t size);
