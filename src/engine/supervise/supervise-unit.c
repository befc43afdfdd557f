/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/supervise/supervise-unit.h"

#include "base/clock.h"
#include "base/fsutil.h"
#include "base/log.h"
#include "driver/systemd/service.h"
#include "engine/place/isolation.h"
#include "engine/supervise/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>

#define MARK \
	"# Written by \"agentdeck supervise --install\", removed by --uninstall. For changes of your own: "
#define MARK_END "\"systemctl --user edit " SUPERVISE_UNIT "\"\n"
#define PROGRAM  "@bindir@/agentdeck"
/* Where there is a unit already, only this file beside it is ours. */
#define DROPIN "agentdeck.conf"

static const struct unit_file {
	const char *name, *text;
} units[] = {
	{ SUPERVISE_UNIT, supervise_unit_template },
	{ "agentdeck.socket", supervise_socket_template },
	{ "agentdeck@.service", supervise_connection_template },
};

/* What was decided about the supervisor: docs/state-format.md.  A profile has no dot in its name. */
#define CHOICE "supervise.choice"
/* Held from the look at the choice until what it leads to is done. */
#define CHOICE_LOCK CHOICE ".lock"

enum { UNIT_MAX = 1 << 16, CHOICE_MAX = 64 };
/* A start by its user does not wait long for it. */
enum { START_TIMEOUT_MS = 60000, DEFAULT_TIMEOUT_MS = 5000, STOP_TIMEOUT_MS = 30000 };

/* ---- the text --------------------------------------------------------------------------------- */

/* systemd.service(5), "Command lines", and systemd.syntax(7), "Quoting"; "%" begins a specifier
 * (systemd.unit(5)). */
static void add_quoted(struct strbuf *text, const char *value)
{
	strbuf_adds(text, "\"");
	for (const char *c = value; *c; c++) {
		if (*c == '"' || *c == '\\')
			strbuf_addf(text, "\\%c", *c);
		else if (*c == '%')
			strbuf_adds(text, "%%");
		else if ((unsigned char)*c < ' ')
			strbuf_addf(text, "\\x%02x", (unsigned)*c);
		else
			strbuf_add(text, c, 1);
	}
	strbuf_adds(text, "\"");
}

static int check_utf8(const char *value, struct error *err)
{
	if (is_utf8(value, strlen(value)))
		return 0;
	cleanup_free char *shown = visible(value);
	return error_set(err, ERROR_INVALID,
			 "%s is not UTF-8, and the user manager accepts nothing else", shown);
}

static int add_environment(const struct strvec *environment, struct strbuf *text, struct error *err)
{
	for (size_t i = 0; i < environment->count; i++) {
		if (check_utf8(environment->items[i], err) < 0)
			return -1;
		strbuf_adds(text, "Environment=");
		add_quoted(text, environment->items[i]);
		strbuf_adds(text, "\n");
	}
	return 0;
}

/* The command line of the unit, up to its end; NULL: it starts nothing. */
static const char *command_of(const char *unit)
{
	return strstr(unit, PROGRAM);
}

/* The settings of the unit as a drop-in.  program NULL: the unit already starts it. */
static int supervise_dropin_text(const char *unit, const char *program,
				 const struct strvec *environment, char **ret, struct error *err)
{
	cleanup_strbuf struct strbuf text = { 0 };
	strbuf_adds(&text, MARK MARK_END "[Service]\n");
	if (add_environment(environment, &text, err) < 0)
		return -1;
	if (program) {
		const char *words = command_of(unit) + strlen(PROGRAM);
		if (check_utf8(program, err) < 0)
			return -1;
		strbuf_adds(&text, "ExecStart=\nExecStart=");
		add_quoted(&text, program);
		strbuf_add(&text, words, strcspn(words, "\n") + 1);
	}
	*ret = strbuf_take(&text);
	return 0;
}

