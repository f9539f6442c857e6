/* SPDX-License-Identifier: MIT */
#include "table.h"

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

int table_set(struct libscols_line *l, size_t column, const char *text, enum colour c)
{
	const char *sequence = output_colour(c);

	if (scols_line_set_data(l, column, text) < 0)
		return -1;
	if (*text && *sequence)
		scols_cell_set_color(scols_line_get_cell(l, column), sequence);
	return 0;
}
