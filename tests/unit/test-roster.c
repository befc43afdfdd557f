/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/store-fixture.h"

#include "engine/place/activityfile.h"
#include "engine/place/runfiles.h"
#include "engine/roster/lost.h"
#include "engine/roster/next.h"
#include "engine/roster/roster.h"
#include "model/plan/restart.h"

#include <poll.h>
#include <signal.h>

struct scene {
	char *root;
	struct deck deck;
	struct loop *loop;
	struct roster *roster;
	bool is_open;       /* changes from before are not shown */
	struct strvec told; /* "title state activity" of each change that is shown */
	struct strvec all;  /* of every event: its kind and the title */
};

static int place_set_up(void **state)
{
	struct scene *place = xcalloc(1, sizeof(*place));
	place->root = xstrdup("/tmp/agentdeck-roster-XXXXXX");
	if (!mkdtemp(place->root))
		return -1;
	setenv("AGENTDECK_HOME", place->root, 1);
	setenv("HOME", place->root, 1);
	unsetenv("AGENTDECK_PROFILE");
	if (loop_new(&place->loop, NULL) < 0 ||
	    deck_open("default", "test", &place->deck, NULL) < 0 ||
	    deck_open_store(&place->deck, NULL) < 0)
		return -1;
	*state = place;
	return 0;
}

static int place_tear_down(void **state)
{
	struct scene *place = *state;
	roster_close(place->roster);
	loop_free(place->loop);
	deck_close(&place->deck);
	strvec_clear(&place->told);
	strvec_clear(&place->all);
	int r = fs_remove_tree(AT_FDCWD, place->root, NULL);
	free(place->root);
	free(place);
	return r;
}

#define PLACE_TEST(function) \
	cmocka_unit_test_setup_teardown(function, place_set_up, place_tear_down)

static char *text_of(const struct roster_entry *entry, bool is_removed)
{
	const struct view *view = &entry->view;
	const bool runs = !is_removed && view->state == STATE_RUNNING && !view->is_silent;
	const char *reason = is_removed ? "" : or_empty(view->reason);
	return xasprintf("%s %s %s%s%s", entry->row.title,
			 is_removed ? "removed" : view_status(view),
			 runs ? instance_activity_name(view->activity) : "-", *reason ? ": " : "",
			 reason);
}

static void collect(const struct roster_event *event, void *context)
{
	static const char *const words[] = {
		[ROSTER_ADDED] = "added",       [ROSTER_CHANGED] = "changed",
		[ROSTER_ACTIVITY] = "activity", [ROSTER_REMOVED] = "removed",
		[ROSTER_NUDGED] = "nudged",     [ROSTER_KILLED] = "killed",
	};
	struct scene *place = context;
	const bool is_removed = event->what == ROSTER_REMOVED;
	strvec_pushf(&place->all, "%s %s", words[event->what], event->entry->row.title);
	if (!place->is_open ||
	    !(is_removed || event->what == ROSTER_ADDED || event->differs & ROSTER_SHOWN))
		return;
	cleanup_free char *text = text_of(event->entry, is_removed);
	strvec_push(&place->told, text);
}

static void read_roster(void *context)
{
	cleanup_error struct error err = { 0 };
	struct scene *place = context;
	if (roster_read(place->roster, &err) < 0)
		fail_msg("%s", err.message);
}

static void open_roster(struct scene *place, const struct roster_order *order)
{
	cleanup_error struct error err = { 0 };
	struct roster_order watching = *order;
	watching.loop = place->loop;
	watching.due = read_roster;
	if (roster_open(&place->deck, &watching, collect, place, &place->roster, &err) < 0)
		fail_msg("%s", err.message);
	read_roster(place);
	place->is_open = true;
}

static const struct roster_order own = { .profile = "default" };

static void look(struct scene *place)
{
	roster_look(roster_at(place->roster, 0));
	read_roster(place);
}

/* Read until a change is shown, or the time is over. */
static bool is_told_within(struct scene *place, int timeout_ms)
{
	const int64_t deadline_ms = clock_ms() + timeout_ms;
	strvec_clear(&place->told);
	do {
		struct pollfd source = { .fd = loop_descriptor(place->loop), .events = POLLIN };
		while (loop_turn(place->loop, 0, NULL) > 0)
			;
		if (place->told.count == 0)
			(void)poll(&source, 1, clock_left_ms(deadline_ms));
	} while (place->told.count == 0 && clock_ms() < deadline_ms);
	return place->told.count > 0;
}

