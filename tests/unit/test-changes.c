/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "engine/changes.h"
#include "engine/runfiles.h"

#include <signal.h>

/* ---- what is a change -------------------------------------------------------------------------------- */

static bool remember(struct changes_memory *memory, const char *profile, const char *id, const char *state,
		     const char *activity, const char *reason)
{
	const struct change change = { .profile = profile, .id = id, .title = "one", .state = state,
				       .activity = activity, .reason = reason };
	return changes_remember(memory, &change);
}

static void only_what_differs_is_a_change(void **state UNUSED)
{
	struct changes_memory memory = { 0 };
	assert_true(remember(&memory, "p", "a", "running", "idle", NULL));
	assert_false(remember(&memory, "p", "a", "running", "idle", NULL));
	assert_true(remember(&memory, "p", "a", "running", "busy", NULL));
	assert_true(remember(&memory, "p", "a", "error", NULL, "killed"));
	assert_false(remember(&memory, "p", "a", "error", NULL, "killed"));
	assert_true(remember(&memory, "p", "a", "error", NULL, "held"));
	assert_true(remember(&memory, "p", "a", "running", "unknown", NULL));
	assert_int_equal(memory.count, 1);
	changes_memory_free(&memory);
}

static void sessions_and_profiles_are_kept_apart(void **state UNUSED)
{
	struct changes_memory memory = { 0 };
	assert_true(remember(&memory, "p", "a", "running", NULL, NULL));
	assert_true(remember(&memory, "p", "b", "running", NULL, NULL));
	assert_true(remember(&memory, "q", "a", "running", NULL, NULL));
	assert_true(remember(&memory, "q", "a", "stopped", NULL, NULL));
	assert_false(remember(&memory, "p", "a", "running", NULL, NULL));
	changes_memory_free(&memory);
}

static void a_new_title_is_a_change_and_a_new_time_is_none(void **state UNUSED)
{
	struct changes_memory memory = { 0 };
	struct change change = { .profile = "p", .id = "a", .title = "one", .state = "running", .since_us = 1 };
	assert_true(changes_remember(&memory, &change));
	change.since_us = 2;
	assert_false(changes_remember(&memory, &change));
	assert_int_equal(memory.items[0].since_us, 2);
	change.title = "two";
	assert_true(changes_remember(&memory, &change));
	changes_memory_free(&memory);
}

static void what_was_removed_is_told_once_and_may_come_again(void **state UNUSED)
{
	struct changes_memory memory = { 0 };
	assert_false(remember(&memory, "p", "a", "removed", NULL, NULL));
	assert_true(remember(&memory, "p", "a", "stopped", NULL, NULL));
	assert_true(remember(&memory, "p", "b", "stopped", NULL, NULL));
	/* Who tells may not know of which profile it was. */
	assert_true(remember(&memory, NULL, "a", "removed", NULL, NULL));
	assert_false(remember(&memory, "p", "a", "removed", NULL, NULL));
	assert_int_equal(memory.count, 1);
	assert_true(remember(&memory, "p", "a", "stopped", NULL, NULL));
	assert_false(remember(&memory, "p", "b", "stopped", NULL, NULL));
	changes_memory_free(&memory);
}

/* ---- from files and processes -------------------------------------------------------------------------- */

struct place {
	char *root;
	struct deck deck;
	struct changes *changes;
	struct strvec told; /* "title state activity" of each change */
};

