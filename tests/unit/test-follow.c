/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * src/driver/follow/follow.h, with real directories and the real store.
 */
#include "unit/store-fixture.h"

#include "driver/follow/follow.h"

#include <poll.h>
#include <sched.h>

enum { MANY = 10000 };

/* The events, one text each: "manifest default/aaaaaaa1", "all". */
struct told {
	struct strvec events;
	struct follow *follow;
	const char *run; /* follow this run directory for each manifest event */
};

static const char *const words[] = {
	[FOLLOW_MANIFEST] = "manifest", [FOLLOW_REMOVED] = "removed",
	[FOLLOW_ACTIVITY] = "activity", [FOLLOW_OUTPUT] = "output",
	[FOLLOW_ALL] = "all",
};

static void note(const struct follow_event *event, void *context)
{
	struct told *told = context;
	if (event->what == FOLLOW_ALL) {
		assert_null(event->profile);
		assert_null(event->base);
		strvec_push(&told->events, words[event->what]);
		return;
	}
	strvec_pushf(&told->events, "%s %s/%s", words[event->what], event->profile, event->base);
	if (told->run && event->what == FOLLOW_MANIFEST)
		assert_int_equal(
			follow_run(told->follow, event->profile, event->base, told->run, NULL), 0);
}

static struct follow *follow_state(const struct fixture *fixture, const char *profile)
{
	struct follow *follow = NULL;
	struct error err = { 0 };
	if (follow_open(fixture->root, profile, &follow, &err) != 0)
		fail_msg("%s", err.message);
	return follow;
}

static bool is_readable(const struct follow *follow)
{
	struct pollfd event = { .fd = follow_descriptor(follow), .events = POLLIN };
	return poll(&event, 1, 0) == 1;
}

/* The events since the last time, joined by ", ".  The caller frees. */
static char *events_of(struct follow *follow)
{
	struct told told = { .follow = follow };
	struct strbuf text = { 0 };
	struct error err = { 0 };
	if (follow_read(follow, note, &told, &err) != 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < told.events.count; i++)
		strbuf_addf(&text, "%s%s", i > 0 ? ", " : "", told.events.items[i]);
	strvec_clear(&told.events);
	return strbuf_take(&text);
}

static void expect(struct follow *follow, const char *events)
{
	cleanup_free char *text = events_of(follow);
	assert_string_equal(text, events);
}

static void remove_instance(struct store *store, const char *base)
{
	assert_int_equal(store_remove(lock_of(store, base), NULL), 0);
}

static struct store *other_profile(const struct fixture *fixture, const char *name)
{
	struct store *store = NULL;
	assert_int_equal(store_open(fixture->root, name, &store, NULL), 0);
	return store;
}

static int at_profile(const struct fixture *fixture)
{
	return store_profile_directory(fixture->store);
}

static void make_directory(const struct fixture *fixture, const char *name)
{
	assert_int_equal(mkdirat(at_profile(fixture), name, 0700), 0);
}

static void move(const struct fixture *fixture, const char *from, const char *to)
{
	assert_int_equal(renameat(at_profile(fixture), from, at_profile(fixture), to), 0);
}

/* Number of watches that the kernel has for this descriptor (proc(5), fdinfo). */
static size_t watches_of(const struct follow *follow)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = xasprintf("/proc/self/fdinfo/%d", follow_descriptor(follow));
	size_t count = 0;
	assert_int_equal(fs_read(AT_FDCWD, path, 64 << 20, &text, NULL), 0);
	for (const char *at = strstr(text.data, "inotify wd:"); at;
	     at = strstr(at + 1, "inotify wd:"))
		count++;
	return count;
}

/* --- manifests -------------------------------------------------------------------------------- */

static void what_is_there_already_gives_nothing(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_false(is_readable(follow));
	expect(follow, "");
}

static void a_new_instance_is_told_once(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	make(fixture->store, "aaaaaaa1", "one");
	assert_true(is_readable(follow));
	expect(follow, "manifest default/aaaaaaa1");
	expect(follow, "");
}

