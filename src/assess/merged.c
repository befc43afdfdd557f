/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assess/merged.h"

enum { COMMITS_MOST = 2000 };

static bool has_tree(git_repository *git, const git_oid *commit, const git_oid *tree)
{
	git_commit *object = NULL;
	bool has = git_commit_lookup(&object, git, commit) == 0 &&
		   git_oid_equal(git_commit_tree_id(object), tree);
	git_commit_free(object);
	return has;
}

/* Has a commit of head since base, other than `without`, this tree? */
static bool any_has_tree(git_repository *git, const git_oid *head, const git_oid *base,
			 const git_oid *tree, const git_oid *without)
{
	git_revwalk *walk = NULL;
	git_oid oid;
	bool has = false;
	if (git_revwalk_new(&walk, git) == 0 && git_revwalk_push(walk, head) == 0 &&
	    git_revwalk_hide(walk, base) == 0)
		for (int i = 0; !has && i < COMMITS_MOST && git_revwalk_next(&oid, walk) == 0; i++)
			has = !git_oid_equal(&oid, without) && has_tree(git, &oid, tree);
	git_revwalk_free(walk);
	return has;
}

/* In memory.  libgit2 runs no merge driver that the tree names. */
static bool merge_changes_nothing(git_repository *git, git_commit *head, git_commit *tip)
{
	git_merge_options options;
	git_index *index = NULL;
	git_tree *tree = NULL;
	git_diff *diff = NULL;
	(void)git_merge_options_init(&options, GIT_MERGE_OPTIONS_VERSION);
	options.flags = GIT_MERGE_FAIL_ON_CONFLICT;
	bool nothing = git_merge_commits(&index, git, head, tip, &options) == 0 &&
		       !git_index_has_conflicts(index) && git_commit_tree(&tree, head) == 0 &&
		       git_diff_tree_to_index(&diff, git, tree, index, NULL) == 0 &&
		       git_diff_num_deltas(diff) == 0;
	git_diff_free(diff);
	git_tree_free(tree);
	git_index_free(index);
	return nothing;
}

static bool is_merged(git_repository *git, git_commit *tip, const git_oid *head_oid)
{
	git_oid base;
	git_commit *head = NULL;
	/* Commits that undo each other leave no trace, and may never have been merged.  A head
	 * without commits since the base has merged nothing. */
	const git_oid *oid = git_commit_id(tip), *tree = git_commit_tree_id(tip);
	if (git_merge_base(&base, git, oid, head_oid) < 0 || git_oid_equal(&base, head_oid) ||
	    has_tree(git, &base, tree) || any_has_tree(git, oid, &base, tree, oid) ||
	    git_commit_lookup(&head, git, head_oid) < 0)
		return false;
	bool is = any_has_tree(git, head_oid, &base, tree, oid) ||
		  merge_changes_nothing(git, head, tip);
	git_commit_free(head);
	return is;
}

bool merged_into(const struct repository *repository, const git_oid *tip,
		 const struct commits *heads)
{
	git_commit *commit = NULL;
	bool is = false;
	if (git_commit_lookup(&commit, repository->git, tip) < 0)
		return false;
	for (size_t i = 0; !is && i < heads->count; i++)
		is = is_merged(repository->git, commit, &heads->oids[i]);
	git_commit_free(commit);
	return is;
}
