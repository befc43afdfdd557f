/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/workspace/tree.h"

#include "driver/assess/assess.h"
#include "engine/place/container/inside.h"
#include "engine/workspace/tree-internal.h"

static int refuse(const struct instance *instance, struct error *err)
{
	cleanup_free char *title = visible(instance->title);
	cleanup_free char *directory = visible(instance_lookup_directory(instance));
	return error_set(err, ERROR_INVALID,
			 "%s has no tree to itself: git -C %s status shows what is changed there",
			 title, directory);
}

/* Without a record, the changes are those since the tree's first commit. */
static int find_record(const struct deck *deck, const struct instance *instance, struct origin *ret,
		       struct error *err)
{
	cleanup_close int records = -1;
	int r = tree_open(deck, instance->id, false, &records, err);
	if (r == 0)
		r = tree_read_record(records, instance->workspace, ret, err);
	if (r > 0)
		*ret = tree_origin(instance->workspace);
	return r < 0 ? -1 : 0;
}

int tree_changes(const struct deck *deck, const struct instance *instance, bool with_diff,
		 int timeout_ms, struct changes *ret, struct error *err)
{
	const struct workspace *workspace = instance->workspace;
	cleanup_origin struct origin origin = { 0 };
	if (!workspace)
		return refuse(instance, err);
	cleanup_free char *gone = tree_source_gone(deck, instance);
	cleanup_free char *absence = tree_absence(deck, instance);
	/* The branch of a worktree is in the repository. */
	if (gone || (absence && workspace->kind == WORKSPACE_CLONE))
		return error_set(err, ERROR_NOT_FOUND, "%s", gone ? gone : absence);
	inside_mend(instance);
	if (find_record(deck, instance, &origin, err) < 0)
		return -1;
	replace_string(&origin.into, workspace->base_branch);
	return assess_changes(&origin, with_diff, timeout_ms, ret, err);
}
