/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a pane makes of the end of its agent.  Where it becomes the next attempt it does so in a
 * child process: the attempt's program is true(1).
 */
#include "unit/fake-place.h"

#include "engine/run/pane.h"

#include <signal.h>

static void put_running(const struct fake_desk *desk)
{
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
}

/* The agent has been up for long enough to count: since the boot, which may be minutes ago. */
static struct instance *running_for_long(const struct fake_desk *desk)
{
	struct instance *instance = fake_running(desk);
	instance->run.attempt_since_boot_ms = 1;
	return instance;
}

static int died(struct fake_desk *desk, struct error *err)
{
	return pane_become(&desk->deck, FAKE_ID, "run-1", true, err);
}

static struct instance *after_end(struct fake_desk *desk, struct exit_record end)
{
	struct error err = { 0 };
	fake.exit = end;
	if (died(desk, &err) != 0)
		fail_msg("%s", or_empty(err.message));
	return fake_load(desk);
}

/* The pane goes on as another program, or returns this. */
static int status_of_pane(struct fake_desk *desk)
{
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(died(desk, NULL) == 0 ? 9 : 8);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_window_that_was_closed_is_not_an_end(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	fake.how = PLACE_NOT_ENDED;
	assert_int_equal(status_of_pane(desk), 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->run.attempt, 0);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_false(after->observed.exit.present);
}

/* A pane that was killed between saving an attempt and beginning it leaves none out. */
static void an_attempt_that_was_never_begun_is_begun_now(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	fake.how = PLACE_NOT_BEGUN;
	assert_int_equal(status_of_pane(desk), 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->run.attempt, 0);
	/* By the pane, which is another process. */
	assert_int_not_equal(after->run.pane.pid, getpid());
}

static void a_clean_end_is_what_its_user_wanted(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = running_for_long(desk);
	fake_put(desk, instance);
	cleanup_instance struct instance *after = after_end(desk,
							    (struct exit_record){ .code = 0 });
	assert_int_equal(after->observed.state, STATE_STOPPED);
	assert_int_equal(after->desired, DESIRED_STOPPED);
	assert_string_equal(after->observed.reason, "exit 0");
	assert_null(after->run.id);
	fake_assert_steps("how-ended end-daemons leave");
	/* The manifest has forgotten the run, and its place has not. */
	cleanup_free char *left = xasprintf(FAKE_ID " run-1 %s", instance->run.socket);
	assert_string_equal(fake.left, left);
}

static void the_end_is_written_before_the_server_ends(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = running_for_long(desk);
	fake_put(desk, instance);
	fake.fails = FAKE_LEAVE;
	assert_int_equal(died(desk, NULL), -1);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
}

static void a_killed_agent_is_still_to_run(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = running_for_long(desk);
	fake_put(desk, instance);
	cleanup_instance struct instance *after = after_end(
		desk, (struct exit_record){ .signal = SIGKILL });
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_int_equal(after->desired, DESIRED_RUNNING);
	assert_string_equal(after->observed.reason, "killed by SIGKILL");
	assert_true(after->observed.exit.present);
	assert_int_equal(after->observed.exit.signal, SIGKILL);
}

static void a_lack_of_memory_is_named(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = running_for_long(desk);
	fake_put(desk, instance);
	cleanup_instance struct instance *after = after_end(
		desk, (struct exit_record){ .signal = SIGKILL,
					    .oom = true,
					    .oom_victim = (char *)"node (pid 4711)" });
	assert_string_equal(after->observed.reason, "oom");
	assert_string_equal(after->observed.exit.oom_victim, "node (pid 4711)");
}

static void an_early_death_climbs_the_ladder(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	fake.exit.code = 1;
	assert_int_equal(status_of_pane(desk), 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->run.attempt, 1);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_string_equal(after->run.id, "run-1");
	/* The pane is the agent now. */
	assert_int_not_equal(after->run.pane.pid, getpid());
}

static void the_last_rung_is_a_shell_with_the_reason(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->run.attempt = 1;
	fake_put(desk, instance);
	fake.exit.code = 1;
	assert_int_equal(status_of_pane(desk), 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->run.attempt, 2);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, "its agent did not start: exit 1");
	assert_int_equal(after->desired, DESIRED_RUNNING);
}

