/* SPDX-License-Identifier: MIT */
#include "sysfs-attr.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "macros.h"
#include "parse.h"
#include "sysfs-root.h"

/* Reads all of an attribute and terminates it. Returns the length. */
static ssize_t read_all(int dirfd, const char *name, char buf[ATTR_SIZE_MAX + 2])
{
	_cleanup_(closep) int fd = -1;
	ssize_t n;

	fd = sysfs_open_attribute(dirfd, name);
	if (fd < 0)
		return fd;
	/* One read: sysfs gives the whole attribute to it, and a second one would be a system call
	 * more. */
	n = read(fd, buf, ATTR_SIZE_MAX + 1);
	if (n < 0)
		return -errno;
	if (n > ATTR_SIZE_MAX)
		return -EFBIG;
	buf[n] = '\0';
	return n;
}

/* The length of the UTF-8 character at s, 0 when there is none (RFC 3629; no control character). */
static size_t utf8_length(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	n = s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc0 || s[0] >= 0xf8)
		return 0;
	c = s[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0; /* the terminating NUL ends it here, too */
		c = c << 6 | (s[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < 0xa0)
		return 0;
	return n;
}

/* Copies text as far as it fits; false when it is no text. */
static bool copy_text(char *buf, size_t size, const char *text)
{
	size_t fits = 0, at = 0;

	while (text[at]) {
		size_t n = utf8_length((const unsigned char *)text + at);

		if (n == 0)
			return false;
		at += n;
		if (at < size)
			fits = at;
	}
	memcpy(buf, text, fits);
	buf[fits] = '\0';
	return true;
}

static int read_line(int dirfd, const char *name, char line[ATTR_SIZE_MAX + 2], char **ret)
{
	ssize_t n = read_all(dirfd, name, line);

	if (n < 0)
		return (int)n;
	/* Some drivers hand out a buffer of fixed length with NULs behind the text. */
	while (n > 0 && line[n - 1] == '\0')
		n--;
	if (memchr(line, '\0', (size_t)n))
		return -EBADMSG;
	*ret = strstrip(line);
	return **ret ? 0 : -ENODATA;
}

int attr_read_text(int dirfd, const char *name, char *buf, size_t size)
{
	char line[ATTR_SIZE_MAX + 2], *text = NULL;
	int r;

	r = read_line(dirfd, name, line, &text);
	if (r < 0)
		return r;
	return copy_text(buf, size, text) ? 0 : -EBADMSG;
}

int attr_read(int dirfd, const char *name, char *buf, size_t size)
{
	char line[ATTR_SIZE_MAX + 2], copy[ATTR_SIZE_MAX + 2], *text = NULL;
	int r;

	r = read_line(dirfd, name, line, &text);
	if (r < 0)
		return r;
	if (!copy_text(copy, sizeof(copy), text))
		return -EBADMSG;
	if (strlen(copy) >= size)
		return -E2BIG;
	strcpy(buf, copy);
	return 0;
}

int attr_read_u64(int dirfd, const char *name, uint64_t *ret)
{
	char text[32];
	int r = attr_read(dirfd, name, text, sizeof(text));

	return r < 0 ? r : parse_u64(text, ret);
}

int attr_read_u32(int dirfd, const char *name, uint32_t *ret)
{
	char text[32];
	int r = attr_read(dirfd, name, text, sizeof(text));

	return r < 0 ? r : parse_u32(text, ret);
}

/* Exactly n digits. */
static bool parse_hex_digits(const char *s, size_t n, uint32_t *ret)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		int c = tolower((unsigned char)s[i]);

		if (!isxdigit(c))
			return false;
		v = v << 4 | (uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return true;
}

int attr_read_hex(int dirfd, const char *name, uint32_t max, uint32_t *ret)
{
	char text[16];
	uint32_t v;
	size_t digits;
	int r;

	r = attr_read(dirfd, name, text, sizeof(text));
	if (r < 0)
		return r;
	if (strncmp(text, "0x", 2) != 0)
		return -EINVAL;
	digits = strlen(text + 2);
	if (digits < 1 || digits > 8 || !parse_hex_digits(text + 2, digits, &v))
		return -EINVAL;
	if (v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int attr_read_groups(int dirfd, const char *name, uint8_t *buf, size_t n)
{
	char text[64];
	uint8_t bytes[16];
	int r;

	r = attr_read(dirfd, name, text, sizeof(text));
	if (r < 0)
		return r;
	if (n > sizeof(bytes) / 2 || strlen(text) != 5 * n - 1)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		const char *group = text + 5 * i;
		uint32_t v;

		if (!parse_hex_digits(group, 4, &v) || (group[4] && group[4] != ':'))
			return -EINVAL;
		bytes[2 * i] = (uint8_t)(v >> 8);
		bytes[2 * i + 1] = (uint8_t)v;
	}
	memcpy(buf, bytes, 2 * n);
	return 0;
}

int attr_read_guid(int dirfd, const char *name, uint64_t *ret)
{
	uint8_t bytes[8];
	uint64_t v = 0;
	int r;

	r = attr_read_groups(dirfd, name, bytes, 4);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(bytes); i++)
		v = v << 8 | bytes[i];
	*ret = v;
	return 0;
}

int attr_read_numbered(int dirfd, const char *name, int32_t *ret)
{
	char text[128];
	size_t digits;
	int r;

	r = attr_read_text(dirfd, name, text, sizeof(text));
	if (r < 0)
		return r;
	digits = strspn(text, "0123456789");
	if (digits < 1 || digits > 3 || text[digits] != ':')
		return -EINVAL;
	*ret = (int32_t)strtol(text, NULL, 10);
	return 0;
}

int attr_link(int dirfd, const char *name, char *buf, size_t size)
{
	char target[PATH_MAX];
	const char *slash;
	ssize_t n;

	if (!sysfs_is_name(name))
		return -EINVAL;
	n = readlinkat(dirfd, name, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	slash = strrchr(target, '/');
	slash = slash ? slash + 1 : target;
	if (!sysfs_is_name(slash))
		return -EBADMSG;
	if (strlen(slash) >= size)
		return -E2BIG;
	return copy_text(buf, size, slash) ? 0 : -EBADMSG;
}

int attr_uevent(int dirfd, const char *key, char *buf, size_t size)
{
	char text[ATTR_SIZE_MAX + 2], *line, *next = text;
	size_t len = strlen(key);
	ssize_t n;

	n = read_all(dirfd, "uevent", text);
	if (n < 0)
		return (int)n;
	while ((line = strsep(&next, "\n"))) {
		if (strncmp(line, key, len) != 0 || line[len] != '=')
			continue;
		line += len + 1;
		if (strlen(line) >= size)
			return -E2BIG;
		return copy_text(buf, size, line) ? 0 : -EBADMSG;
	}
	return -ENODATA;
}

int attr_write(int dirfd, const char *name, const char *text)
{
	_cleanup_(closep) int fd = sysfs_open_attribute_for_writing(dirfd, name);
	size_t size = strlen(text);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, text, size);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}
