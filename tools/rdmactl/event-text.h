/* SPDX-License-Identifier: MIT */
/*
 * Events as lines for people: time, object, message. Written one by one, as they come, so that the
 * memory does not grow with their number.
 */
#pragma once

#include "event.h"

/* How wide the column of objects is to be for those seen so far; begins with 0. */
size_t event_text_width(size_t so_far, const struct event *e);

void event_text_head(size_t object_width);
void event_text_print(const struct options *o, const struct event *e, size_t object_width);
