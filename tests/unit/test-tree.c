/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree that is made for a session, with the real git: what a kill leaves, what is gone, what is
 * not ours, and what may be deleted.
 */
#include "unit/tree-fixture.h"

#include "driver/git/git.h"
#include "engine/workspace/branch.h"
#include "engine/workspace/orphan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Another program takes the tree's name, and changes the tree, while it is being deleted. */
static bool is_disturbed;

int renameat(int from, const char *old_name, int to, const char *new_name)
{
	const int r = (int)syscall(SYS_renameat2, from, old_name, to, new_name, 0);
	if (r == 0 && is_disturbed && ends_with(new_name, ".removed")) {
		is_disturbed = false;
		assert_int_equal(mkdirat(from, old_name, 0700), 0);
		cleanup_free char *late = path_join(new_name, "late");
		cleanup_free char *mine = path_join(old_name, "mine");
		const int files[] = { openat(to, late, O_WRONLY | O_CREAT | O_CLOEXEC, 0600),
				      openat(from, mine, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) };
		for (size_t i = 0; i < ARRAY_SIZE(files); i++)
			assert_int_equal(close(files[i]), 0);
	}
	return r;
}

static void a_tree_that_cannot_go_back_is_kept_beside(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	is_disturbed = true;
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	assert_false(is_disturbed);
	assert_non_null(strstr(desk->deck.warnings.items[0], "it is now in project."));
	/* The next deletion finds it there. */
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	do_sh(desk, "test -e default/trees/" ID "/project/mine && "
		    "test -e default/trees/" ID "/project.*/late");
}

static void a_tree_is_made_once(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_instance struct instance *stored = desk_load(desk);
	assert_true(stored->workspace->is_made);
	assert_string_equal(instance->workspace->branch, "agentdeck/fix-it");
	assert_string_equal(instance->cwd, instance->workspace->path);
	do_sh(desk, "echo mine >default/trees/" ID "/project/a");
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk, "test mine = \"$(cat default/trees/" ID "/project/a)\"");
	assert_int_equal(desk->deck.warnings.count, 0);
}

static void a_directory_below_the_root_stays_below_it(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_instance(ID, "x");
	cleanup_free char *sub = path_join(desk->cwd, "src/lib");
	const struct tree_order order = { .kind = WORKSPACE_CLONE };
	do_sh(desk, "cd project && git init -q && mkdir -p src/lib && " COMMIT " one");
	replace_string(&instance->cwd, sub);
	assert_int_equal(tree_plan(&desk->deck, &order, instance, NULL), 0);
	assert_true(ends_with(instance->cwd, "/trees/" ID "/project/src/lib"));
}

/* Killed after git has made the branch, its own entry, and a part of the files. */
static void what_a_kill_left_is_made_whole(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	cleanup_error struct error err = { 0 };
	do_sh(desk,
	      "mkdir -p -m 700 default/trees/" ID " && cd project && git worktree add -q --lock "
	      "-b agentdeck/fix-it ../default/trees/" ID "/project && rm ../default/trees/" ID
	      "/project/a");
	if (ensure(desk, instance, &err) < 0)
		fail_msg("%s", err.message);
	do_sh(desk, "test -f default/trees/" ID "/project/a");
	assert_int_equal(desk->deck.warnings.count, 0);
}

