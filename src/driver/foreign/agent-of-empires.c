/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Agent of Empires 1.9: a sessions.json for each profile.  A profile that is a symbolic link is
 * another name of one.
 */
#include "driver/foreign/foreign-internal.h"
#include "driver/foreign/hooks.h"

#include "base/argsplit.h"
#include "base/fsutil.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <string.h>

#define SOURCE "agent-of-empires"

static const char *refusal_of(const struct json_object *it)
{
	const struct json_object *sandbox = json_get_object(it, "sandbox_info");
	if (sandbox && json_get_bool(sandbox, "enabled", true))
		return "it runs in a sandbox: make it with agentdeck add --container";
	if (json_get_object(it, "workspace_info"))
		return "it works in several repositories";
	return NULL;
}

static void take_command(const struct json_object *it, struct import_row *row)
{
	const char *more = json_get_string(it, "extra_args", "");
	cleanup_strvec struct strvec arguments = { 0 };
	row->tool = xstrdup_or_null(json_get_string(it, "tool", NULL));
	foreign_take_line(json_get_string(it, "command", ""), row);
	if (argsplit(more, &arguments, NULL) < 0)
		strvec_pushf(&row->told, "its arguments need a shell, and are not taken: %s", more);
	foreign_take_arguments(&arguments, row);
}

static void take_session(const struct json_object *it, const char *profile, const char *path,
			 struct import_row *row)
{
	const struct json_object *worktree = json_get_object(it, "worktree_info");
	row->source = xstrdup(SOURCE);
	row->origin = foreign_origin(SOURCE, path, json_get_string(it, "id", ""));
	row->profile = xstrdup(profile);
	row->title = xstrdup_or_null(json_get_string(it, "title", NULL));
	row->group = xstrdup_or_null(json_get_string(it, "group_path", NULL));
	row->directory = xstrdup_or_null(json_get_string(it, "project_path", NULL));
	row->created_at = foreign_time(it, "created_at");
	row->last_used_at = foreign_time(it, "last_accessed_at");
	row->is_archived = foreign_time(it, "archived_at") > 0;
	row->refusal = xstrdup_or_null(refusal_of(it));
	import_row_add_id(row, json_get_string(it, "agent_session_id", NULL));
	take_command(it, row);
	if (worktree)
		strvec_pushf(&row->told,
			     "its worktree of branch %s stays yours: agentdeck does not "
			     "remove it",
			     json_get_string(worktree, "branch", ""));
	if (json_get_bool(it, "yolo_mode", false))
		strvec_push(&row->told, row->dangers.count || row->is_dangerous
						? "it asks for no permission over there"
						: "it asks for no permission over there, and no "
						  "argument of its command says so: it asks here");
	if (json_get_string(it, "parent_session_id", NULL))
		strvec_push(&row->told, "its parent session has no counterpart");
}

static int read_profile(const char *root, const char *profile, struct import_rows *ret,
			struct error *err)
{
	cleanup_free char *path = xasprintf("%s/profiles/%s/sessions.json", root, profile);
	cleanup_json struct json_object *sessions = NULL;
	int r = foreign_json(path, &sessions, err);
	if (r != 0)
		return r;
	if (!json_object_is_type(sessions, json_type_array))
		return error_set(err, ERROR_CORRUPT, "%s is not a list of sessions", path);
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		const struct json_object *it = json_object_array_get_idx(sessions, i);
		if (json_object_is_type(it, json_type_object))
			take_session(it, profile, path, import_rows_add(ret));
	}
	return 0;
}

static char *find_root(const struct foreign_place *place)
{
	if (place->from)
		return xstrdup(place->from);
	cleanup_free char *root = foreign_xdg(place, "XDG_CONFIG_HOME", ".config",
					      "agent-of-empires");
	if (foreign_exists(root))
		return TAKE_PTR(root);
	return path_join(place->home, ".agent-of-empires");
}

#define CONDITION "[ -n \"$AOE_INSTANCE_ID\" ] || exit 0; "

/* "sh -c 'CONDITION ... /tmp/aoe-hooks/$AOE_INSTANCE_ID ...'", in later versions "sh -c 'CONDITION
 * ... exit 0 # aoe-hooks'".  A command of the user's may name its files, too. */
static bool is_status_hook(const char *command)
{
	cleanup_free char *line = xstrdup(command);
	if (!strstr(command, CONDITION))
		return false;
	for (size_t length = strlen(line); length > 0 && strchr("'\" ", line[length - 1]); length--)
		line[length - 1] = '\0';
	return ends_with(line, "; exit 0 # aoe-hooks") ||
	       strstr(line, "/aoe-hooks/$AOE_INSTANCE_ID");
}

static const struct hooked settings_with_hooks[] = {
	{ HOOKED_JSON, "CLAUDE_CONFIG_DIR", ".claude", "settings.json" },
	{ HOOKED_JSON, NULL, ".gemini", "settings.json" },
	{ HOOKED_JSON, NULL, ".qwen", "settings.json" },
	{ HOOKED_JSON, "CURSOR_CONFIG_DIR", ".cursor", "settings.json" },
	{ HOOKED_JSON, "CODEX_HOME", ".codex", "hooks.json" },
	{ HOOKED_TOML, "CODEX_HOME", ".codex", "config.toml" },
};

/* The hooks act when AOE_INSTANCE_ID is set. */
static const struct foreign_hooks left_hooks = {
	.name = SOURCE,
	.is_its = is_status_hook,
	.effect = "do nothing in sessions of agentdeck",
	.files = settings_with_hooks,
	.count = ARRAY_SIZE(settings_with_hooks),
};

static int read_empires(const struct foreign_place *place, struct import_rows *ret,
			struct error *err)
{
	cleanup_free char *root = find_root(place), *path = path_join(root, "profiles");
	cleanup_close int fd = -1;
	cleanup_strvec struct strvec names = { 0 };
	bool is_there = false;
	struct stat found;
	int r = foreign_open_directory(path, &fd, err);
	if (r != 0)
		return r;
	if (fs_list(fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		if (naming_check_profile(names.items[i], NULL) < 0 ||
		    fstatat(fd, names.items[i], &found, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(found.st_mode))
			continue;
		r = read_profile(root, names.items[i], ret, err);
		if (r < 0)
			return -1;
		is_there |= r == 0;
	}
	if (is_there)
		foreign_tell_hooks(&left_hooks, place, ret);
	return is_there ? 0 : FOREIGN_ABSENT;
}

const struct foreign_source foreign_empires = {
	.name = SOURCE,
	.about = "~/.config/agent-of-empires and ~/.agent-of-empires",
	.is_offered = true,
	.read = read_empires,
	.hooks = &left_hooks,
};
