/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An agent's work is merged, with the real git and a bare repository on this machine in the place
 * of a remote.
 */
#include "unit/bring-fixture.h"

#include "base/clock.h"
#include "driver/git/git.h"
#include "engine/workspace/bring-internal.h"

#include <sys/resource.h>

/* As show has it, from the repository alone. */
static void assert_work(const struct instance *instance, enum workspace_kind kind, bool is_merged)
{
	struct tree_work work = { 0 };
	const bool is_known = tree_look_at_work(instance->workspace, &work);
	assert_int_equal(is_known, kind == WORKSPACE_WORKTREE);
	if (!is_known)
		return;
	cleanup_free char *text = tree_work_text(instance->workspace);
	assert_int_equal(work.commits, 1);
	assert_int_equal(work.is_merged, is_merged);
	assert_string_equal(text, is_merged ? "1 commit on agentdeck/fix-it, merged into main"
					    : "1 commit on agentdeck/fix-it");
}

static void look_at_merge(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = begin(desk, kind);
	cleanup_verdict struct verdict verdict = { 0 };
	assert_work(instance, kind, false);
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	assert_work(instance, kind, true);
	do_sh(desk, "cd project && test -e b && test -z \"$(git status --porcelain)\"");
	assert_merge(desk, instance, &plain, BRING_ALREADY);
	do_sh(desk, "cd project && echo c >c && " DO " mine && cd ../" TREE " && echo d >d && " DO
		    " more");
	assert_merge(desk, instance, &plain, BRING_MERGED);
	do_sh(desk, "cd project && test -e b && test -e c && test -e d && "
		    "git rev-parse -q --verify HEAD^2 && git diff --quiet HEAD");
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_true(verdict_is_safe(&verdict));
}

static void a_worktree_is_merged(void **state)
{
	look_at_merge(*state, WORKSPACE_WORKTREE);
}

static void a_clone_is_fetched_and_merged(void **state)
{
	look_at_merge(*state, WORKSPACE_CLONE);
}

/* The branch of a clone comes along, so nothing is lost with it. */
static void a_squash_is_one_commit(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	cleanup_verdict struct verdict verdict = { 0 };
	const struct bring_order squash = { .is_squash = true };
	do_sh(desk, "cd " TREE " && echo d >d && " DO " more");
	assert_merge(desk, instance, &squash, BRING_MERGED);
	do_sh(desk, "cd project && test -e d && test 2 = \"$(git rev-list --count HEAD)\" && "
		    "git rev-parse -q --verify agentdeck/fix-it");
	assert_merge(desk, instance, &squash, BRING_ALREADY);
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	assert_true(verdict_is_safe(&verdict));
}

static void a_conflict_changes_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd project && echo other >b && " DO " mine && git rev-parse HEAD >../before");
	cleanup_bring_result struct bring_result result = merge_with(desk, instance, &plain);
	assert_int_equal(result.outcome, BRING_CONFLICT);
	assert_int_equal(result.conflicts.count, 1);
	assert_string_equal(result.conflicts.items[0], "b");
	do_sh(desk, "cd project && git rev-parse HEAD | cmp - ../before && "
		    "test -z \"$(git status --porcelain)\" && test ! -e .git/MERGE_HEAD");
}

static void a_dirty_target_stays_as_it_is(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd " TREE " && echo agent >a && " DO " a && cd - && cd project && "
		    "git rev-parse HEAD >../before && echo mine >a");
	assert_refused(desk, instance, &plain, ERROR_BUSY, "stash");
	do_sh(desk, "cd project && test mine = \"$(cat a)\" && test ! -e b && "
		    "git rev-parse HEAD | cmp - ../before");
	/* What the merge does not touch is no hindrance. */
	do_sh(desk, "cd project && git checkout -q a && echo mine >other");
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, "cd project && test mine = \"$(cat other)\" && test agent = \"$(cat a)\"");
}