static void a_branch_that_another_has_made_is_left_alone(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	cleanup_error struct error err = { 0 };
	do_sh(desk, "cd project && git checkout -q -b agentdeck/fix-it && " COMMIT
		    " two && git checkout -q main");
	assert_int_equal(ensure(desk, instance, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
}

static void a_path_elsewhere_is_never_touched(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
#define PLACE "default/trees/" ID
	static const char *const names[] = {
		"victim",
		(PLACE "/../../../victim"),
		PLACE,
		"default/trees/other/project",
	};
	do_sh(desk, "mkdir victim && echo mine >victim/file");
	instance->workspace->may_be_lost = true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_error struct error err = { 0 };
		free(instance->workspace->path);
		instance->workspace->path = path_join(desk->root, names[i]);
		instance->workspace->is_made = false;
		assert_int_equal(ensure(desk, instance, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	}
	do_sh(desk, "test -f victim/file && test -f default/trees/" ID "/project/a");
}

static void what_is_not_known_is_kept(void **state)
{
	struct desk *desk = *state;
	use_program("missing");
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	do_sh(desk, "test -f default/trees/" ID "/project/a");
	/* When it was made, and now. */
	assert_int_equal(desk->deck.warnings.count, 2);
	assert_non_null(
		strstr(desk->deck.warnings.items[1], "may have work that exists nowhere else"));
	instance->workspace->may_be_lost = true;
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	do_sh(desk,
	      "test ! -e default/trees/" ID " && cd project && "
	      "test 1 = \"$(git worktree list | wc -l)\" && git rev-parse -q agentdeck/fix-it");
}

static void delete_of(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = new_tree(desk, kind);
	do_sh(desk, "echo new >default/trees/" ID "/project/new");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	assert_non_null(strstr(desk->deck.warnings.items[0], "?? new"));
	do_sh(desk, "rm default/trees/" ID "/project/new");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	do_sh(desk, "test ! -e default/trees/" ID);
}

static void a_worktree_is_deleted_when_nothing_is_lost(void **state)
{
	delete_of(*state, WORKSPACE_WORKTREE);
}

/* `git worktree add ../other`, and a tree under another name. */
static void what_is_beside_a_tree_is_not_lost_with_it(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_verdict struct verdict verdict = { 0 }, gone = { 0 };
	do_sh(desk, "cd default/trees/" ID "/project && git worktree add -q -b other ../other && "
		    "echo work >../other/work && touch ../setup.log");
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_false(verdict_is_safe(&verdict));
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	assert_non_null(strstr(desk->deck.warnings.items[0], "there is other"));
	do_sh(desk, "cd default/trees/" ID " && rm -r other && mv project moved");
	assert_int_equal(tree_judge(&desk->deck, instance, &gone, NULL), 0);
	assert_false(verdict_is_safe(&gone));
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	do_sh(desk, "cd default/trees/" ID " && mv moved project");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	do_sh(desk, "test ! -e default/trees/" ID);
}

static void a_clone_is_deleted_when_nothing_is_lost(void **state)
{
	delete_of(*state, WORKSPACE_CLONE);
}

static void delete_is_done(struct desk *desk, struct instance *instance)
{
	cleanup_error struct error err = { 0 };
	if (tree_delete(&desk->deck, instance, NULL, &err) != 0)
		fail_msg("%s", err.message);
	do_sh(desk, "test ! -e default/trees/" ID);
	assert_int_equal(desk->deck.warnings.count, 0);
}

/* Half of it is gone, and nobody asks again what would be lost with the other half. */
static void a_deletion_that_was_cut_off_goes_on(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd default/trees/" ID " && mv project .removed && rm .removed/a");
	delete_is_done(desk, instance);
	do_sh(desk, "cd project && test 1 = \"$(git worktree list | wc -l)\"");
}

/* Else git keeps its branch for a work tree that nobody has. */
static void git_forgets_a_tree_that_its_user_deleted(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "rm -rf default/trees && cd project && "
		    "git worktree add -q -b theirs ../theirs");
	delete_is_done(desk, instance);
	do_sh(desk, "rm -rf theirs && cd project && git worktree list | grep theirs && "
		    "test 2 = \"$(git worktree list | wc -l)\"");
}

static void a_tree_whose_repository_is_gone_is_no_obstacle(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	instance->workspace->may_be_lost = true;
	do_sh(desk, "rm -rf project");
	delete_is_done(desk, instance);
}

/* Its session's manifest was deleted by hand. */
static void a_tree_without_a_session_is_judged_by_its_record(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_free char *profile = path_join(desk->root, "default");
	struct orphan orphan = { 0 };
	do_sh(desk, "echo new >default/trees/" ID "/project/new");
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), 0);
	assert_string_equal(orphan.path, instance->workspace->path);
	assert_false(verdict_is_safe(&orphan.verdict));
	orphan_clear(&orphan);
	do_sh(desk, "rm default/trees/" ID "/project/new");
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), 0);
	assert_true(verdict_is_safe(&orphan.verdict));
	assert_int_equal(orphan_delete(desk->deck.store, ID, &orphan, NULL), 0);
	orphan_clear(&orphan);
	do_sh(desk, "test ! -e default/trees/" ID " && cd project && "
		    "test 1 = \"$(git worktree list | wc -l)\"");
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), ORPHAN_ABSENT);
}

