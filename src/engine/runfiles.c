/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/runfiles.h"

#include "base/argsplit.h"
#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/tmux.h"
#include "model/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { SETTINGS_MAX = 1 << 20, ACTIVITY_MAX = 64 << 10, ACTIVITY_LOCK_MS = 1000 };

#define SOURCE_REPORT "report"
#define SOURCE_PANE "pane"

static int make_run_directory(const struct deck *deck, const struct instance *instance, int *ret,
			      struct error *err)
{
	cleanup_free char *parent =
		xstrndup(instance->run.directory,
			 (size_t)(path_basename(instance->run.directory) - instance->run.directory));
	cleanup_close int fd = -1;
	/* What is above a shortened place ("<direct>/<hash>/<id>") must be ours, too: in /tmp anybody can
	 * have made it before us. */
	if (starts_with(parent, deck->paths.direct)) {
		cleanup_close int above = -1;
		if (fs_open_private_directory(deck->paths.direct, &above, err) < 0)
			return -1;
	}
	if (fs_open_private_directory(parent, &fd, err) < 0)
		return -1;
	return fs_open_private_directory_at(fd, path_basename(instance->run.directory), true, ret,
					    err);
}

/* That of a run that is or was: -1 when it is not there.  One in /tmp may be gone, by a restart of the machine or by
 * who tidies up there, and another user may have put something in its place. */
static int open_run(const char *directory)
{
	if (!directory || fs_check_owner(directory, NULL) != 0)
		return -1;
	return open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int write_conf(struct deck *deck, int fd, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	const char *user_conf = deck->settings.tmux.conf;
	cleanup_free char *expanded = user_conf && starts_with(user_conf, "~/")
					      ? path_join(deck->paths.home, user_conf + 2)
					      : xstrdup_or_null(user_conf);
	const struct tmux_conf conf = {
		.default_terminal = deck->settings.tmux.default_terminal,
		.history_limit = (long)deck->settings.tmux.history_limit,
		.mouse = deck->settings.tmux.mouse,
		.detach_key = deck->settings.tmux.detach_key,
		.source_user_config = deck->settings.tmux.source_user_config,
		.user_conf = expanded,
	};
	if (tmux_conf_text(&conf, &text, err) < 0)
		return error_prefix(err, "config.toml, [tmux]");
	return fs_replace(fd, RUN_CONF, text.data, text.length, FS_VOLATILE, err);
}

#define SETTINGS_SLOT "{settings}"

/* The file of another run, in whose pane we were called: its agent's variable says nothing of the user's. */
static bool is_of_a_run(const char *path)
{
	cleanup_free char *token =
		xasprintf("%.*s" RUN_TOKEN, (int)(path_basename(path) - path), path);
	return streq(path_basename(path), RUN_SETTINGS) && access(token, F_OK) == 0;
}

/* The value of the user's own settings, which ours take the place of: what the variable of our report
 * environment says, or the flag of our report template, the last if there are several, as the agent has
 * it.  Borrowed. */
static const char *user_settings(const struct agent *agent, const struct instance *instance)
{
	const char *flag = NULL, *value = NULL;
	for (size_t i = 0; i < agent->report_environment.count; i++) {
		const char *item = agent->report_environment.items[i];
		cleanup_free char *name = xstrndup(item, strcspn(item, "="));
		const char *path = ends_with(item, "=" SETTINGS_SLOT) ? getenv(name) : NULL;
		/* A file that is not there is no settings for agents, which look in several places. */
		bool is_there = !is_empty(path) && (*path != '/' || access(path, F_OK) == 0);
		if (is_there && !is_of_a_run(path))
			value = path;
	}
	for (size_t i = 0; i + 1 < agent->report.count; i++)
		if (streq(agent->report.items[i + 1], SETTINGS_SLOT))
			flag = agent->report.items[i];
	for (size_t i = registry_program(&instance->argv) + 1; flag && i < instance->argv.count; i++) {
		const char *word = instance->argv.items[i];
		if (streq(word, "--"))
			break;
		if (streq(word, flag) && i + 1 < instance->argv.count)
			value = instance->argv.items[++i];
		else if (starts_with(word, flag) && word[strlen(flag)] == '=')
			value = word + strlen(flag) + 1;
	}
	return value;
}

/* FS_ABSENT-free: 0 with an object of the user's settings, or an empty one when there are none. */
static int load_user_settings(const char *value, const char *cwd, struct json_object **ret,
			      struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *object = NULL;
	if (!value) {
		*ret = json_object_new_object();
		return 0;
	}
	if (value[strspn(value, " \t\n")] == '{') {
		strbuf_adds(&text, value);
	} else {
		cleanup_free char *path = *value == '/' ? xstrdup(value) : path_join(cwd, value);
		int r = fs_read(AT_FDCWD, path, SETTINGS_MAX, &text, err);
		if (r != 0)
			return r < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "%s is missing", path);
	}
	if (json_parse(strbuf_text(&text), text.length, "settings", &object, err) < 0)
		return -1;
	if (!json_object_is_type(object, json_type_object))
		return error_set(err, ERROR_CORRUPT, "settings are not a JSON object");
	*ret = TAKE_PTR(object);
	return 0;
}

