/* SPDX-License-Identifier: MIT */
/*
 * What the kernel takes as a name. Shared by the configuration, which refuses a bad one with its
 * line, and by the setup helper, which trusts nobody.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MODULE_NAME_MAX 64 /* with its NUL: MODULE_NAME_LEN is 56, aliases may be longer */

/* An RDMA device's: not empty, shorter than RDMA_NAME_MAX, without "/", "%" and white space. */
bool rdma_name_valid(const char *name);

/* A network interface's, as the kernel's dev_valid_name() has it. */
bool netdev_name_valid(const char *name);

/* What [Port] Group= takes: one word, shorter than GROUP_NAME_MAX. */
bool group_name_valid(const char *name);

/* A module's name or alias: letters, digits and "_-:.,+" only, shorter than MODULE_NAME_MAX. */
bool module_name_valid(const char *name);

/* Module names are equal when they differ in "-" and "_" only: the kernel knows them with "_". */
bool module_name_equal(const char *a, const char *b);

/* True for UTF-8 without overlong forms and surrogates. */
bool utf8_valid(const char *s, size_t len);

/* Cuts an incomplete sequence off the end of a string that was shortened to fit. */
void utf8_trim(char *s);