/* Git would replace a file that it ignores without a word. */
static void an_ignored_file_is_not_overwritten(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd project && echo .env >.git/info/exclude && echo mine >.env && cd ../" TREE
		    " && echo agent >.env && git add -f .env && " DO " env");
	assert_refused(desk, instance, &plain, ERROR_BUSY, "does not track");
	do_sh(desk, "cd project && test mine = \"$(cat .env)\" && test ! -e b");
}

/* Its files would be those of before the merge. */
static void a_branch_in_a_linked_work_tree_of_a_bare_repository_is_not_moved(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	do_sh(desk,
	      "cd project && git config core.bare true && git worktree add -q ../mine main && "
	      "git rev-parse main >../before");
	assert_refused(desk, instance, &plain, ERROR_BUSY, "another work tree");
	do_sh(desk, "cd project && git rev-parse main | cmp - ../before && "
		    "git worktree remove ../mine");
	assert_merge(desk, instance, &plain, BRING_FORWARD);
}

/* Starts that, so that a later step waits for the agent. */
static const struct {
	const char *script, *name, *abort;
} unfinished[] = {
	{ "git rebase -q -x false HEAD~2 >/dev/null 2>&1", "a rebase", "git rebase --abort" },
	{ "git merge -q --no-ff --no-commit side 2>&1", "a merge", "git merge --abort" },
	{ MINE " cherry-pick side~1 side 2>&1", "a cherry-pick", "git cherry-pick --abort" },
	{ "git format-patch -q -1 --stdout side~1 >../patch; git am -q ../patch 2>&1", "git am",
	  "git am --abort" },
	{ "git bisect start HEAD HEAD~2 2>&1", "a bisection", "git bisect reset 2>&1" },
};

static void look_at_unfinished(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = begin(desk, kind);
	do_sh(desk,
	      "git -C project rev-parse main >before && cd " TREE " && echo c >c && " DO
	      " c && git switch -q -c side HEAD~1 && echo d >c && " DO " s1 && echo e >e && " DO
	      " s2 && git switch -q agentdeck/fix-it && git config user.name a && "
	      "git config user.email a@b");
	for (size_t i = 0; i < ARRAY_SIZE(unfinished); i++) {
		cleanup_free char *start = xasprintf("cd " TREE
						     " && export GIT_EDITOR=true && { %s || :; }",
						     unfinished[i].script);
		cleanup_free char *end = xasprintf("cd " TREE " && %s", unfinished[i].abort);
		do_sh(desk, start);
		assert_refused(desk, instance, &plain, ERROR_BUSY, unfinished[i].name);
		do_sh(desk, "git -C project rev-parse main | cmp - before");
		do_sh(desk, end);
	}
	assert_merge(desk, instance, &plain, BRING_FORWARD);
}

static void an_unfinished_rebase_of_a_worktree_is_not_merged(void **state)
{
	look_at_unfinished(*state, WORKSPACE_WORKTREE);
}

static void an_unfinished_rebase_of_a_clone_is_not_merged(void **state)
{
	look_at_unfinished(*state, WORKSPACE_CLONE);
}

/* Another branch under its name would hide the work. */
static void a_clone_on_another_branch_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd " TREE " && git switch -qc other HEAD~1 && echo o >o && " DO " o");
	assert_refused(desk, instance, &plain, ERROR_BUSY, "something else");
	do_sh(desk, "cd project && ! git rev-parse -q --verify agentdeck/fix-it && cd ../" TREE
		    " && git switch -q agentdeck/fix-it");
	assert_merge(desk, instance, &plain, BRING_FORWARD);
}

static void another_branch_can_be_the_target(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	const struct bring_order next = { .into = "next" }, itself = { .into = "agentdeck/fix-it" },
				 none = { .into = "nowhere" };
	do_sh(desk, "cd project && git branch next");
	assert_merge(desk, instance, &next, BRING_FORWARD);
	do_sh(desk, "cd project && test ! -e b && git cat-file -e next:b");
	assert_refused(desk, instance, &itself, ERROR_INVALID, "the session itself");
	assert_refused(desk, instance, &none, ERROR_NOT_FOUND, "no branch nowhere");
	/* Its files would not be those of the branch any more. */
	do_sh(desk, "cd project && git worktree add -q ../beside next && cd ../" TREE
		    " && echo d >d && " DO " more");
	assert_refused(desk, instance, &next, ERROR_BUSY, "checked out in another work tree");
	do_sh(desk, "cd beside && test -z \"$(git status --porcelain)\"");
}

