/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/plan/restart.h"

#define BOOT   "b1"
#define SECOND INT64_C(1000000)
#define NOW    (INT64_C(1700000000) * SECOND)

/* An instance that should run, died in this boot, and was restarted that many times, a second
 * apart. */
static struct instance *dead(unsigned restarts)
{
	struct instance *instance = instance_new();
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_ERROR;
	instance->observed.since = NOW;
	instance->observed.boot_id = xstrdup(BOOT);
	for (unsigned i = restarts; i > 0; i--)
		restart_note(instance, NOW - i * SECOND);
	return instance;
}

static enum machine_relation relation(const struct instance *instance)
{
	const char *last = instance->run.boot_id ? instance->run.boot_id
						 : instance->observed.boot_id;
	return streq(last, BOOT) ? MACHINE_THIS_BOOT : MACHINE_EARLIER_BOOT;
}

static struct restart_plan decide(const struct instance *instance)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	return restart_decide(instance, &settings, relation(instance), NOW);
}

static void the_first_comes_back_at_once(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(0);
	struct restart_plan plan = decide(instance);
	assert_int_equal(plan.verdict, RESTART_AFTER);
	assert_int_equal(plan.delay_ms, 0);
}

/* The full wait of the nth restart, with the default settings. */
static void assert_wait(int64_t delay, int64_t full)
{
	assert_in_range(delay, full / 2, full);
}

static void each_further_one_waits_twice_as_long(void **state UNUSED)
{
	for (unsigned earlier = 1; earlier < 5; earlier++) {
		cleanup_instance struct instance *instance = dead(earlier);
		assert_wait(decide(instance).delay_ms, 1000 << (earlier - 1));
	}
}

static void a_wait_is_never_longer_than_the_longest(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	settings.restart.burst = 0;
	settings.restart.delay_max_s = 3;
	cleanup_instance struct instance *instance = dead(16);
	assert_wait(restart_decide(instance, &settings, relation(instance), NOW).delay_ms, 3000);
	settings.restart.delay_s = 9;
	assert_wait(restart_decide(instance, &settings, relation(instance), NOW).delay_ms, 3000);
}

static void many_do_not_wait_equally_long(void **state UNUSED)
{
	int64_t least = INT64_MAX, most = 0;
	for (unsigned i = 0; i < 100; i++) {
		cleanup_instance struct instance *instance = dead(3);
		instance->id = xasprintf("%08u", i);
		int64_t delay = decide(instance).delay_ms;
		assert_wait(delay, 4000);
		least = delay < least ? delay : least;
		most = delay > most ? delay : most;
	}
	assert_true(most - least > 1000);
}

static void the_same_end_has_the_same_answer(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	cleanup_instance struct instance *instance = dead(3);
	int64_t first = restart_decide(instance, &settings, relation(instance), NOW).delay_ms;
	assert_int_equal(
		restart_decide(instance, &settings, relation(instance), NOW + SECOND).delay_ms,
		first - 1000);
	assert_int_equal(
		restart_decide(instance, &settings, relation(instance), NOW + 9 * SECOND).delay_ms,
		0);
	/* The clock was set back: we do not know how long ago it ended. */
	assert_int_equal(
		restart_decide(instance, &settings, relation(instance), NOW - SECOND).delay_ms, 0);
}

static void too_often_within_the_window_is_the_end(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(5);
	assert_int_equal(decide(instance).verdict, RESTART_LIMIT);
	cleanup_instance struct instance *fewer = dead(4);
	assert_int_equal(decide(fewer).verdict, RESTART_AFTER);
}

static void what_is_longer_ago_than_the_window_does_not_count(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(0);
	for (unsigned i = 0; i < 10; i++)
		restart_note(instance, NOW - 600 * SECOND);
	struct restart_plan plan = decide(instance);
	assert_int_equal(plan.verdict, RESTART_AFTER);
	assert_int_equal(plan.delay_ms, 0);
}

static void restarts_of_the_future_hold_no_session(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(0);
	for (unsigned i = 0; i < 5; i++)
		restart_note(instance, NOW + 86400 * SECOND);
	instance->observed.since = NOW + 86400 * SECOND;
	struct restart_plan plan = decide(instance);
	assert_int_equal(plan.verdict, RESTART_AFTER);
	assert_int_equal(plan.delay_ms, 0);
	/* Later restarts count, and those of the future do not count again when their time
	 * comes. */
	for (unsigned i = 0; i < 5; i++)
		restart_note(instance, NOW);
	assert_int_equal(instance->observed.restart_count, 5);
	assert_true(instance->observed.restarts[0] == NOW);
	assert_int_equal(decide(instance).verdict, RESTART_LIMIT);
}