/* An agent can write whatever it likes into its tree, but nothing beside it; a record of another
 * place counts for nothing. */
static void a_record_of_another_place_is_no_record(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance UNUSED = new_tree(desk, WORKSPACE_CLONE);
	cleanup_free char *profile = path_join(desk->root, "default");
	cleanup_orphan struct orphan orphan = { 0 };
	do_sh(desk, "cd default/trees/" ID " && mv project other && "
		    "mkdir -p -m 700 ../0bbbbbbb && cp origin.json ../0bbbbbbb && "
		    "mkdir ../0bbbbbbb/project");
	assert_int_equal(orphan_look(desk->deck.store, profile, "0bbbbbbb", &orphan, NULL), 0);
	assert_false(verdict_is_safe(&orphan.verdict));
	orphan_clear(&orphan);
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), 0);
	assert_false(verdict_is_safe(&orphan.verdict));
}

/* The configuration says so, and then says something else. */
static void use_root(struct desk *desk, const char *name)
{
	free(desk->deck.settings.workspace_root);
	desk->deck.settings.workspace_root = name ? path_join(desk->root, name) : NULL;
}

static void a_tree_is_made_below_the_root(void **state)
{
	struct desk *desk = *state;
	static const enum workspace_kind kinds[] = { WORKSPACE_WORKTREE, WORKSPACE_CLONE };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		use_root(desk, "my/trees");
		cleanup_instance struct instance *instance = new_tree(desk, kinds[i]);
		cleanup_verdict struct verdict verdict = { 0 };
		use_root(desk, "elsewhere");
		do_sh(desk, "test -f my/trees/" ID "/project/a && rm -rf my/trees/" ID);
		assert_int_equal(ensure(desk, instance, NULL), 0);
		assert_true(desk->deck.warnings.count > 0);
		assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
		assert_true(verdict_is_safe(&verdict));
		do_sh(desk, "echo theirs >my/trees/theirs && echo x >my/trees/" ID "/project/new");
		assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
		do_sh(desk, "rm my/trees/" ID "/project/new");
		assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
		do_sh(desk, "test ! -e my/trees/" ID " && test ! -e default/trees/" ID
			    " && test ! -e elsewhere && test -f my/trees/theirs && cd project && "
			    "test 1 = \"$(git worktree list | wc -l)\" && rm -rf ../default/" ID);
	}
}

/* A disk that is not mounted; a directory that nothing says is ours. */
static void below_a_root_only_what_is_ours_is_touched(void **state)
{
	struct desk *desk = *state;
	cleanup_error struct error err = { 0 };
	use_root(desk, "trees");
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	instance->workspace->may_be_lost = true;
	do_sh(desk, "mv trees away");
	assert_int_equal(ensure(desk, instance, NULL), -1);
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, &err), -1);
	assert_int_equal(err.code, ERROR_UNAVAILABLE);
	do_sh(desk, "test ! -e trees && test -f default/trees/" ID "/origin.json && "
		    "mv away trees && rm default/trees/" ID "/origin.json");
	use_root(desk, "other");
	error_clear(&err);
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, &err), -1);
	assert_int_equal(err.code, ERROR_EXISTS);
	instance->workspace->is_made = false;
	assert_int_equal(ensure(desk, instance, NULL), -1);
	do_sh(desk, "test -f trees/" ID "/project/a");
	use_root(desk, "trees");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	do_sh(desk, "test ! -e trees/" ID);
}

static void a_tree_below_the_root_without_a_session_is_found(void **state)
{
	struct desk *desk = *state;
	use_root(desk, "trees");
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	cleanup_free char *profile = path_join(desk->root, "default");
	struct orphan orphan = { 0 };
	do_sh(desk, "mv trees away");
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), 0);
	assert_false(verdict_is_safe(&orphan.verdict));
	orphan_clear(&orphan);
	do_sh(desk, "mv away trees && mkdir -m 700 trees/0bbbbbbb && "
		    "echo done >default/trees/" ID "/setup.log");
	assert_int_equal(orphan_look(desk->deck.store, profile, ID, &orphan, NULL), 0);
	assert_string_equal(orphan.path, instance->workspace->path);
	assert_true(verdict_is_safe(&orphan.verdict));
	assert_int_equal(orphan_delete(desk->deck.store, ID, &orphan, NULL), 0);
	orphan_clear(&orphan);
	do_sh(desk,
	      "test ! -e trees/" ID " && test -d trees/0bbbbbbb && test ! -e default/trees/" ID);
}

