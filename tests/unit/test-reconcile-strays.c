/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a look finds on disk and in an engine (tests/unit/fake-engine), and what a fix frees.
 */
#include "unit/engine-fixture.h"

#include "base/child.h"
#include "base/program.h"
#include "driver/store/trash.h"
#include "engine/place/container/container-internal.h"
#include "engine/reconcile/reconcile.h"
#include "engine/run/undo.h"

#include <sys/stat.h>

#define ID    "0aaaaaaa"
#define BASE  "ad-0aaaaaaa-work-claude"
#define IMAGE "agentdeck/ladder:1"

enum { SOON_MS = 20000 };

static struct deck deck;

static int set_up_deck(void **state)
{
	cleanup_close int tar = -1;
	cleanup_free char *id = NULL;
	fixture.dialect = "docker";
	if (engine_set_up(state) < 0)
		return -1;
	(void)setenv("AGENTDECK_HOME", scratch, 1);
	(void)setenv("DOCKER_HOST", fixture.address.url, 1);
	(void)setenv("CONTAINER_HOST", "unix:///nowhere", 1);
	(void)unsetenv("AGENTDECK_PROFILE");
	EXPECT(deck_open("default", "test", &deck, &fixture.err), 0);
	EXPECT(deck_open_store(&deck, &fixture.err), 0);
	tar = open_file("image.tar");
	EXPECT(engine_import(fixture.engine, tar, "agentdeck/ladder", "1", &id, &fixture.err), 0);
	return 0;
}

static int tear_down_deck(void **state)
{
	deck_close(&deck);
	return engine_tear_down(state);
}

/* ---- what there is --------------------------------------------------------------------------- */

static struct json_object *labels_of(const char *id)
{
	struct json_object *labels = ladder_deck_labels(&deck);
	json_set_string(labels, LABEL_INSTANCE, id);
	return labels;
}

static void make_container(const char *name, struct json_object *labels)
{
	cleanup_strvec struct strvec program = { 0 };
	cleanup_free char *id = NULL;
	strvec_push(&program, "/bin/sleep");
	const struct engine_order order = { .name = name,
					    .image_id = IMAGE,
					    .entrypoint = &program,
					    .labels = labels,
					    .network = "none" };
	EXPECT(engine_create(fixture.engine, &order, &id, &fixture.err), 0);
	json_object_put(labels);
}

static bool has_container(const char *name)
{
	cleanup_container struct container seen = { 0 };
	return engine_inspect(fixture.engine, name, &seen, NULL) == 0;
}

static void make_session(void)
{
	cleanup_store_profile_lock struct store_profile_lock *lock = NULL;
	cleanup_instance struct instance *instance = instance_new();
	instance->id = xstrdup(ID);
	instance->base = xstrdup(BASE);
	instance->profile = xstrdup("default");
	instance->title = xstrdup("far");
	instance->cwd = xstrdup("/tmp");
	instance->agent = xstrdup("claude");
	instance->backend = xstrdup("container");
	instance->created_at = INT64_C(1776157681000000);
	instance->container_id = xstrdup(BASE);
	strvec_push(&instance->argv, "claude");
	struct recipe *recipe = instance->recipe = recipe_new();
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup(fixture.address.url);
	recipe->image_id = xstrdup(IMAGE);
	recipe->user = xstrdup("0:0");
	recipe->directory = xstrdup("/tmp");
	recipe->home = xstrdup("/tmp/home");
	EXPECT(store_lock_profile(deck.store, clock_ms() + SOON_MS, &lock, &fixture.err), 0);
	EXPECT(store_create(lock, instance, NULL, &fixture.err), 0);
}

static void remove_session(void)
{
	struct store_lock *lock = NULL;
	EXPECT(store_lock(deck.store, BASE, clock_ms() + SOON_MS, &lock, &fixture.err), 0);
	EXPECT(trash_put(lock, &fixture.err), 0);
}

static void make_directory(const char *path)
{
	cleanup_free char *below = path_join(scratch, path);
	for (char *slash = below + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(below, 0700);
		*slash = '/';
	}
	assert_int_equal(mkdir(below, 0700), 0);
}

