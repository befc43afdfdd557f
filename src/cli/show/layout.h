/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows and columns as lines of text that fit into a terminal.
 *
 * Pure: it neither prints nor asks a terminal.  Widths are columns of a terminal, as wcwidth(3)
 * says in the locale C.UTF-8, whatever the locale of the caller.  Where terminals disagree about a
 * character, the wider one counts, so a line may end early but is never too wide.
 */
#pragma once

#include "base/text.h"

#include <stddef.h>

/* What happens to a text that is wider than its column. */
enum layout_excess {
	LAYOUT_KEEP, /* the column is as wide as its widest text, as long as that is possible */
	LAYOUT_CUT,  /* the text is cut, and ends with "…" */
	LAYOUT_WRAP, /* the text continues below, in the same column; words stay whole if they fit */
};

struct layout_column {
	const char *heading;
	/* When there is too little room, the column with the greatest one is left out first; one
	 * with 0 never is. */
	unsigned drop;
	enum layout_excess excess;
	size_t min; /* it is not cut or wrapped below this, as long as a column can be left out */
	/* nor wider than this, even if there is room; 0: no bound.  Without a terminal, a wider
	 * text moves the rest of its row */
	size_t max;
	bool is_right;
};

struct layout_row {
	const char *const *cells; /* visible() texts, as many as there are columns */
	const char *color;        /* a sequence for the terminal that begins it, or NULL */
};

struct layout {
	const struct layout_column *columns;
	size_t column_count;
	const struct layout_row *rows;
	size_t row_count;
	size_t width; /* of the terminal; 0: nothing is cut, wrapped or left out */
};

/* Append the headings and the rows.  No line is wider than the terminal. */
void layout_add(const struct layout *layout, struct strbuf *ret);

/* How many columns of a terminal the text takes, at most.  Invalid UTF-8 counts as one for each
 * byte. */
size_t layout_text_width(const char *text);
