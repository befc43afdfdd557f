/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The doctor's first half: gathers facts.  It gets as far as it can, whatever is broken, and
 * changes nothing, except that it makes the state directory, as every command does.
 */
#include "engine/doctor/doctor.h"

#include "base/fsutil.h"
#include "base/helper.h"
#include "base/machine.h"
#include "base/program.h"
#include "base/version.h"
#include "engine/conversation/unreported.h"
#include "engine/deck/hint.h"
#include "engine/place/alive.h"
#include "engine/place/environment.h"
#include "engine/place/gaps.h"
#include "engine/place/isolation.h"
#include "engine/place/runfiles.h"
#include "engine/supervise/guard.h"
#include "engine/supervise/supervise-unit.h"
#include "engine/supervise/supervise.h"
#include "engine/terminal/terminal.h"
#include "model/session/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <linux/magic.h>

enum { HINT_FILE_MAX = 1 << 20, HELPER_MAX = 64 << 20 };

static const char *environment(const char *name)
{
	return getenv(name);
}

static char *user_name(void)
{
	const struct passwd *user = getpwuid(getuid());
	return user ? xstrdup(user->pw_name) : xasprintf("%u", (unsigned)getuid());
}

/* Open the deck.  If the settings or the profile are wrong, make one without them, so that the rest
 * can still be examined. */
static void open_deck(struct deck *deck, const char *profile, struct doctor_facts *facts)
{
	cleanup_error struct error err = { 0 }, home = { 0 };
	const struct passwd *user = getenv("HOME") ? NULL : getpwuid(getuid());
	if (paths_find(environment, user ? user->pw_dir : NULL, getuid(), &deck->paths, &home) <
	    0) {
		facts->home_problem = xstrdup(home.message);
		facts->home_is_ours = !is_empty(getenv("AGENTDECK_HOME"));
		return;
	}
	facts->config_path = path_join(deck->paths.config, "config.toml");
	facts->config_exists = access(facts->config_path, F_OK) == 0;
	paths_free(&deck->paths);
	if (deck_open(profile, "doctor", deck, &err) == 0) {
		facts->deck_is_open = true;
		if (deck_check_profile(deck, &err) < 0) {
			facts->profile_problem = xstrdup(err.message);
			replace_string(&deck->profile, DEFAULT_PROFILE);
		}
		return;
	}
	(void)paths_find(environment, user ? user->pw_dir : NULL, getuid(), &deck->paths, NULL);
	settings_init(&deck->settings);
	if (is_empty(profile))
		profile = deck_env_profile();
	if (!is_empty(profile) && naming_check_profile(profile, NULL) < 0) {
		facts->profile_problem = xstrdup(err.message);
		profile = NULL;
	} else {
		facts->config_problem = xstrdup(err.message);
	}
	deck->profile = xstrdup(is_empty(profile) ? DEFAULT_PROFILE : profile);
}

static void look_at_directory(const char *path, struct doctor_directory *ret)
{
	struct stat st;
	struct statvfs space;
	struct statfs kind;
	ret->path = visible(path);
	ret->free_bytes = -1;
	if (lstat(path, &st) < 0) {
		if (errno != ENOENT && !ret->problem)
			ret->problem = xasprintf("%s: %s", ret->path, strerror(errno));
		return;
	}
	ret->exists = true;
	ret->owner = st.st_uid;
	ret->mode = st.st_mode & 07777;
	ret->is_foreign = st.st_uid != geteuid();
	ret->is_writable = access(path, W_OK | X_OK) == 0;
	if (statvfs(path, &space) == 0)
		ret->free_bytes = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
	ret->is_volatile = statfs(path, &kind) == 0 &&
			   (kind.f_type == TMPFS_MAGIC || kind.f_type == RAMFS_MAGIC);
	if (ret->problem)
		return;
	if (!S_ISDIR(st.st_mode))
		ret->problem = xasprintf("%s is not a directory", ret->path);
	else if (ret->is_foreign)
		ret->problem = xasprintf("%s belongs to user %u, not to you", ret->path,
					 ret->owner);
	else if (ret->mode & 022)
		ret->problem = xasprintf("%s can be written by others (mode %04o)", ret->path,
					 ret->mode);
	else if (!ret->is_writable)
		ret->problem = xasprintf("%s cannot be written", ret->path);
}

static void look_at_machine(struct doctor_facts *facts)
{
	struct statfs kind;
	facts->is_fleeting = !machine_is_lasting();
	facts->machine_id_is_volatile = statfs("/etc/machine-id", &kind) == 0 &&
					kind.f_type == TMPFS_MAGIC;
}