/* ---- what is found --------------------------------------------------------------------------- */

static void look(struct strays *ret)
{
	EXPECT(reconcile_look(&deck, ret, &fixture.err), 0);
}

static const struct stray *find(const struct strays *strays, const char *name)
{
	for (size_t i = 0; i < strays->count; i++)
		if (ends_with(strays->items[i].name, name))
			return strays->items + i;
	return NULL;
}

static void expect_stray(const struct strays *strays, const char *name, enum stray_action action,
			 const char *why)
{
	const struct stray *stray = find(strays, name);
	if (!stray || stray->action != action || !strstr(stray->why, why))
		fail_msg("%s: %s: %s", name, stray ? stray_action_name(stray->action) : "fine",
			 stray ? stray->why : "");
}

static void what_has_no_session_is_freed(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 }, after = { 0 };
	cleanup_json struct json_object *labels = labels_of("0bbbbbbb");
	cleanup_free char *network = NULL;
	make_container("ad-0bbbbbbb-x-claude", labels_of("0bbbbbbb"));
	EXPECT(engine_make_network(fixture.engine, "ad-0bbbbbbb-x-claude-net", true, labels,
				   &network, &fixture.err),
	       0);
	make_directory("default/trees/0bbbbbbb");
	make_directory("default/ad-0bbbbbbb-x-claude/capsule");
	make_directory("default/conversations/0bbbbbbb");
	look(&strays);
	assert_int_equal(strays.count, 5);
	assert_int_equal(strays_count(&strays, STRAY_FREE), 5);
	EXPECT(reconcile_fix(&deck, &strays, &fixture.err), 0);
	look(&after);
	assert_int_equal(after.count, 0);
	assert_false(has_container("ad-0bbbbbbb-x-claude"));
}

static void what_may_be_missed_is_kept(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	make_container("ad-0bbbbbbb-x-claude", labels_of("0bbbbbbb"));
	EXPECT(engine_start(fixture.engine, "ad-0bbbbbbb-x-claude", &fixture.err), 0);
	EXPECT(engine_tag(fixture.engine, IMAGE, "agentdeck/keep", "ad-0ccccccc-x-claude",
			  &fixture.err),
	       0);
	make_directory("default/trees/0bbbbbbb/work");
	make_directory("default/ad-0bbbbbbb-x-claude/home");
	make_directory("default/conversations/0bbbbbbb/some");
	look(&strays);
	assert_int_equal(strays.count, 5);
	expect_stray(&strays, "x-claude", STRAY_KEEP, "");
	expect_stray(&strays, "keep:ad-0ccccccc-x-claude", STRAY_KEEP, "another deck");
	expect_stray(&strays, "/work", STRAY_KEEP, "no record");
	assert_int_equal(strays_count(&strays, STRAY_FREE), 0);
	EXPECT(reconcile_fix(&deck, &strays, &fixture.err), 0);
	assert_true(has_container("ad-0bbbbbbb-x-claude"));
}

/* Its manifest is lost, and may come back from a backup: the labels say too little to make one. */
static void a_container_stays_with_the_home_of_its_session(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 }, after = { 0 };
	make_container("ad-0bbbbbbb-x-claude", labels_of("0bbbbbbb"));
	make_container("ad-0ccccccc-y-claude", labels_of("0ccccccc"));
	make_directory("default/ad-0bbbbbbb-x-claude/home");
	look(&strays);
	assert_int_equal(strays_count(&strays, STRAY_KEEP), 2);
	assert_int_equal(strays_count(&strays, STRAY_FREE), 1);
	EXPECT(reconcile_fix(&deck, &strays, &fixture.err), 0);
	assert_true(has_container("ad-0bbbbbbb-x-claude"));
	assert_false(has_container("ad-0ccccccc-y-claude"));
	assert_int_equal(unlinkat(store_profile_directory(deck.store), "ad-0bbbbbbb-x-claude/home",
				  AT_REMOVEDIR),
			 0);
	look(&after);
	assert_int_equal(strays_count(&after, STRAY_FREE), 2);
}

