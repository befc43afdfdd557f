/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which removed session comes back, and when none does.
 */
#include "unit/report-fixture.h"

#include "engine/conversation/conversation.h"
#include "engine/run/undo.h"

static void put(struct desk *desk, const char *base, const char *title, const char *session_id)
{
	cleanup_instance struct instance *instance = new_instance(base, title);
	conversation_set_id(&instance->conversation, session_id, ORIGIN_MINTED, 1);
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
}

static void discard(struct desk *desk, const char *base)
{
	assert_int_equal(trash_put(lock_of(desk->deck.store, base), NULL), 0);
}

static size_t trash_count(struct desk *desk)
{
	cleanup_trash struct trash trash = { 0 };
	assert_int_equal(trash_list(desk->deck.store, &trash, NULL), 0);
	return trash.count;
}

/* The session is back, under this title, and only there. */
static void expect(struct desk *desk, const char *target, const char *new_title, const char *base,
		   const char *title)
{
	cleanup_instance struct instance *instance = NULL, *stored = NULL;
	cleanup_error struct error err = { 0 };
	const size_t before = trash_count(desk);
	if (undo_removal(&desk->deck, target, new_title, &instance, &err) != 0)
		fail_msg("%s: %s", or_empty(target), err.message);
	assert_string_equal(instance->base, base);
	assert_string_equal(instance->title, title);
	assert_int_equal(store_load(desk->deck.store, base, &stored, NULL), 0);
	assert_string_equal(stored->title, title);
	assert_string_equal(stored->conversation.session_id, instance->conversation.session_id);
	assert_int_equal(stored->observed.state, STATE_STOPPED);
	assert_int_equal(trash_count(desk), before - 1);
}

static void refuse_as(struct desk *desk, const char *target, const char *title,
		      enum error_code code, const char *why)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_error struct error err = { 0 };
	const size_t before = trash_count(desk);
	assert_int_equal(undo_removal(&desk->deck, target, title, &instance, &err), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.message, why));
	assert_null(instance);
	assert_int_equal(trash_count(desk), before);
}

static void refuse(struct desk *desk, const char *target, enum error_code code, const char *why)
{
	refuse_as(desk, target, NULL, code, why);
}

/* One in a container, whose directory is this one of the desk's. */
static void put_boxed(struct desk *desk, const char *base, const char *directory)
{
	cleanup_instance struct instance *instance = new_instance(base, base);
	struct recipe *recipe = instance->recipe = recipe_new();
	replace_string(&instance->backend, "container");
	recipe->engine = xstrdup("docker");
	recipe->address = xstrdup("unix:///nowhere");
	recipe->image_id = xstrdup("sha256:0");
	recipe->user = xstrdup("1:1");
	recipe->home = xasprintf("%s/home-of-%s", desk->root, base);
	recipe->directory = path_join(desk->root, directory);
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
}

static void expect_back(struct desk *desk, const char *base)
{
	cleanup_instance struct instance *instance = NULL;
	assert_int_equal(undo_removal(&desk->deck, base, NULL, &instance, NULL), 0);
	assert_string_equal(instance->base, base);
}

static void a_place_that_another_container_can_change_is_named(void **state)
{
	struct desk *desk = *state;
	const struct strvec *warnings = &desk->deck.warnings;
	put_boxed(desk, "aaaa0001", "work/below");
	discard(desk, "aaaa0001");
	expect_back(desk, "aaaa0001");
	assert_int_equal(warnings->count, 0);
	discard(desk, "aaaa0001");
	put_boxed(desk, "aaaa0002", "work");
	expect_back(desk, "aaaa0001");
	assert_int_equal(warnings->count, 1);
	assert_non_null(strstr(warnings->items[0], "aaaa0001 is back, but"));
}

static void the_last_one_comes_back_or_the_named_one(void **state)
{
	struct desk *desk = *state;
	put(desk, "aaaa0001", "one", OLD);
	put(desk, "aaaa0002", "two", NEW);
	refuse(desk, NULL, ERROR_NOT_FOUND, "empty");
	discard(desk, "aaaa0001");
	discard(desk, "aaaa0002");
	expect(desk, NULL, NULL, "aaaa0002", "two");
	discard(desk, "aaaa0002");
	expect(desk, "one", NULL, "aaaa0001", "one");
	expect(desk, "aaaa0002", NULL, "aaaa0002", "two");
	refuse(desk, "one", ERROR_NOT_FOUND, "no removed session");
}

