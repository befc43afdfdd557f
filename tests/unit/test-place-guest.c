/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a session does to another one in the same container: nothing, also where a room was used
 * before, or a manifest cannot be read.
 */
#include "unit/report-fixture.h"

#include "base/child.h"
#include "driver/store/trash.h"
#include "engine/place/alive.h"
#include "engine/place/container/container-internal.h"
#include "engine/place/container/guest.h"
#include "engine/run/change.h"
#include "engine/run/collect.h"

#include <signal.h>
#include <stdlib.h>

/* Of no other test: processes with these ids are looked for on the whole machine. */
#define OWNER "0a9e5701"
#define OTHER "0a9e5702"
#define GUEST "0a9e5703"

/* What capsule_stop() says; FOR_REAL: what it does. */
enum { FOR_REAL = 100 };
static int stop_says;

int __real_capsule_stop(struct capsule *capsule, int grace_ms, struct error *err);
int __wrap_capsule_stop(struct capsule *capsule, int grace_ms, struct error *err);
int __wrap_capsule_stop(struct capsule *capsule, int grace_ms, struct error *err)
{
	return stop_says == FOR_REAL ? __real_capsule_stop(capsule, grace_ms, err) : stop_says;
}

/* ---- sessions -------------------------------------------------------------------------------- */

static struct recipe *some_recipe(const struct desk *desk)
{
	struct recipe *recipe = recipe_new();
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup("unix:///nowhere");
	recipe->image_id = xstrdup("sha256:0");
	recipe->user = xstrdup("1:1");
	recipe->home = xasprintf("%s/home", desk->root);
	recipe->directory = xstrdup(desk->cwd);
	return recipe;
}

static struct instance *owner_of(const struct desk *desk)
{
	struct instance *instance = new_instance(OWNER, "owner");
	replace_string(&instance->backend, PLACE_CONTAINER);
	replace_string(&instance->cwd, desk->cwd);
	instance->recipe = some_recipe(desk);
	return instance;
}

static struct instance *guest_of(const struct desk *desk, const char *id, int64_t room)
{
	struct instance *instance = new_instance(id, id);
	struct recipe *recipe = some_recipe(desk);
	replace_string(&instance->cwd, desk->cwd);
	recipe->within = xstrdup(OWNER);
	recipe->room = room;
	guest_place(instance, recipe);
	return instance;
}

static void save(const struct desk *desk, const struct instance *instance)
{
	struct error err = { 0 };
	if (create_instance(desk->deck.store, instance, &err) < 0)
		fail_msg("%s", err.message);
}

/* A guest that is in the store, in room 1. */
static void put_guest(const struct desk *desk, const char *id)
{
	cleanup_instance struct instance *guest = guest_of(desk, id, 1);
	save(desk, guest);
}

static void damage(const struct desk *desk, const char *id)
{
	cleanup_free char *name = xasprintf("%s/instance.json", id);
	cleanup_close int fd = openat(store_profile_directory(desk->deck.store), name,
				      O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, "{", 1), 1);
}

/* The room, with a token, as a run has left it. */
static char *room_of(const struct desk *desk, const struct instance *owner, int number)
{
	cleanup_close int fd = -1;
	char *room = container_room(&desk->deck, owner, number);
	assert_int_equal(fs_open_private_directory(room, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, CAPSULE_TOKEN, "a-token\n", 8, FS_VOLATILE, NULL), 0);
	return room;
}

/* ---- processes ------------------------------------------------------------------------------- */

static const char *const idle[] = { "/bin/sh", "-c", "echo ready; read x", NULL };

static struct process_id run_as(const char *id, const char *const *argv, struct child *child)
{
	cleanup_free char *whose = xasprintf(ENV_INSTANCE "=%s", id);
	const char *const environment[] = { whose, NULL };
	const struct child_request request = {
		.argv = argv,
		.environment = (char *const *)(uintptr_t)environment,
		.gate = true,
	};
	struct process_id process;
	assert_int_equal(child_start(&request, child, NULL), 0);
	assert_int_equal(process_identify(child->pid, &process, NULL), 0);
	return process;
}