/* A branch of the same name that is the user's is not moved back. */
static void a_branch_with_other_commits_is_not_replaced(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd project && git checkout -q -b agentdeck/fix-it && echo x >x && " DO
		    " mine && git rev-parse HEAD >../before && git checkout -q main");
	assert_refused(desk, instance, &plain, ERROR_EXISTS, "has commits that the clone does not");
	do_sh(desk, "cd project && git rev-parse agentdeck/fix-it | cmp - ../before");
}

/* ---- Git LFS --------------------------------------------------------------------------------- */

static void need_lfs(void)
{
	cleanup_child_result struct child_result version = { 0 };
	const struct child_request ask = {
		.argv = (const char *const[]){ "git", "lfs", "version", NULL },
	};
	assert_int_equal(child_run(&ask, 30000, &version, NULL), 0);
	if (version.exit_status != 0) {
		print_message("skipped: git-lfs is not installed\n");
		skip();
	}
}

/* With the real git-lfs, set up in both repositories. */
static void look_at_lfs(struct desk *desk, enum workspace_kind kind)
{
	static const char set_up[] = "git lfs install --local >/dev/null";
	cleanup_instance struct instance *instance = NULL;
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	cleanup_error struct error err = { 0 };
	need_lfs();
	cleanup_free char *script = xasprintf(
		"cd project && %s && cd ../" TREE " && %s && git lfs track '*.bin' >/dev/null && "
		"seq 10000 >large.bin && " DO " large && git -C ../../../../project init -q --bare "
		"../remote && git -C ../../../../project remote add origin \"$OLDPWD\"/../remote",
		set_up, set_up);
	instance = begin(desk, kind);
	do_sh(desk, script);
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, "seq 10000 | cmp - project/large.bin && cd project && "
		    "git show HEAD:large.bin | grep -q '^oid sha256:' && "
		    "test -z \"$(git status --porcelain)\"");
	if (bring_push(&desk->deck, instance, &result, &remote, &err) < 0)
		fail_msg("%s", err.message);
	do_sh(desk, "seq 10000 | cmp - remote/lfs/objects/*/*/*");
}

static void files_of_lfs_in_a_worktree_are_merged_and_pushed(void **state)
{
	look_at_lfs(*state, WORKSPACE_WORKTREE);
}

static void files_of_lfs_in_a_clone_are_merged_and_pushed(void **state)
{
	look_at_lfs(*state, WORKSPACE_CLONE);
}

/* ---- submodules ------------------------------------------------------------------------------ */

#define LOCAL "git -c protocol.file.allow=always"

/* The repository has the submodule "lib", and a session has its tree. */
static struct instance *begin_with_submodule(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = plan(desk, kind);
	do_sh(desk, "git init -q -b main lib && cd lib && echo l >l && " DO
		    " lib && cd ../project && " LOCAL
		    " submodule --quiet add \"$PWD\"/../lib lib && " DO " lib && "
		    "git config user.name u && git config user.email u@b");
	cleanup_free char *head = NULL;
	assert_int_equal(gitcmd_find_branch(desk->cwd, "main", &head, NULL), 0);
	replace_string(&instance->workspace->base, head);
	assert_int_equal(ensure(desk, instance, NULL), 0);
	do_sh(desk,
	      "cd " TREE " && " LOCAL " submodule --quiet update --init && cd lib && "
	      "git switch -q -c work && echo new >l && " DO " inside && cd .. && " DO " outside");
	return TAKE_PTR(instance);
}

static void assert_lib(struct desk *desk, const char *commit)
{
	cleanup_free char *script = xasprintf(
		"git -C project/.git/modules/lib cat-file -e $(git -C project rev-parse %s:lib)",
		commit);
	do_sh(desk, script);
}

