/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the screens of a wall true.  Those of the page are looked at when they are shown first,
 * when their agent prints something (engine/terminal/bell.h), and when the roster tells of them;
 * all together at most 20 times a second.  Nothing runs without a reason.
 */
#pragma once

#include "ui/main/glance.h"
#include "ui/state/wall.h"

struct gallery;
/* What is given outlives it.  *ret is the caller's; it ends before the loop. */
int gallery_new(struct glance *glance, struct wall *wall, struct gallery **ret, struct error *err);
void gallery_free(struct gallery *gallery);

/* After each frame: the page may be another one. */
void gallery_settle(struct gallery *gallery);
/* Something has happened to this session. */
void gallery_note(struct gallery *gallery, const char *id);
/* The wall is not visible until the next frame. */
void gallery_rest(struct gallery *gallery);
