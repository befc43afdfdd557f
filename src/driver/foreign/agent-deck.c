/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * agent-deck 1.14: a SQLite database for each profile; before 0.11 a sessions.json.
 */
#include "driver/foreign/agent-deck-files.h"

#include "base/argsplit.h"
#include "base/fsutil.h"
#include "driver/foreign/foreign-internal.h"
#include "driver/foreign/sqlite.h"
#include "model/session/naming.h"

#include <fcntl.h>
#include <string.h>

#define SOURCE "agent-deck"

/* The schema that 1.14 writes; columns are only ever added. */
enum { SCHEMA = 13 };

/* ---- one session ------------------------------------------------------------------------------ */

static struct json_object *table(const struct json_object *object, const char *a, const char *b)
{
	struct json_object *found = json_get_object(object, a);
	return found && b ? json_get_object(found, b) : found;
}

/* A row of the table, with its tool_data as an object. */
struct theirs {
	const struct deck_files *files;
	const struct json_object *row, *data;
	const char *profile, *tool;
};

static const char *text_of(const struct json_object *object, const char *key)
{
	const char *text = object ? json_get_string(object, key, NULL) : NULL;
	return is_empty(text) ? NULL : text;
}

static const struct json_object *options_of(const struct theirs *theirs)
{
	const struct json_object *options = json_get_object(theirs->data, "tool_options");
	return options ? json_get_object(options, "options") : NULL;
}

static const char *refusal_of(const struct theirs *theirs)
{
	const struct json_object *sandbox = NULL;
	struct json_object *value;
	if (json_object_object_get_ex(theirs->data, "sandbox", &value) &&
	    !json_object_is_type(value, json_type_null) &&
	    !(json_object_is_type(value, json_type_boolean) && !json_object_get_boolean(value)))
		sandbox = value;
	if (text_of(theirs->data, "ssh_host"))
		return "it runs on another machine";
	if (sandbox)
		return "it runs in a sandbox: make it with agentdeck add --container";
	if (json_get_bool(theirs->data, "multi_repo_enabled", false))
		return "it works in several repositories";
	if (json_get_int(theirs->row, "is_conductor", 0) ||
	    json_get_bool(theirs->row, "is_conductor", false))
		return "it is a conductor, which agentdeck does not have";
	return NULL;
}

/* The word behind this one in a command line; the caller frees. */
static char *word_behind(const char *line, const char *word)
{
	const char *at = strstr(line, word);
	if (!at)
		return NULL;
	at += strlen(word);
	at += strspn(at, " \"'");
	return xstrndup(at, strcspn(at, " \"';"));
}

static void take_ids(const struct theirs *theirs, struct import_row *row)
{
	cleanup_free char *key = xasprintf("%s_session_id", theirs->tool);
	cleanup_free char *name = xasprintf("hooks/%s.sid", json_get_string(theirs->row, "id", ""));
	cleanup_free char *sidecar = deck_files_path(theirs->files, name);
	cleanup_strbuf struct strbuf text = { 0 };
	const char *command = or_empty(text_of(theirs->row, "command"));
	if (strstr(command, "--fork-session"))
		row->parent = word_behind(command, "--resume ");
	import_row_add_id(row, text_of(theirs->data, key));
	if (fs_read(AT_FDCWD, sidecar, 4096, &text, NULL) == 0) {
		cleanup_free char *id = xstrndup(strbuf_text(&text),
						 strcspn(strbuf_text(&text), " \n\t\r"));
		import_row_add_id(row, id);
	}
	import_row_add_id(row, text_of(options_of(theirs), "resume_session_id"));
	import_row_add_id(row, text_of(theirs->data, "generic_session_id"));
}

static bool is_custom(const struct theirs *theirs)
{
	const struct json_object *tools = json_get_object(theirs->files->settings, "tools");
	return tools && json_object_object_get(tools, theirs->tool);
}

/* What the user would see in the pane: the agent's own flags of that session and of the settings. */
static void take_options(const struct theirs *theirs, struct import_row *row)
{
	const struct json_object *options = options_of(theirs);
	const struct json_object *settings = json_get_object(theirs->files->settings, theirs->tool);
	const char *model = text_of(options, "model");
	if (!model)
		model = text_of(settings, "default_model");
	if (model) {
		strvec_push(&row->arguments, "--model");
		strvec_push(&row->arguments, model);
	}
	struct strvec *more = &row->arguments;
	const size_t before = more->count;
	json_get_strings(theirs->data, "extra_args", more);
	if (more->count == before && settings)
		json_get_strings(settings, "extra_args", more);
}