static int place_set_up(void **state)
{
	struct place *place = xcalloc(1, sizeof(*place));
	place->root = xstrdup("/tmp/agentdeck-changes-XXXXXX");
	if (!mkdtemp(place->root))
		return -1;
	setenv("AGENTDECK_HOME", place->root, 1);
	setenv("HOME", place->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	if (deck_open("default", "test", &place->deck, NULL) < 0 || deck_open_store(&place->deck, NULL) < 0)
		return -1;
	*state = place;
	return 0;
}

static int place_tear_down(void **state)
{
	struct place *place = *state;
	changes_close(place->changes);
	deck_close(&place->deck);
	strvec_clear(&place->told);
	int r = fs_remove_tree(AT_FDCWD, place->root, NULL);
	free(place->root);
	free(place);
	return r;
}

#define PLACE_TEST(function) cmocka_unit_test_setup_teardown(function, place_set_up, place_tear_down)

static void open_changes(struct place *place, const struct changes_wish *wish)
{
	cleanup_error struct error err = { 0 };
	if (changes_open(&place->deck, wish, &place->changes, &err) < 0)
		fail_msg("%s", err.message);
}

static void collect(const struct change *change, void *context)
{
	struct strvec *told = context;
	strvec_pushf(told, "%s %s %s%s%s", change->title, change->state, change->activity ? change->activity : "-",
		     change->reason ? ": " : "", or_empty(change->reason));
}

/* The next that is told is this, alone. */
static void expect(struct place *place, const char *text)
{
	cleanup_error struct error err = { 0 };
	strvec_clear(&place->told);
	int r = changes_wait(place->changes, clock_ms() + LONG_MS, collect, &place->told, &err);
	if (r != 0)
		fail_msg("waited for \"%s\": %s", text, r < 0 ? err.message : "nothing came");
	if (place->told.count != 1 || !streq(place->told.items[0], text))
		fail_msg("\"%s\" (and %zu more), not \"%s\"", place->told.items[0], place->told.count - 1, text);
}

static void expect_nothing(struct place *place)
{
	enum { SOON_MS = 50 };
	strvec_clear(&place->told);
	int r = changes_wait(place->changes, clock_ms() + SOON_MS, collect, &place->told, NULL);
	if (r != CHANGES_TIMEOUT)
		fail_msg("told: %s", place->told.count ? place->told.items[0] : "an error");
}

static char *run_directory(const struct place *place, const char *id)
{
	return xasprintf("%s/run/%s", place->root, id);
}

static void set_run(const struct place *place, struct instance *instance, pid_t server)
{
	cleanup_free char *runs = path_join(place->root, "run");
	instance->observed.state = STATE_RUNNING;
	instance->observed.since = clock_wall_us();
	instance->run.id = xstrdup("run-1");
	instance->run.directory = run_directory(place, instance->id);
	instance->run.socket = path_join(instance->run.directory, RUN_SOCKET);
	instance->run.boot_id = xstrdup(process_boot_id());
	assert_int_equal(process_identify(server, &instance->run.server, NULL), 0);
	(void)mkdir(runs, 0700);
	assert_int_equal(mkdir(instance->run.directory, 0700), 0);
}

/* A session that runs: its "server" is a process of ours. */
static pid_t make_running(struct place *place, const char *id, const char *title)
{
	cleanup_instance struct instance *instance = new_instance(id, title);
	pid_t server = fork();
	assert_true(server >= 0);
	if (server == 0)
		for (;;)
			(void)pause();
	set_run(place, instance, server);
	assert_int_equal(create_instance(place->deck.store, instance, NULL), 0);
	return server;
}

static void end_server(pid_t server)
{
	assert_int_equal(kill(server, SIGKILL), 0);
	assert_int_equal(waitpid(server, NULL, 0), server);
}

static void report(const struct place *place, const char *id, enum instance_activity what)
{
	cleanup_free char *directory = run_directory(place, id);
	const struct activity activity = { .activity = what, .since = clock_wall_us() };
	assert_int_equal(activity_write(directory, &activity, NULL), 0);
}

static void set_state(struct place *place, const char *base, enum instance_state now, const char *reason)
{
	cleanup_store_lock struct store_lock *lock = lock_of(place->deck.store, base);
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	instance->observed.state = now;
	replace_string(&instance->observed.reason, reason);
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

static void remove_instance(struct place *place, const char *base)
{
	assert_int_equal(store_remove(lock_of(place->deck.store, base), NULL), 0);
}

static void there_is_no_history_and_each_change_is_told_once(void **state)
{
	struct place *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_changes(place, &(struct changes_wish){ 0 });
	expect_nothing(place);
	report(place, "0123abcd", ACTIVITY_BUSY);
	expect(place, "one running busy");
	report(place, "0123abcd", ACTIVITY_BUSY);
	expect_nothing(place);
	report(place, "0123abcd", ACTIVITY_WAITING);
	expect(place, "one running waiting");
	rename_instance(place->deck.store, "0123abcd", "uno");
	expect(place, "uno running waiting");
	end_server(server);
	expect(place, "uno error -: its tmux server was killed");
	/* Somebody writes down what was told already. */
	set_state(place, "0123abcd", STATE_ERROR, "its tmux server was killed");
	expect_nothing(place);
	remove_instance(place, "0123abcd");
	expect(place, "uno removed -");
	expect_nothing(place);
}

static void sessions_that_come_later_are_followed_with_their_runs(void **state)
{
	struct place *place = *state;
	open_changes(place, &(struct changes_wish){ 0 });
	make(place->deck.store, "0123abcd", "one");
	expect(place, "one stopped -");
	pid_t server = make_running(place, "0123abce", "two");
	expect(place, "two running unknown");
	report(place, "0123abce", ACTIVITY_IDLE);
	expect(place, "two running idle");
	end_server(server);
	expect(place, "two error -: its tmux server was killed");
}

static void an_end_that_was_asked_for_is_told_once(void **state)
{
	struct place *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_changes(place, &(struct changes_wish){ 0 });
	set_state(place, "0123abcd", STATE_STOPPING, NULL);
	expect(place, "one stopping -");
	end_server(server);
	expect(place, "one stopped -");
	set_state(place, "0123abcd", STATE_STOPPED, NULL);
	expect_nothing(place);
}

static void the_manifest_is_older_than_the_end_that_it_tells_of(void **state)
{
	struct place *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_changes(place, &(struct changes_wish){ 0 });
	/* Both are there before anybody looks: the agent ended by itself, and so did its server. */
	set_state(place, "0123abcd", STATE_STOPPED, NULL);
	end_server(server);
	expect(place, "one stopped -");
	expect_nothing(place);
}

static void only_those_that_are_wished_are_followed(void **state)
{
	struct place *place = *state;
	cleanup_strvec struct strvec ids = { 0 };
	cleanup_strvec struct strvec known = { 0 };
	make(place->deck.store, "0123abcd", "one");
	make(place->deck.store, "0123abce", "two");
	strvec_push(&ids, "0123abce");
	open_changes(place, &(struct changes_wish){ .ids = &ids });
	changes_each(place->changes, collect, &known);
	assert_int_equal(known.count, 1);
	assert_string_equal(known.items[0], "two stopped -");
	set_state(place, "0123abcd", STATE_ERROR, NULL);
	expect_nothing(place);
	set_state(place, "0123abce", STATE_ERROR, NULL);
	expect(place, "two error -");
	remove_instance(place, "0123abce");
	expect(place, "two removed -");
	strvec_clear(&known);
	changes_each(place->changes, collect, &known);
	assert_int_equal(known.count, 0);
}

static void other_profiles_are_not_told_of_unasked(void **state)
{
	struct place *place = *state;
	cleanup_store struct store *other = NULL;
	open_changes(place, &(struct changes_wish){ 0 });
	assert_int_equal(store_open(place->deck.paths.state, "other", &other, NULL), 0);
	make(other, "0123abcd", "far");
	expect_nothing(place);
}

static void every_profile_is_followed_also_one_that_is_made_later(void **state)
{
	struct place *place = *state;
	cleanup_store struct store *other = NULL, *late = NULL;
	assert_int_equal(store_open(place->deck.paths.state, "other", &other, NULL), 0);
	make(other, "0123abcd", "far");
	open_changes(place, &(struct changes_wish){ .all_profiles = true });
	expect_nothing(place);
	rename_instance(other, "0123abcd", "away");
	expect(place, "away stopped -");
	assert_int_equal(store_open(place->deck.paths.state, "late", &late, NULL), 0);
	make(late, "0123abcd", "new");
	expect(place, "new stopped -");
	make(place->deck.store, "0123abcd", "own");
	expect(place, "own stopped -");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_differs_is_a_change),
		cmocka_unit_test(sessions_and_profiles_are_kept_apart),
		cmocka_unit_test(a_new_title_is_a_change_and_a_new_time_is_none),
		cmocka_unit_test(what_was_removed_is_told_once_and_may_come_again),
		PLACE_TEST(there_is_no_history_and_each_change_is_told_once),
		PLACE_TEST(sessions_that_come_later_are_followed_with_their_runs),
		PLACE_TEST(an_end_that_was_asked_for_is_told_once),
		PLACE_TEST(the_manifest_is_older_than_the_end_that_it_tells_of),
		PLACE_TEST(only_those_that_are_wished_are_followed),
		PLACE_TEST(other_profiles_are_not_told_of_unasked),
		PLACE_TEST(every_profile_is_followed_also_one_that_is_made_later),
	};
	return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
