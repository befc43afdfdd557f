/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sessions that are visible: a terminal is attached to them, and their tmux server answers as
 * far as is known.
 */
#pragma once

#include "driver/store/store.h"

/* Does anybody look at it?  Asks no server. */
bool shown_now(const struct store_row *row);

/* What terminal_...() has returned for its server.  Of one that does not answer that is written
 * down, so that the next one does not wait for it: listings show it as unknown, and ask again. */
void shown_note_answer(const struct store_row *row, int outcome);