static void note_elsewhere(const struct store_row *row, struct doctor_facts *facts)
{
	cleanup_free char *name = place_elsewhere(&row->run);
	if (!name)
		return;
	cleanup_free char *shown = visible(name);
	facts->elsewhere_count++;
	facts->renamed_count += row->run.host && streq(row->run.host, machine_host()) &&
				row->run.machine_id && !streq(row->run.machine_id, machine_id());
	if (!strvec_contains(&facts->elsewhere, shown))
		strvec_push(&facts->elsewhere, shown);
}

static void look_at_run(struct deck *deck, const struct store_rows *rows,
			const struct store_row *row, struct doctor_facts *facts)
{
	cleanup_instance struct instance *instance = NULL;
	cleanup_strvec struct strvec missing = { 0 };
	const struct agent *agent;
	if (store_load(deck->store, row->base, &instance, NULL) != 0)
		return;
	if (deck_agent(deck, instance->agent, &agent, NULL) == 0) {
		cleanup_free char *why = unreported_why(deck, instance, agent);
		cleanup_free char *hint = why ? hint_row(deck, rows, row) : NULL;
		if (why)
			strvec_pushf(&facts->unreported, "%s reports nothing: %s", hint, why);
	}
	environment_missing(instance, &missing);
	if (missing.count)
		strvec_push_take(&facts->lacking, hint_row(deck, rows, row));
	for (size_t i = 0; i < missing.count; i++)
		if (!strvec_contains(&facts->lacking_names, missing.items[i]))
			strvec_push(&facts->lacking_names, missing.items[i]);
}

static void look_at_sessions(struct deck *deck, struct doctor_facts *facts)
{
	cleanup_error struct error err = { 0 };
	cleanup_store_rows struct store_rows rows = { 0 };
	if (deck_open_store(deck, &err) < 0 || store_list(deck->store, &rows, &err) < 0) {
		facts->sessions_problem = xstrdup(err.message);
		return;
	}
	facts->session_count = rows.count;
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.rows[i];
		if (row->damage)
			strvec_push(&facts->damaged, row->damage);
		if (row->damage)
			strvec_push(&facts->damaged_ids, row->base);
		if (!row->damage)
			note_elsewhere(row, facts);
		if (row->damage || !place_is_live(&row->run))
			continue;
		facts->live_count++;
		if (!row->run.unit)
			strvec_push_take(&facts->unscoped, hint_row(deck, &rows, row));
		look_at_run(deck, &rows, row, facts);
	}
}

/* If it cannot be read, no other version is known. */
static bool is_other_version(const char *helper)
{
	cleanup_strbuf struct strbuf file = { 0 };
	cleanup_free char *stamp = xasprintf("%s%s", AGENTDECK_STAMP, agentdeck_version);
	return fs_read(AT_FDCWD, helper, HELPER_MAX, &file, NULL) == 0 &&
	       !memmem(file.data, file.length, stamp, strlen(stamp) + 1);
}

static void look_at_helpers(struct doctor_facts *facts)
{
	static const char *const helpers[] = {
		"agentdeck-bell",   "agentdeck-capsule", "agentdeck-gate",
		"agentdeck-import", "agentdeck-view",    "agentdeck-watch",
#ifdef HAVE_LIBGIT2
		"agentdeck-assess",
#endif
#ifdef HAVE_NCURSES
		"agentdeck-ui",
#endif
	};
	cleanup_free char *own = helper_own_program();
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_free char *path = NULL;
		if (helper_find(own, helpers[i], &path, &err) < 0)
			strvec_push(&facts->open_helpers, err.message);
		else if (access(path, X_OK) < 0)
			strvec_push(&facts->missing_helpers, path);
		else if (is_other_version(path))
			strvec_push(&facts->other_helpers, path);
	}
}

static void look_at_places(struct deck *deck, struct doctor_facts *facts)
{
	cleanup_error struct error err = { 0 };
	int r = deck_open_store(deck, &err);
	look_at_directory(deck->paths.state, &facts->state);
	/* When the directory itself does not explain it: a profile of another user's, ... */
	if (r < 0 && !facts->state.problem)
		facts->state.problem = xstrdup(err.message);
	look_at_directory(isolation_root(deck,
					 facts->is_isolated ? ISOLATION_SCOPE : ISOLATION_DIRECT),
			  &facts->runtime);
	if (deck->unusable_runtime)
		facts->unusable_runtime = visible(deck->unusable_runtime);
	else if (facts->is_isolated && !deck_has_runtime(deck))
		facts->unusable_runtime = visible(deck->paths.user_runtime);
	if (!facts->state.problem)
		look_at_sessions(deck, facts);
	if (facts->deck_is_open)
		look_at_helpers(facts);
}

