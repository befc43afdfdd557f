/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/scratch.h"

#include "capsule/hookfile.h"

#include <stdlib.h>

static int take(const char *payload)
{
	const struct hookfile_report report = { .directory = scratch, .payload = payload };
	return hookfile_take(&report, NULL);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the reports, in order. */
static void list_reports(struct strvec *ret)
{
	cleanup_close int fd = openat(here, "reports", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fs_list(fd, ret, NULL), 0);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_name);
}

/* What is behind the line about its sender. */
static const char *text_of(const char *file)
{
	const char *end = strchr(file, '\n');
	assert_true(starts_with(file, "from "));
	assert_non_null(end);
	return end + 1;
}

static void a_report_is_kept_as_it_was_and_in_order(void **state UNUSED)
{
	cleanup_strvec struct strvec names = { 0 };
	assert_int_equal(take("{\"a\":1}"), 0);
	assert_int_equal(take("{\"b\":2}\n"), 0);
	list_reports(&names);
	assert_int_equal(names.count, 2);
	cleanup_free char *first_name = xasprintf("reports/%s", names.items[0]);
	cleanup_free char *second_name = xasprintf("reports/%s", names.items[1]);
	cleanup_free char *first = get(first_name);
	cleanup_free char *second = get(second_name);
	assert_string_equal(text_of(first), "{\"a\":1}");
	assert_string_equal(text_of(second), "{\"b\":2}\n");
	assert_true(ends_with(first_name, ".json"));
}

static void a_report_is_read_to_its_end(void **state UNUSED)
{
	enum { LENGTH = 50000 };
	cleanup_strvec struct strvec names = { 0 };
	cleanup_free char *text = xcalloc(LENGTH + 1, 1);
	int ends[2];
	memset(text, 'x', LENGTH);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fs_write_all(ends[1], text, LENGTH, "", NULL), 0);
	(void)close(ends[1]);
	const struct hookfile_report report = { .directory = scratch, .input = ends[0] };
	assert_int_equal(hookfile_take(&report, NULL), 0);
	(void)close(ends[0]);
	list_reports(&names);
	assert_int_equal(names.count, 1);
	cleanup_free char *name = xasprintf("reports/%s", names.items[0]);
	cleanup_free char *got = get(name);
	assert_string_equal(text_of(got), text);
}

static void a_report_that_cannot_be_read_leaves_nothing(void **state UNUSED)
{
	cleanup_strvec struct strvec names = { 0 };
	const struct hookfile_report report = { .directory = scratch, .input = -1 };
	assert_int_equal(hookfile_take(&report, NULL), -1);
	list_reports(&names);
	assert_int_equal(names.count, 0);
}

static void without_a_directory_it_is_an_error(void **state UNUSED)
{
	const struct hookfile_report report = { .directory = "/nonexistent", .payload = "{}" };
	assert_int_equal(hookfile_take(&report, NULL), -1);
}

/* This process is the hook, and its parent the agent. */
static void a_report_says_who_sends_it(void **state UNUSED)
{
	cleanup_strvec struct strvec names = { 0 };
	struct hookfile_line line;
	struct process_id parent;
	size_t length;
	const struct hookfile_report report = { .directory = scratch,
						.payload = "{}",
						.run = "run-1" };
	assert_int_equal(hookfile_take(&report, NULL), 0);
	list_reports(&names);
	cleanup_free char *name = xasprintf("reports/%s", names.items[0]);
	cleanup_free char *got = get(name);
	assert_int_equal(hookfile_read_line(got, strlen(got), &line, &length, NULL), 0);
	assert_string_equal(got + length, "{}");
	assert_string_equal(line.run, "run-1");
	assert_int_equal(process_identify(getppid(), &parent, NULL), 0);
	assert_true(line.count > 0);
	assert_true(process_same(&line.senders[0], &parent));
}

static void a_line_that_makes_no_sense_is_refused(void **state UNUSED)
{
	static const char *const lines[] = {
		"",
		"from run-1",
		"from \n",
		"from run-1 7\n",
		"from run-1 0/7\n",
		"from run-1 -7/7\n",
		"from run-1 7/x\n",
		"from run-1 7/7 \n",
		"from 0123456789012345678901234567890123456789\n",
		"{}\n",
	};
	struct hookfile_line line;
	size_t length;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(
			hookfile_read_line(lines[i], strlen(lines[i]), &line, &length, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
	}
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, "from run-1");
	for (size_t i = 0; i < HOOKFILE_SENDERS_MAX + 1; i++)
		strbuf_adds(&text, " 7/7");
	strbuf_adds(&text, "\n");
	assert_int_equal(hookfile_read_line(text.data, text.length, &line, &length, NULL), -1);
	assert_int_equal(hookfile_read_line("from -\n{}", 9, &line, &length, NULL), 0);
	assert_int_equal(line.count, 0);
	assert_int_equal(length, 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_report_is_kept_as_it_was_and_in_order),
		TEST(a_report_is_read_to_its_end),
		TEST(a_report_says_who_sends_it),
		TEST(a_line_that_makes_no_sense_is_refused),
		TEST(a_report_that_cannot_be_read_leaves_nothing),
		TEST(without_a_directory_it_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