static void no_limit_where_the_user_wants_none(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	settings.restart.burst = 0;
	cleanup_instance struct instance *instance = dead(16);
	assert_int_equal(restart_decide(instance, &settings, relation(instance), NOW).verdict,
			 RESTART_AFTER);
}

static void what_is_to_be_stopped_stays_stopped(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(0);
	instance->desired = DESIRED_STOPPED;
	instance->restart_policy = RESTART_ALWAYS;
	assert_int_equal(decide(instance).verdict, RESTART_LEAVE);
	/* Also over a reboot of the machine. */
	replace_string(&instance->observed.boot_id, "b0");
	assert_int_equal(decide(instance).verdict, RESTART_LEAVE);
}

static void policy_no_leaves_a_failure_and_not_a_boot(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(0);
	instance->restart_policy = RESTART_NO;
	assert_int_equal(decide(instance).verdict, RESTART_LEAVE);
	replace_string(&instance->observed.boot_id, "b0");
	assert_int_equal(decide(instance).verdict, RESTART_AFTER);
}

/* In the manifest, so that show and list say it. */
static void the_end_of_one_that_is_left_says_why(void **state UNUSED)
{
	static const char end[] = "its tmux server was killed";
	cleanup_settings struct settings settings = { 0 };
	cleanup_instance struct instance *instance = dead(0);
	settings_init(&settings);
	cleanup_free char *others = restart_end_text(instance, &settings, end);
	assert_string_equal(others, end);
	instance->restart_policy = RESTART_NO;
	cleanup_free char *left = restart_end_text(instance, &settings, end);
	assert_string_equal(left, "its tmux server was killed; its restart policy is \"no\"");
	instance->desired = DESIRED_STOPPED;
	cleanup_free char *stopped = restart_end_text(instance, &settings, end);
	assert_string_equal(stopped, end);
}

static void the_general_policy_holds_where_there_is_no_own(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	settings.restart.policy = RESTART_NO;
	cleanup_instance struct instance *instance = dead(0);
	assert_int_equal(restart_decide(instance, &settings, relation(instance), NOW).verdict,
			 RESTART_LEAVE);
	instance->restart_policy = RESTART_ON_FAILURE;
	assert_int_equal(restart_decide(instance, &settings, relation(instance), NOW).verdict,
			 RESTART_AFTER);
}

static void another_machine_brings_back_its_own(void **state UNUSED)
{
	cleanup_settings struct settings settings = { 0 };
	settings_init(&settings);
	cleanup_instance struct instance *instance = dead(0);
	assert_int_equal(restart_decide(instance, &settings, MACHINE_OTHER, NOW).verdict,
			 RESTART_LEAVE);
}

static void a_boot_is_no_failure(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(5);
	instance->run.boot_id = xstrdup("b0");
	struct restart_plan plan = decide(instance);
	assert_int_equal(plan.verdict, RESTART_AFTER);
	assert_int_equal(plan.delay_ms, 0);
}

static void what_is_held_stays_until_somebody_asks(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(5);
	restart_hold(instance, HOLD_LOGIN, "it needs a login");
	struct restart_plan plan = decide(instance);
	assert_int_equal(plan.verdict, RESTART_LEAVE);
	assert_string_equal(plan.why, "it needs a login");
	restart_forget(instance);
	assert_int_equal(decide(instance).verdict, RESTART_AFTER);
	assert_int_equal(decide(instance).delay_ms, 0);
}

static void a_background_process_does_not_outlive_its_boot(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(5);
	restart_hold(instance, HOLD_BACKGROUND, "in the background of claude");
	assert_int_equal(decide(instance).verdict, RESTART_LEAVE);
	assert_true(restart_is_held(instance, MACHINE_THIS_BOOT));
	assert_true(restart_is_held(instance, MACHINE_OTHER));
	replace_string(&instance->run.boot_id, "b0");
	assert_int_equal(decide(instance).verdict, RESTART_AFTER);
	assert_false(restart_is_held(instance, MACHINE_EARLIER_BOOT));
	/* A login is as dead as before. */
	restart_hold(instance, HOLD_LOGIN, "it needs a login");
	assert_int_equal(decide(instance).verdict, RESTART_LEAVE);
}

