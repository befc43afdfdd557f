/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Would the tree be the same if it was made again?
 */
#include "engine/workspace/tree.h"

#include "base/fsutil.h"
#include "driver/assess/assess.h"
#include "driver/git/git.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/tree-internal.h"

#define BRANCHES "refs/heads/"

/* Has `other` every branch of `one`, at the same commit? */
static bool has_branches_of(const struct origin *one, const struct origin *other)
{
	for (size_t i = 0; i < one->ref_count; i++) {
		const struct origin_pair *ref = &one->refs[i];
		const char *commit = starts_with(ref->name, BRANCHES) ? origin_ref(other, ref->name)
								      : ref->value;
		if (!commit || !streq(commit, ref->value))
			return false;
	}
	return true;
}

/* What is only in the clone and on a remote is not lost with it, but it would not come back. */
static int compare_clone(int directory, bool *ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_origin struct origin then = { 0 }, now = { 0 };
	int r = fs_read(directory, TREE_ORIGIN, ORIGIN_JSON_MOST, &text, err);
	if (r != 0) {
		*ret = false;
		return r < 0 ? -1 : 0;
	}
	if (origin_parse(strbuf_text(&text), text.length, &then, err) < 0 ||
	    origin_parse(strbuf_text(&text), text.length, &now, err) < 0 ||
	    assess_origin(&now, ASSESS_TIMEOUT_MS, err) < 0)
		return -1;
	*ret = has_branches_of(&then, &now) && has_branches_of(&now, &then);
	return 0;
}

int tree_is_as_made(const struct deck *deck, const struct instance *instance, bool *ret,
		    struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_gitcmd_worktree struct gitcmd_worktree worktree = { 0 };
	cleanup_close int directory = -1;
	if (workspace->kind == WORKSPACE_WORKTREE) {
		const struct gitcmd_linked tree = inside_linked(instance);
		if (gitcmd_look_at_worktree(&tree, &worktree, err) < 0)
			return -1;
		*ret = worktree.branch && streq(worktree.branch, workspace->branch);
		return 0;
	}
	*ret = false;
	/* The commit of a fork may only be in the tree of the original. */
	if (workspace->from)
		return 0;
	int r = tree_open(deck, instance->id, false, &directory, err);
	return r != 0 ? (r < 0 ? -1 : 0) : compare_clone(directory, ret, err);
}

void tree_note_freed(struct workspace *workspace)
{
	workspace->is_made = false;
	workspace->is_freed = false;
	/* The branch of a linked work tree outlives it. */
	workspace->has_branch |= workspace->kind == WORKSPACE_WORKTREE;
}
