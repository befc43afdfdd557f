/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a session with a tree to itself: of add, launch and fork.
 */
#pragma once

#include "cli/core/command.h"
#include "engine/workspace/tree.h"

struct tree_options {
	bool worktree, clone;
	const char *branch;
};

/* The options set the struct tree_options that is this member of `struct options`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a member cannot have any */
#define TREE_OPTIONS(member)                                                                     \
	{ 0, "worktree", NULL, "work in a Git worktree made for it", TO_FLAG(member.worktree) }, \
		{ 0, "clone", NULL, "work in a clone made for it", TO_FLAG(member.clone) },      \
	{                                                                                        \
		0, "branch", "NAME", "the branch of that worktree or clone",                     \
			TO_VALUE(member.branch, VALUE_BRANCH)                                    \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

/* What the options say, borrowed from them.  TREE_NOT_WISHED: nothing.  ERROR_USAGE: they do not go
 * together. */
enum { TREE_NOT_WISHED = 1 };
int tree_read_options(const struct tree_options *options, struct tree_order *ret,
		      struct error *err);
