/* SPDX-License-Identifier: MIT */
/*
 * Names, versions and messages come from firmware and drivers: they may hold any byte. What is
 * published must be UTF-8: one bad byte would otherwise make a whole JSON text or D-Bus reply fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Enough for any text of the model (320 bytes), should each byte be replaced by three. */
#define TEXT_MAX 1024

/* True when s is UTF-8 as D-Bus and JSON take it (no surrogates, no noncharacters). */
bool text_is_valid(const char *s);

/*
 * Returns s itself when it is valid, else buf with a copy in which each bad byte is U+FFFD; what
 * does not fit is cut at a character. NULL counts as "".
 */
const char *text_clean(const char *s, char buf[TEXT_MAX]);

/* Copies s, each control character as a blank: for formats in which a line end has a meaning. */
const char *text_one_line(const char *s, char *buf, size_t size);
