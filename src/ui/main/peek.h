/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the preview true: runs its command when the cursor has rested on a session, and again when
 * something happens to that session; the screen's also when the agent prints something.  One
 * command at a time; nothing runs without a reason.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/main/glance.h"

struct peek;
/* What is given outlives it.  bell: the program of engine/terminal/bell.h.  *ret is the caller's;
 * it ends before the loop. */
int peek_new(struct glance *glance, const struct roster *roster, const char *bell,
	     struct peek **ret, struct error *err);
void peek_free(struct peek *peek);
CLEANUP_OF(peek_freep, struct peek, peek_free);
#define cleanup_peek CLEANUP(peek_freep)

/* After each frame: the selected session may be another one. */
void peek_settle(struct peek *peek);
/* The preview is not visible until the next frame. */
void peek_rest(struct peek *peek);
