/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Transcripts as claude writes them: which words are the reply to which message.
 */
#include "unit/fake-place.h"

#include "base/fsutil.h"
#include "engine/screen/said.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UUID         "0c000000-0000-4000-8000-00000000000c"
#define PROMPT(text) "{\"type\":\"user\",\"message\":{\"content\":\"" text "\"}}\n"
#define QUEUED(text) \
	"{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"" text "\"}\n"
#define JOINED(text)                                                                              \
	"{\"type\":\"attachment\",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"" text \
	"\"}}\n"
#define SAYS(text, reason)                                               \
	"{\"type\":\"assistant\",\"message\":{\"stop_reason\":\"" reason \
	"\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define TOOL   "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\"}]}}\n"
#define RESULT "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\"}]}}\n"
#define FAILS(text)                                                                      \
	"{\"type\":\"assistant\",\"isApiErrorMessage\":true,\"message\":{\"content\":[{" \
	"\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define BEFORE PROMPT("go on") SAYS("the turn before", "end_turn") PROMPT("first")

static const struct sample {
	const char *added; /* after the mark */
	struct said said;
} samples[] = {
	{ "", { .reply = NULL } },
	/* It waits in the queue while the turn before ends. */
	{ QUEUED("go on") SAYS("one", "end_turn"), { .is_taken = true } },
	{ QUEUED("go on") SAYS("one", "end_turn") PROMPT("go on"), { .is_taken = true } },
	{ SAYS("one", "end_turn") PROMPT("go on") SAYS("two", "end_turn"),
	  { .is_taken = true, .is_over = true, .reply = (char[]){ "two" } } },
	/* Its words before a tool are not the last ones. */
	{ PROMPT("go on") SAYS("let me see", "tool_use"),
	  { .is_taken = true, .reply = (char[]){ "let me see" } } },
	{ PROMPT("go on") SAYS("let me see", "end_turn") TOOL RESULT,
	  { .is_taken = true, .reply = (char[]){ "let me see" } } },
	{ PROMPT("go on") TOOL RESULT SAYS("done", "end_turn"),
	  { .is_taken = true, .is_over = true, .reply = (char[]){ "done" } } },
	/* Another message came behind it. */
	{ PROMPT("go on") SAYS("two", "end_turn") PROMPT("next") SAYS("three", "end_turn"),
	  { .is_taken = true, .is_over = true, .is_followed = true, .reply = (char[]){ "two" } } },
	/* It was taken into the turn before, and another one, too. */
	{ TOOL RESULT JOINED("go on") JOINED("next") SAYS("all", "end_turn"),
	  { .is_taken = true, .is_over = true, .is_followed = true, .reply = (char[]){ "all" } } },
	{ PROMPT("go on") FAILS("API Error: 400"),
	  { .is_taken = true,
	    .is_over = true,
	    .is_error = true,
	    .reply = (char[]){ "API Error: 400" } } },
};

static void append(const char *path, const char *text)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text), path, NULL), 0);
}

static struct instance *begin(struct fake_desk *desk, const char *path)
{
	struct instance *instance = fake_instance(desk);
	replace_string(&instance->agent, "claude");
	replace_string(&instance->conversation.session_id, UUID);
	replace_string(&instance->conversation.config_home, desk->root);
	replace_string(&instance->conversation.transcript_path, path);
	append(path, BEFORE);
	return instance;
}

static void a_reply_is_that_of_its_message(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *sample = &samples[i];
		cleanup_instance struct instance *instance = begin(desk, path);
		cleanup_said_mark struct said_mark mark = { 0 };
		cleanup_said struct said said = { 0 };
		cleanup_error struct error err = { 0 };
		assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
		assert_string_equal(or_empty(mark.path), path);
		append(path, sample->added);
		if (said_look(&desk->deck, instance, &mark, "go  on", &said, &err) != 0)
			fail_msg("%s", err.message);
		if (said.is_taken != sample->said.is_taken ||
		    said.is_over != sample->said.is_over ||
		    said.is_error != sample->said.is_error ||
		    said.is_followed != sample->said.is_followed ||
		    !streq(or_empty(said.reply), or_empty(sample->said.reply)))
			fail_msg("%s\n%d %d %d %d '%s'", sample->added, said.is_taken, said.is_over,
				 said.is_followed, said.is_error, or_empty(said.reply));
		assert_int_equal(unlink(path), 0);
	}
}

static void what_was_there_before_is_another_message(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 };
	cleanup_said struct said said = { 0 };
	assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
	append(path, SAYS("one", "end_turn"));
	assert_int_equal(said_look(&desk->deck, instance, &mark, "go on", &said, NULL), 0);
	assert_false(said.is_taken);
	assert_null(said.reply);
}

/* A command of the agent's own, which has other words there. */
static void any_turn_is_that_of_a_command(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 };
	cleanup_said struct said said = { 0 };
	assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
	append(path, PROMPT("<command-name>/review</command-name>") SAYS("fine", "end_turn"));
	assert_int_equal(said_look(&desk->deck, instance, &mark, NULL, &said, NULL), 0);
	assert_true(said.is_over);
	assert_string_equal(or_empty(said.reply), "fine");
}

