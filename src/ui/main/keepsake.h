/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a deck leaves for the next one of the same profile: <state>/deck.json.
 */
#pragma once

#include "ui/state/ui.h"

/* Take over what the last deck of this profile has left, if anything. */
void keepsake_read(const char *state, const char *profile, struct ui *ui);
/* Failures are ignored: the next deck begins as a first one does.  Of two decks that end at once,
 * one wins. */
void keepsake_write(const char *state, const char *profile, struct ui *ui);
