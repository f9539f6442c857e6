/* SPDX-License-Identifier: MIT */
/*
 * "rdmactl explain REASON": what it means and what to do, from the journal's catalog, which
 * "journalctl -x" shows with each record; from the rule table where that is not installed.
 */
#include "explain-reason.h"

#include <systemd/sd-journal.h>
#include <systemd/sd-messages.h>

#include "macros.h"
#include "output.h"
#include "publish.h"
#include "rules.h"
#include "text.h"

/* What stands for a field of a record when there is none. */
static const struct {
	const char *field, *word;
} words[] = {
	{ "RDMAD_OBJECT", "OBJECT" },
	{ "RDMAD_SUBJECT", "SUBJECT" },
	{ "RDMA_DEVICE", "DEVICE" },
	{ "RDMA_PORT", "PORT" },
	{ "INTERFACE", "INTERFACE" },
};

/* "@FIELD@" at s: writes what stands for it and returns its length; 0 when there is none. */
static size_t put_field(FILE *f, const char *s)
{
	size_t n = strspn(s + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	if (n == 0 || s[n + 1] != '@')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].field) == n && strncmp(words[i].field, s + 1, n) == 0) {
			fputs(words[i].word, f);
			return n + 2;
		}
	fputs("...", f);
	return n + 2;
}

/* A line such as "Found:  @RDMAD_FOUND@" says nothing without a record. */
static bool is_of_record(const char *line, size_t n)
{
	static const char *const fields[] = { "@RDMAD_FOUND@", "@RDMAD_WANTED@", "@RDMAD_REMEDY@",
		"@RDMAD_BEFORE@" };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		size_t len = strlen(fields[i]);

		if (n >= len && strncmp(line + n - len, fields[i], len) == 0)
			return true;
	}
	return false;
}

char *explain_catalog_text(const char *entry)
{
	/* Its header ends at the first empty line. */
	const char *s = strstr(entry, "\n\n");
	bool blank = true;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (s = s ? s + 2 : entry; *s;) {
		size_t n = strcspn(s, "\n");

		if (n > 0 && !is_of_record(s, n)) {
			for (const char *p = s; p < s + n;) {
				size_t field = *p == '@' ? put_field(f, p) : 0;

				if (field == 0)
					fputc(*p, f);
				p += field ? field : 1;
			}
			blank = false;
			fputc('\n', f);
		} else if (!blank) {
			blank = true;
			fputc('\n', f);
		}
		s += n + (s[n] == '\n');
	}
	return fclose(f) == 0 ? text : NULL;
}

/* The catalog's text of a reason, NULL when it is not installed here. */
static char *catalog_text(enum reason_id id)
{
	const char *word = journal_message_id(EDGE_RAISED, id);
	_cleanup_(freep) char *entry = NULL;
	sd_id128_t message_id;

	if (!word || sd_id128_from_string(word, &message_id) < 0 ||
		sd_journal_get_catalog_for_message_id(message_id, &entry) < 0)
		return NULL;
	return explain_catalog_text(entry);
}

void explain_reason_text(enum reason_id id)
{
	const struct rule *rule = rule_get(id);
	_cleanup_(freep) char *text = catalog_text(id);
	_cleanup_(freep) char *clean = text ? text_sanitise(text, true) : NULL;

	printf("%s%s%s: %s, class %s\n", output_colour(COLOUR_BOLD), rule->name, output_reset(),
		severity_to_string(rule->severity), reason_class_to_string(rule->class));
	output_wrapped(2, COLOUR_NONE, rule->meaning);
	if (clean) {
		size_t n = strlen(clean);

		while (n > 0 && clean[n - 1] == '\n')
			clean[--n] = '\0';
		printf("\n%s\n", clean);
	}
	printf("\nnext: rdmactl events --since=-1d\n");
}

json_t *explain_reason_json(enum reason_id id)
{
	const struct rule *rule = rule_get(id);
	_cleanup_(freep) char *text = catalog_text(id);

	return json_pack("{s:s, s:s, s:s, s:s, s:s?}", "Id", rule->name, "Severity",
		severity_to_string(rule->severity), "Class", reason_class_to_string(rule->class),
		"Meaning", rule->meaning, "Text", text);
}

void explain_list_reasons(void)
{
	for (unsigned i = 0; i < _REASON_MAX; i++)
		puts(rule_get((enum reason_id)i)->name);
}
