/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tree of a session that moves to another host (docs/move.md): it goes before the conversation,
 * as a pack of Git from repository to repository.  Nothing names what came until the session
 * arrives (arrive.h).
 */
#pragma once

#include "engine/deck/deck.h"

/* All of the tree as one commit of its repository, for a session that is leaving with this move.
 * ERROR_INVALID: it has something that does not come along.  *ret_directory: where in the
 * repository it works.  Both are the caller's. */
int move_pack_tree(struct deck *deck, const char *base, const char *move, char **ret_commit,
		   char **ret_directory, struct error *err);

/* What the receiving end has already (cargo_list()).  base: the session's, if it is there; else
 * NULL, and the directory names the repository. */
int move_list_tree(struct deck *deck, const char *base, const char *directory, struct strvec *ret,
		   struct error *err);
/* Read the pack from standard input. */
int move_receive_tree(struct deck *deck, const char *base, const char *directory,
		      struct error *err);

/* Write the pack to standard output (cargo_send()). */
int move_send_tree(struct deck *deck, const char *base, const char *move, const char *have,
		   struct error *err);