static void a_stop_has_the_last_word(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STOPPING;
	instance->desired = DESIRED_STOPPED;
	fake_put(desk, instance);
	cleanup_instance struct instance *after = after_end(
		desk, (struct exit_record){ .signal = SIGKILL });
	assert_int_equal(after->observed.state, STATE_STOPPED);
	assert_int_equal(after->desired, DESIRED_STOPPED);
}

static void half_a_restart_stays_one(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STOPPING;
	fake_put(desk, instance);
	cleanup_instance struct instance *after = after_end(desk,
							    (struct exit_record){ .code = 0 });
	assert_int_equal(after->observed.state, STATE_STOPPING);
	assert_int_equal(after->desired, DESIRED_RUNNING);
}

static void a_dead_login_is_held(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	cleanup_instance struct instance *after = after_end(
		desk,
		(struct exit_record){
			.code = 1, .last_words = (char *)"Invalid API key · Please run /login\n" });
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_non_null(after->observed.held);
	assert_non_null(strstr(after->observed.held, "/login"));
	assert_int_equal(after->observed.hold, HOLD_LOGIN);
	assert_int_equal(after->desired, DESIRED_RUNNING);
}

static void an_agent_that_refuses_is_held_with_its_words(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	cleanup_instance struct instance *after = after_end(
		desk, (struct exit_record){
			      .code = 1,
			      .last_words = (char *)"Session 5f2c1f9e-0f6b-4a63-9f0e-3d1d8ad2f2b1 "
						    "is currently running as a background agent "
						    "(bg).\n" });
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_non_null(after->observed.held);
	assert_non_null(strstr(after->observed.held, "in the background of claude: Session 5f2c"));
	assert_int_equal(after->observed.hold, HOLD_BACKGROUND);
	assert_int_equal(after->run.attempt, 0);
	assert_int_equal(after->desired, DESIRED_RUNNING);
}

static void one_that_was_up_has_only_quoted_a_refusal(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = running_for_long(desk);
	fake_put(desk, instance);
	cleanup_instance struct instance *after = after_end(
		desk, (struct exit_record){
			      .code = 1,
			      .last_words = (char *)"Session 5f2c1f9e-0f6b-4a63-9f0e-3d1d8ad2f2b1 "
						    "is currently running as a background agent "
						    "(bg).\n" });
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_null(after->observed.held);
}

static void one_that_went_to_its_background_has_not_been_quit(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	cleanup_instance struct instance *after = after_end(
		desk, (struct exit_record){ .last_words = (char *)"backgrounded · 7c5dcf5d\n" });
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.held,
			    "in the background of claude: backgrounded · 7c5dcf5d");
}

static void a_pane_of_a_run_that_is_over_touches_nothing(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_error struct error err = { 0 };
	put_running(desk);
	assert_int_equal(pane_become(&desk->deck, FAKE_ID, "run-0", true, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	fake_assert_steps("");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_string_equal(after->run.id, "run-1");
}

static void what_cannot_be_asked_is_not_judged(void **state)
{
	struct fake_desk *desk = *state;
	put_running(desk);
	fake.fails = FAKE_HOW_ENDED;
	assert_int_equal(died(desk, NULL), -1);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->run.attempt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(a_window_that_was_closed_is_not_an_end),
		FAKE_TEST(an_attempt_that_was_never_begun_is_begun_now),
		FAKE_TEST(a_clean_end_is_what_its_user_wanted),
		FAKE_TEST(the_end_is_written_before_the_server_ends),
		FAKE_TEST(a_killed_agent_is_still_to_run),
		FAKE_TEST(a_lack_of_memory_is_named),
		FAKE_TEST(an_early_death_climbs_the_ladder),
		FAKE_TEST(the_last_rung_is_a_shell_with_the_reason),
		FAKE_TEST(a_stop_has_the_last_word),
		FAKE_TEST(half_a_restart_stays_one),
		FAKE_TEST(a_dead_login_is_held),
		FAKE_TEST(an_agent_that_refuses_is_held_with_its_words),
		FAKE_TEST(one_that_was_up_has_only_quoted_a_refusal),
		FAKE_TEST(one_that_went_to_its_background_has_not_been_quit),
		FAKE_TEST(a_pane_of_a_run_that_is_over_touches_nothing),
		FAKE_TEST(what_cannot_be_asked_is_not_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
