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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_choice_loses_nothing),
		cmocka_unit_test(unfinished_work_is_shown_with_the_session),
		cmocka_unit_test(only_what_differs_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