static void look_at_submodule(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = begin_with_submodule(desk, kind);
	cleanup_verdict struct verdict before = { 0 }, after = { 0 };
	assert_int_equal(tree_judge(&desk->deck, instance, &before, NULL), 0);
	assert_false(verdict_is_safe(&before));
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	assert_lib(desk, "main");
	do_sh(desk, "cd project && git submodule --quiet update && test new = \"$(cat lib/l)\" && "
		    "test -z \"$(git status --porcelain)\"");
	assert_int_equal(tree_judge(&desk->deck, instance, &after, NULL), 0);
	if (!verdict_is_safe(&after))
		fail_msg("%s", verdict_line(&after));
}

/* The time that the last fetch had. */
static int fetch_ms;
int __real_child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
		     struct error *err);
int __wrap_child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
		     struct error *err);
int __wrap_child_run(const struct child_request *request, int timeout_ms, struct child_result *ret,
		     struct error *err)
{
	for (const char *const *word = request->argv; *word; word++)
		if (streq(*word, "fetch"))
			fetch_ms = timeout_ms;
	return __real_child_run(request, timeout_ms, ret, err);
}

/* One submodule does not take longer than all of them may. */
static void a_submodule_is_fetched_until_a_deadline(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_CLONE);
	cleanup_free char *from = path_join(instance->workspace->path, ".git");
	cleanup_free char *to = path_join(desk->cwd, ".git");
	cleanup_free char *after = NULL;
	assert_int_equal(gitcmd_head(instance->workspace->path, &after, NULL), 0);
	assert_int_equal(gitcmd_fetch_home(desk->cwd, instance->workspace->path, NULL), 0);
	const struct bring_modules modules = { .tree = instance->workspace->path,
					       .from = from,
					       .to = to,
					       .before = instance->workspace->base,
					       .after = after,
					       .deadline_ms = clock_ms() + 60000 };
	fetch_ms = 0;
	assert_int_equal(bring_modules(&modules, NULL), 0);
	assert_in_range(fetch_ms, 1, 60000);
}

static void a_submodule_of_a_worktree_comes_along(void **state)
{
	look_at_submodule(*state, WORKSPACE_WORKTREE);
}

static void a_submodule_of_a_clone_comes_along(void **state)
{
	look_at_submodule(*state, WORKSPACE_CLONE);
}

/* With the real git-lfs. */
static void look_at_lfs_in_submodule(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_verdict struct verdict before = { 0 }, after = { 0 };
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	cleanup_error struct error err = { 0 };
	need_lfs();
	instance = begin_with_submodule(desk, kind);
	do_sh(desk, "git -C project/lib lfs install --local >/dev/null && cd " TREE "/lib && "
		    "git lfs install --local >/dev/null && git lfs track '*.bin' >/dev/null && "
		    "seq 10000 >large.bin && " DO " large && cd .. && " DO " large");
	assert_int_equal(tree_judge(&desk->deck, instance, &before, NULL), 0);
	assert_false(verdict_is_safe(&before));
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, "cd project && git submodule --quiet update && seq 10000 | cmp - lib/large.bin "
		    "&& git -C lib show HEAD:large.bin | grep -q '^oid sha256:' && "
		    "test -z \"$(git status --porcelain)\"");
	assert_int_equal(tree_judge(&desk->deck, instance, &after, NULL), 0);
	if (!verdict_is_safe(&after))
		fail_msg("%s", verdict_line(&after));
	/* The words of the message send the content, too. */
	do_sh(desk, "git init -q --bare remote && git -C project remote add origin ../remote");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, &err), -1);
	cleanup_free char *words = xstrdup(strstr(err.message, "with git -C ") + strlen("with "));
	*strstr(words, ", or fetch") = '\0';
	cleanup_free char *push = xasprintf(
		"git init -q --bare libs && words='%s' && eval \"$(echo \"$words\" | "
		"sed \"s|ADDRESS|file://$PWD/libs|g; s|NAME|new|\") 2>&1\" && "
		"seq 10000 | cmp - libs/lfs/objects/*/*/* && test -n \"$(git -C libs for-each-ref)\"",
		words);
	do_sh(desk, push);
}

