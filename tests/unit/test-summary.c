/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "ui/state/summary.h"

#include <string.h>

static void add(struct list *list, const char *id, const char *group, enum doing doing)
{
	(void)list_add(list, &(struct facts){ .key.id = id,
					      .title = id,
					      .group = group,
					      .agent = "demo",
					      .directory = doing == DOING_ERROR ? "/b" : "/a",
					      .reason = doing == DOING_ERROR ? "it was killed" : "",
					      .doing = doing,
					      .since_us = *id });
}

static void a_group_is_summed_up(void **state UNUSED)
{
	cleanup_list struct list *list = list_new();
	assert_null(summary_of_group(list));
	add(list, "d", "work", DOING_WAITING);
	add(list, "c", "work/back", DOING_WAITING);
	add(list, "b", "work/back", DOING_ERROR);
	add(list, "a", "work-2", DOING_WAITING);
	add(list, "e", "work", DOING_IDLE);
	list_go(list, 0);
	cleanup_free char *open = xstrdup(summary_of_group(list));
	assert_string_equal(open, "4 sessions: 2 waiting, 1 error, 1 idle\n"
				  "\nNeed you\n  c: waiting\n  d: waiting\n"
				  "  b: error, it was killed\n"
				  "\nAgents\n  4  demo\n"
				  "\nFolders\n  3  /a\n  1  /b\n");
	/* What is hidden in it counts, too, and what a filter hides does not. */
	list_set_collapsed(list, true);
	const char *closed = summary_of_group(list);
	assert_string_equal(closed, open);
	list_set_scope(list, SCOPE_NEEDS_USER);
	list_go(list, 0);
	const char *filtered = summary_of_group(list);
	assert_non_null(strstr(filtered, "3 sessions: 2 waiting, 1 error\n"));
	list_go(list, SIZE_MAX);
	assert_null(summary_of_group(list));
}

static void what_a_host_that_is_away_did_is_not_counted(void **state UNUSED)
{
	cleanup_list struct list *list = list_new();
	cleanup_strvec struct strvec names = { 0 };
	strvec_push_array(&names, (const char *const[]){ "local", "gpu1", NULL });
	list_set_hosts(list, &names);
	list_add(list, &(struct facts){ .key = { .host = "gpu1", .id = "a" },
					.title = "api",
					.doing = DOING_WAITING });
	list_tell_host(list, 1, HOST_AWAY, 0, NULL);
	list_go(list, 1);
	const char *text = summary_of_group(list);
	assert_true(starts_with(text, "1 session\n"));
}

static void it_is_made_again_only_after_a_change(void **state UNUSED)
{
	cleanup_list struct list *list = list_new();
	add(list, "a", "work", DOING_IDLE);
	list_go(list, 0);
	const char *text = summary_of_group(list);
	list_move(list, 1);
	assert_null(summary_of_group(list));
	list_move(list, -1);
	assert_ptr_equal(summary_of_group(list), text);
	list_measure(list, list_find(list, "a"), 5 << 20, 0);
	assert_non_null(strstr(summary_of_group(list), "Memory: 5 MiB\n"));
	add(list, "b", "work", DOING_IDLE);
	assert_true(starts_with(summary_of_group(list), "2 sessions: 2 idle\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_summed_up),
		cmocka_unit_test(it_is_made_again_only_after_a_change),
		cmocka_unit_test(what_a_host_that_is_away_did_is_not_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
