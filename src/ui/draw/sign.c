/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/draw/sign.h"

#include "ui/term/term.h"

const char *draw_sign(enum doing doing)
{
	return doing_sign(doing, term_is_plain());
}

const char *draw_pin(void)
{
	return pin_sign(term_is_plain());
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

void draw_painted(size_t row, size_t column, size_t width, const struct painted_line *line)
{
	size_t used = 0;
	for (size_t i = 0; i < line->count && used < width; i++)
		used += term_paint(row, column + used, width - used, &line->spans[i].style,
				   line->spans[i].text);
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

size_t draw_actions(const struct ui *ui, size_t row, size_t column, const enum action actions[2],
		    const char *label)
{
	char first[KEYMAP_TEXT_SIZE], second[KEYMAP_TEXT_SIZE];
	if (ui->keymap.keys[actions[0]][0] == KEY_CODE_NONE)
		return column;
	(void)keymap_text(&ui->keymap, actions[0], first);
	(void)keymap_text(&ui->keymap, actions[1], second);
	cleanup_free char *keys = xasprintf("%s%s%s", first, actions[1] ? ", " : "",
					    actions[1] ? second : "");
	return draw_key(row, column, keys, label);
}

size_t draw_action(const struct ui *ui, size_t row, size_t column, enum action action,
		   const char *label)
{
	return draw_actions(ui, row, column, (const enum action[]){ action, ACTION_NONE }, label);
}