int supervise_unit_text(const char *unit, const char *program, const struct strvec *environment,
			char **ret, struct error *err)
{
	static const char section[] = "[Service]\n";
	cleanup_strbuf struct strbuf text = { 0 };
	const char *service = strstr(unit, section), *command = command_of(unit);

	if (check_utf8(program, err) < 0)
		return -1;
	strbuf_adds(&text, MARK MARK_END);
	if (service && command && service < command) {
		service += strlen(section);
		strbuf_add(&text, unit, (size_t)(service - unit));
		if (add_environment(environment, &text, err) < 0)
			return -1;
		strbuf_add(&text, service, (size_t)(command - service));
		add_quoted(&text, program);
		unit = command + strlen(PROGRAM);
	}
	strbuf_adds(&text, unit);
	*ret = strbuf_take(&text);
	return 0;
}

/* By which this program finds its files. */
static const char *const place_names[] = { "AGENTDECK_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME" };

/* Only absolute paths count; NULL: there is none. */
static const char *absolute(const char *value)
{
	return value && value[0] == '/' ? value : NULL;
}

static const char *variable_of(const struct strvec *environment, const char *name)
{
	const size_t length = strlen(name);
	for (size_t i = 0; i < environment->count; i++)
		if (starts_with(environment->items[i], name) &&
		    environment->items[i][length] == '=')
			return absolute(environment->items[i] + length + 1);
	return NULL;
}

static const char *home_or_usual(const char *home)
{
	const struct passwd *user = getpwuid(getuid());
	return home ? home : user ? user->pw_dir : NULL;
}

/* Does what the manager starts look for its files where we do? */
static bool has_our_places(const struct strvec *manager)
{
	for (size_t i = 0; i < ARRAY_SIZE(place_names); i++)
		if (!streq(or_empty(absolute(getenv(place_names[i]))),
			   or_empty(variable_of(manager, place_names[i]))))
			return false;
	return streq(or_empty(home_or_usual(absolute(getenv("HOME")))),
		     or_empty(home_or_usual(variable_of(manager, "HOME"))));
}

/* What a unit must say so that the supervisor finds our files, whatever the manager's environment
 * becomes.  An empty value is like none. */
static void find_environment(const struct strvec *manager, struct strvec *ret)
{
	const char *home = absolute(getenv("HOME"));
	for (size_t i = 0; i < ARRAY_SIZE(place_names); i++) {
		const char *own = absolute(getenv(place_names[i]));
		if (own || variable_of(manager, place_names[i]))
			strvec_pushf(ret, "%s=%s", place_names[i], or_empty(own));
	}
	if (home && (!streq(home, or_empty(home_or_usual(NULL))) ||
		     !streq(home, or_empty(home_or_usual(variable_of(manager, "HOME"))))))
		strvec_pushf(ret, "HOME=%s", home);
}

/* ---- the files -------------------------------------------------------------------------------- */

static int require_manager(struct deck *deck, const char *advice, struct unit_bus **ret,
			   struct error *err)
{
	*ret = deck_bus(deck);
	if (*ret)
		return 0;
	return error_set(err, ERROR_UNAVAILABLE, "no user manager is running to do it (%s): %s",
			 deck->bus_why, advice);
}

/* Where the user manager looks for what the user writes: it may have another home, or other XDG
 * variables, than we. */
static int find_own_directory(const struct deck *deck, const struct strvec *path, char **ret,
			      struct error *err)
{
	static const char *const others[] = { "/etc/", "/run/", "/usr/", "/lib/",
					      "/var/lib/flatpak/" };
	for (size_t i = 0; i < path->count; i++) {
		const char *directory = path->items[i];
		bool is_own = ends_with(directory, "/systemd/user") &&
			      !starts_with(directory, deck->paths.user_runtime);
		for (size_t j = 0; j < ARRAY_SIZE(others); j++)
			is_own = is_own && !starts_with(directory, others[j]);
		if (is_own) {
			*ret = xstrdup(directory);
			return 0;
		}
	}
	return error_set(err, ERROR_SYSTEM,
			 "the user manager has no directory for a user's own units");
}

enum file_owner { FILE_NONE, FILE_OURS, FILE_USERS };