static void files_of_lfs_in_a_submodule_of_a_worktree_are_merged(void **state)
{
	look_at_lfs_in_submodule(*state, WORKSPACE_WORKTREE);
}

static void files_of_lfs_in_a_submodule_of_a_clone_are_merged(void **state)
{
	look_at_lfs_in_submodule(*state, WORKSPACE_CLONE);
}

/* Whose names of objects are longer.  The tree cannot be judged, and can be merged. */
static void a_submodule_with_sha256_comes_along(void **state)
{
	struct desk *desk = *state;
	setenv("GIT_DEFAULT_HASH", "sha256", 1);
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_CLONE);
	do_sh(desk, "git init -q -b main new && cd new && echo n >n && " DO " n && cd ../" TREE
		    " && " LOCAL " submodule --quiet add \"$OLDPWD\" new && " DO " new");
	unsetenv("GIT_DEFAULT_HASH");
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	assert_lib(desk, "main");
	do_sh(desk, "cd project && git submodule --quiet update --init && test -e new/n && "
		    "test 64 = $(git -C new rev-parse HEAD | tr -d '\n' | wc -c)");
}

/* An agent can commit any number of them.  Each name for each path would take seconds. */
static void each_of_many_submodules_has_its_name(void **state)
{
	enum { MANY = 40000, CPU_SECONDS_MOST = 2 };
	struct desk *desk = *state;
	cleanup_instance struct instance *unused UNUSED = plan(desk, WORKSPACE_CLONE);
	cleanup_gitcmd_links struct gitcmd_links links = { 0 };
	struct rusage before, after;
	do_sh(desk, "cd project && c=$(git rev-parse HEAD) && seq 40000 -1 1 | "
		    "sed 's/.*/[submodule \"name-&\"]\\n\\tpath = p.&/' >.gitmodules && "
		    "git add .gitmodules && seq 40000 | sed \"s/.*/160000 $c 0\\tp.&/\" | "
		    "git update-index --index-info && " MINE " commit -q -m many");
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(gitcmd_list_links(desk->cwd, NULL, "HEAD", &links, NULL), 0);
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 0, CPU_SECONDS_MOST);
	assert_int_equal(links.count, MANY);
	for (size_t i = 0; i < links.count; i++)
		assert_string_equal(or_empty(links.items[i].name) + strlen("name-"),
				    links.items[i].path + strlen("p."));
}

/* One that the agent has added. */
static void a_new_submodule_can_be_checked_out(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	do_sh(desk,
	      "for i in inner outer; do git init -q -b main $i && (cd $i && echo $i >$i && " DO
	      " $i); done && (cd outer && " LOCAL
	      " submodule --quiet add \"$PWD\"/../inner deep/inner && " DO " inner) && "
	      "root=$PWD && cd " TREE " && " LOCAL
	      " submodule --quiet add $root/outer lib/outer && " LOCAL
	      " submodule --quiet update --init --recursive && cd lib/outer/deep/inner && "
	      "echo new >>inner && " DO " in && cd ../.. && " DO " out && cd ../.. && " DO
	      " top && rm -rf $root/inner $root/outer");
	assert_merge(desk, instance, &plain, BRING_FORWARD);
	do_sh(desk, "cd project && git submodule --quiet update --init --recursive && "
		    "test 2 = $(wc -l <lib/outer/deep/inner/inner) && "
		    "test -z \"$(git status --porcelain)\"");
}

static void a_submodule_that_others_cannot_get_is_not_pushed(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_WORKTREE);
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	cleanup_error struct error err = { 0 };
	do_sh(desk, "git init -q --bare remote && cd project && git remote add origin ../remote");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, &err), -1);
	assert_non_null(strstr(err.message, "is on no remote"));
	do_sh(desk,
	      "test -z \"$(git -C remote for-each-ref)\" && cd project/.git/modules/lib && "
	      "git push -q origin $(git -C ../../.. rev-parse agentdeck/fix-it:lib):refs/heads/new");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, NULL), 0);
}