/* It waits in the queue while the agent ends the turn before. */
static void the_turn_before_is_not_that_of_a_command(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 };
	assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
	append(path, TOOL RESULT SAYS("of the turn before", "end_turn"));
	for (int i = 0; i < 2; i++) {
		cleanup_said struct said said = { 0 };
		assert_int_equal(said_look(&desk->deck, instance, &mark, NULL, &said, NULL), 0);
		assert_false(said.is_over);
		assert_null(said.reply);
		append(path, PROMPT("<command-name>/review</command-name>"));
	}
	/* The first turn is the command's. */
	append(path, SAYS("fine", "end_turn") PROMPT("next") SAYS("later", "end_turn"));
	cleanup_said struct said said = { 0 };
	assert_int_equal(said_look(&desk->deck, instance, &mark, NULL, &said, NULL), 0);
	assert_true(said.is_over && said.is_followed);
	assert_string_equal(or_empty(said.reply), "fine");
}

static void another_conversation_has_no_reply_to_the_command_that_leads_there(void **state)
{
	static const char other_id[] = "0c000000-0000-4000-8000-00000000000d";
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_free char *other = xasprintf("%s/%s.jsonl", desk->root, other_id);
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 };
	cleanup_said struct said said = { 0 };
	assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
	append(other, BEFORE SAYS("long ago", "end_turn"));
	replace_string(&instance->conversation.session_id, other_id);
	replace_string(&instance->conversation.transcript_path, other);
	assert_int_equal(said_look(&desk->deck, instance, &mark, NULL, &said, NULL), 0);
	assert_string_equal(or_empty(said.path), other);
	assert_null(said.reply);
}

static void a_letter_and_its_mark_may_be_one_character(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 };
	cleanup_said struct said said = { 0 };
	assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
	append(path, PROMPT("un café") SAYS("oui", "end_turn"));
	assert_int_equal(said_look(&desk->deck, instance, &mark, "un cafe\u0301", &said, NULL), 0);
	assert_true(said.is_taken);
	assert_string_equal(or_empty(said.reply), "oui");
}

/* Bytes that this process has read. */
static long long read_so_far(void)
{
	cleanup_strbuf struct strbuf text = { 0 };
	assert_int_equal(fs_read(AT_FDCWD, "/proc/self/io", 4096, &text, NULL), 0);
	assert_true(starts_with(strbuf_text(&text), "rchar: "));
	return atoll(strbuf_text(&text) + strlen("rchar: "));
}

static void what_was_read_is_not_read_again(void **state)
{
	enum { RECORDS = 20000 };
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 }, seen = { 0 };
	cleanup_strbuf struct strbuf many = { 0 };
	assert_int_equal(said_mark(&desk->deck, instance, &mark, NULL), 0);
	for (int i = 0; i < RECORDS; i++)
		strbuf_adds(&many, SAYS("one", "end_turn"));
	append(path, strbuf_text(&many));
	assert_false(said_is_taken(&desk->deck, instance, &mark, &seen, "go on"));
	/* The line is not whole. */
	append(path, "{\"type\":\"user\",\"message\":{\"content\":\"go");
	const long long before = read_so_far();
	assert_false(said_is_taken(&desk->deck, instance, &mark, &seen, "go on"));
	append(path, " on\"}}\n");
	assert_true(said_is_taken(&desk->deck, instance, &mark, &seen, "go on"));
	assert_true(read_so_far() - before < (long long)many.length);
	/* Another file of that name. */
	cleanup_free char *other = path_join(desk->root, "other");
	append(other, BEFORE PROMPT("more"));
	append(other, strbuf_text(&many));
	append(other, strbuf_text(&many));
	assert_return_code(rename(other, path), 0);
	assert_true(said_is_taken(&desk->deck, instance, &mark, &seen, "more"));
}

/* It may have been said long before the message. */
static void what_could_not_be_read_before_is_no_proof(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_free char *path = path_join(desk->root, UUID ".jsonl");
	cleanup_free char *projects = path_join(desk->root, "projects");
	cleanup_instance struct instance *instance = begin(desk, path);
	cleanup_said_mark struct said_mark mark = { 0 }, seen = { 0 };
	cleanup_said struct said said = { 0 };
	cleanup_error struct error err = { 0 };
	replace_string(&instance->conversation.transcript_path, NULL);
	assert_return_code(symlink(projects, projects), 0);
	assert_int_equal(said_mark(&desk->deck, instance, &mark, &err), -1);
	assert_true(mark.is_unknown);
	assert_return_code(unlink(projects), 0);
	replace_string(&instance->conversation.transcript_path, path);
	assert_false(said_is_taken(&desk->deck, instance, &mark, &seen, "go on"));
	assert_int_equal(said_look(&desk->deck, instance, &mark, "go on", &said, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(a_reply_is_that_of_its_message),
		FAKE_TEST(what_was_there_before_is_another_message),
		FAKE_TEST(any_turn_is_that_of_a_command),
		FAKE_TEST(the_turn_before_is_not_that_of_a_command),
		FAKE_TEST(another_conversation_has_no_reply_to_the_command_that_leads_there),
		FAKE_TEST(a_letter_and_its_mark_may_be_one_character),
		FAKE_TEST(what_was_read_is_not_read_again),
		FAKE_TEST(what_could_not_be_read_before_is_no_proof),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
