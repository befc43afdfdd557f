/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/macro.h"
#include "ui/state/tiles.h"

#include <string.h>

enum { LEAST_WIDTH = 36, LEAST_HEIGHT = 5, WIDEST = 200, HIGHEST = 60, MOST = 200 };

static struct tiles plan(size_t count, size_t width, size_t height)
{
	const struct tiles_order order = { count,  count / 3,   width,
					   height, LEAST_WIDTH, LEAST_HEIGHT };
	return tiles_plan(&order);
}

/* Mark the cells of a tile: each may be in one only. */
static void cover(char cells[HIGHEST][WIDEST], const struct tiles *tiles, size_t index)
{
	const struct rectangle at = tiles_rectangle(tiles, index);
	assert_true(at.column + at.width <= tiles->width && at.row + at.height <= tiles->height);
	for (size_t row = at.row; row < at.row + at.height; row++) {
		assert_null(memchr(&cells[row][at.column], 1, at.width));
		memset(&cells[row][at.column], 1, at.width);
	}
}

static void check_page(const struct tiles *tiles, size_t first)
{
	char cells[HIGHEST][WIDEST] = { 0 };
	size_t covered = 0;
	for (size_t i = first; i < tiles->count && tiles_page(tiles, i) == first / tiles->per_page;
	     i++)
		cover(cells, tiles, i);
	for (size_t row = 0; row < tiles->height; row++)
		for (size_t column = 0; column < tiles->width; column++)
			covered += (size_t)cells[row][column];
	if (tiles->pages == 1 || first + tiles->per_page <= tiles->count)
		assert_int_equal(covered, tiles->width * tiles->height);
}

/* No tile is smaller than the least size, where the place is not. */
static void check_size(const struct tiles *tiles, size_t index)
{
	const struct rectangle at = tiles_rectangle(tiles, index);
	const size_t width = tiles->width < LEAST_WIDTH ? tiles->width : LEAST_WIDTH;
	const size_t height = tiles->height < LEAST_HEIGHT ? tiles->height : LEAST_HEIGHT;
	assert_true(at.width >= width && at.height >= height);
}

static void check_ways(const struct tiles *tiles, size_t index)
{
	for (enum tiles_way way = TILES_LEFT; way <= TILES_DOWN; way++)
		assert_true(tiles_neighbor(tiles, index, way) < tiles->count);
}

static void tiles_of_every_size_fit(void **state UNUSED)
{
	for (size_t width = 0; width <= WIDEST; width += width < 80 ? 1 : 7) {
		for (size_t height = 0; height <= HIGHEST; height += height < 24 ? 1 : 5) {
			for (size_t count = 1; count <= MOST; count += count < 12 ? 1 : 47) {
				const struct tiles tiles = plan(count, width, height);
				assert_int_equal(tiles.per_page, tiles.columns * tiles.rows);
				assert_int_equal(tiles_page(&tiles, count - 1), tiles.pages - 1);
				check_size(&tiles, 0);
				check_size(&tiles, count - 1);
				check_ways(&tiles, count / 2);
				check_page(&tiles, 0);
				check_page(&tiles, (tiles.pages - 1) * tiles.per_page);
			}
		}
	}
}

static void a_usual_terminal_has_these(void **state UNUSED)
{
	static const struct {
		size_t count, width, height, columns, rows, pages;
	} cases[] = {
		{ 0, 80, 23, 1, 1, 1 },     { 1, 80, 23, 1, 1, 1 },    { 2, 80, 23, 1, 2, 1 },
		{ 4, 80, 23, 2, 2, 1 },     { 8, 80, 23, 2, 4, 1 },    { 9, 80, 23, 2, 4, 2 },
		{ 2, 40, 11, 1, 2, 1 },     { 5, 40, 11, 1, 2, 3 },    { 2, 200, 50, 1, 2, 1 },
		{ 200, 200, 60, 5, 12, 4 }, { 200, 80, 23, 2, 4, 25 }, { 3, 10, 2, 1, 1, 3 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct tiles tiles = plan(cases[i].count, cases[i].width, cases[i].height);
		assert_int_equal(tiles.columns, cases[i].columns);
		assert_int_equal(tiles.rows, cases[i].rows);
		assert_int_equal(tiles.pages, cases[i].pages);
	}
}

static void the_arrows_go_to_what_is_there(void **state UNUSED)
{
	/* 0 1 2 above 3 4, which share the width. */
	const struct tiles tiles = plan(5, 120, 12);
	assert_int_equal(tiles.columns, 3);
	assert_int_equal(tiles_neighbor(&tiles, 0, TILES_DOWN), 3);
	assert_int_equal(tiles_neighbor(&tiles, 2, TILES_DOWN), 4);
	assert_int_equal(tiles_neighbor(&tiles, 4, TILES_DOWN), 4);
	assert_int_equal(tiles_neighbor(&tiles, 3, TILES_UP), 0);
	assert_int_equal(tiles_neighbor(&tiles, 4, TILES_UP), 2);
	assert_int_equal(tiles_neighbor(&tiles, 1, TILES_UP), 1);
	assert_int_equal(tiles_neighbor(&tiles, 2, TILES_RIGHT), 3);
	assert_int_equal(tiles_neighbor(&tiles, 4, TILES_RIGHT), 4);
	assert_int_equal(tiles_neighbor(&tiles, 3, TILES_LEFT), 2);
	assert_int_equal(tiles_neighbor(&tiles, 0, TILES_LEFT), 0);
	/* One column, two rows: down goes on to the next page. */
	const struct tiles pages = plan(3, 40, 11);
	assert_int_equal(tiles_page(&pages, 1), 0);
	assert_int_equal(tiles_neighbor(&pages, 1, TILES_DOWN), 2);
	assert_int_equal(tiles_page(&pages, 2), 1);
	assert_int_equal(tiles_neighbor(&pages, 2, TILES_UP), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_of_every_size_fit),
		cmocka_unit_test(a_usual_terminal_has_these),
		cmocka_unit_test(the_arrows_go_to_what_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
