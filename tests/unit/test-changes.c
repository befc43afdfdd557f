/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an agent has made in its tree, with the real git and the real agentdeck-assess; and answers
 * of that program that lie.
 */
#include "unit/tree-fixture.h"

#include "engine/run/work.h"

#include "model/workspace/changes.h"

#define TREE "default/trees/" ID "/project"
#define MINE "git -c user.name=a -c user.email=a@b"

static struct changes changes_of(struct desk *desk, const struct instance *instance)
{
	struct changes changes = { 0 };
	cleanup_error struct error err = { 0 };
	if (tree_changes(&desk->deck, instance, true, ASSESS_TIMEOUT_MS, &changes, &err) < 0)
		fail_msg("%s", err.message);
	if (changes.unknown.count)
		fail_msg("%s", changes.unknown.items[0]);
	return changes;
}

static void assert_file(const struct changed_files *files, size_t index, const char *expected)
{
	assert_true(index < files->count);
	const struct changed_file *file = &files->items[index];
	cleanup_free char *text = xasprintf("%s %s +%d -%d%s", file->status, file->path,
					    (int)file->added, (int)file->removed,
					    file->is_binary ? " binary" : "");
	assert_string_equal(text, expected);
}

static void look_at_work(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = new_tree(desk, kind);
	do_sh(desk, "cd " TREE " && printf '1\\n2\\n' >a && printf '\\0' >bin && git add . && " MINE
		    " commit -q -m \"$(printf 'Do \\033[31mit')\" && "
		    "echo 3 >>a && echo s >staged && git add staged && mkdir dir && "
		    "echo u >dir/u && mkfifo pipe");
	cleanup_changes struct changes changes = changes_of(desk, instance);
	assert_string_equal(changes.branch, "agentdeck/fix-it");
	assert_string_equal(changes.into, "main");
	assert_string_equal(changes.base, instance->workspace->base);
	assert_int_equal(changes.merged, MERGED_NO);
	assert_int_equal(changes.commit_count, 1);
	assert_string_equal(changes.commits[0].subject, "Do \\033[31mit");
	assert_int_equal(changes.committed.count, 2);
	assert_file(&changes.committed, 0, "M a +2 -1");
	assert_file(&changes.committed, 1, "A bin +0 -0 binary");
	assert_int_equal(changes.uncommitted.count, 2);
	assert_file(&changes.uncommitted, 0, " M a +1 -0");
	assert_file(&changes.uncommitted, 1, "A  staged +1 -0");
	assert_int_equal(changes.untracked.count, 2);
	assert_file(&changes.untracked, 0, "?? dir/u +1 -0");
	assert_file(&changes.untracked, 1, "?? pipe +0 -0");
	const char *later = strstr(changes.diff, "# not committed:\n");
	assert_true(starts_with(changes.diff, "# committed:\ndiff --git a/a b/a\n"));
	assert_non_null(later);
	assert_non_null(strstr(later, "\n+3\n"));
	assert_non_null(strstr(later, "+++ b/dir/u\n"));
}

static void work_in_a_worktree_is_seen(void **state)
{
	look_at_work(*state, WORKSPACE_WORKTREE);
}

static void work_in_a_clone_is_seen(void **state)
{
	look_at_work(*state, WORKSPACE_CLONE);
}

/* git status shows none of these. */
static void hidden_work_is_seen(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	do_sh(desk, "cd " TREE " && echo b >b && git add b && " MINE " commit -q -m two && "
		    "git update-index --assume-unchanged a && echo more >>a && "
		    "git rm -q --cached b && rm b");
	cleanup_changes struct changes changes = changes_of(desk, instance);
	assert_int_equal(changes.uncommitted.count, 2);
	assert_file(&changes.uncommitted, 0, " M a +1 -0");
	assert_file(&changes.uncommitted, 1, "D  b +0 -1");
}

static void assert_merged(struct desk *desk, const struct instance *instance, const char *script,
			  enum changes_merged expected)
{
	do_sh(desk, script);
	cleanup_changes struct changes changes = changes_of(desk, instance);
	assert_int_equal(changes.merged, expected);
	/* It is shown what was merged. */
	assert_int_equal(changes.commit_count, 1);
	assert_int_equal(changes.committed.count, 1);
	cleanup_free char *text = changes_merged_text(&changes);
	assert_true(ends_with(text, "merged into main"));
}

