/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/question/question.h"

#include <string.h>

static void make(struct question *ret)
{
	cleanup_verdict struct verdict verdict = { 0 };
	verdict_add(&verdict, FINDING_STASH, "", "stash@{0}", "try");
	verdict_add(&verdict, FINDING_FILE, "", " M a.c", NULL);
	verdict_add(&verdict, FINDING_BRANCH, "lib", "fix", "2 commits not on origin/fix");
	verdict_add(&verdict, FINDING_IGNORED, "", "build", NULL);
	for (int i = 0; i < VERDICT_MOST + 2; i++)
		verdict_add(&verdict, FINDING_REF, "", "refs/tags/v1", NULL);
	question_begin(ret, "session ended", "How should this session end?");
	question_add_line(ret, "api (%s)", "claude\033[2J");
	question_add_losses(ret, &verdict);
	question_add_choice(ret, CHOICE_RETURN, "Return to agent", "keep working");
	question_add_choice(ret, CHOICE_KEEP, "Exit and keep", "");
	question_add_choice(ret, CHOICE_CLEAN, "Exit and clean up", "");
}

static void losses_are_listed_and_nothing_else(void **state UNUSED)
{
	cleanup_question struct question question = { 0 };
	make(&question);
	assert_int_equal(question.evidence_count, 4);
	assert_string_equal(question.evidence[0].heading, "uncommitted");
	assert_string_equal(question.evidence[0].items.items[0], " M a.c");
	assert_string_equal(question.evidence[1].heading, "unpushed");
	assert_string_equal(question.evidence[1].items.items[0],
			    "in lib: fix: 2 commits not on origin/fix");
	assert_string_equal(question.evidence[2].heading, "stashed");
	assert_int_equal(question.evidence[3].items.count, VERDICT_MOST);
	assert_int_equal(question.evidence[3].more, 2);
}

static void the_text_shows_everything(void **state UNUSED)
{
	cleanup_question struct question question = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	make(&question);
	question_add_text(&question, &text);
	const char *const parts[] = {
		"session ended\n\napi (claude\\033[2J)\n  uncommitted (1)\n     M a.c\n",
		"  tags and other refs (52)\n",
		("    and 2 more\n\nHow should this session end?\n"
		 "   1  Return to agent - keep working\n   2  Exit and keep\n   3  Exit and clean up\n"),
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_non_null(strstr(strbuf_text(&text), parts[i]));
	assert_null(strstr(strbuf_text(&text), "build"));
}

static void an_answer_is_a_number_or_a_name(void **state UNUSED)
{
	static const struct {
		const char *typed;
		enum choice_kind kind; /* CHOICE_NONE: it is none */
	} cases[] = {
		{ "", CHOICE_RETURN },
		{ "  ", CHOICE_RETURN },
		{ "1", CHOICE_RETURN },
		{ " 3 ", CHOICE_CLEAN },
		{ "return", CHOICE_RETURN },
		{ "exit and keep", CHOICE_KEEP },
		{ "Exit and c", CHOICE_CLEAN },
		/* two begin so */
		{ "exit", CHOICE_NONE },
		{ "0", CHOICE_NONE },
		{ "4", CHOICE_NONE },
		{ "keep", CHOICE_NONE },
	};
	cleanup_question struct question question = { 0 };
	make(&question);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct choice *choice = question_parse(&question, cases[i].typed);
		assert_int_equal(choice ? choice->kind : CHOICE_NONE, cases[i].kind);
	}
}

static void its_json_has_all_of_it(void **state UNUSED)
{
	cleanup_question struct question question = { 0 };
	make(&question);
	cleanup_json struct json_object *object = question_to_json(&question);
	assert_string_equal(json_get_string(object, "title", ""), "session ended");
	struct json_object *choices = json_get_array(object, "choices");
	assert_int_equal(json_object_array_length(choices), 3);
	struct json_object *last = json_object_array_get_idx(choices, 2);
	assert_string_equal(json_get_string(last, "kind", ""), "clean");
	assert_true(json_get_bool(last, "loses", false));
	struct json_object *refs = json_object_array_get_idx(json_get_array(object, "evidence"), 3);
	assert_int_equal(json_get_int(refs, "more", 0), 2);
}

static void its_json_is_read_back(void **state UNUSED)
{
	cleanup_question struct question question = { 0 }, again = { 0 };
	cleanup_strbuf struct strbuf text = { 0 }, text_again = { 0 };
	make(&question);
	question_add_session(&question, "0a1b", "Resume it", "");
	cleanup_json struct json_object *object = question_to_json(&question);
	assert_int_equal(question_from_json(object, &again, NULL), 0);
	question_add_text(&question, &text);
	question_add_text(&again, &text_again);
	assert_string_equal(strbuf_text(&text_again), strbuf_text(&text));
	assert_true(again.choices[2].loses);
	assert_string_equal(again.choices[3].session, "0a1b");
	/* The default would lose something. */
	struct json_object *choices = json_get_array(object, "choices");
	json_object_array_del_idx(choices, 0, 2);
	assert_int_equal(question_from_json(object, &again, NULL), -1);
	json_object_array_del_idx(choices, 0, json_object_array_length(choices));
	assert_int_equal(question_from_json(object, &again, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_listed_and_nothing_else),
		cmocka_unit_test(the_text_shows_everything),
		cmocka_unit_test(an_answer_is_a_number_or_a_name),
		cmocka_unit_test(its_json_has_all_of_it),
		cmocka_unit_test(its_json_is_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
