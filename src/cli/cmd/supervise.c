/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cmd/commands.h"
#include "cli/show/output.h"

#include "driver/systemd/unit.h"
#include "engine/deck/incarnation.h"
#include "engine/supervise/guard.h"
#include "engine/supervise/mainprogram.h"
#include "engine/supervise/supervise-unit.h"
#include "engine/supervise/supervise.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct options {
	bool install, uninstall, status, guard, unguard, main, fenced;
	int64_t grace, lease;
	const char *incarnation;
};

static const struct command_option options[] = {
	{ 0, "install", NULL, "have the user manager run it, now and at boot", TO_FLAG(install) },
	{ 0, "uninstall", NULL, "take that back; sessions run on", TO_FLAG(uninstall) },
	{ 0, "status", NULL, "tell whether one runs; exit status 3 when none does", TO_FLAG(status),
	  .kind = COMMAND_READS },
	{ 0, "guard", NULL,
	  "as root: have systemd restart USER's user manager when it is killed; default: who calls sudo",
	  TO_FLAG(guard) },
	{ 0, "unguard", NULL, "as root: take that back", TO_FLAG(unguard) },
	{ 0, "main", NULL, "be the main program of a Pod, a container or a job", TO_FLAG(main) },
	{ 0, "grace", "SECONDS",
	  "with --main: how long it may take to end after SIGTERM; default 25",
	  TO_SECONDS(grace, 5, 86400) },
	{ 0, "incarnation", "NAME", "with --main: what the engine calls this Pod or job",
	  TO_TEXT(incarnation) },
	{ 0, "lease", "SECONDS",
	  "with --main: end all when the state directory was not written for so long; default 60",
	  TO_SECONDS(lease, INCARNATION_LEAST_S, INCARNATION_MOST_S) },
	{ 0, "fenced", NULL, "with --main: the engine runs no two at once, as a StatefulSet",
	  TO_FLAG(fenced) },
	{ 0 },
};

enum { USUAL_GRACE_S = 25 };

/* The configuration and the program itself may have changed. */
static int begin_anew(struct app *app, struct error *err)
{
	cleanup_free char *program = xstrdup(app->deck.program);
	deck_close(&app->deck);
	(void)execl(program, "agentdeck", "supervise", (char *)NULL);
	return error_set_errno(err, errno, "run %s", program);
}

static int print_installed(const struct app *app, bool installed, const char *text)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "installed", installed);
	return print_done(app, object, xstrdup(text));
}

static int install(struct app *app, struct error *err)
{
	if (supervise_install(&app->deck, err) < 0)
		return -1;
	print_warnings(app);
	return print_installed(app, true,
			       login_lingers(getuid())
				       ? "The user manager runs the supervisor now, and from now "
					 "on whenever the machine starts."
				       : "The user manager runs the supervisor now, and from now "
					 "on with your logins: lingering is off, so it ends after "
					 "the last one.");
}

static int uninstall(struct app *app, struct error *err)
{
	int r = supervise_uninstall(&app->deck, err);
	if (r < 0)
		return -1;
	return print_installed(
		app, false,
		r == SUPERVISE_NOT_INSTALLED
			? "There is no unit " SUPERVISE_UNIT "."
			: "Supervisor stopped and disabled. Sessions keep running, but are no longer restarted automatically.");
}

static void print_status_json(const struct app *app, const struct supervise_status *status)
{
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_bool(object, "running", status->is_running);
	json_set_bool(object, "manager", status->has_manager);
	json_set_string(object, "manager_missing", status->why);
	json_set_bool(object, "installed", status->is_installed);
	json_set_string(object, "file", status->file);
	json_set_bool(object, "file_is_ours", status->is_ours);
	json_set_string(object, "enabled", status->enabled);
	json_set_string(object, "active", status->active);
	json_set_time(object, "since_at", status->since_us);
	const pid_t pid = status->unit_pid ? status->unit_pid : status->bus_pid;
	json_set(object, "pid", pid ? json_object_new_int64(pid) : NULL);
	json_set_bool(object, "on_bus", status->bus_pid != 0);
	json_set_string(object, "config_problem", app->deck.config_problem);
	json_set_bool(object, "lingers", status->lingers);
	print_json(object);
}

/* The exit status is 0 if one runs, else 3, as with systemctl(1). */
static int show_status(struct app *app, struct error *err)
{
	enum { NOT_RUNNING = 3 };
	cleanup_supervise_status struct supervise_status status = { 0 };
	if (supervise_status(&app->deck, &status, err) < 0)
		return -1;
	if (app->json) {
		print_status_json(app, &status);
		return status.is_running ? 0 : NOT_RUNNING;
	}
	pid_t pid = status.unit_pid ? status.unit_pid : status.bus_pid;
	printf("supervisor  %s", status.is_running ? "running" : "not running");
	if (status.is_running && pid)
		printf(" (pid %d)", (int)pid);
	printf("\n");
	if (app->deck.config_problem)
		printf("settings    %s: %s\n", deck_config_in_use(&app->deck),
		       app->deck.config_problem);
	if (!status.has_manager)
		printf("unit        unknown: %s\n", or_empty(status.why));
	else if (status.is_installed)
		printf("unit        %s, %s: %s\n", or_empty(status.enabled),
		       or_empty(status.active), or_empty(status.file));
	else
		printf("unit        not installed: agentdeck supervise --install\n");
	if (status.has_manager)
		printf("lingering   %s\n", status.lingers
						   ? "yes"
						   : "no: nothing comes back at boot before a "
						     "login (loginctl enable-linger)");
	return status.is_running ? 0 : NOT_RUNNING;
}

