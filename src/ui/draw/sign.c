/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/sign.h"

enum tone draw_tone(enum doing doing)
{
	static const enum tone tones[DOING_COUNT] = {
		[DOING_WAITING] = TONE_WAITING, [DOING_ERROR] = TONE_ERROR,
		[DOING_UNKNOWN] = TONE_WARNING, [DOING_BUSY] = TONE_BUSY,
		[DOING_IDLE] = TONE_IDLE,       [DOING_RUNNING] = TONE_IDLE,
		[DOING_STARTING] = TONE_BUSY,   [DOING_STOPPING] = TONE_FAINT,
		[DOING_STOPPED] = TONE_FAINT,
	};
	return doing < DOING_COUNT ? tones[doing] : TONE_IDLE;
}

const char *draw_sign(enum doing doing)
{
	switch (doing) {
	case DOING_WAITING:
		return "?";
	case DOING_ERROR:
		return "!";
	case DOING_UNKNOWN:
		return "~";
	case DOING_STARTING:
		return ">";
	case DOING_STOPPING:
		return "<";
	case DOING_BUSY:
		return term_symbol(SYMBOL_BUSY);
	case DOING_IDLE:
	case DOING_RUNNING:
		return term_symbol(SYMBOL_IDLE);
	case DOING_STOPPED:
	case DOING_COUNT:
		break;
	}
	return term_symbol(SYMBOL_STOPPED);
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