/* Unset means on, in its settings. */
static void take_dangers(const struct theirs *theirs, struct import_row *row)
{
	const struct json_object *options = options_of(theirs);
	const struct json_object *settings = json_get_object(theirs->files->settings, theirs->tool);
	if (streq(theirs->tool, "claude")) {
		const bool general = settings ? json_get_bool(settings, "dangerous_mode", true)
					      : true;
		if (options ? json_get_bool(options, "skip_permissions", false) : general)
			strvec_push(&row->dangers, "--dangerously-skip-permissions");
		else if (options && json_get_bool(options, "allow_skip_permissions", false))
			strvec_push(&row->dangers, "--allow-dangerously-skip-permissions");
	} else if (streq(theirs->tool, "codex")) {
		const bool general = settings ? json_get_bool(settings, "yolo_mode", false) : false;
		if (options ? json_get_bool(options, "yolo_mode", general) : general)
			strvec_push(&row->dangers, "--dangerously-bypass-approvals-and-sandbox");
	}
}

/* A fork's command is a script that makes the fork: what it runs later follows from the options. */
static bool is_script(const char *command)
{
	return strstr(command, "AGENTDECK_INSTANCE_ID=") != NULL;
}

static char *replace_word(const char *text, const char *word, const char *by)
{
	const char *at = strstr(text, word);
	if (!at)
		return xasprintf("%s %s", text, by);
	return xasprintf("%.*s%s%s", (int)(at - text), text, by, at + strlen(word));
}

static void wrap(const char *wrapper, const char *line, struct strvec *ret)
{
	cleanup_free char *whole = replace_word(wrapper, "{command}", line);
	foreign_split(whole, ret);
}

static void take_plain_command(const struct theirs *theirs, const char *command,
			       const char *wrapper, struct import_row *row)
{
	const char *shell = theirs->files->place->lookup("SHELL");
	if (!command && wrapper)
		command = is_empty(shell) ? "/bin/sh" : shell;
	if (wrapper)
		wrap(wrapper, command, &row->argv);
	else if (command)
		foreign_take_line(command, row);
	if (streq(theirs->tool, "shell") && !command)
		row->tool = xstrdup("shell");
}

static void take_command(const struct theirs *theirs, struct import_row *row)
{
	const char *command = text_of(theirs->row, "command");
	const char *wrapper = text_of(theirs->row, "wrapper");
	if (streq(theirs->tool, "shell") || is_custom(theirs)) {
		take_plain_command(theirs, command, wrapper, row);
		return;
	}
	const struct json_object *settings = json_get_object(theirs->files->settings, theirs->tool);
	const char *usual = text_of(settings, "command");
	row->tool = xstrdup(theirs->tool);
	if (!command || is_script(command) || streq(command, theirs->tool))
		command = usual && !streq(usual, theirs->tool) ? usual : NULL;
	if (command)
		foreign_take_line(command, row);
	take_options(theirs, row);
	take_dangers(theirs, row);
	if (!wrapper)
		return;
	cleanup_strvec struct strvec whole = { 0 };
	if (row->argv.count)
		strvec_push_all(&whole, &row->argv);
	else
		strvec_push(&whole, theirs->tool);
	strvec_push_all(&whole, &row->arguments);
	cleanup_free char *line = argjoin(strvec_argv(&whole));
	strvec_clear(&row->argv);
	strvec_clear(&row->arguments);
	wrap(wrapper, line, &row->argv);
}

static void add_home(const struct theirs *theirs, const struct json_object *section,
		     struct import_row *row)
{
	const char *home = section ? text_of(section, "config_dir") : NULL;
	if (!home)
		return;
	cleanup_free char *path = foreign_expand(theirs->files->place, home);
	if (*path == '/' && !strvec_contains(&row->homes, path))
		strvec_push(&row->homes, path);
}

/* In the order in which it would choose one; the transcript says which it was. */
static void take_homes(const struct theirs *theirs, struct import_row *row)
{
	const struct json_object *settings = theirs->files->settings;
	const char *account = text_of(theirs->row, "account");
	const struct json_object *profiles = json_get_object(settings, "profiles");
	const struct json_object *groups = json_get_object(settings, "groups");
	if (!streq(theirs->tool, "claude"))
		return;
	if (account && profiles)
		add_home(theirs, table(profiles, account, "claude"), row);
	if (groups && row->group)
		add_home(theirs, table(groups, row->group, "claude"), row);
	if (profiles)
		add_home(theirs, table(profiles, theirs->profile, "claude"), row);
	add_home(theirs, json_get_object(settings, "claude"), row);
}

