/* SPDX-License-Identifier: MIT */
#include "notes.h"

#include <errno.h>

#include "macros.h"

static void note_done(struct config_note *note)
{
	free(note->origin.file);
	free(note->section);
	free(note->key);
	free(note->value);
}

void config_notes_done(struct config_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		note_done(&notes->items[i]);
	free(notes->items);
	*notes = (struct config_notes){ 0 };
}

bool config_note_is_of(const struct config_note *note, const char *kind)
{
	size_t n = strlen(kind);

	return note->section && strncmp(note->section, kind, n) == 0 &&
	       (note->section[n] == ' ' || note->section[n] == '\0');
}

/* Whether there was memory for it. */
static bool copy(char **ret, const char *s)
{
	*ret = s ? strdup(s) : NULL;
	return !s || *ret;
}

int config_notes_add(struct config_notes *notes, enum config_note_kind kind, const char *file,
	unsigned line, const char *section, const char *key, const char *value)
{
	struct config_note note = { .kind = kind, .origin.line = line };
	struct config_note *items;
	bool copied;

	if (!notes)
		return 0;
	items = reallocarray(notes->items, notes->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	notes->items = items;
	copied = copy(&note.origin.file, file);
	copied = copy(&note.section, section) && copied;
	copied = copy(&note.key, key) && copied;
	copied = copy(&note.value, value) && copied;
	if (!copied) {
		note_done(&note);
		return -ENOMEM;
	}
	items[notes->n++] = note;
	return 0;
}
