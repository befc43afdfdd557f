/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/export/move-tree.h"

#include "driver/git/cargo.h"
#include "engine/run/operation.h"
#include "engine/workspace/tree.h"

static int open_leaving(struct deck *deck, const char *base, const char *move,
			struct operation *ret, struct error *err)
{
	if (operation_open_settled(deck, base, ret, err) < 0)
		return -1;
	const struct move *now = &ret->instance->move;
	return now->state == MOVE_LEAVING && streq(or_empty(now->id), move)
		       ? 0
		       : error_set(err, ERROR_INVALID, "move %s was given up", move);
}

int move_pack_tree(struct deck *deck, const char *base, const char *move, char **ret_commit,
		   char **ret_directory, struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (open_leaving(deck, base, move, &operation, err) < 0 ||
	    tree_pack(deck, operation.instance, ret_directory, err) < 0 ||
	    operation_save(&operation, err) < 0)
		return -1;
	*ret_commit = xstrdup(operation.instance->workspace->carried);
	return 0;
}

int move_send_tree(struct deck *deck, const char *base, const char *move, const char *have,
		   struct error *err)
{
	cleanup_operation struct operation operation = { 0 };
	if (open_leaving(deck, base, move, &operation, err) < 0)
		return -1;
	const struct workspace *workspace = operation.instance->workspace;
	return workspace && workspace->carried
		       ? cargo_send(workspace->source, workspace->carried, have, err)
		       : error_set(err, ERROR_INVALID, "its tree does not move");
}

/* Find the repository in which the session works in a tree already, or will. */
static int find_repository(struct deck *deck, const char *base, const char *directory, char **ret,
			   struct error *err)
{
	cleanup_instance struct instance *instance = NULL;
	if (base && store_load(deck->store, base, &instance, err) < 0)
		return -1;
	if (instance && !instance->workspace)
		return error_set(err, ERROR_INVALID,
				 "session %s is there, and has no tree to itself: move it without "
				 "--with-tree",
				 instance->id);
	return tree_find_repository(instance ? instance->workspace->source : directory, ret, err);
}

int move_list_tree(struct deck *deck, const char *base, const char *directory, struct strvec *ret,
		   struct error *err)
{
	cleanup_free char *source = NULL;
	return find_repository(deck, base, directory, &source, err) < 0
		       ? -1
		       : cargo_list(source, ret, err);
}

int move_receive_tree(struct deck *deck, const char *base, const char *directory, struct error *err)
{
	cleanup_free char *source = NULL;
	return find_repository(deck, base, directory, &source, err) < 0
		       ? -1
		       : cargo_receive(source, err);
}