static void a_change_is_told_once_for_each_write(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	make(fixture->store, "aaaaaaa2", "two");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	rename_instance(fixture->store, "aaaaaaa1", "uno");
	expect(follow, "manifest default/aaaaaaa1");
	rename_instance(fixture->store, "aaaaaaa1", "eins");
	rename_instance(fixture->store, "aaaaaaa1", "un");
	rename_instance(fixture->store, "aaaaaaa2", "due");
	rename_instance(fixture->store, "aaaaaaa1", "ichi");
	expect(follow,
	       "manifest default/aaaaaaa1, manifest default/aaaaaaa2, manifest default/aaaaaaa1");
}

static void an_instance_that_is_made_later_is_followed(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	make(fixture->store, "aaaaaaa1", "one");
	expect(follow, "manifest default/aaaaaaa1");
	rename_instance(fixture->store, "aaaaaaa1", "uno");
	expect(follow, "manifest default/aaaaaaa1");
}

static void a_manifest_that_comes_after_its_directory_is_told(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	make_directory(fixture, "aaaaaaa1");
	expect(follow, "");
	put_content(fixture->store, "aaaaaaa1/.tmp-1", "{}");
	expect(follow, "");
	move(fixture, "aaaaaaa1/.tmp-1", "aaaaaaa1/instance.json");
	expect(follow, "manifest default/aaaaaaa1");
}

static void a_manifest_that_is_set_aside_is_told(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	move(fixture, "aaaaaaa1/instance.json", "aaaaaaa1/instance.json.damaged-1");
	expect(follow, "manifest default/aaaaaaa1");
}

static void other_files_of_an_instance_are_not_told(void **state)
{
	struct fixture *fixture = *state;
	struct store_rows rows = { 0 };
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	put_content(fixture->store, "aaaaaaa1/notes", "x");
	move(fixture, "aaaaaaa1/notes", "aaaaaaa1/activity.json");
	assert_int_equal(store_list(fixture->store, &rows, NULL), 0);
	store_rows_free(&rows);
	sweep(fixture->store);
	expect(follow, "");
}

/* --- removal ---------------------------------------------------------------------------------- */

static void a_removed_instance_is_told_and_leaves_no_watch(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	make(fixture->store, "aaaaaaa1", "one");
	expect(follow, "manifest default/aaaaaaa1");
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", "/", NULL), 0);
	remove_instance(fixture->store, "aaaaaaa1");
	expect(follow, "removed default/aaaaaaa1");
	assert_int_equal(watches_of(follow), before);
	expect(follow, "");
}

static void an_instance_that_comes_and_goes_unseen_is_not_told(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	make(fixture->store, "aaaaaaa1", "one");
	remove_instance(fixture->store, "aaaaaaa1");
	expect(follow, "");
}

static void an_instance_of_the_same_name_again_is_followed(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	remove_instance(fixture->store, "aaaaaaa1");
	make(fixture->store, "aaaaaaa1", "one again");
	expect(follow, "removed default/aaaaaaa1, manifest default/aaaaaaa1");
	rename_instance(fixture->store, "aaaaaaa1", "uno");
	expect(follow, "manifest default/aaaaaaa1");
	assert_int_equal(watches_of(follow), before);
}

static void a_directory_without_a_manifest_goes_untold(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	make_directory(fixture, "aaaaaaa1");
	expect(follow, "");
	assert_int_equal(unlinkat(at_profile(fixture), "aaaaaaa1", AT_REMOVEDIR), 0);
	expect(follow, "");
}

static void a_renamed_directory_is_followed_by_its_new_name(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	move(fixture, "aaaaaaa1", "bbbbbbb1");
	expect(follow, "removed default/aaaaaaa1, manifest default/bbbbbbb1");
	move(fixture, "bbbbbbb1/instance.json", "bbbbbbb1/.old");
	expect(follow, "manifest default/bbbbbbb1");
}

