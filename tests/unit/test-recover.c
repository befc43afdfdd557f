/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which sessions recover brings back, in which order, and how it counts.  Each is brought back by a
 * command of its own, for which a script stands in.
 */
#include "unit/fake-place.h"
#include "unit/files.h"

#include "base/fsutil.h"
#include "engine/run/recover.h"

#include <sys/stat.h>

/* Notes its arguments, and answers what the file "answer" in its directory says, or "answer-<base>"
 * where there is one. */
static const char script[] =
	"#!/bin/sh\n"
	"cd \"${0%/*}\" || exit 1\n"
	"echo \"$*\" >>calls\n"
	"if [ -e \"answer-$4\" ]; then . \"./answer-$4\"; else . ./answer; fi\n";

static void put_file(const struct fake_desk *desk, const char *name, const char *text, mode_t mode)
{
	cleanup_free char *path = path_join(desk->root, name);
	write_path(path, text, strlen(text));
	assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
	if (fake_set_up(state) != 0)
		return -1;
	struct fake_desk *desk = *state;
	put_file(desk, "worker", script, 0700);
	put_file(desk, "answer", "echo '{\"outcome\":\"revived\"}'\n", 0600);
	free(desk->deck.program);
	desk->deck.program = path_join(desk->root, "worker");
	fake.presence = PRESENCE_NONE;
	return 0;
}

#define RECOVER_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fake_tear_down)

/* One that is to run and does not. */
static struct instance *lost(const struct fake_desk *desk, const char *id, int64_t last_used_at)
{
	struct instance *instance = fake_running(desk);
	fake.presence = PRESENCE_NONE;
	replace_string(&instance->id, id);
	replace_string(&instance->base, id);
	replace_string(&instance->title, id);
	instance->run.server.start = instance->run.pane.start = 1;
	instance->last_used_at = last_used_at;
	return instance;
}

static void put_lost(const struct fake_desk *desk, const char *id, int64_t last_used_at)
{
	cleanup_instance struct instance *instance = lost(desk, id, last_used_at);
	fake_put(desk, instance);
}

static void note_reason(const struct recover_counts *counts, const struct revive_result *result,
			int64_t elapsed_ms, void *context)
{
	struct strvec *errors = context;
	(void)counts;
	assert_true(elapsed_ms >= 0);
	if (result && result->outcome == REVIVE_FAILED)
		strvec_push(errors, result->error);
}