static void look_at_merges(struct desk *desk, enum workspace_kind kind)
{
	cleanup_instance struct instance *instance = new_tree(desk, kind);
	assert_merged(desk, instance,
		      "(cd " TREE " && echo b >b && git add b && " MINE " commit -q -m two) && "
		      "cd project && echo c >c && git add c && " MINE " commit -q -m other",
		      MERGED_NO);
	assert_merged(desk, instance,
		      "cd project && git fetch -q ../" TREE " HEAD && " MINE
		      " merge -q --squash FETCH_HEAD 2>&1 && " MINE " commit -q -m squashed",
		      MERGED_SQUASHED);
	assert_merged(desk, instance,
		      "cd project && git reset -q --hard HEAD^ && git fetch -q ../" TREE
		      " HEAD && " MINE " merge -q FETCH_HEAD",
		      MERGED_YES);
}

static void a_merge_of_a_worktree_is_seen(void **state)
{
	look_at_merges(*state, WORKSPACE_WORKTREE);
}

static void a_merge_of_a_clone_is_seen(void **state)
{
	look_at_merges(*state, WORKSPACE_CLONE);
}

static void the_upstream_is_compared(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "git init -q --bare remote && cd " TREE
		    " && git remote add origin \"$OLDPWD\"/remote && "
		    "git push -q -u origin HEAD && " COMMIT " two && " COMMIT " three");
	cleanup_changes struct changes changes = changes_of(desk, instance);
	assert_string_equal(changes.upstream.name, "origin/agentdeck/fix-it");
	assert_false(changes.upstream.is_gone);
	assert_int_equal(changes.upstream.ahead, 2);
	assert_int_equal(changes.upstream.behind, 0);
	do_sh(desk, "cd " TREE " && git update-ref -d refs/remotes/origin/agentdeck/fix-it");
	cleanup_changes struct changes later = changes_of(desk, instance);
	assert_true(later.upstream.is_gone);
}

/* The branch of a worktree has the work. */
static void a_tree_that_is_gone_has_its_commits(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	do_sh(desk, "cd " TREE " && echo b >b && git add b && " MINE
		    " commit -q -m two && cd .. && rm -r project");
	cleanup_changes struct changes changes = changes_of(desk, instance);
	assert_int_equal(changes.commit_count, 1);
	assert_file(&changes.committed, 0, "A b +1 -0");
}

static void files_of_a_submodule_are_seen(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_CLONE);
	do_sh(desk, "git init -q -b main lib && (cd lib && echo l >l && git add l && " COMMIT
		    " lib) && cd " TREE " && git -c protocol.file.allow=always submodule --quiet "
		    "add \"$OLDPWD\"/lib lib && " MINE " commit -q -m lib && echo more >>lib/l");
	cleanup_changes struct changes changes = changes_of(desk, instance);
	assert_int_equal(changes.uncommitted.count, 1);
	assert_file(&changes.uncommitted, 0, " M lib/l +1 -0");
	/* Also that a commit moves it. */
	assert_int_equal(changes.committed.count, 2);
	assert_file(&changes.committed, 1, "A lib +1 -0");
}

static void a_session_without_a_tree_is_refused(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_instance(ID, "x");
	cleanup_error struct error err = { 0 };
	struct changes changes = { 0 };
	assert_int_equal(
		tree_changes(&desk->deck, instance, false, ASSESS_TIMEOUT_MS, &changes, &err), -1);
	assert_int_equal(err.code, ERROR_INVALID);
	assert_non_null(strstr(err.message, "has no tree to itself"));
}

/* A list knows it from the manifest, and nothing is written that is not new. */
static void what_was_seen_is_kept(void **state)
{
	struct desk *desk = *state;
	cleanup_instance struct instance *instance = new_tree(desk, WORKSPACE_WORKTREE);
	cleanup_changes struct changes changes = { 0 };
	cleanup_store_rows struct store_rows rows = { 0 }, later = { 0 };
	const struct work_order order = { .asks_forge = true };
	do_sh(desk, "cd " TREE " && echo b >b && git add b && " MINE
		    " commit -q -m two && echo c >c && echo d >>a");
	assert_int_equal(work_look(&desk->deck, instance, &order, &changes, NULL), 0);
	assert_int_equal(instance->workspace->seen.commits, 1);
	work_keep(&desk->deck, instance);
	assert_int_equal(store_list(desk->deck.store, &rows, NULL), 0);
	const struct seen_work *seen = &rows.rows[0].seen;
	cleanup_free char *text = seen_work_text(seen);
	assert_string_equal(text, "1 commit on agentdeck/fix-it, 1 file, not merged, "
				  "2 files not committed");
	assert_int_equal(seen->at / 1000, instance->workspace->seen.at / 1000);
	instance->workspace->seen.at++;
	work_keep(&desk->deck, instance);
	instance->workspace->seen.uncommitted--;
	assert_int_equal(store_list(desk->deck.store, &later, NULL), 0);
	assert_int_equal(later.rows[0].seen.at, seen->at);
	work_keep(&desk->deck, instance);
	assert_int_equal(store_list(desk->deck.store, &later, NULL), 0);
	assert_int_equal(later.rows[0].seen.uncommitted, 1);
}