static void two_directories_that_change_places_are_both_followed(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	make(fixture->store, "bbbbbbb1", "two");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(renameat2(at_profile(fixture), "aaaaaaa1", at_profile(fixture), "bbbbbbb1",
				   RENAME_EXCHANGE),
			 0);
	free(events_of(follow));
	move(fixture, "aaaaaaa1/instance.json", "aaaaaaa1/.old");
	move(fixture, "bbbbbbb1/instance.json", "bbbbbbb1/.old");
	expect(follow, "manifest default/aaaaaaa1, manifest default/bbbbbbb1");
}

/* --- profiles --------------------------------------------------------------------------------- */

static void a_new_profile_is_followed(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	struct store *store = other_profile(fixture, "work");
	make(store, "aaaaaaa1", "one");
	expect(follow, "manifest work/aaaaaaa1");
	make(store, "aaaaaaa2", "two");
	expect(follow, "manifest work/aaaaaaa2");
	store_close(store);
}

static void of_one_profile_only_that_is_told(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, "work");
	make(fixture->store, "aaaaaaa1", "one");
	expect(follow, "");
	/* It is made after the watch was asked for. */
	struct store *store = other_profile(fixture, "work");
	make(store, "bbbbbbb1", "two");
	expect(follow, "manifest work/bbbbbbb1");
	store_close(store);
}

static void a_profile_that_goes_takes_its_instances_along(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = other_profile(fixture, "work");
	make(store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	assert_int_equal(renameat(store_state_directory(store), "work",
				  store_state_directory(store), "play"),
			 0);
	expect(follow, "removed work/aaaaaaa1, manifest play/aaaaaaa1");
	assert_int_equal(watches_of(follow), before);
	assert_int_equal(fs_remove_tree(store_state_directory(store), "play", NULL), 0);
	cleanup_free char *text = events_of(follow);
	assert_true(ends_with(text, "removed play/aaaaaaa1"));
	store_close(store);
	expect(follow, "");
	assert_int_equal(watches_of(follow), before - 2);
}

static void what_stands_beside_profiles_is_left_alone(void **state)
{
	struct fixture *fixture = *state;
	int at = store_state_directory(fixture->store);
	assert_int_equal(mkdirat(at, "logs", 0700), 0);
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	assert_int_equal(mkdirat(at, "hooks", 0700), 0);
	assert_int_equal(mkdirat(at, "hooks/aaaaaaa1", 0700), 0);
	assert_int_equal(fs_replace(at, "config.toml", "", 0, FS_VOLATILE, NULL), 0);
	expect(follow, "");
	assert_int_equal(watches_of(follow), before);
}

static void a_state_directory_that_is_not_there_is_made(void **state)
{
	struct fixture *fixture = *state;
	struct follow *follow = NULL;
	cleanup_free char *path = path_join(fixture->root, "new/state");
	assert_int_equal(follow_open(path, NULL, &follow, NULL), 0);
	struct store *store = NULL;
	assert_int_equal(store_open(path, "default", &store, NULL), 0);
	make(store, "aaaaaaa1", "one");
	expect(follow, "manifest default/aaaaaaa1");
	store_close(store);
	follow_close(follow);
}

static void a_state_directory_that_cannot_be_is_an_error(void **state UNUSED)
{
	struct follow *follow = NULL;
	cleanup_error struct error err = { 0 };
	assert_true(follow_open("/dev/null/state", NULL, &follow, &err) < 0);
	assert_int_equal(err.code, ERROR_SYSTEM);
	assert_null(follow);
}

static void a_state_directory_that_goes_is_an_error_after_what_it_took_along(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };
	cleanup_error struct error err = { 0 }, again = { 0 };
	cleanup_free char *moved = xasprintf("%s.moved", fixture->root);
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(rename(fixture->root, moved), 0);
	assert_true(is_readable(follow));
	assert_true(follow_read(follow, note, &told, &err) < 0);
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_int_equal(told.events.count, 1);
	assert_string_equal(told.events.items[0], "removed default/aaaaaaa1");
	assert_true(follow_read(follow, note, &told, &again) < 0);
	assert_int_equal(told.events.count, 1);
	strvec_clear(&told.events);
	assert_int_equal(rename(moved, fixture->root), 0);
}