/* Nothing names it, so a merge would leave its commits behind. */
static void a_repository_that_is_no_submodule_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd " TREE " && git init -q -b main sub && (cd sub && echo s >s && " DO
		    " s) && " DO " sub 2>&1");
	assert_refused(desk, instance, &plain, ERROR_INVALID, "no submodule");
	do_sh(desk, "cd project && ! git rev-parse -q --verify agentdeck/fix-it && "
		    "test 1 = \"$(git rev-list --count HEAD)\"");
}

/* It would be another repository of the user's. */
static void a_submodule_that_leads_elsewhere_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd " TREE "/.git/modules/lib && mv objects ../../../../away && "
		    "ln -s ../../../../away objects");
	assert_refused(desk, instance, &plain, ERROR_INVALID, "leads elsewhere");
	do_sh(desk, "cd project && ! git rev-parse -q --verify agentdeck/fix-it");
}

/* ---- hostile trees, and kills ---------------------------------------------------------------- */

/* Its Git directory would lie in that of another submodule of the user's. */
static void a_submodule_inside_another_is_refused(void **state)
{
	static const char *const names[] = { "lib/hooks", "lib/index.lock" };
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_CLONE);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *rename = xasprintf(
			"cd " TREE " && sed -i 's|submodule \"[^\"]*\"|submodule \"%s\"|' "
			".gitmodules && " DO " again",
			names[i]);
		do_sh(desk, rename);
		assert_refused(desk, instance, &plain, ERROR_INVALID, "does not fit beside");
	}
	do_sh(desk, "cd project && test ! -e .git/modules/lib/index.lock");
}

/* Each of these runs when git works in the tree, or in its submodule. */
static const char evil[] =
	"printf '#!/bin/sh\\ntouch %s/canary\\ncat\\n' \"$PWD\" >evil && chmod +x evil && "
	"e=$PWD/evil && root=$PWD && cd " TREE " && "
	"echo '* filter=x merge=x diff=x' >.gitattributes && " DO " evil && "
	"for d in .git .git/modules/lib; do mkdir -p $d/hooks && "
	"for hook in post-checkout pre-receive update reference-transaction post-merge pre-push "
	"post-index-change pre-auto-gc; do cp $e $d/hooks/$hook; done && "
	"for key in core.fsmonitor uploadpack.packObjectsHook filter.x.smudge filter.x.clean "
	"filter.x.process merge.x.driver diff.x.textconv diff.x.command diff.external core.sshCommand "
	"core.askPass core.editor core.gitProxy gpg.program credential.helper "
	"remote.origin.uploadpack remote.origin.receivepack; do "
	"git config --file $d/config $key $e; done && "
	"for key in alias.fetch alias.ls-remote alias.upload-pack submodule.lib.update; do "
	"git config --file $d/config $key \"!$e\"; done && "
	"git config --file $d/config commit.gpgSign true && "
	"git config --file $d/config core.hooksPath $PWD/$d/hooks; done && "
	"cd $root && rm -f canary && git init -q --bare remote && cd project && "
	"git remote add origin ../remote && echo c >c && " DO " mine";

static void nothing_of_the_tree_is_executed(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_CLONE);
	cleanup_changes struct changes changes = { 0 };
	cleanup_verdict struct verdict verdict = { 0 };
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	do_sh(desk, evil);
	assert_int_equal(
		tree_changes(&desk->deck, instance, true, ASSESS_TIMEOUT_MS, &changes, NULL), 0);
	assert_int_equal(changes.commit_count, 2);
	do_sh(desk, "printf '[core]\\npager = %s\\n' $PWD/evil >more && for d in .git "
		    ".git/modules/lib; do for key in include.path includeIf.gitdir:/.path; do "
		    "git config --file " TREE "/$d/config $key $PWD/more || exit; done; done");
	changes_free(&changes);
	changes = (struct changes){ 0 };
	assert_int_equal(
		tree_changes(&desk->deck, instance, true, ASSESS_TIMEOUT_MS, &changes, NULL), 0);
	assert_merge(desk, instance, &plain, BRING_MERGED);
	/* No remote has what the submodule has. */
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, NULL), -1);
	do_sh(desk, "cd project/.git/modules/lib && git push -q origin "
		    "$(git -C ../../.. rev-parse HEAD:lib):refs/heads/new");
	assert_int_equal(bring_push(&desk->deck, instance, &result, &remote, NULL), 0);
	assert_int_equal(tree_judge(&desk->deck, instance, &verdict, NULL), 0);
	do_sh(desk, "test ! -e canary && test -e project/.gitattributes && "
		    "git -C remote cat-file -e agentdeck/fix-it:.gitattributes");
	/* git itself falls for it. */
	do_sh(desk,
	      "cd " TREE " && touch l && git status >/dev/null 2>&1; test -e \"$OLDPWD\"/canary");
}

