/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No tree is deleted under a process that works in it.
 */
#include "unit/tree-fixture.h"

#include "engine/workspace/orphan.h"
#include "engine/workspace/users.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define TREE "default/trees/" ID "/project"

/* As a container has it: what is at path is at another one, for this process alone. */
static const char *move_to_other_mounts(const char *path)
{
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
			       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
			       mount(path, "/mnt", NULL, MS_BIND, NULL) == 0
		       ? "/mnt"
		       : NULL;
}

/* A program whose directory this is; it runs until it is killed. */
static pid_t work_at(const char *path, bool elsewhere, const char *instance)
{
	int ready[2];
	char line[8];
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (elsewhere)
			path = move_to_other_mounts(path);
		if (!path || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || chdir(path) < 0 ||
		    setenv(ENV_INSTANCE, instance, 1) < 0 || dup2(ready[1], STDOUT_FILENO) < 0)
			_exit(1);
		(void)execlp("sh", "sh", "-c", "echo ready && read line", "worker", NULL);
		_exit(1);
	}
	close(ready[1]);
	const bool is_ready = read(ready[0], line, sizeof(line)) > 0;
	close(ready[0]);
	if (elsewhere && !is_ready) {
		(void)waitpid(pid, NULL, 0);
		skip(); /* no user namespaces here */
	}
	assert_true(is_ready);
	return pid;
}

static pid_t work_in(const struct desk *desk, const char *directory, const char *instance)
{
	cleanup_free char *path = path_join(desk->root, directory);
	return work_at(path, false, instance);
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void keep_input_open(int ends[2])
{
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
}

static void a_tree_is_not_deleted_under_a_process(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "mkdir -p " TREE "/build " TREE "-not-it && mv " TREE "-not-it default");
	const struct {
		const char *directory, *instance;
		bool may_be_lost;
	} cases[] = {
		{ TREE, "", false },
		{ TREE "/build", ID, false },
		{ TREE, "", true },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t pid = work_in(desk, cases[i].directory, cases[i].instance);
		cleanup_free char *expected = xasprintf("because process %d (sh -c ", (int)pid);
		instance->workspace->may_be_lost = cases[i].may_be_lost;
		assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
		assert_int_equal(desk->deck.warnings.count, i + 1);
		if (!strstr(desk->deck.warnings.items[i], expected))
			fail_msg("%s", desk->deck.warnings.items[i]);
		do_sh(desk, "test -f " TREE "/a && test ! -e default/trees/" ID "/.removed");
		end(pid);
	}
	pid_t elsewhere = work_in(desk, "default/project-not-it", "");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	end(elsewhere);
	do_sh(desk, "test ! -e default/trees/" ID);
}

static void a_tree_without_a_session_is_not_deleted_under_a_process(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance UNUSED = new_tree(desk, WORKSPACE_CLONE);
	cleanup_orphan struct orphan orphan = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = path_join(desk->root, "default");
	assert_int_equal(orphan_look(desk->deck.store, path, ID, &orphan, NULL), 0);
	pid_t pid = work_in(desk, TREE, "");
	assert_int_equal(orphan_delete(desk->deck.store, ID, &orphan, &err), -1);
	assert_int_equal(err.code, ERROR_BUSY);
	do_sh(desk, "test -f " TREE "/a");
	end(pid);
	assert_int_equal(orphan_delete(desk->deck.store, ID, &orphan, NULL), 0);
	do_sh(desk, "test ! -e default/trees/" ID);
}

/* What a deletion that was killed has left may have been entered before. */
static void what_is_set_aside_is_not_deleted_under_a_process(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	pid_t pid = work_in(desk, TREE, "");
	do_sh(desk, "mv " TREE " default/trees/" ID "/.removed");
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	do_sh(desk, "test -f default/trees/" ID "/.removed/a");
	end(pid);
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	do_sh(desk, "test ! -e default/trees/" ID);
}

