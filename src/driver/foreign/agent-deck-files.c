/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/foreign/agent-deck-files.h"

#include "base/fsutil.h"
#include "base/toml.h"
#include "driver/foreign/foreign-internal.h"

#include <stdlib.h>

void deck_files_clear(struct deck_files *files)
{
	free(files->data);
	free(files->legacy);
	free(files->config);
	json_object_put(files->settings);
}

int deck_files_find(const struct foreign_place *place, struct deck_files *ret)
{
	cleanup_free char *there = place->from ? path_join(place->from, "profiles") : NULL;
	ret->place = place;
	if (place->from) {
		ret->legacy = xstrdup(place->from);
		return foreign_exists(there) ? 0 : FOREIGN_ABSENT;
	}
	ret->data = foreign_xdg(place, "XDG_DATA_HOME", ".local/share", "agent-deck");
	ret->legacy = path_join(place->home, ".agent-deck");
	return foreign_exists(ret->data) || foreign_exists(ret->legacy) ? 0 : FOREIGN_ABSENT;
}

char *deck_files_path(const struct deck_files *files, const char *name)
{
	if (files->data) {
		char *path = path_join(files->data, name);
		if (foreign_exists(path))
			return path;
		free(path);
	}
	return path_join(files->legacy, name);
}

int deck_files_read_settings(struct deck_files *files, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *old = path_join(files->legacy, "config.toml");
	files->settings = json_object_new_object();
	files->config = foreign_xdg(files->place, "XDG_CONFIG_HOME", ".config",
				    "agent-deck/config.toml");
	if (!foreign_exists(files->config) || (files->place->from && foreign_exists(old)))
		replace_string(&files->config, old);
	struct json_object *settings;
	const int r = foreign_read(files->config, &text, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (toml_parse(strbuf_text(&text), text.length, files->config, &settings, err) < 0)
		return -1;
	json_object_put(files->settings);
	files->settings = settings;
	return 0;
}

/* ---- homes of agents -------------------------------------------------------------------------- */

static const struct home_key {
	const char *variable, *section, *key;
} home_keys[] = {
	{ "CLAUDE_CONFIG_DIR", "claude", "config_dir" },
	{ "CODEX_HOME", "codex", "codex_home" },
	{ "CODEX_HOME", "codex", "config_dir" },
};

/* table: the whole file, or that of a profile, group or conductor. */
static void add_homes(const struct deck_files *files, const struct json_object *table,
		      struct hooked_homes *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(home_keys); i++) {
		const struct home_key *it = &home_keys[i];
		const struct json_object *section = json_get_object(table, it->section);
		const char *home = section ? json_get_string(section, it->key, NULL) : NULL;
		if (!is_empty(home))
			hooked_homes_add(ret, it->variable, foreign_expand(files->place, home));
	}
}

void deck_files_list_homes(const struct deck_files *files, struct hooked_homes *ret)
{
	static const char *const kinds[] = { "profiles", "groups", "conductors" };
	add_homes(files, files->settings, ret);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct json_object *tables = json_get_object(files->settings, kinds[i]);
		if (!tables)
			continue;
		json_object_object_foreach(tables, name, value) {
			(void)name;
			add_homes(files, value, ret);
		}
	}
}

/* ---- what is shown ---------------------------------------------------------------------------- */

void deck_files_tell(const struct deck_files *files, struct import_rows *ret)
{
	const struct json_object *settings = files->settings;
	const struct json_object *tmux = json_get_object(settings, "tmux");
	const struct json_object *tools = json_get_object(settings, "tools");
	const char *tool = json_get_string(settings, "default_tool", NULL);
	if (tool)
		strvec_pushf(&ret->told,
			     "agent-deck: its default agent: agentdeck config set default_agent %s",
			     tool);
	if (tmux && json_object_object_get(tmux, "mouse"))
		strvec_pushf(&ret->told,
			     "agent-deck: its mouse setting: agentdeck config set tmux.mouse %s",
			     json_get_bool(tmux, "mouse", false) ? "true" : "false");
	if (tmux && json_get_string(tmux, "detach_key", NULL))
		strvec_pushf(
			&ret->told,
			"agent-deck: its key for leaving a session: agentdeck config set tmux.detach_key %s",
			json_get_string(tmux, "detach_key", ""));
	struct json_object *options = tmux ? json_get_object(tmux, "options") : NULL;
	if (options) {
		json_object_object_foreach(options, key, value) {
			strvec_pushf(
				&ret->told,
				"agent-deck: its tmux option %s is %s: see [tmux] in config.toml",
				key, json_object_get_string(value));
		}
	}
	if (tools) {
		json_object_object_foreach(tools, name, value) {
			strvec_pushf(&ret->told,
				     "agent-deck: its tool %s runs '%s': for resuming it, write "
				     "agents/%s.toml",
				     name, json_get_string(value, "command", ""), name);
		}
	}
	static const char *const secrets[][2] = { { "claude", "env_file" },
						  { "shell", "env_files" },
						  { "shell", "init_script" } };
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		const struct json_object *section = json_get_object(settings, secrets[i][0]);
		if (section && json_object_object_get(section, secrets[i][1]))
			strvec_pushf(&ret->told,
				     "agent-deck: its %s.%s is not read: it may hold secrets",
				     secrets[i][0], secrets[i][1]);
	}
}
