/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * revive() and the listings as far as they start nothing: a start needs tmux, and tests/persistence
 * tests it.
 */
#include "unit/fake-place.h"

#include "base/child.h"
#include "base/fsutil.h"
#include "engine/place/runfiles.h"
#include "engine/roster/view.h"
#include "engine/run/correct.h"
#include "engine/run/recover.h"
#include "engine/run/revive.h"
#include "model/plan/restart.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define ID         "0a5e71fe"
#define LONG_AGO   INT64_C(1776157681000000)
#define OTHER_BOOT "00000000-0000-4000-8000-000000000000"

struct desk {
	char *root;
	struct deck deck;
};

static int set_up(void **state)
{
	struct desk *desk = xcalloc(1, sizeof(*desk));
	desk->root = xstrdup("/tmp/agentdeck-revive-XXXXXX");
	if (!mkdtemp(desk->root))
		return -1;
	setenv("AGENTDECK_HOME", desk->root, 1);
	setenv("HOME", desk->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	if (deck_open("default", "test", &desk->deck, NULL) < 0 ||
	    deck_open_store(&desk->deck, NULL) < 0)
		return -1;
	*state = desk;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *desk = *state;
	int r = fs_remove_tree(AT_FDCWD, desk->root, NULL);
	deck_close(&desk->deck);
	free(desk->root);
	free(desk);
	return r;
}

/* An instance that should run, after its server was killed: nobody has recorded that. */
static struct instance *killed(const struct desk *desk)
{
	struct instance *instance = new_instance(ID, "deck");
	replace_string(&instance->cwd, desk->root);
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_RUNNING;
	instance->observed.since = LONG_AGO;
	instance->last_used_at = 1;
	instance->resume_policy = POLICY_DEFAULT;
	instance->run.id = xstrdup("run");
	instance->run.directory = path_join(desk->root, "run/" ID);
	instance->run.socket = path_join(desk->root, "run/" ID "/tmux.sock");
	instance->run.boot_id = xstrdup(process_boot_id());
	/* A live pid that has become another process. */
	instance->run.server = (struct process_id){ .pid = getpid(), .start = 1 };
	const struct attempt attempt = { .rung = RUNG_RESUME, .reason = REASON_ID_KNOWN };
	run_add_attempt(&instance->run, &attempt);
	strvec_push(&instance->run.attempts[0].argv, "true");
	/* Some program that exists. */
	strvec_clear(&instance->argv);
	strvec_push(&instance->argv, "true");
	return instance;
}

static void put(const struct desk *desk, const struct instance *instance)
{
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
}

static struct instance *load(const struct desk *desk)
{
	struct instance *instance = NULL;
	assert_int_equal(store_load(desk->deck.store, ID, &instance, NULL), 0);
	return instance;
}

static void assert_revive(struct desk *desk, enum revive_cause cause, enum revive_mode mode,
			  enum revive_outcome expected, const char *reason)
{
	cleanup_revive_result struct revive_result result = { 0 };
	struct error err = { 0 };
	if (revive(&desk->deck, ID, &(struct revive_order){ .cause = cause, .mode = mode }, &result,
		   &err) != 0)
		fail_msg("%s", or_empty(err.message));
	assert_string_equal(revive_outcome_name(result.outcome), revive_outcome_name(expected));
	if (reason && (!result.reason || !strstr(result.reason, reason)))
		fail_msg("%s: not %s", or_empty(result.reason), reason);
	if (expected == REVIVE_LATER)
		assert_true(result.delay_ms > 0);
}

/* --- revive ------------------------------------------------------------------------------------ */

static void outcomes_have_words(void **state)
{
	(void)state;
	for (int i = 0; i < REVIVE_OUTCOME_COUNT; i++) {
		enum revive_outcome outcome = REVIVE_OUTCOME_COUNT;
		assert_true(revive_outcome_parse(revive_outcome_name((enum revive_outcome)i),
						 &outcome));
		assert_int_equal(outcome, i);
	}
	enum revive_outcome outcome = REVIVE_HELD;
	assert_false(revive_outcome_parse("", &outcome));
	assert_int_equal(outcome, REVIVE_HELD);
}

static void what_is_to_be_stopped_stays_stopped(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	instance->desired = DESIRED_STOPPED;
	put(desk, instance);
	assert_revive(desk, REVIVE_BY_USER, REVIVE_REALLY, REVIVE_NOT_WANTED, NULL);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_NOT_WANTED, NULL);
}

