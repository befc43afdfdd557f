/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tree that is gone from the disk, with the real git: it is made again, and nothing that Git
 * still knows of it is lost.
 */
#include "unit/tree-fixture.h"

#include "driver/git/git.h"
#include "driver/store/trash.h"
#include "engine/reconcile/reconcile.h"
#include "engine/workspace/branch.h"
#include "engine/workspace/orphan.h"

#define TREE "default/trees/" ID "/project"

static void a_tree_that_is_gone_is_made_from_its_branch(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd default/trees/" ID "/project && echo b >b && git add b && " COMMIT " two");
	do_sh(desk, "rm -rf default/trees/" ID "/project");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk, "test -f default/trees/" ID "/project/b");
	assert_int_equal(desk->deck.warnings.count, 1);
}

/* Its agent has left the branch, and made a commit; then somebody deleted the tree. */
static void detach_and_delete(struct desk *desk)
{
	do_sh(desk, "cd " TREE " && git checkout -q --detach && echo c >c && git add c && " COMMIT
		    " two && git config test.c $(git rev-parse HEAD)");
	do_sh(desk, "rm -rf " TREE);
}

static void expect_detached(struct desk *desk, struct instance *instance)
{
	cleanup_error struct error err = { 0 };
	if (ensure(desk, instance, &err) < 0)
		fail_msg("%s", err.message);
	do_sh(desk, "cd " TREE " && test -f c && ! git symbolic-ref -q HEAD && "
		    "test $(git config test.c) = $(git rev-parse HEAD)");
	cleanup_instance struct instance *stored = desk_load(desk);
	assert_null(stored->workspace->again);
}

/* Nothing but Git's own record of the tree has them. */
static void commits_of_a_detached_head_come_back(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	detach_and_delete(desk);
	expect_detached(desk, instance);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], "switch -c"));
	assert_int_equal(ensure(desk, instance, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
}

/* Git has forgotten the tree, and half of the new one is there; or all of it. */
static void a_kill_does_not_cost_a_detached_head(void **state)
{
	static const char *const scripts[] = {
		"true",
		"mkdir " TREE,
		"cd project && git worktree add -q --lock --detach ../" TREE " && rm ../" TREE
		"/a $(git -C ../" TREE " rev-parse --git-path index)",
		"cd project && git worktree add -q --lock --detach ../" TREE
		" $(git config test.c)",
	};
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
		cleanup_gitcmd_worktree struct gitcmd_worktree worktree = { 0 };
		const struct workspace *workspace = instance->workspace;
		detach_and_delete(desk);
		const struct gitcmd_linked tree = { .source = workspace->source,
						    .path = workspace->path };
		assert_int_equal(gitcmd_look_at_worktree(&tree, &worktree, NULL), 0);
		instance->workspace->again = xstrdup(worktree.commit);
		do_sh(desk, "cd project && git worktree remove -f -f ../" TREE);
		do_sh(desk, scripts[i]);
		expect_detached(desk, instance);
		do_sh(desk, "test -f " TREE "/a && rm -rf project default/" ID " default/trees && "
			    "mkdir project");
	}
}

/* From a backup, after an attempt to make it again. */
static void a_tree_that_its_user_brought_back_is_not_made_again(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_error struct error err = { 0 };
	instance->workspace->again = xstrdup(instance->workspace->branch);
	do_sh(desk, "echo mine >" TREE "/mine");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk, "test -f " TREE "/mine && cp -a " TREE " copy && cd project && "
		    "git worktree remove -f -f ../" TREE " && mv ../copy ../" TREE);
	instance->workspace->again = xstrdup(instance->workspace->branch);
	assert_int_equal(ensure(desk, instance, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	do_sh(desk, "test -f " TREE "/mine");
}

static void commits_of_a_detached_head_are_not_deleted(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_verdict struct verdict verdict = { 0 };
	detach_and_delete(desk);
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_true(verdict_has(&verdict, FINDING_DETACHED));
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	do_sh(desk, "cd project && git worktree list | grep detached && "
		    "git branch mine $(git config test.c)");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
}

static int save(void *context, struct error *err)
{
	struct desk *desk = context;
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, ID);
	cleanup_instance struct instance *instance = desk_load(desk);
	do_sh(desk, "test -f " TREE "/a");
	instance->workspace->is_freed = true;
	return store_save(lock, instance, err);
}