/* What cannot be read, and a link, which a masked unit is, is the user's. */
static enum file_owner look_at_file(const char *path)
{
	cleanup_strbuf struct strbuf text = { 0 };
	int r = fs_read(AT_FDCWD, path, UNIT_MAX, &text, NULL);
	if (r == FS_ABSENT)
		return FILE_NONE;
	return r == 0 && starts_with(text.data, MARK) ? FILE_OURS : FILE_USERS;
}

enum package {
	PACKAGE_NONE,  /* or a mask, which starts nothing */
	PACKAGE_OTHER, /* it starts another program */
	PACKAGE_OURS,  /* or a socket, which starts none itself */
};

/* Whose program does the unit in this file start? */
static enum package look_at_unit(const struct deck *deck, const char *path)
{
	static const char key[] = "\nExecStart=";
	cleanup_strbuf struct strbuf text = { 0 };
	if (fs_read(AT_FDCWD, path, UNIT_MAX, &text, NULL) != 0)
		return PACKAGE_NONE;
	const char *command = strstr(strbuf_text(&text), key);
	if (!command)
		return strstr(strbuf_text(&text), "\n[Socket]\n") ? PACKAGE_OURS : PACKAGE_NONE;
	command += strlen(key);
	cleanup_free char *program = xstrndup(command, strcspn(command, " \n"));
	cleanup_free char *real = realpath(program, NULL), *ours = realpath(deck->program, NULL);
	return real && ours && streq(real, ours) ? PACKAGE_OURS : PACKAGE_OTHER;
}

/* The first one that the user manager finds, other than the user's own. */
static enum package find_package(const struct deck *deck, const struct strvec *path,
				 const char *own_directory, const char *name)
{
	for (size_t i = 0; i < path->count; i++) {
		cleanup_free char *file = path_join(path->items[i], name);
		if (!streq(path->items[i], own_directory) && look_at_file(file) != FILE_NONE)
			return look_at_unit(deck, file);
	}
	return PACKAGE_NONE;
}

static int write_file(const char *directory, const char *name, const char *text, struct error *err)
{
	/* The directory may be a link of the user's: the user manager follows it, too. */
	cleanup_close int dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0 && errno != ENOENT)
		return error_set_errno(err, errno, "open %s", directory);
	if (dirfd < 0 && fs_open_private_directory(directory, &dirfd, err) < 0)
		return -1;
	if (fs_replace(dirfd, name, text, strlen(text), FS_DURABLE, err) < 0)
		return error_prefix(err, "%s", directory);
	log_info("supervise: wrote %s/%s", directory, name);
	return 0;
}

/* Only a file with our mark. */
static int remove_file(const char *directory, const char *name, struct error *err)
{
	cleanup_free char *file = path_join(directory, name);
	if (look_at_file(file) != FILE_OURS)
		return 0;
	cleanup_close int dirfd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return error_set_errno(err, errno, "open %s", directory);
	return fs_remove(dirfd, name, err);
}

static char *dropins_of(const char *directory, const struct unit_file *unit)
{
	return xasprintf("%s/%s.d", directory, unit->name);
}

static int check_not_users(const char *directory, const char *name, struct error *err)
{
	cleanup_free char *file = path_join(directory, name);
	if (look_at_file(file) != FILE_USERS)
		return 0;
	return error_set(err, ERROR_EXISTS,
			 "%s exists and was not written by agentdeck: move it away and try again, "
			 "or enable it unchanged with \"systemctl --user enable --now "
			 "" SUPERVISE_UNIT "\"",
			 file);
}

