/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "driver/engine/trace.h"

/* As Docker 20.10 sent it. */
static void what_a_step_prints_is_told(void **state UNUSED)
{
	cleanup_free char *text = trace_text(
		"GmEKR3NoYTI1NjplZThhNDY0MjA3OTE1ZmY3YzJhYjI5YjJiZTg5ZDc0NjgxNzkxZTk3ODcxYjk2NTM4NzcyYWQ1"
		"YTVmNWRiZTQ1EgwI5I+P2AYQ1uyP2wEYASIGaGVsbG8K");
	assert_string_equal(text, "hello\n");
}

static void a_step_is_told_when_it_begins(void **state UNUSED)
{
	/* begins */
	cleanup_free char *begins = trace_text(
		"CngKR3NoYTI1NjphODVkMTQ4YjBkNTVlYzMzZjlmMzRjZjY5OTIwMGM1MTdjNmMxOTAxMjQ2ZWM4NmJkZWE0OGZk"
		"Y2NmYTQ5MmU0GiBbc3RhZ2UtMCAxLzJdIEZST00gbG9jYWxob3N0L3A6MSoLCOSPj9gGELfL3nE=");
	assert_string_equal(begins, "[stage-0 1/2] FROM localhost/p:1\n");
	/* has ended */
	cleanup_free char *ends = trace_text(
		"CoUBCkdzaGEyNTY6YTg1ZDE0OGIwZDU1ZWMzM2Y5ZjM0Y2Y2OTkyMDBjNTE3YzZjMTkwMTI0NmVjODZiZGVhNDhm"
		"ZGNjZmE0OTJlNBogW3N0YWdlLTAgMS8yXSBGUk9NIGxvY2FsaG9zdC9wOjEqCwjkj4/YBhC3y95xMgsI5I+P2AYQ"
		"quaIcg==");
	assert_string_equal(ends, "");
	/* is BuildKit's own */
	cleanup_free char *inner = trace_text(
		"CoIBCkdzaGEyNTY6N2M1ZmI5OWYzOTUyOTI2ZTYzMzhjMWYxNjlhNmYxNmE4Y2I4YmQxMDhiZmZiNzMxYTllZDQw"
		"ZDNjZTgwM2UxNBoqW2ludGVybmFsXSBsb2FkIG1ldGFkYXRhIGZvciBsb2NhbGhvc3QvcDoxKgsI5I+P2AYQ58Ks"
		"cQ==");
	assert_string_equal(inner, "");
}

static void what_makes_no_sense_is_left_out(void **state UNUSED)
{
	static const char *const texts[] = {
		"",        "!", "Cg==", "CnkKRw", "//////////8=", "GgQi/w==", "Cm8KR3NoYTI1Ng==",
		"GgIiBQ=="
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *text = trace_text(texts[i]);
		assert_string_equal(text, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_step_prints_is_told),
		cmocka_unit_test(a_step_is_told_when_it_begins),
		cmocka_unit_test(what_makes_no_sense_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
