/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/layout.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

#define ELLIPSIS "…"

enum {
	GAP = 2, /* between two columns */
	EMOJI_STYLE = 0xFE0F,
};

/* ---- the width of text ------------------------------------------------------------------------ */

/* Made when the first character that is not ASCII appears, and kept: most lists have none. */
static locale_t utf8_locale(void)
{
	static locale_t locale;
	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return locale ? locale : LC_GLOBAL_LOCALE;
}

/* One character and its width.  Returns its length in bytes, 0 at the end. */
static size_t read_character(const char *text, size_t *ret_width)
{
	if ((unsigned char)*text < 0x80) {
		*ret_width = 1;
		return *text != '\0';
	}
	wchar_t character;
	mbstate_t state = { 0 };
	const locale_t before = uselocale(utf8_locale());
	const size_t length = mbrtowc(&character, text, 4, &state);
	const bool is_valid = length > 0 && length <= 4;
	const int width = is_valid ? wcwidth(character) : 1;
	(void)uselocale(before);
	/* What is newer than our libc is most likely an emoji, which is wide.  The selector of the
	 * emoji style makes some terminals show the character before it wide. */
	*ret_width = width < 0 ? 2 : is_valid && character == EMOJI_STYLE ? 1 : (size_t)width;
	return is_valid ? length : 1;
}

size_t layout_text_width(const char *text)
{
	size_t width = 0, one;
	for (size_t length; (length = read_character(text, &one)) > 0; text += length)
		width += one;
	return width;
}

/* The length of what fits into width; *ret_width is what that takes.  Combining characters stay
 * with the character before them. */
static size_t length_that_fits(const char *text, size_t width, size_t *ret_width)
{
	size_t used = 0, total = 0, one;
	for (size_t length; (length = read_character(text + total, &one)) > 0; total += length) {
		if (used + one > width)
			break;
		used += one;
	}
	*ret_width = used;
	return total;
}

/* ---- the width of columns --------------------------------------------------------------------- */

struct plan {
	const struct layout *layout;
	size_t *natural; /* by column */
	size_t *widths;  /* 0: the column is left out */
};

static size_t total_width(const struct plan *plan)
{
	size_t total = 0;
	for (size_t i = 0; i < plan->layout->column_count; i++)
		if (plan->widths[i])
			total += plan->widths[i] + (total ? GAP : 0);
	return total;
}

static void measure(const struct plan *plan)
{
	const struct layout *layout = plan->layout;
	for (size_t i = 0; i < layout->column_count; i++) {
		const struct layout_column *column = &layout->columns[i];
		size_t widest = layout_text_width(column->heading);
		for (size_t row = 0; row < layout->row_count; row++) {
			const size_t width = layout_text_width(layout->rows[row].cells[i]);
			const bool is_long = column->max && width > column->max;
			/* A text that is not cut moves only what is beside it. */
			if (width > widest && !(is_long && !layout->width))
				widest = is_long ? column->max : width;
		}
		/* An empty column without a heading has a width, too: 0 means that it is left out. */
		plan->natural[i] = plan->widths[i] = widest ? widest : 1;
	}
}

/* Make the widest column narrower by one, again and again, until all fit.  Not below its min,
 * unless is_hard, which includes the columns that are kept. */
static bool shrink(const struct plan *plan, bool is_hard)
{
	const struct layout *layout = plan->layout;
	for (size_t total = total_width(plan); total > layout->width; total--) {
		size_t *widest = NULL;
		for (size_t i = 0; i < layout->column_count; i++) {
			const struct layout_column *column = &layout->columns[i];
			const size_t least = is_hard || !column->min ? 1 : column->min;
			if ((is_hard || column->excess != LAYOUT_KEEP) && plan->widths[i] > least &&
			    (!widest || plan->widths[i] > *widest))
				widest = &plan->widths[i];
		}
		if (!widest)
			return false;
		--*widest;
	}
	return true;
}

/* Leave out the column that matters least.  is_hard: also one that is always shown, from the right,
 * but not the last one that is left. */
static bool leave_out(const struct plan *plan, bool is_hard)
{
	const struct layout *layout = plan->layout;
	size_t least = layout->column_count, shown = 0;
	for (size_t i = 0; i < layout->column_count; i++) {
		const unsigned drop = layout->columns[i].drop;
		shown += plan->widths[i] > 0;
		if (plan->widths[i] && (is_hard || drop) &&
		    (least == layout->column_count || drop >= layout->columns[least].drop))
			least = i;
	}
	if (least == layout->column_count || shown < 2)
		return false;
	plan->widths[least] = 0;
	for (size_t i = 0; i < layout->column_count; i++)
		if (plan->widths[i])
			plan->widths[i] = plan->natural[i];
	return true;
}

