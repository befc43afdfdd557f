/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck.h"

#include "base/child.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "engine/agentfiles.h"
#include "model/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 1 << 20 };

static const char *environment(const char *name)
{
	return getenv(name);
}

static char *own_program(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length < 0)
		return xstrdup("agentdeck");
	path[length] = '\0';
	/* Replaced while we run (an upgrade): the new program stands at the same path. */
	if (ends_with(path, " (deleted)"))
		path[length - (ssize_t)strlen(" (deleted)")] = '\0';
	return xstrdup(path);
}

/* Beside the program (a build tree), else where it was installed. */
static char *helper_program(const char *program, const char *helper)
{
	const char *slash = strrchr(program, '/');
	char *beside = xasprintf("%.*s%s", slash ? (int)(slash - program + 1) : 0, program, helper);
	if (access(beside, X_OK) == 0)
		return beside;
	free(beside);
	return path_join(PKGLIBEXECDIR, helper);
}

static int read_settings(struct deck *deck, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_free char *path = path_join(deck->paths.config, "config.toml");
	/* The user's own file, often a link into a collection of such: followed, unlike ours. */
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		settings_init(&deck->settings);
		return 0;
	}
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (fs_check_author(fd, path, err) < 0 || fs_read_fd(fd, path, CONFIG_MAX, &text, err) < 0)
		return -1;
	return settings_parse(strbuf_text(&text), text.length, path, &deck->settings, err);
}

static void open_log(struct deck *deck, const char *component)
{
	cleanup_close int state = -1, fd = -1;
	/* By two steps, since of a path only the last name is known not to be a link. */
	if (fs_open_private_directory(deck->paths.state, &state, NULL) == 0 &&
	    fs_open_private_directory_at(state, "logs", true, &fd, NULL) == 0)
		log_open(fd, component);
	static const char *const levels[] = { "debug", "info", "warning", "error" };
	const char *level = getenv("AGENTDECK_LOG");
	for (size_t i = 0; level && i < ARRAY_SIZE(levels); i++)
		if (streq(level, levels[i]))
			log_set_level((enum log_level)i);
	if (deck->settings.log_journal && !log_use_journal())
		strvec_push(&deck->warnings, "config.toml, [log] journal: this agentdeck was built without "
					     "systemd, its log is in the file only");
}

int deck_open(const char *profile, const char *component, struct deck *ret, struct error *err)
{
	cleanup_deck struct deck deck = { 0 };
	const struct passwd *user = getenv("HOME") ? NULL : getpwuid(getuid());

	if (paths_find(environment, user ? user->pw_dir : NULL, getuid(), &deck.paths, err) < 0)
		return -1;
	if (is_empty(profile))
		profile = getenv("AGENTDECK_PROFILE");
	if (is_empty(profile))
		profile = "default";
	if (naming_check_profile(profile, err) < 0)
		return -1;
	deck.profile = xstrdup(profile);
	deck.program = own_program();
	deck.gate = helper_program(deck.program, "agentdeck-gate");
	deck.watch = helper_program(deck.program, "agentdeck-watch");
	if (read_settings(&deck, err) < 0)
		return -1;
	open_log(&deck, component);
	*ret = deck;
	deck = (struct deck){ 0 };
	return 0;
}

void deck_close(struct deck *deck)
{
	store_close(deck->store);
	unit_bus_close(deck->bus);
	registry_free(&deck->registry);
	strvec_clear(&deck->agents);
	settings_free(&deck->settings);
	paths_free(&deck->paths);
	strvec_clear(&deck->warnings);
	free(deck->profile);
	free(deck->program);
	free(deck->gate);
	free(deck->watch);
	free(deck->bus_why);
	*deck = (struct deck){ 0 };
}

int deck_open_store(struct deck *deck, struct error *err)
{
	return deck->store ? 0 : store_open(deck->paths.state, deck->profile, &deck->store, err);
}

void deck_warn(struct deck *deck, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	log_warning("%s", text);
	if (strvec_contains(&deck->warnings, text))
		free(text);
	else
		strvec_push_take(&deck->warnings, text);
}

