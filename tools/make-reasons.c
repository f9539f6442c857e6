/* SPDX-License-Identifier: MIT */
/*
 * Writes rdmad-reasons(7), in scdoc's format, from the rule table and the journal's catalog: what is there
 * to be said of a reason is said in one place, and a reason that lacks it breaks the build.
 *
 *   make-reasons CATALOG
 */
#include "explain-reason.h"
#include "file.h"
#include "macros.h"
#include "publish.h"
#include "rules.h"

#define CATALOG_MAX (1u << 20)

/* Text that scdoc is not to take for its own. */
static void put_text(const char *s)
{
	for (; *s; s++) {
		if (strchr("*_\\[]<>#~", *s))
			putchar('\\');
		putchar(*s);
	}
}

/* The catalog's entry of a message, NULL when there is none; to be freed. */
static char *find_entry(const char *catalog, const char *id)
{
	_cleanup_(freep) char *head = NULL;
	const char *begin, *end;

	if (asprintf(&head, "\n-- %s\n", id) < 0) {
		head = NULL;
		return NULL;
	}
	begin = strstr(catalog, head);
	if (!begin)
		return NULL;
	begin += strlen(head);
	end = strstr(begin, "\n-- ");
	return end ? strndup(begin, (size_t)(end - begin + 1)) : strdup(begin);
}

/* As it is laid out, with its commands and lists. */
static int put_reason(const char *catalog, enum reason_id id)
{
	const struct rule *rule = rule_get(id);
	_cleanup_(freep) char *entry = find_entry(catalog, journal_message_id(EDGE_RAISED, id));
	_cleanup_(freep) char *text = entry ? explain_catalog_text(entry) : NULL;
	size_t n = text ? strlen(text) : 0;

	if (!text || !rule->meaning) {
		fprintf(stderr, "%s has no text in the catalog\n", rule->name);
		return -1;
	}
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	printf("## %s\n\nSeverity _%s_, class _%s_. ", rule->name,
		severity_to_string(rule->severity), reason_class_to_string(rule->class));
	put_text(rule->meaning);
	printf("\n\n```\n%s\n```\n\n", text);
	return 0;
}

static int put_reasons(const char *catalog)
{
	static const struct {
		enum severity severity;
		const char *meaning;
	} groups[] = {
		{ SEVERITY_FAILED, "what is needed does not work" },
		{ SEVERITY_DEGRADED, "it works worse than it should, or is about to fail" },
		{ SEVERITY_UNKNOWN, "it cannot be told whether it works" },
		{ SEVERITY_NOTICE, "worth knowing; changes neither health nor exit status" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		const char *word = severity_to_string(groups[i].severity);

		printf("# REASONS OF SEVERITY ");
		for (const char *p = word; *p; p++)
			putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
		printf("\n\n_%s_: %s.\n\n", word, groups[i].meaning);
		for (int id = 0; id < _REASON_MAX; id++)
			if (rule_get((enum reason_id)id)->severity == groups[i].severity &&
				put_reason(catalog, (enum reason_id)id) < 0)
				return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(freep) char *catalog = NULL;
	size_t size;

	if (argc != 2 || file_read(argv[1], 0, CATALOG_MAX, &catalog, &size) < 0) {
		fprintf(stderr, "usage: make-reasons CATALOG\n");
		return EXIT_FAILURE;
	}
	printf("rdmad-reasons(7)\n\n"
	       "# NAME\n\n"
	       "rdmad-reasons - what rdmad finds wrong, what that means, and what to do\n\n"
	       "# DESCRIPTION\n\n"
	       "*rdmad*(8) gives the reasons for the health of each port, each device and the "
	       "host. A "
	       "reason has a name that never changes, a severity, a class, the time since when it "
	       "stands, what was found and what was wanted. They are shown by *rdmactl status*, "
	       "are in "
	       "the JSON and on D-Bus (*org.rdmad1*(5)), and each has a record in the journal when "
	       "it "
	       "appears and when it is over. The severity is the one that it has as a rule: of a "
	       "device "
	       "that nobody expects, for example, it may be less.\n\n"
	       "*rdmactl explain* _REASON_ shows the text below, *rdmactl explain* _OBJECT_ how an "
	       "object was judged by each rule, with the threshold and the line of the "
	       "configuration "
	       "that it comes from. The classes are for *rdmactl check --class=*.\n\n"
	       "In the texts _OBJECT_ stands for what it is about (a port \"mlx5\\_0/1\", a device "
	       "\"mlx5\\_0\", \"host\"), and _SUBJECT_ for what of it.\n\n");
	if (put_reasons(catalog) < 0)
		return EXIT_FAILURE;
	printf("# SEE ALSO\n\n*rdmad*(8), *rdmactl*(1), *rdmad.conf*(5), *org.rdmad1*(5)\n");
	return ferror(stdout) || fclose(stdout) == EOF ? EXIT_FAILURE : EXIT_SUCCESS;
}
