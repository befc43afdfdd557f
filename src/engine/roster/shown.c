/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/roster/shown.h"

#include "engine/place/alive.h"
#include "engine/place/runfiles.h"

bool shown_now(const struct store_row *row)
{
	const struct place_run run = place_run_of_row(row);
	return !row->damage && row->socket && terminal_has_clients(row->socket) &&
	       place_is_live(&run) && !place_was_silent(&run);
}

void shown_note_answer(const struct store_row *row, int outcome)
{
	if (outcome == TERMINAL_SILENT && row->run_directory)
		runfiles_note_answer(row->run_directory, false);
}
