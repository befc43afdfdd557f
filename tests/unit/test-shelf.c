/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The conversations that an agent has on disk.
 */
#include "unit/scratch.h"

#include "driver/transcript/shelf.h"
#include "model/agent/registry.h"
#include "unit/files.h"

#include <sys/stat.h>

#define ID_A "11111111-1111-4111-8111-111111111111"
#define ID_B "22222222-2222-4222-8222-222222222222"

/* A file of the scratch directory, with the directories above it. */
static void lay(const char *name, const char *text, time_t modified)
{
	cleanup_free char *path = path_join(scratch, name);
	for (char *slash = path + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	write_path(path, text, strlen(text));
	const struct timespec times[] = { { .tv_sec = modified }, { .tv_sec = modified } };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* What the test is about. */
static const struct agent_files *files;

static void list(const char *layout, struct shelf *ret)
{
	files = agent_files_named(layout);
	assert_non_null(files);
	assert_int_equal(shelf_list(files, scratch, ret, NULL), 0);
}

static void expect(const struct shelf_item *item, const char *directory, const char *words)
{
	cleanup_shelf_about struct shelf_about about = { 0 };
	assert_int_equal(shelf_look(files, item, &about, NULL), 0);
	assert_string_equal(or_empty(about.directory), directory);
	assert_string_equal(or_empty(about.words), words);
	assert_false(about.is_side);
}

static void the_newest_comes_first(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("projects/-a/" ID_A ".jsonl",
	    "{\"type\":\"user\",\"cwd\":\"/a\",\"message\":{\"content\":\"hello\"}}\n", 1000);
	lay("projects/-b/" ID_B ".jsonl", "{\"type\":\"mode\"}\n", 2000);
	lay("projects/-b/agent-1.jsonl", "", 3000);
	lay("projects/-b/notes.txt", "", 3000);
	list("projects", &shelf);
	assert_int_equal(shelf.count, 2);
	assert_string_equal(shelf.items[0].session_id, ID_B);
	expect(&shelf.items[0], "", "");
	assert_string_equal(shelf.items[1].session_id, ID_A);
	expect(&shelf.items[1], "/a", "hello");
	assert_ptr_equal(shelf_find(&shelf, ID_A), &shelf.items[1]);
	assert_null(shelf_find(&shelf, "33333333-3333-4333-8333-333333333333"));
}

static void what_the_agent_adds_was_not_typed(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("projects/-a/" ID_A ".jsonl",
	    "{\"type\":\"user\",\"cwd\":\"/a\",\"isMeta\":true,\"message\":{\"content\":\"meta\"}}\n"
	    "{\"type\":\"user\",\"isSidechain\":true,\"message\":{\"content\":\"side\"}}\n"
	    "{\"type\":\"user\",\"message\":{\"content\":\"<command-name>/clear</command-name>\"}}\n"
	    "torn {\n"
	    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"words\"}]}}\n",
	    1000);
	list("projects", &shelf);
	expect(&shelf.items[0], "/a", "words");
}

/* ---- odd files --------------------------------------------------------------------------------- */

#define TEXT_RECORD(text) \
	"{\"cwd\":\"/a\",\"type\":\"user\",\"message\":{\"content\":\"" text "\"}}\n"
#define REPLY                                                                                  \
	"{\"cwd\":\"/a\",\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\"," \
	"\"text\":\"a reply\"}]}}\n"

/* before, `count` times `unit`, after */
static void lay_long(const char *before, const char *unit, size_t count, const char *after)
{
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, before);
	for (size_t i = 0; i < count; i++)
		strbuf_adds(&text, unit);
	strbuf_adds(&text, after);
	lay("projects/-a/" ID_A ".jsonl", strbuf_text(&text), 1000);
}

/* The conversation can be continued, and its first words begin so; NULL: they are not read. */
static void expect_begin(const char *words)
{
	cleanup_shelf struct shelf shelf = { 0 };
	cleanup_shelf_about struct shelf_about about = { 0 };
	list("projects", &shelf);
	assert_int_equal(shelf.count, 1);
	assert_int_equal(shelf_look(files, &shelf.items[0], &about, NULL), 0);
	assert_string_equal(or_empty(about.directory), "/a");
	assert_false(about.is_empty || about.is_side);
	if (words)
		assert_true(starts_with(or_empty(about.words), words));
	else
		assert_null(about.words);
}

static void a_first_line_may_be_huge(void **state UNUSED)
{
	static const char image[] =
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"image\","
		"\"data\":\"";
	lay_long(image, "iVBORw0KGgo\\n", 2 << 20,
		 "\"},{\"type\":\"text\",\"text\":\"what is this\"}]},\"cwd\":\"/a\"}\n");
	expect_begin("what is this");
	lay_long("{\"type\":\"user\",\"message\":{\"content\":\"", "a paste ", 1 << 18,
		 "\"},\"cwd\":\"/a\"}\n");
	expect_begin("a paste a paste ");
	lay_long("{\"type\":\"user\",\"message\":{\"content\":\"a paste ", "\200", 2 << 20,
		 "\"},\"cwd\":\"/a\"}\n");
	expect_begin("a paste ???");
}

static void what_was_said_first_need_not_be_words(void **state UNUSED)
{
	lay_long(
		"{\"cwd\":\"/a\",\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"image\"}]}}\n",
		"", 0, "");
	expect_begin(NULL);
	lay_long(TEXT_RECORD("<command-name>/review</command-name>"), "", 0, REPLY);
	expect_begin(NULL);
	lay_long("",
		 "{\"type\":\"attachment\",\"cwd\":\"/a\",\"attachment\":{\"text\":\"words\"}}\n",
		 1000, TEXT_RECORD("words"));
	expect_begin(NULL);
	lay_long("", "{\"type\":\"attachment\",\"attachment\":{\"text\":\"words\"}}\n", 30000,
		 TEXT_RECORD("words"));
	expect_begin(NULL);
}

static void what_an_agent_reads_over_is_read_over(void **state UNUSED)
{
	lay_long("\xef\xbb\xbf", "", 0, TEXT_RECORD("words"));
	expect_begin("words");
	lay_long("", "", 0, TEXT_RECORD("words \xff\xc3 more"));
	expect_begin("words ?? more");
	cleanup_strbuf struct strbuf end = { 0 };
	for (size_t i = 0; i < 200000; i++)
		strbuf_adds(&end, "]");
	strbuf_adds(&end, ",\"message\":{\"content\":\"words\"}}\n");
	lay_long("{\"cwd\":\"/a\",\"type\":\"user\",\"nest\":", "[", 200000, strbuf_text(&end));
	expect_begin("words");
}

static void what_nobody_said_anything_in_is_empty(void **state UNUSED)
{
	static const char *const lines[] = {
		"",
		"{\"type\":\"mode\",\"cwd\":\"/a\"}\n",
		TEXT_RECORD("<command-name>/model</command-name>"),
		"{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":[{\"type\":\"image\"}]}}\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_shelf struct shelf shelf = { 0 };
		cleanup_shelf_about struct shelf_about about = { 0 };
		lay("projects/-a/" ID_A ".jsonl", lines[i], 1000);
		list("projects", &shelf);
		assert_int_equal(shelf_look(files, &shelf.items[0], &about, NULL), 0);
		assert_true(about.is_empty);
	}
}

static void a_rollout_names_its_directory_and_its_kind(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("sessions/2026/11/22/rollout-2026-11-22T00-43-07-" ID_A ".jsonl",
	    "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/a\",\"thread_source\":\"user\"}}\n"
	    "{\"payload\":{\"role\":\"user\",\"content\":[{\"text\":\"<environment_context>\"}]}}\n"
	    "{\"payload\":{\"role\":\"user\",\"content\":[{\"text\":\"words\"}]}}\n",
	    2000);
	lay("sessions/2026/11/22/rollout-2026-11-22T00-43-07-" ID_B ".jsonl",
	    "{\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/a\",\"thread_source\":\"subagent\"}}\n",
	    1000);
	list("rollouts", &shelf);
	assert_int_equal(shelf.count, 2);
	expect(&shelf.items[0], "/a", "words");
	cleanup_shelf_about struct shelf_about about = { 0 };
	assert_int_equal(shelf_look(files, &shelf.items[1], &about, NULL), 0);
	assert_true(about.is_side);
}

static void chats_have_parts(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay("projects/-a/chats/" ID_A ".jsonl",
	    "{\"type\":\"user\",\"cwd\":\"/a\",\"message\":{\"parts\":[{\"text\":\"words\"}]}}\n",
	    1000);
	list("chats", &shelf);
	assert_int_equal(shelf.count, 1);
	expect(&shelf.items[0], "/a", "words");
}

static void expect_place(const char *layout, const char *was, const char *place)
{
	cleanup_free char *found = shelf_place(agent_files_named(layout), ID_A, "/new/a.b", was);
	if (!streq(or_empty(found), or_empty(place)))
		fail_msg("%s, %s: %s", layout, or_empty(was), or_empty(found));
}

static void each_layout_has_a_place_for_what_comes(void **state UNUSED)
{
	static const char rollout[] = "sessions/2026/11/22/rollout-2026-11-22T00-43-07-" ID_A
				      ".jsonl";
	static const char chat[] = "projects/-a/chats/" ID_A ".jsonl";
	expect_place("projects", NULL, "projects/-new-a-b/" ID_A ".jsonl");
	expect_place("projects", "projects/-a/" ID_A ".jsonl", "projects/-new-a-b/" ID_A ".jsonl");
	expect_place("rollouts", rollout, rollout);
	expect_place("chats", chat, chat);
	expect_place("chats", rollout, NULL);
	expect_place("rollouts", NULL, NULL);
	expect_place("unknown", rollout, NULL);
	static const char *const foreign[] = {
		"",
		"auth.json",
		"sessions/2026/11/22",
		"sessions/2026/11/22/rollout-2026-11-22T00-43-07-" ID_B ".jsonl",
		"sessions/2026/11/22/33/rollout-2026-11-22T00-43-07-" ID_A ".jsonl",
		"sessions/2026/11/rollout-2026-11-22T00-43-07-" ID_A ".jsonl",
		"sessions/../11/22/rollout-" ID_A ".jsonl",
		"/sessions/2026/11/22/rollout-" ID_A ".jsonl",
		"sessions/2026/11/22/config-" ID_A ".jsonl",
		"sessions/2026/11/22/rollout-" ID_A ".toml",
	};
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		expect_place("rollouts", foreign[i], NULL);
	const struct agent_files stays = { .conversation = (char[]){ "a/{uuid}.jsonl" } };
	assert_null(shelf_place(&stays, ID_A, "/", "a/" ID_A ".jsonl"));
}

static void nothing_is_there(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	list("projects", &shelf);
	assert_int_equal(shelf.count, 0);
	assert_null(agent_files_named("unknown"));
}

static void one_that_has_gone_is_told(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	struct shelf_about about = { 0 };
	lay("projects/-a/" ID_A ".jsonl", "", 1000);
	list("projects", &shelf);
	assert_int_equal(unlink(shelf.items[0].path), 0);
	assert_int_equal(shelf_look(files, &shelf.items[0], &about, NULL), SHELF_GONE);
}

/* ---- what the entries of the registry say ------------------------------------------------------ */

static struct registry registry;

static int set_up_registry(void **state)
{
	registry = (struct registry){ 0 };
	return registry_builtin(&registry, NULL) < 0 ? -1 : set_up(state);
}

static int tear_down_registry(void **state)
{
	registry_free(&registry);
	return tear_down(state);
}

static void list_of(const char *agent, struct shelf *ret)
{
	const struct agent *found = registry_find(&registry, agent);
	assert_non_null(found);
	files = agent_find_files(found);
	assert_non_null(files);
	assert_int_equal(shelf_list(files, scratch, ret, NULL), 0);
}

/* A copy of what a real agent wrote: only files of the caller count. */
static void lay_copy(const char *agent, const char *name)
{
	cleanup_free char *path = xasprintf("%s/tests/unit/conversations/%s/%s",
					    getenv("top_srcdir") ?: ".", agent, name);
	cleanup_strbuf struct strbuf text = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, &text, NULL), 0);
	lay(name, strbuf_text(&text), 1000);
}

/* The last reply begins so; so does the last turn; the one before it is of its user. */
static void expect_reply(const struct shelf_item *item, const char *reply)
{
	cleanup_transcript_turns struct transcript_turns turns = { 0 };
	cleanup_free char *text = NULL, *time = NULL;
	assert_int_equal(shelf_last_reply(files, item->path, &text, &time, NULL), 0);
	assert_true(starts_with(text, reply));
	assert_true(starts_with(time, "2026-11-25T19:5") && ends_with(time, "Z"));
	assert_int_equal(shelf_last_turns(files, item->path, 2, &turns, NULL), 0);
	assert_int_equal(turns.count, 2);
	assert_string_equal(turns.items[1].text, text);
	assert_true(turns.items[1].is_reply && !turns.items[0].is_reply);
}

/* The only conversation of the agent: its id, its first words, and a part of its last reply. */
static void expect_only(const char *agent, const char *id, const char *words, const char *reply)
{
	cleanup_shelf struct shelf shelf = { 0 };
	list_of(agent, &shelf);
	assert_int_equal(shelf.count, 1);
	assert_string_equal(shelf.items[0].session_id, id);
	expect(&shelf.items[0], "/home/user/work", words);
	expect_reply(&shelf.items[0], reply);
}

static void what_codex_wrote_is_found(void **state UNUSED)
{
	lay_copy("codex", "sessions/2026/11/25/rollout-2026-11-25T19-55-23-"
			  "01a21446-f279-7e81-96cb-eb6c1bab15c5.jsonl");
	expect_only("codex", "01a21446-f279-7e81-96cb-eb6c1bab15c5", "hello codex tui words",
		    "stub reply 1");
}

static void what_qwen_wrote_is_found(void **state UNUSED)
{
	lay_copy("qwen", "projects/-home-user-work/chats/"
			 "33333333-3333-4333-8333-333333333333.jsonl");
	expect_only("qwen", "33333333-3333-4333-8333-333333333333", "hello qwen tui words",
		    "stub reply 1");
}

static void what_copilot_wrote_is_found(void **state UNUSED)
{
	lay_copy("copilot", "session-state/" ID_B "/events.jsonl");
	expect_only("copilot", ID_B, "hello copilot words", "stub reply 1");
}

#define KIMI "sessions/wd_work_896897ab5edd/session_87552a56-7a95-4fe5-b5f7-edf96a49b4f1/"

static void what_kimi_code_wrote_is_found(void **state UNUSED)
{
	lay_copy("kimi-code", KIMI "state.json");
	lay_copy("kimi-code", KIMI "agents/main/wire.jsonl");
	/* A sub-agent is not a conversation. */
	lay(KIMI "agents/other/wire.jsonl", "", 1000);
	expect_only("kimi-code", "session_87552a56-7a95-4fe5-b5f7-edf96a49b4f1", "hello kimi words",
		    "stub reply 1");
}

#define GEMINI ".gemini/tmp/work/"

static void what_gemini_wrote_is_found(void **state UNUSED)
{
	lay_copy("gemini", GEMINI ".project_root");
	lay_copy("gemini", GEMINI "chats/session-2026-11-25T19-54-11111111.jsonl");
	expect_only("gemini", ID_A, "hello gemini words", "stub reply 3");
}

static void a_second_file_of_gemini_has_the_same_id(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	lay_copy("gemini", GEMINI ".project_root");
	lay_copy("gemini", GEMINI "chats/session-2026-11-25T19-55-11111111.jsonl");
	lay_copy("gemini", GEMINI "chats/session-2026-11-25T19-59-11111111.jsonl");
	list_of("gemini", &shelf);
	assert_int_equal(shelf.count, 2);
	assert_string_equal(shelf.items[0].session_id, "11111111-1111-4111-8111-111111111112");
	expect(&shelf.items[0], "/home/user/work", "hello gemini tui words");
	assert_string_equal(shelf.items[1].session_id, ID_A);
	expect(&shelf.items[1], "/home/user/work", "");
}

static void pick(const char *id, const char *hint, const char *expected)
{
	cleanup_transcript struct transcript found = { 0 };
	cleanup_free char *path = path_join(scratch, expected);
	assert_int_equal(shelf_pick(files, scratch, id, hint, &found, NULL), 0);
	assert_string_equal(found.path, path);
	assert_string_equal(found.session_id, id);
}

/* qwen records its thoughts beside the reply, in parts with a mark. */
static void a_thought_is_not_a_reply(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	cleanup_free char *text = NULL, *time = NULL;
	lay("projects/-a/chats/" ID_A ".jsonl",
	    "{\"type\":\"assistant\",\"timestamp\":\"then\",\"message\":{\"parts\":["
	    "{\"text\":\"hm\",\"thought\":true},{\"text\":\"yes\"}]}}\n"
	    "{\"type\":\"assistant\",\"message\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},"
	    "{\"functionCall\":{}}]}}\n"
	    "{\"type\":\"user\",\"message\":{\"parts\":[{\"text\":\"more\"}]}}\n"
	    "{\"type\":\"assistant\",\"mess",
	    1000);
	list("chats", &shelf);
	assert_int_equal(shelf_last_reply(files, shelf.items[0].path, &text, &time, NULL), 0);
	assert_string_equal(text, "yes");
	assert_string_equal(time, "then");
}

static void the_file_with_words_is_picked(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	cleanup_transcript struct transcript none = { 0 };
	lay_copy("gemini", GEMINI "chats/session-2026-11-25T19-54-11111111.jsonl");
	list_of("gemini", &shelf);
	lay(GEMINI "chats/session-2026-11-25T19-59-11111111.jsonl",
	    "{\"sessionId\":\"" ID_A "\"}\n", 2000);
	pick(ID_A, NULL, GEMINI "chats/session-2026-11-25T19-54-11111111.jsonl");
	assert_int_equal(shelf_pick(files, scratch, ID_B, NULL, &none, NULL), TRANSCRIPT_NONE);
}

static void a_hint_counts_only_in_its_place(void **state UNUSED)
{
	static const char *const places[] = { "projects/-a/chats/" ID_A ".jsonl",
					      "projects/-b/chats/" ID_A ".jsonl",
					      "projects/-a/chats/" ID_B ".jsonl",
					      "elsewhere/" ID_A ".jsonl" };
	files = agent_files_named("chats");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		lay(places[i], "{}\n", 4000 - (time_t)i * 1000);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		cleanup_free char *hint = path_join(scratch, places[i]);
		pick(ID_A, hint, i == 1 ? places[1] : places[0]);
	}
}

