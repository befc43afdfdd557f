/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dialogs: keys to an answer, and what is seen in terminals of several sizes.
 */
#include "unit/test.h"

#include "model/question/screens.h"
#include "ui/state/dialog.h"

#include <string.h>

static const struct question_subject subject = {
	.title = "api",
	.agent = "demo",
	.id = "0a1b2c3d",
	.kind = "worktree",
	.tree = "/home/me/trees/api",
};

static void open_end(struct dialog *dialog)
{
	struct question question = { 0 };
	question_of_end(&question, &subject);
	dialog_open(dialog, &question);
}

static void open_work(struct dialog *dialog, size_t files)
{
	struct question question = { 0 };
	struct verdict verdict = { 0 };
	for (size_t i = 0; i < files; i++) {
		cleanup_free char *name = xasprintf("?? file-%zu", i + 1);
		verdict_add(&verdict, FINDING_FILE, "", name, "");
	}
	question_of_work(&question, &subject, &verdict);
	dialog_open(dialog, &question);
	verdict_free(&verdict);
}

static void keys_become_an_answer(void **state UNUSED)
{
	static const struct {
		key_code keys[8];
		enum choice_kind kind;
	} cases[] = {
		{ { KEY_CODE_ENTER }, CHOICE_RETURN },
		{ { KEY_CODE_DOWN, KEY_CODE_ENTER }, CHOICE_KEEP },
		{ { KEY_CODE_DOWN, KEY_CODE_DOWN, KEY_CODE_ENTER }, CHOICE_CLEAN },
		{ { KEY_CODE_DOWN, KEY_CODE_DOWN, KEY_CODE_DOWN, KEY_CODE_UP, KEY_CODE_ENTER },
		  CHOICE_KEEP },
		{ { KEY_CODE_UP, KEY_CODE_ENTER }, CHOICE_RETURN },
		{ { '2', KEY_CODE_ENTER }, CHOICE_KEEP },
		/* there are three */
		{ { '4', '0', KEY_CODE_ENTER }, CHOICE_RETURN },
		{ { KEY_CODE_DOWN, KEY_CODE_DOWN, KEY_CODE_ESCAPE }, CHOICE_NONE },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dialog dialog = { 0 };
		enum choice_kind kind = CHOICE_COUNT;
		size_t last = 0;
		open_end(&dialog);
		while (cases[i].keys[last + 1])
			assert_false(dialog_key(&dialog, cases[i].keys[last++], &kind));
		assert_true(dialog_key(&dialog, cases[i].keys[last], &kind));
		assert_int_equal(kind, cases[i].kind);
		dialog_close(&dialog);
	}
}

/* No key alone gives up work, whatever it is. */
static void what_loses_has_to_be_moved_to(void **state UNUSED)
{
	for (key_code key = 1; key <= KEY_CODE_PASTE_END; key++) {
		struct dialog dialog = { 0 };
		enum choice_kind kind = CHOICE_NONE;
		open_end(&dialog);
		(void)dialog_key(&dialog, key, &kind);
		assert_int_not_equal(kind, CHOICE_CLEAN);
		dialog_close(&dialog);
		key = key == 0x200 ? KEY_CODE_FIRST - 1 : key;
	}
}

/* "T session ended", with a letter for the part, and ">" for the cursor. */
static char *seen(struct dialog *dialog, size_t columns, size_t rows)
{
	static const char letters[] = "T.HPCL";
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_dialog_page struct dialog_page page = { 0 };
	dialog_lay_out(dialog, columns, rows, &page);
	assert_true(page.count <= rows);
	for (size_t i = 0; i < page.count; i++) {
		assert_true(page.lines[i].part == PART_TITLE ||
			    strlen(page.lines[i].text) <= columns);
		strbuf_addf(&text, "%c%s%s\n", letters[page.lines[i].part],
			    page.lines[i].is_chosen ? ">" : " ", page.lines[i].text);
	}
	return strbuf_take(&text);
}

static void a_wide_one_says_what_each_choice_does(void **state UNUSED)
{
	struct dialog dialog = { 0 };
	open_end(&dialog);
	cleanup_free char *text = seen(&dialog, 80, 23);
	assert_string_equal(
		text,
		"T session ended\n"
		". api (demo), 0a1b2c3d\n"
		". worktree /home/me/trees/api\n"
		". \n"
		". It has unfinished work.\n"
		"P \n"
		"P How should this session end?\n"
		"C>> Return to agent - keep working in this session now\n"
		"C   Exit and keep - keep everything, resume later to finish the work\n"
		"L   ! Exit and clean up - discard its tree, and delete everything of the session\n");
	dialog_close(&dialog);
}