/* --- activity --------------------------------------------------------------------------------- */

/* A run directory outside of the state.  The caller removes and frees it. */
static char *make_run(void)
{
	char path[] = "/tmp/agentdeck-run-XXXXXX";
	assert_non_null(mkdtemp(path));
	return xstrdup(path);
}

static void remove_run(char *run)
{
	assert_int_equal(fs_remove_tree(AT_FDCWD, run, NULL), 0);
	free(run);
}

static void say(const char *run, const char *name)
{
	cleanup_close int fd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(fs_replace(fd, name, "{}", 2, FS_VOLATILE, NULL), 0);
}

static void what_an_agent_says_is_told(void **state)
{
	struct fixture *fixture = *state;
	char *run = make_run();
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	say(run, "activity.json");
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", run, NULL), 0);
	expect(follow, "");
	say(run, "activity.json");
	say(run, "settings.json");
	expect(follow, "activity default/aaaaaaa1");
	rename_instance(fixture->store, "aaaaaaa1", "uno");
	say(run, "activity.json");
	expect(follow, "manifest default/aaaaaaa1, activity default/aaaaaaa1");
	remove_run(run);
}

/* Both ends of a pseudoterminal, and the path of the one in which a program prints. */
struct terminal {
	int master, slave;
	const char *path;
};

static struct terminal open_terminal(void)
{
	struct terminal terminal = { .master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };
	assert_true(terminal.master >= 0);
	assert_int_equal(grantpt(terminal.master) | unlockpt(terminal.master), 0);
	terminal.path = ptsname(terminal.master);
	terminal.slave = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal.slave >= 0);
	return terminal;
}

static void what_an_agent_prints_is_told_once_for_each_call(void **state)
{
	struct fixture *fixture = *state;
	struct terminal terminal = open_terminal();
	char read_back[8];
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(follow_terminal(follow, "default", "aaaaaaa1", terminal.path, NULL), 0);
	/* What its user types is no output. */
	assert_int_equal(write(terminal.master, "y\n", 2), 2);
	assert_int_equal(read(terminal.slave, read_back, sizeof(read_back)), 2);
	expect(follow, "");
	assert_int_equal(write(terminal.slave, "one", 3), 3);
	assert_int_equal(write(terminal.slave, "two", 3), 3);
	expect(follow, "output default/aaaaaaa1");
	assert_int_equal(write(terminal.slave, "three", 5), 5);
	assert_false(is_readable(follow));
	assert_int_equal(follow_terminal(follow, "default", "aaaaaaa1", terminal.path, NULL), 0);
	expect(follow, "");
	assert_int_equal(write(terminal.slave, "four", 4), 4);
	expect(follow, "output default/aaaaaaa1");
	assert_int_equal(follow_terminal(follow, "default", "aaaaaaa1", terminal.path, NULL), 0);
	assert_int_equal(follow_terminal(follow, "default", "aaaaaaa1", NULL, NULL), 0);
	assert_int_equal(write(terminal.slave, "five", 4), 4);
	expect(follow, "");
	(void)close(terminal.slave);
	(void)close(terminal.master);
}

static void only_the_latest_run_is_followed(void **state)
{
	struct fixture *fixture = *state;
	char *run = make_run(), *next = make_run();
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", run, NULL), 0);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", next, NULL), 0);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", next, NULL), 0);
	say(run, "activity.json");
	expect(follow, "");
	say(next, "activity.json");
	expect(follow, "activity default/aaaaaaa1");
	assert_int_equal(watches_of(follow), before + 1);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", NULL, NULL), 0);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", NULL, NULL), 0);
	say(next, "activity.json");
	expect(follow, "");
	assert_int_equal(watches_of(follow), before);
	remove_run(run);
	remove_run(next);
}