static void a_commit_in_a_clone_is_nowhere_else(void **state)
{
	struct desk *desk = *state;
	cleanup_verdict struct verdict verdict = { 0 };
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd default/trees/" ID "/project && " COMMIT " two");
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_false(verdict_is_safe(&verdict));
}

static void a_commit_in_a_worktree_is_kept_by_its_branch(void **state)
{
	struct desk *desk = *state;
	cleanup_verdict struct verdict verdict = { 0 };
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd default/trees/" ID "/project && " COMMIT " two");
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_true(verdict_is_safe(&verdict));
}

/* The commit of the other's tree, and the same directory below its root. */
static void fork_of(struct desk *desk, enum workspace_kind theirs, enum workspace_kind ours)
{
	cleanup_instance struct instance *one = new_tree(desk, theirs);
	cleanup_instance struct instance *two = new_instance("bbbbbbbb", "Copy");
	cleanup_error struct error err = { 0 };
	const struct tree_order order = { .kind = ours, .like = one };
	do_sh(desk, "cd default/trees/" ID
		    "/project && mkdir lib && echo b >lib/b && git add lib && " COMMIT " two");
	cleanup_free char *below = path_join(one->workspace->path, "lib");
	replace_string(&one->cwd, below);
	replace_string(&two->cwd, below);
	if (tree_plan(&desk->deck, &order, two, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(two->workspace->source, one->workspace->source);
	assert_true(ends_with(two->cwd, "/trees/bbbbbbbb/project/lib"));
	assert_int_equal(create_instance(desk->deck.store, two, NULL), 0);
	cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, "bbbbbbbb");
	if (tree_ensure(&desk->deck, lock, two, &err) < 0)
		fail_msg("%s", err.message);
	do_sh(desk, "cd default/trees/bbbbbbbb/project && test b = \"$(cat lib/b)\" && "
		    "test agentdeck/copy = \"$(git symbolic-ref --short HEAD)\"");
}

static void a_fork_of_a_worktree_begins_at_its_commit(void **state)
{
	fork_of(*state, WORKSPACE_WORKTREE, WORKSPACE_WORKTREE);
}

static void a_clone_of_a_clone_has_the_commits_of_that(void **state)
{
	fork_of(*state, WORKSPACE_CLONE, WORKSPACE_CLONE);
}

static void a_worktree_can_begin_at_a_commit_of_a_clone(void **state)
{
	fork_of(*state, WORKSPACE_CLONE, WORKSPACE_WORKTREE);
}

/* What the agent has put into its own repository. */
/* What an agent puts into the configuration, the hooks and the attributes of its tree.  Those of a
 * worktree are its repository's as well. */
#define ATTACK                                                                                 \
	"cd default/trees/" ID "/project && printf '#!/bin/sh\\ntouch %s/ran\\ncat\\n' "       \
	"\"$OLDPWD\" >evil && chmod +x evil && echo '* filter=x' >.gitattributes && "          \
	"git add evil .gitattributes && " COMMIT " two && hooks=$(git rev-parse --git-path "   \
	"hooks) && mkdir -p \"$hooks\" && for hook in post-checkout reference-transaction "    \
	"pre-auto-gc post-index-change; do cp evil \"$hooks/$hook\"; done && for key in "      \
	"core.fsmonitor core.alternateRefsCommand core.sshCommand uploadpack.packObjectsHook " \
	"core.pager diff.external core.gitProxy; do git config $key \"$PWD/evil\"; done"

/* A checkout in a repository runs its filters, which git LFS needs: those are its user's. */
static void a_fork_executes_nothing_of_the_tree(void **state)
{
	struct desk *desk = *state;
	static const enum workspace_kind kinds[] = { WORKSPACE_CLONE, WORKSPACE_WORKTREE };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_instance struct instance *one = new_tree(desk, kinds[i]);
		cleanup_instance struct instance *two = new_instance("bbbbbbbb", "Copy");
		const struct tree_order order = { .kind = kinds[i], .like = one };
		do_sh(desk, ATTACK);
		if (kinds[i] == WORKSPACE_CLONE)
			do_sh(desk, "git -C default/trees/" ID "/project config filter.x.clean "
				    "\"$PWD/default/trees/" ID "/project/evil\" && touch "
				    "default/trees/" ID "/project/evil");
		replace_string(&two->cwd, one->cwd);
		assert_int_equal(tree_plan(&desk->deck, &order, two, NULL), 0);
		assert_int_equal(create_instance(desk->deck.store, two, NULL), 0);
		cleanup_store_lock struct store_lock *lock = lock_of(desk->deck.store, "bbbbbbbb");
		assert_int_equal(tree_ensure(&desk->deck, lock, two, NULL), 0);
		do_sh(desk, "test -f default/trees/bbbbbbbb/project/evil && test ! -e ran");
		do_sh(desk, "rm -rf default/trees default/" ID " default/bbbbbbbb");
	}
}