static void of_one_title_the_last_removed_comes_back(void **state)
{
	struct desk *desk = *state;
	put(desk, "aaaa0002", "one", OLD);
	discard(desk, "aaaa0002");
	put(desk, "aaaa0001", "one", NEW);
	discard(desk, "aaaa0001");
	put(desk, "aaaa0003", "other", "33333333-3333-4333-8333-333333333333");
	discard(desk, "aaaa0003");
	expect(desk, "one", NULL, "aaaa0001", "one");
	refuse(desk, "one", ERROR_EXISTS, "--title");
	expect(desk, "one", "older", "aaaa0002", "older");
}

/* Its new title is saved, and then it cannot be moved. */
static void fail_to_move(struct desk *desk, const char *target, const char *title)
{
	const int directory = store_profile_directory(desk->deck.store);
	assert_int_equal(mkdirat(directory, "aaaa0001.lock", 0700), 0);
	refuse_as(desk, target, title, ERROR_SYSTEM, "aaaa0001.lock");
	assert_int_equal(unlinkat(directory, "aaaa0001.lock", AT_REMOVEDIR), 0);
}

static void what_was_cut_off_has_the_title_that_it_was_removed_with(void **state)
{
	struct desk *desk = *state;
	put(desk, "aaaa0001", "one", OLD);
	discard(desk, "aaaa0001");
	fail_to_move(desk, "one", "second");
	refuse(desk, "second", ERROR_NOT_FOUND, "no removed session");
	fail_to_move(desk, "one", "third");
	expect(desk, "one", NULL, "aaaa0001", "one");
	discard(desk, "aaaa0001");
	fail_to_move(desk, "one", "second");
	expect(desk, "one", "second", "aaaa0001", "second");
	discard(desk, "aaaa0001");
	refuse(desk, "one", ERROR_NOT_FOUND, "no removed session");
	expect(desk, "second", NULL, "aaaa0001", "second");
}

static void a_title_or_a_conversation_that_is_taken_stays(void **state)
{
	struct desk *desk = *state;
	put(desk, "aaaa0001", "one", OLD);
	discard(desk, "aaaa0001");
	put(desk, "aaaa0002", "one", NEW);
	refuse(desk, NULL, ERROR_EXISTS, "--title");
	expect(desk, NULL, "second", "aaaa0001", "second");
	discard(desk, "aaaa0001");
	put(desk, "aaaa0003", "taker", OLD);
	refuse(desk, "second", ERROR_EXISTS, "stays in the trash");
	assert_int_equal(store_remove(lock_of(desk->deck.store, "aaaa0003"), NULL), 0);
	expect(desk, "second", NULL, "aaaa0001", "second");
}

static void a_manifest_that_cannot_be_checked_stays(void **state)
{
	struct desk *desk = *state;
	const int directory = store_profile_directory(desk->deck.store);
	put(desk, "aaaa0001", "one", OLD);
	put_content(desk->deck.store, "aaaa0001/instance.json", "{\"format\":9999}");
	discard(desk, "aaaa0001");
	refuse(desk, NULL, ERROR_NEWER, "stays in the trash");
	refuse_as(desk, "aaaa0001", "other", ERROR_NEWER, "newer agentdeck");
	put(desk, "aaaa0002", "two", NEW);
	assert_int_equal(renameat(directory, "aaaa0002/instance.json", directory, "whole"), 0);
	assert_int_equal(symlinkat("../../whole", directory, "aaaa0002/instance.json"), 0);
	discard(desk, "aaaa0002");
	refuse(desk, NULL, ERROR_SYSTEM, "symbolic link");
	assert_false(is_there(desk->deck.store, "aaaa0001"));
	assert_false(is_there(desk->deck.store, "aaaa0002"));
}

static void a_corrupt_manifest_comes_back_but_not_with_another_title(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = NULL;
	put(desk, "aaaa0001", "one", OLD);
	put_content(desk->deck.store, "aaaa0001/instance.json", "{");
	discard(desk, "aaaa0001");
	refuse_as(desk, NULL, "other", ERROR_INVALID, "cannot be changed");
	assert_false(is_there(desk->deck.store, "aaaa0001"));
	assert_int_equal(undo_removal(&desk->deck, NULL, NULL, &instance, NULL), 0);
	assert_null(instance);
	cleanup_free char *text = content(desk->deck.store, "aaaa0001/instance.json");
	assert_string_equal(text, "{");
	assert_int_equal(trash_count(desk), 0);
}

