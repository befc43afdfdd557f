/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What becomes of another program's sessions: the plan alone.
 */
#include "unit/test.h"

#include "model/plan/import.h"

#include <string.h>

#define ID_A "11111111-1111-4111-8111-111111111111"
#define ID_B "22222222-2222-4222-8222-222222222222"

/* A row that becomes a session. */
static struct import_row *add(struct import_rows *rows, const char *title)
{
	struct import_row *row = import_rows_add(rows);
	row->source = xstrdup("test");
	row->origin = xasprintf("test:%zu", rows->count);
	row->title = xstrdup(title);
	row->directory = xstrdup("/work/api");
	row->facts.directory = xstrdup("/work/api");
	row->facts.agent = xstrdup("claude");
	row->facts.sees_files = row->facts.takes_id = true;
	return row;
}

static struct import_id *add_id(struct import_row *row, const char *id, bool has_file)
{
	import_row_add_id(row, id);
	struct import_id *added = &row->ids[row->id_count - 1];
	if (has_file) {
		added->path = xasprintf("/home/%s.jsonl", id);
		added->home = xstrdup("/home/.claude");
	}
	return added;
}

static void plan(const struct import_rows *rows, struct import_consent consent,
		 struct import_plan *ret)
{
	const struct import_target target = { .profile = "default", .consent = consent };
	import_plan(rows, &target, ret);
}

static void with_file(struct import_row *row)
{
	add_id(row, ID_A, true);
}
static void without_file(struct import_row *row)
{
	add_id(row, ID_A, false);
}
static void second_has_file(struct import_row *row)
{
	add_id(row, ID_A, false);
	add_id(row, ID_B, true);
}
static void unseen(struct import_row *row)
{
	add_id(row, ID_A, false);
	row->facts.sees_files = false;
}
static void guessed(struct import_row *row)
{
	add_id(row, ID_A, false);
	add_id(row, ID_B, true)->is_guess = true;
}
static void only_one_there(struct import_row *row)
{
	add_id(row, ID_B, true)->is_guess = true;
	row->hint = IMPORT_HINT_NEWEST;
}
static void sole(struct import_row *row)
{
	add_id(row, ID_B, true)->is_guess = true;
	row->hint = IMPORT_HINT_ONLY;
	row->facts.choices = 1;
}
static void one_of_two(struct import_row *row)
{
	sole(row);
	row->facts.choices = 2;
}
static void sole_of_two_rows(struct import_row *row)
{
	sole(row);
	row->facts.is_shared = true;
}
static void only_its_parents(struct import_row *row)
{
	add_id(row, ID_A, false);
	add_id(row, ID_B, true);
	row->parent = xstrdup(ID_B);
}
static void owned(struct import_row *row)
{
	add_id(row, ID_A, true)->owner = xstrdup("mine");
}
static void no_directory(struct import_row *row)
{
	replace_string(&row->facts.directory, NULL);
}
static void refused(struct import_row *row)
{
	row->refusal = xstrdup("it runs on another machine");
}
static void running(struct import_row *row)
{
	add_id(row, ID_A, true);
	row->facts.runs = xstrdup("/dev/pts/1");
}
static void surely_running(struct import_row *row)
{
	running(row);
	row->facts.is_certain = true;
	import_row_set_open(row, ID_B, "/home/.claude");
}
static void unheard_of(struct import_row *row)
{
	row->facts.runs = xstrdup("/dev/pts/1");
	row->facts.is_certain = true;
	import_row_set_open(row, ID_B, NULL);
}
static void its_parents_is_open(struct import_row *row)
{
	add_id(row, ID_A, true);
	row->parent = xstrdup(ID_B);
	row->facts.runs = xstrdup("/dev/pts/1");
	row->facts.is_certain = true;
	import_row_set_open(row, ID_B, NULL);
}
static void runs_without_ids(struct import_row *row)
{
	surely_running(row);
	row->facts.takes_id = false;
}
static void imported(struct import_row *row)
{
	row->facts.imported_as = xstrdup("api");
	row->facts.was_imported = true;
	row->facts.runs = xstrdup("/dev/pts/1");
}
static void removed(struct import_row *row)
{
	row->facts.was_imported = true;
}
static void takes_none(struct import_row *row)
{
	add_id(row, ID_A, true);
	row->facts.takes_id = false;
}

/* The decision for each kind of row. */
#define GUESS                   \
	{                       \
		.guesses = true \
	}
