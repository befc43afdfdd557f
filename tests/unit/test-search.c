/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a text occurs in a conversation, in each layout.
 */
#include "unit/scratch.h"

#include "engine/conversation/search.h"

#include <string.h>

static const char *layout = "projects";

static int search(const char *lines, const char *text, struct search_hit *ret)
{
	cleanup_free char *path = path_join(scratch, "conversation.jsonl");
	put("conversation.jsonl", lines);
	return search_transcript(agent_files_named(layout), path, text, ret, NULL);
}

static void what_people_and_agents_say_is_found(void **state UNUSED)
{
	static const struct {
		const char *layout, *line;
		bool is_reply;
	} cases[] = {
		{ "projects",
		  "{\"type\":\"user\",\"message\":{\"content\":\"Where is the Needle?\"}}\n",
		  false },
		{ "projects",
		  "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a "
		  "needle\"}]}}\n",
		  true },
		{ "chats",
		  "{\"type\":\"user\",\"message\":{\"parts\":[{\"text\":\"x\"},{\"text\":\"needle\"}]}"
		  "}\n",
		  false },
		{ "rollouts",
		  "{\"payload\":{\"role\":\"assistant\",\"content\":[{\"text\":\"NEEDLE\"}]}}\n",
		  true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_search_hit struct search_hit hit = { 0 };
		layout = cases[i].layout;
		assert_int_equal(search(cases[i].line, "needle", &hit), 0);
		assert_int_equal(hit.count, 1);
		assert_int_equal(hit.is_reply, cases[i].is_reply);
		assert_non_null(strcasestr(hit.text, "needle"));
	}
	layout = "projects";
}

/* JSON may write a letter outside of ASCII as it is, or as its number. */
static void other_scripts_are_found_in_either_form(void **state UNUSED)
{
	static const char *const lines[] = {
		"{\"type\":\"user\",\"message\":{\"content\":\"in Z\xc3\xbcrich, \xe6\x97\xa5\xe6\x9c\xac\"}}\n",
		"{\"type\":\"user\",\"message\":{\"content\":\"in Z\\u00fcrich, \\u65e5\\u672c\"}}\n",
		"{\"type\":\"user\",\"message\":{\"content\":\"in Z\\u00FCrich, \\u65E5\xe6\x9c\xac\"}}\n",
	};
	static const char *const texts[] = { "z\xc3\xbcrich", "\xc3\xbc",
					     "\xe6\x97\xa5\xe6\x9c\xac", ", \xe6\x97\xa5", "in Z" };
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		for (size_t j = 0; j < ARRAY_SIZE(texts); j++) {
			cleanup_search_hit struct search_hit hit = { 0 };
			assert_int_equal(search(lines[i], texts[j], &hit), 0);
		}
	struct search_hit hit = { 0 };
	assert_int_equal(search(lines[0], "Z\xc3\xa4rich", &hit), SEARCH_NOTHING);
	assert_int_equal(search(lines[1], "Z\xc3\xa4rich", &hit), SEARCH_NOTHING);
}

static void the_rest_is_not(void **state UNUSED)
{
	static const char *const lines[] = {
		"{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"needle\"}}\n",
		"{\"type\":\"user\",\"message\":{\"content\":\"<note>needle</note>\"}}\n",
		"{\"message\":{\"content\":[{\"type\":\"tool_result\",\"content\":\"needle\"}]}}\n",
		"{\"payload\":{\"role\":\"system\",\"content\":[{\"text\":\"needle\"}]}}\n",
		"{\"type\":\"user\",\"message\":{\"content\":\"needle",
		"needle\n[\"needle\"]\n",
		"",
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct search_hit hit = { .count = 7 };
		assert_int_equal(search(lines[i], "needle", &hit), SEARCH_NOTHING);
		assert_int_equal(hit.count, 7);
	}
}

/* The needle anywhere in a line that is cut while it is read, and in a text that is. */
static void lines_of_any_length_are_searched(void **state UNUSED)
{
	enum { STEP = 8123, SIZE = 2 << 20 };
	for (size_t at = 0; at < SIZE; at += at < 20 * STEP ? STEP : SIZE / 5) {
		cleanup_strbuf struct strbuf line = { 0 };
		cleanup_search_hit struct search_hit hit = { 0 };
		strbuf_adds(&line, "{\"message\":{\"content\":\"");
		while (line.length < at)
			strbuf_adds(&line, "\\\\\xc3\xbc\\u00fcx");
		strbuf_adds(&line, "\\u0061 \\\"needle\\\"");
		while (line.length < SIZE)
			strbuf_adds(&line, "\\\"xyz \xe6\x97\xa5");
		strbuf_adds(&line, "\"},\"type\":\"user\"}\n");
		if (search(strbuf_text(&line), "A \"needle\"", &hit) != 0)
			fail_msg("not found at %zu", at);
		assert_int_equal(hit.count, 1);
		assert_non_null(strstr(hit.text, "a \"needle\""));
		assert_true(strlen(hit.text) < 300);
		assert_int_equal(search(strbuf_text(&line), "b needle", &hit), SEARCH_NOTHING);
	}
}

static void the_last_one_is_shown_with_what_is_around_it(void **state UNUSED)
{
	cleanup_search_hit struct search_hit hit = { 0 };
	assert_int_equal(
		search("{\"type\":\"user\",\"message\":{\"content\":\"needle\"}}\n"
		       "{\"type\":\"user\",\"message\":{\"content\":\"word word word word word "
		       "word word word word word word\\n\\\"Needle\\\" \\u00e9\"}}\n",
		       "\"needle\" \xc3\xa9", &hit),
		0);
	assert_int_equal(hit.count, 1);
	assert_string_equal(hit.text, "...word word word word word word word word word "
				      "\"Needle\" \xc3\xa9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_people_and_agents_say_is_found, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(other_scripts_are_found_in_either_form, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_rest_is_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_of_any_length_are_searched, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_last_one_is_shown_with_what_is_around_it,
						set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
