/* SPDX-License-Identifier: MIT */
/*
 * Attributes. Whatever an attribute is (a directory, unreadable, empty, junk), the answer is
 * a negative errno, its output is untouched, and nothing else suffers. The directory is given by a
 * descriptor (sysfs_open_directory()), which may be negative: then nothing in it can be read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* No attribute is longer: sysfs gives a driver one page to fill. */
#define ATTR_SIZE_MAX 4096

/*
 * Reads one line of UTF-8 without control characters, white space at both ends removed. -ENODATA: it
 * is blank. -EBADMSG: it is something else. -EFBIG: longer than ATTR_SIZE_MAX. -E2BIG: it does not
 * fit.
 */
int attr_read(int dirfd, const char *name, char *buf, size_t size);

/* The same for texts of which the beginning is worth having: cuts, between characters, what is more. */
int attr_read_text(int dirfd, const char *name, char *buf, size_t size);

/* Decimal, nothing else. */
int attr_read_u32(int dirfd, const char *name, uint32_t *ret);
int attr_read_u64(int dirfd, const char *name, uint64_t *ret);

/* Hexadecimal with "0x". -ERANGE above max. */
int attr_read_hex(int dirfd, const char *name, uint32_t max, uint32_t *ret);

/* "0a7f:bc12:45ef:d23b", a GUID, as a number; n 16-bit groups of a GID or GUID in network order. */
int attr_read_guid(int dirfd, const char *name, uint64_t *ret);
int attr_read_groups(int dirfd, const char *name, uint8_t *buf, size_t n);

/* The number before the colon: "4: ACTIVE". At most 3 digits. */
int attr_read_numbered(int dirfd, const char *name, int32_t *ret);

/* The last component of where a link points to. It need not exist. -EINVAL: not a link. */
int attr_link(int dirfd, const char *name, char *buf, size_t size);

/* The value of KEY=VALUE in the "uevent" of a device. -ENODATA: it has no such line. */
int attr_uevent(int dirfd, const char *key, char *buf, size_t size);

/* Writes a text as it is, by one write(2). Errors are those of the kernel and of whoever shows it. */
int attr_write(int dirfd, const char *name, const char *text);