/* The next change shown is this one alone. */
static void expect(struct scene *place, const char *text)
{
	if (!is_told_within(place, LONG_MS))
		fail_msg("waited for \"%s\": nothing came", text);
	if (place->told.count != 1 || !streq(place->told.items[0], text))
		fail_msg("\"%s\" (and %zu more), not \"%s\"", place->told.items[0],
			 place->told.count - 1, text);
}

enum { SOON_MS = 50 };

static void expect_nothing(struct scene *place)
{
	if (is_told_within(place, SOON_MS))
		fail_msg("told: %s", place->told.items[0]);
}

/* All known sessions, one after the other. */
static void assert_known(const struct scene *place, const char *text)
{
	cleanup_strbuf struct strbuf known = { 0 };
	for (size_t i = 0; i < roster_count(place->roster); i++) {
		cleanup_free char *one = text_of(roster_at(place->roster, i), false);
		strbuf_addf(&known, "%s%s", i ? ", " : "", one);
	}
	assert_string_equal(strbuf_text(&known), text);
}

static char *run_directory(const struct scene *place, const char *id)
{
	return xasprintf("%s/run/%s", place->root, id);
}

static void set_run(const struct scene *place, struct instance *instance, pid_t server)
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

/* A running session, whose "server" is a process of ours. */
static pid_t make_running(struct scene *place, const char *id, const char *title)
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

static void report(const struct scene *place, const char *id, enum instance_activity what)
{
	cleanup_free char *directory = run_directory(place, id);
	const struct activity activity = { .activity = what, .since = clock_wall_us() };
	assert_int_equal(activityfile_write(directory, &activity, &(struct announced){ 0 }, NULL),
			 0);
}