/* `docker commit` copies the labels into an image, and `docker run` into a container. */
static void a_container_of_a_copy_of_ours_is_its_users(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	make_container("experiment", labels_of("0bbbbbbb"));
	look(&strays);
	assert_int_equal(strays.count, 1);
	expect_stray(&strays, "experiment", STRAY_KEEP, "did not make it");
	EXPECT(reconcile_fix(&deck, &strays, &fixture.err), 0);
	assert_true(has_container("experiment"));
}

/* Its container runs, or its agent on this host. */
static void a_tree_that_is_in_use_is_kept(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 }, late = { 0 };
	char marker[] = "AGENTDECK_INSTANCE=0ccccccc", *const environment[] = { marker, NULL };
	const struct child_request request = {
		.argv = (const char *const[]){ "/bin/sh", "-c", "echo up; read x", NULL },
		.environment = environment,
		.gate = true,
	};
	struct child child;
	char line[8];
	make_container("ad-0bbbbbbb-x-claude", labels_of("0bbbbbbb"));
	EXPECT(engine_start(fixture.engine, "ad-0bbbbbbb-x-claude", &fixture.err), 0);
	make_directory("default/trees/0bbbbbbb");
	make_directory("default/trees/0ccccccc");
	look(&strays);
	expect_stray(&strays, "trees/0bbbbbbb", STRAY_KEEP, "still runs");
	expect_stray(&strays, "trees/0ccccccc", STRAY_FREE, "");
	EXPECT(child_start(&request, &child, &fixture.err), 0);
	assert_int_equal(read(child.output, line, sizeof(line)), 3);
	EXPECT_ERROR(reconcile_fix(&deck, &strays, &fixture.err), ERROR_SYSTEM, "1 of 1");
	look(&late);
	expect_stray(&late, "trees/0ccccccc", STRAY_KEEP, "still runs");
	child_abandon(&child);
}

static void a_container_of_another_deck_is_no_business_of_ours(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	struct json_object *labels = labels_of("0bbbbbbb");
	json_set_string(labels, LABEL_HOME, "another");
	make_container("ad-0bbbbbbb-x-claude", labels);
	look(&strays);
	assert_int_equal(strays.count, 0);
}

static void a_stranger_with_the_name_of_ours_is_named(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	make_session();
	make_container(BASE, json_object_new_object());
	look(&strays);
	assert_int_equal(strays.count, 1);
	expect_stray(&strays, BASE, STRAY_KEEP, "is not ours");
	EXPECT(reconcile_fix(&deck, &strays, &fixture.err), 0);
	assert_true(has_container(BASE));
}

static void a_session_has_its_container(void **state UNUSED)
{
	cleanup_strays struct strays none = { 0 }, fine = { 0 }, removed = { 0 };
	make_session();
	look(&none);
	expect_stray(&none, BASE, STRAY_KEEP, "next start");
	make_container(BASE, labels_of(ID));
	look(&fine);
	assert_int_equal(fine.count, 0);
	remove_session();
	look(&removed);
	expect_stray(&removed, BASE, STRAY_KEEP, "undo");
	EXPECT(reconcile_fix(&deck, &removed, &fixture.err), 0);
	assert_true(has_container(BASE));
}

static void an_engine_that_does_not_answer_has_lost_nothing(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	make_session();
	tell("/fake/fault?call=list&kind=refuse");
	look(&strays);
	assert_int_equal(strays.count, 1);
	assert_int_equal(strays.items[0].kind, STRAY_ENGINE);
	assert_int_equal(strays.items[0].action, STRAY_ASK_LATER);
}

static void a_session_that_came_back_keeps_what_it_has(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	make_container(BASE, labels_of(ID));
	make_directory("default/trees/" ID);
	look(&strays);
	assert_int_equal(strays_count(&strays, STRAY_FREE), 2);
	make_session();
	EXPECT_ERROR(reconcile_fix(&deck, &strays, &fixture.err), ERROR_SYSTEM, "2 of 2");
	assert_true(has_container(BASE));
	assert_non_null(strstr(strays.items[0].failure, "has a session now"));
}

