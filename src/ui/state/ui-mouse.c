/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/ui-internal.h"

#include "ui/state/ui.h"

enum { WHEEL_LINES = 3 };

static bool is_over_preview(const struct ui *ui)
{
	return ui->preview.kind != PREVIEW_NONE && ui->wheel_row >= ui->list_row &&
	       (ui->wheel_column >= ui->list_width || ui->wheel_row >= ui->list_row + ui->height);
}

/* The wheel is some times the key for up or down, where that loses nothing. */
bool ui_take_wheel(struct ui *ui, key_code key)
{
	const bool is_down = key == KEY_CODE_WHEEL_DOWN;
	enum choice_kind none;
	if (key != KEY_CODE_WHEEL_UP && !is_down)
		return key == KEY_CODE_CLICK;
	const bool is_list = ui->mode == MODE_LIST || ui->mode == MODE_SEARCH;
	if (is_list && is_over_preview(ui))
		preview_scroll(&ui->preview, !is_down);
	else if (is_list)
		list_move(ui->list, is_down ? WHEEL_LINES : -WHEEL_LINES);
	else if (ui->mode == MODE_HELP && is_down)
		ui->help_page++;
	else if (ui->mode == MODE_HELP)
		ui->help_page -= ui->help_page > 0;
	else if (ui->mode == MODE_DIALOG)
		(void)dialog_key(&ui->dialog, is_down ? KEY_CODE_PAGE_DOWN : KEY_CODE_PAGE_UP,
				 &none);
	return true;
}

void ui_click(struct ui *ui, size_t row, size_t column, struct wish *ret)
{
	const size_t line = list_top(ui->list, ui->height) + row - ui->list_row;
	if ((ui->mode != MODE_LIST && ui->mode != MODE_SEARCH) || row < ui->list_row ||
	    row >= ui->list_row + ui->height || column >= ui->list_width ||
	    line >= list_lines(ui->list))
		return;
	replace_string(&ui->message, NULL);
	ui->mode = MODE_LIST;
	if (line == list_cursor(ui->list))
		ui_attach(ui, ret);
	else
		list_go(ui->list, line);
}