/* Deleted, and killed before anybody wrote that down. */
static void a_killed_deletion_has_lost_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	const struct tree_saver saver = { save, desk };
	assert_int_equal(tree_delete(&desk->deck, instance, &saver, NULL), 0);
	assert_true(instance->workspace->is_freed);
	cleanup_instance struct instance *stored = desk_load(desk);
	assert_false(tree_reclaim(stored->workspace));
	assert_int_equal(ensure(desk, stored, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 0);
	do_sh(desk, "test -f " TREE "/a");
	cleanup_instance struct instance *again = desk_load(desk);
	assert_false(again->workspace->is_freed);
}

/* Killed before it began, and then its user worked in it. */
static void what_is_lost_after_a_killed_deletion_is_said(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance UNUSED = new_tree(desk, WORKSPACE_WORKTREE);
	assert_int_equal(save(desk, NULL), 0);
	cleanup_instance struct instance *stored = desk_load(desk);
	assert_true(stored->workspace->is_freed);
	assert_int_equal(ensure(desk, stored, NULL), 0);
	do_sh(desk, "rm -rf " TREE);
	cleanup_instance struct instance *again = desk_load(desk);
	assert_int_equal(ensure(desk, again, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], "is lost"));
}

/* What its user has given up is lost. */
static void what_is_given_up_does_not_count_as_freed(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	const struct tree_saver saver = { save, desk };
	instance->workspace->may_be_lost = true;
	assert_int_equal(tree_delete(&desk->deck, instance, &saver, NULL), 0);
	assert_false(instance->workspace->is_freed);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
}

static void a_tree_comes_back_after_its_repository_was_moved(void **state)
{
	static const enum workspace_kind kinds[] = { WORKSPACE_WORKTREE, WORKSPACE_CLONE };
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_instance struct instance *instance = new_tree(desk, kinds[i]);
		cleanup_error struct error err = { 0 }, failure = { 0 };
		cleanup_free char *moved = path_join(desk->root, "moved");
		do_sh(desk, "rm -rf " TREE " && mv project moved");
		assert_int_equal(ensure(desk, instance, &err), -1);
		assert_int_equal(err.code, ERROR_NOT_FOUND);
		assert_non_null(strstr(err.message, "path DIRECTORY"));
		if (tree_move_source(&desk->deck, instance, moved, &failure) < 0 ||
		    ensure(desk, instance, &failure) < 0)
			fail_msg("%s", failure.message);
		do_sh(desk, "git -C " TREE " status && rm -rf moved default/" ID
			    " default/trees && mkdir project");
	}
}

static void use_root(struct desk *desk)
{
	free(desk->deck.settings.workspace_root);
	desk->deck.settings.workspace_root = path_join(desk->root, "disk");
}

/* The directory is there; the disk that was mounted on it is not, or is another one. */
static void a_mount_point_is_not_taken_for_its_disk(void **state)
{
	static const char *const scripts[] = {
		"true",
		"mkdir disk/0bbbbbbb",
		"echo another >disk/.agentdeck-trees",
		"touch disk/.agentdeck-trees",
	};
	static const enum workspace_kind kinds[] = { WORKSPACE_WORKTREE, WORKSPACE_CLONE };
	struct desk *desk = *state;
	use_root(desk);
	for (size_t i = 0; i < ARRAY_SIZE(scripts) * ARRAY_SIZE(kinds); i++) {
		cleanup_instance struct instance *instance = new_tree(desk, kinds[i % 2]);
		cleanup_error struct error err = { 0 }, failure = { 0 };
		cleanup_verdict struct verdict verdict = { 0 };
		do_sh(desk, "echo mine >disk/" ID "/project/mine && mv disk away && "
			    "mkdir -m 700 disk");
		do_sh(desk, scripts[i / 2]);
		assert_int_equal(ensure(desk, instance, &err), -1);
		assert_int_equal(err.code, ERROR_UNAVAILABLE);
		assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), -1);
		instance->workspace->may_be_lost = true;
		assert_int_equal(tree_delete(&desk->deck, instance, NULL, &failure), -1);
		assert_int_equal(failure.code, ERROR_UNAVAILABLE);
		do_sh(desk, "test ! -e disk/" ID " && rm -r disk && mv away disk");
		assert_int_equal(ensure(desk, instance, NULL), 0);
		assert_int_equal(desk->deck.warnings.count, 0);
		do_sh(desk, "test -f disk/" ID "/project/mine && git -C disk/" ID
			    "/project status && rm -rf disk project default/" ID
			    " default/trees && mkdir project");
	}
}

