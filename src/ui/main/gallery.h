/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps the screens of a wall true.  Those of the page are looked at when they are shown first,
 * when their agent prints something (engine/terminal/bell.h), and when the roster tells of them;
 * all together at most 20 times a second.  Nothing runs without a reason.
 */
#pragma once

#include "engine/roster/roster.h"
#include "ui/main/glance.h"
#include "ui/state/wall.h"

struct gallery_wish {
	struct loop *loop;
	const struct roster *roster;
	struct wall *wall;
	const char *bell; /* the program of engine/terminal/bell.h */
	struct glance *glance;
	bool *is_changed; /* set when there is something to draw */
};

struct gallery;
/* What is given outlives it.  *ret is the caller's; it ends before the loop. */
int gallery_new(const struct gallery_wish *wish, struct gallery **ret, struct error *err);
void gallery_free(struct gallery *gallery);
CLEANUP_OF(gallery_freep, struct gallery, gallery_free);
#define cleanup_gallery CLEANUP(gallery_freep)

/* After each frame: the page may be another one. */
void gallery_settle(struct gallery *gallery);
/* Something has happened to this session. */
void gallery_note(struct gallery *gallery, const char *id);
/* The wall is not visible until the next frame. */
void gallery_rest(struct gallery *gallery);
