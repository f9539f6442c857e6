/* SPDX-License-Identifier: MIT */
/*
 * Cleanup attributes and the few macros that every room uses. Nothing here knows about RDMA.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define _cleanup_(f)   __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_       __attribute__((unused))
#define _warn_unused_  __attribute__((warn_unused_result))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MAX(a, b)     ((a) > (b) ? (a) : (b))

/* Hands a resource over: the variable forgets it, so that its cleanup does nothing. */
#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) _taken = (p); \
		(p) = NULL;                 \
		_taken;                     \
	})

#define TAKE_FD(fd)                \
	({                         \
		int _taken = (fd); \
		(fd) = -1;         \
		_taken;            \
	})

/* Defines NAMEp(), which _cleanup_() calls with a pointer to the variable. */
#define DEFINE_CLEANUP(type, name)          \
	static inline void name##p(type *p) \
	{                                   \
		if (*p)                     \
			name(*p);           \
	}

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* A list of strings that NULL ends, with the strings. */
static inline void strv_freep(char ***v)
{
	for (char **s = *v; s && *s; s++)
		free(*s);
	free(*v);
}

/* Closes a descriptor if there is one; returns -1 so that a variable can be reset in one line. */
static inline int safe_close(int fd)
{
	if (fd >= 0)
		close(fd);
	return -1;
}

static inline void closep(int *fd)
{
	safe_close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline bool streq_ptr(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

/* Copies with truncation and always terminates; dst must be an array. */
#define STRSCPY(dst, src) ((void)snprintf((dst), sizeof(dst), "%s", (src)))
