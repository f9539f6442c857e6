/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <errno.h>

#include "details.h"
#include "macros.h"
#include "parse.h"

struct config_words {
	char **lists;
	size_t n;
};

struct config_words *config_words_new(void)
{
	return calloc(1, sizeof(struct config_words));
}

void config_words_free(struct config_words *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		free(w->lists[i]);
	free(w->lists);
	free(w);
}

const char *config_words_keep(struct config_words *w, const char *list)
{
	char **lists;

	for (size_t i = 0; i < w->n; i++)
		if (streq(w->lists[i], list))
			return w->lists[i];
	lists = reallocarray(w->lists, w->n + 1, sizeof(*lists));
	if (!lists)
		return NULL;
	w->lists = lists;
	lists[w->n] = strdup(list);
	return lists[w->n] ? lists[w->n++] : NULL;
}

static bool has_word(const char *list, const char *word)
{
	char known[COUNTER_NAME_MAX];

	while (next_word(&list, known, sizeof(known)) == 1)
		if (streq(known, word))
			return true;
	return false;
}

int config_words_add(char **list, const char *add)
{
	char word[COUNTER_NAME_MAX], *longer;

	while (next_word(&add, word, sizeof(word)) == 1) {
		if (*list && has_word(*list, word))
			continue;
		if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? " " : "", word) < 0)
			return -ENOMEM;
		free(*list);
		*list = longer;
	}
	return 0;
}