void deck_retry_bus(struct deck *deck)
{
	if (!deck->bus)
		deck->bus_tried = false;
}

/* only: the one agent whose file is wanted; NULL: all but those that have been asked for, to which somebody may point. */
static void apply_files(struct deck *deck, const char *only)
{
	cleanup_strvec struct strvec files = { 0 };
	agentfiles_list(deck->paths.config, &files);
	for (size_t i = 0; i < files.count; i++) {
		cleanup_error struct error why = { 0 };
		cleanup_free char *name = agentfiles_name(files.items[i]);
		if (only ? !streq(name, only) : strvec_contains(&deck->agents, name))
			continue;
		if (agentfiles_apply(&deck->registry, files.items[i], NULL, &why) < 0)
			deck_warn(deck, "%s (this file is left out)", why.message);
	}
}

int deck_registry(struct deck *deck, const struct registry **ret, struct error *err)
{
	if (!deck->registry_complete) {
		if (registry_builtin(&deck->registry, err) < 0)
			return -1;
		apply_files(deck, NULL);
		deck->registry_complete = true;
	}
	*ret = &deck->registry;
	return 0;
}

/* With the user's file over it, if there is one. */
static int load_agent(struct deck *deck, const char *name, struct error *err)
{
	if (deck->registry_complete || strvec_contains(&deck->agents, name))
		return 0;
	if (registry_add_builtin(&deck->registry, name, err) < 0)
		return -1;
	apply_files(deck, name);
	strvec_push(&deck->agents, name);
	return 0;
}

struct unit_bus *deck_bus(struct deck *deck)
{
	if (!deck->bus_tried) {
		cleanup_error struct error err = { 0 };
		deck->bus_tried = true;
		if (unit_bus_open(deck->paths.user_runtime, &deck->bus, &deck->bus_why, &err) < 0)
			replace_string(&deck->bus_why, err.message);
	}
	return deck->bus;
}

int deck_agent(struct deck *deck, const char *name, const struct agent **ret, struct error *err)
{
	const struct registry *registry;
	cleanup_strbuf struct strbuf names = { 0 };
	if (load_agent(deck, name, err) < 0)
		return -1;
	const struct agent *agent = registry_find(&deck->registry, name);
	if (agent) {
		*ret = agent;
		return 0;
	}
	if (deck_registry(deck, &registry, err) < 0)
		return -1;
	for (size_t i = 0; i < registry->count; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", registry->agents[i]->name);
	cleanup_free char *shown = visible(name);
	return error_set(err, ERROR_NOT_FOUND, "unknown agent '%s': known are %s; another program "
			 "runs with -c 'COMMAND'", shown, strbuf_text(&names));
}

char *deck_config_home(const struct deck *deck, const struct agent *agent)
{
	const char *value = agent->config_home_env ? getenv(agent->config_home_env) : NULL;
	return is_empty(value) ? deck_default_home(deck, agent) : xstrdup(value);
}

char *deck_default_home(const struct deck *deck, const struct agent *agent)
{
	if (!agent->config_home)
		return NULL;
	if (starts_with(agent->config_home, "~"))
		return xasprintf("%s%s", deck->paths.home, agent->config_home + 1);
	return xstrdup(agent->config_home);
}

static void refresh_link(const char *directory, const char *target)
{
	char now[PATH_MAX];
	if (fs_check_owner(directory, NULL) != 0)
		return;
	cleanup_close int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t length = readlinkat(fd, "ssh-auth.sock", now, sizeof(now) - 1);
	if (length >= 0) {
		now[length] = '\0';
		if (streq(now, target))
			return;
	}
	(void)fs_replace_link(fd, "ssh-auth.sock", target, NULL);
}

void deck_refresh_ssh_agent(const struct deck *deck)
{
	struct stat st;
	const char *target = getenv("SSH_AUTH_SOCK");
	if (is_empty(target) || *target != '/' || streq(path_basename(target), "ssh-auth.sock"))
		return;
	/* Only an agent that is there, and that is ours. */
	if (stat(target, &st) < 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return;
	refresh_link(deck->paths.runtime, target);
	refresh_link(deck->paths.direct, target);
}
