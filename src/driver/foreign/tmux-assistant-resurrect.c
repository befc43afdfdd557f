/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tmux-assistant-resurrect: the agents in tmux's panes at the last save, in one JSON file.
 *
 * That program knows the conversation of claude from a hook.  For other agents it takes the newest
 * one of the directory, which may be an earlier one.
 */
#include "driver/foreign/foreign-internal.h"
#include "driver/foreign/hooks.h"

#include "base/fsutil.h"

#include <string.h>

#define SOURCE "tmux-assistant-resurrect"

static const char known_by_hook[] = "claude";

static void take_session(const struct json_object *session, const char *path, int64_t saved_at,
			 struct import_row *row)
{
	const char *tool = json_get_string(session, "tool", "");
	const char *id = json_get_string(session, "session_id", "");
	const char *pane = json_get_string(session, "pane", "");
	cleanup_free char *key = xasprintf("%s:%s", tool, is_empty(id) ? pane : id);
	row->source = xstrdup(SOURCE);
	row->origin = foreign_origin(SOURCE, path, key);
	row->directory = xstrdup_or_null(json_get_string(session, "cwd", NULL));
	row->tool = is_empty(tool) ? NULL : xstrdup(tool);
	row->last_used_at = saved_at;
	foreign_take_pane(pane, row);
	import_row_add_id(row, id);
	for (size_t i = 0; i < row->id_count; i++)
		row->ids[i].is_guess = !streq(tool, known_by_hook);
	foreign_take_unquoted(json_get_string(session, "cli_args", ""), row);
}

/* "bash '<plugin>/hooks/claude-session-track.sh'", in later versions
 * "bash "$HOME"'/<plugin>/hooks/...'". */
static bool is_tracker(const char *command)
{
	cleanup_free char *line = xstrdup(command);
	const size_t length = strlen(line);
	if (length > 0 && strchr("'\"", line[length - 1]))
		line[length - 1] = '\0';
	return starts_with(line, "bash ") && (ends_with(line, "/hooks/claude-session-track.sh") ||
					      ends_with(line, "/hooks/claude-session-cleanup.sh"));
}

static const struct hooked settings_with_hooks[] = {
	{ HOOKED_JSON, NULL, ".claude", "settings.json" },
	{ HOOKED_LINK, NULL, ".config/opencode/plugins", "session-tracker.js" },
};

static const struct foreign_hooks left_hooks = {
	.name = SOURCE,
	.is_its = is_tracker,
	.link = "/hooks/opencode-session-track.js",
	.effect = "also run in sessions of agentdeck",
	.files = settings_with_hooks,
	.count = ARRAY_SIZE(settings_with_hooks),
};

static int read_save(const struct foreign_place *place, struct import_rows *ret, struct error *err)
{
	cleanup_free char *directory = place->from ? xstrdup(place->from)
						   : path_join(place->home, ".tmux/resurrect");
	cleanup_free char *path = path_join(directory, "assistant-sessions.json");
	cleanup_json struct json_object *root = NULL;
	int r = foreign_json(path, &root, err);
	if (r != 0)
		return r;
	const struct json_object *sessions = json_get_array(root, "sessions");
	if (!sessions)
		return error_set(err, ERROR_CORRUPT, "%s is not a save of " SOURCE, path);
	const int64_t saved_at = foreign_time(root, "timestamp");
	for (size_t i = 0; i < json_object_array_length(sessions); i++) {
		const struct json_object *session = json_object_array_get_idx(sessions, i);
		if (json_object_is_type(session, json_type_object))
			take_session(session, path, saved_at, import_rows_add(ret));
	}
	foreign_tell_hooks(&left_hooks, place, ret);
	return 0;
}

const struct foreign_source foreign_tmux_assistant_resurrect = {
	.name = SOURCE,
	.about = "~/.tmux/resurrect",
	.is_offered = true,
	.read = read_save,
	.hooks = &left_hooks,
};