static void a_run_directory_that_goes_and_comes_can_be_followed_again(void **state)
{
	struct fixture *fixture = *state;
	char *run = make_run();
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", run, NULL), 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, run, NULL), 0);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", run, NULL), FOLLOW_ABSENT);
	assert_int_equal(mkdir(run, 0700), 0);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", run, NULL), 0);
	expect(follow, "");
	say(run, "activity.json");
	expect(follow, "activity default/aaaaaaa1");
	remove_run(run);
}

static void a_run_directory_that_is_followed_for_what_it_is_is_absent(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", fixture->root, NULL),
			 FOLLOW_ABSENT);
	struct store *store = other_profile(fixture, "work");
	make(store, "bbbbbbb1", "two");
	expect(follow, "manifest work/bbbbbbb1");
	store_close(store);
}

static void a_run_of_no_instance_is_absent(void **state)
{
	struct fixture *fixture = *state;
	struct error err = { 0 };
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", fixture->root, &err),
			 FOLLOW_ABSENT);
	assert_int_equal(follow_run(follow, "nowhere", "aaaaaaa1", fixture->root, &err),
			 FOLLOW_ABSENT);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa1", NULL, &err), 0);
	assert_int_equal(watches_of(follow), before);
	assert_int_equal(err.code, ERROR_NONE);
}

static void the_run_of_an_instance_that_was_not_told_yet_is_followed(void **state)
{
	struct fixture *fixture = *state;
	char *run = make_run();
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	struct store *store = other_profile(fixture, "work");
	make(store, "aaaaaaa1", "one");
	assert_int_equal(follow_run(follow, "work", "aaaaaaa1", run, NULL), 0);
	say(run, "activity.json");
	expect(follow, "manifest work/aaaaaaa1, activity work/aaaaaaa1");
	store_close(store);
	remove_run(run);
}

static void a_handler_may_follow_a_run(void **state)
{
	struct fixture *fixture = *state;
	char *run = make_run();
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	struct told told = { .follow = follow, .run = run };
	make(fixture->store, "aaaaaaa1", "one");
	assert_int_equal(follow_read(follow, note, &told, NULL), 0);
	assert_int_equal(told.events.count, 1);
	strvec_clear(&told.events);
	say(run, "activity.json");
	expect(follow, "activity default/aaaaaaa1");
	remove_run(run);
}

static void a_link_is_never_followed(void **state)
{
	struct fixture *fixture = *state;
	int at = store_state_directory(fixture->store);
	char *elsewhere = make_run();
	make(fixture->store, "aaaaaaa1", "one");
	assert_int_equal(symlinkat(".", at, "loop"), 0);
	assert_int_equal(symlinkat(elsewhere, at, "profile"), 0);
	assert_int_equal(symlinkat("..", at_profile(fixture), "up"), 0);
	assert_int_equal(symlinkat(elsewhere, at_profile(fixture), "aaaaaaa2"), 0);
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(watches_of(follow), 3);
	assert_int_equal(symlinkat(elsewhere, at, "later"), 0);
	assert_int_equal(symlinkat(elsewhere, at_profile(fixture), "aaaaaaa3"), 0);
	rename_instance(fixture->store, "aaaaaaa1", "uno");
	say(elsewhere, "instance.json");
	expect(follow, "manifest default/aaaaaaa1");
	assert_int_equal(watches_of(follow), 3);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa2", elsewhere, NULL), FOLLOW_ABSENT);
	remove_run(elsewhere);
}

/* --- limits ----------------------------------------------------------------------------------- */

static int64_t sysctl_value(const char *path)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int64_t value;
	assert_int_equal(fs_read(AT_FDCWD, path, 4096, &text, NULL), 0);
	text.data[text.length - 1] = '\0';
	assert_true(parse_int64(text.data, 1, INT64_MAX, &value));
	return value;
}

/* More than the kernel keeps.  Each rename is two events; of two equal ones the kernel would keep
 * one. */
