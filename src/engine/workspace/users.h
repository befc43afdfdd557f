/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who works in a tree: every process of our user whose working directory is in it, in whatever
 * session or terminal it is.  `agentdeck session exec` and `shell` are among them, since they stay
 * in the session's directory until their program ends.
 *
 * Processes that the kernel does not let us look at (another user's, or one with more rights) are
 * not seen.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct tree_user {
	char *text; /* "PID (COMMAND)" of one process, safe for a terminal; NULL: there is none */
	bool is_of_run; /* all of them are of the session's own run, which may just be closing */
};

/* path: of the tree, or of a directory above it.  id: of its session. */
int tree_find_user(const char *path, const char *id, struct tree_user *ret, struct error *err);
void tree_user_clear(struct tree_user *user);
#define cleanup_tree_user CLEANUP(tree_user_clear)
