/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * activity.json: two records in one file, also as older versions have written it.
 */
#include "unit/report-fixture.h"

static void each_record_is_read_as_it_was_written(void **state)
{
	struct desk *desk = *state;
	struct activity written = { .activity = ACTIVITY_WAITING,
				    .asks = true,
				    .since = INT64_C(1776157681000000),
				    .event = (char *)"Notification" };
	struct announced said = { .prompts = 3,
				  .directory = (char *)"/\xff",
				  .session_id = (char *)OLD };
	cleanup_activity struct activity now = { 0 };
	cleanup_announced struct announced announced = { 0 };
	activity_read(desk->root, &now);
	assert_int_equal(now.activity, ACTIVITY_UNKNOWN);
	assert_int_equal(activityfile_write(desk->root, &written, &said, NULL), 0);
	activity_read(desk->root, &now);
	announced_read(desk->root, &announced);
	assert_int_equal(now.activity, ACTIVITY_WAITING);
	assert_true(now.since == written.since && !now.is_seen && now.asks);
	assert_string_equal(now.event, "Notification");
	assert_int_equal(announced.prompts, 3);
	assert_string_equal(announced.directory, "/\xff");
	assert_string_equal(announced.session_id, OLD);
}

static void a_run_of_an_older_version_keeps_both(void **state)
{
	struct desk *desk = *state;
	static const char text[] =
		"{\"activity\":\"busy\",\"source\":\"pane\",\"prompts\":2,\"event\":null,"
		"\"since\":\"2026-04-14T09:08:01.000Z\",\"session_id\":\"" OLD "\",\"cwd\":\"/w\"}";
	cleanup_close int fd = open(desk->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_activity struct activity activity = { 0 };
	cleanup_announced struct announced announced = { 0 };
	assert_int_equal(fs_replace(fd, RUN_ACTIVITY, text, strlen(text), FS_VOLATILE, NULL), 0);
	activity_read(desk->root, &activity);
	announced_read(desk->root, &announced);
	assert_int_equal(activity.activity, ACTIVITY_BUSY);
	assert_true(activity.is_seen && !activity.event);
	assert_int_equal(announced.prompts, 2);
	assert_string_equal(announced.session_id, OLD);
	assert_string_equal(announced.directory, "/w");
}

static void a_clock_that_was_set_changes_no_age(void **state)
{
	struct desk *desk = *state;
	cleanup_close int fd = open(desk->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int64_t hour_us = INT64_C(3600000000), boot_ms = clock_ms() - 5000;
	for (int hours = -2; hours <= 2; hours++) {
		char date[CLOCK_TEXT_SIZE];
		const int64_t now = clock_wall_us();
		cleanup_activity struct activity activity = { 0 };
		cleanup_free char *text = xasprintf("{\"since\":\"%s\",\"since_boot_ms\":%lld}",
						    clock_format(now + hours * hour_us, date),
						    (long long)boot_ms);
		assert_int_equal(
			fs_replace(fd, RUN_ACTIVITY, text, strlen(text), FS_VOLATILE, NULL), 0);
		activity_read(desk->root, &activity);
		assert_true(llabs(activity.since - now) < hour_us / 10);
	}
}

static void what_cannot_be_read_says_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_close int fd = open(desk->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_activity struct activity activity = { .since = 1 };
	cleanup_announced struct announced announced = { .prompts = 1 };
	assert_int_equal(fs_replace(fd, RUN_ACTIVITY, "{\"prompts\":2", 12, FS_VOLATILE, NULL), 0);
	activity_read(desk->root, &activity);
	announced_read(desk->root, &announced);
	assert_true(activity.activity == ACTIVITY_UNKNOWN && !activity.since);
	assert_true(!announced.prompts && !announced.session_id && !announced.directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(each_record_is_read_as_it_was_written),
		DESK_TEST(a_run_of_an_older_version_keeps_both),
		DESK_TEST(a_clock_that_was_set_changes_no_age),
		DESK_TEST(what_cannot_be_read_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
