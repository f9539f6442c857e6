/* SPDX-License-Identifier: MIT */
/*
 * Files of this host, or of a tree that stands for one. Paths are absolute, "/etc/os-release". Below
 * a tree links are resolved as chroot(2) would, so that nothing outside of it is opened.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct host_root {
	int fd;
	bool live;          /* this host */
	const char *prefix; /* to be shown before a path; "" on this host */
	char release[65];   /* of the kernel; "" unknown */
};

/* tree NULL: this host. 0 or negative errno. */
int host_root_open(struct host_root *h, const char *tree);
void host_root_done(struct host_root *h);

/* A descriptor, or negative errno. */
int host_open(const struct host_root *h, const char *path, int flags);

/* What the path leads to. 0 or negative errno. */
int host_stat(const struct host_root *h, const char *path, struct stat *ret);
bool host_exists(const struct host_root *h, const char *path);

/* Whether the path is a link to /dev/null, which is how units and rules are masked. */
bool host_is_mask(const struct host_root *h, const char *path);

/* Reads a regular file of at most max bytes, terminated. 0 or negative errno. */
int host_read(const struct host_root *h, const char *path, size_t max, char **ret);

/* Reads one line, without white space at its ends, into buf. 0 or negative errno. */
int host_read_line(const struct host_root *h, const char *path, char *buf, size_t size);

/* NULL when it cannot be listed. */
DIR *host_opendir(const struct host_root *h, const char *path);

/* The names in a directory that are no dot files, sorted; NULL ends them. NULL: none, or no memory. */
char **host_list(const struct host_root *h, const char *path);
