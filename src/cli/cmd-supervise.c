/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"
#include "cli/output.h"

#include "base/clock.h"
#include "engine/supervise.h"
#include "engine/supervise-unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The configuration, and the program itself, may be others now. */
static int begin_anew(struct app *app, struct error *err)
{
	cleanup_free char *program = xstrdup(app->deck.program);
	deck_close(&app->deck);
	(void)execl(program, "agentdeck", "supervise", (char *)NULL);
	return error_set_errno(err, errno, "run %s", program);
}

static int install(struct app *app, struct error *err)
{
	if (supervise_install(&app->deck, err) < 0)
		return -1;
	print_warnings(app);
	if (!app->json) {
		printf("The user manager runs the supervisor now, and from now on whenever the machine starts.\n");
		return 0;
	}
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_bool(object, "installed", true);
	print_json(object);
	return 0;
}

static int uninstall(struct app *app, struct error *err)
{
	int r = supervise_uninstall(&app->deck, err);
	if (r < 0)
		return -1;
	if (!app->json) {
		printf(r == SUPERVISE_NOT_INSTALLED
			       ? "There is no unit " SUPERVISE_UNIT ".\n"
			       : "The supervisor is gone. The sessions run on; nothing brings them back by itself.\n");
		return 0;
	}
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_bool(object, "installed", false);
	print_json(object);
	return 0;
}

static void print_status_json(const struct supervise_status *status)
{
	char since[CLOCK_TEXT_SIZE];
	cleanup_json struct json_object *object = json_object_new_object();
	json_set_bool(object, "running", status->is_running);
	json_set_bool(object, "manager", status->has_manager);
	json_set_string(object, "manager_missing", status->why);
	json_set_bool(object, "installed", status->is_installed);
	json_set_string(object, "file", status->file);
	json_set_bool(object, "file_is_ours", status->is_ours);
	json_set_string(object, "enabled", status->enabled);
	json_set_string(object, "active", status->active);
	json_set_string(object, "since", status->since_us ? clock_format(status->since_us, since) : NULL);
	json_set_int(object, "pid", status->unit_pid ? status->unit_pid : status->bus_pid);
	json_set_bool(object, "on_bus", status->bus_pid != 0);
	json_set_bool(object, "lingers", status->lingers);
	print_json(object);
}

/* Exit status 0: one is at work; 3, as systemctl(1) has it: none is. */
static int show_status(struct app *app, struct error *err)
{
	enum { NOT_RUNNING = 3 };
	cleanup_supervise_status struct supervise_status status = { 0 };
	if (supervise_status(&app->deck, &status, err) < 0)
		return -1;
	if (app->json) {
		print_status_json(&status);
		return status.is_running ? 0 : NOT_RUNNING;
	}
	pid_t pid = status.unit_pid ? status.unit_pid : status.bus_pid;
	printf("supervisor  %s", status.is_running ? "running" : "not running");
	if (status.is_running && pid)
		printf(" (pid %d)", (int)pid);
	printf("\n");
	if (!status.has_manager)
		printf("unit        unknown: %s\n", or_empty(status.why));
	else if (status.is_installed)
		printf("unit        %s, %s: %s\n", or_empty(status.enabled), or_empty(status.active),
		       or_empty(status.file));
	else
		printf("unit        not installed: agentdeck supervise --install\n");
	if (status.has_manager)
		printf("lingering   %s\n", status.lingers ? "yes" : "no: nothing comes back at boot before a "
								      "login (loginctl enable-linger)");
	return status.is_running ? 0 : NOT_RUNNING;
}

static int run(struct app *app, struct error *err)
{
	int wishes = option_given(app, "install") + option_given(app, "uninstall") +
		     option_given(app, "status");
	if (wishes > 1)
		return error_set(err, ERROR_USAGE, "one of --install, --uninstall and --status, not several");
	if (option_given(app, "install"))
		return install(app, err);
	if (option_given(app, "uninstall"))
		return uninstall(app, err);
	if (option_given(app, "status"))
		return show_status(app, err);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "Supervising the sessions below %s until Ctrl-C. To have the service manager do it: "
				"agentdeck supervise --install\n", app->deck.paths.state);
	print_warnings(app);
	int r = supervise_run(&app->deck, err);
	return r == SUPERVISE_AGAIN ? begin_anew(app, err) : r;
}

static const struct command_option options[] = {
	{ 0, "install", NULL, "have the user manager run it, now and at boot" },
	{ 0, "uninstall", NULL, "take that back; sessions run on" },
	{ 0, "status", NULL, "tell whether one runs; exit status 3 when none does" },
	{ 0 },
};

const struct command command_supervise = {
	.name = "supervise",
	.arguments = "",
	.summary = "bring back what dies, and everything after a reboot",
	.description =
		"Runs until it is told to end. Whatever ends a session that is to run, the conversation comes back by itself: by "
		"the session's restart policy, at once the first time and after longer and longer waits if it keeps "
		"dying, until it is held (see agentdeck session show). A session that was stopped, or whose agent ended "
		"by itself, stays stopped.\n"
		"\n"
		"No session needs the supervisor: ending, killing or upgrading it disturbs none, and all other "
		"commands work without it.",
	.options = options,
	.flags = NEEDS_DECK | HAS_JSON,
	.run = run,
};