#define AGAIN                 \
	{                     \
		.again = true \
	}
static const struct {
	const char *name;
	void (*make)(struct import_row *row);
	struct import_consent consent;
	enum import_verdict verdict;
	const char *taken;
} table[] = {
	{ "its conversation is there", with_file, { 0 }, IMPORT_MAKE, ID_A },
	{ "its conversation is gone", without_file, { 0 }, IMPORT_FRESH, NULL },
	{ "the first id that has a file counts", second_has_file, { 0 }, IMPORT_MAKE, ID_B },
	{ "nobody can look", unseen, { 0 }, IMPORT_MAKE, ID_A },
	{ "a guess asks", guessed, { 0 }, IMPORT_ASK, NULL },
	{ "a guess with consent", guessed, GUESS, IMPORT_MAKE, ID_B },
	{ "the only one of its directory", only_one_there, { 0 }, IMPORT_MAKE, ID_B },
	{ "the only one there, and nobody else", sole, { 0 }, IMPORT_MAKE, ID_B },
	{ "one of two", one_of_two, { 0 }, IMPORT_ASK, NULL },
	{ "one of two, with consent", one_of_two, GUESS, IMPORT_MAKE, ID_B },
	{ "two rows for one", sole_of_two_rows, { 0 }, IMPORT_ASK, NULL },
	{ "its parent's conversation is not its own", only_its_parents, { 0 }, IMPORT_FRESH, NULL },
	{ "another session has it", owned, { 0 }, IMPORT_CONFLICT, NULL },
	{ "no directory", no_directory, { 0 }, IMPORT_REFUSE, NULL },
	{ "refused by its reader", refused, { 0 }, IMPORT_REFUSE, NULL },
	{ "it may run", running, { 0 }, IMPORT_REFUSE, NULL },
	{ "it runs, with another conversation", surely_running, { 0 }, IMPORT_RUNS, ID_B },
	{ "it runs, and has written nothing", unheard_of, { 0 }, IMPORT_RUNS, ID_B },
	{ "it would get another one than it runs", its_parents_is_open, { 0 }, IMPORT_REFUSE, NULL },
	{ "it runs, and would continue nothing", runs_without_ids, { 0 }, IMPORT_REFUSE, NULL },
	{ "imported before", imported, AGAIN, IMPORT_DONE, NULL },
	{ "removed since", removed, { 0 }, IMPORT_REMOVED, NULL },
	{ "removed since, with consent", removed, AGAIN, IMPORT_FRESH, NULL },
	{ "an agent without ids", takes_none, { 0 }, IMPORT_FRESH, NULL },
};

static void each_row_has_its_decision(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		cleanup_import_rows struct import_rows rows = { 0 };
		cleanup_import_plan struct import_plan made = { 0 };
		table[i].make(add(&rows, "api"));
		plan(&rows, table[i].consent, &made);
		const struct import_step *step = made.steps;
		if (step->verdict != table[i].verdict ||
		    !streq(or_empty(step->taken ? step->taken->id : NULL),
			   or_empty(table[i].taken)))
			fail_msg("%s: %s, %s", table[i].name, import_verdict_name(step->verdict),
				 step->why);
		assert_int_equal(import_is_made(step) || step->verdict == IMPORT_RUNS,
				 step->title != NULL);
		assert_int_equal(import_can_adopt(step), step->verdict == IMPORT_RUNS);
	}
}

static void one_conversation_goes_to_the_one_that_runs(void **state UNUSED)
{
	cleanup_import_rows struct import_rows rows = { 0 };
	cleanup_import_plan struct import_plan made = { 0 };
	struct import_row *row = add(&rows, "runs");
	add_id(row, ID_A, true);
	row->facts.runs = xstrdup("/dev/pts/1");
	row->facts.is_certain = true;
	import_row_set_open(row, ID_A, "/home/.claude");
	row = add(&rows, "later");
	add_id(row, ID_A, true);
	row->last_used_at = 5;
	plan(&rows, (struct import_consent){ 0 }, &made);
	assert_int_equal(made.steps[0].verdict, IMPORT_RUNS);
	assert_int_equal(made.steps[1].verdict, IMPORT_CONFLICT);
	assert_string_equal(made.steps[1].why, "its conversation goes to 'runs', which runs");
}

