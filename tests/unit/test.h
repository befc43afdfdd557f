/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every unit test includes this first: cmocka needs these includes before it, in this order.
 */
#pragma once

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A start in a unit test runs this program again as "agentdeck --profile NAME pane". That must not
 * run the tests again: each of them would start the next ones. */
static __attribute__((constructor)) void test_is_no_agentdeck(void)
{
	char words[4096];
	FILE *file = fopen("/proc/self/cmdline", "re");
	const size_t length = file ? fread(words, 1, sizeof(words), file) : 0;
	if (file)
		(void)fclose(file);
	if (memmem(words, length, "\0--profile", sizeof("\0--profile")) &&
	    memmem(words, length, "\0pane", sizeof("\0pane")))
		_exit(127);
}

static inline bool test_is_named(const char *names, const char *name)
{
	const size_t length = strlen(name);
	for (const char *at = names; (at = strstr(at, name)); at += length) {
		if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	}
	return false;
}

static inline void test_left_out(void **state)
{
	(void)state;
	print_message("left out by AGENTDECK_TEST_WITHOUT\n");
	skip();
}

/* AGENTDECK_TEST_WITHOUT names tests that this machine cannot run, with blanks between them
 * (scripts/build-arm64). They skip. */
static inline int test_run_group(const char *name, const struct CMUnitTest *tests, size_t count,
				 CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	const char *without = getenv("AGENTDECK_TEST_WITHOUT");
	if (!without)
		return _cmocka_run_group_tests(name, tests, count, set_up, tear_down);
	struct CMUnitTest *chosen = calloc(count, sizeof(*chosen));
	assert_non_null(chosen);
	for (size_t i = 0; i < count; i++) {
		chosen[i] = tests[i];
		if (test_is_named(without, tests[i].name))
			chosen[i] = (struct CMUnitTest){ .name = tests[i].name,
							 .test_func = test_left_out };
	}
	const int failed = _cmocka_run_group_tests(name, chosen, count, set_up, tear_down);
	free(chosen);
	return failed;
}

#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, tests, set_up, tear_down) \
	test_run_group(name, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down)
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, set_up, tear_down) \
	cmocka_run_group_tests_name(#tests, tests, set_up, tear_down)
