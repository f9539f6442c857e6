/* SPDX-License-Identifier: MIT */
/* Reading files that others wrote, and may have replaced by anything. */
#pragma once

#include <stddef.h>

/*
 * Opens a path as open(2) does, with O_CLOEXEC; tree: of the tree that this directory stands for, whose links
 * lead to what is in it, -1: of this host. A file descriptor or negative errno.
 */
int file_open_within(int tree, const char *path, int flags);

/*
 * Reads a regular file whole; *ret is malloc'ed and ends with a zero byte that *ret_size (may be
 * NULL) does not count. Never waits for a FIFO. flags: more of open(2), as O_NOFOLLOW. -EINVAL for
 * what is no regular file, -EFBIG beyond max bytes, or another negative errno.
 */
int file_read(const char *path, int flags, size_t max, char **ret, size_t *ret_size);