static void a_tree_follows_its_repository(void **state)
{
	struct desk *desk = *state;
	static const enum workspace_kind kinds[] = { WORKSPACE_WORKTREE, WORKSPACE_CLONE };
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_instance struct instance *instance = new_tree(desk, kinds[i]);
		cleanup_verdict struct verdict verdict = { 0 };
		cleanup_free char *moved = path_join(desk->root, "moved");
		cleanup_free char *other = path_join(desk->root, "other");
		do_sh(desk, "mv project moved && git init -q other && cd other && " COMMIT " x");
		assert_int_equal(ensure(desk, instance, NULL), 0);
		assert_int_equal(desk->deck.warnings.count, 1);
		assert_int_equal(tree_move_source(&desk->deck, instance, other, &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_string_equal(instance->workspace->source, desk->cwd);
		error_clear(&err);
		if (tree_move_source(&desk->deck, instance, moved, &err) < 0)
			fail_msg("%s", err.message);
		assert_string_equal(instance->workspace->source, moved);
		do_sh(desk, "cd default/trees/" ID "/project && git status");
		assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
		assert_true(verdict_is_safe(&verdict));
		do_sh(desk, "rm -rf moved other default/" ID " default/trees && mkdir project");
	}
}

/* Its branch was pushed, and merged as one commit by a person. */
#define SQUASHED                                                                         \
	"cd $T && echo new >new && git add new && " COMMIT " two && echo more >>new && " \
	"git add new && " COMMIT " three && cd - >/dev/null && "                         \
	"git init -q --bare ../remote.git && git remote add origin ../remote.git && "    \
	"git push -q origin main && git push -q -u origin agentdeck/fix-it && "          \
	"git merge -q --squash agentdeck/fix-it >/dev/null && " COMMIT " squashed"

/* What becomes of its branch when its session goes. */
static const struct branch_case {
	const char *script; /* in the repository; the tree is $T */
	bool goes;
	const char *why;
} branch_cases[] = {
	{ "true", true, "main has all of it" },
	{ COMMIT " more", true, "main has all of it" },
	{ "git checkout -q --detach && git branch -q -D main && git tag v1", true, "v1 has all" },
	{ "git checkout -q --detach && git branch -q -D main", false, "not merged into main" },
	{ "git -C $T -c user.name=a -c user.email=a@b commit -q --allow-empty -m two", false,
	  "not merged into main" },
	{ "git -C $T -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && "
	  "git merge -q agentdeck/fix-it",
	  true, "main has all of it" },
	{ "git -C $T -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && "
	  "git branch -q other agentdeck/fix-it",
	  false, "not merged into main" },
	{ "git -C $T -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && "
	  "git branch -q up agentdeck/fix-it && git branch -q -u up agentdeck/fix-it",
	  true, "up has all of it" },
	{ "git -C $T -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && "
	  "git branch -q -u main agentdeck/fix-it",
	  false, "not merged into main" },
	{ SQUASHED " && git update-ref -d refs/remotes/origin/agentdeck/fix-it", true,
	  "under other commits" },
	{ SQUASHED, true, "origin/agentdeck/fix-it has all of it" },
	/* More was done after the merge, or it was not merged. */
	{ SQUASHED " && git update-ref -d refs/remotes/origin/agentdeck/fix-it && cd $T && " COMMIT
		   " three",
	  false, "not merged into" },
	{ SQUASHED " && git update-ref -d refs/remotes/origin/agentdeck/fix-it && "
		   "git reset -q --hard HEAD~1 && "
		   "git update-ref -d refs/remotes/origin/main",
	  false, "not merged into" },
	{ "git -C $T checkout -q --detach && git checkout -q agentdeck/fix-it", false,
	  "checked out" },
	{ "git -C $T checkout -q --detach && git worktree add -q ../w agentdeck/fix-it", false,
	  "checked out" },
	{ "git -C $T checkout -q --detach && git worktree add -q ../w agentdeck/fix-it && "
	  "cd ../w && " COMMIT " two && ! git -c user.name=a -c user.email=a@b rebase -q -f "
	  "-x false HEAD~1 >/dev/null 2>&1 && test -d $(git rev-parse --git-dir)/rebase-merge",
	  false, "checked out" },
	/* What the agent of another session has written into its record. */
	{ "git -C $T checkout -q --detach && git worktree add -q ../w && "
	  "echo nowhere >.git/worktrees/w/commondir",
	  true, "main has all of it" },
	{ "git -C $T checkout -q --detach && git worktree add -q ../w && "
	  "rm .git/worktrees/w/HEAD && mkfifo .git/worktrees/w/HEAD",
	  true, "main has all of it" },
};

static void a_branch_of_ours_goes_if_nothing_is_lost(void **state)
{
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(branch_cases); i++) {
		const struct branch_case *given = &branch_cases[i];
		cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
		cleanup_error struct error err = { 0 };
		cleanup_branch_fate struct branch_fate fate = { 0 };
		cleanup_free char *script = xasprintf("cd project && T=$PWD/../default/trees/" ID
						      "/project && %s",
						      given->script);
		do_sh(desk, script);
		if (branch_look(&desk->deck, instance, NULL, &fate, &err) < 0)
			fail_msg("%s: %s", given->script, err.message);
		if (fate.goes != given->goes || !strstr(or_empty(fate.why), given->why))
			fail_msg("%s: %d, %s", given->script, fate.goes, or_empty(fate.why));
		instance->workspace->may_be_lost = true;
		assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
		/* The policy "clean" takes only one to which nothing was committed. */
		if (fate.has_commits) {
			assert_int_equal(branch_delete(&desk->deck, instance,
						       BRANCHES_WITHOUT_COMMITS, NULL),
					 0);
			do_sh(desk, "git -C project rev-parse -q --verify agentdeck/fix-it");
		}
		const enum branches_wish wish = fate.has_commits ? BRANCHES_MERGED
								 : BRANCHES_WITHOUT_COMMITS;
		if (branch_delete(&desk->deck, instance, wish, &err) < 0)
			fail_msg("%s: %s", given->script, err.message);
		do_sh(desk, given->goes ? "! git -C project rev-parse -q --verify agentdeck/fix-it"
					: "git -C project rev-parse -q --verify agentdeck/fix-it");
		do_sh(desk, "rm -rf project w remote.git default/" ID " && mkdir project");
	}
}

