/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "engine/conversation/report.h"

#include <signal.h>

#define HEAD "{\"event\":\"prompt\",\"prompt\":\""
#define TAIL "\",\"id\":\"behind\"}"

/* What an agent writes: text, or, if that is NULL, a string that never ends. */
struct writer {
	const char *text;
	size_t length;
	int fd;
};

/* Returns 0 when all of it could be written.  SIGPIPE ends it, as it would end an agent. */
static int write_text(void *data)
{
	const struct writer *writer = data;
	static const char filler[16384] = { 'x' };
	(void)signal(SIGPIPE, SIG_DFL);
	if (writer->text)
		return fs_write_all(writer->fd, writer->text, writer->length, "report", NULL) < 0;
	while (fs_write_all(writer->fd, filler, sizeof(filler), "report", NULL) == 0)
		;
	return 1;
}

/* report_read() of a process' output; *ret_status is how that process ended. */
static int read_from_process(const char *text, size_t length, struct strbuf *ret, int *ret_status,
			     struct error *err)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	struct writer writer = { .text = text, .length = length, .fd = ends[1] };
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(ends[0]);
		_exit(write_text(&writer));
	}
	(void)close(ends[1]);
	int r = report_read(ends[0], clock_ms() + LONG_MS, ret, err);
	(void)close(ends[0]);
	*ret_status = end_of_child(pid);
	return r;
}

/* Valid JSON; the members before and after the long one are unchanged. */
static void expect_members(const struct strbuf *text)
{
	cleanup_json struct json_object *object = NULL;
	struct error err = { 0 };
	if (json_parse(strbuf_text(text), text->length, "report", &object, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(json_get_string(object, "event", ""), "prompt");
	assert_string_equal(json_get_string(object, "id", ""), "behind");
	assert_non_null(json_get_string(object, "prompt", NULL));
}

static void what_is_small_is_read_as_it_is(void **state UNUSED)
{
	static const char bytes[] = "{\"a\": \"\\\"\\\\ \xff\0\"} \"";
	cleanup_strbuf struct strbuf text = { 0 };
	int status;
	assert_int_equal(read_from_process(bytes, sizeof(bytes) - 1, &text, &status, NULL), 0);
	assert_int_equal(status, 0);
	assert_int_equal(text.length, sizeof(bytes) - 1);
	assert_memory_equal(text.data, bytes, text.length);
}

static void nothing_is_an_empty_report(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int status;
	assert_int_equal(read_from_process("", 0, &text, &status, NULL), 0);
	assert_int_equal(text.length, 0);
}

static void a_long_string_is_cut_and_what_is_behind_it_counts(void **state UNUSED)
{
	enum { SIZE = 10 << 20 };
	cleanup_strbuf struct strbuf report = { 0 }, text = { 0 };
	cleanup_free char *prompt = xcalloc(SIZE + 1, 1);
	int status;
	memset(prompt, 'x', SIZE);
	strbuf_addf(&report, HEAD "%s" TAIL, prompt);
	assert_int_equal(read_from_process(report.data, report.length, &text, &status, NULL), 0);
	assert_int_equal(status, 0);
	assert_int_equal(text.length, strlen(HEAD TAIL) + REPORT_STRING_MAX);
	expect_members(&text);
}

/* Whatever is at the place of the cut. */
static void a_cut_tears_no_character_and_no_escape(void **state UNUSED)
{
	static const char *const units[] = {
		"\\\\",           "\\\"",     "\\n",          "\\u00e9",
		"\\ud83d\\ude00", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
	};
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		cleanup_strbuf struct strbuf many = { 0 };
		while (many.length < 2 * REPORT_STRING_MAX)
			strbuf_adds(&many, units[i]);
		for (size_t shift = 0; shift < 12; shift++) {
			cleanup_strbuf struct strbuf report = { 0 }, text = { 0 };
			int status;
			strbuf_addf(&report, HEAD "%.*s%s" TAIL, (int)shift, "xxxxxxxxxxxx",
				    many.data);
			assert_int_equal(read_from_process(report.data, report.length, &text,
							   &status, NULL),
					 0);
			assert_true(text.length < report.length);
			expect_members(&text);
		}
	}
}

static void what_is_too_large_all_the_same_is_read_to_its_end(void **state UNUSED)
{
	cleanup_strbuf struct strbuf report = { 0 }, text = { 0 };
	cleanup_error struct error err = { 0 };
	int status;
	strbuf_adds(&report, "[0");
	while (report.length < 4 * REPORT_MAX)
		strbuf_adds(&report, ",\"ten bytes\"");
	strbuf_adds(&report, "]");
	assert_int_equal(read_from_process(report.data, report.length, &text, &status, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_int_equal(status, 0);
	assert_int_equal(text.length, 0);
}

static void what_never_ends_is_left(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	int status;
	assert_int_equal(read_from_process(NULL, 0, &text, &status, &err), -1);
	assert_int_equal(err.code, ERROR_CORRUPT);
	assert_int_not_equal(status, 0);
}

static void silence_is_waited_for_up_to_the_deadline(void **state UNUSED)
{
	int ends[2];
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fs_write_all(ends[1], "{", 1, "report", NULL), 0);
	assert_int_equal(report_read(ends[0], clock_ms() + 20, &text, &err), -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void no_input_at_all_is_an_error(void **state UNUSED)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_error struct error err = { 0 };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)close(fd);
	assert_int_equal(report_read(fd, clock_ms() + LONG_MS, &text, &err), -1);
	assert_int_equal(err.code, ERROR_SYSTEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_small_is_read_as_it_is),
		cmocka_unit_test(nothing_is_an_empty_report),
		cmocka_unit_test(a_long_string_is_cut_and_what_is_behind_it_counts),
		cmocka_unit_test(a_cut_tears_no_character_and_no_escape),
		cmocka_unit_test(what_is_too_large_all_the_same_is_read_to_its_end),
		cmocka_unit_test(what_never_ends_is_left),
		cmocka_unit_test(silence_is_waited_for_up_to_the_deadline),
		cmocka_unit_test(no_input_at_all_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
