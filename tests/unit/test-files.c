/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an entry says of the files of conversations.
 */
#include "unit/test.h"

#include "model/agent/files.h"

#include <string.h>

#define ID_A "11111111-1111-4111-8111-111111111111"

static void expect_id(const char *pattern, const char *name, const char *id)
{
	cleanup_free char *found = NULL;
	assert_int_equal(agent_files_match(pattern, strlen(pattern), name, &found), id != NULL);
	assert_string_equal(or_empty(found), or_empty(id));
}

static void a_slot_is_what_the_rest_leaves(void **state UNUSED)
{
	expect_id("{uuid}.jsonl", ID_A ".jsonl", ID_A);
	expect_id("{uuid}.jsonl", "x" ID_A ".jsonl", NULL);
	expect_id("{uuid}.jsonl", "agent-" ID_A ".jsonl", NULL);
	expect_id("{uuid}.jsonl", ".jsonl", NULL);
	expect_id("a-*-{uuid}.jsonl", "a-1-2-" ID_A ".jsonl", ID_A);
	expect_id("a-*-{uuid}.jsonl", "a" ID_A ".jsonl", NULL);
	expect_id("{session_id}", "any_1.2", "any_1.2");
	expect_id("{session_id}", ".hidden", NULL);
	expect_id("s-{session_id}.json", "s-x.json", "x");
	expect_id("s-{session_id}.json", "s-.json", NULL);
	expect_id("s-{session_id}.json", "s.json", NULL);
	expect_id("*", ".hidden", NULL);
}

static void a_path_leads_nowhere_else(void **state UNUSED)
{
	static const char *const broken[] = {
		"",
		"/a",
		"a//b",
		"../a",
		"a/../b",
		"./a",
		"a/",
		"{x}",
		"{uuid}{uuid}",
		"{session_id}-*",
		"*-{session_id}",
		"a}",
		"{uuid}/{session_id}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		assert_non_null(agent_files_broken_path(broken[i]));
	assert_null(agent_files_broken_path(".a/*/{session_id}/b*.json"));
	assert_null(agent_files_broken_path("*-{uuid}.jsonl"));
	assert_null(agent_files_broken_lock("a/{session_id}/b.*"));
	assert_non_null(agent_files_broken_lock("*/{session_id}/b"));
	assert_non_null(agent_files_broken_lock("a/b"));
	assert_null(agent_files_broken_beside("../../state.json"));
	assert_non_null(agent_files_broken_beside("../a/../../b"));
	assert_non_null(agent_files_broken_beside("/etc/passwd"));
	assert_non_null(agent_files_broken_beside("../.."));
	assert_null(agent_files_broken_condition("a.b!=c"));
	assert_non_null(agent_files_broken_condition("=c"));
	assert_non_null(agent_files_broken_condition("!=c"));
	assert_non_null(agent_files_broken_condition("a="));
	assert_non_null(agent_files_broken_condition("a"));
}

static void a_layout_is_a_whole_table(void **state UNUSED)
{
	static const char *const names[] = { "projects", "chats", "rollouts" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct agent_files *files = agent_files_named(names[i]);
		assert_non_null(files);
		assert_null(agent_files_broken_path(files->conversation));
		assert_true(files->directory && files->prompt_text && files->reply_text);
		assert_null(agent_files_broken_condition(files->prompt));
		assert_null(agent_files_broken_condition(files->reply));
	}
	assert_null(agent_files_named("other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slot_is_what_the_rest_leaves),
		cmocka_unit_test(a_path_leads_nowhere_else),
		cmocka_unit_test(a_layout_is_a_whole_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
