/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * claude-squad 1.0: each instance has a git worktree to itself, and no conversation id.
 *
 * Its status is not current: a paused instance, whose worktree is gone, may say "running".  So only
 * the directory counts.
 */
#include "driver/foreign/foreign-internal.h"

#include "base/argsplit.h"
#include "base/fsutil.h"

#define SOURCE "claude-squad"

static char *refusal_of(const struct json_object *worktree, const char *branch)
{
	const char *path = json_get_string(worktree, "worktree_path", NULL);
	const char *repository = json_get_string(worktree, "repo_path", NULL);
	char *words[] = { (char *)"git", (char *)"-C", (char *)repository, (char *)"worktree",
			  (char *)"add", (char *)path, (char *)branch,     NULL };
	if (is_empty(path))
		return xstrdup("it has no worktree");
	if (foreign_exists(path) || is_empty(repository) || is_empty(branch))
		return NULL;
	cleanup_free char *command = argjoin(words);
	return xasprintf("it is paused, and its worktree is gone: first %s", command);
}

static void take_instance(const struct json_object *instance, const char *path,
			  struct import_row *row)
{
	const struct json_object *worktree = json_get_object(instance, "worktree");
	const char *title = json_get_string(instance, "title", "");
	const char *branch = json_get_string(instance, "branch", "");
	cleanup_free char *key = xasprintf("%s:%s:%s", json_get_string(instance, "path", ""), title,
					   json_get_string(instance, "created_at", ""));
	row->source = xstrdup(SOURCE);
	row->origin = foreign_origin(SOURCE, path, key);
	row->title = xstrdup(title);
	row->created_at = foreign_time(instance, "created_at");
	row->last_used_at = foreign_time(instance, "updated_at");
	row->hint = IMPORT_HINT_NEWEST;
	foreign_take_line(json_get_string(instance, "program", ""), row);
	if (worktree)
		row->directory = xstrdup_or_null(json_get_string(worktree, "worktree_path", NULL));
	row->refusal = worktree ? refusal_of(worktree, branch) : xstrdup("it has no worktree");
	if (!is_empty(branch))
		strvec_pushf(&row->told,
			     "its worktree of branch %s stays yours: agentdeck does not "
			     "remove it",
			     branch);
	if (json_get_bool(instance, "auto_yes", false))
		strvec_push(&row->told, "that it answers yes by itself has no counterpart");
}

static int read_state(const struct foreign_place *place, struct import_rows *ret, struct error *err)
{
	cleanup_free char *directory = place->from ? xstrdup(place->from)
						   : path_join(place->home, ".claude-squad");
	cleanup_free char *path = path_join(directory, "state.json");
	cleanup_json struct json_object *root = NULL;
	struct json_object *value;
	int r = foreign_json(path, &root, err);
	if (r != 0)
		return r;
	const struct json_object *instances = json_get_array(root, "instances");
	/* Before the first instance it is null. */
	if (!instances && json_object_object_get_ex(root, "instances", &value) && !value)
		return FOREIGN_ABSENT;
	if (!instances)
		return error_set(err, ERROR_CORRUPT, "%s is not a state of " SOURCE, path);
	for (size_t i = 0; i < json_object_array_length(instances); i++) {
		const struct json_object *instance = json_object_array_get_idx(instances, i);
		if (json_object_is_type(instance, json_type_object))
			take_instance(instance, path, import_rows_add(ret));
	}
	return 0;
}

const struct foreign_source foreign_squad = {
	.name = SOURCE,
	.about = "~/.claude-squad",
	.is_offered = true,
	.read = read_state,
};
