/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order in which the resource usage of sessions is shown.
 */
#include "unit/test.h"

#include "engine/roster/usage.h"

static void the_greatest_comes_first(void **state UNUSED)
{
	char names[][2] = { "a", "b", "c" };
	const struct roster_entry entries[] = { { .row.title = names[0] },
						{ .row.title = names[1] },
						{ .row.title = names[2] } };
	struct usage items[] = {
		{ .entry = &entries[2], .seen.now = { .memory = 5, .tasks = 2 }, .cpu = 100 },
		{ .entry = &entries[0], .seen.now = { .memory = 9, .tasks = 2 }, .cpu = -1 },
		{ .entry = &entries[1], .seen.now = { .memory = 5, .tasks = 7 }, .cpu = 900 },
	};
	static const char *const orders[] = {
		[USAGE_BY_MEMORY] = "abc",
		[USAGE_BY_CPU] = "bca",
		[USAGE_BY_TASKS] = "bac",
		[USAGE_BY_TITLE] = "abc",
	};
	struct usage *sorted[] = { &items[0], &items[1], &items[2] };
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		usage_sort(sorted, ARRAY_SIZE(sorted), (enum usage_order)i);
		for (size_t j = 0; j < ARRAY_SIZE(sorted); j++)
			if (sorted[j]->entry->row.title[0] != orders[i][j])
				fail_msg("by order %zu %zu is %s", i, j,
					 sorted[j]->entry->row.title);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_greatest_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