static void a_side_conversation_of_gemini_is_told(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	cleanup_shelf_about struct shelf_about about = { 0 };
	lay(GEMINI "chats/session-2026-11-25T19-54-11111111.jsonl",
	    "{\"sessionId\":\"" ID_A "\",\"kind\":\"subagent\"}\n", 1000);
	list_of("gemini", &shelf);
	assert_int_equal(shelf.count, 1);
	assert_int_equal(shelf_look(files, &shelf.items[0], &about, NULL), 0);
	assert_true(about.is_side);
	assert_null(about.directory);
}

/* ---- what other programs may have put there -----------------------------------------------------
 */

static void make_fifo(const char *name)
{
	cleanup_free char *path = path_join(scratch, name);
	lay(name, "", 1000);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void what_is_no_file_is_left_out(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	make_fifo("session-state/" ID_A "/events.jsonl");
	lay("session-state/" ID_B "/events.jsonl/inside", "", 1000);
	lay("session-state/no-id/events.jsonl", "", 1000);
	lay("session-state/file", "", 1000);
	list_of("copilot", &shelf);
	assert_int_equal(shelf.count, 0);
	make_fifo(GEMINI "chats/session-1.jsonl");
	assert_int_equal(symlinkat("session-1.jsonl", here, GEMINI "chats/session-2.jsonl"), 0);
	list_of("gemini", &shelf);
	assert_int_equal(shelf.count, 0);
}

static void a_file_beside_that_cannot_be_read_names_no_directory(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	make_fifo(KIMI "state.json");
	lay_copy("kimi-code", KIMI "agents/main/wire.jsonl");
	list_of("kimi-code", &shelf);
	assert_int_equal(shelf.count, 1);
	expect(&shelf.items[0], "", "hello kimi words");
	cleanup_free char *beside = path_join(scratch, KIMI "state.json");
	assert_int_equal(unlink(beside), 0);
	lay(KIMI "state.json", "{\"cwd\": [1]}", 1000);
	expect(&shelf.items[0], "", "hello kimi words");
	lay(KIMI "state.json", "\xff\xfe{", 1000);
	expect(&shelf.items[0], "", "hello kimi words");
}

/* A line of 3 MiB without an end, and one of any bytes. */
static void a_beginning_that_is_no_record_has_no_id(void **state UNUSED)
{
	cleanup_shelf struct shelf shelf = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, "{\"sessionId\":\"");
	for (size_t i = 0; i < 3 << 20; i++)
		strbuf_add(&text, "1", 1);
	lay(GEMINI "chats/session-1.jsonl", strbuf_text(&text), 1000);
	lay(GEMINI "chats/session-2.jsonl", "\x01\xff\x80", 1000);
	lay(GEMINI "chats/session-3.jsonl", "{\"sessionId\":7}\n", 1000);
	lay(GEMINI "chats/session-4.jsonl", "{\"sessionId\":\"../../x\"}\n", 1000);
	lay(GEMINI "chats/session-5.jsonl", "", 1000);
	list_of("gemini", &shelf);
	assert_int_equal(shelf.count, 0);
}