/* A disk that is lost for good, or a tree that was made before roots had ids. */
static void the_id_of_a_root_can_be_given(void **state)
{
	struct desk *desk = *state;
	use_root(desk);
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	replace_string(&instance->workspace->root_id, NULL);
	do_sh(desk, "cp disk/.agentdeck-trees id && rm disk/.agentdeck-trees");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk, "! cmp -s disk/.agentdeck-trees id && cp disk/.agentdeck-trees id && "
		    "rm -rf disk && mkdir -m 700 disk");
	assert_int_equal(ensure(desk, instance, NULL), -1);
	do_sh(desk, "cp id disk/.agentdeck-trees");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk, "test -f disk/" ID "/project/a");
	assert_int_equal(desk->deck.warnings.count, 1);
}

/* Its session is gone, too: Git's record of the tree stays. */
static void a_mount_point_does_not_make_a_tree_an_orphan_to_free(void **state)
{
	struct desk *desk = *state;
	use_root(desk);
	cleanup_instance struct instance *instance UNUSED = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_free char *profile = path_join(desk->root, "default");
	cleanup_orphan struct orphan orphan = { 0 };
	do_sh(desk, "mv disk away && mkdir -m 700 disk");
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), 0);
	assert_false(verdict_is_safe(&orphan.verdict));
}

/* ---- what keeps agentdeck from knowing -------------------------------------------------------- */

static void expect_why(struct desk *desk, const struct instance *instance, const char *why)
{
	cleanup_verdict struct verdict verdict = { 0 };
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_int_equal(verdict.count, 1);
	if (!strstr(verdict.findings[0].detail, why))
		fail_msg("%s", verdict.findings[0].detail);
	assert_string_equal(verdict_claim(&verdict), "may have work that exists nowhere else");
}

/* When the tree is made, and whenever it is asked about. */
static void a_repository_that_cannot_be_read_is_named(void **state)
{
	struct desk *desk = *state;
	do_sh(desk, "cd project && git init -q --object-format=sha256");
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], "SHA-256"));
	expect_why(desk, instance, "SHA-256");
}

static void a_repository_that_was_moved_is_named(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	do_sh(desk, "mv project moved");
	expect_why(desk, instance, "/project is gone: restore it");
}

/* The clone has all of its objects. */
static void a_clone_of_a_borrower_borrows_nothing(void **state)
{
	struct desk *desk = *state;
	do_sh(desk, "git init -q lender && cd lender && " COMMIT " zero && "
		    "git clone -q --shared . ../project");
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	cleanup_verdict struct verdict verdict = { 0 };
	assert_int_equal(desk->deck.warnings.count, 0);
	do_sh(desk, "mv lender away && git -C " TREE " fsck --strict");
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_int_equal(verdict.count, 0);
}

/* A start was killed after git had made it, and before its record was written. */
static void a_tree_that_is_not_made_has_nothing_to_lose(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	cleanup_verdict struct verdict verdict = { 0 };
	instance->workspace->is_made = false;
	do_sh(desk, "rm default/trees/" ID "/origin.json");
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), TREE_ABSENT);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk, "test -f default/trees/" ID "/origin.json");
}

/* ---- only Git's record of it is gone ---- */

#define RECORDS "project/.git/worktrees"

/* A kill has left the beginning of a new one. */
static void a_record_that_was_deleted_is_made_again(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_verdict struct verdict verdict = { 0 };
	do_sh(desk, "cd " TREE " && echo b >b && git add b && " COMMIT
		    " two && echo more >>b && echo new >new && git add new");
	do_sh(desk, "cd " RECORDS " && cp -r project .project.new && rm -r project && "
		    "rm .project.new/index && cd .. && git -C .. worktree list");
	expect_why(desk, instance, "makes it again, or says");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_non_null(strstr(desk->deck.warnings.items[0], "made again, on branch"));
	do_sh(desk, "git -C project worktree prune && test \"$(ls -A " RECORDS ")\" = project && "
		    "cd " TREE " && test $(git symbolic-ref --short HEAD) = agentdeck/fix-it && "
		    "test \"$(git status --porcelain | tr '\\n' ,)\" = ' M b,?? new,' && "
		    "git fsck");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	assert_int_equal(desk->deck.warnings.count, 1);
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_int_equal(verdict.count, 2);
}

