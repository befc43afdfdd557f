/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/shown.h"

#include "engine/place/alive.h"
#include "engine/place/runfiles.h"
#include "engine/terminal/terminal.h"

bool shown_now(const struct store_row *row)
{
	return !row->damage && row->run.socket && terminal_has_clients(row->run.socket) &&
	       place_is_live(&row->run) && !place_was_silent(&row->run);
}

void shown_note_answer(const struct store_row *row, int outcome)
{
	if (outcome == TERMINAL_SILENT && row->run.directory)
		runfiles_note_answer(row->run.directory, false);
}