static struct process_id capsule_in(const char *directory, const char *id, struct child *child)
{
	const char *builddir = getenv("top_builddir");
	cleanup_free char *program = path_join(builddir ? builddir : ".", "agentdeck-capsule");
	cleanup_capsule struct capsule *capsule = NULL;
	struct error err = { 0 };
	const struct process_id process = run_as(
		id, (const char *const[]){ program, "init", directory, NULL }, child);
	if (capsule_await(directory, clock_ms() + LONG_MS, &capsule, &err) < 0)
		fail_msg("%s", or_empty(err.message));
	return process;
}

static void finish(const struct process_id *process, struct child *child)
{
	(void)process_signal(process, SIGKILL, NULL);
	child_abandon(child);
}

static void begin_run(const struct desk *desk, struct instance *instance,
		      const struct process_id *server)
{
	instance->run.id = xstrdup("run-1");
	instance->run.directory = xasprintf("%s/run/%s", desk->root, instance->id);
	instance->run.socket = xasprintf("%s/" RUN_SOCKET, instance->run.directory);
	instance->run.boot_id = xstrdup(process_boot_id());
	instance->run.server = *server;
}

static void expect(int result, struct error *err, const char *words)
{
	if ((result < 0) != (words != NULL) || (words && !strstr(err->message, words)))
		fail_msg("%d instead of '%s': %s", result, or_empty(words), or_empty(err->message));
	error_clear(err);
}

/* ---- rooms ----------------------------------------------------------------------------------- */

/* A start that fails ends what it has begun, and its room has the capsule of another session. */
static void a_failed_start_ends_no_other_session(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, GUEST, 1);
	cleanup_free char *room = room_of(desk, owner, 1);
	struct child child;
	const struct process_id other = capsule_in(room, OTHER, &child);
	begin_run(desk, guest, &other);
	guest->run.capsule = xstrdup(room);
	stop_says = FOR_REAL;
	(void)container_end_capsule(&desk->deck, guest, 0, NULL);
	assert_true(process_alive(&other));
	finish(&other, &child);
}

static void its_own_capsule_ends(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, GUEST, 1);
	cleanup_free char *room = room_of(desk, owner, 1);
	struct child child;
	const struct process_id own = capsule_in(room, GUEST, &child);
	begin_run(desk, guest, &own);
	guest->run.capsule = xstrdup(room);
	stop_says = FOR_REAL;
	assert_int_equal(container_end_capsule(&desk->deck, guest, 0, NULL), 0);
	assert_false(process_alive(&own));
	child_abandon(&child);
}

/* A start that was killed can leave the room to another session. */
static void a_run_has_no_capsule_of_another_session(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, GUEST, 1);
	cleanup_free char *room = room_of(desk, owner, 1);
	const struct attempt attempt = { .argv = guest->argv };
	const struct agent *agent;
	struct error err = { 0 };
	struct child child;
	save(desk, guest);
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, GUEST);
	const struct process_id other = capsule_in(room, OTHER, &child);
	begin_run(desk, guest, &other);
	run_add_attempt(&guest->run, &attempt);
	guest->run.capsule = xstrdup(room);
	assert_int_equal(deck_agent(&desk->deck, guest->agent, &agent, NULL), 0);
	expect(container_begin_attempt(&desk->deck, lock, guest, agent, &err), &err,
	       "does not answer");
	assert_int_not_equal(container_observe(&desk->deck, guest, OBSERVE_ANSWER).presence,
			     PRESENCE_ALIVE);
	finish(&other, &child);
}

static int64_t saved_room(const struct desk *desk)
{
	cleanup_instance struct instance *saved = NULL;
	assert_int_equal(store_load(desk->deck.store, GUEST, &saved, NULL), 0);
	return saved->recipe->room;
}