static void a_record_that_may_be_anothers_is_not_made_again(void **state)
{
	static const struct {
		const char *script, *why;
	} cases[] = {
		{ "git worktree add -q ../w agentdeck/fix-it", "is checked out elsewhere" },
		{ "git update-ref -d refs/heads/agentdeck/fix-it", "is gone, too" },
		{ "git init -q ../w && mkdir ../w/.git/worktrees && "
		  "echo \"gitdir: $PWD/../w/.git/worktrees/w\" >../" TREE "/.git",
		  "another repository" },
		{ "echo \"gitdir: $PWD/.git/worktrees/..\" >../" TREE "/.git",
		  "another repository" },
		{ "echo \"gitdir: $PWD/.git/worktrees/.w\" >../" TREE "/.git",
		  "another repository" },
	};
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
		cleanup_free char *script = xasprintf("rm -r " RECORDS " && cd project && %s",
						      cases[i].script);
		do_sh(desk, script);
		strvec_clear(&desk->deck.warnings);
		assert_int_equal(ensure(desk, instance, NULL), 0);
		const char *said = desk->deck.warnings.count ? desk->deck.warnings.items[0] : "";
		if (!strstr(said, cases[i].why))
			fail_msg("%s: %s", cases[i].script, said);
		do_sh(desk, "test ! -e " RECORDS "/project && test ! -e " RECORDS "/.project.new");
		do_sh(desk, "rm -rf project w default/" ID " default/trees && mkdir project");
	}
}

/* ---- its session is gone, too: what becomes of its branch ---- */

static const struct branch_stray *stray_of(const struct branch_strays *strays, const char *name)
{
	for (size_t i = 0; i < strays->count; i++)
		if (streq(strays->items[i].fate.name, name))
			return strays->items + i;
	return NULL;
}

static void list_strays(struct desk *desk, struct branch_strays *ret)
{
	cleanup_error struct error err = { 0 };
	branch_strays_free(ret);
	if (branch_list_strays(&desk->deck, ".", ret, &err) < 0)
		fail_msg("%s", err.message);
}

static void expect_stray(const struct branch_strays *strays, const char *name, bool goes,
			 const char *why)
{
	const struct branch_stray *stray = stray_of(strays, name);
	if (!stray || stray->fate.goes != goes || !strstr(stray->fate.why, why))
		fail_msg("%s: %s", name, stray ? stray->fate.why : "not found");
}

/* The session that is left has its own branch, and shows us the repository. */
static void a_branch_without_a_session_goes_if_it_is_elsewhere(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance UNUSED = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_branch_strays struct branch_strays strays = { 0 };
	assert_int_equal(chdir(desk->root), 0);
	do_sh(desk, "cd project && git branch agentdeck/done && git branch agentdeck/used && "
		    "git branch mine && git worktree add -q ../w agentdeck/used && "
		    "git checkout -q -b agentdeck/work && " COMMIT " two && "
		    "git branch agentdeck/twin && git checkout -q main");
	list_strays(desk, &strays);
	assert_int_equal(strays.count, 4);
	assert_null(stray_of(&strays, "mine"));
	assert_null(stray_of(&strays, "agentdeck/fix-it"));
	expect_stray(&strays, "agentdeck/done", true, "main has all of it");
	expect_stray(&strays, "agentdeck/used", false, "checked out");
	/* Each has the commit of the other, and both would go. */
	expect_stray(&strays, "agentdeck/work", false, "not merged into main");
	expect_stray(&strays, "agentdeck/twin", false, "not merged into main");
	/* Also by doctor --fix. */
	cleanup_strays struct strays found = { 0 };
	setenv("DOCKER_HOST", "unix:///nowhere", 1);
	setenv("CONTAINER_HOST", "unix:///nowhere", 1);
	do_sh(desk, "cd project && git branch agentdeck/late");
	assert_int_equal(reconcile_look(&desk->deck, &found, NULL), 0);
	assert_int_equal(found.count, 5);
	assert_int_equal(strays_count(&found, STRAY_FREE), 2);
	do_sh(desk, "cd project && git branch -q -f agentdeck/done agentdeck/work");
	assert_int_equal(reconcile_fix(&desk->deck, &found, NULL), -1);
	do_sh(desk, "cd project && git rev-parse -q --verify agentdeck/done && "
		    "! git rev-parse -q --verify agentdeck/late && "
		    "git branch -q -f agentdeck/done main");
	/* It was merged, and has moved since it was listed. */
	do_sh(desk, "cd project && git merge -q --ff-only agentdeck/work");
	list_strays(desk, &strays);
	expect_stray(&strays, "agentdeck/work", true, "main has all of it");
	do_sh(desk, "cd project && git checkout -q agentdeck/work && " COMMIT " three && "
		    "git checkout -q main");
	assert_int_equal(branch_delete_stray(&desk->deck, stray_of(&strays, "agentdeck/work"),
					     NULL),
			 BRANCH_KEPT);
	assert_int_equal(
		branch_delete_stray(&desk->deck, stray_of(&strays, "agentdeck/done"), NULL), 0);
	do_sh(desk, "cd project && git rev-parse -q --verify agentdeck/work && "
		    "! git rev-parse -q --verify agentdeck/done");
	/* Whose is it? */
	do_sh(desk, "for file in default/*" ID "*/instance.json; do echo no >$file; done");
	assert_int_equal(chdir("project"), 0);
	list_strays(desk, &strays);
	expect_stray(&strays, "agentdeck/fix-it", false, "cannot be read");
	expect_stray(&strays, "agentdeck/twin", false, "cannot be read");
}