static void merge(struct json_object *base, struct json_object *over)
{
	json_object_object_foreach(over, name, value) {
		struct json_object *there = json_get_object(base, name);
		if (there && json_object_is_type(value, json_type_object))
			merge(there, value);
		else
			json_set(base, name, json_object_get(value));
	}
}

/* What the agent's entry wants in the file, whatever the user's own settings say: without it conversations are
 * lost. */
static void add_entry_settings(struct json_object *settings, const struct agent *agent)
{
	cleanup_json struct json_object *object = NULL;
	if (agent->report_settings &&
	    json_parse(agent->report_settings, strlen(agent->report_settings), "report.settings", &object,
		       NULL) == 0)
		merge(settings, object);
}

static bool wants_settings(const struct agent *agent)
{
	for (size_t i = 0; i < agent->report.count; i++)
		if (strstr(agent->report.items[i], SETTINGS_SLOT))
			return true;
	for (size_t i = 0; i < agent->report_environment.count; i++)
		if (strstr(agent->report_environment.items[i], SETTINGS_SLOT))
			return true;
	return false;
}

/* {"hooks": [{"type": "command", "command": "..."}]} for each event, beside the user's own. */
static void add_hooks(struct json_object *settings, const struct agent *agent, const char *command)
{
	struct json_object *hooks = json_make_object(settings, "hooks");
	for (size_t i = 0; i < agent->report_events.count; i++) {
		const char *event = agent->report_events.items[i];
		struct json_object *list = json_get_array(hooks, event);
		if (!list) {
			list = json_object_new_array();
			json_set(hooks, event, list);
		}
		struct json_object *hook = json_object_new_object();
		json_set_string(hook, "type", "command");
		json_set_string(hook, "command", command);
		struct json_object *group = json_object_new_array();
		json_object_array_add(group, hook);
		struct json_object *entry = json_object_new_object();
		json_set(entry, "hooks", group);
		json_object_array_add(list, entry);
	}
}

static int write_settings(struct deck *deck, int fd, const struct instance *instance,
			  const struct agent *agent, struct error *err)
{
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error local = { 0 };
	const char *value = user_settings(agent, instance);
	if (load_user_settings(value, instance->cwd, &settings, &local) < 0) {
		/* Handing the agent another file than the user's own would be worse than no reports. */
		deck_warn(deck, "the agent's own settings could not be read (%s): it starts with them, "
				"and without reports to agentdeck", local.message);
		return 0;
	}
	cleanup_free char *command = argjoin((char *const[]){
		deck->program, (char *)"hook", (char *)"--instance", instance->id, NULL });
	add_entry_settings(settings, agent);
	add_hooks(settings, agent, command);
	const char *text = json_print(settings);
	return fs_replace(fd, RUN_SETTINGS, text, strlen(text), FS_VOLATILE, err);
}

