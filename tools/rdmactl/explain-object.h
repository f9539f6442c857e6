/* SPDX-License-Identifier: MIT */
/*
 * "rdmactl explain OBJECT": what each rule came to.
 */
#pragma once

#include <jansson.h>

/* What Explain() said of an object, for people. v was made harmless. */
void explain_object_text(const json_t *v);
