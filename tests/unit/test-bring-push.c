/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent's work is pushed, with the real git, a bare repository on this machine in the place of a
 * remote, and a script in the place of gh.
 */
#include "unit/bring-fixture.h"

#include "engine/run/work.h"
#include "engine/workspace/bring.h"

/* A stand-in for gh, which keeps the pull request in a file. */
static void put_gh(struct desk *desk)
{
	do_sh(desk,
	      "mkdir -p bin && cat >bin/gh <<'END'\n#!/bin/sh\n"
	      "d=$(dirname \"$0\")\n"
	      "printf '%s ' \"$@\" >>\"$d/calls\"; echo >>\"$d/calls\"\n"
	      "case $2 in\ncreate) : >\"$d/made\" ;;\n"
	      "list) test -e \"$d/made\" || { echo '[]'; exit; }\n"
	      "printf '[{\"number\":7,\"state\":\"OPEN\",\"url\":\"https://x/\\\\u001b7\",\"isDraft\":false}]' ;;\n"
	      "esac\nEND\nchmod +x bin/gh");
}

/* What gh said last stays known when it does not answer. */
static void look_at_request(struct desk *desk, struct instance *instance)
{
	const struct work_order order = { .asks_forge = true };
	cleanup_changes struct changes changes = { 0 }, later = { 0 };
	assert_int_equal(work_look(&desk->deck, instance, &order, &changes, NULL), 0);
	assert_int_equal(instance->workspace->seen.request.number, 7);
	do_sh(desk, "mv bin/gh bin/answers && printf '#!/bin/sh\\necho nothing\\n' >bin/gh && "
		    "chmod +x bin/gh");
	assert_int_equal(work_look(&desk->deck, instance, &order, &later, NULL), 0);
	assert_string_equal(instance->workspace->seen.request.state, "OPEN");
	do_sh(desk, "mv bin/answers bin/gh");
}

static void look_at_push(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = begin(desk, kind);
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_forge_request struct pull_request request = { 0 }, again = { 0 }, found = { 0 };
	cleanup_free char *remote = NULL;
	cleanup_error struct error err = { 0 };
	cleanup_free char *old = xstrdup(getenv("PATH"));
	cleanup_free char *path = xasprintf("%s/bin:%s", desk->root, old);
	/* One that was not pushed has none, and gh is not asked. */
	assert_int_equal(bring_find_request(instance, "agentdeck/fix-it", 5000, &request, NULL),
			 FORGE_NONE);
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, &err), -1);
	assert_non_null(strstr(err.message, "has no remote: add one"));
	error_clear(&err);
	do_sh(desk, "cd project && git remote add a ../a && git remote add b ../b");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, &err), -1);
	assert_non_null(strstr(err.message, "remote.pushDefault"));
	do_sh(desk, "git init -q --bare remote && cd project && git remote add origin ../remote");
	if (bring_push(&desk->deck, instance, &result, &remote, NULL) < 0)
		fail_msg("it was not pushed");
	assert_string_equal(remote, "origin");
	do_sh(desk, "cd remote && git cat-file -e agentdeck/fix-it:b && cd ../project && "
		    "test origin = \"$(git config branch.agentdeck/fix-it.remote)\"");
	put_gh(desk);
	setenv("PATH", path, 1);
	assert_int_equal(bring_request(instance, &result, &request, NULL), 0);
	assert_int_equal(bring_request(instance, &result, &again, NULL), 0);
	assert_int_equal(bring_find_request(instance, result.branch, 5000, &found, NULL), 0);
	look_at_request(desk, instance);
	setenv("PATH", old, 1);
	assert_int_equal(found.number, 7);
	assert_int_equal(request.number, 7);
	assert_string_equal(request.url, "https://x/\\0337");
	do_sh(desk,
	      "test 1 = \"$(grep -c 'pr create --fill --head=agentdeck/fix-it --base=main' "
	      "bin/calls)\" && test 5 = \"$(grep -c 'pr list --head=agentdeck/fix-it' bin/calls)\"");
}

static void a_worktree_is_pushed(void **state)
{
	look_at_push(*state, WORKSPACE_WORKTREE);
}

static void a_clone_is_pushed_from_the_repository(void **state)
{
	look_at_push(*state, WORKSPACE_CLONE);
}

/* Without force. */
static void the_branch_of_the_user_is_not_pushed(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	cleanup_error struct error err = { 0 };
	do_sh(desk, "git init -q --bare remote && cd project && git remote add origin ../remote && "
		    "cd ../" TREE " && git switch -q --ignore-other-worktrees main");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, &err), -1);
	assert_non_null(strstr(err.message, "push that yourself"));
	do_sh(desk, "cd remote && test -z \"$(git for-each-ref)\"");
}

static void what_the_remote_has_is_not_replaced(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	do_sh(desk,
	      "git init -q --bare remote && cd project && git remote add origin ../remote && "
	      "git push -q origin main:agentdeck/fix-it && git clone -q -b agentdeck/fix-it "
	      "../remote ../other && cd ../other && echo x >x && " DO " theirs && git push -q");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, NULL), -1);
	do_sh(desk, "cd remote && git cat-file -e agentdeck/fix-it:x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_worktree_is_pushed),
		DESK_TEST(a_clone_is_pushed_from_the_repository),
		DESK_TEST(the_branch_of_the_user_is_not_pushed),
		DESK_TEST(what_the_remote_has_is_not_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