static void a_clone_that_leads_elsewhere_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	do_sh(desk, "mkdir -p secret && mv " TREE "/.git/objects/pack secret/ 2>/dev/null; "
		    "ln -s \"$PWD\"/secret/pack " TREE "/.git/objects/pack");
	assert_refused(desk, instance, &plain, ERROR_INVALID, "leads elsewhere");
}

/* The first git in PATH runs these lines before the real one. */
static void put_git(struct desk *desk, const char *lines)
{
	cleanup_free char *script = xasprintf(
		"mkdir -p bin && rm -f count && real=$(PATH=${PATH#*/bin:} command -v git) && "
		"cat >bin/git <<EOF\n#!/bin/sh\n%s\nexec \"$real\" \"\\$@\"\nEOF\n"
		"chmod +x bin/git",
		lines);
	do_sh(desk, script);
}

/* It ends its caller before the when-th call of the real one. */
static void put_killer(struct desk *desk, int when)
{
	cleanup_free char *lines = xasprintf(
		"echo >>'%s/count'\n"
		"[ \"\\$(wc -l <'%s/count')\" != %d ] || { kill -9 \\$PPID; exit 1; }",
		desk->root, desk->root, when);
	put_git(desk, lines);
}

/* It commits to the branch, once, before the real one moves it. */
static void a_branch_that_moves_meanwhile_is_left(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_WORKTREE);
	cleanup_free char *old = xstrdup(getenv("PATH"));
	cleanup_free char *path = xasprintf("%s/bin:%s", desk->root, old);
	const struct bring_order next = { .into = "next" };
	static const char *const refs[] = { "refs/heads/next", "HEAD" };
	do_sh(desk, "cd project && git branch next");
	for (size_t i = 0; i < ARRAY_SIZE(refs); i++) {
		const char *root = desk->root, *ref = refs[i];
		cleanup_free char *lines = xasprintf(
			"case \" \\$* \" in *' update-ref '* | *' merge '*) [ -e '%s/count' ] || {\n"
			": >'%s/count'; cd '%s/project' && \"$real\" update-ref %s \"\\$(\"$real\" "
			"-c user.name=u -c user.email=u@u commit-tree -p %s -m theirs %s^{tree})\"\n"
			"} ;; esac",
			root, root, root, ref, ref, ref);
		cleanup_free char *check = xasprintf(
			"cd project && test theirs = \"$(git log -1 --format=%%s %s)\" && "
			"test -z \"$(git status --porcelain)\" && ! git cat-file -e %s:b",
			ref, ref);
		put_git(desk, lines);
		setenv("PATH", path, 1);
		assert_refused(desk, instance, i ? &plain : &next, ERROR_BUSY, "run the same");
		setenv("PATH", old, 1);
		do_sh(desk, check);
		assert_merge(desk, instance, i ? &plain : &next, BRING_MERGED);
	}
}

static int push_it(struct desk *desk, const struct instance *instance)
{
	cleanup_bring_result struct bring_result result = { 0 };
	cleanup_free char *remote = NULL;
	return bring_push(&desk->deck, instance, &result, &remote, NULL);
}

