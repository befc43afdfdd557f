/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/runner.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONG_MS = 60000 };

#define SHELL(script) ((const char *const[]){ "sh", "-c", (script), NULL })

/* What comes of a program, in the order in which they end. */
struct told {
	struct loop *loop;
	struct strvec words;
	size_t awaited;
};

static void on_end(const struct child_result *result, const struct error *failure, void *context)
{
	struct told *told = context;
	if (result)
		strvec_pushf(&told->words, "%d %s", result->exit_status,
			     strbuf_text(&result->output));
	else
		strvec_pushf(&told->words, "%d: %s", failure->code, failure->message);
	if (--told->awaited == 0)
		loop_exit(told->loop, 0);
}

static int set_up(void **state)
{
	struct told *told = xcalloc(1, sizeof(*told));
	*state = told;
	return loop_new(&told->loop, NULL);
}

static int tear_down(void **state)
{
	struct told *told = *state;
	loop_free(told->loop);
	strvec_clear(&told->words);
	free(told);
	return 0;
}

static void start(struct told *told, const struct runner_request *request)
{
	told->awaited++;
	runner_start(told->loop, request, on_end, told);
	/* Whatever happens, it is told later. */
	assert_int_equal(told->words.count, 0);
}

static void several_are_told_as_they_end(void **state)
{
	struct told *told = *state;
	start(told,
	      &(struct runner_request){ .child = { .argv = SHELL("sleep 0.3; printf late") } });
	start(told, &(struct runner_request){ .child = { .argv = SHELL("printf soon; exit 3") } });
	assert_int_equal(loop_run(told->loop, NULL), 0);
	assert_int_equal(told->words.count, 2);
	assert_string_equal(told->words.items[0], "3 soon");
	assert_string_equal(told->words.items[1], "0 late");
}

static void its_input_is_there_at_once(void **state)
{
	struct told *told = *state;
	cleanup_free char *text = xstrdup("all of it");
	start(told, &(struct runner_request){ .child = { .argv = SHELL("cat"),
							 .input = text,
							 .input_length = strlen(text) } });
	memset(text, 'x', strlen(text));
	assert_int_equal(loop_run(told->loop, NULL), 0);
	assert_string_equal(told->words.items[0], "0 all of it");
}

static void input_that_does_not_fit_is_an_error(void **state)
{
	struct told *told = *state;
	enum { MUCH = 1 << 20 };
	cleanup_free char *text = xcalloc(1, MUCH);
	start(told, &(struct runner_request){ .child = { .argv = SHELL("exec sleep 1000"),
							 .input = text,
							 .input_length = MUCH } });
	assert_int_equal(loop_run(told->loop, NULL), 0);
	assert_non_null(strstr(told->words.items[0], "does not fit"));
}

static void one_that_takes_too_long_is_killed(void **state)
{
	struct told *told = *state;
	start(told, &(struct runner_request){
			    .child = { .argv = SHELL("sleep 1000 & wait"), .new_session = true },
			    .timeout_ms = 50,
			    .kills_group = true });
	assert_int_equal(loop_run(told->loop, NULL), 0);
	cleanup_free char *text = xasprintf("%d: sh took longer than 0 s, and was killed",
					    ERROR_TIMEOUT);
	assert_string_equal(told->words.items[0], text);
}

static void one_that_is_not_there_is_told_later(void **state)
{
	struct told *told = *state;
	start(told, &(struct runner_request){
			    .child = { .argv = (const char *const[]){ "/no/such/one", NULL } },
			    .timeout_ms = LONG_MS });
	assert_int_equal(loop_run(told->loop, NULL), 0);
	cleanup_free char *text = xasprintf("%d: program '/no/such/one' does not exist",
					    ERROR_UNAVAILABLE);
	assert_string_equal(told->words.items[0], text);
}

static void its_limit_of_files_is_the_one_that_is_given(void **state)
{
	struct told *told = *state;
	const struct rlimit files = { .rlim_cur = 77, .rlim_max = 99 };
	/* It is set after the start, so the program waits for its input to be closed. */
	start(told,
	      &(struct runner_request){
		      .child = { .argv = SHELL("while [ \"$(ulimit -Sn)\" != 77 ]; do :; done; "
					       "printf '%s' \"$(ulimit -Hn)\"") },
		      .timeout_ms = LONG_MS,
		      .files = &files });
	assert_int_equal(loop_run(told->loop, NULL), 0);
	assert_string_equal(told->words.items[0], "0 99");
}

/* ---- what it says meanwhile -------------------------------------------------------------------- */

static struct strbuf heard;
static char place[] = "/tmp/agentdeck-runner-XXXXXX";

/* It ends when it has been heard. */
static void on_lines(const char *lines, void *context UNUSED)
{
	cleanup_free char *gate = path_join(place, "gate");
	strbuf_adds(&heard, lines);
	if (!*lines)
		return;
	cleanup_close int fd = open(gate, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
}

static void whole_lines_are_heard_while_it_runs(void **state)
{
	struct told *told = *state;
	assert_non_null(mkdtemp(place));
	cleanup_free char *gate = path_join(place, "gate");
	cleanup_free char *script = xasprintf("printf 'one\ntwo\nthr' >&2; read x <%s; printf late",
					      gate);
	assert_int_equal(mkfifo(gate, 0600), 0);
	start(told,
	      &(struct runner_request){ .child = { .argv = SHELL(script), .outlives_us = true },
					.listener = on_lines });
	assert_int_equal(loop_run(told->loop, NULL), 0);
	assert_string_equal(told->words.items[0], "0 late");
	assert_string_equal(strbuf_text(&heard), "one\ntwo\n");
	strbuf_free(&heard);
	(void)fs_remove_tree(AT_FDCWD, place, NULL);
}

#define RUNNER_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNNER_TEST(several_are_told_as_they_end),
		RUNNER_TEST(its_input_is_there_at_once),
		RUNNER_TEST(input_that_does_not_fit_is_an_error),
		RUNNER_TEST(one_that_takes_too_long_is_killed),
		RUNNER_TEST(whole_lines_are_heard_while_it_runs),
		RUNNER_TEST(one_that_is_not_there_is_told_later),
		RUNNER_TEST(its_limit_of_files_is_the_one_that_is_given),
	};
	return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