/* A branch that moved since, one that was there before, and one that another session has. */
static void a_branch_that_is_not_only_ours_stays(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_instance struct instance *other = new_instance("bbbbbbbb", "Other");
	cleanup_branch_fate struct branch_fate before = { 0 }, fate = { 0 }, none = { 0 };
	const struct tree_order order = { .kind = WORKSPACE_CLONE, .branch = "agentdeck/fix-it" };
	assert_int_equal(branch_look(&desk->deck, instance, NULL, &before, NULL), 0);
	assert_true(before.goes);
	do_sh(desk, "cd default/trees/" ID "/project && " COMMIT " two");
	assert_int_equal(gitcmd_delete_branch(desk->cwd, before.name, before.tip, NULL), -1);
	do_sh(desk, "cd project && git merge -q agentdeck/fix-it");
	replace_string(&other->cwd, desk->cwd);
	assert_int_equal(tree_plan(&desk->deck, &order, other, NULL), 0);
	assert_int_equal(create_instance(desk->deck.store, other, NULL), 0);
	assert_int_equal(branch_look(&desk->deck, instance, NULL, &fate, NULL), 0);
	assert_false(fate.goes);
	assert_string_equal(fate.why, "session Other has it");
	/* Also when that is removed, unless it goes, too. */
	cleanup_branch_fate struct branch_fate removed = { 0 }, going = { 0 };
	cleanup_trash struct trash trash = { 0 };
	assert_int_equal(trash_put(lock_of(desk->deck.store, "bbbbbbbb"), NULL), 0);
	assert_int_equal(branch_look(&desk->deck, instance, NULL, &removed, NULL), 0);
	assert_false(removed.goes);
	assert_string_equal(removed.why, "the removed session Other has it");
	assert_int_equal(trash_list(desk->deck.store, &trash, NULL), 0);
	assert_int_equal(branch_look(&desk->deck, instance, &trash, &going, NULL), 0);
	assert_true(going.goes);
	do_sh(desk, "for file in default/.trash/*/instance.json; do echo no >$file; done");
	cleanup_branch_fate struct branch_fate unknown = { 0 };
	assert_int_equal(branch_look(&desk->deck, instance, NULL, &unknown, NULL), 0);
	assert_false(unknown.goes);
	assert_non_null(strstr(unknown.why, "cannot be read"));
	instance->workspace->made_branch = false;
	assert_int_equal(branch_look(&desk->deck, instance, NULL, &none, NULL), 0);
	assert_null(none.name);
}