/* A whole unit where there is none, else what the one that is there does not say. */
static int put_unit(const struct deck *deck, const struct unit_file *unit,
		    const struct strvec *path, const char *directory,
		    const struct strvec *environment, struct error *err)
{
	cleanup_free char *text = NULL, *dropins = dropins_of(directory, unit);
	cleanup_free char *file = path_join(directory, unit->name);
	cleanup_free char *dropin = path_join(dropins, DROPIN);
	const enum package package = find_package(deck, path, directory, unit->name);
	/* Also a mask: its user wants no socket. */
	if (look_at_file(file) == FILE_USERS || look_at_file(dropin) == FILE_USERS)
		return 0;
	if (package == PACKAGE_NONE &&
	    (supervise_unit_text(unit->text, deck->program, environment, &text, err) < 0 ||
	     write_file(directory, unit->name, text, err) < 0))
		return -1;
	if (package == PACKAGE_NONE)
		return remove_file(dropins, DROPIN, err);
	/* A whole unit of an earlier version would hide it. */
	if (remove_file(directory, unit->name, err) < 0)
		return -1;
	if (!command_of(unit->text) || (package == PACKAGE_OURS && !environment->count)) {
		log_info("supervise: the installed %s is for this program", unit->name);
		return remove_file(dropins, DROPIN, err);
	}
	return supervise_dropin_text(unit->text, package == PACKAGE_OURS ? NULL : deck->program,
				     environment, &text, err) < 0
		       ? -1
		       : write_file(dropins, DROPIN, text, err);
}

static int put_units(struct deck *deck, struct unit_bus *bus, struct error *err)
{
	cleanup_strvec struct strvec path = { 0 }, environment = { 0 }, manager = { 0 };
	cleanup_free char *directory = NULL;

	if (unit_search_path(bus, &path, err) < 0 ||
	    unit_manager_environment(bus, &manager, err) < 0 ||
	    find_own_directory(deck, &path, &directory, err) < 0)
		return -1;
	cleanup_free char *dropins = dropins_of(directory, &units[0]);
	if (check_not_users(directory, SUPERVISE_UNIT, err) < 0 ||
	    check_not_users(dropins, DROPIN, err) < 0)
		return -1;
	find_environment(&manager, &environment);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (put_unit(deck, &units[i], &path, directory, &environment, err) < 0)
			return -1;
	return 0;
}

/* ---- the operations --------------------------------------------------------------------------- */

static bool is_up(const char *active)
{
	return !streq(active, "inactive") && !streq(active, "failed");
}

/* A supervisor that was started by hand would make the service fail to start, again and again. */
static int check_no_other(struct deck *deck, struct unit_bus *bus, struct error *err)
{
	cleanup_unit_service struct unit_service service = { 0 };
	pid_t pid = 0;

	int r = unit_get_service(bus, SUPERVISE_UNIT, &service, err);
	if (r < 0 || (r == 0 && is_up(service.active)) || !supervise_is_running(deck))
		return r < 0 ? -1 : 0;
	if (service_owner(deck->paths.user_runtime, &pid, NULL) != 0)
		pid = 0;
	if (pid)
		return error_set(
			err, ERROR_BUSY,
			"a supervisor that was started by hand is running (process %d): end it "
			"first",
			(int)pid);
	return error_set(err, ERROR_BUSY,
			 "a supervisor that was started by hand is running: end it first");
}

/* FS_LOCK_BUSY: another agentdeck decides. */
static int lock_choice(const struct deck *deck, int timeout_ms, struct fs_lock *ret,
		       struct error *err)
{
	cleanup_close int state = -1;
	if (fs_open_private_directory(deck->paths.state, &state, err) < 0)
		return -1;
	return fs_lock(state, CHOICE_LOCK, timeout_ms ? clock_ms() + timeout_ms : 0, ret, err);
}

/* For what its user asked for. */
static int await_choice(const struct deck *deck, struct fs_lock *ret, struct error *err)
{
	const int r = lock_choice(deck, START_TIMEOUT_MS, ret, err);
	return r > 0 ? error_set(err, ERROR_BUSY,
				 "another agentdeck enables or disables the supervisor: try again")
		     : r;
}

static int note_choice(const struct deck *deck, const char *word, struct error *err)
{
	cleanup_close int state = -1;
	cleanup_free char *line = xasprintf("%s\n", word);
	return fs_open_private_directory(deck->paths.state, &state, err) < 0 ||
			       fs_replace(state, CHOICE, line, strlen(line), FS_DURABLE, err) < 0
		       ? -1
		       : 0;
}