/* Tell which settings have no counterpart. */
static void tell(const struct theirs *theirs, struct import_row *row)
{
	static const char *const left[][2] = {
		{ "color", "its color" },
		{ "channels", "its channels" },
		{ "plugins", "its plugins" },
		{ "idle_timeout_secs", "its idle timeout" },
	};
	const char *branch = text_of(theirs->row, "worktree_branch");
	if (branch)
		strvec_pushf(&row->told,
			     "its worktree of branch %s stays yours: agentdeck does not "
			     "remove it",
			     branch);
	for (size_t i = 0; i < ARRAY_SIZE(left); i++)
		if (json_object_object_get(theirs->data, left[i][0]))
			strvec_pushf(&row->told, "%s has no counterpart", left[i][1]);
	if (text_of(theirs->row, "parent_session_id"))
		strvec_push(&row->told, "its parent session has no counterpart");
	if (is_custom(theirs))
		strvec_pushf(&row->told,
			     "agentdeck runs %s as a plain command, which resumes nothing",
			     theirs->tool);
}

static void take_row(const struct theirs *theirs, const char *path, struct import_row *row)
{
	const struct json_object *it = theirs->row;
	const int64_t used[] = { foreign_time(theirs->data, "last_started_at"),
				 foreign_time(theirs->data, "last_activity_at"),
				 foreign_time(it, "last_accessed"),
				 foreign_time(it, "last_accessed_at") };
	row->source = xstrdup(SOURCE);
	row->origin = foreign_origin(SOURCE, path, json_get_string(it, "id", ""));
	row->live_id = xstrdup(json_get_string(it, "id", ""));
	row->profile = xstrdup(theirs->profile);
	row->title = xstrdup_or_null(text_of(it, "title"));
	row->group = xstrdup_or_null(text_of(it, "group_path"));
	row->directory = xstrdup_or_null(text_of(it, "project_path"));
	row->notes = xstrdup_or_null(text_of(theirs->data, "notes"));
	row->created_at = foreign_time(it, "created_at");
	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		if (used[i] > row->last_used_at)
			row->last_used_at = used[i];
	row->is_archived = foreign_time(it, "archived_at") > 0;
	row->refusal = xstrdup_or_null(refusal_of(theirs));
	take_ids(theirs, row);
	take_command(theirs, row);
	take_homes(theirs, row);
	tell(theirs, row);
}

/* ---- a profile -------------------------------------------------------------------------------- */

static void take_rows(const struct deck_files *files, const char *profile, const char *path,
		      const struct json_object *rows, struct import_rows *ret)
{
	for (size_t i = 0; rows && i < json_object_array_length(rows); i++) {
		const struct json_object *row = json_object_array_get_idx(rows, i);
		cleanup_json struct json_object *data = NULL;
		const char *text = json_get_string(row, "tool_data", NULL);
		if (!json_object_is_type(row, json_type_object) ||
		    is_empty(json_get_string(row, "id", NULL)))
			continue;
		/* Before 0.11 the row itself has what tool_data has now. */
		if (!text || json_parse(text, strlen(text), path, &data, NULL) < 0 ||
		    !json_object_is_type(data, json_type_object)) {
			json_object_put(data);
			data = json_object_get(json_object_array_get_idx(rows, i));
		}
		const char *tool = text_of(row, "tool");
		struct theirs theirs = { .files = files,
					 .row = row,
					 .data = data,
					 .profile = profile,
					 .tool = tool ? tool : "shell" };
		take_row(&theirs, path, import_rows_add(ret));
	}
}

static int read_database(const struct deck_files *files, const char *profile, const char *path,
			 struct import_rows *ret, struct error *err)
{
	cleanup_sqlite struct sqlite *sqlite = NULL;
	cleanup_json struct json_object *rows = NULL, *metadata = NULL;
	int r = sqlite_open_copy(path, &sqlite, err);
	if (r != 0)
		return r < 0 ? -1 : FOREIGN_ABSENT;
	r = sqlite_table(sqlite, "instances", &rows, err);
	if (r > 0)
		return error_set(err, ERROR_CORRUPT, "%s is not a database of agent-deck", path);
	if (r < 0 || sqlite_table(sqlite, "metadata", &metadata, err) < 0)
		return -1;
	for (size_t i = 0; metadata && i < json_object_array_length(metadata); i++) {
		const struct json_object *row = json_object_array_get_idx(metadata, i);
		int64_t version = 0;
		if (streq(json_get_string(row, "key", ""), "schema_version") &&
		    parse_int64(json_get_string(row, "value", ""), 0, INT32_MAX, &version) &&
		    version > SCHEMA)
			strvec_pushf(&ret->told,
				     "%s has format %d, newer than the known %d: compare "
				     "the result",
				     path, (int)version, SCHEMA);
	}
	take_rows(files, profile, path, rows, ret);
	return 0;
}

static int read_old(const struct deck_files *files, const char *profile, const char *path,
		    struct import_rows *ret, struct error *err)
{
	cleanup_json struct json_object *root = NULL;
	int r = foreign_json(path, &root, err);
	if (r == 0)
		take_rows(files, profile, path, json_get_array(root, "instances"), ret);
	return r;
}

