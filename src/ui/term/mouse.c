/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ncurses keeps only the last report of those that it reads at once, and makes one click of a press
 * and a release that come together, so it loses clicks on a busy machine and over a slow line.
 */
#include "model/keys/key.h"
#include "ui/term/term-internal.h"

#include <stdlib.h>

/* Shift, Meta and Control are added to the number of a button. */
enum { BUTTON_FIRST = 0, BUTTON_WHEEL_UP = 64, BUTTON_WHEEL_DOWN = 65, MODIFIERS = 4 | 8 | 16 };
/* The numbers of the old form are characters, from the blank on. */
enum { X10_LENGTH = 3, X10_ZERO = ' ' };

static unsigned key_of(unsigned long button)
{
	switch (button & ~(unsigned long)MODIFIERS) {
	case BUTTON_FIRST:
		return KEY_CODE_CLICK;
	case BUTTON_WHEEL_UP:
		return KEY_CODE_WHEEL_UP;
	case BUTTON_WHEEL_DOWN:
		return KEY_CODE_WHEEL_DOWN;
	default:
		return KEY_CODE_NONE;
	}
}

/* Columns and rows are counted from 1 on. */
static unsigned settle(struct mouse_report *report, unsigned long button, unsigned long column,
		       unsigned long row)
{
	if (!column || !row)
		return KEY_CODE_NONE;
	report->column = column - 1;
	report->row = row - 1;
	return key_of(button);
}

/* "0;5;9", of a press. */
static unsigned read_sgr(struct mouse_report *report)
{
	char *rest = report->text;
	unsigned long numbers[3];
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		numbers[i] = strtoul(rest, &rest, 10);
		rest += *rest == ';';
	}
	return settle(report, numbers[0], numbers[1], numbers[2]);
}

static bool is_in_sgr(wint_t character)
{
	return (character >= '0' && character <= '9') || character == ';';
}

bool mouse_take(struct mouse_report *report, wint_t character, unsigned *ret_key)
{
	const bool is_sgr = report->form == MOUSE_SGR;
	const bool goes_on = is_sgr ? is_in_sgr(character) : report->length + 1 < X10_LENGTH;
	if (goes_on && report->length + 1 < sizeof(report->text)) {
		report->text[report->length++] = (char)character;
		report->text[report->length] = '\0';
		return false;
	}
	report->form = MOUSE_NONE;
	if (is_sgr)
		*ret_key = character == 'M' ? read_sgr(report) : KEY_CODE_NONE;
	else
		*ret_key = settle(report, (unsigned char)report->text[0] - X10_ZERO,
				  (unsigned char)report->text[1] - X10_ZERO, character - X10_ZERO);
	return true;
}
