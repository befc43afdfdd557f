/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The stages of a session that comes up: who hears of them, and what is written down.
 */
#include "unit/scratch.h"
#include "unit/test.h"

#include "engine/deck/stages.h"

#include <string.h>
#include <sys/stat.h>

static struct deck deck;
static struct strbuf heard;

static void hear(const struct stage_news *news)
{
	strbuf_addf(&heard, "%s%s%s%s;", news->is_last ? "all: " : "",
		    news->is_last ? "" : news->text, news->is_end ? " ends" : "",
		    news->is_failure ? " badly" : "");
}

static int begin(void **state)
{
	cleanup_free char *root = NULL;
	if (set_up(state) < 0 || mkdirat(here, "state", 0700) < 0)
		return -1;
	root = path_join(scratch, "state");
	deck.paths.state = TAKE_PTR(root);
	deck.on_stage = hear;
	return store_open(deck.paths.state, "default", &deck.store, NULL);
}

static int end(void **state)
{
	store_close(deck.store);
	free(deck.paths.state);
	deck = (struct deck){ 0 };
	strbuf_free(&heard);
	return tear_down(state);
}

/* The files of the runs, sorted by nothing. */
static void list_files(struct strvec *ret)
{
	cleanup_close int fd = openat(here, "state/logs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		assert_int_equal(fs_list(fd, ret, NULL), 0);
}

static void assert_in_order(const char *text, const char *const *words)
{
	const char *at = text;
	for (size_t i = 0; words[i]; i++, at++)
		if (!(at = strstr(at, words[i])))
			fail_msg("no %s in\n%s", words[i], text);
}

static void each_stage_begins_and_ends(void **state UNUSED)
{
	assert_int_equal(stages_begin(&deck), 0);
	stages_enter(&deck, STAGE_ROLE);
	stages_enter(&deck, STAGE_ROLE);
	/* A part of it that would be a run by itself. */
	assert_int_equal(stages_begin(&deck), STAGES_ELSEWHERE);
	stages_enter(&deck, STAGE_IMAGE);
	stages_end(&deck, NULL);
	assert_string_equal(strbuf_text(&heard), "role;role ends;image;image ends;all:  ends;");
	/* Nothing is told of no run. */
	stages_enter(&deck, STAGE_WINDOW);
	stages_say(&deck, "words");
	stages_end(&deck, NULL);
	assert_string_equal(strbuf_text(&heard), "role;role ends;image;image ends;all:  ends;");
}

static void a_failure_names_the_file_with_all_of_it(void **state UNUSED)
{
	static const char *const words[] = {
		" role\n",   " role: done after ",    " image\n",
		" step 1\n", " image: failed after ", " it is broken\n",
		NULL
	};
	cleanup_error struct error err = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	assert_int_equal(stages_begin(&deck), 0);
	stages_enter(&deck, STAGE_ROLE);
	stages_enter(&deck, STAGE_IMAGE);
	stages_say(&deck, "step 1");
	(void)error_set(&err, ERROR_CHILD, "it is broken");
	stages_end(&deck, &err);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_true(starts_with(err.message, "it is broken (the stage was image; "));
	const char *path = strchr(err.message, '/');
	assert_non_null(path);
	cleanup_free char *file = xstrndup(path, strcspn(path, " "));
	assert_int_equal(fs_read(AT_FDCWD, file, 4096, &text, NULL), 0);
	assert_in_order(strbuf_text(&text), words);
	assert_string_equal(strbuf_text(&heard),
			    "role;role ends;image;image ends badly;all:  ends badly;");
}

static void what_needs_no_engine_leaves_no_file(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_strvec struct strvec files = { 0 };
	assert_int_equal(stages_begin(&deck), 0);
	stages_enter(&deck, STAGE_ROLE);
	(void)error_set(&err, ERROR_INVALID, "no");
	stages_end(&deck, &err);
	assert_string_equal(err.message, "no");
	list_files(&files);
	assert_int_equal(files.count, 0);
}

static void the_last_files_are_kept(void **state UNUSED)
{
	cleanup_strvec struct strvec files = { 0 };
	assert_int_equal(mkdirat(here, "state/logs", 0700), 0);
	put("state/logs/agentdeck.log", "mine");
	for (unsigned i = 0; i < STAGES_KEPT + 3; i++) {
		cleanup_free char *name = xasprintf("state/logs/20200101-000000-%06u.log", i);
		put(name, "old");
	}
	assert_int_equal(stages_begin(&deck), 0);
	stages_enter(&deck, STAGE_CAPSULE);
	stages_end(&deck, NULL);
	list_files(&files);
	assert_int_equal(files.count, STAGES_KEPT + 1);
	assert_true(strvec_contains(&files, "agentdeck.log"));
	assert_false(strvec_contains(&files, "20200101-000000-000003.log"));
	assert_true(strvec_contains(&files, "20200101-000000-000004.log"));
}

int main(void)
{
#define WITH_A_STORE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		WITH_A_STORE(each_stage_begins_and_ends),
		WITH_A_STORE(a_failure_names_the_file_with_all_of_it),
		WITH_A_STORE(what_needs_no_engine_leaves_no_file),
		WITH_A_STORE(the_last_files_are_kept),
	};
#undef WITH_A_STORE
	return cmocka_run_group_tests(tests, NULL, NULL);
}