static void only_the_latest_are_kept(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(INSTANCE_RESTARTS);
	restart_note(instance, NOW);
	assert_int_equal(instance->observed.restart_count, INSTANCE_RESTARTS);
	assert_true(instance->observed.restarts[INSTANCE_RESTARTS - 1] == NOW);
	assert_true(instance->observed.restarts[0] == NOW - (INSTANCE_RESTARTS - 1) * SECOND);
}

static void history_and_hold_survive_the_manifest(void **state UNUSED)
{
	cleanup_instance struct instance *instance = dead(2);
	restart_hold(instance, HOLD_LOGIN, "it needs a login");
	replace_string(&instance->id, "0123abcd");
	replace_string(&instance->title, "t");
	replace_string(&instance->cwd, "/");
	replace_string(&instance->agent, "demo");
	replace_string(&instance->backend, "host");
	strvec_push(&instance->argv, "demo");
	cleanup_json struct json_object *object = instance_to_json(instance);
	cleanup_instance struct instance *back = NULL;
	struct error err = { 0 };
	assert_int_equal(instance_from_json(object, "m", &back, &err), 0);
	assert_int_equal(back->observed.restart_count, 2);
	assert_true(back->observed.restarts[1] == NOW - SECOND);
	assert_string_equal(back->observed.held, "it needs a login");
	assert_int_equal(back->observed.hold, HOLD_LOGIN);
	/* They are removed from it when they are forgotten. */
	restart_forget(back);
	cleanup_json struct json_object *after = instance_to_json(back);
	cleanup_instance struct instance *later = NULL;
	assert_int_equal(instance_from_json(after, "m", &later, &err), 0);
	assert_int_equal(later->observed.restart_count, 0);
	assert_null(later->observed.held);
	assert_int_equal(later->observed.hold, HOLD_NONE);
}

/* Of a version before this one, and of one after it. */
static void a_hold_of_another_kind_is_still_one(void **state UNUSED)
{
	static const char *const words[] = { NULL, "eclipse" };
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		cleanup_instance struct instance *instance = dead(0);
		cleanup_instance struct instance *back = NULL;
		struct error err = { 0 };
		restart_hold(instance, HOLD_LOGIN, "it needs a login");
		replace_string(&instance->id, "0123abcd");
		replace_string(&instance->title, "t");
		replace_string(&instance->cwd, "/");
		replace_string(&instance->agent, "demo");
		replace_string(&instance->backend, "host");
		strvec_push(&instance->argv, "demo");
		cleanup_json struct json_object *object = instance_to_json(instance);
		struct json_object *observed = json_get_object(object, "observed");
		json_object_object_del(observed, "hold");
		if (words[i])
			json_set_string(observed, "hold", words[i]);
		assert_int_equal(instance_from_json(object, "m", &back, &err), 0);
		assert_int_equal(back->observed.hold, HOLD_OTHER);
		assert_true(restart_is_held(back, MACHINE_EARLIER_BOOT));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_comes_back_at_once),
		cmocka_unit_test(each_further_one_waits_twice_as_long),
		cmocka_unit_test(a_wait_is_never_longer_than_the_longest),
		cmocka_unit_test(many_do_not_wait_equally_long),
		cmocka_unit_test(the_same_end_has_the_same_answer),
		cmocka_unit_test(too_often_within_the_window_is_the_end),
		cmocka_unit_test(what_is_longer_ago_than_the_window_does_not_count),
		cmocka_unit_test(restarts_of_the_future_hold_no_session),
		cmocka_unit_test(no_limit_where_the_user_wants_none),
		cmocka_unit_test(what_is_to_be_stopped_stays_stopped),
		cmocka_unit_test(policy_no_leaves_a_failure_and_not_a_boot),
		cmocka_unit_test(the_end_of_one_that_is_left_says_why),
		cmocka_unit_test(the_general_policy_holds_where_there_is_no_own),
		cmocka_unit_test(another_machine_brings_back_its_own),
		cmocka_unit_test(a_boot_is_no_failure),
		cmocka_unit_test(what_is_held_stays_until_somebody_asks),
		cmocka_unit_test(a_background_process_does_not_outlive_its_boot),
		cmocka_unit_test(only_the_latest_are_kept),
		cmocka_unit_test(history_and_hold_survive_the_manifest),
		cmocka_unit_test(a_hold_of_another_kind_is_still_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