static void overrun(const struct fixture *fixture)
{
	int64_t count = sysctl_value("/proc/sys/fs/inotify/max_queued_events");
	put_content(fixture->store, ".noise", "");
	for (int64_t i = 0; i < count / 4 + 1; i++) {
		move(fixture, ".noise", ".silence");
		move(fixture, ".silence", ".noise");
	}
}

static void a_queue_that_ran_over_is_told_as_all(void **state)
{
	struct fixture *fixture = *state;
	char *run = make_run();
	make(fixture->store, "aaaaaaa1", "one");
	make(fixture->store, "aaaaaaa2", "two");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(follow_run(follow, "default", "aaaaaaa2", run, NULL), 0);
	size_t before = watches_of(follow);
	overrun(fixture);
	/* The kernel reports none of these. */
	remove_instance(fixture->store, "aaaaaaa1");
	make(fixture->store, "aaaaaaa3", "three");
	struct store *store = other_profile(fixture, "work");
	make(store, "bbbbbbb1", "four");
	expect(follow, "all");
	expect(follow, "");
	rename_instance(fixture->store, "aaaaaaa3", "tr");
	rename_instance(store, "bbbbbbb1", "quattro");
	say(run, "activity.json");
	expect(follow,
	       "manifest default/aaaaaaa3, manifest work/bbbbbbb1, activity default/aaaaaaa2");
	assert_int_equal(watches_of(follow), before + 2);
	store_close(store);
	remove_run(run);
}

static void after_all_what_went_meanwhile_is_forgotten(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	make(fixture->store, "aaaaaaa2", "two");
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	overrun(fixture);
	remove_instance(fixture->store, "aaaaaaa1");
	move(fixture, "aaaaaaa2", "bbbbbbb2");
	expect(follow, "all");
	make_directory(fixture, "aaaaaaa1");
	assert_int_equal(unlinkat(at_profile(fixture), "aaaaaaa1", AT_REMOVEDIR), 0);
	expect(follow, "");
	move(fixture, "bbbbbbb2/instance.json", "bbbbbbb2/.old");
	expect(follow, "manifest default/bbbbbbb2");
}

static void ten_thousand_instances_are_followed(void **state)
{
	struct fixture *fixture = *state;
	if (sysctl_value("/proc/sys/fs/inotify/max_user_watches") < MANY + 100)
		skip();
	put_content(fixture->store, ".manifest", "{}");
	for (int i = 0; i < MANY; i++) {
		cleanup_free char *name = xasprintf("a%d", i);
		cleanup_free char *manifest = manifest_of(name);
		make_directory(fixture, name);
		assert_int_equal(linkat(at_profile(fixture), ".manifest", at_profile(fixture),
					manifest, 0),
				 0);
	}
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	assert_int_equal(watches_of(follow), MANY + 2);
	move(fixture, "a9999/instance.json", "a9999/.new");
	move(fixture, "a9999/.new", "a9999/instance.json");
	move(fixture, "a1234", ".removed-a1234");
	expect(follow, "manifest default/a9999, removed default/a1234");
	overrun(fixture);
	expect(follow, "all");
	assert_int_equal(watches_of(follow), MANY + 1);
}

static bool put_number(const char *path, int number)
{
	cleanup_free char *text = xasprintf("%d", number);
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

enum { DONE, CANNOT_LIMIT = 77 };

/* In a new user namespace, which has its own limits. */
static bool limit(const char *name, int number)
{
	cleanup_free char *path = xasprintf("/proc/sys/user/%s", name);
	cleanup_free char *map = xasprintf("0 %u 1", (unsigned)getuid());
	if (unshare(CLONE_NEWUSER) < 0)
		return false;
	int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	bool is_mapped = fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map);
	if (fd >= 0)
		(void)close(fd);
	return is_mapped && put_number(path, number);
}