/* A stranger counts more than the session's own processes, which may just be ending. */
static void the_sessions_own_processes_are_told_apart(void **state)
{
	struct desk *desk = *state;
	cleanup_tree_user struct tree_user none = { 0 }, own = { 0 }, other = { 0 };
	cleanup_free char *path = path_join(desk->root, "project");
	assert_int_equal(tree_find_user(path, ID, &none, NULL), 0);
	assert_null(none.text);
	pid_t first = work_in(desk, "project", ID);
	assert_int_equal(tree_find_user(path, ID, &own, NULL), 0);
	assert_non_null(own.text);
	assert_true(own.is_of_run);
	pid_t second = work_in(desk, "project", "another");
	assert_int_equal(tree_find_user(path, ID, &other, NULL), 0);
	assert_non_null(other.text);
	assert_false(other.is_of_run);
	end(first);
	end(second);
}

static void a_process_that_has_the_tree_at_another_path_is_seen(void **state)
{
	struct desk *desk = *state;
	cleanup_tree_user struct tree_user found = { 0 };
	cleanup_free char *tree = path_join(desk->root, "project");
	cleanup_free char *below = path_join(tree, "below");
	do_sh(desk, "mkdir project/below");
	pid_t other = work_at("/usr", true, "");
	assert_int_equal(tree_find_user(tree, ID, &found, NULL), 0);
	assert_null(found.text);
	end(other);
	pid_t pid = work_at(tree, true, "");
	assert_int_equal(tree_find_user(below, ID, &found, NULL), 0);
	assert_null(found.text);
	assert_int_equal(tree_find_user(tree, ID, &found, NULL), 0);
	assert_non_null(found.text);
	end(pid);
}

/* An editor elsewhere saves a file while agentdeck-assess looks. */
static void use_program_that_is_followed_by_a_change(struct desk *desk)
{
	cleanup_free char *program = path_join(desk->root, "assess");
	do_sh(desk, "printf '#!/bin/sh\\n\"%s\" \"$@\"; echo work >> \"%s/" TREE
		    "/build/late\"\\n' \"$AGENTDECK_ASSESS\" \"$PWD\" > assess && chmod +x assess");
	setenv(ASSESS_PROGRAM_VARIABLE, program, 1);
}

static void what_is_written_after_the_look_is_kept(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_orphan struct orphan orphan = { 0 };
	cleanup_error struct error err = { 0 };
	cleanup_free char *path = path_join(desk->root, "default");
	do_sh(desk, "mkdir " TREE "/build");
	use_program_that_is_followed_by_a_change(desk);
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), TREE_KEPT);
	assert_non_null(strstr(desk->deck.warnings.items[0], "something in it changed"));
	do_sh(desk, "test -f " TREE "/build/late && rm " TREE "/build/late");
	assert_int_equal(orphan_look(desk->deck.store, path, ID, &orphan, NULL), 0);
	assert_true(verdict_is_safe(&orphan.verdict));
	assert_int_equal(orphan_delete(desk->deck.store, ID, &orphan, &err), -1);
	assert_int_equal(err.code, ERROR_BUSY);
	do_sh(desk, "test -f " TREE "/build/late");
	/* Its user has given it up. */
	instance->workspace->may_be_lost = true;
	assert_int_equal(tree_delete(&desk->deck, instance, NULL, NULL), 0);
	do_sh(desk, "test ! -e default/trees/" ID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_tree_is_not_deleted_under_a_process),
		DESK_TEST(a_tree_without_a_session_is_not_deleted_under_a_process),
		DESK_TEST(what_is_set_aside_is_not_deleted_under_a_process),
		DESK_TEST(the_sessions_own_processes_are_told_apart),
		DESK_TEST(a_process_that_has_the_tree_at_another_path_is_seen),
		DESK_TEST(what_is_written_after_the_look_is_kept),
	};
	int input[2];
	keep_input_open(input);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