static void set_state(struct scene *place, const char *base, enum instance_state now,
		      const char *reason)
{
	cleanup_store_lock struct store_lock *lock = lock_of(place->deck.store, base);
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	instance->observed.state = now;
	replace_string(&instance->observed.reason, reason);
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

static void remove_instance_of(struct store *store, const char *base)
{
	assert_int_equal(store_remove(lock_of(store, base), NULL), 0);
}

static void remove_instance(struct scene *place, const char *base)
{
	remove_instance_of(place->deck.store, base);
}

static void only_what_differs_is_a_change(void **state)
{
	struct scene *place = *state;
	make(place->deck.store, "0123abcd", "one");
	open_roster(place, &own);
	set_state(place, "0123abcd", STATE_ERROR, "killed");
	expect(place, "one error -: killed");
	set_state(place, "0123abcd", STATE_ERROR, "killed");
	expect_nothing(place);
	set_state(place, "0123abcd", STATE_ERROR, "held");
	expect(place, "one error -: held");
	set_state(place, "0123abcd", STATE_STOPPED, NULL);
	expect(place, "one stopped -");
	assert_int_equal(roster_count(place->roster), 1);
}

static void sessions_and_profiles_are_kept_apart(void **state)
{
	struct scene *place = *state;
	cleanup_store struct store *other = NULL;
	assert_int_equal(store_open(place->deck.paths.state, "other", &other, NULL), 0);
	make(place->deck.store, "0123abcd", "a");
	make(place->deck.store, "0123abce", "b");
	make(other, "0123abcd", "far");
	open_roster(place, &(struct roster_order){ 0 });
	assert_int_equal(roster_count(place->roster), 3);
	rename_instance(other, "0123abcd", "away");
	expect(place, "away stopped -");
	set_state(place, "0123abcd", STATE_ERROR, NULL);
	expect(place, "a error -");
	rename_instance(place->deck.store, "0123abce", "c");
	expect(place, "c stopped -");
	expect_nothing(place);
}

static void set_since(struct scene *place, const char *base, int64_t since_us)
{
	cleanup_store_lock struct store_lock *lock = lock_of(place->deck.store, base);
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(store_load_locked(lock, &instance, NULL), 0);
	instance->observed.since = since_us;
	assert_int_equal(store_save(lock, instance, NULL), 0);
}

static void a_new_title_is_a_change_and_a_new_time_is_none(void **state)
{
	struct scene *place = *state;
	make(place->deck.store, "0123abcd", "one");
	open_roster(place, &own);
	set_since(place, "0123abcd", INT64_C(1776157681000000));
	expect_nothing(place);
	assert_true(roster_at(place->roster, 0)->since_us == INT64_C(1776157681000000));
	rename_instance(place->deck.store, "0123abcd", "two");
	expect(place, "two stopped -");
}

static void what_was_removed_is_told_once_and_may_come_again(void **state)
{
	struct scene *place = *state;
	make(place->deck.store, "0123abcd", "one");
	make(place->deck.store, "0123abce", "two");
	open_roster(place, &own);
	remove_instance(place, "0123abcd");
	expect(place, "one removed -");
	expect_nothing(place);
	assert_known(place, "two stopped -");
	make(place->deck.store, "0123abcd", "one");
	expect(place, "one stopped -");
	expect_nothing(place);
}

/* Seen by a reader that shows the sessions before it watches them. */
static void what_changes_before_it_watches_is_told(void **state)
{
	struct scene *place = *state;
	make(place->deck.store, "0123abcd", "one");
	make(place->deck.store, "0123abce", "two");
	const pid_t server = make_running(place, "0123abcf", "three");
	open_roster(place, &(struct roster_order){ .profile = "default", .shows_first = true });
	assert_known(place, "one stopped -, two stopped -, three running unknown");
	set_state(place, "0123abcd", STATE_ERROR, "held");
	remove_instance(place, "0123abce");
	end_server(server);
	make(place->deck.store, "0123abd0", "four");
	assert_true(is_told_within(place, LONG_MS));
	assert_int_equal(place->told.count, 4);
	assert_known(place, "one error -: held, three error -: its tmux server was killed, "
			    "four stopped -");
	/* and from then on it watches */
	expect_nothing(place);
	rename_instance(place->deck.store, "0123abd0", "five");
	expect(place, "five stopped -");
	set_state(place, "0123abcd", STATE_STOPPED, NULL);
	expect(place, "one stopped -");
}

/* The supervisor decides at each of these, although no change is shown. */
static void what_changes_nothing_is_an_event_all_the_same(void **state)
{
	struct scene *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_roster(place, &own);
	assert_int_equal(place->all.count, 1);
	assert_string_equal(place->all.items[0], "added one");
	set_since(place, "0123abcd", 1);
	expect_nothing(place);
	assert_true(strvec_contains(&place->all, "changed one"));
	strvec_clear(&place->all);
	report(place, "0123abcd", ACTIVITY_UNKNOWN);
	expect_nothing(place);
	assert_true(strvec_contains(&place->all, "activity one"));
	strvec_clear(&place->all);
	look(place);
	assert_true(strvec_contains(&place->all, "changed one"));
	end_server(server);
	expect(place, "one error -: its tmux server was killed");
}

/* A question comes before an older wait. */
static void the_next_that_waits_is_by_need_and_then_by_time(void **state)
{
	static const struct {
		const char *id;
		bool asks;
		int64_t since;
	} rows[] = { { "00000001", false, 100 },
		     { "00000002", true, 300 },
		     { "00000003", true, 200 } };
	struct scene *place = *state;
	pid_t servers[ARRAY_SIZE(rows)];
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		servers[i] = make_running(place, rows[i].id, rows[i].id);
		cleanup_free char *directory = run_directory(place, rows[i].id);
		const struct activity activity = { .activity = ACTIVITY_WAITING,
						   .asks = rows[i].asks,
						   .since = rows[i].since * 1000000 };
		assert_int_equal(activityfile_write(directory, &activity, &(struct announced){ 0 },
						    NULL),
				 0);
	}
	open_roster(place, &own);
	const struct roster *roster = place->roster;
	assert_string_equal(roster_next_waiting(roster, NULL)->row.id, "00000003");
	assert_string_equal(roster_next_waiting(roster, "00000003")->row.id, "00000002");
	assert_string_equal(roster_next_waiting(roster, "00000002")->row.id, "00000001");
	assert_string_equal(roster_next_waiting(roster, "00000001")->row.id, "00000003");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		end_server(servers[i]);
}

/* The server is there without its agent: tmux may have missed the end. */
static void a_server_without_its_agent_is_made_to_look(void **state)
{
	struct scene *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_roster(place, &own);
	for (int64_t deadline_ms = clock_ms() + LONG_MS;
	     !strvec_contains(&place->all, "nudged one") && clock_ms() < deadline_ms;)
		(void)is_told_within(place, 100);
	assert_true(strvec_contains(&place->all, "nudged one"));
	end_server(server);
	expect(place, "one error -: its tmux server was killed");
	strvec_clear(&place->all);
	expect_nothing(place);
	assert_false(strvec_contains(&place->all, "nudged one"));
}

