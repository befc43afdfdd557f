/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the preview true: runs its command when the cursor has rested on a session, and again when
 * something happens to that session; the screen's also when the agent prints something.  One
 * command at a time; nothing runs without a reason.
 */
#pragma once

#include "ui/main/glance.h"

struct peek;
/* The glance outlives it.  *ret is the caller's; it ends before the loop. */
int peek_new(struct glance *glance, struct peek **ret, struct error *err);
void peek_free(struct peek *peek);

/* After each frame: the selected session may be another one. */
void peek_settle(struct peek *peek);
/* The preview is not visible until the next frame. */
void peek_rest(struct peek *peek);
