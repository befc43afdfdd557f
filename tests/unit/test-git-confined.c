/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fork of a clone whose agent has made it lead to a repository that is not its own.
 */
#include "unit/tree-fixture.h"

#include "driver/git/git-internal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREE "default/trees/" ID "/project"

/* Beside the clone there is a repository "private" of the user's. */
static const char *const attacks[] = {
	"echo \"$private\" >.git/commondir",
	"mkdir -p .git/objects/info && echo \"$private/objects\" >.git/objects/info/alternates",
	"rm -rf .git && echo \"gitdir: $private\" >.git",
	"rm -rf .git && ln -s \"$private\" .git",
	"rm -rf .git/objects && ln -s \"$private/objects\" .git/objects",
	"rm -rf .git/objects/pack && ln -s \"$private/objects/pack\" .git/objects/pack",
	"rm -rf .git/refs/heads && ln -s \"$private/refs/heads\" .git/refs/heads",
	"ln -s \"$private/refs/heads/main\" .git/refs/heads/taken",
	"rm .git/HEAD && ln -s \"$private/HEAD\" .git/HEAD",
	"rm .git/HEAD && mkfifo .git/HEAD",
	"ln -sf \"$private/packed-refs\" .git/packed-refs",
};

static int fork_it(struct desk *desk, const struct instance *one, struct error *err)
{
	cleanup_instance struct instance *two = new_instance("bbbbbbbb", "Copy");
	const struct tree_order order = { .kind = WORKSPACE_CLONE, .like = one };
	replace_string(&two->cwd, one->cwd);
	return tree_plan(&desk->deck, &order, two, err);
}

static void a_clone_that_leads_elsewhere_is_not_forked(void **state)
{
	struct desk *desk = *state;
	do_sh(desk, "git init -q -b main private && cd private && " COMMIT " secret");
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		cleanup_instance struct instance *one = new_tree(desk, WORKSPACE_CLONE);
		cleanup_error struct error err = { 0 };
		cleanup_free char *script = xasprintf(
			"private=$PWD/private/.git && cd " TREE " && %s", attacks[i]);
		assert_int_equal(fork_it(desk, one, NULL), 0);
		do_sh(desk, script);
		if (fork_it(desk, one, &err) != -1)
			fail_msg("%s", attacks[i]);
		assert_int_equal(err.code, ERROR_INVALID);
		assert_non_null(strstr(err.message, "leads elsewhere"));
		do_sh(desk, "rm -rf project default/" ID " default/trees && mkdir project");
	}
}

/* Branches, and git's locks, come and go at any moment. */
static void flicker(int refs)
{
	enum { NAMES = 200 };
	char name[16];
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0;; i++) {
		(void)snprintf(name, sizeof(name), "%u", i / 2 % NAMES);
		if (i % 2)
			(void)unlinkat(refs, name, 0);
		else
			(void)close(openat(refs, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	}
}

static void what_is_removed_meanwhile_leads_nowhere(void **state)
{
	enum { LOOKS = 5000, AGENTS = 3 };
	struct desk *desk = *state;
	pid_t pids[AGENTS];
	int failed = 0;
	do_sh(desk, "git init -q clone");
	cleanup_free char *tree = path_join(desk->root, "clone");
	cleanup_free char *heads = path_join(tree, ".git/refs/heads");
	cleanup_close int refs = open(heads, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < AGENTS; i++)
		if ((pids[i] = fork()) == 0)
			flicker(refs);
	for (int i = 0; i < LOOKS && !failed; i++)
		failed += gitcmd_check_confined(tree, NULL) != 0;
	for (int i = 0; i < AGENTS; i++) {
		(void)kill(pids[i], SIGKILL);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_clone_that_leads_elsewhere_is_not_forked),
		DESK_TEST(what_is_removed_meanwhile_leads_nowhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
