/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The caller of git, with the real git and small repositories.
 */
#include "unit/scratch.h"

#include "base/child.h"
#include "driver/git/git.h"

#include <sys/stat.h>

static char *at(const char *name)
{
	return path_join(scratch, name);
}

/* A shell script, in the scratch directory. */
static void do_sh(const char *script)
{
	cleanup_child_result struct child_result result = { 0 };
	cleanup_free char *all = xasprintf("cd '%s' && export GIT_CONFIG_GLOBAL=/dev/null && %s",
					   scratch, script);
	const struct child_request request = {
		.argv = (const char *const[]){ "sh", "-ec", all, NULL },
	};
	assert_int_equal(child_run(&request, 30000, &result, NULL), 0);
	if (result.exit_status != 0)
		fail_msg("%s: %s", script, strbuf_text(&result.errors));
}

#define COMMIT "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one"
#define MAKE   "git init -q -b main api && mkdir api/sub && cd api && " COMMIT

static int find(const char *name, struct gitcmd_repository *ret, struct error *err)
{
	cleanup_free char *path = at(name);
	return gitcmd_find(path, ret, err);
}

static void a_repository_is_found_from_below(void **state UNUSED)
{
	cleanup_gitcmd_repository struct gitcmd_repository found = { 0 };
	cleanup_free char *top = at("api"), *common = at("api/.git");
	do_sh(MAKE);
	assert_int_equal(find("api/sub", &found, NULL), 0);
	assert_string_equal(found.top, top);
	assert_string_equal(found.common, common);
	assert_string_equal(found.prefix, "sub/");
	assert_int_equal(strlen(found.head), 40);
}

static void what_is_no_work_tree_is_told_apart(void **state UNUSED)
{
	cleanup_gitcmd_repository struct gitcmd_repository bare = { 0 }, unborn = { 0 };
	struct gitcmd_repository none = { 0 };
	cleanup_error struct error err = { 0 };
	do_sh("git init -q --bare bare.git && git init -q new && mkdir plain");
	assert_int_equal(find("plain", &none, NULL), GIT_ABSENT);
	assert_int_equal(find("bare.git", &bare, NULL), 0);
	assert_null(bare.top);
	assert_int_equal(find("new", &unborn, NULL), 0);
	assert_null(unborn.head);
	assert_int_equal(find("new/.git", &none, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
}

static void variables_lead_nowhere_else(void **state UNUSED)
{
	struct gitcmd_repository none = { 0 };
	cleanup_free char *other = at("api/.git");
	do_sh(MAKE " && mkdir ../plain");
	setenv("GIT_DIR", other, 1);
	const int r = find("plain", &none, NULL);
	unsetenv("GIT_DIR");
	assert_int_equal(r, GIT_ABSENT);
}

static void names_of_branches_are_checked(void **state UNUSED)
{
	static const char *const bad[] = { "", "-x", "a..b", "a b", "x.lock", "@{-1}", "a/" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		assert_int_equal(gitcmd_check_branch(bad[i], &err), -1);
		assert_int_equal(err.code, ERROR_INVALID);
	}
	assert_int_equal(gitcmd_check_branch("fix/a-1", NULL), 0);
}

/* The tree of what is made, on branch "own" at the source's commit. */
static int make(int (*how)(const struct gitcmd_tree *, struct error *), const char *path,
		struct error *err)
{
	cleanup_gitcmd_repository struct gitcmd_repository source = { 0 };
	assert_int_equal(find("api", &source, NULL), 0);
	const struct gitcmd_tree tree = {
		.source = source.top, .path = path, .branch = "own", .base = source.head
	};
	return how(&tree, err);
}

static void nothing_of_the_repository_is_executed(void **state UNUSED)
{
	cleanup_free char *worktree = at("worktree"), *clone = at("clone"), *ran = at("ran");
	do_sh(MAKE " && for h in post-checkout post-index-change reference-transaction; do "
		   "printf '#!/bin/sh\\ntouch %s/ran\\n' \"$PWD/..\" > .git/hooks/$h; "
		   "chmod +x .git/hooks/$h; done; cp .git/hooks/post-checkout ../trap; "
		   "git config core.fsmonitor \"$PWD/../trap\"");
	assert_int_equal(make(gitcmd_add_worktree, worktree, NULL), 0);
	assert_int_equal(make(gitcmd_clone, clone, NULL), 0);
	assert_int_equal(access(ran, F_OK), -1);
}

static void a_worktree_is_locked_and_forgotten_alone(void **state UNUSED)
{
	cleanup_free char *path = at("worktree"), *source = at("api"), *commit = NULL;
	const struct gitcmd_linked tree = { .source = source, .path = path };
	do_sh(MAKE " && git worktree add -q ../other -b other");
	assert_int_equal(make(gitcmd_add_worktree, path, NULL), 0);
	do_sh("rm -rf worktree other.aside && mv other other.aside && git -C api worktree list | "
	      "grep -q 'worktree .*locked'");
	assert_int_equal(gitcmd_forget_worktree(&tree, NULL), 0);
	do_sh("git -C api worktree list | grep -q /other && ! git -C api worktree list | grep -q "
	      "locked");
	assert_int_equal(gitcmd_forget_worktree(&tree, NULL), 0);
	assert_int_equal(gitcmd_find_branch(source, "own", &commit, NULL), 0);
}

static void a_clone_shares_nothing_and_has_the_remotes(void **state UNUSED)
{
	cleanup_free char *path = at("clone");
	do_sh(MAKE " && git remote add origin https://example.org/api.git");
	assert_int_equal(make(gitcmd_clone, path, NULL), 0);
	do_sh("test \"$(git -C clone remote get-url origin)\" = https://example.org/api.git");
	do_sh("test \"$(git -C clone remote get-url agentdeck-source)\" = \"$PWD/api\"");
	do_sh("test \"$(git -C clone symbolic-ref --short HEAD)\" = own");
	do_sh("test -z \"$(find clone/.git -type f -links +1)\"");
}

static void a_failure_says_what_git_says(void **state UNUSED)
{
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = at("worktree");
	do_sh(MAKE " && git branch own");
	assert_int_equal(make(gitcmd_add_worktree, path, &err), -1);
	assert_int_equal(err.code, ERROR_CHILD);
	assert_non_null(strstr(err.message, "already exists"));
}

#define SCRATCH_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(a_repository_is_found_from_below),
		SCRATCH_TEST(what_is_no_work_tree_is_told_apart),
		SCRATCH_TEST(variables_lead_nowhere_else),
		SCRATCH_TEST(names_of_branches_are_checked),
		SCRATCH_TEST(nothing_of_the_repository_is_executed),
		SCRATCH_TEST(a_worktree_is_locked_and_forgotten_alone),
		SCRATCH_TEST(a_clone_shares_nothing_and_has_the_remotes),
		SCRATCH_TEST(a_failure_says_what_git_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