static size_t prune(bool leaves_containers)
{
	cleanup_trash struct trash trash = { 0 };
	size_t deleted = 0;
	EXPECT(trash_list(deck.store, &trash, &fixture.err), 0);
	const struct prune_order order = { .may_leave_containers = leaves_containers };
	if (undo_prune(&deck, &trash, &order, &deleted, &fixture.err) < 0)
		error_clear(&fixture.err);
	return deleted;
}

/* Its engine did not answer when it was removed. */
static void a_container_that_was_left_goes_with_its_session(void **state UNUSED)
{
	make_session();
	make_container(BASE, labels_of(ID));
	remove_session();
	tell("/fake/fault?call=inspect&kind=refuse");
	assert_int_equal(prune(false), 0);
	assert_int_equal(deck.warnings.count, 1);
	assert_non_null(strstr(deck.warnings.items[0], "--leave-containers"));
	assert_true(has_container(BASE));
	assert_int_equal(prune(false), 1);
	assert_false(has_container(BASE));
}

static void what_cannot_be_read_in_the_trash_has_what_it_has(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	cleanup_trash struct trash trash = { 0 };
	make_session();
	make_container(BASE, labels_of(ID));
	remove_session();
	EXPECT(trash_list(deck.store, &trash, &fixture.err), 0);
	cleanup_free char *path = xasprintf("%s/default/.trash/%s", scratch, trash.items[0].name);
	assert_int_equal(chmod(path, 0777), 0);
	look(&strays);
	expect_stray(&strays, BASE, STRAY_KEEP, "undo");
}

/* Since the trash was listed. */
static void what_came_back_is_not_pruned(void **state UNUSED)
{
	cleanup_trash struct trash trash = { 0 };
	cleanup_instance struct instance *back = NULL;
	const struct prune_order order = { 0 };
	size_t deleted = 1;
	make_session();
	make_container(BASE, labels_of(ID));
	remove_session();
	EXPECT(trash_list(deck.store, &trash, &fixture.err), 0);
	EXPECT(undo_removal(&deck, ID, NULL, &back, &fixture.err), 0);
	EXPECT(undo_prune(&deck, &trash, &order, &deleted, &fixture.err), 0);
	assert_int_equal(deleted, 0);
	assert_true(has_container(BASE));
}

static void a_container_is_left_only_by_consent(void **state UNUSED)
{
	make_session();
	make_container(BASE, labels_of(ID));
	remove_session();
	tell("/fake/fault?call=inspect&kind=refuse&times=1000");
	assert_int_equal(prune(false), 0);
	assert_int_equal(prune(true), 1);
}

static void a_profile_that_cannot_be_read_may_have_any_session(void **state UNUSED)
{
	cleanup_strays struct strays strays = { 0 };
	make_container("ad-0bbbbbbb-x-claude", labels_of("0bbbbbbb"));
	make_directory("other");
	cleanup_free char *path = path_join(scratch, "other");
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(reconcile_look(&deck, &strays, &fixture.err), -1);
	error_clear(&fixture.err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_deck, tear_down_deck)
	const struct CMUnitTest tests[] = {
		TEST(what_has_no_session_is_freed),
		TEST(what_may_be_missed_is_kept),
		TEST(a_container_stays_with_the_home_of_its_session),
		TEST(a_container_of_a_copy_of_ours_is_its_users),
		TEST(a_tree_that_is_in_use_is_kept),
		TEST(a_container_of_another_deck_is_no_business_of_ours),
		TEST(a_stranger_with_the_name_of_ours_is_named),
		TEST(a_session_has_its_container),
		TEST(an_engine_that_does_not_answer_has_lost_nothing),
		TEST(a_session_that_came_back_keeps_what_it_has),
		TEST(a_container_that_was_left_goes_with_its_session),
		TEST(what_cannot_be_read_in_the_trash_has_what_it_has),
		TEST(what_came_back_is_not_pruned),
		TEST(a_container_is_left_only_by_consent),
		TEST(a_profile_that_cannot_be_read_may_have_any_session),
#undef TEST
	};
	if (!program_is_installed("python3"))
		return skip_all("python3 is missing");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
