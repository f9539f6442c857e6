/* SPDX-License-Identifier: MIT */
/*
 * Reading rdmad's records out of the journal, forwards and backwards.
 */
#pragma once

#include <systemd/sd-journal.h>

#include "event.h"

/*
 * Opens the system's journal (or the directory in $RDMAD_JOURNAL_DIRECTORY) for records of those
 * kinds that rdmad or root wrote: anybody may write records that look like them. Returns 0, or the
 * exit status after having said why it cannot be read.
 */
int event_journal_open(unsigned kinds, sd_journal **ret);

/*
 * Goes to the first of the last max records that are selected and not before since, so that
 * event_journal_next() gives it, and measures the objects on the way (event_text_width()). Returns
 * 1, or 0 when there is none: then the next one is what comes in future. Or a negative errno.
 */
int event_journal_seek(
	sd_journal *j, const struct options *o, usec_t since, uint64_t max, size_t *ret_width);

/* The next record that is selected. Returns 1, 0 at the end, or a negative errno. */
int event_journal_next(sd_journal *j, const struct options *o, struct event *ret);
