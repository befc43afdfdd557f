/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kind of the caller's terminal (TERM).  New terminals have names that other machines do not
 * know (xterm-ghostty over ssh), and ncurses and tmux refuse these.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>

/* Let TERM name a kind that this machine knows: xterm-256color in the place of an unknown one, of
 * "dumb" and of none.  Returns what to tell the user (the
 * caller frees); NULL: TERM stays. */
char *terminal_settle_kind(void) MUST_USE;