static void what_was_removed_is_not_wanted(void **state)
{
	assert_revive(*state, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_NOT_WANTED, "removed");
}

static void never_begins_a_new_conversation(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	instance->resume_policy = POLICY_NEVER;
	put(desk, instance);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_TRIAL, REVIVED, NULL);
}

static void the_master_switch_stops_no_restart(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	put(desk, instance);
	desk->deck.settings.resume_agents = false;
	assert_revive(desk, REVIVE_BY_USER, REVIVE_TRIAL, REVIVED, NULL);
}

static void the_restart_policy_counts_only_automatic_restarts(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	instance->restart_policy = RESTART_NO;
	put(desk, instance);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_LEFT, "\"no\"");
	assert_revive(desk, REVIVE_BY_USER, REVIVE_TRIAL, REVIVED, NULL);
}

static void what_is_held_waits_for_its_user(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	restart_hold(instance, HOLD_LOGIN, "it needs a login");
	put(desk, instance);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_HELD, "it needs a login");
	assert_revive(desk, REVIVE_BY_USER, REVIVE_TRIAL, REVIVED, NULL);
}

static void a_death_is_written_down_when_it_is_seen(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	restart_hold(instance, HOLD_OTHER, "held");
	put(desk, instance);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_TRIAL, REVIVE_HELD, NULL);
	cleanup_instance struct instance *before = load(desk);
	assert_int_equal(before->observed.state, STATE_RUNNING);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_HELD, NULL);
	cleanup_instance struct instance *after = load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_true(after->observed.since > LONG_AGO);
	assert_int_equal(after->desired, DESIRED_RUNNING);
	assert_string_equal(after->run.id, "run");
}

static void it_is_not_brought_back_before_its_time(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	desk->deck.settings.restart.delay_s = 3600;
	desk->deck.settings.restart.delay_max_s = 3600;
	restart_note(instance, clock_wall_us());
	put(desk, instance);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_LATER, NULL);
	/* The wait counts from the end, not from each question. */
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *ended = load(desk);
	ended->observed.since -= INT64_C(3600) * 1000 * 1000;
	assert_int_equal(store_save(lock, ended, NULL), 0);
	store_unlock(TAKE_PTR(lock));
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_TRIAL, REVIVED, NULL);
}

static void what_ended_too_often_is_held_from_then_on(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	for (int64_t i = 0; i < desk->deck.settings.restart.burst; i++)
		restart_note(instance, clock_wall_us());
	put(desk, instance);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_TRIAL, REVIVE_HELD, "6 times");
	cleanup_instance struct instance *before = load(desk);
	assert_null(before->observed.held);
	assert_revive(desk, REVIVE_AUTOMATIC, REVIVE_REALLY, REVIVE_HELD, "6 times");
	cleanup_instance struct instance *after = load(desk);
	assert_non_null(after->observed.held);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, after->observed.held);
	assert_int_equal(after->desired, DESIRED_RUNNING);
}

/* The obstacle may go away: after a reboot even an instance with restart "no" is started, if not at
 * the first attempt. */