static int open_without_instances(void *data)
{
	const struct fixture *fixture = data;
	struct follow *follow = NULL;
	struct error err = { 0 };
	if (!limit("max_inotify_instances", 0))
		return CANNOT_LIMIT;
	int r = follow_open(fixture->root, NULL, &follow, &err);
	bool is_right = r < 0 && !follow && err.code == ERROR_UNAVAILABLE &&
			strstr(err.message, "fs.inotify.max_user_instances");
	error_clear(&err);
	return is_right ? DONE : 1;
}

static int open_without_watches(void *data)
{
	const struct fixture *fixture = data;
	struct follow *follow = NULL;
	struct error err = { 0 };
	/* The state directory, the profile, and one of two instances. */
	if (!limit("max_inotify_watches", 3))
		return CANNOT_LIMIT;
	int r = follow_open(fixture->root, NULL, &follow, &err);
	bool is_right = r < 0 && !follow && err.code == ERROR_UNAVAILABLE &&
			strstr(err.message, "fs.inotify.max_user_watches");
	error_clear(&err);
	return is_right ? DONE : 1;
}

static int read_without_watches(void *data)
{
	const struct fixture *fixture = data;
	struct follow *follow = NULL;
	struct error err = { 0 };
	struct told told = { 0 };
	if (!limit("max_inotify_watches", 4))
		return CANNOT_LIMIT;
	if (follow_open(fixture->root, NULL, &follow, &err) != 0)
		return 2;
	/* No assertions in a child: after a failure cmocka would run the next test in it. */
	int at = at_profile(fixture);
	if (mkdirat(at, "bbbbbbb1", 0700) < 0 ||
	    renameat(at, "aaaaaaa1/instance.json", at, "aaaaaaa1/.old") < 0)
		return 3;
	int r = follow_read(follow, note, &told, &err);
	bool is_right = r < 0 && err.code == ERROR_UNAVAILABLE && told.events.count == 1 &&
			streq(told.events.items[0], "manifest default/aaaaaaa1");
	error_clear(&err);
	/* The next one does not repeat it. */
	if (mkdirat(at, "bbbbbbb2", 0700) < 0)
		return 3;
	r = follow_read(follow, note, &told, &err);
	follow_close(follow);
	strvec_clear(&told.events);
	return is_right && r == 0 ? DONE : 1;
}

static void expect_in_child(struct fixture *fixture, int (*function)(void *data))
{
	make(fixture->store, "aaaaaaa1", "one");
	make(fixture->store, "aaaaaaa2", "two");
	int status = end_of_child(start_child(function, fixture));
	if (status == CANNOT_LIMIT)
		skip();
	assert_int_equal(status, DONE);
}

static void too_few_inotify_instances_are_unavailable(void **state)
{
	expect_in_child(*state, open_without_instances);
}

static void too_few_watches_are_unavailable(void **state)
{
	expect_in_child(*state, open_without_watches);
}

static void too_few_watches_later_are_said_once_and_the_rest_is_told(void **state)
{
	expect_in_child(*state, read_without_watches);
}

/* --- races ------------------------------------------------------------------------------------ */

static int make_and_remove(void *data)
{
	const struct fixture *fixture = data;
	for (int i = 0; i < 300; i++) {
		cleanup_free char *name = xasprintf("aaaaaaa%d", i % 7);
		cleanup_instance struct instance *instance = new_instance(name, name);
		if (create_instance(fixture->store, instance, NULL) != 0)
			return 1;
		struct store_lock *lock = NULL;
		if (store_lock(fixture->store, name, clock_ms() + LONG_MS, &lock, NULL) != 0)
			return 2;
		if (i == 299)
			store_unlock(lock);
		else if (store_remove(lock, NULL) != 0)
			return 3;
	}
	return 0;
}

