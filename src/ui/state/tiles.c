/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/state/tiles.h"

#include <stdbool.h>

/* Whole lines are worth more than many: agents write for this width, and the last lines matter. */
enum { USUAL_WIDTH = 80, USUAL_HEIGHT = 16 };

static size_t divide_up(size_t number, size_t by)
{
	return (number + by - 1) / by;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t most_of(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* At least one, which is cut off then. */
static size_t how_many_fit(size_t room, size_t least)
{
	return least ? most_of(room / least, 1) : 1;
}

/* How much a tile shows of what matters. */
static size_t shown_by(const struct tiles *tiles)
{
	return least_of(tiles->width / tiles->columns, USUAL_WIDTH) *
	       least_of(tiles->height / tiles->rows, USUAL_HEIGHT);
}

static bool is_better(const struct tiles *a, const struct tiles *b)
{
	if (a->pages != b->pages)
		return a->pages < b->pages;
	return shown_by(a) > shown_by(b);
}

struct tiles tiles_plan(const struct tiles_order *order)
{
	const size_t most_columns = how_many_fit(order->width, order->least_width);
	const size_t most_rows = how_many_fit(order->height, order->least_height);
	const size_t count = most_of(order->count, 1);
	struct tiles best = { 0 };
	for (size_t columns = 1; columns <= least_of(most_columns, count); columns++) {
		struct tiles tiles = { .count = order->count,
				       .width = order->width,
				       .height = order->height,
				       .columns = columns };
		tiles.rows = most_of(least_of(divide_up(count, columns), most_rows), 1);
		tiles.per_page = columns * tiles.rows;
		tiles.pages = divide_up(count, tiles.per_page);
		if (columns == 1 || is_better(&tiles, &best))
			best = tiles;
	}
	/* The others keep their least size. */
	const size_t high = divide_up(least_of(order->large, count), best.columns);
	if (high < best.rows && best.height / (best.rows + high) >= order->least_height)
		best.high = high;
	return best;
}

/* Where a row begins, in units as many as tiles_rectangle() divides the height into. */
static size_t units_above(size_t row, size_t high)
{
	return row + least_of(row, high);
}

size_t tiles_page(const struct tiles *tiles, size_t index)
{
	return index / tiles->per_page;
}

/* The columns of the row that the tile is in. */
static size_t columns_of(const struct tiles *tiles, size_t index)
{
	const size_t first = index - index % tiles->columns;
	const size_t left = tiles->count - first;
	return tiles->pages == 1 ? least_of(left, tiles->columns) : tiles->columns;
}

struct rectangle tiles_rectangle(const struct tiles *tiles, size_t index)
{
	const size_t at = index % tiles->per_page, columns = columns_of(tiles, index);
	const size_t row = at / tiles->columns, column = at % tiles->columns;
	const size_t high = index < tiles->per_page ? tiles->high : 0;
	const size_t units = tiles->rows + high;
	const size_t top = units_above(row, high) * tiles->height / units;
	const size_t left = column * tiles->width / columns;
	return (struct rectangle){
		.row = top,
		.column = left,
		.width = (column + 1) * tiles->width / columns - left,
		.height = units_above(row + 1, high) * tiles->height / units - top,
	};
}

/* The tile of the row that begins with this one, below or above the middle of the other. */
static size_t nearest_in_row(const struct tiles *tiles, size_t first, size_t index)
{
	const struct rectangle from = tiles_rectangle(tiles, index);
	const size_t middle = from.column + from.width / 2;
	size_t to = first;
	while (to + 1 < tiles->count && to + 1 < first + columns_of(tiles, first) &&
	       tiles_rectangle(tiles, to + 1).column <= middle)
		to++;
	return to;
}

size_t tiles_neighbor(const struct tiles *tiles, size_t index, enum tiles_way way)
{
	const size_t first = index - index % tiles->columns;
	switch (way) {
	case TILES_LEFT:
		return index > 0 ? index - 1 : index;
	case TILES_RIGHT:
		return index + 1 < tiles->count ? index + 1 : index;
	case TILES_UP:
		return first > 0 ? nearest_in_row(tiles, first - tiles->columns, index) : index;
	case TILES_DOWN:
		return first + tiles->columns < tiles->count
			       ? nearest_in_row(tiles, first + tiles->columns, index)
			       : index;
	}
	return index;
}