static void a_failure_is_no_end_even_after_another_boot(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error err = { 0 };
	replace_string(&instance->run.boot_id, OTHER_BOOT);
	free(instance->cwd);
	instance->cwd = path_join(desk->root, "gone");
	put(desk, instance);
	assert_int_equal(
		revive(&desk->deck, ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, &err),
		-1);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	cleanup_instance struct instance *after = load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, err.message);
	assert_int_equal(after->desired, DESIRED_RUNNING);
	/* The attempts are still there for the next start. */
	assert_int_equal(after->run.attempt_count, 1);
	after->restart_policy = RESTART_NO;
	const struct restart_plan plan = restart_decide(after, &desk->deck.settings,
							instance_relation(after), clock_wall_us());
	assert_int_equal(plan.verdict, RESTART_AFTER);
	assert_int_equal(plan.delay_ms, 0);
	assert_null(after->run.boot_id);
	assert_string_equal(after->observed.boot_id, OTHER_BOOT);
}

static void a_failure_does_not_count_as_an_end(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	free(instance->cwd);
	instance->cwd = path_join(desk->root, "gone");
	put(desk, instance);
	for (int i = 0; i < 3; i++) {
		cleanup_revive_result struct revive_result result = { 0 };
		assert_int_equal(revive(&desk->deck, ID,
					&(struct revive_order){ .cause = REVIVE_AUTOMATIC,
								.mode = REVIVE_REALLY },
					&result, NULL),
				 -1);
		cleanup_instance struct instance *after = load(desk);
		assert_int_equal(after->observed.restart_count, 0);
		assert_string_equal(after->observed.boot_id, process_boot_id());
	}
}

/* Another start may take the conversation while this one is not saved. */
static void a_failure_takes_no_conversation(void **state)
{
	static const char own[] = "11111111-1111-4111-8111-111111111111",
			  others[] = "22222222-2222-4222-8222-222222222222";
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	strvec_clear(&instance->argv);
	strvec_push(&instance->argv, "/no/such/agent");
	replace_string(&instance->conversation.session_id, own);
	/* Its owner is gone, so a start takes it. */
	replace_string(&instance->conversation.shared.session_id, others);
	put(desk, instance);
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error err = { 0 };
	assert_int_equal(
		revive(&desk->deck, ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, &err),
		-1);
	assert_non_null(strstr(err.message, "/no/such/agent"));
	cleanup_instance struct instance *after = load(desk);
	assert_string_equal(after->conversation.session_id, own);
	assert_string_equal(or_empty(after->conversation.shared.session_id), others);
}

static void a_failure_is_one_in_a_dry_run_too_and_changes_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error err = { 0 };
	free(instance->cwd);
	instance->cwd = path_join(desk->root, "gone");
	put(desk, instance);
	assert_int_equal(
		revive(&desk->deck, ID,
		       &(struct revive_order){ .cause = REVIVE_BY_USER, .mode = REVIVE_TRIAL },
		       &result, &err),
		-1);
	cleanup_instance struct instance *after = load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void what_does_not_answer_is_not_started_again(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_free char *directory = path_join(desk->root, "run/" ID);
	cleanup_free char *ready = path_join(desk->root, "ready");
	/* This signal, which it ignores, asks it for its socket. */
	const struct child_request request = {
		.argv = (const char *const[]){ "sh", "-c", "trap '' USR1; : >\"$1\"; exec sleep 60",
					       "sh", ready, NULL },
		.environment = (char *const[]){ (char *)ENV_INSTANCE "=" ID, NULL },
	};
	struct child server;
	assert_int_equal(child_start(&request, &server, NULL), 0);
	while (access(ready, F_OK) < 0)
		(void)poll(NULL, 0, 5);
	assert_int_equal(process_identify(server.pid, &instance->run.server, NULL), 0);
	instance->run.pane = instance->run.server;
	put(desk, instance);
	int r = revive(&desk->deck, ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, &err);
	child_abandon(&server);
	assert_int_equal(r, -1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	/* The socket needs a directory. */
	assert_int_equal(access(directory, F_OK), 0);
	cleanup_instance struct instance *after = load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->observed.since, LONG_AGO);
}

/* --- another machine ---------------------------------------------------------------------------- */