/* The session that is there cannot be read. */
static void a_start_takes_no_room_in_which_a_capsule_answers(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, GUEST, 1);
	cleanup_error struct error err = { 0 };
	struct child child;
	save(desk, owner);
	save(desk, guest);
	cleanup_free char *room = room_of(desk, owner, 1);
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, GUEST);
	if (guest_follow(&desk->deck, lock, guest, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(guest->recipe->room, 1);
	const struct process_id other = capsule_in(room, OTHER, &child);
	if (guest_follow(&desk->deck, lock, guest, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(guest->recipe->room, 2);
	assert_int_equal(saved_room(desk), 2);
	finish(&other, &child);
}

/* Its old room is that of another session now, and the report is that one's. */
static void without_a_run_it_takes_no_report_of_its_old_room(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, GUEST, 1);
	save(desk, owner);
	save(desk, guest);
	cleanup_free char *room = room_of(desk, owner, 1);
	cleanup_free char *reports = path_join(room, CAPSULE_REPORTS);
	cleanup_free char *report = path_join(reports, "0001-1.json");
	cleanup_close int fd = -1;
	assert_int_equal(fs_open_private_directory(reports, &fd, NULL), 0);
	assert_int_equal(
		fs_replace(fd, "0001-1.json", "from run-2 7/1000\n{}", 20, FS_VOLATILE, NULL), 0);
	assert_int_equal(collect_reports(&desk->deck, GUEST, NULL), 0);
	assert_int_equal(access(report, F_OK), 0);
}

/* ---- what cannot be read, or was removed ------------------------------------------------------- */

static void a_session_that_cannot_be_read_may_be_a_guest(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk);
	struct error err = { 0 };
	struct child child;
	save(desk, owner);
	put_guest(desk, OTHER);
	damage(desk, OTHER);
	expect(guest_check_none(&desk->deck, owner, &err), &err, NULL);
	cleanup_free char *room = room_of(desk, owner, 1);
	expect(guest_check_none(&desk->deck, owner, &err), &err, OTHER);
	expect(guest_check_alone(&desk->deck, owner, owner, &err), &err, NULL);
	const struct process_id other = capsule_in(room, OTHER, &child);
	expect(guest_check_alone(&desk->deck, owner, owner, &err), &err, OTHER);
	finish(&other, &child);
}

static void nothing_is_deleted_that_a_removed_guest_needs(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk);
	struct error err = { 0 };
	save(desk, owner);
	put_guest(desk, OTHER);
	expect(guest_check_trash(&desk->deck, owner, &err), &err, NULL);
	assert_int_equal(trash_put(lock_of(desk->deck.store, OTHER), NULL), 0);
	expect(guest_check_none(&desk->deck, owner, &err), &err, NULL);
	expect(guest_check_trash(&desk->deck, owner, &err), &err, OTHER);
}

/* ---- its owner -------------------------------------------------------------------------------- */

static void a_changed_recipe_waits_for_the_other_agent(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, OTHER, 1);
	cleanup_setting struct setting alone = { .field = SETTING_NETWORK, .value = "none" },
				       both = { .field = SETTING_NETWORK, .value = "shared" };
	struct error err = { 0 };
	struct child child;
	save(desk, owner);
	expect(lifecycle_set(&desk->deck, OWNER, &alone, &err), &err, NULL);
	assert_null(strstr(alone.note, "stop it first"));
	const struct process_id agent = run_as(OTHER, idle, &child);
	begin_run(desk, guest, &agent);
	guest->run.capsule = xstrdup(desk->cwd);
	save(desk, guest);
	expect(lifecycle_set(&desk->deck, OWNER, &both, &err), &err, NULL);
	assert_non_null(strstr(both.note, "stop it first with agentdeck stop " OTHER));
	finish(&agent, &child);
}

static void what_a_container_is_made_of_is_changed_at_its_owner(void **state)
{
	struct desk *desk = *state;
	static const enum setting_field of_owner[] = { SETTING_DOCKER, SETTING_IMAGE, SETTING_MOUNT,
						       SETTING_NETWORK };
	cleanup_instance struct instance *owner = owner_of(desk), *saved = NULL;
	struct error err = { 0 };
	save(desk, owner);
	put_guest(desk, GUEST);
	for (size_t i = 0; i < ARRAY_SIZE(of_owner); i++) {
		cleanup_setting struct setting setting = { .field = of_owner[i], .value = "none" };
		expect(lifecycle_set(&desk->deck, GUEST, &setting, &err), &err,
		       "lives in the container of 'owner': change that session instead");
	}
	cleanup_setting struct setting secret = { .field = SETTING_SECRET, .value = "KEY=env:KEY" };
	expect(lifecycle_set(&desk->deck, GUEST, &secret, &err), &err, NULL);
	assert_int_equal(store_load(desk->deck.store, GUEST, &saved, NULL), 0);
	assert_null(saved->recipe->network);
}

/* ---- the container's first process ------------------------------------------------------------- */

/* It has its environment when it has said a word. */
static void await_word(const struct child *child)
{
	char line[16];
	assert_int_equal(read(child->output, line, sizeof(line)), strlen("ready\n"));
}

