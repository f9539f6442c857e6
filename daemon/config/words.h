/* SPDX-License-Identifier: MIT */
/*
 * Inside of the room: lists of words with a space between them. Those that several sections make up
 * together have no section to belong to: they belong to the configuration, each of them once however
 * often it is asked for.
 */
#pragma once

struct config_words;

/* NULL: out of memory. */
struct config_words *config_words_new(void);
void config_words_free(struct config_words *w);

/* The copy of this list that w keeps. NULL: out of memory. */
const char *config_words_keep(struct config_words *w, const char *list);

/*
 * Appends the words of add to list (NULL: empty), each once. They have been checked: each is shorter
 * than COUNTER_NAME_MAX. Returns 0 or -ENOMEM.
 */
int config_words_add(char **list, const char *add);