#define OTHER_MACHINE "11111111222243338444555555555555"

static struct instance *elsewhere(struct desk *desk)
{
	struct instance *instance = killed(desk);
	replace_string(&instance->run.boot_id, OTHER_BOOT);
	replace_string(&instance->run.machine_id, OTHER_MACHINE);
	replace_string(&instance->run.host, "box2");
	return instance;
}

static void a_run_of_another_machine_is_left(void **state)
{
	struct desk *desk = *state;
	static const enum revive_cause causes[] = { REVIVE_AUTOMATIC, REVIVE_BY_USER };
	cleanup_instance struct instance *instance = elsewhere(desk);
	put(desk, instance);
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		cleanup_revive_result struct revive_result result = { 0 };
		assert_int_equal(
			revive(&desk->deck, ID,
			       &(struct revive_order){ .cause = causes[i], .mode = REVIVE_REALLY },
			       &result, NULL),
			0);
		assert_int_equal(result.outcome, REVIVE_LEFT);
		assert_true(result.elsewhere);
		assert_non_null(strstr(result.reason, "box2"));
	}
	cleanup_roster struct roster *roster = fake_list(&desk->deck);
	const struct view *view = &roster_at(roster, 0)->view;
	assert_string_equal(view->host, "box2");
	assert_string_equal(view_status(view), "unknown");
	cleanup_instance struct instance *after = load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_string_equal(after->run.machine_id, OTHER_MACHINE);
}

/* It has ended in a container, where its user may be about to start it again. */
static void a_wish_of_another_container_is_left(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	cleanup_revive_result struct revive_result result = { 0 };
	run_clear(&instance->run);
	instance->observed.state = STATE_ERROR;
	replace_string(&instance->observed.boot_id, process_boot_id());
	replace_string(&instance->observed.pid_namespace, "1:1");
	put(desk, instance);
	assert_int_equal(
		revive(&desk->deck, ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, NULL),
		0);
	assert_int_equal(result.outcome, REVIVE_LEFT);
	assert_true(result.elsewhere);
}

static void a_wish_of_another_machine_is_left(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	cleanup_revive_result struct revive_result result = { 0 };
	run_clear(&instance->run);
	instance->observed.state = STATE_ERROR;
	replace_string(&instance->observed.boot_id, OTHER_BOOT);
	replace_string(&instance->observed.machine_id, OTHER_MACHINE);
	put(desk, instance);
	assert_int_equal(
		revive(&desk->deck, ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, NULL),
		0);
	assert_int_equal(result.outcome, REVIVE_LEFT);
}

static void who_takes_over_is_asked_nothing_else(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = elsewhere(desk);
	cleanup_revive_result struct revive_result result = { 0 };
	put(desk, instance);
	assert_int_equal(revive(&desk->deck, ID,
				&(struct revive_order){ .cause = REVIVE_BY_USER,
							.mode = REVIVE_TRIAL,
							.takes_over = true },
				&result, NULL),
			 0);
	assert_int_equal(result.outcome, REVIVED);
}

/* --- in a fake place --------------------------------------------------------------------------- */

static void assert_fake_revive(struct fake_desk *desk, enum revive_cause cause,
			       enum revive_outcome expected, const char *steps)
{
	cleanup_revive_result struct revive_result result = { 0 };
	struct error err = { 0 };
	if (revive(&desk->deck, FAKE_ID,
		   &(struct revive_order){ .cause = cause, .mode = REVIVE_REALLY }, &result,
		   &err) != 0)
		fail_msg("%s", or_empty(err.message));
	assert_string_equal(revive_outcome_name(result.outcome), revive_outcome_name(expected));
	fake_assert_steps(steps);
}

static void put_killed_fake(const struct fake_desk *desk)
{
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->run.server.start = instance->run.pane.start = 1;
	fake_put(desk, instance);
	fake.presence = PRESENCE_NONE;
}

