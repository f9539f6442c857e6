/* SPDX-License-Identifier: MIT */
/*
 * Paths and attributes below the root that sysfs_set_root() chose. Paths are as on a live host,
 * "/sys/class/infiniband". On a live host they are opened as they are. With a root, links are
 * resolved as chroot(2) would, so that nothing outside of the tree is opened, and what is not a
 * regular file is no attribute: somebody else made the tree.
 */
#pragma once

#include <dirent.h>
#include <limits.h>

#include "macros.h"

DEFINE_CLEANUP(DIR *, closedir)

/* Whether this is the host's own sysfs and no captured tree. */
bool sysfs_is_live(void);

/* Opens a directory. Returns a descriptor to read attributes through, or negative errno. */
int sysfs_open_directory(const char *fmt, ...) _printf_(1, 2);

/* Opens a directory that is an entry, and not a link, of another one. */
int sysfs_open_subdirectory(int dirfd, const char *name);

/* The same for reading names. Returns NULL with errno set. */
DIR *sysfs_read_directory(const char *fmt, ...) _printf_(1, 2);

/* Writes the path without links, "/sys/devices/pci0000:00/..." within the root, to buf[PATH_MAX]. */
int sysfs_resolve(char *buf, const char *fmt, ...) _printf_(2, 3);

/* Opens an attribute for reading: entry of a directory, not a link, nothing but a regular file. */
int sysfs_open_attribute(int dirfd, const char *name);

/* The same for writing; what a regular file of a test tree holds goes. */
int sysfs_open_attribute_for_writing(int dirfd, const char *name);

/* Whether this can be one entry of a directory: not empty, no slash, not "." or "..". */
bool sysfs_is_name(const char *name);
