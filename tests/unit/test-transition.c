/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The door through which states change: what it saves, and what the log says of it.
 */
#include "unit/store-fixture.h"

#include "base/fsutil.h"
#include "base/log.h"
#include "engine/deck/transition.h"

#define ID "0123abcd"

/* A running session, its lock, and a log in the same directory. */
static struct instance *running(struct fixture *fixture, struct store_lock **ret_lock)
{
	cleanup_instance struct instance *made = new_instance(ID, "deck");
	struct instance *instance = NULL;
	made->desired = DESIRED_RUNNING;
	made->observed.state = STATE_RUNNING;
	made->observed.since = 1000;
	assert_int_equal(create_instance(fixture->store, made, NULL), 0);
	*ret_lock = lock_of(fixture->store, ID);
	assert_int_equal(store_load_locked(*ret_lock, &instance, NULL), 0);
	log_open(store_profile_directory(fixture->store), "test");
	return instance;
}

static void assert_stored(struct fixture *fixture, enum instance_state state)
{
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_load(fixture->store, ID, &instance, NULL), 0);
	assert_string_equal(instance_state_name(instance->observed.state),
			    instance_state_name(state));
}

static void assert_log(struct fixture *fixture, const char *end)
{
	cleanup_free char *log = is_there(fixture->store, "agentdeck.log")
					 ? content(fixture->store, "agentdeck.log")
					 : xstrdup("");
	if (!ends_with(log, end) || (!*end && *log))
		fail_msg("\"%s\" does not end with \"%s\"", log, end);
}

static void a_change_is_saved_stamped_and_logged(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	assert_int_equal(transition(lock, instance, EVENT_LOST, "its tmux server was killed", NULL),
			 0);
	assert_stored(fixture, STATE_ERROR);
	assert_log(fixture, " state running -> error: its tmux server was killed\n");
	assert_true(instance->observed.since > 1000);
	assert_string_equal(instance->observed.boot_id, process_boot_id());
	assert_string_equal(instance->observed.host, machine_host());
}

static void a_change_without_a_reason_is_logged_without_one(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	assert_int_equal(transition(lock, instance, EVENT_STOP_WANTED, NULL, NULL), 0);
	assert_log(fixture, " state running -> stopping\n");
}

static void what_changes_nothing_is_neither_saved_nor_logged(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	replace_string(&instance->title, "not saved");
	assert_int_equal(transition(lock, instance, EVENT_SEEN_ALIVE, NULL, NULL), TRANSITION_NONE);
	cleanup_instance struct instance *stored = NULL;
	assert_int_equal(store_load(fixture->store, ID, &stored, NULL), 0);
	assert_string_equal(stored->title, "deck");
	assert_log(fixture, "");
}

static void what_cannot_happen_is_refused_and_logged(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	cleanup_error struct error err = { 0 };
	assert_int_equal(transition(lock, instance, EVENT_STARTED, NULL, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "running"));
	assert_int_equal(instance->observed.since, 1000);
	assert_stored(fixture, STATE_RUNNING);
	assert_log(fixture, " state running: \"started\" is refused\n");
}

static void a_trial_is_neither_saved_nor_logged(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	assert_int_equal(transition(NULL, instance, EVENT_LOST, "killed", NULL), 0);
	assert_int_equal(instance->observed.state, STATE_ERROR);
	assert_stored(fixture, STATE_RUNNING);
	assert_log(fixture, "");
}

static void what_could_not_be_saved_is_not_logged(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	cleanup_error struct error err = { 0 };
	/* A directory is not replaced by a file. */
	const int profile = store_profile_directory(fixture->store);
	assert_int_equal(unlinkat(profile, ID "/instance.json", 0), 0);
	assert_int_equal(mkdirat(profile, ID "/instance.json", 0700), 0);
	assert_int_equal(transition(lock, instance, EVENT_LOST, "killed", &err), -1);
	assert_log(fixture, "");
}

static void an_end_of_an_earlier_boot_keeps_its_boot(void **state)
{
	struct fixture *fixture = *state;
	cleanup_store_lock struct store_lock *lock = NULL;
	cleanup_instance struct instance *instance = running(fixture, &lock);
	assert_int_equal(transition(lock, instance, EVENT_LOST, "restarted", NULL), 0);
	assert_int_equal(transition_of_boot(lock, instance, EVENT_NOT_REVIVED, "no tmux", "before",
					    NULL),
			 0);
	assert_string_equal(instance->observed.boot_id, "before");
	assert_log(fixture, " state error -> error: no tmux\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(a_change_is_saved_stamped_and_logged),
		STORE_TEST(a_change_without_a_reason_is_logged_without_one),
		STORE_TEST(what_changes_nothing_is_neither_saved_nor_logged),
		STORE_TEST(what_cannot_happen_is_refused_and_logged),
		STORE_TEST(a_trial_is_neither_saved_nor_logged),
		STORE_TEST(what_could_not_be_saved_is_not_logged),
		STORE_TEST(an_end_of_an_earlier_boot_keeps_its_boot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
