/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/place/runfiles.h"

#include "base/argsplit.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/capsule/capsule.h"
#include "driver/tmux/tmux.h"
#include "engine/deck/proof.h"
#include "engine/place/place.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MARK_MAX = 128, SETTINGS_MAX = 1 << 20 };

int runfiles_open_directory(const struct deck *deck, const char *directory, int *ret,
			    struct error *err)
{
	cleanup_free char *parent = xstrndup(directory,
					     (size_t)(path_basename(directory) - directory));
	cleanup_close int fd = -1;
	/* What is above a shortened place ("<direct>/<hash>/<id>") must be ours, too: in /tmp
	 * anybody can have made it before us. */
	if (starts_with(parent, deck->paths.direct)) {
		cleanup_close int above = -1;
		if (fs_open_private_directory(deck->paths.direct, &above, err) < 0)
			return -1;
	}
	if (fs_open_private_directory(parent, &fd, err) < 0)
		return -1;
	return fs_open_private_directory_at(fd, path_basename(directory), true, ret, err);
}

int runfiles_open(const char *directory)
{
	if (!directory || fs_check_owner(directory, NULL) != 0)
		return -1;
	return open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int write_conf(struct deck *deck, const struct instance *instance, int fd, struct error *err)
{
	/* An agent in a container must not get out through the terminal. */
	const bool is_free = !place_home(instance) ||
			     settings_container(&deck->settings, instance->group).escapes == ON;
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_tmux_choices struct tmux_choices choices = { 0 };
	const char *user_conf = deck->settings.tmux.conf;
	cleanup_free char *expanded = user_conf && starts_with(user_conf, "~/")
					      ? path_join(deck->paths.home, user_conf + 2)
					      : xstrdup_or_null(user_conf);
	cleanup_strvec struct strvec switcher = { 0 };
	strvec_push_array(&switcher, (const char *const[]){ deck->program, "--profile",
							    deck->profile, "switch", NULL });
	tmux_choices_read(deck->paths.home, &choices);
	const struct tmux_conf conf = {
		.choices = choices,
		.default_terminal = deck->settings.tmux.default_terminal,
		.history_limit = (long)deck->settings.tmux.history_limit,
		.mouse = deck->settings.tmux.mouse,
		.passthrough = deck->settings.tmux.passthrough && is_free,
		.clipboard = is_free,
		.detach_key = deck->settings.tmux.detach_key,
		.switcher = &switcher,
		.switch_key = deck->settings.tmux.switch_key,
		.next_key = deck->settings.tmux.next_key,
		.source_user_config = deck->settings.tmux.source_user_config,
		.user_conf = expanded,
	};
	if (tmux_conf_text(&conf, &text, err) < 0)
		return error_prefix(err, "config.toml, [tmux]");
	return fs_replace(fd, RUN_CONF, text.data, text.length, FS_VOLATILE, err);
}

#define SETTINGS_SLOT "{settings}"

/* The file of another run, in whose pane we were called: its agent's variable says nothing of the
 * user's. */
static bool is_of_a_run(const char *path)
{
	cleanup_free char *token = xasprintf("%.*s" RUN_TOKEN, (int)(path_basename(path) - path),
					     path);
	return streq(path_basename(path), RUN_SETTINGS) && access(token, F_OK) == 0;
}

/* The value of the user's own settings, which ours take the place of: what the variable of our
 * report environment says, or the flag of our report template, the last if there are several, as
 * the agent has it.  Borrowed. */
static const char *user_settings(const struct agent *agent, const struct instance *instance)
{
	const char *flag = NULL, *value = NULL;
	for (size_t i = 0; i < agent->report_environment.count; i++) {
		const char *item = agent->report_environment.items[i];
		cleanup_free char *name = xstrndup(item, strcspn(item, "="));
		const char *path = ends_with(item, "=" SETTINGS_SLOT) ? getenv(name) : NULL;
		/* For agents, which look in several places, a missing file holds no settings. */
		bool is_there = !is_empty(path) && (*path != '/' || access(path, F_OK) == 0);
		if (is_there && !is_of_a_run(path))
			value = path;
	}
	for (size_t i = 0; i + 1 < agent->report.count; i++)
		if (streq(agent->report.items[i + 1], SETTINGS_SLOT))
			flag = agent->report.items[i];
	for (size_t i = registry_program(&instance->argv) + 1; flag && i < instance->argv.count;
	     i++) {
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

/* What the agent's entry wants in the file, whatever the user's own settings say: without it
 * conversations are lost. */
static void add_entry_settings(struct json_object *settings, const struct agent *agent)
{
	cleanup_json struct json_object *object = NULL;
	if (agent->report_settings &&
	    json_parse(agent->report_settings, strlen(agent->report_settings), "report.settings",
		       &object, NULL) == 0)
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

const char *runfiles_hook_program(const struct deck *deck, const struct instance *instance)
{
	const struct place *place;
	return place_find(instance, &place, NULL) == 0 && place->hook_program ? place->hook_program
									      : deck->program;
}

/* Where the agent's settings are. */
static const char *settings_directory(const struct run *run)
{
	return run->capsule ? run->capsule : run->directory;
}

/* In what its container has mounted; else with the other files, in the run's directory, which is
 * open: by its path, another directory may be there now. */
static int save_settings(const struct run *run, int directory, const char *text, struct error *err)
{
	cleanup_close int capsule = -1;
	cleanup_error struct error why = { 0 };
	if (!run->capsule)
		return fs_replace(directory, RUN_SETTINGS, text, strlen(text), FS_VOLATILE, err);
	if (fs_open_private_directory(run->capsule, &capsule, err) < 0)
		return -1;
	/* An agent can put a directory there. */
	if (fs_replace(capsule, RUN_SETTINGS, text, strlen(text), FS_VOLATILE, &why) < 0)
		return error_set(err, why.code,
				 "%s/" RUN_SETTINGS " cannot be written: move away what is there: "
				 "%s",
				 run->capsule, why.message);
	return 0;
}

static int write_settings(struct deck *deck, int directory, const struct instance *instance,
			  const struct agent *agent, struct error *err)
{
	cleanup_json struct json_object *settings = NULL;
	cleanup_error struct error local = { 0 };
	const char *value = user_settings(agent, instance);
	if (load_user_settings(value, instance_lookup_directory(instance), &settings, &local) < 0) {
		/* Handing the agent another file than the user's own would be worse than no
		 * reports. */
		deck_warn(deck,
			  "the agent's own settings could not be read (%s): it starts with them, "
			  "but without reports to agentdeck",
			  local.message);
		return 0;
	}
	cleanup_free char *command = argjoin(
		(char *const[]){ (char *)runfiles_hook_program(deck, instance), (char *)"hook",
				 (char *)"--instance", instance->base, NULL });
	add_entry_settings(settings, agent);
	add_hooks(settings, agent, command);
	return save_settings(&instance->run, directory, json_print(settings), err);
}

static int write_text(int fd, const char *name, const char *text, struct error *err)
{
	return fs_replace(fd, name, text, strlen(text), FS_VOLATILE, err);
}

static int write_files(struct deck *deck, const struct instance *instance,
		       const struct agent *agent, struct error *err)
{
	cleanup_close int fd = -1;
	cleanup_free char *token = naming_new_uuid();
	if (runfiles_open_directory(deck, instance->run.directory, &fd, err) != 0)
		return -1;
	if (unlinkat(fd, RUN_SOCKET, 0) < 0 && errno != ENOENT)
		return error_set_file(err, errno, "remove the old socket of %s", instance->id);
	(void)unlinkat(fd, RUN_ACTIVITY, 0);
	(void)unlinkat(fd, RUN_SILENT, 0);
	(void)unlinkat(fd, RUN_LOOKED, 0);
	(void)unlinkat(fd, RUN_SETTINGS, 0);
	fs_sweep_temporaries(fd);
	/* The mark first: what a start that was killed in here leaves is known to be of its run. */
	if (write_text(fd, RUN_MARK, or_empty(instance->run.id), err) < 0 ||
	    write_conf(deck, instance, fd, err) < 0)
		return -1;
	if (wants_settings(agent) && write_settings(deck, fd, instance, agent, err) < 0)
		return -1;
	return write_text(fd, RUN_TOKEN, token, err);
}

int runfiles_write(struct deck *deck, const struct instance *instance, const struct agent *agent,
		   struct error *err)
{
	int r = write_files(deck, instance, agent, err);
	if (r < 0 && err && err->os_errno)
		return error_prefix(err, "%s", instance->run.directory);
	return r;
}

static bool has_file(int fd, const char *name)
{
	return faccessat(fd, name, F_OK, 0) == 0;
}

static bool is_whole(const char *directory)
{
	cleanup_close int fd = runfiles_open(directory);
	return fd >= 0 && has_file(fd, RUN_MARK) && has_file(fd, RUN_TOKEN) &&
	       has_file(fd, RUN_CONF);
}

static char *read_token(const char *directory, const char *name)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0 || fs_read(fd, name, MARK_MAX, &text, NULL) != 0)
		return NULL;
	return strbuf_take(&text);
}

/* The token of a run that lives, as its agent or its capsule has it.  A new one is for the next
 * attempt. */
static char *find_token(const struct instance *instance)
{
	char *token = NULL;
	if (instance->run.capsule)
		token = read_token(instance->run.capsule, CAPSULE_TOKEN);
	else if (proof_of(instance->id, &instance->run.pane) == PROOF_OURS)
		(void)process_variable(instance->run.pane.pid, ENV_TOKEN, &token, NULL);
	if (token && naming_is_uuid(token))
		return token;
	free(token);
	return naming_new_uuid();
}

/* Only what is missing. */
static int complete(struct deck *deck, int fd, const struct instance *instance,
		    const struct agent *agent, struct error *err)
{
	cleanup_free char *settings = runfiles_settings(instance);
	if (!has_file(fd, RUN_MARK) &&
	    write_text(fd, RUN_MARK, or_empty(instance->run.id), err) < 0)
		return -1;
	if (!has_file(fd, RUN_CONF) && write_conf(deck, instance, fd, err) < 0)
		return -1;
	if (!settings && wants_settings(agent) &&
	    write_settings(deck, fd, instance, agent, err) < 0)
		return -1;
	if (has_file(fd, RUN_TOKEN))
		return 0;
	cleanup_free char *token = find_token(instance);
	return write_text(fd, RUN_TOKEN, token, err);
}

int runfiles_restore(struct deck *deck, const struct instance *instance,
		     const struct process_id *process, struct error *err)
{
	const struct agent *agent;
	cleanup_close int fd = -1;
	if (proof_of(instance->id, process) != PROOF_OURS)
		return RUNFILES_FOREIGN;
	if (!instance->run.directory || is_whole(instance->run.directory))
		return 0;
	if (deck_agent(deck, instance->agent, &agent, err) < 0 ||
	    runfiles_open_directory(deck, instance->run.directory, &fd, err) != 0)
		return -1;
	if (complete(deck, fd, instance, agent, err) < 0)
		return error_prefix(err, "%s", instance->run.directory);
	log_warning("files of the run were missing in %s and were created again",
		    instance->run.directory);
	deck_refresh_ssh_agent(deck);
	return 0;
}

char *runfiles_settings(const struct instance *instance)
{
	char *path = path_join(settings_directory(&instance->run), RUN_SETTINGS);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* A start that was killed before it could save its run leaves a mark that no manifest knows. */
static int is_of_dead_run(const char *mark, struct error *err)
{
	cleanup_free char *marker = xasprintf(ENV_RUN "=%s", mark);
	cleanup_free struct process_id *left = NULL;
	size_t count = 0;
	if (!naming_is_uuid(mark))
		return false;
	return process_find_by_environment(marker, &left, &count, err) < 0 ? -1 : count == 0;
}

/* Nothing is in it, or what a writer was killed over before there was a mark, or a removal after
 * it. */
static int is_bare(int fd, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (!starts_with(names.items[i], FS_TEMPORARY_PREFIX))
			return false;
	return true;
}

/* A file that is not ours (a link, a pipe, a long text) says nothing: ret stays empty. */
static int read_mark(int fd, const char *name, struct strbuf *ret, struct error *err)
{
	cleanup_error struct error local = { 0 };
	int r = fs_read(fd, name, MARK_MAX, ret, &local);
	if (r >= 0)
		return r;
	return local.os_errno && local.os_errno != ELOOP ? error_move(err, &local) : 0;
}

/* Is the open directory of this run?  -1: that could not be read. */
static int bears_mark(int fd, const char *run_id, struct error *err)
{
	cleanup_strbuf struct strbuf mark = { 0 }, token = { 0 };
	struct stat st;
	if (fstat(fd, &st) < 0)
		return error_set_file(err, errno, "stat the directory");
	if (st.st_uid != geteuid())
		return false;
	int r = read_mark(fd, RUN_MARK, &mark, err);
	if (r == 0 && run_id && streq(strbuf_text(&mark), run_id))
		return true;
	if (r != FS_ABSENT)
		return r < 0 ? -1 : is_of_dead_run(strbuf_text(&mark), err);
	r = is_bare(fd, err);
	if (r != 0)
		return r;
	/* Earlier versions wrote no mark. */
	r = read_mark(fd, RUN_TOKEN, &token, err);
	return r < 0 ? -1 : r == 0 && naming_is_uuid(strbuf_text(&token));
}

static int remove_file(int fd, const char *name, struct error *err)
{
	/* Files only: a directory is nothing that we have put there. */
	if (unlinkat(fd, name, 0) < 0 && errno != ENOENT && errno != EISDIR && errno != EPERM)
		return error_set_file(err, errno, "remove %s", name);
	return 0;
}

/* The mark last: what a removal leaves that was cut off is still known. */
static int clear_files(int fd, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	if (fs_list(fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (!streq(names.items[i], RUN_MARK) && remove_file(fd, names.items[i], err) < 0)
			return -1;
	return remove_file(fd, RUN_MARK, err);
}

static int remove_run(int parent, const char *name, const char *run_id, struct error *err)
{
	cleanup_close int fd = fs_openat(parent, name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR
			       ? RUNFILES_KEPT
			       : error_set_file(err, errno, "open the directory");
	int r = bears_mark(fd, run_id, err);
	if (r <= 0)
		return r < 0 ? -1 : RUNFILES_KEPT;
	if (clear_files(fd, err) < 0)
		return -1;
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST
		       ? RUNFILES_KEPT
		       : error_set_file(err, errno, "remove directory %s", name);
}

int runfiles_remove(const char *id, const char *directory, const char *run_id, struct error *err)
{
	cleanup_error struct error foreign = { 0 };
	if (directory && !paths_is_run_directory(directory, id))
		return RUNFILES_KEPT;
	int r = directory ? fs_check_owner(directory, &foreign) : FS_ABSENT;
	/* What another user has put there is not ours, and may lead anywhere. */
	if (r < 0)
		log_warning("the files of the last run are gone: %s", foreign.message);
	if (r != 0)
		return 0;
	/* Without the slash: with one behind it a link is followed, and what it leads to is not
	 * ours to clear. */
	const size_t length = (size_t)(path_basename(directory) - directory);
	cleanup_free char *parent = xstrndup(directory, length > 1 ? length - 1 : length);
	cleanup_close int fd = fs_openat(AT_FDCWD, parent,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENOTDIR
			       ? 0
			       : error_set_file(err, errno, "open %s", parent);
	r = remove_run(fd, path_basename(directory), run_id, err);
	return r < 0 ? error_prefix(err, "%s", directory) : r;
}

void runfiles_note_answer(const char *directory, bool answers)
{
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0)
		return;
	if (answers)
		(void)unlinkat(fd, RUN_SILENT, 0);
	else
		(void)fs_replace(fd, RUN_SILENT, "", 0, FS_VOLATILE, NULL);
}

bool runfiles_is_silent(const char *directory)
{
	cleanup_close int fd = runfiles_open(directory);
	return fd >= 0 && faccessat(fd, RUN_SILENT, F_OK, 0) == 0;
}

void runfiles_note_look(const char *directory)
{
	cleanup_close int fd = runfiles_open(directory);
	if (fd < 0 || utimensat(fd, RUN_LOOKED, NULL, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	cleanup_close int made UNUSED = openat(
		fd, RUN_LOOKED, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int64_t runfiles_known_at(const char *directory)
{
	static const char *const names[] = { RUN_ACTIVITY, RUN_LOOKED };
	cleanup_close int fd = runfiles_open(directory);
	int64_t latest = 0;
	for (size_t i = 0; fd >= 0 && i < ARRAY_SIZE(names); i++) {
		struct stat st;
		if (fstatat(fd, names[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		const int64_t at = st.st_mtim.tv_sec * INT64_C(1000000) + st.st_mtim.tv_nsec / 1000;
		latest = at > latest ? at : latest;
	}
	return latest;
}

char *runfiles_token(const struct instance *instance)
{
	return read_token(instance->run.directory, RUN_TOKEN);
}