static void what_was_killed_runs_again(void **state)
{
	struct fake_desk *desk = *state;
	put_killed_fake(desk);
	desk->deck.settings.restart.delay_s = 0;
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVED, "end prepare launch");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->observed.restart_count, 1);
	assert_string_not_equal(after->run.id, "run-1");
	/* Nobody used it. */
	assert_int_equal(after->last_used_at, 1000);
}

static void its_user_is_counted_nothing(void **state)
{
	struct fake_desk *desk = *state;
	put_killed_fake(desk);
	assert_fake_revive(desk, REVIVE_BY_USER, REVIVED, "end prepare launch");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.restart_count, 0);
}

static void put_background(const struct fake_desk *desk, const char *boot)
{
	cleanup_instance struct instance *instance = fake_instance(desk);
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_ERROR;
	instance->last_used_at = 1000;
	replace_string(&instance->observed.boot_id, boot);
	restart_hold(instance, HOLD_BACKGROUND, "in the background of claude: backgrounded");
	fake_put(desk, instance);
}

static void what_its_agent_has_in_the_background_is_left_alone(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_revive_result struct revive_result result = { 0 };
	put_background(desk, process_boot_id());
	fake.survivors = "3 processes are still in its scope";
	assert_int_equal(
		revive(&desk->deck, FAKE_ID,
		       &(struct revive_order){ .cause = REVIVE_BY_USER, .mode = REVIVE_REALLY },
		       &result, NULL),
		0);
	assert_string_equal(revive_outcome_name(result.outcome), "held");
	assert_string_equal(result.reason,
			    "in the background of claude: backgrounded; 3 processes are still in "
			    "its scope: end the background agent there, or end it with agentdeck "
			    "session stop deck");
	fake_assert_steps("");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.hold, HOLD_BACKGROUND);
	/* Its user has ended it. */
	fake.survivors = NULL;
	assert_fake_revive(desk, REVIVE_BY_USER, REVIVED, "prepare launch");
	cleanup_instance struct instance *later = fake_load(desk);
	assert_null(later->observed.held);
}

static void what_cannot_be_asked_for_survivors_is_left_alone(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_revive_result struct revive_result result = { 0 };
	put_background(desk, process_boot_id());
	fake.fails = FAKE_SURVIVORS;
	assert_int_equal(
		revive(&desk->deck, FAKE_ID,
		       &(struct revive_order){ .cause = REVIVE_BY_USER, .mode = REVIVE_REALLY },
		       &result, NULL),
		-1);
	fake_assert_steps("");
}

static void a_background_of_an_earlier_boot_is_over(void **state)
{
	struct fake_desk *desk = *state;
	put_background(desk, OTHER_BOOT);
	fake.survivors = "3 processes are still in its scope";
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVED, "prepare launch");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_null(after->observed.held);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void what_lives_is_left_alone(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVE_ALIVE, "");
}

/* A window is no restart: none is counted, and none is delayed. */
static void a_closed_window_is_opened_and_restarts_nothing(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.lacks_window = true;
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVE_ALIVE, "open-window");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_string_equal(after->run.id, "run-1");
	assert_int_equal(after->observed.restart_count, 0);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

/* It was killed when its container ran, before it could say so. */
static void a_window_that_is_opened_ends_the_start_that_was_cut(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STARTING;
	instance->run.server = instance->run.pane = (struct process_id){ 0 };
	fake_put(desk, instance);
	fake.lacks_window = fake.lacks_agent = true;
	assert_fake_revive(desk, REVIVE_BY_USER, REVIVE_ALIVE, "open-window");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void what_does_not_answer_is_no_death(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_revive_result struct revive_result result = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_instance struct instance *instance = fake_running(desk);
	fake_put(desk, instance);
	fake.presence = PRESENCE_UNKNOWN;
	assert_int_equal(
		revive(&desk->deck, FAKE_ID,
		       &(struct revive_order){ .cause = REVIVE_BY_USER, .mode = REVIVE_REALLY },
		       &result, &err),
		-1);
	assert_int_equal(err.code, ERROR_TIMEOUT);
	fake_assert_steps("");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

static void only_its_user_replaces_a_shell(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->run.attempt = 2;
	instance->observed.state = STATE_ERROR;
	fake_put(desk, instance);
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVE_ALIVE, "");
	assert_fake_revive(desk, REVIVE_BY_USER, REVIVED, "probe end prepare launch");
}

static void a_stop_that_was_cut_is_finished(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STOPPING;
	instance->desired = DESIRED_STOPPED;
	fake_put(desk, instance);
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVE_NOT_WANTED, "end");
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
}

