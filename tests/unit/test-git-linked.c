/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Git's record of a worktree, which an agent in a container has written: neither the repository nor
 * the deletion of the tree depends on what is in it.
 */
#include "unit/tree-fixture.h"

#include "driver/git/git.h"
#include "engine/place/container/inside.h"

#define TREE   "default/trees/" ID "/project"
#define RECORD "project/.git/worktrees/project"

/* In the record.  Each made git 2.39 give up or wait, in the repository or when it removes it. */
static const char *const damages[] = {
	"echo /no/such/place >commondir",
	"echo >commondir",
	"rm commondir",
	"rm commondir && mkfifo commondir",
	"rm commondir && mkdir commondir && touch commondir/x",
	"rm commondir && ln -s /etc/passwd commondir",
	"rm HEAD && mkfifo HEAD",
	"rm HEAD",
	"rm HEAD && mkdir HEAD",
	"rm gitdir && mkfifo gitdir",
	"rm gitdir",
	"echo /nowhere/.git >gitdir",
	"rm locked && mkfifo locked",
	"rm -rf ./*",
};

static struct instance *new_inside(struct desk *desk)
{
	struct instance *instance = plan(desk, WORKSPACE_WORKTREE);
	replace_string(&instance->backend, "container");
	instance->recipe = recipe_new();
	instance->recipe->home = xstrdup("/nowhere/home");
	instance->recipe->directory = xstrdup(instance->cwd);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	return instance;
}

static void damage(struct desk *desk, const char *how)
{
	cleanup_free char *script = xasprintf("cd " RECORD " && %s", how);
	do_sh(desk, script);
}

static void begin_again(struct desk *desk)
{
	do_sh(desk, "rm -rf project default/" ID " default/trees && mkdir project");
}

/* git gets ten seconds, which it never needs. */
#define GIT "timeout 10 git -C "

static void a_damaged_record_is_mended(void **state)
{
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		cleanup_instance struct instance *instance = new_inside(desk);
		do_sh(desk, "touch " TREE "/new");
		damage(desk, damages[i]);
		inside_mend(instance);
		do_sh(desk, GIT
		      "project branch | grep -q agentdeck/fix-it && " GIT
		      "project worktree list | grep -q " TREE " && " GIT TREE
		      " status --porcelain | grep -q new && test agentdeck/fix-it = \"$(" GIT TREE
		      " symbolic-ref --short HEAD)\"");
		begin_again(desk);
	}
}

static void the_record_of_a_whole_worktree_stays_as_it_is(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_inside(desk);
	do_sh(desk, GIT TREE " checkout -q --detach && ls -l --time-style=full-iso -i " RECORD
			     " >before");
	inside_mend(instance);
	do_sh(desk, "ls -l --time-style=full-iso -i " RECORD " | cmp - before");
}

static void a_damaged_record_goes_with_its_tree(void **state)
{
	struct desk *desk = *state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		cleanup_instance struct instance *instance = new_inside(desk);
		cleanup_error struct error err = { 0 };
		damage(desk, damages[i]);
		do_sh(desk, "rm " TREE "/.git");
		instance->workspace->may_be_lost = true;
		if (tree_delete(&desk->deck, instance, NULL, &err) != 0)
			fail_msg("%s: %s", damages[i], err.message);
		do_sh(desk, "test ! -e " RECORD " && test ! -e " TREE " && " GIT
			    "project branch -D agentdeck/fix-it");
		begin_again(desk);
	}
}

/* The session's own was removed by hand, and its name is another work tree's now. */
static void the_record_of_another_work_tree_stays(void **state)
{
	struct desk *desk = *state;
	static const char *const others[] = {
		"true",
		/* Its disk is not mounted, and this session's tree is gone, too. */
		"mv ../other/project ../away && rm -rf ../" TREE,
	};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		cleanup_instance struct instance *instance = new_inside(desk);
		const struct gitcmd_linked tree = inside_linked(instance);
		cleanup_free char *script = xasprintf("cd project && rm -rf .git/worktrees && "
						      "git worktree add -q --lock ../other/project "
						      "-b other && (cd .git/worktrees/project && "
						      "cp HEAD gitdir commondir ../../../..) && %s",
						      others[i]);
		assert_true(ends_with(tree.record, RECORD));
		do_sh(desk, script);
		inside_mend(instance);
		assert_int_equal(gitcmd_forget_worktree(&tree, NULL), 0);
		do_sh(desk, "for f in HEAD gitdir commondir; do cmp $f " RECORD "/$f; done");
		do_sh(desk, "rm -rf other away");
		begin_again(desk);
	}
}

/* Its agent has put another repository in the place of its tree's. */
static void a_fork_of_a_worktree_is_of_its_own_repository(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *one = new_inside(desk);
	cleanup_instance struct instance *two = new_instance("bbbbbbbb", "Copy");
	const struct tree_order order = { .kind = WORKSPACE_CLONE, .like = one };
	do_sh(desk, "cd " TREE " && " COMMIT " two && git rev-parse HEAD >../../../../commit");
	do_sh(desk, "git init -q private && cd private && " COMMIT " secret && rm ../" TREE
		    "/.git && echo \"gitdir: $PWD/.git\" >../" TREE "/.git");
	replace_string(&two->cwd, one->cwd);
	assert_int_equal(tree_plan(&desk->deck, &order, two, NULL), 0);
	cleanup_free char *script = xasprintf("test %s = \"$(cat commit)\"", two->workspace->base);
	do_sh(desk, script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_damaged_record_is_mended),
		DESK_TEST(the_record_of_a_whole_worktree_stays_as_it_is),
		DESK_TEST(a_damaged_record_goes_with_its_tree),
		DESK_TEST(the_record_of_another_work_tree_stays),
		DESK_TEST(a_fork_of_a_worktree_is_of_its_own_repository),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
