/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The clipboard of the terminal: by tmux if the deck runs in one, else by the terminal's own
 * sequence (OSC 52), which some terminals ignore.
 */
#pragma once

#include "ui/main/errand.h"

/* Copy what the command behind "agentdeck" prints.  The news says what became of it. */
void clip_copy(struct errands *errands, const struct strvec *words);
