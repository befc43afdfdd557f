/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the tiles of a wall are, in rows and columns, on as few pages as possible.  Rows at the top
 * of the first page may be twice as high as the others.  Pure.
 */
#pragma once

#include <stddef.h>

/* In characters. */
struct tiles_order {
	size_t count;         /* tiles, on all pages */
	size_t large;         /* of these, from the first on: to be higher than others */
	size_t width, height; /* of the place for a page */
	/* The least size of a tile.  A smaller place has one tile, as large as the place. */
	size_t least_width, least_height;
};
struct tiles {
	size_t count, width, height;
	size_t columns, rows; /* of a page; at least 1 */
	size_t per_page, pages;
	size_t high; /* how many rows of the first page are */
};
struct rectangle {
	size_t row, column, width, height;
};

/* On one page, the tiles of the last row share its width. */
struct tiles tiles_plan(const struct tiles_order *order);
/* The tiles of a page do not overlap.  Without place for a row or a column it is empty.  index:
 * below count. */
struct rectangle tiles_rectangle(const struct tiles *tiles, size_t index);
/* The page that the tile is on, from 0. */
size_t tiles_page(const struct tiles *tiles, size_t index);

enum tiles_way { TILES_LEFT, TILES_RIGHT, TILES_UP, TILES_DOWN };
/* The tile in that direction, also on the page before or after; the same where there is none. */
size_t tiles_neighbor(const struct tiles *tiles, size_t index, enum tiles_way way);