static int write_files(struct deck *deck, const struct instance *instance, const struct agent *agent,
		       struct error *err)
{
	cleanup_close int fd = -1;
	cleanup_free char *token = naming_new_uuid();
	if (make_run_directory(deck, instance, &fd, err) != 0)
		return -1;
	if (unlinkat(fd, RUN_SOCKET, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove the old socket of %s", instance->id);
	(void)unlinkat(fd, RUN_ACTIVITY, 0);
	(void)unlinkat(fd, RUN_SILENT, 0);
	(void)unlinkat(fd, RUN_SETTINGS, 0);
	if (write_conf(deck, fd, err) < 0)
		return -1;
	if (wants_settings(agent) && write_settings(deck, fd, instance, agent, err) < 0)
		return -1;
	return fs_replace(fd, RUN_TOKEN, token, strlen(token), FS_VOLATILE, err);
}

int runfiles_write(struct deck *deck, const struct instance *instance, const struct agent *agent,
		   struct error *err)
{
	int r = write_files(deck, instance, agent, err);
	if (r < 0 && err && err->os_errno)
		return error_prefix(err, "%s", instance->run.directory);
	return r;
}

char *runfiles_settings(const struct instance *instance)
{
	char *path = path_join(instance->run.directory, RUN_SETTINGS);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

int runfiles_remove(const char *directory, struct error *err)
{
	cleanup_error struct error foreign = { 0 };
	int r = directory ? fs_check_owner(directory, &foreign) : FS_ABSENT;
	/* What another user has put there is no rest of ours, and may lead anywhere. */
	if (r < 0)
		log_warning("the files of the last run are gone: %s", foreign.message);
	if (r != 0)
		return 0;
	/* Without the slash: with one behind it a link is followed, and what it leads to is not ours to clear. */
	const size_t length = (size_t)(path_basename(directory) - directory);
	cleanup_free char *parent = xstrndup(directory, length > 1 ? length - 1 : length);
	cleanup_close int fd = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	return fs_remove_tree(fd, path_basename(directory), err) < 0 ? error_prefix(err, "%s", directory) : 0;
}

void runfiles_note_answer(const char *directory, bool answers)
{
	cleanup_close int fd = open_run(directory);
	if (fd < 0)
		return;
	if (answers)
		(void)unlinkat(fd, RUN_SILENT, 0);
	else
		(void)fs_replace(fd, RUN_SILENT, "", 0, FS_VOLATILE, NULL);
}

bool runfiles_is_silent(const char *directory)
{
	cleanup_close int fd = open_run(directory);
	return fd >= 0 && faccessat(fd, RUN_SILENT, F_OK, 0) == 0;
}

char *runfiles_token(const struct instance *instance)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_close int fd = open_run(instance->run.directory);
	if (fd < 0 || fs_read(fd, RUN_TOKEN, 128, &text, NULL) != 0)
		return NULL;
	return strbuf_take(&text);
}

void activity_free(struct activity *activity)
{
	free(activity->event);
	free(activity->cwd);
	free(activity->session_id);
	*activity = (struct activity){ 0 };
}

void activity_read(const char *directory, struct activity *ret)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *object = NULL;
	struct activity activity = { 0 };
	cleanup_close int fd = open_run(directory);
	if (fd >= 0 && fs_read(fd, RUN_ACTIVITY, ACTIVITY_MAX, &text, NULL) == 0 &&
	    json_parse(text.data, text.length, RUN_ACTIVITY, &object, NULL) == 0) {
		(void)instance_activity_parse(json_get_string(object, "activity", "unknown"),
					      &activity.activity);
		int64_t since = clock_parse(json_get_string(object, "since", ""));
		activity.since = since < 0 ? 0 : since;
		activity.prompts = json_get_int(object, "prompts", 0);
		activity.is_seen = streq(json_get_string(object, "source", SOURCE_REPORT), SOURCE_PANE);
		activity.event = xstrdup_or_null(json_get_string(object, "event", NULL));
		activity.cwd = instance_text_from_json(json_object_object_get(object, "cwd"));
		activity.session_id = xstrdup_or_null(json_get_string(object, "session_id", NULL));
	}
	*ret = activity;
}

int activity_write(const char *directory, const struct activity *activity, struct error *err)
{
	cleanup_json struct json_object *object = json_object_new_object();
	char date[CLOCK_TEXT_SIZE];
	cleanup_close int fd = open_run(directory);
	if (fd < 0)
		return error_set(err, ERROR_NOT_FOUND, "%s is gone", directory);
	json_set_string(object, "activity", instance_activity_name(activity->activity));
	json_set_string(object, "source", activity->is_seen ? SOURCE_PANE : SOURCE_REPORT);
	json_set_string(object, "since", clock_format(activity->since, date));
	json_set_int(object, "prompts", activity->prompts);
	json_set_string(object, "event", activity->event);
	json_set_string(object, "session_id", activity->session_id);
	if (activity->cwd)
		json_set(object, "cwd", instance_text_to_json(activity->cwd));
	const char *text = json_print(object);
	return fs_replace(fd, RUN_ACTIVITY, text, strlen(text), FS_VOLATILE, err);
}

int activity_lock(const char *directory, struct fs_lock *ret, struct error *err)
{
	cleanup_close int fd = open_run(directory);
	if (fd < 0)
		return error_set(err, ERROR_NOT_FOUND, "%s is gone", directory);
	return fs_lock(fd, "activity.lock", clock_ms() + ACTIVITY_LOCK_MS, ret, err);
}