static int print_guarded(const struct app *app, bool is_guarded, const char *file, char *text)
{
	struct json_object *object = json_object_new_object();
	json_set_bool(object, "guarded", is_guarded);
	json_set_string(object, "file", file);
	return print_done(app, object, text);
}

/* Without it systemd ends the manager after the last logout, and a guard does not change that. */
static void warn_of_lingering(const struct guard_user *user)
{
	if (!login_lingers(user->uid))
		complain("lingering is off for %s: after the last logout the user manager ends, "
			 "and the guard does not start it. To turn it on: sudo loginctl "
			 "enable-linger %s",
			 user->name, user->name);
}

static int find_guarded(const struct app *app, struct guard_user *ret, struct error *err)
{
	return guard_find_user(app->operands.count ? app->operands.items[0] : NULL, ret, err);
}

static int cmd_guard(struct app *app, struct error *err)
{
	cleanup_guard_user struct guard_user user = { 0 };
	cleanup_free char *file = NULL;
	if (find_guarded(app, &user, err) < 0 || guard_put(&user, &file, err) < 0)
		return -1;
	warn_of_lingering(&user);
	return print_guarded(app, true, file,
			     xasprintf("systemd restarts the user manager of %s, and of no other "
				       "user, when it is killed, and starts it with the machine "
				       "(%s). To take that back: sudo agentdeck supervise "
				       "--unguard %s",
				       user.name, file, user.name));
}

static int cmd_unguard(struct app *app, struct error *err)
{
	cleanup_guard_user struct guard_user user = { 0 };
	cleanup_free char *file = NULL;
	if (find_guarded(app, &user, err) < 0)
		return -1;
	int r = guard_take_away(&user, &file, err);
	if (r < 0)
		return -1;
	return print_guarded(
		app, false, file,
		r == GUARD_NONE ? xasprintf("The user manager of %s has no guard.", user.name)
				: xasprintf("The guard of %s's user manager is gone.", user.name));
}

/* For root, whose own sessions do not matter: these open no deck. */
static const struct command command_guard = {
	.name = "supervise --guard",
	.kind = COMMAND_CHANGES,
	.flags = HAS_JSON,
	.run = cmd_guard,
};
static const struct command command_unguard = {
	.name = "supervise --unguard",
	.kind = COMMAND_CHANGES,
	.flags = HAS_JSON,
	.run = cmd_unguard,
};

static const struct command *instead(const struct app *app)
{
	const struct options *given = app->options;
	if (given->guard + given->unguard != 1 || given->install || given->uninstall ||
	    given->status)
		return NULL;
	return given->guard ? &command_guard : &command_unguard;
}

static int cmd_supervise(struct app *app, struct error *err)
{
	const struct options *given = app->options;
	if (given->install + given->uninstall + given->status + given->guard + given->unguard +
		    given->main >
	    1)
		return error_set(err, ERROR_USAGE,
				 "one of --install, --uninstall, --status, --guard, --unguard and "
				 "--main, not several");
	if (!given->main && (given->incarnation || given->fenced || given->grace || given->lease))
		return error_set(err, ERROR_USAGE,
				 "--incarnation, --fenced, --lease and --grace need --main");
	if (given->fenced && given->lease)
		return error_set(err, ERROR_USAGE, "--fenced or --lease, not both");
	if (app->operands.count)
		return error_set(err, ERROR_USAGE, "only --guard and --unguard take a user");
	if (given->install)
		return install(app, err);
	if (given->uninstall)
		return uninstall(app, err);
	if (given->status)
		return show_status(app, err);
	if (given->main)
		return main_run(
			&app->deck,
			&(struct main_order){
				.name = given->incarnation,
				.grace_ms = (given->grace ? given->grace : USUAL_GRACE_S) * 1000,
				.lease_s = given->fenced  ? 0
					   : given->lease ? (int)given->lease
							  : INCARNATION_LEASE_S },
			err);
	if (isatty(STDERR_FILENO))
		fprintf(stderr,
			"Supervising the sessions below %s until Ctrl-C. To have the service manager do it: "
			"agentdeck supervise --install\n",
			app->deck.paths.state);
	print_warnings(app);
	int r = supervise_run(&app->deck, err);
	return r == SUPERVISE_AGAIN ? begin_anew(app, err) : r;
}

const struct command command_supervise = {
	.name = "supervise",
	.kind = COMMAND_CHANGES,
	.arguments = "[USER]",
	.summary = "restart sessions that end, also after a reboot",
	OWN_OPTIONS,
	.instead = instead,
	/* A supervisor that executes itself again must not miss signals that arrive meanwhile. */
	.flags = KEEPS_SIGNALS | NEEDS_DECK | HAS_JSON,
	.run = cmd_supervise,
};