/* At each call of git, and after each of these calls the repository is whole.  Returns how many. */
static int kill_at_each_step(struct desk *desk, const struct instance *instance,
			     int (*act)(struct desk *desk, const struct instance *instance))
{
	cleanup_free char *old = xstrdup(getenv("PATH"));
	cleanup_free char *path = xasprintf("%s/bin:%s", desk->root, old);
	bool was_killed = true;
	int when = 1;
	do_sh(desk, "echo work >project/mine && git -C project rev-parse HEAD >before");
	for (; was_killed && when < 60; when++) {
		put_killer(desk, when);
		setenv("PATH", path, 1);
		was_killed = do_and_die(desk, instance, act);
		setenv("PATH", old, 1);
		do_sh(desk,
		      "cd project && test work = \"$(cat mine)\" && git fsck --strict 2>&1 && "
		      "test -z \"$(git status --porcelain --ignore-submodules | grep -v '^?? mine$')\" && "
		      "git merge-base --is-ancestor \"$(cat ../before)\" HEAD && "
		      "for b in $(git for-each-ref --format='%(objectname)'); do "
		      "c=$(git rev-parse -q --verify $b:lib) || continue; "
		      "git -C .git/modules/lib cat-file -e $c; done");
	}
	assert_false(was_killed);
	return when;
}

static void a_kill_at_any_step_loses_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin_with_submodule(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd project && echo c >c && " DO " mine");
	assert_true(kill_at_each_step(desk, instance, merge_it) > 12);
	do_sh(desk, "cd project && test -e c && git submodule --quiet update && "
		    "test new = \"$(cat lib/l)\"");
}

static void a_kill_during_a_push_loses_nothing(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = begin(desk, WORKSPACE_CLONE);
	do_sh(desk, "git init -q --bare remote && git -C project remote add origin ../remote");
	assert_true(kill_at_each_step(desk, instance, push_it) > 8);
	do_sh(desk, "cd remote && git cat-file -e agentdeck/fix-it:b && cd ../project && "
		    "test origin = \"$(git config branch.agentdeck/fix-it.remote)\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(a_worktree_is_merged),
		DESK_TEST(a_clone_is_fetched_and_merged),
		DESK_TEST(a_squash_is_one_commit),
		DESK_TEST(a_conflict_changes_nothing),
		DESK_TEST(a_dirty_target_stays_as_it_is),
		DESK_TEST(an_ignored_file_is_not_overwritten),
		DESK_TEST(a_branch_in_a_linked_work_tree_of_a_bare_repository_is_not_moved),
		DESK_TEST(an_unfinished_rebase_of_a_worktree_is_not_merged),
		DESK_TEST(an_unfinished_rebase_of_a_clone_is_not_merged),
		DESK_TEST(a_clone_on_another_branch_is_refused),
		DESK_TEST(another_branch_can_be_the_target),
		DESK_TEST(a_branch_with_other_commits_is_not_replaced),
		DESK_TEST(files_of_lfs_in_a_worktree_are_merged_and_pushed),
		DESK_TEST(files_of_lfs_in_a_clone_are_merged_and_pushed),
		DESK_TEST(a_submodule_is_fetched_until_a_deadline),
		DESK_TEST(a_submodule_of_a_worktree_comes_along),
		DESK_TEST(a_submodule_of_a_clone_comes_along),
		DESK_TEST(files_of_lfs_in_a_submodule_of_a_worktree_are_merged),
		DESK_TEST(files_of_lfs_in_a_submodule_of_a_clone_are_merged),
		DESK_TEST(a_submodule_with_sha256_comes_along),
		DESK_TEST(each_of_many_submodules_has_its_name),
		DESK_TEST(a_new_submodule_can_be_checked_out),
		DESK_TEST(a_submodule_that_others_cannot_get_is_not_pushed),
		DESK_TEST(a_repository_that_is_no_submodule_is_refused),
		DESK_TEST(a_submodule_that_leads_elsewhere_is_refused),
		DESK_TEST(a_submodule_inside_another_is_refused),
		DESK_TEST(nothing_of_the_tree_is_executed),
		DESK_TEST(a_clone_that_leads_elsewhere_is_refused),
		DESK_TEST(a_branch_that_moves_meanwhile_is_left),
		DESK_TEST(a_kill_at_any_step_loses_nothing),
		DESK_TEST(a_kill_during_a_push_loses_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
