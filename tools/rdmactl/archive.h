/* SPDX-License-Identifier: MIT */
/* Captured trees as one file: directories that are ours alone, and tar. */
#pragma once

#include "timespan.h"

/* Makes a directory that only we can enter, below $TMPDIR; *ret is malloc'ed. 0 or negative errno. */
int private_directory(char **ret);

/* Removes it with everything in it, also what has been made unreadable. */
void remove_tree(const char *path);

/* Frees the name and removes the directory, for _cleanup_(). */
void private_directoryp(char **path);

/*
 * Runs a program that is in $PATH, without a shell and without stdin: its stdout to the descriptor
 * (-1: to nowhere). Returns its exit status, 128 + the signal that ended it, -ENOENT when there is no
 * such program, -ETIMEDOUT when it took longer and was killed, or another errno.
 */
int run_program(const char *const argv[], int output, usec_t timeout);

/* Unpacks a .tar.gz into a directory. Negative errno; -EBADMSG: tar did not like it. */
int archive_unpack(const char *file, const char *directory);

/* Packs a directory's content into an open file. */
int archive_pack(const char *directory, int output);