static void a_damaged_manifest_is_shown_until_it_is_mended(void **state)
{
	struct scene *place = *state;
	cleanup_free char *manifest = manifest_of("0123abcd");
	make(place->deck.store, "0123abcd", "one");
	cleanup_free char *good = content(place->deck.store, manifest);
	open_roster(place, &own);
	put_content(place->deck.store, manifest, "{");
	look(place);
	assert_int_equal(place->told.count, 1);
	assert_non_null(roster_at(place->roster, 0)->row.damage);
	assert_int_equal(roster_at(place->roster, 0)->view.state, STATE_ERROR);
	put_content(place->deck.store, manifest, good);
	look(place);
	assert_known(place, "one stopped -");
}

static void there_is_no_history_and_each_change_is_told_once(void **state)
{
	struct scene *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_roster(place, &own);
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
	/* Somebody records what was already shown. */
	set_state(place, "0123abcd", STATE_ERROR, "its tmux server was killed");
	expect_nothing(place);
	remove_instance(place, "0123abcd");
	expect(place, "uno removed -");
	expect_nothing(place);
}

static void sessions_that_come_later_are_followed_with_their_runs(void **state)
{
	struct scene *place = *state;
	open_roster(place, &own);
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
	struct scene *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_roster(place, &own);
	set_state(place, "0123abcd", STATE_STOPPING, NULL);
	expect(place, "one stopping -");
	end_server(server);
	expect(place, "one stopped -");
	set_state(place, "0123abcd", STATE_STOPPED, NULL);
	expect_nothing(place);
}

static void the_manifest_is_older_than_the_end_that_it_tells_of(void **state)
{
	struct scene *place = *state;
	pid_t server = make_running(place, "0123abcd", "one");
	open_roster(place, &own);
	/* Both changes happened before anybody looked: the agent ended by itself, and so did its
	 * server. */
	set_state(place, "0123abcd", STATE_STOPPED, NULL);
	end_server(server);
	expect(place, "one stopped -");
	expect_nothing(place);
}

static void put_held(const struct scene *place, const char *base, enum hold kind, const char *boot)
{
	cleanup_instance struct instance *instance = new_instance(base, base);
	instance->desired = DESIRED_RUNNING;
	instance->observed.state = STATE_ERROR;
	replace_string(&instance->observed.boot_id, boot);
	restart_hold(instance, kind, "why");
	assert_int_equal(create_instance(place->deck.store, instance, NULL), 0);
}

/* recover restarts it. */
static void a_background_hold_of_an_earlier_boot_is_lost_and_no_other(void **state)
{
	struct scene *place = *state;
	const char *earlier = "00000000-0000-4000-8000-000000000000";
	put_held(place, "aaaa0011", HOLD_BACKGROUND, process_boot_id());
	put_held(place, "aaaa0012", HOLD_LOGIN, earlier);
	open_roster(place, &own);
	look(place);
	assert_int_equal(roster_lost(place->roster).in_restart, 0);
	put_held(place, "aaaa0013", HOLD_BACKGROUND, earlier);
	look(place);
	const struct lost lost = roster_lost(place->roster);
	assert_int_equal(lost.in_restart, 1);
	assert_int_equal(lost.otherwise, 0);
}

static void only_those_that_are_wished_are_followed(void **state)
{
	struct scene *place = *state;
	cleanup_strvec struct strvec ids = { 0 };
	make(place->deck.store, "0123abcd", "one");
	make(place->deck.store, "0123abce", "two");
	strvec_push(&ids, "0123abce");
	open_roster(place, &(struct roster_order){ .profile = "default", .ids = &ids });
	assert_known(place, "two stopped -");
	set_state(place, "0123abcd", STATE_ERROR, NULL);
	expect_nothing(place);
	set_state(place, "0123abce", STATE_ERROR, NULL);
	expect(place, "two error -");
	remove_instance(place, "0123abce");
	expect(place, "two removed -");
	assert_known(place, "");
}

static void other_profiles_are_not_told_of(void **state)
{
	struct scene *place = *state;
	cleanup_store struct store *other = NULL;
	open_roster(place, &own);
	assert_int_equal(store_open(place->deck.paths.state, "other", &other, NULL), 0);
	make(other, "0123abcd", "far");
	expect_nothing(place);
}

