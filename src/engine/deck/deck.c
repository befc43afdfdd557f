/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/deck/deck.h"

#include "base/fsutil.h"
#include "base/helper.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/nearest.h"
#include "engine/deck/agentfiles.h"
#include "engine/deck/incarnation.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_CONFIG "config.good.toml"

static const char *environment(const char *name)
{
	return getenv(name);
}

int deck_read_config(const struct deck *deck, struct strbuf *ret, struct error *err)
{
	cleanup_free char *path = path_join(deck->paths.config, DECK_CONFIG);
	/* The user's own file is often a link into a collection: follow it, unlike ours. */
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return DECK_NO_CONFIG;
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", path);
	if (fs_check_author(fd, path, err) < 0 ||
	    fs_read_fd(fd, path, DECK_CONFIG_MAX, ret, err) < 0)
		return -1;
	return 0;
}

static int read_settings(const struct deck *deck, struct strbuf *text, struct settings *ret,
			 struct error *err)
{
	cleanup_free char *path = path_join(deck->paths.config, DECK_CONFIG);
	return deck_read_config(deck, text, err) < 0 ||
			       settings_parse(strbuf_text(text), text->length, path, ret, err) < 0
		       ? -1
		       : 0;
}

static bool read_kept_config(const struct deck *deck, struct strbuf *ret)
{
	cleanup_close int state = -1;
	return fs_open_private_directory(deck->paths.state, &state, NULL) == 0 &&
	       fs_read(state, KEPT_CONFIG, DECK_CONFIG_MAX, ret, NULL) == 0;
}

void deck_config_text(const struct deck *deck, struct strbuf *ret)
{
	if (!deck->config_problem)
		(void)deck_read_config(deck, ret, NULL);
	else if (deck->has_kept_config)
		(void)read_kept_config(deck, ret);
}

/* Read the copy of keep_config(), else use the defaults. */
static void read_kept_settings(struct deck *deck)
{
	cleanup_strbuf struct strbuf text = { 0 };
	deck->has_kept_config = read_kept_config(deck, &text) &&
				settings_parse(strbuf_text(&text), text.length, KEPT_CONFIG,
					       &deck->settings, NULL) == 0;
	if (!deck->has_kept_config)
		settings_init(&deck->settings);
}

int deck_read_settings(struct deck *deck, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	struct settings settings = { 0 };
	if (read_settings(deck, &text, &settings, err) < 0)
		return -1;
	settings_free(&deck->settings);
	deck->settings = settings;
	return 0;
}

bool deck_config_has_changed(const struct deck *deck)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_settings struct settings settings = { 0 };
	return read_settings(deck, &text, &settings, NULL) == 0 &&
	       !(deck->config_text && streq(strbuf_text(&text), deck->config_text));
}