static void look_at_tmux(struct doctor_facts *facts)
{
	cleanup_error struct error err = { 0 };
	struct terminal_program tmux = { 0 };
	if (terminal_program(&tmux, &err) < 0)
		facts->tmux_problem = xstrdup(err.message);
	facts->tmux_version = tmux.version;
	facts->tmux_enough = tmux.is_enough;
	facts->tmux_loses_ends = tmux.loses_ends;
}

/* Resolve "~/x" and "{home}/x" of an entry's doctor.file. */
static char *hint_file(const struct deck *deck, const struct agent *agent)
{
	static const char slot[] = "{home}/";
	const char *file = agent->doctor_file;
	cleanup_free char *home = deck_config_home(deck, agent);
	if (starts_with(file, slot))
		return path_join(home ? home : deck->paths.home, file + strlen(slot));
	return starts_with(file, "~/") ? path_join(deck->paths.home, file + 2) : xstrdup(file);
}

/* Whether the user has done what the hint asks for.  No, if the file cannot be read. */
static bool is_settled(const struct deck *deck, const struct agent *agent)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_json struct json_object *root = NULL;
	if (!agent->doctor_file)
		return false;
	cleanup_free char *path = hint_file(deck, agent);
	return fs_read(AT_FDCWD, path, HINT_FILE_MAX, &text, NULL) == 0 &&
	       json_parse(strbuf_text(&text), text.length, path, &root, NULL) == 0 &&
	       json_matches(root, agent->doctor_unless);
}

static bool has_session(const struct deck *deck, const struct agent *agent)
{
	cleanup_store_rows struct store_rows rows = { 0 };
	if (!deck->store || store_list(deck->store, &rows, NULL) < 0)
		return false;
	for (size_t i = 0; i < rows.count; i++)
		if (!rows.rows[i].damage && streq(rows.rows[i].agent, agent->name))
			return true;
	return false;
}

static void look_at_hint(const struct deck *deck, const struct agent *agent, bool is_there,
			 struct doctor_facts *facts)
{
	if (!agent->doctor_hint || !(is_there || has_session(deck, agent)) ||
	    is_settled(deck, agent))
		return;
	strvec_pushf(&facts->agent_hints, "%s: %s", agent->title, agent->doctor_hint);
	strvec_push(&facts->agent_remedies, or_empty(agent->doctor_remedy));
}

static void look_at_agents(struct deck *deck, struct doctor_facts *facts)
{
	cleanup_error struct error err = { 0 };
	const struct registry *registry;
	if (deck_registry(deck, &registry, &err) < 0) {
		strvec_push(&facts->agent_problems, err.message);
		return;
	}
	strvec_push_all(&facts->agent_problems, &deck->warnings);
	strvec_clear(&deck->warnings);
	facts->default_agent = xstrdup_or_null(deck->settings.default_agent);
	for (size_t i = 0; i < registry->count; i++) {
		const struct agent *agent = registry->agents[i];
		cleanup_free char *path = agent->command.count
						  ? program_path(agent->command.items[0], NULL,
								 NULL)
						  : NULL;
		bool is_default = facts->default_agent && streq(agent->name, facts->default_agent);
		bool is_there = !agent->command.count || path;
		look_at_hint(deck, agent, is_there, facts);
		if (is_default)
			facts->default_installed = is_there ? ANSWER_YES : ANSWER_NO;
		if (is_there && agent->stand_in)
			strvec_push(&facts->stand_ins, agent->name);
		else if (is_there)
			strvec_pushf(&facts->agents, "%s (%s)", agent->name, or_empty(path));
	}
}

static void look_at_manager(struct deck *deck, struct doctor_facts *facts)
{
	const char *why;
	struct unit_bus *bus = deck_bus(deck);
	if (bus)
		facts->manager_version = xstrdup(unit_bus_version(bus));
	else
		facts->manager_why = xstrdup(or_empty(deck->bus_why));
	facts->is_isolated = isolation_examine(deck, &why) == ISOLATION_SCOPE;
	facts->isolation_why = xstrdup(why);
	facts->has_main = deck->incarnation;
	facts->isolation_is_override = deck->settings.tmux.launch_in_user_scope == OFF;
	gaps_of_settings(deck, &facts->limit_gaps);
	facts->linger_forbidden = deck->settings.tmux.linger == OFF;
}