static struct recover_counts recover(struct fake_desk *desk, struct recover_order order,
				     struct strvec *errors)
{
	struct recover_counts counts;
	struct error err = { 0 };
	order.jobs = 1;
	if (recover_run(&desk->deck, &order, note_reason, errors, &counts, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	return counts;
}

static void assert_calls(const struct fake_desk *desk, const char *expected)
{
	cleanup_free char *path = path_join(desk->root, "calls");
	cleanup_strbuf struct strbuf text = { 0 };
	(void)fs_read(AT_FDCWD, path, 4096, &text, NULL);
	assert_string_equal(strbuf_text(&text), expected);
}

#define CALL(id) "--profile default revive " id "\n"

static void the_last_used_comes_first(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	put_lost(desk, "00000001", 1000);
	put_lost(desk, "00000002", 3000);
	put_lost(desk, "00000003", 2000);
	const struct recover_counts counts = recover(desk, (struct recover_order){ 0 }, &errors);
	assert_int_equal(counts.total, 3);
	assert_int_equal(counts.revived, 3);
	assert_int_equal(counts.failed, 0);
	assert_calls(desk, CALL("00000002") CALL("00000003") CALL("00000001"));
}

static void what_is_to_be_stopped_is_left(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	cleanup_instance struct instance *instance = lost(desk, "00000001", 1000);
	cleanup_instance struct instance *quit = lost(desk, "00000002", 1000);
	instance->desired = quit->desired = DESIRED_STOPPED;
	instance->observed.state = quit->observed.state = STATE_STOPPED;
	replace_string(&quit->observed.reason, "exit 0");
	fake_put(desk, instance);
	fake_put(desk, quit);
	const struct recover_counts counts = recover(desk, (struct recover_order){ 0 }, &errors);
	assert_int_equal(counts.total, 0);
	/* Nobody stopped the second: it is named. */
	assert_int_equal(counts.offers, 1);
	assert_calls(desk, "");
}

static void what_runs_is_left_and_a_shell_is_not(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	cleanup_instance struct instance *alive = fake_running(desk);
	cleanup_instance struct instance *shell = fake_running(desk);
	replace_string(&shell->id, "00000002");
	replace_string(&shell->base, "00000002");
	replace_string(&shell->title, "shell");
	shell->run.attempt = 2;
	fake_put(desk, alive);
	fake_put(desk, shell);
	const struct recover_counts counts = recover(desk, (struct recover_order){ 0 }, &errors);
	assert_int_equal(counts.total, 1);
	assert_calls(desk, CALL("00000002"));
}

static void half_a_restart_is_finished(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STOPPING;
	fake_put(desk, instance);
	const struct recover_counts counts = recover(desk, (struct recover_order){ 0 }, &errors);
	assert_int_equal(counts.total, 1);
	assert_calls(desk, CALL(FAKE_ID));
}

static void a_group_is_itself_and_what_is_below_it(void **state)
{
	struct fake_desk *desk = *state;
	static const char *const groups[] = { "work", "work/api", "workshop" };
	cleanup_strvec struct strvec errors = { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		cleanup_free char *id = xasprintf("0000000%zu", i);
		cleanup_instance struct instance *instance = lost(desk, id, 9000 - (int64_t)i);
		replace_string(&instance->group, groups[i]);
		fake_put(desk, instance);
	}
	(void)recover(desk, (struct recover_order){ .group = "work" }, &errors);
	assert_calls(desk, CALL("00000000") CALL("00000001"));
}

static void a_dry_run_is_passed_on(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	put_lost(desk, "00000001", 1000);
	(void)recover(desk, (struct recover_order){ .mode = REVIVE_TRIAL }, &errors);
	assert_calls(desk, "--profile default revive 00000001 --dry-run\n");
}

static void the_failure_of_one_holds_nobody_up(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	put_lost(desk, "00000001", 5000);
	put_lost(desk, "00000002", 4000);
	put_lost(desk, "00000003", 3000);
	put_lost(desk, "00000004", 2000);
	put_file(desk, "answer-00000001", "echo '{\"error\":\"no tmux\"}'\n", 0600);
	put_file(desk, "answer-00000002", "echo oops >&2; exit 3\n", 0600);
	put_file(desk, "answer-00000003", "echo '{\"outcome\":\"held\"}'\n", 0600);
	const struct recover_counts counts = recover(desk, (struct recover_order){ 0 }, &errors);
	assert_int_equal(counts.done, 4);
	assert_int_equal(counts.failed, 2);
	assert_int_equal(counts.left, 1);
	assert_int_equal(counts.revived, 1);
	assert_int_equal(errors.count, 2);
	assert_string_equal(errors.items[0], "no tmux");
	assert_string_equal(errors.items[1], "agentdeck revive ended with status 3: oops");
}

static void what_is_damaged_is_a_failure(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_strvec struct strvec errors = { 0 };
	put_lost(desk, "00000001", 1000);
	assert_int_equal(fs_replace(store_profile_directory(desk->deck.store),
				    "00000001/instance.json", "{", 1, FS_VOLATILE, NULL),
			 0);
	const struct recover_counts counts = recover(desk, (struct recover_order){ 0 }, &errors);
	assert_int_equal(counts.failed, 1);
	assert_calls(desk, "");
	/* But not where only a group is wanted: nobody can tell which it was in. */
	const struct recover_counts of_group = recover(
		desk, (struct recover_order){ .group = "work" }, &errors);
	assert_int_equal(of_group.total, 0);
}

static void answered(const char *output, const char *errors, int status, struct child_result *ret)
{
	*ret = (struct child_result){ .exit_status = status };
	strbuf_adds(&ret->output, output);
	strbuf_adds(&ret->errors, errors);
}

static void the_last_line_of_a_recovery_counts(void **state UNUSED)
{
	cleanup_child_result struct child_result result;
	struct recover_counts counts = { 0 };
	answered("{\"event\":\"session\",\"outcome\":\"failed\",\"error\":\"no tmux\"}\n"
		 "{\"event\":\"summary\",\"total\":4,\"revived\":2,\"left\":1,\"elsewhere\":1,"
		 "\"failed\":1}\n",
		 "agentdeck: warning: x\n", 1, &result);
	assert_int_equal(recover_answer(&result, &counts, NULL), 0);
	assert_int_equal(counts.revived, 2);
	assert_int_equal(counts.elsewhere, 1);
	assert_int_equal(counts.failed, 1);
}

static void a_recovery_that_failed_says_why(void **state UNUSED)
{
	static const struct {
		const char *output, *errors, *why;
	} cases[] = {
		{ "{\"success\":false,\"error\":\"open x: Permission denied\",\"code\":\"SYSTEM\"}\n",
		  "agentdeck: warning: y\n", "open x: Permission denied" },
		{ "", "agentdeck: out of memory\n", "agentdeck: out of memory" },
		{ "{\"event\":\"session\",\"error\":\"no tmux\"}\n", "",
		  "agentdeck recover ended" },
		{ "", "", "agentdeck recover ended" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_child_result struct child_result result;
		cleanup_error struct error err = { 0 };
		struct recover_counts counts = { .revived = 7 };
		answered(cases[i].output, cases[i].errors, 1, &result);
		assert_int_equal(recover_answer(&result, &counts, &err), -1);
		if (!starts_with(err.message, cases[i].why))
			fail_msg("%zu: %s", i, err.message);
		assert_int_equal(counts.revived, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RECOVER_TEST(the_last_used_comes_first),
		RECOVER_TEST(what_is_to_be_stopped_is_left),
		RECOVER_TEST(what_runs_is_left_and_a_shell_is_not),
		RECOVER_TEST(half_a_restart_is_finished),
		RECOVER_TEST(a_group_is_itself_and_what_is_below_it),
		RECOVER_TEST(a_dry_run_is_passed_on),
		RECOVER_TEST(the_failure_of_one_holds_nobody_up),
		RECOVER_TEST(what_is_damaged_is_a_failure),
		cmocka_unit_test(the_last_line_of_a_recovery_counts),
		cmocka_unit_test(a_recovery_that_failed_says_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