/* What cannot be read counts as a choice: the unit is not enabled on a guess. */
char *supervise_choice(const struct deck *deck)
{
	cleanup_strbuf struct strbuf text = { 0 };
	cleanup_close int state = -1;
	if (fs_open_private_directory(deck->paths.state, &state, NULL) < 0)
		return xstrdup("unknown");
	const int r = fs_read(state, CHOICE, CHOICE_MAX, &text, NULL);
	if (r == FS_ABSENT)
		return NULL;
	return r < 0 ? xstrdup("unknown")
		     : xstrndup(strbuf_text(&text), strcspn(strbuf_text(&text), "\n"));
}

/* For steps after which UNIT_ABSENT or UNIT_NO_MANAGER would be a surprise. */
static int must_be_there(int r, struct error *err)
{
	return r > 0 ? error_set(err, ERROR_SYSTEM,
				 "the user manager does not find " SUPERVISE_UNIT
				 ": see \"systemctl --user status " SUPERVISE_UNIT "\"")
		     : r;
}

static int install(struct deck *deck, int timeout_ms, struct error *err)
{
	struct unit_bus *bus;
	if (require_manager(deck, "let whatever starts your programs run \"agentdeck supervise\"",
			    &bus, err) < 0 ||
	    check_no_other(deck, bus, err) < 0 || put_units(deck, bus, err) < 0 ||
	    must_be_there(unit_enable(bus, SUPERVISE_UNIT, err), err) < 0 ||
	    must_be_there(unit_reload_manager(bus, err), err) < 0)
		return -1;
	int r = unit_restart(bus, SUPERVISE_UNIT, clock_ms() + timeout_ms, err);
	if (must_be_there(r, err) < 0)
		return -1;
	log_info("supervise: " SUPERVISE_UNIT " is enabled and started");
	isolation_ensure_linger(deck);
	return 0;
}

int supervise_install(struct deck *deck, struct error *err)
{
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	if (!deck_bus(deck))
		(void)isolation_wake_manager(deck);
	return await_choice(deck, &lock, err) < 0 || install(deck, START_TIMEOUT_MS, err) < 0 ||
			       note_choice(deck, "installed", err) < 0
		       ? -1
		       : 0;
}

/* Does the user manager know a unit for this program, and would it find our files? */
static bool is_installed_for_us(const struct deck *deck, struct unit_bus *bus)
{
	cleanup_strvec struct strvec path = { 0 }, manager = { 0 };
	cleanup_free char *directory = NULL;
	if (unit_manager_environment(bus, &manager, NULL) != 0 || !has_our_places(&manager) ||
	    unit_search_path(bus, &path, NULL) < 0 ||
	    find_own_directory(deck, &path, &directory, NULL) < 0)
		return false;
	cleanup_free char *file = path_join(directory, SUPERVISE_UNIT);
	cleanup_free char *dropin = path_join(directory, SUPERVISE_UNIT ".d/" DROPIN);
	return look_at_file(file) == FILE_NONE && look_at_file(dropin) == FILE_NONE &&
	       find_package(deck, &path, directory, SUPERVISE_UNIT) == PACKAGE_OURS;
}

/* The user has not chosen, and the unit is there, disabled. */
static bool is_to_be_enabled(struct deck *deck)
{
	cleanup_free char *enabled = NULL, *choice = supervise_choice(deck);
	struct unit_bus *bus;
	/* A mistake in config.toml may hide `auto = false`. */
	return !deck->config_problem && deck->settings.supervise_auto && !choice &&
	       (bus = deck_bus(deck)) && is_installed_for_us(deck, bus) &&
	       !supervise_is_running(deck) &&
	       unit_file_state(bus, SUPERVISE_UNIT, &enabled, NULL) == 0 &&
	       streq(enabled, "disabled");
}

bool supervise_enable_by_default(struct deck *deck)
{
	cleanup_error struct error err = { 0 };
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	/* Asked again under the lock: of two first starts, one enables it. */
	if (!is_to_be_enabled(deck) || lock_choice(deck, 0, &lock, NULL) != 0 ||
	    !is_to_be_enabled(deck))
		return false;
	/* Tried once: whatever comes of it, the next start does not try again. */
	if (note_choice(deck, "tried", &err) == 0 && install(deck, DEFAULT_TIMEOUT_MS, &err) == 0) {
		(void)note_choice(deck, "installed", NULL);
		return true;
	}
	deck_warn(
		deck,
		"the supervisor could not be enabled, so nothing restarts sessions by itself: %s; "
		"try: agentdeck supervise --install",
		err.message);
	return false;
}

