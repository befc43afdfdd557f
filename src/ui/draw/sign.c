/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/sign.h"

const char *draw_sign(enum doing doing)
{
	return doing_sign(doing, term_is_plain());
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
