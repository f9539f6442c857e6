/* SPDX-License-Identifier: MIT */
/*
 * "rdmactl explain REASON".
 */
#pragma once

#include <jansson.h>

#include "reason.h"

void explain_reason_text(enum reason_id id);
json_t *explain_reason_json(enum reason_id id);

/* Prints the names of all reasons, for completions. */
void explain_list_reasons(void);

/*
 * The text of a catalog entry (as sd_journal_get_catalog_for_message_id() gives it) as it reads when
 * there is no record that it could speak of: without its header and without the lines that only
 * repeat a field of the record; words for the other fields. Returns a new string or NULL.
 */
char *explain_catalog_text(const char *entry);
