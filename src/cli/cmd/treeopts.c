/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/treeopts.h"

int tree_read_options(const struct tree_options *options, struct tree_order *ret, struct error *err)
{
	const bool is_wished = options->worktree || options->clone;
	if (options->worktree && options->clone)
		return error_set(err, ERROR_USAGE,
				 "--worktree and --clone exclude each other: choose one");
	if (options->branch && !is_wished)
		return error_set(err, ERROR_USAGE, "--branch needs --worktree or --clone");
	if (!is_wished)
		return TREE_NOT_WISHED;
	*ret = (struct tree_order){
		.kind = options->clone ? WORKSPACE_CLONE : WORKSPACE_WORKTREE,
		.branch = options->branch,
	};
	return 0;
}