static void fit(const struct plan *plan)
{
	measure(plan);
	if (!plan->layout->width)
		return;
	bool fits = shrink(plan, false);
	while (!fits && leave_out(plan, false))
		fits = shrink(plan, false);
	/* Hardly a terminal: show what there is room for. */
	for (fits = fits || shrink(plan, true); !fits && leave_out(plan, true);)
		fits = shrink(plan, true);
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* A line that is being made.  Blanks are written only before a text, so that none end a line. */
struct line {
	struct strbuf *text;
	size_t blanks;
};

static void add_text(struct line *line, const char *text, size_t length)
{
	if (length == 0)
		return;
	static const char blank[] = "                ";
	for (size_t part; line->blanks; line->blanks -= part) {
		part = line->blanks < strlen(blank) ? line->blanks : strlen(blank);
		strbuf_add(line->text, blank, part);
	}
	strbuf_add(line->text, text, length);
}

/* The part of a text that goes into one line of its column. */
struct piece {
	size_t length, width;
	bool is_cut;
	const char *rest; /* goes into the lines below */
};

/* Up to the end of a word, or in the middle of one that is wider than the column. */
static struct piece wrap(const char *text, size_t length)
{
	struct piece piece = { 0 };
	size_t end = length, unused;
	while (end > 0 && text[end] != ' ')
		end--;
	if (end > 0)
		length = end;
	/* A wide character in a column of one is passed over: there must be an end. */
	piece.rest = text + (length ? length : read_character(text, &unused));
	piece.rest += strspn(piece.rest, " ");
	while (length > 0 && text[length - 1] == ' ')
		length--;
	piece.length = length;
	for (size_t at = 0; at < length; piece.width += unused)
		at += read_character(text + at, &unused);
	return piece;
}

static struct piece piece_of(const struct layout_column *column, const char *text, size_t width)
{
	struct piece piece = { .rest = "" };
	piece.length = length_that_fits(text, width, &piece.width);
	if (!text[piece.length])
		return piece;
	if (column->excess == LAYOUT_WRAP)
		return wrap(text, piece.length);
	piece.is_cut = true;
	piece.length = length_that_fits(text, width - 1, &piece.width);
	piece.width++;
	return piece;
}

static void add_piece(struct line *line, const struct layout_column *column, const char *text,
		      const struct piece *piece, size_t width)
{
	const size_t rest = width > piece->width ? width - piece->width : 0;
	line->blanks += column->is_right ? rest : 0;
	add_text(line, text, piece->length);
	if (piece->is_cut)
		add_text(line, ELLIPSIS, strlen(ELLIPSIS));
	line->blanks += column->is_right ? 0 : rest;
}

/* One line of a row.  texts: what is left of the cells, and then what is left for the next line.
 * Returns whether there is a next line. */
static bool add_line(const struct plan *plan, const char **texts, const char *color,
		     struct strbuf *ret)
{
	const struct layout *layout = plan->layout;
	struct line line = { .text = ret };
	bool is_first = true, has_more = false;
	strbuf_adds(ret, or_empty(color));
	for (size_t i = 0; i < layout->column_count; i++) {
		if (!plan->widths[i])
			continue;
		const size_t room = layout->width ? plan->widths[i] : layout_text_width(texts[i]);
		const struct piece piece = piece_of(&layout->columns[i], texts[i], room);
		line.blanks += is_first ? 0 : GAP;
		add_piece(&line, &layout->columns[i], texts[i], &piece, plan->widths[i]);
		texts[i] = piece.rest;
		has_more |= *piece.rest != '\0';
		is_first = false;
	}
	strbuf_adds(ret, color ? "\033[0m\n" : "\n");
	return has_more;
}

void layout_add(const struct layout *layout, struct strbuf *ret)
{
	const size_t count = layout->column_count;
	cleanup_free size_t *sizes = xcalloc(2 * count + 1, sizeof(*sizes));
	cleanup_free const char **texts = xcalloc(count + 1, sizeof(*texts));
	const struct plan plan = { .layout = layout, .natural = sizes, .widths = sizes + count };
	fit(&plan);
	for (size_t i = 0; i < count; i++)
		texts[i] = layout->columns[i].heading;
	while (add_line(&plan, texts, NULL, ret))
		;
	for (size_t row = 0; row < layout->row_count; row++) {
		memcpy(texts, layout->rows[row].cells, count * sizeof(*texts));
		while (add_line(&plan, texts, layout->rows[row].color, ret))
			;
	}
}