/* The run's own process ends, unless one of another session is below it. */
static void what_leaves_ends_no_other_session(void **state)
{
	struct desk *desk = *state;
	struct child alone, two;
	/* It ends with its input. */
	const char *const both[] = { "/bin/sh", "-c",
				     "exec 3<&0; " ENV_INSTANCE "=" OTHER
				     " sh -c 'echo ready; read x <&3' & wait",
				     NULL };
	cleanup_instance struct instance *owner = owner_of(desk);
	cleanup_error struct error err = { 0 };
	const struct process_id none = { 0 };
	begin_run(desk, owner, &none);
	owner->run.capsule = xstrdup(desk->cwd);
	struct place_run run = place_run_of(owner);
	run.server = run_as(OWNER, idle, &alone);
	await_word(&alone);
	(void)container_leave(&run, &err);
	assert_false(process_alive(&run.server));
	child_abandon(&alone);
	run.server = run_as(OWNER, both, &two);
	await_word(&two);
	error_clear(&err);
	(void)container_leave(&run, &err);
	assert_true(process_alive(&run.server));
	finish(&run.server, &two);
}

/* The owner's capsule answers, and its stop does not end. */
static void a_stop_that_fails_ends_no_guest(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *owner = owner_of(desk), *guest = guest_of(desk, OTHER, 1);
	cleanup_free char *directory = container_capsule_directory(&desk->deck, owner);
	cleanup_close int fd = -1;
	struct error err = { 0 };
	struct child first, second;
	save(desk, owner);
	assert_int_equal(fs_open_private_directory(directory, &fd, NULL), 0);
	assert_int_equal(fs_replace(fd, CAPSULE_TOKEN, "a-token\n", 8, FS_VOLATILE, NULL), 0);
	const struct process_id capsule = capsule_in(directory, OWNER, &first);
	const struct process_id agent = run_as(OTHER, idle, &second);
	begin_run(desk, owner, &capsule);
	begin_run(desk, guest, &agent);
	guest->run.capsule = xstrdup(desk->cwd);
	owner->run.capsule = xstrdup(directory);
	save(desk, guest);
	stop_says = -1;
	expect(container_end_capsule(&desk->deck, owner, 0, &err), &err, "lives in this container");
	assert_true(process_alive(&capsule));
	/* An agent that the kernel holds has not ended, also where its capsule serves on. */
	stop_says = CAPSULE_STAYS;
	expect(container_end_capsule(&desk->deck, owner, 0, &err), &err, NULL);
	owner->run.pane = agent;
	expect(container_end_capsule(&desk->deck, owner, 0, &err), &err, "does not end");
	finish(&agent, &second);
	finish(&capsule, &first);
}

/* Both are in one control group, as the agents of one container are. */
static void what_runs_in_it_is_its_own(void **state)
{
	struct desk *desk = *state;
	struct child first, second;
	cleanup_instance struct instance *guest = guest_of(desk, GUEST, 1);
	cleanup_strvec struct strvec inside = { 0 };
	const char *const words[] = { "/bin/sh", "-c", "sh -c 'echo ready; read x'; :", NULL };
	const struct process_id own = run_as(GUEST, words, &first),
				other = run_as(OTHER, words, &second);
	await_word(&first);
	await_word(&second);
	begin_run(desk, guest, &own);
	const struct place_run run = place_run_of(guest);
	place_list_processes(&run, &inside);
	assert_int_equal(inside.count, 1);
	assert_non_null(strstr(inside.items[0], "sh -c echo ready; read x"));
	finish(&own, &first);
	finish(&other, &second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_failed_start_ends_no_other_session),
		DESK_TEST(its_own_capsule_ends),
		DESK_TEST(a_run_has_no_capsule_of_another_session),
		DESK_TEST(a_start_takes_no_room_in_which_a_capsule_answers),
		DESK_TEST(without_a_run_it_takes_no_report_of_its_old_room),
		DESK_TEST(a_session_that_cannot_be_read_may_be_a_guest),
		DESK_TEST(nothing_is_deleted_that_a_removed_guest_needs),
		DESK_TEST(a_changed_recipe_waits_for_the_other_agent),
		DESK_TEST(what_a_container_is_made_of_is_changed_at_its_owner),
		DESK_TEST(what_leaves_ends_no_other_session),
		DESK_TEST(a_stop_that_fails_ends_no_guest),
		DESK_TEST(what_runs_in_it_is_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