static void what_was_pruned_is_gone(void **state)
{
	struct desk *desk = *state;
	cleanup_trash struct trash trash = { 0 };
	const struct prune_order order = { 0 };
	size_t deleted;
	put(desk, "aaaa0001", "one", OLD);
	discard(desk, "aaaa0001");
	assert_int_equal(trash_list(desk->deck.store, &trash, NULL), 0);
	assert_int_equal(undo_prune(&desk->deck, &trash, &order, &deleted, NULL), 0);
	assert_int_equal(deleted, 1);
	refuse(desk, "one", ERROR_NOT_FOUND, "no removed session");
	assert_int_equal(trash_count(desk), 0);
	assert_int_equal(desk->deck.warnings.count, 0);
}

static void make_talk(struct desk *desk, const char *id)
{
	const int directory = store_profile_directory(desk->deck.store);
	cleanup_free char *home = xasprintf("conversations/%s", id);
	cleanup_free char *talk = path_join(home, "talk");
	(void)mkdirat(directory, "conversations", 0700);
	assert_int_equal(mkdirat(directory, home, 0700), 0);
	put_content(desk->deck.store, talk, "hello");
}

/* Until then undo needs it, and while another session has the id it is that one's. */
static void prune_says_which_conversations_nothing_needs_now(void **state)
{
	struct desk *desk = *state;
	cleanup_trash struct trash trash = { 0 };
	const struct prune_order order = { 0 };
	size_t deleted;
	put(desk, "aaaa0001", "one", OLD);
	put(desk, "aaaa0002", "two", NEW);
	make_talk(desk, "aaaa0001");
	make_talk(desk, "aaaa0002");
	discard(desk, "aaaa0001");
	discard(desk, "aaaa0002");
	put(desk, "aaaa0002", "heir", NEW);
	assert_int_equal(trash_list(desk->deck.store, &trash, NULL), 0);
	assert_int_equal(undo_prune(&desk->deck, &trash, &order, &deleted, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], "default/conversations/aaaa0001: "
							     "delete that directory"));
	assert_true(is_there(desk->deck.store, "conversations/aaaa0001/talk"));
	assert_true(is_there(desk->deck.store, "conversations/aaaa0002/talk"));
}

static void one_that_cannot_be_pruned_does_not_keep_the_others(void **state)
{
	struct desk *desk = *state;
	cleanup_trash struct trash trash = { 0 };
	cleanup_error struct error err = { 0 };
	const struct prune_order order = { 0 };
	size_t deleted;
	put(desk, "aaaa0001", "one", OLD);
	put(desk, "aaaa0002", "two", NEW);
	discard(desk, "aaaa0001");
	discard(desk, "aaaa0002");
	assert_int_equal(trash_list(desk->deck.store, &trash, NULL), 0);
	/* A file in the place of the first one's directory. */
	const int directory = store_profile_directory(desk->deck.store);
	cleanup_free char *first = xasprintf(".trash/%s", trash.items[0].name);
	cleanup_free char *second = xasprintf(".trash/%s", trash.items[1].name);
	assert_int_equal(renameat(directory, first, directory, ".trash/away"), 0);
	put_content(desk->deck.store, first, "");
	assert_int_equal(undo_prune(&desk->deck, &trash, &order, &deleted, &err), -1);
	assert_non_null(strstr(err.message, "deleted 1 of 2"));
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], first));
	assert_true(is_there(desk->deck.store, first));
	assert_false(is_there(desk->deck.store, second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(the_last_one_comes_back_or_the_named_one),
		DESK_TEST(of_one_title_the_last_removed_comes_back),
		DESK_TEST(a_place_that_another_container_can_change_is_named),
		DESK_TEST(what_was_cut_off_has_the_title_that_it_was_removed_with),
		DESK_TEST(a_title_or_a_conversation_that_is_taken_stays),
		DESK_TEST(a_manifest_that_cannot_be_checked_stays),
		DESK_TEST(a_corrupt_manifest_comes_back_but_not_with_another_title),
		DESK_TEST(what_was_pruned_is_gone),
		DESK_TEST(prune_says_which_conversations_nothing_needs_now),
		DESK_TEST(one_that_cannot_be_pruned_does_not_keep_the_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