/* Of each odd repository a tree is made, or the reason why not is said. */
#define LFS(script)                                                                           \
	"git clone -q project x && cd x && echo '*.bin filter=lfs -text' >.gitattributes && " \
	"echo data >x.bin && git -c filter.lfs.clean=cat add . && " COMMIT " lfs && " script
static const struct odd_case {
	const char *script;    /* in the desk's directory */
	const char *directory; /* that the session is for */
	const char *branch;    /* or NULL */
	const char *errors[2]; /* of a worktree and of a clone; NULL: it works */
} odd_cases[] = {
	{ "mkdir x", "x", NULL, { "not in a Git repository", "not in a Git repository" } },
	{ "git init -q x", "x", NULL, { "no commit yet", "no commit yet" } },
	{ "git clone -q --bare project x", "x", NULL, { NULL, NULL } },
	{ "git clone -q project x", "x/.git", NULL, { "inside of a Git", "inside of a Git" } },
	{ "git clone -q project x && cd x && git checkout -q --detach", "x", NULL, { NULL, NULL } },
	{ "git clone -q project x && cd x && git worktree add -q ../y", "y", NULL, { NULL, NULL } },
	{ "git clone -q project x && mkdir x/lib && git clone -q project x/lib/y",
	  "x/lib/y",
	  NULL,
	  { NULL, NULL } },
	{ "git clone -q project x && cd x && mkdir lib && echo c >lib/c && git add lib && " COMMIT
	  " lib && git sparse-checkout set lib",
	  "x",
	  NULL,
	  { NULL, NULL } },
	{ "git clone -q project x && cd x && git -c protocol.file.allow=always submodule --quiet "
	  "add ../project sub && " COMMIT " sub",
	  "x",
	  NULL,
	  { NULL, NULL } },
	{ "git clone -q project x && cd x && git checkout -q -b side && echo s >a && " COMMIT
	  " s a && git checkout -q main && echo m >a && " COMMIT " m a && "
	  "! git -c user.name=a -c user.email=a@b rebase -q side 2>/dev/null",
	  "x",
	  NULL,
	  { NULL, NULL } },
	/* The same without git-lfs, which leaves its pointers; with a filter that works; and with
	 * one that is configured and missing, of which a clone has no configuration.  Where git-lfs
	 * is set up for the whole machine, its process comes before what is set here. */
	{ LFS("true"), "x", NULL, { NULL, NULL } },
	{ LFS("git config filter.lfs.smudge cat && git config filter.lfs.clean cat && "
	      "git config filter.lfs.required true"),
	  "x",
	  NULL,
	  { NULL, NULL } },
	{ LFS("git config filter.lfs.smudge '/nonexistent smudge %f' && "
	      "git config filter.lfs.process /nonexistent && "
	      "git config filter.lfs.required true"),
	  "x",
	  NULL,
	  { "is git-lfs installed", NULL } },
	{ "git clone -q project x", "x", "main", { "already", NULL } },
	{ "git clone -q project x", "x", "a..b", { "invalid branch", "invalid branch" } },
	{ "git clone -q --depth 1 \"file://$PWD/project\" x", "x", NULL, { NULL, NULL } },
};