/* The paths of the two sessions differ, and their repository does not. */
static void a_branch_of_a_session_by_another_path_is_no_stray(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_instance struct instance *other = new_instance("bbbbbbbb", "Other");
	cleanup_branch_strays struct branch_strays strays = { 0 };
	cleanup_branch_fate struct branch_fate fate = { 0 };
	const struct tree_order order = { .kind = WORKSPACE_WORKTREE,
					  .branch = "agentdeck/fix-it" };
	do_sh(desk, "git -C " TREE " checkout -q --detach && git -C project worktree add -q ../w");
	cleanup_free char *path = path_join(desk->root, "w");
	replace_string(&other->cwd, path);
	assert_int_equal(tree_plan(&desk->deck, &order, other, NULL), 0);
	assert_string_equal(other->workspace->source, path);
	assert_int_equal(create_instance(desk->deck.store, other, NULL), 0);
	assert_int_equal(branch_look(&desk->deck, instance, NULL, &fate, NULL), 0);
	assert_false(fate.goes);
	assert_string_equal(fate.why, "session Other has it");
	assert_int_equal(trash_put(lock_of(desk->deck.store, ID), NULL), 0);
	assert_int_equal(chdir(desk->root), 0);
	list_strays(desk, &strays);
	assert_int_equal(strays.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_tree_that_is_gone_is_made_from_its_branch),
		DESK_TEST(commits_of_a_detached_head_come_back),
		DESK_TEST(a_kill_does_not_cost_a_detached_head),
		DESK_TEST(a_tree_that_its_user_brought_back_is_not_made_again),
		DESK_TEST(commits_of_a_detached_head_are_not_deleted),
		DESK_TEST(a_killed_deletion_has_lost_nothing),
		DESK_TEST(what_is_lost_after_a_killed_deletion_is_said),
		DESK_TEST(what_is_given_up_does_not_count_as_freed),
		DESK_TEST(a_tree_comes_back_after_its_repository_was_moved),
		DESK_TEST(a_mount_point_is_not_taken_for_its_disk),
		DESK_TEST(the_id_of_a_root_can_be_given),
		DESK_TEST(a_mount_point_does_not_make_a_tree_an_orphan_to_free),
		DESK_TEST(a_repository_that_cannot_be_read_is_named),
		DESK_TEST(a_repository_that_was_moved_is_named),
		DESK_TEST(a_clone_of_a_borrower_borrows_nothing),
		DESK_TEST(a_tree_that_is_not_made_has_nothing_to_lose),
		DESK_TEST(a_record_that_was_deleted_is_made_again),
		DESK_TEST(a_record_that_may_be_anothers_is_not_made_again),
		DESK_TEST(a_branch_without_a_session_goes_if_it_is_elsewhere),
		DESK_TEST(a_branch_of_a_session_by_another_path_is_no_stray),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
