/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shows the form for a new session on the whole terminal.
 */
#pragma once

#include "ui/state/ui.h"

/* On rows rows, of which the fields scroll where they are few. */
void draw_form(const struct ui *ui, size_t rows);