static void a_restart_that_was_cut_is_finished_whatever_the_policy(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_instance struct instance *instance = fake_running(desk);
	instance->observed.state = STATE_STOPPING;
	instance->restart_policy = RESTART_NO;
	fake_put(desk, instance);
	assert_fake_revive(desk, REVIVE_AUTOMATIC, REVIVED, "probe end prepare launch");
	assert_true(fake.grace_ms > 0);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	/* Nothing has ended. */
	assert_int_equal(after->observed.restart_count, 0);
}

static void a_launch_that_fails_is_no_restart(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_revive_result struct revive_result result = { 0 };
	put_killed_fake(desk);
	desk->deck.settings.restart.delay_s = 0;
	fake.fails = FAKE_LAUNCH;
	assert_int_equal(
		revive(&desk->deck, FAKE_ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, NULL),
		-1);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, "the fake fails");
	assert_int_equal(after->desired, DESIRED_RUNNING);
	assert_int_equal(after->observed.restart_count, 0);
}

/* The old run shows where its conversation went: the next start reads that. */
static void a_start_that_fails_keeps_the_old_run(void **state)
{
	struct fake_desk *desk = *state;
	cleanup_revive_result struct revive_result result = { 0 };
	put_killed_fake(desk);
	cleanup_instance struct instance *before = fake_load(desk);
	desk->deck.settings.restart.delay_s = 0;
	fake.fails = FAKE_PREPARE;
	assert_int_equal(
		revive(&desk->deck, FAKE_ID,
		       &(struct revive_order){ .cause = REVIVE_AUTOMATIC, .mode = REVIVE_REALLY },
		       &result, NULL),
		-1);
	cleanup_instance struct instance *after = fake_load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(or_empty(after->run.id), before->run.id);
	assert_int_equal(after->run.attempt_count, before->run.attempt_count);
	assert_true(process_same(&after->run.pane, &before->run.pane));
}

/* --- listings ---------------------------------------------------------------------------------- */

static struct instance *list_and_load(struct desk *desk)
{
	cleanup_roster struct roster *roster = fake_list(&desk->deck);
	assert_int_equal(roster_count(roster), 1);
	return load(desk);
}

static void a_list_writes_down_what_nobody_could(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	put(desk, instance);
	cleanup_instance struct instance *after = list_and_load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, "its tmux server was killed");
	assert_true(after->observed.since > LONG_AGO);
	assert_int_equal(after->desired, DESIRED_RUNNING);
	assert_string_equal(after->run.socket, instance->run.socket);
	assert_string_equal(after->run.boot_id, process_boot_id());
	/* Only once: the second listing finds the record correct. */
	cleanup_instance struct instance *again = list_and_load(desk);
	assert_true(again->observed.since == after->observed.since);
}

static void a_list_sees_that_the_machine_was_restarted(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	instance->observed.state = STATE_STARTING;
	instance->run.server = (struct process_id){ 0 };
	replace_string(&instance->run.boot_id, OTHER_BOOT);
	put(desk, instance);
	cleanup_instance struct instance *after = list_and_load(desk);
	assert_int_equal(after->observed.state, STATE_ERROR);
	assert_string_equal(after->observed.reason, "the machine was restarted");
	assert_string_equal(after->run.boot_id, OTHER_BOOT);
}