/* It was imported while it was stopped there. */
static void what_was_imported_can_be_adopted(void **state UNUSED)
{
	cleanup_import_rows struct import_rows rows = { 0 };
	cleanup_import_plan struct import_plan made = { 0 };
	struct import_row *row = add(&rows, "api");
	imported(row);
	row->facts.is_certain = row->facts.can_join = true;
	plan(&rows, (struct import_consent){ 0 }, &made);
	assert_int_equal(made.steps[0].verdict, IMPORT_DONE);
	assert_true(import_can_adopt(&made.steps[0]));
}

static void one_conversation_goes_to_the_one_used_last(void **state UNUSED)
{
	cleanup_import_rows struct import_rows rows = { 0 };
	cleanup_import_plan struct import_plan made = { 0 };
	for (size_t i = 0; i < 3; i++) {
		struct import_row *row = add(&rows, "api");
		add_id(row, ID_A, true);
		row->last_used_at = i == 1 ? 20 : 10;
	}
	plan(&rows, (struct import_consent){ 0 }, &made);
	assert_int_equal(made.steps[0].verdict, IMPORT_CONFLICT);
	assert_int_equal(made.steps[1].verdict, IMPORT_MAKE);
	assert_int_equal(made.steps[2].verdict, IMPORT_CONFLICT);
	assert_null(made.steps[0].title);
	assert_string_equal(made.steps[1].title, "api");
}

static void titles_are_unique_and_clean(void **state UNUSED)
{
	cleanup_import_rows struct import_rows rows = { 0 };
	cleanup_import_plan struct import_plan made = { 0 };
	cleanup_strvec struct strvec titles = { 0 };
	char longest[301];
	memset(longest, 'x', 300);
	longest[300] = '\0';
	strvec_push(&titles, "default/api");
	strvec_push(&titles, "other/b");
	add(&rows, "api");
	add(&rows, "api");
	add(&rows, "b");
	add(&rows, " a\tb\n");
	add(&rows, "");
	add(&rows, longest);
	add(&rows, "api")->profile = xstrdup("other");
	const struct import_target target = { .profile = "default", .titles = &titles };
	import_plan(&rows, &target, &made);
	assert_string_equal(made.steps[0].title, "api (2)");
	assert_string_equal(made.steps[1].title, "api (3)");
	assert_string_equal(made.steps[2].title, "b");
	assert_string_equal(made.steps[3].title, "a b");
	assert_string_equal(made.steps[4].title, "api (4)"); /* its directory's name */
	assert_int_equal(strlen(made.steps[5].title), 240);
	assert_string_equal(made.steps[6].title, "api");
}

/* A directory may end with a slash, and a title that looks like a counted one is a title. */
static void titles_follow_the_directory(void **state UNUSED)
{
	cleanup_import_rows struct import_rows rows = { 0 };
	cleanup_import_plan struct import_plan made = { 0 };
	static const char *const directories[] = { "/work/api//", "/", "/work/api", "/work/api (2)",
						   "/work/api" };
	static const char *const titles[] = { "api", "session", "api (2)", "api (2) (2)",
					      "api (3)" };
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		replace_string(&add(&rows, "")->directory, directories[i]);
	plan(&rows, (struct import_consent){ 0 }, &made);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		assert_string_equal(made.steps[i].title, titles[i]);
}

static void groups_are_clean(void **state UNUSED)
{
	cleanup_free char *plain = import_group("work/api");
	cleanup_free char *odd = import_group("/work// a\t/");
	cleanup_free char *none = import_group(NULL);
	assert_string_equal(plain, "work/api");
	assert_string_equal(odd, "work/a");
	assert_string_equal(none, "");
}

static void an_odd_id_is_no_id(void **state UNUSED)
{
	cleanup_import_rows struct import_rows rows = { 0 };
	struct import_row *row = add(&rows, "api");
	import_row_add_id(row, "");
	import_row_add_id(row, NULL);
	import_row_add_id(row, "--flag");
	import_row_add_id(row, "../../x");
	assert_int_equal(row->id_count, 0);
	import_row_add_id(row, ID_A);
	import_row_add_id(row, ID_A);
	assert_int_equal(row->id_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_has_its_decision),
		cmocka_unit_test(one_conversation_goes_to_the_one_used_last),
		cmocka_unit_test(one_conversation_goes_to_the_one_that_runs),
		cmocka_unit_test(what_was_imported_can_be_adopted),
		cmocka_unit_test(titles_are_unique_and_clean),
		cmocka_unit_test(titles_follow_the_directory),
		cmocka_unit_test(groups_are_clean),
		cmocka_unit_test(an_odd_id_is_no_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