/* ---- the answer ------------------------------------------------------------------------------ */

#define FRONT "{\"schema\":1,\"merged\":\"no\",\"more_commits\":0,"

static void an_answer_reaches_a_terminal_only_cleaned(void **state UNUSED)
{
	static const char text[] = FRONT
		"\"branch\":\"a\\u001b[2J\",\"diff\":\"+\\u001b]0;x\\u0007\\ty\\n\","
		"\"commits\":[{\"id\":\"\\u009b1m\",\"subject\":\"\\u202e\"}],"
		"\"files\":[{\"path\":\"\\u001bc\",\"status\":\"\\u001b\"}],"
		"\"upstream\":{\"name\":\"\\u001b\"},\"unknown\":[\"\\u001b\"]}";
	cleanup_changes struct changes changes = { 0 };
	assert_int_equal(changes_parse(text, strlen(text), &changes, NULL), 0);
	cleanup_json struct json_object *json = changes_to_json(&changes);
	cleanup_free char *shown = xasprintf("%s%s%s%s%s%s%s", changes.branch, changes.diff,
					     changes.commits[0].id, changes.commits[0].subject,
					     changes.committed.items[0].path, changes.upstream.name,
					     changes.unknown.items[0]);
	assert_string_equal(changes.diff, "+\\033]0;x\\007\ty\n");
	assert_string_equal(changes.branch, "a\\033[2J");
	assert_null(strchr(shown, '\033'));
	assert_null(strstr(shown, "\u202e"));
	assert_null(strstr(json_print(json), "\\u001b"));
}

static void what_is_no_answer_is_refused(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"{}",
		"{\"schema\":2}",
		FRONT "\"head\":\"x y\"}",
		FRONT "\"files\":[1]}",
		FRONT "\"files\":[{\"path\":\"\"}]}",
		FRONT "\"files\":[{\"path\":\"a\",\"status\":\"M\",\"added\":-1}]}",
		FRONT "\"commits\":{}}",
		"{\"schema\":1,\"merged\":\"perhaps\"}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct changes changes = { .more_commits = 99 };
		cleanup_error struct error err = { 0 };
		assert_int_equal(changes_parse(texts[i], strlen(texts[i]), &changes, &err), -1);
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_int_equal(changes.more_commits, 99);
	}
}

static void long_lists_are_counted(void **state UNUSED)
{
	struct changed_files files = { 0 };
	for (int i = 0; i < CHANGES_FILES_MOST + 3; i++)
		changes_add_file(&files, "a", "M");
	assert_int_equal(files.count, CHANGES_FILES_MOST);
	assert_int_equal(changes_sum_of(&files).files, CHANGES_FILES_MOST + 3);
	struct changes changes = { .committed = files };
	changes_free(&changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(work_in_a_worktree_is_seen),
		DESK_TEST(work_in_a_clone_is_seen),
		DESK_TEST(hidden_work_is_seen),
		DESK_TEST(a_merge_of_a_worktree_is_seen),
		DESK_TEST(a_merge_of_a_clone_is_seen),
		DESK_TEST(the_upstream_is_compared),
		DESK_TEST(a_tree_that_is_gone_has_its_commits),
		DESK_TEST(files_of_a_submodule_are_seen),
		DESK_TEST(a_session_without_a_tree_is_refused),
		DESK_TEST(what_was_seen_is_kept),
		cmocka_unit_test(an_answer_reaches_a_terminal_only_cleaned),
		cmocka_unit_test(what_is_no_answer_is_refused),
		cmocka_unit_test(long_lists_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