static void look_at_login(struct doctor_facts *facts)
{
	cleanup_error struct error err = { 0 };
	struct login_facts login = { 0 };
#ifdef HAVE_SYSTEMD
	facts->built_with_systemd = true;
#endif
	/* sd_booted(3) */
	facts->booted_with_systemd = access("/run/systemd/system", F_OK) == 0;
	int r = login_facts(getuid(), &login, &err);
	if (r == 0)
		facts->kills_user_processes = login.kill_user_processes ? ANSWER_YES : ANSWER_NO;
	else
		facts->login_why = xstrdup(r < 0 ? err.message
					   : facts->built_with_systemd
						   ? "logind is not running"
						   : "agentdeck was built without systemd");
	facts->lingers = login_lingers(getuid());
	facts->is_guarded = guard_is_there(getuid());
	cleanup_free char *user = xasprintf("/run/systemd/users/%u", (unsigned)getuid());
	facts->is_known_user = access(user, F_OK) == 0;
	facts->cgroup = isolation_own_group();
}

static bool is_socket(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static void look_at_ssh_agent(const struct deck *deck, struct doctor_facts *facts)
{
	const char *socket = getenv("SSH_AUTH_SOCK");
	const char *root = facts->is_isolated ? deck->paths.runtime : deck->paths.direct;
	char target[PATH_MAX];
	if (!is_empty(socket)) {
		facts->agent_socket = visible(socket);
		facts->agent_socket_alive = is_socket(socket);
	}
	if (!root)
		return;
	facts->link_path = path_join(root, RUN_SSH_LINK);
	ssize_t length = readlink(facts->link_path, target, sizeof(target) - 1);
	if (length < 0)
		return;
	target[length] = '\0';
	facts->link_target = visible(target);
	facts->link_alive = is_socket(facts->link_path);
}

static void look_at_supervisor(const struct deck *deck, struct doctor_facts *facts)
{
	facts->supervisor_runs = supervise_is_running(deck);
	facts->supervisor_choice = supervise_choice(deck);
}

static void look_at_notify(const struct deck *deck, struct doctor_facts *facts)
{
	const struct strvec *command = &deck->settings.notify.command;
	if (!command->count)
		return;
	facts->notify_program = visible(command->items[0]);
	facts->notify_installed = program_is_installed(command->items[0]);
}

/* fish looks into `folder` of each of these directories, which have colons between them. */
static bool fish_has(const char *directories, const char *folder)
{
	cleanup_free char *copy = xstrdup(directories);
	char *rest = copy;
	for (const char *directory; (directory = strsep(&rest, ":"));) {
		cleanup_free char *path = xasprintf("%s/fish/%s/agentdeck.fish", directory, folder);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* The variable, or this directory in the home directory. */
static char *xdg_directory(const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	return is_empty(value) ? path_join(or_empty(getenv("HOME")), otherwise) : xstrdup(value);
}

static void look_at_completion(struct doctor_facts *facts)
{
	static const char completions[] = "completions", vendor[] = "vendor_completions.d";
	cleanup_free char *config = xdg_directory("XDG_CONFIG_HOME", ".config");
	cleanup_free char *data = xdg_directory("XDG_DATA_HOME", ".local/share");
	const bool is_found = fish_has(config, completions) || fish_has("/etc", completions) ||
			      fish_has(data, vendor) ||
			      fish_has(or_empty(getenv("XDG_DATA_DIRS")), vendor) ||
			      fish_has("/usr/share", vendor);
	if (streq(path_basename(or_empty(getenv("SHELL"))), "fish"))
		facts->fish_completes = is_found ? ANSWER_YES : ANSWER_NO;
}

void doctor_gather(struct deck *deck, const char *profile, struct doctor_facts *ret)
{
	struct doctor_facts facts = { .user = user_name() };
	open_deck(deck, profile, &facts);
	look_at_tmux(&facts);
	look_at_login(&facts);
	if (facts.home_problem) {
		facts.manager_why = xstrdup("not checked: no home directory is known");
	} else {
		look_at_manager(deck, &facts);
		look_at_machine(&facts);
		look_at_places(deck, &facts);
		look_at_agents(deck, &facts);
		look_at_supervisor(deck, &facts);
	}
	look_at_ssh_agent(deck, &facts);
	look_at_notify(deck, &facts);
	look_at_completion(&facts);
	if (!facts.home_problem)
		doctor_look_at_containers(deck, &facts);
	*ret = facts;
}