static void a_list_sees_that_a_stop_is_done(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	instance->observed.state = STATE_STOPPING;
	instance->desired = DESIRED_STOPPED;
	put(desk, instance);
	cleanup_instance struct instance *after = list_and_load(desk);
	assert_int_equal(after->observed.state, STATE_STOPPED);
	assert_null(after->observed.reason);
}

static void a_list_leaves_what_is_true(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	assert_int_equal(process_identify(getpid(), &instance->run.server, NULL), 0);
	put(desk, instance);
	cleanup_instance struct instance *after = list_and_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
	assert_int_equal(after->observed.since, LONG_AGO);
}

static void a_list_leaves_a_start_that_is_being_made(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	instance->observed.state = STATE_STARTING;
	instance->run.server = (struct process_id){ 0 };
	put(desk, instance);
	cleanup_instance struct instance *after = list_and_load(desk);
	assert_int_equal(after->observed.state, STATE_STARTING);
}

static void a_list_waits_for_nobody(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = killed(desk);
	put(desk, instance);
	UNUSED cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *after = list_and_load(desk);
	assert_int_equal(after->observed.state, STATE_RUNNING);
}

/* --- the answer -------------------------------------------------------------------------------- */

static void assert_answer(const char *output, int status, enum revive_outcome outcome,
			  const char *error)
{
	cleanup_child_result struct child_result result = { .exit_status = status };
	cleanup_revive_result struct revive_result answer = { 0 };
	strbuf_adds(&result.output, output);
	revive_answer(&result, &answer);
	assert_int_equal(answer.outcome, outcome);
	assert_string_equal(or_empty(answer.error), or_empty(error));
}

static void an_answer_that_says_nothing_is_a_failure(void **state UNUSED)
{
	assert_answer("{\"outcome\": \"held\", \"reason\": \"why\"}", 0, REVIVE_HELD, NULL);
	assert_answer("{\"error\": \"no tmux\"}", 1, REVIVE_FAILED, "no tmux");
	assert_answer("{\"outcome\": \"else\"}", 0, REVIVE_FAILED,
		      "agentdeck revive ended with status 0: {\"outcome\": \"else\"}");
	assert_answer("{\"outcome\": \"revived\"}", 1, REVIVE_FAILED,
		      "agentdeck revive ended with status 1: {\"outcome\": \"revived\"}");
	assert_answer("", 3, REVIVE_FAILED, "agentdeck revive ended with status 3: no message");
}

/* --- recover ----------------------------------------------------------------------------------- */

static void note(const struct recover_counts *counts, const struct revive_result *row,
		 int64_t elapsed_ms, void *context)
{
	(void)counts;
	(void)elapsed_ms;
	*(size_t *)context += row != NULL;
}

static void there_is_always_somebody_to_work(void **state)
{
	(void)state;
	assert_true(recover_jobs() >= 1);
}

/* Without a start: nothing here should be started. */
static void recover_leaves_what_is_not_its_own(void **state)
{
	struct desk *desk = *state;
	const struct recover_order order = { .jobs = 2 }, group = { .group = "work", .jobs = 2 };
	struct recover_counts counts = { 0 };
	size_t rows = 0;
	cleanup_instance struct instance *live = killed(desk);
	assert_int_equal(process_identify(getpid(), &live->run.server, NULL), 0);
	live->run.pane = live->run.server;
	put(desk, live);
	cleanup_instance struct instance *ended = new_instance("0123abce", "ended");
	replace_string(&ended->observed.reason, "exit 0");
	put(desk, ended);
	cleanup_instance struct instance *stopped = new_instance("0123abcf", "stopped");
	put(desk, stopped);
	assert_int_equal(recover_run(&desk->deck, &order, note, &rows, &counts, NULL), 0);
	assert_int_equal(counts.total, 0);
	assert_int_equal(counts.offers, 1);
	assert_int_equal(rows, 0);
	assert_int_equal(recover_run(&desk->deck, &group, note, &rows, &counts, NULL), 0);
	assert_int_equal(counts.offers, 0);
}

