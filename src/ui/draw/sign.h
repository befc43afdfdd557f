/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the deck, the wall and their help show what a session is doing.
 */
#pragma once

#include "ui/state/list.h"
#include "ui/term/term.h"

/* How a state looks. */
enum role draw_role(enum doing doing);
/* What tells it without colours, too: one character; static. */
const char *draw_sign(enum doing doing);