static int read_profile(const struct deck_files *files, const char *profile,
			struct import_rows *ret, struct error *err)
{
	static const char *const names[] = { "state.db", "sessions.json" };
	cleanup_free char *both = xasprintf("%s/profiles/%s/state.db", files->legacy, profile);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *name = xasprintf("profiles/%s/%s", profile, names[i]);
		cleanup_free char *path = deck_files_path(files, name);
		int r = i ? read_old(files, profile, path, ret, err)
			  : read_database(files, profile, path, ret, err);
		if (r < 0)
			return -1;
		if (r == 0 && !streq(path, both) && foreign_exists(both))
			strvec_pushf(&ret->told, "%s is not read: agent-deck uses %s", both, path);
		if (r == 0)
			return 0;
	}
	return FOREIGN_ABSENT;
}

static int list_profiles(const char *root, struct strvec *ret, struct error *err)
{
	cleanup_free char *path = root ? path_join(root, "profiles") : NULL;
	cleanup_close int fd = -1;
	cleanup_strvec struct strvec names = { 0 };
	int r = path ? foreign_open_directory(path, &fd, err) : FOREIGN_ABSENT;
	if (r != 0)
		return r;
	if (fs_list(fd, &names, err) < 0)
		return error_prefix(err, "%s", path);
	for (size_t i = 0; i < names.count; i++)
		if (naming_check_profile(names.items[i], NULL) == 0 &&
		    !strvec_contains(ret, names.items[i]))
			strvec_push(ret, names.items[i]);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Later versions than 1.14 write the path of the program. */
static bool is_handler(const char *command)
{
	const char *name = strrchr(command, '/');
	return streq(name ? name + 1 : command, "agent-deck hook-handler") &&
	       (!name || *command == '/');
}

static const struct hooked settings_with_hooks[] = {
	{ HOOKED_JSON, "CLAUDE_CONFIG_DIR", ".claude", "settings.json" },
	{ HOOKED_JSON, NULL, ".gemini", "settings.json" },
	{ HOOKED_NOTIFY, "CODEX_HOME", ".codex", "config.toml" },
};

static int list_homes(const struct foreign_place *place, struct hooked_homes *ret,
		      struct error *err)
{
	cleanup_deck_files struct deck_files files = { 0 };
	/* The program's hooks may be left where its sessions are not. */
	(void)deck_files_find(place, &files);
	const int r = deck_files_read_settings(&files, err);
	ret->settings = xstrdup(files.config);
	deck_files_list_homes(&files, ret);
	return r;
}

/* The hooks act when AGENTDECK_INSTANCE_ID is set. */
static const struct foreign_hooks left_hooks = {
	.name = SOURCE,
	.is_its = is_handler,
	.notify = { "agent-deck", "codex-notify" },
	.effect = "do nothing in sessions of agentdeck",
	.files = settings_with_hooks,
	.count = ARRAY_SIZE(settings_with_hooks),
	.list_homes = list_homes,
};

/* A failure costs the settings, not the sessions. */
static void take_settings(struct deck_files *files, struct import_rows *ret)
{
	cleanup_error struct error why = { 0 };
	if (deck_files_read_settings(files, &why) < 0)
		strvec_pushf(&ret->told, "agent-deck: its settings cannot be read: %s",
			     why.message);
}

static int read_agent_deck(const struct foreign_place *place, struct import_rows *ret,
			   struct error *err)
{
	cleanup_deck_files struct deck_files files = { 0 };
	cleanup_strvec struct strvec profiles = { 0 };
	int r = deck_files_find(place, &files);
	if (r != 0)
		return r;
	take_settings(&files, ret);
	if (list_profiles(files.data, &profiles, err) < 0 ||
	    list_profiles(files.legacy, &profiles, err) < 0)
		return -1;
	if (profiles.count > 1)
		qsort(profiles.items, profiles.count, sizeof(*profiles.items), compare_names);
	bool is_there = false;
	for (size_t i = 0; i < profiles.count; i++) {
		r = read_profile(&files, profiles.items[i], ret, err);
		if (r < 0)
			return -1;
		is_there |= r == 0;
	}
	if (is_there) {
		deck_files_tell(&files, ret);
		foreign_tell_hooks(&left_hooks, place, ret);
	}
	return is_there ? 0 : FOREIGN_ABSENT;
}

const struct foreign_source foreign_agent_deck = {
	.name = SOURCE,
	.about = "~/.local/share/agent-deck and ~/.agent-deck",
	.is_offered = true,
	.read = read_agent_deck,
	.hooks = &left_hooks,
};