static void a_damaged_session_is_a_failure(void **state)
{
	struct desk *desk = *state;
	const struct recover_order order = { .jobs = 1 };
	struct recover_counts counts = { 0 };
	size_t rows = 0;
	cleanup_instance struct instance *instance = killed(desk);
	put(desk, instance);
	cleanup_close int fd = openat(store_profile_directory(desk->deck.store), ID,
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, "instance.json", "{", 1, FS_VOLATILE, NULL), 0);
	assert_int_equal(recover_run(&desk->deck, &order, note, &rows, &counts, NULL), 0);
	assert_int_equal(counts.total, 1);
	assert_int_equal(counts.failed, 1);
	assert_int_equal(rows, 1);
}

#define DESK_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outcomes_have_words),
		cmocka_unit_test(an_answer_that_says_nothing_is_a_failure),
		cmocka_unit_test(there_is_always_somebody_to_work),
		DESK_TEST(what_is_to_be_stopped_stays_stopped),
		DESK_TEST(what_was_removed_is_not_wanted),
		DESK_TEST(never_begins_a_new_conversation),
		DESK_TEST(the_master_switch_stops_no_restart),
		DESK_TEST(the_restart_policy_counts_only_automatic_restarts),
		DESK_TEST(what_is_held_waits_for_its_user),
		DESK_TEST(a_death_is_written_down_when_it_is_seen),
		DESK_TEST(it_is_not_brought_back_before_its_time),
		DESK_TEST(what_ended_too_often_is_held_from_then_on),
		DESK_TEST(a_failure_is_no_end_even_after_another_boot),
		DESK_TEST(a_failure_does_not_count_as_an_end),
		DESK_TEST(a_failure_takes_no_conversation),
		DESK_TEST(a_failure_is_one_in_a_dry_run_too_and_changes_nothing),
		DESK_TEST(what_does_not_answer_is_not_started_again),
		DESK_TEST(a_run_of_another_machine_is_left),
		DESK_TEST(a_wish_of_another_machine_is_left),
		DESK_TEST(a_wish_of_another_container_is_left),
		DESK_TEST(who_takes_over_is_asked_nothing_else),
		DESK_TEST(a_list_writes_down_what_nobody_could),
		DESK_TEST(a_list_sees_that_the_machine_was_restarted),
		DESK_TEST(a_list_sees_that_a_stop_is_done),
		DESK_TEST(a_list_leaves_what_is_true),
		DESK_TEST(a_list_leaves_a_start_that_is_being_made),
		DESK_TEST(a_list_waits_for_nobody),
		DESK_TEST(recover_leaves_what_is_not_its_own),
		DESK_TEST(a_damaged_session_is_a_failure),
		FAKE_TEST(what_was_killed_runs_again),
		FAKE_TEST(its_user_is_counted_nothing),
		FAKE_TEST(what_its_agent_has_in_the_background_is_left_alone),
		FAKE_TEST(what_cannot_be_asked_for_survivors_is_left_alone),
		FAKE_TEST(a_background_of_an_earlier_boot_is_over),
		FAKE_TEST(what_lives_is_left_alone),
		FAKE_TEST(a_closed_window_is_opened_and_restarts_nothing),
		FAKE_TEST(a_window_that_is_opened_ends_the_start_that_was_cut),
		FAKE_TEST(what_does_not_answer_is_no_death),
		FAKE_TEST(only_its_user_replaces_a_shell),
		FAKE_TEST(a_stop_that_was_cut_is_finished),
		FAKE_TEST(a_restart_that_was_cut_is_finished_whatever_the_policy),
		FAKE_TEST(a_launch_that_fails_is_no_restart),
		FAKE_TEST(a_start_that_fails_keeps_the_old_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