static int make_odd(struct desk *desk, const struct odd_case *odd, enum workspace_kind kind,
		    struct error *err)
{
	cleanup_instance struct instance *instance = new_instance(ID, "Odd");
	const struct tree_order order = { .kind = kind, .branch = odd->branch };
	free(instance->cwd);
	instance->cwd = path_join(desk->root, odd->directory);
	if (tree_plan(&desk->deck, &order, instance, err) < 0)
		return -1;
	assert_int_equal(create_instance(desk->deck.store, instance, NULL), 0);
	return ensure(desk, instance, err);
}

static void odd_repositories_work_or_are_refused(void **state)
{
	struct desk *desk = *state;
	do_sh(desk,
	      "cd project && git init -q -b main && echo a >a && git add a && " COMMIT " one");
	for (size_t i = 0; i < ARRAY_SIZE(odd_cases); i++) {
		const struct odd_case *odd = &odd_cases[i];
		for (size_t kind = 0; kind < ARRAY_SIZE(odd->errors); kind++) {
			cleanup_error struct error err = { 0 };
			const char *expected = odd->errors[kind];
			do_sh(desk, odd->script);
			int r = make_odd(desk, odd, (enum workspace_kind)kind, &err);
			if (expected ? r == 0 || !strstr(err.message, expected) : r < 0)
				fail_msg("%s, %s: %s", odd->script,
					 workspace_kind_name((enum workspace_kind)kind),
					 r < 0 ? err.message : "made");
			if (!expected)
				do_sh(desk, "cd default/trees/" ID "/*/ && git status --porcelain");
			do_sh(desk, "rm -rf x y default/" ID " default/trees");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_tree_is_made_once),
		DESK_TEST(a_tree_that_cannot_go_back_is_kept_beside),
		DESK_TEST(a_directory_below_the_root_stays_below_it),
		DESK_TEST(what_a_kill_left_is_made_whole),
		DESK_TEST(a_branch_that_another_has_made_is_left_alone),
		DESK_TEST(a_path_elsewhere_is_never_touched),
		DESK_TEST(what_is_not_known_is_kept),
		DESK_TEST(a_worktree_is_deleted_when_nothing_is_lost),
		DESK_TEST(what_is_beside_a_tree_is_not_lost_with_it),
		DESK_TEST(a_clone_is_deleted_when_nothing_is_lost),
		DESK_TEST(a_deletion_that_was_cut_off_goes_on),
		DESK_TEST(git_forgets_a_tree_that_its_user_deleted),
		DESK_TEST(a_tree_whose_repository_is_gone_is_no_obstacle),
		DESK_TEST(a_tree_without_a_session_is_judged_by_its_record),
		DESK_TEST(a_record_of_another_place_is_no_record),
		DESK_TEST(a_tree_is_made_below_the_root),
		DESK_TEST(below_a_root_only_what_is_ours_is_touched),
		DESK_TEST(a_tree_below_the_root_without_a_session_is_found),
		DESK_TEST(a_commit_in_a_clone_is_nowhere_else),
		DESK_TEST(a_commit_in_a_worktree_is_kept_by_its_branch),
		DESK_TEST(a_fork_of_a_worktree_begins_at_its_commit),
		DESK_TEST(a_clone_of_a_clone_has_the_commits_of_that),
		DESK_TEST(a_worktree_can_begin_at_a_commit_of_a_clone),
		DESK_TEST(a_fork_executes_nothing_of_the_tree),
		DESK_TEST(a_tree_follows_its_repository),
		DESK_TEST(a_branch_of_ours_goes_if_nothing_is_lost),
		DESK_TEST(a_branch_that_is_not_only_ours_stays),
		DESK_TEST(odd_repositories_work_or_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
