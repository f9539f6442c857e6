/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "macros.h"

#include "text.h"

struct libscols_table *table_new(
	const struct options *o, const struct table_column *columns, size_t n)
{
	struct libscols_table *t = scols_new_table();

	if (!t)
		return NULL;
	scols_table_enable_noencoding(t, 1); /* texts have been made harmless */
	scols_table_enable_noheadings(t, !o->legend);
	scols_table_enable_ascii(t, !text_is_utf8());
	scols_table_enable_colors(t, *output_colour(COLOUR_GOOD) != '\0');
	if (output_width() > 0 && !o->full) {
		scols_table_set_termforce(t, SCOLS_TERMFORCE_ALWAYS);
		scols_table_set_termwidth(t, output_width());
	} else
		scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < n; i++) {
		int flags = columns[i].flags & (o->full ? ~SCOLS_FL_TRUNC : ~0);

		if (!scols_table_new_column(t, columns[i].title, columns[i].hint, flags)) {
			scols_unref_table(t);
			return NULL;
		}
	}
	return t;
}

void table_narrow(struct libscols_table *t, size_t indent)
{
	size_t width = scols_table_get_termwidth(t);

	if (output_width() > 0 && width > indent)
		scols_table_set_termwidth(t, width - indent);
}

int table_print_range(struct libscols_table *t, size_t first, size_t last, size_t indent)
{
	_cleanup_(freep) char *text = NULL;
	char *save = NULL;

	if (scols_table_print_range_to_string(
		    t, scols_table_get_line(t, first), scols_table_get_line(t, last), &text) < 0)
		return -1;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t n = strlen(line);

		/* Where the last cells are empty. */
		while (n > 0 && line[n - 1] == ' ')
			n--;
		printf("%*s%.*s\n", (int)indent, "", (int)n, line);
	}
	return 0;
}

int table_set(struct libscols_line *l, size_t column, const char *text, enum colour c)
{
	const char *sequence = output_colour(c);

	if (scols_line_set_data(l, column, text) < 0)
		return -1;
	if (*text && *sequence)
		scols_cell_set_color(scols_line_get_cell(l, column), sequence);
	return 0;
}