static void every_profile_is_followed_also_one_that_is_made_later(void **state)
{
	struct scene *place = *state;
	cleanup_store struct store *other = NULL, *late = NULL;
	assert_int_equal(store_open(place->deck.paths.state, "other", &other, NULL), 0);
	make(other, "0123abcd", "far");
	open_roster(place, &(struct roster_order){ 0 });
	expect_nothing(place);
	rename_instance(other, "0123abcd", "away");
	expect(place, "away stopped -");
	assert_int_equal(store_open(place->deck.paths.state, "late", &late, NULL), 0);
	make(late, "0123abcd", "new");
	expect(place, "new stopped -");
	make(place->deck.store, "0123abcd", "own");
	expect(place, "own stopped -");
}

static void remove_profile(const struct scene *place, const char *name)
{
	cleanup_error struct error err = { 0 };
	if (deck_remove_profile(&place->deck, name, &err) < 0)
		fail_msg("%s", err.message);
}

static bool profile_exists(const struct scene *place, const char *name)
{
	cleanup_free char *path = path_join(place->deck.paths.state, name);
	return access(path, F_OK) == 0;
}

static void a_profile_that_is_made_again_is_followed(void **state)
{
	struct scene *place = *state;
	cleanup_store struct store *first = NULL, *second = NULL;
	assert_int_equal(store_open(place->deck.paths.state, "work", &first, NULL), 0);
	make(first, "0123abcd", "one");
	open_roster(place, &(struct roster_order){ 0 });
	remove_instance_of(first, "0123abcd");
	expect(place, "one removed -");
	remove_profile(place, "work");
	expect_nothing(place);
	/* It does not come back because somebody looks. */
	assert_false(profile_exists(place, "work"));
	assert_int_equal(store_open(place->deck.paths.state, "work", &second, NULL), 0);
	make(second, "0123abce", "two");
	expect(place, "two stopped -");
	rename_instance(second, "0123abce", "three");
	expect(place, "three stopped -");
	assert_known(place, "three stopped -");
}

static void what_a_replaced_profile_held_is_removed(void **state)
{
	struct scene *place = *state;
	cleanup_store struct store *first = NULL, *second = NULL;
	assert_int_equal(store_open(place->deck.paths.state, "work", &first, NULL), 0);
	make(first, "0123abcd", "one");
	open_roster(place, &(struct roster_order){ 0 });
	/* Its user restores it from a backup. */
	const int directory = store_state_directory(first);
	assert_int_equal(renameat(directory, "work", directory, ".aside"), 0);
	assert_int_equal(store_open(place->deck.paths.state, "work", &second, NULL), 0);
	make(second, "0123abcd", "older");
	while (is_told_within(place, SOON_MS))
		;
	assert_known(place, "older stopped -");
	rename_instance(second, "0123abcd", "newer");
	expect(place, "newer stopped -");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(the_next_that_waits_is_by_need_and_then_by_time),
		PLACE_TEST(only_what_differs_is_a_change),
		PLACE_TEST(sessions_and_profiles_are_kept_apart),
		PLACE_TEST(a_new_title_is_a_change_and_a_new_time_is_none),
		PLACE_TEST(what_was_removed_is_told_once_and_may_come_again),
		PLACE_TEST(what_changes_before_it_watches_is_told),
		PLACE_TEST(what_changes_nothing_is_an_event_all_the_same),
		PLACE_TEST(a_server_without_its_agent_is_made_to_look),
		PLACE_TEST(a_damaged_manifest_is_shown_until_it_is_mended),
		PLACE_TEST(there_is_no_history_and_each_change_is_told_once),
		PLACE_TEST(sessions_that_come_later_are_followed_with_their_runs),
		PLACE_TEST(an_end_that_was_asked_for_is_told_once),
		PLACE_TEST(the_manifest_is_older_than_the_end_that_it_tells_of),
		PLACE_TEST(a_background_hold_of_an_earlier_boot_is_lost_and_no_other),
		PLACE_TEST(only_those_that_are_wished_are_followed),
		PLACE_TEST(other_profiles_are_not_told_of),
		PLACE_TEST(every_profile_is_followed_also_one_that_is_made_later),
		PLACE_TEST(a_profile_that_is_made_again_is_followed),
		PLACE_TEST(what_a_replaced_profile_held_is_removed),
	};
	return cmocka_run_group_tests_name("roster", tests, NULL, NULL);
}
