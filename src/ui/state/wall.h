/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The wall: a tile for each session of a list, with what is on its screen.  Pure.
 */
#pragma once

#include "ui/state/tiles.h"
#include "ui/state/ui.h"

/* What a session's screen shows. */
struct wall_screen {
	char *id;
	char *text; /* as it came */
	struct painting painting;
};

/* Zero-initialised is empty. */
struct wall {
	char *scope;       /* which sessions it shows, in words; NULL: all that run */
	struct strvec ids; /* of the sessions: those that wait, and the others, as in the list */
	size_t waiting;    /* how many of them wait */
	size_t selected;   /* index; the cursor of the list is on that */
	bool is_begun;     /* one was selected */
	struct tiles tiles;
	struct wall_screen *screens; /* of the page */
	size_t screen_count;
};
void wall_free(struct wall *wall);
#define cleanup_wall CLEANUP(wall_free)

/* Read the list, and plan the tiles for a place of this size.  The cursor goes
 * from a group to the first session.  Screens that are not on the page are forgotten. */
void wall_settle(struct wall *wall, struct list *list, size_t width, size_t height);
/* The tiles of the page from *ret_first on.  Returns how many. */
size_t wall_page(const struct wall *wall, size_t *ret_first);

bool wall_is_on_page(const struct wall *wall, const char *id);

/* What the session's screen shows now; any bytes.  False: that is shown already. */
bool wall_set_screen(struct wall *wall, const char *id, const char *text);
/* NULL: nothing is known of it. */
const struct painting *wall_screen(const struct wall *wall, const char *id);

/* The wall is settled, and has to be again afterwards.  *ret is the caller's, and is nothing before.
 */
void wall_key(struct wall *wall, struct ui *ui, key_code key, struct wish *ret);
/* A click on this place: it selects a tile, and on the selected one it is Enter. */
void wall_click(struct wall *wall, struct ui *ui, size_t row, size_t column, struct wish *ret);