/* Keep a copy of a valid config.toml for the day on which it cannot be used. */
static int keep_config(const struct deck *deck, const struct strbuf *text, struct error *err)
{
	cleanup_strbuf struct strbuf old = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	cleanup_close int state = -1;
	if (fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	if (fs_read(state, KEPT_CONFIG, DECK_CONFIG_MAX, &old, NULL) >= 0 &&
	    old.length == text->length &&
	    memcmp(strbuf_text(&old), strbuf_text(text), text->length) == 0)
		return 0;
	/* The process that has the lock keeps this text, or the next command does. */
	int r = fs_lock(state, DECK_CONFIG_LOCK, 0, &lock, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	fs_sweep_temporaries(state);
	return text->length == 0 ? fs_remove(state, KEPT_CONFIG, err)
				 : fs_replace(state, KEPT_CONFIG, strbuf_text(text), text->length,
					      FS_DURABLE, err);
}

/* The state may be on another disk, behind a link that its user made. */
static int find_state(struct deck *deck, struct error *err)
{
	char *place;
	cleanup_free char *path = deck->paths.state;
	deck->paths.state = NULL;
	if (fs_follow_own_link(path, &place, err) < 0) {
		deck->paths.state = TAKE_PTR(path);
		return error_prefix(err, "the state directory");
	}
	deck->paths.state = place;
	return 0;
}

void deck_open_log(struct deck *deck, const char *component)
{
	cleanup_close int state = -1, fd = -1;
	/* In two steps, because only the last name of a path is known not to be a link. */
	if (fs_open_private_directory(deck->paths.state, &state, NULL) == 0 &&
	    fs_open_private_directory_at(state, "logs", true, &fd, NULL) == 0)
		log_open(fd, component);
	static const char *const levels[] = { "debug", "info", "warning", "error" };
	const char *level = getenv("AGENTDECK_LOG");
	for (size_t i = 0; level && i < ARRAY_SIZE(levels); i++)
		if (streq(level, levels[i]))
			log_set_level((enum log_level)i);
	if (deck->settings.log_journal && !log_use_journal())
		strvec_push(&deck->warnings,
			    "config.toml, [log] journal: this agentdeck was built without "
			    "systemd, its log is in the file only");
}

enum strictness { STRICT, TOLERANT };
/* Whether it is a directory of ours that no other user can write. */
static bool is_usable(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022) && access(path, W_OK | X_OK) == 0;
}

bool deck_has_runtime(const struct deck *deck)
{
	const struct paths *paths = &deck->paths;
	return !starts_with(paths->runtime, paths->user_runtime) || is_usable(paths->runtime) ||
	       is_usable(paths->user_runtime);
}

/* XDG_RUNTIME_DIR may be another user's (su and sudo pass it on) or may not exist.  Then use the
 * usual one, where the user manager has its own. */
static void settle_runtime(struct deck *deck)
{
	struct paths *paths = &deck->paths;
	cleanup_free char *usual = xasprintf("/run/user/%u", (unsigned)getuid());
	if (streq(paths->user_runtime, usual) || is_usable(paths->user_runtime) ||
	    !is_usable(usual))
		return;
	cleanup_free char *below = path_join(usual, "agentdeck");
	if (is_empty(getenv("AGENTDECK_HOME")))
		replace_string(&paths->runtime, below);
	deck->unusable_runtime = paths->user_runtime;
	paths->user_runtime = TAKE_PTR(usual);
}

bool deck_join_main(struct deck *deck)
{
	cleanup_incarnation struct incarnation incarnation = { 0 };
	cleanup_error struct error err = { 0 };
	const int r = incarnation_read(deck->paths.state, &incarnation, &err);
	if (r < 0)
		deck_warn(deck, "%s", err.message);
	if (r != 0 || incarnation.is_over || !incarnation_is_here(&incarnation))
		return false;
	machine_adopt(incarnation.host);
	free(deck->paths.direct);
	deck->paths.direct = path_join(incarnation.runtime, "run");
	replace_string(&deck->incarnation, incarnation.id);
	free(deck->spawner);
	deck->spawner = path_join(incarnation.runtime, INCARNATION_SOCKET);
	deck->settings.tmux.launch_in_user_scope = OFF;
	deck->settings.tmux.linger = OFF;
	deck->settings.supervise_auto = false;
	return true;
}

int deck_check_main(const struct deck *deck, struct error *err)
{
	cleanup_incarnation struct incarnation now = { 0 };
	const int r = incarnation_read(deck->paths.state, &now, err);
	if (r < 0 || (r == INCARNATION_NONE && !deck->incarnation))
		return r < 0 ? -1 : 0;
	if (streq(or_empty(now.id), or_empty(deck->incarnation)) && !now.is_over &&
	    incarnation_is_here(&now))
		return 0;
	cleanup_free char *machine = visible(or_empty(now.machine));
	cleanup_free char *name = visible(or_empty(now.name));
	return error_set(err, ERROR_BUSY,
			 "%s is that of a main program (on %s%s%s), and this process does not "
			 "belong to it: use agentdeck in its Pod or job",
			 deck->paths.state, *machine ? machine : "another machine",
			 *name ? ", " : "", name);
}

const char *deck_env_instance(void)
{
	const char *id = getenv(ENV_INSTANCE);
	if (is_empty(id))
		id = getenv(ENV_SHARED_INSTANCE);
	return id && naming_is_id(id) ? id : NULL;
}

static bool is_in_agent_deck(void)
{
	const char *id = getenv(ENV_SHARED_INSTANCE);
	return id && naming_is_foreign_id(id);
}

const char *deck_env_profile(void)
{
	const char *profile = is_in_agent_deck() ? NULL : getenv(ENV_PROFILE);
	return is_empty(profile) ? getenv(ENV_INSTANCE_PROFILE) : profile;
}

const char *deck_env_foreign_profile(void)
{
	const char *profile = is_in_agent_deck() ? getenv(ENV_PROFILE) : NULL;
	return is_empty(profile) ? NULL : profile;
}

static int open_deck(const char *profile, const char *component, enum strictness strictness,
		     struct deck *ret, struct error *err)
{
	cleanup_error struct error problem = { 0 };
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_deck struct deck deck = { 0 };
	const struct passwd *user = getenv("HOME") ? NULL : getpwuid(getuid());

	if (paths_find(environment, user ? user->pw_dir : NULL, getuid(), &deck.paths, err) < 0)
		return -1;
	settle_runtime(&deck);
	if (find_state(&deck, err) < 0)
		return -1;
	if (is_empty(profile))
		profile = deck_env_profile();
	if (is_empty(profile))
		profile = DEFAULT_PROFILE;
	if (naming_check_profile(profile, err) < 0)
		return -1;
	deck.profile = xstrdup(profile);
	deck.program = helper_own_program();
	if (helper_find(deck.program, "agentdeck-gate", &deck.gate, err) < 0 ||
	    helper_find(deck.program, "agentdeck-watch", &deck.watch, err) < 0 ||
	    helper_find(deck.program, "agentdeck-bell", &deck.bell, err) < 0 ||
	    helper_find(deck.program, "agentdeck-view", &deck.view, err) < 0)
		return -1;
	if (read_settings(&deck, &text, &deck.settings, strictness == STRICT ? err : &problem) <
	    0) {
		if (strictness == STRICT)
			return -1;
		deck.config_problem = xstrdup(problem.message);
		read_kept_settings(&deck);
	}
	(void)deck_join_main(&deck);
	deck_open_log(&deck, component);
	if (deck.config_problem)
		log_error("%s (using %s)", deck.config_problem, deck_config_in_use(&deck));
	else if (keep_config(&deck, &text, &problem) < 0)
		log_warning("config.toml could not be copied to the state directory: %s",
			    problem.message);
	if (!deck.config_problem)
		deck.config_text = strbuf_take(&text);
	*ret = deck;
	deck = (struct deck){ 0 };
	return 0;
}

int deck_open(const char *profile, const char *component, struct deck *ret, struct error *err)
{
	return open_deck(profile, component, STRICT, ret, err);
}

int deck_open_anyway(const char *profile, const char *component, struct deck *ret,
		     struct error *err)
{
	return open_deck(profile, component, TOLERANT, ret, err);
}

const char *deck_config_in_use(const struct deck *deck)
{
	return !deck->config_problem   ? "config.toml"
	       : deck->has_kept_config ? "the last good configuration"
				       : "the defaults";
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
	free(deck->spawner);
	free(deck->incarnation);
	free(deck->profile);
	free(deck->program);
	free(deck->gate);
	free(deck->watch);
	free(deck->bell);
	free(deck->view);
	free(deck->bus_why);
	free(deck->unusable_runtime);
	free(deck->config_problem);
	free(deck->config_text);
	*deck = (struct deck){ 0 };
}

int deck_open_store(struct deck *deck, struct error *err)
{
	return deck->store ? 0 : deck_open_profile(deck, deck->profile, &deck->store, err);
}

int deck_open_profile(const struct deck *deck, const char *profile, struct store **ret,
		      struct error *err)
{
	if (store_open(deck->paths.state, profile, ret, err) < 0)
		return -1;
	/* A test's deck may have neither. */
	if (deck->paths.runtime && deck->paths.direct)
		store_set_roots(*ret, deck->paths.runtime, deck->paths.direct);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int deck_profiles(const struct deck *deck, struct strvec *ret, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_close int fd = open(deck->paths.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "open %s", deck->paths.state);
	if (fs_list(fd, &names, err) < 0)
		return error_prefix(err, "%s", deck->paths.state);
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		/* Not by d_type: not every file system knows it, readdir(3). */
		if (naming_check_profile(names.items[i], NULL) == 0 &&
		    fstatat(fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			strvec_push(ret, names.items[i]);
	}
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_names);
	return 0;
}

int deck_each_profile(const struct deck *deck, deck_profile_handler handler, void *context,
		      struct error *err)
{
	cleanup_strvec struct strvec profiles = { 0 };
	int r = deck_profiles(deck, &profiles, err);
	for (size_t i = 0; r == 0 && i < profiles.count; i++) {
		cleanup_store struct store *store = NULL;
		r = deck_open_profile(deck, profiles.items[i], &store, err);
		if (r == 0)
			r = handler(store, context, err);
		if (r < 0)
			return error_prefix(err, "profile %s", profiles.items[i]);
	}
	return r;
}

int deck_check_profile(const struct deck *deck, struct error *err)
{
	cleanup_strvec struct strvec names = { 0 };
	cleanup_strbuf struct strbuf known = { 0 };
	cleanup_free char *directory = path_join(deck->paths.state, deck->profile);
	if (streq(deck->profile, DEFAULT_PROFILE) || access(directory, F_OK) == 0)
		return 0;
	(void)deck_profiles(deck, &names, NULL);
	for (size_t i = 0; i < names.count; i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "; profiles: ", names.items[i]);
	return error_set(err, ERROR_NOT_FOUND,
			 "no profile '%s'%s. Create it with: agentdeck -p %s add ...",
			 deck->profile, strbuf_text(&known), deck->profile);
}

int deck_load(struct deck *deck, const char *base, struct instance **ret, struct error *err)
{
	int r = store_load(deck->store, base, ret, err);
	return r > 0 ? error_set(err, ERROR_NOT_FOUND, "session %s was removed", base) : r;
}

void deck_warn(struct deck *deck, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = xvasprintf(format, args);
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

/* only: the one agent whose file is wanted.  NULL: all but those that deck_agent() has loaded, to
 * which a caller may have a pointer. */
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
			deck_warn(deck, "%s (this file is ignored)", why.message);
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

/* Load the built-in entry, with the user's file applied if there is one. */
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

void deck_forget_agents(struct deck *deck)
{
	registry_free(&deck->registry);
	strvec_clear(&deck->agents);
	deck->registry_complete = false;
}

struct unit_bus *deck_bus(struct deck *deck)
{
	if (!deck->bus_tried) {
		cleanup_error struct error err = { 0 };
		deck->bus_tried = true;
		if (unit_bus_open(deck->paths.user_runtime, &deck->bus, &deck->bus_why, &err) < 0)
			replace_string(&deck->bus_why, err.message);
		deck->bus_is_unknown = err.code == ERROR_SYSTEM;
	}
	return deck->bus;
}

int deck_check_bus(struct deck *deck, struct error *err)
{
	(void)deck_bus(deck);
	return deck->bus_is_unknown ? error_set(err, ERROR_SYSTEM,
						"the user manager cannot be asked what runs: %s",
						or_empty(deck->bus_why))
				    : 0;
}

static int unknown_agent(const struct registry *registry, const char *name, struct error *err)
{
	cleanup_strbuf struct strbuf names = { 0 };
	cleanup_nearest struct nearest nearest = nearest_begin(name);
	cleanup_free char *shown = visible(name);
	for (size_t i = 0; i < registry->count; i++) {
		const char *known = registry->agents[i]->name;
		strbuf_addf(&names, "%s%s", i ? ", " : "", known);
		nearest_consider(&nearest, known, known);
	}
	cleanup_free char *meant = nearest_text(&nearest, SIZE_MAX);
	if (meant)
		return error_set(err, ERROR_NOT_FOUND, "unknown agent '%s'; did you mean %s?",
				 shown, meant);
	return error_set(err, ERROR_NOT_FOUND,
			 "unknown agent '%s': known are %s; another program runs with -c 'COMMAND'",
			 shown, strbuf_text(&names));
}

int deck_agent(struct deck *deck, const char *name, const struct agent **ret, struct error *err)
{
	const struct registry *registry;
	if (load_agent(deck, name, err) < 0)
		return -1;
	const struct agent *agent = registry_find(&deck->registry, name);
	if (agent) {
		*ret = agent;
		return 0;
	}
	return deck_registry(deck, &registry, err) < 0 ? -1 : unknown_agent(registry, name, err);
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

const char *deck_ssh_agent(void)
{
	struct stat st;
	const char *path = getenv("SSH_AUTH_SOCK");
	const bool is_ours = !is_empty(path) && *path == '/' && stat(path, &st) == 0 &&
			     S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
	return is_ours ? path : NULL;
}

void deck_refresh_ssh_agent(const struct deck *deck)
{
	const char *target = deck_ssh_agent();
	if (!target || streq(path_basename(target), "ssh-auth.sock"))
		return;
	refresh_link(deck->paths.runtime, target);
	refresh_link(deck->paths.direct, target);
}