static int is_there(struct unit_bus *bus, struct error *err)
{
	cleanup_unit_service struct unit_service service = { 0 };
	cleanup_free char *enabled = NULL;

	int r = unit_get_service(bus, SUPERVISE_UNIT, &service, err);
	if (r != 0)
		return r < 0 ? -1 : SUPERVISE_NOT_INSTALLED;
	if (is_up(service.active) || look_at_file(service.file) == FILE_OURS)
		return 0;
	r = unit_file_state(bus, SUPERVISE_UNIT, &enabled, err);
	if (r < 0)
		return -1;
	return r == 0 && starts_with(enabled, "enabled") ? 0 : SUPERVISE_NOT_INSTALLED;
}

int supervise_uninstall(struct deck *deck, struct error *err)
{
	cleanup_strvec struct strvec path = { 0 };
	cleanup_free char *directory = NULL;
	cleanup_fs_lock struct fs_lock lock = FS_UNLOCKED;
	struct unit_bus *bus;

	/* First: no later start may take it back, and none that is at it. */
	if (await_choice(deck, &lock, err) < 0 || note_choice(deck, "declined", err) < 0 ||
	    require_manager(deck, "no later start enables it. Log in, and run this again", &bus,
			    err) < 0)
		return -1;
	int r = is_there(bus, err);
	if (r != 0)
		return r;
	if (unit_search_path(bus, &path, err) < 0 ||
	    find_own_directory(deck, &path, &directory, err) < 0 ||
	    unit_disable(bus, SUPERVISE_UNIT, err) < 0 ||
	    unit_stop(bus, SUPERVISE_UNIT, clock_ms() + STOP_TIMEOUT_MS, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		cleanup_free char *dropins = dropins_of(directory, &units[i]);
		if (remove_file(directory, units[i].name, err) < 0 ||
		    remove_file(dropins, DROPIN, err) < 0)
			return -1;
		(void)rmdir(dropins);
	}
	if (unit_reload_manager(bus, err) < 0)
		return -1;
	log_info("supervise: " SUPERVISE_UNIT " is disabled and stopped");
	return 0;
}

void supervise_status_free(struct supervise_status *status)
{
	free(status->why);
	free(status->file);
	free(status->enabled);
	free(status->active);
	*status = (struct supervise_status){ 0 };
}

static int ask_unit(struct unit_bus *bus, struct supervise_status *status, struct error *err)
{
	cleanup_unit_service struct unit_service service = { 0 };
	int r = unit_get_service(bus, SUPERVISE_UNIT, &service, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	r = unit_file_state(bus, SUPERVISE_UNIT, &status->enabled, err);
	if (r < 0)
		return -1;
	status->is_installed = !is_empty(service.file);
	status->is_ours = look_at_file(service.file) == FILE_OURS;
	status->since_us = service.since_us;
	status->unit_pid = service.main_pid;
	status->file = TAKE_PTR(service.file);
	status->active = TAKE_PTR(service.active);
	return 0;
}

int supervise_status(struct deck *deck, struct supervise_status *ret, struct error *err)
{
	cleanup_supervise_status struct supervise_status status = { 0 };
	struct unit_bus *bus = deck_bus(deck);

	status.has_manager = bus != NULL;
	if (bus && ask_unit(bus, &status, err) < 0)
		return -1;
	if (!bus)
		status.why = xstrdup(deck->bus_why);
	int r = service_owner(deck->paths.user_runtime, &status.bus_pid, err);
	if (r < 0)
		return -1;
	status.is_running = supervise_is_running(deck);
	status.lingers = login_lingers(getuid());
	*ret = status;
	status = (struct supervise_status){ 0 };
	return 0;
}