static void what_vanishes_while_it_is_looked_at_does_no_harm(void **state)
{
	struct fixture *fixture = *state;
	cleanup_follow struct follow *follow = follow_state(fixture, NULL);
	size_t before = watches_of(follow);
	struct told told = { .follow = follow };
	pid_t child = start_child(make_and_remove, fixture);
	struct process_id id = { 0 };
	while (process_identify(child, &id, NULL) == 0)
		assert_int_equal(follow_read(follow, note, &told, NULL), 0);
	assert_int_equal(end_of_child(child), 0);
	assert_int_equal(follow_read(follow, note, &told, NULL), 0);
	/* The last one is still there. */
	assert_true(told.events.count > 0);
	assert_string_equal(told.events.items[told.events.count - 1], "manifest default/aaaaaaa5");
	assert_int_equal(watches_of(follow), before + 1);
	strvec_clear(&told.events);
	rename_instance(fixture->store, "aaaaaaa5", "cinque");
	expect(follow, "manifest default/aaaaaaa5");
}

static void closing_leaves_no_descriptor(void **state)
{
	struct fixture *fixture = *state;
	make(fixture->store, "aaaaaaa1", "one");
	int before = fcntl(0, F_DUPFD_CLOEXEC, 3);
	(void)close(before);
	follow_close(follow_state(fixture, NULL));
	follow_close(NULL);
	int after = fcntl(0, F_DUPFD_CLOEXEC, 3);
	(void)close(after);
	assert_int_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(what_is_there_already_gives_nothing),
		STORE_TEST(a_new_instance_is_told_once),
		STORE_TEST(a_change_is_told_once_for_each_write),
		STORE_TEST(an_instance_that_is_made_later_is_followed),
		STORE_TEST(a_manifest_that_comes_after_its_directory_is_told),
		STORE_TEST(a_manifest_that_is_set_aside_is_told),
		STORE_TEST(other_files_of_an_instance_are_not_told),
		STORE_TEST(a_removed_instance_is_told_and_leaves_no_watch),
		STORE_TEST(an_instance_that_comes_and_goes_unseen_is_not_told),
		STORE_TEST(an_instance_of_the_same_name_again_is_followed),
		STORE_TEST(a_directory_without_a_manifest_goes_untold),
		STORE_TEST(a_renamed_directory_is_followed_by_its_new_name),
		STORE_TEST(two_directories_that_change_places_are_both_followed),
		STORE_TEST(a_new_profile_is_followed),
		STORE_TEST(of_one_profile_only_that_is_told),
		STORE_TEST(a_profile_that_goes_takes_its_instances_along),
		STORE_TEST(what_stands_beside_profiles_is_left_alone),
		STORE_TEST(a_link_is_never_followed),
		STORE_TEST(a_state_directory_that_is_not_there_is_made),
		STORE_TEST(a_state_directory_that_cannot_be_is_an_error),
		STORE_TEST(a_state_directory_that_goes_is_an_error_after_what_it_took_along),
		STORE_TEST(what_an_agent_says_is_told),
		STORE_TEST(what_an_agent_prints_is_told_once_for_each_call),
		STORE_TEST(only_the_latest_run_is_followed),
		STORE_TEST(a_run_directory_that_goes_and_comes_can_be_followed_again),
		STORE_TEST(a_run_directory_that_is_followed_for_what_it_is_is_absent),
		STORE_TEST(a_run_of_no_instance_is_absent),
		STORE_TEST(the_run_of_an_instance_that_was_not_told_yet_is_followed),
		STORE_TEST(a_handler_may_follow_a_run),
		STORE_TEST(a_queue_that_ran_over_is_told_as_all),
		STORE_TEST(after_all_what_went_meanwhile_is_forgotten),
		STORE_TEST(ten_thousand_instances_are_followed),
		STORE_TEST(too_few_inotify_instances_are_unavailable),
		STORE_TEST(too_few_watches_are_unavailable),
		STORE_TEST(too_few_watches_later_are_said_once_and_the_rest_is_told),
		STORE_TEST(what_vanishes_while_it_is_looked_at_does_no_harm),
		STORE_TEST(closing_leaves_no_descriptor),
	};
	/* Use memory: the test is about the kernel's events, and ten thousand directories take long
	 * on a disk. */
	if (access("/dev/shm", W_OK) == 0)
		(void)setenv("TMPDIR", "/dev/shm", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