static void a_small_one_has_all_choices(void **state UNUSED)
{
	struct dialog dialog = { 0 };
	enum choice_kind kind;
	open_end(&dialog);
	cleanup_free char *text = seen(&dialog, 40, 11);
	assert_string_equal(text, "T session ended\n"
				  ". api (demo), 0a1b2c3d\n"
				  ". worktree /home/me/trees/api\n"
				  ". \n"
				  ". It has unfinished work.\n"
				  "P How should this session end?\n"
				  "C>> Return to agent - keep working in this\n"
				  "C>  session now\n"
				  "C   Exit and keep\n"
				  "L   ! Exit and clean up\n");
	(void)dialog_key(&dialog, KEY_CODE_DOWN, &kind);
	cleanup_free char *second = seen(&dialog, 40, 11);
	assert_non_null(strstr(second, "C   Return to agent\nC>> Exit and keep - keep everything"));
	dialog_close(&dialog);
}

static void the_evidence_scrolls_to_its_end(void **state UNUSED)
{
	struct dialog dialog = { 0 };
	enum choice_kind kind;
	open_work(&dialog, 30);
	cleanup_free char *first = seen(&dialog, 80, 23);
	assert_non_null(strstr(first, "T session ended (lines 1-19 of 35)\n"));
	assert_non_null(strstr(first, "H uncommitted (30)\n.   ?? file-1\n"));
	assert_null(strstr(first, "file-30\n"));
	/* With one choice, the arrows scroll. */
	(void)dialog_key(&dialog, KEY_CODE_DOWN, &kind);
	cleanup_free char *second = seen(&dialog, 80, 23);
	assert_non_null(strstr(second, "(lines 2-20 of 35)"));
	for (int i = 0; i < 5; i++)
		(void)dialog_key(&dialog, KEY_CODE_PAGE_DOWN, &kind);
	cleanup_free char *last = seen(&dialog, 80, 23);
	assert_non_null(strstr(last, "file-30\n"));
	assert_non_null(strstr(last, "(lines 17-35 of 35)"));
	/* A larger terminal has room for all of it. */
	cleanup_free char *large = seen(&dialog, 80, 60);
	assert_non_null(strstr(large, "T session ended\n"));
	assert_int_equal(dialog.top, 0);
	dialog_close(&dialog);
}

/* Whatever the size: no line is too long, and no row too many. */
/* Labels can be an agent's own choices. */
static void the_choice_under_the_cursor_is_seen(void **state UNUSED)
{
	struct dialog dialog = { 0 };
	struct question question = { 0 };
	question_begin(&question, "api", "Which answer?");
	for (size_t i = 0; i < 6; i++) {
		cleanup_free char *label = xasprintf("%zu. a label of so many words that it "
						     "takes several rows of the box",
						     i + 1);
		question_add_choice(&question, CHOICE_CONTINUE, label, "");
	}
	dialog_open(&dialog, &question);
	for (size_t rows = 3; rows < 20; rows++) {
		for (dialog.cursor = 0; dialog.cursor < 6; dialog.cursor++) {
			cleanup_free char *text = seen(&dialog, 30, rows);
			cleanup_free char *begin = xasprintf("\nC>> %zu. a", dialog.cursor + 1);
			assert_non_null(strstr(text, begin));
		}
	}
	dialog_close(&dialog);
}

static void every_size_is_kept(void **state UNUSED)
{
	struct dialog dialog = { 0 };
	open_work(&dialog, 3);
	for (size_t columns = 12; columns < 90; columns++) {
		for (size_t rows = 1; rows < 30; rows++) {
			cleanup_free char *text = seen(&dialog, columns, rows);
			assert_true(*text);
		}
	}
	dialog_close(&dialog);
}

static void a_long_word_is_broken_between_characters(void **state UNUSED)
{
	struct dialog dialog = { 0 };
	struct question question = { 0 };
	question_begin(&question, "t", "p");
	question_add_line(&question, "%s", "/aa/\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9/b");
	question_add_choice(&question, CHOICE_CONTINUE, "Continue", "");
	dialog_open(&dialog, &question);
	cleanup_free char *text = seen(&dialog, 9, 20);
	assert_non_null(strstr(text, ". /aa/\xc3\xa9\xc3\xa9\n.   \xc3\xa9\xc3\xa9/b\n"));
	dialog_close(&dialog);
}

static void a_narrow_line_keeps_whole_characters(void **state UNUSED)
{
	static const char wide[] = "\xe6\x97\xa5\xe6\x9c\xac";
	assert_int_equal(dialog_fitting(wide, 1), 3);
	assert_int_equal(dialog_fitting(wide, 2), 3);
	assert_int_equal(dialog_fitting(wide, 4), 3);
	assert_int_equal(dialog_fitting(wide, 6), 6);
	assert_int_equal(dialog_fitting("ab", 1), 1);
	assert_int_equal(dialog_fitting("", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_become_an_answer),
		cmocka_unit_test(what_loses_has_to_be_moved_to),
		cmocka_unit_test(a_wide_one_says_what_each_choice_does),
		cmocka_unit_test(a_small_one_has_all_choices),
		cmocka_unit_test(the_evidence_scrolls_to_its_end),
		cmocka_unit_test(the_choice_under_the_cursor_is_seen),
		cmocka_unit_test(every_size_is_kept),
		cmocka_unit_test(a_long_word_is_broken_between_characters),
		cmocka_unit_test(a_narrow_line_keeps_whole_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
