/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/question/screens.h"

#include <string.h>

static const struct question_subject subject = {
	.title = "api", .agent = "demo", .id = "0aaaaaaa", .kind = "worktree", .tree = "/t/api"
};

static void the_first_choice_loses_nothing(void **state UNUSED)
{
	cleanup_verdict struct verdict verdict = { 0 };
	verdict_add(&verdict, FINDING_FILE, "", "?? new", NULL);
	static const enum choice_kind defaults[] = { CHOICE_CONTINUE, CHOICE_RETURN, CHOICE_KEEP,
						     CHOICE_NEW, CHOICE_KEEP };
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		cleanup_question struct question question = { 0 };
		switch (i) {
		case 0:
			question_of_work(&question, &subject, &verdict);
			break;
		case 1:
			question_of_end(&question, &subject);
			break;
		case 2:
			question_of_removal(&question, &subject);
			break;
		case 3:
			question_of_launch(&question, "/src/api", "demo");
			break;
		default:
			question_of_reuse(&question, &subject, "", "file: ?? new\n");
		}
		assert_int_equal(question.choices[0].kind, defaults[i]);
		assert_false(question.choices[0].loses);
		for (size_t j = 0; j < question.choice_count; j++)
			assert_int_equal(question.choices[j].loses,
					 question.choices[j].kind == CHOICE_CLEAN);
	}
}

static void unfinished_work_is_shown_with_the_session(void **state UNUSED)
{
	cleanup_question struct question question = { 0 };
	cleanup_verdict struct verdict verdict = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	verdict_add(&verdict, FINDING_FILE, "", "?? new", NULL);
	question_of_work(&question, &subject, &verdict);
	question_add_text(&question, &text);
	assert_non_null(strstr(strbuf_text(&text), "api (demo), 0aaaaaaa\nworktree /t/api\n"));
	assert_non_null(strstr(strbuf_text(&text), "uncommitted (1)\n    ?? new\n"));
}

static void only_what_differs_is_shown(void **state UNUSED)
{
	cleanup_question struct question question = { 0 };
	question_of_reuse(&question, &subject, "file: ?? a\nfile: ?? b\n",
			  "file: ?? b\nfile: ?? c\n");
	assert_int_equal(question.evidence_count, 2);
	assert_string_equal(question.evidence[0].heading, "new");
	assert_int_equal(question.evidence[0].items.count, 1);
	assert_string_equal(question.evidence[0].items.items[0], "file: ?? c");
	assert_string_equal(question.evidence[1].heading, "gone");
	assert_int_equal(question.evidence[1].items.count, 1);
	assert_string_equal(question.evidence[1].items.items[0], "file: ?? a");
}

static const struct question_holder holder = {
	.place = IN_SESSION,
	.conversation = "c0ffee",
	.who = "web (demo), 0bbbbbbb",
	.since = "2026-11-25 19:20 (3 min ago)",
	.where = "/src/web",
	.title = "web",
	.can_attach = true,
	.can_fork = true,
	.can_take = true,
};

static void who_has_the_conversation_is_shown(void **state UNUSED)
{
	cleanup_question struct question question = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	question_of_conflict(&question, &subject, &holder);
	question_add_text(&question, &text);
	assert_string_equal(
		strbuf_text(&text),
		"conversation in use\n\napi (demo), 0aaaaaaa\nworktree /t/api\n\n"
		"Its conversation is open in another session:\nweb (demo), 0bbbbbbb\n"
		"since 2026-11-25 19:20 (3 min ago)\ndirectory /src/web\nconversation c0ffee\n\n"
		"Two agents on one conversation would split its history.\n\n"
		"How do you want to continue?\n   1  Back - nothing is started\n"
		"   2  Attach to web - work there\n"
		"   3  Copy the conversation - a new session with its own worktree begins with "
		"it, and api stays as it is\n"
		"   4  Stop web, and start api - the conversation continues here; a turn that it works "
		"on is lost\n");
}

/* The default starts nothing, and nothing is offered that cannot be done. */
static void only_what_can_be_done_is_offered(void **state UNUSED)
{
	for (unsigned can = 0; can < 8; can++) {
		cleanup_question struct question question = { 0 };
		struct question_holder one = holder;
		size_t i = 0;
		one.can_attach = can & 1;
		one.can_fork = can & 2;
		one.can_take = can & 4;
		question_of_conflict(&question, &subject, &one);
		assert_int_equal(question.choices[i++].kind, CHOICE_KEEP);
		if (one.can_attach)
			assert_int_equal(question.choices[i++].kind, CHOICE_ATTACH);
		if (one.can_fork)
			assert_int_equal(question.choices[i++].kind, CHOICE_FORK);
		if (one.can_take)
			assert_int_equal(question.choices[i++].kind, CHOICE_TAKE);
		assert_int_equal(question.choice_count, i);
		for (size_t j = 0; j < i; j++)
			assert_false(question.choices[j].loses);
		assert_ptr_equal(question_parse(&question, ""), &question.choices[0]);
	}
}

/* Without an id there is nothing that each could keep. */
static void two_of_one_directory_begin_new_conversations(void **state UNUSED)
{
	static const struct {
		const char *conversation, *effect;
	} cases[] = {
		{ "c0ffee", "each keeps its own conversation; a turn that it works on is lost" },
		{ NULL, "it begins a new conversation, and so will web when it is started again; a "
			"turn that it works on is lost" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_question struct question question = { 0 };
		const struct question_holder one = { .place = IN_DIRECTORY,
						     .who = "web (demo), 0bbbbbbb",
						     .title = "web",
						     .conversation = cases[i].conversation,
						     .can_take = true };
		question_of_conflict(&question, &subject, &one);
		assert_int_equal(question.choices[1].kind, CHOICE_TAKE);
		assert_string_equal(question.choices[1].effect, cases[i].effect);
	}
}

static void a_process_is_shown_as_far_as_it_is_known(void **state UNUSED)
{
	static const struct {
		enum question_place place;
		const char *line;
	} cases[] = {
		{ IN_PROCESS, "Its conversation is open in a process that agentdeck did not "
			      "start:\nprocess 4711\n\nTwo" },
		{ IN_MACHINE, "A process on another machine had its conversation, and may still "
			      "have it:\nprocess 4711\n\nTwo" },
		{ IN_BACKGROUND, "Its agent still has its conversation in the background:\n"
				 "process 4711\n\nTwo" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_question struct question question = { 0 };
		cleanup_strbuf struct strbuf text = { 0 };
		const struct question_holder process = { .place = cases[i].place,
							 .who = "process 4711",
							 .can_take = true };
		question_of_conflict(&question, &subject, &process);
		question_add_text(&question, &text);
		assert_non_null(strstr(strbuf_text(&text), cases[i].line));
		assert_string_equal(question.choices[1].label, "End it, and start api");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_choice_loses_nothing),
		cmocka_unit_test(unfinished_work_is_shown_with_the_session),
		cmocka_unit_test(only_what_differs_is_shown),
		cmocka_unit_test(who_has_the_conversation_is_shown),
		cmocka_unit_test(only_what_can_be_done_is_offered),
		cmocka_unit_test(two_of_one_directory_begin_new_conversations),
		cmocka_unit_test(a_process_is_shown_as_far_as_it_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
