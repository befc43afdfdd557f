/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One step of a move, at one end: what the agentdeck that leads it runs there.
 */
#pragma once

#include "cli/core/command.h"

#define MOVE_TREE_PACK "pack-tree" /* move_pack_tree(): "tree", "directory" */
#define MOVE_TREE_LIST "list-tree" /* move_list_tree(): "commits" */

struct move_words {
	const char *to;   /* NULL: not given, as the others */
	const char *step; /* one of these, or of move_step_parse() */
	const char *id;   /* of the move */
};

/* The base of the session of this id; NULL: it is not here. */
int move_find_there(struct app *app, const char *session, const char **ret, struct error *err);

/* directory: of a repository, for a session that is not there yet. */
int move_do_step(struct app *app, const struct move_words *words, const char *directory,
		 struct error *err);