#define IN_REGISTRY(test) cmocka_unit_test_setup_teardown(test, set_up_registry, tear_down_registry)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_comes_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_the_agent_adds_was_not_typed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_first_line_may_be_huge, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_said_first_need_not_be_words, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_an_agent_reads_over_is_read_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_nobody_said_anything_in_is_empty, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_rollout_names_its_directory_and_its_kind, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(chats_have_parts, set_up, tear_down),
		cmocka_unit_test(each_layout_has_a_place_for_what_comes),
		cmocka_unit_test_setup_teardown(nothing_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_has_gone_is_told, set_up, tear_down),
		IN_REGISTRY(what_codex_wrote_is_found),
		IN_REGISTRY(what_qwen_wrote_is_found),
		IN_REGISTRY(what_copilot_wrote_is_found),
		IN_REGISTRY(what_kimi_code_wrote_is_found),
		IN_REGISTRY(what_gemini_wrote_is_found),
		IN_REGISTRY(a_second_file_of_gemini_has_the_same_id),
		cmocka_unit_test_setup_teardown(a_thought_is_not_a_reply, set_up, tear_down),
		IN_REGISTRY(the_file_with_words_is_picked),
		cmocka_unit_test_setup_teardown(a_hint_counts_only_in_its_place, set_up, tear_down),
		IN_REGISTRY(a_side_conversation_of_gemini_is_told),
		IN_REGISTRY(what_is_no_file_is_left_out),
		IN_REGISTRY(a_file_beside_that_cannot_be_read_names_no_directory),
		IN_REGISTRY(a_beginning_that_is_no_record_has_no_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
