/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/sign.h"

const char *draw_sign(enum doing doing)
{
	return doing_sign(doing, term_is_plain());
}

size_t draw_typed(size_t row, size_t column, size_t width, const struct input *input)
{
	cleanup_free char *left = xstrndup(input_text(input), input->cursor);
	cleanup_free char *before = visible(left);
	cleanup_free char *shown = visible(input_text(input));
	const size_t used = term_width(before), surplus = used < width ? 0 : used + 1 - width;
	size_t skipped, length = term_fitting(before, surplus, &skipped);
	/* A wide character is left out as a whole. */
	if (skipped < surplus)
		length = term_fitting(before, surplus + 1, &skipped);
	term_cursor(row, column + used - skipped);
	/* Both texts begin with the same characters. */
	return term_put(row, column, width, TONE_PLAIN, shown + length);
}

size_t draw_key(size_t row, size_t column, const char *key, const char *label)
{
	const size_t width = term_columns();
	const size_t length = term_width(key) + 1 + term_width(label) + 2;
	if (column + length > width + 2)
		return column;
	const size_t used = term_put(row, column, width - column, TONE_KEY, key);
	term_put(row, column + used + 1, width, TONE_FAINT, label);
	return column + length;
}
